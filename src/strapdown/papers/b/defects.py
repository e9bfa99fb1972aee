"""Defects found in other simulators' sensors, each as a claim that ours does not have it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.papers.b.closed_loop.noise_used import FACTOR, LEAST, SEEDS, mean_shaking_ratio
from strapdown.papers.chance import mean_limit, seeds_of
from strapdown.papers.claim import Claim
from strapdown.rotation import q_from_euler, q_rotate
from strapdown.sensors.chain.error_chain import measure, measure_batch
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

Array = NDArray[np.float64]
_SEED = 20260102
_ONE = (1.0, 1.0, 1.0)
GROWN = 200  # runs of bias instability
DENSITY_SAMPLES = 40_000


def defect_claims(repeat: int = 0) -> list[Claim]:
    """One claim per defect; the source names the simulator it was found in.

    repeat: other seeds.
    """
    lever, mounting = _turntable()
    seed = seeds_of(_SEED, 1, repeat)[0]
    return [
        _claim("lever-arm", "lever arm in the body frame on a turned table: error, m/s2", lever, 1e-12, "RotorPy"),
        _claim("mounting", "gyroscope turned by its mounting: error, rad/s", mounting, 1e-12, "RotorPy"),
        _claim(
            "own-times",
            "gyroscope samples changed by the accelerometer's correlation times",
            _own_times(seed),
            0,
            "Pegasus",
        ),
        _claim(
            "bounded",
            "bias instability after 100 times its longest time: growth of its sigma",
            _growth(seed),
            mean_limit(GROWN),  # a ratio of two sigmas of so many runs, each within 1 / sqrt(2 runs)
            "AirSim",
        ),
        _claim(
            "density",
            "noise at 400 Hz against 100 Hz, over the factor 2 of a density: distance to 1",
            _density(seed),
            mean_limit(3 * DENSITY_SAMPLES),  # a ratio of two sigmas of so many readings
            "Gazebo",
        ),
        _claim(
            "long-times",
            "correlation times of 1e6 s: 1 - correlation of neighbours",
            _whiteness(seed),
            0.01,
            "gnss-ins-sim",
        ),
        _claim("radians-once", "250 deg/s range in rad/s: relative error", _radians(), 1e-9, "ahrs"),
        _claim(
            "slow-sensor",
            "sensor 4 times slower than physics: error of its acceleration, m/s2",
            _slow_sensor(),
            1e-9,
            "Isaac Lab",
        ),
        Claim(
            "B-sensors/defect/noise-is-used",
            f"quadcopter in the closed loop: true rates in hover with {FACTOR:g} times the noise, over those with the "
            f"noise of the part (mean of {SEEDS} seeds; 1 for a controller that reads the truth)",
            None,
            mean_shaking_ratio(seed),
            LEAST,
            "defect found in RotorPy",
            ">=",
            kind="self-check",
        ),
    ]


def _claim(name: str, what: str, ours: float, tolerance: float, where: str) -> Claim:
    source = f"defect found in {where}"
    return Claim(f"B-sensors/defect/{name}", what, None, float(ours), float(tolerance), source, kind="self-check")


def _rig(path: str, **values: object) -> Recording:
    return simulate(rig_from(dict(values), Path(path))).recordings["imu"]


def _turntable() -> tuple[float, float]:
    """A table at yaw 120 deg turns at 90 deg/s; the sensor is 0.5 m from the axis, with a skew mounting."""
    skew = q_from_euler(0.3, -0.5, 1.1)
    recording = _rig(
        "turntable",
        motion={
            "kind": "turntable",
            "phases": [{"kind": "keep", "duration_s": 1.0}],
            "start_rate_deg_s": 90.0,
            "attitude_deg": [0.0, 0.0, 120.0],
        },
        physics={"gravity": 9.81},
        sensor=[{"name": "imu", "link": "body", "position_m": [0.5, 0.0, 0.0], "quaternion_wxyz": skew.tolist()}],
    )
    w = np.pi / 2
    acc_s, gyr_s, _ = recording.inertial()
    force_b, rate_b = np.array([-0.5 * w**2, 0.0, 9.81]), np.array([0.0, 0.0, w])
    return float(np.abs(q_rotate(skew, acc_s) - force_b).max()), float(np.abs(q_rotate(skew, gyr_s) - rate_b).max())


def _still(n: int = 2000) -> Recording:
    t = np.arange(n) / 100.0
    return Recording(t, gyr_s=np.zeros((n, 3)), acc_s=np.tile([0.0, 0.0, 9.81], (n, 1)))


def _own_times(seed: int) -> int:
    triads = {"accelerometer": Triad("m/s2", instability=_ONE), "gyroscope": Triad("rad/s", instability=_ONE)}
    other = {**triads, "accelerometer": replace(triads["accelerometer"], instability_band_s=(5.0, 50.0))}
    a, b = (Module("imu", x, seed=seed).measure(_still(), 100.0).gyr_s for x in (triads, other))
    return int(np.sum(a != b))


def _growth(seed: int) -> float:
    triad = Triad("rad/s", instability=_ONE, instability_band_s=(0.1, 1.0))
    t = np.arange(2000) / 10.0  # 200 s, the longest time constant some seconds
    seeds = [seed_of(seed, "bounded", i) for i in range(GROWN)]
    many = np.array([m.values for m in measure_batch(triad, t, np.zeros((2000, 3)), streams=seeds)])
    return abs(float(np.std(many[:, -500:]) / np.std(many[:, :500])) - 1.0)


def _density(seed: int) -> float:
    triad = Triad("rad/s", white=_ONE)
    spread = []
    for rate in (100.0, 400.0):
        t = np.arange(DENSITY_SAMPLES) / rate
        spread.append(
            np.std(measure(triad, t, np.zeros((len(t), 3)), stream=seed_of(seed, "density", int(rate))).values)
        )
    return abs(float(spread[1] / spread[0]) / 2.0 - 1.0)


def _whiteness(seed: int) -> float:
    triad = Triad("rad/s", instability=_ONE, instability_band_s=(1e5, 1e6))
    x = measure(triad, np.arange(5000) / 100.0, np.zeros((5000, 3)), stream=seed_of(seed, "long")).values
    return 1.0 - float(np.corrcoef(x[1:, 0], x[:-1, 0])[0, 1])


def _radians() -> float:
    specimen = load_part("MPU-6050").nominal({"gyroscope": 250.0})
    assert specimen.gyroscope is not None
    return abs(specimen.gyroscope.resolution * 131.0 / np.radians(1.0) - 1.0)


def _slow_sensor() -> float:
    recording = _rig(
        "slow sensor",
        duration_s=1.0,
        robot={"file": "strapdown:bar"},
        physics={"gravity": 9.81, "step_s": 1e-3},
        start=[{"joint": "axis", "speed_deg_s": 45.0}],
        sensor=[{"name": "imu", "link": "bar", "position_m": [0.75, 0.0, 0.0], "rate_hz": 250.0}],
    )
    return float(np.abs(recording.inertial()[0] - [-0.75 * (np.pi / 4) ** 2, 0.0, 9.81]).max())

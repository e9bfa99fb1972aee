"""The robot of paper C's tests: a virtual MPU-6050 and QMC5883L as bought, with iron around them, calibrated by our
methods.

Each seed is another robot. The calibration of a robot is found from two simulated logs, as made on a table. In one the
case is put squarely on its faces, in the other it is tumbled by hand. The specimen's true errors are not used in it.
"""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from strapdown.calibration.apply import apply, joined
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.temperature.bias_curve import calibrate_temperature
from strapdown.earth_magnetism import dip, strength
from strapdown.motion.paths.poses import Poses, scattered
from strapdown.motion.paths.tumble import Tumble
from strapdown.rotation import q_conj, q_exp, q_mul, q_rotate
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of, stream
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

G = 9.81
RATE_HZ = 100.0
INNER = 5  # the parts' low-pass, half the rate, is fed five times as fast
# at 8 g the nonlinearity of the part changes its scale between 0 and 1 g by 0.03 %, at 2 g by 0.5 %
RANGE = {"accelerometer": 8.0}
LEVEL_DEG = 0.05  # of table and case: 0.9 mm per m
HOLD_S, TURN_S = 4.0, 2.5
TUMBLE_S, TUMBLE_HZ = 60.0, 50.0
HEATED_S = (0.0, 60.0, 580.0, 620.0, 1140.0, 1200.0)  # at rest in an oven, from 10 to 60 degC and back
HEATED_C = (10.0, 10.0, 60.0, 60.0, 10.0, 10.0)
IRON_UT, SOFT = 20.0, 0.08  # sigmas of hard iron and of soft iron's elements
FIELD_N = np.array([2.6, 16.5, -49.0])  # uT, central Russia: declination 9 deg, dip 71 deg
FIELD_N.flags.writeable = False
DECLINATION = float(np.arctan2(FIELD_N[0], FIELD_N[1]))
# the axis that points up: neighbours are a quarter turn apart, and every axis is turned about in several attitudes
FACES_UP_B = (
    *((0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, 1)),
    *((0, 1, 0), (-1, 0, 0), (0, 0, -1), (0, -1, 0), (1, 0, 0), (0, 0, -1), (0, 1, 0)),
)


@dataclass(frozen=True, eq=False)
class Robot:
    """A virtual robot with its module and its calibration.

    triads: the true errors, by instrument.
    iron_ut, soft_iron: hard and soft iron of its body.
    calibration: the calibration that was found.
    known: the noise of the data sheets.
    """

    seed: int
    triads: dict[str, Triad]
    iron_ut: Array
    soft_iron: Array
    calibration: Calibration
    known: dict[str, Triad]


@cache
def known_triads(rate_hz: float = RATE_HZ) -> dict[str, Triad]:
    """Noise of the data sheets."""
    imu, compass = load_part("mpu-6050"), load_part("qmc5883l")
    return imu.nominal(range=RANGE, rate_hz=rate_hz).triads() | compass.nominal(rate_hz=rate_hz).triads()


@lru_cache(maxsize=256)
def robot(seed: int) -> Robot:
    """The robot of this seed, calibrated."""
    triads = load_part("mpu-6050").draw(seed, range=RANGE, rate_hz=RATE_HZ).triads()
    triads |= load_part("qmc5883l").draw(seed, rate_hz=RATE_HZ).triads()
    rng = stream(seed, "C", "iron")
    iron, soft = IRON_UT * rng.standard_normal(3), np.eye(3) + SOFT * rng.standard_normal((3, 3))
    table = _by_positions(_read(triads, _faces(seed), seed, "faces", RATE_HZ))
    compass = calibrate_magnetometer(
        _tumble_log(triads, iron, soft, seed),
        field_ut=float(strength(FIELD_N)),
        dip_rad=float(dip(FIELD_N)),
        noise=known_triads(),
        accelerometer=table.corrections["accelerometer"],
    )
    return Robot(
        seed,
        triads,
        iron,
        soft,
        joined(table, Calibration({"magnetometer": compass.calibration.corrections["magnetometer"]})),
        known_triads(),
    )


def with_temperature(one: Robot) -> Calibration:
    """A calibration that follows temperature, from 20 minutes at rest between 10 and 60 degC before the other logs."""
    t = np.arange(0.0, HEATED_S[-1], 1.0 / 25.0)
    celsius = np.interp(t, HEATED_S, HEATED_C)
    still, up = np.zeros((len(t), 3)), np.tile([0.0, 0.0, G], (len(t), 1))
    log = _read(one.triads, (t, up, still), one.seed, "heated", 25.0, celsius)
    heated = calibrate_temperature(log, noise=known_triads(25.0)).calibration
    faces = apply(heated, _read(one.triads, _faces(one.seed), one.seed, "faces", RATE_HZ))
    after = _by_positions(replace(faces, meta={}))  # fitted to what the first has left
    return joined(joined(heated, after), Calibration({"magnetometer": one.calibration.corrections["magnetometer"]}))


def _by_positions(log: Recording) -> Calibration:
    level = float(np.radians(LEVEL_DEG))
    return calibrate_positions(log, G, model="squared", noise=known_triads(), level_sigma_rad=level).calibration


def face_poses(seed: int, level_deg: float = LEVEL_DEG) -> Poses:
    """The case on its faces, true to level_deg."""
    q_nb = [np.array([1.0, 0.0, 0.0, 0.0])]
    for up_b, next_up_b in pairwise(np.array(FACES_UP_B, dtype=np.float64)):
        q_nb.append(q_mul(q_nb[-1], q_exp(0.5 * np.pi * np.cross(next_up_b, up_b))))
    return Poses(scattered(np.array(q_nb), level_deg, seed), hold_s=HOLD_S, turn_s=TURN_S)


def _faces(seed: int) -> tuple[Array, Array, Array]:
    """Times of the parts' input, specific force and rate, on its faces."""
    poses = face_poses(seed)
    motion = poses.at(np.arange(int(poses.duration_s * RATE_HZ) * INNER) / (RATE_HZ * INNER))
    return motion.t, motion.specific_force_b(G), motion.w_nb_b


@cache
def _tumbled() -> tuple[Array, Array, Array, Array]:
    """Force, rate and field while the robot is tumbled by hand: the same truth for all robots."""
    motion = Tumble(TUMBLE_S).at(np.arange(round(TUMBLE_S * TUMBLE_HZ) * INNER) / (TUMBLE_HZ * INNER))
    return motion.t, motion.specific_force_b(G), motion.w_nb_b, q_rotate(q_conj(motion.q_nb), FIELD_N)


def _tumble_log(triads: dict[str, Triad], iron: Array, soft: Array, seed: int) -> Recording:
    t, f_s, _, b_s = _tumbled()
    acc, mag = triads["accelerometer"], triads["magnetometer"]
    mag_s = measure(mag, t, b_s @ soft.T + iron, stream=seed_of(seed, "C", "tumble", "mag"), output_rate_hz=TUMBLE_HZ)
    acc_s = measure(acc, t, f_s, stream=seed_of(seed, "C", "tumble", "acc"), output_rate_hz=TUMBLE_HZ)
    return Recording(mag_s.t, acc_s=acc_s.values, mag_s=mag_s.values)


def _read(
    triads: dict[str, Triad],
    truth: tuple[Array, Array, Array],
    seed: int,
    run: str,
    rate_hz: float,
    celsius: Array | float = 25.0,
) -> Recording:
    """Accelerometer and gyroscope at rest or turned, at 25 degC unless given."""
    t, f_s, w_s = truth
    how: dict[str, Any] = {"temperature_c": celsius, "output_rate_hz": rate_hz}
    acc = measure(triads["accelerometer"], t, f_s, stream=seed_of(seed, "C", run, "acc"), **how)
    gyr = measure(triads["gyroscope"], t, w_s, stream=seed_of(seed, "C", run, "gyr"), specific_force=f_s, **how)
    return Recording(
        acc.t, gyr.values, acc.values, temperature=np.broadcast_to(celsius, len(t))[acc.kept].astype(np.float64)
    )

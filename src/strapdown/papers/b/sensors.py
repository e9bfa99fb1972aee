"""Paper B's sensor models, and terms that neither it nor MATLAB has: synthesised errors are analysed again.

Strashnov, Mironenko 2024, DOI 10.51790/2712-9942-2024-5-1-03, formulas B3 to B8; MATLAB's imuSensor, R2023b.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.noise.allan import allan_deviation
from strapdown.papers.b.defects import defect_claims
from strapdown.papers.b.sensors_figure import errors_figure
from strapdown.papers.chance import allan_limit, mean_limit, seeds_of
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Outcome
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.chain.numbers import MATLAB, PAPER
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import FLICKER_FLOOR, Triad, paper_matrix
from strapdown.types import Recording

Array = NDArray[np.float64]

RATES_HZ = (50.0, 200.0, 1000.0)
_SEED = 20260101
_B = "paper B, DOI 10.51790/2712-9942-2024-5-1-03"
_MATLAB = "MATLAB imuSensor, generated code R2023b"
_LENGTH_S = 4000.0
SPECIMENS = 400


def reproduce_sensors(progress: Callable[[float], None] | None = None, repeat: int = 0) -> Outcome:
    """Noise, modes, independence and specimens; and a figure of the errors that come with heat, range and loss.

    repeat: other seeds."""
    out, seed = Outcome(), seeds_of(_SEED, 1, repeat)[0]
    for i, rate_hz in enumerate(RATES_HZ):
        out.claims += _noise_claims(rate_hz, seed)
        if progress is not None:
            progress((i + 1) / (len(RATES_HZ) + 1))
    out.claims += _formula_claims(seed)
    out.claims += _independence_claims()
    out.claims += _specimen_claims(seeds_of(0, SPECIMENS, repeat))
    out.claims += defect_claims(repeat)
    out.figures["B_sensor_errors.png"] = errors_figure()
    return out


def _noise_claims(rate_hz: float, first_seed: int) -> list[Claim]:
    """Each term alone, found again from the Allan deviation of three axes where the term dominates."""
    n = int(_LENGTH_S * rate_hz)
    t = np.arange(n) / rate_hz
    zeros = np.zeros((n, 3))

    def deviation(name: str, triad: Triad, low_s: float, high_s: float) -> tuple[Array, Array]:
        seed = seed_of(first_seed, name, int(rate_hz))
        curve = allan_deviation(measure(triad, t, zeros, stream=seed).values, 1.0 / rate_hz)
        inside = (curve.tau_s >= low_s) & (curve.tau_s <= high_s)
        return curve.tau_s[inside], curve.deviation[inside].mean(axis=1)

    one = (1.0, 1.0, 1.0)
    tau, white = deviation("white", Triad("rad/s", white=one), 0.1, 2.0)
    found = {"N": (float(np.mean(white * np.sqrt(tau))), 2.0)}
    band = (1.0, 100.0)
    _, floor = deviation("instability", Triad("rad/s", instability=one, instability_band_s=band), 2.0, 40.0)
    found["B"] = float(np.mean(floor)) / FLICKER_FLOOR, 40.0
    tau, walk = deviation("walk", Triad("rad/s", walk=one), 2.0, 40.0)
    found["K"] = float(np.mean(walk / np.sqrt(tau / 3.0))), 40.0
    return [
        Claim(
            f"B-sensors/{term}/{rate_hz:g}Hz",
            f"{term} = 1 synthesised at {rate_hz:g} Hz, {_LENGTH_S:g} s, found up to {longest_s:g} s: relative error",
            None,
            abs(value - 1.0),
            allan_limit(_LENGTH_S, longest_s),
            "ours; limit by the length of the log",
            kind="self-check",
        )
        for term, (value, longest_s) in found.items()
    ]


def _formula_claims(seed: int) -> list[Claim]:
    """The deterministic parts of the two other models, against their formulas written out."""
    rng = np.random.default_rng(seed)
    x, t = rng.normal(0.0, 3.0, (200, 3)), np.arange(200) / 100.0
    matrix = np.array([[1.0, 0.02, -0.01], [0.015, 1.0, -0.01], [0.015, 0.02, 1.0]])  # B's triple: one per source axis
    bias, slope, scale = np.array([0.2, -0.1, 0.3]), np.array([1e-2, -2e-2, 5e-3]), np.array([1e-3, 2e-3, -1e-3])
    triad = Triad(
        "m/s2",
        matrix=paper_matrix(0.015, 0.02, -0.01),
        bias=tuple(bias.tolist()),
        temperature_bias=(tuple(slope.tolist()),),
        temperature_scale=(tuple(scale.tolist()),),
        full_scale=8.0,
        resolution=1e-3,
    )
    warmer = 12.0
    s = 1.0 + warmer * scale
    formula = s * (x @ matrix.T + bias + warmer * slope)
    formula = 1e-3 * np.round(np.clip(formula, -8.0, 8.0) / 1e-3)
    claims = []
    for mode, source in ((PAPER, f"{_B}, B3 to B8"), (MATLAB, _MATLAB)):
        ours = measure(triad, t, x, stream=seed_of(seed, mode), temperature_c=25.0 + warmer, mode=mode).values
        what = f'mode "{mode}": largest difference of the deterministic part to the formula, m/s2'
        claims.append(
            Claim(
                f"B-sensors/formula/{mode}",
                what,
                None,
                float(np.abs(ours - formula).max()),
                1e-12,
                source,
                kind="self-check",
            )
        )
    return claims


def _independence_claims() -> list[Claim]:
    """Adding a magnetometer changes no accelerometer sample; same seed, same bits."""
    n = 500
    t = np.arange(n) / 100.0
    zeros = np.zeros((n, 3))
    ideal = Recording(t, gyr_s=zeros, acc_s=np.add(zeros, [0.0, 0.0, 9.81]), mag_s=zeros + 30.0, meta={})
    triads = load_part("ICM-20948").draw(7).triads()
    module = Module("imu", triads, seed=3)
    whole, again = module.measure(ideal, 100.0), module.measure(ideal, 100.0)
    without = {name: triad for name, triad in triads.items() if name != "magnetometer"}
    plain = replace(module, triads=without).measure(ideal, 100.0)
    assert whole.acc_s is not None and plain.acc_s is not None and again.acc_s is not None
    changed, other = np.sum(whole.acc_s != plain.acc_s), np.sum(whole.acc_s != again.acc_s)
    return [
        Claim(
            "B-sensors/independent",
            "accelerometer values changed by adding a magnetometer",
            None,
            float(changed),
            0.0,
            "ours",
            kind="self-check",
        ),
        Claim(
            "B-sensors/same-seed",
            "values that differ between two runs of one seed",
            None,
            float(other),
            0.0,
            "ours",
            kind="self-check",
        ),
    ]


def _specimen_claims(seeds: range) -> list[Claim]:
    """MPU-6050: the gyroscope's zero-rate offset is +-20 deg/s; specimens have a third of it as sigma, none is
    beyond.
    """
    part = load_part("MPU-6050")
    drawn = np.array([part.draw(seed).triads()["gyroscope"].bias for seed in seeds])
    bound = np.radians(20.0)
    # a normal distribution cut at three sigmas has 0.9867 of its sigma
    spread = float(np.std(drawn) / (0.9867 * bound / 3.0))
    source = "PS-MPU-6000A-00 r3.4, pages 12-14"
    return [
        Claim(
            "B-sensors/specimens/spread",
            "MPU-6050 offset over specimens: spread against a third of the limit, distance to 1",
            None,
            abs(spread - 1.0),
            mean_limit(2 * drawn.size),  # the sigma of n numbers is known to 1 / sqrt(2 n)
            source,
            kind="self-check",
        ),
        Claim(
            "B-sensors/specimens/limit",
            "MPU-6050 offset over specimens: largest, as a part of the limit",
            None,
            float(np.abs(drawn).max() / bound),
            1.0,
            source,
            kind="self-check",
        ),
    ]

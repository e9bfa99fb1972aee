"""Paper B's calibration at rest, on virtual specimens of the MPU-6050, and on a recorded quarter turn of a real one.

Truth by algebra, level and at rest, f = (0, 0, g). The accelerometer's offset is M bent(f) + b - f, with bent(f) = f -
a T3(f / range). One attitude cannot separate scale, misalignment and nonlinearity. The gyroscope's offset is b + G f.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from strapdown import io
from strapdown.calibration.apply import apply
from strapdown.calibration.static import calibrate_static
from strapdown.earth import STANDARD_GRAVITY
from strapdown.papers.chance import normal_claims, seeds_of
from strapdown.papers.claim import Claim
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

PART, RATE_HZ, GRAVITY, REST_S = "MPU-6050", 100.0, 9.81, 60.0
_SOURCE = "ours; paper B, DOI 10.51790/2712-9942-2024-5-1-03, B11 and B12"
# 16384 LSB/g and 131 LSB/(deg/s), no time stamps; the log's own header names 100 Hz
COUNTS: dict[str, dict[str, str | float]] = {
    "t": {"rate_hz": 100.0},
    **{f"acc_{i}": {"column": f"a{i}", "unit": "g", "counts_per_unit": 16384.0} for i in "xyz"},
    **{f"gyr_{i}": {"column": f"g{i}", "unit": "deg/s", "counts_per_unit": 131.0} for i in "xyz"},
}


def true_offsets(triads: dict[str, Triad]) -> dict[str, Array]:
    """Offsets of a specimen that is level and at rest."""
    f_s, acc, gyr = np.array([0.0, 0.0, GRAVITY]), triads["accelerometer"], triads["gyroscope"]
    assert acc.full_scale is not None
    u = f_s / acc.full_scale
    bent = f_s - np.array(acc.nonlinearity) * acc.full_scale * (4.0 * u**3 - 3.0 * u)
    return {
        "accelerometer": np.array(acc.matrix) @ bent + np.array(acc.bias) - f_s,
        "gyroscope": np.array(gyr.bias) + np.array(gyr.g_sensitivity) @ f_s,
    }


def normal_errors(done: Callable[[float], None], seeds: range, noise_given: bool = True) -> dict[str, Array]:
    """Errors of the offsets in units of their sigmas, (runs, 3) by instrument."""
    part = load_part(PART)
    noise = part.nominal(rate_hz=RATE_HZ).triads() if noise_given else None
    t = np.arange(0.0, REST_S, 1.0 / RATE_HZ)
    still, f_s = np.zeros((len(t), 3)), np.tile([0.0, 0.0, GRAVITY], (len(t), 1))
    errors: dict[str, list[Array]] = {"accelerometer": [], "gyroscope": []}
    for k, seed in enumerate(seeds):
        triads = part.draw(seed, rate_hz=RATE_HZ).triads()
        acc = measure(triads["accelerometer"], t, f_s, stream=seed_of(seed, "acc")).values
        gyr = measure(triads["gyroscope"], t, still, stream=seed_of(seed, "gyr"), specific_force=f_s).values
        fit = calibrate_static(Recording(t, gyr, acc), gravity=GRAVITY, noise=noise)
        for name, truth in true_offsets(triads).items():
            found = fit.calibration.corrections[name]
            # level exactly, and one log: what is left of the sigma is that of noise
            errors[name].append((found.bias - truth) / fit.limits[name]["noise"])
        done((k + 1) / len(seeds))
    return {name: np.array(rows) for name, rows in errors.items()}


def claims(done: Callable[[float], None], runs: int = 100, repeat: int = 0) -> list[Claim]:
    """The offsets' errors are standard normal over specimens."""
    made = []
    for name, z in normal_errors(done, seeds_of(0, runs, repeat)).items():
        what = f"{name} offset from {REST_S:g} s at rest, {runs} specimens x 3 axes: error / reported sigma"
        made += normal_claims(f"C/calibration/static/{name}", what, z, _SOURCE)
    return made


def real_claims(folder: Path) -> list[Claim]:
    """A real MPU-6050 turned by 90 deg about x by hand: calibrated by its own rest, its integrated rate must be 90
    deg.
    """
    log = io.read_one(folder / "mpu6050" / "imu_90_x_rot.csv", columns=COUNTS)
    corrected = apply(calibrate_static(log, gravity=STANDARD_GRAVITY).calibration, log)
    assert log.gyr_s is not None and corrected.gyr_s is not None
    before, after = (np.degrees(np.trapezoid(g[:, 0], log.t)) for g in (log.gyr_s, corrected.gyr_s))
    source = "recorded log mpu6050/imu_90_x_rot.csv (tomisuarez2/ImuCalibration)"
    what = (
        "MPU-6050 turned by hand by a quarter turn about x in a log of 100 s: integral of its rate about x after the "
        f"static calibration from its first 15 s is {after:.1f} deg (as recorded {before:.0f}); distance to 90 deg"
    )
    off = abs(float(after) - 90.0)
    return [Claim("C/calibration/static/quarter-turn", what, None, off, 2.0, source, kind="requirement")]

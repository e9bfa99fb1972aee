"""Paper C's gyroscope offset against temperature, on virtual specimens of its MPU-6050 in a virtual climate chamber.

Each specimen has all its errors: tolerances, nonlinearity, g-sensitivity, white noise, bias instability, counts. Truth
by algebra, at rest with the specific force f in the sensor's frame (order of the chain: docs/errors.md):

    gyroscope:      bias = b + G f;   temperature_bias = b_T   (its true rate is 0, so its scale does not show)
    accelerometer:  temperature_bias = b_T + s_T * (M bent(f)) in one pose, where the two cannot be distinguished;
                    bent(f) = f - a T3(f / range), the part's nonlinearity
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from strapdown.calibration.temperature.bias_curve import calibrate_temperature
from strapdown.papers.chance import normal_claims, seeds_of
from strapdown.papers.claim import Claim
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

PART, RATE_HZ, GRAVITY = "MPU-6050", 25.0, 9.81
CHAMBER_S = (0.0, 60.0, 580.0, 620.0, 1140.0, 1200.0)
CHAMBER_C = (0.0, 0.0, 60.0, 60.0, 0.0, 0.0)
ATTITUDE_F_S = GRAVITY * np.array([0.48, -0.36, 0.8])  # a board that is tilted: every axis feels gravity
BIN_C = 5.0
ALLOWED_GYR_DPS = 0.05
_SOURCE = "ours; paper C, section 3: gyroscope zero offset against temperature per axis"


@dataclass(frozen=True, eq=False)
class Chamber:
    """Common data of all specimens: times (s), temperature (degC), specific force (m/s2, frame s); no rotation."""

    t: Array
    celsius: Array
    f_s: Array

    def log(self, triads: dict[str, Triad], seed: int, run: str) -> Recording:
        """One specimen in the chamber; another run of it has other noise."""
        acc = measure(
            triads["accelerometer"], self.t, self.f_s, stream=seed_of(seed, run, "acc"), temperature_c=self.celsius
        )
        gyr = measure(
            triads["gyroscope"],
            self.t,
            np.zeros_like(self.f_s),
            stream=seed_of(seed, run, "gyr"),
            temperature_c=self.celsius,
            specific_force=self.f_s,
        )
        return Recording(self.t, gyr.values, acc.values, temperature=self.celsius)


def chamber() -> Chamber:
    """A chamber that goes from 0 to 60 degC and back in 20 minutes."""
    t = np.arange(0.0, CHAMBER_S[-1], 1.0 / RATE_HZ)
    return Chamber(t, np.interp(t, CHAMBER_S, CHAMBER_C), np.tile(ATTITUDE_F_S, (len(t), 1)))


def true_slopes(triads: dict[str, Triad]) -> dict[str, Array]:
    """The true result of a fit of degree 1: the catalogue's parts follow temperature linearly."""
    acc, gyr = triads["accelerometer"], triads["gyroscope"]
    assert acc.full_scale is not None
    u = ATTITUDE_F_S / acc.full_scale
    bent = ATTITUDE_F_S - np.array(acc.nonlinearity) * acc.full_scale * (4.0 * u**3 - 3.0 * u)
    return {
        "gyroscope bias": np.array(gyr.bias) + np.array(gyr.g_sensitivity) @ ATTITUDE_F_S,
        "gyroscope": np.array(gyr.temperature_bias[0]),
        "accelerometer": np.array(acc.temperature_bias[0])
        + np.array(acc.temperature_scale[0]) * (np.array(acc.matrix) @ bent),
    }


@dataclass(frozen=True, eq=False)
class Runs:
    """Results of many specimens.

    errors: errors by parameter, (runs, 3), in units of the reported sigmas.
    left_dps: (runs,), worst mean rate in a bin of 5 degC of a second run after the correction.
    other_dps: additional error in another attitude.
    degrees: (runs, 2).
    """

    errors: dict[str, Array]
    left_dps: Array
    other_dps: Array
    degrees: Array


def run_specimens(seeds: range, done: Callable[[float], None], noise_given: bool = True) -> Runs:
    """Calibrate the specimens of these seeds, each from one log, and examine another log of it."""
    part, place = load_part(PART), chamber()
    noise = part.nominal(rate_hz=RATE_HZ).triads() if noise_given else None
    errors: dict[str, list[Array]] = {"gyroscope bias": [], "gyroscope": [], "accelerometer": []}
    left, other, degrees = [], [], []
    for k, seed in enumerate(seeds):
        triads = part.draw(seed, rate_hz=RATE_HZ).triads()
        truth = true_slopes(triads)
        fit = calibrate_temperature(place.log(triads, seed, "first"), noise=noise)
        found = fit.calibration.corrections
        gyr = found["gyroscope"]
        errors["gyroscope bias"].append((gyr.bias - truth["gyroscope bias"]) / gyr.sigma["bias"])
        for name in ("gyroscope", "accelerometer"):
            slope, sigma = found[name].temperature_bias[0], found[name].sigma["temperature_bias"][0]
            errors[name].append((slope - truth[name]) / sigma)
        again = place.log(triads, seed, "second")
        assert again.gyr_s is not None
        left.append(np.degrees(worst_bin(gyr.corrected(again.gyr_s, again.temperature), place.celsius)))
        g = np.array(triads["gyroscope"].g_sensitivity)
        other.append(np.degrees(np.linalg.norm(g, 2) * 2.0 * GRAVITY))  # from upright to upside down
        degrees.append([fit.curves[name].degree for name in ("gyroscope", "accelerometer")])
        done((k + 1) / len(seeds))
    stacked = {name: np.array(rows) for name, rows in errors.items()}
    return Runs(stacked, np.array(left), np.array(other), np.array(degrees))


def worst_bin(rates: Array, celsius: Array) -> float:
    """Largest mean on any axis in a bin of temperature."""
    which = np.floor(np.clip(celsius, 0.0, 59.999) / BIN_C).astype(np.int64)
    count = np.bincount(which)
    means = np.stack([np.bincount(which, rates[:, i]) for i in range(3)], axis=1) / count[:, None]
    return float(np.abs(means).max())


def claims(done: Callable[[float], None], runs: int = 100, repeat: int = 0) -> list[Claim]:
    """Errors over specimens are standard normal, and the residual bias of the gyroscope."""
    found = run_specimens(seeds_of(0, runs, repeat), done)
    made = []
    words = {
        "gyroscope bias": ("gyroscope-bias", "gyroscope bias at 25 degC"),
        "gyroscope": ("gyroscope-slope", "gyroscope bias per degC"),
        "accelerometer": ("accelerometer-slope", "accelerometer change per degC"),
    }
    for name, (short, what) in words.items():
        what = f"{what}, {runs} specimens x 3 axes, 20 min from 0 to 60 degC and back: error / reported sigma"
        made += normal_claims(f"C/calibration/temperature/{short}", what, found.errors[name], _SOURCE)
    what = f"gyroscope bias left in a second run, same attitude, worst 5 degC bin of {runs} specimens, deg/s"
    more = f" (another attitude adds its g-sensitivity: up to {found.other_dps.max():.2f} deg/s upside down)"
    worst = float(found.left_dps.max())
    made.append(
        Claim("C/calibration/temperature/left", what + more, None, worst, ALLOWED_GYR_DPS, _SOURCE, kind="requirement")
    )
    return made

"""Report of a temperature curve: its quality, whether heating and cooling agree, and what is not determined."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.calibration import UNITS, Correction, Found
from strapdown.calibration.noise.block_covariance import Fitted, least_squares
from strapdown.calibration.temperature.rest_blocks import Blocks
from strapdown.types import Array

_LAG_SIGMAS = 4.5  # once in 1e5 axes by chance
_LEAST_RATE = 0.2  # rates of heating must differ by so much of the largest for a lag to show at all
_WIDE_C = 20.0  # a narrower range is usable near it only
_SMOOTH_BLOCKS = 5  # over which the rate of heating is estimated
# Sigma of the curve within its range to be called good, usable: 0.01 and 0.05 deg/s, 1 and 5 mg
_GOOD = {"accelerometer": 0.01, "gyroscope": np.radians(0.01)}
_USABLE = {"accelerometer": 0.05, "gyroscope": np.radians(0.05)}


@dataclass(frozen=True, eq=False)
class Lag:
    """Heating against cooling at the same temperature.

    gap (3,): bias at the fastest heating less that at the fastest cooling, or the slowest heating, in the unit; sigma
        (3,).
    seconds: the delay of the sensor behind its thermometer that would explain it, from the axis that shows it best.
        None where that axis hardly follows temperature.
    """

    gap: Array
    sigma: Array
    seconds: float | None

    @property
    def shows(self) -> bool:
        return bool((np.abs(self.gap) > _LAG_SIGMAS * self.sigma).any())


@dataclass(frozen=True, eq=False)
class TemperatureCurve:
    """One instrument.

    celsius (m,), before and after (m, 3): block means as read and corrected; pose (m,).

    degree: degree of the bias curve.
    scores (degrees, 3): cross-validated mean square error, in units of the expected one.
    covariance (3, p, p): covariance of offset (of the pose most seen) and c_1 .. c_degree, axis by axis.
    sigma_left: sigma that the noise model expects of a block.
    lag: heating against cooling, None where the log does not determine it.
    """

    name: str
    celsius: Array
    before: Array
    after: Array
    pose: NDArray[np.int64]
    degree: int
    scores: Array
    covariance: Array
    sigma_left: Array
    lag: Lag | None

    def curve(self, correction: Correction, celsius: Array) -> tuple[Array, Array]:
        """Bias and its standard deviation, (n, 3) each, at these temperatures."""
        powers = (celsius - correction.reference_c)[:, None] ** np.arange(self.degree + 1)
        coefficients = np.vstack([correction.bias, correction.temperature_bias])
        sigma = np.sqrt(np.einsum("np,apq,nq->na", powers, self.covariance, powers))
        return powers @ coefficients, sigma


def thermal_lag(
    blocks: Blocks, celsius: Array, means: Array, designs: Sequence[Array], covariances: Sequence[Array]
) -> Lag | None:
    """Adds a column for the rate of heating: bias(T - delay dT/dt) = bias(T) - delay bias'(T) dT/dt.

    None where the rate hardly changes: it then cannot be distinguished from the offset.
    """
    rate = _rate(blocks, celsius)
    span = float(np.ptp(rate))
    if span <= _LEAST_RATE * float(np.abs(rate).max()):
        return None
    gaps, sigmas, delays = np.empty(3), np.empty(3), np.empty(3)
    for axis in range(3):
        design = np.column_stack([designs[axis], rate])
        scaled = design / np.linalg.norm(design, axis=0)
        if np.linalg.cond(scaled) > 1e8:  # on an exponential warm-up the rate is a straight line in temperature
            return None
        fit = least_squares(means[:, axis], design, covariances[axis])
        gaps[axis], sigmas[axis] = fit.values[-1] * span, fit.sigma[-1] * span
        slope = np.polyfit(celsius, designs[axis] @ fit.values[:-1], 1)[0]
        delays[axis] = -fit.values[-1] / slope if abs(slope) * np.ptp(celsius) > 10.0 * sigmas[axis] else np.nan
    strongest = int(np.argmax(np.abs(gaps) / sigmas))
    seconds = float(delays[strongest]) if np.isfinite(delays[strongest]) else None
    return Lag(gaps, sigmas, seconds)


def _rate(blocks: Blocks, celsius: Array) -> Array:
    """Rate of temperature (degC/s), over a few blocks so that the thermometer's steps do not matter."""
    reach = min(_SMOOTH_BLOCKS, (len(celsius) - 1) // 2)
    i = np.arange(len(celsius))
    before, after = np.maximum(i - reach, 0), np.minimum(i + reach, len(celsius) - 1)
    return (celsius[after] - celsius[before]) / (blocks.t[after] - blocks.t[before])


def found_temperature(
    curve: TemperatureCurve,
    fits: Sequence[Fitted],
    blocks: Blocks,
    known_noise: bool,
    scaled: tuple[bool, ...],
    reference_c: float,
) -> Found:
    """Verdict, notes, and undetermined parameters."""
    unit, acc = UNITS[curve.name], curve.name == "accelerometer"
    low, high = float(curve.celsius.min()), float(curve.celsius.max())
    left = np.column_stack([fit.left for fit in fits])
    powers = (np.linspace(low, high, 25) - reference_c)[:, None] ** np.arange(curve.degree + 1)
    first = 1 if acc else 0  # the accelerometer's offset itself is not looked for
    band = np.einsum("np,apq,nq->na", powers[:, first:], curve.covariance[:, first:, first:], powers[:, first:])
    worst = float(np.sqrt(band.max()))
    verdict = "good" if worst <= _GOOD[curve.name] else "usable" if worst <= _USABLE[curve.name] else "poor"
    notes = [f"degree {curve.degree}, chosen by predicting stretches of time that were excluded"]
    if verdict != "good":
        notes.append(
            f"the curve is known to {worst:.2g} {unit} within its range; {_GOOD[curve.name]:.2g} would be good"
        )
    if high - low < _WIDE_C:
        verdict = "usable" if verdict == "good" else verdict
        notes.append(f"the log spans {high - low:.1f} degC only; below {_WIDE_C:g} the curve is for this range")
    if curve.lag is not None and curve.lag.shows:
        verdict = "usable" if verdict == "good" else verdict
        axis = int(np.argmax(np.abs(curve.lag.gap) / curve.lag.sigma))
        seconds, explained = curve.lag.seconds, ""
        if seconds is not None:
            where = "ahead of" if seconds > 0.0 else "behind"
            explained = f", as if the thermometer were {abs(seconds):.0f} s {where} the sensor"
        notes.append(
            f"heating and cooling differ: at one temperature {curve.name} {'xyz'[axis]} reads "
            f"{curve.lag.gap[axis]:.2g} {unit} more while it warms fastest than while it cools fastest{explained}; "
            "heat more slowly"
        )
    unexplained = np.sqrt(np.mean(left**2, axis=0)) > 2.0 * curve.sigma_left
    if known_noise and unexplained.any():
        verdict = "poor" if verdict == "poor" else "usable"
        axis = int(np.argmax(np.sqrt(np.mean(left**2, axis=0)) / curve.sigma_left))
        notes.append(f"{curve.name} {'xyz'[axis]} scatters more around its curve than the noise of the part explains")
    poses = int(curve.pose.max()) + 1
    if poses > 1:
        notes.append(f"{poses} poses: those in which gravity came back to within 2 deg were taken for the same")
    return Found(
        "temperature",
        {
            "samples": blocks.samples,
            "duration_s": round(float(blocks.width_s.sum()), 6),
            "poses": poses,
            "temperature_c": round(float(np.average(curve.celsius, weights=blocks.width_s)), 3),
            "degree": curve.degree,
            "noise": "given" if known_noise else "estimated from the log",
        },
        residual_rms=float(np.sqrt(np.mean(left**2))),
        verdict=verdict,
        notes=tuple(notes),
        undetermined=_undetermined(acc, scaled, poses),
    )


def _undetermined(acc: bool, scaled: tuple[bool, ...], poses: int) -> tuple[str, ...]:
    if not acc:
        said = ["matrix: a gyroscope at rest shows nothing of its scale", "temperature_scale: neither of its change"]
        alone = "g_sensitivity: the bias holds its part in this pose; rest in several poses at one temperature"
        return (*said, alone if poses == 1 else "g_sensitivity: the bias is the mean over the poses")
    said = ["bias, matrix: an offset cannot be distinguished from a tilt; calibrate by positions"]
    missing = [axis for axis, shows in zip("xyz", scaled, strict=True) if not shows]
    if missing:
        said.append(
            f"temperature_scale of {', '.join(missing)}: in one pose a change of scale along known gravity cannot be "
            "distinguished from a change of bias, and temperature_bias holds both; heat it with the axis up, then down"
        )
    return tuple(said)

"""Offsets against temperature, from a log of a warm-up or a climate chamber: paper C's curve for each axis.

Model of an axis at rest in pose k, dT = temperature - reference_c:

    reading = offset_k + sum of c_p dT^p + x_k * sum of s_p dT^p + white noise + drift

The c_p become temperature_bias. The s_p, temperature_scale, need an accelerometer that was at rest in poses with
different gravity x_k along the axis, each over much of the temperatures. In one pose they cannot be distinguished from
the c_p, which then include them. Only samples at rest are used, as means over blocks of time with their full
covariance.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.calibration import UNITS, Calibration, Correction
from strapdown.calibration.noise.block_covariance import Fitted, estimated_covariances, known_covariance
from strapdown.calibration.temperature.degree import chosen_degree
from strapdown.calibration.temperature.heated_rest import still_while_heated
from strapdown.calibration.temperature.report import TemperatureCurve, found_temperature, thermal_lag
from strapdown.calibration.temperature.rest_blocks import Blocks, blocks_of, instruments_at_rest, refuse_saturated
from strapdown.errors import InputError
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

LEAST_RANGE_C = 5.0
HIGHEST_DEGREE = 3
REFERENCE_C = 25.0  # where it lies in the data; else the middle of the data, rounded
_FARTHEST_C = 100.0  # of the reference from the data: a curve shows nothing there
_SAME_POSE_RAD = np.radians(2.0)  # a fixture brings a pose back to much less
_LEAST_LEVER = 3.0  # m/s2: spread of gravity along an axis over the poses for its scale to be determined
_LEAST_SHARE = 0.5  # of the range of temperature that a pose must see for its slope to count
_BLOCKS_PER_PARAMETER = 4


@dataclass(frozen=True, eq=False)
class TemperatureFit:
    """Bias curves over temperature and the data that they were fitted to.

    calibration: curves as corrections.
    curves: their evidence by instrument.
    used: rows at rest.
    blocks: blocks of time.
    """

    calibration: Calibration
    curves: Mapping[str, TemperatureCurve]
    used: NDArray[np.bool_]
    blocks: Blocks


def calibrate_temperature(
    recording: Recording,
    *,
    noise: Mapping[str, Triad] | None = None,
    reference_c: float | None = None,
    highest_degree: int = HIGHEST_DEGREE,
) -> TemperatureFit:
    """Bias curves of gyroscope and accelerometer from the still phases of a log whose temperature changes.

    noise: constants of the part by instrument; estimated from the log where there are none.
    reference_c: 25 degC if the data includes it, else the middle of the data.

    The degree, 0 to highest_degree (at most 4), is chosen by cross-validation over blocks of time.

    The gyroscope's bias is that at rest in the poses of the log, g-sensitivity included. The accelerometer's offset at
    the reference temperature is not estimated (calibrate it by positions): its correction only removes the change.
    """
    instruments = instruments_at_rest(recording)
    if recording.temperature is None:
        raise InputError("the log has no temperature; record the sensor's thermometer along (docs/io.md: temperature)")
    if isinstance(highest_degree, bool) or highest_degree not in range(5):
        raise InputError(f"highest_degree is {highest_degree}; give a whole number from 0 to 4")
    if reference_c is not None:
        _refuse_far_reference(reference_c, recording.temperature)
    stills = still_while_heated(recording)
    used = np.zeros(len(recording), dtype=bool)
    for still in stills:
        used[still.rows] = True
    blocks = blocks_of(recording.t, [still.rows for still in stills])
    celsius = blocks.means(recording.temperature)
    low, high = float(recording.temperature[used].min()), float(recording.temperature[used].max())
    _check_range(low, high, blocks, highest_degree)
    if reference_c is None:
        reference_c = REFERENCE_C if low <= REFERENCE_C <= high else float(round(0.5 * (low + high)))
    poses = _poses(blocks, np.array([s.acc_mean for s in stills]) if recording.acc_s is not None else None)
    corrections, curves = {}, {}
    for name, values in instruments.items():
        refuse_saturated(recording, name, values, used)
        triad = None if noise is None else noise.get(name)
        means = blocks.means(values)
        problem = _Problem(name, blocks, celsius - reference_c, poses, means, highest_degree, triad)
        correction, curves[name] = problem.solved(celsius, reference_c, (low, high))
        corrections[name] = correction
    return TemperatureFit(Calibration(corrections), curves, used, blocks)


def _refuse_far_reference(reference_c: float, celsius: Array) -> None:
    low, high = float(celsius.min()), float(celsius.max())
    if not low - _FARTHEST_C <= reference_c <= high + _FARTHEST_C:  # not a number neither
        raise InputError(
            f"the reference temperature is {reference_c:g} degC and the log runs from {low:.4g} to {high:.4g} degC; "
            f"give one within {_FARTHEST_C:g} degC of the log"
        )


def _check_range(low: float, high: float, blocks: Blocks, highest_degree: int) -> None:
    if high - low < LEAST_RANGE_C:
        raise InputError(
            f"the temperature changes by {high - low:.2f} degC while the sensor is at rest ({low:.2f} to {high:.2f}), "
            f"and a curve needs at least {LEAST_RANGE_C:g} degC: start cold, or heat it further"
        )
    needed = _BLOCKS_PER_PARAMETER * (highest_degree + 2)
    if len(blocks) < needed:
        raise InputError(
            f"{blocks.samples} still samples make {len(blocks)} means of half a second, and the fit needs {needed}: "
            "record for minutes"
        )


def _poses(blocks: Blocks, acc_means: Array | None) -> NDArray[np.int64]:
    """A pose for each block: still phases in which gravity has the same direction; one pose without accelerometer."""
    if acc_means is None:
        return np.zeros(len(blocks), dtype=np.int64)
    unit = acc_means / np.linalg.norm(acc_means, axis=1, keepdims=True)
    pose_of, kinds = np.zeros(len(unit), dtype=np.int64), [unit[0]]
    for k, direction in enumerate(unit):
        cosine = np.array(kinds) @ direction
        if cosine.max() < np.cos(_SAME_POSE_RAD):
            kinds.append(direction)
            cosine = np.append(cosine, 1.0)
        pose_of[k] = int(np.argmax(cosine))
    return pose_of[blocks.rest]


class _Problem:
    """One instrument's means, and how they depend on temperature."""

    def __init__(
        self,
        name: str,
        blocks: Blocks,
        warm: Array,
        pose: NDArray[np.int64],
        means: Array,
        highest_degree: int,
        triad: Triad | None,
    ) -> None:
        self.name, self.blocks, self.warm, self.pose, self.means = name, blocks, warm, pose, means
        self.highest_degree, self.known_noise = highest_degree, triad is not None
        self.poses = np.eye(int(pose.max()) + 1)[pose]
        seen = self.poses.T @ blocks.width_s
        self.main_pose = int(np.argmax(seen))
        self.share = seen / seen.sum()
        self.pose_means = (self.poses * blocks.width_s[:, None]).T @ means / seen[:, None]
        self.scaled = [name == "accelerometer" and self._scale_shows(axis) for axis in range(3)]
        widest = [self.design(highest_degree, axis) for axis in range(3)]
        if triad is not None:
            self.covariances = [known_covariance(blocks, triad, axis) for axis in range(3)]
        elif any(self.scaled):  # each axis has columns of its own
            self.covariances = [estimated_covariances(blocks, means[:, [a]], widest[a])[0] for a in range(3)]
        else:
            self.covariances = estimated_covariances(blocks, means, widest[0])

    def _scale_shows(self, axis: int) -> bool:
        """Whether poses differ much in gravity along the axis, each over half of the range of temperature."""
        whole = np.ptp(self.warm)
        wide = [np.ptp(self.warm[self.pose == k]) >= _LEAST_SHARE * whole for k in range(len(self.share))]
        along = self.pose_means[wide, axis]
        return len(along) >= 2 and float(np.ptp(along)) >= _LEAST_LEVER

    def design(self, degree: int, axis: int) -> Array:
        """Columns: offset of each pose, powers of dT, and powers of dT times the reading along the axis."""
        powers = self.warm[:, None] ** np.arange(1, degree + 1)
        columns = [self.poses, powers]
        if self.scaled[axis]:
            columns.append(powers * self.pose_means[self.pose, axis][:, None])
        return np.hstack(columns)

    def solved(
        self, celsius: Array, reference_c: float, range_c: tuple[float, float]
    ) -> tuple[Correction, TemperatureCurve]:
        poses = self.poses.shape[1]
        degree, scores, fits = chosen_degree(self.means, self.design, self.covariances, self.highest_degree, poses)
        slopes = slice(poses, poses + degree)
        bias, bias_sigma = self._bias(fits)
        t_bias = np.array([fit.values[slopes] for fit in fits]).T
        sigma = {"bias": bias_sigma, "temperature_bias": np.array([fit.sigma[slopes] for fit in fits]).T}
        t_scale = np.zeros((0, 3))
        if any(self.scaled) and degree > 0:
            found = [fits[a].values[poses + degree :] if self.scaled[a] else np.zeros(degree) for a in range(3)]
            known = [fits[a].sigma[poses + degree :] if self.scaled[a] else np.full(degree, np.inf) for a in range(3)]
            t_scale, sigma["temperature_scale"] = np.array(found).T, np.array(known).T
        if self.name == "accelerometer":
            # the offset is for the calibration by positions; without it x_k is the reading itself, which the formula
            # of a correction scales, too: reading = (1 + s dT) x + c dT
            bias, sigma["bias"] = np.zeros(3), np.full(3, np.inf)
        left = np.column_stack([fit.left for fit in fits])
        lag = thermal_lag(
            self.blocks, celsius, self.means, [self.design(degree, a) for a in range(3)], self.covariances
        )
        keep = [self.main_pose, *range(poses, poses + degree)]
        curve = TemperatureCurve(
            self.name,
            celsius,
            self.means,
            left + (self.pose_means[self.pose] if self.name == "accelerometer" else 0.0),
            self.pose,
            degree,
            scores,
            np.array([fit.covariance[np.ix_(keep, keep)] for fit in fits]),
            np.sqrt(np.array([np.mean(np.diag(c)) for c in self.covariances])),
            lag,
        )
        correction = Correction(
            UNITS[self.name],
            found_temperature(curve, fits, self.blocks, self.known_noise, tuple(self.scaled), reference_c),
            bias=bias,
            temperature_bias=t_bias,
            temperature_scale=t_scale,
            reference_c=reference_c,
            range_c=range_c,
            sigma=sigma,
        )
        return correction, curve

    def _bias(self, fits: list[Fitted]) -> tuple[Array, Array]:
        """Bias at the reference temperature: the mean over the poses, by the time spent in each."""
        poses = self.poses.shape[1]
        bias = np.array([self.share @ fit.values[:poses] for fit in fits])
        return bias, np.sqrt([self.share @ fit.covariance[:poses, :poses] @ self.share for fit in fits])

"""Paper B's calibration at rest, (B11) and (B12): the offsets of accelerometer and gyroscope in one known attitude.

One attitude determines one number for each axis. So the accelerometer's offset is known only as well as the attitude.
The offset includes the effect of scale and misalignment in that attitude. The offset of the gyroscope includes its
g-sensitivity to gravity in that attitude. The sigma is that of the offset in the next log of the same pose: noise of
the means, drift during the log, placement of the sensor, and what a part changes from log to log.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.calibration import UNITS, Calibration, Correction, Found
from strapdown.calibration.noise.block_covariance import (
    estimated_covariances,
    instability_covariance,
    known_covariance,
    mean_sigma,
)
from strapdown.calibration.poses.session_drift import Residuals, session_drift
from strapdown.calibration.temperature.rest_blocks import Blocks, blocks_of, instruments_at_rest, refuse_saturated
from strapdown.errors import InputError
from strapdown.recordings.examination.findings import REFUSE, Finding, LogError
from strapdown.recordings.rest import Still, still_intervals
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

SAME_ATTITUDE_RAD = np.radians(15.0)  # a phase further from the given attitude is another pose, not an offset
PLACED_RAD = np.radians(2.0)  # a board with wires, put down by hand where nobody has measured how level it lies
# m/s2, rad/s: sigma of what a part changes from one log to the next, by temperature and by being switched on
REPEATABILITY = {"accelerometer": 2e-3, "gyroscope": 5e-4}
# Largest sigma of an offset to be called good, and usable: 1 and 5 mg, 0.01 and 0.05 deg/s
_GOOD = {"accelerometer": 0.01, "gyroscope": np.radians(0.01)}
_USABLE = {"accelerometer": 0.05, "gyroscope": np.radians(0.05)}
_REMEDIES = {
    "noise": "noise limits it: rest longer",
    "drift": "drift during the log limits it: let the sensor warm up first",
    "attitude": "the attitude limits it: measure it better, or use six positions",
}
_UNMEASURED = (
    f"the attitude limits it: {np.degrees(PLACED_RAD):g} deg are assumed for a sensor put down by hand; state how "
    "level it lies (levelness), or use six positions"
)


@dataclass(frozen=True, eq=False)
class StaticFit:
    """Offsets, and the evidence for them.

    used: rows that was at rest in the attitude.
    expected: true reading of each instrument in that attitude (3,).
    found: mean reading (3,).
    blocks, before, after: means of intervals at rest, (m, 3) by instrument, as read and corrected.
    limits: sigma of the offset by its causes, (3,) by instrument: noise, drift, attitude, repeatability.
    """

    calibration: Calibration
    used: NDArray[np.bool_]
    expected: Mapping[str, Array]
    found: Mapping[str, Array]
    blocks: Blocks
    before: Mapping[str, Array]
    after: Mapping[str, Array]
    limits: Mapping[str, Mapping[str, Array]]


def calibrate_static(
    recording: Recording,
    *,
    gravity: float,
    roll_rad: float = 0.0,
    pitch_rad: float = 0.0,
    attitude_sigma_rad: float | None = None,
    noise: Mapping[str, Triad] | None = None,
    repeatability: Mapping[str, float] = REPEATABILITY,
) -> StaticFit:
    """Offsets from the still phases of a log in the attitude roll, pitch (rad; level if not given).

    gravity (m/s2) at the place.

    attitude_sigma_rad: sigma of roll and of pitch; None: as of a board that was put down by hand (PLACED_RAD).
    noise: constants of the part by instrument, as load_part(...).nominal().triads(); estimated from the log where there
        are none.
    repeatability: sigma of the change of an offset from log to log, by instrument, in its unit.

    The magnetometer is not changed.
    """
    level_s = gravity_s(gravity, roll_rad, pitch_rad)
    instruments = instruments_at_rest(recording, gravity)
    tilt_rad = PLACED_RAD if attitude_sigma_rad is None else attitude_sigma_rad
    if not tilt_rad >= 0.0:
        raise InputError(f"attitude_sigma_rad is {attitude_sigma_rad}; give a number of 0 or more")
    stills = _in_attitude(still_intervals(recording), level_s)
    used = np.zeros(len(recording), dtype=bool)
    for still in stills:
        used[still.rows] = True
    blocks = blocks_of(recording.t, [still.rows for still in stills])
    expected, found, before, after, corrections, limits = {}, {}, {}, {}, {}, {}
    rest = _Rest(recording, used, blocks, gravity, noise or {}, attitude_sigma_rad is not None)
    for name, values in instruments.items():
        refuse_saturated(recording, name, values, used)
        expected[name] = level_s if name == "accelerometer" else np.zeros(3)
        found[name] = values[used].mean(axis=0)
        before[name] = blocks.means(values)
        bias = found[name] - expected[name]
        after[name] = before[name] - bias
        limits[name] = {
            **_noise_and_drift(blocks, before[name], rest.noise.get(name)),
            "attitude": _tilt_sigma(level_s, tilt_rad) if name == "accelerometer" else np.zeros(3),
            "repeatability": np.full(3, repeatability.get(name, 0.0)),
        }
        corrections[name] = _correction(name, bias, limits[name], after[name] - expected[name], rest)
    return StaticFit(Calibration(corrections), used, expected, found, blocks, before, after, limits)


def gravity_s(gravity: float, roll_rad: float, pitch_rad: float) -> Array:
    """Specific force (m/s2) that a sensor at rest reads in this attitude: R^T (0, 0, g)."""
    if not gravity > 0.0:
        raise InputError(f"gravity is {gravity}; give its value at the place in m/s2")
    return gravity * np.array(
        [-np.sin(pitch_rad), np.sin(roll_rad) * np.cos(pitch_rad), np.cos(roll_rad) * np.cos(pitch_rad)]
    )


def normalised_specific_force(acc_s: Array, bias_s: Array, gravity: float) -> Array:
    """Paper B's a^ = g (a - da) / |a - da|, (B11): readings (n, 3) minus their offset, scaled to the length of gravity.

    Not used by default. After it every reading is as long as gravity, so an acceleration no longer shows as a wrong
    length and is taken for a tilt.
    """
    free = np.asarray(acc_s, dtype=np.float64) - bias_s
    size = np.linalg.norm(free, axis=-1, keepdims=True)
    if not size.all():
        raise InputError("a reading less its offset is zero, as in free fall; it has no direction to keep")
    return gravity * free / size


def _in_attitude(stills: tuple[Still, ...], level_s: Array) -> list[Still]:
    """The still phases in the given attitude; all of them if there is no accelerometer."""
    if stills[0].acc_mean is None:
        return list(stills)
    means = np.array([still.acc_mean for still in stills])
    cosine = means @ level_s / (np.linalg.norm(means, axis=1) * np.linalg.norm(level_s))
    off = np.arccos(np.clip(cosine, -1.0, 1.0))
    near = [still for still, angle in zip(stills, off, strict=True) if angle <= SAME_ATTITUDE_RAD]
    if not near:
        longest = int(np.argmax([still.duration_s for still in stills]))
        if cosine[longest] < -0.7:
            size = float(np.linalg.norm(means[longest]))
            numbers = {"z": float(means[longest][2]), "size": size, "where": "wherever the log rests"}
            raise LogError(Finding("z_down", REFUSE, numbers))
        x, y, z = means[int(np.argmax([still.duration_s for still in stills]))]
        roll_deg, pitch_deg = np.degrees(np.arctan2(y, z)), np.degrees(np.arctan2(-x, np.hypot(y, z)))
        raise InputError(
            f"no still phase lies in the attitude given; the longest looks like roll {roll_deg:.1f} and pitch "
            f"{pitch_deg:.1f} deg: give that attitude, or lay the sensor flat"
        )
    return near


def _noise_and_drift(blocks: Blocks, means: Array, triad: Triad | None) -> dict[str, Array]:
    """Sigma of the mean by noise, and by a drift during the log that the noise does not explain."""
    one = np.ones((len(blocks), 1))
    if triad is None:
        # of a drift only a line is new: the covariances hold flicker noise and random walk
        covariances, walks = estimated_covariances(blocks, means, one), False
        known = [np.diag(np.full(len(blocks), 0.5 * np.mean(np.diff(x) ** 2))) for x in means.T]
    else:
        known = covariances = [known_covariance(blocks, triad, i) for i in range(3)]
        walks = True
    noise = np.array([mean_sigma(covariance, blocks.width_s) for covariance in covariances])
    other = instability_covariance(blocks)
    other = np.eye(len(blocks)) if walks else other / np.mean(np.diag(other))
    sets = [
        Residuals(means[:, i] - means[:, i].mean(), one, np.tile(np.eye(3)[i], (len(blocks), 1)), known[i], other)
        for i in range(3)
        if known[i].any()
    ]
    drift = session_drift(blocks.t, sets) if len(sets) == 3 else None
    if drift is None:
        return {"noise": noise, "drift": np.zeros(3)}
    return {"noise": noise, "drift": np.sqrt(drift.bias_variance - (0.0 if walks else drift.walk / 3.0))}


def _tilt_sigma(level_s: Array, sigma_rad: float) -> Array:
    """A small rotation phi changes R^T g by f x phi. The error about each of the sensor's axes has this sigma. Along
    gravity the change is f phi^2 / 2, of the two rotations across it together.
    """
    x, y, z = level_s
    across = sigma_rad * np.array([np.hypot(y, z), np.hypot(x, z), np.hypot(x, y)])
    along = np.sqrt(2.0) * sigma_rad**2 * np.abs(level_s)  # rms of (phi_x^2 + phi_y^2) / 2
    return np.hypot(across, along)


@dataclass(frozen=True, eq=False)
class _Rest:
    """The rest from which a calibration is made.

    used: its rows.
    noise: noise of the part, by instrument, where it is given.
    measured: somebody has stated how well the attitude is known.
    """

    recording: Recording
    used: NDArray[np.bool_]
    blocks: Blocks
    gravity: float
    noise: Mapping[str, Triad]
    measured: bool


def _correction(
    name: str,
    bias: Array,
    limits: Mapping[str, Array],
    left: Array,
    rest: _Rest,
) -> Correction:
    """Correction of one instrument from a log at rest.

    left: residuals of the means of the blocks.
    """
    acc, gravity, used = name == "accelerometer", rest.gravity, rest.used
    data: dict[str, object] = {
        "samples": int(used.sum()),
        "duration_s": round(float(rest.blocks.width_s.sum()), 6),
        "rests": int(rest.blocks.rest[-1]) + 1,
        "gravity_m_s2": float(gravity),
        "noise": "given" if name in rest.noise else "estimated from the log",
    }
    celsius = None if rest.recording.temperature is None else rest.recording.temperature[used]
    if celsius is not None:
        data["temperature_c"] = round(float(celsius.mean()), 3)
    sigma = np.sqrt(np.sum([np.square(each) for each in limits.values()], axis=0))
    # what a part changes from log to log is no fault of this one
    here = np.sqrt(sigma**2 - limits["repeatability"] ** 2)
    worst, axis = float(here.max()), int(np.argmax(here))
    verdict = "good" if worst <= _GOOD[name] else "usable" if worst <= _USABLE[name] else "poor"
    limit = max(("noise", "drift", "attitude"), key=lambda cause: float(limits[cause][axis]))
    data["limited_by"] = limit
    notes = []
    if verdict != "good":
        why = _UNMEASURED if limit == "attitude" and not rest.measured else _REMEDIES[limit]
        notes.append(
            f"the offset is known to {worst:.2g} {UNITS[name]} (1 sigma), {_GOOD[name]:.2g} would be good; {why}"
        )
    if acc and float(np.linalg.norm(bias)) > 0.1 * gravity:
        verdict = "usable" if verdict == "good" else verdict
        notes.append(
            f"the offset is {np.linalg.norm(bias) / gravity:.2f} of gravity, more than parts have: is the sensor in "
            "the attitude given?"
        )
    only_here = (
        "matrix: one attitude cannot tell scale and misalignment from the offset, which holds them; use six positions",
        "bias: it is known as far as the attitude is; a tilt of 1 mrad is 0.01 m/s2",
    )
    gyr = (
        "matrix: a gyroscope at rest shows nothing of its scale; turn it through known angles",
        "g_sensitivity: the offset holds its part in this attitude; rest in several",
    )
    return Correction(
        UNITS[name],
        Found(
            "static",
            data,
            residual_rms=float(np.sqrt(np.mean(left**2))),
            verdict=verdict,
            notes=tuple(notes),
            undetermined=only_here if acc else gyr,
        ),
        bias=bias,
        range_c=None if celsius is None else (float(celsius.min()), float(celsius.max())),
        sigma={"bias": sigma},
    )

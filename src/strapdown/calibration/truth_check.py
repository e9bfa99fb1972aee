"""Corrected readings of a simulated log against the exact ones, which its truth gives: this shows whether the specimen
is recovered.
"""

from dataclasses import dataclass

import numpy as np

from strapdown.calibration.calibration import FIELDS, UNITS, Calibration
from strapdown.calibration.check import allowed_error, directions_filled
from strapdown.recordings.stated import stated_field, stated_gravity
from strapdown.rotation import q_conj, q_rotate
from strapdown.types import Array, Recording

_TURNED = 0.1  # least spread of directions (1: all over the sphere) that shows a rotation
MEAN_S = 1.0  # errors are means over so long, so that white noise, which no calibration takes off, does not hide them


@dataclass(frozen=True)
class TruthError:
    """Rms length of the error vector of one instrument, before and after the calibration, in its unit.

    allowed: the largest error with which the calibration is valid. None where its bias was assumed, so that there is no
    limit.
    """

    instrument: str
    unit: str
    before: float
    after: float
    allowed: float | None

    @property
    def holds(self) -> bool:
        return self.allowed is None or bool(self.after <= self.allowed)


def against_truth(
    calibration: Calibration, recording: Recording, corrected: Recording
) -> tuple[tuple[TruthError, ...], float | None]:
    """Errors of every instrument that was corrected, and turn of the axes in rad; empty for a log without a truth.

    The truth is expressed in the sensor's own axes. Gravity alone does not show a rotation of all axes together. So the
    rotation of the corrected accelerometer against the truth is reported separately and removed. The rotation is None
    where the log is in too few directions for that.
    """
    exact = _exact(recording)
    turn, angle = np.eye(3), None
    if "accelerometer" in exact and corrected.acc_s is not None and recording.acc_s is not corrected.acc_s:
        f_found, f_true = (_means(recording.t, values) for values in (corrected.acc_s, exact["accelerometer"]))
        if directions_filled(f_true) > _TURNED:
            turn = _rotation(f_found, f_true)
            angle = float(np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0)))
    rows = []
    for name, truth in exact.items():
        before, after = (getattr(r, FIELDS[name]) for r in (recording, corrected))
        if before is not None and after is not None and before is not after:
            was, left = (_rms(_without_delay(recording.t, values, truth)) for values in (before, after @ turn.T))
            allowed = allowed_error(calibration.corrections[name], name)
            if name == "magnetometer" and allowed is not None:  # its allowance is a part of the field
                allowed *= float(np.linalg.norm(truth, axis=1).mean())
            rows.append(TruthError(name, UNITS[name], was, left, allowed))
    return tuple(rows), angle


def _rotation(found: Array, true: Array) -> Array:
    """The rotation that best aligns the vectors found with the true ones (Kabsch)."""
    u, _, vt = np.linalg.svd(true.T @ found)
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt)


def _exact(recording: Recording) -> dict[str, Array]:
    """Readings of ideal instruments, where the meta of the log states that it is simulated."""
    truth, meta = recording.truth, recording.meta
    gravity = stated_gravity(recording)
    if truth is None or "errors" not in meta or gravity is None:
        return {}
    exact = {
        "accelerometer": truth.specific_force_b(gravity),
        "gyroscope": np.asarray(truth.w_nb_b),
    }
    b_n = stated_field(recording)
    if b_n is not None:
        exact["magnetometer"] = q_rotate(q_conj(truth.q_nb), b_n)
    return exact


def _width(t: Array) -> int:
    """Samples of a mean."""
    return min(max(1, round(MEAN_S / float(np.median(np.diff(t))))), len(t))


def _means(t: Array, errors: Array) -> Array:
    width = _width(t)
    count = len(t) // width
    return np.asarray(errors[: count * width].reshape(count, width, 3).mean(axis=1))


def _without_delay(t: Array, values: Array, truth: Array) -> Array:
    """Means of the errors without the part of a delay, which filters have and no calibration takes off.

    Errors without the delay of the filter. With a delay tau, the mean over a width has an error of tau (start - end of
    the truth) / width. tau is found by least squares.
    """
    errors, width = _means(t, values - truth), _width(t)
    change = np.array([truth[k * width] - truth[(k + 1) * width - 1] for k in range(len(errors))])
    power = float(np.sum(change**2))
    return errors - (float(np.sum(errors * change)) / power if power > 0.0 else 0.0) * change


def _rms(vectors: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))

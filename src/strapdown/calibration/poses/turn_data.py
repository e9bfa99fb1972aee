"""Data of the turns of a log for the fit of the gyroscope: rates, directions, drift, and unusable turns."""

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.poses.accelerometer_fit import CROSS, Fitted, PoseTable, unexplained
from strapdown.calibration.poses.gyroscope_model import TurnData
from strapdown.calibration.poses.pose_noise import drift_covariances, flicker_covariance
from strapdown.calibration.poses.session_drift import SessionDrift
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_LEAST_TURN = np.radians(5.0)  # between directions of gravity; a smaller one shows little and is only carried along
_STUCK = 3  # samples in a row at the extreme reading of the log: the end of the range


def turn_data(
    recording: Recording, poses: PoseTable, fitted: Fitted, noise: Triad | None, session: SessionDrift | None = None
) -> TurnData:
    """Poses and turns of a recording that has both instruments.

    noise: noise of the gyroscope's part, where it is known.
    session: a further drift of the gyroscope that its poses show.
    """
    assert recording.gyr_s is not None and recording.acc_s is not None
    assert poses.rates is not None and poses.rates_white is not None
    w = (recording.acc_s - fitted.bias) @ fitted.matrix.T
    force = w + fitted.cubic * w * w * w
    first = np.arange(len(poses) - 1)
    starts, ends = poses.rows[:-1, 1] - 1, poses.rows[1:, 0]
    from_s = np.concatenate([poses.from_s, recording.t[starts]])
    until_s = np.concatenate([poses.until_s, recording.t[ends]])
    if noise is not None:
        drift = drift_covariances(noise, from_s, until_s)
    else:
        unit = flicker_covariance(from_s, until_s)
        unit = 0.5 * unit + 0.5 * np.eye(len(unit)) * np.mean(np.diag(unit))
        drift = np.broadcast_to(_scatter(poses, fitted, unit) ** 2 * unit, (3, *unit.shape))
    if session is not None:
        drift = drift + session.before(0.5 * (from_s + until_s))
    size = np.linalg.norm(fitted.force, axis=1, keepdims=True)
    share = 1.0 / size.reshape(-1).repeat(3)
    lasting = poses.until_s - poses.from_s
    offset = np.median(poses.rates, axis=0)
    largest = np.maximum(recording.gyr_s.max(axis=0) - offset, offset - recording.gyr_s.min(axis=0))
    return TurnData(
        *(recording.t, recording.gyr_s, np.ascontiguousarray(force), poses.rates, fitted.force / size, fitted.force),
        *(first, first + 1, starts, ends, poses.rates_white, drift),
        white=np.median(poses.rates_white * lasting[:, None], axis=0),
        direction_covariance=fitted.force_covariance * share[:, None] * share + _ignored(fitted, size),
        fastest=max(float(largest.max()), 1e-3),
    )


def _ignored(fitted: Fitted, size: Array) -> Array:
    """Covariance of the directions (3n, 3n) by the cross-coupling that a diagonal accelerometer omits."""
    n = fitted.force / size
    columns = np.zeros((len(n), 3, 3))
    if fitted.model == "diagonal":
        for k, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
            columns[:, a, k], columns[:, b, k] = n[:, b], n[:, a]
        columns -= n[:, :, None] * np.einsum("na,nak->nk", n, columns)[:, None, :]  # along gravity nothing turns
    flat = columns.reshape(-1, 3)
    return np.asarray(0.5 * CROSS**2 * flat @ flat.T)  # half: a rotation of the axes is no error of a turn


def _scatter(poses: PoseTable, fitted: Fitted, unit: Array) -> float:
    """B of a drift (rad/s) that explains how the offset scatters from pose to pose, beyond bias and g-sensitivity."""
    assert poses.rates is not None and poses.rates_white is not None
    n = len(poses)
    column = np.column_stack([np.ones(n), fitted.force]) if poses.distinct >= 6 else np.ones((n, 1))
    freedom = 3 * (n - column.shape[1])
    jacobian: Array = np.asarray(np.kron(column, np.eye(3)), dtype=np.float64)
    values = (poses.rates - poses.rates.mean(axis=0)).reshape(-1)
    found, *_ = np.linalg.lstsq(jacobian, values, rcond=None)
    known = np.diag(poses.rates_white.reshape(-1)) + 1e-18 * np.eye(3 * n)
    shape: Array = np.asarray(np.kron(unit[:n, :n], np.eye(3)), dtype=np.float64)
    return unexplained(values - jacobian @ found, jacobian, known, shape, freedom, known_drift=False)


def unusable_turns(recording: Recording, data: TurnData) -> tuple[list[int], list[str]]:
    """Turns with clipped samples or gaps in time, and notes on them."""
    assert recording.gyr_s is not None
    steps = np.diff(recording.t)
    gap = max(10.0 * float(np.median(steps)), 0.1)
    low, high = recording.gyr_s.min(axis=0), recording.gyr_s.max(axis=0)
    clipped, gaps = [], []
    for k, (a, b) in enumerate(zip(data.starts, data.ends, strict=True)):
        if recording.clipped is not None:
            at_end = bool(recording.clipped[a : b + 1].any())
        else:
            rows = recording.gyr_s[a : b + 1]
            stuck = ((rows == low) | (rows == high)) & (rows[:1] != rows)
            at_end = any(_longest(column) >= _STUCK for column in stuck.T)
        if at_end:
            clipped.append(k)
        elif steps[a:b].max(initial=0.0) > gap:
            gaps.append(k)
    notes = []
    for found, what in ((clipped, "reaches the end of the range"), (gaps, "has samples missing")):
        if found:
            when = ", ".join(f"{recording.t[data.starts[k]]:.4g}" for k in found[:5])
            notes.append(f"{len(found)} of {len(data.first)} turns were rejected: the log {what} (from t = {when} s)")
    return clipped + gaps, notes


def _longest(flags: NDArray[np.bool_]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def why_untold(used: int, weak: NDArray[np.bool_], data: TurnData, mask: NDArray[np.bool_]) -> str:
    """Why elements of the matrix (weak, 3x3) are not determined by the turns of the mask, with what to do."""
    if used < 3:
        return f"{used} usable turns between poses are too few for 9 unknowns; turn the sensor through more poses"
    named = [f"{'xyz'[a]}{'xyz'[b]}" for a in range(3) for b in range(3) if weak[a, b]]
    angle = np.arccos(np.clip(np.sum(data.directions[data.first] * data.directions[data.second], axis=1), -1.0, 1.0))
    seen = int((angle[mask] > _LEAST_TURN).sum())
    why = (
        f"only {seen} of {used} turns tilt the sensor, and a turn about the vertical is not seen by gravity"
        if seen < 3
        else f"the {used} turns go about too few axes"
    )
    return f"the turns do not tell matrix {', '.join(named)}: {why}; turn it by 90 deg or more about each of its axes"

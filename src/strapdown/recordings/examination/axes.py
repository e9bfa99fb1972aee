"""Do gyroscope, accelerometer and magnetometer agree on axes, signs and scale?

Specific force is rotated by the gyroscope into one frame and averaged over some seconds. The mean is gravity:
accelerations average out, because a body that accelerates one way soon accelerates the other. So |mean of R f| is g for
right readings, in motion or at rest. The mean is much less than g where the gyroscope turns about a wrong axis, the
wrong way or too far. The field is treated the same, with a hard iron, which turns with the sensor, estimated and
removed. If the readings disagree, the 48 ways to order and sign three axes and the common errors of unit are tried.
Only one that restores the agreement is believed.

Blind spots: a turn about the vertical does not move gravity, and rest shows nothing. Readings with all three signs
reversed turn as the right ones do.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from strapdown.recordings.examination.limits import (
    FIELD_KEPT,
    FIELD_LOST,
    GRAVITY_KEPT,
    GRAVITY_LOST,
    LEAST_LOST,
    LEAST_LOST_SHARE,
    LEAST_TURN,
)
from strapdown.recordings.examination.windows import tamed
from strapdown.rotation import IDENTITY, matrix, q_exp, q_mul, q_rotate
from strapdown.types import Array, Recording

_WINDOW_S = 3.0  # Delta v of a step or a stroke over it is below a tenth of gravity; offsets turn little within it
_BLOCK_S = 0.04
_BLOCK_RAD = 0.5  # turn within a block: averages over more would shrink
_MOST_BLOCKS, _LEAST_BLOCKS = 128, 8
_EVEN_WINDOWS, _TURNED_WINDOWS = 24, 16  # spread over the log, and those in which gravity or the field turns most
_CANDIDATES = 256  # looked at for turns, by some rows of each
_LOOKED_AT = 8  # rows at each end of a candidate
_TRIED_WINDOWS = 16  # for each of the 48 orders and signs
_CLEAR = 0.4  # misfit of a remedy against those of the others for it to be named
_ROUNDOFF_OF_MOTION = 0.01  # of gravity: less is left by no real motion
_GAP = 5.0  # usual steps: no window over a gap
# (what the gyroscope's reading must be multiplied by, what it is)
SCALES = (
    (np.pi / 180.0, "the gyroscope is in deg/s"),
    (180.0 / np.pi, "the gyroscope was converted from deg/s to rad/s twice"),
    (1e-3, "the gyroscope is in mrad/s, or time in ms"),
    (1e3, "time was converted from ms to s twice"),
)


@dataclass(frozen=True, eq=False)
class Turns:
    """Windows of a log, in blocks: turn of the gyroscope (w, k, 3; rad), mean force and field of each block (w, k, 3).

    seconds: length of a window.
    """

    theta: Array
    force: Array
    field: Array | None
    seconds: float

    def __len__(self) -> int:
        return len(self.theta)


@dataclass(frozen=True)
class Disagreement:
    """What would restore the agreement: order and signs of the axes, or a factor; None: nothing that was tried.

    lost, kept: share of gravity (or of the field's changes that stays unexplained) as read, and with the remedy.
    """

    lost: float
    kept: float
    share: float  # of the windows that disagree
    axes: Array | None = None
    factor: float | None = None


def turns_of(recording: Recording, offset: Array | None = None) -> Turns | None:
    """Windows spread over the log.

    offset: offset of the gyroscope at rest, rad/s. None: too short, or an instrument is missing.
    """
    step = recording.step_s
    if recording.gyr_s is None or recording.acc_s is None or step <= 0.0:
        return None
    rates = np.abs(recording.gyr_s[:: max(1, len(recording) // 5000)]).max(axis=1)
    block_s = min(_BLOCK_S, _BLOCK_RAD / max(float(np.quantile(rates, 0.95)), 1e-9))
    width = max(1, round(block_s / step))
    blocks = min(_MOST_BLOCKS, round(_WINDOW_S / (width * step)), len(recording) // width)
    if blocks < _LEAST_BLOCKS:
        return None
    length = width * blocks
    dt = np.diff(recording.t, prepend=recording.t[0] - step)
    rows = _chosen(recording, length)[:, None] + np.arange(length)
    whole = dt[rows].max(axis=1) < _GAP * step
    rows = rows[whole]
    if not len(rows):
        return None

    def cut(values: Array) -> Array:
        return tamed(values[rows].reshape(len(rows), blocks, width, 3))

    gyr = cut(recording.gyr_s) - (0.0 if offset is None else offset)
    theta = (gyr * dt[rows].reshape(len(rows), blocks, width, 1)).sum(axis=2)
    field = None if recording.mag_s is None else cut(recording.mag_s).mean(axis=2)
    return Turns(theta, cut(recording.acc_s).mean(axis=2), field, length * step)


def _chosen(recording: Recording, length: int) -> NDArray[np.int64]:
    """First rows of the windows to examine: spread over the log, and those in which gravity or the field turns most."""
    count = 4 * (len(recording) // length - 1) + 1  # a quarter apart, so that a turn lies in the middle of one of them
    first = np.linspace(0, len(recording) - length, min(count, _CANDIDATES)).astype(np.int64)
    end = max(1, length // 4)
    rows = np.linspace(0, end - 1, min(end, _LOOKED_AT)).astype(np.int64)
    chosen = [np.linspace(0, len(first) - 1, min(len(first), _EVEN_WINDOWS)).astype(np.int64)]
    for values in (recording.acc_s, recording.mag_s):
        if values is not None:
            begins, ends = (tamed(values[first[:, None] + at + rows]).mean(axis=1) for at in (0, length - end))
            size = np.linalg.norm(begins, axis=1) * np.linalg.norm(ends, axis=1)
            cosine = np.einsum("ij,ij->i", begins, ends) / np.maximum(size, 1e-300)
            chosen.append(np.argsort(cosine, kind="stable")[:_TURNED_WINDOWS])
    return np.asarray(first[np.unique(np.concatenate(chosen))])


def gravity_kept(turns: Turns, gravity: float) -> Array:
    """|mean of R f| over g for each window."""
    return _mean_size(turns.theta, turns.force) / gravity


def gravity_turned(turns: Turns) -> Array:
    """Angle (rad) for each window between gravity at its end, rotated by the gyroscope, and gravity at its start."""
    ahead = q_rotate(_attitudes(turns.theta), turns.force)
    end = max(1, turns.force.shape[1] // 8)
    first, last = ahead[:, :end].mean(axis=1), ahead[:, -end:].mean(axis=1)
    across = np.linalg.norm(np.cross(first, last), axis=1)
    return np.arctan2(across, np.einsum("ij,ij->i", first, last))


def accelerometer_disagreement(turns: Turns, gravity: float) -> Disagreement | None:
    """None where gyroscope and accelerometer agree, or where the log does not show it."""
    kept = gravity_kept(turns, gravity)
    lost = np.flatnonzero(kept < GRAVITY_LOST)
    if len(lost) < max(LEAST_LOST, LEAST_LOST_SHARE * len(turns)):
        return None
    worst = lost[np.argsort(kept[lost], kind="stable")][:_TRIED_WINDOWS]
    theta, force = turns.theta[worst], turns.force[worst]
    before, share = float(kept[worst].mean()), len(lost) / len(turns)

    def misfit(trial: Array, turn: Array = theta, acc: Array = force) -> Array:
        """0 where all of gravity is kept: more than gravity is as wrong as less."""
        return np.abs(1.0 - _mean_size(turn @ trial.T, acc) / gravity)

    unturned = float(misfit(np.zeros((3, 3))).mean())
    best, axes = min(((float(misfit(trial).mean()), trial) for trial in _signed_orders()), key=lambda found: found[0])
    factor, scaled = SCALES[0][0], float(misfit(SCALES[0][0] * np.eye(3)).mean())  # deg/s, the most common
    for scale, _ in SCALES[1:]:
        after = float(misfit(scale * np.eye(3)).mean())
        if _clearly_less(after, scaled):
            factor, scaled = scale, after
    named = best < 1.0 - GRAVITY_KEPT and _clearly_less(best, min(unturned, scaled))
    # it must not help some windows and harm the others
    if named and float(np.median(misfit(axes, turns.theta, turns.force))) < 1.0 - GRAVITY_KEPT:
        return Disagreement(before, 1.0 - best, share, axes)
    return Disagreement(before, 1.0 - min(best, scaled), share, None, factor if scaled < 1.0 - GRAVITY_KEPT else None)


def _clearly_less(misfit: float, other: float) -> bool:
    return max(misfit, _ROUNDOFF_OF_MOTION) < _CLEAR * other


def magnetometer_disagreement(turns: Turns) -> Disagreement | None:
    """None where gyroscope and magnetometer agree, or where the log does not show it."""
    if turns.field is None:
        return None
    span = turns.field - turns.field.mean(axis=1, keepdims=True)
    moved = np.sqrt((span**2).sum(axis=2).mean(axis=1))
    size = np.median(np.linalg.norm(turns.field, axis=2))
    shows = np.flatnonzero(moved > LEAST_TURN * max(float(size), 1e-9))
    if len(shows) == 0:
        return None
    shows = shows[np.linspace(0, len(shows) - 1, min(len(shows), _TRIED_WINDOWS)).astype(np.int64)]
    theta, field = turns.theta[shows], turns.field[shows]
    before = _unexplained(theta, field)
    if before < FIELD_LOST:
        return None
    best, axes = before, None
    for trial in _signed_orders():
        after = _unexplained(theta @ trial.T, field)
        if after < best - 1e-3:
            best, axes = after, trial
    if best < FIELD_KEPT:
        return Disagreement(before, best, 1.0, axes)
    left, factor = min((_unexplained(theta * scale, field), scale) for scale, _ in SCALES)
    return Disagreement(before, min(best, left), 1.0, None, factor if left < FIELD_KEPT else None)


def axes_words(axes: Array) -> str:
    """Text such as (y, x, -z) for a signed order of axes."""
    words = [f"{'-' if row.sum() < 0 else ''}{'xyz'[int(np.argmax(np.abs(row)))]}" for row in axes]
    return f"({', '.join(words)})"


def _attitudes(theta: Array) -> Array:
    """Quaternions of the middles of the blocks in the frame of the window's start, by a scan of log2(k) products."""
    q, reach = q_exp(theta), 1
    while reach < q.shape[1]:
        q = np.concatenate([q[:, :reach], q_mul(q[:, :-reach], q[:, reach:])], axis=1)
        reach *= 2
    before = np.concatenate([np.broadcast_to(IDENTITY, (len(q), 1, 4)), q[:, :-1]], axis=1)
    return q_mul(before, q_exp(0.5 * theta))


def _mean_size(theta: Array, force: Array) -> Array:
    return np.asarray(np.linalg.norm(q_rotate(_attitudes(theta), force).mean(axis=1), axis=1))


def _unexplained(theta: Array, field: Array) -> float:
    """Share of the field's changes in the sensor that remains with one field in each window and one hard iron."""
    r = matrix(_attitudes(theta))
    left = np.einsum("wkij,wkj->wki", r, field)
    left = left - left.mean(axis=1, keepdims=True)
    by_iron = (r - r.mean(axis=1, keepdims=True)).reshape(-1, 3)
    iron, *_ = np.linalg.lstsq(by_iron, left.reshape(-1), rcond=None)
    changes = field - field.mean(axis=1, keepdims=True)
    return float(np.sum((left.reshape(-1) - by_iron @ iron) ** 2) / max(float(np.sum(changes**2)), 1e-300))


def _signed_orders() -> list[NDArray[np.float64]]:
    """The 48 signed orders of three axes, those that change least first."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            trial = np.zeros((3, 3))
            trial[np.arange(3), order] = signs
            found.append(trial)
    return sorted(found, key=lambda trial: -np.trace(trial))

"""Do gyroscope, accelerometer and magnetometer agree on axes, signs and scale?

Specific force rotated by the gyroscope into one frame and averaged over some seconds is gravity: accelerations average
out, because a body that accelerates one way soon accelerates the other. So |mean of R f| is g for right readings,
moving or not, and much less where the gyroscope turns about a wrong axis, the wrong way or too far. The field is
treated the same, with a hard iron, which turns with the sensor, estimated and removed. If the readings disagree, the 48
ways to order and sign three axes and the common errors of unit are tried; only one that restores the agreement is
believed.

Blind spots: a turn about the vertical does not move gravity, rest shows nothing, and readings with all three signs
turned turn as the right ones do.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from strapdown.recordings.limits import (
    FIELD_KEPT,
    FIELD_LOST,
    GRAVITY_KEPT,
    GRAVITY_LOST,
    LEAST_LOST,
    LEAST_LOST_SHARE,
    LEAST_TURN,
)
from strapdown.recordings.windows import tamed
from strapdown.rotation import IDENTITY, matrix, q_exp, q_mul, q_rotate
from strapdown.types import Array, Recording

_WINDOW_S = 3.0  # Delta v of a step or a stroke over it is below a tenth of gravity; offsets turn little within it
_BLOCK_S = 0.04
_BLOCK_RAD = 0.5  # turn within a block: averages over more would shrink
_MOST_BLOCKS, _LEAST_BLOCKS = 128, 8
_EVEN_WINDOWS, _TILTED_WINDOWS = 24, 24  # spread over the log, and those in which gravity moves most
_CANDIDATES = 192  # looked at for tilt, by some rows of each
_LOOKED_AT = 8  # rows at each end of a candidate
_TRIED_WINDOWS = 16  # for each of the 48 orders and signs
_CLEAR = 0.05  # of gravity, by which a remedy must be better than the others to be named
_GAP = 5.0  # usual steps: no window over a gap
# (what the gyroscope's reading must be multiplied by, what it is)
SCALES = (
    (np.pi / 180.0, "the gyroscope is in deg/s"),
    (180.0 / np.pi, "the gyroscope was converted from deg/s to rad/s twice"),
    (1e-3, "time is in ms, or the gyroscope in mrad/s"),
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
    """What would restore the agreement: order and signs of the axes, or a factor; None: nothing that was tried does.

    lost, kept: share of gravity (or of the field's changes that stays unexplained) as read, and with the remedy.
    """

    lost: float
    kept: float
    share: float  # of the windows that disagree
    axes: Array | None = None
    factor: float | None = None


def turns_of(recording: Recording, offset: Array | None = None) -> Turns | None:
    """Windows spread over the log; offset: of the gyroscope at rest, rad/s. None: too short, or an instrument lacks."""
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
    rows = _chosen(recording.acc_s, length)[:, None] + np.arange(length)
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


def _chosen(acc_s: Array, length: int) -> NDArray[np.int64]:
    """First rows of the windows to look at."""
    count = 2 * (len(acc_s) // length) - 1  # half over each other, so that a turn lies within one of them
    first = np.linspace(0, len(acc_s) - length, min(count, _CANDIDATES)).astype(np.int64)
    end = max(1, length // 4)
    rows = np.linspace(0, end - 1, min(end, _LOOKED_AT)).astype(np.int64)
    begins, ends = (tamed(acc_s[first[:, None] + at + rows]).mean(axis=1) for at in (0, length - end))
    size = np.linalg.norm(begins, axis=1) * np.linalg.norm(ends, axis=1)
    cosine = np.einsum("ij,ij->i", begins, ends) / np.maximum(size, 1e-300)
    tilted = np.argsort(cosine, kind="stable")[:_TILTED_WINDOWS]
    even = np.linspace(0, len(first) - 1, min(len(first), _EVEN_WINDOWS)).astype(np.int64)
    return np.asarray(first[np.unique(np.concatenate([even, tilted]))])


def gravity_kept(turns: Turns, gravity: float) -> Array:
    """|mean of R f| over g for each window."""
    return _mean_size(turns.theta, turns.force) / gravity


def accelerometer_disagreement(turns: Turns, gravity: float) -> Disagreement | None:
    """None where gyroscope and accelerometer agree, or where the log does not show it."""
    kept = gravity_kept(turns, gravity)
    lost = np.flatnonzero(kept < GRAVITY_LOST)
    if len(lost) < max(LEAST_LOST, LEAST_LOST_SHARE * len(turns)):
        return None
    worst = lost[np.argsort(kept[lost], kind="stable")][:_TRIED_WINDOWS]
    theta, force = turns.theta[worst], turns.force[worst]
    before, share = float(kept[worst].mean()), len(lost) / len(turns)

    def fits(trial: Array) -> float:
        """1 where all of gravity is kept: more than gravity is as wrong as less."""
        return float(1.0 - np.abs(1.0 - _mean_size(theta @ trial.T, force) / gravity).mean())

    unturned = fits(np.zeros((3, 3)))
    best, axes = max(((fits(trial), trial) for trial in _signed_orders()), key=lambda found: found[0])
    factor, scaled = None, 0.0
    for scale, _ in SCALES:
        fit = fits(scale * np.eye(3))
        if fit > scaled + _CLEAR:  # deg/s, the most common, is first
            factor, scaled = scale, fit
    if best >= GRAVITY_KEPT and best > max(unturned, scaled) + _CLEAR and not np.array_equal(axes, np.eye(3)):
        whole = 1.0 - np.abs(1.0 - _mean_size(turns.theta @ axes.T, turns.force) / gravity)
        if float(np.median(whole)) >= GRAVITY_KEPT:  # else it helps some windows and harms the others
            return Disagreement(before, best, share, axes)
    return Disagreement(before, max(best, scaled), share, None, factor if scaled >= GRAVITY_KEPT else None)


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
    return Disagreement(before, best, 1.0, axes if best < FIELD_KEPT else None)


def axes_words(axes: Array) -> str:
    """(y, x, -z) of a signed order of axes."""
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
    """Share of the field's changes in the sensor that is left with one field in each window and one hard iron."""
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

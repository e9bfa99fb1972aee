"""Where a sensor is at rest in one continuous log, found without a threshold from the user.

A window is at rest if on every axis its variance is that of the log's quietest windows, and its two halves agree. The
mean rate of the window must also be the gyroscope's offset around that time. A steady slow turn is as quiet as rest,
but not at that rate.
"""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.recordings.counts import smallest_step
from strapdown.types import Array, Recording

WINDOW_S = 0.5
_LEAST_WINDOW = 16  # samples: a variance of fewer shows too little
_BLOCKS = 4  # per window; windows advance by one block
_QUIETEST = 0.02  # of the windows begin the search for the noise floor
_ROUNDOFF = 1e-7  # of a sigma, as the difference of two sums of squares
_MOST_SPREAD = 10.0  # of a still window's variance against the floor, however much it scatters
_HALVES = 6.0  # sigmas between the halves of a still window; 1 in 1e9 for white noise
_CORRELATED = 4.0  # low-passed noise may make means scatter so much more than white noise does
_STEADY_TURN = np.radians(0.4)  # rad/s off the offset: above what g-sensitivity does to a pose, below a slow turn
_OFFSET_S = 60.0  # within this time on both sides the offset is one number; heat changes it later
_TILT_RATE = np.radians(0.15)  # rad/s: a pose whose gravity turns faster is a slow turn; slower, it settles
# A board on its cable or in a hand quivers: the accelerometer's mean is that of rest all the same, the gyroscope's is
# not quite; so it is taken only where a pose has nothing quieter
_QUIVER = np.radians(0.85)  # rad/s rms
_TRIMMED = 2  # hops at each edge: a turn begins and ends below the noise
# No part on the market is as noisy at rest; a log whose quietest windows are above it moves all the time
_MOST_GYR, _MOST_ACC = np.radians(1.5), 0.6  # rad/s, m/s2 per sample
_LOOKS_S = (600.0, 60.0, 15.0)  # of a log, for the rest with which it begins
_SURE_REST_S = 3.0  # a short look shows it, or the controller's flag
_G_RANGE = (5.0, 20.0)  # m/s2: a log whose median |f| lies within is taken to be in SI


@dataclass(frozen=True, eq=False)
class Still:
    """An interval at rest, edges trimmed: rows of the recording from t_s to until_s (s).

    acc_mean (m/s2), gyr_mean (rad/s), frame s: means over the interval.

    acc_deviation, gyr_deviation: standard deviations of one sample. None where the recording has no such instrument.
    """

    rows: slice
    t_s: float
    until_s: float
    acc_mean: Array | None
    gyr_mean: Array | None
    acc_deviation: Array | None
    gyr_deviation: Array | None

    @property
    def samples(self) -> int:
        return self.rows.stop - self.rows.start

    @property
    def duration_s(self) -> float:
        return self.until_s - self.t_s


def still_intervals(recording: Recording, *, shortest_s: float = 1.0) -> tuple[Still, ...]:
    """All intervals of at least shortest_s seconds in which the sensor is at rest, in the order of time."""
    if recording.acc_s is None and recording.gyr_s is None:
        raise InputError("the log has neither accelerometer nor gyroscope; record at least one to find where it rests")
    n = len(recording)
    if n < 2 * _LEAST_WINDOW:
        samples = "sample" if n == 1 else "samples"
        raise InputError(f"the log has {n} {samples}, too few to find where it rests; record for seconds")
    windows = _windows(recording)
    found: list[Still] = []
    for quiver in (0.0, _QUIVER) if windows.si else (0.0,):
        quiet = np.ones(windows.count, dtype=bool)
        for name in windows.mean:
            quiet &= _quiet(windows, name, quiver)
        if "gyr_s" in windows.mean:
            quiet &= _at_offset(windows, quiet)
        more = [s for s in _stretches(recording, windows, quiet, shortest_s) if not _tilts(recording, s)]
        found = sorted([*found, *(s for s in more if not _overlaps(s, found))], key=lambda still: still.t_s)
    if not found:
        raise InputError(
            f"no still phase of {shortest_s:g} s was found in {recording.t[-1] - recording.t[0]:.4g} s: "
            "put the sensor down, take the hand off and wait a few seconds in every pose"
        )
    return tuple(found)


def first_rest_until_s(recording: Recording) -> float:
    """End (s) of the first rest of a log that begins at rest.

    In a long log quiet turns may outnumber the rest and set the noise floor. A search in a shorter part then finds the
    rest, if it is long enough. Where readings do not show it, the controller's stop flag is used.
    """
    t, begins_s = recording.t, float(recording.t[0])
    refused: InputError | None = None
    for look_s in _LOOKS_S:
        near = slice(np.searchsorted(t, begins_s + look_s))
        gyr_s, acc_s = (None if x is None else x[near] for x in (recording.gyr_s, recording.acc_s))
        try:
            found = still_intervals(Recording(t[near], gyr_s, acc_s))[0]
        except InputError as error:
            refused = refused or error
            continue
        at_start = found.t_s <= begins_s + 1.0
        if at_start and (look_s == _LOOKS_S[0] or found.until_s - begins_s >= _SURE_REST_S):
            return found.until_s
        refused = refused or InputError(
            f"the log begins in motion and first rests at t = {found.t_s:.4g} s; start it at rest, or cut it there"
        )
    if recording.stop is not None and not recording.stop.all():
        stopped = int(np.argmin(recording.stop))  # samples of the stop with which the log begins
        if stopped > 0 and t[stopped - 1] - begins_s >= _SURE_REST_S:
            return float(t[stopped - 1])
    assert refused is not None
    raise refused


def _overlaps(still: Still, others: list[Still]) -> bool:
    """Whether an interval shares time with one of the others, which follow each other."""
    first = bisect_left(others, still.t_s, key=lambda other: other.until_s)
    return first < len(others) and others[first].t_s <= still.until_s


@dataclass(frozen=True, eq=False)
class _Windows:
    """Sliding windows of `samples` rows that begin every `hop` rows: statistics (count, 3) by field."""

    t: Array  # of their starts
    hop: int
    samples: int
    mean: dict[str, Array]
    variance: dict[str, Array]
    halves: dict[str, Array]  # |mean of the later half - mean of the earlier|
    least_variance: dict[str, Array]  # of a reading rounded to whole counts
    stuck: dict[str, NDArray[np.bool_]]  # at the extreme reading of the log: the end of the range has no noise
    si: bool

    @property
    def count(self) -> int:
        return len(self.t)


def _windows(recording: Recording) -> _Windows:
    t = recording.t
    usual = float(np.median(np.diff(t)))
    hop = max(_LEAST_WINDOW // _BLOCKS, round(WINDOW_S / usual / _BLOCKS))
    samples = _BLOCKS * hop
    while samples > len(t):
        hop, samples = max(1, hop // 2), _BLOCKS * max(1, hop // 2)
    starts = hop * np.arange((len(t) - samples) // hop + 1)
    mean, variance, halves, least, stuck = {}, {}, {}, {}, {}
    for name in ("acc_s", "gyr_s"):
        values = getattr(recording, name)
        if values is None:
            continue
        middle = np.median(values[:: max(1, len(values) // 10_000)], axis=0)
        blocks = len(values) // hop
        cut = (values[: blocks * hop] - middle).reshape(blocks, hop, 3)
        sums, squares = cut.sum(axis=1), np.einsum("ijk,ijk->ik", cut, cut)
        total = _running(sums, _BLOCKS) / samples
        mean[name] = total + middle
        variance[name] = np.maximum(_running(squares, _BLOCKS) / samples - total**2, 0.0) * samples / (samples - 1.0)
        half = _running(sums, _BLOCKS // 2) * (2.0 / samples)
        halves[name] = np.abs(half[_BLOCKS // 2 :] - half[: -(_BLOCKS // 2)])
        thin = values[: min(len(values), 5000)]
        steps = [smallest_step(thin[:, i]) or 0.0 for i in range(3)]
        # a noiseless log has roundoff for noise: stated against how far its readings go
        span = np.ptp(values, axis=0)
        least[name] = np.maximum(np.square(steps) / 12.0, (_ROUNDOFF * span) ** 2)
        to_end = np.minimum(np.abs(mean[name] - values.min(axis=0)), np.abs(mean[name] - values.max(axis=0)))
        stuck[name] = to_end <= _ROUNDOFF * span
    acc = mean.get("acc_s")
    size = 9.81 if acc is None else float(np.median(np.linalg.norm(acc, axis=1)))
    return _Windows(t[starts], hop, samples, mean, variance, halves, least, stuck, _G_RANGE[0] < size < _G_RANGE[1])


def _running(x: Array, width: int) -> Array:
    """Sums of `width` rows that follow each other."""
    total = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x, axis=0)])
    return total[width:] - total[:-width]


def _floor(variance: Array, least: float) -> tuple[float, float]:
    """Noise floor of an axis and the scatter of its logarithm, from its quietest windows outwards."""
    safe = np.maximum(variance, max(least, 1e-300))
    floor = float(np.sort(safe)[min(len(safe) - 1, max(2, int(_QUIETEST * len(safe))))])
    near = safe
    for _ in range(8):
        near = safe[safe < 4.0 * floor]
        floor, before = float(np.median(near)), floor
        if floor == before:
            break
    logs = np.log(near)
    return floor, 1.4826 * float(np.median(np.abs(logs - np.median(logs))))


def _quiet(windows: _Windows, name: str, quiver: float) -> NDArray[np.bool_]:
    """Windows whose variance is at the noise floor on every axis, and whose halves agree."""
    quiet = np.ones(windows.count, dtype=bool)
    most = _MOST_GYR if name == "gyr_s" else _MOST_ACC
    quiver = quiver if name == "gyr_s" else 0.0
    for i in range(3):
        variance, halves = windows.variance[name][:, i], windows.halves[name][:, i]
        free = ~windows.stuck[name][:, i]
        floor, scatter = _floor(variance[free] if free.any() else variance, float(windows.least_variance[name][i]))
        spread = max(1.5 + 10.0 * np.sqrt(2.0 / (windows.samples - 1)), np.exp(6.0 * scatter))
        quiet &= variance <= max(floor * min(spread, _MOST_SPREAD), quiver**2)
        white = np.sqrt(4.0 * floor / windows.samples)  # sigma of the difference of two means of half a window
        usual = 1.4826 * float(np.median(halves[variance < 4.0 * floor])) if (variance < 4.0 * floor).any() else white
        quiet &= halves <= max(_HALVES * np.clip(usual, white, _CORRELATED * white), quiver)
        if windows.si and np.sqrt(floor) > most:
            quiet[:] = False
    return quiet


def _at_offset(windows: _Windows, quiet: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Windows whose mean rate is the gyroscope's offset: the median of the quiet windows of the surrounding minutes."""
    if not quiet.any():
        return quiet
    # not more chunks than windows, however long the steps of a log are
    chunk_s = max(_OFFSET_S / 4.0, float(windows.t[-1] - windows.t[0]) / windows.count)
    chunk = np.floor((windows.t - windows.t[0]) / chunk_s).astype(np.int64)
    rates = windows.mean["gyr_s"]
    off = np.zeros((windows.count, 3))
    bounds = np.searchsorted(chunk, np.arange(chunk[-1] + 2))
    for c in range(chunk[-1] + 1):
        first, last = bounds[max(c - 4, 0)], bounds[min(c + 5, chunk[-1] + 1)]
        here = slice(bounds[c], bounds[c + 1])
        inside = np.flatnonzero(quiet[first:last]) + first
        if len(inside) and here.stop > here.start:
            thin = inside[:: max(1, len(inside) // 2000)]
            off[here] = np.abs(rates[here] - np.median(rates[thin], axis=0))
    noise = np.sqrt(np.median(windows.variance["gyr_s"][quiet], axis=0) / windows.samples)
    if windows.si:
        allowed = np.maximum(_STEADY_TURN, 6.0 * noise)
    else:  # unknown unit: against the scatter of the quiet windows themselves
        allowed = np.maximum(6.0 * 1.4826 * np.median(off[quiet], axis=0), 12.0 * noise)
    return np.asarray((off <= allowed).all(axis=1))


def _stretches(recording: Recording, windows: _Windows, quiet: NDArray[np.bool_], shortest_s: float) -> list[Still]:
    """Runs of quiet windows, a little trimmed at each edge that is not an edge of the log; gaps in time end a run."""
    t = recording.t
    usual = float(np.median(np.diff(t)))
    gaps = np.flatnonzero(np.diff(t) > max(10.0 * usual, 0.1))  # the row before each gap
    padded = np.concatenate([[False], quiet, [False]])
    starts, ends = np.flatnonzero(padded[1:] & ~padded[:-1]), np.flatnonzero(~padded[1:] & padded[:-1])
    found, trimmed = [], _TRIMMED * windows.hop
    for first, last in zip(starts, ends, strict=True):
        begin, end = int(first) * windows.hop, int(last - 1 + _BLOCKS) * windows.hop
        end = end if last < windows.count else len(t)
        inside = gaps[np.searchsorted(gaps, begin) : np.searchsorted(gaps, end - 1)]
        cuts = [begin, *(int(g) + 1 for g in inside), end]
        for a, b in pairwise(cuts):
            long_enough = t[b - 1] - t[a] + usual >= shortest_s
            a += trimmed if a > 0 else 0
            b -= trimmed if b < len(t) else 0
            if long_enough and b - a >= windows.samples // 2:
                found.append(_still(recording, slice(a, b)))
    return found


def _still(recording: Recording, rows: slice) -> Still:
    acc, gyr = recording.acc_s, recording.gyr_s
    means = [None if v is None else v[rows].mean(axis=0) for v in (acc, gyr)]
    deviations = [None if v is None else v[rows].std(axis=0, ddof=1) for v in (acc, gyr)]
    return Still(rows, float(recording.t[rows.start]), float(recording.t[rows.stop - 1]), *means, *deviations)


def _tilts(recording: Recording, still: Still) -> bool:
    """Whether gravity turns steadily during the interval, by more than its noise explains."""
    if recording.acc_s is None or still.acc_mean is None or still.acc_deviation is None:
        return False
    t = recording.t[still.rows] - 0.5 * (still.t_s + still.until_s)
    slope = (t - t.mean()) @ (recording.acc_s[still.rows] - still.acc_mean) / np.sum((t - t.mean()) ** 2)
    sigma = np.sqrt(np.sum(still.acc_deviation**2) / np.sum((t - t.mean()) ** 2))
    size = float(np.linalg.norm(still.acc_mean))
    return bool(np.linalg.norm(slope) > max(_TILT_RATE * size, _HALVES * sigma))

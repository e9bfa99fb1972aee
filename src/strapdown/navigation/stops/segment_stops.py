"""Stops of a vehicle in a whole recording, from evidence: one decision over all segments of constant force and rate.

Every piece of evidence is a log-likelihood ratio (nats) of a stop against a drive: speed integrated since the stop
before it, force, rate, variance of the readings, and time for which they are constant. The controller's signal and a
wheel at rest count by how reliable they prove to be: what they signal in stops and in motion is measured, and the
decision is made again. So a stuck flag or a dead encoder counts for nothing. A wheel that turns is no stop. A stop in
which the vehicle turns slowly is a stop; the filter then has its rate for no bias (navigation/eskf/updates.py).
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.kernels.navigation import stop_segments as kernel
from strapdown.keywords import shows_keywords
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.navigation.stops.judged import both_instruments, judged_stops
from strapdown.navigation.stops.segments import BLOCK_S, Segments, segments_of
from strapdown.navigation.stops.wheel import rolling
from strapdown.recordings.runs import runs_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

REACH = 64  # earlier segments from which a stop is judged, besides the best of all
_LEAST_BLOCKS = 10  # of a rest, whose means show noise that is not white
_INVERTED = 0.2  # part of the stops that a flag may show and still look inverted


@shows_keywords("of_rest")
@dataclass(frozen=True)
class SegmentStops:
    """Settings of the decision.

    acc_sigma_m_s2, gyr_sigma_rad_s: standard deviation of a reading at rest.
    acc_white, gyr_white: noise density of means at rest (m/s2/sqrt(Hz), rad/s/sqrt(Hz)).
    steady_m_s2, wander_rad_s: change of the accelerometer's and the gyroscope's bias from one stop to the next.
    turn_leak: part of an angle turned that is left as a tilt, from scale and axes.
    gain_m_s2: acceleration of a drive, as a standard deviation.
    floor_spread: change of the variance at rest from stop to stop, as a logarithm; a motor idles unevenly.
    turn_rad_s: mean rate of a stop, as a standard deviation: ground that turns.
    calm_s: time of constant readings that is no evidence; more speaks for a stop, up to one nat, less against it.
    signal_error: part of the time for which a reliable signal may be wrong.
    doubt: probability that evidence is wrong in a way that its sigma does not have.
    edge_s: ends of a stop that are not used where no signal shows them, as a move begins and ends below the noise.
    false_alarm: probability that noise cuts a segment.
    """

    acc_sigma_m_s2: float
    gyr_sigma_rad_s: float
    acc_white: float
    gyr_white: float
    steady_m_s2: float = 0.002
    wander_rad_s: float = 1e-4
    turn_leak: float = 0.002
    gain_m_s2: float = 0.3
    floor_spread: float = 0.3
    turn_rad_s: float = 0.01
    calm_s: float = 2.0
    signal_error: float = 0.01
    doubt: float = 1e-4
    edge_s: float = 0.15
    false_alarm: float = 1e-6

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 < value < np.inf:
                raise InputError(f"{name} of the stop settings is {value}; give a number above 0")
        for name in ("signal_error", "doubt", "false_alarm"):
            if not getattr(self, name) < 0.5:
                raise InputError(f"{name} is {getattr(self, name)}; give a probability below 0.5")

    @classmethod
    def of_rest(
        cls,
        recording: Recording,
        rest: tuple[int, int],
        gyroscope: Triad | None = None,
        accelerometer: Triad | None = None,
        **more: Any,
    ) -> Self:
        """Noise of a rest, from its first to its last row, which includes the vibration of a motor; or of the part,
        where that is larger.
        """
        gyr, acc = both_instruments(recording)
        step_s = recording.step_s
        known: dict[str, float] = {}
        size = max(round(BLOCK_S / step_s), 2)
        for values, triad, sigma, white in (
            (acc, accelerometer, "acc_sigma_m_s2", "acc_white"),
            (gyr, gyroscope, "gyr_sigma_rad_s", "gyr_white"),
        ):
            resting = values[rest[0] : rest[1] + 1]
            known[sigma] = float(resting.std(axis=0).max())
            if triad is not None:
                noise = float(np.hypot(max(triad.white) / np.sqrt(step_s), triad.resolution / np.sqrt(12.0)))
                known[sigma] = max(known[sigma], noise)
            if not known[sigma] > 0.0:
                raise InputError("the readings at rest do not vary, so they show no noise; state the part")
            known[white] = known[sigma] * np.sqrt(step_s)
            blocks = len(resting) // size
            if blocks >= _LEAST_BLOCKS:  # low-passed noise and vibration: means vary by more than white noise
                means = resting[: blocks * size].reshape(blocks, size, 3).mean(axis=1)
                known[white] = max(known[white], float(means.std(axis=0, ddof=1).max() * np.sqrt(size * step_s)))
        return cls(**{**known, **more})

    def find(self, recording: Recording, rest: tuple[int, int]) -> StopIntervals:
        """The stops of a recording; `used` is without the edges that may move.

        rest: first and last row of a known rest, whose mean rate is the gyroscope's bias. Where it is the start of the
            recording, the decision begins with it.
        """
        cuts = segments_of(self, recording, rest)
        signal = _signal(recording)
        shown = [] if signal is None else [cuts.most(signal)]
        rolls = cuts.most(rolling(recording))
        if rolls.any():
            shown.append(~rolls)
        own = self._own(cuts)
        own[rolls] = -np.inf
        chosen = self._decide(cuts, own, shown, rest)
        believed = np.repeat(chosen, cuts.count)
        used = without_edges(believed, recording.step_s, self.edge_s, signal)
        for first, last in runs_of(believed):  # shorter than its edges, as between a move and a turn
            believed[first : last + 1] = used[first : last + 1].any()
        verdict = np.where(believed, judge.BELIEVED, judge.MOVES)
        if recording.stop is not None:  # what is shorter than an edge is an edge
            refused = np.repeat(np.where(cuts.length_s > self.edge_s, judge.REJECTED, judge.DOUBTED), cuts.count)
            verdict = np.where(~believed & recording.stop, refused, verdict)
        against = np.repeat(np.minimum(-own, -2.0 * np.log(self.doubt)), cuts.count)
        found = judged_stops(recording, verdict.astype(np.int64), against, -float(np.log(self.doubt)))
        return replace(found, used=used)

    def packed(self, gravity: float, size: int = kernel.SETTINGS) -> Array:
        """Settings of the chain as the kernels read them, in an array of this size."""
        s = np.empty(size)
        s[kernel.ACC_N2], s[kernel.GYR_N2] = self.acc_white**2, self.gyr_white**2
        s[kernel.STEADY], s[kernel.WANDER], s[kernel.LEAK] = self.steady_m_s2, self.wander_rad_s, self.turn_leak
        s[kernel.GAIN], s[kernel.DOUBT], s[kernel.CALM_S] = self.gain_m_s2, self.doubt, self.calm_s
        s[kernel.G] = gravity
        return s

    def _own(self, cuts: Segments) -> Array:
        """Evidence of the readings of each segment: their variance, and their mean rate."""
        own = np.zeros(len(cuts))
        for spread, sigma in ((cuts.acc_var, self.acc_sigma_m_s2), (cuts.gyr_var, self.gyr_sigma_rad_s)):
            degrees = 3.0 * np.maximum(cuts.count - 1, 1)
            louder = np.log(np.maximum(spread / sigma**2, 1.0))
            own += self._bounded(-0.5 * louder**2 / (2.0 / degrees + self.floor_spread**2))
        rate2 = (cuts.rate_s**2).sum(axis=1)
        # without a bound: no other evidence, as of wheels that stand in a turn on the spot, makes a turn a stop
        return own - 0.5 * rate2 / (self.gyr_white**2 / cuts.length_s + self.turn_rad_s**2)

    def _bounded(self, evidence: Array) -> Array:
        return np.asarray(np.log(self.doubt + np.exp(evidence)))

    def _decide(
        self, cuts: Segments, own: Array, shown: list[NDArray[np.bool_]], rest: tuple[int, int]
    ) -> NDArray[np.bool_]:
        """Segments that are stops.

        shown: of each signal, the segments that it shows as stops.
        """
        fix_signature(kernel.chain)
        s = self.packed(cuts.gravity)
        first = cuts.at((rest[0] + rest[1]) // 2) if rest[0] == 0 else -1
        wrong = self.signal_error
        reliable = [(wrong, 1.0 - wrong)] * len(shown)
        made: set[bytes] = set()
        while True:  # with trusted signals, then with what they proved to be worth, until a decision comes again
            total = own.copy()
            for stops, (in_motion, in_stops) in zip(shown, reliable, strict=True):
                yes, no = np.log(in_stops / in_motion), np.log((1.0 - in_stops) / (1.0 - in_motion))
                total += np.where(stops, yes, no)
            chosen = np.zeros(len(cuts), dtype=bool)
            kernel.chain(cuts.columns(total), s, first, REACH, chosen)
            if not shown or chosen.tobytes() in made:
                return chosen
            made.add(chosen.tobytes())
            reliable = [
                (self._part(cuts, stops, ~chosen, wrong), self._part(cuts, stops, chosen, 1.0 - wrong))
                for stops in shown
            ]

    def _part(self, cuts: Segments, stops: NDArray[np.bool_], among: NDArray[np.bool_], otherwise: float) -> float:
        """Part of the time of some segments for which a signal shows a stop."""
        if not among.any():
            return otherwise
        part = cuts.length_s[among & stops].sum() / cuts.length_s[among].sum()
        return float(np.clip(part, self.signal_error, 1.0 - self.signal_error))


def without_edges(
    believed: NDArray[np.bool_], step_s: float, edge_s: float, signal: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Believed samples without the edges that no signal of the controller has made."""
    used, edge, n = believed.copy(), max(round(edge_s / step_s), 1), len(believed)
    rises, falls = np.zeros(n + 1, dtype=bool), np.zeros(n + 1, dtype=bool)  # before a row
    rises[0] = falls[n] = True
    if signal is not None:
        rises[1:n], falls[1:n] = signal[1:] & ~signal[:-1], signal[:-1] & ~signal[1:]
    for first, last in runs_of(believed):
        begin, end = min(first + edge, last + 1), max(last + 1 - edge, first)
        # where the signal changes within an edge, it knows better
        shown = np.flatnonzero(rises[first:begin]) + first
        used[first : shown[0] if len(shown) else begin] = False
        shown = np.flatnonzero(falls[end + 1 : last + 2]) + end + 1
        used[shown[-1] if len(shown) else end : last + 1] = False
    return used


def _signal(recording: Recording) -> NDArray[np.bool_] | None:
    """The controller's signal; None where it is always the same and so signals nothing."""
    stop = recording.stop
    return None if stop is None or stop.all() or not stop.any() else np.asarray(stop)


def looks_inverted(recording: Recording, settings: SegmentStops, rest: tuple[int, int]) -> bool:
    """Whether the flag is set where the readings show motion, and not where they show a stop."""
    if _signal(recording) is None:
        return False
    assert recording.stop is not None
    alone = settings.find(replace(recording, stop=None), rest).believed
    if not 0.0 < alone.mean() < 1.0:
        return False
    return bool(recording.stop[alone].mean() < _INVERTED and recording.stop[~alone].mean() > 0.5)


def unseen_moves(settings: SegmentStops) -> str:
    """Which moves cannot be distinguished from rest, as a clause: those whose force, within a second, is no more than
    what noise may cut a segment at.
    """
    from scipy.special import chdtri

    force = settings.acc_white * float(np.sqrt(2.0 * chdtri(6, settings.false_alarm)))
    return f"a move that speeds up by less than about {force:.2g} m/s2 looks like rest to it, and no sigma covers it"

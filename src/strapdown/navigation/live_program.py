"""Navigation while the samples arrive: rest, alignment, stops, filter; each solution uses only earlier samples.

This program is the forward pass of `navigate`: no smoothing, no look-ahead. That a stop has ended shows some tenths of
a second late. The filter is then taken back to the begin of the move, and runs again without the stop. A recording run
through it gives the bits of the live run, because it is the same code on the same samples.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from strapdown.calibration.apply import META
from strapdown.calibration.live import LiveCalibration
from strapdown.errors import InputError
from strapdown.live import State
from strapdown.navigation.carriers.free import Free
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.program import Navigated
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.intervals import StopIntervals, Verdict, events_of, without_late
from strapdown.navigation.stops.segments import BLOCK_S, LONGEST_S
from strapdown.recordings.examination.faults import without_dead_field
from strapdown.recordings.facts import Facts
from strapdown.recordings.rest import first_rest_until_s
from strapdown.recordings.tape import Tape
from strapdown.rotation import q_rotate
from strapdown.types import Array, Event, Recording, Sample, Solution

REST_S = 8.0
_END_S = 1.0  # a rest may seem to end so long before the samples do: windows of the search
_MOVED = "it moved while it was aligned; keep it still until the alignment is done"


class LiveSolution(NamedTuple):
    """After one sample. Frames and units as in a Solution; p_n is that of the body's origin where the lever is known.

    verdict: verdict on a stop, with the controller's signal in `signalled`.
    """

    t: float
    q_nb: Array
    p_n: Array
    v_n: Array
    sigma: Mapping[str, Array]
    bias: Mapping[str, Array]
    flags: Mapping[str, bool]
    verdict: Verdict
    signalled: bool | None


class _Kept(NamedTuple):
    """A sample that may have to be taken again.

    before: state of the filter before it, None for most samples.
    stop: the filter has taken it for a stop.
    """

    before: State | None
    sample: Sample
    stop: bool


class LiveNavigator:
    """Takes samples with put().

    carrier: a wheeled robot, or Free.
    facts: made from the rest at the start, whose noise and part it states.
    meta: meta of the source; the length of an odometer's tick is in its resolution.
    calibration: applied to every sample first.

    aligned_part: 0 to 1 while the rest is collected. A sample that a filter cannot use is counted in `refused`.
    """

    def __init__(
        self,
        carrier: WheeledRobot | Free,
        facts: Callable[[Recording], Facts],
        *,
        meta: Mapping[str, Any],
        calibration: LiveCalibration | None = None,
        rest_s: float = REST_S,
    ) -> None:
        if not isinstance(carrier, WheeledRobot | Free):
            raise InputError(f"{type(carrier).__name__} cannot be navigated live; use robot or free")
        if not 2.0 <= rest_s <= 600.0:
            raise InputError(f"the rest at the start is {rest_s:g} s; give 2 to 600 s")
        self.carrier, self.rest_s = carrier, rest_s
        self._facts_of, self._calibration = facts, calibration
        self._meta = dict(meta)
        counts = self._meta.get("resolution")
        self._tick_m = counts.get("odometer") if isinstance(counts, Mapping) else None
        if calibration is not None:
            done = {name: {"method": c.found.method, "date": c.found.date} for name, c in _corrections(calibration)}
            self._meta[META] = done
        self._rest: list[Sample] = []
        self.estimator: Eskf | None = None
        self.judge: ForwardStops | None = None
        self.facts: Facts | None = None
        self.state: State | None = None
        self._judging: State | None = None
        self._kept: deque[_Kept] = deque()
        self._kept_at = -np.inf
        self.notes: list[str] = []
        self.restarts = 0  # alignments that motion has ended
        self.refused = 0

    @property
    def aligned_part(self) -> float:
        if self.state is not None:
            return 1.0
        return (self._rest[-1].t - self._rest[0].t) / self.rest_s if self._rest else 0.0

    def put(self, sample: Sample) -> LiveSolution | None:
        """The solution after the sample; None while it is aligned."""
        if self._calibration is not None:
            sample = self._calibration.corrected(sample)
        if self.state is None:
            self._rest.append(sample)
            if sample.t - self._rest[0].t >= self.rest_s:
                self._align()
            return None
        try:
            verdict = self._advance(sample)
        except InputError:  # not finite, or back in time: the next one has the time since the last that was used
            self.refused += 1
            return None
        return self._solution(sample, verdict)

    def _advance(self, sample: Sample) -> Verdict:
        """Judge a sample, and take it into the filter."""
        assert self.estimator is not None and self.judge is not None
        assert self._judging is not None and self.state is not None
        judging, verdict = self.judge.step(self._judging, sample)
        before = self.state if verdict.late_s == 0.0 else self._revised(sample.t - verdict.late_s)
        self.state = self.estimator.step(before, sample._replace(stop=verdict.believed))
        self._judging = judging
        self._keep(before, sample, verdict.believed)
        return verdict

    def _keep(self, before: State, sample: Sample, stop: bool) -> None:
        """Keep a sample as long as it may have to be taken again. States are large: one for each block is kept."""
        apart = not self._kept or sample.t - self._kept_at >= BLOCK_S
        if apart:
            self._kept_at = sample.t
        self._kept.append(_Kept(before if apart else None, sample, stop))
        oldest = sample.t - LONGEST_S - 1.0
        while len(self._kept) > 1 and self._kept[0].sample.t < oldest:
            self._kept.popleft()
            while self._kept[0].before is None:  # what begins without a state cannot be taken again
                self._kept.popleft()

    def _revised(self, since: float) -> State:
        """State before the next sample, if none since then was a stop."""
        assert self.estimator is not None and self.state is not None
        again: list[_Kept] = []
        while self._kept and (self._kept[-1].sample.t > since or again[-1].before is None):
            again.append(self._kept.pop())
        if not again or again[-1].before is None:
            return self.state
        again.reverse()
        state = again[0].before
        assert state is not None
        for kept in again:
            stop = kept.stop and kept.sample.t <= since
            self._kept.append(kept._replace(before=None if kept.before is None else state, stop=stop))
            state = self.estimator.step(state, kept.sample._replace(stop=stop))
        return state

    def _align(self) -> None:
        """Align on the rest; if it was none, wait for another."""
        samples, self._rest = self._rest, []
        tape = Tape(len(samples), meta=self._meta)
        for sample in samples:
            tape.put(sample)
        rest = tape.recording()
        try:
            until_s = first_rest_until_s(rest)
        except InputError:
            until_s = -np.inf
        if until_s < samples[-1].t - _END_S:
            self.restarts += 1
            if _MOVED not in self.notes:
                self.notes.append(_MOVED)
            return
        rest, dead = without_dead_field(rest)
        self.notes += [finding.sentence for finding in dead]
        facts = self._facts_of(rest)
        start = self.carrier.start(rest, facts)
        note = self.carrier.heading.note(rest)
        if note is not None:
            self.notes.append(note)
        self.judge = self._judge(rest, facts)
        self.facts, self.estimator = facts, self.carrier.estimator(rest, facts)
        self.state, self._judging = self.estimator.start(start), self.judge.start(rest.step_s)
        for sample in rest.samples():  # the filter passes over those of the alignment; the judge learns the rest
            self._advance(sample)

    def _judge(self, rest: Recording, facts: Facts) -> ForwardStops:
        """Judge with the noise of this rest, or of the part where that is larger."""
        triads = (facts.noise.get(name) for name in ("gyroscope", "accelerometer"))
        return ForwardStops.of_rest(rest, *triads, tick_m=self._tick_m)

    def _solution(self, sample: Sample, verdict: Verdict) -> LiveSolution:
        assert self.estimator is not None and self.state is not None and self.facts is not None
        belief = self.estimator.belief(self.state)
        p_n, v_n = belief.p_n, belief.v_n
        assert p_n is not None and v_n is not None
        r_b = np.asarray(self.facts.r_bs_b)
        if r_b.any():
            w_b = q_rotate(np.asarray(self.facts.q_bs), sample.gyr_s - belief.bias["gyr_s"])
            p_n = p_n - q_rotate(belief.q_nb, r_b)
            v_n = v_n - q_rotate(belief.q_nb, np.cross(w_b, r_b))
        return LiveSolution(
            sample.t, belief.q_nb, p_n, v_n, belief.sigma, belief.bias, belief.flags, verdict, sample.stop
        )


def _corrections(calibration: LiveCalibration) -> list[tuple[str, Any]]:
    return list(calibration.calibration.corrections.items())


def navigated_live(
    navigator: LiveNavigator, recording: Recording, done: Callable[[float], None] = lambda part: None
) -> Navigated:
    """Run a whole recording through the live program; its solution begins where the alignment has ended."""
    found: list[LiveSolution] = []
    n = len(recording)
    for i, sample in enumerate(recording.samples()):
        solution = navigator.put(sample)
        if solution is not None:
            found.append(solution)
        if i % 1000 == 0:
            done(i / n)
    if not found:
        why = "it moved meanwhile" if navigator.restarts else "it is too short"
        raise InputError(
            f"the log was not aligned in {recording.t[-1] - recording.t[0]:.4g} s: {why}; give a shorter rest"
        )
    assert navigator.estimator is not None
    whole, stops = _whole(found, navigator)
    return Navigated(whole, stops, navigator.estimator, {}, navigator.state, _notes(navigator))


def solution_of(found: list[LiveSolution], navigator: LiveNavigator) -> Solution:
    """The solutions of a live run as one."""
    return _whole(found, navigator)[0]


def _notes(navigator: LiveNavigator) -> tuple[str, ...]:
    more = (f"{navigator.refused} samples could not be used",) if navigator.refused else ()
    return (*navigator.notes, *more)


def _stops(found: list[LiveSolution]) -> StopIntervals:
    t = np.array([s.t for s in found])
    *columns, late = (np.array([getattr(s.verdict, name) for s in found]) for name in Verdict._fields)
    texts = ("the IMU confirms that it stands", "the controller signals a stop, the IMU does not confirm it")
    events: list[Event] = []
    for rows, kind, text in zip(columns, ("stop_believed", "stop_doubted"), texts, strict=False):
        events += events_of(t, rows, kind, text)
    believed, doubted, rejected, signal, threshold = columns
    ordered = tuple(sorted(events, key=lambda e: e.t_s))
    used = without_late(t, believed, late)
    return StopIntervals(t, believed, doubted, rejected, signal, threshold, ordered, used)


def _whole(found: list[LiveSolution], navigator: LiveNavigator) -> tuple[Solution, StopIntervals]:
    assert navigator.estimator is not None
    first, stops = found[0], _stops(found)
    flags = {name: np.array([s.flags[name] for s in found]) for name in first.flags if name != "aligning"}
    solution = Solution(
        stops.t,
        np.array([s.q_nb for s in found]),
        np.array([s.p_n for s in found]),
        np.array([s.v_n for s in found]),
        {**navigator.estimator.meta(), "live": True, "rest_s": navigator.rest_s},
        {name: np.array([s.bias[name] for s in found]) for name in first.bias},
        {name: np.array([s.sigma[name] for s in found]) for name in first.sigma},
        {**flags, **stops.flags},
        stops.events,
    )
    return solution, stops

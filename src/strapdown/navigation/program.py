"""Paper C's off-line program, whole: a log in; alignment, stops, filter; a solution with its events out.

What carries the sensor chooses stops and filter; what is known of the sensor and the place are facts. Frames: a body
with x forward; p_n is that of the body's origin, or of the sensor where no lever arm is known.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.live import Estimator, Start, State
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD
from strapdown.navigation.body_origin import body_motion, of_body_origin
from strapdown.navigation.carriers.interface import Carrier
from strapdown.navigation.carriers.vehicle_stops import has_signal
from strapdown.navigation.carriers.wheeled_robot import FARTHEST_LEVER_M
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.outputs import refuse_too_long
from strapdown.navigation.eskf.smoother import smooth
from strapdown.navigation.event_notes import notes_of_events
from strapdown.navigation.reading_delay import carried_on_by_delay
from strapdown.navigation.start_at_rest import Heading, start_at_rest
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.recordings.facts import Facts, facts_of
from strapdown.recordings.faults import without_dead_field, without_spikes
from strapdown.recordings.runs import runs_of
from strapdown.recordings.units import refuse_slow
from strapdown.recordings.verdict import checked
from strapdown.summaries import solution_summary
from strapdown.types import Event, Motion, Recording, Solution


@dataclass(frozen=True, eq=False)
class Navigated:
    """The solution; the stops it was judged by; the estimator that ran; normalised innovations by kind and the last
    state, of the sensor (eskf); sentences for the user; what was known of the log. truth_s: the truth of the
    recording, of the sensor's frame, if it has one."""

    solution: Solution
    stops: StopIntervals
    estimator: Estimator[Any]
    innovations: Mapping[str, Any]
    last: State | None
    notes: tuple[str, ...]
    facts: Facts = field(default_factory=Facts)
    truth_s: Motion | None = None

    @property
    def truth(self) -> Motion | None:
        """The truth of the body's origin, which the solution is of."""
        return None if self.truth_s is None else body_motion(self.truth_s, self.facts.q_bs, self.facts.r_bs_b)

    def __repr__(self) -> str:
        stands = len(runs_of(self.stops.standing))
        lines = [f"<Navigated: {solution_summary(self.solution)}; {stands} stops"]
        lines += [f"{name}: {source}" for name, source in self.facts.sources.items() if name in _STATED]
        return "\n  ".join([*lines, *self.notes]) + ">"


_STATED = ("gravity", "noise", "q_bs", "r_bs_b")  # facts that every solution depends on


def navigate(
    recording: Recording,
    carrier: Carrier,
    facts: Facts | None = None,
    *,
    smoothed: bool = False,
    done: Callable[[float], None] = lambda part: None,
) -> Navigated:
    """The recording (calibrated), as its carrier moves. facts: None: what the recording states of itself. smoothed: use
    later samples too, where the estimator can. done: called with the progress, 0 to 1."""
    refuse_too_long(len(recording))
    facts = facts_of(recording) if facts is None else facts
    if isinstance(carrier, type) or not isinstance(carrier, Carrier):
        given = f"the class {carrier.__name__}" if isinstance(carrier, type) else f"a {type(carrier).__name__}"
        raise InputError(
            f"navigate was given {given} as carrier; give WheeledRobot(), Foot(), Hand(), Free(), "
            "or an object with stops, estimator and after"
        )
    farthest = max(abs(x) for x in facts.r_bs_b)
    if not farthest <= FARTHEST_LEVER_M:
        raise InputError(f"the lever arm is {farthest:g} m long; give metres, at most {FARTHEST_LEVER_M:g}")
    notes: list[str] = []
    truth_s = recording.truth
    recording, spikes = _prepared(recording, facts, notes)
    heading = getattr(carrier, "heading", Heading())
    begin = getattr(carrier, "start", lambda log, known: start_at_rest(log, known, heading))
    start: Start = begin(recording, facts)
    note = heading.note(recording)
    if note is not None:
        notes.append(note)
    stops = carrier.stops(recording, facts)
    notes += stops.notes
    estimator = carrier.estimator(recording, facts)
    judged = replace(recording, stop=stops.standing)
    solution, innovations, last = _solved(estimator, judged, start, smoothed, notes, done)
    if getattr(carrier, "corrects_delay", False):
        solution = carried_on_by_delay(solution, recording, facts, stops.standing)
    solution = carrier.after(solution, stops)
    notes += _sentences(solution, carrier)
    solution = of_body_origin(solution, recording, facts.q_bs, facts.r_bs_b)
    if heading.is_unknown(recording):
        solution = _turned_unknown(solution)
    solution = replace(solution, events=tuple(sorted((*solution.events, *spikes), key=lambda event: event.t_s)))
    notes += notes_of_events(solution, has_signal(recording))
    return Navigated(solution, stops, estimator, innovations, last, tuple(notes), facts, truth_s)


def _sentences(solution: Solution, carrier: Carrier) -> list[str]:
    """Notes of a carrier: one sentence or several."""
    notes = solution.meta.get("notes", ())
    if isinstance(notes, str):
        return [notes]
    if isinstance(notes, list | tuple) and all(isinstance(note, str) for note in notes):
        return list(notes)
    raise InputError(
        f'meta["notes"] of the solution from {type(carrier).__name__}.after is {notes!r}; give a sentence or several'
    )


def _prepared(recording: Recording, facts: Facts, notes: list[str]) -> tuple[Recording, tuple[Event, ...]]:
    """Examined; without single readings beyond the sensor's range and without a magnetometer that is dead."""
    refuse_slow(recording)
    recording, dead = without_dead_field(recording)
    notes += [finding.sentence for finding in dead]
    checked(recording, gravity=facts.gravity, q_bs=facts.q_bs)
    return without_spikes(recording, facts.noise)


def _solved(
    estimator: Estimator[Any],
    recording: Recording,
    start: Start,
    smoothed: bool,
    notes: list[str],
    done: Callable[[float], None],
) -> tuple[Solution, Mapping[str, Any], State | None]:
    """The solution, innovations and last state; innovations are those of the way forward."""
    if not isinstance(estimator, Eskf):
        if smoothed:
            name = getattr(estimator, "name", type(estimator).__name__)
            notes.append(f"only eskf has a smoother: {name} is not smoothed")
        solution = estimator.run(recording, start)
        done(1.0)
        return solution, {}, None
    track = estimator.track(recording, start, done=done)
    innovations, last = track.innovations, track.last
    if not smoothed:
        return track.solution, innovations, last
    del track  # a long log has memory for one solution
    return smooth(estimator, recording, start), innovations, last


def _turned_unknown(solution: Solution) -> Solution:
    """The solution right up to a turn about the vertical of which nothing is known: at the distance r from the start
    the place is anywhere on a circle, whose mean square is r2 for each axis; velocities alike."""
    assert solution.p_n is not None and solution.v_n is not None
    sigma = dict(solution.sigma)
    for name, vector in (("p_n", solution.p_n - solution.p_n[0]), ("v_n", solution.v_n)):
        if name in sigma:
            length = np.hypot(vector[:, 0], vector[:, 1])[:, None]
            sigma[name] = np.column_stack([np.hypot(sigma[name][:, :2], length), sigma[name][:, 2]])
    if "attitude_n" in sigma:
        up = np.maximum(sigma["attitude_n"][:, 2], UNKNOWN_HEADING_RAD)
        sigma["attitude_n"] = np.column_stack([sigma["attitude_n"][:, :2], up])
    return replace(solution, sigma=sigma)

"""Paper C's off-line program as a whole: a log in; alignment, stops, filter; a solution with its events out.

The carrier of the sensor chooses stops and filter; facts describe the sensor and the place. Frames: a body with x
forward; p_n is that of the body's origin, or of the sensor where no lever arm is known.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.live import Estimator, Start, State
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD
from strapdown.navigation.body_origin import body_motion, of_body_origin
from strapdown.navigation.carriers.foot import Foot
from strapdown.navigation.carriers.interface import Carrier
from strapdown.navigation.carriers.paper_robot import PaperRobot
from strapdown.navigation.carriers.residual_errors import has_raw_field
from strapdown.navigation.carriers.vehicle_stops import has_signal
from strapdown.navigation.carriers.wheeled_robot import FARTHEST_LEVER_M
from strapdown.navigation.divergence import divergences, without_bias
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.outputs import refuse_too_long
from strapdown.navigation.eskf.smoother import NOT_SMOOTHED, smooth
from strapdown.navigation.event_notes import notes_of_events
from strapdown.navigation.reading_delay import carried_on_by_delay
from strapdown.navigation.start_at_rest import Heading, start_at_rest
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.recordings.examination.faults import without_dead_field, without_spikes
from strapdown.recordings.examination.units import refuse_slow
from strapdown.recordings.examination.verdict import checked
from strapdown.recordings.facts import Facts, facts_of
from strapdown.recordings.runs import runs_of
from strapdown.summaries import html_table, solution_rows, solution_summary
from strapdown.types import Event, Motion, Recording, Solution


@dataclass(frozen=True, eq=False)
class Navigated:
    """The solution, the stops that it used, and the estimator that ran. Normalised innovations by kind and the last
    state are those of the sensor (eskf). The result also has sentences for the user and the facts of the log.

    truth_s: the truth of the recording, of the sensor's frame, if it has one.
    warnings: why the solution cannot be trusted.
    """

    solution: Solution
    stops: StopIntervals
    estimator: Estimator[Any]
    innovations: Mapping[str, Any]
    last: State | None
    notes: tuple[str, ...]
    facts: Facts = field(default_factory=Facts)
    truth_s: Motion | None = None
    warnings: tuple[str, ...] = ()

    @property
    def truth(self) -> Motion | None:
        """The truth of the body's origin, which the solution is of."""
        return None if self.truth_s is None else body_motion(self.truth_s, self.facts.q_bs, self.facts.r_bs_b)

    def __repr__(self) -> str:
        stands = len(runs_of(self.stops.standing))
        lines = [f"<Navigated: {solution_summary(self.solution)}; {stands} stops"]
        lines += [f"{name}: {source}" for name, source in self.facts.sources.items() if name in _STATED]
        return "\n  ".join([*lines, *self.notes]) + ">"

    def _repr_html_(self) -> str:
        assumed = [(name, source) for name, source in self.facts.sources.items() if name in _STATED]
        stands = ("stops", str(len(runs_of(self.stops.standing))))
        notes = [("note", note) for note in self.notes]
        return html_table([*solution_rows(self.solution), stands, *assumed, *notes])


_STATED = ("gravity", "noise", "q_bs", "r_bs_b")  # facts that every solution depends on


def navigate(
    recording: Recording,
    carrier: Carrier,
    facts: Facts | None = None,
    *,
    smoothed: bool = False,
    done: Callable[[float], None] = lambda part: None,
) -> Navigated:
    """Navigate a (calibrated) recording, with the assumptions of its carrier.

    facts: None: the facts that the recording states.
    smoothed: use later samples too, where the estimator can.
    done: called with the progress, 0 to 1.
    """
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
    raw = has_raw_field(recording, facts) and not isinstance(carrier, PaperRobot)
    note = _RAW_FIELD[heading.yaw_rad is None] if raw else heading.note(recording)
    if note is not None:
        notes.append(note)
    stops = carrier.stops(recording, facts)
    notes += stops.notes
    estimator = carrier.estimator(recording, facts)
    judged = replace(recording, stop=stops.standing)
    solution, innovations, last = _solved(estimator, judged, start, smoothed, notes, done)
    earlier = getattr(carrier, "earlier", None)
    if earlier is not None and isinstance(estimator, Eskf):
        solution = earlier(solution, judged, estimator, start)
    of_case = getattr(carrier, "of_case", None)
    if of_case is not None and isinstance(estimator, Eskf):
        solution = of_case(solution, recording, facts)
    if getattr(carrier, "corrects_delay", False):
        solution = carried_on_by_delay(solution, recording, facts, stops.standing)
    solution = carrier.after(solution, stops)
    notes += _sentences(solution, carrier)
    solution = of_body_origin(solution, recording, facts.q_bs, facts.r_bs_b)
    if heading.is_unknown(recording) or (raw and heading.yaw_rad is None):
        solution = _turned_unknown(solution)
    solution = replace(solution, events=tuple(sorted((*solution.events, *spikes), key=lambda event: event.t_s)))
    aided = recording.position_fix is not None or recording.velocity_fix is not None
    notes += notes_of_events(solution, has_signal(recording), aided)
    warnings = tuple(one.sentence for one in divergences(innovations)) if _gated(carrier) else ()
    if isinstance(estimator, Eskf) and not aided:
        unknown = without_bias(start, estimator.gyr_bias_sigma, judged)
        warnings = warnings if unknown is None else (unknown, *warnings)
    solution = replace(solution, meta={**solution.meta, "warnings": warnings}) if warnings else solution
    return Navigated(solution, stops, estimator, innovations, last, tuple(notes), facts, truth_s, warnings)


_RAW_FIELD = {
    False: "the magnetometer is not calibrated: it is not used; calibrate it, with the iron of the vehicle around it",
    True: "the heading at the start is that of a magnetometer without calibration. Iron may turn it by any angle: it "
    "counts as unknown; calibrate the magnetometer, or give the heading",
}


def _gated(carrier: Carrier) -> bool:
    """Whether the innovations of this carrier's filter agree with its sigmas: a foot rolls during its stances."""
    return not isinstance(carrier, Foot)


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
    """The recording after its examination: without single readings beyond the sensor's range and without a dead
    magnetometer.
    """
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
    """The solution, innovations and last state; innovations are those of the forward pass."""
    if not isinstance(estimator, Eskf):
        smoother = getattr(estimator, "smooth", None)
        if smoothed and smoother is None:
            name = getattr(estimator, "name", type(estimator).__name__)
            notes.append(f"{name} has no smoother: it is not smoothed")
        solution = smoother(recording, start) if smoothed and smoother is not None else estimator.run(recording, start)
        done(1.0)
        return solution, {}, None
    track = estimator.track(recording, start, done=done)
    innovations, last = track.innovations, track.last
    if not smoothed:
        return track.solution, innovations, last
    del track  # a long log has memory for one solution
    solution = smooth(estimator, recording, start)
    if NOT_SMOOTHED in solution.meta:
        notes.append("smoothing disagrees with the filter by more than their sigmas: the solution is the filter's")
    return solution, innovations, last


def _turned_unknown(solution: Solution) -> Solution:
    """The solution with an unknown turn about the vertical. At the distance r from the start the position is anywhere
    on a circle, whose mean square is r2 for each axis. Velocities are treated in the same way.
    """
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

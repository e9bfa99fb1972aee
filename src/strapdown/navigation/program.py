"""Paper C's off-line program, whole: a log in; alignment, stops, filter; a solution with its events out.

What is known of the vehicle chooses the filter's updates, what is known of the sensor its noise; where the caller says
nothing the log does. Frames: a body with x forward; p_n is that of the sensor's origin.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.navigation.alignment import (
    UNKNOWN_HEADING_RAD,
    Alignment,
    align_by_magnetometer,
    align_to_yaw,
    first_rest_s,
)
from strapdown.navigation.body_origin import of_body_origin, sensor_at_start
from strapdown.navigation.carriers.foot import FOOT_FLOOR, align_foot, foot_filter
from strapdown.navigation.carriers.foot_heights import LEVEL_M, level_steps, with_height_drift
from strapdown.navigation.carriers.hand import HAND_FLOOR, hand_filter, hand_stops
from strapdown.navigation.carriers.wheeled_robot import vehicle_filter
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf.filter import Eskf, Given
from strapdown.navigation.eskf.outputs import refuse_too_long
from strapdown.navigation.eskf.smoother import smooth
from strapdown.navigation.eskf.state import State
from strapdown.navigation.event_notes import notes_of_events
from strapdown.navigation.plausible import refuse_other_gravity, without_spikes
from strapdown.navigation.reading_delay import told_at_stamps
from strapdown.navigation.stops.adaptive import FootStops, FoundStops
from strapdown.navigation.stops.adaptive import told_with as foot_told_with
from strapdown.navigation.stops.settled import settled
from strapdown.navigation.stops.vehicle import NoiseStops, believed_stops, looks_inverted, unseen_moves, wheel_turns
from strapdown.navigation.stops.verdicts import JudgedStops, told_with
from strapdown.navigation.task import Task as Task
from strapdown.recordings.rest import still_intervals
from strapdown.types import Recording, Solution

FILTERS = ("eskf", "ekf15")
_LONGEST_REST_S = 30.0
_NORTH_RAD = 0.5 * np.pi  # yaw of a body that heads north
_FOOT_LOOK_S = 0.2  # of a foot's log, looked at for the unit of its accelerometer
_WHEEL_WINDOW_S = 0.3  # over which a wheel is seen to turn
_LEAST_FIELD_UT = 1.0  # the Earth's has 20 at least
_LOOKS_S = (600.0, 60.0, 15.0)  # of a log, for the rest with which it begins
_SURE_REST_S = 3.0  # a short look shows it, or the controller says so
_DEAD_TO_TELL = 0.01  # of all samples
_EDGE_S = 0.2  # of the rest, not taken: the start of the drive shows late


@dataclass(frozen=True, eq=False)
class Navigated:
    """The solution; the stops it was judged by; normalised innovations by kind and the last state, of the sensor
    (eskf); sentences for the user."""

    solution: Solution
    stops: JudgedStops | FoundStops
    innovations: Mapping[str, Any]
    last: State | None
    notes: tuple[str, ...]


def navigate(
    recording: Recording, name: str, task: Task, done: Callable[[float], None] = lambda part: None
) -> Navigated:
    """The recording (calibrated) through "eskf" or "ekf15". done: called with the progress, 0 to 1."""
    if name not in FILTERS:
        raise InputError(f'there is no filter "{name}"; valid names: {", ".join(FILTERS)}')
    if task.vehicle in ("foot", "hand") and name != "eskf":
        raise InputError(
            f"paper C's filter is for a robot whose controller tells its stops; use eskf for a {task.vehicle}"
        )
    notes: list[str] = []
    refuse_too_long(len(recording))
    recording, spikes = without_spikes(recording, task.noise)
    recording = _with_live_field(recording, notes)
    special = {"foot": _foot, "hand": _hand}
    run = special.get(task.vehicle, _paper if name == "ekf15" else _vehicle)
    solution, stops, innovations, last = run(recording, task, notes, done)
    solution = of_body_origin(solution, recording, task.q_bs, task.r_bs_b)
    if task.yaw_rad is None and recording.mag_s is None:
        solution = _turned_unknown(solution)
    solution = replace(solution, events=tuple(sorted((*solution.events, *spikes), key=lambda event: event.t_s)))
    return Navigated(solution, stops, innovations, last, (*notes, *notes_of_events(solution, _told(recording))))


def _with_live_field(recording: Recording, notes: list[str]) -> Recording:
    """Without a magnetometer that is dead; what is dead for a time is told, and rejected by the filter."""
    if recording.mag_s is None:
        return recording
    dead = np.abs(recording.mag_s).max(axis=1) < _LEAST_FIELD_UT
    if dead.all():
        notes.append(f"the magnetometer reads less than {_LEAST_FIELD_UT:g} uT throughout: it is not used")
        return replace(recording, mag_s=None)
    if dead.mean() > _DEAD_TO_TELL:
        share = f"{100.0 * dead.mean():.0f} %"
        notes.append(f"the magnetometer reads less than {_LEAST_FIELD_UT:g} uT in {share} of the samples: check it")
    return recording


Found = tuple[Solution, JudgedStops | FoundStops, Mapping[str, Any], State | None]


def _vehicle(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    alignment = _aligned(recording, task, notes)
    judge, stops = _stops(recording, task, alignment, notes)
    filt, used = vehicle_filter(task, recording), settled(stops, recording, judge)
    given = Given(stopped=used, alignment=alignment, p_n=sensor_at_start(alignment, task.q_bs, task.r_bs_b))
    solution, innovations, last = _solved(filt, recording, task, given, done)
    solution = told_at_stamps(solution, recording, task.noise, used, task.q_bs, task.gravity)
    return told_with(solution, stops), stops, innovations, last


def _solved(
    filt: Eskf, recording: Recording, task: Task, given: Given, done: Callable[[float], None]
) -> tuple[Solution, Mapping[str, Any], State]:
    """The solution, innovations and last state of the error-state filter; innovations are those of the way forward."""
    track = filt.track(recording, done=done, **given)
    innovations, last = track.innovations, track.last
    if not task.smoothed:
        return track.solution, innovations, last
    del track  # a long log has room for one solution
    return smooth(filt, recording, **given), innovations, last


def _paper(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    """Paper C's filter believes its controller; where that never speaks it is told what the sensor shows."""
    alignment = _aligned(recording, task, notes)
    judge, stops = _stops(recording, task, alignment, notes)
    if task.smoothed:
        notes.append("paper C's filter has no smoother: ekf15 is not smoothed")
    filt = Ekf15(
        gravity=task.gravity,
        declination_rad=task.declination_rad,
        magnetic_heading=recording.mag_s is not None,
        q_bs=task.q_bs,
    )
    word = recording.stop if _told(recording) else settled(stops, recording, judge)
    p_n = sensor_at_start(alignment, task.q_bs, task.r_bs_b)
    solution = filt.run(recording, stopped=word, alignment=alignment, p_n=p_n)
    done(1.0)
    return solution, stops, {}, None


def _foot(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    refuse_other_gravity(recording, _FOOT_LOOK_S, task.gravity, sways=True)
    detector = FootStops(gravity=task.gravity)
    found = detector.find(recording)
    floor = FOOT_FLOOR if task.flat_floor else None
    filt = foot_filter(gravity=task.gravity, q_bs=task.q_bs, r_bs_b=task.r_bs_b, flat_floor=floor)
    yaw, sigma = _heading(recording, task, notes)
    alignment = align_foot(
        recording,
        yaw,
        heading_sigma_rad=sigma,
        declination_rad=task.declination_rad,
        stops=detector,
        q_bs=task.q_bs,
    )
    ignored = [
        what
        for what, there in (
            ("the stop flag", recording.stop is not None and recording.stop.any()),
            ("the odometer", recording.odometer is not None),
            ("the magnetometer after the start", recording.mag_s is not None),
            ("the noise of the part", bool(task.noise)),
        )
        if there
    ]
    if ignored:
        notes.append(f"for a foot these are not used: {', '.join(ignored)}")
    p_n = sensor_at_start(alignment, task.q_bs, task.r_bs_b)
    given = Given(stopped=found.believed, alignment=alignment, p_n=p_n)
    solution, innovations, last = _solved(filt, recording, task, given, done)
    if task.flat_floor is None:
        solution, level, swings = level_steps(solution, found.believed)
        if swings:
            notes.append(f"{level} of {swings} swings rise or fall by less than {LEVEL_M:g} m and are taken as level")
    elif not task.flat_floor:
        solution = with_height_drift(solution, found.believed)
    return foot_told_with(solution, found), found, innovations, last


def _hand(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    """Stops are what the sensor shows against the noise of its own first rest, in which the hand trembles too."""
    alignment = _aligned(recording, task, notes)
    stops = believed_stops(recording, hand_stops(recording))
    floor = HAND_FLOOR if task.flat_floor else None
    filt = hand_filter(gravity=task.gravity, q_bs=task.q_bs, r_bs_b=task.r_bs_b, flat_floor=floor)
    p_n = sensor_at_start(alignment, task.q_bs, task.r_bs_b)
    given = Given(stopped=stops.believed, alignment=alignment, p_n=p_n)
    solution, innovations, last = _solved(filt, recording, task, given, done)
    return told_with(solution, stops), stops, innovations, last


def _aligned(recording: Recording, task: Task, notes: list[str]) -> Alignment:
    """On the rest with which the log begins."""
    until_s = _first_still_until_s(recording)
    longest_s = min(until_s - recording.t[0], _LONGEST_REST_S + _EDGE_S)
    turns = wheel_turns(recording, _WHEEL_WINDOW_S)
    moves_s = recording.t[turns.argmax()] - recording.t[0] - _WHEEL_WINDOW_S if turns.any() else np.inf
    rest_s = first_rest_s(recording, min(longest_s, moves_s), task.noise.get("accelerometer")) - _EDGE_S
    refuse_other_gravity(recording, rest_s, task.gravity)
    yaw, sigma = _heading(recording, task, notes)
    if yaw is None:
        return align_by_magnetometer(recording, declination_rad=task.declination_rad, rest_s=rest_s, q_bs=task.q_bs)
    return align_to_yaw(recording, yaw, sigma, rest_s=rest_s, q_bs=task.q_bs)


def _first_still_until_s(recording: Recording) -> float:
    """Until when the log lies still from its start on. Of a long look quiet arcs may be more than the rest: then a
    short one tells, if the rest is long enough. Where readings are too few to tell, the controller's word does."""
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
        told = int(np.argmin(recording.stop))  # samples of the stop with which the log begins
        if told > 0 and t[told - 1] - begins_s >= _SURE_REST_S:
            return float(t[told - 1])
    assert refused is not None
    raise refused


def _heading(recording: Recording, task: Task, notes: list[str]) -> tuple[float | None, float]:
    """Yaw at the start and its deviation; None: the magnetometer's."""
    if task.yaw_rad is not None:
        return task.yaw_rad, task.heading_sigma_rad
    if recording.mag_s is not None:
        notes.append("the heading at the start is the magnetometer's; give it if you know better")
        return None, 0.0
    notes.append(
        "no heading is given and the log has no magnetometer: the start is drawn heading north but is unknown, and the "
        "stated deviations of the position say so"
    )
    return _NORTH_RAD, 0.0  # _turned_unknown() tells it: a linear filter with such a variance would bend the path


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


def _stops(recording: Recording, task: Task, alignment: Alignment, notes: list[str]) -> tuple[NoiseStops, JudgedStops]:
    triads = (task.noise.get(name) for name in ("gyroscope", "accelerometer"))
    judge = NoiseStops.off_line(recording, *triads, rest_s=alignment.rest_s)
    stuck = recording.stop is not None and bool(recording.stop.all())
    if stuck or not _told(recording):
        unseen = "" if recording.odometer is not None else f"; {unseen_moves(judge, recording)}"
        what = "the stop flag is always set" if stuck else "the log has no stop flag"
        notes.append(f"{what}: stops are those that the sensor itself shows{unseen}")
    elif looks_inverted(recording, judge):
        notes.append("the stop flag is set in motion and not at rest: it looks inverted; turn it, or leave it out")
    return judge, believed_stops(recording, judge)


def _told(recording: Recording) -> bool:
    return recording.stop is not None and bool(recording.stop.any())

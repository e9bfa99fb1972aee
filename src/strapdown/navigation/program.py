"""Paper C's off-line program, whole: a log in; alignment, stops, filter; a solution with its events out.

What is known of the vehicle chooses the filter's updates, what is known of the sensor its noise; where the caller says
nothing the log does. Frames: a body with x forward; p_n is that of the sensor's origin.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from strapdown.calibration.calibration import Calibration
from strapdown.calibration.still import still_intervals
from strapdown.errors import InputError
from strapdown.navigation.adaptive_stops import FootStops, FoundStops
from strapdown.navigation.adaptive_stops import told_with as foot_told_with
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD, Alignment, align_by_magnetometer, align_to_yaw
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf import Eskf
from strapdown.navigation.event_notes import notes_of_events
from strapdown.navigation.foot import align_foot, foot_filter
from strapdown.navigation.plausible import refuse_other_gravity, without_spikes
from strapdown.navigation.smoother import smooth
from strapdown.navigation.stops import JudgedStops, NoiseStops, believed_stops, settled, told_with
from strapdown.navigation.updates import FlatFloor, MagneticHeading, NonHolonomic, WheelTravel
from strapdown.sensors.triad import Triad
from strapdown.types import Recording, Solution

VEHICLES = ("robot", "foot", "free")
FILTERS = ("eskf", "ekf15")
_LONGEST_REST_S = 30.0
_NORTH_RAD = 0.5 * np.pi  # yaw of a body that heads north
_FOOT_LOOK_S = 0.2  # of a foot's log, looked at for the unit of its accelerometer
_EDGE_S = 0.2  # of the rest, not taken: the start of the drive shows late
_FLOORS = {"gyr_bias_sigma": 5e-4, "acc_bias_sigma": 5e-3}  # rad/s, m/s2: what a part changes after its calibration


@dataclass(frozen=True)
class Task:
    """How to navigate. vehicle: "robot" (wheels that do not slide, a flat floor), "foot", or "free" (stops alone).

    yaw_rad: of the body at the start, known to heading_sigma_rad; None: from the magnetometer, or north, as unknown,
    where there is none. gravity: m/s2.
    noise: triads of the part, by instrument. calibration: what was applied to the log, for its uncertainty.
    """

    vehicle: str = "robot"
    yaw_rad: float | None = None
    heading_sigma_rad: float = float(np.radians(1.0))
    gravity: float | str = "earth"
    declination_rad: float = 0.0
    noise: Mapping[str, Triad] = field(default_factory=dict)
    calibration: Calibration | None = None
    smoothed: bool = False

    def __post_init__(self) -> None:
        if self.vehicle not in VEHICLES:
            raise InputError(f'vehicle "{self.vehicle}" is not known; valid: {", ".join(VEHICLES)}')
        if not 0.0 <= self.heading_sigma_rad <= np.pi:
            degrees = np.degrees(self.heading_sigma_rad)
            raise InputError(f"the deviation of the heading is {degrees:g} deg; give a number from 0 to 180")


@dataclass(frozen=True, eq=False)
class Navigated:
    """The solution; the stops it was judged by; normalised innovations by kind (eskf); sentences for the user."""

    solution: Solution
    stops: JudgedStops | FoundStops
    innovations: Mapping[str, Any]
    notes: tuple[str, ...]


def navigate(
    recording: Recording, name: str, task: Task, done: Callable[[float], None] = lambda part: None
) -> Navigated:
    """The recording (calibrated, frame s = body) through "eskf" or "ekf15". done: called with the progress, 0 to 1."""
    if name not in FILTERS:
        raise InputError(f'there is no filter "{name}"; valid names: {", ".join(FILTERS)}')
    if task.vehicle == "foot" and name != "eskf":
        raise InputError("paper C's filter is for a robot whose controller tells its stops; use eskf for a foot")
    notes: list[str] = []
    recording, spikes = without_spikes(recording, task.noise)
    run = _foot if task.vehicle == "foot" else _paper if name == "ekf15" else _vehicle
    solution, stops, innovations = run(recording, task, notes, done)
    if task.yaw_rad is None and recording.mag_s is None:
        solution = _turned_unknown(solution)
    solution = replace(solution, events=tuple(sorted((*solution.events, *spikes), key=lambda event: event.t_s)))
    return Navigated(solution, stops, innovations, (*notes, *notes_of_events(solution)))


Found = tuple[Solution, JudgedStops | FoundStops, Mapping[str, Any]]


def _vehicle(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    alignment = _aligned(recording, task, notes)
    stops = _stops(recording, task, alignment, notes)
    filt, used = _eskf(recording, task), settled(stops)
    track = filt.track(recording, stopped=used, alignment=alignment, done=done)
    solution = track.solution
    if task.smoothed:
        solution = smooth(filt, recording, stopped=used, alignment=alignment)
    return told_with(solution, stops), stops, track.innovations


def _paper(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    """Paper C's filter believes its controller; where that never speaks it is told what the sensor shows."""
    alignment = _aligned(recording, task, notes)
    stops = _stops(recording, task, alignment, notes)
    if task.smoothed:
        notes.append("paper C's filter has no smoother: ekf15 is not smoothed")
    filt = Ekf15(
        gravity=task.gravity, declination_rad=task.declination_rad, magnetic_heading=recording.mag_s is not None
    )
    word = settled(stops) if recording.stop is None or not recording.stop.any() else recording.stop
    solution = filt.run(recording, stopped=word, alignment=alignment)
    done(1.0)
    return solution, stops, {}


def _foot(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Found:
    refuse_other_gravity(recording, _FOOT_LOOK_S, task.gravity, sways=True)
    detector = FootStops(gravity=task.gravity)
    found = detector.find(recording)
    filt = foot_filter(gravity=task.gravity)
    yaw, sigma = _heading(recording, task, notes)
    alignment = align_foot(
        recording, yaw, heading_sigma_rad=sigma, declination_rad=task.declination_rad, stops=detector
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
    track = filt.track(recording, stopped=found.believed, alignment=alignment, done=done)
    solution = track.solution
    if task.smoothed:
        solution = smooth(filt, recording, stopped=found.believed, alignment=alignment)
    return foot_told_with(solution, found), found, track.innovations


def _aligned(recording: Recording, task: Task, notes: list[str]) -> Alignment:
    """On the rest with which the log begins."""
    first = still_intervals(recording)[0]
    if first.t_s > recording.t[0] + 1.0:
        raise InputError(
            f"the log begins in motion and first rests at t = {first.t_s:.4g} s; start it at rest, or cut it there"
        )
    rest_s = min(first.until_s - recording.t[0] - _EDGE_S, _LONGEST_REST_S)
    refuse_other_gravity(recording, rest_s, task.gravity)
    yaw, sigma = _heading(recording, task, notes)
    if yaw is None:
        return align_by_magnetometer(recording, declination_rad=task.declination_rad, rest_s=rest_s)
    return align_to_yaw(recording, yaw, sigma, rest_s=rest_s)


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
    sigma = {name: np.array(values) for name, values in solution.sigma.items()}
    for name, vector in (("p_n", solution.p_n - solution.p_n[0]), ("v_n", solution.v_n)):
        if name in sigma:
            length = np.hypot(vector[:, 0], vector[:, 1])[:, None]
            sigma[name][:, :2] = np.hypot(sigma[name][:, :2], length)
    if "attitude_n" in sigma:
        sigma["attitude_n"][:, 2] = np.maximum(sigma["attitude_n"][:, 2], UNKNOWN_HEADING_RAD)
    return replace(solution, sigma=sigma)


def _stops(recording: Recording, task: Task, alignment: Alignment, notes: list[str]) -> JudgedStops:
    if recording.stop is None or not recording.stop.any():
        notes.append("the log has no stop flag: stops are those that the sensor itself shows")
    triads = (task.noise.get(name) for name in ("gyroscope", "accelerometer"))
    return believed_stops(recording, NoiseStops.off_line(recording, *triads, rest_s=alignment.rest_s))


def _eskf(recording: Recording, task: Task) -> Eskf:
    settings: dict[str, Any] = {"gravity": task.gravity}
    if recording.mag_s is not None:
        settings["magnetic_heading"] = MagneticHeading(declination_rad=task.declination_rad)
    if task.vehicle == "robot":
        settings["flat_floor"] = FlatFloor()
        settings["non_holonomic"] = NonHolonomic(upward_sigma_m_s=None)  # upward it would take the mounting for a slope
        if recording.odometer is not None:
            settings["wheel_travel"] = WheelTravel()
    if task.calibration is not None:
        for key, name in (("gyr_bias_sigma", "gyroscope"), ("acc_bias_sigma", "accelerometer")):
            sigma = getattr(task.calibration.corrections.get(name), "sigma", {}).get("bias")
            if sigma is not None and np.isfinite(sigma).all():
                settings[key] = float(np.hypot(sigma.max(), _FLOORS[key]))
    if {"gyroscope", "accelerometer"} <= set(task.noise):
        return Eskf.for_triads(task.noise["gyroscope"], task.noise["accelerometer"], **settings)
    return Eskf(**settings)

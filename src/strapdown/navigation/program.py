"""Paper C's off-line program, whole: a log in; alignment, stops, filter; a solution with its events out.

What is known of the vehicle chooses the filter's updates, what is known of the sensor its noise; where the caller says
nothing the log does. Frames: a body with x forward; p_n is that of the sensor's origin.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strapdown.calibration.calibration import Calibration
from strapdown.calibration.still import still_intervals
from strapdown.errors import InputError
from strapdown.navigation.adaptive_stops import FootStops, FoundStops
from strapdown.navigation.adaptive_stops import told_with as foot_told_with
from strapdown.navigation.alignment import Alignment, align_by_magnetometer, align_to_yaw
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf import Eskf
from strapdown.navigation.foot import align_foot, foot_filter
from strapdown.navigation.smoother import smooth
from strapdown.navigation.stops import JudgedStops, NoiseStops, believed_stops, told_with
from strapdown.navigation.updates import FlatFloor, MagneticHeading, NonHolonomic, WheelTravel
from strapdown.sensors.triad import Triad
from strapdown.types import Recording, Solution

VEHICLES = ("robot", "foot", "free")
FILTERS = ("eskf", "ekf15")
_LONGEST_REST_S = 30.0
_EDGE_S = 0.2  # of the rest, not taken: the start of the drive shows late
_FLOORS = {"gyr_bias_sigma": 5e-4, "acc_bias_sigma": 5e-3}  # rad/s, m/s2: what a part changes after its calibration


@dataclass(frozen=True)
class Task:
    """How to navigate. vehicle: "robot" (wheels that do not slide, a flat floor), "foot", or "free" (stops alone).

    yaw_rad: of the body at the start; None: from the magnetometer, or north where there is none. gravity: m/s2.
    noise: triads of the part, by instrument. calibration: what was applied to the log, for its uncertainty.
    """

    vehicle: str = "robot"
    yaw_rad: float | None = None
    gravity: float | str = "earth"
    declination_rad: float = 0.0
    noise: Mapping[str, Triad] = field(default_factory=dict)
    calibration: Calibration | None = None
    smoothed: bool = False

    def __post_init__(self) -> None:
        if self.vehicle not in VEHICLES:
            raise InputError(f'vehicle "{self.vehicle}" is not known; valid: {", ".join(VEHICLES)}')


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
    notes: list[str] = []
    if task.vehicle == "foot":
        if name != "eskf":
            raise InputError("paper C's filter is for a robot whose controller tells its stops; use eskf for a foot")
        return _foot(recording, task, notes, done)
    alignment = _aligned(recording, task, notes)
    stops = believed_stops(recording, _stop_settings(recording, task))
    if recording.stop is None or not recording.stop.any():
        notes.append("the log has no stop flag: stops are those that the sensor itself shows")
    if name == "ekf15":
        filt15 = Ekf15(
            gravity=task.gravity, declination_rad=task.declination_rad, magnetic_heading=recording.mag_s is not None
        )
        word = stops.believed if recording.stop is None else recording.stop
        return Navigated(filt15.run(recording, stopped=word, alignment=alignment), stops, {}, tuple(notes))
    filt = _eskf(recording, task)
    track = filt.track(recording, stopped=stops.believed, alignment=alignment, done=done)
    solution = track.solution
    if task.smoothed:
        solution = smooth(filt, recording, stopped=stops.believed, alignment=alignment)
    return Navigated(told_with(solution, stops), stops, track.innovations, tuple(notes))


def _foot(recording: Recording, task: Task, notes: list[str], done: Callable[[float], None]) -> Navigated:
    detector = FootStops(gravity=task.gravity)
    found = detector.find(recording)
    filt = foot_filter(gravity=task.gravity)
    alignment = align_foot(recording, task.yaw_rad or 0.0, stops=detector)
    track = filt.track(recording, stopped=found.believed, alignment=alignment, done=done)
    solution = track.solution
    if task.smoothed:
        solution = smooth(filt, recording, stopped=found.believed, alignment=alignment)
    return Navigated(foot_told_with(solution, found), found, track.innovations, tuple(notes))


def _aligned(recording: Recording, task: Task, notes: list[str]) -> Alignment:
    """On the rest with which the log begins."""
    first = still_intervals(recording)[0]
    if first.t_s > recording.t[0] + 1.0:
        raise InputError(
            f"the log begins in motion and first rests at t = {first.t_s:.4g} s; start it at rest, or cut it there"
        )
    rest_s = min(first.until_s - recording.t[0] - _EDGE_S, _LONGEST_REST_S)
    if task.yaw_rad is not None:
        return align_to_yaw(recording, task.yaw_rad, rest_s=rest_s)
    if recording.mag_s is not None:
        notes.append("the heading at the start is the magnetometer's; give it if you know better")
        return align_by_magnetometer(recording, declination_rad=task.declination_rad, rest_s=rest_s)
    notes.append("no heading is given and the log has no magnetometer: the start is taken to head north")
    return align_to_yaw(recording, 0.5 * np.pi, rest_s=rest_s)


def _stop_settings(recording: Recording, task: Task) -> NoiseStops:
    if {"gyroscope", "accelerometer"} <= set(task.noise):
        rate_hz = 1.0 / float(np.median(np.diff(recording.t)))
        return NoiseStops.for_triads(task.noise["gyroscope"], task.noise["accelerometer"], rate_hz)
    return NoiseStops.from_rest(recording)


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

"""The start of a recording that begins at rest: how long it rests, and the alignment on that rest."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import align_by_magnetometer, align_to_yaw, first_rest_s
from strapdown.navigation.body_origin import sensor_at_start
from strapdown.navigation.stops.wheel import wheel_turns
from strapdown.recordings.facts import Facts
from strapdown.recordings.rest import first_rest_until_s
from strapdown.recordings.units import refuse_uncalibrated
from strapdown.types import Recording

NORTH_RAD = 0.5 * np.pi  # yaw of a body that heads north
_LONGEST_REST_S = 30.0
_WHEEL_WINDOW_S = 0.3  # over which a wheel is seen to turn
_EDGE_S = 0.2  # of the rest, not used: the start of the drive shows late


@dataclass(frozen=True)
class Heading:
    """Of the body at the start. yaw_rad: None: from the magnetometer, or north, as unknown, where there is none. Known
    to sigma_rad; 0: it starts on a mark."""

    yaw_rad: float | None = None
    sigma_rad: float = float(np.radians(1.0))

    def __post_init__(self) -> None:
        if not 0.0 <= self.sigma_rad <= np.pi:
            degrees = np.degrees(self.sigma_rad)
            raise InputError(f"the standard deviation of the heading is {degrees:g} deg; give a number from 0 to 180")

    @classmethod
    def clockwise(cls, degrees: float, sigma_deg: float = 1.0) -> Self:
        """Clockwise from north, as a compass shows it."""
        if not abs(degrees) <= 360.0:
            raise InputError(f"the heading is {degrees:g} deg; give degrees clockwise from north, from -360 to 360")
        return cls(NORTH_RAD - float(np.radians(degrees)), float(np.radians(sigma_deg)))

    def of(self, recording: Recording) -> tuple[float | None, float]:
        """Yaw and its standard deviation for this recording; None: the magnetometer's. A yaw that is unknown is drawn
        north without one: a linear filter with such a variance would distort the path, so the program adds it after."""
        if self.yaw_rad is not None:
            return self.yaw_rad, self.sigma_rad
        return (None, 0.0) if recording.mag_s is not None else (NORTH_RAD, 0.0)

    def is_unknown(self, recording: Recording) -> bool:
        return self.yaw_rad is None and recording.mag_s is None

    def note(self, recording: Recording) -> str | None:
        """A sentence for the user, where the heading is not given."""
        if self.yaw_rad is not None:
            return None
        if recording.mag_s is not None:
            return "the heading at the start is the magnetometer's; give it if you know better"
        return (
            "no heading is given and the log has no magnetometer: the start is drawn heading north but is unknown, and "
            "the stated standard deviations of the position include it"
        )


def give_heading(carrier: Any, degrees: float | None) -> None:
    """For carriers: take heading_deg, clockwise from north, for the heading."""
    if degrees is None:
        return
    if carrier.heading != Heading():
        raise InputError("heading and heading_deg are both given; give one of them")
    object.__setattr__(carrier, "heading", Heading.clockwise(degrees))


def start_at_rest(recording: Recording, facts: Facts, heading: Heading) -> Start:
    """Aligned on the rest with which the recording begins; the body's origin stands at the origin of n."""
    rest_s = rest_at_start_s(recording, facts)
    refuse_uncalibrated(recording, rest_s, facts.gravity)
    yaw, sigma = heading.of(recording)
    if yaw is None:
        aligned = align_by_magnetometer(
            recording, declination_rad=facts.declination_rad, rest_s=rest_s, q_bs=facts.q_bs
        )
    else:
        aligned = align_to_yaw(recording, yaw, sigma, rest_s=rest_s, q_bs=facts.q_bs)
    return Start.of(recording, alignment=aligned, p_n=sensor_at_start(aligned, facts.q_bs, facts.r_bs_b))


def rest_at_start_s(recording: Recording, facts: Facts) -> float:
    """For how long the recording rests at its start (s), without the edge where a drive begins."""
    until_s = first_rest_until_s(recording)
    longest_s = min(until_s - recording.t[0], _LONGEST_REST_S + _EDGE_S)
    turns = wheel_turns(recording, _WHEEL_WINDOW_S)
    moves_s = recording.t[turns.argmax()] - recording.t[0] - _WHEEL_WINDOW_S if turns.any() else np.inf
    return first_rest_s(recording, min(longest_s, moves_s), facts.noise.get("accelerometer")) - _EDGE_S

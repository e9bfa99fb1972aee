"""The start of a recording that begins at rest: the duration of the rest, and the alignment on it."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import LEAST_SAMPLES, align_by_magnetometer, align_to_yaw, first_rest_s
from strapdown.navigation.body_origin import sensor_at_start
from strapdown.navigation.stops.wheel import WINDOW_S, wheel_turns
from strapdown.recordings.examination.units import refuse_uncalibrated
from strapdown.recordings.facts import Facts
from strapdown.recordings.rest import first_rest_until_s
from strapdown.types import Array, Recording

NORTH_RAD = 0.5 * np.pi  # yaw of a body that heads north
_LONGEST_REST_S = 30.0
EDGE_S = 0.2  # of the rest, not used: the start of the drive shows late


@dataclass(frozen=True)
class Heading:
    """Heading of the body at the start.

    yaw_rad: None: from the magnetometer. Without one, north is used as an unknown heading.

    sigma_rad: sigma of the yaw; 0: the robot starts on a mark.
    """

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
        """Yaw and its standard deviation for this recording; None: the magnetometer's. Without a magnetometer an
        unknown yaw is set to north. A linear filter with such a variance would distort the path, so the program adds it
        afterwards.
        """
        if self.yaw_rad is not None:
            return self.yaw_rad, self.sigma_rad
        return (None, 0.0) if recording.mag_s is not None else (NORTH_RAD, 0.0)

    def opened(self, turn_rad: float) -> "Heading":
        """Sigma of the sensor's axes, which are turned against the body's by an unknown angle of this sigma."""
        if self.yaw_rad is None:
            return self
        return replace(self, sigma_rad=min(float(np.hypot(self.sigma_rad, turn_rad)), float(np.pi)))

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
    """For carriers: use heading_deg, clockwise from north, as the heading."""
    if degrees is None:
        return
    if carrier.heading != Heading():
        raise InputError("heading and heading_deg are both given; give one of them")
    object.__setattr__(carrier, "heading", Heading.clockwise(degrees))


def start_at_rest(recording: Recording, facts: Facts, heading: Heading) -> Start:
    """Alignment on the rest with which the recording begins; the body's origin is at the origin of n."""
    rest_s = rest_at_start_s(recording, facts)
    refuse_uncalibrated(recording, rest_s, facts.gravity)
    yaw, sigma = heading.of(recording)
    if yaw is None:
        aligned = align_by_magnetometer(
            recording, declination_rad=facts.declination_rad, rest_s=rest_s, q_bs=facts.q_bs
        )
    else:
        aligned = align_to_yaw(recording, yaw, sigma, rest_s=rest_s, q_bs=facts.q_bs)
    p_n, p_sigma_n = as_measured(sensor_at_start(aligned, facts.q_bs, facts.r_bs_b), recording, rest_s)
    return Start.of(recording, alignment=aligned, p_n=p_n, p_sigma_n=p_sigma_n)


def as_measured(p_n: Array, recording: Recording, rest_s: float) -> tuple[Array, Array]:
    """Position p_n with the position or the height that the log states during its rest, in place of the origin of n,
    and its sigma. Errors of fixes last longer than a rest: their mean is as good as one of them.
    """
    resting = recording.t <= recording.t[0] + rest_s

    def seen(name: str) -> NDArray[np.bool_]:
        return resting & recording.new.get(name, np.ones(len(recording), dtype=bool))

    if recording.position_fix is not None and (rows := seen("position_fix")).any():
        return recording.position_fix.value_n[rows].mean(axis=0), recording.position_fix.sigma_n[rows].mean(axis=0)
    if recording.height is not None and (rows := seen("height")).any():
        height, sigma = recording.height.height_m[rows].mean(), recording.height.sigma_m[rows].mean()
        return np.array((p_n[0], p_n[1], height)), np.array((0.0, 0.0, sigma))
    return p_n, np.zeros(3)


def rest_at_start_s(recording: Recording, facts: Facts) -> float:
    """Duration of the rest at the start of the recording (s), without the edge where a drive begins."""
    until_s = first_rest_until_s(recording)
    longest_s = min(until_s - recording.t[0], _LONGEST_REST_S + EDGE_S)
    turns = wheel_turns(recording, WINDOW_S)
    moves_s = recording.t[turns.argmax()] - recording.t[0] - WINDOW_S if turns.any() else np.inf
    rest_s = first_rest_s(recording, min(longest_s, moves_s), facts.noise.get("accelerometer")) - EDGE_S
    if rest_s < LEAST_SAMPLES * recording.step_s:
        rows = int(np.searchsorted(recording.t, recording.t[0] + rest_s, side="right"))
        raise InputError(
            f"the first {max(rest_s, 0.0):.3g} s have {rows} samples, alignment needs {LEAST_SAMPLES} at rest; "
            "start the log at rest"
        )
    return rest_s

"""A robot on wheels: they do not slide sideways, its floor is flat (docs/navigation.md)."""

from dataclasses import InitVar, dataclass, field, replace
from typing import Any, ClassVar

from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.carriers.residual_errors import attitude_of_case, open_rotation_rad, vehicle_filter
from strapdown.navigation.carriers.vehicle_stops import start_of_vehicle, vehicle_stops
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, NonHolonomic, WheelTravel
from strapdown.navigation.start_at_rest import Heading, give_heading
from strapdown.navigation.stops.intervals import StopIntervals, solution_with_stops
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution

SIDEWAYS = 2.5e-3  # m/s, a sample: how far wheels slide to the side
SLIP = 0.1  # of the speed, in turns: skid-steered wheels read so much too far
FLOOR_LENGTH_M = 2.0  # over which a floor is uneven: with 5 mm, slopes of 3.5 mrad
HUBER_SIGMAS = 3.0  # beyond it wheels slip or a floor is not flat, and count for less
FARTHEST_LEVER_M = 100.0
UNKNOWN_LEVER_M = 0.2  # of a sensor somewhere on a robot that fits on a table
GIVEN_LEVER_M = 0.005  # of one that was measured with a ruler


@dataclass(frozen=True)
class WheeledRobot:
    """A robot on wheels that do not slide sideways.

    heading: heading at the start.
    heading_deg: the same as a number, clockwise from north.
    lever_sigma_m: sigma of each number of the lever arm (Facts.r_bs_b). The lever arm is measured from the body's
        origin, where wheels do not slide.
    odometer_scale: true travel for one metre read, known to odometer_sigma (a part of it).
    flat_floor: all stops are as high as the first, and the path between them does not climb. Where it is False, or
        where the body pitches, the robot climbs along its own x axis.
    """

    corrects_delay: ClassVar[bool] = True
    heading: Heading = field(default_factory=Heading)
    lever_sigma_m: float = UNKNOWN_LEVER_M
    odometer_scale: float = 1.0
    odometer_sigma: float = 0.002
    flat_floor: bool = True
    heading_deg: InitVar[float | None] = None

    def __post_init__(self, heading_deg: float | None) -> None:
        give_heading(self, heading_deg)
        if not 0.0 <= self.lever_sigma_m <= FARTHEST_LEVER_M:
            raise InputError(f"the lever arm is known to {self.lever_sigma_m:g} m; give metres, from 0 to 100")
        if not 0.1 <= self.odometer_scale <= 10.0:
            raise InputError(f"the odometer's scale is {self.odometer_scale:g}; give a number from 0.1 to 10")
        if not 0.0 <= self.odometer_sigma <= 0.5:
            percent = 100.0 * self.odometer_sigma
            raise InputError(
                f"the standard deviation of the odometer's scale is {percent:g} %; give a number from 0 to 50"
            )

    def start(self, recording: Recording, facts: Facts) -> Start:
        return start_of_vehicle(recording, facts, self.heading.opened(open_rotation_rad(recording, facts)))

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        """The controller's signal, checked by the sensor's own statistics."""
        return vehicle_stops(recording, facts)

    def estimator(self, recording: Recording, facts: Facts) -> Eskf:
        """The filter with updates for what the log has: floor, wheels, odometer, magnetometer."""
        wheel = None
        if recording.odometer is not None:
            wheel = WheelTravel(scale=self.odometer_scale, scale_sigma=self.odometer_sigma, slip=SLIP)
        return vehicle_filter(
            recording,
            facts,
            lever_sigma_m=self.lever_sigma_m,
            **self.constraints(open_rotation_rad(recording, facts)),
            wheel_travel=wheel,
        )

    def constraints(self, turned_rad: float = 0.0) -> dict[str, Any]:
        """Settings of the filter for how a robot on wheels moves.

        turned_rad: sigma of the turn of the sensor's axes against its case, where this was not found.
        """
        floor = FlatFloor(length_m=FLOOR_LENGTH_M, slope_of_pitch=1.0, mounting_sigma_rad=turned_rad)
        return {
            "flat_floor": floor if self.flat_floor else replace(floor, height_sigma_m=None, velocity_sigma_m_s=None),
            # upward it would take the mounting for a slope; the floor has its own rule for it
            "non_holonomic": NonHolonomic(SIDEWAYS, upward_sigma_m_s=None),
            "huber_sigmas": HUBER_SIGMAS,
        }

    def of_case(self, solution: Solution, recording: Recording, facts: Facts) -> Solution:
        return attitude_of_case(solution, recording, facts)

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        return solution_with_stops(solution, stops)

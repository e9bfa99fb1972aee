"""A body without assumptions except for its stops."""

from dataclasses import InitVar, dataclass, field
from typing import ClassVar

import numpy as np

from strapdown.live import Start
from strapdown.navigation.carriers.residual_errors import attitude_of_case, open_rotation_rad, vehicle_filter
from strapdown.navigation.carriers.vehicle_stops import start_of_vehicle, vehicle_stops
from strapdown.navigation.carriers.wheeled_robot import UNKNOWN_LEVER_M
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor
from strapdown.navigation.start_at_rest import Heading, give_heading
from strapdown.navigation.stops.intervals import StopIntervals, solution_with_stops
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution


@dataclass(frozen=True)
class Free:
    """A sensor on any body; only stops are used.

    heading: heading at the start.
    heading_deg: the same as a number, clockwise from north.
    lever_sigma_m: sigma of each number of Facts.r_bs_b.
    flat_floor: all stops are as high as the first.
    """

    corrects_delay: ClassVar[bool] = True
    heading: Heading = field(default_factory=Heading)
    lever_sigma_m: float = UNKNOWN_LEVER_M
    flat_floor: bool = False
    heading_deg: InitVar[float | None] = None

    def __post_init__(self, heading_deg: float | None) -> None:
        give_heading(self, heading_deg)

    def start(self, recording: Recording, facts: Facts) -> Start:
        return start_of_vehicle(recording, facts, self.heading.opened(open_rotation_rad(recording, facts)))

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        return vehicle_stops(recording, facts)

    def estimator(self, recording: Recording, facts: Facts) -> Eskf:
        floor = FlatFloor(velocity_sigma_m_s=None, tilt_rad=np.pi) if self.flat_floor else None
        return vehicle_filter(recording, facts, lever_sigma_m=self.lever_sigma_m, flat_floor=floor)

    def of_case(self, solution: Solution, recording: Recording, facts: Facts) -> Solution:
        return attitude_of_case(solution, recording, facts)

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        return solution_with_stops(solution, stops)

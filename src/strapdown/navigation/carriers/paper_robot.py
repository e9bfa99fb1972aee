"""Paper C's robot: its filter of 15 states believes the controller, and checks each signalled stop itself."""

from dataclasses import InitVar, dataclass, field, replace

from strapdown.live import Start
from strapdown.navigation.carriers.vehicle_stops import has_signal, vehicle_stops
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.start_at_rest import Heading, give_heading, start_at_rest
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution


@dataclass(frozen=True)
class PaperRobot:
    """Paper C's robot with the filter of the paper.

    heading: heading at the start.
    heading_deg: the same as a number, clockwise from north. Where the controller never signals, the filter is given the
        stops that the sensor shows.
    """

    heading: Heading = field(default_factory=Heading)
    heading_deg: InitVar[float | None] = None

    def __post_init__(self, heading_deg: float | None) -> None:
        give_heading(self, heading_deg)

    def start(self, recording: Recording, facts: Facts) -> Start:
        return start_at_rest(recording, facts, self.heading)

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        found = vehicle_stops(recording, facts)
        return replace(found, used=recording.stop) if has_signal(recording) else found

    def estimator(self, recording: Recording, facts: Facts) -> Ekf15:
        return Ekf15(
            gravity=facts.gravity,
            declination_rad=facts.declination_rad,
            magnetic_heading=recording.mag_s is not None,
            q_bs=facts.q_bs,
        )

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        """The solution unchanged: the filter's own verdicts on the stops are its flags."""
        return solution

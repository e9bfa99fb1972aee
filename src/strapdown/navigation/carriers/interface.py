"""What carries the sensor, and so what navigation may assume: the interface of all carriers."""

from typing import Any, Protocol, runtime_checkable

from strapdown.live import Estimator
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution


@runtime_checkable
class Carrier(Protocol):
    """WheeledRobot, Foot, Hand, Free, PaperRobot, or a user's own.

    A carrier may have more, which the program then uses: `start(recording, facts)`, a Start (else the recording is
    aligned on the rest with which it begins), `heading` (navigation/start_at_rest.py), and `corrects_delay`: True if
    the solution is carried on by the age of the part's readings.
    """

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        """Where it stands; `standing` of the result is the stop that the estimator is given."""
        ...

    def estimator(self, recording: Recording, facts: Facts) -> Estimator[Any]: ...
    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        """What is known only from the whole path; sentences for the user in meta["notes"]."""
        ...

"""The interface of all carriers of the sensor. The carrier determines the assumptions of navigation."""

from typing import Any, Protocol, runtime_checkable

from strapdown.live import Estimator
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution


@runtime_checkable
class Carrier(Protocol):
    """WheeledRobot, Foot, Hand, Free, PaperRobot, or a user's own.

    A carrier may have further members, which the program then uses. `start(recording, facts)` gives a Start; without it
    the recording is aligned on the rest with which it begins. `heading` is in navigation/start_at_rest.py.
    `corrects_delay` is True if the solution is extrapolated by the age of the part's readings.
    """

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        """Stops of the carrier; `standing` of the result is the stop that the estimator is given."""
        ...

    def estimator(self, recording: Recording, facts: Facts) -> Estimator[Any]: ...
    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        """Corrections that need the whole path; sentences for the user are in meta["notes"]."""
        ...

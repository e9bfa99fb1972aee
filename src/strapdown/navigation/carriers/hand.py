"""A sensor carried by hand and put down, or held still, at its stops: settings of the error-state filter for it.

The tremor of a hand is larger than the noise of the sensor, and a hand is never quite at rest. The numbers were chosen
on one recording, OpenShoe's square (papers/c/foot.py).
"""

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np

from strapdown.live import Start
from strapdown.navigation.carriers.residual_errors import attitude_of_case, open_rotation_rad
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, ZeroRate, ZeroVelocity
from strapdown.navigation.start_at_rest import Heading, give_heading, start_at_rest
from strapdown.navigation.stops.intervals import StopIntervals, solution_with_stops
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution

TREMBLE = 3.0  # a hand trembles three times as much as its sensor's noise
HAND_FLOOR = FlatFloor(height_sigma_m=0.005, velocity_sigma_m_s=None, tilt_rad=np.pi)  # all stops are as high


@dataclass(frozen=True)
class Hand:
    """A sensor that is carried by hand.

    heading: heading at the start.
    heading_deg: the same as a number, clockwise from north.
    flat_floor: all stops are as high as the first.
    """

    heading: Heading = field(default_factory=Heading)
    flat_floor: bool = False
    heading_deg: InitVar[float | None] = None

    def __post_init__(self, heading_deg: float | None) -> None:
        give_heading(self, heading_deg)

    def start(self, recording: Recording, facts: Facts) -> Start:
        return start_at_rest(recording, facts, self.heading.opened(open_rotation_rad(recording, facts)))

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        """Stops by the readings of the sensor against the noise of its own first rest, which includes the tremor of the
        hand.
        """
        return hand_stops(recording).find(recording)

    def estimator(self, recording: Recording, facts: Facts) -> Eskf:
        floor = HAND_FLOOR if self.flat_floor else None
        return hand_filter(gravity=facts.gravity, q_bs=facts.q_bs, r_bs_b=facts.r_bs_b, flat_floor=floor)

    def of_case(self, solution: Solution, recording: Recording, facts: Facts) -> Solution:
        return attitude_of_case(solution, recording, facts)

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        return solution_with_stops(solution, stops)


def hand_filter(**more: Any) -> Eskf:
    """flat_floor=HAND_FLOOR: every stop is as high as the first. Gates are open: the stops are right."""
    settings: dict[str, Any] = {
        "gyr_white": 1e-3,
        "acc_white": 0.02,
        "zero_velocity": ZeroVelocity(sigma_m_s=0.01, insist_s=0.0),
        "zero_rate": ZeroRate(0.002, unseen_turn=1.0),
        "gate_probability": 0.0,
    }
    return Eskf(**{**settings, **more})


def hand_stops(recording: Recording) -> NoiseStops:
    """Stops by the noise of the rest at the start."""
    return NoiseStops.from_rest(recording, noise_factor=TREMBLE)

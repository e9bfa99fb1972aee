"""A sensor carried by hand and put down, or held still, at its stops: settings of the error-state filter for it.

The tremor of a hand is larger than the noise of the sensor, and a hand is never quite at rest. The numbers were chosen
on one recording, OpenShoe's square (papers/c/foot.py).
"""

from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from strapdown.live import Start
from strapdown.navigation.carriers.residual_errors import attitude_of_case, open_rotation_rad, vehicle_filter
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, ZeroRate, ZeroVelocity
from strapdown.navigation.start_at_rest import Heading, give_heading, rest_at_start_s, start_at_rest
from strapdown.navigation.stops.intervals import StopIntervals, solution_with_stops
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.navigation.stops.segment_stops import SegmentStops, without_edges
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution

TREMBLE = 3.0  # a hand trembles three times as much as its sensor's noise
TREMBLES_HZ, TREMBLES_S = 3.0, 0.1  # lowest frequency of a hand's tremor; how long its speed stays the same
HAND_FLOOR = FlatFloor(height_sigma_m=0.005, velocity_sigma_m_s=None, tilt_rad=np.pi)  # all stops are as high

_KNOWN = {"gyroscope", "accelerometer"}
# a sensor of which nothing is known, held in a hand
_HELD: dict[str, Any] = {
    "gyr_white": 1e-3,
    "acc_white": 0.02,
    "zero_velocity": ZeroVelocity(sigma_m_s=0.01, insist_s=0.0),
    "zero_rate": ZeroRate(0.002, unseen_turn=1.0),
    "gate_probability": 0.0,
}


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
        hand. With a known sensor, without the edges that may move: its zero velocities are to be a millimetre a second.
        """
        found = hand_stops(recording).find(recording)
        if not set(facts.noise) >= _KNOWN:
            return found
        return replace(found, used=without_edges(found.believed, recording.step_s, SegmentStops.edge_s))

    def estimator(self, recording: Recording, facts: Facts) -> Eskf:
        floor = HAND_FLOOR if self.flat_floor else None
        if set(facts.noise) >= _KNOWN:
            return vehicle_filter(
                recording, facts, **_trembling(recording, facts), follows_shaking=False, flat_floor=floor
            )
        return hand_filter(gravity=facts.gravity, q_bs=facts.q_bs, r_bs_b=facts.r_bs_b, flat_floor=floor)

    def of_case(self, solution: Solution, recording: Recording, facts: Facts) -> Solution:
        return attitude_of_case(solution, recording, facts)

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        return solution_with_stops(solution, stops)


def _trembling(recording: Recording, facts: Facts) -> dict[str, Any]:
    """Settings of stops in a hand whose sensor is known. It trembles as in the first rest, beyond its noise."""
    rest = recording[: int(np.searchsorted(recording.t, recording.t[0] + rest_at_start_s(recording, facts)))]
    assert rest.acc_s is not None and rest.gyr_s is not None
    counts = TREMBLES_S / recording.step_s  # so many readings show the same of it
    force, rate = (
        np.sqrt(max(float(read.var(axis=0).max()) - max(triad.white) ** 2 / recording.step_s, 0.0) * counts)
        for read, triad in ((rest.acc_s, facts.noise["accelerometer"]), (rest.gyr_s, facts.noise["gyroscope"]))
    )
    speed = force / (2.0 * np.pi * TREMBLES_HZ)
    return {
        "zero_velocity": ZeroVelocity(float(np.hypot(ZeroVelocity().sigma_m_s, speed)), insist_s=0.0),
        "zero_rate": ZeroRate(float(rate), unseen_turn=1.0),
        "gate_probability": 0.0,
    }


def hand_filter(**more: Any) -> Eskf:
    """flat_floor=HAND_FLOOR: every stop is as high as the first. Gates are open: the stops are right."""
    return Eskf(**{**_HELD, **more})


def hand_stops(recording: Recording) -> NoiseStops:
    """Stops by the noise of the rest at the start."""
    return NoiseStops.from_rest(recording, noise_factor=TREMBLE)

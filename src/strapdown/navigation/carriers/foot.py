"""A sensor on a foot: stops by its gait, and settings of the error-state filter for it."""

from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from strapdown.live import Start
from strapdown.navigation.body_origin import sensor_at_start
from strapdown.navigation.carriers.foot_alignment import align_foot, with_first_steps
from strapdown.navigation.carriers.foot_heights import (
    LEVEL_M,
    SOLE_SIGMA_M,
    level_steps,
    with_height_drift,
    with_sole_height,
)
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, ZeroVelocity
from strapdown.navigation.start_at_rest import Heading, give_heading
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.navigation.stops.intervals import StopIntervals, solution_with_stops
from strapdown.recordings.facts import Facts
from strapdown.types import Recording, Solution

# a foot is tilted on any floor
FOOT_FLOOR = FlatFloor(height_sigma_m=SOLE_SIGMA_M, velocity_sigma_m_s=None, tilt_rad=np.pi)


@dataclass(frozen=True)
class Foot:
    """A sensor on a foot that walks.

    heading: heading at the start.
    heading_deg: the same as a number, clockwise from north.
    flat_floor: True: every stance is as high as the first. False: heights as measured. None: a stance is as high as the
        one before, unless a stair can lie between.
    """

    heading: Heading = field(default_factory=Heading)
    flat_floor: bool | None = None
    heading_deg: InitVar[float | None] = None

    def __post_init__(self, heading_deg: float | None) -> None:
        give_heading(self, heading_deg)

    def start(self, recording: Recording, facts: Facts) -> Start:
        yaw, sigma = self.heading.of(recording)
        aligned = align_foot(
            recording,
            yaw,
            heading_sigma_rad=sigma,
            declination_rad=facts.declination_rad,
            stops=FootStops(gravity=facts.gravity),
            q_bs=facts.q_bs,
        )
        return Start.of(recording, alignment=aligned, p_n=sensor_at_start(aligned, facts.q_bs, facts.r_bs_b))

    def stops(self, recording: Recording, facts: Facts) -> StopIntervals:
        unused = {
            "the stop flag": recording.stop is not None and bool(recording.stop.any()),
            "the odometer": recording.odometer is not None,
            "the magnetometer after the start": recording.mag_s is not None,
            "the noise of the part": bool(facts.noise),
        }
        names = ", ".join(name for name, there in unused.items() if there)
        found = FootStops(gravity=facts.gravity).find(recording)
        return replace(found, notes=(f"for a foot these are not used: {names}",)) if names else found

    def estimator(self, recording: Recording, facts: Facts) -> Eskf:
        floor = FOOT_FLOOR if self.flat_floor else None
        return foot_filter(gravity=facts.gravity, q_bs=facts.q_bs, r_bs_b=facts.r_bs_b, flat_floor=floor)

    def earlier(self, solution: Solution, recording: Recording, estimator: Eskf, start: Start) -> Solution:
        """The solution with the rows before the stance on which the walk was aligned."""
        return with_first_steps(solution, recording, estimator, start)

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        """Correct heights by the floor on which the foot walks."""
        if self.flat_floor is None:
            solution, level, swings = level_steps(solution, stops.believed)
            if swings:
                note = f"{level} of {swings} swings rise or fall by less than {LEVEL_M:g} m and are taken as level"
                solution = replace(solution, meta={**solution.meta, "notes": (note,)})
        elif self.flat_floor:
            solution = with_sole_height(solution)
        else:
            solution = with_height_drift(solution, stops.believed)
        return solution_with_stops(solution, stops)


def foot_filter(**more: Any) -> Eskf:
    """The error-state filter for a foot.

    The noises include the effects of a foot: shocks, bandwidth, scale errors in turns of 10 rad/s, soft soles. A foot
    rolls during a stance. So zero velocity is good to 0.03 m/s and to the motion of a sensor at 3 cm from the point
    about which the sole rolls. Nothing states that the foot does not turn. Gates are open: the velocity after a swing
    is worse than its covariance states, and the stops are right. The gyroscope is a calibrated one; give gyr_bias_sigma
    (rad/s) where it is not. flat_floor=FOOT_FLOOR: every stance is as high as the first.
    """
    settings: dict[str, Any] = {
        "gyr_white": 4e-3,
        "acc_white": 0.05,
        "gyr_bias_sigma": 0.001,
        "acc_bias_sigma": 0.1,
        "gyr_drift": 0.0,
        "acc_drift": 0.0,
        "zero_velocity": ZeroVelocity(sigma_m_s=0.03, insist_s=0.0, arm_m=0.03),
        "zero_rate": None,
        "gate_probability": 0.0,
    }
    return Eskf(**{**settings, **more})

"""A sensor on a foot: stops by its gait, the error-state filter's settings for it, and its alignment from however short
a stance."""

from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import LEAST_SAMPLES, Alignment, align_by_magnetometer, align_to_yaw
from strapdown.navigation.body_origin import sensor_at_start
from strapdown.navigation.carriers.foot_heights import LEVEL_M, level_steps, with_height_drift
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, ZeroVelocity
from strapdown.navigation.start_at_rest import Heading, give_heading
from strapdown.navigation.stops.foot_stops import FootStops, rest_samples
from strapdown.navigation.stops.intervals import StopIntervals, solution_with_stops
from strapdown.recordings.facts import Facts
from strapdown.rotation import IDENTITY
from strapdown.types import Recording, Solution

MOST_REST_S = 0.5  # longer, and a foot has shifted meanwhile
SWAY_RAD = 0.002  # what a standing person's foot may turn during a rest: set by judgement, not fitted

FOOT_FLOOR = FlatFloor(height_sigma_m=0.01, velocity_sigma_m_s=None, tilt_rad=np.pi)  # a foot is tilted on any floor


@dataclass(frozen=True)
class Foot:
    """heading: at the start; heading_deg instead: clockwise from north. flat_floor: True: every stance is as high as
    the first; False: heights as measured; None: a stance is as high as the one before, unless a stair can lie
    between."""

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

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        """Heights by the floor that it walks on."""
        if self.flat_floor is None:
            solution, level, swings = level_steps(solution, stops.believed)
            if swings:
                note = f"{level} of {swings} swings rise or fall by less than {LEVEL_M:g} m and are taken as level"
                solution = replace(solution, meta={**solution.meta, "notes": (note,)})
        elif not self.flat_floor:
            solution = with_height_drift(solution, stops.believed)
        return solution_with_stops(solution, stops)


def foot_filter(**more: Any) -> Eskf:
    """The error-state filter for a foot.

    The noises stand for what a foot adds to the sensor's: shocks, bandwidth, scale errors in turns of 10 rad/s, soles
    that give. A stance is rolled through, so zero velocity is good to 0.03 m/s and nothing states that the foot does
    not turn. Gates are open: the velocity after a swing is worse than its covariance states, and the stops are what is
    right. The sensor is a calibrated one; give gyr_bias_sigma (rad/s) and acc_bias_sigma (m/s2) where it is not.
    flat_floor=FOOT_FLOOR: every stance is as high as the first.
    """
    settings: dict[str, Any] = {
        "gyr_white": 2e-3,
        "acc_white": 0.1,
        "gyr_bias_sigma": 0.001,
        "acc_bias_sigma": 0.0,
        "gyr_drift": 0.0,
        "acc_drift": 0.0,
        "zero_velocity": ZeroVelocity(sigma_m_s=0.03, insist_s=0.0),
        "zero_rate": None,
        "gate_probability": 0.0,
    }
    return Eskf(**{**settings, **more})


def align_foot(
    recording: Recording,
    yaw_rad: float | None = 0.0,
    *,
    heading_sigma_rad: float = 0.0,
    declination_rad: float = 0.0,
    stops: FootStops | None = None,
    gyr_bias_sigma: float = 0.001,
    q_bs: ArrayLike = IDENTITY,
) -> Alignment:
    """Level from the rest at the start, as long as it lasts, MOST_REST_S at most.

    yaw_rad: known to heading_sigma_rad; None: the magnetometer's, with the declination.
    A foot sways, so a short rest shows little of the gyroscope's bias: its mean is weighed against 0 with
    gyr_bias_sigma (rad/s), the sigma of the bias of a sensor that nobody asked.
    """
    rows = rest_samples(recording, stops or FootStops(), MOST_REST_S)
    if rows < LEAST_SAMPLES:
        raise InputError(
            f"the foot stands for {rows} samples at the start of the log, alignment needs {LEAST_SAMPLES}; "
            "start the log before the first step, or give the alignment"
        )
    rest_s = float(recording.t[rows - 1] - recording.t[0])
    if yaw_rad is None:
        aligned = align_by_magnetometer(recording, declination_rad=declination_rad, rest_s=rest_s, q_bs=q_bs)
    else:
        aligned = align_to_yaw(recording, yaw_rad, heading_sigma_rad, rest_s=rest_s, q_bs=q_bs)
    seen_var = aligned.gyr_bias_sigma**2 + (SWAY_RAD / rest_s) ** 2
    known_var = gyr_bias_sigma**2
    share = known_var / (known_var + seen_var)
    return replace(aligned, gyr_bias_s=share * aligned.gyr_bias_s, gyr_bias_sigma=np.asarray(np.sqrt(share * seen_var)))

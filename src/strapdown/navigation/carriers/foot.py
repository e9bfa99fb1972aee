"""A sensor on a foot: stops by its gait, settings of the error-state filter for it, and its alignment from a stance of
any length.
"""

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
from strapdown.recordings.runs import runs_of
from strapdown.rotation import IDENTITY
from strapdown.types import Array, Recording, Solution

MOST_REST_S = 0.5  # longer, and a foot has shifted meanwhile
UNKNOWN_BIAS_RAD_S = 0.001  # sigma of the bias of a sensor that nobody asked
LONGEST_BIAS_S = 3.0  # of the rest at the start, for the gyroscope's bias
BLOCK_S = 0.25  # of that rest: longer than a tremble, shorter than a sway
PLAINLY = 3.0  # sigmas
STANCE_TILT_RAD = 0.03  # of a level by a stance of a walk: 0.3 m/s2 of what is not gravity
SWAY_RAD = 0.002  # what a standing person's foot may turn during a rest: set by judgement, not fitted

FOOT_FLOOR = FlatFloor(height_sigma_m=0.01, velocity_sigma_m_s=None, tilt_rad=np.pi)  # a foot is tilted on any floor


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

    def after(self, solution: Solution, stops: StopIntervals) -> Solution:
        """Correct heights by the floor on which the foot walks."""
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


def align_foot(
    recording: Recording,
    yaw_rad: float | None = 0.0,
    *,
    heading_sigma_rad: float = 0.0,
    declination_rad: float = 0.0,
    stops: FootStops | None = None,
    gyr_bias_sigma: float | None = None,
    q_bs: ArrayLike = IDENTITY,
) -> Alignment:
    """Alignment by the rest at the start, as long as it lasts, MOST_REST_S at most; without one, by the first stance.

    yaw_rad: known to heading_sigma_rad; None: from the magnetometer, with the declination.
    gyr_bias_sigma (rad/s): sigma of the gyroscope's bias; None: UNKNOWN_BIAS_RAD_S, and a rest may show a larger one.
    """
    stops = stops or FootStops()
    rows, first = rest_samples(recording, stops, MOST_REST_S), 0
    if rows < LEAST_SAMPLES:
        first, rows = _first_stance(recording, stops, rows)
    some = recording[first:]
    rest_s = float(some.t[rows - 1] - some.t[0])
    if yaw_rad is None:
        aligned = align_by_magnetometer(some, declination_rad=declination_rad, rest_s=rest_s, q_bs=q_bs)
    else:
        aligned = align_to_yaw(some, yaw_rad, heading_sigma_rad, rest_s=rest_s, q_bs=q_bs)
    if first > 0:
        return replace(
            aligned,
            rows=first + aligned.rows,
            tilt_sigma_rad=max(aligned.tilt_sigma_rad, STANCE_TILT_RAD),
            gyr_bias_s=np.zeros(3),
            gyr_bias_sigma=np.full(3, UNKNOWN_BIAS_RAD_S if gyr_bias_sigma is None else gyr_bias_sigma),
        )
    bias, sigma = _bias_of_rest(recording, rest_samples(recording, stops, LONGEST_BIAS_S), gyr_bias_sigma)
    return replace(aligned, gyr_bias_s=bias, gyr_bias_sigma=sigma)


def _bias_of_rest(recording: Recording, rows: int, known_sigma: float | None) -> tuple[Array, Array]:
    """The gyroscope's bias by the whole rest at the start, weighed against 0 +- known_sigma (None: not stated).

    The blocks of the rest show its uncertainty: a foot that sways has means that scatter. A bias that is clearly larger
    than that is believed where nothing is stated of the sensor (empirical Bayes).
    """
    assert recording.gyr_s is not None
    t, gyr_s = recording.t[:rows], recording.gyr_s[:rows]
    rest_s = float(t[-1] - t[0])
    blocks = max(int(rest_s / BLOCK_S), 1)
    means = np.array([part.mean(axis=0) for part in np.array_split(gyr_s, blocks)])
    noise_var = gyr_s.var(axis=0) / rows
    scatter_var = means.var(axis=0, ddof=1) / blocks if blocks > 1 else np.zeros(3)
    seen_var = np.maximum(noise_var, scatter_var) + (SWAY_RAD / rest_s) ** 2
    mean = gyr_s.mean(axis=0)
    if known_sigma is None:
        known_var = np.maximum(UNKNOWN_BIAS_RAD_S**2, mean**2 - PLAINLY**2 * seen_var)
    else:
        known_var = np.full(3, known_sigma**2)
    share = known_var / (known_var + seen_var)
    return share * mean, np.sqrt(share * seen_var)


def _first_stance(recording: Recording, stops: FootStops, rows: int) -> tuple[int, int]:
    """First row and number of rows of the first stance of a walk that does not begin with one."""
    for first, last in runs_of(stops.find(recording).believed):
        if last - first + 1 >= LEAST_SAMPLES:
            return first, last - first + 1
    raise InputError(
        f"the foot stands for {rows} samples at the start of the log and nowhere long enough after it; alignment needs "
        f"{LEAST_SAMPLES}: start the log before the first step, or give the alignment"
    )

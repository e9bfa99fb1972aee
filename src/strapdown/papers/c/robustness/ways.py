"""Drives of a vehicle: speed, yaw and slope by time, as the motion of its body.

A drive is a list of legs. Speed and yaw are smooth profiles, so force and rate are exact. The position is their
integral over steps of STEP_S, good to 1e-6 of the path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.motion.paths.profile import Keep, MoveTo, Phase, Profile, SmoothRamp
from strapdown.rotation import q_exp, q_mul
from strapdown.types import Array, Motion

STEP_S = 0.002
WAVES_M = (2.0, 20.0)  # of a floor: a robot's wheelbase levels shorter ones, longer ones are slopes
_WAVES = 12
Slope = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Leg:
    """For duration_s: the speed (m/s) changes to speed_m_s and the yaw rate (rad/s) to rate_rad_s, within ramp_s, and
    both stay there. A leg with a speed of 0 and a rate of 0 is a stop from the end of its ramp on.
    """

    duration_s: float
    speed_m_s: float = 0.0
    rate_rad_s: float = 0.0
    ramp_s: float = 1.0


@dataclass(frozen=True, eq=False)
class Way:
    """A drive of a vehicle.

    body: the motion, x forward.
    stopped: rows at which the wheels are at rest.
    """

    body: Motion
    stopped: NDArray[np.bool_]


def stop(duration_s: float, ramp_s: float = 1.0) -> Leg:
    return Leg(duration_s + ramp_s, ramp_s=ramp_s)


def drive_along(
    legs: Sequence[Leg],
    start_yaw_rad: float = 0.0,
    *,
    slope: Slope | None = None,
    turning_in_stops_rad_s: float = 0.0,
    turning_centre_m: float = 0.0,
) -> Way:
    """Drive along a path with slopes and turns.

    slope: pitch (rad, nose up) and its derivative (rad/m) as functions of the distance.
    turning_in_stops_rad_s: a turntable below the wheels.
    turning_centre_m: distance of the point that does not slide ahead of the body's origin (m).
    """
    speeds: list[Phase] = []
    turns: list[Phase] = []
    stopped: list[tuple[float, float]] = []
    at, before, moved = 0.0, (0.0, 0.0), False
    for leg in legs:
        rest = leg.duration_s - leg.ramp_s
        stands = leg.speed_m_s == 0.0 and leg.rate_rad_s == 0.0
        rate = leg.rate_rad_s + (turning_in_stops_rad_s if stands and moved else 0.0)
        for phases, now, then in ((speeds, leg.speed_m_s, before[0]), (turns, rate, before[1])):
            ramp: Phase = SmoothRamp(now, leg.ramp_s) if now != then else Keep(leg.ramp_s)
            phases += [ramp, Keep(max(rest, STEP_S))]
        if stands:
            stopped.append((at + (leg.ramp_s if before != (0.0, 0.0) else 0.0), at + leg.duration_s))
        at, before, moved = at + leg.duration_s, (leg.speed_m_s, rate), moved or not stands
    t: Array = np.arange(round(at / STEP_S), dtype=np.float64) * STEP_S
    way, speed, gain, _ = Profile(speeds).at(t)
    yaw, yaw_rate, _, _ = Profile(turns, value=start_yaw_rad).at(t)
    pitch, pitch_m = (np.zeros_like(t), np.zeros_like(t)) if slope is None else slope(way)
    body = _motion(t, speed, gain, yaw, yaw_rate, pitch, pitch_m * speed)
    if turning_centre_m != 0.0:  # the wheels hold the point ahead; the origin swings
        body = body.seen_from((-turning_centre_m, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    stands_at = np.zeros(len(t), dtype=bool)
    for begin, end in stopped:
        stands_at |= (t >= begin - 1e-9) & (t < end - 1e-9)
    return Way(body, stands_at)


def uneven(rng: np.random.Generator, sigma_m: float) -> Slope:
    """A floor as it is laid: heights of two distant places differ by sigma_m, in waves of WAVES_M.

    The spectrum of the height falls with the square of the wave number, as for roads (ISO 8608). With 5 mm the gap
    below a straightedge of 1, 4 and 10 m is 0.7, 3.4 and 5.2 mm rms. DIN 18202 allows 4, 10 and 12 mm at most.
    """
    length = np.exp(rng.uniform(*np.log(WAVES_M), _WAVES))
    phase, turn = rng.uniform(0.0, 2.0 * np.pi, _WAVES), 2.0 * np.pi / length
    height = sigma_m * np.sqrt(length / length.sum())  # of each wave; their rms together is sigma / sqrt 2

    def slope(way: Array) -> tuple[Array, Array]:
        at = np.outer(way, turn) + phase
        return np.cos(at) @ (height * turn), -np.sin(at) @ (height * turn**2)

    return slope


def _motion(t: Array, speed: Array, gain: Array, yaw: Array, rate: Array, pitch: Array, pitching: Array) -> Motion:
    c, s, cy, sy = np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    forward = np.column_stack([c * cy, c * sy, s])
    turning = np.column_stack([-s * cy * pitching - c * sy * rate, -s * sy * pitching + c * cy * rate, c * pitching])
    v_n = speed[:, None] * forward
    a_n = gain[:, None] * forward + speed[:, None] * turning
    mean = 0.5 * (v_n[1:] + v_n[:-1]) - (a_n[1:] - a_n[:-1]) * STEP_S / 12.0
    p_n = np.concatenate([np.zeros((1, 3)), np.cumsum(mean * STEP_S, axis=0)])
    z = np.zeros_like(t)
    q_nb = q_mul(q_exp(np.column_stack([z, z, yaw])), q_exp(np.column_stack([z, -pitch, z])))
    w_b = np.column_stack([rate * s, -pitching, rate * c])
    return Motion(t, p_n, v_n, a_n, q_nb, w_b, np.gradient(w_b, STEP_S, axis=0))


def carried(rng: np.random.Generator, moves: int, rest_s: float) -> Way:
    """Carried by hand: from place to place within an arm's reach, turned on the way, put down for rest_s each time."""
    axes: list[list[Phase]] = [[Keep(6.0)] for _ in range(6)]
    stopped = [(0.0, 6.0)]
    at = 6.0
    for _ in range(moves):
        goes_s, rests_s = rng.uniform(1.2, 3.0), rest_s * rng.uniform(0.7, 1.5)
        goal = np.concatenate([rng.uniform(-0.4, 0.4, 3), rng.uniform(-0.6, 0.6, 2), rng.uniform(-1.5, 1.5, 1)])
        for axis, value in zip(axes, goal, strict=True):
            axis += [MoveTo(float(value), goes_s), Keep(rests_s)]
        stopped.append((at + goes_s, at + goes_s + rests_s))
        at += goes_s + rests_s
    t: Array = np.arange(round(at / STEP_S), dtype=np.float64) * STEP_S
    p, v, a, angles, rates = [], [], [], [], []
    for i, axis in enumerate(axes):
        value, rate, gain, _ = Profile(axis).at(t)
        if i < 3:
            p.append(value)
            v.append(rate)
            a.append(gain)
        else:
            angles.append(value)
            rates.append(rate)
    (roll, pitch, yaw), (droll, dpitch, dyaw) = angles, rates
    z = np.zeros_like(t)
    q_nb = q_mul(
        q_exp(np.column_stack([z, z, yaw])),
        q_mul(q_exp(np.column_stack([z, pitch, z])), q_exp(np.column_stack([roll, z, z]))),
    )
    w_b = np.column_stack(
        [
            droll - dyaw * np.sin(pitch),
            dpitch * np.cos(roll) + dyaw * np.sin(roll) * np.cos(pitch),
            -dpitch * np.sin(roll) + dyaw * np.cos(roll) * np.cos(pitch),
        ]
    )
    body = Motion(
        t, np.column_stack(p), np.column_stack(v), np.column_stack(a), q_nb, w_b, np.gradient(w_b, STEP_S, axis=0)
    )
    stands_at = np.zeros(len(t), dtype=bool)
    for begin, end in stopped:
        stands_at |= (t >= begin - 1e-9) & (t < end - 1e-9)
    return Way(body, stands_at)

"""A multirotor's flight by velocities: it leans so that its thrust gives the acceleration of the motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import Array, finite, not_negative, positive, rows, set_fields, times_within, triple
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.motion.paths.profile import Keep, Phase, Profile, SmoothRamp
from strapdown.rotation import q_from_euler
from strapdown.types import Motion


@dataclass(frozen=True)
class Flight:
    """From hover to one velocity after the other (v_n, m/s, one row each): ramp_s each time, then hold_s at it.

    Thrust points along body z. It carries the weight, accelerates and overcomes the drag v / drag_time_s (None: none).
    So an accelerometer measures only the drag across body z. The heading start_yaw_rad stays.

    first_rest_s: hover before.
    """

    v_n: ArrayLike
    ramp_s: float = 1.5
    hold_s: float = 1.5
    first_rest_s: float = 0.0
    gravity_m_s2: float = STANDARD_GRAVITY
    drag_time_s: float | None = None
    start_p_n: ArrayLike = (0.0, 0.0, 0.0)
    start_yaw_rad: float = 0.0

    def __post_init__(self) -> None:
        set_fields(
            self,
            v_n=tuple(map(tuple, rows("v_n", self.v_n, 3).tolist())),
            ramp_s=positive("ramp_s", self.ramp_s),
            hold_s=not_negative("hold_s", self.hold_s),
            first_rest_s=not_negative("first_rest_s", self.first_rest_s),
            gravity_m_s2=positive("gravity_m_s2", self.gravity_m_s2),
            drag_time_s=None if self.drag_time_s is None else positive("drag_time_s", self.drag_time_s),
            start_p_n=triple("start_p_n", self.start_p_n),
            start_yaw_rad=finite("start_yaw_rad", self.start_yaw_rad),
        )
        if not self._least_lift > 0.0:
            raise InputError("the flight goes down faster than free fall; give smaller velocities or a longer ramp_s")

    @cached_property
    def _profiles(self) -> tuple[Profile, ...]:
        return tuple(self._profile([float(v[i]) for v in np.asarray(self.v_n)]) for i in range(3))

    def _profile(self, speeds: Sequence[float]) -> Profile:
        phases: list[Phase] = [Keep(self.first_rest_s)] if self.first_rest_s > 0.0 else []
        for speed in speeds:
            phases.append(SmoothRamp(speed, self.ramp_s))
            if self.hold_s > 0.0:
                phases.append(Keep(self.hold_s))
        return Profile(phases)

    @cached_property
    def _least_lift(self) -> float:
        """The least vertical thrust per mass, at the greatest downward acceleration."""
        speeds = np.concatenate([[0.0], np.asarray(self.v_n)[:, 2]])
        down = max(-np.diff(speeds).min(), 0.0) * 1.875 / self.ramp_s  # peak of a smooth ramp
        drag = 0.0 if self.drag_time_s is None else max(-speeds.min(), 0.0) / self.drag_time_s
        return float(self.gravity_m_s2 - down - drag)

    @property
    def duration_s(self) -> float:
        return self._profiles[0].duration_s

    @property
    def joints_s(self) -> tuple[float, ...]:
        return self._profiles[0].inner_joints_s

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        p, v, a, jerk, snap = (
            np.stack(each, axis=1) for each in zip(*(x.jet(inside, 5) for x in self._profiles), strict=True)
        )
        per_s = 0.0 if self.drag_time_s is None else 1.0 / self.drag_time_s
        lift = a + per_s * v + np.array([0.0, 0.0, self.gravity_m_s2])
        return Motion(
            asked,
            np.add(self.start_p_n, p),
            v,
            a,
            *_attitude_along(lift, jerk + per_s * a, snap + per_s * jerk, self.start_yaw_rad),
        )


def _attitude_along(u: Array, du: Array, ddu: Array, yaw: float) -> tuple[Array, Array, Array]:
    """q_nb, w_nb_b and dw_nb_b of Rz(yaw) Ry(pitch) Rx(roll) whose z axis points along u, with u' and u''."""
    c, s = np.cos(yaw), np.sin(yaw)
    (x, dx, ddx), (y, dy, ddy), (z, dz, ddz) = (
        tuple(c * each[:, 0] + s * each[:, 1] for each in (u, du, ddu)),
        tuple(c * each[:, 1] - s * each[:, 0] for each in (u, du, ddu)),
        tuple(each[:, 2] for each in (u, du, ddu)),
    )
    flat = np.hypot(x, z)
    dflat = (x * dx + z * dz) / flat
    ddflat = (dx**2 + x * ddx + dz**2 + z * ddz - dflat**2) / flat
    pitch, dp, ddp = _angle((x, dx, ddx), (z, dz, ddz))
    roll, dr, ddr = _angle((-y, -dy, -ddy), (flat, dflat, ddflat))
    cr, sr = np.cos(roll), np.sin(roll)
    w = np.stack([dr, dp * cr, -dp * sr], axis=1)
    dw = np.stack([ddr, ddp * cr - dp * dr * sr, -ddp * sr - dp * dr * cr], axis=1)
    return q_from_euler(roll, pitch, yaw), w, dw


def _angle(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """atan2(a, b) and its first two derivatives, from a and b with theirs."""
    size2 = a[0] ** 2 + b[0] ** 2
    turn = a[1] * b[0] - a[0] * b[1]
    rate = turn / size2
    growth = 2.0 * (a[0] * a[1] + b[0] * b[1])
    return np.arctan2(a[0], b[0]), rate, (a[2] * b[0] - a[0] * b[2] - rate * growth) / size2

"""One number that moves in time, as a chain of phases: an angle of a turntable, a length along a path, a yaw.

Value and rate never jump. `rate` is the value's unit per second, whatever that unit is. Each phase is a
polynomial in u, the fraction of its duration that has passed, so every derivative is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from strapdown.errors import InputError
from strapdown.motion.checks import Array, finite, positive, settle


class Phase(Protocol):
    """A stretch of a profile, entered at some value and rate."""

    @property
    def duration_s(self) -> float: ...

    def end_rate(self, rate: float) -> float:
        """The rate this phase hands on, if it was entered at the given one."""
        ...

    def polynomial(self, value: float, rate: float) -> Array:
        """Coefficients of u^0, u^1, ... if entered at the given value and rate."""
        ...


@dataclass(frozen=True)
class Keep:
    """Go on at the rate there is: a plateau; after rest, a rest."""

    duration_s: float

    def __post_init__(self) -> None:
        settle(self, duration_s=positive("duration_s", self.duration_s))

    def end_rate(self, rate: float) -> float:
        return rate

    def polynomial(self, value: float, rate: float) -> Array:
        return np.array([value, rate * self.duration_s])


@dataclass(frozen=True)
class Ramp:
    """Go to another rate at constant acceleration; the acceleration jumps at both ends."""

    rate: float
    duration_s: float

    def __post_init__(self) -> None:
        settle(self, rate=finite("rate", self.rate), duration_s=positive("duration_s", self.duration_s))

    def end_rate(self, rate: float) -> float:
        return self.rate

    def polynomial(self, value: float, rate: float) -> Array:
        return np.array([value, rate * self.duration_s, 0.5 * (self.rate - rate) * self.duration_s])


@dataclass(frozen=True)
class SmoothRamp:
    """Go to another rate with limited jerk: acceleration and jerk are zero at both ends, so neither jumps.

    The acceleration peaks at 15/8 of that of a linear ramp.
    """

    rate: float
    duration_s: float

    def __post_init__(self) -> None:
        settle(self, rate=finite("rate", self.rate), duration_s=positive("duration_s", self.duration_s))

    def end_rate(self, rate: float) -> float:
        return self.rate

    def polynomial(self, value: float, rate: float) -> Array:
        # the integral of rate + gain (10 u^3 - 15 u^4 + 6 u^5)
        gain = (self.rate - rate) * self.duration_s
        return np.array([value, rate * self.duration_s, 0.0, 0.0, 2.5 * gain, -3.0 * gain, gain])


@dataclass(frozen=True)
class MoveTo:
    """Move from rest to rest at another value, with least jerk; the acceleration does not jump.

    The rate peaks at 15/8 of the mean rate.
    """

    value: float
    duration_s: float

    def __post_init__(self) -> None:
        settle(self, value=finite("value", self.value), duration_s=positive("duration_s", self.duration_s))

    def end_rate(self, rate: float) -> float:
        if rate != 0.0:
            raise InputError(f"a move to {self.value:g} starts at a rate of {rate:g} per s; ramp to rate 0 first")
        return 0.0

    def polynomial(self, value: float, rate: float) -> Array:
        return quintic(value, 0.0, 0.0, self.value, 0.0, 0.0)


class Profile:
    """A chain of phases. At a joint the later phase counts."""

    def __init__(self, phases: Sequence[Phase], value: float = 0.0, rate: float = 0.0) -> None:
        if not phases:
            raise InputError("the list of phases is empty; give at least one phase")
        polynomials = []
        for phase in phases:
            c = phase.polynomial(value, rate)
            polynomials.append(c)
            value, rate = float(c.sum()), phase.end_rate(rate)
        self._lengths_s = np.array([phase.duration_s for phase in phases])
        self._coefficients = np.zeros((len(phases), max(len(c) for c in polynomials)))
        for row, c in zip(self._coefficients, polynomials, strict=True):
            row[: len(c)] = c
        self.joints_s = np.concatenate([[0.0], np.cumsum(self._lengths_s)])

    @property
    def duration_s(self) -> float:
        return float(self.joints_s[-1])

    @property
    def inner_joints_s(self) -> tuple[float, ...]:
        """The times between phases, without the ends."""
        return tuple(float(t) for t in self.joints_s[1:-1])

    def at(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Value and its first three derivatives at times from 0 to duration_s."""
        i = interval_of(t, self.joints_s)
        u = (t - self.joints_s[i]) / self._lengths_s[i]
        value, rate, acceleration, jerk = derivatives(self._coefficients[i], u, self._lengths_s[i], 3)
        return value, rate, acceleration, jerk


def interval_of(t: Array, joints_s: Array) -> Array:
    """Index of the interval that holds each time; a joint belongs to the later one, the end to the last."""
    return np.clip(np.searchsorted(joints_s, t, side="right") - 1, 0, len(joints_s) - 2)


def quintic(*ends: Any) -> Array:
    """Coefficients of the quintic in u from 0 to 1 with these end values and derivatives in u."""
    value0, rate0, acceleration0, value1, rate1, acceleration1 = ends
    gap = value1 - value0 - rate0 - 0.5 * acceleration0
    rate_gap = rate1 - rate0 - acceleration0
    half = 0.5 * (acceleration1 - acceleration0)
    return np.stack(
        [
            np.asarray(value0, dtype=np.float64),
            rate0,
            0.5 * acceleration0,
            10.0 * gap - 4.0 * rate_gap + half,
            -15.0 * gap + 7.0 * rate_gap - 2.0 * half,
            6.0 * gap - 3.0 * rate_gap + half,
        ]
    )


def derivatives(coefficients: Array, u: Array, length_s: Array, order: int) -> list[Array]:
    """Polynomials in u and their derivatives in time up to an order; coefficients (n, degree + 1, ...)."""
    column = (-1,) + (1,) * (coefficients.ndim - 2)
    u, per_s = u.reshape(column), 1.0 / length_s.reshape(column)
    c = np.moveaxis(coefficients, 1, 0)
    out, scale = [], np.ones_like(per_s)
    for _ in range(order + 1):
        value = np.zeros_like(coefficients[:, 0])
        for c_k in c[::-1]:
            value = value * u + c_k
        out.append(value * scale)
        c = c[1:] * np.arange(1.0, len(c)).reshape((-1,) + (1,) * (c.ndim - 1))
        scale = scale * per_s
    return out

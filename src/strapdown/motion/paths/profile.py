"""One number that moves in time, as a chain of phases: an angle of a turntable, a length along a path, a yaw.

Value and rate never jump. `rate` is the value's unit per second, whatever that unit is. Each phase is a
polynomial in u, the fraction of its duration that has passed, so every derivative is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from strapdown.checks import Array, finite, positive, set_fields
from strapdown.errors import InputError


class Phase(Protocol):
    """A part of a profile, entered at some value and rate."""

    @property
    def duration_s(self) -> float: ...

    def end_rate(self, rate: float) -> float:
        """The rate at the end of this phase, if it was entered at the given one."""
        ...

    def polynomial(self, value: float, rate: float) -> Array:
        """Coefficients of u^0, u^1, ... if entered at the given value and rate."""
        ...


@dataclass(frozen=True)
class Keep:
    """Continue at the present rate: a plateau; after rest, a rest."""

    duration_s: float

    def __post_init__(self) -> None:
        set_fields(self, duration_s=positive("duration_s", self.duration_s))

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
        set_fields(self, rate=finite("rate", self.rate), duration_s=positive("duration_s", self.duration_s))

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
        set_fields(self, rate=finite("rate", self.rate), duration_s=positive("duration_s", self.duration_s))

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
        set_fields(self, value=finite("value", self.value), duration_s=positive("duration_s", self.duration_s))

    def end_rate(self, rate: float) -> float:
        if rate != 0.0:
            raise InputError(f"a move to {self.value:g} starts at a rate of {rate:g} per s; ramp to rate 0 first")
        return 0.0

    def polynomial(self, value: float, rate: float) -> Array:
        way = self.value - value
        return np.array([value, 0.0, 0.0, 10.0 * way, -15.0 * way, 6.0 * way])


class Profile:
    """A chain of phases. At a joint the later phase is used."""

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
        value, rate, acceleration, jerk = self.jet(t, 4)
        return value, rate, acceleration, jerk

    def jet(self, t: Array, count: int) -> list[Array]:
        """Value and derivatives at times from 0 to duration_s, count in all."""
        i = interval_of(t, self.joints_s)
        per_s = 1.0 / self._lengths_s[i]
        u = (t - self.joints_s[i]) * per_s
        c = self._coefficients[i].T  # row k: coefficients of u^k
        found, scale = [], np.ones_like(u)
        for _ in range(count):
            value = np.zeros_like(u)
            for c_k in c[::-1]:
                value = value * u + c_k
            found.append(value * scale)
            c, scale = c[1:] * np.arange(1.0, len(c))[:, None], scale * per_s
        return found


def interval_of(t: Array, joints_s: Array) -> Array:
    """Index of the interval that contains each time; a joint belongs to the later one, the end to the last."""
    return np.clip(np.searchsorted(joints_s, t, side="right") - 1, 0, len(joints_s) - 2)

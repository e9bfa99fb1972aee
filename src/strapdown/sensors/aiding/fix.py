"""A fix receiver: position or velocity from outside, with noise, rate, delay and outages.

A satellite receiver on Earth, camera odometry on Mars, a motion capture system in a laboratory: they differ in their
numbers. The value is that of the point that is passed in: the receiver's antenna or the body's origin.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import Interval, Triple, finite, intervals, not_negative, positive, set_fields, triple
from strapdown.errors import InputError
from strapdown.sample import Fix, Fixes
from strapdown.sensors.aiding.own_pace import Chance, Pace, Stream, chances, pace_of, refuse_state_of, step_of_motion
from strapdown.types import Motion

Vector = Sequence[float] | NDArray[np.float64]

_NO_ERROR = (0.0, 0.0, 0.0)
_MOST_WAITING = 10_000  # fixes: an hour of delay at 3 Hz


class FixState(NamedTuple):
    """Memory of a receiver between two calls.

    waiting: fixes that were measured and have not arrived yet, each (instant, value).
    """

    pace: Pace
    noise: Chance
    slow: Chance
    loss: Chance
    last_s: float = math.nan
    error_n: Triple = _NO_ERROR  # the correlated one, in its standard deviations
    waiting: tuple[tuple[float, Triple], ...] = ()


@dataclass(frozen=True)
class FixReceiver:
    """One receiver of fixes, frame n.

    kind: "position" (m) or "velocity" (m/s). A fix is value (1 + scale_error) + noise of the standard deviations
        sigma_n + a correlated error of the standard deviations correlated_n. The correlated error is first-order
        Gauss-Markov with the time constant correlation_s. A fix arrives delay_s after its own instant.
    outages_s: intervals (from, to) in which nothing is measured.
    loss: the part of fixes that are lost.
    stated_sigma_n: standard deviation that the receiver states; None: that of noise and correlated error together.
    rate_hz: None measures at every call.
    """

    kind: Literal["position", "velocity"]
    rate_hz: float | None = 10.0
    sigma_n: ArrayLike = (0.05, 0.05, 0.05)
    delay_s: float = 0.0
    outages_s: tuple[Interval, ...] = ()
    correlated_n: ArrayLike = _NO_ERROR
    correlation_s: float = 100.0
    scale_error: float = 0.0
    loss: float = 0.0
    stated_sigma_n: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("position", "velocity"):
            raise InputError(f'kind is {self.kind!r}; give "position" or "velocity"')
        if not 0.0 <= self.loss < 1.0:
            raise InputError(f"loss is {self.loss}; give the part of fixes that are lost, from 0 to below 1")
        rate = None if self.rate_hz is None else positive("rate_hz", self.rate_hz)
        delay = not_negative("delay_s", self.delay_s)
        if rate is not None and rate * delay > _MOST_WAITING:
            raise InputError(f"a delay of {delay:g} s at {rate:g} Hz keeps too many fixes waiting; give a shorter one")
        for name in ("sigma_n", "correlated_n", "stated_sigma_n"):
            given = getattr(self, name)
            if given is not None:
                numbers = triple(name, given)
                if min(numbers) < 0.0 or (name == "stated_sigma_n" and min(numbers) == 0.0):
                    raise InputError(f"{name} is {numbers}; give standard deviations, not negative and not stated as 0")
                set_fields(self, **{name: numbers})
        set_fields(
            self,
            rate_hz=rate,
            delay_s=delay,
            outages_s=intervals("outages_s", self.outages_s),
            correlation_s=positive("correlation_s", self.correlation_s),
            scale_error=finite("scale_error", self.scale_error),
        )

    @cached_property
    def _sigmas(self) -> tuple[Triple, Triple]:
        return triple("sigma_n", self.sigma_n), triple("correlated_n", self.correlated_n)

    @cached_property
    def stated(self) -> Triple:
        """The standard deviations that each fix carries."""
        if self.stated_sigma_n is not None:
            return triple("stated_sigma_n", self.stated_sigma_n)
        a, b = self._sigmas
        return math.hypot(a[0], b[0]), math.hypot(a[1], b[1]), math.hypot(a[2], b[2])

    def start(self, stream: Stream, step_s: float) -> FixState:
        """The state before the first call, for calls step_s apart."""
        noise, slow, loss = chances(stream, False, False, True)
        return FixState(pace_of(step_s, self.rate_hz, "receiver"), noise, slow, loss)

    def read(self, state: FixState, t: float, value_n: Vector) -> tuple[FixState, Fix | None]:
        """The fix that arrives at t, if one does; it belongs to about t - delay_s (its t_s is the exact instant).

        value_n: true position or velocity at t, three numbers. A fix is measured and arrives at the calls nearest to
        its times.
        """
        if not isinstance(state, FixState):
            raise refuse_state_of(state, FixReceiver)
        if not t < state.pace.next_s:
            state = self._measured(state, t, value_n)
        waiting = state.waiting
        if not waiting or t < waiting[0][0] + self.delay_s - state.pace.half_s:
            return state, None
        instant, value = waiting[0]
        return state._replace(waiting=waiting[1:]), Fix(np.array(value), np.array(self.stated), instant)

    def _measured(self, state: FixState, t: float, value_n: Vector) -> FixState:
        """The state with the fix of the instant t, unless there is an outage or it is lost."""
        noise, white = state.noise.next(3)
        slow, steps = state.slow.next(3)
        loss, (share,) = state.loss.next(1)
        rho = 0.0 if math.isnan(state.last_s) else math.exp(-(t - state.last_s) / self.correlation_s)
        grown = math.sqrt(1.0 - rho * rho)
        ex, ey, ez = state.error_n
        error = (rho * ex + grown * steps[0], rho * ey + grown * steps[1], rho * ez + grown * steps[2])
        waiting = state.waiting
        if share >= self.loss and not any(begin <= t < end for begin, end in self.outages_s):
            (ax, ay, az), (bx, by, bz) = self._sigmas
            scale, (vx, vy, vz) = 1.0 + self.scale_error, map(float, value_n)
            x = scale * vx + ax * white[0] + bx * error[0]
            y = scale * vy + ay * white[1] + by * error[1]
            z = scale * vz + az * white[2] + bz * error[2]
            if not math.isfinite(x + y + z):
                raise InputError(f"value_n is {value_n} at t = {t:.6g} s; give three finite numbers")
            waiting = (*waiting, (t, (x, y, z)))
        pace = state.pace.after(t, self.rate_hz)
        return FixState(pace, noise, slow, loss, t, error, waiting)

    def measure(self, motion: Motion, *, stream: Stream) -> tuple[Fixes, NDArray[np.bool_]]:
        """Fixes along the motion: rows for Recording.position_fix or velocity_fix, and which of them are new. Rows
        between two fixes repeat the last one."""
        values = (motion.p_n if self.kind == "position" else motion.v_n).tolist()
        state, n = self.start(stream, step_of_motion(motion)), len(motion)
        rows, new = np.zeros((n, 7)), np.zeros(n, dtype=bool)
        last = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, motion.t[0]])  # before the first fix
        for i, (t, value) in enumerate(zip(motion.t.tolist(), values, strict=True)):
            state, fix = self.read(state, t, value)
            if fix is not None:
                last, new[i] = np.concatenate([fix.value_n, fix.sigma_n, [fix.t_s]]), True
            rows[i] = last
        return Fixes(rows[:, :3], rows[:, 3:6], rows[:, 6]), new

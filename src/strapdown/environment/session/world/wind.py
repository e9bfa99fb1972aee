"""Wind: a mean, gusts of the form 1 - cos, and Dryden turbulence near the ground.

Turbulence after MIL-F-8785C, low altitude. W is the mean wind at 6 m and h the height, both in feet in the original.
L_w = h, L_u = L_v = h / (0.177 + 0.000823 h)^1.2, sigma_w = 0.1 W, sigma_u = sigma_v = sigma_w / (0.177 + 0.000823
h)^0.4. The spectra are those of noise through filters of first order (u) and second order (v, w). The filters are made
discrete exactly, for white noise that is held over a step. u is along the mean wind.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from strapdown.arrays import Array
from strapdown.sensors.chain.state import kept_generator, restored_generator

_FEET = 0.3048  # m
_LOWEST, _HIGHEST = 10.0, 1000.0  # feet: where the model holds
_SLOWEST = 1.0  # m/s: air that passes slower carries no gusts to speak of
_BLOCK = 768  # random numbers drawn at a time, three per step
NO_WIND = np.zeros(3)
NO_WIND.flags.writeable = False


class Gust(NamedTuple):
    """A gust: velocity_n (m/s) at its peak, from at_s on for for_s.

    name: name of its fault.
    """

    velocity_n: tuple[float, float, float]
    at_s: float
    for_s: float
    name: str = ""


class WindState(NamedTuple):
    """u, and two numbers each of v and w. Also random numbers drawn in advance, the place in them, and their
    generator.
    """

    u: float
    v: tuple[float, float]
    w: tuple[float, float]
    drawn: Array
    used: int
    generator: bytes


@dataclass(frozen=True)
class Wind:
    """Mean wind and turbulence.

    mean_n: m/s, frame n.
    turbulence_m_s: W, the wind at 6 m that makes the turbulence; 0: none.
    """

    mean_n: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turbulence_m_s: float = 0.0

    def start(self, generator: np.random.Generator) -> WindState:
        return WindState(0.0, (0.0, 0.0), (0.0, 0.0), np.empty(0), 0, kept_generator(generator))

    @property
    def calm(self) -> bool:
        return self.turbulence_m_s == 0.0 and self.mean_n == (0.0, 0.0, 0.0)

    def scales(self, height_m: float) -> tuple[float, float, float, float]:
        """L_u, L_w (m), sigma_u, sigma_w (m/s) at a height."""
        h = min(max(height_m / _FEET, _LOWEST), _HIGHEST)
        shape = 0.177 + 0.000823 * h
        sigma_w = 0.1 * self.turbulence_m_s
        return _FEET * h / shape**1.2, _FEET * h, sigma_w / shape**0.4, sigma_w

    def step(self, state: WindState, height_m: float, speed_m_s: float, dt: float) -> tuple[WindState, Array]:
        """The next state and the wind (frame n).

        speed_m_s: speed of the vehicle through the air.
        """
        if self.turbulence_m_s == 0.0:
            return state, np.array(self.mean_n)
        if state.used == len(state.drawn):
            generator = restored_generator(state.generator)
            drawn = generator.standard_normal(_BLOCK)
            state = state._replace(drawn=drawn, used=0, generator=kept_generator(generator))
        e0, e1, e2 = state.drawn[state.used : state.used + 3].tolist()
        l_u, l_w, sigma_u, sigma_w = self.scales(height_m)
        speed = max(speed_m_s, _SLOWEST)
        decay = math.exp(-dt * speed / l_u)
        u = decay * state.u + sigma_u * math.sqrt(1.0 - decay * decay) * e0
        v = _second_order(state.v, l_u / speed, dt, e1)
        w = _second_order(state.w, l_w / speed, dt, e2)
        east, north, up = self.mean_n
        length = math.hypot(east, north)
        cos, sin = (east / length, north / length) if length > 0.0 else (1.0, 0.0)
        across = _output(v, sigma_u, l_u / speed)
        total = np.array(
            [east + cos * u - sin * across, north + sin * u + cos * across, up + _output(w, sigma_w, l_w / speed)]
        )
        return WindState(u, v, w, state.drawn, state.used + 3, state.generator), total


def _second_order(x: tuple[float, float], tau: float, dt: float, noise: float) -> tuple[float, float]:
    """A step of two equal lags in series (time constant tau), driven by white noise of density 1 held over dt."""
    decay, held = math.exp(-dt / tau), noise / math.sqrt(dt)
    share = dt / tau * decay
    first = decay * x[0] + (1.0 - decay) * held
    second = decay * x[1] + share * x[0] + (1.0 - decay - share) * held
    return first, second


def _output(x: tuple[float, float], sigma: float, tau: float) -> float:
    """Dryden's sigma sqrt(tau) (1 + sqrt(3) tau s) / (1 + tau s)^2 from the two lags x. A one-sided density of 1 is a
    two-sided one of 1/2. tau s / (1 + tau s)^2 is the first lag minus the second.
    """
    return sigma * math.sqrt(tau) * (x[1] + math.sqrt(3.0) * (x[0] - x[1]))


def gust_at(gusts: tuple[Gust, ...], t_s: float) -> tuple[float, float, float]:
    """The sum of all gusts (m/s, frame n)."""
    x = y = z = 0.0
    for gust in gusts:
        if gust.at_s <= t_s < gust.at_s + gust.for_s:
            share = 0.5 * (1.0 - math.cos(2.0 * math.pi * (t_s - gust.at_s) / gust.for_s))
            x, y, z = x + share * gust.velocity_n[0], y + share * gust.velocity_n[1], z + share * gust.velocity_n[2]
    return x, y, z

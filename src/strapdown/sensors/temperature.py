"""The temperature of a sensor over time: a number, a series, or a part that heats itself; degrees Celsius."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import locked, locked_time
from strapdown.errors import InputError

Array = NDArray[np.float64]

ABSOLUTE_ZERO_C = -273.15


@dataclass(frozen=True, eq=False)
class TemperatureSeries:
    """Temperatures at given times, linear in between; unknown before the first and after the last."""

    t: Array
    celsius: Array

    def __post_init__(self) -> None:
        t = locked_time(self.t, "t of the temperature series")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "celsius", locked(self.celsius, t.shape, "celsius", t))

    def at(self, t: ArrayLike) -> Array:
        times = np.asarray(t, dtype=np.float64)
        outside = np.flatnonzero((times < self.t[0]) | (times > self.t[-1]))
        if len(outside):
            raise InputError(
                f"the temperature at t = {times.ravel()[outside[0]]:.6g} s is not in its series, which covers "
                f"{self.t[0]:.6g} to {self.t[-1]:.6g} s; give a longer series"
            )
        return np.interp(times, self.t, self.celsius)


@dataclass(frozen=True, eq=False)
class SelfHeating:
    """A part that is switched on at start_s at the temperature of its surroundings, and heats itself by rise_c in the
    end.

    time_constant_s dT/dt = ambient(t) + rise_c - T. With constant surroundings the solution is ambient + rise (1 -
    exp(-t / tau)). A changing ambient temperature reaches the part with the same lag. The solution is exact for
    straight lines between the series' points, whatever the sample times.
    """

    ambient_c: float | TemperatureSeries
    rise_c: float
    time_constant_s: float
    start_s: float = 0.0

    def __post_init__(self) -> None:
        numbers = {"rise_c": self.rise_c, "time_constant_s": self.time_constant_s, "start_s": self.start_s}
        if not isinstance(self.ambient_c, TemperatureSeries):
            numbers["ambient_c"] = self.ambient_c
        for name, value in numbers.items():
            if not isinstance(value, int | float) or not np.isfinite(value):
                raise InputError(f"{name} is {value!r}; give a finite number")
        if self.time_constant_s <= 0.0:
            raise InputError(f"time_constant_s is {self.time_constant_s:g}; give a number above 0")

    def at(self, t: ArrayLike) -> Array:
        times = np.asarray(t, dtype=np.float64)
        if times.size and times.min() < self.start_s:
            raise InputError(f"t = {times.min():.6g} s is before the part is switched on at {self.start_s:.6g} s")
        tau = self.time_constant_s
        if not isinstance(self.ambient_c, TemperatureSeries):
            return self.ambient_c - self.rise_c * np.expm1(-(times - self.start_s) / tau)
        self.ambient_c.at(times)  # covers them all
        series = self.ambient_c
        later = series.t > self.start_s
        knots = np.concatenate([[self.start_s], series.t[later]])
        ambient = np.concatenate([series.at([self.start_s]), series.celsius[later]])
        slopes = np.concatenate([np.diff(ambient) / np.diff(knots), [0.0]])
        # behind a straight line the part lags by slope * tau, and whatever else it is off by dies out
        excess = np.empty(len(knots))
        excess[0] = slopes[0] * tau - self.rise_c
        for k in range(1, len(knots)):
            left = excess[k - 1] * np.exp(-(knots[k] - knots[k - 1]) / tau)
            excess[k] = left + (slopes[k] - slopes[k - 1]) * tau
        last = np.searchsorted(knots, times, side="right") - 1
        since = times - knots[last]
        target = ambient[last] + slopes[last] * since + self.rise_c - slopes[last] * tau
        return target + excess[last] * np.exp(-since / tau)


Temperature = float | ArrayLike | TemperatureSeries | SelfHeating


def temperature_at(source: Temperature, t: Array, limits_c: tuple[float, float] | None = None) -> Array:
    """Temperatures at times t: one for each, or a single one if it does not change; refused outside the limits."""
    if isinstance(source, TemperatureSeries | SelfHeating):
        celsius = source.at(t)
    else:
        try:
            celsius = np.asarray(source, dtype=np.float64)
        except (ValueError, TypeError):
            raise InputError(f"temperature_c is {source!r}; give a number or one number for each sample") from None
        if celsius.shape not in ((), (len(t),)):
            raise InputError(f"temperature_c has shape {celsius.shape}; give a number or {len(t)}, one for each sample")
    celsius = np.atleast_1d(celsius)
    low, high = (ABSOLUTE_ZERO_C, np.inf) if limits_c is None else limits_c
    if not (celsius.min() >= low and celsius.max() <= high and np.isfinite(celsius.max())):
        i = int(np.argmin((celsius >= low) & (celsius <= high) & np.isfinite(celsius)))
        when = f" at sample {i} (t = {t[i]:.6g} s)" if len(celsius) > 1 else ""
        limits = f"{low:g} to {high:g}" if limits_c is not None else f"above {low:g}"
        raise InputError(
            f"the temperature is {celsius[i]:.6g} degC{when}, outside the sensor's limits ({limits} degC); "
            "choose another part or temperature"
        )
    return celsius

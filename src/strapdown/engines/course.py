"""The course of a joint or motor over time: a sinusoid, a table of points, or a Python function of time.

A course is made of polynomial pieces, so that a driven joint has exact speeds and accelerations.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BPoly, PPoly, make_interp_spline

from strapdown.errors import InputError

PIECES_PER_PERIOD = 128  # of a sinusoid, by value, speed and acceleration: its acceleration is right to 1e-8
MOST_PIECES = 200_000
_LEAST_POINTS = 2


@dataclass(frozen=True)
class Course:
    """From 0 to duration_s. Piece i begins at starts_s[i]; its coefficients are in falling powers of time since then.

    Values are rad, rad/s or N m (m, m/s or N where the joint slides), as the command states that uses it.
    """

    starts_s: tuple[float, ...]
    pieces: tuple[tuple[float, ...], ...]
    duration_s: float

    def __call__(self, t_s: ArrayLike) -> NDArray[np.float64]:
        """The value at times since its begin."""
        return np.asarray(self._poly()(np.clip(t_s, 0.0, self.duration_s)))

    def integrated(self, start: float) -> "Course":
        """Position of a joint that begins at `start` and has this speed."""
        return _course(self._poly().antiderivative(), self.duration_s, start)

    def _poly(self) -> PPoly:
        return PPoly(np.array(self.pieces).T, np.append(self.starts_s, self.duration_s), extrapolate=True)

    @classmethod
    def sinusoid(
        cls, amplitude: float, frequency_hz: float, duration_s: float, *, phase_rad: float = 0.0, offset: float = 0.0
    ) -> "Course":
        """offset + amplitude sin(2 pi frequency_hz t + phase_rad)."""
        for name, value in (("frequency_hz", frequency_hz), ("duration_s", duration_s)):
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"the sinusoid has {name} = {value!r}; give a number above 0")
        if not np.isfinite([amplitude, phase_rad, offset]).all():
            raise InputError("the sinusoid has an amplitude, phase or offset that is no number")
        count = max(1, int(np.ceil(duration_s * frequency_hz * PIECES_PER_PERIOD)))
        _check_count(count)
        t, w = np.linspace(0.0, duration_s, count + 1), 2.0 * np.pi * frequency_hz
        a = w * t + phase_rad
        rows = [offset + amplitude * np.sin(a), amplitude * w * np.cos(a), -amplitude * w**2 * np.sin(a)]
        return _course(PPoly.from_bernstein_basis(BPoly.from_derivatives(t, np.stack(rows, axis=1))), duration_s)

    @classmethod
    def table(cls, t_s: ArrayLike, values: ArrayLike) -> "Course":
        """A smooth course through points: a spline of degree 5 (of the number of points less 1 where they are
        fewer).
        """
        try:
            t, v = (np.asarray(x, dtype=np.float64) for x in (t_s, values))
        except (TypeError, ValueError):
            raise InputError("the table of a course holds something that is no number; give two lists") from None
        if t.ndim != 1 or t.shape != v.shape or len(t) < _LEAST_POINTS:
            raise InputError(f"the table of a course has {t.size} times and {v.size} values; give two or more of each")
        if not (np.isfinite(t).all() and np.isfinite(v).all() and (np.diff(t) > 0.0).all() and t[0] == 0.0):
            raise InputError("the times of a course must begin at 0 and increase, and its values be numbers")
        _check_count(len(t))
        spline = make_interp_spline(t, v, k=min(5, len(t) - 1))
        return _course(PPoly.from_spline(spline), float(t[-1]))

    @classmethod
    def function(cls, value_of: Callable[[float], float], duration_s: float, *, step_s: float = 0.005) -> "Course":
        """A function of the time since its begin (s), taken every step_s and joined by a spline of degree 5."""
        if not (np.isfinite(duration_s) and np.isfinite(step_s) and duration_s > 0.0 and step_s > 0.0):
            raise InputError(
                f"the course has duration_s = {duration_s!r} and step_s = {step_s!r}; give numbers above 0"
            )
        count = max(6, int(np.ceil(duration_s / step_s)))
        _check_count(count)
        t = np.linspace(0.0, duration_s, count + 1)
        values = []
        for time in t.tolist():
            try:
                values.append(float(value_of(time)))
            except Exception as error:
                raise InputError(f"the function of a course failed at {time:g} s: {error!r}") from None
            if not np.isfinite(values[-1]):
                raise InputError(f"the function of a course is {values[-1]} at {time:g} s; it must be a number")
        return cls.table(t, values)


def _check_count(count: int) -> None:
    if count > MOST_PIECES:
        raise InputError(f"a course has {count} pieces; at most {MOST_PIECES}: make it shorter or coarser")


def _course(poly: PPoly, duration_s: float, start: float = 0.0) -> Course:
    """A course without the empty pieces that splines have at their ends."""
    keep = np.flatnonzero(np.diff(poly.x) > 0.0)
    pieces = poly.c[:, keep].copy()
    pieces[-1] += start
    return Course(tuple(poly.x[keep].tolist()), tuple(map(tuple, pieces.T.tolist())), duration_s)

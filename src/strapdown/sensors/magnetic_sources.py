"""The magnetic field where a sensor is: the place's uniform field, and magnets and coils placed in the world.

Frame n, m, A, and uT for the field. Positions are in the same frame n as the motion. Sources are ideal: a dipole has no
size and a loop's wire no thickness. So nearer than 1 mm the field has no meaning and is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import locked, locked_time
from strapdown.checks import direction, finite, positive, set_fields, triple
from strapdown.errors import InputError

Array = NDArray[np.float64]

MU_0 = 1.25663706127e-6  # T m/A (CODATA 2022)
UT_PER_T = 1e6
NEAREST_M = 1e-3  # real magnets and wires have a size


@dataclass(frozen=True, eq=False)
class Series:
    """A value that changes: linear between the points, constant before the first and after the last."""

    t: ArrayLike
    value: ArrayLike

    def __post_init__(self) -> None:
        t = locked_time(self.t, "t of the series")
        set_fields(self, t=t, value=locked(self.value, t.shape, "value of the series", t))

    def at(self, t: ArrayLike) -> Array:
        return np.interp(np.asarray(t, dtype=np.float64), np.asarray(self.t), np.asarray(self.value))


@dataclass(frozen=True)
class Dipole:
    """A small magnet, or any source from far: moment_n (A m2; a 1 cm neodymium cube has 1.0) at p_n (m)."""

    moment_n: ArrayLike
    p_n: ArrayLike

    def __post_init__(self) -> None:
        set_fields(self, moment_n=triple("moment_n", self.moment_n), p_n=triple("p_n", self.p_n))

    def distance(self, p_n: Array) -> Array:
        """Distance (m) to the place where the field is infinite."""
        return np.linalg.norm(p_n - np.array(self.p_n), axis=-1)

    def field(self, p_n: Array, t: Array | None = None) -> Array:
        """B_n in uT: mu0/4pi (3 r (m.r)/r^5 - m/r^3)."""
        r_n, m_n = p_n - np.array(self.p_n), np.array(self.moment_n)
        r = np.linalg.norm(r_n, axis=-1)[:, None]
        u_n = r_n / r
        return UT_PER_T * MU_0 / (4.0 * np.pi) * (3.0 * u_n * (u_n @ m_n)[:, None] - m_n) / r**3


@dataclass(frozen=True)
class CurrentLoop:
    """A round coil of `turns` turns around p_n (m), its plane perpendicular to axis_n; positive current gives field
    along it.

    current_a: a number, or a Series in time.
    """

    p_n: ArrayLike
    axis_n: ArrayLike
    radius_m: float
    current_a: float | Series
    turns: float = 1.0

    def __post_init__(self) -> None:
        radius = positive("radius_m", self.radius_m)
        if radius <= NEAREST_M:
            raise InputError(f"radius_m is {radius:g}, not above {NEAREST_M:g}; describe so small a loop as a dipole")
        current = self.current_a if isinstance(self.current_a, Series) else finite("current_a", self.current_a)
        set_fields(
            self,
            p_n=triple("p_n", self.p_n),
            axis_n=direction("axis_n", self.axis_n),
            radius_m=radius,
            current_a=current,
            turns=positive("turns", self.turns),
        )

    def _cylinder(self, p_n: Array) -> tuple[Array, Array, Array, Array]:
        """Height over the plane, distance from the axis, the axis, and the vectors away from it."""
        r_n, axis_n = p_n - np.array(self.p_n), np.array(self.axis_n)
        z = r_n @ axis_n
        away_n = r_n - z[:, None] * axis_n
        return z, np.linalg.norm(away_n, axis=-1), axis_n, away_n

    def _current(self, t: Array | None) -> Array:
        if not isinstance(self.current_a, Series):
            return np.array(self.current_a)
        if t is None:
            raise InputError("the current of a CurrentLoop changes in time; give the times with the places")
        return self.current_a.at(t)

    def distance(self, p_n: Array) -> Array:
        """Distance to the wire, m."""
        z, rho, _, _ = self._cylinder(p_n)
        return np.hypot(z, rho - self.radius_m)

    def moment_n(self, current_a: float = 1.0) -> Array:
        """Moment (A m2) of the equivalent dipole from far, for a current."""
        return np.array(self.axis_n) * current_a * self.turns * np.pi * self.radius_m**2

    def field(self, p_n: Array, t: Array | None = None) -> Array:
        """B_n in uT, exact, by complete elliptic integrals of the parameter k2 = 4 a rho / ((a + rho)^2 + z^2).

        With D = (K - E)/k2 and C = ((2 - k2) K - 2 E)/k2^2 no two large numbers are subtracted near the axis or far
        away, as happens in the formulas with K and E of the textbooks:
          B_z = mu0 I a^2 / (pi near^2 far) (E - 4 rho^2 (D - C)/far^2)
          B_rho = mu0 I a^2 / (pi near^2 far) 4 z rho (D - C)/far^2
        near, far: distance to the nearest and to the farthest point of the wire.
        """
        z, rho, axis_n, away_n = self._cylinder(p_n)
        a = self.radius_m
        near2, far2 = z**2 + (rho - a) ** 2, z**2 + (rho + a) ** 2
        e, d_less_c = _elliptic(4.0 * a * rho / far2)
        unit = UT_PER_T * MU_0 / np.pi * self.turns * a**2 / (near2 * np.sqrt(far2)) * self._current(t)
        along = e - 4.0 * rho**2 * d_less_c / far2
        return unit[:, None] * (along[:, None] * axis_n + (4.0 * z * d_less_c / far2)[:, None] * away_n)


Source = Dipole | CurrentLoop


@dataclass(frozen=True)
class MagneticWorld:
    """A uniform field (uT, frame n), as earth_magnetism.field_n gives it for a place, and sources added to it."""

    uniform_n: ArrayLike
    sources: Sequence[Source] = ()

    def __post_init__(self) -> None:
        sources = tuple(self.sources)
        for i, source in enumerate(sources):
            if not isinstance(source, Source):
                raise InputError(f"source {i + 1} is {source!r:.60}; give a Dipole or a CurrentLoop")
        set_fields(self, uniform_n=triple("uniform_n", self.uniform_n), sources=sources)

    @property
    def empty(self) -> bool:
        """No field at all, as on Mars."""
        return self.uniform_n == (0.0, 0.0, 0.0) and not self.sources

    def at(self, p_n: ArrayLike, t: ArrayLike | None = None) -> Array:
        """B_n in uT, a row for each row of p_n (m); t (s) is needed where a current changes."""
        places_n = _places(p_n)
        times = None if t is None else np.broadcast_to(np.asarray(t, dtype=np.float64), len(places_n))
        b_n = np.tile(np.array(self.uniform_n), (len(places_n), 1))
        for i, source in enumerate(self.sources):
            name = f"source {i + 1} ({type(source).__name__})"
            close = np.flatnonzero(source.distance(places_n) < NEAREST_M)
            if len(close):
                when = "" if times is None else f" (t = {times[close[0]]:.6g} s)"
                raise InputError(
                    f"the sensor comes nearer than {NEAREST_M * 1000:g} mm to {name} at sample {close[0]}{when}, "
                    "where its field has no limit; move one of them"
                )
            b_n += source.field(places_n, times)
        return b_n


def _places(p_n: Any) -> Array:
    try:
        places = np.atleast_2d(np.asarray(p_n, dtype=np.float64))
    except (TypeError, ValueError):
        places = np.zeros((0, 0))
    return locked(places, (len(places), 3), "p_n")


def _elliptic(k2: Array) -> tuple[Array, Array]:
    """E and D - C of the parameter k2, from 0 to below 1."""
    from scipy.special import ellipe, elliprd, hyp2f1  # slow to import, and only loops need it

    d = elliprd(0.0, 1.0 - k2, 1.0) / 3.0
    # the integral of sin^2 cos^2 (1 - k2 sin^2)^(-3/2) over a quarter turn
    c = np.pi / 16.0 * hyp2f1(1.5, 1.5, 3.0, k2)
    return ellipe(k2), d - c

"""Gravity and the local level frame n (x east, y north, z up).

Frame n does not turn. The Earth's rate (15 deg/h) is below the resolution of the sensors of this product, and robots
and drones stay near their start. Gravity is the vector g_n = (0, 0, -g).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError

STANDARD_GRAVITY = 9.80665  # m/s2, conventional value (CGPM 1901): the "g" of data sheets

# Surface gravity, m/s2 (NASA planetary fact sheets, mean values)
MARS_GRAVITY = 3.73
MOON_GRAVITY = 1.62

# WGS 84 (NIMA TR8350.2, tables 3.1 to 3.4)
_A = 6378137.0  # equatorial radius, m
_F = 1.0 / 298.257223563  # flattening
_E2 = _F * (2.0 - _F)
_GM = 3.986004418e14  # m3/s2
_RATE = 7.292115e-5  # rad/s
_G_EQUATOR = 9.7803253359  # m/s2
_SOMIGLIANA_K = 0.00193185265241
_B = _A * (1.0 - _F)  # polar radius, m
_FOCAL = np.sqrt(_A**2 - _B**2)  # half the distance of the foci, m

LOWEST_M, HIGHEST_M = -12_000.0, 100_000.0  # below the deepest trench, above the air


def earth_gravity(latitude_rad: ArrayLike, height_m: ArrayLike = 0.0) -> NDArray[np.float64]:
    """Size of normal gravity in m/s2 at a geodetic latitude and a height above the ellipsoid (WGS 84), -12 to 100 km.

    On the ellipsoid it is Somigliana's formula. Above and below it is the closed formula of the ellipsoid's field (NIMA
    TR8350.2, 4-5 to 4-17), exact at any height. The real Earth differs from it by up to 5e-4 m/s2 at the surface.
    """
    latitude, height = np.broadcast_arrays(np.asarray(latitude_rad, np.float64), np.asarray(height_m, np.float64))
    bad = ~((height >= LOWEST_M) & (height <= HIGHEST_M))
    if bad.any():
        raise InputError(
            f"height is {height[bad].flat[0]:g} m; give a number from {LOWEST_M:g} to {HIGHEST_M:g}, where the "
            "gravity of the Earth's ellipsoid is known"
        )
    sin2 = np.sin(latitude) ** 2
    on_ellipsoid = _G_EQUATOR * (1.0 + _SOMIGLIANA_K * sin2) / np.sqrt(1.0 - _E2 * sin2)
    return on_ellipsoid * _closed_form(sin2, height) / _closed_form(sin2, np.zeros_like(height))


def _closed_form(sin2: NDArray[np.float64], height: NDArray[np.float64]) -> NDArray[np.float64]:
    """The field of the level ellipsoid, in ellipsoidal coordinates u (m) and beta about its centre."""
    normal = _A / np.sqrt(1.0 - _E2 * sin2)
    rho2, z2 = (normal + height) ** 2 * (1.0 - sin2), (normal * (1.0 - _E2) + height) ** 2 * sin2
    distance = rho2 + z2 - _FOCAL**2
    u2 = 0.5 * distance * (1.0 + np.sqrt(1.0 + 4.0 * _FOCAL**2 * z2 / distance**2))
    u = np.sqrt(u2)
    total2 = u2 + _FOCAL**2
    cos2_beta = rho2 / total2
    sin2_beta = 1.0 - cos2_beta
    w2 = (u2 + _FOCAL**2 * sin2_beta) / total2
    slope = 3.0 * (1.0 + u2 / _FOCAL**2) * (1.0 - u / _FOCAL * np.arctan2(_FOCAL, u)) - 1.0
    q_0 = 0.5 * ((1.0 + 3.0 * _B**2 / _FOCAL**2) * np.arctan2(_FOCAL, _B) - 3.0 * _B / _FOCAL)
    turning = _RATE**2 * _A**2 * _FOCAL / total2 * slope / q_0
    inward = _GM / total2 + turning * (0.5 * sin2_beta - 1.0 / 6.0) - _RATE**2 * u * cos2_beta
    along = (_RATE**2 * np.sqrt(total2) - _RATE**2 * _A**2 / np.sqrt(total2) * _q(u) / q_0) * np.sqrt(
        sin2_beta * cos2_beta
    )
    return np.hypot(inward, along) / np.sqrt(w2)


def _q(u: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * ((1.0 + 3.0 * u**2 / _FOCAL**2) * np.arctan2(_FOCAL, u) - 3.0 * u / _FOCAL)


def gravity(place: str | float = "earth", latitude_deg: float = 45.0, height_m: float = 0.0) -> float:
    """Gravity in m/s2 of "earth" (by latitude and height), "mars", "moon", or a given number."""
    if not isinstance(place, str):
        if not (np.isfinite(place) and place >= 0.0):
            raise InputError(f"gravity is {place}; give a number of m/s2 that is not negative")
        return float(place)
    if place == "earth":
        if not -90.0 <= latitude_deg <= 90.0:
            raise InputError(f"latitude is {latitude_deg} deg; give a number from -90 to 90")
        return float(earth_gravity(np.radians(latitude_deg), height_m))
    known = {"mars": MARS_GRAVITY, "moon": MOON_GRAVITY}
    if place not in known:
        raise InputError(f'gravity "{place}" is not known; use "earth", "mars", "moon" or a number of m/s2')
    return known[place]


def gravity_vector(g: float) -> NDArray[np.float64]:
    """g_n = (0, 0, -g) in m/s2."""
    return np.array([0.0, 0.0, -g])


@dataclass(frozen=True)
class LocalFrame:
    """The level frame n at one place, tangent to the ellipsoid: x east, y north, z up."""

    latitude_rad: float
    longitude_rad: float
    height_m: float = 0.0

    def _up(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Origin in the earth-fixed frame e (m), and R_en."""
        s, c = np.sin(self.latitude_rad), np.cos(self.latitude_rad)
        sl, cl = np.sin(self.longitude_rad), np.cos(self.longitude_rad)
        r_en = np.array([[-sl, -s * cl, c * cl], [cl, -s * sl, c * sl], [0.0, c, s]])
        return _ecef(self.latitude_rad, self.longitude_rad, self.height_m), r_en

    def position(self, latitude_rad: ArrayLike, longitude_rad: ArrayLike, height_m: ArrayLike) -> NDArray[np.float64]:
        """p_n (m) of geodetic places."""
        origin_e, r_en = self._up()
        return (_ecef(latitude_rad, longitude_rad, height_m) - origin_e) @ r_en

    def geodetic(self, p_n: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """(latitude rad, longitude rad, height m) of positions p_n, by Bowring's iteration."""
        origin_e, r_en = self._up()
        x, y, z = np.moveaxis(origin_e + np.asarray(p_n, dtype=np.float64) @ r_en.T, -1, 0)
        rho = np.hypot(x, y)
        beta = np.arctan2(z, (1.0 - _F) * rho)
        latitude = beta
        for _ in range(4):  # converges to the last digit in two rounds anywhere near the surface
            latitude = np.arctan2(z + _E2 / (1.0 - _F) * _A * np.sin(beta) ** 3, rho - _E2 * _A * np.cos(beta) ** 3)
            beta = np.arctan2((1.0 - _F) * np.sin(latitude), np.cos(latitude))
        normal = _A / np.sqrt(1.0 - _E2 * np.sin(latitude) ** 2)
        height = rho * np.cos(latitude) + z * np.sin(latitude) - _A**2 / normal
        return latitude, np.arctan2(y, x), height


def _ecef(latitude_rad: ArrayLike, longitude_rad: ArrayLike, height_m: ArrayLike) -> NDArray[np.float64]:
    latitude, longitude, height = np.broadcast_arrays(latitude_rad, longitude_rad, height_m)
    normal = _A / np.sqrt(1.0 - _E2 * np.sin(latitude) ** 2)
    return np.stack(
        [
            (normal + height) * np.cos(latitude) * np.cos(longitude),
            (normal + height) * np.cos(latitude) * np.sin(longitude),
            (normal * (1.0 - _E2) + height) * np.sin(latitude),
        ],
        axis=-1,
    )

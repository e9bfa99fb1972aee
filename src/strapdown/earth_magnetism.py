"""The Earth's magnetic field by place and date (world magnetic model), in frame n (x east, y north, z up), uT.

The model of NOAA and the British Geological Survey, degree 12, renewed every five years. The coefficients come with the
package pygeomag; nothing is downloaded. The model has the core's field only: buildings, rocks and magnetic storms add
0.1 to 0.2 uT outdoors and any amount indoors. Mars and the Moon have no global field.
"""

from datetime import date, datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError

Array = NDArray[np.float64]

FIRST_YEAR, LAST_YEAR = 2010.0, 2030.0  # of the models at hand: WMM2010, 2015v2, 2020 and 2025
LOWEST_M, HIGHEST_M = -1000.0, 850e3  # heights for which the model is made
UT_PER_NT = 1e-3
WITHOUT_FIELD = ("mars", "moon")


def field_n(latitude_rad: ArrayLike, longitude_rad: ArrayLike, height_m: ArrayLike, year: ArrayLike) -> Array:
    """B_n in uT at geodetic places (height above the WGS 84 ellipsoid) and decimal years (2026.5); they broadcast.

    The computation takes half a millisecond for each place: do it once for a run. The field changes by 0.03 uT in a
    kilometre of height.
    """
    places = np.broadcast_arrays(
        _numbers("latitude_rad", latitude_rad, -np.pi / 2.0, np.pi / 2.0, "rad"),
        _numbers("longitude_rad", longitude_rad, -2.0 * np.pi, 2.0 * np.pi, "rad"),
        _numbers("height_m", height_m, LOWEST_M, HIGHEST_M, "m"),
        _numbers("year", year, FIRST_YEAR, LAST_YEAR, "(decimal years, the models at hand)"),
    )
    flat = np.stack([x.ravel() for x in places], axis=-1)
    rows = [_at_place(*(float(x) for x in row)) for row in flat]
    return np.array(rows).reshape((*places[0].shape, 3))


def magnetic_field(
    place: str = "earth",
    latitude_deg: float = 45.0,
    longitude_deg: float = 0.0,
    height_m: float = 0.0,
    year: float = 2026.0,
) -> Array:
    """B_n in uT of "earth" (by place and date), and zero on "mars" and on the "moon"; compare earth.gravity."""
    if place in WITHOUT_FIELD:
        return np.zeros(3)
    if place != "earth":
        raise InputError(
            f'magnetic field "{place}" is not known; use "earth", "mars" or "moon", or give a vector in uT'
        )
    latitude = _numbers("latitude_deg", latitude_deg, -90.0, 90.0, "deg")
    longitude = _numbers("longitude_deg", longitude_deg, -360.0, 360.0, "deg")
    return field_n(np.radians(latitude), np.radians(longitude), height_m, year)


def declination(b_n: ArrayLike) -> Array:
    """Angle (rad) from true north to the field's horizontal part, positive to the east (clockwise from above)."""
    east, north, _ = _components(b_n)
    return np.arctan2(east, north)


def dip(b_n: ArrayLike) -> Array:
    """Angle (rad) of the field below the horizon, positive when it points down, as north of the magnetic equator."""
    east, north, up = _components(b_n)
    return np.arctan2(-up, np.hypot(east, north))


def strength(b_n: ArrayLike) -> Array:
    """Strength |B| in uT, in any frame: the length of a calibrated magnetometer's reading."""
    return np.linalg.norm(np.asarray(b_n, dtype=np.float64), axis=-1)


def decimal_year(when: date) -> float:
    """2026.5 for noon of 2 July 2026; a datetime counts by its hours too, a date from midnight."""
    start, end = datetime(when.year, 1, 1), datetime(when.year + 1, 1, 1)
    moment = datetime(when.year, when.month, when.day)
    if isinstance(when, datetime):
        moment = when.replace(tzinfo=None)  # hours of time zone move the field by less than 0.001 uT
    return when.year + (moment - start) / (end - start)


def _at_place(latitude_rad: float, longitude_rad: float, height_m: float, year: float) -> tuple[float, float, float]:
    from pygeomag import GeoMag  # needed by magnetometers only

    # a model of its own for every call: pygeomag keeps working arrays inside, which threads must not share
    model = GeoMag(coefficients_data=_coefficients(year))
    found = model.calculate(np.degrees(latitude_rad), np.degrees(longitude_rad), height_m / 1000.0, year)
    return UT_PER_NT * found.y, UT_PER_NT * found.x, -UT_PER_NT * found.z  # it states north, east, down


def _coefficients(year: float) -> tuple:
    """Coefficients of the model for that year, as Python data, so that no file has to be found."""
    if year >= 2025.0:
        from pygeomag.wmm.wmm_2025 import WMM_2025 as data
    elif year >= 2020.0:
        from pygeomag.wmm.wmm_2020 import WMM_2020 as data
    elif year >= 2015.0:
        from pygeomag.wmm.wmm_2015v2 import WMM_2015v2 as data
    else:
        from pygeomag.wmm.wmm_2010 import WMM_2010 as data
    return data


def _numbers(name: str, value: ArrayLike, low: float, high: float, unit: str) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give a number from {low:.9g} to {high:.9g} {unit}") from None
    bad = ~((array >= low) & (array <= high))  # NaN is bad too
    if bad.any():
        raise InputError(f"{name} is {array[bad].flat[0]:.9g}; give a number from {low:.9g} to {high:.9g} {unit}")
    return array


def _components(b_n: ArrayLike) -> tuple[Array, Array, Array]:
    east, north, up = np.moveaxis(np.asarray(b_n, dtype=np.float64), -1, 0)
    return east, north, up

"""The world magnetic model against its published test values, and what its angles mean."""

from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.earth_magnetism import (
    LAST_YEAR,
    decimal_year,
    declination,
    dip,
    field_n,
    magnetic_field,
    strength,
)
from strapdown.errors import InputError

# Of NOAA's test values for WMM2025 and WMM2020 (WMM2025_TEST_VALUES.txt, WMM2020testvalues.pdf):
# year, height km, latitude, longitude deg; X north, Y east, Z down nT; inclination, declination deg
PUBLISHED = [
    (2025.0, 0, 80, 0, 6521.6, 145.9, 54791.5, 83.21, 1.28),
    (2025.0, 0, 0, 120, 39677.8, -109.6, -10580.2, -14.93, -0.16),
    (2025.0, 0, -80, 240, 6117.5, 15751.9, -52022.5, -72.00, 68.78),
    (2025.0, 100, -80, 240, 5907.6, 14780.3, -49540.7, -72.19, 68.21),
    (2027.5, 0, 80, 0, 6500.8, 294.5, 54869.4, 83.24, 2.59),
    (2027.5, 0, 0, 120, 39701.6, -167.4, -10381.8, -14.65, -0.24),
    (2027.5, 100, 80, 0, 6196.7, 233.8, 52670.5, 83.29, 2.16),
    (2027.5, 100, 0, 120, 37711.5, -148.7, -9969.8, -14.81, -0.23),
    (2020.0, 0, 80, 0, 6570.4, -146.3, 54606.0, 83.14, -1.28),
    (2022.5, 100, -80, 240, 5815.0, 14803.0, -49755.3, -72.27, 68.55),
]
# the hundred further ones (WMM2025_TestValues.txt) print the field to 1e-6 nT
PRECISE = [
    (2025.0, 28, 89, -121, -255.388723, -1482.460628, 56194.288771),
    (2025.0, 65, 43, 93, 24299.852822, 210.517066, 50037.923998),
    (2025.0, 51, -33, 109, 21737.778822, -2090.274098, -52710.00392),
    (2026.0, 62, -14, 99, 33437.82863, -835.919473, -33100.922253),
    (2027.5, 73, -72, 95, -2912.418045, -12984.118939, -55399.217725),
]


@pytest.mark.parametrize("year, km, lat, lon, north, east, down, dip_deg, declination_deg", PUBLISHED)
def test_published_values(year, km, lat, lon, north, east, down, dip_deg, declination_deg):
    b_n = field_n(np.radians(lat), np.radians(lon), km * 1000.0, year)
    rounding = 0.05001e-3  # uT: the table prints 0.1 nT
    np.testing.assert_allclose(b_n, np.array([east, north, -down]) / 1000.0, rtol=0, atol=rounding)
    assert abs(np.degrees(dip(b_n)) - dip_deg) < 0.00501
    assert abs(np.degrees(declination(b_n)) - declination_deg) < 0.00501


@pytest.mark.parametrize("year, km, lat, lon, north, east, down", PRECISE)
def test_precise_published_values(year, km, lat, lon, north, east, down):
    b_n = field_n(np.radians(lat), np.radians(lon), km * 1000.0, year)
    off = np.abs(1000.0 * b_n - [east, north, -down])
    # print rounding and roundoff; NOAA's program and the library differ by up to 2e-4 nT in north (not traced further:
    # the model itself is uncertain by 1e2 nT)
    assert np.all(off < [2e-6, 5e-4, 5e-6])


def test_places_broadcast_and_longitudes_come_round():
    years = [2012.0, 2017.0, 2026.9]
    b_n = field_n(np.radians(47.0), np.radians([[8.0], [-352.0]]), 400.0, years)
    assert b_n.shape == (2, 3, 3)
    np.testing.assert_allclose(b_n[0], b_n[1], atol=1e-10)  # roundoff of 352 deg
    np.testing.assert_array_equal(b_n[0, 2], field_n(np.radians(47.0), np.radians(8.0), 400.0, 2026.9))


def test_a_new_model_continues_the_one_before():
    """A prediction ends near what the next model finds: the model's stated uncertainty is 0.15 uT a component."""
    for year in (2015.0, 2020.0, 2025.0):
        before, after = field_n(np.radians(50.0), np.radians(15.0), 0.0, [year - 1e-9, year])
        assert 0.0 < strength(before - after) < 0.2


@settings(max_examples=30, deadline=None)
@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(2010, 2030))
def test_earths_field_is_of_its_known_size(latitude_deg, longitude_deg, year):
    b_n = magnetic_field("earth", latitude_deg, longitude_deg, 0.0, year)
    assert 21.0 < strength(b_n) < 68.0
    horizontal = strength(b_n) * np.cos(dip(b_n))
    rebuilt = [horizontal * np.sin(declination(b_n)), horizontal * np.cos(declination(b_n))]
    np.testing.assert_allclose(b_n, [*rebuilt, -strength(b_n) * np.sin(dip(b_n))], atol=1e-12)


def test_the_poles_have_a_field():
    for latitude in (90.0, -90.0):
        near, at = (magnetic_field("earth", lat, 30.0) for lat in (latitude * (1 - 1e-7), latitude))
        np.testing.assert_allclose(near, at, atol=1e-5)  # 1 m of way


def test_dates():
    assert decimal_year(date(2026, 1, 1)) == 2026.0
    assert decimal_year(datetime(2026, 7, 2, 12)) == 2026.5
    assert 2028.99 < decimal_year(date(2028, 12, 31)) < 2029.0
    assert decimal_year(date.today()) < LAST_YEAR, "the model has run out; a newer pygeomag is needed"


def test_no_field_on_mars_and_the_moon():
    for place in ("mars", "moon"):
        assert np.array_equal(magnetic_field(place), np.zeros(3))


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: field_n(0.8, 0.1, 0.0, 2009.9), "year is 2009.9; give a number from 2010 to 2030"),
        (lambda: field_n(0.8, 0.1, 0.0, [2026.0, 2030.5]), "year is 2030.5; give a number from 2010 to 2030"),
        (lambda: field_n(48.0, 0.1, 0.0, 2026.0), "latitude_rad is 48"),
        (lambda: field_n(0.8, np.nan, 0.0, 2026.0), "longitude_rad is nan"),
        (lambda: field_n(0.8, 0.1, 2e6, 2026.0), "height_m is 2000000; give a number from -1000 to 850000 m"),
        (lambda: field_n("here", 0.1, 0.0, 2026.0), "latitude_rad is 'here'"),
        (lambda: magnetic_field("earth", 91.0), "latitude_deg is 91"),
        (lambda: magnetic_field("venus"), '"venus" is not known'),
    ],
)
def test_bad_places_and_dates(call, says):
    with pytest.raises(InputError, match=says) as error:
        call()
    assert "\n" not in str(error.value)

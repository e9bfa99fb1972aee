"""Gravity against published values, and the local level frame against geometry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.earth import (
    MARS_GRAVITY,
    MOON_GRAVITY,
    LocalFrame,
    earth_gravity,
    gravity,
    gravity_vector,
)
from strapdown.errors import InputError

FAST = settings(max_examples=200, deadline=None)
latitudes = st.floats(-np.pi / 2, np.pi / 2)
longitudes = st.floats(-np.pi, np.pi)
frames = st.builds(LocalFrame, latitudes, longitudes, st.floats(-400.0, 20_000.0))

# Coordinates from the Earth's centre are near 6.4e6 m, where a double steps by 9.3e-10 m: a few steps per axis.
CENTRE_ROUNDOFF_M = 4e-9


# ---------------------------------------------------------------- gravity


@pytest.mark.parametrize(
    ("latitude_deg", "published"),
    [(0.0, 9.7803253359), (90.0, 9.8321849379), (-90.0, 9.8321849379), (45.0, 9.8061977695)],
)
def test_gravity_on_the_ellipsoid_is_the_published_one(latitude_deg, published):
    # NIMA TR8350.2 gives ten decimals; its rounded constants (k to 12 decimals) agree to one in the last but one
    assert abs(float(earth_gravity(np.radians(latitude_deg))) - published) <= 1e-9
    assert gravity("earth", latitude_deg) == float(earth_gravity(np.radians(latitude_deg)))


def test_gravity_falls_with_height_by_the_free_air_gradient():
    slope = (earth_gravity(np.radians(45.0), 1.0) - earth_gravity(np.radians(45.0), -1.0)) / 2.0
    assert abs(slope - -3.086e-6) <= 1e-9  # the textbook prints four digits
    heights_m = np.linspace(0, 20_000, 50)
    assert (np.diff(earth_gravity(0.6, heights_m)) < 0).all()


def test_gravity_at_height_follows_the_inverse_square_of_the_pole():
    """Above the pole there is no centrifugal part: Newton's law with the flattening's small J2 correction."""
    gm, a, j2, b = 3.986004418e14, 6378137.0, 1.082629821e-3, 6356752.3142
    for height_m in (0.0, 1000.0, 10_000.0):
        r = b + height_m
        newton = gm / r**2 * (1.0 - 3.0 * j2 * (a / r) ** 2)
        # J4 excluded (g 5 |J4| = 1.2e-4 m/s2 at the surface, the same at all these heights within 1 %)
        assert abs(float(earth_gravity(np.pi / 2, height_m)) - newton) <= 1.3e-4


@given(latitudes, st.floats(0.0, 20_000.0))
@FAST
def test_gravity_is_the_same_north_and_south_and_between_its_extremes(latitude_rad, height_m):
    g = float(earth_gravity(latitude_rad, height_m))
    assert g == float(earth_gravity(-latitude_rad, height_m))
    assert 9.71 < g < 9.84


def test_gravity_by_name_and_number():
    assert gravity("mars") == MARS_GRAVITY
    assert gravity("moon") == MOON_GRAVITY
    assert gravity(0.0) == 0.0
    assert gravity_vector(gravity(1.5)).tolist() == [0.0, 0.0, -1.5]
    for wrong in ("venus", -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="gravity"):
            gravity(wrong)
    for wrong in (90.1, -91.0, np.nan):
        with pytest.raises(InputError, match="from -90 to 90"):
            gravity("earth", wrong)


# ---------------------------------------------------------------- the local level frame


@given(frames, st.tuples(*[st.floats(-50_000.0, 50_000.0)] * 3))
@FAST
def test_position_comes_back_through_geodetic(frame, p_n):
    p_n = np.array(p_n)
    back_n = frame.position(*frame.geodetic(p_n))
    assert np.abs(back_n - p_n).max() <= 2 * CENTRE_ROUNDOFF_M  # there and back


@given(frames, st.floats(-0.01, 0.01), st.floats(-0.01, 0.01), st.floats(-1000.0, 10_000.0))
@FAST
def test_geodetic_comes_back_through_position(frame, north_rad, east_rad, up_m):
    latitude, longitude = frame.latitude_rad + north_rad, frame.longitude_rad + east_rad
    height = frame.height_m + up_m
    if abs(latitude) > 1.57:  # nearer to the pole than 0.8 mrad a longitude loses its digits
        return
    latitude_2, longitude_2, height_2 = frame.geodetic(frame.position(latitude, longitude, height))
    turn = (longitude_2 - longitude + np.pi) % (2 * np.pi) - np.pi
    # 4e-9 m seen from the Earth's centre is 6e-16 rad; a longitude is larger by 1 / cos(latitude); add ulps of pi
    assert abs(latitude_2 - latitude) <= 1e-15 + 4 * np.finfo(float).eps
    assert abs(turn) <= 1e-15 / np.cos(latitude) + 8 * np.finfo(float).eps
    assert abs(height_2 - height) <= CENTRE_ROUNDOFF_M


@given(frames)
@FAST
def test_the_origin_is_at_zero(frame):
    p_n = frame.position(frame.latitude_rad, frame.longitude_rad, frame.height_m)
    assert np.abs(p_n).max() == 0.0


@given(st.builds(LocalFrame, st.floats(-1.4, 1.4), longitudes, st.floats(0.0, 5000.0)))
@FAST
def test_small_steps_go_east_north_and_up(frame):
    step_rad, step_m = 1e-6, 6.4  # a millionth of a radian is about 6.4 m
    east_n = frame.position(frame.latitude_rad, frame.longitude_rad + step_rad, frame.height_m)
    north_n = frame.position(frame.latitude_rad + step_rad, frame.longitude_rad, frame.height_m)
    up_n = frame.position(frame.latitude_rad, frame.longitude_rad, frame.height_m + step_m)
    # the ground curves away by step^2 / 2R = 3e-6 m; meridians converge by the same times tan(latitude) < 6
    for moved_n, axis in ((east_n, 0), (north_n, 1), (up_n, 2)):
        assert moved_n[axis] > 1.0
        assert np.abs(np.delete(moved_n, axis)).max() <= 2.5e-5
    # WGS 84 radii of curvature, pencil and paper
    sin2 = np.sin(frame.latitude_rad) ** 2
    e2 = 6.69437999014e-3
    normal = 6378137.0 / np.sqrt(1 - e2 * sin2)
    meridian = normal * (1 - e2) / (1 - e2 * sin2)
    assert east_n[0] == pytest.approx((normal + frame.height_m) * np.cos(frame.latitude_rad) * step_rad, abs=1e-8)
    assert north_n[1] == pytest.approx((meridian + frame.height_m) * step_rad, abs=1e-7)  # radius changes along 6 m
    assert up_n[2] == pytest.approx(step_m, abs=CENTRE_ROUNDOFF_M)


def test_many_places_at_once():
    frame = LocalFrame(0.8, 0.2)
    p_n = np.random.default_rng(0).normal(scale=1000.0, size=(4, 5, 3))
    latitude, longitude, height = frame.geodetic(p_n)
    assert latitude.shape == (4, 5)
    assert np.abs(frame.position(latitude, longitude, height) - p_n).max() <= 2 * CENTRE_ROUNDOFF_M

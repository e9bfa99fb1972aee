"""Magnets and coils against Maxwell's equations; the magnetometer on a moving body against the field it stands in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.earth_magnetism import declination, dip, magnetic_field, strength
from strapdown.errors import InputError
from strapdown.motion import Circle, Rest, Turntable
from strapdown.rotation import q_exp, q_from_heading, q_normalise, rfu_from_flu, wrap
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.magnetic_sources import MU_0, CurrentLoop, Dipole, MagneticWorld, Series
from strapdown.sensors.magnetometer import ideal_field
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad

SOME = settings(max_examples=60, deadline=None)
HERE_N = magnetic_field("earth", 47.0, 8.0, 400.0, 2026.9)
MAGNET = Dipole((0.3, -1.0, 2.0), (0.1, 0.2, -0.3))
COIL = CurrentLoop((0.0, 0.1, 0.2), (0.2, -0.3, 1.0), 0.5, 3.0, turns=20)

coordinate = st.floats(-3.0, 3.0)
places = st.tuples(coordinate, coordinate, coordinate)
attitudes = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1).map(q_normalise)


def away_from(source, p_n, distance_m=0.05):
    return source.distance(np.array([p_n]))[0] > distance_m


def jacobian(source, p_n, h):
    """dB_i/dp_j in uT/m, by central differences of the fourth order."""
    steps = h * np.eye(3)
    columns = []
    for step in steps:
        near = source.field(p_n + step) - source.field(p_n - step)
        far = source.field(p_n + 2 * step) - source.field(p_n - 2 * step)
        columns.append((8 * near - far)[0] / (12 * h))
    return np.array(columns).T


# ---------------------------------------------------------------- sources


@SOME
@given(st.sampled_from([MAGNET, COIL]), places)
def test_sources_have_neither_divergence_nor_curl(source, p_n):
    p_n = np.array([p_n])
    distance = source.distance(p_n)[0]
    if distance < 0.05:
        return
    j = jacobian(source, p_n, h=distance / 200.0)
    # step order: (h/distance)^4 = 6e-10 times a few hundred, and roundoff of differences, 1e-12
    tolerance = 1e-6 * np.linalg.norm(j) + 1e-9
    assert abs(np.trace(j)) < tolerance
    np.testing.assert_allclose(j, j.T, rtol=0, atol=tolerance)


@SOME
@given(st.floats(-5.0, 5.0))
def test_on_its_axis_a_loop_has_the_textbook_field(z):
    loop = CurrentLoop((1.0, 2.0, 3.0), (0.0, 0.0, 2.0), 0.4, 1.5, turns=7)
    expected = 1e6 * MU_0 * 7 * 1.5 * 0.4**2 / (2.0 * (0.4**2 + z**2) ** 1.5)
    np.testing.assert_allclose(loop.field(np.array([[1.0, 2.0, 3.0 + z]])), [[0.0, 0.0, expected]], rtol=1e-13)


def test_a_loop_agrees_with_biot_savart():
    """The wire summed up: for a smooth closed curve the sum over equal angles is exact to roundoff."""
    angle = 2.0 * np.pi * np.arange(4000) / 4000
    loop = CurrentLoop((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.5, 2.0)
    wire = 0.5 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    way = 0.5 * np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=-1) * (2 * np.pi / 4000)
    for p_n in ([0.3, 0.1, 0.05], [0.5, 0.02, 0.04], [1.2, -0.4, -0.7], [1e-9, 0.0, 0.3], [0.0, 40.0, 1.0]):
        r = np.array(p_n) - wire
        expected = (
            1e6 * MU_0 / (4 * np.pi) * 2.0 * np.sum(np.cross(way, r) / np.linalg.norm(r, axis=1)[:, None] ** 3, 0)
        )
        found = loop.field(np.array([p_n]))[0]
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.linalg.norm(expected))


@SOME
@given(attitudes, st.floats(2.0, 6.0))
def test_from_far_a_loop_is_its_dipole(q, decades):
    far = 0.5 * 10.0**decades
    direction_n = np.array([q[1:] / np.linalg.norm(q[1:])]) if np.linalg.norm(q[1:]) > 1e-3 else np.eye(3)[:1]
    p_n = np.array(COIL.p_n) + far * direction_n
    dipole = Dipole(COIL.moment_n(COIL.current_a), COIL.p_n)
    expected = dipole.field(p_n)
    # the next term is smaller by (radius/distance)^2 times a few
    np.testing.assert_allclose(
        COIL.field(p_n), expected, rtol=0, atol=(5.0 * 10.0 ** (-2 * decades) + 1e-9) * np.linalg.norm(expected)
    )


def test_a_dipole_by_the_book():
    """1 A m2: 0.2 uT at 1 m along its axis, -0.1 uT next to it (mu0/4pi is 1e-7 but for 1e-10 of it)."""
    magnet = Dipole((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    found = magnet.field(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.0, 0.0, 0.2], [0.0, 0.0, -0.1]], rtol=1e-9)


@SOME
@given(places)
def test_fields_add_up(p_n):
    if not (away_from(MAGNET, p_n) and away_from(COIL, p_n)):
        return
    alone = [MagneticWorld((0, 0, 0), [source]).at(p_n) for source in (MAGNET, COIL)]
    together = MagneticWorld(HERE_N, [MAGNET, COIL]).at(p_n)
    np.testing.assert_allclose(together, HERE_N + alone[0] + alone[1], rtol=1e-14)


def test_a_current_may_change():
    loop = CurrentLoop((0, 0, 0), (0, 0, 1), 0.5, Series([1.0, 2.0, 3.0], [0.0, 4.0, -4.0]))
    world, p_n = MagneticWorld((0, 0, 0), [loop]), np.tile([0.2, 0.0, 0.3], (5, 1))
    one = CurrentLoop((0, 0, 0), (0, 0, 1), 0.5, 1.0).field(p_n[:1])
    found = world.at(p_n, [0.0, 1.5, 2.0, 2.75, 9.0])
    np.testing.assert_allclose(found, np.array([[0.0], [2.0], [4.0], [-2.0], [-4.0]]) * one, atol=1e-14)
    with pytest.raises(InputError, match="give the times"):
        world.at(p_n)


# ---------------------------------------------------------------- the sensor


def standing(q_nb, p_n=(0.0, 0.0, 0.0)):
    return Rest(1.0, p_n, q_nb).at([0.0, 0.5, 1.0])


@SOME
@given(attitudes)
def test_at_any_attitude_the_reading_is_as_long_as_the_field(q_nb):
    reading = ideal_field(standing(q_nb), MagneticWorld(HERE_N))
    np.testing.assert_allclose(strength(reading), strength(HERE_N), rtol=1e-14)


@SOME
@given(st.floats(-3.14, 3.14), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
def test_paper_c_finds_the_true_heading(heading, pitch, roll):
    """Hx = hx cos(g) + hz sin(g), Hy = hy cos(t) + (hx sin(g) - hz cos(g)) sin(t), psi = atan2(-Hx, Hy) + D."""
    reading = ideal_field(standing(q_from_heading(heading, pitch, roll)), MagneticWorld(HERE_N))
    hx, hy, hz = rfu_from_flu(reading[0])
    level_x = hx * np.cos(roll) + hz * np.sin(roll)
    level_y = hy * np.cos(pitch) + (hx * np.sin(roll) - hz * np.cos(roll)) * np.sin(pitch)
    found = np.arctan2(-level_x, level_y) + declination(HERE_N)
    assert abs(wrap(found - heading)) < 1e-13


def test_level_and_facing_north_it_reads_the_field():
    """Frame b is x forward, y left: facing north, forward is north and left is west."""
    (reading, *_) = ideal_field(standing(q_from_heading(0.0, 0.0, 0.0)), MagneticWorld(HERE_N))
    np.testing.assert_allclose(reading, [HERE_N[1], -HERE_N[0], HERE_N[2]], atol=1e-13)
    assert reading[2] < 0.0 < dip(HERE_N)  # in Europe the field points down


def test_mounting_and_lever_arm_count():
    motion = Circle(2.0, 1.0, 10.0).at(np.linspace(0.0, 10.0, 50))
    r_bs_b, q_bs = (0.3, -0.1, 0.2), q_exp([0.4, -1.0, 0.2])
    world = MagneticWorld(HERE_N, [Dipole((0, 0, 50.0), (0.0, 0.0, -0.5)), COIL])
    seen = motion.seen_from(r_bs_b, q_bs)
    reading = ideal_field(seen, world)
    np.testing.assert_allclose(strength(reading), strength(world.at(seen.p_n)), rtol=1e-13)
    assert np.max(np.abs(strength(reading) - strength(world.at(motion.p_n)))) > 0.1  # a magnet is felt where one is


@SOME
@given(attitudes, st.tuples(*[st.floats(-40, 40)] * 3), st.lists(st.floats(-0.3, 0.3), min_size=9, max_size=9))
def test_iron_is_undone_by_its_inverse(q_nb, hard, soft):
    soft = np.eye(3) + np.reshape(soft, (3, 3)) / 2.0
    clean = ideal_field(standing(q_nb), MagneticWorld(HERE_N))
    reading = ideal_field(standing(q_nb), MagneticWorld(HERE_N), hard, soft)
    np.testing.assert_allclose(np.linalg.solve(soft, (reading - hard).T).T, clean, atol=1e-12)


def test_hard_iron_turns_with_the_body():
    """Turning about the vertical, the readings lie on a circle around the hard iron, not around 0."""
    motion = Turntable.constant(0.5, 4 * np.pi).at(np.linspace(0.0, 4 * np.pi, 100))
    reading = ideal_field(motion, MagneticWorld(HERE_N), hard_iron=(12.0, -5.0, 3.0))
    radius = np.hypot(reading[:, 0] - 12.0, reading[:, 1] + 5.0)
    np.testing.assert_allclose(radius, np.hypot(*HERE_N[:2]), rtol=1e-13)


# ---------------------------------------------------------------- refusals

STILL = standing((1.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: ideal_field(STILL, MagneticWorld(magnetic_field("mars"))), "finds no magnetic field here, as on Mars"),
        (lambda: ideal_field(STILL, MagneticWorld(HERE_N), hard_iron=(1.0, 2.0)), "hard_iron is"),
        (lambda: ideal_field(STILL, MagneticWorld(HERE_N), soft_iron=np.eye(2)), "soft_iron is"),
        (lambda: ideal_field(STILL, MagneticWorld(HERE_N), soft_iron=np.ones((3, 3))), "soft_iron is singular"),
        (lambda: ideal_field(STILL, MagneticWorld(HERE_N, [Dipole((0, 0, 1), (0, 0, 5e-4))])), "source 1 .* sample 0"),
        (lambda: MagneticWorld(HERE_N, [COIL]).at(np.array(COIL.p_n) + COIL_EDGE), "nearer than 1 mm to source 1"),
        (lambda: MagneticWorld((1.0, 2.0, np.nan)), "uniform_n is"),
        (lambda: MagneticWorld(HERE_N, ["magnet"]), "source 1 is 'magnet'"),
        (lambda: MagneticWorld(HERE_N).at([1.0, 2.0]), "p_n has shape"),
        (lambda: Dipole((0, 0), (0, 0, 0)), "moment_n is"),
        (lambda: CurrentLoop((0, 0, 0), (0, 0, 0), 1.0, 1.0), "axis_n is"),
        (lambda: CurrentLoop((0, 0, 0), (0, 0, 1), 0.0, 1.0), "radius_m is 0"),
        (lambda: CurrentLoop((0, 0, 0), (0, 0, 1), 1e-3, 1.0), "describe so small a loop as a dipole"),
        (lambda: CurrentLoop((0, 0, 0), (0, 0, 1), 1.0, np.inf), "current_a is"),
        (lambda: CurrentLoop((0, 0, 0), (0, 0, 1), 1.0, 1.0, turns=-2), "turns is -2"),
        (lambda: Series([0.0, 0.0], [1.0, 2.0]), "t of the series repeats"),
    ],
)
def test_bad_settings(call, says):
    with pytest.raises(InputError, match=says) as error:
        call()
    assert "\n" not in str(error.value)


COIL_EDGE = 0.5 * np.cross(COIL.axis_n, [1.0, 0.0, 0.0]) / np.linalg.norm(np.cross(COIL.axis_n, [1.0, 0.0, 0.0]))


def test_on_mars_a_coil_is_felt():
    world = MagneticWorld(magnetic_field("mars"), [COIL])
    assert strength(ideal_field(STILL, world)).min() > 1.0


def test_the_part_comes_after_the_iron():
    """A Triad of unit uT takes the ideal field like any other sensor's truth; a perfect one changes nothing."""
    motion = Circle(2.0, 1.0, 10.0).at(np.arange(500) / 50.0)
    ideal = ideal_field(motion, MagneticWorld(HERE_N), hard_iron=(5.0, 0.0, 0.0))
    np.testing.assert_array_equal(measure(Triad("uT"), motion.t, ideal, stream=seed_of(1, "mag")).values, ideal)
    noisy = measure(Triad("uT", white=(0.1, 0.1, 0.1)), motion.t, ideal, stream=seed_of(1, "mag")).values
    spread = np.std(noisy - ideal) / (0.1 * np.sqrt(50.0))
    assert abs(spread - 1.0) < 5 / np.sqrt(2 * 1500)  # five sigmas of a sample sigma

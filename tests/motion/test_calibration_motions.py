"""Motions that calibrations are recorded with: poses that are still, tumbling that leaves no direction out."""

import numpy as np
import pytest

from helpers import run_rig
from strapdown.errors import InputError
from strapdown.motion import Poses, Tumble, path_from_settings
from strapdown.rotation import q_conj, q_from_euler, q_log, q_mul, q_rotate

UP_N = np.array([0.0, 0.0, 1.0])


def seen_from_body(q_nb, v_n):
    return q_rotate(q_conj(np.array(q_nb)), v_n)


def sphere(count):
    """Directions all over the sphere."""
    k = np.arange(count)
    z, azimuth = 1.0 - (2.0 * k + 1.0) / count, np.pi * (3.0 - np.sqrt(5.0)) * k
    return np.stack([np.sqrt(1 - z**2) * np.cos(azimuth), np.sqrt(1 - z**2) * np.sin(azimuth), z], axis=1)


def unevenness(directions):
    """1 for directions that are the same in every direction, by second moments; 0 for a plane."""
    return 3.0 * np.linalg.eigvalsh(directions.T @ directions / len(directions))[0]


def test_six_positions_have_each_axis_up_and_down_once_and_turn_every_gyroscope_axis():
    path = Poses.six()
    ups_b = seen_from_body(path.q_nb, UP_N)
    wanted = np.vstack([np.eye(3), -np.eye(3)])
    for up_b in wanted:
        assert np.sum(np.linalg.norm(ups_b - up_b, axis=1) < 1e-12) == 1  # roundoff of quarter turns
    rates = path.at(np.arange(0.0, path.duration_s, 0.01)).w_nb_b
    # a quarter turn in 2 s from rest to rest peaks at 15/8 of its mean
    np.testing.assert_allclose(np.abs(rates).max(axis=0), 15.0 / 8.0 * np.pi / 4.0, rtol=1e-3)  # step of the grid


@pytest.mark.parametrize("count", [12, 24, 40])
def test_spread_poses_cover_the_sphere_and_turn_about_every_axis(count):
    path = Poses.spread(count)
    ups_b = seen_from_body(path.q_nb, UP_N)
    assert unevenness(ups_b) > 0.95
    nearest = np.arccos(np.clip((sphere(500) @ ups_b.T).max(axis=1), -1.0, 1.0))
    assert nearest.max() < 2.2 * np.sqrt(4.0 / count)  # no hole wider than twice what one pose has to cover
    turns_b = q_log(q_mul(q_conj(np.array(path.q_nb[:-1])), np.array(path.q_nb[1:])))
    rms = np.sqrt(np.mean(turns_b**2, axis=0))
    assert rms.min() > 0.7 * rms.max()


def test_between_turns_the_body_stands_exactly_in_its_attitude():
    path = Poses.spread(5, tilt_deg=4.0, seed=3, hold_s=2.0, turn_s=1.5, first_hold_s=9.0, p_n=(1, 2, 3))
    assert path.duration_s == 9.0 + 4 * (2.0 + 1.5)
    assert path.holds_s.shape == (5, 2)
    for (start, end), q_nb in zip(path.holds_s, path.q_nb, strict=True):
        held = path.at(np.linspace(start, end - 1e-6, 7))
        assert not held.w_nb_b.any() and not held.dw_nb_b.any() and not held.v_n.any()
        assert np.abs(np.abs(held.q_nb @ np.array(q_nb)) - 1.0).max() < 1e-14  # roundoff
    during = path.at(0.5 * (path.holds_s[:-1, 1] + path.holds_s[1:, 0]))
    assert np.linalg.norm(during.w_nb_b, axis=1).min() > 0.5


def test_hand_held_poses_scatter_by_their_seed_alone():
    plain, first, again, other = (Poses.six(tilt, seed) for tilt, seed in ((0, 0), (3, 1), (3, 1), (3, 2)))
    assert first == again and first != other and first != plain
    off = q_log(q_mul(q_conj(np.array(plain.q_nb)), np.array(first.q_nb)))
    assert 1.0 < np.degrees(off.std()) < 6.0  # chance: 18 draws of sigma 3


def test_poses_of_a_file():
    path = path_from_settings("poses", {"attitudes_deg": [[0, 0, 0], [90, 0, 0]], "hold_s": 1, "turn_s": 2})
    assert path == Poses(q_from_euler(*np.radians([[0, 0, 0], [90, 0, 0]]).T), 1.0, 2.0)
    assert path_from_settings("poses", {"set": "six", "tilt_deg": 1, "seed": 4}) == Poses.six(1.0, 4)
    assert path_from_settings("tumble", {"duration_s": 40, "rate_deg_s": 90}) == Tumble(40.0, np.pi / 2)


MISTAKES = {
    "nothing": ({}, 'one of attitudes_deg, set = "six" and count is needed'),
    "two": ({"set": "six", "count": 12}, "give exactly one"),
    "set": ({"set": "twelve"}, 'set is "twelve", which is not known; use "six", or give a count'),
    "one pose": ({"count": 1}, "count is 1; give a whole number of poses from 2"),
    "half a pose": ({"count": 2.5}, "count is 2.5; give a whole number"),
    "seed": ({"count": 4, "seed": -1, "tilt_deg": 1}, "seed is -1"),
    "half a turn": ({"attitudes_deg": [[0, 0, 0], [180, 0, 0]]}, "attitudes 0 and 1 are half a turn apart"),
    "no time": ({"count": 4, "hold_s": 0}, "hold_s is 0; give a number above 0"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_poses_is_told_in_one_sentence(mistake):
    settings, message = MISTAKES[mistake]
    with pytest.raises(InputError, match=message):
        path_from_settings("poses", settings)


@pytest.mark.parametrize("dip_deg", [0.0, 30.0, 65.0, 90.0])
def test_tumbling_shows_every_side_to_a_field_of_any_dip(dip_deg):
    path = Tumble(60.0)
    motion = path.at(np.arange(2.0, 60.0, 0.05))
    dip = np.radians(dip_deg)
    seen_b = seen_from_body(motion.q_nb, np.array([0.0, np.cos(dip), -np.sin(dip)]))
    assert unevenness(seen_b) > 0.9
    farthest = np.degrees(np.arccos(np.clip((sphere(400) @ seen_b.T).max(axis=1), -1.0, 1.0)).max())
    assert farthest < 25.0  # no direction is further than this from one that was seen in a minute
    assert np.linalg.norm(seen_b.mean(axis=0)) < 0.05


def test_tumbling_rests_first_and_keeps_its_rate():
    path = Tumble(60.0, 1.5, first_rest_s=4.0)
    assert not path.at(np.linspace(0.0, 3.999, 50)).w_nb_b.any()
    rate = np.linalg.norm(path.at(np.linspace(7.0, 56.0, 2000)).w_nb_b, axis=1)
    assert rate.max() < 1.05 * 1.5 and rate.min() > 0.8 * 1.5  # the spline keeps its rate to a few percent


def test_a_tumble_too_short_to_go_round_is_refused():
    with pytest.raises(InputError, match=r"3 s left to tumble, which go once round the sphere only in .* s"):
        Tumble(5.0, first_rest_s=2.0)
    with pytest.raises(InputError, match="more than a path holds"):
        Tumble(1e6)


def module_rig(**more):
    return {
        "duration_s": 1.0,
        "motion": {"kind": "rest", "duration_s": 1.0},
        "sensor": [{"name": "imu", "link": "body", "part": "MPU-6050", "specimen_seed": 3, **more}],
    }


def test_the_magnetometer_of_another_part_is_in_the_same_log_and_changes_no_other_reading():
    plain = run_rig(module_rig()).recordings["imu"]
    both = run_rig(module_rig(magnetometer_part="QMC5883L", hard_iron_ut=[20.0, 0.0, 0.0])).recordings["imu"]
    assert plain.mag_s is None and both.mag_s is not None and len(both.mag_s) == len(both.acc_s)
    assert np.array_equal(plain.acc_s, both.acc_s) and np.array_equal(plain.gyr_s, both.gyr_s)
    assert both.meta["magnetometer_part"] == "QMC5883L"
    without = run_rig(module_rig(magnetometer_part="QMC5883L")).recordings["imu"]
    iron = (both.mag_s - without.mag_s).mean(axis=0)
    np.testing.assert_allclose(iron, [20.0, 0.0, 0.0], atol=0.5)  # cross-axis of at most 2 %, and counts


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"part": "MPU-9250"}, "a magnetometer of its own; leave magnetometer_part out"),
        ({"magnetometer_part": "MPU-6050"}, "MPU-6050 has no magnetometer; name one that has"),
        ({"magnetometer": True}, "stands next to a part or model, instead of magnetometer = true"),
    ],
)
def test_a_magnetometer_part_that_does_not_fit_is_refused(keys, message):
    with pytest.raises(InputError, match=message):
        run_rig(module_rig(**{"magnetometer_part": "QMC5883L", **keys}))

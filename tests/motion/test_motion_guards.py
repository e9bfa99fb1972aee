"""Paths and recorded poses: what would never end, noise between poses, parts of logs, clocks, and gravity at height."""

import numpy as np
import pytest

from strapdown.earth import earth_gravity, gravity
from strapdown.errors import InputError
from strapdown.motion import StopAndGo, Waypoints, path_from_settings
from strapdown.motion.recorded import RecordedMotion, read_poses
from strapdown.rotation import q_conj, q_exp, q_log, q_mul

HEADER = "t,p_x,p_y,p_z,q_w,q_x,q_y,q_z"
STILL = [1.0, 0.0, 0.0, 0.0]


def log(path, stamps, places):
    """A pose log with stamps as printed."""
    rows = [f"{stamp},{x!r},0,0,1,0,0,0" for stamp, x in zip(stamps, places, strict=True)]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


# Analytic paths


@pytest.mark.parametrize("make", [StopAndGo.square, StopAndGo.straight])
def test_a_path_of_endless_moves_is_refused(make):
    with pytest.raises(InputError, match=r"stop_spacing_m of 1e-09 makes .*e\+09 moves.*make it longer"):
        make(stop_spacing_m=1e-9)
    with pytest.raises(InputError, match="stop_spacing_m"):
        make(stop_spacing_m=5e-324)
    assert len(make(stop_spacing_m=0.01).stops) > 400


def test_waypoints_in_no_time_are_refused():
    with pytest.raises(InputError, match=r"times_s goes from 0 to 1e-300 in less than 1e-09 s"):
        Waypoints([0.0, 1e-300, 2.0], [[0, 0, 0], [1, 0, 0], [2, 0, 0]])


# Noise


def noisy(seed, acceleration, n=2000, h=0.01, sigma=1e-3, uneven=0.0):
    rng = np.random.default_rng(seed)
    t = (np.arange(n) + uneven * rng.uniform(-1.0, 1.0, n)) * h
    p = np.outer(0.5 * acceleration * t**2, [1.0, 0.0, 0.0]) + sigma * rng.standard_normal((n, 3))
    q = q_mul(q_exp(np.outer(0.3 * t, [0.0, 0.0, 1.0])), q_exp(sigma * rng.standard_normal((n, 3))))
    return RecordedMotion(t, p, q)


def rms_errors(motion, acceleration):
    truth = q_exp(np.outer(0.3 * motion.t, [0.0, 0.0, 1.0]))
    errors = (
        motion.a_n - [acceleration, 0.0, 0.0],
        motion.w_nb_b - [0.0, 0.0, 0.3],
        motion.p_n - np.outer(0.5 * acceleration * motion.t**2, [1.0, 0.0, 0.0]),
        q_log(q_mul(q_conj(truth), motion.q_nb)),
    )
    return np.array([np.sqrt(np.mean(np.sum(x**2, axis=1))) for x in errors])


@pytest.mark.parametrize("acceleration", [0.0, 5.0])
@pytest.mark.parametrize("uneven", [0.0, 0.05])
def test_readings_between_noisy_poses_are_as_good_as_at_them(acceleration, uneven):
    motion = noisy(1, acceleration, uneven=uneven)
    inside = motion.t[10:-10]
    between = np.sort(np.concatenate([inside[:-1] + u * np.diff(inside) for u in (0.15, 0.5, 0.85)]))
    at, off = (rms_errors(motion.at(t), acceleration) for t in (inside, between))
    assert (off < 1.5 * at).all()
    assert (at[2:] < np.sqrt(3.0) * 1e-3).all()  # and the poses themselves come out better than they went in


@pytest.mark.parametrize("uneven", [0.0, 0.05])
def test_the_estimate_of_the_noise_is_what_the_noise_does(uneven):
    motion = noisy(2, 5.0, uneven=uneven)
    acceleration, rate = motion.noise_estimate()
    true = rms_errors(motion.at_samples()[10:-10], 5.0)
    assert acceleration == pytest.approx(true[0], rel=0.15) and rate == pytest.approx(true[1], rel=0.15)


def test_the_estimate_of_the_noise_of_clean_poses_is_small():
    t = np.arange(500) * 0.01
    p = np.outer(np.sin(2.0 * t), [1.0, 0.5, 0.0])
    acceleration, rate = RecordedMotion(t, p, q_exp(0.3 * p)).noise_estimate()
    assert acceleration < 1e-5 and rate < 1e-7  # (w h)^6 of the motion is left
    assert np.isnan(RecordedMotion(t[:6], p[:6], q_exp(p[:6])).noise_estimate()).all()


# Logs


def test_a_part_of_a_log_and_its_gaps(tmp_path):
    """Samples are lost at 1.0 s; before 0.5 s the log is rubbish with gaps."""
    ticks = np.array([0, 1, 40, *range(50, 100), *range(103, 201)])
    place = 0.5 * 2.0 * (ticks * 0.01) ** 2
    log(tmp_path / "poses.csv", [f"{tick * 0.01:.2f}" for tick in ticks], place.tolist())

    def path(**keys):
        return path_from_settings("recorded", {"file": "poses.csv", **keys}, tmp_path, "motion")

    with pytest.raises(InputError, match=r'^motion "recorded": .*poses between gaps|stand between gaps'):
        path()
    part = path(start_s=0.5, gap_factor=5.0)
    assert part.duration_s == pytest.approx(1.5) and not part.gaps
    np.testing.assert_allclose(part.at([0.0, 0.51, 1.5]).v_n[:, 0], [1.0, 2.02, 4.0], atol=1e-9)
    assert path(start_s=0.5).gaps == [(pytest.approx(0.49), pytest.approx(0.53))]
    assert path(start_s=1.1, end_s=1.6).duration_s == pytest.approx(0.5)
    with pytest.raises(InputError, match=r'motion "recorded": start_s 5 to end_s 2 holds 0 poses.*from 0 to 2 s'):
        path(start_s=5.0)


def test_unix_time_stamps_keep_their_digits(tmp_path):
    """At 1.7e9 s a double steps by 2.4e-7 s: a tenth of a millisecond's thousandth, and 1 kHz differences feel it."""
    t = np.arange(200) * 1e-3
    place = (3.0 * t + 0.5 * 2.0 * t**2).tolist()
    small = read_poses(log(tmp_path / "small.csv", [f"{x:.6f}" for x in t], place))
    unix = read_poses(
        log(tmp_path / "unix.csv", [f"{1700000000 + k // 1000}.{k % 1000:03d}123" for k in range(200)], place)
    )
    assert unix.start_s == 1700000000.000123 and small.start_s == 0.0
    np.testing.assert_array_equal(unix.t, small.t)
    np.testing.assert_array_equal(unix.at_samples().a_n, small.at_samples().a_n)
    np.testing.assert_array_equal(unix.from_zero().at(t).v_n, small.at(t).v_n)
    assert unix.at_samples().t[0] == unix.start_s
    assert unix.at(unix.start_s + 0.05).v_n[0, 0] == pytest.approx(3.1, abs=1e-6)
    with pytest.raises(InputError, match=r"t = 0 s is outside of the recording \(1\.7e\+09"):
        unix.at(0.0)


def test_positions_beyond_all_measure_are_refused():
    t, p = np.arange(9) * 0.1, np.zeros((9, 3))
    p[4, 1] = -1e300
    with pytest.raises(InputError, match=r"p_n is 1e\+300 m at sample 4 \(t = 0\.4 s\), beyond 1e\+12 m"):
        RecordedMotion(t, p, np.tile(STILL, (9, 1)))


@pytest.mark.parametrize("size", [1e16, 1e200, 1e300])
def test_the_rotation_of_a_huge_vector_is_still_a_rotation(size):
    for q in (q_exp([size, 0.0, 0.0]), *q_exp(np.array([[size, size, -size], [0.1, 0.0, 0.0]]))):
        assert abs(np.linalg.norm(q) - 1.0) < 1e-15


# Gravity


def test_gravity_is_known_from_the_deepest_trench_to_the_edge_of_space():
    for height_m in (-6e6, -12_001.0, 100_001.0, np.nan, np.inf):
        with pytest.raises(InputError, match=r"height is .* m; give a number from -12000 to 100000"):
            gravity("earth", 45.0, height_m)


@pytest.mark.parametrize("height_m", [-12_000.0, 0.0, 20_000.0, 100_000.0])
def test_gravity_above_the_pole_and_the_equator_is_that_of_the_zonal_harmonics(height_m):
    """Newton's law with J2, J4 and J6 of WGS 84 (NIMA TR8350.2), and the centrifugal part at the equator."""
    gm, a, b, spin = 3.986004418e14, 6378137.0, 6356752.3142, 7.292115e-5
    zonal = {2: 1.082629821313e-3, 4: -2.37091222e-6, 6: 6.08347e-9}
    at_equator = {2: -0.5, 4: 3.0 / 8.0, 6: -5.0 / 16.0}  # Legendre polynomials at 0; at 1 they are 1
    for latitude, radius, legendre, turning in (
        (np.pi / 2, b + height_m, dict.fromkeys(zonal, 1.0), 0.0),
        (0.0, a + height_m, at_equator, spin**2 * (a + height_m)),
    ):
        pull = 1.0 - sum((n + 1) * j * (a / radius) ** n * legendre[n] for n, j in zonal.items())
        expected = gm / radius**2 * pull - turning
        assert abs(float(earth_gravity(latitude, height_m)) - expected) < 2e-8 * 10  # J8 is omitted: 9 * 1.4e-11 g

"""Figures of a trajectory: errors that were put in come out, alignments undo what they should and no more."""

import json

import numpy as np
import pytest
from scipy.io import loadmat

from helpers import shared_data
from strapdown import io
from strapdown.errors import InputError
from strapdown.evaluation.evaluate import evaluate, evaluate_files, read_reference
from strapdown.evaluation.matching import (
    Positions,
    aligned_first_steps,
    aligned_rigid,
    aligned_yaw,
    first_steps_placement,
    matched,
    rigid_placement,
    yaw_placement,
)
from strapdown.evaluation.trajectory import (
    attitude_errors_of,
    closing_error,
    estimated_path_length,
    mean_axis_error,
    relative_errors_over_distance,
    relative_errors_over_time,
    trajectory_error,
)
from strapdown.io.solutions.file import write_solution
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.rotation import q_exp, q_from_euler, q_mul, q_rotate
from strapdown.types import Motion, Recording, Solution

SQUARE = StopAndGo.square()
T = np.arange(0.0, SQUARE.duration_s, 0.02)
TRUTH = SQUARE.at(T)


def solution(p_n=TRUTH.p_n, q_nb=TRUTH.q_nb, t=T, **more):
    return Solution(t, q_nb, p_n, **more)


def wild_path(n=400, seed=1):
    """A walk in three dimensions with attitudes."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.standard_normal((n, 3)), axis=0), q_exp(np.cumsum(0.1 * rng.standard_normal((n, 3)), axis=0))


def test_a_shift_is_a_shift():
    pair = matched(solution(TRUTH.p_n + np.array([0.3, 0.4, 1.2])), TRUTH)
    found = trajectory_error(pair)
    for value in (found.rms, found.mean, found.median, found.p95, found.max, found.final):
        assert abs(value - 1.3) < 1e-12  # roundoff
    assert trajectory_error(aligned_yaw(pair)).max < 1e-12
    assert abs(pair.length_m[-1] - 4.8) < 1e-9  # roundoff of 4000 steps


def test_alignments_undo_what_they_may():
    """Yaw and shift: both. A tilt as well: the rigid one alone. A scale: neither."""
    p, q = wild_path()
    t = np.arange(len(p)) * 0.1
    truth = Solution(t, q, p)
    yaw, tilt = q_exp([0.0, 0.0, 2.5]), q_exp([0.3, -0.2, 3.0])
    turned = Solution(t, q_mul(yaw, q), q_rotate(yaw, p) + np.array([5.0, -3.0, 2.0]))
    tilted = Solution(t, q_mul(tilt, q), q_rotate(tilt, p) + np.array([5.0, -3.0, 2.0]))
    scaled = Solution(t, q, 1.01 * p)
    for align in (aligned_yaw, aligned_rigid):
        pair = align(matched(turned, truth))
        assert trajectory_error(pair).max < 1e-12 and attitude_errors_of(pair).total.max() < 1e-12  # roundoff
        assert trajectory_error(align(matched(scaled, truth))).rms > 0.004 * np.std(p, axis=0).max()
    assert trajectory_error(aligned_rigid(matched(tilted, truth))).max < 1e-11
    assert trajectory_error(aligned_yaw(matched(tilted, truth))).rms > 0.1


@pytest.mark.parametrize("mirror", [(1.0, 1.0, 1.0), (1.0, 1.0, -1.0)])
def test_alignments_are_the_best_of_their_kind(mirror):
    """A small turn or shift away from the fit makes the squares larger; a mirrored path is fitted by no mirror."""
    rng = np.random.default_rng(4)
    p, _ = wild_path()
    noisy = q_rotate(q_exp([0.1, 0.2, -1.0]), mirror * p) + rng.standard_normal(p.shape)

    def squares(q_mn, r_m):
        return float(np.sum((q_rotate(q_mn, noisy) + r_m - p) ** 2))

    for place, axes in ((rigid_placement(noisy, p), np.eye(3)), (yaw_placement(noisy, p), np.eye(3)[2:])):
        assert abs(np.linalg.norm(place.q_mn) - 1.0) < 1e-12  # roundoff
        best = squares(place.q_mn, place.r_m)
        for axis in axes:
            for step in (-1e-3, 1e-3):
                assert squares(q_mul(q_exp(step * axis), place.q_mn), place.r_m) > best
        for axis in np.eye(3):
            assert squares(place.q_mn, place.r_m + 1e-3 * axis) > best


def authors_armse(est, ref, distance=0.8):
    """foot_vicon's alignment and figure as its authors describe them, written down again without our functions."""
    est, ref = est - est[0], ref - ref[0]
    i = next(k for k in range(len(est) - 1) if np.hypot(*est[k + 1, :2]) >= distance)
    a, b = complex(*est[i, :2]), complex(*ref[i, :2])
    turn = (b / a) / abs(b / a)
    plane = (est[:, 0] + 1j * est[:, 1]) * turn
    out = np.column_stack([plane.real, plane.imag, est[:, 2]]) - ref
    return [np.mean([np.sqrt(np.mean(row[:d] ** 2)) for row in out]) for d in (2, 3)]


def test_armse_is_the_data_sets_own():
    """On one of its walks, with an estimate that is turned, shifted and drifts."""
    trial = loadmat(shared_data("foot_vicon") / "2017-11-22-11-23-25.mat")
    gt, t = trial["gt"], trial["ts"].ravel() - trial["ts"].ravel()[0]
    drift = np.linspace(0.0, 1.0, len(gt))[:, None] * [0.2, -0.1, 0.05]
    estimate = q_rotate(q_exp([0.0, 0.0, 1.1]), gt + drift) + np.array([3.0, 2.0, 1.0])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(gt), 1))
    pair = aligned_first_steps(matched(Solution(t, still, estimate), Positions(t, gt)))
    for dimensions, expected in zip((2, 3), authors_armse(estimate, gt), strict=True):
        assert abs(mean_axis_error(pair, dimensions) - expected) < 1e-12  # roundoff
    assert 0.02 < mean_axis_error(pair) < 0.2


def test_first_steps_of_one_who_stays():
    """No heading to align by: starts on each other, and nothing breaks."""
    p = np.zeros((5, 3))
    place = first_steps_placement(p, TRUTH.p_n[:5] + np.array([1.0, 2.0, 3.0]))
    assert np.array_equal(place.q_mn, [1, 0, 0, 0]) and np.allclose(place.r_m, TRUTH.p_n[0] + [1, 2, 3], atol=0)
    with pytest.raises(InputError, match="2 or 3"):
        mean_axis_error(matched(solution(), TRUTH), 4)


def test_attitude_errors_split_into_heading_and_inclination():
    for heading in (-3.0, -0.2, 0.0, 1.0, 3.1):
        for tilt in (0.0, 0.05, 1.0):
            level_axis = [np.cos(0.7), np.sin(0.7), 0.0]
            off = q_mul(q_exp([0.0, 0.0, heading]), q_exp(tilt * np.array(level_axis)))
            found = attitude_errors_of(matched(solution(q_nb=-q_mul(off, TRUTH.q_nb)), TRUTH))
            # roundoff; a double cover sign must not matter
            np.testing.assert_allclose(found.heading, heading, atol=1e-7 if tilt == 0.0 else 1e-12)
            np.testing.assert_allclose(found.inclination, tilt, atol=1e-7 if tilt == 0.0 else 1e-12)
    pair = matched(solution(q_nb=q_mul(q_exp([0.02, 0.0, 0.0]), TRUTH.q_nb)), TRUTH)
    np.testing.assert_allclose(pair.attitude_error_n, np.tile([0.02, 0, 0], (len(T), 1)), atol=1e-14)


def test_relative_errors_see_drift_and_not_the_frame():
    """A wrong start and heading cost nothing; a heading that drifts linearly with the way shows as such."""
    turned = q_exp([0.0, 0.0, 0.4])
    moved = matched(solution(q_rotate(turned, TRUTH.p_n) + np.array([9, 9, 9]), q_mul(turned, TRUTH.q_nb)), TRUTH)
    found = relative_errors_over_distance(moved, 1.2)
    assert found.translation_m.max() < 1e-12 and found.rotation_rad.max() < 1e-12  # roundoff
    assert (found.way_m >= 1.2 - 1e-9).all() and len(found.start) > 20
    length = moved.length_m
    drifting = q_mul(q_from_euler(0.0, 0.0, 0.01 * length), TRUTH.q_nb)
    pair = matched(solution(q_nb=drifting), TRUTH)
    found = relative_errors_over_distance(pair, 1.2)
    np.testing.assert_allclose(found.rotation_rad, 0.01 * found.way_m, atol=1e-12)
    by_time = relative_errors_over_time(pair, 10.0)
    assert len(by_time.start) == len(T) - 500
    np.testing.assert_allclose(by_time.rotation_rad, 0.01 * (length[by_time.end] - length[by_time.start]), atol=1e-12)
    with pytest.raises(InputError, match="shorter way"):
        relative_errors_over_distance(pair, 5.0)
    with pytest.raises(InputError, match="shorter time"):
        relative_errors_over_time(pair, 1e4)


def test_other_time_stamps_are_interpolated():
    """A reference at 10 Hz, an estimate at 50 Hz and another phase: quintics follow the motion, lines its chord."""
    coarse = SQUARE.at(np.arange(0.0, SQUARE.duration_s, 0.1))
    t = np.arange(0.0137, coarse.t[-1], 0.02)
    exact = solution(SQUARE.at(t).p_n, SQUARE.at(t).q_nb, t)
    # least-jerk moves of 0.3 m in 2 s: the sixth derivative is 0 inside, and jumps of the jerk at the joints remain
    assert trajectory_error(matched(exact, coarse)).max < 1e-6
    by_lines = matched(exact, Positions(coarse.t, coarse.p_n))
    peak = np.abs(SQUARE.at(T).a_n).max()
    assert 0.3 * peak * 0.1**2 / 8 < trajectory_error(by_lines).max < 1.01 * peak * 0.1**2 / 8  # step order: a h^2 / 8
    with pytest.raises(InputError, match="no attitudes"):
        attitude_errors_of(by_lines)
    as_solution = matched(exact, solution(coarse.p_n, coarse.q_nb, coarse.t))
    assert attitude_errors_of(as_solution).total.max() < 1.01 * np.abs(TRUTH.dw_nb_b).max() * 0.1**2 / 8  # as above


def test_only_what_overlaps_is_compared_and_nothing_in_gaps():
    late = matched(solution(), SQUARE.at(T[1000:2000]))
    assert len(late) == 1000 and np.array_equal(late.rows, np.arange(1000, 2000)) and trajectory_error(late).max == 0.0
    with_gap = SQUARE.at(np.concatenate([T[:1000], T[2000:]]))
    pair = matched(solution(), with_gap)
    assert len(pair) == len(T) - 1000 and trajectory_error(pair).max < 1e-15
    with pytest.raises(InputError, match="0 samples can be compared; give a reference of the same run and clock"):
        matched(solution(), Positions(T + 1e4, TRUTH.p_n))
    with pytest.raises(InputError, match="no positions"):
        matched(Solution(T, TRUTH.q_nb), TRUTH)
    with pytest.raises(InputError, match="reference has no positions"):
        matched(solution(), Solution(T, TRUTH.q_nb))


def test_closing_error_counts_no_way_while_standing():
    rng = np.random.default_rng(2)
    stop = SQUARE.stopped(T)
    p = TRUTH.p_n + np.linspace(0, 1, len(T))[:, None] * [0.03, 0.0, 0.04]
    p = p + stop[:, None] * 0.01 * rng.standard_normal(p.shape)
    p[-1] = p[0] + [0.03, 0.0, 0.04]
    found = closing_error(solution(p, flags={"stop_believed": stop}))
    assert abs(found.length_m - 0.05) < 1e-12 and abs(found.horizontal_m - 0.03) < 1e-12 and found.up_m > 0.0399
    # jitter at the two ends of each of 16 moves and 3 turns, 0.01 m sigma in each of three axes
    assert 4.75 < found.path_length_m < 4.8 + 38 * 0.05
    assert found.percent == 100 * found.length_m / found.path_length_m
    assert estimated_path_length(solution(p)) > 5 * found.path_length_m
    assert closing_error(solution(np.zeros_like(p))).percent is None


def test_a_correction_of_the_place_is_no_way():
    """As after a gap: 1 m/s for 10 s, and a place that is set right by 3 m in between."""
    t = np.linspace(0.0, 10.0, 101)
    p_n = np.column_stack([t + 3.0 * (t > 5.0), 0.0 * t, 0.0 * t])
    q_nb = np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 1))
    v_n = np.tile([1.0, 0.0, 0.0], (len(t), 1))
    assert estimated_path_length(Solution(t, q_nb, p_n, v_n)) == pytest.approx(10.0, rel=1e-12)  # roundoff
    assert estimated_path_length(Solution(t, q_nb, p_n)) == pytest.approx(13.0, rel=1e-12)  # who states no speed


def test_evaluate_tells_all_and_files_give_the_same(tmp_path):
    rng = np.random.default_rng(8)
    sigma = np.full((len(T), 3), 0.02)
    estimate = solution(
        TRUTH.p_n + sigma * rng.standard_normal((len(T), 3)),
        q_mul(q_exp([0.0, 0.0, 0.01]), TRUTH.q_nb),
        sigma={"p_n": sigma},
        flags={"stop_believed": SQUARE.stopped(T)},
    )
    found = evaluate(estimate, TRUTH, SQUARE.stops)
    n = len(T)
    assert abs(found.position.rms / (0.02 * np.sqrt(3.0)) - 1.0) < 5 / np.sqrt(6.0 * n)  # chance
    assert abs(found.nees_position - 3.0) < 5 * np.sqrt(6.0 / n) and abs(found.inside_3_sigma - 0.9973) < 0.005
    assert abs(found.heading_deg.rms - np.degrees(0.01)) < 1e-9 and found.inclination_deg.max < 1e-5
    assert (
        found.largest_percent_of_path == 100 * found.horizontal.max / found.path_length_m
        and len(found.stops.rows) == 17
    )
    assert json.loads(json.dumps(found.numbers()))["stops"][3]["dr_m"] == found.stops.rows[3].dr_m
    text = found.text()
    assert "NEES of the position" in text and "mean error per axis" in text and text.endswith(found.stops.text())

    without_stops = evaluate(estimate, TRUTH)
    write_solution(tmp_path / "run.csv", estimate)
    write_solution(tmp_path / "run.parquet", estimate)
    io.write(tmp_path / "log.csv", {"imu": Recording(T, truth=TRUTH)})
    truth_as_solution = solution(v_n=TRUTH.v_n)
    write_solution(tmp_path / "truth.csv", truth_as_solution)
    for name in ("run.csv", "run.parquet"):
        for truth in ("log.csv", "truth.csv"):
            assert evaluate_files(tmp_path / name, tmp_path / truth) == without_stops
    header = "t,p_x,p_y,p_z,q_w,q_x,q_y,q_z\n"
    rows = "\n".join(
        ",".join(map(repr, map(float, (t, *p, *q)))) for t, p, q in zip(T, TRUTH.p_n, TRUTH.q_nb, strict=True)
    )
    (tmp_path / "poses.csv").write_text(header + rows, encoding="utf-8")
    # the motion through recorded poses is fitted, where they are jitter alone
    assert abs(evaluate_files(tmp_path / "run.csv", tmp_path / "poses.csv").position.rms - found.position.rms) < 1e-6
    assert evaluate_files(tmp_path / "poses.csv", tmp_path / "truth.csv").position.max < 1e-6
    places = "t [s],p_x [m],p_y [m],p_z [m]\n" + "\n".join(
        f"{t!r},{p[0]!r},{p[1]!r},{p[2]!r}" for t, p in zip(T.tolist(), TRUTH.p_n.tolist(), strict=True)
    )
    (tmp_path / "places.csv").write_text(places, encoding="utf-8")
    only_places = evaluate_files(tmp_path / "run.csv", tmp_path / "places.csv")
    assert (
        only_places.position == found.position
        and only_places.heading_deg is None
        and "heading" not in only_places.text()
    )


def test_files_that_cannot_be_a_truth(tmp_path):
    io.write(tmp_path / "log.csv", {"imu": Recording(T, acc_s=TRUTH.p_n)})
    with pytest.raises(InputError, match="without truth"):
        read_reference(tmp_path / "log.csv")
    with pytest.raises(InputError, match="does not exist"):
        read_reference(tmp_path / "none.csv")


def test_a_filter_that_is_sure_is_judged_where_it_may_be_wrong():
    n = len(T)
    wrong = evaluate(solution(TRUTH.p_n + 0.1, sigma={"p_n": np.zeros((n, 3))}), TRUTH)
    assert (
        wrong.nees_position is None
        and wrong.inside_3_sigma == 0.0
        and "none, sigma is 0, 0.00 % inside" in wrong.text()
    )
    right = evaluate(solution(TRUTH.p_n + 1e-16, sigma={"p_n": np.zeros((n, 3))}), TRUTH)
    assert right.nees_position is None and right.inside_3_sigma is None
    begun = np.arange(n)[:, None] >= 100  # a known start, then an error of one sigma on each axis
    late = np.arange(n)[:, None] >= 101  # sigma comes a sample after the error
    found = evaluate(solution(TRUTH.p_n + 0.02 * begun, sigma={"p_n": 0.02 * late + np.zeros(3)}), TRUTH)
    assert abs(found.nees_position - 3.0) < 1e-9  # roundoff
    assert found.inside_3_sigma == (n - 101) / (n - 100)


def test_an_attitude_alone_is_evaluated():
    """A filter of a user's own has no positions: a known error of the heading is found, and the text is a table."""
    t = np.arange(100) * 0.01
    q = q_from_euler(0.1 * np.sin(t), 0.1 * np.cos(t), t)
    zero = np.zeros((100, 3))
    turned = Solution(t, q_mul(q_exp(np.array([0.0, 0.0, 0.02])), q))
    found = evaluate(turned, Motion(t, zero, zero, zero, q, zero, zero))
    assert found.heading_deg.rms == pytest.approx(np.degrees(0.02), rel=1e-6)
    assert found.inclination_deg.max < 1e-5  # roundoff of an arc cosine
    assert found.heading_fitted_deg.max < 1e-5
    assert "heading, deg" in repr(found) and repr(found) == str(found)
    with pytest.raises(InputError, match="give the result of navigate"):
        evaluate(t, turned)

"""Paper C's table of stops: errors that were put in come out, timed or matched by order."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.evaluation.stops import StopPlaces, stands, stop_places, stop_table, stops_of_motion
from strapdown.motion.paths.stop_and_go import StopAndGo, Stops
from strapdown.types import Solution

RATE_HZ = 50.0


def drive(path, **changes):
    """Truth and a solution equal to it, but for the changes."""
    t = np.arange(0.0, path.duration_s, 1.0 / RATE_HZ)
    truth = path.at(t)
    said = {"p_n": truth.p_n, "flags": {"stop_believed": path.stopped(t)}, **changes}
    return truth, Solution(t, truth.q_nb, **said)


SQUARE = StopAndGo.square(start_p_n=(1.0, -2.0, 0.5))


def test_an_error_that_grows_with_the_path_is_a_constant_percentage():
    """A scale of 1.03 and a drift to the east of 0.01 m per stop: dx, dy, dr, L and e by hand."""
    path = StopAndGo.straight(6.6)
    truth, _ = drive(path)
    _, scaled = drive(path, p_n=truth.p_n * 1.03)
    table = stop_table(scaled, path.stops)
    assert len(table.rows) == 23 and [row.number for row in table.rows] == list(range(23))
    for k, row in enumerate(table.rows):
        # roundoff of a few additions of metres
        assert abs(row.path_length_m - 0.3 * k) < 1e-12
        assert abs(row.dx_m) < 1e-12 and abs(row.dy_m - 0.03 * 0.3 * k) < 1e-12
        assert row.percent is None if k == 0 else abs(row.percent - 3.0) < 1e-9
    assert table.final is table.rows[-1] and abs(table.final.dr_m - 0.198) < 1e-12


def test_worst_is_the_largest_percentage_not_the_largest_error():
    path = StopAndGo.straight(6.6)
    truth, _ = drive(path)
    p = np.array(truth.p_n)
    p[:, 0] += np.where(truth.t < path.stops.start_s[2], 0.03, 0.1)  # 10 % of 0.3 m, then 0.1 m of up to 6.6 m
    _, off = drive(path, p_n=p)
    table = stop_table(off, path.stops)
    assert table.worst.number == 2 and abs(table.worst.percent - 100 * 0.1 / 0.6) < 1e-9  # roundoff
    assert abs(table.final.percent - 100 * 0.1 / 6.6) < 1e-9


def test_by_order_gives_what_times_give_also_with_turns_between_stands():
    """At a corner of the square the vehicle stands, turns, and stands again: still one stop of the reference."""
    truth, solution = drive(SQUARE)
    rng = np.random.default_rng(3)
    noisy = Solution(solution.t, solution.q_nb, truth.p_n + 0.005 * rng.standard_normal(truth.p_n.shape))
    believed = np.array(SQUARE.stopped(solution.t))
    turning = np.linalg.norm(truth.w_nb_b, axis=1) > 0.0
    ends_of_turns = np.flatnonzero(turning[:-1] & ~turning[1:])
    for i in ends_of_turns:
        believed[i - 4 : i + 2] = True  # a stand just before the next move
    by_order = Solution(noisy.t, noisy.q_nb, noisy.p_n, flags={"stop_believed": believed})
    assert len(stands(by_order.t, believed)) == 17 + 3
    timed = stop_table(noisy, SQUARE.stops)
    ordered = stop_table(by_order, stop_places(SQUARE.stops.p_n, start_m=(1.0, -2.0, 0.5)))
    assert len(timed.rows) == len(ordered.rows) == 17
    for a, b in zip(timed.rows, ordered.rows, strict=True):
        assert abs(a.path_length_m - b.path_length_m) < 1e-12  # roundoff
        assert np.hypot(a.p_n[0] - b.p_n[0], a.p_n[1] - b.p_n[1]) < 6 * 0.005 * np.sqrt(2)  # chance: six sigmas


def test_a_reference_may_leave_out_the_stand_before_the_run():
    _, solution = drive(SQUARE)
    table = stop_table(solution, stop_places(SQUARE.stops.p_n[1:, :2], start_m=SQUARE.stops.p_n[0]))
    assert len(table.rows) == 16 and abs(table.rows[0].path_length_m - 0.3) < 1e-12  # roundoff
    assert max(row.dr_m for row in table.rows) < 1e-12


def test_the_last_sample_of_a_stand_is_read_and_not_the_first_of_the_move():
    truth, solution = drive(SQUARE)
    standing = solution.flags["stop_believed"]
    p = np.where(standing[:, None], truth.p_n, 1e3)
    table = stop_table(Solution(solution.t, solution.q_nb, p), SQUARE.stops)
    assert max(row.dr_m for row in table.rows) < 1e-12  # roundoff
    for row in table.rows:
        after = np.searchsorted(solution.t, row.t_s) + 1
        assert after == len(solution) or not standing[after]
    again = stop_table(Solution(solution.t, solution.q_nb, p), stops_of_motion(truth, standing))
    assert [row.t_s for row in again.rows] == [row.t_s for row in table.rows]


def test_sigma_goes_along():
    truth, _ = drive(SQUARE)
    sigma = np.tile([0.03, 0.04, 9.0], (len(truth), 1))
    _, solution = drive(SQUARE, sigma={"p_n": sigma})
    assert {row.sigma_m for row in stop_table(solution, SQUARE.stops).rows} == {0.05}


def test_stops_from_truth_and_the_controllers_word():
    t = np.arange(0.0, SQUARE.duration_s, 1.0 / RATE_HZ)
    found = stops_of_motion(SQUARE.at(t), SQUARE.stopped(t))
    assert len(found) == len(SQUARE.stops) == 17
    np.testing.assert_allclose(found.p_n, SQUARE.stops.p_n, atol=1e-12)  # roundoff
    np.testing.assert_allclose(found.path_length_m, SQUARE.stops.path_length_m, atol=1e-9)  # sum over 4000 samples
    np.testing.assert_allclose(found.end_s, SQUARE.stops.end_s, atol=1.01 / RATE_HZ)  # one sample


def test_a_flicker_does_not_end_a_stand():
    t = np.arange(10) * 0.1
    flag = np.array([0, 1, 1, 0, 1, 0, 0, 0, 1, 1], dtype=bool)
    assert stands(t, flag) == [(1, 4), (8, 9)]
    assert stands(t, np.zeros(10, dtype=bool)) == []


def test_tables_for_people():
    path = StopAndGo.straight(0.6)
    truth, _ = drive(path)
    table = stop_table(drive(path, p_n=truth.p_n * 1.05)[1], path.stops)
    lines = table.text().splitlines()
    assert " ".join(lines[0].split()) == "stop t, s L, m x, m y, m dx, m dy, m dr, m e, %"
    assert lines[-1].split()[-4:] == ["0.0000", "0.0300", "0.0300", "5.00"]
    assert len({len(line) for line in lines}) == 1
    marks = table.markdown().splitlines()
    assert marks[1] == "|" + " ---: |" * 9 and len(marks) == 5 and all(line.count("|") == 10 for line in marks)


def test_what_cannot_be_matched_is_said():
    _, solution = drive(SQUARE)
    places = stop_places(SQUARE.stops.p_n, start_m=SQUARE.stops.p_n[0])
    with pytest.raises(InputError, match="believed 17 stops and the reference lists 12"):
        stop_table(solution, StopPlaces(places.p_n[:12], places.path_length_m[:12]))
    with pytest.raises(InputError, match="no believed stop"):
        stop_table(Solution(solution.t, solution.q_nb, solution.p_n), places)
    with pytest.raises(InputError, match="no positions"):
        stop_table(Solution(solution.t, solution.q_nb), SQUARE.stops)
    late = Stops(
        SQUARE.stops.start_s + 1000.0, SQUARE.stops.end_s + 1000.0, SQUARE.stops.p_n, SQUARE.stops.path_length_m
    )
    with pytest.raises(InputError, match="same clock"):
        stop_table(solution, late)
    with pytest.raises(InputError, match="sort the stops"):
        StopPlaces(places.p_n, places.path_length_m[::-1])
    with pytest.raises(InputError, match="rows"):
        stop_places([1.0, 2.0])
    with pytest.raises(InputError, match="never given"):
        stops_of_motion(SQUARE.at(np.arange(5.0)), np.zeros(5, dtype=bool))

"""What may go wrong on paper C's tests: no fault makes our filter diverge, and some the paper's filter cannot bear."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from strapdown.navigation.carriers.vehicle_stops import vehicle_stops
from strapdown.papers.c import scenarios as c_scenarios
from strapdown.papers.c.drive import drive
from strapdown.papers.c.scenarios import SCENARIOS, outcome

NAMES = [scenario.name for scenario in SCENARIOS]
ROBOTS = 2


@cache
def found(name):
    return outcome(SCENARIOS[NAMES.index(name)], ROBOTS)


def test_all_that_must_hold_is_there():
    assert len(set(NAMES)) == len(NAMES) == 10


@pytest.mark.parametrize("name", NAMES)
def test_no_mishap_makes_the_filter_diverge(name):
    one = found(name)
    assert len(one.disturbed) == ROBOTS and np.isfinite(one.lost)
    assert one.disturbed.max() < 1.5  # %: chance; ten robots have 0.9 at most, undisturbed 0.5


def test_believing_wheels_or_a_flag_alone_freezes_the_papers_filter():
    assert found("stuck-flag").paper.min() > 90.0  # %: it never leaves the start
    assert found("dead-encoder").paper.min() > 50.0
    assert found("no-flag").paper.min() > 50.0  # and without stops it runs away


def test_mishaps_are_told():
    assert found("dead-encoder").events["odometer_rejected"] >= ROBOTS
    assert found("push").events["sideways_rejected"] >= ROBOTS and found("push").events["stop_rejected"] >= ROBOTS
    assert found("stuck-flag").events["stop_rejected"] >= 10 * ROBOTS  # nearly every one of its 22 moves
    assert found("magnet").events["heading_rejected"] >= ROBOTS


def used_of(one, **changed):
    """Believed stops, and the samples of them that are used."""
    stops = vehicle_stops(replace(one.log, **{"odometer": None, **changed}), one.facts())
    return stops, stops.used


def test_a_stop_is_believed_from_readings_alone_only_where_it_is_one():
    for kind in ("square", "straight"):
        one = drive(kind, 7)
        stops, alone = used_of(one, stop=None)
        assert not alone[~one.log.stop].any()
        # 0.15 s are omitted at each end of stops of 2 s
        assert alone[one.log.stop].mean() > 0.8 and stops.believed[alone].all()


def test_a_true_word_is_used_from_edge_to_edge_and_a_stuck_one_is_not():
    one = drive("straight", 7)
    _, used = used_of(one)
    wrong = used != one.log.stop
    assert wrong.mean() < 0.01  # chance: one window in 10,000 looks as if it moved, and costs an edge
    stops, stuck = used_of(one, stop=np.ones(len(one.log), dtype=bool))
    assert stops.believed[~one.log.stop].any()  # a move begins so gently that it is seen late
    assert not stuck[~one.log.stop].any()  # so the end of a stop that the sensor alone ends is omitted


def test_a_word_that_goes_late_is_seen_by_the_speed_it_would_forbid():
    """By 0.15 s: the robot has then 25 mm/s."""
    one = drive("straight", 7)
    late = np.array(one.log.stop)
    for end_s in one.path.stops.end_s[1:-1]:
        late[(one.log.t >= end_s - 1e-9) & (one.log.t < end_s + 0.15)] = True
    _, used = used_of(one, stop=late)
    assert (used & ~one.log.stop).sum() <= 2  # samples of 10 ms, in all 22 stops


def test_a_push_ends_the_belief_although_the_controller_says_stop():
    push = c_scenarios.Push(8)
    one = drive("straight", 7, push=push)
    start = one.path.stops.start_s[push.stop] + 0.5
    pushed = (one.log.t > start + 0.05) & (one.log.t < start + 0.55)
    _, used = used_of(one)
    assert one.log.stop[pushed].all() and not used[pushed].any()


def test_the_calibration_for_temperature_is_what_holds_the_heat():
    """Rate at the last stop, 20 degC warmer: with and without it."""
    with_it = c_scenarios._heated("straight", 7)
    without = drive("straight", 7, temperature=c_scenarios.TemperatureSeries([0.0, 200.0], [45.0, 45.0]))
    last = with_it.log.t > with_it.path.stops.start_s[-1]
    rate = [np.linalg.norm(one.log.gyr_s[last].mean(axis=0)) for one in (with_it, without)]
    assert rate[0] < 1e-3 < rate[1]  # rad/s: the data sheet allows 3e-3 rad/s of change per axis in 20 degC


def test_claims_and_table_state_what_a_fault_costs():
    seen = []
    found = c_scenarios.reproduce_scenarios(seen.append, 1)
    (table,) = found.tables
    assert seen[-1] == 1.0 and len(found.claims) == len(table.rows) == 10
    for claim, scenario, row in zip(found.claims, SCENARIOS, table.rows, strict=True):
        cells = dict(zip(table.columns, row, strict=True))
        assert claim.id == f"C/scenarios/{scenario.name}" and claim.holds
        assert float(cells["with, largest"]) == pytest.approx(claim.ours, abs=0.005)  # print rounding
        cost = float(cells["with, mean"]) - float(cells["without, mean"])
        assert float(cells["cost"]) == pytest.approx(cost, abs=0.011)  # print rounding of three

"""strapdown reproduce B flight, in short: one seed of each vehicle, and the judgement of results that were made up."""

import math
from itertools import pairwise

import pytest

from strapdown.papers.b.closed_loop.flight import parts
from strapdown.papers.b.closed_loop.mars import mars
from strapdown.papers.b.closed_loop.paper_filter import RATES_HZ, paper_filter, paper_job
from strapdown.papers.b.closed_loop.part import FIRST_SEED, Group
from strapdown.papers.b.closed_loop.quadcopter import FILTERS, SCRIPTS, flight_job, quadcopter
from strapdown.papers.b.closed_loop.rover import (
    ACCELERATION_M_S2,
    SPEED_M_S,
    TURN_DPS,
    RoverJob,
    rover,
    run_rover,
    script,
)
from strapdown.papers.b.closed_loop.runs import run_job, scenario_of
from strapdown.papers.b.closed_loop.skipped import skipped
from strapdown.papers.c.drive import path_of

GOOD = {
    "lost": False,
    "stopped": None,
    "lost_at_s": None,
    "first_wrong": None,
    "moved_m": [5.2, 0.1, 0.0],
    **dict.fromkeys(("roll_rmse_deg", "pitch_rmse_deg", "tilt_rmse_deg", "heading_rmse_deg"), 0.1),
    **dict.fromkeys(("heading_drift_deg", "position_max_m", "height_max_m", "position_rmse_m"), 0.1),
}
LOST = {**GOOD, "lost": True, "lost_at_s": 20.0, "first_wrong": "heading"}


@pytest.mark.parametrize("name", FILTERS)
def test_the_quadcopter_flies_on_the_script_that_no_setting_was_chosen_on(name):
    found = run_job(flight_job("quadcopter_third_script", name, FIRST_SEED))
    assert not found["lost"]
    assert found["tilt_rmse_deg"] <= FILTERS[name][1]


def test_the_mars_helicopter_lands_where_it_was_asked_to():
    part = mars(1)
    claims, _ = part.judge([run_job(job) for job in part.jobs])
    assert [claim.id for claim in claims if not claim.holds] == []


def test_the_printed_filter_is_lost_where_the_corrected_one_flies():
    """Nose to the south: atan gives the heading of the opposite direction."""
    assert run_job(paper_job(False, 100.0, 180.0, FIRST_SEED))["first_wrong"] == "heading"
    assert not run_job(paper_job(True, 100.0, 180.0, FIRST_SEED))["lost"]


def test_a_rover_in_physics_is_as_exact_as_prescribed_motion():
    found = run_rover(RoverJob("square", 2000))
    assert found["stops"] == found["planned_stops"] == 17
    # one robot: the claim is about the mean of ten
    assert found["physics"]["odometer"] < 1.0 and found["physics"]["end"] < 1.0


@pytest.mark.parametrize("kind", ["square", "straight"])
def test_the_pilot_of_the_rover_drives_the_plan(kind):
    lines, duration_s = script(kind)
    path = path_of(kind, 90.0)
    assert duration_s == path.duration_s
    times = [line.at_s for line in lines]
    assert times == sorted(times)
    way = turned = 0.0
    for line, after in pairwise(lines):
        way += SPEED_M_S * (line.drive or 0.0) * (after.at_s - line.at_s)
        turned += TURN_DPS * (line.turn or 0.0) * (after.at_s - line.at_s)
        if line.drive:  # the ramp ends where the rest begins
            ends_s = after.at_s + SPEED_M_S * line.drive / ACCELERATION_M_S2
            assert abs(path.stops.start_s - ends_s).min() < 1e-9
    assert way == pytest.approx(path.stops.path_length_m[-1])
    assert turned == pytest.approx(270.0 if kind == "square" else 0.0)


def test_a_lost_flight_or_a_large_error_breaks_its_claim():
    part = quadcopter(2)
    assert len(part.jobs) == 2 * len(SCRIPTS) * len(FILTERS)
    claims, _ = part.judge([GOOD] * len(part.jobs))
    assert all(claim.holds for claim in claims)
    claims, table = part.judge([GOOD, LOST] + [GOOD] * (len(part.jobs) - 2))
    broken = {claim.id for claim in claims if not claim.holds}
    assert broken == {"B/flight/quadcopter/mekf/lost", "B/flight/quadcopter/mekf/attitude"}
    assert table.rows[0][2] == "1 of 2"
    worse = [{**GOOD, "tilt_rmse_deg": 0.2}] * len(part.jobs)  # enough for mekf alone
    broken = {claim.id for claim in part.judge(worse)[0] if not claim.holds}
    assert broken == {f"B/flight/{script}/eskf/attitude" for script in SCRIPTS}


def test_no_figure_of_ours_stands_as_published():
    """Paper B publishes no figure of its flights. A change of the paper filter's error breaks the claim of none."""
    for part in (quadcopter(1), paper_filter(1), skipped(1), mars(1)):
        claims, _ = part.judge([GOOD] * len(part.jobs))
        assert claims and all(claim.published is None for claim in claims)
    part = skipped(1)
    claims, _ = part.judge([*[GOOD] * (len(part.jobs) - 1), {**GOOD, "tilt_rmse_deg": 2.0 * GOOD["tilt_rmse_deg"]}])
    assert "B/flight/calibration-skipped/paper-b" in {claim.id for claim in claims if not claim.holds}


def test_a_landing_far_from_its_place_breaks_the_claim():
    claims, _ = mars(1).judge([{**GOOD, "moved_m": [4.2, 0.7, 0.0]}])
    assert {claim.id for claim in claims if not claim.holds} == {"B/flight/mars/landing"}


def test_the_nose_points_where_the_table_says():
    """The vehicle stays; the field of the scene is turned."""
    east, north, _ = scenario_of(paper_job(False, 250.0, 90.0, 1)).scene.magnetic_induction_ut
    assert math.degrees(math.atan2(north, east)) == pytest.approx(90.0)  # to the left of x
    assert scenario_of(paper_job(False, 250.0, 90.0, 1)).sensor[0].rate_hz == 250.0


def test_the_table_of_the_papers_filter_says_which_estimate_went_first():
    part = paper_filter(1)
    _, table = part.judge([LOST] * len(part.jobs))
    assert {row[-1] for row in table.rows} == {"heading"}
    assert {row[2] for row in table.rows} == {f"{rate:g}" for rate in RATES_HZ}


def test_a_session_that_stopped_counts_as_lost():
    group = Group([GOOD, {**GOOD, "stopped": "block failed"}])
    assert group.lost == 1
    assert group.most("tilt_rmse_deg") == math.inf


def test_the_rover_claims_are_relative_to_prescribed_motion():
    part = rover(1)
    one = {
        "stops": 17,
        "planned_stops": 17,
        "off_plan_m": 0.01,
        "prescribed": dict.fromkeys(("end", "largest", "odometer"), 0.2),
    }
    within, beyond = ({**one, "physics": dict.fromkeys(("end", "largest", "odometer"), x)} for x in (0.29, 0.31))
    assert all(claim.holds for claim in part.judge([within, within])[0])
    assert not any(claim.holds for claim in part.judge([beyond, beyond])[0])


def test_sessions_that_two_parts_share_are_the_same_job():
    quad, _, skipped, *_ = parts(2)
    assert {repr(job) for job in skipped.jobs} & {repr(job) for job in quad.jobs}

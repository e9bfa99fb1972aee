"""The off-line program as a whole, on paper C's virtual robots: what it does where the log lies or lacks something."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import Calibration
from strapdown.errors import InputError
from strapdown.evaluation.stops import believed_stands, stop_table
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD
from strapdown.navigation.carriers.foot import Foot
from strapdown.navigation.carriers.paper_robot import PaperRobot
from strapdown.navigation.carriers.residual_errors import CHANGED_ACC, CHANGED_GYR, left_by, left_by_nonlinearity
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.event_notes import notes_of_events
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.drive import drive
from strapdown.papers.c.robot import DECLINATION, RATE_HZ, G, robot
from strapdown.recordings.facts import Facts
from strapdown.sensors.module import Module
from strapdown.sensors.odometer import WheelOdometer
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import Surroundings, record
from strapdown.types import Event, Recording, Solution

SEEDS = (3000, 3001, 3002, 3003)


@cache
def driven(seed=3000):
    return drive("straight", seed)


def facts_known(one):
    return Facts(G, DECLINATION, one.robot.known, calibration=one.robot.calibration)


def robot_of(one, heading=None):
    return WheeledRobot(Heading(one.path.start_yaw_rad) if heading is None else heading)


def navigated(one, log, carrier=None):
    return navigate(log, robot_of(one) if carrier is None else carrier, facts_known(one))


def word_of(one, word):
    n = len(one.log)
    return {"none": None, "never": np.zeros(n, dtype=bool), "stuck": np.ones(n, dtype=bool)}[word]


@pytest.mark.parametrize("word", ["none", "stuck"])
def test_stops_are_found_without_a_true_flag(word):
    percent, nees = [], []
    for seed in SEEDS:
        one = driven(seed)
        found = navigated(one, replace(one.log, stop=word_of(one, word), odometer=None))
        percent.append(stop_table(found.solution, one.stops).final.percent)
        off = (found.solution.p_n - one.truth.p_n)[-1, :2]
        nees.append(np.sum((off / found.solution.sigma["p_n"][-1, :2]) ** 2))
    assert np.mean(percent) < 0.5  # %: chance; a heading known to 1 deg next to a disturbed compass is most of it
    assert 0.1 < np.mean(nees) < 4.4  # chance: 2 is right, four runs of two components stay below 4.4 in 99.6 of 100


@cache
def gentle_drive(seed=3000, length_m=0.9, move_s=4.0):
    """Moves of 0.3 m after a rest of 6 s; the sensor is paper C's robot's."""
    one = robot(seed)
    path = StopAndGo.straight(length_m, move_s=move_s, first_rest_s=6.0)
    parts = {name: one.triads[name] for name in ("gyroscope", "accelerometer")}
    raw = record(path, Module("C", parts), seed=7, rate_hz=RATE_HZ, surroundings=Surroundings(G))[:-1]
    wheel = WheelOdometer(0.03, 600).measure(raw.truth, stream=np.random.SeedSequence(7))
    table = Calibration({name: one.calibration.corrections[name] for name in parts})
    return one, path, replace(apply(table, raw), odometer=wheel.distance_m)


@pytest.mark.parametrize("word", ["true", "none", "stuck"])
@pytest.mark.parametrize("wheel", [True, False])
def test_a_gentle_drive_is_not_swallowed_by_the_rest_before_it(word, wheel):
    one, path, log = gentle_drive()
    stop = {"true": log.stop, "none": None, "stuck": np.ones(len(log), dtype=bool)}[word]
    log = replace(log, stop=stop, odometer=log.odometer if wheel else None)
    facts = Facts(G, noise=one.known, calibration=one.calibration)
    found = navigate(log, WheeledRobot(Heading(path.start_yaw_rad)), facts)
    off = np.linalg.norm((found.solution.p_n - log.truth.p_n)[-1, :2])
    assert off < 0.04 * 0.9  # m: chance; 33 to 118 % was lost where a calm move passed for a rest
    unseen = [note for note in found.notes if "looks like rest" in note]
    assert bool(unseen) == (word != "true" and not wheel)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stand_that_ends_gently_is_not_taken_for_a_new_one(seed):
    """What begins to move within the window that still shows the stand must not become what standing reads."""
    one, path, log = gentle_drive(seed, 6.6, 5.0)
    facts = Facts(G, noise=one.known, calibration=one.calibration)
    log = replace(log, stop=None, odometer=None)
    found = navigate(log, WheeledRobot(Heading(path.start_yaw_rad)), facts)
    assert stop_table(found.solution, path.stops).final.percent < 5.0  # what is just seen; 6 to 3000 if lost


def test_a_rest_that_the_drive_makes_too_short_is_refused():
    _, path, log = gentle_drive()
    late = log.t > 6.0 - 0.25
    cut = Recording(log.t[late], gyr_s=log.gyr_s[late], acc_s=log.acc_s[late], stop=log.stop[late])
    with pytest.raises(InputError, match="samples, alignment needs 10 at rest"):
        navigate(cut, WheeledRobot(Heading(path.start_yaw_rad)), Facts(G))


def test_short_stops_are_used_without_a_flag():
    """Half a second of rest leaves the judge's window little: what it looked back on stood too."""
    path = StopAndGo.straight(rest_s=0.5, first_rest_s=10.0)
    part = load_part("icm-42688-p").nominal(rate_hz=RATE_HZ)
    log = replace(record(path, part, seed=1, surroundings=Surroundings(G)), stop=None)
    found = navigate(log, WheeledRobot(Heading(path.start_yaw_rad, 0.0)), Facts(G, noise=part.triads()))
    assert stop_table(found.solution, path.stops).final.percent < 0.5  # chance; 10 to 60 if no stop is used


def turned_about(lever_m, wheel=False, told=True, **known):
    """Paper C's square by a quiet sensor off the axle; largest error (m) of the sensor's own path, and the events."""
    path = StopAndGo.square(first_rest_s=10.0)
    seen = path.at(np.arange(0.0, path.duration_s, 1.0 / RATE_HZ)).seen_from(lever_m, (1.0, 0.0, 0.0, 0.0))
    noise = np.random.default_rng(5).normal(size=(2, len(seen), 3))
    acc_s, gyr_s = seen.specific_force_b(G) + 7e-3 * noise[0], seen.w_nb_b + 5e-4 * noise[1]
    travel = WheelOdometer(0.03, 600).measure(path.at(seen.t), stream=np.random.SeedSequence(7))
    log = Recording(seen.t, gyr_s=gyr_s, acc_s=acc_s, stop=path.stopped(seen.t) if told else None)
    if wheel:
        log = replace(log, odometer=np.interp(seen.t, travel.t, travel.distance_m))
    carrier = WheeledRobot(Heading(path.start_yaw_rad, 0.0), **known)
    solution = navigate(log, carrier, Facts(G)).solution
    off = solution.p_n - (seen.p_n - seen.p_n[0])
    return np.abs(off[:, :2]).max(), {event.kind for event in solution.events}


@pytest.mark.parametrize("lever_m", [(0.05, 0.0, 0.0), (0.15, -0.1, 0.3), (-0.3, 0.2, 0.0)])
def test_a_sensor_off_the_axle_of_which_nobody_told_is_followed(lever_m):
    largest, events = turned_about(lever_m)
    assert largest < 0.08  # m: chance; with the sensor believed on the axle 5 to 10
    assert not events & {"sideways_rejected", "stop_rejected", "stop_insisted"}
    assert turned_about(lever_m, lever_sigma_m=0.0)[0] > 0.1  # what is wrongly stated is believed


@pytest.mark.parametrize("told", [True, False])
def test_a_wheel_that_stands_in_turns_about_an_unknown_lever_is_not_taken_for_dead(told):
    largest, events = turned_about((0.0, 0.2, 0.0), wheel=True, told=told)
    assert largest < 0.04  # m: chance; 0.2 to 0.7 where the tick after the turn is believed to tell of the speed then
    assert "odometer_rejected" not in events


def test_an_inverted_flag_is_told():
    one = driven()
    found = navigated(one, replace(one.log, stop=~one.log.stop, odometer=None))
    assert any("looks inverted" in note for note in found.notes)
    assert not any("inverted" in note for note in navigated(one, one.log).notes)


def test_rejected_stops_of_a_log_without_a_flag_are_not_told_ones():
    t = np.arange(3.0)
    solution = Solution(t, np.tile([1.0, 0, 0, 0], (3, 1)), events=(Event(1.0, 1.0, "stop_rejected", "refused"),))
    with_flag, without = (" ".join(notes_of_events(solution, told)) for told in (True, False))
    assert "were signalled" in with_flag and "signalled" not in without and "seemed to show" in without


def test_a_drive_without_a_believed_stop_says_so():
    t = np.arange(3.0)
    for believed, said in ((np.zeros(3, dtype=bool), True), (t > 1.0, False)):
        solution = Solution(t, np.tile([1.0, 0, 0, 0], (3, 1)), flags={"stop_believed": believed})
        assert any(note.startswith("no stop was believed") for note in notes_of_events(solution)) is said


def test_a_flag_that_is_never_set_is_no_word_for_the_papers_filter():
    one = driven()
    none, never = (
        navigated(
            one, replace(one.log, stop=word_of(one, word)), PaperRobot(Heading(one.path.start_yaw_rad))
        ).solution.p_n
        for word in ("none", "never")
    )
    np.testing.assert_array_equal(none, never)
    assert np.linalg.norm((never - one.truth.p_n)[-1]) < 0.1 * 6.6  # m: without any stop it runs away by 900 %


def test_an_unknown_heading_is_told_by_its_variance():
    one = driven()
    log = replace(one.log, mag_s=None, odometer=None)
    unknown = navigated(one, log, robot_of(one, Heading()))
    known = navigated(one, log)
    assert any("unknown" in note for note in unknown.notes) and not any("unknown" in note for note in known.notes)
    first, way = unknown.solution.sigma["attitude_n"][0, 2], 6.6
    assert first == pytest.approx(UNKNOWN_HEADING_RAD, rel=1e-9)  # roundoff
    assert known.solution.sigma["attitude_n"][0, 2] == pytest.approx(np.radians(1.0), rel=1e-9)
    off = np.linalg.norm((unknown.solution.p_n - known.solution.p_n)[-1])
    assert off < 0.02 * way  # m: the drive does head north, and what is unknown must not nonlinearity the path
    assert unknown.solution.sigma["p_n"][-1, :2] == pytest.approx(way, rel=0.02)  # the path's own error


@pytest.mark.parametrize("carrier", [WheeledRobot(), Foot()])
def test_an_accelerometer_in_g_is_refused(carrier):
    one = driven()
    log = replace(one.log, acc_s=one.log.acc_s / G)
    with pytest.raises(InputError, match="the readings look like g"):
        navigated(one, log, carrier)


def test_a_dead_magnetometer_is_told_and_not_used():
    one = driven()
    dead = replace(one.log, mag_s=np.zeros((len(one.log), 3)))
    found = navigated(one, dead)
    assert "the magnetometer reads less than 0.1 uT throughout: it is not used" in found.notes
    assert np.array_equal(found.solution.p_n, navigated(one, replace(dead, mag_s=None)).solution.p_n)


def test_a_magnetometer_that_dies_on_the_way_is_told():
    one = driven()
    mag_s = one.log.mag_s.copy()
    mag_s[len(mag_s) // 2 :] = 0.0
    found = navigated(one, replace(one.log, mag_s=mag_s))
    assert any("the magnetometer reads no field in 50 % of the samples" in note for note in found.notes)
    assert stop_table(found.solution, one.stops).final.percent < 2.0  # chance: gyroscope alone


def test_a_foot_has_the_same_heading_rules():
    one = driven()
    log = replace(one.log, stop=None, odometer=None)
    told = []
    known = Heading(one.path.start_yaw_rad)
    for change, heading in (({}, known), ({}, Heading()), ({"mag_s": None}, Heading())):
        found = navigated(one, replace(log, **change), Foot(heading))
        told.append((found.solution.sigma["attitude_n"][0, 2], found.solution.q_nb[0], " ".join(found.notes)))
    sigmas = [sigma for sigma, _, _ in told]
    assert sigmas == pytest.approx([np.radians(1.0), 0.05, UNKNOWN_HEADING_RAD], rel=1e-9)  # roundoff
    assert "magnetometer after the start" in told[0][2] and "unknown" in told[2][2]
    yaws = [2.0 * np.arctan2(q[3], q[0]) for _, q, _ in told]
    assert yaws[0] == pytest.approx(np.pi / 2, abs=1e-3) and yaws[2] == pytest.approx(
        np.pi / 2, abs=1e-3
    )  # tilt squared
    assert yaws[1] == pytest.approx(np.pi / 2, abs=0.2)  # rad: the iron below the floor, 3 deg rms


def test_a_jump_of_one_sample_is_bridged_and_told_and_a_long_one_refused():
    one = driven()
    acc = np.array(one.log.acc_s)
    acc[3000, 0] = 1e4
    clean = navigated(one, one.log)
    hit = navigated(one, replace(one.log, acc_s=acc))
    assert any(note.startswith("spike: 1 (first at t = 30.0") for note in hit.notes)
    assert [event.kind for event in hit.solution.events].count("spike") == 1
    assert (
        np.linalg.norm((hit.solution.p_n - clean.solution.p_n)[-1]) < 1e-3
    )  # m: one reading of 10 ms, by its neighbours
    acc[3000:3010, 0] = 1e4
    with pytest.raises(InputError, match="stays above"):
        navigated(one, replace(one.log, acc_s=acc))


def test_no_stop_is_doubted_where_the_window_still_holds_the_move():
    one = driven()
    found = navigated(one, one.log)
    kinds = {event.kind for event in found.solution.events}
    assert not kinds & {"stop_doubted", "stop_rejected"}, found.notes


def test_the_filter_knows_what_its_calibration_says_of_itself():
    one = driven()
    known = left_by(one.robot.calibration, G)
    filt = robot_of(one).estimator(one.log, facts_known(one))
    bend = left_by_nonlinearity(one.robot.known["accelerometer"], G, one.robot.calibration)
    known_filter = known | {"acc_scale_sigma": float(np.hypot(known["acc_scale_sigma"], bend))}
    assert {name: getattr(filt, name) for name in known} == known_filter
    assert known["gyr_bias_sigma"] > CHANGED_GYR and known["acc_bias_sigma"] > CHANGED_ACC
    gyroscope = one.robot.calibration.corrections["gyroscope"]
    unknown = np.where(np.eye(3) > 0.0, gyroscope.sigma["matrix"], np.inf)  # a calibration that found the scales alone
    corrections = {"gyroscope": replace(gyroscope, sigma={**gyroscope.sigma, "matrix": unknown})}
    found = left_by(Calibration(corrections), G)
    assert known["gyr_matrix_sigma"] < 0.002 < found["gyr_matrix_sigma"] < 0.01
    assert "acc_bias_sigma" not in found


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"odometer_scale": 0.0}, "odometer's scale"),
        ({"odometer_sigma": 2.0}, "standard deviation of the odometer's scale"),
        ({"lever_sigma_m": -1.0}, "lever arm"),
    ],
)
def test_a_robot_that_cannot_be_is_refused(wrong, word):
    with pytest.raises(InputError, match=word):
        WheeledRobot(**wrong)


@pytest.mark.parametrize(
    ("wrong", "word"), [({"q_bs": (1.0, 1.0, 0.0, 0.0)}, "norm"), ({"r_bs_b": (0.0, 0.0, 1e6)}, "lever arm")]
)
def test_facts_that_cannot_be_are_refused(wrong, word):
    one = driven()
    with pytest.raises(InputError, match=word):
        navigate(one.log, robot_of(one), replace(facts_known(one), **wrong))


def test_a_wrong_heading_deviation_is_refused():
    with pytest.raises(InputError, match="from 0 to 180"):
        Heading(sigma_rad=-1.0)


def test_a_name_is_no_carrier():
    with pytest.raises(InputError, match="give WheeledRobot"):
        navigate(driven().log, "robot")


def test_a_told_stop_after_a_corner_is_found_again_by_its_calm():
    """This robot's gyroscope tilts the estimated gravity in corners beyond the limit: the stop is doubted first."""
    one = drive("square", 7021)
    found = one.navigated().solution
    assert len(believed_stands(found)) == 17
    assert np.linalg.norm((found.p_n - one.truth.p_n)[-1, :2]) < 0.05  # m, 1 % of the way; lost it was 10 m

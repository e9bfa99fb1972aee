"""Live navigation by stops that are judged sample by sample, some of them taken back later."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.live_program import LiveNavigator, navigated_live
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.robustness.specimens import specimen
from strapdown.papers.c.robustness.ways import STEP_S, Leg, drive_along, stop
from strapdown.recordings.runs import runs_of

LEGS = [Leg(8.0, ramp_s=STEP_S)]
for speed in (0.3, 0.6, 0.45):
    LEGS += [Leg(12.0, speed), stop(4.0)]


@cache
def cruises():
    """Three drives at constant speed for 11 s, by a calibrated ICM-42688-P."""
    way, one = drive_along(LEGS), specimen("icm-42688-p", 301)
    log = one.read(way.body, "cruises")
    speed = np.linalg.norm(log.truth.v_n, axis=1)
    return one, replace(log, stop=speed < 1e-6), speed


def live(one, log):
    navigator = LiveNavigator(WheeledRobot(Heading(0.0, 0.0)), lambda rest: one.facts(), meta=log.meta, rest_s=6.0)
    return navigator, navigated_live(navigator, log)


@pytest.mark.parametrize("word", ["true", "none", "stuck"])
def test_a_drive_at_constant_speed_is_no_stop(word):
    one, log, speed = cruises()
    stops = {"true": log.stop, "none": None, "stuck": np.ones(len(log), dtype=bool)}[word]
    _, found = live(one, replace(log, stop=stops))
    n = len(found.solution)
    assert speed[-n:][found.stops.standing].max() < 1e-3  # m/s
    off = np.linalg.norm((found.solution.p_n - log.truth.p_n[-n:])[-1, :2])
    assert off < 0.05 * log.truth.p_n[-1, 0]  # chance: 12 s without aid; 100 % where a cruise is a stop
    for first, last in runs_of(log.stop[-n:]):
        assert found.stops.standing[first : last + 1].any()


def test_what_is_taken_back_leaves_no_trace():
    """The end of a run is that of a filter which never took those samples for a stop, to the bit."""
    one, log, _ = cruises()
    log = replace(log, stop=None)
    navigator, found = live(one, log)
    late = [event for event in found.stops.standing ^ found.stops.believed if event]
    assert late  # some verdicts were
    rest = log[: len(log) - len(found.solution)]
    stops = navigator.judge.find(log).standing
    start = navigator.carrier.start(rest, navigator.facts)
    once = navigator.estimator.run(replace(log, stop=stops), start)
    assert np.array_equal(once.p_n[-1], found.solution.p_n[-1]) and np.array_equal(once.v_n[-1], found.solution.v_n[-1])
    for name, sigma in once.sigma.items():
        assert np.array_equal(sigma[-1], found.solution.sigma[name][-1])


def test_memory_is_bounded():
    one, log, _ = cruises()
    navigator, _ = live(one, replace(log, stop=None))
    kept = navigator._kept
    assert log.t[-1] - log.t[0] > 40.0 and kept[-1].sample.t - kept[0].sample.t < 11.1  # s
    assert sum(each.before is not None for each in kept) <= 221  # one state for each 0.05 s

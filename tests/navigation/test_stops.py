"""Stops of a vehicle, live and of a whole recording, on paper C's drives."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from paper_c_cases import RATE_HZ, ROLLING, G, drive
from strapdown.errors import InputError
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.intervals import solution_with_stops
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.navigation.stops.paper_stops import PaperStops
from strapdown.navigation.stops.segment_stops import SegmentStops, looks_inverted
from strapdown.navigation.stops.wheel import wheel_turns
from strapdown.sensors.triad import Triad
from strapdown.types import Recording


@lru_cache(maxsize=2)
def driven(kind="straight"):
    d = drive(kind, 1)
    return d, ForwardStops.of_rest(d.log.between(0.0, 4.0), d.gyroscope, d.accelerometer)


def moving(log):
    return (np.linalg.norm(log.truth.v_n, axis=1) > 0.1) | (np.linalg.norm(log.truth.w_nb_b, axis=1) > 0.1)


def all_stands_found(d, believed):
    t = d.log.t
    spans = zip(d.path.stops.start_s, d.path.stops.end_s, strict=True)
    return all(believed[(t >= start) & (t < end)].any() for start, end in spans)


@pytest.mark.parametrize("kind", ["square", "straight"])
def test_a_true_word_is_believed(kind):
    d, settings = driven(kind)
    stops = settings.find(d.log)
    later = d.log.stop & (d.log.t > 2.0)  # it begins with 2 s that read the same
    assert stops.believed[later].mean() > 0.85  # the wheel is seen to stand 0.2 s late, of 2 s
    assert not (stops.believed & ~d.log.stop).any()
    assert all_stands_found(d, stops.believed)
    assert not stops.rejected[later].any()


@pytest.mark.parametrize("word", ["stuck on", "never given", "no column"])
def test_a_wrong_word_does_not_freeze_the_filter(word):
    d, settings = driven()
    n = len(d.log)
    log = replace(d.log, stop={"stuck on": np.ones(n), "never given": np.zeros(n), "no column": None}[word])
    stops = settings.find(log)
    assert not stops.believed[moving(d.log)].any()
    assert all_stands_found(d, stops.standing)
    speed = np.linalg.norm(d.log.truth.v_n, axis=1)
    assert speed[stops.standing].max() < 1e-3  # m/s, after the verdicts that came late
    if word == "stuck on":
        assert (stops.doubted | stops.rejected)[moving(d.log)].all()
        assert "stop_rejected" in {e.kind for e in stops.events}
        naive = d.filter(**ROLLING).run(log)
        assert lost(naive, d.log) > 1.0  # the way is 6.6 m
    solution = solution_with_stops(d.filter(**ROLLING).run(replace(log, stop=stops.standing)), stops)
    assert lost(solution, d.log) < 0.06  # chance: three times what three seeds have


def lost(solution, log):
    return np.linalg.norm((solution.p_n - log.truth.p_n)[-1])


def pushed(log, start, back, by=1.0):
    """Readings with a push of 1 m/s2 for 0.2 s from start on; back: it is braked by as much after it."""
    acc = np.array(log.acc_s)
    acc[(log.t >= start) & (log.t < start + 0.2), 1] += by
    if back:
        acc[(log.t >= start + 0.2) & (log.t < start + 0.4), 1] -= 1.0
    return replace(log, acc_s=acc)


def test_a_push_during_a_stop_is_seen_within_a_tenth_of_a_second():
    d, settings = driven()
    start = 3.0  # s, within the first stand of 5 s
    push = (d.log.t >= start) & (d.log.t < start + 0.4)
    stops = settings.find(replace(pushed(d.log, start, back=True), stop=None, odometer=None))
    late = d.log.t[(d.log.t >= start) & ~stops.believed][0] - start
    assert late <= 0.1 + 1e-9  # two blocks
    assert not stops.standing[push].any()  # then it is known when it began
    # its speed is 0 again, its force too; the edge of 0.15 s and a block pass
    assert stops.believed[(d.log.t > start + 0.8) & (d.log.t < 4.9)].all()


def whole(d, log, rest_s=4.0):
    """The stops of a whole recording by evidence."""
    rest = 0, round(rest_s * RATE_HZ)
    return SegmentStops.of_rest(d.log, rest, d.gyroscope, d.accelerometer).find(log, rest)


def test_calm_readings_in_motion_are_no_stop_however_long():
    """At 0.2 m/s and steady, for 16 s: as calm as rest."""
    d = drive("straight", 1, first_rest_s=20.0, length_m=0.3)
    log = replace(pushed(pushed(d.log, 3.0, back=False), 19.0, back=False, by=-1.0), stop=None, odometer=None)
    t = d.log.t
    settings = ForwardStops.of_rest(log.between(0.0, 2.9), d.gyroscope, d.accelerometer)
    assert not settings.find(log).believed[(t > 3.1) & (t < 19.0)].any()
    assert not whole(d, log, 2.0).believed[(t > 3.1) & (t < 19.0)].any()


def test_live_a_bump_in_a_drive_does_not_make_it_a_stop():
    """Readings before and after it agree, as those of two stops would."""
    d = drive("straight", 1, first_rest_s=30.0, length_m=0.3)
    log = replace(pushed(d.log, 3.0, back=False), stop=None, odometer=None)
    acc = np.array(log.acc_s)
    for start in np.arange(6.0, 28.0, 3.0):
        acc[(log.t >= start) & (log.t < start + 0.1), 0] += 0.5
        acc[(log.t >= start + 0.1) & (log.t < start + 0.2), 0] -= 0.5
    settings = ForwardStops.of_rest(log.between(0.0, 2.9), d.gyroscope, d.accelerometer)
    assert not settings.find(replace(log, acc_s=acc)).believed[(log.t > 3.1) & (log.t < 30.0)].any()


@pytest.mark.parametrize("word", ["none", "stuck", "wheel"])
def test_live_a_gentle_move_is_no_stop(word):
    d, speed = gentle()
    stop = np.ones(len(d.log), dtype=bool) if word == "stuck" else None
    log = replace(d.log, odometer=d.log.odometer if word == "wheel" else None, stop=stop)
    found = ForwardStops.of_rest(log.between(0.0, 9.0), d.gyroscope, d.accelerometer).find(log)
    assert all_stands_found(d, found.standing)
    assert speed[found.believed].max() < 0.02  # m/s at which the move is seen to have begun
    assert speed[found.standing].max() < 0.003  # with what is taken back


def gentle(**settings):
    """0.3 m in 4 s: 0.11 m/s2 at most, which a window of 0.3 s cannot tell from rest."""
    d = drive("straight", 2, move_s=4.0, first_rest_s=10.0, length_m=1.8, **settings)
    return d, np.linalg.norm(d.log.truth.v_n, axis=1)


@pytest.mark.parametrize("word", ["stuck", "none"])
def test_a_gentle_move_is_no_stop(word):
    d, speed = gentle()
    log = replace(d.log, odometer=None, stop=np.ones(len(d.log)) if word == "stuck" else None)
    stops = whole(d, log, 9.0)
    # 30 mm/s: ten sigmas of the speed that noise gains in a second
    assert not stops.believed[speed > 0.03].any() and all_stands_found(d, stops.believed)
    assert speed[stops.used].max() < 0.015  # m/s: without the edges, where the speed begins to grow
    if word == "stuck":
        assert (stops.doubted | stops.rejected)[speed > 0.03].all()


def test_a_wheel_that_turns_is_a_word_and_a_dead_one_is_none():
    d, speed = gentle()
    for stop in (None, np.ones(len(d.log), dtype=bool)):
        stops = whole(d, replace(d.log, stop=stop), 9.0)
        assert not stops.believed[speed > 0.01].any() and all_stands_found(d, stops.believed)
    dead = replace(d.log, stop=None, odometer=np.zeros(len(d.log)))
    alone = whole(d, replace(dead, odometer=None), 9.0)
    np.testing.assert_array_equal(whole(d, dead, 9.0).believed, alone.believed)


@pytest.mark.parametrize("signal", ["flag", "wheel"])
def test_a_signal_that_dies_in_motion_shows_no_stop_in_any_later_move(signal):
    d = drive("straight", 1)
    n, dies = len(d.log), int(np.searchsorted(d.log.t, 12.0))
    changed = {"stop": None, "odometer": None}
    if signal == "flag":
        changed["stop"] = d.log.stop | (np.arange(n) >= dies)
    else:
        changed["odometer"] = np.minimum(d.log.odometer, d.log.odometer[dies])
    stops = whole(d, replace(d.log, **changed))
    assert not stops.believed[moving(d.log)].any() and all_stands_found(d, stops.believed)


@pytest.mark.parametrize("degrees", (0.01, 0.1, 0.3))
def test_a_stop_that_turns_slowly_is_a_stop(degrees):
    d = drive("straight", 1)
    gyr = np.array(d.log.gyr_s)
    gyr[d.log.stop & (d.log.t > 5.0), 2] += np.radians(degrees)
    stops = whole(d, replace(d.log, gyr_s=gyr, stop=None, odometer=None))
    assert all_stands_found(d, stops.believed) and not stops.believed[moving(d.log)].any()


def test_a_wheel_turns_from_more_than_its_resolution_and_noise_on():
    t = 0.01 * np.arange(1000)
    way = np.maximum(t - 5.0, 0.0) * 0.01  # m: 10 mm/s
    ticks = Recording(t, odometer=0.001 * np.floor(way / 0.001))
    ticking = wheel_turns(ticks, 0.3)
    assert not ticking[t < 5.1].any() and ticking[t > 5.4].all()
    jumping = np.array(ticks.odometer)
    jumping[100:] += 0.001  # a wheel at rest on the edge of a tick
    assert not wheel_turns(replace(ticks, odometer=jumping), 0.3)[t < 5.1].any()
    noisy = way + np.random.default_rng(1).normal(0.0, 1e-4, len(t))
    assert not wheel_turns(Recording(t, odometer=noisy), 0.3)[t < 5.0].any()
    assert not wheel_turns(Recording(t, odometer=t), 0.3).any()  # a clock, not a wheel
    assert not wheel_turns(Recording(t, acc_s=np.ones((1000, 3))), 0.3).any()


def test_verdicts_exclude_each_other_and_are_told_as_flags_and_events():
    d, _ = driven("square")
    stops = NoiseStops.for_triads(d.gyroscope, d.accelerometer, RATE_HZ).find(replace(d.log, stop=np.ones(len(d.log))))
    count = stops.believed.astype(int) + stops.doubted + stops.rejected
    assert (count[15:] == 1).all()  # the first window shows nothing yet
    assert count.max() == 1
    solution = solution_with_stops(d.filter().run(replace(d.log, stop=stops.believed)), stops)
    assert set(stops.flags) <= set(solution.flags)
    assert not (solution.flags["stop_believed"] & solution.flags["stop_rejected"]).any()
    times = [e.t_s for e in solution.events]
    assert times == sorted(times)
    for kind, flag in stops.flags.items():
        inside = np.zeros(len(stops.t), dtype=bool)
        for e in stops.events:
            if e.kind == kind:
                inside |= (stops.t >= e.t_s) & (stops.t <= e.until_s)
        assert inside[flag].all()


def test_a_gap_empties_the_window():
    d, _ = driven()
    settings = NoiseStops.for_triads(d.gyroscope, d.accelerometer, RATE_HZ)
    keep = (d.log.t < 2.0) | (d.log.t > 3.0)
    part = Recording(d.log.t[keep], gyr_s=d.log.gyr_s[keep], acc_s=d.log.acc_s[keep], stop=d.log.stop[keep])
    stops = settings.find(part)
    after = np.flatnonzero(part.t > 3.0)[:14]
    assert not stops.believed[after].any()
    assert stops.believed[after[-1] + 2]


def test_an_inverted_flag_looks_so_and_others_do_not():
    d, _ = driven()
    n, rest = len(d.log), (0, 400)
    settings = SegmentStops.of_rest(d.log, rest)
    assert looks_inverted(replace(d.log, stop=~d.log.stop), settings, rest)
    for stop in (d.log.stop, np.ones(n, dtype=bool), None, np.arange(n) % 400 > 200):
        assert not looks_inverted(replace(d.log, stop=stop), settings, rest)


def test_the_paper_rule_needs_a_calibrated_sensor():
    d, _ = driven()
    rule = PaperStops(gravity=G)
    stops = rule.find(d.log)
    assert stops.believed[d.log.stop].mean() > 0.99
    raw = replace(d.log, acc_s=d.log.acc_s + np.array([0.0, 0.0, 0.5]))  # 50 mg, as a part leaves the factory
    assert not rule.find(raw).believed.any() and rule.find(raw).doubted[d.log.stop].all()
    offset = replace(driven()[1], rest_force_s=tuple(np.add(driven()[1].rest_force_s, (0.0, 0.0, 0.5))))
    assert all_stands_found(d, offset.find(raw).believed)


def test_thresholds_come_from_the_noise():
    gyr, acc = Triad("rad/s", white=(1e-4, 2e-4, 1e-4)), Triad("m/s2", white=(1e-3, 1e-3, 2e-3), resolution=0.05)
    settings = NoiseStops.for_triads(gyr, acc, 100.0)
    assert settings.gyr_sigma_rad_s == pytest.approx(2e-3)
    assert settings.acc_sigma_m_s2 == pytest.approx(np.hypot(2e-2, 0.05 / np.sqrt(12.0)))
    rng = np.random.default_rng(3)
    n = 20000
    rest = Recording(
        np.arange(n) / 100.0, gyr_s=rng.normal(size=(n, 3)) * 2e-3, acc_s=rng.normal(size=(n, 3)) * 0.02 + [0, 0, G]
    )
    honest = NoiseStops(acc_sigma_m_s2=0.02, gyr_sigma_rad_s=2e-3, noise_factor=1.0, false_alarm=1e-3)
    alarms = np.mean(honest.find(rest).signal[15:] > honest.threshold(15))
    assert 0.3e-3 < alarms < 5e-3  # chance: two instruments, windows overlap: some 1300 independent ones, 2e-3 expected
    assert NoiseStops.from_rest(rest, 10.0).acc_sigma_m_s2 == pytest.approx(0.02, rel=0.1)  # chance: 1000 samples


def test_bad_input_is_refused_in_words():
    with pytest.raises(InputError, match="no gyroscope"):
        NoiseStops().find(Recording([0.0, 0.1], acc_s=np.ones((2, 3))))
    with pytest.raises(InputError, match="one sample"):
        NoiseStops().find(Recording([0.0], acc_s=np.ones((1, 3)), gyr_s=np.ones((1, 3))))
    with pytest.raises(InputError, match="window_s of the stop settings is 0"):
        NoiseStops(window_s=0.0)
    with pytest.raises(InputError, match="give one that reads rad/s"):
        NoiseStops.for_triads(Triad("m/s2"), Triad("m/s2"), 100.0)
    with pytest.raises(InputError, match="no noise"):
        NoiseStops.for_triads(Triad("rad/s"), Triad("m/s2"), 100.0)
    d, settings = driven()
    part = Recording(d.log.t[:500], gyr_s=d.log.gyr_s[:500], acc_s=d.log.acc_s[:500])
    with pytest.raises(InputError, match="other times"):
        solution_with_stops(d.filter().run(d.log), settings.find(part))


def test_a_turn_on_the_spot_is_no_stop_although_wheels_stand_and_forces_are_those_of_a_rest():
    """A rover in physics: the mean travel of its wheels stands while it turns, and its flag is right."""
    from strapdown.papers.b.closed_loop.rover import RoverJob, driven

    one = driven(RoverJob("square", 2000))
    found = one.navigated(odometer=True)
    turns = np.abs(one.log.truth.w_nb_b[:, 2]) > 0.1
    assert turns.sum() > 100
    assert not found.stops.believed[turns].any()

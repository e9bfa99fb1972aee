"""Every number that decides a stop has a promise of its own: it holds, and with twice the number it does not.

The logs are noise-free, so each case stands where the number decides: chance moves none of them.
"""

from dataclasses import fields, replace

import numpy as np
import pytest

from strapdown.kernels.navigation import stop_segments as kernel
from strapdown.navigation.carriers import hand
from strapdown.navigation.stops import segment_stops, segments, wheel
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.navigation.stops.paper_stops import PaperStops
from strapdown.navigation.stops.segment_stops import SegmentStops, looks_inverted
from strapdown.types import Recording

G, HZ = 9.81, 100.0
REST = (0, 399)
WHOLE = SegmentStops(acc_sigma_m_s2=0.03, gyr_sigma_rad_s=1e-3, acc_white=3e-3, gyr_white=1e-4)


def log(*parts, **columns):
    """Parts that follow each other: seconds, and what force and rate have besides gravity, as functions of time within
    the part."""
    acc, gyr = [], []
    for seconds, force, rate in parts:
        t = np.arange(round(seconds * HZ)) / HZ
        acc.append(np.array([0.0, 0.0, G]) + np.array([force(x) for x in t]))
        gyr.append(np.array([rate(x) for x in t]))
    acc = np.concatenate(acc)
    return Recording(np.arange(len(acc)) / HZ, gyr_s=np.concatenate(gyr), acc_s=acc, **columns)


def still(seconds, force=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0)):
    return seconds, lambda t: force, lambda t: rate


def moves(seconds, left_m_s=0.0):
    """Gains speed and loses it, except for left_m_s."""
    w = 2.0 * np.pi / seconds
    return seconds, lambda t: (np.sin(w * t) + left_m_s / seconds, 0.0, 0.0), lambda t: (0.0, 0.0, 0.0)


AWAY = (1.0, lambda t: (1.0, 0.0, 0.0), lambda t: (0.0, 0.0, 0.0))


def stop_after(settings, move, stand, **columns):
    """Whether the middle of a stop after a move is believed."""
    parts = (still(5.0), move, stand, AWAY)
    middle = round((5.0 + move[0] + 0.5 * stand[0]) * HZ)
    return bool(settings.find(log(*parts, **columns), REST).believed[middle])


def signals(move_s, stop_s, odometer):
    """Flag, and wheel where asked, of such a log."""
    t = np.arange(round((6.0 + move_s + stop_s) * HZ)) / HZ
    stands = (t < 5.0) | ((t >= 5.0 + move_s) & (t < 5.0 + move_s + stop_s))
    shown = {"stop": stands}
    if odometer:
        shown["odometer"] = np.cumsum(np.where(stands, 0.0, 0.01))
    return shown


def shaken(factor):
    """A stop that varies by this factor more than the noise of the rest."""
    sign = lambda t: 1.0 if round(t * HZ) % 2 else -1.0  # noqa: E731
    return (
        3.0,
        lambda t: (0.03 * factor * sign(t),) * 3,
        lambda t: (1e-3 * factor * sign(t),) * 3,
    )


def cuts(settings, statistic):
    """Whether a step of this chi-square, between two halves of 4 s, is cut."""
    step = settings.acc_white * np.sqrt(statistic / 2.0)
    found = segments.segments_of(settings, log(still(4.0), still(4.0, (0.0, 0.0, step))), REST)
    return 400 in found.first


def first_used_s(settings):
    """Time of the first sample that is used of a stop that begins at 7 s."""
    found = settings.find(log(still(5.0), moves(2.0), still(3.0), AWAY), REST)
    return found.t[found.used & (found.t > 6.0)][0]


WHOLE_PROMISES = {
    # name: promise. m/s2 along gravity, at 5.5 sigmas of the change and of the mean over the stop
    "steady_m_s2": lambda s: not stop_after(s, moves(2.0), still(1.0, (0.0, 0.0, 0.03))),
    # m/s2 sideways, by a tilt that the gyroscope did not read within 10 s
    "wander_rad_s": lambda s: not stop_after(s, moves(10.0), still(1.0, (0.0, 0.033, 0.0))),
    # m/s2 along gravity after half a turn on the spot
    "turn_leak": lambda s: not stop_after(s, still(2.0, rate=(0.0, 0.0, 0.5 * np.pi)), still(1.0, (0.0, 0.0, 0.35))),
    # m/s of a cruise that would be a stop if drives gained speed faster
    "gain_m_s2": lambda s: not stop_after(s, moves(2.0, 0.025), still(1.0)),
    "floor_spread": lambda s: not stop_after(s, moves(2.0), shaken(1.8)),
    "turn_rad_s": lambda s: not stop_after(s, moves(2.0), still(1.0, rate=(0.0, 0.0, 0.06))),
    # m/s: what 3 s of calm outweigh, and 1 s does not
    "calm_s": lambda s: stop_after(s, moves(2.0, 0.0255), still(3.0)),
    # m/s: what the controller's signal outweighs
    "signal_error": lambda s: stop_after(s, moves(2.0, 0.0285), still(1.0), **signals(2.0, 1.0, odometer=False)),
    # two signals that have never been wrong do not make a stop of 1.4 s of a cruise of 1 m/s
    "doubt": lambda s: not stop_after(s, moves(2.0, 1.0), still(1.4), **signals(2.0, 1.4, odometer=True)),
    "edge_s": lambda s: abs(first_used_s(s) - 7.15) < 1e-9,  # roundoff
    # chi-square with 6 degrees of freedom has 38.26 at one in a million
    "false_alarm": lambda s: cuts(s, 38.5) and not cuts(s, 37.5),
}


@pytest.mark.parametrize("name", WHOLE_PROMISES)
def test_a_whole_recording(name):
    promise = WHOLE_PROMISES[name]
    assert promise(WHOLE)
    assert not promise(replace(WHOLE, **{name: 2.0 * getattr(WHOLE, name)}))


def test_every_setting_has_a_promise():
    noise = {"acc_sigma_m_s2", "gyr_sigma_rad_s", "acc_white", "gyr_white"}  # measured
    assert {field.name for field in fields(SegmentStops)} == noise | set(WHOLE_PROMISES)
    known = {"name", "acc_sigma_m_s2", "gyr_sigma_rad_s"}
    assert {field.name for field in fields(NoiseStops)} == known | set(HAND_PROMISES)
    measured = {"name", "evidence", "rest_rate_s", "rest_force_s", "wheel_m"}
    assert {field.name for field in fields(ForwardStops)} == measured | {"unsure"}
    assert {field.name for field in fields(FootStops)} == {"name", "look_ahead", "gravity"} | set(FOOT_PROMISES)


def test_the_noise_is_that_of_the_rest_or_of_the_part():
    rng = np.random.default_rng(1)
    rest = log(still(20.0))
    noise = rng.normal(0.0, 1.0, (2, len(rest), 3))
    rest = replace(rest, acc_s=rest.acc_s + 0.03 * noise[0], gyr_s=1e-3 * noise[1])
    found = SegmentStops.of_rest(rest, (0, 1999))
    assert found.acc_sigma_m_s2 == pytest.approx(0.03, rel=0.1)  # chance: 2000 samples, the largest of three axes
    assert found.acc_white == pytest.approx(0.003, rel=0.15) and found.gyr_white == pytest.approx(1e-4, rel=0.15)
    slow = replace(rest, acc_s=np.repeat(rest.acc_s[::10], 10, axis=0))  # readings that repeat: means vary by more
    assert SegmentStops.of_rest(slow, (0, 1999)).acc_white > 1.8 * found.acc_white


def test_half_a_second_of_rest_shows_noise_that_is_not_white(monkeypatch):
    readings = np.array([0.0, 0.0, G]) + 0.03 * np.repeat(np.where(np.arange(15) % 2, 1.0, -1.0), 5)[:, None]
    turns = np.where(np.arange(75) % 2, 1e-3, -1e-3)[:, None] * np.ones(3)
    rest = Recording(np.arange(75) / HZ, gyr_s=turns, acc_s=readings)  # means over 0.05 s vary as much as readings

    def varies():
        return SegmentStops.of_rest(rest, (0, 74)).acc_white > 0.03 * np.sqrt(0.04)

    assert varies()
    monkeypatch.setattr(segment_stops, "_LEAST_BLOCKS", 2 * segment_stops._LEAST_BLOCKS)
    assert not varies()


NUMERIC = {
    # a step is found to 0.05 s
    "BLOCK_S": lambda: 405 in segments.segments_of(WHOLE, log(still(4.05), still(4.0, (0.3, 0.0, 0.0))), REST).first,
    "GAP_S": lambda: 400 in segments.segments_of(WHOLE, _with_gap(0.7), REST).first,
    # the cost of a sample: a rest of 25 s is three segments
    "LONGEST_S": lambda: len(segments.segments_of(WHOLE, log(still(25.0)), REST)) == 3,
}


def _with_gap(seconds):
    one = log(still(8.0))
    return replace(one, t=one.t + seconds * (one.t >= 4.0))


@pytest.mark.parametrize("name", NUMERIC)
def test_how_a_recording_is_cut(monkeypatch, name):
    assert NUMERIC[name]()
    monkeypatch.setattr(segments, name, 2.0 * getattr(segments, name))
    assert not NUMERIC[name]()


def test_the_cost_of_a_segment_does_not_grow_with_the_log(monkeypatch):
    """A second of each: 160 segments, each compared with 64 earlier ones and the best."""
    one = log(*(still(1.0, (0.1 * (k % 2), 0.0, 0.0)) for k in range(160)))
    settings = replace(WHOLE, calm_s=1.0)
    cut = segments.segments_of(settings, one, (0, 99))
    own = np.zeros(len(cut))

    def compared():
        chosen = np.zeros(len(cut), dtype=bool)
        return kernel.chain(cut.columns(own), settings.packed(G), 0, segment_stops.REACH, chosen)

    assert compared() <= 65 * len(cut)
    monkeypatch.setattr(segment_stops, "REACH", 2 * segment_stops.REACH)
    assert compared() > 65 * len(cut)


def test_a_flag_that_shows_a_third_of_the_stops_is_not_inverted(monkeypatch):
    one = log(still(6.0), moves(2.0), still(4.0), moves(2.0), still(3.0), AWAY)
    t = one.t
    shown = (t > 6.0) & (t < 8.0) | (t > 12.0) & (t < 14.0) | (t > 17.0)
    assert looks_inverted(replace(one, stop=shown), WHOLE, REST)
    third = replace(one, stop=shown | (t > 2.0) & (t < 6.0))
    assert not looks_inverted(third, WHOLE, REST)
    monkeypatch.setattr(segment_stops, "_INVERTED", 2.0 * segment_stops._INVERTED)
    assert looks_inverted(third, WHOLE, REST)


LIVE = ForwardStops(WHOLE, rest_force_s=(0.0, 0.0, G))


def live_stop(settings, move, stand, t_s, **columns):
    """Whether a sample t_s after the begin of a stop is believed live."""
    parts = (still(5.0), move, stand, AWAY)
    return bool(settings.find(log(*parts, **columns)).believed[round((5.0 + move[0] + t_s) * HZ)])


LIVE_PROMISES = {
    # what the live judge has in common with that of a whole recording: it acts there, too
    "steady_m_s2": lambda s: not live_stop(s, moves(2.0), still(1.0, (0.0, 0.0, 0.036)), 0.5),
    "wander_rad_s": lambda s: not live_stop(s, moves(10.0), still(1.0, (0.0, 0.027, 0.0)), 0.5),
    "turn_leak": lambda s: not live_stop(s, still(2.0, rate=(0.0, 0.0, np.pi / 2)), still(1.0, (0.0, 0.0, 0.3)), 0.9),
    "gain_m_s2": lambda s: not live_stop(s, moves(2.0, 0.0188), still(1.0), 0.7),
    "floor_spread": lambda s: not live_stop(s, moves(2.0), shaken(1.8), 1.0),
    "turn_rad_s": lambda s: not live_stop(s, moves(2.0), still(1.0, rate=(0.0, 0.0, 0.06)), 0.5),
    # a reliable signal outweighs 26.4 mm/s that the reckoning has left
    "signal_error": lambda s: live_stop(s, moves(2.0, 0.0264), still(1.0), 0.5, **signals(2.0, 1.0, odometer=False)),
    # a minute after the last stop the speed is not known any more: a stand of 9 s is a stop
    "calm_s": lambda s: live_stop(s, moves(60.0), still(12.0), 9.0),
    "edge_s": lambda s: live_stop(s, moves(2.0), still(1.0), 0.22),
}


@pytest.mark.parametrize("name", LIVE_PROMISES)
def test_live(name):
    promise = LIVE_PROMISES[name]
    assert promise(LIVE)
    twice = replace(WHOLE, **{name: 2.0 * getattr(WHOLE, name)})
    assert not promise(replace(LIVE, evidence=twice))


def test_how_sure_a_new_stop_must_be_live():
    """18 mm/s after a move of 2 s: odds of 5 to 1 are asked, and not of 2 to 1."""

    def promise(settings):
        return not live_stop(settings, moves(2.0, 0.018), still(1.0), 0.5)

    assert promise(LIVE)
    assert not promise(replace(LIVE, unsure=2.0 * LIVE.unsure))


def test_how_much_a_hand_trembles(monkeypatch):
    """Readings that vary five times as much as in the first second are those of a hand that moves."""
    noise = np.random.default_rng(1).normal(0.0, 1.0, (2, 400, 3)) * np.where(np.arange(400) < 200, 1.0, 5.0)[:, None]
    one = Recording(np.arange(400) / HZ, gyr_s=1e-3 * noise[1], acc_s=np.array([0.0, 0.0, G]) + 0.03 * noise[0])

    def trembles():
        return hand.hand_stops(one).find(one).believed[250:].mean()

    assert trembles() < 0.3
    monkeypatch.setattr(hand, "TREMBLE", 2.0 * hand.TREMBLE)
    assert trembles() > 0.9


QUIET = NoiseStops(acc_sigma_m_s2=1e-4, gyr_sigma_rad_s=1e-5)


def judged(settings, *parts, **columns):
    return settings.find(log(*parts, **columns))


def jolt(left_m_s=0.0):
    """A second of shaking that ends a stop and leaves this speed."""
    return 1.0, lambda t: (np.sin(14.0 * np.pi * t / 0.85) * (t < 0.85) + left_m_s, 0.0, 0.0), lambda t: (0.0, 0.0, 0.0)


def at(found, t_s):
    return bool(found.believed[round(t_s * HZ)])


def alternating(factor, seconds=1.0):
    """Readings whose sample variance is that of the noise times factor squared, but for n - 1 of n."""
    sign = lambda t: 1.0 if round(t * HZ) % 2 else -1.0  # noqa: E731
    return seconds, lambda t: (QUIET.acc_sigma_m_s2 * factor * sign(t),) * 3, lambda t: (0.0, 0.0, 0.0)


HAND_PROMISES = {
    "window_s": lambda s: np.argmax(judged(s, still(1.0)).believed) == 14,  # 15 samples
    # chi-square with 42 degrees of freedom has 1.96 times 42 at one in 10,000; 1.5 squared times it is 4.42
    "noise_factor": lambda s: not judged(s, alternating(3.0)).believed.any(),
    "false_alarm": lambda s: judged(s, alternating(2.05)).believed.any(),
    "shift_m_s2": lambda s: not at(judged(s, still(2.0), jolt(), still(1.0, (0.0, 0.0, 0.085))), 3.3),
    "turn_rad_s": lambda s: not at(judged(s, still(2.0), still(1.0, rate=(0.0, 0.0, 0.015))), 2.5),
    "speed_m_s": lambda s: not at(judged(s, still(2.0), jolt(0.085), still(1.0)), 3.3),
    "drift_m_s2": lambda s: not at(judged(s, still(2.0), jolt(0.1), still(1.0)), 3.7),
    "calm_s": lambda s: at(judged(s, still(2.0), jolt(0.5), still(2.0)), 4.5),  # a cruise at 0.5 m/s
    "strong": lambda s: judged(s, still(2.0), alternating(8.0), stop=np.ones(300, dtype=bool)).rejected[250],
    "doubt_s": lambda s: judged(s, still(2.0), alternating(3.0), stop=np.ones(300, dtype=bool)).rejected[290],
    "gap_s": lambda s: not s.find(_with_gap(0.7)).believed[402],
    "mean_s": lambda s: at(
        judged(s, still(2.0), still(3.0, rate=(0.0, 0.0, 0.008)), still(1.0, rate=(0.0, 0.0, 0.0155))), 5.5
    ),
}


@pytest.mark.parametrize("name", HAND_PROMISES)
def test_in_a_hand(name):
    promise = HAND_PROMISES[name]
    assert promise(QUIET)
    assert not promise(replace(QUIET, **{name: 2.0 * getattr(QUIET, name)}))


def turning(*parts):
    """Rates (rad/s) at 200 Hz, each for some seconds; with a force beyond gravity where a third number is given."""
    rows = [np.tile([rate, force[0] if force else 0.0], (round(200 * s), 1)) for s, rate, *force in parts]
    rate, force = np.concatenate(rows).T
    zero = np.zeros_like(rate)
    t = np.arange(len(rate)) / 200.0
    return Recording(t, gyr_s=np.column_stack([zero, rate, zero]), acc_s=np.column_stack([zero, zero, G + force]))


def stance(settings, parts, t_s):
    return bool(settings.find(turning(*parts)).believed[round(200 * t_s)])


FOOT_PROMISES = {
    # one sample that turns spoils the 11 samples of the windows around it
    "window_s": lambda s: (~s.find(turning((1.0, 0.0), (0.005, 1.0), (1.0, 0.0))).believed).sum() == 11,
    "force_as_rate": lambda s: stance(s, ((1.0, 0.0), (0.2, 4.0), (0.3, 0.0, 0.5)), 1.3),
    "ratio": lambda s: not stance(s, ((1.0, 0.0), (0.5, 4.0), (0.3, 0.7)), 1.6),
    "forget_s": lambda s: not stance(s, ((1.0, 0.0), (0.2, 8.0), (1.0, 0.5)), 1.7),
    "least_rad_s": lambda s: not stance(s, ((2.0, 0.15),), 1.0),
    "patience_s": lambda s: (
        s.find(turning((8.0, 1.0))).believed[: round(200 * 4.3)].any()
    ),  # 2 s, and ln 8 s until 1/8 is reached
}


@pytest.mark.parametrize("name", FOOT_PROMISES)
def test_a_foot(name):
    promise, foot = FOOT_PROMISES[name], FootStops(gravity=G)
    assert promise(foot)
    assert not promise(replace(foot, **{name: 2.0 * getattr(foot, name)}))


@pytest.mark.parametrize(
    ("name", "part"),
    [("force_m_s2", still(1.0, (0.0, 0.0, 0.3))), ("rate_rad_s", still(1.0, rate=(0.04, 0.0, 0.0)))],
)
def test_the_rule_of_the_paper(name, part):
    rule = PaperStops(gravity=G)
    assert not rule.find(log(part)).believed.any()
    assert replace(rule, **{name: 2.0 * getattr(rule, name)}).find(log(part)).believed.all()


def ticking(m_s, tick_m=1e-3, noise_m=0.0, rest_s=5.0):
    t = np.arange(1000) / HZ
    way = np.maximum(t - rest_s, 0.0) * m_s
    noise = np.random.default_rng(1).normal(0.0, noise_m, len(t)) if noise_m else 0.0
    return Recording(t, odometer=tick_m * np.floor(way / tick_m) if tick_m else way + noise)


def _rattling():
    """A wheel that reads 2 mm/s and rattles by 0.3 mm from 1.2 s on."""
    rattles = np.where(T > 1.2, 3e-4, 1e-6) * np.where(np.arange(len(T)) % 2, 1.0, -1.0)
    return np.maximum(T - 1.2, 0.0) * 2e-3 + rattles


T = np.arange(1000) / HZ
WHEEL_PROMISES = {
    # two ticks within the window are a turn, one is none
    "TICKS": lambda: wheel.wheel_turns(ticking(0.006), 0.3).any() and not wheel.wheel_turns(ticking(0.0015), 0.3).any(),
    "_SIGMAS": lambda: wheel.wheel_turns(ticking(5e-3, None, 1e-4), 0.3)[800:].all(),
    # a wheel that turns from the first sample on has no noise to tell: so slow, it stands
    "CREEP_M_S": lambda: wheel.wheel_turns(Recording(T, odometer=0.015 * np.minimum(T, 5.0)), 0.3).any(),
    # a wheel that never stops turns all the time; its speed is never as even as a clock
    "_CLOCK": lambda: wheel.wheel_turns(Recording(T, odometer=T + 0.008 * np.sin(T)), 0.3)[100:].all(),
    "_LOOK_S": lambda: wheel.wheel_turns(Recording(T, odometer=_rattling()), 0.3).any(),
    "WINDOW_S": lambda: not wheel.rolling(ticking(0.0025)).any(),
}


@pytest.mark.parametrize("name", WHEEL_PROMISES)
def test_a_wheel(monkeypatch, name):
    assert WHEEL_PROMISES[name]()
    monkeypatch.setattr(wheel, name, 2.0 * getattr(wheel, name))
    assert not WHEEL_PROMISES[name]()

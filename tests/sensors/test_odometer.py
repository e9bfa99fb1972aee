"""The wheel odometer: what a wheel rolls, what an encoder counts, and what it misses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.errors import InputError
from strapdown.motion import Circle, Linear, Rest, StopAndGo, Turntable
from strapdown.sensors.odometer import WheelOdometer, distance_and_turn
from strapdown.sensors.streams import seed_of, stream
from strapdown.types import Recording

SOME = settings(max_examples=40, deadline=None)
RADIUS = 0.05
PLAIN = WheelOdometer(RADIUS)


def rng(seed=1):
    return stream(seed, "odometer")


def run_of(path, rate_hz=100.0):
    return path.at(np.arange(int(path.duration_s * rate_hz) + 1) / rate_hz)


STRAIGHT = run_of(Linear((0, 0, 0), (6.0, 0, 0), speed_m_s=1.0, acceleration_m_s2=1.0, rest_after_s=1.0))
SQUARE = run_of(StopAndGo.square(1.2))


# ---------------------------------------------------------------- what a wheel rolls


@SOME
@given(st.floats(-1.0, 1.0), st.floats(0.5, 5.0), st.booleans())
def test_a_wheel_to_the_left_rolls_less_in_a_left_turn(y, radius_m, clockwise):
    """v_x - w_z y: on a circle of radius r the wheel's own circle has radius r - y (or r + y)."""
    motion = run_of(Circle(radius_m, 1.0, 5.0, clockwise=clockwise), 50.0)
    rolled = WheelOdometer(RADIUS, r_bw_b=(0.3, y, 0.0)).measure(motion, stream=rng()).distance_m
    side = -1.0 if clockwise else 1.0
    np.testing.assert_allclose(rolled, (1.0 - side * y / radius_m) * motion.t, atol=1e-12)


def test_a_wheel_does_not_notice_going_sideways_or_up():
    for end_n in ((0.0, 5.0, 0.0), (0.0, 0.0, 5.0)):
        motion = run_of(Linear((0, 0, 0), end_n, 1.0, 1.0, q_nb=(1, 0, 0, 0)))
        assert np.max(np.abs(PLAIN.measure(motion, stream=rng()).distance_m)) < 1e-14


def test_on_a_straight_run_it_is_the_way():
    found = PLAIN.measure(STRAIGHT, stream=rng())
    assert abs(found.distance_m[-1] - 6.0) < 1e-12
    np.testing.assert_allclose(found.distance_m, STRAIGHT.p_n[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.speed_m_s(), np.diff(STRAIGHT.p_n[:, 0]) / 0.01, atol=1e-10)


def test_backward_counts_down():
    motion = run_of(Linear((0, 0, 0), (-3.0, 0, 0), 1.0, 1.0, q_nb=(1, 0, 0, 0)))
    found = WheelOdometer(RADIUS, 100).measure(motion, stream=rng())
    assert found.counts is not None and found.counts[-1] < 0 and np.all(np.diff(found.counts) <= 0)


def test_a_pair_measures_way_and_turn():
    """Paper C's square: 4.8 m, and three left turns of 90 deg at its inner corners."""
    left, right = (wheel.measure(SQUARE, stream=rng()) for wheel in WheelOdometer.pair(0.4, RADIUS))
    way, turn = distance_and_turn(left, right, 0.4)
    assert abs(way[-1] - 4.8) < 1e-8  # step order: T^4 times the jerk with which each of the 16 moves starts and ends
    assert abs(turn[-1] - 1.5 * np.pi) < 1e-8  # three turns


def test_turning_on_the_spot_the_middle_stands():
    motion = run_of(Turntable.constant(1.0, 3.0))
    left, right = (wheel.measure(motion, stream=rng()) for wheel in WheelOdometer.pair(0.4, RADIUS))
    np.testing.assert_allclose(left.distance_m, -right.distance_m, atol=1e-14)
    np.testing.assert_allclose(right.distance_m, 0.2 * motion.t, atol=1e-13)


# ---------------------------------------------------------------- what an encoder counts


@SOME
@given(st.integers(1, 5000), st.integers(0, 1000))
def test_counts_are_whole_and_within_a_tick(ticks, seed):
    wheel = WheelOdometer(RADIUS, ticks)
    found = wheel.measure(STRAIGHT, stream=rng(seed))
    assert found.counts is not None and found.counts.dtype == np.int64 and found.counts[0] == 0
    assert wheel.tick_m is not None and abs(wheel.tick_m * ticks - 2 * np.pi * RADIUS) < 1e-15
    np.testing.assert_array_equal(found.distance_m, found.counts * wheel.tick_m)
    off = found.distance_m - STRAIGHT.p_n[:, 0]
    assert np.max(np.abs(off)) <= wheel.tick_m * (1 + 1e-9)


def test_counting_is_right_on_the_average():
    """The wheel starts anywhere between two ticks, so the mean over many runs is the way itself."""
    wheel = WheelOdometer(RADIUS, 7)
    ends = np.array([wheel.measure(STRAIGHT[::50], stream=rng(seed)).distance_m[-1] for seed in range(500)])
    truth = PLAIN.measure(STRAIGHT[::50], stream=rng()).distance_m[-1]
    assert abs(np.mean(ends) - truth) < 5 * 0.5 * wheel.tick_m / np.sqrt(500)  # five sigmas of a mean


def test_it_fits_into_a_recording():
    found = WheelOdometer(RADIUS, 360).measure(STRAIGHT, stream=rng())
    assert Recording(found.t, odometer=found.distance_m).odometer is not None
    with pytest.raises(ValueError):
        found.distance_m[0] = 1.0


# ---------------------------------------------------------------- its errors


def test_scale_error():
    found = WheelOdometer(RADIUS, scale_error=0.02).measure(STRAIGHT, stream=rng())
    np.testing.assert_allclose(found.distance_m, 1.02 * STRAIGHT.p_n[:, 0], atol=1e-12)


def test_roughness_grows_with_the_root_of_the_way_and_not_at_rest():
    wheel = WheelOdometer(RADIUS, roughness=0.01)
    runs = np.array([wheel.measure(STRAIGHT, stream=rng(seed)).distance_m for seed in range(400)])
    spread = np.std(runs - STRAIGHT.p_n[:, 0], axis=0)
    assert abs(spread[-1] / (0.01 * np.sqrt(6.0)) - 1.0) < 5 / np.sqrt(2 * 400)  # five sigmas
    half = np.argmin(np.abs(STRAIGHT.p_n[:, 0] - 3.0))
    assert abs(spread[half] / (0.01 * np.sqrt(3.0)) - 1.0) < 5 / np.sqrt(2 * 400)
    rest = Rest(5.0).at(np.arange(100) / 20.0)
    assert np.all(wheel.measure(rest, stream=rng()).distance_m == 0.0)


def test_slip_while_accelerating_spins_and_while_braking_lags():
    """Speeding up and braking take 0.5 m each at 1 m/s2; in between nothing slips."""
    speeding = WheelOdometer(RADIUS, slip=(0.2, 0.2), slip_above_m_s2=0.5).measure(STRAIGHT, stream=rng())
    at = {s: np.argmin(np.abs(STRAIGHT.t - s)) for s in (1.0, 6.0, 7.0)}
    assert abs(speeding.distance_m[at[1.0]] - 0.6) < 2e-3  # one step at the jump of acceleration: 0.2 * 0.01 m
    assert abs(speeding.distance_m[at[6.0]] - 5.6) < 4e-3
    assert abs(speeding.distance_m[at[7.0]] - 6.0) < 6e-3
    share = np.mean(speeding.slipping[1:])
    assert abs(share - 2.0 / 8.0) < 0.01
    assert (
        not WheelOdometer(RADIUS, slip=(0.2, 0.2), slip_above_m_s2=1.5).measure(STRAIGHT, stream=rng()).slipping.any()
    )


def test_slip_is_drawn_for_each_event():
    wheel = WheelOdometer(RADIUS, slip=(0.0, 0.3), slip_above_m_s2=0.05)
    found = wheel.measure(SQUARE, stream=rng())
    true = PLAIN.measure(SQUARE, stream=rng())
    moving = np.abs(true.speed_m_s()) > 0.02
    part = np.abs(found.speed_m_s()[moving] / true.speed_m_s()[moving] - 1.0)
    assert np.max(part) <= 0.3
    assert len(np.unique(np.round(part[part > 1e-6], 7))) == 2 * 16  # 16 moves, each speeds up and brakes


def test_slip_in_given_intervals():
    wheel = WheelOdometer(RADIUS, slip=(0.5, 0.5), slip_intervals_s=((2.0, 3.0), (4.005, 5.0)))
    found = wheel.measure(STRAIGHT, stream=rng())
    assert abs(found.distance_m[-1] - (6.0 + 0.5 * 1.0 + 0.5 * 0.995)) < 1e-12  # at 1 m/s
    assert found.slipping[np.isclose(STRAIGHT.t, 2.5)][0] and not found.slipping[np.isclose(STRAIGHT.t, 3.5)][0]


def test_a_locked_wheel_does_not_turn():
    motion = run_of(Linear((0, 0, 0), (6.0, 0, 0), 1.0, 1.0))
    locked = WheelOdometer(RADIUS, slip=(1.0, 1.0), slip_intervals_s=((6.01, 7.0),)).measure(motion, stream=rng())
    assert np.all(np.diff(locked.distance_m[602:]) == 0.0)


def test_a_dead_encoder_looks_parked():
    """fusioncore 130: the vehicle drives on, the counter stands still; what was rolled meanwhile is lost for good."""
    dying = WheelOdometer(RADIUS, 360, dead_s=((3.0, np.inf),)).measure(STRAIGHT, stream=rng())
    after = STRAIGHT.t >= 3.0
    assert len(np.unique(dying.distance_m[after])) == 1 and STRAIGHT.v_n[after].max() > 0.9
    assert dying.dead[STRAIGHT.t > 3.0].all() and not dying.dead[STRAIGHT.t < 3.0].any()
    gap = WheelOdometer(RADIUS, dead_s=((2.0, 3.0), (4.0, 4.5))).measure(STRAIGHT, stream=rng())
    assert abs(gap.distance_m[-1] - 4.5) < 1e-12


# ---------------------------------------------------------------- chance


def test_same_stream_same_bits_and_errors_do_not_move_each_other():
    rough = WheelOdometer(RADIUS, 360, roughness=0.01)
    a, b = (rough.measure(SQUARE, stream=rng(3)) for _ in range(2))
    assert np.array_equal(a.counts, b.counts)
    assert not np.array_equal(a.counts, rough.measure(SQUARE, stream=rng(4)).counts)
    # far from any slipping the noise of each step stays the same when slip is switched on
    settings_ = {"roughness": 0.01, "slip_intervals_s": ((0.0, 1.0),)}
    free, slipping = (
        WheelOdometer(RADIUS, slip=slip, **settings_).measure(SQUARE, stream=rng(3)) for slip in ((0, 0), (0.1, 0.2))
    )
    np.testing.assert_allclose(np.diff(free.distance_m)[200:], np.diff(slipping.distance_m)[200:], atol=1e-15)


def test_wheels_have_their_own_chance():
    left, right = WheelOdometer.pair(0.4, RADIUS, roughness=0.01)
    off = [
        wheel.measure(STRAIGHT, stream=seed_of(1, name)).distance_m - STRAIGHT.p_n[:, 0]
        for wheel, name in ((left, "left"), (right, "right"))
    ]
    together = np.corrcoef(np.diff(off[0])[:600], np.diff(off[1])[:600])[0, 1]
    assert abs(together) < 5 / np.sqrt(600)  # five sigmas of a correlation
    again = left.measure(STRAIGHT, stream=seed_of(1, "left")).distance_m - STRAIGHT.p_n[:, 0]
    assert np.array_equal(again, off[0])


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: WheelOdometer(0.0), "radius_m is 0"),
        (lambda: WheelOdometer(RADIUS, 0), "ticks_per_revolution is 0; give a whole number"),
        (lambda: WheelOdometer(RADIUS, 12.5), "ticks_per_revolution is 12.5"),
        (lambda: WheelOdometer(RADIUS, r_bw_b=(0, 1)), "r_bw_b is"),
        (lambda: WheelOdometer(RADIUS, scale_error=-1.0), "scale_error is -1"),
        (lambda: WheelOdometer(RADIUS, roughness=-0.1), "roughness is -0.1"),
        (lambda: WheelOdometer(RADIUS, slip=(0.3, 0.1)), "slip is"),
        (lambda: WheelOdometer(RADIUS, slip=0.1), "slip is 0.1; give the least and the most"),
        (lambda: WheelOdometer(RADIUS, slip=(0.0, 1.5)), "slip is"),
        (lambda: WheelOdometer(RADIUS, dead_s=((3.0, 2.0),)), r"dead_s has \(3, 2\)"),
        (lambda: WheelOdometer(RADIUS, dead_s=((np.nan, 2.0),)), "dead_s has"),
        (lambda: WheelOdometer(RADIUS, dead_s=(3.0, 4.0)), "give pairs of times"),
        (lambda: WheelOdometer(RADIUS, dead_s=((1.0, 3.0), (2.0, 4.0))), "overlap or are not in order at 2 s"),
        (lambda: PLAIN.measure(STRAIGHT, stream=None), "stream is None"),
        (lambda: WheelOdometer.pair(0.0, RADIUS), "track_m is 0"),
        (lambda: WheelOdometer(1e-9, 10**12).measure(STRAIGHT, stream=rng()), "too small to count"),
    ],
)
def test_bad_settings(call, says):
    with pytest.raises(InputError, match=says) as error:
        call()
    assert "\n" not in str(error.value)


def test_wheels_of_other_runs_do_not_make_a_pair():
    a, b = (PLAIN.measure(motion, stream=rng()) for motion in (STRAIGHT, SQUARE))
    with pytest.raises(InputError, match="other times"):
        distance_and_turn(a, b, 0.4)

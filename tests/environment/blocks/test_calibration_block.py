"""Calibration at rest in the loop: offsets, start attitude, and the refusal of motion."""

import math

import numpy as np
import pytest

from strapdown.environment.diagram.kinds import builtin
from strapdown.rotation import euler_from_q, q_conj, q_from_euler, q_rotate

DT = 0.004
G = 9.81
FIELD_N = np.array([0.0, 16.0, -45.0])
NAMES = [
    "accelerometer",
    "gyroscope",
    "attitude",
    "bias_sigma",
    "tilt_sigma",
    "heading_sigma",
    "done",
    "busy",
    "moving",
]


class Bench:
    """The block with readings of a body at rest in an attitude, with bias and noise."""

    def __init__(self, *, acc=(0.0, 0.0, 0.0), gyr=(0.0, 0.0, 0.0), q=(1.0, 0.0, 0.0, 0.0), sigma=0.0, **parameters):
        self.block = builtin()["static_calibration"].make(parameters)
        self.state, self.rng = self.block.start(), np.random.default_rng(5)
        self.acc, self.gyr, self.q, self.sigma = np.array(acc), np.array(gyr), np.array(q), sigma
        self.tilt = np.zeros(2)

    def run(self, seconds, switch, *, turn=(0.0, 0.0, 0.0), push=(0.0, 0.0, 0.0), mag=False, new=1.0):
        for _ in range(round(seconds / DT)):
            noise = self.sigma * self.rng.normal(size=6)
            acc = q_rotate(q_conj(self.q), np.array([0.0, 0.0, G])) + self.acc + 10.0 * noise[:3] + push
            gyr = self.gyr + noise[3:] + turn
            field = q_rotate(q_conj(self.q), FIELD_N)
            inputs = (acc, gyr, new, float(switch), field if mag else np.zeros(3), float(mag), self.tilt)
            self.state, outputs = self.block.step(self.state, *inputs, dt=DT)
        return dict(zip(NAMES, outputs, strict=True))


def test_readings_pass_as_they_are_before_a_calibration():
    out = Bench(acc=(0.3, 0.0, 0.1), gyr=(0.01, 0.0, 0.0)).run(0.1, False)
    np.testing.assert_allclose(out["accelerometer"], [0.3, 0.0, G + 0.1], atol=1e-15)
    assert out["done"] == out["busy"] == out["moving"] == 0.0 and not out["attitude"].any()


def test_offsets_of_a_level_vehicle_are_removed():
    bench = Bench(acc=(0.3, -0.2, 0.1), gyr=(0.02, -0.01, 0.03), q=q_from_euler(0, 0, 0.7), sigma=1e-3)
    during = bench.run(2.0, True, mag=True)
    assert during["busy"] == 1.0 and during["done"] == 0.0
    out = bench.run(DT, False, mag=True)
    n = 500
    assert out["done"] == 1.0 and out["moving"] == 0.0
    offsets = bench.state.result
    np.testing.assert_allclose(offsets.gyroscope, bench.gyr, atol=5e-3 / math.sqrt(n))  # five sigmas of a mean
    np.testing.assert_allclose(offsets.accelerometer, bench.acc, atol=5e-2 / math.sqrt(n))
    np.testing.assert_allclose(euler_from_q(out["attitude"]), [0.0, 0.0, 0.7], atol=1e-12)  # the field has no noise
    # standard deviations: the floor, and the white noise of the mean to its own chance
    white = 1e-3 / math.sqrt(n)
    assert out["bias_sigma"] == pytest.approx(math.hypot(math.radians(0.05), white), rel=1e-3)
    quiet = Bench(sigma=1e-3, bias_floor_dps=0.0, tilt_floor_deg=0.0)
    quiet.run(2.0, True)
    out = quiet.run(DT, False)
    assert out["bias_sigma"] == pytest.approx(white, rel=5 / math.sqrt(2 * n))
    assert out["tilt_sigma"] == pytest.approx(10 * white / G, rel=5 / math.sqrt(2 * n))


def test_the_declination_turns_the_start_attitude():
    bench = Bench(q=q_from_euler(0, 0, 0.7), declination_deg=10.0)
    bench.run(2.0, True, mag=True)
    # the field points 10 deg east of north there, so the body heads 10 deg further to the right
    yaw = float(euler_from_q(bench.run(DT, False)["attitude"])[2])
    assert yaw == pytest.approx(0.7 - math.radians(10.0), abs=1e-12)


def test_an_inclinometer_gives_the_known_attitude():
    q = q_from_euler(0.1, -0.2, 0.0)
    bench = Bench(acc=(0.3, -0.2, 0.1), q=q)
    bench.tilt = np.array([math.asin(-math.sin(-0.2)), math.asin(math.cos(-0.2) * math.sin(0.1))])
    bench.run(2.0, True)
    out = bench.run(DT, False)
    np.testing.assert_allclose(out["attitude"], q, atol=1e-12)
    np.testing.assert_allclose(bench.state.result.accelerometer, bench.acc, atol=1e-12)


def test_without_a_known_attitude_the_accelerometer_gives_it():
    q = q_from_euler(2.8, -0.2, 0.0)  # nearly upside down
    bench = Bench(q=q, known_attitude=False)
    bench.run(2.0, True)
    out = bench.run(DT, False)
    np.testing.assert_allclose(out["attitude"], q, atol=1e-12)
    np.testing.assert_array_equal(bench.state.result.accelerometer, 0.0)


def test_paper_mode_scales_to_the_length_of_gravity():
    bench = Bench(acc=(0.3, -0.2, 0.1), paper=True)
    bench.run(2.0, True)
    out = bench.run(DT, False, push=(3.0, 0.0, 1.0))
    free = np.array([3.0, 0.0, G + 1.0])
    np.testing.assert_allclose(out["accelerometer"], G * free / np.linalg.norm(free), atol=1e-12)


@pytest.mark.parametrize(
    "motion",
    [{"turn": (math.radians(5.0), 0.0, 0.0)}, {"push": (0.8, 0.0, 0.0)}, {"turn": (0.0, 0.0, math.radians(0.5))}],
    ids=["a turn", "a push", "a slow turn"],
)
def test_motion_is_refused_and_the_old_result_kept(motion):
    bench = Bench(gyr=(0.02, 0.0, 0.0), sigma=1e-3)
    bench.run(2.0, True)
    before = bench.run(0.1, False)
    assert before["done"] == 1.0
    kept = bench.state.result
    bench.run(0.8, True)
    out = bench.run(0.5, True, **motion)
    assert out["moving"] == 1.0 and out["busy"] == 1.0
    out = bench.run(0.1, False)
    assert out["moving"] == 1.0 and out["done"] == 1.0 and bench.state.result is kept
    # at rest again the next calibration is taken
    bench.run(1.5, True)
    assert bench.run(DT, False)["moving"] == 0.0 and bench.state.result is not kept


def test_rest_after_motion_is_enough_while_the_switch_stays_on():
    bench = Bench(gyr=(0.02, 0.0, 0.0), sigma=1e-3)
    assert bench.run(0.5, True)["moving"] == 0.0
    assert bench.run(0.3, True, push=(2.0, 0.0, 0.0))["moving"] == 1.0
    assert bench.run(0.5, True)["moving"] == 1.0  # not yet a second of rest
    assert bench.run(0.8, True)["moving"] == 0.0
    bench.run(DT, False)
    np.testing.assert_allclose(bench.state.result.gyroscope, bench.gyr, atol=5e-3 / math.sqrt(300))


def test_a_calibration_that_is_too_short_is_refused():
    bench = Bench()
    bench.run(0.9, True)
    out = bench.run(DT, False)
    assert out["done"] == 0.0 and out["moving"] == 1.0


def test_noise_that_is_larger_than_the_limits_is_not_motion():
    """100 times the noise of a part: the limits follow the noise from one reading to the next."""
    bench = Bench(sigma=0.09)  # 5 deg/s and 0.9 m/s2
    bench.run(5.0, True)
    assert bench.run(DT, False)["done"] == 1.0


def test_ticks_without_readings_do_not_count():
    bench = Bench()
    bench.run(0.5, True)
    bench.run(5.0, True, new=0.0)
    # the gap is one long step between two readings: no more than that is known of it
    assert bench.state.rest.samples == 125

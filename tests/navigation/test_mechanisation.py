"""Increments from readings: coning and sculling compensated, at the orders that the formulas promise."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.navigation.dead_reckoning import dead_reckon, dead_reckon_increments
from strapdown.navigation.mechanisation import increments_from_means, increments_from_values
from strapdown.rotation import IDENTITY, q_conj, q_exp, q_log, q_mul
from strapdown.types import Recording

G = 9.81
CONE, SPIN = 0.05, 20.0  # half angle (rad) and rate (rad/s) of a coning motion
ZERO = (0.0, 0.0, 0.0)


def cone(t):
    """Attitude and rate of a body whose axis runs around a cone."""
    sin, cos, s = np.sin(SPIN * t), np.cos(SPIN * t), np.sin(CONE)
    q_nb = q_exp(CONE * np.stack([cos, sin, 0.0 * t], axis=-1))
    w_b = SPIN * np.stack([-s * sin, s * cos, np.full(len(t), np.cos(CONE) - 1.0)], axis=-1)
    return q_nb, w_b


def rate(t):
    return np.stack([0.8 * np.sin(3.0 * t), 0.6 * np.cos(2.0 * t + 0.3), 0.5 * np.sin(t + 1.0)], axis=-1)


def force(t):
    return np.stack([2.0 * np.cos(2.5 * t), 1.5 * np.sin(3.0 * t + 0.5), G + np.sin(2.0 * t)], axis=-1)


def means(signal, edges, parts=64):
    """Mean over each step, by many midpoints: exact to (h/64)^2, below what is tested."""
    h = np.diff(edges)
    inner = edges[:-1, None] + h[:, None] * (np.arange(parts) + 0.5) / parts
    return signal(inner.ravel()).reshape(len(h), parts, 3).mean(axis=1)


def reference():
    """Attitude and velocity after 2 s of rate() and force(), by the filter's rule at a step of 20 us."""
    t = np.linspace(0.0, 2.0, 100_001)
    end = dead_reckon(Recording(t, gyr_s=rate(t), acc_s=force(t)), IDENTITY, ZERO, ZERO, G)
    return end.q_nb[-1], end.v_n[-1]


@pytest.fixture(scope="module")
def truth():
    return reference()


def errors(increments, truth):
    end = dead_reckon_increments(increments, IDENTITY, ZERO, ZERO, G)
    q_nb, v_n = truth
    return np.linalg.norm(q_log(q_mul(q_conj(q_nb), end.q_nb[-1]))), np.linalg.norm(end.v_n[-1] - v_n)


def of_values(n):
    t = np.linspace(0.0, 2.0, n + 1)
    return increments_from_values(Recording(t, gyr_s=rate(t), acc_s=force(t)))


def of_means(n):
    edges = np.linspace(0.0, 2.0, n + 1)
    return increments_from_means(Recording(edges[1:], gyr_s=means(rate, edges), acc_s=means(force, edges)))


@pytest.mark.parametrize(("made", "order"), [(of_values, 2), (of_means, 3)])
def test_attitude_and_velocity_converge_at_the_order_of_the_rule(made, order, truth):
    coarse, fine = (np.array(errors(made(n), truth)) for n in (50, 100))
    # a step of half the length: 2^order times as good; 0.8: higher orders of the coarse step. Means have one first
    # step, whose neighbour is not known, and it costs no more than the rule itself
    assert (coarse / fine > 0.8 * 2**order).all(), coarse / fine


def test_without_compensation_means_would_converge_at_the_second_order_only(truth):
    def plain(n):
        edges = np.linspace(0.0, 2.0, n + 1)
        good = of_means(n)
        h = np.diff(edges)[:, None]
        return type(good)(good.t, good.dt, h * means(rate, edges), h * means(force, edges))

    attitude, velocity = np.array(errors(plain(100), truth)) / np.array(errors(of_means(100), truth))
    assert attitude > 10.0 and velocity > 10.0  # an order more at a step of 20 ms and a rate of 1 rad/s


def test_coning_of_an_integrating_sensor_drifts_with_the_fourth_power_of_the_step():
    """Sums alone drift by W sin(c)^2 (W h)^2 / 12; the cross product of two sums takes that away."""
    h = 0.005
    edges = np.arange(0.0, 10.0, h)
    gyr = means(lambda t: cone(t)[1], edges)
    q_nb, _ = cone(edges)
    log = Recording(edges[1:], gyr_s=gyr, acc_s=np.tile([0.0, 0.0, G], (len(gyr), 1)))
    found = dead_reckon_increments(increments_from_means(log), q_nb[0], ZERO, ZERO, G).q_nb[-1]
    drift = abs(q_log(q_mul(q_conj(q_nb[-1]), found))[2]) / edges[-1]
    plain = SPIN * np.sin(CONE) ** 2 * (SPIN * h) ** 2 / 12.0
    assert drift < plain * (SPIN * h) ** 2  # two orders less: the next term of the series


def test_values_and_means_of_a_constant_rate_are_the_same_exact_turn():
    t = np.linspace(0.0, 3.0, 31)
    log = Recording(t, gyr_s=np.tile([0.3, -2.0, 1.0], (31, 1)), acc_s=np.tile([1.0, 2.0, 9.0], (31, 1)))
    a, b = increments_from_values(log), increments_from_means(log)
    np.testing.assert_allclose(a.theta_s[1:], b.theta_s[1:], atol=1e-15)  # roundoff
    np.testing.assert_allclose(a.dv_s[1:], b.dv_s[1:], atol=1e-14)  # roundoff
    np.testing.assert_allclose(a.theta_s[1:], 0.1 * log.gyr_s[1:], atol=1e-15)  # roundoff
    assert not a.theta_s[0].any() and a.dt[0] == 0.0


def test_steps_of_other_lengths_keep_the_line_through_two_means():
    """A rate and a force that run straight are exact to the second order of the turn, however uneven the steps."""
    edges = np.array([0.0, 0.01, 0.04, 0.05, 0.09])
    a, b, c, d = (
        np.array([0.1, 0.2, 0.3]),
        np.array([3.0, -2.0, 1.0]),
        np.array([1.0, 2.0, 9.0]),
        np.array([5.0, -7, 3]),
    )
    middle = 0.5 * (edges[1:] + edges[:-1])[:, None]
    uneven = increments_from_means(Recording(edges[1:], gyr_s=a + b * middle, acc_s=c + d * middle), first_dt_s=0.01)
    ends = Recording(edges, gyr_s=a + b * edges[:, None], acc_s=c + d * edges[:, None])
    exact = increments_from_values(ends)
    np.testing.assert_allclose(uneven.theta_s[1:], exact.theta_s[2:], atol=1e-15)  # roundoff
    # third order: the one formula takes the turn with its coning, the other without, 1e-4 of 1e-4 of 0.4 m/s
    np.testing.assert_allclose(uneven.dv_s[1:], exact.dv_s[2:], atol=4e-9)


def test_missing_readings_are_refused():
    t = np.array([0.0, 0.1])
    with pytest.raises(InputError, match="no acc_s"):
        increments_from_values(Recording(t, gyr_s=np.zeros((2, 3))))
    one = Recording([0.0], gyr_s=np.zeros((1, 3)), acc_s=np.zeros((1, 3)))
    with pytest.raises(InputError, match="give first_dt_s"):
        increments_from_means(one)

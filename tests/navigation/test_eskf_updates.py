"""Each measurement of the error-state filter alone, against matrices written out; what is rejected, with its event."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit

from fix_cases import with_heights, with_position_fixes
from paper_c_cases import DECLINATION, ROLLING, WHEEL, G, drive
from strapdown.errors import InputError
from strapdown.kernels.jit import pointer
from strapdown.kernels.navigation.eskf import excess, stops_and_fixes, updates, wheels
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.live import Start
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD, align_by_magnetometer, align_to_yaw
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import (
    MagneticHeading,
    NonHolonomic,
    WheelTravel,
    ZeroRate,
    ZeroVelocity,
)
from strapdown.rotation import euler_from_q, matrix, q_exp, q_from_euler, q_mul, q_rotate
from strapdown.types import Recording

# callees of the kernels have no wrapper for Python of their own


@njit
def spread_of(x, considered, h_consider, considered_variance, variance, e):
    return updates.spread_of(pointer(x), considered, h_consider, considered_variance, variance, e)


@njit
def take(x, spread, e):
    updates.take(pointer(x), spread, e, pointer(x), len(x) == 0)


@njit
def gyr_excess(x, variance, r, turn_n):
    excess.gyr_excess(pointer(x), variance, r, turn_n)


@njit
def acc_excess(x, s, free, dv_n, h, r):
    excess.acc_excess(pointer(x), pointer(s), free, dv_n, h, r)


@njit
def body_speed(x, s, d0, d1, d2, gyr):
    return wheels.body_speed(pointer(x), pointer(s), d0, d1, d2, pointer(gyr))


@njit
def insist(x, s, e, dt, still):
    return stops_and_fixes.insist(pointer(x), pointer(s), e, dt, still)


def random_state(seed):
    rng = np.random.default_rng(seed)
    x = np.zeros(at.X_SIZE)
    x[:4] = q_exp(rng.normal(size=3))
    x[at.VELOCITY : at.VELOCITY + 3] = rng.normal(size=3)
    root = rng.normal(size=(at.COLUMNS, at.COLUMNS))
    full = root @ root.T
    considered = slice(at.N, at.COLUMNS)  # they have nothing to do with each other
    full[considered, considered] = np.diag(np.diag(full)[considered])
    x[at.COVARIANCE :] = full[: at.N].ravel()
    return x, full, rng


def cov_of(x):
    return x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)


@pytest.mark.parametrize("considered", [at.ODOMETER_SCALE, at.FLOOR_SLOPE])
@pytest.mark.parametrize("h_consider", [0.0, 0.7])
def test_an_update_is_josephs_form_with_schmidts_gain(h_consider, considered):
    x, full, rng = random_state(1)
    row = np.concatenate([rng.normal(size=at.N), np.zeros(at.CONSIDERED)])
    row[at.N + considered] = h_consider
    x[at.H : at.H + at.N] = row[: at.N]
    gain = full @ row / (row @ full @ row + 0.3)
    gain[at.N :] = 0.0  # considered, not estimated
    keep = np.eye(at.COLUMNS) - np.outer(gain, row)
    joseph = keep @ full @ keep.T + 0.3 * np.outer(gain, gain)
    spread, e = spread_of(x, considered, h_consider, full[at.N + considered, at.N + considered], 0.3, 0.5)
    assert spread == pytest.approx(row @ full @ row + 0.3, rel=1e-13)  # roundoff
    take(x, spread, e)
    np.testing.assert_allclose(cov_of(x), joseph[: at.N], atol=1e-11)  # roundoff of numbers near 30
    np.testing.assert_allclose(x[at.DX : at.DX + at.N], gain[: at.N] * 0.5, atol=1e-14)  # roundoff
    assert np.array_equal(cov_of(x)[:, : at.N], cov_of(x)[:, : at.N].T)  # both halves get the same bits


def test_a_turn_spreads_by_what_the_gyroscope_reads_too_much():
    """phi <- phi - R c turn, with the considered vector c: A P A^T, written out."""
    x, full, _ = random_state(3)
    variance, turn = 0.4, 0.2
    c = slice(at.N + at.GYR_EXCESS, at.N + at.GYR_EXCESS + 3)
    full[c, c] = variance * np.eye(3)
    r = matrix(x[:4])
    a = np.eye(at.COLUMNS)
    a[at.PHI_N : at.PHI_N + 3, c] = -turn * r
    gyr_excess(x, variance, tuple(r.ravel()), (0.0, 0.0, turn))
    np.testing.assert_allclose(cov_of(x), (a @ full @ a.T)[: at.N], atol=1e-13)  # roundoff of numbers near 30
    assert np.array_equal(cov_of(x)[:, : at.N], cov_of(x)[:, : at.N].T)


@pytest.mark.parametrize("free", [0.0, 1.0])
def test_a_change_of_speed_spreads_by_what_the_accelerometer_reads_too_much(free):
    """v <- v - R_nb (E e_x) times the change along body x, and by the same scale across where the body is free. On
    wheels gravity pulls along body x on a slope, for as long: what it does at the start is a bias."""
    x, full, rng = random_state(4)
    scale, axes, dv_n = 0.4, 0.2, rng.normal(size=3)
    c = slice(at.N + at.ACC_EXCESS, at.N + at.ACC_EXCESS + 3)
    full[c, c] = np.diag([scale, axes, axes])
    r_ns, r_sb = matrix(x[:4]), matrix(q_from_euler(0.3, -0.5, 1.0))
    r_nb = r_ns @ r_sb
    dv_b = r_nb.T @ dv_n
    h, x[at.LEVEL] = 0.3, 0.1
    pulled = 0.0 if free else G * h * (r_nb[2, 0] - x[at.LEVEL])
    by_e = (dv_b[0] + pulled) * np.eye(3)
    by_e[1:, 0] = free * dv_b[1:]
    a = np.eye(at.COLUMNS)
    a[at.V_N : at.V_N + 3, c] = -r_nb @ by_e
    s = np.zeros(at.S_SIZE)
    s[at.S_R_SB : at.S_R_SB + 9] = r_sb.ravel()
    s[at.S_ACC_SCALE_VAR], s[at.S_ACC_AXES_VAR] = scale, axes
    s[at.S_GRAVITY] = G
    acc_excess(x, s, free, tuple(dv_n), h, tuple(r_ns.ravel()))
    np.testing.assert_allclose(cov_of(x), (a @ full @ a.T)[: at.N], atol=1e-13)  # roundoff of numbers near 30
    assert np.array_equal(cov_of(x)[:, : at.N], cov_of(x)[:, : at.N].T)


@pytest.mark.parametrize("along", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.1, 0.0, 1.0)])
def test_the_row_of_a_body_speed_is_its_derivative(along):
    x, _, rng = random_state(2)
    filt = Eskf(gravity=G, q_bs=tuple(q_from_euler(0.3, -0.5, 1.0)), r_bs_b=(0.2, -0.1, 0.3))
    s = filt.settings
    gyr = rng.normal(size=3)
    speed = body_speed(x, s, *along, gyr)
    row = x[at.H : at.H + at.N].copy()
    # by hand: v_b = R_bn v_n - w_b x r
    q_nb = q_mul(x[:4], (filt.q_bs[0], *(-np.array(filt.q_bs[1:]))))
    v_b = q_rotate((q_nb[0], *(-q_nb[1:])), x[at.VELOCITY : at.VELOCITY + 3])
    by_hand = (v_b - np.cross(q_rotate(filt.q_bs, gyr), filt.r_bs_b)) @ np.array(along)
    assert speed == pytest.approx(by_hand, abs=1e-14)
    step = 1e-6
    for k in range(3):
        moved = x.copy()
        moved[at.VELOCITY + k] += step
        assert (body_speed(moved, s, *along, gyr) - speed) / step == pytest.approx(row[at.V_N + k], abs=1e-8)
        turned = x.copy()
        turned[:4] = q_mul(q_exp(step * np.eye(3)[k]), x[:4])
        # second order of the step, times a speed of 2 m/s
        assert (body_speed(turned, s, *along, gyr) - speed) / step == pytest.approx(row[at.PHI_N + k], abs=1e-5)


def test_a_stop_fixes_velocity_and_the_rate_fixes_the_bias():
    d = drive("square", 3)
    found = d.filter().run(d.log)
    at_stop = d.log.stop & (d.log.t > 6.0)
    inside = at_stop & np.roll(at_stop, 50)
    assert np.abs(found.v_n[inside]).max() < 0.002  # two sigmas of the zero velocity itself
    rest = d.log.gyr_s[d.log.stop].mean(axis=0)
    # white noise of 40 s of stops and the drift meanwhile, five sigmas of each
    assert np.abs(found.bias["gyr_s"][-1] - rest).max() < 5.0 * (
        d.gyroscope.white[0] / 6.0 + d.gyroscope.instability[0]
    )


def test_a_dead_encoder_is_rejected_and_told():
    d = drive("straight", 5)
    dead = np.where(d.log.t > 20.0, d.log.odometer[2000], d.log.odometer)
    filt = d.filter(**ROLLING, **WHEEL)
    log = replace(d.log, odometer=dead)
    found, plain = filt.run(log), filt.run(d.log)
    assert not any(event.kind == "odometer_rejected" for event in plain.events)
    moving = (d.log.t > 21.0) & ~d.log.stop
    assert plain.flags["odometer_used"][moving].any() and not found.flags["odometer_used"][moving].any()
    slipping = replace(d.log, odometer=np.where(d.log.t > 20.0, 0.5, 1.0) * d.log.odometer)  # a jump back of a metre
    assert any(event.kind == "odometer_rejected" and "encoder" in event.text for event in filt.run(slipping).events)
    error = np.linalg.norm(found.p_n[-1] - d.log.truth.p_n[-1])
    assert error < 0.02 * 6.6  # of 4.9 m that the encoder did not see; a wheel that is believed would lose them all


def test_a_stop_flag_that_lies_while_moving_is_rejected():
    d = drive("straight", 6)
    lying = d.log.stop | ((d.log.t > 25.5) & (d.log.t < 26.5))  # in the middle of a move
    found = d.filter(**ROLLING).run(replace(d.log, stop=lying))
    events = [event for event in found.events if event.kind == "stop_rejected"]
    assert 25.5 <= events[0].t_s < 25.7 and all(event.t_s < 28.0 for event in events)
    error = np.linalg.norm(found.p_n[-1] - d.log.truth.p_n[-1])
    assert error < 0.3  # no more than the one move of 0.3 m is lost


def test_a_velocity_that_is_wrong_gives_way_to_a_stop_that_lasts():
    d = drive("straight", 7)
    filt = d.filter()
    acc = d.log.acc_s.copy()
    acc[1300:1305] += [200.0, 0.0, 0.0]  # a knock that no noise explains: 10 m/s
    log = replace(d.log, acc_s=acc)
    found = filt.run(log)
    kinds = {event.kind for event in found.events}
    assert {"stop_rejected", "stop_insisted"} <= kinds
    assert np.linalg.norm(found.v_n[-1]) < 0.01


def heading_of(solution):
    return euler_from_q(solution.q_nb)[2]


def test_an_unknown_heading_is_found_by_the_magnetometer():
    d = drive("straight", 8, disturbance_deg=0.0)
    mag = MagneticHeading(declination_rad=DECLINATION)
    filt = d.filter(magnetic_heading=mag)
    found = filt.run(d.log, Start.of(d.log, alignment=align_to_yaw(d.log, 0.0, UNKNOWN_HEADING_RAD)))
    assert abs(heading_of(found)[-1] - 0.5 * np.pi) < 3.0 * mag.disturbance_rad
    assert found.sigma["attitude_n"][0, 2] > 1.5 and found.sigma["attitude_n"][-1, 2] < 1.5 * mag.disturbance_rad
    by_mag = filt.run(d.log, Start.of(d.log, alignment=align_by_magnetometer(d.log, declination_rad=DECLINATION)))
    assert abs(heading_of(by_mag)[-1] - 0.5 * np.pi) < 3.0 * by_mag.sigma["attitude_n"][-1, 2]


def test_crossing_south_does_not_jump():
    """Heading 180 deg: the azimuth wraps; the same drive as to the north, turned."""
    ends = []
    for yaw in (0.5 * np.pi, -0.5 * np.pi):
        d = drive("straight", 9, disturbance_deg=0.0, start_yaw_rad=yaw)
        filt = d.filter(magnetic_heading=MagneticHeading(declination_rad=DECLINATION))
        found = filt.run(d.log, Start.of(d.log, alignment=align_to_yaw(d.log, yaw)))
        assert not any(event.kind == "heading_rejected" for event in found.events)
        ends.append(np.linalg.norm(found.p_n[-1] - d.log.truth.p_n[-1]))
    assert max(ends) < 0.01 * 6.6


def test_a_magnet_is_passed_by():
    d = drive("straight", 10, disturbance_deg=0.0)
    near = np.exp(-((d.log.truth.p_n[:, 1] - 3.0) ** 2) / 0.5)
    log = replace(d.log, mag_s=d.log.mag_s + 60.0 * near[:, None] * [1.0, 0.5, 0.2])
    filt = d.filter(magnetic_heading=MagneticHeading(declination_rad=DECLINATION))
    found = filt.run(log)
    assert any(event.kind == "heading_rejected" for event in found.events)
    assert np.abs(heading_of(found) - 0.5 * np.pi).max() < 0.03  # a disturbance let in would turn it by a radian


def test_a_slope_switches_the_flat_floor_off():
    slope = q_exp((0.0, 0.0, 0.0))
    d = drive("straight", 11, q_nm=q_mul(slope, q_from_euler(np.radians(10.0), 0.0, 0.0)))
    found = d.filter(**ROLLING).run(d.log)
    assert "floor_used" not in found.flags
    assert np.linalg.norm(found.p_n[-1] - d.log.truth.p_n[-1]) < 0.01 * 6.6
    assert abs(found.p_n[-1, 2] - 6.6 * np.sin(np.radians(10.0))) < 0.05


def test_fixes_and_heights_pull_to_where_they_are():
    d = drive("straight", 12)
    truth = d.log.truth
    rows = np.arange(1000, len(d.log), 1000)
    fixed = d.filter().run(with_position_fixes(d.log, d.log.t[rows], truth.p_n[rows], 0.001))
    assert np.abs((fixed.p_n - truth.p_n)[rows]).max() < 0.005  # five sigmas of a fix
    high = d.filter().run(with_heights(d.log, d.log.t[rows], truth.p_n[rows, 2], 0.001))
    assert np.abs((high.p_n - truth.p_n)[rows, 2]).max() < 0.005
    wrong = truth.p_n[rows] + [[5.0, 0.0, 0.0]]
    off = d.filter().run(with_position_fixes(d.log, d.log.t[rows], wrong, 0.001))
    assert any(event.kind == "fix_rejected" for event in off.events)
    with pytest.raises(InputError, match="no reading of the position fixes lies"):
        with_position_fixes(d.log, [1e6], [[0, 0, 0]], 0.01)


def test_without_gates_every_measurement_is_taken():
    d = drive("straight", 2, length_m=0.3)
    rows = np.arange(200, len(d.log), 300)
    wrong = with_position_fixes(d.log, d.log.t[rows], d.log.truth.p_n[rows] + 100.0, 0.001)
    for probability, taken in ((1e-6, False), (0.0, True)):
        found = d.filter(gate_probability=probability).run(wrong)
        assert any(event.kind == "fix_rejected" for event in found.events) is not taken
        assert bool(np.linalg.norm(found.p_n[-1]) > 100.0) is taken
    with pytest.raises(InputError, match="0 \\(no gate\\)"):
        Eskf(gate_probability=-0.1)


def test_innovations_are_collected_and_those_of_the_gyroscope_are_white():
    d = drive("straight", 13)
    track = d.filter(**ROLLING).track(d.log)
    assert {"stop", "still", "floor", "sideways", "upward"} == set(track.innovations)
    still = track.innovations["still"]
    n = still.degrees * len(still.nis)
    assert abs(still.nis.mean() / still.degrees - 1.0) < 5.0 * np.sqrt(2.0 / n)  # five sigmas of a mean square
    flags = Eskf().belief(track.last).flags
    assert {name for name, flag in flags.items() if flag} == {"stop_used", "still_used", "floor_used"}


@pytest.mark.parametrize(
    ("piece", "settings"),
    [
        (ZeroVelocity, {"sigma_m_s": -1.0}),
        (ZeroRate, {"sigma_rad_s": np.nan}),
        (NonHolonomic, {"sideways_sigma_m_s": "wide"}),
        (WheelTravel, {"scale_sigma": True}),
    ],
)
def test_a_piece_with_a_wrong_number_is_refused(piece, settings):
    with pytest.raises(InputError, match="give a number that is not negative"):
        piece(**settings)


def test_heights_without_a_deviation_are_refused():
    log = drive("square", 0).log
    with pytest.raises(InputError, match="height has a standard deviation of 0"):
        Eskf(gravity=G).run(with_heights(log, [1.0], [1.0], 0.0))
    with pytest.raises(InputError, match="no magnetometer"):
        Eskf(gravity=G, magnetic_heading=MagneticHeading()).run(
            Recording(log.t, gyr_s=log.gyr_s, acc_s=log.acc_s, stop=log.stop)
        )


def test_a_velocity_found_wrong_opens_the_position_too():
    """By the way that it would have made since the last stop."""
    d = drive("straight", 1)
    filt = Eskf(gravity=G)
    x = filt.start(Start(alignment=align_to_yaw(d.log, 0.0))).numbers.copy()
    x[at.REFUSED_S], x[at.SINCE_STOP_S] = 2.0, 3.0
    k = at.COVARIANCE + at.P_N * (at.COLUMNS + 1)
    before = x[k]
    assert insist(x, filt.settings, (0.5, 0.0, 0.0), 0.01, True)
    assert x[k] - before == pytest.approx((0.5 * 3.0) ** 2, rel=1e-12)  # roundoff

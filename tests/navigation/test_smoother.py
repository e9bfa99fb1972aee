"""The backward pass: against Rauch, Tung and Striebel written out with matrices, and what it is good for."""

import numpy as np
import pytest
from numba import njit

from paper_c_cases import ROLLING, drive
from strapdown.kernels.navigation.eskf import filter as kernel
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.kernels.navigation.eskf import smoother as smoother_kernel
from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.eskf import smoother
from strapdown.navigation.eskf.smoother import smooth
from strapdown.navigation.program import navigate
from strapdown.papers.c.drive import drive as robot_drive
from strapdown.rotation import q_conj, q_exp, q_log, q_mul
from tapes import phi_of, reset_of


@njit
def put(x, dx, out):
    smoother_kernel.put(x, dx, out)


def cov_of(x):
    return x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)[:, : at.N]


def dense_smoother(states, tapes):
    """Rauch-Tung-Striebel: error of each state and its covariance, from the stored rows, with inverses."""
    n = len(states)
    error, cov = np.zeros(at.N), cov_of(states[-1])
    found = [(error, cov)]
    for k in range(n - 2, -1, -1):
        filtered, tape = cov_of(states[k]), tapes[k + 1]
        phi = phi_of(tape)
        # undo the measurements of row k + 1: the state and covariance that were predicted for it
        back = np.linalg.inv(reset_of(tape))
        error, cov, after = back @ error, back @ cov @ back.T, back @ cov_of(states[k + 1]) @ back.T
        total = np.zeros(at.N)
        for i in range(int(tape[at.T_COUNT]) - 1, -1, -1):
            u = tape[at.T_UPDATES + i * at.T_ROOM :][: at.T_ROOM]
            gain, spread, e = u[at.N : 2 * at.N], u[2 * at.N], u[2 * at.N + 1]
            after = after + np.outer(gain, gain) * spread
            total = total + gain * e
        gain = filtered @ phi.T @ np.linalg.pinv(after, rcond=1e-13, hermitian=True)
        cov = filtered + gain @ (cov - after) @ gain.T
        error = gain @ (total + error)
        found.append((error, cov))
    return found[::-1]


@pytest.fixture(scope="module")
def short():
    d = drive("straight", 4, move_s=0.5, rest_s=0.3, first_rest_s=1.5, length_m=0.6)
    return d, d.filter(**ROLLING)


def test_it_is_the_smoother_of_rauch_tung_and_striebel(short):
    d, filt = short
    rows, _, state, _ = filt.prepare(d.log, Start.of(d.log, alignment=align_to_yaw(d.log, 0.5 * np.pi)))
    n, x = len(rows), state.numbers.copy()
    diagonal = np.arange(at.N)
    x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)[diagonal, diagonal] += 1e-10  # with it the textbook's inverse exists
    tapes, states = np.empty((n, at.T_SIZE)), np.empty((n, at.X_SIZE))
    nominal, sigma = np.empty((n, at.BIAS_M + 1)), np.empty((n, at.N))
    room = np.empty((n, len(at.KINDS))), np.empty((n, 2), dtype=np.int64)
    outputs = (nominal, sigma, *room, tapes, states)
    assert kernel.rows(x, filt.settings, *rows.part(slice(0, n)), *(out.reshape(-1) for out in outputs))
    expected = dense_smoother(states, tapes)
    filtered = nominal.copy()
    smoother.backward_rows(np.zeros(at.N), np.zeros((at.N, at.N)), tapes, states, nominal, sigma)
    for row in range(0, n, 7):
        error, cov = expected[row]
        deviation = np.sqrt(np.diag(cov))[:15]
        # roundoff of the textbook's inverses of matrices whose condition is 1e10 and more
        np.testing.assert_allclose(sigma[row, :15], deviation, rtol=2e-3)
        moved = nominal[row, at.POSITION : at.POSITION + 6] - filtered[row, at.POSITION : at.POSITION + 6]
        assert (np.abs(moved - error[:6]) < 1e-2 * deviation[:6]).all()
        turned = q_log(q_mul(nominal[row, :4], q_conj(filtered[row, :4])))
        assert (np.abs(turned - error[6:9]) < 1e-2 * deviation[6:9]).all()


def test_the_end_is_the_filters_and_the_way_there_is_better():
    gains = []
    for seed in range(12):
        d = drive("straight", seed, length_m=2.1)
        filt = d.filter(**ROLLING)
        plain, smoothed = filt.run(d.log), smooth(filt, d.log)
        # but for the odometer's scale and the gyroscope's, which are not considered on the way back
        assert np.allclose(plain.p_n[-1], smoothed.p_n[-1], rtol=0.0, atol=5e-4)
        assert (smoothed.sigma["p_n"] <= plain.sigma["p_n"] * (1.0 + 1e-9) + 1e-7).all()  # root of roundoff
        truth = d.log.truth.p_n
        gains.append([np.sqrt(np.mean((s.p_n - truth)[:, 1] ** 2)) for s in (plain, smoothed)])
        assert smoothed.events == plain.events
    before, after = np.mean(gains, axis=0)
    assert after < before


def test_segments_do_not_show(short, monkeypatch):
    d, filt = short
    whole = smooth(filt, d.log)
    monkeypatch.setattr(smoother, "SEGMENT", 37)
    parts = smooth(filt, d.log)
    assert np.array_equal(whole.p_n, parts.p_n) and np.array_equal(whole.q_nb, parts.q_nb)
    assert np.array_equal(whole.sigma["v_n"], parts.sigma["v_n"])


def test_smoothed_errors_are_as_large_as_told():
    squares = []
    for seed in range(20):
        d = drive("straight", seed, length_m=1.5)
        s = smooth(d.filter(), d.log)
        rows = slice(600, None, 50)
        squares.append((((s.p_n - d.log.truth.p_n)[rows] / s.sigma["p_n"][rows]) ** 2).mean(axis=0))
    # errors along a run hang together: 20 runs are 20 draws per axis, and 60 in all; five sigmas of their mean
    assert abs(np.mean(squares) - 1.0) < 5.0 * np.sqrt(2.0 / 60.0)


def test_a_rotation_of_the_correction_is_told_in_n():
    """exp(phi) q, not q exp(phi)."""
    x, dx, out = np.zeros(at.X_SIZE), np.zeros(at.N), np.empty(at.BIAS_M + 1)
    x[:4] = q_exp((0.3, -0.4, 1.2))
    dx[at.PHI_N : at.PHI_N + 3] = 0.01, 0.02, -0.03
    put(x, dx, out)
    np.testing.assert_allclose(out[:4], q_mul(q_exp((0.01, 0.02, -0.03)), x[:4]), atol=1e-15)  # roundoff


@pytest.mark.parametrize("kind", ["square", "straight"])
def test_what_is_considered_stays_in_the_deviations(kind):
    """As strapdown navigate --smooth: scales and the slope of the floor are considered."""
    one = robot_drive(kind, 2002)
    filtered, smoothed = (navigate(one.log, one.carrier(), one.facts(), smoothed=how).solution for how in (False, True))
    drives = one.log.t > 10.0
    for name in ("p_n", "v_n", "attitude_n"):
        assert (smoothed.sigma[name][drives] > 0.0).all()
    assert np.abs(smoothed.p_n[:, 2] - one.truth.p_n[:, 2]).max() < 0.005  # m, a flat floor; 0.07 by gains as if best
    off = [np.linalg.norm((s.p_n - one.truth.p_n)[:, :2], axis=1).max() for s in (filtered, smoothed)]
    assert off[1] < 1.1 * off[0]  # chance
    z = np.abs(smoothed.p_n - one.truth.p_n)[drives, :2] / smoothed.sigma["p_n"][drives, :2]
    assert (z > 3.0).mean() < 0.05  # chance: one drive

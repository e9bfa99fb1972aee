"""Recorded poses as a motion: what calculus promises, what jitter and switches may do, and what bad input states."""

import gzip
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.errors import InputError
from strapdown.motion.hermite import chart_from_rates, rates_from_chart
from strapdown.motion.local_fit import FITTED, FIVE, SEVEN, THREE
from strapdown.motion.recorded import RecordedMotion, read_poses
from strapdown.rotation import q_conj, q_exp, q_log, q_mul

SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=15, deadline=None)


class Smooth:
    """Sums of sines in position and in a rotation-vector chart, with exact derivatives; up to about 4 rad/s."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.frequency = rng.uniform(0.5, 4.0, (2, 3, 3))
        self.phase = rng.uniform(0.0, 2 * np.pi, (2, 3, 3))
        self.size = rng.uniform(0.2, 0.5, (2, 3, 3)) / self.frequency
        self.q_start = q_exp(rng.uniform(-2.0, 2.0, 3))

    def chart(self, t, which: int):
        angle = self.frequency[which] * t[:, None, None] + self.phase[which]
        size, f = self.size[which], self.frequency[which]
        return [
            (size * np.sin(angle)).sum(axis=-1),
            (size * f * np.cos(angle)).sum(axis=-1),
            (-size * f**2 * np.sin(angle)).sum(axis=-1),
        ]

    def truth(self, t):
        p, v, a = self.chart(t, 0)
        phi, dphi, ddphi = self.chart(t, 1)
        return p, v, a, q_mul(self.q_start, q_exp(phi)), *rates_from_chart(phi, dphi, ddphi)

    def recorded(self, t) -> RecordedMotion:
        p, _, _, q, _, _ = self.truth(t)
        return RecordedMotion(t, p, q)


def errors(motion, truth) -> dict[str, float]:
    names = ("p_n", "v_n", "a_n", None, "w_nb_b", "dw_nb_b")
    found = {name: np.abs(getattr(motion, name) - x).max() for name, x in zip(names, truth, strict=True) if name}
    found["q_nb"] = np.abs(q_log(q_mul(q_conj(truth[3]), motion.q_nb))).max()
    return found


def line_at_rest(n: int = 40, step: float = 0.01):
    t = np.arange(n) * step
    return t, np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))


@few
@given(SEEDS)
def test_jacobian_of_rotations_and_its_inverse_agree(seed):
    rng = np.random.default_rng(seed)
    phi = rng.standard_normal((50, 3))
    phi *= (rng.choice([1e-12, 1e-3, 0.5, 2.0, 3.1], 50) / np.linalg.norm(phi, axis=1))[:, None]
    w, dw = rng.standard_normal((2, 50, 3))
    back = rates_from_chart(phi, *chart_from_rates(phi, w, dw))
    np.testing.assert_allclose(back, (w, dw), atol=1e-12)  # roundoff; the inverse grows to 1/0.3 near pi


@few
@given(SEEDS)
def test_jacobian_is_the_derivative_of_the_exponential(seed):
    motion, t, e = Smooth(seed), np.linspace(0.1, 2.0, 30), 1e-4
    _, _, _, _, w, dw = motion.truth(t)
    q_before, q_after = motion.truth(t - e)[3], motion.truth(t + e)[3]
    w_before, w_after = motion.truth(t - e)[4], motion.truth(t + e)[4]
    np.testing.assert_allclose(q_log(q_mul(q_conj(q_before), q_after)) / (2 * e), w, atol=1e-5)  # e^2 w'' / 6
    np.testing.assert_allclose((w_after - w_before) / (2 * e), dw, atol=1e-5)


@few
@given(SEEDS)
def test_derivatives_at_samples_converge_with_order_six(seed):
    motion = Smooth(seed)
    coarse, fine = (
        errors(m[slice(4, -4)], [x[4:-4] for x in motion.truth(m.t)])
        for m in (motion.recorded(np.arange(n + 1) * (4.0 / n)).at_samples() for n in (80, 160))
    )
    for name in ("v_n", "a_n", "w_nb_b", "dw_nb_b"):
        # order 6 is a factor of 64; the coarse grid is not quite in the limit
        assert coarse[name] / fine[name] > 35.0, name
    assert fine["p_n"] == 0.0 and fine["q_nb"] < 1e-15


@few
@given(SEEDS)
def test_uneven_time_steps_and_times_in_between(seed):
    """Steps of +-20 %, whole range with its ends, where stencils are one-sided: order 3 to 4 in acceleration."""
    motion, rng, results = Smooth(seed), np.random.default_rng(seed), []
    shift = rng.uniform(-0.2, 0.2, 80)
    for parts in (1, 2):
        step = np.repeat(0.05 * (1.0 + shift), parts) / parts
        t = np.concatenate([[0.0], np.cumsum(step)])
        asked = np.linspace(0.0, t[-1], 1000)
        results.append(errors(motion.recorded(t).at(asked), motion.truth(asked)))
    for name in ("a_n", "dw_nb_b"):
        assert results[1][name] < 0.02 and results[0][name] / results[1][name] > 6.0, name
    for name in ("v_n", "w_nb_b"):
        assert results[1][name] < 2e-4 and results[0][name] / results[1][name] > 12.0, name


@few
@given(SEEDS, st.sampled_from([1e-3, 0.0]))
def test_the_curve_is_consistent_with_its_own_derivatives(seed, jitter):
    """Also where the poses are rough: v is the derivative of p and so on, and nothing jumps at a pose."""
    rng, t, e = np.random.default_rng(seed), np.arange(30) * 0.1, 1e-5
    smooth = Smooth(seed).recorded(t)
    rough = RecordedMotion(t, smooth.p_n + jitter * rng.standard_normal((30, 3)), smooth.q_nb)
    asked = np.sort(rng.uniform(0.01, 2.89, 200))
    asked = asked[np.min(np.abs(asked[:, None] - t), axis=1) > 2 * e]
    before, now, after = (rough.at(asked + shift) for shift in (-e, 0.0, e))
    for name, rate in (("p_n", "v_n"), ("v_n", "a_n"), ("w_nb_b", "dw_nb_b")):
        slope = (getattr(after, name) - getattr(before, name)) / (2 * e)
        np.testing.assert_allclose(slope, getattr(now, rate), atol=2e-5)  # e^2 / 6 of the next but one derivative
    turn = q_log(q_mul(q_conj(before.q_nb), after.q_nb)) / (2 * e)
    np.testing.assert_allclose(turn, now.w_nb_b, atol=2e-5)
    left, right = (rough.at(t[1:-1] + shift) for shift in (-1e-12, 1e-12))
    for name in ("p_n", "v_n", "a_n", "w_nb_b", "dw_nb_b"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), atol=1e-7)  # 2e-12 of a step


def test_constant_acceleration_and_constant_rate_come_out_to_roundoff():
    t = np.arange(200) * 0.01
    a, v, w = np.array([1.0, -2.0, 9.81]), np.array([3.0, 0.0, -1.0]), np.array([2.0, -1.0, 3.0])
    motion = RecordedMotion(t, v * t[:, None] + 0.5 * a * t[:, None] ** 2, q_exp(w * t[:, None]))
    asked = np.linspace(0.0, motion.duration_s, 777)
    for m in (motion.at_samples(), motion.at(asked)):
        # positions of 20 m have 3.6e-15 of roundoff, times up to 30 / h^2 at the ends of the recording
        np.testing.assert_allclose(m.a_n, np.tile(a, (len(m), 1)), atol=2e-9)
        np.testing.assert_allclose(m.v_n, v + a * m.t[:, None], atol=1e-11)
        np.testing.assert_allclose(m.w_nb_b, np.tile(w, (len(m), 1)), atol=1e-12)
        np.testing.assert_allclose(m.dw_nb_b, 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.increments().w_nb_b, np.tile(w, (199, 1)), atol=1e-12)


@pytest.mark.parametrize("jitter", [0.0, 1e-9])
@pytest.mark.parametrize("phase", [0.0, 0.5])
def test_a_switch_disturbs_only_its_neighbours(jitter, phase):
    """Force on at sample 20 (or half a step later): no reading further than one sample away is wrong."""
    h, t_on = 0.01, (20 + phase) * 0.01
    t, p, q = line_at_rest(41, h)
    p[:, 2] = 0.5 * np.maximum(t - t_on, 0.0) ** 2 + jitter * np.random.default_rng(3).standard_normal(41)
    q = q_exp(p[:, ::-1])
    m = RecordedMotion(t, p, q).at_samples()
    truth = np.where(t > t_on, 1.0, 0.0)
    away = np.abs(t - t_on) > 1.01 * h
    floor = 1e-10 + 6 * 2.45 * jitter / h**2  # a few sigmas of a second difference
    assert np.abs(m.a_n[away, 2] - truth[away]).max() < floor
    assert np.abs(m.dw_nb_b[away, 0] - truth[away]).max() < floor
    assert m.a_n[:, 2].min() > -floor and m.a_n[:, 2].max() < 1.0 + floor  # no ringing


@few
@given(SEEDS, st.sampled_from([0.0, 5.0]))
def test_jitter_is_amplified_no_more_than_by_a_second_difference(seed, acceleration):
    """At rest far less, on top of an acceleration the same: a 5- or 7-point stencil would give 3.1 or 3.5."""
    n, h, sigma = 2000, 1e-3, 1e-7
    rng = np.random.default_rng(seed)
    t = np.arange(n) * h
    p = np.zeros((n, 3))
    p[:, 0] = 0.5 * acceleration * t**2
    noise = sigma * rng.standard_normal((2, n, 3))
    m = RecordedMotion(t, p + noise[0], q_exp(noise[1])).at_samples()[slice(5, -5)]
    gain_a = np.std(m.a_n - [acceleration, 0.0, 0.0]) * h**2 / sigma
    gain_dw = np.std(m.dw_nb_b) * h**2 / sigma
    limit = np.sqrt(6.0) * 1.06  # 2 % of the samples are taken for smooth by chance, and chance itself
    assert gain_a < (limit if acceleration else 0.9)
    assert gain_dw < 0.9
    assert np.std(m.w_nb_b) * h / sigma < np.sqrt(0.5)  # of the central difference


def test_stencils_are_the_textbook_ones():
    for stencil, second in (
        (THREE, [1.0, -2.0, 1.0]),
        (FIVE, np.array([-1, 16, -30, 16, -1]) / 12),
        (SEVEN, np.array([2, -27, 270, -490, 270, -27, 2]) / 180),
        (FITTED, np.array([2, -1, -2, -1, 2]) / 7),
    ):
        s = np.arange(stencil.samples)[None] - stencil.samples // 2
        np.testing.assert_allclose(stencil.weights(s.astype(float))[0, 1], second, atol=1e-14)


@few
@given(SEEDS)
def test_flipped_signs_change_nothing(seed):
    rng = np.random.default_rng(seed)
    t = np.arange(60) * 0.05
    p, _, _, q, _, _ = Smooth(seed).truth(t)
    plain, flipped = (RecordedMotion(t, p, q * sign) for sign in (1.0, rng.choice([-1.0, 1.0], (60, 1))))
    asked = np.linspace(0.0, 2.9, 77)
    one, other = plain.at(asked), flipped.at(asked)
    assert np.array_equal(one.w_nb_b, other.w_nb_b) and np.array_equal(one.dw_nb_b, other.dw_nb_b)
    assert np.abs(q_log(q_mul(q_conj(one.q_nb), other.q_nb))).max() == pytest.approx(0.0, abs=1e-15)


def test_fast_turns_stay_inside_the_chart():
    """2.8 rad a step: three neighbours would be 8.4 rad away, where the logarithm has folded twice."""
    t = np.arange(20) * 0.1
    m = RecordedMotion(t, np.zeros((20, 3)), q_exp(np.array([0.0, 0.0, 28.0]) * t[:, None])).at_samples()
    np.testing.assert_allclose(m.w_nb_b[1:-1], [[0.0, 0.0, 28.0]] * 18, atol=1e-11)


def test_gaps_split_the_recording():
    t = np.concatenate([np.arange(20) * 0.1, 5.0 + np.arange(20) * 0.1])
    p = np.outer(np.where(t < 3, t, 100.0 - t), [1.0, 2.0, 3.0])
    motion = RecordedMotion(t, p, np.tile([1.0, 0, 0, 0], (40, 1)))
    assert motion.gaps == [(t[19], 5.0)] and len(motion.increments().t) == 38
    for m in (motion.at_samples(), motion.at([0.05, 1.85, t[19], 5.0, 6.85, 6.9])):
        sign = np.where(m.t < 3, 1.0, -1.0)[:, None]
        np.testing.assert_allclose(m.v_n, sign * [1.0, 2.0, 3.0], atol=1e-11)
        np.testing.assert_allclose(m.a_n, 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.at(t[19] + 1e-12).p_n, p[19:20], atol=1e-14)  # roundoff is not the gap
    with pytest.raises(InputError, match=r"t = 3 s lies in a gap of the recording, from 1\.9 s to 5 s"):
        motion.at([1.0, 3.0])
    with pytest.raises(InputError, match=r"only 2 poses stand between gaps at sample 20 \(t = 5 s\).*gap_factor"):
        RecordedMotion(t[:22], p[:22], np.tile([1.0, 0, 0, 0], (22, 1)))
    assert not RecordedMotion(t, p, motion.q_nb, gap_factor=50.0).gaps


def test_clock_and_time_offset():
    t = 100.0 + np.arange(50) * 0.01
    p = np.outer(0.5 * (t - 100.0) ** 2, [2.0, 0.0, 0.0])
    motion = RecordedMotion(t, p, np.tile([1.0, 0, 0, 0], (50, 1)), pose_time_offset_s=0.0025)
    assert motion.start_s == 100.0025 and motion.duration_s == pytest.approx(0.49)
    np.testing.assert_array_equal(motion.at_samples().t, t + 0.0025)
    np.testing.assert_allclose(motion.at(100.1025).v_n, [[0.2, 0.0, 0.0]], atol=1e-10)
    np.testing.assert_allclose(motion.increments().t, t[:-1] + 0.0075, atol=1e-12)
    zero = motion.from_zero()
    np.testing.assert_allclose(zero.at([0.0, zero.duration_s]).v_n[:, 0], [0.0, 0.98], atol=1e-10)
    with pytest.raises(InputError, match=r"t = 0 s is outside of the recording \(100.* from_zero"):
        motion.at(0.0)


def test_semi_implicit_poses_are_half_a_step_ahead():
    """x += h v after v += h a: with the offset h / 2 the poses tell the velocity of their own clock."""
    h, a = 0.005, 2.0
    t = np.arange(100) * h
    p = np.outer(a * h * np.cumsum(t), [1.0, 0.0, 0.0])
    m = RecordedMotion(t, p, np.tile([1.0, 0, 0, 0], (100, 1)), pose_time_offset_s=h / 2).at_samples()
    np.testing.assert_allclose(m.v_n[:, 0], a * m.t, atol=1e-11)


def with_value(array, i, value):
    array = array.copy()
    array[i] = value
    return array


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, p, q: (with_value(t, 7, t[6]), p, q), r"t repeats at sample 7 \(0\.06 s"),
        (lambda t, p, q: (with_value(t, 7, 0.0), p, q), r"t goes backward at sample 7"),
        (lambda t, p, q: (with_value(t, 7, np.nan), p, q), r"t is not finite at sample 7"),
        (lambda t, p, q: (t, with_value(p, 3, np.inf), q), r"p_n is not finite at sample 3 \(t = 0\.03 s\)"),
        (lambda t, p, q: (t, p, with_value(q, 9, 0.3)), r"q_nb has norm 0\.6 at sample 9 \(t = 0\.09 s\)"),
        (lambda t, p, q: (t, p[:, :2], q), r"p_n has shape \(40, 2\), expected \(40, 3\)"),
        (lambda t, p, q: (t[:4], p[:4], q[:4]), r"has 4 poses; rates need at least 5 in a row"),
    ],
)
def test_bad_poses_are_told_with_sample_and_time(change, message):
    with pytest.raises(InputError, match=message):
        RecordedMotion(*change(*line_at_rest()))


def test_bad_settings():
    with pytest.raises(InputError, match="gap_factor is 1"):
        RecordedMotion(*line_at_rest(), gap_factor=1.0)
    with pytest.raises(InputError, match="pose_time_offset_s is nan"):
        replace(RecordedMotion(*line_at_rest()), pose_time_offset_s=np.nan)


HEADER = "t,p_x,p_y,p_z,q_w,q_x,q_y,q_z"
ROWS = [f"{0.1 * i!r},{i},0,1e-3,1,0,0,0" for i in range(8)]


def test_read_poses_by_own_names_units_and_mapping(tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join([HEADER, *ROWS]) + "\n")
    motion = read_poses(plain)
    np.testing.assert_array_equal(motion.p_n[:, 0], np.arange(8))
    units = "t [s],p_x [m, n],p_y [m, n],p_z [m, n],q_w [1, nb],q_x [1, nb],q_y [1, nb],q_z [1, nb],note"
    own = tmp_path / "own.csv.gz"
    own.write_bytes(gzip.compress("\r\n".join(["# a comment", units, *(f"{row},nan" for row in ROWS)]).encode()))
    np.testing.assert_array_equal(read_poses(own).p_n, motion.p_n)
    foreign = tmp_path / "foreign.csv"
    foreign.write_text("\n".join([HEADER.replace("p_", "D1_"), *ROWS]).replace(",", ";"), encoding="utf-8-sig")
    mapped = read_poses(foreign, {f"p_{axis}": f"D1_{axis}" for axis in "xyz"})
    np.testing.assert_array_equal(mapped.p_n, motion.p_n)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (HEADER, "has a header and no rows"),
        ("\n".join([HEADER, ROWS[0]]), "has 1 poses"),
        ("\n".join([HEADER.replace("q_z", "q_3"), *ROWS]), r"no column q_z in line 1; its columns are: t, p_x, .*q_3"),
        ("\n".join([HEADER.replace("p_y", "p_x"), *ROWS]), r"2 columns p_x in line 1"),
        ("\n".join(ROWS), r"no column t in line 1; its columns are: 0.0, 0, 0"),
        ("\n".join([HEADER.replace("t,", "t [ms],"), *ROWS]), r"column t is in ms, expected s"),
        ("\n".join([HEADER, *ROWS, "nan,0,0,0,1,0,0,0"]), r"no finite number in column t at line 10 \(1 of 9 rows\)"),
        ("\n".join([HEADER, *ROWS, "", "9,0,,0,1,0,0,0"]), r"no finite number in column p_y at line 11"),
        ("\n".join([HEADER, *ROWS[:5], "0.5,oops,0,0,1,0,0,0"]), r"'oops' in column p_x, line 7, is not a number"),
        ("\n".join([HEADER, *ROWS, "0.9,0,0"]), r"line 10 has 3 columns, the header has 8"),
        ("\n".join([HEADER, *ROWS, ROWS[-1]]), r"t repeats at sample 8"),
        ("\n".join([HEADER, *ROWS, ROWS[0]]), r"t goes backward at sample 8"),
        ("\n".join([HEADER, *ROWS, "0.9,0,0,0,0.5,0,0,0"]), r"q_nb has norm 0\.5 at sample 8"),
    ],
)
def test_bad_files_are_told_in_one_sentence(tmp_path, text, message):
    path = tmp_path / "poses.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_poses(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@few
@given(st.binary(max_size=200), st.booleans())
def test_rubbish_never_ends_in_a_traceback(tmp_path_factory, rubbish, after_header):
    path = tmp_path_factory.mktemp("rubbish") / "poses.csv"
    path.write_bytes((HEADER + "\n").encode() + rubbish if after_header else rubbish)
    with pytest.raises(InputError):
        read_poses(path)


def test_files_that_are_no_text(tmp_path):
    good = gzip.compress("\n".join([HEADER, *ROWS]).encode())
    for name, raw, message in (
        ("binary.csv", bytes(range(256)), "is not a text file"),
        ("cut.csv.gz", good[:-12], "damaged gzip"),
        ("rotten.csv.gz", good[:20] + bytes(10) + good[30:], "damaged gzip"),
    ):
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(InputError, match=message):
            read_poses(tmp_path / name)
    with pytest.raises(InputError, match="does not exist"):
        read_poses(tmp_path / "missing.csv")
    with pytest.raises(InputError, match=r"columns names px; the names to map are t, p_x"):
        read_poses(tmp_path / "missing.csv", {"px": "x"})

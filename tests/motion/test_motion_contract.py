"""What every path promises: its derivatives are derivatives, nothing jumps that should not, the world may turn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_motion_cases import CASES, attitudes, knots, number

from strapdown.errors import InputError
from strapdown.motion import Played, Rest, Turntable, Waypoints
from strapdown.rotation import q_exp, q_mul, q_rotate

every_path = pytest.mark.parametrize("name", CASES)
some = settings(max_examples=15, deadline=None)

STEP = 1e-3  # of a piece, at most 1 ms: five-point differences are then good to about STEP^4
STENCIL = 2e-6  # step order, relative: higher derivatives of these paths grow by up to 10^3 per order and piece
CENTRAL = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0, np.arange(-2.0, 3.0)
FORWARD = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0, np.arange(5.0)
LEFT_LIMIT = np.array([1.0, -5.0, 10.0, -10.0, 5.0]), np.arange(-5.0, 0.0)  # extrapolates to the joint


def on_stencil(path, at, step, offsets):
    """Fields of the motion (stencil, place, column) around places, which lie further apart than the stencil."""
    t = at[:, None] + step[:, None] * offsets
    m = path.at(np.clip(t, 0.0, path.duration_s).ravel())
    shape = (len(at), len(offsets), -1)
    return {
        k: np.moveaxis(getattr(m, k).reshape(shape), 1, 0) for k in ("p_n", "v_n", "a_n", "q_nb", "w_nb_b", "dw_nb_b")
    }


def q_times_rate(q_nb, w_b):
    zero = np.zeros((len(w_b), 1))
    return 0.5 * q_mul(q_nb, np.concatenate([zero, w_b], axis=1))


def assert_derivatives(path, at, step, weights, offsets):
    m = on_stencil(path, at, step, offsets)
    here = int(np.flatnonzero(offsets == 0.0)[0])
    claims = {
        "p_n": m["v_n"][here],
        "v_n": m["a_n"][here],
        "q_nb": q_times_rate(m["q_nb"][here], m["w_nb_b"][here]),
        "w_nb_b": m["dw_nb_b"][here],
    }
    for field, claimed in claims.items():
        measured = np.tensordot(weights, m[field], axes=1) / step[:, None]
        roundoff = 1e-15 * np.abs(m[field]).max() / step.min()
        tolerance = STENCIL * (1.0 + np.abs(claimed).max()) + 10.0 * roundoff
        assert np.abs(measured - claimed).max() < tolerance, field


@every_path
@some
@given(data=st.data())
def test_velocity_acceleration_rate_and_angular_acceleration_are_the_derivatives_they_claim(name, data):
    path = data.draw(CASES[name].paths)
    start, end = knots(path)[:-1], knots(path)[1:]
    place = data.draw(number(0.01, 0.99))
    assert_derivatives(path, start + place * (end - start), STEP * np.minimum(end - start, 1.0), *CENTRAL)


@every_path
@some
@given(data=st.data())
def test_at_a_joint_the_derivatives_are_those_of_the_piece_that_begins(name, data):
    path = data.draw(CASES[name].paths)
    start, length = knots(path)[:-1], np.diff(knots(path))
    assert_derivatives(path, start, STEP * np.minimum(length, 1.0), *FORWARD)


@every_path
@some
@given(data=st.data())
def test_nothing_jumps_at_joints_that_is_promised_to_be_continuous(name, data):
    case = CASES[name]
    path = data.draw(case.paths)
    joints, step = knots(path)[1:-1], STEP * np.minimum(np.diff(knots(path))[:-1], 1.0)
    if len(joints) == 0:
        return
    fields = ["p_n", "v_n", "q_nb", "w_nb_b"]
    fields += [] if case.acceleration_jumps else ["a_n"]
    fields += [] if case.angular_acceleration_jumps else ["dw_nb_b"]
    weights, offsets = LEFT_LIMIT
    before, here = on_stencil(path, joints, step, offsets), path.at(joints)
    for field in fields:
        value = getattr(here, field)
        jump = np.abs(np.tensordot(weights, before[field], axes=1) - value)
        assert jump.max() < STENCIL * (1.0 + np.abs(value).max()), field


@every_path
@some
@given(data=st.data())
def test_the_jerk_is_continuous_where_it_is_promised(name, data):
    case = CASES[name]
    path = data.draw(case.paths)
    joints, lengths = knots(path)[1:-1], np.minimum(np.diff(knots(path)), 1.0)
    if case.jerk_jumps or len(joints) == 0:
        return
    weights, offsets = FORWARD
    step = STEP * np.minimum(lengths[:-1], lengths[1:])
    after = np.tensordot(weights, on_stencil(path, joints, step, offsets)["a_n"], axes=1) / step[:, None]
    back = on_stencil(path, joints, step, -offsets[::-1])["a_n"][::-1]
    before = -np.tensordot(weights, back, axes=1) / step[:, None]
    largest = np.abs(np.diff(path.at(np.linspace(0.0, path.duration_s, 500)).a_n, axis=0)).max()
    scale = 1.0 + largest * 500 / path.duration_s
    assert np.abs(after - before).max() < 1e-5 * scale  # step order, as above, with one derivative more


def turned(path, q_mn):
    """The same path in a world that is turned by q_mn."""
    yaw = 2.0 * np.arctan2(q_mn[3], q_mn[0])
    changes = {}
    for field in ("p_n", "start_p_n", "end_p_n", "v_n"):
        if hasattr(path, field):
            changes[field] = q_rotate(q_mn, getattr(path, field))
    if getattr(path, "q_nb", None) is not None:
        changes["q_nb"] = q_mul(q_mn, path.q_nb)
    for field in ("start_yaw_rad", "axis_yaw_rad"):
        if hasattr(path, field):
            changes[field] = getattr(path, field) + yaw
    return replace(path, **changes)


@every_path
@some
@given(data=st.data())
def test_turning_the_world_turns_the_motion(name, data):
    path = data.draw(CASES[name].paths)
    free = isinstance(path, Rest | Turntable | Waypoints) and path.q_nb is not None
    q_mn = np.array(data.draw(attitudes())) if free else q_exp([0.0, 0.0, data.draw(number(-3.0, 3.0))])
    t = path.duration_s * (np.arange(57) + 0.37) / 57  # not on the even knots that some paths have
    t = t[np.abs(t[:, None] - knots(path)).min(axis=1) > 1e-9]  # at a joint roundoff decides which piece counts
    plain, other = path.at(t), turned(path, q_mn).at(t)
    roundoff = {"rtol": 1e-9, "atol": 1e-9}
    for field in ("p_n", "v_n", "a_n"):
        np.testing.assert_allclose(getattr(other, field), q_rotate(q_mn, getattr(plain, field)), **roundoff)
    same = np.einsum("ij,ij->i", other.q_nb, q_mul(q_mn, plain.q_nb))
    np.testing.assert_allclose(np.abs(same), 1.0, **roundoff)  # q and -q are the same attitude
    for field in ("w_nb_b", "dw_nb_b"):
        np.testing.assert_allclose(getattr(other, field), getattr(plain, field), **roundoff)


@every_path
@some
@given(data=st.data())
def test_a_time_has_one_answer_whatever_else_is_asked(name, data):
    path = data.draw(CASES[name].paths)
    t = np.linspace(0.0, path.duration_s, 23)
    whole = path.at(t)
    for i in (0, 7, 22):
        np.testing.assert_allclose(path.at(t[i]).q_nb[0], whole.q_nb[i], rtol=0.0, atol=1e-14)  # vector roundoff
        np.testing.assert_allclose(path.at(t[i]).p_n[0], whole.p_n[i], rtol=0.0, atol=1e-13)


@every_path
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_times_outside_the_path_are_refused_with_the_valid_range(name, data):
    path = data.draw(CASES[name].paths)
    for t in (-0.001, path.duration_s + 0.001, np.nan):
        with pytest.raises(InputError, match=r"outside the path, which lasts from 0 to"):
            path.at([t])
    past_by_roundoff = path.duration_s + 1e-12
    assert path.at([past_by_roundoff]).t[0] == past_by_roundoff


@every_path
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_a_path_is_its_settings(name, data):
    path = data.draw(CASES[name].paths)
    assert path == replace(path)
    assert hash(path) == hash(replace(path))
    with pytest.raises(AttributeError):
        path.duration_s = 1.0


def fields_of(motion):
    return [getattr(motion, k) for k in ("t", "p_n", "v_n", "a_n", "q_nb", "w_nb_b", "dw_nb_b")]


@every_path
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_played_path_is_never_stale_and_reset_gives_identical_bits(name, data):
    path = data.draw(CASES[name].paths)
    source = Played(path)
    steps = np.array(data.draw(st.lists(number(0.01, 1.0), min_size=1, max_size=5)))
    steps *= 0.9 * path.duration_s / steps.sum()

    def run():
        seen = [fields_of(source.state("body"))]
        for step in steps:
            source.advance(step)
            seen.append(fields_of(source.state("body")))
            for a, b in zip(seen[-1], fields_of(path.at([source.time_s])), strict=True):
                assert np.array_equal(a, b)
        return seen

    first = run()
    source.reset()
    assert source.time_s == 0.0
    for before, after in zip(first, run(), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))

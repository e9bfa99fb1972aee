"""The central types: locked, copied, checked; errors name the sample and its time."""

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.errors import InputError
from strapdown.rotation import IDENTITY, q_conj, q_exp, q_mul, q_rotate
from strapdown.types import Increments, Motion, Recording, Solution

N = 5
T = np.arange(N) * 0.5


def still(t=T):
    zero = np.zeros((len(t), 3))
    return Motion(t, zero, zero, zero, np.tile(IDENTITY, (len(t), 1)), zero, zero)


def increments(t=T):
    return Increments(t, np.full(len(t), 0.5), np.zeros((len(t), 3)), np.zeros((len(t), 3)))


def full_recording():
    triads = np.random.default_rng(0).normal(size=(3, N, 3))
    return Recording(T, *triads, np.zeros(N), np.zeros(N, bool), np.zeros(N), increments(), still(), {"part": "x"})


ALL = [still(), increments(), full_recording(), Solution(T, still().q_nb, np.zeros((N, 3)), np.zeros((N, 3)))]


# ---------------------------------------------------------------- data does not change


@pytest.mark.parametrize("item", ALL, ids=lambda item: type(item).__name__)
def test_arrays_and_fields_are_locked(item):
    for field in fields(item):
        value = getattr(item, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 1
        with pytest.raises(FrozenInstanceError):
            setattr(item, field.name, value)


@pytest.mark.parametrize("item", ALL, ids=lambda item: type(item).__name__)
def test_input_is_copied_not_kept(item):
    own = {
        f.name: np.array(getattr(item, f.name)) for f in fields(item) if isinstance(getattr(item, f.name), np.ndarray)
    }
    others = {f.name: getattr(item, f.name) for f in fields(item) if f.name not in own}
    made = type(item)(**own, **others)
    for name, array in own.items():
        assert not np.shares_memory(array, getattr(made, name))
        array[...] = 1 - array  # still the caller's, and still writable
        np.testing.assert_array_equal(getattr(made, name), getattr(item, name))


def test_a_locked_array_of_its_own_is_held_once():
    t, q = np.arange(2.0), np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    flag = np.array([True, False])
    for array in (t, q, flag):
        array.flags.writeable = False
    made = Solution(t, q, flags={"rest": flag})
    assert made.t is t and made.q_nb is q and made.flags["rest"] is flag
    base = np.arange(4.0)
    window = base[:2]  # a view: locking it does not lock what it looks at
    window.flags.writeable = False
    seen = Recording(window)
    base[:] = 9.0
    assert seen.t.tolist() == [0.0, 1.0]


def test_meta_is_copied_and_locked():
    meta = {"part": "x"}
    log = Recording(T, meta=meta)
    meta["part"] = "y"
    assert log.meta["part"] == "x"
    with pytest.raises(TypeError):
        log.meta["part"] = "z"
    more = log.with_meta(rate_hz=2.0)
    assert dict(more.meta) == {"part": "x", "rate_hz": 2.0}
    assert dict(log.meta) == {"part": "x"}


def test_missing_is_none():
    log = Recording(T)
    assert all(getattr(log, f.name) is None for f in fields(log) if f.name not in ("t", "meta", "new"))
    assert log.new == {}
    assert len(log) == N


# ---------------------------------------------------------------- checked at the boundary


def broken(shape, row, value):
    array = np.zeros(shape)
    array[row] = value
    return array


@pytest.mark.parametrize("name", ["gyr_s", "acc_s", "mag_s", "temperature", "odometer"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_names_sample_and_time(name, value):
    shape = (N, 3) if name.endswith("_s") else (N,)
    with pytest.raises(InputError) as caught:
        Recording(T, **{name: broken(shape, 3, value)})
    assert f"{name} is not finite at sample 3 (t = 1.5 s), 1 of 5 samples" in str(caught.value)


@pytest.mark.parametrize("name", ["p_n", "v_n", "a_n", "w_nb_b", "dw_nb_b"])
def test_motion_not_finite_names_sample_and_time(name):
    with pytest.raises(InputError, match=rf"{name} is not finite at sample 2 \(t = 1 s\)"):
        replace(still(), **{name: broken((N, 3), 2, np.nan)})


@pytest.mark.parametrize(
    ("t", "why"),
    [
        ([0.0, 1.0, 1.0], r"repeats at sample 2 \(1 s, then 1 s\)"),
        ([0.0, 2.0, 1.0], r"goes backward at sample 2 \(2 s, then 1 s\)"),
        ([0.0, np.nan, 1.0], "not finite at sample 1"),
        ([], "at least one time"),
        (3.0, "at least one time"),
        ([[0.0, 1.0]], "at least one time"),
        (["a", "b"], "not an array of numbers"),
        ([[0.0], [1.0, 2.0]], "not an array of numbers"),
        (None, "shape|numbers"),
    ],
)
def test_time_increases(t, why):
    with pytest.raises(InputError, match=why):
        Recording(t)


def test_times_as_large_as_doubles_go():
    assert len(Recording([-1.7e308, 0.0, 1.7e308])) == 3


def test_attitudes_have_unit_length():
    q = np.tile(IDENTITY, (N, 1))
    q[3] *= 1.001
    with pytest.raises(InputError, match=r"q_nb has norm 1.001 at sample 3 \(t = 1.5 s\), expected 1"):
        Solution(T, q)
    q[3] = 1e200
    with pytest.raises(InputError, match="norm inf at sample 3"):
        Solution(T, q)


def test_wrong_shapes():
    with pytest.raises(InputError, match=r"acc_s has shape \(4, 3\), expected \(5, 3\)"):
        Recording(T, acc_s=np.zeros((4, 3)))
    with pytest.raises(InputError, match=r"stop has shape"):
        Recording(T, stop=np.zeros(4))
    with pytest.raises(InputError, match=r"q_nb has shape \(5, 3\)"):
        Solution(T, np.zeros((5, 3)))
    for part in ({"truth": still(T + 1)}, {"increments": increments(T + 1)}):
        with pytest.raises(InputError, match="other times"):
            Recording(T, **part)


@pytest.mark.parametrize("value", [np.nan, 0.5, -1, "yes"])
def test_stop_is_true_or_false(value):
    with pytest.raises(InputError, match="stop"):
        Recording(T, stop=[0, 1, 1, value, 0])


def test_stop_takes_zeros_and_ones():
    log = Recording(T, stop=[0, 1, 1, 0, 0])
    assert log.stop.dtype == bool
    assert log.stop.tolist() == [False, True, True, False, False]


def test_intervals_are_not_negative():
    with pytest.raises(InputError, match="dt is negative at sample 1"):
        replace(increments(), dt=[0.5, -0.5, 0.5, 0.5, 0.5])
    replace(increments(), dt=np.zeros(N))


# ---------------------------------------------------------------- motion of a frame fixed to the body


def test_rows_of_a_motion():
    assert still()[1:3].t.tolist() == [0.5, 1.0]
    assert len(still()[np.array([True, False, True, False, False])]) == 2


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_seen_from_and_back_is_the_same_motion(seed):
    rng = np.random.default_rng(seed)
    q_nb = q_exp(rng.normal(size=(N, 3)))
    motion = Motion(T, *rng.normal(size=(3, N, 3)), q_nb, *rng.normal(size=(2, N, 3)))
    r_bs_b, q_bs = rng.normal(size=3), q_exp(rng.normal(size=3))
    seen = motion.seen_from(r_bs_b, q_bs)
    np.testing.assert_allclose(seen.q_nb, q_mul(q_nb, q_bs), atol=1e-15)
    back = seen.seen_from(-q_rotate(q_conj(q_bs), r_bs_b), q_conj(q_bs))
    for field in fields(motion):
        np.testing.assert_allclose(getattr(back, field.name), getattr(motion, field.name), atol=1e-12)  # roundoff


def test_seen_from_agrees_with_differences_of_the_path():
    """Spin about a tilted axis with growing rate; v and a of the lever arm's end from central differences of p."""
    axis_b, h = np.array([0.36, 0.48, 0.8]), 1e-4
    t = 1.0 + h * np.arange(-1, 2)
    angle, rate = 0.5 * t**2, t
    zero = np.zeros((3, 3))
    body = Motion(t, zero, zero, zero, q_exp(angle[:, None] * axis_b), rate[:, None] * axis_b, np.tile(axis_b, (3, 1)))
    end = body.seen_from([0.3, -0.2, 0.5], IDENTITY)
    # step order: h^2 / 6 times third and fourth derivatives below 10; roundoff: 1e-16 / h^2 = 1e-8
    np.testing.assert_allclose((end.p_n[2] - end.p_n[0]) / (2 * h), end.v_n[1], atol=2e-8)
    np.testing.assert_allclose((end.p_n[2] - 2 * end.p_n[1] + end.p_n[0]) / h**2, end.a_n[1], atol=6e-8)

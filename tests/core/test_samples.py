"""A recording is cut by sample and by time, and gives its samples one by one as a live source would."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strapdown.errors import InputError
from strapdown.live import Start, State, state_of
from strapdown.sample import Fixes, Heights
from strapdown.types import Increments, Motion, Recording

N = 20
T = 100.0 + 0.01 * np.arange(N)


def full():
    """A recording with every field."""
    rng = np.random.default_rng(5)
    q = rng.standard_normal((N, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    vectors = [rng.standard_normal((N, 3)) for _ in range(9)]
    new = np.arange(N) % 4 == 0
    return Recording(
        T,
        gyr_s=vectors[0],
        acc_s=vectors[1],
        mag_s=vectors[2],
        temperature=rng.standard_normal(N),
        stop=np.arange(N) < 5,
        odometer=np.cumsum(rng.random(N)),
        increments=Increments(T, np.full(N, 0.01), vectors[3], vectors[4]),
        truth=Motion(T, *vectors[5:8], q, vectors[8], vectors[0]),
        meta={"part": "x"},
        tilt_s=rng.standard_normal((N, 2)),
        clipped=np.arange(N) == 7,
        position_fix=Fixes(vectors[3], np.abs(vectors[4]), T - 0.05),
        velocity_fix=Fixes(vectors[5], np.abs(vectors[6]), T),
        height=Heights(rng.standard_normal(N), rng.random(N)),
        new={"mag_s": new, "position_fix": new, "height": ~new},
    )


@given(a=st.integers(-N, N), b=st.integers(-N, N))
def test_a_slice_holds_the_rows_of_every_field(a, b):
    log, rows = full(), slice(a, b)
    if len(T[rows]) == 0:
        with pytest.raises(InputError, match="no sample"):
            log[rows]
        return
    cut = log[rows]
    assert cut.meta == log.meta
    for part, whole in (
        *((getattr(cut, name), getattr(log, name)) for name in ("t", "gyr_s", "acc_s", "mag_s", "temperature", "stop")),
        *((getattr(cut, name), getattr(log, name)) for name in ("odometer", "tilt_s", "clipped")),
        *((getattr(cut.truth, name), getattr(log.truth, name)) for name in ("t", "p_n", "q_nb", "dw_nb_b")),
        *((getattr(cut.increments, name), getattr(log.increments, name)) for name in ("dt", "theta_s")),
        *((getattr(cut.position_fix, name), getattr(log.position_fix, name)) for name in ("value_n", "sigma_n", "t_s")),
        *((getattr(cut.height, name), getattr(log.height, name)) for name in ("height_m", "sigma_m")),
        *((cut.new[name], log.new[name]) for name in log.new),
    ):
        assert np.array_equal(part, whole[rows])


def test_a_cut_by_time_includes_both_ends():
    log = full()
    assert np.array_equal(log.between(T[3], T[6]).t, T[3:7])
    assert np.array_equal(log.between(0.0, 1e9).t, T)
    with pytest.raises(InputError, match="no sample lies between"):
        log.between(T[3] + 0.001, T[4] - 0.001)


def test_samples_are_the_rows_and_a_held_reading_is_none():
    log = full()
    for i, sample in enumerate(log.samples()):
        assert sample.t == T[i]
        assert sample.dt == (T[i] - T[i - 1] if i else 0.0)
        assert np.array_equal(sample.gyr_s, log.gyr_s[i]) and np.array_equal(sample.acc_s, log.acc_s[i])
        assert (sample.mag_s is not None) == (i % 4 == 0) == (sample.position_fix is not None)
        assert (sample.height is None) == (i % 4 == 0)
        assert sample.velocity_fix.t_s == T[i]
        assert sample.stop == (i < 5) and sample.clipped == (i == 7)
    travelled = sum(sample.travel_m for sample in log.samples())
    assert travelled == pytest.approx(log.odometer[-1] - log.odometer[0], rel=1e-13)  # 20 roundoffs
    assert log.sample(-1).t == T[-1]


def test_what_is_not_there_is_one_sentence():
    log = full()
    with pytest.raises(InputError, match="there is no sample 20"):
        log.sample(N)
    with pytest.raises(InputError, match="cut by a slice"):
        log[3]
    with pytest.raises(InputError, match="has no gyroscope"):
        Recording(T, acc_s=log.acc_s).sample(0)
    with pytest.raises(InputError, match='new has flags for "gyr_s"'):
        Recording(T, new={"gyr_s": np.ones(N, dtype=bool)})
    with pytest.raises(InputError, match="is -1 at sample 2; a standard deviation"):
        Heights(np.zeros(4), [0.0, 1.0, -1.0, 1.0])
    with pytest.raises(InputError, match="3 rows, the recording has 20"):
        Recording(T, height=Heights(np.zeros(3), np.zeros(3)))


def test_a_held_temperature_and_odometer_are_none_too():
    new = np.arange(N) % 2 == 0
    log = replace(full(), new={"temperature": new, "odometer": new})
    assert [s.temperature is not None for s in log.samples()] == new.tolist()
    assert [s.travel_m is not None for s in log.samples()] == new.tolist()


def test_flags_of_an_instrument_that_is_taken_out_go_with_it():
    assert set(replace(full(), mag_s=None).new) == {"position_fix", "height"}


def test_the_usual_step_is_the_median():
    t = np.cumsum([0.0, 0.01, 0.01, 5.0, 0.01])
    assert Recording(t).step_s == pytest.approx(0.01, rel=1e-12)  # roundoff of the sum
    assert Recording([3.0]).step_s == 0.0
    assert Start.of(Recording(t)).step_s == Recording(t).step_s


@given(st.lists(st.floats(allow_nan=True), min_size=1))
def test_states_are_copied_restored_and_compared_to_the_bit(numbers):
    state = state_of(Recording, np.array(numbers))
    for other in (state.copy(), copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert isinstance(other, State) and other == state and other.numbers is not state.numbers
    other = state.copy()
    other.numbers.view(np.uint64)[0] ^= np.uint64(1)  # the last bit
    assert other != state and state != state_of(Motion, state.numbers)

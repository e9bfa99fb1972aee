"""The tape: a log put sample by sample comes back to the bit, readers share its memory, and memory is bounded."""

from dataclasses import fields, replace

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.recordings.tape import Tape
from strapdown.sample import Fixes, Heights, Sample
from strapdown.types import Recording

N = 200


def held(values, every):
    return values[np.arange(len(values)) // every * every]


def whole_log(n=N, seed=1):
    """Every field that a sample has; slow instruments hold their last reading."""
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.005, 0.015, n))
    fresh = {name: np.arange(n) % every == 0 for name, every in (("mag_s", 4), ("tilt_s", 5), ("height", 10))}
    fixes = [
        Fixes(held(rng.normal(size=(n, 3)), 20), held(rng.uniform(size=(n, 3)), 20), held(t - 0.1, 20))
        for _ in range(2)
    ]
    fresh |= {name: np.arange(n) % 20 == 0 for name in ("position_fix", "velocity_fix")}
    return Recording(
        t,
        gyr_s=rng.normal(size=(n, 3)),
        acc_s=rng.normal(size=(n, 3)),
        mag_s=held(rng.normal(size=(n, 3)), 4),
        temperature=rng.normal(size=n),
        stop=rng.random(n) > 0.5,
        odometer=np.cumsum(rng.integers(0, 9, n)) / 1024.0 - rng.integers(0, 2) * 0.0,  # counts of a wheel: exact sums
        tilt_s=held(rng.normal(size=(n, 2)), 5),
        clipped=np.arange(n) % 7 == 0,
        position_fix=fixes[0],
        velocity_fix=fixes[1],
        height=Heights(held(rng.normal(size=n), 10), held(rng.uniform(size=n), 10)),
        new=fresh,
        meta={"part": "MPU-6050"},
    )


def same(a, b):
    for each in fields(a):
        x, y = getattr(a, each.name), getattr(b, each.name)
        if each.name in ("meta", "new"):
            assert dict(x).keys() == dict(y).keys()
            for key in x:
                assert np.array_equal(x[key], y[key]), key
        elif x is None or y is None:
            assert x is None and y is None, each.name
        elif hasattr(x, "__dataclass_fields__"):
            same(x, y)
        else:
            assert x.dtype == y.dtype and x.tobytes() == y.tobytes(), each.name


def filled(log, capacity, **settings):
    tape = Tape(
        capacity, meta=log.meta, odometer_m=float(log.odometer[0]) if log.odometer is not None else 0.0, **settings
    )
    for sample in log.samples():
        tape.put(sample)
    return tape


@pytest.mark.parametrize(
    "lacks",
    [
        (),
        ("mag_s",),
        ("temperature", "stop"),
        ("position_fix", "velocity_fix", "height"),
        ("odometer", "clipped", "tilt_s"),
    ],
)
def test_a_log_put_sample_by_sample_comes_back_to_the_bit(lacks):
    log = whole_log()
    new = {name: flags for name, flags in log.new.items() if name not in lacks}
    log = replace(log, **dict.fromkeys(lacks), new=new)
    same(filled(log, N).recording(), log)


def test_what_comes_back_is_a_recording_for_all_purposes():
    log = whole_log()
    again = filled(log, N).recording()
    same(again[10:20], log[10:20])
    for a, b in zip(again.samples(), log.samples(), strict=True):
        assert a.t == b.t and np.array_equal(a.gyr_s, b.gyr_s) and (a.mag_s is None) == (b.mag_s is None)


def test_readers_share_the_memory_of_the_tape_and_their_prefix_never_changes():
    log = whole_log()
    tape = Tape(N)
    samples = list(log.samples())
    for sample in samples[:100]:
        tape.put(sample)
    reader = tape.recording()
    before = reader.gyr_s.copy()
    for sample in samples[100:]:
        tape.put(sample)
    assert np.array_equal(reader.gyr_s, before) and len(reader) == 100
    assert np.shares_memory(reader.gyr_s, tape.recording().gyr_s)
    with pytest.raises(ValueError, match="read-only"):
        reader.gyr_s[0] = 0.0


def test_memory_is_bounded_and_at_least_the_capacity_is_kept():
    tape = Tape(50)
    reading = np.array([0.0, 0.0, 9.8])
    tape.put(Sample(0.0, 0.0, reading, reading, mag_s=reading))
    size = tape.nbytes
    for i in range(1, 100_000):
        tape.put(Sample(0.01 * i, 0.01, reading, reading, mag_s=reading))
        if i % 997 == 0:
            assert tape.nbytes == size and min(i + 1, 50) <= len(tape) <= 100
            assert tape.dropped + len(tape) == i + 1
    assert tape.recording().t[-1] == 0.01 * 99_999


def test_a_dropped_part_stays_with_its_reader():
    tape = Tape(10)
    for i in range(20):
        tape.put(Sample(float(i), 1.0, np.full(3, i, dtype=float), np.zeros(3)))
    early = tape.recording()
    for i in range(20, 60):
        tape.put(Sample(float(i), 1.0, np.full(3, i, dtype=float), np.zeros(3)))
    assert np.array_equal(early.gyr_s[:, 0], np.arange(20.0))
    assert np.array_equal(tape.recording().gyr_s[-10:, 0], np.arange(50.0, 60.0))


def test_the_tail_begins_at_the_time_asked_for():
    tape = filled(whole_log(), N)
    t = tape.recording().t
    assert tape.tail(float(t[150])).t[0] == t[150]
    assert len(tape.tail(-1.0)) == N
    with pytest.raises(InputError, match="the tape ends at"):
        tape.tail(float(t[-1]) + 1.0)


def test_an_instrument_that_begins_late_is_not_new_before():
    tape = Tape(10)
    for i in range(6):
        mag = np.array([20.0, 0.0, -40.0]) if i >= 3 else None
        tape.put(Sample(float(i), 1.0, np.zeros(3), np.zeros(3), mag_s=mag))
    log = tape.recording()
    assert log.new["mag_s"].tolist() == [False] * 3 + [True] * 3
    assert log.sample(2).mag_s is None and np.array_equal(log.sample(3).mag_s, [20.0, 0.0, -40.0])


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (Sample(0.5, 0.0, np.zeros(3), np.zeros(3)), "put them in order"),
        (Sample(np.nan, 0.0, np.zeros(3), np.zeros(3)), "put them in order"),
        (Sample(2.0, 0.0, np.full(3, np.nan), np.zeros(3)), "give finite numbers"),
        (Sample(2.0, 0.0, np.zeros(2), np.zeros(3)), "give finite numbers"),
    ],
)
def test_a_sample_that_cannot_be_is_refused_and_the_tape_goes_on(sample, words):
    tape = Tape(10)
    tape.put(Sample(1.0, 0.0, np.zeros(3), np.zeros(3)))
    with pytest.raises(InputError, match=words):
        tape.put(sample)
    tape.put(Sample(3.0, 0.0, np.zeros(3), np.zeros(3)))
    assert tape.recording().t.tolist() == [1.0, 3.0]


def test_capacity_is_a_number_of_samples():
    for bad in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="capacity"):
            Tape(bad)
    with pytest.raises(InputError, match="no sample yet"):
        Tape(1).recording()

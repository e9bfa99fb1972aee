"""What every estimator promises (strapdown/live.py): `run` is the steps to the bit, states are values of their own
filter, settings live in the filter.

A new estimator is one entry of ESTIMATORS. The recordings have gyroscope, accelerometer, magnetometer and truth.
"""

import copy
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from orientation_cases import NAMES, RATE_HZ, filter_of, noisy_swing
from paper_c_cases import G as G_DRIVE
from paper_c_cases import drive
from strapdown.errors import InputError
from strapdown.live import Estimator, Start, State, state_of
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import MagneticHeading, WheelTravel
from strapdown.orientation.mahony import Mahony
from strapdown.orientation.vqf import Vqf
from strapdown.rotation import q_from_euler
from strapdown.types import Recording, Sample


@dataclass(frozen=True)
class Case:
    """An estimator, a setting that acts on every sample and another value of it, and what it is started with."""

    estimator: Any
    setting: str
    other: Any
    start: Callable[..., Start] = Start.of
    log: Callable[[], Recording] = noisy_swing


ACTS = {"gyro": ("longest_step_s", 1e-6), "complementary": ("inclination_s", 0.7), "mahony": ("inclination_gain", 2.0)}
ACTS |= {"madgwick": ("beta_rad_s", 0.4), "paper-b": ("weight", 0.3), "mekf": ("acc_white", 0.03)}
ACTS |= {"vqf": ("tau_acc_s", 1.0), "lodestar": ("tau_acc_s", 1.0)}
ESTIMATORS = {name: Case(filter_of(name), *ACTS[name]) for name in NAMES}
ESTIMATORS |= {f"{name} 6 axes": Case(filter_of(name, magnetometer=False), *ACTS[name]) for name in NAMES}


@cache
def driven():
    """As long as the swing, with all that an estimator of navigation reads besides."""
    log = drive("square", 1, first_rest_s=2.0).log
    held = np.arange(len(log)) // 3 * 3
    new = {"odometer": np.arange(len(log)) % 3 == 0}
    return replace(log, odometer=log.odometer[held], new=new)


def headed(log):
    """Start of a robot that stands and heads north: the faults of a log are no matter for an alignment."""
    return Start.of(log, q_ns=q_from_euler(0.0, 0.0, 0.5 * np.pi))


NAVIGATION = {
    "eskf": (Eskf(gravity=G_DRIVE), "acc_white", 0.3),
    "eskf, wheel and compass": (
        Eskf(gravity=G_DRIVE, wheel_travel=WheelTravel(), magnetic_heading=MagneticHeading()),
        "acc_white",
        0.3,
    ),
    "ekf15": (Ekf15(gravity=G_DRIVE), "stop_force_m_s2", 1e-9),
    "ekf15 without compass": (Ekf15(gravity=G_DRIVE, magnetic_heading=False), "stop_force_m_s2", 1e-9),
}
ESTIMATORS |= {name: Case(*given, start=headed, log=driven) for name, given in NAVIGATION.items()}

every_estimator = pytest.mark.parametrize("case", ESTIMATORS.values(), ids=ESTIMATORS)
N = 1200  # one reading in a thousand may be beyond every part, more is taken for another unit


def slow_magnetometer(log):
    new = np.arange(len(log)) % 6 == 2  # none in the first rows
    held = np.maximum.accumulate(np.where(new, np.arange(len(log)), 0))
    return replace(log, mag_s=log.mag_s[held], new={"mag_s": new})


def faults(log):
    """A magnetometer that does not answer, and readings that no sensor gives."""
    gyr_s, acc_s, mag_s = (np.array(x) for x in (log.gyr_s, log.acc_s, log.mag_s))
    mag_s[50:80], mag_s[200] = 0.0, 1e9
    gyr_s[120], acc_s[160], acc_s[300:310] = 1e4, 1e8, 0.0
    return replace(log, gyr_s=gyr_s, acc_s=acc_s, mag_s=mag_s)


def faulty_start(log):
    gyr_s, acc_s = np.array(log.gyr_s), np.array(log.acc_s)
    gyr_s[0], acc_s[1] = 1e5, 0.0
    return replace(log, gyr_s=gyr_s, acc_s=acc_s)


def uneven_with_gap(log):
    """Steps of one and three samples by chance, and 2 s without any."""
    step = np.where(np.random.default_rng(2).random(len(log)) < 0.2, 3, 1)
    rows = np.cumsum(step) - step[0]
    rows = rows[rows < len(log)]
    rows = rows[(rows < 250) | (rows > 250 + 2.0 * RATE_HZ)]
    names = ("t", "gyr_s", "acc_s", "mag_s", "truth", "stop", "odometer")
    return Recording(**{name: getattr(log, name)[rows] for name in names if getattr(log, name) is not None})


def held_magnetometer(log):
    """As many loggers write it: the last reading is repeated, and no flag states so."""
    return replace(log, mag_s=log.mag_s[np.arange(len(log)) // 4 * 4])


LOGS = {
    "even": lambda log: log,
    "slow magnetometer": slow_magnetometer,
    "held magnetometer": held_magnetometer,
    "faults": faults,
    "faulty start": faulty_start,
    "uneven, with a gap": uneven_with_gap,
}


def recording(kind="even", case=None):
    log = noisy_swing if case is None else case.log
    return LOGS[kind](log()[:N])


def states(estimator, given, samples):
    state, found = estimator.start(given), []
    for sample in samples:
        state = estimator.step(state, sample)
        found.append(state)
    return found


def refuse_other_bits(beliefs, whole):
    """Every number of the solution is that of the steps, and the steps have no further ones."""
    for name in ("q_nb", "p_n", "v_n"):
        rows = getattr(whole, name)
        if rows is not None:
            assert np.array_equal([getattr(belief, name) for belief in beliefs], rows), name
    for group in ("bias", "sigma", "flags"):
        rows = getattr(whole, group)
        if group == "flags":  # a flag that was never set may be absent
            never = {name for belief in beliefs for name in belief.flags} - set(rows)
            assert not any(belief.flags[name] for belief in beliefs for name in never)
        else:
            assert all(set(getattr(belief, group)) == set(rows) for belief in beliefs[:3])
        for name, values in rows.items():
            assert np.array_equal([getattr(belief, group)[name] for belief in beliefs], values), (group, name)


# ---------------------------------------------------------------- 1: run equals the steps


@every_estimator
@pytest.mark.parametrize("kind", LOGS)
def test_a_run_is_its_steps_to_the_bit(case, kind):
    log = recording(kind, case)
    estimator, given = case.estimator, case.start(log)
    assert isinstance(estimator, Estimator)
    beliefs = [estimator.belief(state) for state in states(estimator, given, log.samples())]
    refuse_other_bits(beliefs, estimator.run(log, given))
    if case.start is Start.of:
        refuse_other_bits(beliefs, estimator.run(log))


@every_estimator
@pytest.mark.parametrize("with_step", [True, False], ids=["step given", "step not given"])
def test_so_it_is_from_a_given_attitude(case, with_step):
    log = recording(case=case)
    given = replace(case.start(log), q_ns=np.array([0.8, 0.0, 0.0, -0.6]))
    if not with_step:
        given = replace(given, step_s=None)
    beliefs = [case.estimator.belief(state) for state in states(case.estimator, given, log.samples())]
    refuse_other_bits(beliefs, case.estimator.run(log, given))


@every_estimator
@pytest.mark.parametrize("kind", ["even", "slow magnetometer", "faulty start"])
def test_without_a_step_the_second_sample_gives_it(case, kind):
    """Steps are equal here, so all is the same from the second sample that a sensor can give on."""
    log = recording(kind, case)
    with_step = states(case.estimator, case.start(log), log.samples())
    without = states(case.estimator, replace(case.start(log), step_s=None), log.samples())
    first = 2 if kind == "faulty start" else 1
    for one, other in zip(with_step[first:], without[first:], strict=True):
        a, b = case.estimator.belief(one), case.estimator.belief(other)
        assert np.array_equal(a.q_nb, b.q_nb) and a.flags == b.flags
    assert np.isfinite(without[0].numbers).all()


@every_estimator
@pytest.mark.parametrize("dt", [0.3, 100.0, -1.0, np.nan])
def test_the_time_before_the_first_sample_does_not_count(case, dt):
    """A stream that is joined late: nothing is known of what was before."""
    log = recording(case=case)[:20]
    samples = list(log.samples())
    assert samples[0].dt == 0.0
    joined_late = [samples[0]._replace(dt=dt), *samples[1:]]
    given = case.start(log)
    assert states(case.estimator, given, samples) == states(case.estimator, given, joined_late)


# ---------------------------------------------------------------- 2: states of others are refused


@every_estimator
def test_a_state_of_another_class_is_refused(case):
    sample, estimator = recording(case=case).sample(0), case.estimator
    for other in ESTIMATORS.values():
        if type(other.estimator) is type(estimator):
            continue
        foreign = other.estimator.start()
        with pytest.raises(InputError, match=f"state of {type(other.estimator).__name__}") as error:
            estimator.step(foreign, sample)
        assert "\n" not in str(error.value)
        with pytest.raises(InputError):
            estimator.belief(foreign)
    with pytest.raises(InputError, match="give a Start"):
        estimator.start(3)
    for nonsense in (None, 3.0, np.zeros(500), "state"):
        with pytest.raises(InputError, match="was given a"):
            estimator.step(nonsense, sample)


@every_estimator
def test_a_state_of_another_size_is_refused(case):
    sample, estimator = recording(case=case).sample(0), case.estimator
    right = estimator.start().numbers
    for numbers in (right[:-1], np.append(right, 0.0), right[:0], right.astype(np.float32), right.reshape(1, -1)):
        with pytest.raises(InputError, match="damaged or of another version") as error:
            estimator.step(state_of(type(estimator), numbers.copy()), sample)
        assert "\n" not in str(error.value)
        with pytest.raises(InputError, match="damaged or of another version"):
            estimator.belief(state_of(type(estimator), numbers.copy()))


def test_a_foreign_state_does_not_end_the_process():
    """In a process of its own: it wrote past an array once, and the process was aborted."""
    program = (
        "import numpy as np\n"
        "from strapdown.orientation.mahony import Mahony\n"
        "from strapdown.orientation.vqf import Vqf\n"
        "from strapdown.errors import InputError\n"
        "from strapdown.types import Recording, Sample\n"
        "sample = Sample(0.0, 0.01, np.zeros(3), np.array([0.0, 0.0, 9.8]))\n"
        "for _ in range(1000):\n"
        "    try:\n"
        "        Vqf().step(Mahony().start(), sample)\n"
        "        raise SystemExit('accepted')\n"
        "    except InputError as error:\n"
        "        found = str(error)\n"
        "print(found)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Vqf.step was given a state of Mahony; start with Vqf(...).start()\n"


# ---------------------------------------------------------------- 3: new settings act from the next sample on


@every_estimator
def test_new_settings_act_from_the_next_sample_on(case):
    log = recording(case=case)
    given = case.start(log)
    changed = replace(case.estimator, **{case.setting: case.other})
    assert changed.start(given) == case.estimator.start(given)  # a state holds no settings
    samples = list(log.samples())
    state = states(case.estimator, given, samples[:500])[-1]
    assert case.estimator.step(state, samples[500]) != changed.step(state, samples[500])
    same = replace(case.estimator)
    assert same is not case.estimator and same.step(state, samples[500]) == case.estimator.step(state, samples[500])
    back, on = changed.step(state, samples[500]), case.estimator.step(state, samples[500])
    for sample in samples[501:510]:  # and the old ones act again
        back, on = case.estimator.step(back, sample), case.estimator.step(on, sample)
    assert np.abs(case.estimator.belief(back).q_nb - case.estimator.belief(on).q_nb).max() < 0.1


@every_estimator
def test_a_filter_is_its_settings(case):
    """What it keeps for its kernels is seen in neither comparison, print, replace nor pickle."""
    estimator, sample = case.estimator, recording(case=case).sample(0)
    fresh = replace(estimator)
    printed, size = repr(fresh), len(pickle.dumps(fresh))
    fresh.step(fresh.start(), sample)
    assert fresh == estimator and repr(fresh) == printed and len(pickle.dumps(fresh)) == size
    again = pickle.loads(pickle.dumps(fresh))
    assert again == estimator and again.step(again.start(), sample) == fresh.step(fresh.start(), sample)


# ---------------------------------------------------------------- 4: a copied state continues to the bit

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "its own": State.copy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "bytes": lambda state: state_of(state.owner, np.frombuffer(state.numbers.tobytes())),
}


@every_estimator
@pytest.mark.parametrize("how", COPIES)
def test_a_copied_state_continues_to_the_bit(case, how):
    samples, estimator = list(recording(case=case).samples()), case.estimator
    state = states(estimator, case.start(recording(case=case)), samples[:300])[-1]
    kept = COPIES[how](state)
    assert kept == state and kept.numbers is not state.numbers
    before = state.numbers.copy()
    for sample in samples[300:400]:
        state, kept = estimator.step(state, sample), estimator.step(kept, sample)
        assert state == kept
    assert not np.array_equal(before, state.numbers)


@every_estimator
def test_a_step_changes_neither_its_state_nor_its_sample(case):
    samples, estimator = list(recording(case=case).samples()), case.estimator
    state = states(estimator, case.start(recording(case=case)), samples[:10])[-1]
    before, read = state.numbers.copy(), [np.copy(x) for x in samples[10][2:5]]
    assert estimator.step(state, samples[10]) == estimator.step(state, samples[10])
    assert np.array_equal(before, state.numbers)
    assert all(np.array_equal(a, b) for a, b in zip(read, samples[10][2:5], strict=True))


def test_states_that_differ_are_unequal():
    sample = recording().sample(0)
    filt = Mahony()
    state = filt.step(filt.start(), sample)
    assert state != filt.start() and state != Vqf().start() and state != "state"
    damaged = state.copy()
    damaged.numbers[3] = np.nextafter(damaged.numbers[3], 1.0)
    assert damaged != state


# ---------------------------------------------------------------- 7: nothing grows


@every_estimator
def test_an_hour_needs_no_more_memory_than_a_minute(case):
    """10 samples in a second. A step that kept its state would hold 20 MB more after the hour."""
    log = recording(case=case)[::13]
    samples = [sample._replace(dt=0.1) for sample in log.samples()]
    estimator = case.estimator
    state = estimator.start(Start(step_s=0.1))

    def run(state, count):
        for i in range(count):
            state = estimator.step(state, samples[i % len(samples)])
        return state

    state = run(state, 600)
    size, blocks, most_kb = len(pickle.dumps(state)), sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF)
    state = run(state, 35_400)
    assert len(pickle.dumps(state)) == size
    assert sys.getallocatedblocks() - blocks < 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most_kb.ru_maxrss < 4000  # kB
    assert np.isfinite(state.numbers).all()


def test_what_is_no_sample_is_refused_in_a_sentence():
    filt = Mahony()
    for wrong in (None, np.zeros(3), (0.0, 0.01, np.zeros(3), np.zeros(3))):
        with pytest.raises(InputError, match="give a Sample"):
            filt.step(filt.start(), wrong)
    with pytest.raises(InputError, match="give a Start"):
        filt.start(np.array([1.0, 0.0, 0.0, 0.0]))
    for step_s in (-0.1, np.nan, "10 ms"):
        with pytest.raises(InputError, match="step_s"):
            filt.start(Start(step_s=step_s))
    whole_number = Sample(0.0, 0, np.zeros(3), np.array([0.0, 0.0, 9.8]))
    assert filt.step(filt.start(), whole_number) == filt.step(filt.start(), whole_number._replace(dt=0.0))

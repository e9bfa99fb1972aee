"""What every stop detector promises: find equals the steps to the bit, states are values, settings act at once."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from paper_c_cases import G, drive
from strapdown.errors import InputError
from strapdown.kernels.navigation import stop_blocks as blocks
from strapdown.kernels.navigation import stop_forward as kernel
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.navigation.stops.detectors import Ared, Magnitude, MovingVariance, Shoe
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.intervals import StopDetector, StopIntervals
from strapdown.navigation.stops.judged import words_of
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.navigation.stops.paper_stops import PaperStops
from strapdown.navigation.stops.segment_stops import SegmentStops
from strapdown.types import Recording

EVIDENCE = SegmentStops(acc_sigma_m_s2=0.03, gyr_sigma_rad_s=0.001, acc_white=3e-3, gyr_white=1e-4)
DETECTORS = {
    "forward": ForwardStops(EVIDENCE, wheel_m=1e-3),
    "forward, wheel unknown": ForwardStops(EVIDENCE),
    "noise": NoiseStops(acc_sigma_m_s2=0.03, gyr_sigma_rad_s=0.001),
    "paper": PaperStops(gravity=G),
    "shoe": Shoe(look_ahead=False, gravity=G),
    "ared": Ared(look_ahead=False, threshold=1e-4),
    "mv": MovingVariance(look_ahead=False, threshold=0.01),
    "mag": Magnitude(look_ahead=False, threshold=2e-3, gravity=G),
    "foot": FootStops(look_ahead=False, gravity=G),
}
CHANGED = {
    "forward": {"evidence": replace(EVIDENCE, acc_sigma_m_s2=1e-3)},
    "noise": {"acc_sigma_m_s2": 1e-3},
    "paper": {"force_m_s2": 1e-6},
    "shoe": {"threshold": 1e-6},
    "ared": {"threshold": 1e-12},
    "mv": {"threshold": 1e-12},
    "mag": {"threshold": 1e-12},
    "foot": {"least_rad_s": 1e-9},
}


@pytest.fixture(scope="module")
def log():
    """Stops and moves with an odometer, a gap, and a flag that is wrong for a time."""
    d = drive("square", 1, first_rest_s=3.0)
    keep = (d.log.t < 20.0) | (d.log.t > 21.5)
    stop = np.array(d.log.stop)
    stop[600:900] = True
    kept = {name: getattr(d.log, name)[keep] for name in ("t", "gyr_s", "acc_s", "odometer")}
    return Recording(**kept, stop=stop[keep])[:3000]


VARIANTS = {
    "as it is": {},
    "no flag": {"stop": None},
    "flag never set": {"stop": np.zeros(3000, dtype=bool)},
    "no wheel": {"odometer": None},
}


def steps(detector, log):
    state = detector.start(log.step_s)
    for sample in log.samples():
        state, verdict = detector.step(state, sample)
        yield state, verdict


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", DETECTORS)
def test_find_equals_the_steps_to_the_bit(log, name, variant):
    detector, log = DETECTORS[name], replace(log, **VARIANTS[variant])
    found = detector.find(log)
    assert isinstance(found, StopIntervals)
    assert 0.0 < found.believed.mean() < 1.0  # it finds stops, and not everywhere
    for i, (_, verdict) in enumerate(steps(detector, log)):
        assert verdict.believed == found.believed[i], i
        assert verdict.doubted == found.doubted[i] and verdict.rejected == found.rejected[i], i
        assert verdict.signal == found.signal[i] and verdict.threshold == found.threshold[i], i
        late = log.t > log.t[i] - verdict.late_s
        assert not found.standing[:i][late[:i]].any() or verdict.late_s == 0.0, i


@pytest.mark.parametrize("name", DETECTORS)
def test_intervals_are_the_believed_samples(log, name):
    found = DETECTORS[name].find(log)
    assert isinstance(DETECTORS[name], StopDetector)
    inside = np.zeros(len(log), dtype=bool)
    for (first, last), (begin_s, end_s) in zip(found.rows, found.intervals_s, strict=True):
        inside[first : last + 1] = True
        assert (log.t[first], log.t[last]) == (begin_s, end_s)
    assert np.array_equal(inside, found.believed) and not (found.standing & ~found.believed).any()
    assert not (found.believed & (found.doubted | found.rejected)).any()
    assert all(not column.flags.writeable for column in (found.believed, found.signal, found.threshold))


@pytest.mark.parametrize("name", DETECTORS)
def test_a_step_changes_no_state_and_a_copy_continues_to_the_bit(log, name):
    detector = DETECTORS[name]
    states = [state for state, _ in steps(detector, log[:700])]
    middle, kept = states[400], states[400].numbers.copy()
    for copied in (middle.copy(), copy.deepcopy(middle), pickle.loads(pickle.dumps(middle))):
        assert copied == middle
        for i in range(401, 700):
            copied, _ = detector.step(copied, log.sample(i))
        assert copied == states[-1]
    assert np.array_equal(middle.numbers, kept)
    assert len({len(state.numbers) for state in states}) == 1


@pytest.mark.parametrize("name", DETECTORS)
def test_new_settings_act_from_the_next_sample_on(log, name):
    detector = DETECTORS[name]
    *_, (state, before) = steps(detector, log[:250])
    assert before.believed  # in the middle of the first stop
    _, after = replace(detector, **CHANGED[detector.name]).step(state, log.sample(250))
    assert not after.believed and detector.step(state, log.sample(250))[1].believed


@pytest.mark.parametrize("name", DETECTORS)
def test_a_state_of_another_detector_is_refused(log, name):
    detector = DETECTORS[name]
    for other in DETECTORS.values():
        if type(other) is not type(detector):
            with pytest.raises(InputError, match=f"a state of {type(other).__name__}; start with"):
                detector.step(other.start(0.01), log.sample(0))
    with pytest.raises(InputError, match="was given a ndarray"):
        detector.step(np.zeros(400), log.sample(0))


@pytest.mark.parametrize("name", [name for name, each in DETECTORS.items() if hasattr(each, "window_s")])
def test_a_window_of_another_length_needs_a_new_start(log, name):
    detector = DETECTORS[name]
    state = detector.start(0.01)
    with pytest.raises(InputError, match="needs a new start"):
        replace(detector, window_s=2.0).step(state, log.sample(0))


@pytest.mark.parametrize("name", DETECTORS)
def test_samples_that_do_not_fit_are_refused_in_a_sentence(log, name):
    detector = DETECTORS[name]
    state = detector.start(0.01)
    with pytest.raises(InputError, match="acc_s of a live sample is an array of float64 of shape"):
        detector.step(state, log.sample(0)._replace(acc_s=np.zeros(2)))


@pytest.mark.parametrize("detector", [Shoe(), Ared(), MovingVariance(), Magnitude(), FootStops()])
def test_what_looks_ahead_does_not_judge_live(log, detector):
    with pytest.raises(InputError, match="looks ahead"):
        detector.start(0.01)
    assert not detector.live().look_ahead
    # around the sample instead of before it: the same signal, earlier by half a window, away from the ends
    ahead, live = detector.find(log).signal, detector.live().find(log).signal
    size = detector.window_of(log.step_s)
    after = size - 1 - size // 2
    np.testing.assert_allclose(ahead[50:1500], live[50 + after : 1500 + after], rtol=1e-9)  # roundoff of running sums


def test_a_wheel_that_turns_speaks_against_a_stop_live_too():
    """Moves so gentle that the IMU shows them late."""
    d = drive("straight", 2, move_s=4.0, first_rest_s=10.0, length_m=0.6)
    log = replace(d.log, stop=None)
    detector = ForwardStops.of_rest(log[:900], tick_m=3e-4)
    speed = np.linalg.norm(d.log.truth.v_n, axis=1)
    fastest = [speed[detector.find(one).believed].max() for one in (log, replace(log, odometer=None))]
    assert fastest[0] < 0.7 * fastest[1]


def test_a_state_has_a_fixed_size_and_may_be_kept_by_the_hundred():
    state = DETECTORS["forward"].start(0.01)
    size, more = len(state.numbers), blocks.KEPT * blocks.RECORD
    assert 8 * size < 34_000  # bytes at 100 Hz: 10 s of blocks and 16 segments
    assert 8 * (size + more) > 34_000  # twice as many would not fit


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_any_chunking_gives_the_same_bits(log, chunk):
    detector = DETECTORS["forward"]
    words, travel = words_of(log), np.diff(log.odometer, prepend=log.odometer[0])
    dt = np.diff(log.t, prepend=log.t[0])
    x, columns = detector.start(log.step_s).numbers, []
    for i in range(0, len(log), chunk):
        part = slice(i, i + chunk)
        n = len(log.t[part])
        out = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
        gyr, acc = (np.array(a[part]).reshape(-1) for a in (log.gyr_s, log.acc_s))
        inputs = [np.array(a) for a in (words[part], gyr, acc, travel[part], log.t[part], dt[part])]
        for each in inputs:
            each.flags.writeable = False
        assert kernel.rows(x, detector._settings, *inputs, *out)
        columns.append(out)
    found = detector.find(log)
    assert np.array_equal(np.concatenate([c[1] for c in columns]), found.signal)
    assert np.array_equal(np.concatenate([c[0] for c in columns]) == judge.BELIEVED, found.believed)

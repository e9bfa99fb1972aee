"""What every estimator of navigation promises (live.py): run equals the steps, states are values, settings act."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from fix_cases import with_heights, with_position_fixes
from paper_c_cases import DECLINATION, G, drive
from strapdown.errors import InputError
from strapdown.live import Estimator, Start, State
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, MagneticHeading, NonHolonomic, WheelTravel
from strapdown.sample import Fix, Fixes, Height, Sample
from strapdown.types import Recording

ESTIMATORS = {
    "eskf": Eskf(gravity=G),
    "eskf, all updates": Eskf(
        gravity=G,
        flat_floor=FlatFloor(slope_of_pitch=1.0),
        non_holonomic=NonHolonomic(),
        wheel_travel=WheelTravel(),
        magnetic_heading=MagneticHeading(declination_rad=DECLINATION),
        gyr_matrix_sigma=0.003,
        acc_scale_sigma=0.003,
        lever_sigma_m=0.2,
        r_bs_b=(0.1, 0.0, 0.2),
    ),
    "ekf15": Ekf15(gravity=G, declination_rad=DECLINATION),
    "ekf15, no compass": Ekf15(gravity=G, magnetic_heading=False),
}
CHANGED = {"eskf": {"acc_white": 0.3}, "ekf15": {"stop_force_m_s2": 1e-9}}


@pytest.fixture(scope="module")
def log():
    """A drive with all that a sample may bring: a slow compass, fixes of position and velocity, heights, a gap."""
    d = drive("straight", 1, length_m=0.9, first_rest_s=2.0)
    log, truth = d.log, d.log.truth
    log = replace(log, new={"mag_s": np.arange(len(log)) % 2 == 0})
    log = with_position_fixes(log, log.t[500::100] - 0.004, truth.p_n[500::100], 0.01)
    log = with_heights(log, log.t[450::70], truth.p_n[450::70, 2], 0.05)
    sigma = np.full((len(log), 3), 0.05)
    prompt, late = np.arange(len(log)) % 90 == 7, (np.arange(len(log)) % 45 == 30) & (log.t > 3.0)
    back = np.where(late, np.maximum(np.arange(len(log)) - 12, 0), np.arange(len(log)))
    log = replace(
        log,
        velocity_fix=Fixes(truth.v_n[back], sigma, log.t[back]),
        new={**log.new, "velocity_fix": prompt | late},
    )
    t = np.where(np.arange(len(log)) < 700, log.t, log.t + 3.0)
    kept = {name: getattr(log, name) for name in ("gyr_s", "acc_s", "mag_s", "stop", "odometer", "height", "new")}
    moved = {name: replace(getattr(log, name), t_s=getattr(log, name).t_s + (t - log.t)) for name in FIXES}
    return Recording(t, **kept, **moved)


FIXES = ("position_fix", "velocity_fix")


def givens(log, filt):
    aligned = align_to_yaw(log, 0.5 * np.pi, 0.01, rest_s=1.5, q_bs=filt.q_bs)
    return {
        "by itself": Start.of(log),
        "alignment": Start.of(log, alignment=aligned, p_n=np.array([1.0, 2.0, 3.0])),
        "attitude": Start.of(log, q_ns=aligned.q_ns),
        "means": Start.of(log, alignment=aligned, means=True),
    }


def stepped(filt, log, given):
    state = filt.start(given)
    for sample in log.samples():
        state = filt.step(state, sample)
        yield state


@pytest.mark.parametrize("name", ESTIMATORS)
def test_it_is_an_estimator(name):
    assert isinstance(ESTIMATORS[name], Estimator)


@pytest.mark.parametrize("start", ["by itself", "alignment", "attitude", "means"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_run_equals_the_steps_to_the_bit(log, name, start):
    filt = ESTIMATORS[name]
    given = givens(log, filt)[start]
    whole = filt.run(log, given)
    for i, state in enumerate(stepped(filt, log, given)):
        belief = filt.belief(state)
        for mine, rows in (("q_nb", whole.q_nb), ("p_n", whole.p_n), ("v_n", whole.v_n)):
            assert np.array_equal(getattr(belief, mine), rows[i]), (i, mine)
        for mine, rows in ((belief.bias, whole.bias), (belief.sigma, whole.sigma)):
            assert mine.keys() == rows.keys()
            assert all(np.array_equal(mine[key], rows[key][i]) for key in rows), i
        assert all(belief.flags[key] == flags[i] for key, flags in whole.flags.items()), i
        # what the solution does not list never happened
        assert not any(flag for key, flag in belief.flags.items() if key not in whole.flags), i


@pytest.mark.parametrize("name", ESTIMATORS)
def test_without_a_start_it_aligns_itself(log, name):
    filt = ESTIMATORS[name]
    assert np.array_equal(filt.run(log).p_n, filt.run(log, Start.of(log)).p_n)
    states = list(stepped(filt, log[:200], Start(step_s=0.01)))
    aligning = np.array([filt.belief(state).flags["aligning"] for state in states])
    assert aligning[:101].all() and not aligning[101:].any()  # the first second
    aligned = align_to_yaw(log, 0.5 * np.pi, q_bs=filt.q_bs)
    # the last sample of the rest: the same mean, summed in another order
    assert np.abs(filt.belief(states[100]).q_nb - aligned.q_ns).max() < 1e-12


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_step_changes_no_state_and_a_copy_continues_to_the_bit(log, name):
    filt = ESTIMATORS[name]
    given = givens(log, filt)["alignment"]
    states = list(stepped(filt, log, given))
    middle = states[600]
    kept = middle.numbers.copy()
    for copied in (middle.copy(), copy.copy(middle), copy.deepcopy(middle), pickle.loads(pickle.dumps(middle))):
        assert copied == middle and copied.numbers is not middle.numbers
        for i in range(601, 760):  # over the gap
            copied = filt.step(copied, log.sample(i))
        assert copied == states[759]
    assert np.array_equal(middle.numbers, kept)
    assert middle != states[601]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_new_settings_act_from_the_next_sample_on(log, name):
    filt = ESTIMATORS[name]
    changed = replace(filt, **CHANGED[filt.name])
    given = givens(log, filt)["alignment"]
    state = list(stepped(filt, log[:400], given))[-1]
    before, after = filt.step(state, log.sample(400)), changed.step(state, log.sample(400))
    assert before != after
    # and settings that are the same change nothing
    assert (
        replace(changed, **{key: getattr(filt, key) for key in CHANGED[filt.name]}).step(state, log.sample(400))
        == before
    )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_state_of_another_filter_is_refused(log, name):
    filt = ESTIMATORS[name]
    other = Ekf15(gravity=G) if filt.name == "eskf" else Eskf(gravity=G)
    for wrong, had in (
        (other.start(givens(log, filt)["alignment"]), f"a state of {type(other).__name__}"),
        (np.zeros(600), "a ndarray"),
        (None, "a NoneType"),
    ):
        with pytest.raises(InputError, match=f"was given {had}; start with"):
            filt.step(wrong, log.sample(0))
        with pytest.raises(InputError, match="was given"):
            filt.belief(wrong)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_samples_that_do_not_fit_are_refused_in_a_sentence(log, name):
    filt = ESTIMATORS[name]
    for given in (Start(), givens(log, filt)["attitude"]):
        state = filt.start(given)
        good = log.sample(0)
        for wrong, words in (
            (good._replace(gyr_s=[0.0, 0.0, 0.0]), "gyr_s of a live sample is of type list"),
            (good._replace(acc_s=np.zeros(4)), "acc_s of a live sample is an array of float64 of shape"),
            (good._replace(gyr_s=np.zeros(6)[::2]), "strided"),
            (good._replace(gyr_s=np.zeros(3, dtype=np.float32)), "float32"),
            ((0.0, 0.0), "give a Sample"),
        ):
            with pytest.raises(InputError, match=words):
                filt.step(state, wrong)


ONES, NO_NUMBER = np.ones(3), np.array([0.0, np.nan, 0.0])
UNUSABLE = {
    "gyroscope": ({"gyr_s": NO_NUMBER}, "gyr_s of the live sample at t = .* give finite numbers"),
    "accelerometer": ({"acc_s": np.array([0.0, 0.0, np.inf])}, "acc_s of the live sample .* give finite numbers"),
    "backward": ({"dt": -0.01}, "dt of the live sample .* is -0.01 s; give the seconds since the previous sample"),
    "no time": ({"dt": np.nan}, "dt of the live sample .* is nan s"),
    "no end": ({"dt": np.inf}, "dt of the live sample .* is inf s"),
    "time in words": ({"dt": "10 ms"}, "dt of a live sample is '10 ms'"),
}


@pytest.mark.parametrize("what", UNUSABLE)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_readings_that_are_no_numbers_and_time_that_runs_backward_are_refused(log, name, what):
    """While the filter aligns itself and after; the state is as before, and the next sample continues."""
    filt, (changed, words) = ESTIMATORS[name], UNUSABLE[what]
    for start, rows in (("by itself", 50), ("by itself", 300), ("attitude", 50)):
        state = list(stepped(filt, log[:rows], givens(log, filt)[start]))[-1]
        before = state.numbers.copy()
        with pytest.raises(InputError, match=words) as error:
            filt.step(state, log.sample(rows)._replace(**changed))
        assert "\n" not in str(error.value) and np.array_equal(state.numbers, before)
        assert np.isfinite(filt.step(state, log.sample(rows)).numbers).all()


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name.startswith("eskf")])
def test_fixes_without_a_standard_deviation_are_refused(log, name):
    filt = ESTIMATORS[name]
    state = filt.step(filt.start(givens(log, filt)["attitude"]), log.sample(0))
    for kind in FIXES:
        for fix in (
            Fix(ONES, np.array([1.0, 0.0, 1.0]), 0.0),
            Fix(ONES, np.array([1.0, -1.0, 1.0]), 0.0),
            Fix(np.ones(1), ONES, 0.0),
            Fix(ONES, np.ones(2), 0.0),
        ):
            with pytest.raises(InputError, match="standard deviations above 0"):
                filt.step(state, log.sample(1)._replace(**{kind: fix}))
        for fix in (Fix(NO_NUMBER, ONES, 0.0), Fix(ONES, ONES, np.nan)):
            with pytest.raises(InputError, match="give finite numbers"):
                filt.step(state, log.sample(1)._replace(**{kind: fix}))
        with pytest.raises(InputError, match=f"{kind} of the live sample at t = .* is of type tuple; give a Fix"):
            filt.step(state, log.sample(1)._replace(**{kind: (1.0, 2.0, 3.0)}))
        exact = replace(getattr(log, kind), sigma_n=np.zeros((len(log), 3)))
        first = int(np.argmax(log.new[kind]))
        with pytest.raises(InputError, match=f"{kind} has a standard deviation of 0 at sample {first} "):
            filt.run(replace(log, **{kind: exact}))
    for sigma_m in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="a standard deviation above 0"):
            filt.step(state, log.sample(1)._replace(height=Height(1.0, sigma_m)))
    with pytest.raises(InputError, match="height has a standard deviation of 0"):
        filt.run(replace(log, height=replace(log.height, sigma_m=np.zeros(len(log)))))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_live_arrays_may_be_writable(log, name):
    """A source's own arrays, not rows of a locked recording: the same bits, and no kernel is compiled anew."""
    filt = ESTIMATORS[name]
    state = filt.start(givens(log, filt)["attitude"])
    sample = log.sample(3)
    own = Sample(sample.t, sample.dt, sample.gyr_s.copy(), sample.acc_s.copy(), stop=sample.stop)
    locked = sample._replace(mag_s=None, travel_m=None, position_fix=None, velocity_fix=None, height=None)
    assert filt.step(state, own) == filt.step(state, locked)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_state_stays_as_large_as_it_was(log, name):
    filt = ESTIMATORS[name]
    sizes = {len(state.numbers) for state in stepped(filt, log, Start.of(log))}
    assert len(sizes) == 1
    assert all(isinstance(state, State) for state in stepped(filt, log[:3], Start.of(log)))


@pytest.mark.parametrize("kind", ["position", "velocity"])
@pytest.mark.parametrize("late_s", [0.0, 0.5])
def test_a_late_fix_belongs_to_its_own_instant(kind, late_s):
    """Of a body that reaches 1 m/s in 1 s and keeps it. A position of 0.5 s before, taken as of now, would pull back by
    half a metre."""
    n, dt = 600, 0.01
    t = dt * np.arange(n)
    x = np.where(t < 1.0, 0.5 * t**2, t - 0.5)
    log = Recording(
        t,
        gyr_s=np.zeros((n, 3)),
        acc_s=np.column_stack([np.where(t < 1.0, 1.0, 0.0), np.zeros(n), np.full(n, G)]),
        stop=np.zeros(n, dtype=bool),
    )
    new = t > 2.0
    values = np.interp(t - late_s, t, x) if kind == "position" else np.ones(n)
    fixes = Fixes(np.column_stack([values, np.zeros((n, 2))]), np.full((n, 3), 0.01), t - np.where(new, late_s, 0.0))
    log = replace(log, **{f"{kind}_fix": fixes}, new={f"{kind}_fix": new})
    filt = Eskf(gravity=G, zero_velocity=None, zero_rate=None)
    found = filt.run(log, Start.of(log, q_ns=np.array([1.0, 0.0, 0.0, 0.0])))
    name = "fix" if kind == "position" else "velocity"
    assert found.flags[f"{name}_used"][new].all()  # all fit
    assert abs(found.p_n[-1, 0] - x[-1]) < 0.03  # m: three sigmas of a fix

"""Virtual instruments read while a simulation runs: any chunking gives the bits of the whole, in all modes."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.errors import InputError
from strapdown.live import Ideal, LiveModule
from strapdown.motion import FigureEight, StopAndGo
from strapdown.rotation import q_from_euler
from strapdown.sensors.chain.error_chain import ErrorChain, measure
from strapdown.sensors.chain.numbers import as_mode
from strapdown.sensors.inclinometer import Inclinometer
from strapdown.sensors.module import Module
from strapdown.sensors.odometer import WheelOdometer
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.temperature import SelfHeating, TemperatureSeries
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

G = 9.81
RATE, N = 200.0, 1700  # more samples than are drawn ahead at once, three times
T = np.arange(N) / RATE
RNG = np.random.default_rng(5)
IDEAL, FORCE = RNG.normal(size=(N, 3)), 5.0 * RNG.normal(size=(N, 3))
SEED = seed_of(3, "live")
BASE = Triad("rad/s", ((1.01, 0.01, 0.02), (0.01, 0.99, 0.01), (0.0, 0.01, 1.0)), bias=(0.01, 0.02, 0.03))
TERMS = {
    "none": {},
    "low-pass 1": {"bandwidth_hz": 20.0},
    "low-pass 2": {"bandwidth_hz": 30.0, "filter_order": 2},
    "nonlinearity": {"nonlinearity": (1e-2, -2e-2, 0.0), "full_scale": 4.0},
    "g": {"g_sensitivity": ((1e-2, 1e-3, 0.0), (0.0, 1e-2, 1e-3), (1e-3, 0.0, 1e-2))},
    "turn-on": {"turn_on": (0.1, 0.2, 0.3)},
    "temperature": {"temperature_bias": ((1e-3,) * 3, (1e-4,) * 3), "temperature_scale": ((1e-3, 0.0, 2e-3),)},
    "white": {"white": (0.1, 0.2, 0.0)},
    "instability": {"instability": (0.1, 0.2, 0.3)},
    "fast instability": {"instability": (0.1, 0.2, 0.3), "instability_band_s": (0.01, 3000.0)},
    "walk": {"walk": (0.1, 0.0, 0.2)},
    "walk and instability": {"walk": (0.1, 0.0, 0.2), "instability": (0.1, 0.2, 0.3)},
    "MATLAB's filter": {"instability": (0.1, 0.2, 0.3), "matlab_filter": ((1.0, 0.2, 0.1), (2.0, -0.5))},
    "quantisation": {"quantisation": (1e-3, 1e-4, 0.0)},
    "saturation": {"full_scale": 1.0},
    "resolution": {"resolution": 0.01},
    "latency": {"latency_s": 0.003},
    "jitter": {"jitter_s": 0.004, "latency_s": 0.001},
    "loss": {"loss": 0.3},
}
TERMS["all"] = {name: value for terms in TERMS.values() for name, value in terms.items()}
MODES = ("physical", "matlab", "paper")
TEMPERATURES = {
    "constant": 31.0,
    "series": TemperatureSeries([-1.0, 2.0, 100.0], [20.0, 45.0, 60.0]),
    "self-heating": SelfHeating(20.0, 15.0, 3.0),
    "self-heating in a series": SelfHeating(TemperatureSeries([-1.0, 2.0, 99.0], [20.0, 45.0, 60.0]), 9.0, 2.0),
}
CHUNKS = st.lists(st.integers(1, 600), min_size=1, max_size=6)


def cuts(sizes, n):
    """Slices of these sizes, again and again, up to row n."""
    first, k = 0, 0
    while first < n:
        last = min(n, first + sizes[k % len(sizes)])
        yield slice(first, last)
        first, k = last, k + 1


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


# --- one error chain


def chain_of(terms, mode, rate_hz=None):
    return ErrorChain(as_mode(replace(BASE, **TERMS[terms]), mode), 1.0 / RATE, rate_hz, mode)


def read_chain(chain, sizes, state=None, temperature_c=31.0, first=0, last=N):
    """State at the end, and the readings: stamps, values, saturated, rows."""
    state = chain.start(SEED) if state is None else state
    found = []
    for cut in cuts(sizes, last - first):
        rows = slice(first + cut.start, first + cut.stop)
        warm = temperature_c[rows] if isinstance(temperature_c, np.ndarray) else temperature_c
        state, out = chain.read(state, T[rows], IDEAL[rows], warm, FORCE[rows])
        found.append((out.t, out.values, out.saturated, out.kept + rows.start))
    return state, [np.concatenate(column) for column in zip(*found, strict=True)]


def whole(chain, temperature_c=31.0):
    out = measure(
        chain.triad,
        T,
        IDEAL,
        stream=SEED,
        temperature_c=temperature_c,
        specific_force=FORCE,
        output_rate_hz=chain.output_rate_hz,
        mode=chain.mode,
    )
    return out.t, out.values, out.saturated, out.kept


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("terms", TERMS)
def test_rows_one_by_one_give_the_bits_of_the_whole(terms, mode):
    for rate_hz in (None, 50.0):
        chain = chain_of(terms, mode, rate_hz)
        one_by_one, readings = read_chain(chain, [1])
        assert same(readings, whole(chain))
        assert one_by_one == read_chain(chain, [N])[0]  # the state does not depend on the chunks either


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(list(TERMS)), st.sampled_from(MODES), CHUNKS, st.sampled_from([None, 100.0, 50.0]))
def test_any_chunking_gives_the_bits_of_the_whole(terms, mode, sizes, rate_hz):
    chain = chain_of(terms, mode, rate_hz)
    assert same(read_chain(chain, sizes)[1], whole(chain))


@pytest.mark.parametrize("temperature", TEMPERATURES.values(), ids=TEMPERATURES)
def test_temperature_comes_with_the_chunks(temperature):
    for mode in MODES:
        chain = chain_of("temperature", mode)
        assert same(read_chain(chain, [1, 7], temperature_c=temperature)[1], whole(chain, temperature))
    each = 25.0 + 10.0 * np.sin(T)
    assert same(read_chain(chain, [3, 1], temperature_c=each)[1], whole(chain, each))


@pytest.mark.parametrize("restored", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copied_state_continues_to_the_bit(restored):
    chain = chain_of("all", "physical")
    middle, _ = read_chain(chain, [1], last=300)
    kept = restored(middle)
    assert kept == middle
    after, readings = read_chain(chain, [5], kept, first=300)
    assert kept == middle  # reading changes no state
    again, once_more = read_chain(chain, [N], middle, first=300)
    assert same(readings, once_more) and after == again and after != middle


@pytest.mark.parametrize(
    "change",
    [
        {"white": (1.0, 1.0, 1.0)},
        {"bias": (1.0, 2.0, 3.0)},
        {"white": (0.0, 0.0, 0.0), "quantisation": (0.0, 0.0, 0.0)},
        {"walk": (0.0, 0.0, 0.0)},
        {"instability": (0.0, 0.0, 0.0)},
        {"full_scale": 0.1},
        {"loss": 0.0, "jitter_s": 0.0},
        {"temperature_bias": ()},
    ],
)
def test_new_settings_act_from_the_next_row_on(change):
    old = chain_of("all", "physical")
    new = replace(old, triad=replace(old.triad, **change))
    middle, _ = read_chain(old, [1], last=300)
    _, before = read_chain(old, [N], middle, first=300)
    states = [read_chain(new, sizes, middle, first=300) for sizes in ([1], [N])]
    assert same(states[0][1], states[1][1]) and states[0][0] == states[1][0]
    assert not same(states[0][1][1:2], before[1:2])


def test_terms_can_be_switched_on_in_the_run():
    """Instability begins stationary at that row; a low-pass begins at rest at the last value."""
    bare, still = ErrorChain(Triad("m/s2"), 1.0 / RATE), np.tile([0.0, 0.0, G], (400, 1))
    state, _ = bare.read(bare.start(SEED), T[:200], still[:200])
    low = replace(bare, triad=Triad("m/s2", bandwidth_hz=10.0, filter_order=2))
    _, out = low.read(state, T[200:400], still[200:])
    np.testing.assert_allclose(out.values, still[200:], atol=1e-13)  # roundoff: no jump
    drifting = replace(bare, triad=Triad("m/s2", instability=(0.1, 0.1, 0.1), white=(0.01, 0.01, 0.01)))
    state, out = drifting.read(state, T[200:400], still[200:])
    assert np.all(np.std(out.values, axis=0) > 0.0)
    _, out = bare.read(state, T[400:401], still[:1])  # and off again
    assert np.array_equal(out.values, still[:1])


def test_a_state_that_does_not_fit_is_refused():
    chain = chain_of("instability", "physical")
    state = chain.start(SEED)
    other = replace(chain, triad=replace(chain.triad, instability_band_s=(0.5, 2.0)))
    with pytest.raises(InputError, match="started with another mode, sample rate, instability_band_s"):
        other.read(state, T[:1], IDEAL[:1])
    with pytest.raises(InputError, match="started with another mode"):
        chain_of("MATLAB's filter", "matlab").read(state, T[:1], IDEAL[:1])
    with pytest.raises(InputError, match=r"ErrorChain.read was given a state of ModuleReader; begin with ErrorChain"):
        chain.read(MODULE.reader(RATE, 1.0 / RATE).start(), T[:1], IDEAL[:1])
    with pytest.raises(InputError, match="was given a dict"):
        chain.read({}, T[:1], IDEAL[:1])


def test_bad_rows_are_refused_and_named():
    chain = chain_of("g", "physical")
    state, _ = chain.read(chain.start(SEED), T[:5], IDEAL[:5], 25.0, FORCE[:5])
    for t, ideal, warm, force, message in (
        (T[6:7], IDEAL[:1], 25.0, FORCE[:1], "follows one at 0.02 s, and rows are 0.005 s apart"),
        (T[5:6], np.full((1, 3), np.nan), 25.0, FORCE[:1], "ideal is not finite at sample 0"),
        (T[5:6], IDEAL[:1], 25.0, np.full((1, 3), np.inf), "specific_force is not finite at sample 0"),
        (T[5:6], IDEAL[:1], -300.0, FORCE[:1], "the temperature is -300 degC"),
        (T[5:6], IDEAL[:1], 25.0, None, "g_sensitivity needs the specific force"),
        (T[5:6], IDEAL[:2], 25.0, FORCE[:1], r"ideal has shape \(2, 3\), expected \(1, 3\)"),
        (T[5:6], "row", 25.0, FORCE[:1], "ideal"),
        (np.array([np.nan]), IDEAL[:1], 25.0, FORCE[:1], "the row at sample 0"),
    ):
        with pytest.raises(InputError, match=message):
            chain.read(state, t, ideal, warm, force)
    _, out = chain.read(state, 0.025, IDEAL[5], 25.0, FORCE[5].tolist())  # one row, as plain numbers
    assert np.array_equal(out.values, whole(chain, 25.0)[1][5:6])


# --- a module


PATH = FigureEight(20.0, 8.0, 16.0, bank_gravity_m_s2=G)
PART = load_part("MPU-9250").draw(3)
LATE = {"latency_s": 0.013, "jitter_s": 0.004, "loss": 0.2}
MODULE = Module("m", PART.triads(), seed=4, magnetometer_axes=PART.magnetometer_axes, temperature=30.0)


def all_terms(name):
    without = {"g_sensitivity": Triad("uT").g_sensitivity} if name != "gyroscope" else {}
    return {**TERMS["all"], "full_scale": 60.0, **without}


MODULES = {
    "part": MODULE,
    "late": replace(MODULE, triads={name: replace(triad, **LATE) for name, triad in MODULE.triads.items()}),
    "slow magnetometer": replace(MODULE, fastest_hz={"magnetometer": 30.0}),
    "late, slow magnetometer": replace(
        MODULE,
        triads={name: replace(triad, **LATE) for name, triad in MODULE.triads.items()},
        fastest_hz={"magnetometer": 30.0},
    ),
    "every instrument slow": replace(MODULE, fastest_hz=dict.fromkeys(PART.triads(), 50.0)),
    "self-heating": replace(MODULE, temperature=SelfHeating(20.0, 15.0, 3.0)),
    "turned axes": replace(MODULE, magnetometer_axes=((0.36, 0.48, -0.8), (-0.8, 0.6, 0.0), (0.48, 0.64, 0.6))),
    "all terms": replace(
        MODULE,
        triads={name: replace(triad, **all_terms(name)) for name, triad in MODULE.triads.items()},
        temperature=26.0,
    ),
}
INNER_HZ, OUT_HZ = 800.0, 100.0
N_IDEAL = 6408  # the mean step of so many times is not 1 / 800 to the bit; more samples than are drawn ahead at once


def perfect():
    motion = PATH.at(np.arange(N_IDEAL) / INNER_HZ)
    field = np.tile([20.0, 5.0, -40.0], (N_IDEAL, 1)) + motion.p_n
    return Recording(
        motion.t, gyr_s=motion.w_nb_b, acc_s=motion.specific_force_b(G), mag_s=field, truth=motion, meta={}
    )


PERFECT = perfect()


def read_module(reader, sizes, state=None, first=0, last=N_IDEAL):
    state = reader.start() if state is None else state
    samples = []
    for cut in cuts(sizes, last - first):
        rows = slice(first + cut.start, first + cut.stop)
        chunk = Ideal(*(getattr(PERFECT, name)[rows] for name in ("t", "gyr_s", "acc_s", "mag_s")))
        state, more = reader.read(state, chunk)
        samples += more
    return state, samples


def assert_same_samples(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        for name in a._fields:
            x, y = getattr(a, name), getattr(b, name)
            assert (x is None) == (y is None), (name, a.t)
            assert x is None or np.array_equal(x, y), (name, a.t)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_a_module_read_live_gives_the_bits_of_measure(module, mode):
    module = replace(module, mode=mode)
    log = module.measure(PERFECT, OUT_HZ)
    reader = module.reader(OUT_HZ, 1.0 / INNER_HZ)
    assert isinstance(reader, LiveModule)
    ends = []
    for sizes in ([1], [N_IDEAL], [13, 400, 1, 90]):
        state, samples = read_module(reader, sizes)
        assert_same_samples(samples, list(log.samples()))
        ends.append(state)
    assert ends[0] == ends[1] == ends[2]
    assert samples[0].dt == 0.0 and samples[0].mag_s is not None


def test_a_recording_is_read_as_it_is():
    reader = MODULE.reader(OUT_HZ, 1.0 / INNER_HZ)
    _, samples = reader.read(reader.start(), PERFECT)
    assert_same_samples(samples, list(MODULE.measure(PERFECT, OUT_HZ).samples()))


def test_a_slow_magnetometer_is_new_only_where_it_was_read():
    log = MODULES["slow magnetometer"].measure(PERFECT, OUT_HZ)
    new = log.new["mag_s"]
    assert np.array_equal(np.flatnonzero(new), np.arange(0, len(log), 4))  # 25 Hz: a whole part of 100 Hz below 30
    held = ~new
    assert np.array_equal(log.mag_s[held], log.mag_s[np.flatnonzero(held) - 1])
    assert "mag_s" not in MODULE.measure(PERFECT, OUT_HZ).new
    late = MODULES["late, slow magnetometer"]
    fine = {**late.triads, "magnetometer": replace(late.triads["magnetometer"], resolution=0.0)}  # no two alike
    lossy = replace(late, triads=fine).measure(PERFECT, OUT_HZ)
    fresh = lossy.new["mag_s"]
    changed = np.any(np.diff(lossy.mag_s, axis=0) != 0.0, axis=1)
    assert np.array_equal(fresh[1:], changed)  # a reading whose row was lost is new in the next row that arrives
    assert replace(log, mag_s=None).new == {}


def test_a_module_continues_with_new_settings_and_a_copied_state():
    module = MODULES["all terms"]
    reader = module.reader(OUT_HZ, 1.0 / INNER_HZ)
    state, _ = read_module(reader, [1], last=900)
    for restored in (copy.copy(state), pickle.loads(pickle.dumps(state))):
        assert restored == state
        a, b = read_module(reader, [7], restored, first=900), read_module(reader, [N_IDEAL], state, first=900)
        assert_same_samples(a[1], b[1])
        assert a[0] == b[0]
    louder = {name: replace(triad, white=(1.0, 1.0, 1.0)) for name, triad in module.triads.items()}
    new = replace(module, triads=louder).reader(OUT_HZ, 1.0 / INNER_HZ)
    waiting = len(state.waiting)
    _, after = read_module(new, [1], state, first=900)
    _, as_before = read_module(reader, [1], state, first=900)
    assert_same_samples(after[:waiting], as_before[:waiting])  # measured before the change
    assert all(np.any(a.acc_s != b.acc_s) for a, b in zip(after[waiting:], as_before[waiting:], strict=True))
    six = replace(module, triads={name: module.triads[name] for name in ("accelerometer", "gyroscope")})
    with pytest.raises(InputError, match="the module now has accelerometer, gyroscope; start anew"):
        read_module(six.reader(OUT_HZ, 1.0 / INNER_HZ), [1], state, first=900)


def test_what_a_module_is_not_given_is_named():
    reader = MODULE.reader(OUT_HZ, 1.0 / INNER_HZ)
    state = reader.start()
    rows = {name: getattr(PERFECT, name)[:1] for name in ("t", "gyr_s", "acc_s", "mag_s")}
    with pytest.raises(InputError, match="have no mag_s, which the magnetometer"):
        reader.read(state, Ideal(**{**rows, "mag_s": None}))
    with pytest.raises(InputError, match='sensor "m", gyroscope: ideal is not finite at sample 0'):
        reader.read(state, Ideal(**{**rows, "gyr_s": np.full((1, 3), np.nan)}))
    with pytest.raises(InputError, match=r"ModuleReader.read was given a NoneType; begin with"):
        reader.read(None, Ideal(**rows))
    with pytest.raises(InputError, match="a temperature for each row; give it with the ideal rows"):
        warm = replace(MODULE, temperature=np.full(N_IDEAL, 30.0)).reader(OUT_HZ, 1.0 / INNER_HZ)
        warm.read(warm.start(), Ideal(**rows))
    with pytest.raises(InputError, match="has no gyroscope, and a sample needs one"):
        bare = Module("a", {"accelerometer": Triad("m/s2")}).reader(100.0)
        bare.read(bare.start(), Ideal(**rows))
    state, _ = reader.read(state, Ideal(**rows))
    with pytest.raises(InputError, match="give every row of the input in order"):
        reader.read(state, Ideal(**{**rows, "t": rows["t"] + 0.5}))
    with pytest.raises(InputError, match="g_sensitivity is a term of gyroscopes"):
        Module("a", {"accelerometer": replace(Triad("m/s2"), **TERMS["g"])}).reader(100.0)
    each = np.full(N_IDEAL, 30.0)
    log = replace(MODULE, temperature=each).measure(PERFECT, OUT_HZ)
    given = MODULE.reader(OUT_HZ, 1.0 / INNER_HZ)
    _, samples = given.read(given.start(), replace(PERFECT, temperature=each))
    assert_same_samples(samples, list(log.samples()))


# --- inclinometer and odometer

TILTED = Inclinometer(
    gravity_m_s2=G,
    bandwidth_hz=5.0,
    nonlinearity=(0.01, 0.02),
    matrix=((1.01, 0.01), (0.02, 0.99)),
    turn_on=(0.01, 0.02),
    drift=(1e-3, 1e-3),
    settling=(0.1, 0.2),
    white=(0.01, 0.02),
    range_rad=0.5,
    resolution=1e-3,
)


@settings(max_examples=20, deadline=None)
@given(CHUNKS, st.sampled_from([Inclinometer(), TILTED, replace(TILTED, gravity_m_s2=None, bandwidth_hz=None)]))
def test_an_inclinometer_read_in_chunks(sizes, part):
    motion = PATH.at(np.arange(601) / 100.0).seen_from((0.0, 0.0, 0.0), q_from_euler(0.1, -0.2, 0.0))
    force, warm = motion.specific_force_b(G), SelfHeating(20.0, 15.0, 3.0)
    log = part.measure(motion, G, stream=SEED, temperature_c=warm)
    state = part.start(SEED, 0.01)
    found = []
    for cut in cuts(sizes, 601):
        state, out = part.read(pickle.loads(pickle.dumps(state)), motion.t[cut], force[cut], temperature_c=warm)
        found.append((out.tilt, out.saturated))
    tilt, saturated = (np.concatenate(column) for column in zip(*found, strict=True))
    assert np.array_equal(tilt, log.tilt) and np.array_equal(saturated, log.saturated)
    with pytest.raises(InputError, match=r"Inclinometer.read was given a state of ErrorChain"):
        part.read(chain_of("none", "physical").start(SEED), motion.t[:1], force[:1])


WHEEL = WheelOdometer(0.03, 600, (0.1, 0.2, 0.0), 0.01, 0.001, (0.1, 0.3), 0.1, dead_s=((3.0, 4.0), (30.0, np.inf)))


@settings(max_examples=20, deadline=None)
@given(
    CHUNKS,
    st.sampled_from(
        [
            WHEEL,
            replace(WHEEL, slip_intervals_s=((11.0, 12.0), (14.0, 16.3))),
            WheelOdometer(0.03, None, slip=(0.2, 0.3)),
        ]
    ),
)
def test_an_odometer_read_in_chunks(sizes, wheel):
    motion = StopAndGo.square().at(np.arange(4001) / 100.0)
    log = wheel.measure(motion, stream=SEED)
    state, found = wheel.start(SEED), []
    for cut in cuts(sizes, 4001):
        state, out = wheel.read(state, motion[cut])
        found.append((out.distance_m, out.slipping, out.dead, out.distance_m if out.counts is None else out.counts))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    counts = log.distance_m if log.counts is None else log.counts
    assert same(columns, (log.distance_m, log.slipping, log.dead, counts))
    with pytest.raises(InputError, match=r"WheelOdometer.read was given a state of ErrorChain"):
        wheel.read(chain_of("none", "physical").start(SEED), motion[:1])

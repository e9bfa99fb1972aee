"""Each fault of a sensor does to the readings what its docstring states, is undone when it ends, and is repeatable.

The vehicle rests without a pilot, so that a run with a fault differs from one without in the readings alone.
"""

import numpy as np
import pytest
from tests.environment.session.session_cases import flown, logs, resting

from strapdown.environment.session.commands import BeginFault, EndFault
from strapdown.environment.session.faults.sensor_faults import Biased, Dead, Losing
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.kernels.sensors.module import NEW_MAG, READINGS, T

SEED = 7
BEGIN, END = 0.4, 1.0
COLUMNS = {"accelerometer": 0, "gyroscope": 1, "magnetometer": 2}


def of_instrument(rows, instrument):
    first = READINGS + 3 * COLUMNS[instrument]
    return rows[:, first : first + 3]


def rows_with(sensor, fault=None, seed=SEED):
    """Log of a sensor in a run with a fault from BEGIN to END; None: without."""
    faults = [] if fault is None else [{"sensor": sensor, "at_s": BEGIN, "until_s": END, **fault}]
    session = flown(resting(fault=faults), seed=seed)
    return next(s for s in session.sensors if s.name == sensor).log.rows()


@pytest.fixture(scope="module")
def imu():
    return rows_with("imu")


@pytest.fixture(scope="module")
def altimeter():
    return rows_with("altimeter")


def while_faulty(t):
    """A fault begins before the cycle at its time, so its first reading is the next one; the same at its end."""
    return (t > BEGIN + 1e-9) & (t < END + 1e-9)


def same_outside(faulty, clean):
    keep = ~while_faulty(clean[:, 0])
    return np.array_equal(faulty[~while_faulty(faulty[:, 0])], clean[keep])


def test_dead_module_gives_no_rows(imu):
    rows = rows_with("imu", {"kind": "dead"})
    assert same_outside(rows, imu)
    assert not while_faulty(rows[:, T]).any()


def test_dead_altimeter_gives_no_readings(altimeter):
    rows = rows_with("altimeter", {"kind": "dead"})
    assert same_outside(rows, altimeter)
    assert not while_faulty(rows[:, 0]).any()


@pytest.mark.parametrize("kind", ["dead", "stuck"])
@pytest.mark.parametrize("instrument", ["accelerometer", "gyroscope"])
def test_dead_and_stuck_instrument_repeat_a_value_and_leave_the_others(imu, kind, instrument):
    rows = rows_with("imu", {"kind": kind, "instrument": instrument})
    assert same_outside(rows, imu)
    at = while_faulty(rows[:, T])
    assert np.array_equal(
        of_instrument(rows, instrument)[at], np.repeat(of_instrument(imu, instrument)[at][:1], at.sum(), 0)
    )
    for other in set(COLUMNS) - {instrument}:
        assert np.array_equal(of_instrument(rows, other), of_instrument(imu, other))


def test_dead_instrument_is_not_new_and_a_stuck_one_is():
    for kind, expected in (("dead", 0.0), ("stuck", 1.0)):
        fault = {"kind": kind, "sensor": "imu", "instrument": "gyroscope", "at_s": BEGIN, "until_s": END}
        session = Session(resting(fault=[fault], pilot=[{"at_s": 0.1, "power": True}]), seed=SEED)
        session.advance(0.8)
        assert session.runner.value("estimation/gyroscope.new") == expected
        assert session.runner.value("estimation/gyroscope.ok") == expected  # the timeout is 0.1 s
        assert session.runner.value("estimation/accelerometer.new") == 1.0
        session.advance(0.5)
        assert session.runner.value("estimation/gyroscope.new") == 1.0


def test_dead_magnetometer_has_no_new_reading(imu):
    rows = rows_with("imu", {"kind": "dead", "instrument": "magnetometer"})
    at = while_faulty(rows[:, T])
    assert not rows[at, NEW_MAG].any()
    assert imu[at, NEW_MAG].sum() > 20
    assert same_outside(rows, imu)


@pytest.mark.parametrize("offset", [[0.25], [0.1, -0.2, 0.3]])
def test_biased_reads_too_much_by_a_constant(imu, offset):
    rows = rows_with("imu", {"kind": "biased", "instrument": "gyroscope", "offset": offset})
    at = while_faulty(rows[:, T])
    assert np.array_equal(of_instrument(rows, "gyroscope")[at], of_instrument(imu, "gyroscope")[at] + np.array(offset))
    assert same_outside(rows, imu)


def test_biased_altimeter(altimeter):
    rows = rows_with("altimeter", {"kind": "biased", "offset": [1.5]})
    at = while_faulty(rows[:, 0])
    assert np.array_equal(rows[at, 2], altimeter[at, 2] + 1.5)
    assert same_outside(rows, altimeter)


def test_noisy_adds_white_noise_of_its_sigma(imu):
    rows = rows_with("imu", {"kind": "noisy", "instrument": "accelerometer", "sigma": 2.0})
    at = while_faulty(rows[:, T])
    extra = of_instrument(rows, "accelerometer")[at] - of_instrument(imu, "accelerometer")[at]
    n = extra.size
    assert n == 900
    assert extra.std() == pytest.approx(2.0, rel=4.0 / np.sqrt(2 * n))  # chance: four sigmas
    assert abs(extra.mean()) < 4.0 * 2.0 / np.sqrt(n)
    lagged = np.mean(extra[1:] * extra[:-1]) / extra.var()
    assert abs(lagged) < 4.0 / np.sqrt(n)
    assert same_outside(rows, imu)


def test_spikes_jump_by_their_size_on_one_axis_in_a_share_of_readings(imu):
    rows = rows_with("imu", {"kind": "spikes", "instrument": "gyroscope", "size": 5.0, "share": 0.2})
    at = while_faulty(rows[:, T])
    jumps = of_instrument(rows, "gyroscope")[at] - of_instrument(imu, "gyroscope")[at]
    hit = np.abs(jumps).max(axis=1) > 1e-9
    assert np.abs(jumps[hit]).max(axis=1) == pytest.approx(5.0, rel=1e-12)
    assert np.count_nonzero(np.abs(jumps[hit]) > 1e-9) == hit.sum()  # one axis each
    n = len(hit)
    assert hit.mean() == pytest.approx(0.2, abs=4.0 * np.sqrt(0.2 * 0.8 / n))  # chance: four sigmas
    axes = np.argmax(np.abs(jumps[hit]), axis=1)
    assert set(axes) == {0, 1, 2}
    assert {-1.0, 1.0} == set(np.sign(jumps[hit][np.arange(len(axes)), axes]))
    assert same_outside(rows, imu)


def test_saturated_reads_no_further_than_its_limit(imu):
    rows = rows_with("imu", {"kind": "saturated", "instrument": "accelerometer", "limit": 9.0})
    at = while_faulty(rows[:, T])
    assert np.array_equal(
        of_instrument(rows, "accelerometer")[at], of_instrument(imu, "accelerometer")[at].clip(-9.0, 9.0)
    )
    assert (of_instrument(rows, "accelerometer")[at, 2] == 9.0).any()
    assert same_outside(rows, imu)


@pytest.mark.parametrize("delay_s", [0.1, 0.0])
def test_delayed_module_gives_its_readings_later(imu, delay_s):
    rows = rows_with("imu", {"kind": "delayed", "delay_s": delay_s})
    count = round(500 * delay_s)
    given = rows[while_faulty(rows[:, T])]
    clean = imu[while_faulty(imu[:, T])]
    assert np.array_equal(given[:, T], clean[count:, T])
    for instrument in COLUMNS:
        assert np.array_equal(of_instrument(given, instrument), of_instrument(clean[: len(clean) - count], instrument))
    assert same_outside(rows, imu)


def test_a_delay_is_in_seconds_also_for_a_sensor_with_a_pace_of_its_own(altimeter):
    rows = rows_with("altimeter", {"kind": "delayed", "delay_s": 0.2})
    given, clean = rows[while_faulty(rows[:, 0])], altimeter[while_faulty(altimeter[:, 0])]
    assert np.array_equal(given[:, 2], clean[:-10, 2])  # 10 readings at 50 Hz
    assert given[0, 0] - clean[0, 0] == pytest.approx(0.2, abs=1e-9)
    assert same_outside(rows, altimeter)


def test_losing_drops_whole_rows_of_a_module(imu):
    rows = rows_with("imu", {"kind": "losing", "share": 0.3})
    at = while_faulty(imu[:, T])
    kept = np.isin(imu[:, T], rows[:, T])
    assert np.array_equal(rows[:, [T, NEW_MAG]], imu[kept][:, [T, NEW_MAG]])
    for instrument in ("accelerometer", "gyroscope"):
        assert np.array_equal(of_instrument(rows, instrument), of_instrument(imu, instrument)[kept])
    assert kept[~at].all()
    n = at.sum()
    assert 1.0 - kept[at].mean() == pytest.approx(0.3, abs=4.0 * np.sqrt(0.3 * 0.7 / n))  # chance: four sigmas


def test_losing_one_instrument_repeats_its_last_reading(imu):
    rows = rows_with("imu", {"kind": "losing", "instrument": "gyroscope", "share": 0.3})
    assert same_outside(rows, imu)
    at = np.flatnonzero(while_faulty(imu[:, T]))
    given, clean = of_instrument(rows, "gyroscope"), of_instrument(imu, "gyroscope")
    lost = [i for i in at if not np.array_equal(given[i], clean[i])]
    assert len(lost) / len(at) == pytest.approx(0.3, abs=4.0 * np.sqrt(0.3 * 0.7 / len(at)))
    assert all(np.array_equal(given[i], given[i - 1]) for i in lost if i > at[0])
    assert np.array_equal(of_instrument(rows, "accelerometer"), of_instrument(imu, "accelerometer"))


def test_losing_altimeter(altimeter):
    rows = rows_with("altimeter", {"kind": "losing", "share": 0.5})
    at = while_faulty(altimeter[:, 0])
    kept = np.isin(altimeter[:, 0], rows[:, 0])
    assert np.array_equal(rows, altimeter[kept]) and kept[~at].all()
    assert 0 < kept[at].sum() < at.sum()


def test_outage_of_fixes_gives_none():
    clean = rows_with("receiver")
    rows = rows_with("receiver", {"kind": "outage"})
    assert same_outside(rows, clean) and not while_faulty(rows[:, 0]).any()


RANDOM = [
    {"kind": "noisy", "sigma": 1.0},
    {"kind": "spikes", "size": 1.0, "share": 0.5},
    {"kind": "losing", "share": 0.5},
]
ALL = [
    *RANDOM,
    {"kind": "dead"},
    {"kind": "stuck"},
    {"kind": "biased", "offset": [0.1]},
    {"kind": "saturated", "limit": 1.0},
    {"kind": "delayed", "delay_s": 0.05},
]


@pytest.mark.parametrize("fault", RANDOM, ids=lambda fault: fault["kind"])
def test_random_faults_depend_on_the_seed_alone(fault):
    assert np.array_equal(rows_with("imu", fault), rows_with("imu", fault))
    assert not np.array_equal(
        rows_with("altimeter", fault, seed=1)[:, 0:3], rows_with("altimeter", fault, seed=2)[:, 0:3]
    )


@pytest.mark.parametrize("fault", ALL, ids=lambda fault: fault["kind"])
def test_rewound_into_the_middle_of_a_fault_it_goes_on_to_the_bit(fault):
    """The snapshot at 0 s lies before the fault, the one at 1 s inside it; both are used."""
    faults = [{"sensor": name, "at_s": 0.6, "until_s": 1.3, **fault} for name in ("imu", "altimeter")]
    session = flown(resting(fault=faults, pilot=[{"at_s": 0.1, "power": True}]), seed=SEED)
    before, events = logs(session), list(session.events)
    for to_s in (1.1, 0.7):
        session.rewind(to_s)
        session.run()
        assert logs(session) == before
        assert session.events == events


def test_a_fault_on_command_acts_until_it_is_ended(imu):
    session = Session(resting(), seed=SEED)
    session.advance(BEGIN)
    session.post(BeginFault(Biased(sensor="imu", instrument="gyroscope", offset=(1.0,)), "by hand"))
    session.advance(END - BEGIN)
    session.post(EndFault("by hand"))
    session.run()
    rows = session.sensors[0].log.rows()
    at = while_faulty(rows[:, T])
    assert np.array_equal(of_instrument(rows, "gyroscope")[at], of_instrument(imu, "gyroscope")[at] + 1.0)
    assert same_outside(rows, imu)
    assert [event.kind for event in session.events] == ["fault", "fault_ends"]


def test_two_faults_of_one_sensor_act_one_after_the_other(imu):
    faults = [
        {"kind": "biased", "sensor": "imu", "instrument": "gyroscope", "offset": [3.0], "at_s": BEGIN},
        {"kind": "saturated", "sensor": "imu", "instrument": "gyroscope", "limit": 2.0, "at_s": BEGIN},
    ]
    rows = flown(resting(fault=faults), seed=SEED).sensors[0].log.rows()
    assert (of_instrument(rows, "gyroscope")[rows[:, T] > BEGIN + 1e-9] == 2.0).all()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Dead(sensor="imu", instrument="altimeter"), 'fault "dead": sensor "imu" has no altimeter; it has'),
        (Dead(sensor="imuu"), 'sensor "imuu" is not in the scenario'),
        (Biased(sensor="imu", offset=(1.0, 2.0)), 'offset has 2 numbers, sensor "imu" needs 1 or 3 numbers'),
        (Biased(sensor="altimeter", offset=(1.0, 2.0)), 'sensor "altimeter" needs 1 number'),
    ],
)
def test_a_fault_that_does_not_fit_is_refused(fault, message):
    session = Session(resting(), seed=SEED)
    with pytest.raises(InputError, match=message):
        session.act(BeginFault(fault, "wrong"))
    assert session.faults == {}


def test_names_of_active_faults_are_unique_and_known():
    session = Session(resting(), seed=SEED)
    session.act(BeginFault(Losing(sensor="imu", share=0.1), "losing"))
    with pytest.raises(InputError, match='a fault "losing" is active'):
        session.act(BeginFault(Losing(sensor="imu", share=0.1), "losing"))
    with pytest.raises(InputError, match='no fault "loosing" is active; did you mean'):
        session.act(EndFault("loosing"))

"""What every sensor of a pace of its own promises: states are values, any chunking gives the same bits."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from strapdown.atmosphere import MARS
from strapdown.errors import InputError
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.streams import seed_of

STEP, CALLS = 1e-3, 4000
SEED = seed_of(8, "paced")
SENSORS = {
    "altimeter": Altimeter(
        40.0, 0.02, 0.01, bias_m=0.1, scale_error=0.02, limits_m=(0.3, 2.5), resolution_m=0.01, loss=0.1
    ),
    "barometer": Barometer(rate_hz=70.0, drift_pa=20.0, drift_s=2.0, lag_s=0.1, resolution_pa=0.16, bias_pa=50.0),
    "barometer on Mars": Barometer(MARS, rate_hz=None, sigma_pa=0.02),
    "position": FixReceiver("position", 25.0, (0.1, 0.2, 0.3), 0.13, ((1.0, 1.5),), (1.0, 1.0, 2.0), 3.0, loss=0.2),
    "velocity": FixReceiver("velocity", rate_hz=None, delay_s=0.05, scale_error=0.01),
}
CHANGED = {
    "altimeter": {"bias_m": 0.5},
    "barometer": {"bias_pa": 90.0},
    "barometer on Mars": {"bias_pa": 1.0},
    "position": {"scale_error": 0.1},
    "velocity": {"scale_error": 0.1},
}
every_sensor = pytest.mark.parametrize("name", SENSORS)


def truth(name, k):
    height = 1.5 + math.sin(0.002 * k)
    return (height, -height, 2.0) if name in ("position", "velocity") else height


def plain(reading):
    """A reading as numbers that compare."""
    return tuple(np.concatenate([np.atleast_1d(x) for x in reading])) if isinstance(reading, tuple) else reading


def called(sensor, name, state, calls):
    found = []
    for k in calls:
        state, reading = sensor.read(state, k * STEP, truth(name, k))
        if reading is not None:
            found.append((k, plain(reading)))
    return state, found


@every_sensor
def test_the_same_seed_gives_the_same_readings_and_another_others(name):
    sensor = SENSORS[name]
    (_, one), (_, same) = (called(sensor, name, sensor.start(SEED, STEP), range(CALLS)) for _ in range(2))
    _, other = called(sensor, name, sensor.start(seed_of(9, "paced"), STEP), range(CALLS))
    assert len(one) > 50 and one == same != other


@every_sensor
def test_a_state_copied_or_stored_continues_to_the_bit_and_is_never_changed(name):
    sensor = SENSORS[name]
    middle, before = called(sensor, name, sensor.start(SEED, STEP), range(1234))
    kept = pickle.dumps(middle)
    last, after = called(sensor, name, middle, range(1234, CALLS))
    assert before and after and last != middle
    for copied in (copy.copy(middle), copy.deepcopy(middle), pickle.loads(kept)):
        assert copied == middle
        assert called(sensor, name, copied, range(1234, CALLS)) == (last, after)
    assert pickle.dumps(middle) == kept
    hash(middle)  # a value through and through


@every_sensor
def test_new_settings_act_from_the_next_reading_on(name):
    sensor, changed = SENSORS[name], replace(SENSORS[name], **CHANGED[name])
    middle, _ = called(sensor, name, sensor.start(SEED, STEP), range(2000))
    _, before = called(sensor, name, middle, range(2000, 2600))
    _, after = called(changed, name, middle, range(2000, 2600))
    assert [k for k, _ in before] == [k for k, _ in after] and before != after
    equal = replace(changed, **{key: getattr(sensor, key) for key in CHANGED[name]})
    assert called(equal, name, middle, range(2000, 2600))[1] == before


@every_sensor
def test_a_state_of_another_sensor_is_refused(name):
    sensor = SENSORS[name]
    for other, part in SENSORS.items():
        if type(part) is not type(sensor):
            with pytest.raises(InputError, match=f"{type(sensor).__name__}.read was given a"):
                sensor.read(SENSORS[other].start(SEED, STEP), 0.0, truth(name, 0))


@every_sensor
def test_a_state_stays_as_large_as_it_was(name):
    sensor = SENSORS[name]
    early, _ = called(sensor, name, sensor.start(SEED, STEP), range(300))
    late, _ = called(sensor, name, early, range(300, CALLS))
    assert len(pickle.dumps(late)) < 2 * len(pickle.dumps(early)) + 1500  # numbers drawn ahead: 60 of each term

"""Checks of sensors in use: readings that repeat, and what takes their place."""

import numpy as np
import pytest

from strapdown.environment.diagram.kinds import builtin

DT = 0.002


def make(kind, **parameters):
    return builtin()[kind].make(parameters)


def flags(readings, longest_s=0.02, new=1.0, ok=1.0):
    check = make("stuck_check", longest_s=longest_s)
    state, found = check.start(), []
    for reading in readings:
        state, (flag,) = check.step(state, reading, new, ok, dt=DT)
        found.append(flag)
    return found


@pytest.mark.parametrize("kind", ["number", "vector"])
def test_a_reading_that_stays_is_stuck_until_it_changes(kind):
    values = [0.1, 0.2, *[0.3] * 30, 0.4]
    readings = values if kind == "number" else [np.array([1.0, 2.0, v]) for v in values]
    found = flags(readings, longest_s=0.021)
    first = found.index(0.0)
    assert (first - 2) * DT == pytest.approx(0.022)  # the third reading is the first of those that repeat
    assert not any(found[first:-1]) and found[-1] == 1.0


def test_no_readings_and_a_sensor_that_is_off_are_not_ok():
    assert flags([float(k) for k in range(30)], new=0.0)[-1] == 0.0
    assert not any(flags([float(k) for k in range(30)], ok=0.0))


def test_another_signal_takes_the_place_of_a_reading():
    fallback = make("fallback")
    reading, instead = np.ones(3), np.zeros(3)
    assert fallback.apply(reading, instead, 1.0) is reading
    assert fallback.apply(reading, instead, 0.0) is instead

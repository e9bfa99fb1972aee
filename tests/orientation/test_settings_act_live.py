"""Settings are not in the state: each of them acts from the next sample on, in every filter."""

import contextlib
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest

from orientation_cases import NAMES, filter_of, slow_turn, tumbling
from strapdown.errors import InputError
from strapdown.kernels.orientation.vqf import filter as vqf_kernel
from strapdown.kernels.orientation.vqf import inclination
from strapdown.kernels.orientation.vqf.lowpass import lowpass_gains
from strapdown.live import Start
from strapdown.orientation.lodestar import Lodestar
from strapdown.orientation.samples import samples_of
from strapdown.orientation.vqf import Vqf
from strapdown.types import Recording

RATE_HZ = 100.0
CHANGED_AT = 150  # samples

# settings of the first sample, of a given attitude, or of the calibration at the start: over when they change here
OF_THE_START = {
    "gyro": {"magnetometer", "declination_rad"},
    "paper-b": {"calibration_s", "gravity_m_s2", "declination_rad"},
    "mekf": {"attitude_start_deg"},
    "lodestar": {"start_heading_deg", "matrix_percent"},
}


@cache
def eventful():
    """Rests, slow and fast turns, attitudes that jump, a magnet, another field, free fall, a jolt, gaps."""
    slow = [slow_turn(1.0, (1.0, 0.0, 1.0), 6.0, seed, 10.0)[0] for seed in (1, 2)]
    fast = tumbling(40.0, RATE_HZ)[0]
    parts = slow[0], fast, slow[1], fast
    gyr_s, acc_s, mag_s = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("gyr_s", "acc_s", "mag_s")
    )
    t = np.arange(len(gyr_s)) / RATE_HZ
    mag_s[((t > 20.0) & (t < 30.0)) | ((t > 104.0) & (t < 106.0))] += [30.0, -10.0, 5.0]
    mag_s *= (1.0 + 0.5 * (t > 60.0) + 0.02 * np.clip(t - 3.0, 0.0, 12.0))[:, None]
    acc_s[(t > 4.0) & (t < 4.05)] *= 1.15
    acc_s[(t > 40.0) & (t < 40.2)] *= 0.01
    kept = ((t < 80.0) | (t > 81.5)) & ((t < 90.0) | (t > 90.4))
    return Recording(t[kept], gyr_s[kept], acc_s[kept], mag_s[kept])


def others(filt, name):
    """Filters with a smaller and a larger value of a setting."""
    value = getattr(filt, name)
    values = [not value] if isinstance(value, bool) else [0.3] if value == 0.0 else [0.1 * value, 10.0 * value]
    for changed in values:
        with contextlib.suppress(InputError):  # one of the two may be out of bounds
            yield replace(filt, **{name: changed})


def later(filt, state):
    """What it believes after each further sample."""
    s = samples_of(eventful(), use_mag=filt.magnetometer)
    rest = [array[CHANGED_AT:] for array in (s.dt, s.gyr, s.acc, s.mag, s.mag_new)]
    n = len(rest[0])
    out = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    filt.kernel.rows(state.numbers.copy(), filt.packed_settings, *rest, *out)
    return np.column_stack(out)


def after_some(filt):
    state = filt.start(Start.of(eventful()))
    for i in range(CHANGED_AT):
        state = filt.step(state, eventful().sample(i))
    return state


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_acts_on_a_state_of_other_settings(name):
    filt = filter_of(name, magnetometer=True)
    state = after_some(filt)
    unchanged = later(filt, state)
    assert np.array_equal(later(replace(filt), state), unchanged)
    silent = {
        field.name
        for field in fields(filt)
        if all(np.array_equal(later(changed, state), unchanged) for changed in others(filt, field.name))
    }
    assert silent == OF_THE_START.get(name, set())


@pytest.mark.parametrize("filt", [Vqf(), Lodestar()], ids=["vqf", "lodestar"])
def test_gains_in_the_state_are_those_of_the_present_settings(filt):
    """They are kept from step to step, since a tangent in each would take a third of its time."""
    state, sample = after_some(filt), eventful().sample(CHANGED_AT)
    for tau_s in (3.0, 1.0, 1.0, 7.0):
        state = replace(filt, tau_acc_s=tau_s).step(state, sample)
        gains = state.numbers[[inclination.G_ACC, inclination.A_ACC]]
        assert np.array_equal(gains, lowpass_gains.py_func(tau_s, 1.0 / RATE_HZ))


def test_gains_of_the_field_are_those_of_the_present_settings():
    state, sample = after_some(Vqf()), eventful().sample(CHANGED_AT)
    for tau_s in (9.0, 2.0, 4.0):
        state = replace(Vqf(), tau_mag_s=tau_s, mag_tau_s=0.1 * tau_s).step(state, sample)
        assert state.numbers[vqf_kernel.K_MAG] == 1.0 - np.exp(-1.0 / RATE_HZ / tau_s)
        gains = state.numbers[[vqf_kernel.G_FIELD, vqf_kernel.A_FIELD]]
        assert np.array_equal(gains, lowpass_gains.py_func(0.1 * tau_s, 1.0 / RATE_HZ))

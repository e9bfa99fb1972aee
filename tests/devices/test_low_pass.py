"""The chips' low-pass: how much noise it folds back, how old its readings are, and what a log states of it."""

import numpy as np
import pytest

from strapdown.devices.chips.feed import LowPass
from strapdown.devices.protocol.messages import Hello
from strapdown.devices.protocol.units import (
    ACC_DELAY_S,
    ACC_HZ,
    GYR_DELAY_S,
    GYR_HZ,
    folded,
    low_pass_for,
    meta_of,
)
from strapdown.navigation.reading_delay import delay_s
from strapdown.recordings.facts import facts_of
from strapdown.types import Recording


@pytest.mark.parametrize("code, rate_hz", [(3, 100), (4, 100), (3, 200)])
def test_noise_behind_the_low_pass_has_the_density_that_is_stated(code: int, rate_hz: int) -> None:
    n, each = 200_000, 1000 // rate_hz
    rng, low_pass = np.random.default_rng(code), LowPass(ACC_HZ[code], ACC_DELAY_S[code], 1e-3)
    read = np.array([low_pass.step((x, 0.0, 0.0))[0] for x in rng.standard_normal(n).tolist()])[::each]
    # the density is that of means over many samples: of white noise of sigma 1 at 1 kHz, 1 / sqrt(samples of 1 kHz)
    block = 50
    means = read[: len(read) // block * block].reshape(-1, block).mean(axis=1)
    found = means.std() * np.sqrt(block * each)
    sure = 1.0 / np.sqrt(2.0 * len(means))
    assert found == pytest.approx(folded(ACC_HZ[code], rate_hz), rel=4.0 * sure)


@pytest.mark.parametrize("rate_hz, low_pass_hz", [(25, 5), (50, 10), (100, 21), (200, 44), (500, 94), (1000, 184)])
def test_the_low_pass_of_a_rate_is_the_widest_that_folds_back_a_tenth(rate_hz: int, low_pass_hz: float) -> None:
    code = low_pass_for(rate_hz)
    assert ACC_HZ[code] == low_pass_hz
    assert folded(low_pass_hz, rate_hz) <= 1.1 < folded(ACC_HZ[code - 1], rate_hz)


@pytest.mark.parametrize("hz, delays", [(ACC_HZ, ACC_DELAY_S), (GYR_HZ, GYR_DELAY_S)])
@pytest.mark.parametrize("code", [1, 2, 3, 4])
def test_a_virtual_chip_is_late_as_the_data_sheet_states(hz, delays, code: int) -> None:
    low_pass = LowPass(hz[code], delays[code], 1e-3)
    for t_ms in range(2000):
        read = low_pass.step((float(t_ms), 0.0, 0.0))[0]
    # whole steps of 1 ms, and half a step between a filter in steps and one in time
    assert t_ms - read == pytest.approx(1e3 * delays[code], abs=1.0)


def test_a_log_of_a_module_has_the_delay_of_its_own_low_pass() -> None:
    meta = meta_of(Hello(imu_chip=1, low_pass=4))
    t = np.arange(200) / 100.0
    still = np.zeros((200, 3))
    log = Recording(t, gyr_s=still, acc_s=still + np.array([0.0, 0.0, 9.81]), meta=meta)
    noise = facts_of(log).noise
    assert delay_s(noise["accelerometer"]) == pytest.approx(8.5e-3)
    assert delay_s(noise["gyroscope"]) == pytest.approx(8.3e-3)
    without = Recording(t, gyr_s=log.gyr_s, acc_s=log.acc_s, meta={"part": "MPU-6050", "rate_hz": 100.0})
    assert delay_s(facts_of(without).noise["accelerometer"]) == pytest.approx(1.0 / (2.0 * np.pi * 50.0))

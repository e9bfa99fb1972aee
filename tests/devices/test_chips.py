"""The virtual chips read by their drivers: what the data sheets promise."""

import numpy as np
import pytest

from device_cases import noisy_feed
from strapdown.devices.chips.bus import I2cError, VirtualBus
from strapdown.devices.chips.feed import Rows
from strapdown.devices.chips.found import find_inertial, find_magnetometer, inertial_name, magnetometer_name
from strapdown.devices.chips.magnetometers import (
    HMC_OVERFLOW,
    Hmc5883l,
    Qmc5883l,
    VirtualHmc5883l,
    VirtualQmc5883l,
    VirtualQmc5883p,
)
from strapdown.devices.chips.mpu6050 import FIFO_BYTES, Mpu6050, VirtualMpu6050, self_test_change
from strapdown.devices.protocol.messages import HMC5883L, QMC5883L, QMC5883P

G = 9.80665


def steady(acc=(0.0, 0.0, G), gyr=(0.0, 0.0, 0.0), mag=(20.0, -10.0, -45.0), celsius: float = 30.0) -> Rows:
    return Rows(iter([(np.array([0.0]), np.array([acc]), np.array([gyr]), np.array([mag]), np.array([celsius]))]))


def inertial(feed: Rows, **settings: int) -> tuple[VirtualBus, Mpu6050]:
    bus = VirtualBus({0x68: VirtualMpu6050(feed)})
    chip = Mpu6050(bus)
    chip.set_up(**{"acc_range": 0, "gyr_range": 0, "low_pass": 3, "rate_hz": 100, **settings})
    return bus, chip


@pytest.mark.parametrize(("code", "counts"), [(0, 16384), (1, 8192), (2, 4096), (3, 2048)])
def test_one_g_is_the_counts_of_the_range(code: int, counts: int) -> None:
    bus, chip = inertial(steady(), acc_range=code)
    bus.time_us = 100_000
    assert chip.read().acc == (0, 0, counts)


@pytest.mark.parametrize(("code", "per_10_dps"), [(0, 1310), (1, 655), (2, 328), (3, 164)])
def test_ten_degrees_a_second_are_the_counts_of_the_range(code: int, per_10_dps: int) -> None:
    bus, chip = inertial(steady(gyr=(np.radians(10.0), 0.0, -np.radians(10.0))), gyr_range=code)
    bus.time_us = 100_000
    assert chip.read().gyr == (per_10_dps, 0, -per_10_dps)


def test_readings_end_at_the_range_and_temperature_follows_the_data_sheet() -> None:
    bus, chip = inertial(steady(acc=(3 * G, -3 * G, 0.0), celsius=36.53 + 10.0))
    bus.time_us = 100_000
    reading = chip.read()
    assert reading.acc == (32767, -32768, 0)
    assert reading.temperature == 3400


@pytest.mark.parametrize("rate_hz", [4, 100, 200, 1000])
def test_data_ready_comes_at_the_rate_and_is_cleared_by_reading(rate_hz: int) -> None:
    bus, chip = inertial(steady(), rate_hz=rate_hz)
    count = 0
    for time_us in range(0, 2_000_000, 500):
        bus.time_us = time_us + 250
        count += chip.ready()
        assert not chip.ready()
    assert count in (2 * rate_hz - 1, 2 * rate_hz)


def test_the_low_pass_takes_noise_away() -> None:
    """White noise at 1 kHz behind a low-pass of f keeps k / (2 - k) of its variance, k = 1 - exp(-2 pi f / 1000)."""
    for code, band_hz in ((1, 184.0), (4, 21.0)):
        bus, chip = inertial(noisy_feed(20.0), low_pass=code, rate_hz=100, acc_range=0)
        values = []
        for time_us in range(10_000, 20_000_000, 10_000):
            bus.time_us = time_us
            values.append(chip.read().acc[0])
        k = 1.0 - np.exp(-2.0 * np.pi * band_hz / 1000.0)
        expected = 0.05 * np.sqrt(k / (2.0 - k)) * 16384 / G
        # five standard deviations of a sample sigma; neighbours at 21 Hz are correlated by 0.27
        assert abs(np.std(values) / expected - 1.0) < 5.0 * 1.3 / np.sqrt(2.0 * len(values))


def test_asleep_it_measures_nothing_and_a_reset_puts_it_to_sleep() -> None:
    bus, chip = inertial(steady())
    bus.time_us = 50_000
    assert chip.ready()
    chip.sleep()
    bus.time_us = 500_000
    assert not chip.ready()
    bus.write(0x68, bytes((0x6B, 0x80)))
    assert bus.read(0x68, 0x6B, 1) == b"\x40"
    assert chip.read().acc == (0, 0, 0)


def test_the_fifo_keeps_whole_samples_in_order_and_reports_overflow() -> None:
    bus, chip = inertial(noisy_feed(10.0))
    bus.time_us = 10_000
    chip.start_fifo()
    bus.time_us = 310_000
    found, overflow = chip.read_fifo()
    assert len(found) == 30 and not overflow
    assert found[-1] == chip.read()
    bus.time_us += 10_000 * (FIFO_BYTES // 14 + 5)
    assert chip.read_fifo() == ([], True)
    bus.time_us += 20_000
    assert len(chip.read_fifo()[0]) == 2


@pytest.mark.parametrize(("response", "passes"), [(1.0, True), (0.8, False)])
def test_the_self_test_shows_a_part_that_has_changed(response: float, passes: bool) -> None:
    bus = VirtualBus({0x68: VirtualMpu6050(steady(), response=response)})
    chip = Mpu6050(bus)
    chip.set_up(2, 0, 3, 100)
    readings = []
    for on in (False, True):
        chip.self_test(on)
        bus.time_us += 100_000
        readings.append(chip.read())
    change = self_test_change(*readings, chip.trim())
    assert all(abs(c - (response - 1.0)) < 1e-3 for c in change)  # rounding to counts
    assert all(abs(c) <= 0.14 for c in change) == passes


def test_the_qmc5883l_reads_little_endian_counts_of_its_range() -> None:
    for code, per_gauss in ((0, 12000), (1, 3000)):
        bus = VirtualBus({0x0D: VirtualQmc5883l(steady(mag=(20.0, -10.0, -45.0)))})
        chip = Qmc5883l(bus)
        assert chip.identity() == b"\xff\0\0"
        chip.set_up(code, 3, 0)
        assert chip.read() is None
        bus.time_us = 5_000
        reading = chip.read()
        assert reading is not None
        assert reading.mag == tuple(round(x * per_gauss / 100.0) for x in (20.0, -10.0, -45.0))
        assert not reading.wrong and chip.read() is None  # reading has cleared data-ready


def test_the_qmc5883l_has_the_rate_it_was_set_to_and_reports_overflow() -> None:
    bus = VirtualBus({0x0D: VirtualQmc5883l(steady(mag=(300.0, 0.0, 0.0)))})
    chip = Qmc5883l(bus)
    for code, rate_hz in enumerate((10, 50, 100, 200)):
        chip.set_up(0, code, 0)
        first_us = bus.time_us
        readings = []
        for time_us in range(first_us, first_us + 1_000_001, 1000):
            bus.time_us = time_us
            readings.append(chip.read())
        found = [r for r in readings if r is not None]
        assert len(found) == rate_hz
        assert all(r.wrong for r in found)


def test_the_hmc5883l_has_its_axes_in_the_order_x_z_y_and_a_self_test() -> None:
    bus = VirtualBus({0x1E: VirtualHmc5883l(steady(mag=(20.0, -10.0, -45.0)))})
    chip = Hmc5883l(bus)
    assert chip.identity() == b"H43"
    chip.set_up(1, 6, 3)
    bus.time_us = 20_000
    reading = chip.read()
    assert reading is not None and reading.mag == tuple(round(x * 10.9) for x in (20.0, -10.0, -45.0))
    raw = bus.read(0x1E, 0x03, 6)
    assert raw is not None and int.from_bytes(raw[2:4], "big", signed=True) == reading.mag[2]
    chip.set_up(5, 6, 3, bias=1)
    bus.time_us = 60_000
    tested = chip.read()
    assert tested is not None
    added = np.array(tested.mag) / 390.0 - np.array([0.2, -0.1, -0.45])
    np.testing.assert_allclose(added, [1.16, 1.16, 1.08], atol=0.5 / 390.0)  # half a count
    chip.set_up(0, 6, 3, bias=1)
    bus.time_us = 100_000
    beyond = chip.read()
    assert beyond is not None and beyond.wrong is (HMC_OVERFLOW in beyond.mag)


def test_fakes_are_recognised() -> None:
    for identity, name in ((0x68, "MPU-6050"), (0x98, "MPU-6050 clone"), (0x70, "MPU-6500"), (0x12, "unknown (0x12)")):
        found = find_inertial(VirtualBus({0x69: VirtualMpu6050(steady(), identity)}))
        assert (found.address, found.identity[0]) == (0x69, identity)
        shown, warning = inertial_name(found.kind, identity)
        assert shown == name and (warning is None) == (identity == 0x68)
    for chip, address, kind in (
        (VirtualQmc5883l(steady()), 0x0D, QMC5883L),
        (VirtualHmc5883l(steady()), 0x1E, HMC5883L),
        (VirtualQmc5883p(), 0x2C, QMC5883P),
    ):
        found = find_magnetometer(VirtualBus({address: chip}))
        assert (found.kind, found.address) == (kind, address)
    assert "sold as HMC5883L" in str(magnetometer_name(QMC5883L, b"\xff\0\0")[1])
    assert magnetometer_name(HMC5883L, b"H43")[1] is None


def test_a_stuck_bus_is_an_error_of_the_driver() -> None:
    bus, chip = inertial(steady())
    bus.stuck.add(0x68)
    with pytest.raises(I2cError):
        chip.read()

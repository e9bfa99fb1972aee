"""Specimens of parts: they differ as the data sheets say, and by their seed alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from strapdown.errors import InputError
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import Part, catalogue, load_part
from strapdown.sensors.parts.units import to_si
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import FLICKER_FLOOR, Triad
from strapdown.types import Recording

PARTS = catalogue()


@pytest.fixture(scope="module")
def many():
    """500 specimens of the MPU-6050."""
    part = load_part("MPU-6050")
    return [part.draw(seed) for seed in range(500)]


def test_limits_of_mpu6050_and_qmc5883l(many):
    """The limits of the ready preset, from the sigma of 500 specimens.

    A sigma of n numbers is known to 1/sqrt(2n): 3.2 % for one axis, 1.8 % for three; five of these allowed, and
    the print rounding of two or three digits.
    """
    part = load_part("QMC5883L")
    qmc = [part.draw(seed).magnetometer for seed in range(500)]

    def limit(values):
        return 3.0 * np.std(values) / _deviation_of_cut_normal()

    bias = np.array([s.accelerometer.bias for s in many])
    warm = np.array([s.accelerometer.temperature_bias[0] for s in many])
    assert limit(bias[:, :2]) == pytest.approx(0.490, rel=0.11)
    assert limit(bias[:, 2]) == pytest.approx(0.785, rel=0.16)
    assert limit(warm[:, :2]) == pytest.approx(7.6e-3, rel=0.12)
    assert limit(warm[:, 2]) == pytest.approx(13e-3, rel=0.18)
    assert limit([s.gyroscope.bias for s in many]) == pytest.approx(0.349, rel=0.09)
    assert limit([s.gyroscope.temperature_bias[0] for s in many]) == pytest.approx(5.4e-3, rel=0.10)
    assert limit([s.accelerometer.temperature_scale[0] for s in many]) == pytest.approx(0.02e-2, rel=0.09)
    assert limit([s.gyroscope.temperature_scale[0] for s in many]) == pytest.approx(0.031e-2, rel=0.10)
    assert limit([np.diag(s.gyroscope.matrix) - 1.0 for s in many]) == pytest.approx(0.03, rel=0.09)
    assert limit([s.gyroscope.matrix[0][1] for s in many]) == pytest.approx(0.02, rel=0.16)
    # printed as typ: one sigma
    assert limit([np.diag(s.gyroscope.g_sensitivity) for s in many]) / 3 == pytest.approx(1.78e-4, rel=0.09)
    assert limit([m.bias for m in qmc]) == pytest.approx(1.0, rel=0.09)
    assert limit([m.matrix[0][1] for m in qmc]) == pytest.approx(math.sin(math.radians(1.0)), rel=0.16)


def _deviation_of_cut_normal():
    """Of a standard normal cut at three sigmas."""
    density = math.exp(-4.5) / math.sqrt(2.0 * math.pi)
    return math.sqrt(1.0 - 6.0 * density / (1.0 - 2.0 * ndtr(-3.0)))


def test_specimens_are_within_bounds_and_distributed_as_stated(many):
    bound = 20.0 * math.pi / 180.0
    bias = np.ravel([specimen.gyroscope.bias for specimen in many])
    assert np.abs(bias).max() <= bound
    # Kolmogorov-Smirnov: exceeded with chance 2 exp(-2 * 2.3^2) = 5e-5
    z = np.sort(3.0 * bias / bound)
    expected = (ndtr(z) - ndtr(-3.0)) / (1.0 - 2.0 * ndtr(-3.0))
    steps = np.arange(len(z) + 1) / len(z)
    distance = max((steps[1:] - expected).max(), (expected - steps[:-1]).max())
    assert distance < 2.3 / math.sqrt(len(z))
    # axes are independent: a correlation of 500 pairs beyond 5 sigmas has chance 6e-7
    assert np.abs(np.corrcoef(bias.reshape(-1, 3).T) - np.eye(3)).max() < 5.0 / math.sqrt(500)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_every_part_draws_specimens_within_its_data_sheet(part):
    for instrument in part.instruments:
        sheet = getattr(part.file, instrument)
        for seed in range(15):
            specimen = part.draw(seed)
            triad = getattr(specimen, instrument)
            assert isinstance(triad, Triad)
            assert triad.full_scale > triad.resolution >= 0.0
            assert min(triad.white) > 0.0  # a part without noise would be a lie
            if sheet.offset is not None and sheet.offset.unit != "LSB":
                limit = to_si(1.0, sheet.offset.unit) * np.array(sheet.offset.all())
                assert (np.abs(triad.bias) <= limit * (3.0 if sheet.offset.kind == "typ" else 1.0)).all()
            if sheet.scale_tolerance is not None:
                limit = to_si(max(sheet.scale_tolerance.all()), sheet.scale_tolerance.unit)
                assert np.abs(np.diag(triad.matrix) - 1.0).max() <= limit * (1.0 + 1e-12)
        for chosen in sheet.ranges.all():  # every range has its own full scale
            triad = getattr(part.draw(1, {instrument: chosen}), instrument)
            printed = to_si(chosen, sheet.ranges.unit)
            # 16 bits end 0.1 % before the range (32767 of 32800 LSB), the BMM150's 13 bits 5.5 %
            assert (0.94 if sheet.bits is not None else 0.998) * printed < triad.full_scale <= printed


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_saturated_counts_fit_the_register(part):
    """Far beyond its range a part gives the largest number of its register, 32767 for 16 bits, and never one more."""
    for instrument in part.instruments:
        sheet = getattr(part.file, instrument)
        bits = 16 if sheet.bits is None else min(sheet.bits.all())
        for chosen in sheet.ranges.all():
            triad = getattr(part.draw(1, {instrument: chosen}), instrument)
            far = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]]) * 10.0 * triad.full_scale
            force = np.zeros((2, 3))
            out = measure(triad, [0.0, 0.01], far, stream=seed_of(1), specific_force=force)
            assert out.saturated.all()
            assert out.counts is None or np.abs(out.counts).max() <= 2 ** (int(bits) - 1) - 1
    mpu = load_part("MPU-6050").nominal({"accelerometer": 2.0, "gyroscope": 2000.0})
    for triad in mpu.triads().values():
        out = measure(triad, [0.0, 0.01], np.full((2, 3), 1e3), stream=seed_of(1))
        assert np.all(out.counts == 32767)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_temperature_far_outside_is_refused(part):
    """Every part has limits: read on its data sheet, or the usual industrial range and then marked as unverified."""
    limits = part.file.temperature_limits
    assert limits.source != "memory" or set(limits.statuses()) == {"unverified"}
    for triad in part.nominal().triads().values():
        for celsius in (-60.0, 200.0):
            with pytest.raises(InputError, match="outside the sensor's limits"):
                measure(triad, [0.0, 0.01], np.zeros((2, 3)), stream=seed_of(1), temperature_c=celsius)


def test_a_nonlinearity_bends_to_either_side(many):
    for instrument, printed in (("accelerometer", 0.005), ("gyroscope", 0.002)):
        bent = np.ravel([getattr(specimen, instrument).nonlinearity for specimen in many])
        np.testing.assert_allclose(np.abs(bent), printed, rtol=1e-12)  # typ: the size is taken as printed
        assert abs(np.mean(bent > 0.0) - 0.5) < 5.0 * 0.5 / math.sqrt(len(bent))
    limited = np.ravel([load_part("BMI088").draw(seed).gyroscope.nonlinearity for seed in range(100)])  # a bound
    assert limited.min() < 0.0 < limited.max() and np.abs(limited).max() <= 5e-4
    assert min(load_part("MPU-6050").nominal().gyroscope.nonlinearity) > 0.0


def test_a_change_over_temperature_stays_within_its_limit_at_both_ends(many):
    """MPU-6050: +-20 deg/s from -40 to 85 degC."""
    slopes = np.array([specimen.gyroscope.temperature_bias[0] for specimen in many])
    for celsius in (-40.0, 85.0):
        assert np.abs(slopes * (celsius - 25.0)).max() <= math.radians(20.0)


def test_degrees_are_not_turned_to_radians_twice():
    """As in ahrs: from the printed number to the reading, 20 deg/s are 0.349 rad/s, by hand."""
    part = load_part("MPU-6050")
    gyr = part.nominal({"gyroscope": 500.0}).gyroscope
    assert gyr.full_scale == pytest.approx(8.7266462599716, rel=1e-12)  # 500 pi / 180
    assert gyr.resolution == pytest.approx(2.6646248122050e-4, rel=1e-12)  # pi / 180 / 65.5
    assert gyr.white[0] == pytest.approx(6.1706707437e-05, rel=1e-9)  # 0.005 pi / 180 / sqrt(2)
    turn = np.full((2, 3), 0.34906585)  # 20 deg/s
    read = measure(replace(gyr, white=(0.0,) * 3, instability=(0.0,) * 3, nonlinearity=(0.0,) * 3), [0.0, 0.01], turn,
                   stream=seed_of(1))  # fmt: skip
    assert np.all(read.counts == 1310)  # 20 * 65.5
    np.testing.assert_allclose(read.values, turn, atol=0.5 * gyr.resolution)


def test_noise_configured_is_in_the_recording_not_the_truth():
    """RotorPy configures noise and uses the truth: here noise times 100 is a hundred times the error of the log."""
    t, level = np.arange(2000) / 100.0, np.array([0.0, 0.0, 9.81])
    ideal = Recording(t, acc_s=np.tile(level, (2000, 1)))
    n = load_part("ADXL335").nominal().accelerometer.white

    def error(times):
        triad = Triad("m/s2", white=[times * x for x in n])
        return Module("imu", {"accelerometer": triad}, seed=4).measure(ideal, 100.0).acc_s - level

    np.testing.assert_allclose(error(100.0), 100.0 * error(1.0), atol=1e-11)  # roundoff of 9.81
    scatter = error(1.0).std(axis=0) / (np.array(n) * 10.0)  # N sqrt(100 Hz)
    assert np.all(np.abs(scatter - 1.0) < 5.0 / math.sqrt(2.0 * 2000))


def test_same_seed_same_bits_and_other_seeds_differ():
    part = load_part("MPU-9250")
    assert part.draw(3) == part.draw(3)
    assert part.draw(3).gyroscope.bias != part.draw(4).gyroscope.bias
    assert part.draw(3, {"gyroscope": 2000.0}).gyroscope.bias == part.draw(3).gyroscope.bias  # the same specimen
    assert part.draw(3).accelerometer.bias[0] / 0.6 != load_part("MPU-6050").draw(3).accelerometer.bias[0] / 0.5


def test_no_instrument_or_number_moves_another():
    part = load_part("MPU-9250")
    whole = part.draw(5)
    without = Part(part.file.model_copy(update={"magnetometer": None}), part.path).draw(5)
    assert without.accelerometer == whole.accelerometer and without.gyroscope == whole.gyroscope
    gyroscope = part.file.gyroscope.model_copy(update={"scale_tolerance": None})
    fewer = Part(part.file.model_copy(update={"gyroscope": gyroscope}), part.path).draw(5)
    assert fewer.gyroscope.bias == whole.gyroscope.bias


def test_nominal_part_has_noise_and_no_tolerances():
    part = load_part("BMI088").nominal(rate_hz=200.0)
    assert part.seed is None
    assert part.gyroscope.bias == (0.0, 0.0, 0.0)
    assert part.gyroscope.matrix == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    assert part.gyroscope.bandwidth_hz == 100.0
    assert part.accelerometer.white[2] / part.accelerometer.white[0] == pytest.approx(190 / 160, rel=1e-12)
    # a known sign is no tolerance: the HMC5883L loses 0.3 %/degC
    assert load_part("HMC5883L").nominal().magnetometer.temperature_scale == ((-0.003, -0.003, -0.003),)


def test_in_run_bias_is_the_allan_floor_and_random_walk_is_n():
    gyr = load_part("ADIS16470").nominal().gyroscope
    deg_h = math.pi / 180.0 / 3600.0
    assert FLICKER_FLOOR * gyr.instability[0] == pytest.approx(8.0 * deg_h, rel=1e-12)
    assert gyr.white[0] == pytest.approx(0.34 * math.pi / 180.0 / 60.0, rel=1e-12)
    # the same part's density, one-sided, states the same N: 0.008 and 0.34 are printed with two digits
    assert 0.008 * math.pi / 180.0 / math.sqrt(2.0) == pytest.approx(gyr.white[0], rel=0.02)


def test_magnetometer_axes_are_a_rotation():
    for name in ("MPU-9250", "ICM-20948"):
        axes = np.array(load_part(name).draw(0).magnetometer_axes)
        assert np.array_equal(axes @ axes.T, np.eye(3)) and np.linalg.det(axes) == pytest.approx(1.0)

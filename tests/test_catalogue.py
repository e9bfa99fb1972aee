"""The catalogue: every number has its provenance, agrees with the data sheets, and specimens differ as these say."""

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from helpers import write
from strapdown.errors import InputError
from strapdown.sensors.error_chain import measure
from strapdown.sensors.module import Module
from strapdown.sensors.part import CATALOGUE, Part, catalogue, load_part
from strapdown.sensors.part_file import part_file_from, read_part_file
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import FLICKER_FLOOR, Triad
from strapdown.sensors.units import UNITS, per_degree, to_si, unit, units_of
from strapdown.types import Recording

FILES = sorted(CATALOGUE.glob("*.toml"))
PARTS = catalogue()
ASKED_FOR = [
    "MPU-6050",
    "MPU-9250",
    "ICM-20948",
    "ICM-42688-P",
    "BMI088",
    "BMI160",
    "BNO055",
    "LSM6DSO",
    "LSM9DS1",
    "ADXL335",
    "ADIS16470",
    "ADIS16465",
    "ADIS16505",
    "MTi-3",
    "MTi-G-710",
    "VN-100",
    "QMC5883L",
    "QMC5883P",
    "HMC5883L",
    "LIS3MDL",
    "BMM150",
    "IST8310",
    "RM3100",
]

# written by hand from the data sheets: part, instrument, number, values, unit; all verified there
VERIFIED = [
    ("MPU-6050", "gyroscope", "noise_density", (0.005,), "deg/s/rtHz"),
    ("MPU-6050", "accelerometer", "offset", (50, 50, 80), "mg"),
    ("MPU-6050", "gyroscope", "sensitivity", (131, 65.5, 32.8, 16.4), "LSB/(deg/s)"),
    ("MPU-6050", "gyroscope", "g_sensitivity", (0.1,), "deg/s/g"),
    ("MPU-9250", "accelerometer", "noise_density", (300,), "ug/rtHz"),
    ("MPU-9250", "gyroscope", "offset", (5,), "deg/s"),
    ("MPU-9250", "magnetometer", "ranges", (4800,), "uT"),
    ("ICM-20948", "accelerometer", "noise_density", (230,), "ug/rtHz"),
    ("ICM-20948", "magnetometer", "offset", (2000,), "LSB"),
    ("ICM-42688-P", "gyroscope", "noise_density", (0.0028,), "deg/s/rtHz"),
    ("ICM-42688-P", "gyroscope", "offset_temperature", (0.005,), "deg/s/K"),
    ("BMI088", "accelerometer", "sensitivity", (10920, 5460, 2730, 1365), "LSB/g"),
    ("BMI088", "gyroscope", "scale_temperature", (0.03,), "%/K"),
    ("BMI160", "gyroscope", "offset", (3,), "deg/s"),
    ("LSM6DSO", "accelerometer", "noise_rms", (1.8, 2.0, 2.4, 3.0), "mg"),
    ("LSM9DS1", "magnetometer", "sensitivity", (0.14, 0.29, 0.43, 0.58), "mG/LSB"),
    ("ADXL335", "accelerometer", "sensitivity", (300,), "mV/g"),
    ("ADIS16470", "gyroscope", "in_run_bias", (8,), "deg/h"),
    ("ADIS16465-1", "gyroscope", "random_walk", (0.15,), "deg/rth"),
    ("ADIS16465-2", "accelerometer", "in_run_bias", (3.6,), "ug"),
    ("MTi-3", "gyroscope", "in_run_bias", (10,), "deg/h"),
    ("HMC5883L", "magnetometer", "sensitivity", (1370, 1090, 820, 660, 440, 390, 330, 230), "LSB/G"),
    ("RM3100", "magnetometer", "sensitivity", (75,), "LSB/uT"),
]


@pytest.fixture(scope="module")
def many():
    """500 specimens of the MPU-6050."""
    part = load_part("MPU-6050")
    return [part.draw(seed) for seed in range(500)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_number_has_its_provenance(path):
    part = read_part_file(path)
    numbers = list(part.numbers())
    assert len(numbers) >= 5
    assert path.stem == part.name.lower()
    for table, name, number in numbers:
        assert number.unit in UNITS, (table, name)
        assert set(number.statuses()) <= {"verified", "unverified", "estimated"}
        assert number.kind in ("typ", "max", "bound")
        assert number.source
        if "estimated" in number.statuses():
            assert number.note and number.source == "Strapdown", (table, name)
        elif number.source == "memory":
            assert set(number.statuses()) == {"unverified"} and number.page is None
    # all the numbers of the file were seen: nothing stands beside the format
    text = path.read_text(encoding="utf-8")
    assert text.count("kind = ") == len(numbers) + text.count("rows = ")


def test_all_parts_are_there():
    assert len(PARTS) >= 20
    for name in ASKED_FOR:
        assert load_part(name).name.startswith(name)


@pytest.mark.parametrize(("part", "instrument", "name", "values", "unit_name"), VERIFIED)
def test_verified_numbers(part, instrument, name, values, unit_name):
    number = getattr(getattr(load_part(part).file, instrument), name)
    assert number.all() == tuple(float(v) for v in values)
    assert number.unit == unit_name
    assert set(number.statuses()) == {"verified"}
    assert number.source != "memory"


def test_mpu6050_and_qmc5883l_in_si():
    """The ready preset: MATLAB's names, printed with three or four digits."""
    mpu = load_part("MPU-6050").nominal()
    acc, gyr = mpu.accelerometer, mpu.gyroscope
    mag = load_part("QMC5883L").nominal().magnetometer
    assert (acc.full_scale, gyr.full_scale, mag.full_scale) == pytest.approx(
        (19.6127, 4.36332, 200.0), rel=2e-6
    )  # 32767 LSB
    assert (acc.resolution, gyr.resolution, mag.resolution) == pytest.approx((5.9855e-4, 1.3323e-4, 8.333e-3), rel=5e-5)
    density = math.sqrt(2.0) * np.array([acc.white[0], gyr.white[0], mag.white[0]])
    assert density == pytest.approx([3.923e-3, 8.727e-5, 0.04], rel=2e-4)


def test_limits_of_mpu6050_and_qmc5883l(many):
    """The limits of the ready preset, from the deviation of 500 specimens.

    A deviation of n numbers is known to 1/sqrt(2n): 3.2 % for one axis, 1.8 % for three; five of these allowed, and
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
    # printed as typ: one deviation
    assert limit([np.diag(s.gyroscope.g_sensitivity) for s in many]) / 3 == pytest.approx(1.78e-4, rel=0.09)
    assert limit([m.bias for m in qmc]) == pytest.approx(1.0, rel=0.09)
    assert limit([m.matrix[0][1] for m in qmc]) == pytest.approx(math.sin(math.radians(1.0)), rel=0.16)


def _deviation_of_cut_normal():
    """Of a standard normal cut at three deviations."""
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
    # axes are independent: a correlation of 500 pairs beyond 5 deviations has chance 6e-7
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
    # the same part's density, one-sided, tells the same N: 0.008 and 0.34 are printed with two digits
    assert 0.008 * math.pi / 180.0 / math.sqrt(2.0) == pytest.approx(gyr.white[0], rel=0.02)


def test_magnetometer_axes_are_a_rotation():
    for name in ("MPU-9250", "ICM-20948"):
        axes = np.array(load_part(name).draw(0).magnetometer_axes)
        assert np.array_equal(axes @ axes.T, np.eye(3)) and np.linalg.det(axes) == pytest.approx(1.0)


def test_rates_and_bandwidth():
    part = load_part("MPU-6050")
    assert part.draw(0).gyroscope.bandwidth_hz == 256.0
    assert part.draw(0, rate_hz=100.0).gyroscope.bandwidth_hz == 50.0
    assert part.draw(0, rate_hz=6.0).gyroscope.bandwidth_hz == 5.0  # its lowest
    with pytest.raises(InputError, match="cannot give 2000 Hz: its accelerometer ends at 1000 Hz"):
        part.draw(0, rate_hz=2000.0)
    assert load_part("MPU-9250").draw(0, rate_hz=1000.0).magnetometer is not None  # it keeps its own 100 Hz
    with pytest.raises(InputError, match="its magnetometer ends at 200 Hz"):
        load_part("QMC5883L").draw(0, rate_hz=400.0)


@pytest.mark.parametrize("name", ["mpu6050", "MPU 6050", "Mpu-6050", "GY-521"])
def test_names_are_forgiving(name):
    assert load_part(name).name == "MPU-6050"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: load_part("MPU-6500"), 'part "MPU-6500" is not in the catalogue; did you mean MPU-6050'),
        (lambda: load_part("zzz"), "strapdown sensors lists them"),
        (lambda: load_part("nowhere/part.toml"), "does not exist"),
        (lambda: load_part("MPU-6050").draw(-1), "seed is -1"),
        (lambda: load_part("MPU-6050").draw(1.5), "seed is 1.5"),
        (lambda: load_part("MPU-6050").draw(1, 4.0), "give the range by name"),
        (lambda: load_part("MPU-6050").draw(1, {"accelerometer": 3.0}), "valid: 2, 4, 8, 16"),
        (lambda: load_part("MPU-6050").draw(1, {"magnetometer": 2.0}), 'MPU-6050 has no "magnetometer"'),
        (lambda: load_part("MPU-6050").draw(1, rate_hz=float("nan")), "rate_hz is nan"),
    ],
)
def test_wrong_use_is_one_sentence(call, sentence):
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "name", "si"),
    [
        (400.0, "ug/rtHz", 3.92266e-3),
        (250.0, "deg/s", 4.36332312998582),
        (8.0, "deg/h", 3.87850944887629e-05),
        (0.34, "deg/rth", 9.89019909463453e-05),
        (0.037, "m/s/rth", 6.16666666666667e-4),
        (16384.0, "LSB/g", 16384.0 / 9.80665),
        (131.0, "LSB/(deg/s)", 131.0 * 180.0 / math.pi),
        (70.0, "mdps/LSB", 1.22173047639603e-3),
        (12000.0, "LSB/G", 120.0),
        (2.0, "mG", 0.2),
        (0.1, "deg/s/g", 1.77974053524326e-4),
        (140.0, "uG/rtHz", 0.014),
        (3.0, "%", 0.03),
        (25.0, "ppm", 2.5e-5),
        (1.5, "mg/degC", 0.014709975),
        (1.0, "deg", 0.0174532925199433),
    ],
)
def test_units(value, name, si):
    assert to_si(value, name) == pytest.approx(si, rel=1e-13, abs=0.0)  # hand-computed with fifteen digits


def test_units_that_are_not_known():
    assert UNITS["g"] != UNITS["G"]  # gravity and gauss
    with pytest.raises(InputError, match="did you mean uT"):
        unit("ut")
    assert units_of("rate")[0] == "rad/s"
    assert per_degree(20.0, (-40.0, 85.0)) == pytest.approx(20.0 / 65.0)  # the cold end is farther from 25 degC
    assert per_degree(35.0, (0.0, 70.0)) == pytest.approx(35.0 / 45.0)


GOOD = """
format = "strapdown part 1"
name = "Mine"
maker = "me"
group = "magnetometer"
character = "my own"
[magnetometer]
ranges = { value = 8, unit = "G", kind = "typ", status = "verified", source = "my bench" }
sensitivity = { value = 3000, unit = "LSB/G", kind = "typ", status = "verified", source = "my bench" }
noise_density = { value = 0.04, unit = "uT/rtHz", kind = "typ", status = "estimated", source = "me", note = "a guess" }
"""


def test_user_file(tmp_path):
    triad = load_part(write(tmp_path, "mine.toml", GOOD)).draw(1).magnetometer
    assert triad.full_scale == 800.0
    assert triad.resolution == pytest.approx(1.0 / 30.0)


_SURE = "field \"magnetometer.ranges.status\" is 'sure': input should be 'verified', 'unverified' or 'estimated'"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('unit = "G"', 'unit = "g"', '"magnetometer.ranges" has unit "g"; valid: uT'),
        ('unit = "G", ', "", 'field "magnetometer.ranges.unit" is missing'),
        ("value = 8", "value = -8", '"magnetometer.ranges" is -8; give numbers above 0'),
        ("value = 0.04", "value = -0.04", '"magnetometer.noise_density" is -0.04; give numbers that are not negative'),
        ("value = 3000", "value = 0.1", "full_scale 800 uT is not above the resolution 1000 uT"),
        ("sensitivity", "sensitiviti", 'field "magnetometer.sensitiviti" is not known; valid names: chip, ranges'),
        ('name = "Mine"', 'nam = "Mine"', 'field "name" is missing'),
        (', note = "a guess"', "", "is estimated and has no note"),
        ('"my bench"', '"memory"', "is verified from memory"),
        ("value = 8", "value = nan", "magnetometer.ranges.value"),
        ("value = 8", 'value = "8"', "magnetometer.ranges.value"),
        ("value = 8", "values = [8, 8.0], value = 8", "needs either value or values"),
        ("[magnetometer]", "[magnetometre]", 'field "magnetometre" is not known'),
        ("strapdown part 1", "strapdown part 9", 'field "format"'),
        ('status = "verified", source = "my bench" }\nsen', 'status = "sure", source = "x" }\nsen', f"{_SURE}"),
        (
            "sensitivity =",
            "bits = { value = 80, unit = 'bit', kind = 'typ', status = 'verified', source = 'x' }\nsensitivity =",
            "give whole numbers from 2 to 64",
        ),
        ("name =", "name", "not valid TOML"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, old, new, sentence):
    path = write(tmp_path, "bad.toml", GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_part(path).draw(0)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


_TREES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES}
_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.floats(), max_size=4),
    st.sampled_from([*UNITS, "typ", "max", "bound", "verified", "estimated", "memory"]),
)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), stem=st.sampled_from(sorted(_TREES)))
def test_mutated_files_load_or_are_refused(data, stem):
    """One value or key anywhere in a file replaced, removed or renamed: a specimen, or an InputError."""

    def mutated(tree):
        tree = dict(tree)
        key = data.draw(st.sampled_from(sorted(tree)))
        deeper = isinstance(tree[key], dict) and data.draw(st.integers(0, 4)) > 0
        if deeper:
            tree[key] = mutated(tree[key])
            return tree
        change = data.draw(st.sampled_from(["replace", "remove", "rename", "add"]))
        if change == "replace":
            tree[key] = data.draw(_JUNK)
        elif change == "add":
            tree[data.draw(st.sampled_from(["values", "value", "note", "over_c", "signed", "walk", "x"]))] = data.draw(
                _JUNK
            )
        else:
            value = tree.pop(key)
            if change == "rename":
                tree[data.draw(st.text(max_size=6))] = value
        return tree

    try:
        part = Part(part_file_from(mutated(_TREES[stem]), Path("mutated.toml")), Path("mutated.toml"))
        specimen = part.draw(1)
    except InputError as error:
        assert "\n" not in str(error).replace("\\n", "")
    else:
        assert specimen.triads()

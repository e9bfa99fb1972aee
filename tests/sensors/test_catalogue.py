"""The catalogue: every number has its provenance and agrees with the data sheets."""

import math

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.sensors.parts.part import CATALOGUE, catalogue, load_part
from strapdown.sensors.parts.part_file import read_part_file
from strapdown.sensors.parts.units import UNITS

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
    # all the numbers of the file were seen: nothing stands next to the format
    text = path.read_text(encoding="utf-8")
    measured = sum(getattr(m, name) is not None for m in part.measured.values() for name in type(m).model_fields)
    assert text.count("kind = ") == len(numbers) + measured + text.count("rows = ")


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


def test_measured_noise_is_that_of_the_recorded_log():
    """The static log of one MPU-6050, by our own Allan fit, as the part file states it."""
    from helpers import shared_data
    from strapdown import io
    from strapdown.calibration.noise.static_log import analyse_log
    from strapdown.papers.c.static import COUNTS

    log = io.read_one(shared_data("mpu6050") / "example_data_tinit_calc.csv", columns=COUNTS)
    found = analyse_log(log).instruments
    stated = load_part("MPU-6050").file.measured
    for name, factor in (("accelerometer", 1.0 / 9.80665e-6), ("gyroscope", math.degrees(1.0))):
        density = [math.sqrt(2.0) * factor * fit.noise.white for fit in found[name].fits]  # one-sided
        np.testing.assert_allclose(stated[name].noise_density.all(), density, rtol=0.005)  # print rounding


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"magnetometer": {}}, "an instrument that the part does not have"),
        ({"gyroscope": {"noise_density": {"value": 1.0, "unit": "ug/rtHz"}}}, 'has unit "ug/rtHz"'),
    ],
)
def test_measured_numbers_that_do_not_fit_are_refused(tmp_path, change, words):
    from strapdown.sensors.parts.part_file import part_file_from

    values = load_part("MPU-6050").file.model_dump(mode="json", exclude_none=True)
    about = {"kind": "typ", "status": "verified", "source": "here"}
    for table in change.values():
        for number in table.values():
            number |= about
    with pytest.raises(InputError, match=words):
        part_file_from({**values, "measured": change}, "part.toml")


def test_the_share_from_data_sheets_counts_values():
    part = load_part("MPU-6050").file
    statuses = [status for _, _, number in part.numbers() for status in number.statuses()]
    assert part.data_sheet_share() == statuses.count("verified") / len(statuses) > 0.8


def test_a_specimen_states_which_noise_is_estimated():
    for part in PARTS:
        estimated = part.draw(1).estimated
        for name in part.instruments:
            sheet = getattr(part.file, name)
            density = sheet.random_walk or sheet.noise_density
            assert (f"{name}.white" in estimated) >= (density is not None and density.estimated)
            assert (f"{name}.instability" in estimated) == (
                sheet.in_run_bias is not None and sheet.in_run_bias.estimated
            )
    # the data sheet of the MPU-6050 has its noise, not its bias instability
    assert load_part("MPU-6050").nominal().estimated == {"accelerometer.instability", "gyroscope.instability"}
    board = load_part("MPU-6050").draw(1).with_magnetometer(load_part("QMC5883L").draw(1))
    assert "magnetometer.white" in board.estimated

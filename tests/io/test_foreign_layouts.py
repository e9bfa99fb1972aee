"""Words for units, keys with did-you-mean, ready mappings, and tables without a header."""

import numpy as np
import pytest

from foreign_cases import drive, rfu, table
from helpers import ROOT
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.io import UNITS, read_mapping, read_one
from strapdown.io.foreign.layouts import layout, layouts, recognised
from strapdown.io.foreign.mapping import parse_mapping
from strapdown.io.foreign.unit_words import WORDS, known_unit
from strapdown.recordings.foreign.mapping_guess import guess_mapping


@pytest.mark.parametrize(
    ("column", "word", "unit"),
    [
        ("gyr_x", "dps", "deg/s"),
        ("gyr_x", "degps", "deg/s"),
        ("gyr_x", "°/s", "deg/s"),
        ("gyr_x", "deg per second", "deg/s"),
        ("gyr_x", "rad/sec", "rad/s"),
        ("gyr_x", "mdps", "mdeg/s"),
        ("t", "msec", "ms"),
        ("t", "millis", "ms"),
        ("t", "µs", "us"),
        ("t", "micros", "us"),
        ("acc_x", "m/s^2", "m/s2"),
        ("acc_x", "m/s²", "m/s2"),
        ("acc_x", "G", "g"),
        ("acc_x", "milli-g", "mg"),
        ("mag_x", "µT", "uT"),
        ("mag_x", "Gauss", "G"),
        ("mag_x", "mGauss", "mG"),
        ("temperature", "°C", "degC"),
        ("temperature", "Celsius", "degC"),
    ],
)
def test_words_for_units(column, word, unit):
    _, found = parse_mapping({column: {"column": "a", "unit": word}})[column]
    assert found == UNITS[unit]


def test_a_word_has_one_meaning_for_each_quantity():
    for quantity, units in WORDS.items():
        words = [word for name, each in units.items() for word in (name.lower(), *each)]
        assert len(set(words)) == len(words), quantity
        for name, each in units.items():
            assert UNITS[name].si == quantity and all(UNITS[known_unit(word, quantity)] == UNITS[name] for word in each)


def test_milli_units_against_their_definition():
    assert UNITS["mdeg/s"].convert(np.array([180e3]))[0] == pytest.approx(np.pi, rel=1e-15)
    assert UNITS["mG"].convert(np.array([10.0]))[0] == 1.0
    assert UNITS["cm"].convert(np.array([100.0]))[0] == 1.0


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"accel_x": "ax"}, "did you mean acc_x?"),
        ({"gyroX": "gx"}, "did you mean gyr_x?"),
        ({"time": "ms"}, "did you mean t?"),
        ({"temp": "T"}, "did you mean temperature?"),
        ({"acc_q": "ax"}, "did you mean acc_"),
        ({"acc_x": {"colum": "ax"}}, "did you mean column?"),
        ({"acc_x": {"column": "ax", "units": "g"}}, "did you mean unit?"),
        ({"acc_x": {"column": "ax", "sensitivity": 16384}}, "did you mean counts_per_unit?"),
        ({"axes": "frd", "t": "time"}, "did you mean frame?"),
        ({"zzzz": "ax"}, "our columns are sensor, t, gyr_x"),
    ],
)
def test_a_wrong_key_gets_what_was_meant(mapping, sentence):
    with pytest.raises(InputError) as caught:
        parse_mapping(mapping)
    assert sentence in str(caught.value)


def test_every_ready_mapping_is_valid_and_states_its_source():
    names = [each.name for each in layouts()]
    for wanted in ("phyphox", "sensor-logger-gyroscope", "physics-toolbox", "xsens-mt", "mpu6050-raw"):
        assert wanted in names
    for each in layouts():
        parse_mapping(each.columns)
        assert len(each.source) > 40 and read_mapping(each.name) == each.columns
    with pytest.raises(InputError, match='no ready mapping is called "phypox"; valid: broad-mat, mpu6050-adafruit'):
        layout("phypox")


def _written(name, folder):
    """A file as the app writes it, of the drive, and the fields it should give."""
    log = drive()
    g = STANDARD_GRAVITY
    acc, gyr, mag, t = rfu(log.acc_s), rfu(log.gyr_s), rfu(log.mag_s), log.t
    if name == "phyphox":
        names = ["Time (s)", *(f"Acceleration {a} (m/s^2)" for a in "xyz"), *(f"Gyroscope {a} (rad/s)" for a in "xyz")]
        return table(folder / "Raw Data.csv", ",".join(f'"{n}"' for n in names), [t, acc, gyr], "%.9E"), ("acc", "gyr")
    if name == "physics-toolbox":
        return table(folder / "a.csv", "time,gFx,gFy,gFz,wx,wy,wz,Bx,By,Bz", [t, acc / g, gyr, mag]), (
            "acc",
            "gyr",
            "mag",
        )
    if name == "sensor-logger-gyroscope":
        columns = [t * 1e9 + 1.7e18, t, gyr[:, ::-1]]
        return table(folder / "Gyroscope.csv", "time,seconds_elapsed,z,y,x", columns), ("gyr",)
    if name == "xsens-mt":
        head = "// General information:\n//  MT Manager version: 2022.2.0\n// Coordinate system: ENU\n"
        names = ["PacketCounter", "SampleTimeFine", *(f"{w}_{a}" for w in ("Acc", "Gyr", "Mag") for a in "XYZ"), "Yaw"]
        zero = np.zeros(len(t))
        columns = [np.arange(len(t)), np.round(t * 1e4), log.acc_s, log.gyr_s, log.mag_s / 50.0, zero]
        return table(folder / "MT_1.txt", "\t".join(names), columns, "%.6f", "\t", head), ("acc", "gyr", "mag")
    counts = [np.round(log.acc_s / g * 16384), np.round(np.degrees(log.gyr_s) * 131)]
    if name == "mpu6050-i2cdevlib":
        rows = "\n".join("a/g:\t" + "\t".join(map(str, row)) for row in np.hstack(counts).astype(int))
        path = folder / "monitor.txt"
        path.write_text("Initializing I2C devices...\nTesting device connections...\n" + rows + "\n", encoding="utf-8")
        return path, ("acc", "gyr")
    assert name == "mpu6050-raw"
    columns = [1e3 * t, *counts]
    return table(folder / "raw.csv", "time,ax,ay,az,gx,gy,gz", columns, "%d"), ("acc", "gyr")


@pytest.mark.parametrize(
    "name", ["phyphox", "physics-toolbox", "sensor-logger-gyroscope", "xsens-mt", "mpu6050-i2cdevlib", "mpu6050-raw"]
)
def test_a_ready_mapping_reads_what_the_app_writes(name, tmp_path):
    path, quantities = _written(name, tmp_path)
    log, read = drive(), read_one(path, columns=read_mapping(name))
    # print rounding: 6 digits, or half a count
    roundings = {"acc": 1e-3, "gyr": 2e-4, "mag": 1e-3}
    for quantity in quantities:
        values, ours = getattr(read, f"{quantity}_s"), getattr(log, f"{quantity}_s")
        assert np.abs(values - ours).max() < roundings[quantity]
    rate = 10.0 if name == "mpu6050-i2cdevlib" else 100.0
    assert 1.0 / read.step_s == pytest.approx(rate)
    assert {q for q in ("acc", "gyr", "mag") if getattr(read, f"{q}_s") is not None} == set(quantities)


@pytest.mark.parametrize("field", ["Magnetic field {} (\N{MICRO SIGN}T)", "Magnetic Field {} (\N{MICRO SIGN}T)"])
@pytest.mark.parametrize("micro", ["\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"])
def test_both_spellings_of_the_field_by_phyphox_are_read(field, micro, tmp_path):
    names = ["Time (s)", *(field.format(a).replace("\N{MICRO SIGN}", micro) for a in "xyz")]
    path = table(tmp_path / "Magnetometer.csv", ",".join(f'"{n}"' for n in names), [drive().t, rfu(drive().mag_s)])
    assert recognised(names, path.name) == layout("phyphox")
    read = read_one(path, columns=read_mapping("phyphox"))
    assert np.abs(read.mag_s - drive().mag_s).max() < 1e-3  # print rounding
    guessed = guess_mapping(path)  # what strapdown look states and writes
    assert guessed.unused == () and guessed.columns["frame"] == "rfu"
    assert np.array_equal(read_one(path, columns=guessed.columns).mag_s, read.mag_s)


def test_a_column_of_a_plain_mapping_is_found_by_its_exact_name(tmp_path):
    path = table(tmp_path / "a.csv", "time,AX,AY,AZ", [np.arange(9.0), np.ones((9, 3))])
    with pytest.raises(InputError, match='has no column "ax", which the mapping names for acc_x; the closest is AX'):
        read_one(path, columns={"t": "time", "acc_x": "ax", "acc_y": "ay", "acc_z": "az"})


def test_files_are_recognised_by_their_columns():
    for each in layouts():
        found = recognised(each.column_names(), each.files[0] if each.files else "log.csv")
        assert found == (each if each.by_columns and each.columns.get("header", True) else None)
    assert recognised(["time", "seconds_elapsed", "z", "y", "x"], "Barometer.csv") is None


def test_quantities_of_an_optional_mapping_that_a_file_lacks_are_omitted(tmp_path):
    path = table(tmp_path / "g.csv", '"Time (s)","Gyroscope x (rad/s)","Gyroscope y (rad/s)"', [np.arange(9.0)] * 3)
    with pytest.raises(InputError, match="Acceleration x"):
        read_one(path, columns={**read_mapping("phyphox"), "optional": False})
    with pytest.raises(InputError, match="has no whole quantity of the mapping"):  # two axes are no gyroscope
        read_one(path, columns=read_mapping("phyphox"))
    with pytest.raises(InputError, match="optional is 3 in the column mapping; give true or false"):
        parse_mapping({"t": "time", "acc_x": "ax", "optional": 3})


def test_the_page_lists_every_ready_mapping():
    page = (ROOT / "docs" / "foreign-logs.md").read_text(encoding="utf-8")
    assert [each.name for each in layouts() if f"| `{each.name}` |" not in page] == []

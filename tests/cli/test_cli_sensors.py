"""The commands of the catalogue: tables, JSON, pictures, specimens, and one sentence for every bad input."""

import json
import math
import shutil

import numpy as np
import pytest

from helpers import command
from strapdown.reporting.part_figures import allan_deviation, angle_drift, position_drift
from strapdown.sensors.parts.model_file import read_model
from strapdown.sensors.parts.part import CATALOGUE, load_part
from strapdown.sensors.triad import Triad


def test_list_is_grouped():
    said = command("sensors")
    assert said.code == 0 and said.err == ""
    for text in ("Consumer IMUs", "Tactical IMUs", "Accelerometers", "Magnetometers", "MPU-6050", "QMC5883L"):
        assert text in said.out
    listed = json.loads(command("sensors", "--json").out)
    assert len(listed) >= 20
    assert all(part["character"] and part["instruments"] for part in listed)


def test_show_has_the_provenance():
    said = command("sensors", "show", "mpu9250")
    assert said.code == 0
    for text in ("PS-MPU-9250A-01 r1.0", "6, 8, 9", "verified", "unverified", "estimated", "AK8963", "0x70", "v_imu"):
        assert text in said.out
    shown = json.loads(command("sensors", "show", "MPU-6050", "--json").out)
    density = shown["gyroscope"]["noise_density"]
    assert (density["value"], density["unit"], density["status"], density["page"]) == (
        0.005,
        "deg/s/rtHz",
        "verified",
        "12-14",
    )


def test_compare_table_and_picture(tmp_path):
    picture = tmp_path / "compare.png"
    said = command("sensors", "compare", "MPU-6050", "ADIS16470", "QMC5883L", "-o", picture)
    assert said.code == 0, said.err
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "MPU-6050" in said.out and "drift" in said.out
    rows = json.loads(command("sensors", "compare", "ADIS16470", "RM3100", "--json").out)["parts"]
    assert rows["ADIS16470"]["angle_random_walk_deg_rth"] == pytest.approx(0.34, rel=1e-12)
    assert rows["ADIS16470"]["gyroscope_floor_deg_h"] == pytest.approx(8.0, rel=1e-12)
    assert rows["ADIS16470"]["accelerometer_floor_ug"] == pytest.approx(13.0, rel=1e-12)
    assert rows["RM3100"]["angle_drift_deg"] is None
    assert command("sensors", "compare", "ADXL335", "-o", picture).code == 0  # no gyroscope


def test_drift_formulas_against_summed_noise():
    """Position and angle of 2000 random bodies at rest, integrated step by step; sigmas known to 1.6 %."""
    gyr = Triad("rad/s", white=(2e-4,) * 3, instability=(3e-5,) * 3, walk=(1e-5,) * 3)
    acc = Triad("m/s2", white=(3e-3,) * 3, instability=(1e-3,) * 3, walk=(2e-4,) * 3)
    rng = np.random.default_rng(5)
    bodies, steps, dt = 2000, 1000, 0.03
    floor = math.sqrt(2.0 * math.log(2.0) / math.pi)

    def error(triad):
        white = triad.white[0] / math.sqrt(dt) * rng.standard_normal((steps, bodies))
        walk = np.cumsum(triad.walk[0] * math.sqrt(dt) * rng.standard_normal((steps, bodies)), axis=0)
        return white + walk + floor * triad.instability[0] * rng.standard_normal(bodies)

    angle = np.cumsum(error(gyr) * dt, axis=0)
    position = np.cumsum(np.cumsum((error(acc) + 9.80665 * angle) * dt, axis=0) * dt, axis=0)
    t = steps * dt
    assert np.std(angle[-1]) == pytest.approx(float(angle_drift(t, gyr)), rel=0.08)
    assert np.std(position[-1]) == pytest.approx(float(position_drift(t, acc, gyr)), rel=0.08)
    # Allan deviation: each term alone where it rules
    assert allan_deviation(1e-6, gyr) == pytest.approx(2e-4 / 1e-3, rel=1e-3)
    assert allan_deviation(1e9, gyr) == pytest.approx(1e-5 * math.sqrt(1e9 / 3.0), rel=1e-3)


def test_draw_writes_a_model(tmp_path):
    path = tmp_path / "specimen.toml"
    said = command("sensors", "draw", "MPU-6050", "--seed", 7, "-o", path, "--range", "accelerometer=16", "--rate", 200)
    assert said.code == 0, said.err
    triads, meta = read_model(path)
    assert triads == load_part("MPU-6050").draw(7, {"accelerometer": 16.0}, 200.0).triads()
    assert meta == {
        "part": "MPU-6050",
        "seed": 7,
        "range": {"accelerometer": "16 g", "gyroscope": "250 deg/s"},
        "rate_hz": 200.0,
    }
    shown = json.loads(command("sensors", "draw", "MPU-6050", "--seed", 7, "--json").out)
    assert shown["gyroscope"]["bias"] == list(triads["gyroscope"].bias)
    assert command("sensors", "draw", "MPU-6050", "--seed", 7).out.startswith("format = ")


def test_draw_for_matlab(tmp_path):
    path = tmp_path / "specimen.json"
    said = command("sensors", "draw", "MPU-9250", "--seed", 1, "-o", path)
    assert said.code == 0
    assert "MATLAB has no place for" in said.err  # nothing is lost without a word
    assert set(read_model(path)[0]) == {"accelerometer", "gyroscope", "magnetometer"}


def test_own_part_file(tmp_path, monkeypatch):
    shutil.copy(CATALOGUE / "bmi088.toml", tmp_path / "mine.toml")
    monkeypatch.chdir(tmp_path)
    assert command("sensors", "show", "mine.toml").code == 0
    assert command("sensors", "draw", "mine.toml", "--seed", 1, "-o", "s.toml").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "MPU-6500"), "did you mean MPU-6050"),
        (("show", "none.toml"), "does not exist"),
        (("show",), "sensors show needs PART"),
        (("compare", "MPU-6050", "nothing"), "is not in the catalogue"),
        (("compare", "MPU-6050", "mpu6050"), "named twice"),
        (("compare", "MPU-6050", "-o", "x.pdf"), "pictures are PNG"),
        (("compare", "MPU-6050", "-o", "no/such/x.png"), "does not exist"),
        (("draw", "MPU-6050"), "--seed"),
        (("draw", "MPU-6050", "--seed", "-1"), "seed is -1; give a whole number"),
        (("draw", "MPU-6050", "--seed", "1", "-o", "x.csv"), "ends in .toml, or .json"),
        (("draw", "MPU-6050", "--seed", "1", "--range", "4g"), "write it as accelerometer=4"),
        (("draw", "MPU-6050", "--seed", "1", "--range", "accelerometer=5"), "valid: 2, 4, 8, 16"),
        (
            ("draw", "MPU-6050", "--seed", "1", "--range", "accelerometer=4", "--range", " accelerometer=2"),
            "--range is given twice for the accelerometer; keep one of 4 and 2",
        ),
        (("draw", "MPU-6050", "--seed", "1", "--rate", "5000"), "cannot give 5000 Hz"),
        (("draw", "MPU-6050", "--seed", "1", "--rate", "nan"), "rate_hz is nan"),
        (("nonsense",), "has no command"),
        (("--json", "show", "MPU-6050"), "put --json after show"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = command("sensors", *arguments)
    assert said.code == 2
    assert said.out == ""
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [(), ("show",), ("compare",), ("draw",)])
def test_help_has_an_example(name):
    said = command("sensors", *name, "--help")
    assert said.code == 0
    assert "Example: strapdown sensors" in said.out


def test_estimates_are_marked_in_every_view():
    listed = command("sensors")
    assert "from data sheet" in listed.out and "90 %" in listed.out
    compared = command("sensors", "compare", "MPU-6050", "BMI088").out
    row = next(line for line in compared.splitlines() if "BMI088" in line)
    assert "40 %" in row and "~0.594" in row
    ours = next(line for line in compared.splitlines() if "MPU-6050" in line)
    assert "0.212" in ours and "~0.212" not in ours  # N of the gyroscope is on the data sheet
    assert "measured next to the data sheet" in compared and "461 426 651" in compared
    document = json.loads(command("sensors", "compare", "MPU-6050", "--json").out)["provenance"]["MPU-6050"]
    assert "gyroscope_floor_deg_h" in document["estimated"] and "angle_random_walk_deg_rth" not in document["estimated"]
    shown = command("sensors", "show", "MPU-6050").out
    assert "estimated, not looked up" in shown and "unverified" not in shown

"""Parts in files, their names and units: forgiving where it is clear, one sentence where it is not."""

import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import write
from strapdown.errors import InputError
from strapdown.sensors.parts.part import CATALOGUE, Part, load_part
from strapdown.sensors.parts.part_file import part_file_from
from strapdown.sensors.parts.units import UNITS, per_degree, to_si, unit, units_of

FILES = sorted(CATALOGUE.glob("*.toml"))


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


_SURE = "field \"magnetometer.ranges.status\" is 'sure'; give 'verified', 'unverified' or 'estimated'"


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

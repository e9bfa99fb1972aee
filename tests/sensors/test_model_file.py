"""The sensor model file: read back without loss, and every defect one sentence with file and key."""

import math
import tomllib
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import write
from strapdown.errors import InputError
from strapdown.sensors.parts.model_file import FORMAT, keys, model_from, model_text, read_model, write_model
from strapdown.sensors.parts.part import catalogue, load_part
from strapdown.sensors.triad import Triad

_any = st.floats(-1e9, 1e9)
_size = st.floats(0.0, 1e9)
_vector = st.tuples(_any, _any, _any)
_sizes = st.tuples(_size, _size, _size)
_matrix = st.tuples(_vector, _vector, _vector)
_span = st.tuples(st.floats(1e-3, 1.0), st.floats(1.5, 1e6))


def triads(unit):
    return st.builds(
        Triad,
        st.just(unit),
        matrix=_matrix,
        nonlinearity=_vector,
        g_sensitivity=_matrix if unit == "rad/s" else st.just(Triad(unit).g_sensitivity),
        bias=_vector,
        turn_on=_sizes,
        temperature_bias=st.lists(_vector, max_size=3).map(tuple),
        temperature_scale=st.lists(_vector, max_size=3).map(tuple),
        reference_c=_any,
        limits_c=st.none() | _span,
        white=_sizes,
        instability=_sizes,
        instability_band_s=_span,
        walk=_sizes,
        quantisation=_sizes,
        full_scale=st.floats(2.0, 1e9),
        resolution=st.floats(0.0, 1.0),
        bandwidth_hz=st.none() | st.floats(1e-3, 1e6),
        filter_order=st.sampled_from([1, 2]),
        latency_s=_size,
        jitter_s=_size,
        loss=st.floats(0.0, 0.99),
        matlab_filter=st.tuples(_vector, st.tuples(st.floats(0.1, 10.0), _any)),
    )


META = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.one_of(st.text(max_size=20), st.integers(-(2**63), 2**63 - 1), st.booleans(), _any, st.lists(_any, max_size=3)),
    max_size=4,
)


@settings(max_examples=80, deadline=None)
@given(acc=triads("m/s2"), gyr=triads("rad/s"), mag=triads("uT"), meta=META)
def test_reads_back_without_loss(acc, gyr, mag, meta):
    given_triads = {"accelerometer": acc, "gyroscope": gyr, "magnetometer": mag}
    read, read_meta = model_from(tomllib.loads(model_text(given_triads, meta)), "x")
    assert read == given_triads
    assert read_meta == meta


@pytest.mark.parametrize("part", catalogue(), ids=lambda part: part.name)
def test_specimens_read_back_without_loss(part, tmp_path):
    specimen = part.draw(11)
    path = tmp_path / "specimen.toml"
    assert write_model(path, specimen.triads(), specimen.meta()) == ()
    read, meta = read_model(path)
    assert read == specimen.triads()
    assert meta == specimen.meta()


def test_every_field_has_a_key():
    for instrument in ("accelerometer", "gyroscope", "magnetometer"):
        held = {field for field, _, _ in keys(instrument).values()} | {"unit"}
        missing = {f.name for f in fields(Triad)} - held
        assert missing == (set() if instrument == "gyroscope" else {"g_sensitivity"})


def test_units_in_keys(tmp_path):
    text = f"""
format = "{FORMAT}"
[accelerometer]
bias_mg = [50, 0, -80]
noise_density_ug_rthz = [400, 400, 400]
full_scale_g = 2
[gyroscope]
bias_deg_s = [20.0, 0.0, 0.0]
instability_deg_h = [8.0, 8.0, 8.0]
white_rad_s_rthz = [1e-4, 1e-4, 1e-4]
[magnetometer]
bias_mgauss = [10.0, 0.0, 0.0]
resolution_nt = 13
"""
    read, meta = read_model(write(tmp_path, "mine.toml", text))
    assert meta == {}
    acc, gyr, mag = read["accelerometer"], read["gyroscope"], read["magnetometer"]
    assert acc.bias == pytest.approx((0.4903325, 0.0, -0.784532), rel=1e-12)
    assert acc.white[0] == pytest.approx(400e-6 * 9.80665 / math.sqrt(2.0), rel=1e-12)  # one-sided density to N
    assert acc.full_scale == pytest.approx(19.6133)
    assert gyr.bias[0] == pytest.approx(math.radians(20.0), rel=1e-12)  # degrees become radians once
    assert gyr.instability[0] == pytest.approx(math.radians(8.0) / 3600.0, rel=1e-12)
    assert gyr.white[0] == 1e-4
    assert mag.bias[0] == pytest.approx(1.0)
    assert mag.resolution == pytest.approx(0.013)


BAD = [
    ("bias = [0, 0, 0]", '"gyroscope.bias" has no unit in its name; valid: bias_rad_s, bias_deg_s, bias_deg_h'),
    ("bias_mg = [0, 0, 0]", '"gyroscope.bias_mg" is not known; valid: bias_rad_s'),
    ("bais_rad_s = [0, 0, 0]", '"gyroscope.bais_rad_s" is not known; valid: bias_rad_s, turn_on_rad_s'),
    ("white_rad_s_rthz = [-1.0, 0, 0]", '"gyroscope.white_rad_s_rthz" is [-1.0, 0, 0]; give numbers that are not neg'),
    ("bias_rad_s = [1, 2]", '"gyroscope.bias_rad_s" is [1, 2]; give three finite numbers, for x, y and z'),
    ("bias_rad_s = [1, 2, nan]", "give three finite numbers"),
    ("bias_rad_s = [1, 2, true]", "give three finite numbers"),
    ('bias_rad_s = "1"', "give three finite numbers"),
    (f"resolution_rad_s = {'9' * 400}", "give a finite number"),
    ("full_scale_rad_s = 1.0\nresolution_rad_s = 2.0", "full_scale_rad_s = 1 is not above resolution_rad_s = 2; give"),
    ("full_scale_deg_s = 1.0\nresolution_rad_s = 2", "full_scale_deg_s = 1 is not above resolution_rad_s = 2"),
    ("full_scale_deg_s = 0", "full_scale_deg_s 0 rad/s is not above"),
    (
        "bias_rad_s = [1, 2, 3]\nbias_deg_s = [1, 2, 3]",
        '"gyroscope.bias_deg_s" states the same as "bias_rad_s"; keep one',
    ),
    ("white_rad_s_rthz = [1, 2, 3]\nnoise_density_deg_s_rthz = [1, 2, 3]", "states the same as"),
    ("filter_order = 1.5", "give 1 or 2"),
    ("loss = 1.0", "loss is 1.0; give a probability"),
    ("limits_c = [50, 20]", "limits_c is (50.0, 20.0); give the lower temperature first"),
    ("nonlinearity_of_full_scale = [0.1, 0.1, 0.1]", "nonlinearity_of_full_scale is a part of full_scale"),
    ("matlab_filter_denominator = []", "matlab_filter"),
]


@pytest.mark.parametrize(("lines", "sentence"), BAD)
def test_bad_tables_are_one_sentence(tmp_path, lines, sentence):
    path = write(tmp_path, "bad.toml", f'format = "{FORMAT}"\n[gyroscope]\n{lines}\n')
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "gyroscope" in str(caught.value)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", '"format" is None'),
        (f'format = "{FORMAT}"', "has no instrument"),
        (f'format = "{FORMAT}"\n[gyro]', '"gyro" is not known; valid names: format, meta, accelerometer'),
        (f'format = "{FORMAT}"\ngyroscope = 3', "write it as a table"),
        (f'format = "{FORMAT}"\nmeta = 3\n[gyroscope]', '"meta" is 3'),
        ('format = "strapdown sensor model 9"', "a sensor model has format"),
        ("x = = 3", "not valid TOML"),
        ("x = " + "[" * 5000, "not valid TOML"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, text, sentence):
    with pytest.raises(InputError) as caught:
        read_model(write(tmp_path, "bad.toml", text))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_model(tmp_path / "none.toml")
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        read_model(tmp_path / "raw.toml")


def test_wrong_writing_is_refused(tmp_path):
    path = tmp_path / "x.toml"
    for triads_, meta, sentence in [
        ({}, {}, "needs an instrument"),
        ({"imu": Triad("m/s2")}, {}, 'no instrument "imu"'),
        ({"gyroscope": Triad("m/s2")}, {}, "the gyroscope is in m/s2"),
        ({"gyroscope": Triad("rad/s")}, {"when": object()}, '"when" is'),
    ]:
        with pytest.raises(InputError, match=sentence):
            write_model(path, triads_, meta)
        assert list(tmp_path.iterdir()) == []


def test_meta_of_numpy_and_none(tmp_path):
    path = tmp_path / "x.toml"
    meta = {"n": np.float64(0.1), "v": np.arange(3), "none": None, "a b": {"c": [True, '\u007f\n"'], "d": None}}
    write_model(path, {"gyroscope": Triad("rad/s")}, meta)
    assert read_model(path)[1] == {"n": 0.1, "v": [0, 1, 2], "a b": {"c": [True, '\u007f\n"']}}


_TREE = tomllib.loads(model_text(load_part("MPU-9250").draw(2).triads(), {"part": "MPU-9250"}))
_JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.floats(), max_size=4)
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_mutated_files_load_or_are_refused(data):
    tree = {name: dict(table) if isinstance(table, dict) else table for name, table in _TREE.items()}
    table = data.draw(st.sampled_from(["accelerometer", "gyroscope", "magnetometer"]))
    key = data.draw(st.sampled_from(sorted(tree[table])))
    change = data.draw(st.sampled_from(["replace", "rename", "add", "top"]))
    if change == "replace":
        tree[table][key] = data.draw(_JUNK)
    elif change == "rename":
        tree[table][data.draw(st.text(max_size=6))] = tree[table].pop(key)
    elif change == "add":
        tree[table][data.draw(st.sampled_from(sorted(keys(table))))] = data.draw(_JUNK)
    else:
        tree[data.draw(st.sampled_from([*tree, "x"]))] = data.draw(_JUNK)
    try:
        read, _ = model_from(tree, "mutated.toml")
    except InputError as error:
        assert str(error).startswith("mutated.toml: ")
    else:
        assert set(read) <= {"accelerometer", "gyroscope", "magnetometer"}

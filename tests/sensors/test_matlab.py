"""MATLAB's parameter JSON: units, percent, densities and forms as imuSensor has them, and the way there and back."""

import json
import math

import numpy as np
import pytest

from helpers import write
from strapdown.errors import InputError
from strapdown.sensors.parts.model_file import read_model, write_model
from strapdown.sensors.parts.part import catalogue, load_part
from strapdown.sensors.triad import Triad


def read(tmp_path, properties, instrument="Gyroscope", **more):
    path = write(tmp_path, "params.json", json.dumps({"P": {instrument: properties, **more}}))
    triads, _ = read_model(path)
    return triads[instrument.lower()]


def test_units_and_percent(tmp_path):
    triad = read(
        tmp_path,
        {
            "MeasurementRange": 4.363,
            "Resolution": 1.33e-4,
            "ConstantBias": [0.1, 0.2, 0.3],
            "AxesMisalignment": [[103, 2, 0], [0, 97, 0], [0, 0, 100]],
            "NoiseDensity": [8.727e-5, 8.727e-5, 8.727e-5],
            "BiasInstability": [1e-5, 2e-5, 3e-5],
            "RandomWalk": [1e-6, 1e-6, 1e-6],
            "TemperatureBias": [5.8e-3, 0, 0],
            "TemperatureScaleFactor": [0.033, 0, 0],
            "AccelerationBias": [1.78e-4, 0, 0],
        },
    )
    root2 = math.sqrt(2.0)
    assert triad.unit == "rad/s" and triad.full_scale == 4.363 and triad.bias == (0.1, 0.2, 0.3)
    assert triad.matrix == pytest.approx(np.array([[1.03, 0.02, 0], [0, 0.97, 0], [0, 0, 1]]), abs=1e-15)
    assert triad.white[0] == pytest.approx(8.727e-5 / root2, rel=1e-14)
    assert triad.walk[0] == pytest.approx(1e-6 * root2, rel=1e-14)
    assert triad.instability == (1e-5, 2e-5, 3e-5)
    assert triad.temperature_bias == ((5.8e-3, 0.0, 0.0),)
    assert triad.temperature_scale[0][0] == pytest.approx(3.3e-4, rel=1e-14)
    assert triad.g_sensitivity == ((1.78e-4, 0, 0), (0, 0, 0), (0, 0, 0))


@pytest.mark.parametrize("kind", ["double-sided", "single-sided"])
def test_noise_per_sample_is_that_of_imusensor(tmp_path, kind):
    """sigma = NoiseDensity sqrt(B), step = RandomWalk / sqrt(B), with B = Fs/2 if double-sided, else Fs."""
    rate = 100.0
    triad = read(tmp_path, {"NoiseDensity": [3e-3] * 3, "RandomWalk": [2e-4] * 3, "NoiseType": kind})
    bandwidth = rate / 2.0 if kind == "double-sided" else rate
    assert triad.white[0] * math.sqrt(rate) == pytest.approx(3e-3 * math.sqrt(bandwidth), rel=1e-14)
    assert triad.walk[0] / math.sqrt(rate) == pytest.approx(2e-4 / math.sqrt(bandwidth), rel=1e-14)


@pytest.mark.parametrize(
    ("given", "matrix"),
    [
        (2, [[100, 2, 2], [2, 100, 2], [2, 2, 100]]),
        ([1, 2, 3], [[100, 2, 3], [1, 100, 3], [1, 2, 100]]),
        ([[101, 2, 3], [4, 102, 6], [7, 8, 103]], [[101, 2, 3], [4, 102, 6], [7, 8, 103]]),
    ],
)
def test_forms_of_misalignment(tmp_path, given, matrix):
    triad = read(tmp_path, {"AxesMisalignment": given}, "Magnetometer")
    assert np.array(triad.matrix) * 100.0 == pytest.approx(np.array(matrix), rel=1e-15)


def test_defaults_are_an_ideal_sensor(tmp_path):
    assert read(tmp_path, {}, "Accelerometer") == Triad("m/s2")
    assert read(tmp_path, {"MeasurementRange": "Inf"}, "Accelerometer").full_scale is None
    assert read(tmp_path, {"ConstantBias": 0.5}, "Accelerometer").bias == (0.5, 0.5, 0.5)
    filtered = read(tmp_path, {"BiasInstabilityCoefficients": {"Numerator": 1, "Denominator": [1, -0.4]}})
    assert filtered.matlab_filter == ((1.0,), (1.0, -0.4))


@pytest.mark.parametrize("part", catalogue(), ids=lambda part: part.name)
def test_there_and_back(part, tmp_path):
    specimen = part.draw(4)
    path = tmp_path / "specimen.json"
    left_out = write_model(path, specimen.triads(), specimen.meta())
    read_back, meta = read_model(path)
    assert meta["part"] == part.name and meta["seed"] == 4
    assert set(read_back) == set(specimen.triads())
    for name, triad in specimen.triads().items():
        for field in ("unit", "bias", "instability", "temperature_bias", "full_scale", "resolution", "g_sensitivity"):
            assert getattr(read_back[name], field) == getattr(triad, field)
        for field in ("matrix", "white", "walk", "temperature_scale"):  # two roundoffs of percent or sqrt(2)
            ours, theirs = np.array(getattr(triad, field)), np.array(getattr(read_back[name], field))
            np.testing.assert_allclose(theirs, ours, rtol=5e-16, atol=0.0)
        assert (f"{name}.nonlinearity" in left_out) == any(triad.nonlinearity)
        assert (f"{name}.bandwidth_hz" in left_out) == (triad.bandwidth_hz is not None)


def test_what_loadparams_can_read(tmp_path):
    """It knows numbers and "Inf", wants a MATLAB name for the part, and stumbles over other text in an instrument."""
    path = tmp_path / "specimen.json"
    write_model(path, load_part("ICM-42688-P").draw(1).triads(), {"part": "ICM-42688-P"})
    (name, part), *others = json.loads(path.read_text()).items()
    assert name == "ICM42688P" and not others
    assert set(part) == {"Accelerometer", "Gyroscope", "Strapdown"}
    for instrument in ("Accelerometer", "Gyroscope"):
        for value in part[instrument].values():
            assert isinstance(value, int | float | list) or value == "Inf"
    triad = Triad("rad/s", g_sensitivity=((0, 1e-4, 0), (0, 0, 0), (0, 0, 0)), temperature_bias=((0, 0, 0), (1, 0, 0)))
    assert write_model(path, {"gyroscope": triad}, {}) == ("gyroscope.temperature_bias", "gyroscope.g_sensitivity")
    assert json.loads(path.read_text())["Part"]["Gyroscope"]["MeasurementRange"] == "Inf"


def test_several_parts(tmp_path):
    path = write(tmp_path, "p.json", '{"A": {"Gyroscope": {}}, "B": {"Gyroscope": {"ConstantBias": 1}}, "note": "x"}')
    with pytest.raises(InputError, match="has several parts; choose one of A, B"):
        read_model(path)
    assert read_model(path, "b")[0]["gyroscope"].bias == (1.0, 1.0, 1.0)
    with pytest.raises(InputError, match='has no part "C"; it has A, B'):
        read_model(path, "C")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"P": {"Gyroscope": {"NoiseDensty": 1}}}', 'has no property "NoiseDensty"; valid: MeasurementRange'),
        ('{"P": {"Accelerometer": {"AccelerationBias": 1}}}', 'has no property "AccelerationBias"'),
        ('{"P": {"Gyroscope": {"NoiseDensity": [-1, 0, 0]}}}', "P.Gyroscope.NoiseDensity is [-1, 0, 0]; give numbers"),
        ('{"P": {"Gyroscope": {"NoiseDensity": [1, 0]}}}', "give a number or three numbers"),
        ('{"P": {"Gyroscope": {"NoiseDensity": "1"}}}', "give a number or three numbers"),
        ('{"P": {"Gyroscope": {"NoiseDensity": NaN}}}', "all finite"),
        ('{"P": {"Gyroscope": {"NoiseDensity": true}}}', "give a number"),
        ('{"P": {"Gyroscope": {"NoiseType": "both"}}}', 'valid: "double-sided", "single-sided"'),
        ('{"P": {"Gyroscope": {"NoiseType": [1]}}}', "NoiseType is [1]"),
        ('{"P": {"Gyroscope": {"MeasurementRange": 1, "Resolution": 2}}}', "is not above the resolution"),
        ('{"P": {"Gyroscope": {"MeasurementRange": "big"}}}', "MeasurementRange is big; give a number"),
        ('{"P": {"Gyroscope": {"Resolution": -1}}}', "Resolution is -1.0"),
        ('{"P": {"Gyroscope": {"AxesMisalignment": [[1, 2], [3, 4]]}}}', "AxesMisalignment"),
        ('{"P": {"Gyroscope": {"BiasInstabilityCoefficients": {"Numerator": 1}}}}', "give Numerator and Denominator"),
        ('{"P": {"Gyroscope": {"BiasInstabilityCoefficients": {"Numerator": 1, "Denominator": 0}}}}', "must not be 0"),
        ('{"P": {"Gyroscope": 3}}', "P.Gyroscope is 3"),
        ('{"P": {}}', "has no part with Accelerometer or Gyroscope or Magnetometer"),
        ("[1, 2]", "has no part"),
        ("{", "not valid JSON"),
        ("[" * 100000, "not valid JSON"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, text, sentence):
    path = write(tmp_path, "bad.json", text)
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)

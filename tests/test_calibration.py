"""What a calibration promises: it undoes the error chain, once, and survives its file to the last bit."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strapdown.calibration.apply import apply, joined, refuse_calibrated
from strapdown.calibration.calibration import PARAMETERS, UNITS, Calibration, Correction, Found
from strapdown.calibration.calibration_file import calibration_text, read_calibration, write_calibration
from strapdown.errors import InputError, RangeWarning
from strapdown.sensors.error_chain import measure
from strapdown.sensors.streams import stream
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

T = np.arange(0.0, 2.0, 0.01)
N = len(T)
CELSIUS = np.linspace(5.0, 45.0, N)
FOUND = Found(
    "positions", {"log": "six.csv", "poses": 6}, "2026-11-15", 1e-3, "usable", ("a note",), ("rotation: why",)
)


def turning(scale):
    """Vectors that go everywhere."""
    return scale * np.stack([np.sin(7 * T), np.cos(5 * T), np.sin(3 * T + 1)], axis=-1)


def matrix(rng, size):
    return np.eye(3) + size * rng.standard_normal((3, 3))


def gyro_correction(rng, **more):
    return Correction(
        "rad/s",
        FOUND,
        matrix=matrix(rng, 0.02),
        bias=0.01 * rng.standard_normal(3),
        **{
            "g_sensitivity": 1e-4 * rng.standard_normal((3, 3)),
            "temperature_bias": 1e-4 * rng.standard_normal((2, 3)),
            "temperature_scale": 1e-4 * rng.standard_normal((1, 3)),
            "range_c": (0.0, 50.0),
            "sigma": {"bias": np.full(3, 1e-5), "matrix": np.where(np.eye(3) > 0, 1e-4, np.inf)},
            **more,
        },
    )


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_a_correction_undoes_the_error_chain_term_by_term(seed):
    rng = np.random.default_rng(seed)
    truth, f_s = turning(2.0), turning(9.8)
    triad = Triad(
        "rad/s",
        matrix=matrix(rng, 0.02),
        bias=rng.standard_normal(3),
        g_sensitivity=1e-3 * rng.standard_normal((3, 3)),
        temperature_bias=1e-3 * rng.standard_normal((2, 3)),
        temperature_scale=1e-4 * rng.standard_normal((2, 3)),
    )
    readings = measure(triad, T, truth, stream=stream(1, "g"), temperature_c=CELSIUS, specific_force=f_s).values
    correction = Correction(
        "rad/s",
        FOUND,
        matrix=np.linalg.inv(triad.matrix),
        bias=triad.bias,
        g_sensitivity=triad.g_sensitivity,
        temperature_bias=triad.temperature_bias,
        temperature_scale=triad.temperature_scale,
    )
    # roundoff of readings of size 10 through a matrix
    np.testing.assert_allclose(correction.corrected(readings, CELSIUS, f_s), truth, atol=1e-13)


def test_the_cubic_term_undoes_a_bend_to_second_order():
    bend, full_scale = 1e-3, 20.0
    truth = turning(9.8)
    triad = Triad("m/s2", nonlinearity=(bend,) * 3, full_scale=full_scale)
    readings = measure(triad, T, truth, stream=stream(1, "a")).values
    scale = 1.0 + 3.0 * bend
    # the chain reads x (1 + 3a) - 4 a x^3 / range^2
    correction = Correction("m/s2", FOUND, matrix=np.eye(3) / scale, cubic=np.full(3, 4.0 * bend / full_scale**2))
    before, after = (np.abs(x - truth).max() for x in (readings, correction.corrected(readings)))
    assert before > 0.018  # 3 u - 4 u^3 at u = 0.5 is 1: the whole a of the range
    assert after < 10 * bend**2 * full_scale  # second order in the bend


def recording(**more):
    return Recording(T, gyr_s=turning(1.0), acc_s=turning(9.8), mag_s=turning(50.0), temperature=CELSIUS, **more)


def one_instrument(name, **more):
    return Calibration({name: Correction(UNITS[name], FOUND, bias=(0.1, 0.2, 0.3), **more)})


def test_applying_twice_is_refused_and_other_instruments_are_not():
    log = recording(meta={"part": "MPU-6050"})
    once = apply(one_instrument("gyroscope"), log)
    np.testing.assert_allclose(log.gyr_s - once.gyr_s, [[0.1, 0.2, 0.3]] * N, atol=1e-15)  # roundoff
    assert once.meta["part"] == "MPU-6050"
    with pytest.raises(InputError, match=r"gyroscope .* calibrated already \(positions, 2026-11-15\)"):
        apply(one_instrument("gyroscope"), once)
    both = apply(one_instrument("magnetometer"), once)
    assert set(both.meta["calibrated"]) == {"gyroscope", "magnetometer"}
    with pytest.raises(InputError, match="--after"):
        refuse_calibrated(both, "magnetometer")
    refuse_calibrated(both, "accelerometer")


def test_a_log_that_lacks_what_the_calibration_needs_is_refused():
    with pytest.raises(InputError, match="log has none of them"):
        apply(one_instrument("magnetometer"), Recording(T, gyr_s=turning(1.0)))
    warm = one_instrument("gyroscope", temperature_bias=[[1e-3] * 3])
    with pytest.raises(InputError, match="follows temperature, and the log has none"):
        apply(warm, Recording(T, gyr_s=turning(1.0)))
    leaning = one_instrument("gyroscope", g_sensitivity=1e-3 * np.eye(3))
    with pytest.raises(InputError, match="needs the accelerometer"):
        apply(leaning, Recording(T, gyr_s=turning(1.0)))


def test_temperatures_outside_the_data_are_told():
    warm = one_instrument("gyroscope", temperature_bias=[[1e-3] * 3], range_c=(15.0, 45.0))
    with pytest.warns(RangeWarning, match=r"found between 15.0 and 45.0 degC: 25 % of the samples are extrapolated"):
        apply(warm, recording())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apply(one_instrument("gyroscope", temperature_bias=[[1e-3] * 3], range_c=(5.0, 45.0)), recording())


def test_g_sensitivity_takes_the_corrected_specific_force():
    corrections = {
        "gyroscope": Correction("rad/s", FOUND, g_sensitivity=1e-2 * np.eye(3)),
        "accelerometer": Correction("m/s2", FOUND, bias=(5.0, 0.0, 0.0)),
    }
    log = recording()
    done = apply(Calibration(corrections), log)
    np.testing.assert_allclose(done.gyr_s, log.gyr_s - 1e-2 * done.acc_s, atol=1e-15)  # roundoff


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_joined_calibrations_do_what_one_after_the_other_does(seed):
    rng = np.random.default_rng(seed)
    first = Calibration({"gyroscope": gyro_correction(rng)}, part="MPU-6050")
    second = gyro_correction(rng, temperature_bias=1e-5 * rng.standard_normal((1, 3)), cubic=rng.standard_normal(3))
    second = replace(second, temperature_scale=np.zeros((0, 3)), g_sensitivity=np.zeros((3, 3)))
    log = recording()
    one = apply(first, log)
    in_turn = apply(Calibration({"gyroscope": second}), replace(one, meta={}))
    together = joined(first, Calibration({"gyroscope": second}, specimen="7"))
    assert (together.part, together.specimen) == ("MPU-6050", "7")
    np.testing.assert_allclose(apply(together, log).gyr_s, in_turn.gyr_s, atol=1e-13)  # roundoff


def test_calibrations_of_two_specimens_are_not_joined():
    a = replace(one_instrument("gyroscope"), specimen="1")
    b = replace(one_instrument("accelerometer"), specimen="2")
    with pytest.raises(InputError, match="specimen 1 and of specimen 2"):
        joined(a, b)
    bent = one_instrument("gyroscope", cubic=[0.1, 0.0, 0.0])
    with pytest.raises(InputError, match="behind a cubic correction"):
        joined(bent, one_instrument("gyroscope"))


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_a_file_gives_back_every_bit(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    acc = Correction("m/s2", FOUND, matrix=matrix(rng, 0.1), cubic=rng.standard_normal(3), sigma={"cubic": np.ones(3)})
    whole = Calibration({"accelerometer": acc, "gyroscope": gyro_correction(rng)}, "MPU-6050", 'no "3" \\ ü')
    path = tmp_path_factory.mktemp("cal") / "cal.toml"
    write_calibration(path, whole)
    back = read_calibration(path)
    assert (back.part, back.specimen) == (whole.part, whole.specimen)
    for name, correction in whole.corrections.items():
        for parameter in PARAMETERS:
            assert np.array_equal(getattr(back.corrections[name], parameter), getattr(correction, parameter))
        assert back.corrections[name].found == correction.found
        assert back.corrections[name].range_c == correction.range_c
        assert back.corrections[name].sigma.keys() == correction.sigma.keys()
        for parameter, sigma in correction.sigma.items():
            assert np.array_equal(back.corrections[name].sigma[parameter], sigma)
    assert calibration_text(back) == calibration_text(whole)


GOOD = calibration_text(one_instrument("gyroscope", sigma={"bias": np.ones(3)}))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("calibration 1", "calibration 9", 'format "strapdown calibration 9".*update strapdown'),
        ("strapdown calibration 1", "recipe", 'a calibration has format = "strapdown calibration 1"'),
        ("[gyroscope]", "[gyrocope]", '"gyrocope" is not known; valid names'),
        ("bias_rad_s = [0.1", "bias = [0.1", r'"gyroscope.bias" is not known; valid names: .*bias_rad_s'),
        ("bias_rad_s = [0.1, 0.2, 0.3]", "bias_rad_s = [0.1, 0.2]", "bias has shape"),
        ("bias_rad_s = [0.1, 0.2, 0.3]", 'bias_rad_s = [0.1, "x", 0.3]', "give finite numbers"),
        ("bias_rad_s = [0.1, 0.2, 0.3]", "bias_rad_s = [0.1, nan, 0.3]", "give finite numbers"),
        ("bias_rad_s = [0.1, 0.2, 0.3]", "bias_rad_s = [0.1, true, 0.3]", "give finite numbers"),
        ("sigma_bias_rad_s = [1.0, 1.0, 1.0]", "sigma_bias_rad_s = [1.0, -1.0, 1.0]", "sigma of bias does not fit"),
        ('verdict = "usable"', 'verdict = "excellent"', "valid: good, usable, poor"),
        ('method = "positions"', "", "say how it was found"),
        ('notes = ["a note"]', 'notes = "a note"', "give a list of sentences"),
        ("[gyroscope]", "matrix = [[1", "not valid TOML"),
        ('verdict = "usable"', "matrix = [[1, 0, 0], [0, 1, 0], [1, 1, 0]]", "matrix is singular"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path, old, new, said):
    assert old in GOOD
    path = tmp_path / "cal.toml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=said) as error:
        read_calibration(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)

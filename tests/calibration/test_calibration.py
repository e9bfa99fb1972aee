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
from strapdown.sensors.chain.error_chain import measure
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
    assert after < 10 * bend**2 * full_scale  # second order in the nonlinearity


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
    with pytest.raises(InputError, match="join what was found before"):
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
RESIDUAL = next(line for line in GOOD.splitlines() if line.startswith("residual_rms"))


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
        ('verdict = "usable"', "reference_c = [25.0, 26.0]", 'reference_c" is .*give one number'),
        (RESIDUAL, "residual_rms_rad_s = [0.1]", 'residual_rms_rad_s" is .*give one number'),
        ("bias_rad_s = [0.1, 0.2, 0.3]", "bias_rad_s = [[0.1], [0.2, 0.3]]", "give finite numbers"),
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


def test_a_curve_of_degree_zero_survives_its_file(tmp_path):
    flat = Correction(
        "rad/s", FOUND, bias=(0.1, 0.2, 0.3), temperature_bias=[], reference_c=40.0, sigma={"temperature_bias": []}
    )
    assert flat.temperature_bias.shape == (0, 3) and "temperature_bias" not in flat.sigma
    path = tmp_path / "cal.toml"
    write_calibration(path, Calibration({"gyroscope": flat}))
    assert "temperature_bias" not in path.read_text(encoding="utf-8")
    back = read_calibration(path).corrections["gyroscope"]
    assert back.temperature_bias.shape == (0, 3) and back.reference_c == 40.0
    older = path.read_text(encoding="utf-8").replace("bias_rad_s =", "temperature_bias_rad_s_per_c = []\nbias_rad_s =")
    path.write_text(older, encoding="utf-8")
    assert read_calibration(path).corrections["gyroscope"].temperature_bias.shape == (0, 3)


def test_what_is_no_result_is_refused():
    with pytest.raises(InputError, match="residual_rms is -1"):
        replace(FOUND, residual_rms=-1.0)
    with pytest.raises(InputError, match="g_sensitivity is the gyroscope's alone"):
        Correction("m/s2", FOUND, g_sensitivity=1e-3 * np.eye(3))


def test_joining_keeps_what_is_known_the_worse_verdict_and_both_steps():
    def step(method, verdict, undetermined, sigma, log):
        found = Found(method, {"log": log}, None, 0.1, verdict, (f"note of {log}",), undetermined)
        return Calibration({"accelerometer": Correction("m/s2", found, bias=(0.1, 0.2, 0.3), sigma=sigma)})

    known, assumed = np.full(3, 1e-3), np.full(3, np.inf)
    poses = step("positions", "poor", ("rotation: why", "temperature_bias: why"), {"bias": known}, "poses.csv")
    warm = step("temperature", "good", ("bias: tilt", "matrix: not stated"), {"bias": assumed}, "warm.csv")
    both = joined(poses, warm).corrections["accelerometer"]
    np.testing.assert_array_equal(both.sigma["bias"], known)  # what the later step assumed the earlier one knows
    assert both.found.verdict == "poor"
    assert both.found.undetermined == ("rotation: why", "temperature_bias: why", "matrix: not stated")
    again = joined(joined(poses, warm), step("temperature", "good", (), {"bias": assumed}, "again.csv"))
    data = again.corrections["accelerometer"].found.data
    assert {name: step["log"] for name, step in data.items()} == {
        "positions": "poses.csv",
        "temperature": "warm.csv",
        "temperature (2)": "again.csv",
    }


@pytest.mark.parametrize(
    ("name", "spoilt", "said"),
    [
        ("accelerometer", {"acc_s": turning(9.8) * 1670.0}, "raw counts or another unit"),
        ("accelerometer", {"acc_s": turning(1.0)}, "the readings look like g"),
        ("gyroscope", {"gyr_s": turning(7500.0)}, "deg/s or raw counts"),
        ("magnetometer", {"mag_s": turning(0.5)}, "gauss"),
        ("magnetometer", {"mag_s": turning(6000.0)}, "raw counts"),
        ("gyroscope", {"t": 1000.0 * T * 100.0}, "time looks like ms or us"),
    ],
)
def test_readings_in_another_unit_are_not_corrected(name, spoilt, said):
    with pytest.raises(InputError, match=f"{said}.*column mapping"):
        apply(one_instrument(name), replace(recording(), **spoilt))


def test_a_log_of_another_part_is_told_of_and_one_spelt_otherwise_is_not():
    found = replace(one_instrument("magnetometer"), part="MPU-6050")
    with pytest.warns(RangeWarning, match="the calibration is of part MPU-6050, and the log states ICM-20948"):
        apply(found, recording(meta={"part": "ICM-20948"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apply(found, recording(meta={"part": "mpu6050"}))

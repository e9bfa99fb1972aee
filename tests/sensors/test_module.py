"""A virtual module: one clock for its instruments, own streams for each, truth at the stamps of the log."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.motion import FigureEight
from strapdown.motion.resample import resample
from strapdown.rotation import q_conj, q_log, q_mul
from strapdown.sensors.imu import Imu
from strapdown.sensors.methods import Sight
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

G = 9.81
PATH = FigureEight(20.0, 8.0, 16.0, bank_gravity_m_s2=G)


def ideal(rate_hz=100.0, duration_s=4.0, with_field=True) -> Recording:
    motion = PATH.at(np.arange(int(duration_s * rate_hz) + 1) / rate_hz)
    recording, _ = Imu("imu", rate_hz).measure(Sight(motion, G))
    field = np.tile([20.0, 5.0, -40.0], (len(motion), 1))
    return replace(recording, mag_s=field) if with_field else recording


def noisy(unit: str, **settings) -> Triad:
    return Triad(unit, white=(0.1, 0.1, 0.1), **settings)


THREE = {"accelerometer": noisy("m/s2"), "gyroscope": noisy("rad/s"), "magnetometer": noisy("uT")}


def test_a_module_without_errors_is_ideal():
    perfect = {"accelerometer": Triad("m/s2"), "gyroscope": Triad("rad/s"), "magnetometer": Triad("uT")}
    true, log = ideal(), Module("imu", perfect).measure(ideal(), 100.0)
    for name in ("t", "acc_s", "gyr_s", "mag_s"):
        assert np.array_equal(getattr(log, name), getattr(true, name)), name
    assert not log.clipped.any() and np.array_equal(log.truth.p_n, true.truth.p_n)


def test_adding_a_magnetometer_or_a_sensor_of_another_name_changes_no_sample():
    whole = Module("imu", THREE, seed=5).measure(ideal(), 100.0)
    part = Module("imu", {k: v for k, v in THREE.items() if k != "magnetometer"}, seed=5).measure(ideal(), 100.0)
    assert np.array_equal(whole.acc_s, part.acc_s) and np.array_equal(whole.gyr_s, part.gyr_s)
    assert part.mag_s is None
    other = Module("imu 2", THREE, seed=5).measure(ideal(), 100.0)
    assert not np.any(other.acc_s == whole.acc_s)


def test_same_seed_same_bits_and_another_seed_other_noise():
    a, b, c = (Module("imu", THREE, seed=seed).measure(ideal(), 100.0) for seed in (1, 1, 2))
    assert np.array_equal(a.acc_s, b.acc_s) and not np.any(a.acc_s == c.acc_s)


def test_all_instruments_lose_the_same_samples_and_keep_the_values_of_the_others():
    lossy = {name: replace(triad, loss=0.3) for name, triad in THREE.items()}
    log, whole = (
        Module("imu", lossy, seed=2).measure(ideal(), 100.0),
        Module("imu", THREE, seed=2).measure(ideal(), 100.0),
    )
    assert 0.6 < len(log) / len(whole) < 0.8  # chance: 401 samples, a sigma of 2 %
    kept = np.isin(whole.t, log.t)
    for name in ("acc_s", "gyr_s", "mag_s"):
        assert np.array_equal(getattr(log, name), getattr(whole, name)[kept]), name


def test_truth_is_what_the_body_does_at_the_stamp_and_readings_lag_by_the_latency():
    late = {"accelerometer": Triad("m/s2", latency_s=0.013), "gyroscope": Triad("rad/s")}
    log = Module("imu", late).measure(ideal(with_field=False), 100.0)
    exact = PATH.at(log.t)
    assert np.abs(log.truth.p_n - exact.p_n).max() < 1e-9  # sixth order in 10 ms, at 1 rad/s
    assert np.abs(log.truth.a_n - exact.a_n).max() < 1e-6  # second derivative of the same
    before = PATH.at(log.t - 0.013)
    assert np.abs(log.gyr_s - before.w_nb_b).max() < 1e-12  # the value is that of its own instant


def test_resampled_motion_converges_with_sixth_order():
    errors = []
    for step in (0.1, 0.05):
        grid = PATH.at(np.arange(0.0, 8.0 + step / 2, step))
        t = grid.t[:-1] + 0.37 * step
        there, exact = resample(grid, t), PATH.at(t)
        turned = np.linalg.norm(q_log(q_mul(q_conj(there.q_nb), exact.q_nb)), axis=1).max()
        errors.append((np.abs(there.p_n - exact.p_n).max(), turned))
    for coarse, fine in zip(*errors, strict=True):
        assert 40.0 < coarse / fine < 90.0  # 2^6 = 64
    with pytest.raises(InputError, match="not within the motion"):
        resample(grid, [8.5])


def test_the_low_pass_of_a_part_acts_before_decimation():
    """A vibration above the output rate's half does not come down as a slow wave."""
    rate, inner = 50.0, 2000.0
    t = np.arange(int(4 * inner) + 1) / inner
    shake = np.stack([0 * t, 0 * t, G + 5.0 * np.sin(2 * np.pi * 390.0 * t)], axis=1)
    fast = Recording(t, acc_s=shake, gyr_s=0 * shake, meta={})
    triad = Triad("m/s2", bandwidth_hz=10.0, filter_order=2)
    module = Module("imu", {"accelerometer": triad})
    assert module.inner_factor(rate) * rate >= 10 * 10.0
    log = module.measure(fast, rate)
    assert np.abs(log.acc_s[10:, 2] - G).max() < 5.0 * (10.0 / 390.0) ** 2 * 1.1  # second order: (f_c / f)^2


def test_magnetometer_axes_turn_its_errors_and_not_its_field():
    axes = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    biased = {"magnetometer": Triad("uT", bias=(1.0, 0.0, 0.0))}
    log = Module("imu", biased, magnetometer_axes=axes).measure(ideal(), 100.0)
    assert np.allclose(log.mag_s - [20.0, 5.0, -40.0], [0.0, 1.0, 0.0], atol=1e-12)  # its x is our y


def test_a_part_reads_within_its_data_sheet_and_says_when_it_clips():
    specimen = load_part("MPU-6050").draw(3, {"accelerometer": 2.0, "gyroscope": 250.0}, 100.0)
    t = np.arange(1001) / 100.0
    spinning = Recording(t, gyr_s=np.tile([6.0, 0.0, 0.0], (1001, 1)), acc_s=np.tile([0.0, 0.0, G], (1001, 1)), meta={})
    log = Module("imu", specimen.triads()).measure(spinning, 100.0)
    assert log.clipped.all() and np.abs(log.gyr_s).max() <= np.radians(250.0) * (1 + 1e-4)  # half a count of 32768
    counts = log.acc_s / specimen.accelerometer.resolution
    assert np.abs(counts - np.round(counts)).max() < 1e-6
    assert np.linalg.norm(log.acc_s.mean(axis=0) - [0, 0, G]) < 0.05 * G + 1.5  # 3 % scale, 2 % cross-axis, 80 mg


def test_a_module_that_knows_none_of_the_signals_is_told():
    with pytest.raises(InputError, match="no instrument"):
        Module("imu", {"magnetometer": Triad("uT")}).measure(ideal(with_field=False), 100.0)


@pytest.mark.parametrize(
    "axes",
    [
        ((1.0, 0.0), (0.0, 1.0)),
        np.zeros((3, 3)),
        ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        np.full((3, 3), np.nan),
        np.full((3, 3), 1e300),
        ((1.0, 0.0, 0.0), (0.0, 1.0), (0.0,)),
        "xyz",
        7,
        [[10**400, 0, 0], [0, 1, 0], [0, 0, 1]],
    ],
    ids=["two", "zero", "singular", "nan", "huge", "ragged", "text", "number", "400 digits"],
)
def test_axes_that_are_no_rotation_or_swap_are_one_sentence(axes):
    with pytest.raises(InputError, match="magnetometer_axes is") as error:
        Module("imu", {"magnetometer": Triad("uT")}, magnetometer_axes=axes)
    assert "\n" not in str(error.value)

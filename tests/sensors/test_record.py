"""record: path and specimen in, the log with truth out; the same bits as path, perfect readings and module by hand."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.motion import FigureEight, Flight, Rest, StopAndGo
from strapdown.rotation import q_from_euler
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.aiding.outside import with_outside
from strapdown.sensors.imu import Imu
from strapdown.sensors.magnetic_sources import Dipole, MagneticWorld
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import MountedPath, Surroundings, ideal_readings, record
from strapdown.types import Recording

G = 9.81
PATH = FigureEight(20.0, 8.0, 16.0, bank_gravity_m_s2=G)
FIELD = (1.0, 20.0, -44.0)
AROUND = Surroundings(G, FIELD, 31.0)


def test_a_part_along_a_path_in_one_call():
    imu = load_part("MPU-6050").draw(seed=1, rate_hz=200)
    log = record(PATH, imu, seed=1)
    assert len(log) == 200 * 16 + 1 and log.truth.t[-1] == 16.0 and log.mag_s is None and log.stop is None
    assert log.meta["part"] == "MPU-6050" and log.meta["specimen_seed"] == 1 and log.meta["seed"] == 1
    assert log.meta["gravity_m_s2"] == STANDARD_GRAVITY and log.meta["rate_hz"] == 200.0
    assert log.meta["range"] == {"accelerometer": "2 g", "gyroscope": "250 deg/s"}
    again, other = record(PATH, imu, seed=1), record(PATH, imu, seed=2)
    assert np.array_equal(log.acc_s, again.acc_s) and not np.array_equal(log.acc_s, other.acc_s)


def test_the_same_bits_as_by_hand():
    specimen = load_part("MPU-9250").draw(3, rate_hz=100.0)
    module = Module(
        "imu",
        specimen.triads(),
        7,
        temperature=31.0,
        magnetometer_axes=specimen.magnetometer_axes,
        fastest_hz={"magnetometer": load_part("MPU-9250").largest_rate_hz("magnetometer")},
    )
    fine_hz = 100.0 * module.inner_factor(100.0)
    motion = PATH.at(np.arange(round(16.0 * fine_hz) + 1) / fine_hz)
    field = np.array([np.linalg.multi_dot([m.T, FIELD]) for m in _matrices(motion.q_nb)])
    ideal = Recording(motion.t, gyr_s=motion.w_nb_b, acc_s=motion.specific_force_b(G), mag_s=field, truth=motion)
    by_hand = module.measure(ideal, 100.0)
    for given in (specimen, replace(module, temperature=25.0)):  # what surrounds it counts, not what the module had
        log = record(PATH, given, seed=7, rate_hz=100.0, surroundings=AROUND)
        for name in ("t", "gyr_s", "acc_s", "temperature", "clipped"):
            assert np.array_equal(getattr(log, name), getattr(by_hand, name)), name
        assert np.abs(log.mag_s - by_hand.mag_s).max() <= 0.6 * 1.01  # one count, where rotations round differently
        assert np.array_equal(log.truth.p_n, by_hand.truth.p_n)
    assert log.meta["magnetic_field_n_ut"] == list(FIELD)


def _matrices(q):
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def test_planned_stops_are_flagged_also_for_a_mounted_sensor():
    path = StopAndGo.straight(0.9, first_rest_s=2.0)
    imu = load_part("ICM-42688-P").draw(1, rate_hz=100.0)
    log = record(path, imu, seed=1)
    assert np.array_equal(log.stop, path.stopped(log.t)) and log.stop[0] and not log.stop.all()
    speed = np.linalg.norm(log.truth.v_n, axis=1)
    assert speed[log.stop].max() < 1e-12 and speed.max() > 0.05
    turned = record(MountedPath(path, q_bs=q_from_euler(np.pi, 0.0, 0.0)), imu, seed=1)
    assert np.array_equal(turned.stop, log.stop)
    assert turned.acc_s[:, 2].mean() == pytest.approx(-STANDARD_GRAVITY, abs=0.5) != log.acc_s[:, 2].mean()
    assert record(MountedPath(Rest(1.0)), imu).stop is None


def test_a_magnetometer_of_another_part_on_the_same_board():
    imu = load_part("MPU-6050").draw(1, rate_hz=100.0)
    board = imu.with_magnetometer(load_part("QMC5883L").draw(1))
    log = record(Rest(2.0), board, seed=1, surroundings=AROUND)
    assert (
        log.meta["magnetometer_part"] == "QMC5883L" and np.abs(log.mag_s - FIELD).max() < 60.0
    )  # offsets, no other unit
    assert np.array_equal(log.acc_s, record(Rest(2.0), imu, seed=1, surroundings=AROUND).acc_s)
    slow = replace(board, fastest_hz={"magnetometer": 50.0})
    assert record(Rest(2.0), slow, seed=1, surroundings=AROUND).new["mag_s"].sum() == 101
    with pytest.raises(InputError, match=r"MPU-6050 has no magnetometer; name a part that has one"):
        imu.with_magnetometer(imu)
    with pytest.raises(InputError, match=r"MPU-6050 has a magnetometer of its own"):
        board.with_magnetometer(board)


def test_an_ideal_sensor_and_a_magnet():
    world = MagneticWorld(FIELD, [Dipole((0.0, 0.0, 1.0), (0.0, 0.0, -1.0))])
    log = record(Rest(1.0), Imu("ideal", 50.0), surroundings=Surroundings(G, world))
    perfect = ideal_readings(Rest(1.0).at(log.t), Surroundings(G, world))
    for name in ("acc_s", "gyr_s", "mag_s"):
        assert np.array_equal(getattr(log, name), getattr(perfect, name)), name
    assert log.acc_s[0].tolist() == [0.0, 0.0, G] and np.abs(log.mag_s[0] - FIELD).max() > 0.1
    assert len(record(Rest(1.0), Imu("ideal", 50.0), rate_hz=10.0)) == 11
    with pytest.raises(InputError, match="is ideal and has no use for a seed"):
        record(Rest(1.0), Imu("ideal", 50.0), seed=1)
    with pytest.raises(InputError, match="rate_hz is -1"):
        record(Rest(1.0), load_part("MPU-6050").draw(1), rate_hz=-1)


def test_sensors_outside_are_read_along_the_same_path():
    path = Flight([(0.0, 0.0, 1.0), (0.0, 0.0, 0.0)], start_p_n=(0.0, 0.0, 1.0))
    outside = (
        Altimeter(rate_hz=20.0, sigma_m=0.01),
        FixReceiver("position", rate_hz=5.0, delay_s=0.1),
        FixReceiver("velocity", rate_hz=10.0),
    )
    specimen = load_part("MPU-6050").nominal(rate_hz=100.0)
    log = record(path, specimen, 4, surroundings=Surroundings(ground_m=0.5), outside=outside)
    plain = record(path, specimen, 4)
    assert np.array_equal(log.gyr_s, plain.gyr_s)  # they move no other sensor's noise
    assert [int(log.new[name].sum()) for name in ("height", "position_fix", "velocity_fix")] == [
        121,
        30,
        61,
    ]  # the ends too
    new = log.new["height"]
    assert np.abs(log.height.height_m - (log.truth.p_n[:, 2] - 0.5))[new].max() < 0.05
    alone = record(path, specimen, 4, outside=outside[2:])
    assert np.array_equal(alone.velocity_fix.value_n, log.velocity_fix.value_n)
    ideal = record(path, Imu("ideal"), 4, outside=(Barometer(),))
    assert np.array_equal(ideal.height.height_m, record(path, Imu("ideal"), 4, outside=(Barometer(),)).height.height_m)
    for wrong, words in (((Altimeter(), Barometer()), "two sensors give the column height"), ((1,), "a int is no")):
        with pytest.raises(InputError, match=words):
            record(path, specimen, 4, outside=wrong)
    with pytest.raises(InputError, match="no truth"):
        with_outside(replace(log, truth=None), outside, 0)

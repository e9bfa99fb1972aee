"""Logs of PX4 and ArduPilot: every number against the reference library, in frames that this test converts itself."""

import struct

import numpy as np
import pytest

from format_cases import dataflash
from helpers import shared_data
from strapdown import io
from strapdown.errors import InputError

FLU = np.array([1.0, -1.0, -1.0])  # of forward-right-down


def test_a_ulog_is_read_as_pyulog_reads_it():
    import pyulog

    path = shared_data("px4_ulog") / "sample.ulg"
    found = io.read_all(path)
    data = {each.name: each.data for each in pyulog.ULog(str(path)).data_list}
    combined, log = data["sensor_combined"], found.recordings["sensor_combined"]
    np.testing.assert_array_equal(log.gyr_s, np.column_stack([combined[f"gyro_rad[{i}]"] for i in range(3)]) * FLU)
    force = np.column_stack([combined[f"accelerometer_m_s2[{i}]"] for i in range(3)])
    np.testing.assert_array_equal(log.acc_s, force * FLU)
    us = combined["timestamp"].astype(np.int64)
    np.testing.assert_allclose(log.t, (us - us[0]) * 1e-6, rtol=0.0, atol=1e-13)  # roundoff of 69 s
    assert log.meta["t0_ns"] == us[0] * 1000 and "down" in log.meta["frames"]
    field = np.column_stack([combined[f"magnetometer_ga[{i}]"] for i in range(3)]) * FLU * 100.0
    fresh = np.flatnonzero(log.new["mag_s"])[1:]
    late = combined["magnetometer_timestamp_relative"][fresh] <= 0  # a reading of the future joins a later row
    np.testing.assert_allclose(log.mag_s[fresh[late]], field[fresh[late]], rtol=1e-12)
    # x north, y east, z down of the estimate: nose to the north is +y in ours
    q, estimate = data["vehicle_attitude"], found.tracks["estimate"]
    w, x, y, z = (q[f"q[{i}]"].astype(float) for i in range(4))
    north, east, down = 1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)  # where the nose points
    from strapdown.rotation import q_rotate

    nose = q_rotate(estimate.q_nb, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(nose, np.column_stack([east, north, -down]), atol=3e-7)  # float32 of the log
    assert estimate.p_n is None  # the autopilot had no position: it states xy_valid = 0


def test_a_newer_ulog_has_fixes_and_a_height():
    found = io.read_all(shared_data("px4_ulog") / "sample_log_small.ulg")
    log = found.recordings["sensor_combined"]
    assert abs(log.meta["origin"]["latitude_deg"] - 63.4170622) < 1e-9 and log.new["position_fix"].sum() == 32
    assert np.linalg.norm(log.position_fix.value_n[0]) < 1e-6 and log.height is not None
    assert any("vehicle_imu/2 (12 samples)" in note for note in found.notes)  # 2 Hz: no log of an IMU


def copied_ulog(source, target, change):
    """The messages of a log, changed one by one: (type, bytes) -> list of (type, bytes)."""
    raw = source.read_bytes()
    at, out = 16, [raw[:16]]
    while at + 3 <= len(raw):
        size, kind = struct.unpack_from("<HB", raw, at)
        for new_kind, body in change(chr(kind), raw[at + 3 : at + 3 + size]):
            out.append(struct.pack("<HB", len(body), ord(new_kind)) + body)
        at += 3 + size
    target.write_bytes(b"".join(out))


def test_instances_of_a_ulog_are_listed_and_refused_without_a_topic(tmp_path):
    """sensor_combined written a second time as vehicle_imu, instances 0 and 1, at the same rate."""
    source = shared_data("px4_ulog") / "sample_log_small.ulg"
    form = "uint64_t timestamp;float[3] delta_angle;float[3] delta_velocity;"
    form += "uint32_t delta_angle_dt;uint32_t delta_velocity_dt;"
    known = {}

    def change(kind, body):
        if kind == "F" and body.startswith(b"vehicle_imu:"):
            return [(kind, f"vehicle_imu:{form}".encode())]
        if kind == "A" and body[3:] == b"sensor_combined":
            known["id"] = body[1:3]
            more = [("A", bytes([i]) + struct.pack("<H", 900 + i) + b"vehicle_imu") for i in (0, 1)]
            return [(kind, body), *more]
        if kind == "A" and body[3:] == b"vehicle_imu":
            known.setdefault("old", set()).add(body[1:3])
            return []
        if kind == "D" and body[:2] in known.get("old", ()):
            return []
        if kind == "D" and body[:2] == known.get("id"):
            (us,) = struct.unpack_from("<Q", body, 2)
            rows = [
                struct.pack("<H", 900 + i) + struct.pack("<Q6f2I", us, 0.001, 0, 0, 0, 0, -0.0392, 4000, 4000)
                for i in (0, 1)
            ]
            return [(kind, body), *(("D", row) for row in rows)]
        return [(kind, body)]

    copied_ulog(source, tmp_path / "two.ulg", change)
    with pytest.raises(InputError, match="holds the sensors sensor_combined, vehicle_imu/0, vehicle_imu/1"):
        io.read_one(tmp_path / "two.ulg")
    log = io.read_one(tmp_path / "two.ulg", "vehicle_imu/1")
    np.testing.assert_allclose(log.gyr_s, [[0.25, 0.0, 0.0]] * len(log), rtol=1e-6)  # float32 of the log
    np.testing.assert_allclose(log.acc_s, [[0.0, 0.0, 9.8]] * len(log), atol=1e-6)


def test_an_ardupilot_log(tmp_path):
    from pymavlink.DFReader import DFReader_binary

    path = tmp_path / "flight.bin"
    path.write_bytes(dataflash())
    reference = DFReader_binary(str(path))
    rows = []
    while (message := reference.recv_match(type="IMU")) is not None:
        rows.append([message.GyrX, message.GyrY, message.GyrZ, message.AccX, message.AccY, message.AccZ])
    found = io.read_all(path)
    log = found.recordings["IMU/0"]
    np.testing.assert_array_equal(log.gyr_s, np.array(rows)[:, :3] * FLU)
    np.testing.assert_array_equal(log.acc_s, np.array(rows)[:, 3:] * FLU)
    assert log.meta["t0_ns"] == 5_000_000_000 and abs(log.t[-1] - 1.98) < 1e-12
    np.testing.assert_allclose(log.mag_s[0], [20.0, 5.0, -40.0])  # milligauss, forward-right-down
    assert log.new["mag_s"].sum() == 20 and log.temperature[0] == 30.0
    assert log.height.height_m[0] == 0.0 and abs(log.height.height_m[-1] - 9.5) < 1e-6  # float32
    east = np.radians(950e-7) * 6.378e6 * np.cos(np.radians(47.4))
    np.testing.assert_allclose(log.position_fix.value_n[-1], [east, 0.0, 0.0], rtol=3e-3, atol=1e-5)  # ellipsoid
    estimate = found.tracks["estimate"]
    np.testing.assert_allclose(estimate.p_n[-1], [0.2 * 95, 0.1 * 95, 0.3 * 95], rtol=1e-6)
    np.testing.assert_allclose(estimate.v_n[0], [2.0, 1.0, 0.5])
    from strapdown.rotation import euler_from_q

    # nose to the east is yaw 0 of ours; nose up is pitch -2 deg in a frame with z up
    np.testing.assert_allclose(np.degrees(euler_from_q(estimate.q_nb[0])), [1.0, -2.0, 0.0], atol=1e-12)


def test_several_imus_of_an_ardupilot_log(tmp_path):
    (tmp_path / "flight.bin").write_bytes(dataflash(imus=(0, 1)))
    with pytest.raises(InputError, match="holds the sensors IMU/0, IMU/1"):
        io.read_one(tmp_path / "flight.bin")
    log = io.read_one(tmp_path / "flight.bin", "IMU/1")
    assert log.temperature[0] == 31.0 and abs(log.gyr_s[0, 2] + 1.2) < 1e-6  # float32

"""Data sets and trajectories: EuRoC, TUM, KITTI, NMEA, gnss-ins-sim, MATLAB; what we write reads back equal."""

from dataclasses import replace

import numpy as np
import pytest

from format_cases import recording, same_readings, same_track, track
from helpers import shared_data
from strapdown import io
from strapdown.errors import InputError
from strapdown.io.formats import format_of
from strapdown.io.formats.writers import writer_of
from strapdown.recordings.foreign.mapping_guess import guess_mapping
from strapdown.rotation import euler_from_q, q_from_euler

TUM = """# ground truth trajectory
1305031098.6659 1.3563 0.6305 1.6380 0.6132 0.5962 -0.3311 -0.3986
1305031098.6758 1.3543 0.6306 1.6360 0.6129 0.5966 -0.3316 -0.3980
1305031098.6858 1.3543 0.6308 1.6350 0.6128 0.5972 -0.3312 -0.3978
"""


def written(name, path, recordings, tracks):
    writer = writer_of(path, name)
    return writer.write(path, recordings, tracks)


def test_a_euroc_folder(tmp_path):
    """By hand in the data set's own form, with stamps of ns; then ours, which reads back equal."""
    imu, truth = tmp_path / "MH_01" / "mav0" / "imu0", tmp_path / "MH_01" / "mav0" / "state_groundtruth_estimate0"
    for folder in (imu, truth):
        folder.mkdir(parents=True)
    head = "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],a_RS_S_x [m s^-2],"
    rows = [f"{1403636579758555392 + k * 5000000},-0.099,0.147,0.028,8.17,{-0.4 + k},-2.49" for k in range(9)]
    (imu / "data.csv").write_text("\n".join([head + "a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]", *rows]) + "\n")
    rows = [f"{1403636579763555584 + k * 5000000},4.6,-1.7,{k},1,0,0,0,0.1,0,0,0,0,0,0,0,0" for k in range(9)]
    (truth / "data.csv").write_text("\n".join(["#timestamp, p_RS_R_x [m], ...", *rows]) + "\n")
    for given in (tmp_path / "MH_01", tmp_path / "MH_01" / "mav0", imu):
        found = io.read_all(given)
        log = found.recordings["imu0"]
        assert log.meta["t0_ns"] == 1403636579758555392
        np.testing.assert_allclose(np.diff(log.t), 0.005, atol=1e-12)  # a double of Unix time would be off by 1e-7
        np.testing.assert_array_equal(log.acc_s[:, 1], -0.4 + np.arange(9))
        track_ = found.tracks["state_groundtruth_estimate0"]
        assert abs(track_.t[0] - 0.005000192) < 1e-12 and track_.v_n[0, 0] == 0.1
    log, poses = recording(), track()
    written("euroc", tmp_path / "out", {"imu": log}, {"filter": poses})
    found = io.read_all(tmp_path / "out")
    same_readings(found.recordings["imu0"], log)
    same_track(found.tracks["state_groundtruth_estimate0"], poses)
    with pytest.raises(InputError, match="exists already"):
        written("euroc", tmp_path / "out", {"imu": log}, {})


def test_a_tum_trajectory(tmp_path):
    path = tmp_path / "groundtruth.txt"
    path.write_text(TUM)
    found = io.read_all(path).tracks["groundtruth"]
    np.testing.assert_allclose(found.t, [0.0, 0.0099, 0.0199], atol=1e-12)  # by the digits of the file
    np.testing.assert_allclose(found.q_nb[0], [-0.3986, 0.6132, 0.5962, -0.3311], atol=1e-4)  # made a unit again
    assert format_of(tmp_path).name == "tum-folder"
    (tmp_path / "accelerometer.txt").write_text(
        "# timestamp ax ay az\n1305031098.5 0 8.1 -5.4\n1305031098.6 0 8.2 -5.3\n"
    )
    folder = io.read_all(tmp_path)
    np.testing.assert_array_equal(folder.recordings["accelerometer"].acc_s[:, 1], [8.1, 8.2])
    assert abs(folder.tracks["groundtruth"].t[0] - 0.1659) < 1e-6
    poses = track()
    written("tum", tmp_path / "out.tum", {}, {"filter": poses})
    same_track(io.read_all(tmp_path / "out.tum").tracks["out"], poses)
    # the stamps are those of the clock, to the ns
    assert (tmp_path / "out.tum").read_text().splitlines()[1].startswith("1700000000.123456789 ")


def test_kitti_poses(tmp_path):
    """Camera right-down-forward: 2 m along its z are 2 m forward, and a turn about its y is to the right."""
    c, s = np.cos(0.1), np.sin(0.1)
    ahead = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2]
    right = [c, 0, s, 1, 0, 1, 0, 0, -s, 0, c, 4]
    path = tmp_path / "00.txt"
    path.write_text("\n".join(" ".join(map(str, row)) for row in (ahead, ahead, right)))
    found = io.read_all(path)
    pose = found.tracks["00"]
    np.testing.assert_allclose(pose.p_n, [[2, 0, 0], [2, 0, 0], [4, -1, 0]])
    np.testing.assert_allclose(euler_from_q(pose.q_nb[2]), [0.0, 0.0, -0.1], atol=1e-12)
    np.testing.assert_allclose(pose.t, [0.0, 0.1, 0.2])
    assert "10 Hz is assumed" in found.notes[0]
    poses = track()
    written("kitti", tmp_path / "out.kitti", {}, {"filter": poses})
    back = io.read_all(tmp_path / "out.kitti").tracks["out"]
    np.testing.assert_array_equal(back.t, poses.t)
    np.testing.assert_array_equal(back.p_n, poses.p_n)
    same = np.abs(np.sum(back.q_nb * poses.q_nb, axis=1))
    np.testing.assert_allclose(same, 1.0, atol=1e-15)  # through a matrix; the sign of a quaternion is free


def test_a_raw_drive_of_kitti(tmp_path):
    data = tmp_path / "drive" / "oxts" / "data"
    data.mkdir(parents=True)
    stamps = [f"2011-09-26 13:02:25.{964389445 + k * 10_000_000}" for k in range(3)]
    (data.parent / "timestamps.txt").write_text("\n".join(stamps) + "\n")
    for k in range(3):
        row = [49.0, 8.4 + 1e-6 * k, 116.0, 0.01, 0.02, 1.5, 1, 2, 3, 0, 0, 0.1, 0.2, 9.8 + k, 0, 0, 0]
        row += [0.001 * k, 0.002, 0.003, 0, 0, 0, 0.05, 0.01, 4, 10, 4, 4, 0]
        (data / f"{k:010d}.txt").write_text(" ".join(map(str, row)))
    found = io.read_all(tmp_path / "drive")
    log, pose = found.recordings["oxts"], found.tracks["oxts"]
    np.testing.assert_allclose(log.t, [0.0, 0.01, 0.02], atol=1e-12)
    np.testing.assert_array_equal(log.acc_s[:, 2], [9.8, 10.8, 11.8])
    np.testing.assert_array_equal(log.gyr_s[:, 0], [0.0, 0.001, 0.002])
    np.testing.assert_allclose(pose.p_n[2], [0.1463, 0.0, 0.0], atol=1e-3)  # 2e-6 deg of longitude at 49 deg
    np.testing.assert_allclose(euler_from_q(pose.q_nb[0]), [0.01, 0.02, 1.5], atol=1e-12)


def checksum(body):
    value = 0
    for each in body.encode():
        value ^= each
    return f"${body}*{value:02X}"


def test_nmea_positions(tmp_path):
    lines = ["receiver started", checksum("GPRMC,235959.50,A,5954.000,N,03018.000,E,0.0,0.0,010124,,,A")]
    for k, clock in enumerate(("235959.50", "000000.00", "000000.50")):
        lines.append(checksum(f"GPGGA,{clock},5954.000,N,03018.{k:03d},E,1,09,2.0,10.0,M,17.0,M,,"))
        if k == 2:
            lines.append(checksum(f"GPGST,{clock},1.0,,,,0.7,0.8,1.1"))
    lines.append("$GPGGA,000001.00,broken*00")
    path = tmp_path / "gps.nmea"
    path.write_text("\n".join(lines))
    found = io.read_all(path)
    log = found.recordings["gga"]
    np.testing.assert_allclose(log.t, [0.0, 0.5, 1.0], atol=1e-12)  # over midnight
    assert log.meta["t0_ns"] == int(np.datetime64("2024-01-01T23:59:59.5", "ns").astype(np.int64))
    assert log.meta["origin"]["height_m"] == 27.0  # of the antenna above the geoid, and of that above the ellipsoid
    east = np.radians(0.002 / 60.0) * 6.39e6 * np.cos(np.radians(59.9))
    np.testing.assert_allclose(found.tracks["gga"].p_n[2], [east, 0.0, 0.0], rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(log.position_fix.sigma_n[0], [6.0, 6.0, 12.0])  # HDOP 2
    np.testing.assert_allclose(log.position_fix.sigma_n[2], [0.8, 0.7, 1.1])  # east, north, up, as GST states
    assert "1 sentences are damaged" in found.notes[0]


def test_a_folder_of_gnss_ins_sim(tmp_path):
    def save(name, head, rows):
        (tmp_path / name).write_text(head + "\n" + "\n".join(",".join(map(repr, row)) for row in rows) + "\n")

    save("time.csv", "time (sec)", [[0.01 * k] for k in range(4)])
    save("gyro-0.csv", "gyro_x (deg/s),gyro_y (deg/s),gyro_z (deg/s)", [[180.0, 90.0, -k] for k in range(4)])
    save("accel-0.csv", "accel_x (m/s^2),accel_y (m/s^2),accel_z (m/s^2)", [[0.1, 0.2, -9.8]] * 4)
    save("ref_pos.csv", "ref_pos_x (m),ref_pos_y (m),ref_pos_z (m)", [[100.0 + k, 200.0, 300.0 - k] for k in range(4)])
    save("ref_att_euler.csv", "ref_Yaw (deg),ref_Pitch (deg),ref_Roll (deg)", [[90.0, 0.0, 0.0]] * 4)
    save("gps_time.csv", "gps_time (sec)", [[0.0], [0.02]])
    save(
        "gps-0.csv",
        "gps_x (m),gps_y (m),gps_z (m),gps_vx (m/s),gps_vy (m/s),gps_vz (m/s)",
        [[101.0, 200, 299, 0, 0, 0]] * 2,
    )
    found = io.read_all(tmp_path)
    log = found.recordings["run-0"]
    np.testing.assert_array_equal(log.new["position_fix"], [True, False, True, False])
    np.testing.assert_allclose(log.position_fix.value_n[0], [0.0, 1.0, 1.0])  # east, north, up of the reference's start
    np.testing.assert_allclose(log.gyr_s[0], [np.pi, -np.pi / 2, 0.0])
    np.testing.assert_allclose(log.acc_s[0], [0.1, -0.2, 9.8])
    np.testing.assert_allclose(found.tracks["reference"].p_n[3], [0.0, 3.0, 3.0])
    np.testing.assert_allclose(euler_from_q(found.tracks["reference"].q_nb[0]), [0.0, 0.0, 0.0], atol=1e-12)  # east


def test_a_matlab_file_of_ours_reads_back_equal(tmp_path):
    log = recording()
    written("matlab", tmp_path / "out.mat", {"imu": log, "foot": log[:50]}, {})
    found = io.read(tmp_path / "out.mat")
    assert set(found) == {"imu", "foot"} and found["imu"].meta["part"] == "MPU-6050"
    same_readings(found["imu"], log, ("gyr_s", "acc_s", "mag_s", "temperature", "odometer"))
    np.testing.assert_array_equal(found["imu"].truth.q_nb, log.truth.q_nb)
    np.testing.assert_array_equal(found["foot"].new["mag_s"], log.new["mag_s"][:50])


def test_matlab_7_3_and_a_ready_mapping(tmp_path):
    import h5py

    log = recording()
    path = tmp_path / "trial.mat"
    with h5py.File(path, "w", userblock_size=512) as file:  # MATLAB stores arrays with their axes turned round
        for name, values in (("imu_gyr", log.gyr_s), ("imu_acc", log.acc_s), ("imu_mag", log.mag_s)):
            file[name] = values.T
    raw = bytearray(path.read_bytes())
    raw[:19] = b"MATLAB 7.3 MAT-file"
    path.write_bytes(raw)
    found = io.read_one(path)
    np.testing.assert_array_equal(found.gyr_s, log.gyr_s)
    np.testing.assert_array_equal(found.mag_s, log.mag_s)
    assert abs(found.step_s - 0.0035) < 1e-12  # 2000/7 Hz of BROAD


def test_a_matlab_file_without_units_needs_a_mapping(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "own.mat", {"log": {"time": np.arange(50.0), "u": np.arange(300.0).reshape(6, 50)}})
    with pytest.raises(InputError, match=r"has the columns log.time, log.u_1, .* which state no units"):
        io.read(tmp_path / "own.mat")
    names = dict(zip(("acc_x", "acc_y", "acc_z", "gyr_x", "gyr_y", "gyr_z"), range(1, 7), strict=True))
    columns = {name: {"column": f"log.u_{i}"} for name, i in names.items()}
    log = io.read_one(tmp_path / "own.mat", columns={"t": {"column": "log.time", "unit": "ms"}, **columns})
    np.testing.assert_array_equal(log.gyr_s[0], [150.0, 200.0, 250.0])
    assert log.t[1] == 0.001


def test_structs_cells_and_arrays_of_structs_of_matlab(tmp_path):
    """As users save them: a struct with its time, a cell array, one struct for each sample."""
    from scipy.io import savemat

    t, acc = np.arange(60) * 0.01, np.arange(180.0).reshape(60, 3)
    cell, each = np.empty((1, 2), object), np.zeros((1, 60), dtype=[("t", "O"), ("acc", "O")])
    cell[0, 0], cell[0, 1] = t[:, None], acc
    for k in range(60):
        each[0, k] = (t[k], acc[k])
    documents = {"struct": {"imu": {"t": t, "acc": acc}, "name": "a"}, "cell": {"imu": cell}, "structs": {"imu": each}}
    names = {"struct": ("imu.t", "imu.acc"), "cell": ("imu{1}", "imu{2}"), "structs": ("imu.t", "imu.acc")}
    for name, document in documents.items():
        savemat(tmp_path / f"{name}.mat", document)
        time, force = names[name]
        columns = {f"acc_{axis}": f"{force}_{axis}" for axis in "xyz"}
        log = io.read_one(tmp_path / f"{name}.mat", columns={"t": time, **columns})
        np.testing.assert_array_equal(log.acc_s, acc)
        np.testing.assert_array_equal(log.t, t)
    assert guess_mapping(tmp_path / "struct.mat").columns["t"] == {"column": "imu.t", "unit": "s"}
    savemat(tmp_path / "text.mat", {"note": "nothing"})
    with pytest.raises(InputError, match="it has note; tables, timetables and objects cannot be read"):
        io.read(tmp_path / "text.mat")


def test_a_mapping_corrects_units_and_axes_of_a_known_format(tmp_path):
    """A lidar whose driver writes g, in axes forward-right-down; the rest of the log stays."""
    log = recording()
    io.write(tmp_path / "a.mcap", {"imu": replace(log, acc_s=log.acc_s / 9.80665 * [1.0, -1.0, -1.0])})
    columns = {f"acc_{axis}": {"column": f"acc_{axis}", "unit": "g"} for axis in "xyz"}
    found = io.read_one(tmp_path / "a.mcap", columns={"frame": "frd", **columns})
    np.testing.assert_allclose(found.acc_s, log.acc_s, rtol=1e-15, atol=1e-15)  # roundoff of the factor
    np.testing.assert_array_equal(found.gyr_s, log.gyr_s)
    np.testing.assert_array_equal(found.odometer, log.odometer)
    with pytest.raises(InputError, match="it may correct units and axes of gyr, acc and mag"):
        io.read(tmp_path / "a.mcap", {"t": "time"})


def test_a_track_without_velocities_reads_back_without(tmp_path):
    """Zeros would state that it stands."""
    path = replace(track(), v_n=None)
    for name in ("a.mcap", "a.bag", "euroc"):
        writer = writer_of(tmp_path / name, name if name == "euroc" else None)
        writer.write(tmp_path / name, {"imu": recording()}, {"path": path})
        found = io.read_all(tmp_path / name).tracks
        back = found["path" if name != "euroc" else "state_groundtruth_estimate0"]
        assert back.v_n is None
        np.testing.assert_array_equal(back.p_n, path.p_n)


def test_a_trial_of_broad_has_its_cameras_as_a_track():
    path = shared_data("broad") / "02_undisturbed_slow_rotation_B.mat"
    found = io.read_all(path)
    assert len(next(iter(found.recordings.values()))) == 53240 and len(found.tracks["optical"]) == 51534


def test_a_file_of_poses_holds_no_sensor(tmp_path):
    (tmp_path / "a.tum").write_text(TUM)
    with pytest.raises(InputError, match="holds poses and no sensor"):
        io.read(tmp_path / "a.tum")


def test_formats_are_known_by_their_content_too(tmp_path):
    shared = shared_data("px4_ulog") / "sample_log_small.ulg"
    (tmp_path / "upload").write_bytes(shared.read_bytes())
    assert format_of(tmp_path / "upload").name == "ulog"
    assert io.read_one(tmp_path / "upload").meta["source"] == "PX4 ULog"
    q = q_from_euler(0.0, 0.0, 1.0)
    (tmp_path / "table.txt").write_text(f"1 2 3\n4 5 6\n{q[0]}")
    assert format_of(tmp_path / "table.txt") is None

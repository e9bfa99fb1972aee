"""Bags of ROS 1 and 2 and MCAP: files of the reference libraries are read equal, and they open ours."""

import json
import struct

import numpy as np
import pytest

from format_cases import T0_NS, recording, same_readings, same_track, track
from strapdown import io
from strapdown.errors import InputError
from strapdown.io.formats.ros.write import write_mcap, write_ros1, write_ros2

pytest.importorskip("rosbags.rosbag2")
WRITERS = {".mcap": write_mcap, ".bag": write_ros1, "": write_ros2}


@pytest.fixture(scope="module")
def store():
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def imu_message(store, k, stamp_ns, frame="imu_link", orientation=True, array=np.array):
    types = store.types
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    stamp = types["builtin_interfaces/msg/Time"](stamp_ns // 10**9, stamp_ns % 10**9)
    covariance, unknown = array([0.0] * 9), array([-1.0, *[0.0] * 8])
    return types["sensor_msgs/msg/Imu"](
        types["std_msgs/msg/Header"](stamp, frame),
        quaternion(0.0, 0.0, np.sin(0.01 * k), np.cos(0.01 * k)),
        covariance if orientation else unknown,
        vector(0.1 * k, -0.2, 0.3),
        covariance,
        vector(1.0, 2.0, 9.8 + 0.001 * k),
        covariance,
    )


def stamps(n=50):
    return [T0_NS + k * 10_000_001 for k in range(n)]


def reference_bag(path, store, topics=("/imu/data",), **options):
    """A ROS 2 bag that rosbags writes, with its own serialisation."""
    from rosbags.rosbag2 import Writer

    writer = Writer(path, version=9, **{k: v for k, v in options.items() if k == "storage_plugin"})
    if "compression" in options:
        writer.set_compression(*options["compression"])
    with writer as bag:
        places = [bag.add_connection(topic, "sensor_msgs/msg/Imu", typestore=store) for topic in topics]
        for k, stamp in enumerate(stamps()):
            for place in places:
                raw = store.serialize_cdr(imu_message(store, k, stamp), "sensor_msgs/msg/Imu")
                bag.write(place, stamp + 7_000_000, raw)  # recorded 7 ms later: the stamp of the header counts
    return path


def check_reference(log, n=50):
    k = np.arange(n)
    assert len(log) == n and log.meta["t0_ns"] == T0_NS and log.meta["frame_id"] == "imu_link"
    np.testing.assert_allclose(log.t, k * 0.010000001, rtol=0.0, atol=1e-15)  # roundoff of one product
    np.testing.assert_array_equal(log.gyr_s, np.column_stack([0.1 * k, np.full(n, -0.2), np.full(n, 0.3)]))
    np.testing.assert_array_equal(log.acc_s[:, 2], 9.8 + 0.001 * k)


@pytest.mark.parametrize("compression", [None, "FILE", "MESSAGE"])
def test_a_ros2_bag_of_the_reference_library(tmp_path, store, compression):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode

    options = {} if compression is None else {"compression": (CompressionMode[compression], CompressionFormat.ZSTD)}
    found = io.read_all(reference_bag(tmp_path / "bag", store, **options))
    check_reference(found.recordings["imu/data"])
    assert found.source == "ROS 2 bag" and "north" in found.frames
    turn = found.tracks["imu/data"]
    assert turn.p_n is None
    np.testing.assert_allclose(turn.q_nb[:, 3], np.sin(0.01 * np.arange(50)), atol=1e-15)


def test_a_single_file_of_a_ros2_bag_is_read_without_its_folder(tmp_path, store):
    folder = reference_bag(tmp_path / "bag", store)
    check_reference(io.read_one(folder / "bag.db3"))


def test_mcap_storage_of_ros2(tmp_path, store):
    from rosbags.rosbag2 import StoragePlugin

    folder = reference_bag(tmp_path / "bag", store, storage_plugin=StoragePlugin.MCAP)
    check_reference(io.read_one(folder))
    check_reference(io.read_one(folder / "bag.mcap"))


@pytest.mark.parametrize("packed", ["NONE", "LZ4", "ZSTD"])
def test_an_mcap_of_the_reference_library(tmp_path, store, packed):
    from mcap.writer import CompressionType
    from mcap_ros2.writer import Writer

    path = tmp_path / "log.mcap"
    with path.open("wb") as file, Writer(file, compression=CompressionType[packed]) as writer:
        schema = writer.register_msgdef("sensor_msgs/msg/Imu", store.generate_msgdef("sensor_msgs/msg/Imu", 2)[0])
        for k, stamp in enumerate(stamps()):
            writer.write_message("/imu/data", schema, imu_message(store, k, stamp, array=list), stamp + 7_000_000)
    check_reference(io.read_one(path))
    # the end is lost, as when a robot is switched off: what stands before it is read
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(path.read_bytes()[:-200])
    check_reference(io.read_one(cut))


@pytest.mark.parametrize("suffix", WRITERS)
def test_what_we_write_reads_back_equal(tmp_path, suffix):
    log, poses = recording(), track()
    path = tmp_path / f"out{suffix}"
    unheld = WRITERS[suffix](path, {"imu": log}, {"filter": poses})
    assert not any("gyr" in each for each in unheld)
    found = io.read_all(path)
    back = found.recordings["imu"]
    same_readings(back, log, ("gyr_s", "acc_s", "temperature", "odometer"))
    np.testing.assert_array_equal(back.new["mag_s"], log.new["mag_s"])
    np.testing.assert_array_equal(back.new["position_fix"], log.new["position_fix"])
    np.testing.assert_allclose(back.mag_s, log.mag_s, rtol=1e-15)  # roundoff of uT to T and back
    # degrees of latitude and back: 1e-15 of the Earth's radius
    origin = back.position_fix.value_n[0] - log.position_fix.value_n[0]
    np.testing.assert_allclose(
        np.linalg.norm(back.position_fix.value_n - log.position_fix.value_n, axis=1).max(),
        np.linalg.norm(origin),
        rtol=1e-4,
    )
    assert back.meta["t0_ns"] == T0_NS and (suffix == ".bag") == ("part" not in back.meta)
    same_track(found.tracks["filter"], poses)
    np.testing.assert_allclose(found.tracks["filter"].v_n, poses.v_n, atol=1e-15)  # turned into the body and back
    np.testing.assert_array_equal(found.tracks["imu/truth"].p_n, log.truth.p_n)


def test_the_reference_readers_open_our_files(tmp_path):
    """mcap with its ROS 2 decoder, and rosbags: what Foxglove and PlotJuggler read by the same formats."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory
    from rosbags.highlevel import AnyReader

    log, poses = recording(), track()
    for suffix, write in WRITERS.items():
        write(tmp_path / f"out{suffix}", {"imu": log}, {"filter": poses})
    seen = {}
    with (tmp_path / "out.mcap").open("rb") as file:
        for _, channel, message, decoded in make_reader(file, True, [DecoderFactory()]).iter_decoded_messages():
            seen.setdefault(channel.topic, []).append((message.log_time, decoded))
    assert set(seen) == {"/imu", "/imu/mag", "/imu/temperature", "/imu/odometer", "/imu/fix", "/imu/truth", "/filter"}
    w = [each.angular_velocity for _, each in seen["/imu"]]
    np.testing.assert_array_equal([(v.x, v.y, v.z) for v in w], log.gyr_s)
    assert seen["/imu"][3][0] == T0_NS + 30_000_000 and seen["/imu"][3][1].header.stamp.sec == T0_NS // 10**9
    assert len(seen["/imu/mag"]) == 40 and len(seen["/imu/fix"]) == 10
    fix = seen["/imu/fix"][0][1]
    assert fix.status.status == 0 and fix.position_covariance_type == 2 and abs(fix.latitude - 59.9) < 0.01
    for name in ("out.bag", "out"):
        with AnyReader([tmp_path / name]) as bag:
            rows = [
                bag.deserialize(raw, c.msgtype).linear_acceleration for c, _, raw in bag.messages() if c.topic == "/imu"
            ]
        np.testing.assert_array_equal([(v.x, v.y, v.z) for v in rows], log.acc_s)


def test_a_split_ros1_bag_is_one_log(tmp_path):
    log = recording()
    folder = tmp_path / "drive"
    folder.mkdir()
    write_ros1(folder / "drive_0.bag", {"imu": log[:90]}, {})
    write_ros1(folder / "drive_1.bag", {"imu": log[90:]}, {})
    same_readings(io.read_one(folder), log)


def test_several_imus_are_listed_and_refused_without_a_topic(tmp_path, store):
    path = reference_bag(tmp_path / "bag", store, ("/imu/data", "/imu/raw"))
    with pytest.raises(InputError, match="holds the sensors imu/data, imu/raw"):
        io.read_one(path)
    check_reference(io.read_one(path, "/imu/raw"))
    check_reference(io.read_one(path, "imu/raw"))


def test_big_endian_messages_and_a_header_without_a_stamp(tmp_path):
    from mcap.writer import Writer

    path = tmp_path / "big.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        channel = writer.register_channel("/imu", "cdr", writer.register_schema("sensor_msgs/msg/Imu", "ros2idl", b""))
        for k in range(20):
            head = struct.pack(">II", 0, 0) + struct.pack(">I", 2) + b"a\0" + bytes(2)
            body = struct.pack(">37d", *[0.0] * 13, 0.5 * k, *[0.0] * 11, 0.0, 0.0, 0.0, 9.8, *[0.0] * 8)
            writer.add_message(channel, 5_000_000_000 + k * 10_000_000, b"\0\0\0\0" + head + body, 0)
        writer.finish()
    log = io.read_one(path)
    np.testing.assert_array_equal(log.gyr_s[:, 0], 0.5 * np.arange(20))
    assert log.meta["t0_ns"] == 5_000_000_000 and abs(log.t[-1] - 0.19) < 1e-12


def test_another_definition_under_the_name_of_ros_is_not_read(tmp_path):
    from mcap.writer import Writer

    path = tmp_path / "own.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        schema = writer.register_schema("sensor_msgs/msg/Imu", "ros2msg", b"float32 x\nfloat32 y")
        channel = writer.register_channel("/imu", "cdr", schema)
        writer.add_message(channel, 1, bytes(12), 1)
        writer.finish()
    with pytest.raises(InputError, match="holds no sensor_msgs/Imu"):
        io.read(path)


def test_tf_and_poses_are_tracks(tmp_path, store):
    from rosbags.rosbag2 import Writer

    types = store.types
    point, vector = types["geometry_msgs/msg/Point"], types["geometry_msgs/msg/Vector3"]
    quaternion, header = types["geometry_msgs/msg/Quaternion"], types["std_msgs/msg/Header"]
    with Writer(tmp_path / "bag", version=9) as bag:
        tf = bag.add_connection("/tf", "tf2_msgs/msg/TFMessage", typestore=store)
        pose = bag.add_connection("/pose", "geometry_msgs/msg/PoseStamped", typestore=store)
        for k, stamp in enumerate(stamps()):
            head = header(types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9), "odom")
            turn = quaternion(0.0, 0.0, 0.0, 1.0)
            transform = types["geometry_msgs/msg/Transform"](vector(0.1 * k, 0.0, 1.0), turn)
            still = types["geometry_msgs/msg/Transform"](vector(1.0, 2.0, 3.0), turn)
            stamped = types["geometry_msgs/msg/TransformStamped"]
            both = [stamped(head, "base", transform)] + ([stamped(head, "camera", still)] if k == 0 else [])
            message = types["tf2_msgs/msg/TFMessage"](both)
            bag.write(tf, stamp, store.serialize_cdr(message, "tf2_msgs/msg/TFMessage"))
            place = types["geometry_msgs/msg/PoseStamped"](
                head, types["geometry_msgs/msg/Pose"](point(0.0, 0.2 * k, 0.0), turn)
            )
            bag.write(pose, stamp, store.serialize_cdr(place, "geometry_msgs/msg/PoseStamped"))
    found = io.read_all(tmp_path / "bag")
    assert set(found.tracks) == {"tf/odom/base", "pose"}  # the camera's mounting is no track
    np.testing.assert_allclose(found.tracks["tf/odom/base"].p_n[:, 0], 0.1 * np.arange(50), atol=1e-15)
    np.testing.assert_allclose(found.tracks["pose"].p_n[:, 1], 0.2 * np.arange(50), atol=1e-15)
    with pytest.raises(InputError, match="holds no sensor_msgs/Imu"):
        io.read(tmp_path / "bag")


def test_poses_in_the_schemas_of_foxglove(tmp_path):
    from foxglove.messages import Pose, PoseInFrame, Quaternion, Timestamp, Vector3
    from mcap.writer import Writer

    path = tmp_path / "foxglove.mcap"
    protobuf = PoseInFrame.get_schema()
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema(protobuf.name, protobuf.encoding, protobuf.data)
        pose = writer.register_channel("/pose", "protobuf", schema)
        frames = writer.register_schema("foxglove.FrameTransform", "jsonschema", b"{}")
        tf = writer.register_channel("/tf", "json", frames)
        for k, stamp in enumerate(stamps()):
            made = PoseInFrame(
                timestamp=Timestamp(stamp // 10**9, stamp % 10**9),
                frame_id="map",
                pose=Pose(position=Vector3(x=0.3 * k), orientation=Quaternion(w=1.0)),
            )
            writer.add_message(pose, stamp, made.encode(), stamp)
            time = {"sec": stamp // 10**9, "nsec": stamp % 10**9}
            text = {"timestamp": time, "parent_frame_id": "map", "child_frame_id": "drone"}
            text |= {"translation": {"x": 0.0, "y": 0.0, "z": 0.1 * k}, "rotation": {"x": 0, "y": 0, "z": 0, "w": 1}}
            writer.add_message(tf, stamp, json.dumps(text).encode(), stamp)
        writer.finish()
    found = io.read_all(path)
    np.testing.assert_array_equal(found.tracks["pose"].p_n[:, 0], 0.3 * np.arange(50))
    np.testing.assert_array_equal(found.tracks["tf/map/drone"].p_n[:, 2], 0.1 * np.arange(50))


def test_a_missing_library_is_named_with_the_extra(tmp_path, monkeypatch):
    import sys

    for module, name in (
        ("rosbags.rosbag1", "a.bag"),
        ("mcap.reader", "a.mcap"),
        ("pyulog", "a.ulg"),
        ("pynmea2", "a.nmea"),
    ):
        (tmp_path / name).write_bytes(b"x" * 100)
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(InputError, match=r"install it: pip install 'strapdown\[formats\]'"):
            io.read(tmp_path / name)

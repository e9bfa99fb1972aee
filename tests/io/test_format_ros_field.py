"""ROS logs as robots leave them: cut off, without an index, out of order, with a stepped clock, with half an IMU."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from format_cases import T0_NS, recording
from helpers import command
from strapdown import io
from strapdown.errors import InputError, LogWarning
from strapdown.io.formats.ros.write import write_mcap, write_ros1, write_ros2
from strapdown.io.formats.rows import in_order

pytest.importorskip("rosbags.rosbag1")
pytestmark = pytest.mark.filterwarnings("ignore::strapdown.errors.LogWarning")
N, STEP_NS = 200, 10_000_000


@pytest.fixture(scope="module")
def store():
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS1_NOETIC)


def message(store, k, stamp_ns, without=()):
    """without: "gyr" or "acc": the readings are zeros, and -1 in the covariance states that there are none."""
    types = store.types
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    stamp = types["builtin_interfaces/msg/Time"](stamp_ns // 10**9, stamp_ns % 10**9)
    known, unknown = np.zeros(9), np.array([-1.0, *[0.0] * 8])
    gyr, acc = (0.1, 0.2, float(k)), (0.0, float(k), 9.8)
    return types["sensor_msgs/msg/Imu"](
        types["std_msgs/msg/Header"](k, stamp, "imu"),
        quaternion(0.0, 0.0, 0.0, 1.0),
        known,
        vector(*(0.0, 0.0, 0.0) if "gyr" in without else gyr),
        unknown if "gyr" in without else known,
        vector(*(0.0, 0.0, 0.0) if "acc" in without else acc),
        unknown if "acc" in without else known,
    )


def bag(path, store, messages, compression=None):
    """messages: (topic, recorded at ns, message), as rosbags writes them."""
    from rosbags.rosbag1 import Writer

    writer = Writer(path)
    if compression is not None:
        writer.set_compression(Writer.CompressionFormat[compression])
    with writer:
        places = {}
        for topic, logged_ns, each in messages:
            if topic not in places:
                places[topic] = writer.add_connection(topic, "sensor_msgs/msg/Imu", typestore=store)
            writer.write(places[topic], logged_ns, store.serialize_ros1(each, "sensor_msgs/msg/Imu"))
    return path


def series(store, stamps=None, topic="/imu", **options):
    stamps = T0_NS + STEP_NS * np.arange(N) if stamps is None else stamps
    return [(topic, T0_NS + STEP_NS * k, message(store, k, int(stamp), **options)) for k, stamp in enumerate(stamps)]


# Stamps that do not rise


def test_late_messages_are_put_in_order_up_to_the_step_of_a_clock():
    """A message 127 ms late was delayed; from 128 ms on a clock was stepped, and its rows are not mixed."""
    stamps = T0_NS + STEP_NS * np.arange(N)
    for late_ns, kept in ((127_000_000, N), (128_000_000, N - 1)):
        moved = stamps.copy()
        moved[100] = moved[99] - late_ns
        rows = in_order(moved)
        assert len(rows) == kept and (np.diff(moved[rows]) > 0).all()


def test_messages_in_the_wrong_order_lose_nothing(tmp_path, store):
    k = np.arange(N)
    found = io.read_all(bag(tmp_path / "a.bag", store, series(store, T0_NS + STEP_NS * (k ^ 1))))  # pairs are swapped
    log = found.recordings["imu"]
    np.testing.assert_array_equal(log.gyr_s[:, 2], k ^ 1)
    np.testing.assert_allclose(log.t, 0.01 * k, rtol=0.0, atol=1e-12)
    assert found.notes == ("of 200 messages of /imu 100 came late and were put in order",)


@pytest.mark.parametrize("wrong", [slice(0, 5), slice(90, 91)])
def test_a_few_stamps_of_the_future_do_not_cost_the_log(tmp_path, store, wrong):
    """A robot without a clock battery: its first stamps are wrong by an hour. Those are dropped, and it is stated."""
    stamps = T0_NS + STEP_NS * np.arange(N)
    stamps[wrong] += 3600 * 10**9
    found = io.read_all(bag(tmp_path / "a.bag", store, series(store, stamps)))
    dropped = wrong.stop - wrong.start
    assert len(found.recordings["imu"]) == N - dropped
    assert found.recordings["imu"].t[0] == 0.0
    assert found.notes == (f"of 200 messages of /imu {dropped} have stamps that repeat or step back, and were dropped",)


def test_a_command_states_what_was_dropped(tmp_path, store):
    stamps = T0_NS + STEP_NS * np.arange(N)
    stamps[:5] += 3600 * 10**9
    path = bag(tmp_path / "a.bag", store, series(store, stamps))
    with pytest.warns(LogWarning, match="5 have stamps that repeat or step back"):
        io.read(path)
    said = command("orient", path)
    assert f"warning: {path}: of 200 messages of /imu 5 have stamps" in said.err and "Traceback" not in said.err


# Half an IMU


def test_readings_that_a_driver_does_not_have_are_none(tmp_path, store):
    for without, has in (("acc", "gyr_s"), ("gyr", "acc_s")):
        log = io.read_one(bag(tmp_path / f"{without}.bag", store, series(store, without=(without,))))
        assert getattr(log, f"{without}_s") is None and getattr(log, has) is not None
    found = io.read_all(bag(tmp_path / "attitude.bag", store, series(store, without=("gyr", "acc"))))
    assert not found.recordings and list(found.tracks) == ["imu"]
    with pytest.raises(InputError, match="states that it has no gyroscope and no accelerometer"):
        io.read(tmp_path / "attitude.bag")


@pytest.mark.parametrize("write", [write_mcap, write_ros1, write_ros2])
@pytest.mark.parametrize("lacks", ["gyr_s", "acc_s"])
def test_half_an_imu_that_we_wrote_reads_back_as_half(tmp_path, write, lacks):
    one = replace(recording(), truth=None, **{lacks: None})
    path = tmp_path / ("a.mcap" if write is write_mcap else "a.bag" if write is write_ros1 else "a")
    write(path, {"imu": one, "second": recording()}, {})
    found = io.read(path)
    assert getattr(found["imu"], lacks) is None and found["second"].gyr_s is not None


def test_gyroscope_and_accelerometer_of_a_camera_become_one_imu(tmp_path, store):
    """A RealSense camera publishes two topics at two rates. Its names begin alike; those of other sensors do not."""
    fast = T0_NS + 2_500_000 * np.arange(N)
    slow = T0_NS + 1_000_000 + 5_000_000 * np.arange(N // 2 - 1)
    messages = series(store, fast, "/camera/gyro/sample", without=("acc",))
    messages += series(store, slow, "/camera/accel/sample", without=("gyr",))
    found = io.read_all(bag(tmp_path / "camera.bag", store, sorted(messages, key=lambda each: each[1])))
    assert list(found.recordings) == ["camera/gyro/sample"]
    log = found.recordings["camera/gyro/sample"]
    assert log.meta["accelerometer_topic"] == "/camera/accel/sample"
    np.testing.assert_allclose(log.acc_s[:, 1], (log.t - 0.001) / 0.005, rtol=0.0, atol=1e-9)  # a straight line
    other = series(store, fast, "/left/imu", without=("acc",)) + series(store, slow, "/right/imu", without=("gyr",))
    apart = io.read(bag(tmp_path / "apart.bag", store, sorted(other, key=lambda each: each[1])))
    assert set(apart) == {"left/imu", "right/imu"}


# Files that were not finished


@pytest.mark.parametrize("compression", [None, "BZ2", "LZ4"])
def test_a_bag_without_its_index_is_read_from_the_start(tmp_path, store, compression):
    path = bag(tmp_path / "a.bag", store, series(store), compression)
    whole = path.read_bytes()
    at = whole.find(b"index_pos=") + 10
    (index,) = struct.unpack_from("<Q", whole, at)
    unfinished = whole[:at] + bytes(8) + whole[at + 8 : index]
    for name, raw in (("b.bag.active", unfinished), ("c.bag", whole[: index + 30]), ("d.bag", whole[:-7])):
        (tmp_path / name).write_bytes(raw)
        np.testing.assert_array_equal(io.read_one(tmp_path / name).gyr_s[:, 2], np.arange(N))


def test_the_open_chunk_of_a_recorder_that_was_switched_off_is_read(tmp_path, store):
    """The recorder of ROS writes the length of a chunk when it is full: in the last one it is still 0."""
    path = bag(tmp_path / "a.bag", store, series(store))
    whole = path.read_bytes()
    at = whole.find(b"index_pos=") + 10
    head = whole.find(b"op=\x05")  # of the chunk; its header ends with its size
    end = whole.find(b"size=", head) + 9 if b"size=" in whole[head : head + 60] else whole.find(b"op=\x07") - 60
    (size,) = struct.unpack_from("<I", whole, end)
    raw = whole[:at] + bytes(8) + whole[at + 8 : end] + bytes(4) + whole[end + 4 : end + 4 + size - 500]
    (tmp_path / "a.bag.active").write_bytes(raw)
    found = io.read_all(tmp_path / "a.bag.active")
    assert N - 3 < len(found.recordings["imu"]) < N
    assert found.notes == ("the bag ends early, without an index: what stands before that is read",)


def test_a_message_without_bytes_is_a_sentence(tmp_path, store):
    """The last messages wait for a full block: their damage is found after the file was read."""
    from rosbags.rosbag1 import Writer

    with Writer(tmp_path / "a.bag") as writer:
        place = writer.add_connection("/imu", "sensor_msgs/msg/Imu", typestore=store)
        writer.write(place, T0_NS, b"")
    with pytest.raises(InputError, match=r"cannot be read as a ROS 1 bag .*; it may be damaged"):
        io.read(tmp_path / "a.bag")


def test_eleven_parts_are_read_in_the_order_of_their_numbers(tmp_path, store):
    messages = series(store)
    for part in range(11):
        bag(tmp_path / f"run_{part}.bag", store, messages[part * 18 : part * 18 + 18])
    np.testing.assert_array_equal(io.read_one(tmp_path).gyr_s[:, 2], np.arange(198))


@pytest.mark.parametrize("mcap", [False, True])
def test_a_ros2_folder_without_metadata_is_read(tmp_path, mcap):
    """The recorder writes metadata.yaml at its end. Files of different names are recordings of their own."""
    log = replace(recording(), truth=None)
    folder = tmp_path / "drive"
    folder.mkdir()
    for part, cut in enumerate((log[:100], log[100:])):
        if mcap:
            write_mcap(folder / f"drive_{part}.mcap", {"imu": cut}, {})
        else:
            write_ros2(tmp_path / "part", {"imu": cut}, {})
            next((tmp_path / "part").glob("*.db3")).rename(folder / f"drive_{part}.db3")
            (tmp_path / "part" / "metadata.yaml").unlink()
            (tmp_path / "part").rmdir()
    found = io.read_all(folder)
    np.testing.assert_array_equal(found.recordings["imu"].gyr_s, log.gyr_s)
    assert "has no metadata.yaml" in found.notes[0]
    next(iter(sorted(folder.iterdir()))).rename(folder / f"another{'.mcap' if mcap else '.db3'}")
    with pytest.raises(InputError, match="is a folder"):
        io.read(folder)


def test_an_mcap_file_whose_summary_lists_no_schemas(tmp_path):
    from mcap.reader import make_reader
    from mcap.writer import Writer

    write_mcap(tmp_path / "a.mcap", {"imu": recording()}, {})
    with (tmp_path / "a.mcap").open("rb") as source, (tmp_path / "b.mcap").open("wb") as target:
        writer = Writer(target, repeat_schemas=False)
        writer.start(profile="ros2")
        numbers = {}
        for schema, channel, each in make_reader(source).iter_messages():
            if channel.id not in numbers:
                number = writer.register_schema(schema.name, schema.encoding, schema.data)
                numbers[channel.id] = writer.register_channel(channel.topic, channel.message_encoding, number)
            writer.add_message(numbers[channel.id], each.log_time, each.data, each.publish_time)
        writer.finish()
    np.testing.assert_array_equal(io.read_one(tmp_path / "b.mcap").gyr_s, recording().gyr_s)


def test_a_flipped_bit_of_an_mcap_file_changes_no_reading(tmp_path):
    """The checksum of a chunk is compared: readings are those that were written, or the file is refused."""
    path = tmp_path / "a.mcap"
    write_mcap(path, {"imu": recording(2000)}, {})
    whole, refused = path.read_bytes(), 0
    for at in range(1000, len(whole) // 2, len(whole) // 40):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        try:
            np.testing.assert_array_equal(io.read_one(path).gyr_s, recording(2000).gyr_s)
        except InputError:
            refused += 1
    assert refused > 10

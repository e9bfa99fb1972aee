"""Bags of ROS: a recorded one of a skid-steered robot, one written here, and what is refused."""

import numpy as np
import pytest

from helpers import shared_data
from strapdown import io
from strapdown.errors import InputError

rosbags = pytest.importorskip("rosbags.rosbag1")


def bag_with(path, odometry, stamps_s=None):
    """A ROS 1 bag of a robot that turns about z; odometry: (x, y, yaw) of each message."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    types = store.types
    zero = np.zeros(9)
    vector, quaternion = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    header, time = types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]
    with rosbags.Writer(path) as bag:
        imu = bag.add_connection("/imu/data", "sensor_msgs/msg/Imu", typestore=store)
        for k in range(40):
            stamp = time(sec=5 + k // 20, nanosec=(k % 20) * 50_000_000)
            message = types["sensor_msgs/msg/Imu"](
                header(seq=k, stamp=stamp, frame_id="base_link"),
                quaternion(0.0, 0.0, 0.0, 1.0),
                zero,
                vector(0.0, 0.0, 0.1 * k),
                zero,
                vector(1.0, 2.0, 9.8),
                zero,
            )
            bag.write(imu, stamp.sec * 10**9 + stamp.nanosec, store.serialize_ros1(message, "sensor_msgs/msg/Imu"))
        if not odometry:
            return
        wheel = bag.add_connection("/odom", "nav_msgs/msg/Odometry", typestore=store)
        for k, (x, y, yaw) in enumerate(odometry):
            stamp = time(sec=5 + k // 20, nanosec=(k % 20) * 50_000_000)
            pose = types["geometry_msgs/msg/Pose"](
                types["geometry_msgs/msg/Point"](x, y, 0.0), quaternion(0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2))
            )
            twist = types["geometry_msgs/msg/Twist"](vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0))
            cov = np.zeros(36)
            message = types["nav_msgs/msg/Odometry"](
                header(seq=k, stamp=stamp, frame_id="odom"),
                "base_link",
                types["geometry_msgs/msg/PoseWithCovariance"](pose, cov),
                types["geometry_msgs/msg/TwistWithCovariance"](twist, cov),
            )
            bag.write(wheel, stamp.sec * 10**9 + stamp.nanosec, store.serialize_ros1(message, "nav_msgs/msg/Odometry"))


def test_the_travel_is_that_along_the_own_heading_and_counts_back(tmp_path):
    # forward along x, a quarter turn on the spot, 0.5 m backward along the new heading
    ahead = [(0.1 * k, 0.0, 0.0) for k in range(11)]
    turn = [(1.0, 0.0, 0.5 * np.pi * k / 9) for k in range(10)]
    back = [(1.0, -0.05 * k, 0.5 * np.pi) for k in range(1, 11)]
    bag_with(tmp_path / "drive.bag", [*ahead, *turn, *back])
    log = io.read_one(tmp_path / "drive.bag")
    assert len(log) == 40 and log.t[0] == 0.0 and log.meta["odometer_topic"] == "/odom"
    np.testing.assert_allclose(np.diff(log.t), 0.05, atol=1e-6)
    np.testing.assert_allclose(log.gyr_s[:, 2], 0.1 * np.arange(40), atol=1e-12)
    np.testing.assert_allclose(log.odometer[[0, 10, 20, 30]], [0.0, 1.0, 1.0, 0.5], atol=1e-9)


def test_a_bag_without_wheels_has_no_odometer(tmp_path):
    bag_with(tmp_path / "imu.bag", [])
    assert io.read_one(tmp_path / "imu.bag").odometer is None


def test_what_is_no_bag_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "text.bag").write_text("no bag")
    with pytest.raises(InputError, match="cannot be read as a ROS 1 bag"):
        io.read(tmp_path / "text.bag")
    with pytest.raises(InputError, match="does not exist"):
        io.read(tmp_path / "missing.bag")


def test_a_recorded_robot():
    log = io.read_one(shared_data("jackal_bag") / "jackal.bag")
    assert len(log) == 3061 and abs(log.t[-1] - 61.2) < 0.1  # print rounding
    assert abs(log.odometer[-1] - 84.2) < 0.1
    assert abs(np.linalg.norm(log.acc_s[:50].mean(axis=0)) - 9.8) < 0.2

#!/usr/bin/env python3
"""Bags of 2 GB: memory and speed of reading, next to the bare iteration of the reference library, each in a process.

Usage: python tools/large_bags.py [--gb 2.0]

Bare iteration hands out the bytes of every message of the Imu topic and looks at none of them. Exit code 1 if a process
that reads needs 600 MB or more, or if reading is slower than half of that speed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MOST_MB = 600.0
LEAST_RATIO = 0.5
IMU_BYTES = 380  # of one Imu in a bag: its message, the header of its record, its entry in the index
IMAGE = (480, 640)
IMAGES_HZ, IMU_HZ = 30, 400


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=2.0)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(_measured(*options.work)))
        return 0
    failed = False
    for name, make in (("ROS 1, camera and Imu", _camera), ("ROS 1, Imu alone", _imu1), ("ROS 2, Imu alone", _imu2)):
        with tempfile.TemporaryDirectory() as folder:
            path = make(Path(folder), options.gb * 1e9)
            size = sum(each.stat().st_size for each in (path.iterdir() if path.is_dir() else [path]))
            bare, ours = (_in_process(kind, path) for kind in ("bare", "ours"))
        ratio = (ours["messages"] / ours["cpu_s"]) / (bare["messages"] / bare["cpu_s"])
        good = ours["mb"] < MOST_MB and ratio >= LEAST_RATIO and ours["messages"] == bare["messages"]
        failed |= not good
        print(f"{name}: {size / 1e9:.2f} GB, {ours['messages']} messages of Imu")
        print(f"  bare iteration by rosbags: {bare['cpu_s']:.1f} s of CPU, {bare['mb']:.0f} MB")
        print(
            f"  strapdown.io.read:         {ours['cpu_s']:.1f} s of CPU, {ours['mb']:.0f} MB; {ratio:.2f} of its speed"
        )
        print(f"  {'good' if good else 'FAILED'} (below {MOST_MB:.0f} MB, at least {LEAST_RATIO:g})", flush=True)
    return 1 if failed else 0


def _in_process(kind: str, path: Path) -> dict:
    words = [sys.executable, __file__, "--work", kind, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _measured(kind: str, name: str) -> dict:
    """Time from the open file on: imports are not counted. Memory: the largest that the process had."""
    path = Path(name)
    from rosbags.highlevel import AnyReader

    from strapdown import io

    began = time.process_time()
    if kind == "ours":
        messages = len(io.read_one(path))
    else:
        with AnyReader([path]) as bag:
            wanted = [each for each in bag.connections if each.msgtype == "sensor_msgs/msg/Imu"]
            messages = sum(1 for _ in bag.messages(wanted))
    return {
        "messages": messages,
        "cpu_s": time.process_time() - began,
        "mb": _largest_mb(),
    }


def _largest_mb() -> float:
    """Of this process since its start; the figure of getrusage includes that of the process it was forked from."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3


def _recording(n: int):
    from strapdown.types import Recording

    rng = np.random.default_rng(1)
    rows = rng.normal(size=(n, 3))
    return Recording(1.0 + np.arange(n) / IMU_HZ, gyr_s=rows, acc_s=rows)


def _imu1(folder: Path, size: float) -> Path:
    from strapdown.io.formats.ros.messages import channels, in_time_order

    return _written1(folder / "imu.bag", *channels({"imu": _recording(int(size / IMU_BYTES))}, {}), in_time_order)


def _written1(path: Path, found, unheld, in_time_order) -> Path:
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    with Writer(path) as bag:
        store = get_typestore(Stores.ROS1_NOETIC)
        places = [bag.add_connection(each.topic, each.kind, typestore=store) for each in found]
        for stamp, number, message in in_time_order(found, cdr=False):
            bag.write(places[number], stamp, message)
    return path


def _imu2(folder: Path, size: float) -> Path:
    from strapdown.io.formats.ros.write import write_ros2

    write_ros2(folder / "imu", {"imu": _recording(int(size / IMU_BYTES))}, {})
    return folder / "imu"


def _camera(folder: Path, size: float) -> Path:
    """A robot's bag: pictures of 0.9 MB at 30 Hz among readings at 400 Hz."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    from strapdown.io.formats.ros.messages import channels, encoded

    store = get_typestore(Stores.ROS1_NOETIC)
    types = store.types
    picture = np.random.default_rng(2).integers(0, 255, (*IMAGE, 3), dtype=np.uint8).ravel()
    pictures = int(size / picture.size)
    (imu,), _ = channels({"imu": _recording(pictures * IMU_HZ // IMAGES_HZ)}, {})
    messages = encoded(imu, cdr=False)
    with Writer(folder / "camera.bag") as bag:
        camera = bag.add_connection("/camera", "sensor_msgs/msg/Image", typestore=store)
        place = bag.add_connection("/imu", imu.kind, typestore=store)
        for k, (stamp, message) in enumerate(zip(imu.stamps_ns.tolist(), messages, strict=True)):
            bag.write(place, stamp, message)
            if k * IMAGES_HZ // IMU_HZ != (k - 1) * IMAGES_HZ // IMU_HZ:
                time_ = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
                head = types["std_msgs/msg/Header"](k, time_, "camera")
                image = types["sensor_msgs/msg/Image"](head, *IMAGE, "rgb8", 0, 3 * IMAGE[1], picture)
                bag.write(camera, stamp, store.serialize_ros1(image, "sensor_msgs/msg/Image"))
    return folder / "camera.bag"


if __name__ == "__main__":
    sys.exit(main())

"""Folders of ROS 2 bags without metadata.yaml, which a recorder writes at its end: the parts are read one by one."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from strapdown.io.formats.contents import Contents
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.formats.ros.assemble import assemble
from strapdown.io.formats.ros.bag import ROS2, Collector, ahead, collect_ros2, in_sequence
from strapdown.io.formats.ros.mcap_file import collect_mcap
from strapdown.regular_file import opened


def is_unfinished(path: Path) -> bool:
    """Files whose names differ by a number at the end, or one alone: others are recordings of their own."""
    names = {re.sub(r"_?\d+$", "", part.stem) + part.suffix for part in _parts(path)}
    return not (path / "metadata.yaml").is_file() and len(names) == 1


def _parts(path: Path) -> list[Path]:
    return in_sequence([*path.glob("*.db3"), *path.glob("*.mcap")])


def read_unfinished(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """All .db3 and .mcap files of the folder as one recording, in the order of the numbers in their names."""
    library("rosbags.rosbag2", path, "a ROS 2 bag")
    parts = _parts(path)
    collector = Collector(tracks)
    notes = [
        f"{path.name} has no metadata.yaml, as when a recorder is cut off: {', '.join(each.name for each in parts[:3])}"
        f"{' and more' if len(parts) > 3 else ''} read"
    ]
    for number, part in enumerate(parts):
        now = partial(ahead, done, number, len(parts))
        if part.suffix == ".mcap":
            notes += collect_mcap(part, collector, now)
        else:
            opened(part, "bag").close()
            with damage_refused(part, "a ROS 2 bag"):
                collect_ros2(part, collector, now)
    with damage_refused(path, "a ROS 2 bag"):  # the last messages wait until here
        topics = collector.finished()
    return assemble(topics, ROS2, str(path), tuple(dict.fromkeys(notes)), tracks)

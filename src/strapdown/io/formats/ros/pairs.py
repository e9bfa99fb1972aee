"""Gyroscope and accelerometer of one IMU on two topics, each with its own rate, as drivers of cameras publish them."""

from collections.abc import Mapping

import numpy as np

from strapdown.io.formats.ros.layouts import IMU
from strapdown.io.formats.ros.topics import NO_ACC, NO_GYR, Messages


def pairs_of(topics: Mapping[str, Messages]) -> dict[str, str]:
    """Topic of a gyroscope alone -> that of its accelerometer alone: /camera/gyro/sample and /camera/accel/sample.

    They belong together where their names begin alike, and no other topic of the two kinds does.
    """
    alone: dict[int, list[str]] = {NO_ACC: [], NO_GYR: []}
    for name, messages in topics.items():
        if messages.kind == IMU and len(messages) > 1 and int(messages.values["absent"][0]) in alone:
            alone[int(messages.values["absent"][0])].append(name)
    found = {}
    for gyro in alone[NO_ACC]:
        near = [name for name in alone[NO_GYR] if _begin(name) == _begin(gyro) != ""]
        if len(near) == 1 and sum(_begin(name) == _begin(gyro) for name in alone[NO_ACC]) == 1:
            found[gyro] = near[0]
    return found


def _begin(name: str) -> str:
    """The name space: all before the words that differ between the two, which are the last two at most."""
    parts = name.split("/")
    return "/".join(parts[: max(len(parts) - 2, 1)]) if len(parts) > 1 else ""


def on_one_clock(gyro: Messages, force: Messages) -> Messages:
    """Readings of the accelerometer at the stamps of the gyroscope, on straight lines between its own."""
    inside = (gyro.stamps_ns >= force.stamps_ns[0]) & (gyro.stamps_ns <= force.stamps_ns[-1])
    stamps = gyro.stamps_ns[inside]
    begin = int(force.stamps_ns[0])
    at, known = (stamps - begin) * 1e-9, (force.stamps_ns - begin) * 1e-9
    acc = np.column_stack([np.interp(at, known, force.values["acc"][:, i]) for i in range(3)])
    values = {name: array[inside] for name, array in gyro.values.items()}
    values |= {"acc": acc, "absent": np.zeros(len(stamps), dtype=np.uint8)}
    return Messages(IMU, gyro.names, stamps, values)

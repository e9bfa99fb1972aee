"""Logs as other programs write them, made from one virtual drive whose readings are known."""

from functools import cache

import numpy as np

from strapdown.earth import STANDARD_GRAVITY
from strapdown.motion import StopAndGo
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import Surroundings, record

SIX = ("ax", "ay", "az", "gx", "gy", "gz")


@cache
def drive():
    """A square with stops, 100 Hz, of an MPU-9250 with its magnetometer."""
    imu = load_part("MPU-9250").draw(seed=1, rate_hz=100.0)
    return record(
        StopAndGo.square(first_rest_s=10.0), imu, seed=1, surroundings=Surroundings(magnetic=(3.0, 20.0, -44.0))
    )


@cache
def tumble():
    """The drive, tilted by 90 deg and back in its middle: gravity shows the unit of the gyroscope."""
    log = drive()
    t, n = log.t[:2000], 2000
    angle = np.clip((t - 5.0) / 3.0, 0.0, 1.0) * np.pi / 2.0
    noise = np.random.default_rng(1).normal(size=(n, 6)) * [0.04, 0.04, 0.04, 9e-4, 9e-4, 9e-4]
    acc = np.column_stack([np.zeros(n), STANDARD_GRAVITY * np.sin(angle), STANDARD_GRAVITY * np.cos(angle)])
    gyr = np.column_stack([np.gradient(angle, t), np.zeros(n), np.zeros(n)])
    return t, acc + noise[:, :3], gyr + noise[:, 3:]


def table(path, header, columns, form="%.6f", delimiter=",", head=""):
    """A text table of columns, with an optional head of notes."""
    np.savetxt(path, np.column_stack(columns), delimiter=delimiter, header=head + header, comments="", fmt=form)
    return path


def rfu(values):
    """Vectors of our frame in that of a phone: x right, y forward, z up."""
    return np.column_stack([-values[:, 1], values[:, 0], values[:, 2]])

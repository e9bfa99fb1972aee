"""Paper C's tests for the virtual module: the robot's motion and errors as input of the module's chips, 1000 rows a
second.

The same robots, floors and noise densities as in drive.py. In this feed the chips themselves filter, sample and round.
"""

from dataclasses import dataclass, replace

import numpy as np

from strapdown.devices.chips.feed import Rows
from strapdown.devices.controller import Inputs
from strapdown.devices.protocol.units import low_pass_for
from strapdown.motion.paths.stop_and_go import StopAndGo, Stops
from strapdown.motion.paths.tumble import Tumble
from strapdown.papers.c.drive import DISTURBANCE_DEG, WHEEL_RADIUS_M, WHEEL_TICKS, floor_iron, path_of, run_seed
from strapdown.papers.c.robot import FIELD_N, RATE_HZ, TUMBLE_S, G, Robot, face_poses, robot
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.magnetic_sources import MagneticWorld
from strapdown.sensors.magnetometer import ideal_field
from strapdown.sensors.module import Module
from strapdown.types import Array, Motion, Recording

FEED_HZ = 1000.0
COMPASS_HZ = 200.0
ACC_RANGE = 2  # code of 8 g, as in robot.RANGE
LOW_PASS = low_pass_for(round(RATE_HZ))  # as the host chooses it
Felts = tuple[Array, Array, Array, Array, Array]  # t (s), specific force, rate, field, temperature
TICK_NM = round(2e9 * np.pi * WHEEL_RADIUS_M / WHEEL_TICKS)


@dataclass(frozen=True, eq=False)
class ModuleDrive:
    """A run.

    stops: the true places.
    motion: the truth, 1000 rows a second.
    rows: input of the chips.
    ticks: ticks of the wheel, a row each.
    """

    path: StopAndGo
    robot: Robot
    stops: Stops
    motion: Motion
    rows: Felts
    ticks: Array

    def feed(self) -> Rows:
        return Rows(iter([self.rows]))

    def inputs(self, t_s: float) -> Inputs:
        """The controller's stop signal; ticks of the wheel."""
        t = min(max(t_s, 0.0), self.path.duration_s)
        row = min(int(t * FEED_HZ), len(self.ticks) - 1)
        return Inputs(bool(self.path.stopped(np.array([t]))[0]), 0, int(self.ticks[row]))


def module_drive(kind: str, seed: int, heading_deg: float = 0.0) -> ModuleDrive:
    """Test "square" or "straight" driven by the robot of this seed."""
    path, one = path_of(kind, heading_deg), robot(seed)
    motion = path.at(np.arange(int(path.duration_s * FEED_HZ)) / FEED_HZ)
    world = MagneticWorld(FIELD_N, floor_iron(kind, heading_deg, 0.0, seed, DISTURBANCE_DEG))
    b_s = ideal_field(motion, world)  # the iron of the robot's own body comes with its specimen
    feed = _felt(one, seed, kind, motion.t, motion.w_nb_b, motion.specific_force_b(G), b_s)
    last = np.searchsorted(motion.t, path.stops.end_s - 1e-9) - 1
    forward = q_rotate(q_conj(motion.q_nb), motion.v_n)[:, 0]
    ticks = np.floor(np.cumsum(forward) / FEED_HZ * 1e9 / TICK_NM)
    return ModuleDrive(path, one, replace(path.stops, p_n=motion.p_n[last]), motion, feed, ticks)


def bench_feed(kind: str, seed: int, rest_s: float = 60.0) -> tuple[Rows, float]:
    """The robot of this seed on a table: "calibration": put on its faces and then turned by hand; "rest": at rest.
    Returns the feed and its duration (s)."""
    one = robot(seed)
    if kind == "rest":
        t = np.arange(int(rest_s * FEED_HZ)) / FEED_HZ
        still = np.zeros((len(t), 3))
        felt = _felt(one, seed, kind, t, still, still + np.array([0.0, 0.0, G]), still + FIELD_N)
        return Rows(iter([felt])), rest_s
    faces = face_poses(seed)
    tumble = Tumble(TUMBLE_S)
    first = faces.at(np.arange(int(faces.duration_s * FEED_HZ)) / FEED_HZ)
    second = tumble.at(np.arange(int(TUMBLE_S * FEED_HZ)) / FEED_HZ)
    t = np.arange(len(first) + len(second)) / FEED_HZ
    w_s, f_s, b_s = (
        np.concatenate([part(motion) for motion in (first, second)])
        for part in (
            lambda m: m.w_nb_b,
            lambda m: m.specific_force_b(G),
            lambda m: q_rotate(q_conj(m.q_nb), FIELD_N),
        )
    )
    return Rows(iter([_felt(one, seed, kind, t, w_s, f_s, b_s)])), float(t[-1])


def _felt(one: Robot, seed: int, kind: str, t: Array, w_s: Array, f_s: Array, b_s: Array) -> Felts:
    """Input of the chips with the errors of the specimen and the iron of its body."""
    inertial = {n: replace(x, bandwidth_hz=None, resolution=0.0) for n, x in one.triads.items() if n != "magnetometer"}
    log = Module("C", inertial, seed=run_seed(seed, kind)).measure(Recording(t, gyr_s=w_s, acc_s=f_s), FEED_HZ)
    each = round(FEED_HZ / COMPASS_HZ)
    compass = {"magnetometer": replace(one.triads["magnetometer"], bandwidth_hz=None, resolution=0.0)}
    field = Recording(t[::each], mag_s=(b_s @ one.soft_iron.T + one.iron_ut)[::each])
    mag = Module("C compass", compass, seed=run_seed(seed, kind)).measure(field, COMPASS_HZ).mag_s
    assert mag is not None and log.acc_s is not None and log.gyr_s is not None
    return t, log.acc_s, log.gyr_s, np.repeat(mag, each, axis=0)[: len(t)], np.full(len(t), 25.0)

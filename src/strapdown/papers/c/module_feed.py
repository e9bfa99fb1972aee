"""Paper C's tests for the virtual module: the robot's motion and errors as the module's chips feel them, 1000 a second.

The same robots, floors and noise densities as in drive.py. Here the chips themselves filter, sample and round.
"""

from dataclasses import dataclass, replace

import numpy as np

from strapdown.devices.chips.feed import Rows
from strapdown.devices.controller import Inputs
from strapdown.motion.paths.stop_and_go import StopAndGo, Stops
from strapdown.papers.c.drive import DISTURBANCE_DEG, WHEEL_RADIUS_M, WHEEL_TICKS, floor_iron, path_of, run_seed
from strapdown.papers.c.robot import FIELD_N, G, Robot, robot
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.magnetic_sources import MagneticWorld
from strapdown.sensors.magnetometer import ideal_field
from strapdown.sensors.module import Module
from strapdown.types import Array, Motion, Recording

FEED_HZ = 1000.0
COMPASS_HZ = 200.0
ACC_RANGE = 2  # code of 8 g, as in robot.RANGE
TICK_NM = round(2e9 * np.pi * WHEEL_RADIUS_M / WHEEL_TICKS)


@dataclass(frozen=True, eq=False)
class ModuleDrive:
    """A run: blocks() feeds the chips. stops: the true places. motion: the truth, 1000 rows a second."""

    path: StopAndGo
    robot: Robot
    stops: Stops
    motion: Motion
    log: Recording
    ticks: Array

    def feed(self) -> Rows:
        log = self.log
        assert log.acc_s is not None and log.gyr_s is not None and log.mag_s is not None
        return Rows(iter([(log.t, log.acc_s, log.gyr_s, log.mag_s, np.full(len(log), 25.0))]))

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
    inertial = {
        name: replace(triad, bandwidth_hz=None, resolution=0.0)
        for name, triad in one.triads.items()
        if name != "magnetometer"
    }
    ideal = Recording(motion.t, gyr_s=motion.w_nb_b, acc_s=motion.specific_force_b(G))
    log = Module("C", inertial, seed=run_seed(seed, kind)).measure(ideal, FEED_HZ)
    each = round(FEED_HZ / COMPASS_HZ)
    some = motion[::each]
    compass = {"magnetometer": replace(one.triads["magnetometer"], bandwidth_hz=None, resolution=0.0)}
    field = Recording(some.t, mag_s=ideal_field(some, world, one.iron_ut, one.soft_iron))
    mag = Module("C compass", compass, seed=run_seed(seed, kind)).measure(field, COMPASS_HZ).mag_s
    assert mag is not None
    last = np.searchsorted(motion.t, path.stops.end_s - 1e-9) - 1
    forward = q_rotate(q_conj(motion.q_nb), motion.v_n)[:, 0]
    ticks = np.floor(np.cumsum(forward) / FEED_HZ * 1e9 / TICK_NM)
    held = np.repeat(mag, each, axis=0)[: len(motion)]
    return ModuleDrive(
        path, one, replace(path.stops, p_n=motion.p_n[last]), motion, replace(log, mag_s=held), ticks
    )

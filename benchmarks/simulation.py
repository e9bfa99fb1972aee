"""Samples per second of a robot with four sensors against the bare MuJoCo loop on the same robot without any."""

import mujoco
import numpy as np

from benchmarks.measure import interleaved
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Mount, Start
from strapdown.vehicles import builtin

DURATION_S = 10.0
STEP_S = 1e-3
TARGET = 0.75  # of the bare loop


def _robot(sensors: int, integrator: str) -> MujocoRobot:
    links = ("forearm", "upper_arm")
    mounts = [Mount(f"D{i}", links[i % 2], (0.0, 0.0, 0.1 * i)) for i in range(sensors)]
    return MujocoRobot(
        RobotFile(builtin("manipulator")),
        gravity=9.81,
        step_s=STEP_S,
        integrator=integrator,
        mounts=mounts,
        start=[Start("shoulder", 0.5), Start("elbow", 0.3)],
    )


def run() -> list[tuple[str, float, float, float]]:
    """(integrator, steps per s here, of a bare loop of mj_step, of a loop that reads stale accelerometers)."""
    rows = []
    n = round(DURATION_S / STEP_S)
    t = np.arange(n + 1) * STEP_S
    for integrator in ("rk4", "implicitfast", "euler"):
        ours, bare = _robot(4, integrator), _robot(0, integrator)

        def sensed(robot: MujocoRobot = ours) -> None:
            robot.record(DURATION_S, {f"D{i}": t for i in range(4)})

        def loop(robot: MujocoRobot = bare) -> None:
            robot.reset()
            model, data = robot.model, robot.data
            for _ in range(n):
                mujoco.mj_step(model, data)

        def stale(robot: MujocoRobot = ours) -> None:
            robot.reset()
            model, data = robot.model, robot.data
            kept = np.empty((n, model.nsensordata))
            for k in range(n):
                mujoco.mj_step(model, data)
                kept[k] = data.sensordata

        best = interleaved({"ours": sensed, "bare": loop, "stale": stale})
        rows.append((integrator, n / best["ours"], n / best["bare"], n / best["stale"]))
    return rows

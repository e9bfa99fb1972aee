"""A robot with sensors against the bare MuJoCo loop on the same robot without any: whole recordings, and live."""

import mujoco
import numpy as np

from benchmarks.measure import interleaved
from strapdown.engines.mujoco.plant import MujocoPlant
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Physics, Start
from strapdown.live import PLANT_ROW
from strapdown.vehicles import builtin

DURATION_S = 10.0
STEP_S = 1e-3
TARGET = 0.75  # of the bare loop
LIVE_TARGET_US = 15.0  # of a live step with one ideal sensor read, beyond bare mj_step


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


def run_live() -> list[tuple[str, float, float]]:
    """(integrator, us per live step of 1 ms with one ideal sensor read, us per bare mj_step of the same robot)."""
    rows = []
    n = 5000
    mounts, out = (Mount("D", "forearm", (0.0, 0.0, 0.1)),), np.empty((1, PLANT_ROW))
    for integrator in ("rk4", "implicitfast", "discrete", "euler"):
        ours, bare = _plant(integrator), _plant(integrator)

        def live(plant: MujocoPlant = ours) -> None:
            plant.reset()
            plant.command({"shoulder": 0.8, "elbow": -0.3})
            for k in range(1, n + 1):
                plant.advance_to(k * STEP_S)
                plant.read(mounts, out)

        def loop(plant: MujocoPlant = bare) -> None:
            plant.reset()
            plant.command({"shoulder": 0.8, "elbow": -0.3})
            model, data = plant.model, plant.data
            for _ in range(n):
                mujoco.mj_step(model, data)

        best = interleaved({"live": live, "bare": loop}, rounds=7)
        rows.append((integrator, 1e6 * best["live"] / n, 1e6 * best["bare"] / n))
    return rows


def _plant(integrator: str) -> MujocoPlant:
    motors = [Motor(joint, joint, "position") for joint in ("shoulder", "elbow")]
    start = [Start("shoulder", 0.5), Start("elbow", 0.3)]
    return MujocoPlant(RobotFile(builtin("manipulator")), Physics(9.81, STEP_S, integrator), motors, start)

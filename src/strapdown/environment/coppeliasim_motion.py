"""Runs a rig in CoppeliaSim: objects of the open scene by path, or a robot file that is loaded into it.

Keys of the rig that are given are set in the scene and read back; the others are the scene's own. Whatever was set or
loaded is put back or removed at the end.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from strapdown.engines.coppeliasim.connection import Connection
from strapdown.engines.coppeliasim.loaded_robot import Carrier, LoadedRobot
from strapdown.engines.coppeliasim.run import Drive, Poses, Recorder
from strapdown.engines.coppeliasim.scene import Scene
from strapdown.engines.foreign.plant import check_mounts
from strapdown.engines.parts import Start
from strapdown.environment.rig import Rig
from strapdown.errors import InputError
from strapdown.sensors.imu import sample_times
from strapdown.sensors.methods import Sight

if TYPE_CHECKING:
    from strapdown.environment.mounted_motion import MountedSensor

_MISSED = 4.5  # median steps: a free simulation may make four while one is read, and the fit takes uneven steps
_END = 1e-3  # of a step: the simulator adds up its steps, which may be float32, and the last time is off by that
DELAY = "from poses before and after its instant; live, a reading is known one step after its instant"


def scene_motions(rig: Rig, tasks: "Sequence[MountedSensor]", progress: Callable[[float], None] | None) -> list[Sight]:
    """Run the scene under the rig's program, or follow it, and show each sensor its own motion."""
    check_mounts([task.table.mount() for task in tasks])
    connection = Connection(rig.coppeliasim.server, rig.coppeliasim.timeout_s)
    scene, robot = Scene(connection), None
    try:
        given = rig.physics.model_fields_set
        table = rig.coppeliasim
        if table.physics_engine is not None:
            scene.set_physics_engine(table.physics_engine)
        set_step = "step_s" in given
        step_s = scene.set_time_step(rig.physics.step_s, table.substep_s) if set_step else scene.time_step_s()
        gravity = scene.set_gravity(rig.physics.g()) if "gravity" in given else scene.gravity()
        if rig.robot is not None and rig.robot.file is not None:
            robot = _loaded(scene, rig)
        poses = _recorded(scene, robot, rig, tasks, step_s, progress)
    finally:
        for action in (scene.leave,) if robot is None else (robot.remove, scene.leave):
            with suppress(InputError):  # what went wrong before is what counts
                action()
        connection.close()
    about = {"engine": "coppeliasim", "time_step_s": step_s, "delay": DELAY}
    return [_sight(task, poses[task.table.name], rig, gravity, about) for task in tasks]


def _loaded(scene: Scene, rig: Rig) -> LoadedRobot:
    from strapdown.environment.mounted_motion import check_units, robot_file

    robot = LoadedRobot(scene, robot_file(rig))
    try:
        driven = {motor.joint for motor in rig.motor}
        for name in (*driven, *(item.joint for item in rig.start)):
            robot.joint(name)  # it must be there
        check_units(rig, robot.model)
        for joint in robot.joints():
            if joint not in driven:
                scene.control(robot.joint(joint), None, None)
        for item in rig.start:
            robot.begin(item.start())
    except BaseException:
        with suppress(InputError):
            robot.remove()
        raise
    return robot


def _recorded(
    scene: Scene,
    robot: LoadedRobot | None,
    rig: Rig,
    tasks: "Sequence[MountedSensor]",
    step_s: float,
    progress: Callable[[float], None] | None,
) -> dict[str, Poses]:
    def frame(link: str) -> Carrier:
        if robot is not None:
            return robot.link(link)
        return Carrier(scene.object_at(link), link, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    mounts = [task.table.mount() for task in tasks]
    frames = {m.name: frame(m.link).moved(np.array(m.r_bs_b), np.array(m.q_bs)) for m in mounts}
    assert rig.duration_s is not None
    recorder = Recorder(scene, frames)
    if rig.coppeliasim.follow:
        return recorder.follow(rig.duration_s, progress)
    start = {item.joint: item.start() for item in rig.start}
    drives = []
    for table in rig.motor:
        motor = table.motor()
        joint = scene.object_at(motor.joint) if robot is None else robot.joint(motor.joint)
        begin = start.get(motor.joint, Start(motor.joint)).position
        drives.append(Drive(motor, joint, begin if motor.kind == "position" else 0.0))
    program = rig.commands()
    pushed = {push.link: frame(push.link).handle for push in program.pushes}
    return recorder.step_through(rig.duration_s, step_s, drives, program, pushed, progress)


def _sight(task: "MountedSensor", poses: Poses, rig: Rig, gravity: float, about: dict[str, Any]) -> Sight:
    """The motion through the poses, at the sensor's own times."""
    from strapdown.motion.recorded import RecordedMotion

    assert rig.duration_s is not None
    t = poses.t - (poses.t[0] if rig.coppeliasim.follow else 0.0)
    motion = RecordedMotion(t, poses.p_n, poses.q_nb, gap_factor=_MISSED if rig.coppeliasim.follow else 1.5)
    times = sample_times(task.inner_hz, rig.duration_s)
    near_s = _END * float(np.median(np.diff(t)))
    times = times[(times > t[0] - near_s) & (times < t[-1] + near_s)]
    if len(times) == 0:
        raise InputError(f'sensor "{task.table.name}" has no sample in the run; run longer or sample faster')
    doubt = np.full(len(times), motion.noise_estimate()[0])
    return Sight(motion.at(np.clip(times, t[0], t[-1])), gravity, unexplained=doubt, about=about)

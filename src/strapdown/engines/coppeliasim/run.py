"""Poses of frames in a scene of CoppeliaSim over time: stepped in lockstep under a program, or followed as it runs."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.coppeliasim.loaded_robot import Carrier
from strapdown.engines.coppeliasim.pose_readings import FIRST_POSES, SAME_INSTANT_S
from strapdown.engines.coppeliasim.scene import Scene
from strapdown.engines.parts import Motor
from strapdown.engines.program import SNAP_S, Program, target_profile
from strapdown.errors import InputError, LogWarning

Array = NDArray[np.float64]

FROZEN_STEPS = 20  # poses that do not change by a single bit while something drives them
_PAUSE_S = 0.002  # between two looks at a simulation that runs freely


@dataclass(frozen=True)
class Drive:
    """A motor on a joint of the scene; idle: its target before the first command."""

    motor: Motor
    joint: int
    idle: float = 0.0


@dataclass(frozen=True)
class Poses:
    """Of one frame: times (s), positions (m, frame n), attitudes q_nb. The first poses of a run are not in it."""

    t: Array
    p_n: Array
    q_nb: Array


class Recorder:
    """Runs a scene and collects the poses of frames, by name."""

    def __init__(self, scene: Scene, frames: Mapping[str, Carrier]) -> None:
        if not frames:
            raise InputError("nothing to read in CoppeliaSim; name an object for a sensor")
        self._scene, self._frames = scene, dict(frames)
        self._objects = {frame.handle: frame.name for frame in frames.values()}  # each is read once

    def step_through(
        self,
        duration_s: float,
        step_s: float,
        drives: Sequence[Drive] = (),
        program: Program | None = None,
        pushed: Mapping[str, int] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> dict[str, Poses]:
        """In lockstep from the start, one step after the other. pushed: shapes by the link that a push names."""
        program, scene = program or Program(), self._scene
        motors = _Motors(scene, drives, program)
        count = round(duration_s / step_s)
        if count < FIRST_POSES + 2 or abs(count * step_s - duration_s) > 0.01 * step_s:
            raise InputError(
                f"duration_s is {duration_s:g} s and the time step of CoppeliaSim {step_s:g} s; give a whole number of "
                "steps, at least four"
            )
        rows: list[tuple[float, Array]] = []
        driving = False
        shapes = pushed or {}
        still = _Still(scene, [drive.joint for drive in drives], [shapes[push.link] for push in program.pushes])
        scene.start()
        try:
            for k in range(count + 1):
                t = scene.time_s()
                if k and not t > rows[-1][0]:
                    raise InputError(
                        f"the simulation in CoppeliaSim was stopped at t = {rows[-1][0]:.6g} s; let it run to "
                        f"{duration_s:g} s"
                    )
                rows.append((t, self._poses()))
                still.look(t, rows[-1][1], driving)
                if progress is not None:
                    progress(t)
                if k == count:
                    break
                pushes = [push for push in program.pushes if push.at_s - SNAP_S <= t < push.until_s - SNAP_S]
                driving = motors.send(t) or bool(pushes)
                for push in pushes:
                    scene.push(shapes[push.link], push.force_n, push.torque_n)
                scene.step()
        finally:
            with suppress(InputError):  # what went wrong before is what counts
                scene.stop()
        still.warn()
        return self._collected(rows)

    def follow(self, duration_s: float, progress: Callable[[float], None] | None = None) -> dict[str, Poses]:
        """Read along a simulation that runs freely, from now on for a time of the simulation."""
        scene = self._scene
        self._wait_for_start()
        rows: list[tuple[float, Array]] = []
        begin = last = scene.time_s()
        seen = time.monotonic()
        while last < begin + duration_s - SAME_INSTANT_S:
            t = scene.time_s()
            if t < last - SAME_INSTANT_S or scene.is_stopped:
                raise InputError(
                    f"the simulation in CoppeliaSim was stopped at t = {last:.6g} s; let it run for {duration_s:g} s"
                )
            if t <= last + SAME_INSTANT_S and rows:
                if time.monotonic() - seen > scene.connection.timeout_s:
                    raise InputError(
                        f"the simulation in CoppeliaSim stands at t = {t:.6g} s; press play, or step it in lockstep"
                    )
                time.sleep(_PAUSE_S)
                continue
            poses = self._poses()
            if scene.time_s() != t:  # a step was made while the poses were read: they belong to two instants
                continue
            rows.append((t, poses))
            last, seen = t, time.monotonic()
            if progress is not None:
                progress(t - begin)
        return self._collected(rows)

    def _wait_for_start(self) -> None:
        end = time.monotonic() + self._scene.connection.timeout_s
        while self._scene.is_stopped:
            if time.monotonic() > end:
                raise InputError("no simulation runs in CoppeliaSim; press play there, or step it in lockstep")
            time.sleep(0.05)

    def _poses(self) -> Array:
        """A row of 7 numbers for each object."""
        return np.array([np.concatenate(self._scene.pose(handle, name)) for handle, name in self._objects.items()])

    def _collected(self, rows: list[tuple[float, Array]]) -> dict[str, Poses]:
        rows = rows[FIRST_POSES:]
        t, poses = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        at = {handle: i for i, handle in enumerate(self._objects)}
        out = {}
        for name, frame in self._frames.items():
            p_n, q_no = poses[:, at[frame.handle], :3], poses[:, at[frame.handle], 3:]
            out[name] = Poses(t, *frame.seen(p_n, q_no))
        return out


class _Motors:
    """Targets of all motors, sent when they change."""

    def __init__(self, scene: Scene, drives: Sequence[Drive], program: Program) -> None:
        self._scene = scene
        self._drives = [(d, target_profile(program.of(d.motor.name), d.idle)) for d in drives]
        self._sent: dict[str, float] = {}
        for drive in drives:
            scene.control(drive.joint, drive.motor.kind, drive.motor.max_torque)

    def send(self, t: float) -> bool:
        """The targets of the step that begins now; whether one of them makes a joint move."""
        driving = False
        for drive, profile in self._drives:
            value, name = float(profile(t)), drive.motor.name
            driving |= drive.motor.kind != "position" and value != 0.0
            if self._sent.get(name) != value:
                self._scene.target(drive.joint, drive.motor.kind, value)
                self._sent[name] = value
        return driving


class _Still:
    """Whether the scene stands still to the bit: a missing physics engine freezes all bodies while time runs.

    Sensors may sit where nothing moves. So the driven joints and the pushed shapes are asked before it is stated.
    """

    def __init__(self, scene: Scene, driven: Sequence[int], shapes: Sequence[int]) -> None:
        self._scene, self._driven, self._shapes = scene, driven, shapes
        self._last: Array | None = None
        self._still, self._moved, self._t = 0, False, 0.0
        self._begin = self._asked()

    def look(self, t: float, poses: Array, driving: bool) -> None:
        if self._last is not None and not np.array_equal(poses, self._last):
            self._moved = True
        self._last, self._t = poses, t
        self._still = self._still + 1 if driving else 0
        if not self._moved and self._still == FROZEN_STEPS:
            if np.array_equal(self._asked(), self._begin):
                raise InputError(
                    f"nothing has moved in CoppeliaSim until t = {t:.6g} s although it is driven; check that the "
                    "physics engine of the scene is installed and that dynamics are enabled"
                )
            self._moved = True

    def warn(self) -> None:
        if not self._moved:
            warnings.warn(
                f"no sensor moved in CoppeliaSim until t = {self._t:.6g} s; if it should, check that the physics "
                "engine of the scene is installed",
                LogWarning,
                stacklevel=3,
            )

    def _asked(self) -> Array:
        at = [np.array([self._scene.joint_position(joint)]) for joint in self._driven]
        return np.concatenate(
            [*at, *(part for shape in self._shapes for part in self._scene.pose(shape, "pushed")), [0]]
        )

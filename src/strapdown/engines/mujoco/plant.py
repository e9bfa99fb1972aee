"""A robot in MuJoCo that is commanded, pushed and read while it moves (the protocols Plant and Rewindable of live.py).

Each step is `mj_forward`, then the integrator. The trajectory is that of `mj_step` to the bit, and readings in between
belong to the present instant without an extra step. Commands and pushes act from the instant at which they are given.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.engines.mujoco.build import build, known
from strapdown.engines.mujoco.built_robot import SteppedRobot
from strapdown.engines.mujoco.contacts import Contact, contacts
from strapdown.engines.mujoco.controls import idle_target
from strapdown.engines.mujoco.direct import addresses_of, ample_use
from strapdown.engines.mujoco.force_law import ForceLaw, SteppingLaw
from strapdown.engines.mujoco.integrators import StepAcceleration
from strapdown.engines.mujoco.rewinding import STATE, Rewinding
from strapdown.engines.mujoco.robot_file import RobotFile, check_contacts_fit, is_quiet, quiet
from strapdown.engines.mujoco.snapshot import RunningPush, model_digest
from strapdown.engines.parts import Motor, Mount, Physics, Start
from strapdown.engines.program import SNAP_S
from strapdown.errors import InputError
from strapdown.kernels.mounts import all_within, read_mounts
from strapdown.live import PLANT_ROW
from strapdown.rotation import q_normalise

Array = NDArray[np.float64]
_VELOCITY_STAGE = int(mujoco.mjtStage.mjSTAGE_VEL)
_BEFORE_WARM_START = int(mujoco.mjtState.mjSTATE_WARMSTART) - 1  # the bits of all that stands before it in a state
NO_JETS = np.zeros((0, 0))
_LARGEST = 1e10  # the engine's own bound of a position or speed


class SteppedPlant(SteppedRobot):
    """A robot with motors, moved step by step. Time begins at 0 and is counted on the grid of the physics step."""

    _placed_s: float
    _warm_kept: bool

    def __init__(
        self,
        robot: RobotFile,
        physics: Physics,
        motors: Sequence[Motor] = (),
        start: Sequence[Start] = (),
        law: ForceLaw | None = None,
    ) -> None:
        """Make a plant in its first state.

        law: forces that act besides those of motors and pushes.
        """
        self.physics = physics
        self._step_s = physics.step_s
        self._built = build(robot, physics, motors, (), start)
        model = self.model
        begin = {item.joint: item.position for item in start}
        ours = {motor.name: motor for motor in motors}
        self._motors = {model.actuator(i).name: i for i in range(model.nu)}
        self._idle = [idle_target(ours[name], begin) for name in self._motors]
        self._state = np.empty(mujoco.mj_stateSize(model, STATE))
        first = mujoco.mj_stateSize(model, _BEFORE_WARM_START)
        self._warm_start = slice(first, first + model.nv)

        self.data: Any = mujoco.MjData(model)
        data = self.data
        self._engine = model, data
        self._acceleration = self._stepping()
        self._end_step = self._acceleration.end_step
        # views of the engine's memory, made once: making one costs as much as a tenth of a step
        self._option, self._act, self._qpos, self._qvel = model.opt, data.act, data.qpos, data.qvel
        self._timestep_s = 0.0  # the engine's
        self._warm_now, self._warm_before = data.qacc_warmstart, np.zeros(model.nv)
        self._links_now = (data.xpos, data.xquat, data.cvel, data.cacc, data.subtree_com)
        self._warnings = data.warning.number
        self._g_n = gravity_vector(physics.gravity)
        self._planned: tuple[Mount, ...] | None = None
        self._law = law
        if law is not None:
            law.attach(model, data)
        self._direct = None  # addresses for a law that makes whole steps
        if isinstance(law, SteppingLaw) and self._acceleration.reported:
            self._direct = addresses_of(model, data, self._end_step)
        self._ample = ample_use(data)
        self._fitting: Array | None = None  # a table of rows that was checked
        self._begin_qpos = self._built.qpos0
        self._digest = model_digest(model, self._identity())
        self.reset()

    def _stepping(self) -> Any:
        """What makes the steps and knows their accelerations; another engine has its own."""
        return StepAcceleration(self.model, self.data, self.physics.integrator)

    def _identity(self) -> bytes:
        """What a snapshot belongs to, besides the compiled robot."""
        return b"" if self._law is None else self._law.identity()

    def reset(self) -> None:
        """Back to the start, without commands and pushes."""
        mujoco.mj_resetData(self.model, self.data)
        self._qpos[:], self._qvel[:], self._act[:] = self._begin_qpos, self._built.qvel0, self._idle
        if self._law is not None:
            self._law.reset()
        self._pushes: list[RunningPush] = []
        self._time_s = 0.0
        self._arrived()

    def settle(self, duration_s: float, most_m: float) -> None:
        """Begin at rest: the robot sinks into its contacts for a while; the position in which it comes to rest is the
        start. A robot that moves farther than most_m is not at rest; it keeps its start.
        """
        before = self.placed().xpos.copy()
        self.advance_to(duration_s)
        moved = np.abs(self.placed().xpos - before).max()
        if moved <= most_m:
            self._begin_qpos = self._qpos.copy()
        self.reset()

    def command(self, targets: Mapping[str, float]) -> None:
        """New targets of motors, by name, from now on: rad, rad/s or N m (m, m/s or N if the joint slides)."""
        for name, value in targets.items():
            if name not in self._motors:
                known(name, self._motors, "motor", "command")
            if not math.isfinite(value):
                raise InputError(f'command: the target of motor "{name}" is {value}; give a finite number')
        for name, value in targets.items():
            self._act[self._motors[name]] = value
        self._forwarded_s = 0.0

    def push(self, link: str, force_n: Any, torque_n: Any, for_s: float) -> None:
        """A force (N) and torque (N m), frame n, at the centre of mass of a link, from now on for a time (s)."""
        body = int(self.model.body(known(link, self.links(), "link", "push")).id)
        wrench = np.concatenate([np.asarray(force_n, dtype=np.float64), np.asarray(torque_n, dtype=np.float64)])
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise InputError(f'push on link "{link}": give force_n and torque_n as three finite numbers each')
        if not (math.isfinite(for_s) and for_s > SNAP_S):
            raise InputError(f'push on link "{link}" for {for_s} s; give a time above 0, of at least a few nanoseconds')
        self._pushes.append(RunningPush(body, tuple(wrench.tolist()), self._time_s + for_s))
        self._put_pushes()

    def advance_to(self, t_s: float) -> None:
        """Move on to a time (s): whole steps on the grid of the physics step, and a part of one at the end."""
        if not (math.isfinite(t_s) and t_s > self._time_s - SNAP_S):
            raise InputError(
                f"cannot advance to {t_s} s: the time is {self._time_s:.6g} s; give a later time, or restore"
            )
        if is_quiet():
            self._advance(t_s)
        else:
            with quiet():
                self._advance(t_s)

    def read(self, mounts: Sequence[Mount], out: Array) -> None:
        """One row per mount at the present time, columns as in live.PLANT_COLUMNS; out is (mounts, 22), float64."""
        mounts = tuple(mounts)
        if mounts != self._planned:
            self._plan(mounts)
        if out.shape != (len(mounts), PLANT_ROW) or out.dtype != np.float64 or not out.flags.carray:
            raise InputError(f"read needs an array of float64 of shape ({len(mounts)}, {PLANT_ROW}) in C order to fill")
        self._refresh()
        read_mounts(*self._where, *self._links_now, self._g_n, *self._how, out)

    def advance_reading(
        self,
        mounts: Sequence[Mount],
        out: Array,
        jets: Array = NO_JETS,
        turning: Callable[[Array], None] | None = None,
    ) -> None:
        """Make len(out) physics steps and read the mounts after each: the bits of advance_to and read, one after the
        other, in less time.

        out: (steps, mounts, 22).
        jets: (steps, 3 or more for each actuator of the law), or without columns. Angle and speed of actuator i go to
            columns 3 i and 3 i + 1. turning(row) writes them where the kernel of the law cannot make whole steps.
        """
        if mounts is not self._planned:
            mounts = tuple(mounts)
            if mounts != self._planned:
                self._plan(mounts)
        if out is not self._fitting:
            if out.shape[1:] != (len(mounts), PLANT_ROW) or out.dtype != np.float64 or not out.flags.carray:
                raise InputError(f"out needs the shape (steps, {len(mounts)}, {PLANT_ROW}), float64, in C order")
            self._fitting = out
        step_s, count, law = self._step_s, len(out), self._law
        first = round(self._time_s / step_s)
        each = turning if jets.shape[1] else None
        quick = law is not None and not self._pushes and self._acceleration.reported
        if not (quick and abs(self._time_s - first * step_s) < SNAP_S and self._timestep_s == step_s):
            for k in range(count):
                self.advance_to((first + k + 1) * step_s)
                self.read(mounts, out[k])
                if each is not None:
                    each(jets[k])
            return
        stage = 0
        direct = self._direct is not None and self.data.maxuse_arena <= self._ample
        if self._forwarded_s != step_s:
            if direct and self._warm_kept and self._placed_s == step_s:  # only commands and forces are new
                stage = _VELOCITY_STAGE
            else:
                self._forward(step_s)
        if direct and is_quiet():
            made = law.steps(self._direct, stage, step_s, self._stepped, out, jets)  # type: ignore[union-attr]
        else:
            with quiet():
                if direct:
                    made = law.steps(self._direct, stage, step_s, self._stepped, out, jets)  # type: ignore[union-attr]
                else:
                    made = self._steps(out, jets, each)
        if made < count:
            self._time_s = (first + made + 1) * step_s
            self._arrived()
            raise self._unstable()
        self._time_s = (first + count) * step_s
        check_contacts_fit(self._warnings)
        self._forwarded_s = self._placed_s = step_s
        self._warm_kept = self._readable = True

    def _steps(self, out: Array, jets: Array, each: Callable[[Array], None] | None) -> int:
        """Steps of a law that cannot make whole steps; returns how many were made."""
        law, step_s, engine, end_step = self._law, self._step_s, self._engine, self._end_step
        assert law is not None
        for k in range(len(out)):
            end_step(*engine)
            if not law.settle(_LARGEST):
                return k
            self._warm_before[:] = self._warm_now
            law.apply(step_s)
            mujoco.mj_forward(*engine)
            mujoco.mj_rnePostConstraint(*engine)
            read_mounts(*self._where, *self._links_now, self._g_n, *self._how, out[k])
            if each is not None:
                each(jets[k])
        return len(out)

    def contacts(self) -> list[Contact]:
        """All contacts at this instant, with their forces."""
        self._refresh()
        return contacts(self.model, self.data)

    def placed(self) -> Any:
        """The mujoco.MjData, with positions of links and shapes of this instant."""
        if not self._placed_s:
            self._refresh()
        return self.data

    def _advance(self, t_s: float) -> None:
        now, step_s = self._time_s, self._step_s
        while now < t_s - SNAP_S:
            end = (math.floor((now + SNAP_S) / step_s) + 1) * step_s
            if t_s < end - SNAP_S:
                end = t_s
            for push in self._pushes:
                if push.until_s < end - SNAP_S:
                    end = push.until_s
            size = end - now
            self._step(step_s if abs(size - step_s) < SNAP_S else size)
            self._time_s = now = end
            if self._pushes:
                self._end_pushes()

    def _arrived(self) -> None:
        """A new instant is reached: nothing is derived from its state yet."""
        self._forwarded_s = 0.0  # the step size that mj_forward was made for at this instant; 0: not made
        self._placed_s = 0.0  # likewise, for the stages that depend on positions and speeds alone
        self._warm_kept = False  # whether _warm_before holds the solver's memory with which this instant began
        self._readable = False  # whether link accelerations are those of this instant

    def _forward(self, size_s: float) -> None:
        if self._warm_kept:  # made before, under other commands or for another step: begin from the same memory
            self._warm_now[:] = self._warm_before
        else:
            self._warm_before[:] = self._warm_now
            self._warm_kept = True
        if self._law is not None and self._law.apply(size_s):
            self._placed_s = 0.0
        if self._placed_s == size_s:  # only commands and forces are new
            mujoco.mj_forwardSkip(*self._engine, _VELOCITY_STAGE, 1)
        else:
            if self._timestep_s != size_s:
                self._option.timestep = self._timestep_s = size_s
            mujoco.mj_forward(*self._engine)
        self._forwarded_s = self._placed_s = size_s
        self._readable = False

    def refresh_forces(self) -> None:
        """The law has a new command, wind or fault: it acts from this instant on."""
        self._forwarded_s = 0.0

    def _step(self, size_s: float) -> None:
        if self._forwarded_s != size_s:
            self._forward(size_s)
        self._end_step(*self._engine)
        self._arrived()
        check_contacts_fit(self._warnings)
        law = self._law
        within = all_within(self._qpos, self._qvel, _LARGEST) if law is None else law.settle(_LARGEST)
        if not within:
            raise self._unstable()

    def _unstable(self) -> InputError:
        return InputError(
            f"the simulation became unstable at about t = {self._time_s:.6g} s; use a smaller physics step, the "
            "integrator implicitfast, slower motors or smaller forces, and restore a snapshot or reset"
        )

    def _refresh(self) -> None:
        """Link velocities and accelerations of this instant, under the present commands."""
        if self._readable and self._forwarded_s:
            return
        if is_quiet():
            self._derive()
        else:
            with quiet():
                self._derive()

    def _derive(self) -> None:
        if self._forwarded_s != self._step_s:
            self._forward(self._step_s)
        self._acceleration.use()
        self._readable = True

    def _end_pushes(self) -> None:
        running = [push for push in self._pushes if push.until_s > self._time_s + SNAP_S]
        if len(running) < len(self._pushes):
            self._pushes = running
            self._put_pushes()

    def _put_pushes(self) -> None:
        self.data.xfrc_applied[:] = 0.0
        for push in self._pushes:
            self.data.xfrc_applied[push.body] += push.wrench
        self._forwarded_s = 0.0

    def _plan(self, mounts: tuple[Mount, ...]) -> None:
        """Places of the mounts in the form of the kernel."""
        for mount in mounts:
            if mount.proof_mass is not None:
                raise InputError(f'sensor "{mount.name}": a proof mass cannot be read live; drop proof_mass')
        links = np.array([self._body(mount.link) for mount in mounts], dtype=np.int64)
        centres = self.model.body_rootid[links].astype(np.int64)
        levers = np.array([mount.r_bs_b for mount in mounts], dtype=np.float64).reshape(-1, 3)
        turns = np.array([q_normalise(mount.q_bs) for mount in mounts]).reshape(-1, 4)
        self._where, self._how, self._planned = (links, centres), (levers, turns), mounts
        solver = self._warm_now, self._warm_before
        self._stepped = (
            self._qpos,
            self._qvel,
            _LARGEST,
            *solver,
            *self._where,
            *self._links_now,
            self._g_n,
            *self._how,
        )
        self._fitting = None


class MujocoPlant(Rewinding, SteppedPlant):
    """A robot in MuJoCo, moved step by step and rewound."""

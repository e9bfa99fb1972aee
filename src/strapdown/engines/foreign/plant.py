"""A robot in PyBullet or Drake that is commanded, pushed and read while it moves (the protocol Plant of live.py).

`live_plant` gives a plant of any engine. Drake's can be rewound. PyBullet's cannot: its contacts have a memory that no
snapshot holds, so it has no snapshot() and restore(), and a session on it has no rewind.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from strapdown.engines.catalogue import COPPELIASIM, DRAKE, MUJOCO, engine_named, integrator_of, needs_mujoco
from strapdown.engines.foreign.dynamics import dynamics_of
from strapdown.engines.foreign.step import ForeignStep, without_constraints
from strapdown.engines.foreign.tree import tree_of
from strapdown.engines.mujoco.force_law import ForceLaw
from strapdown.engines.mujoco.plant import MujocoPlant, SteppedPlant
from strapdown.engines.mujoco.rewinding import Rewinding
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Physics, Start
from strapdown.errors import InputError


def twin_integrator(engine: str, integrator: str | None) -> str:
    """How motors are laid out: those of an engine with first-order steps are explicit as with euler."""
    chosen = integrator_of(engine_named(engine), integrator)
    return "rk4" if chosen == "rk4" else "euler"


def check_mounts(mounts: Sequence[Mount]) -> None:
    for mount in mounts:
        if mount.proof_mass is not None:
            raise needs_mujoco(f'sensor "{mount.name}" has the method proof-mass, which')


class ForeignPlant(SteppedPlant):
    """A robot with motors in PyBullet or Drake, moved step by step."""

    def __init__(
        self,
        robot: RobotFile,
        engine: str,
        physics: Physics,
        motors: Sequence[Motor] = (),
        start: Sequence[Start] = (),
        law: ForceLaw | None = None,
        integrator: str | None = None,
    ) -> None:
        """integrator: of the engine, None for its default; that of the physics is not used."""
        self.engine, self._chosen = engine, integrator
        super().__init__(robot, replace(physics, integrator=twin_integrator(engine, integrator)), motors, start, law)

    def _stepping(self) -> ForeignStep:
        dynamics = dynamics_of(self.engine, tree_of(self.model), self._chosen, self.physics.step_s)
        without_constraints(self.model)
        self._foreign = ForeignStep(self.model, self.data, dynamics)
        return self._foreign

    def _identity(self) -> bytes:
        return super()._identity() + f"{self.engine} {self._chosen}".encode()

    def reset(self) -> None:
        self._foreign.forget()
        super().reset()

    def contacts(self) -> Any:
        raise needs_mujoco("the list of contacts")


class RewindableForeignPlant(Rewinding, ForeignPlant):
    """The same in an engine whose state is all that its future depends on."""


def live_plant(
    robot: RobotFile,
    engine: str,
    physics: Physics,
    motors: Sequence[Motor] = (),
    start: Sequence[Start] = (),
    law: ForceLaw | None = None,
    integrator: str | None = None,
) -> SteppedPlant:
    """A live robot in the named engine. integrator None: that of the physics in MuJoCo, else the engine's default."""
    engine_named(engine)
    if engine == MUJOCO:
        return MujocoPlant(
            robot, physics if integrator is None else replace(physics, integrator=integrator), motors, start, law
        )
    if engine == COPPELIASIM:
        raise InputError(
            'engine "coppeliasim" runs robots by simulate and by strapdown.engines.coppeliasim; a session needs '
            "mujoco, drake or pybullet"
        )
    kind = RewindableForeignPlant if engine == DRAKE else ForeignPlant
    return kind(robot, engine, physics, motors, start, law, integrator)

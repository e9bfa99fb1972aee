"""What another engine does for us: it turns a state and forces into accelerations and the next state.

Motors, pushes, joint springs and damping are computed here, from one law for all engines, and handed over as
generalised forces. The engine adds gravity, inertia, contacts and joint limits, and makes the step.

Positions and speeds are those of the compiled robot (Tree): a hinge is in rad, a slide in m. A floating link has its
origin (m, frame n) and q_nb, then the velocity of its origin (frame n) and its angular rate in its own frame.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.catalogue import DRAKE, PYBULLET, engine_named, integrator_of, loaded
from strapdown.engines.foreign.tree import Tree

Array = NDArray[np.float64]
ForcesAt = Callable[[float, Array, Array], Array]  # time since the begin of the step, positions, speeds -> forces


class Dynamics(Protocol):
    """holds: the acceleration is one and the same from the begin of a step to its end (a first-order engine)."""

    holds: bool

    def put(self, position: Array, speed: Array) -> None:
        """Go to a state; nothing is remembered of the one before."""
        ...

    def acceleration(self, forces: Array, size_s: float) -> Array:
        """What a step of this size would apply now; the state stays."""
        ...

    def step(self, forces: Array, size_s: float, forces_at: ForcesAt) -> tuple[Array, Array]:
        """Make a step; the new positions and speeds. forces: at its begin, forces_at: within it."""
        ...

    def applied(self) -> Array:
        """The acceleration that the last step of an engine that holds it applied, from its begin on."""
        ...


def dynamics_of(engine: str, tree: Tree, integrator: str | None, step_s: float) -> Dynamics:
    """A robot in another engine; the engine's package is imported here and not before."""
    chosen = integrator_of(engine_named(engine), integrator)
    with loaded(engine):
        if engine == PYBULLET:
            from strapdown.engines.pybullet.dynamics import PybulletDynamics

            return PybulletDynamics(tree)
        assert engine == DRAKE
        from strapdown.engines.drake.dynamics import DrakeDynamics

        return DrakeDynamics(tree, chosen, step_s)

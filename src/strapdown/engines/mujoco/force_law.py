"""Forces on a live robot that the engine does not compute: rotors, wheel drives.

A law is called once before each evaluation of the engine and writes `qfrc_applied` of the coming step. Values that it
needs from one step to the next are in `memory`, which is part of a snapshot.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class ForceLaw(Protocol):
    memory: NDArray[np.float64]  # everything that the future depends on

    def attach(self, model: Any, data: Any) -> None:
        """Take views of the engine's arrays, and change constants of the model; called once, before anything else."""
        ...

    def identity(self) -> bytes:
        """The constants of the law: a snapshot belongs to a plant of the same identity."""
        ...

    def reset(self) -> None:
        """Set the memory as at the start; the engine's state is already there."""
        ...

    def apply(self, size_s: float) -> bool:
        """Write the forces over the coming step, from the present state. The law may be called again for another size
        of the step.

        Returns whether constants of the model have changed, so that all must be computed again.
        """
        ...

    def settle(self, largest: float) -> bool:
        """Called after a step: keep its results. Whether the engine's state is finite and below the largest."""
        ...


@runtime_checkable
class SteppingLaw(ForceLaw, Protocol):
    """A law whose kernel makes whole steps of the engine, without Python in between."""

    def steps(self, engine: Any, stage: int, size_s: float, stepped: Sequence[Any], out: Any, jets: Any) -> int:
        """Make len(out) steps and read the mounts after each; returns how many were made (kernels/vehicles/rotors.py,
        rotor_steps).

        engine: addresses of the engine (direct.py).
        stepped: the arrays of the plant in the kernel's order.
        """
        ...

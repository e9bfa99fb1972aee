"""The force law of a vehicle with fixed-pitch rotors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.engines.mujoco.direct import NO_ENGINE, NOT_STEPPED, Addresses
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.vehicles import rotors as kernel
from strapdown.kernels.vehicles.memory import ACHIEVED, AIR
from strapdown.vehicles.actuation import Rotor
from strapdown.vehicles.free_body_law import FreeBodyLaw


class RotorLaw(FreeBodyLaw):
    """Rotors on a floating body.

    parasitic: N s2/m2 along the axes of the body, at the reference density.
    """

    def __init__(
        self, body: str, rotors: Sequence[Rotor], parasitic: Sequence[float], reference_kg_m3: float, air_kg_m3: float
    ) -> None:
        super().__init__(body, len(rotors), air_kg_m3)
        self._rotors = np.array([rotor.row() for rotor in rotors])
        self._numbers = np.zeros(kernel.BODY)
        self._numbers[kernel.REFERENCE_DENSITY] = reference_kg_m3
        self._numbers[kernel.PARASITIC : kernel.PARASITIC + 3] = parasitic
        fix_signature(kernel.rotor_steps)

    def attach(self, model: Any, data: Any) -> None:
        super().attach(model, data)
        self._numbers[kernel.CENTRE : kernel.CENTRE + 3] = model.body(self._body).ipos
        self._numbers[kernel.GROUND] = self._ground
        self._own = self._all, self._rotors, self._numbers, self._place, self._motion, self._force

    def identity(self) -> bytes:
        return self._rotors.tobytes() + self._numbers.tobytes()

    def apply(self, size_s: float) -> bool:
        kernel.rotor_steps(NO_ENGINE, 0, *self._own, size_s, *NOT_STEPPED)
        return False

    def steps(
        self, engine: Addresses, stage: int, size_s: float, stepped: Sequence[Any], out: Array, jets: Array
    ) -> int:
        return kernel.rotor_steps(engine, stage, *self._own, size_s, *stepped, out, jets)

    @property
    def speeds(self) -> Array:
        """Speed of each rotor, rad/s."""
        first = AIR + ACHIEVED * self._count
        return self._all[first : first + self._count]

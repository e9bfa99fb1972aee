"""A simulated vehicle: actuated, exposed to wind, damaged, and read while it moves."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import mujoco
import numpy as np

from strapdown.arrays import Array
from strapdown.engines.mujoco.build import known
from strapdown.engines.mujoco.contacts import Contact
from strapdown.engines.mujoco.force_law import ForceLaw
from strapdown.engines.mujoco.plant import NO_JETS, SteppedPlant
from strapdown.engines.parts import Mount
from strapdown.errors import InputError
from strapdown.kernels.vehicles.memory import ACHIEVED, AIR, ANGLE, COMMAND, DENSITY, SHARE, WIND
from strapdown.live import Rewindable
from strapdown.vehicles.scene import scene_of

if TYPE_CHECKING:
    from strapdown.vehicles.vehicle import Vehicle

_CLOSE = 1e-6  # m: a ray that meets the vehicle itself goes on from just behind that point


class VehicleLaw(ForceLaw, Protocol):
    """A force law with the memory of kernels/vehicles/memory.py."""

    def commanded(self) -> None:
        """Inform the law that commands in the memory are new."""
        ...

    @property
    def speeds(self) -> Array: ...


class VehiclePlant:
    """The protocol Plant of live.py, Rewindable where the engine keeps snapshots, and further functions for a session.

    Time begins at 0.
    """

    def __init__(self, vehicle: "Vehicle", plant: SteppedPlant, law: VehicleLaw) -> None:
        self.vehicle, self._plant, self._law = vehicle, plant, law
        self._names = [actuator.name for actuator in vehicle.actuators]
        n = len(self._names)
        memory = law.memory
        self._commands = memory[AIR + COMMAND * n : AIR + SHARE * n]
        self._shares = memory[AIR + SHARE * n : AIR + ACHIEVED * n]
        self._air = memory[DENSITY : WIND + 3]
        self.achieved = memory[AIR + ACHIEVED * n : AIR + ANGLE * n].view()
        self.phases = memory[AIR + ANGLE * n :].view()
        for view in (self.achieved, self.phases):
            view.flags.writeable = False
        model = plant.model
        root = model.body(vehicle.body).rootid[0]
        self._own_shapes = frozenset(np.flatnonzero(model.body_rootid[model.geom_bodyid] == root).tolist())
        self._hit = np.zeros(1, np.int32)
        self.advance_to, self.read, self.push = plant.advance_to, plant.read, plant.push
        self.reset = plant.reset
        if isinstance(plant, Rewindable):
            self.restore, self.snapshot = plant.restore, plant.snapshot

    @property
    def time_s(self) -> float:
        return self._plant.time_s

    @property
    def model(self) -> Any:
        """The compiled mujoco.MjModel."""
        return self._plant.model

    @property
    def speeds(self) -> Array:
        """Speed of each rotor or wheel (rad/s), in the order of phases; for a joint its rate."""
        return self._law.speeds

    def advance_reading(self, mounts: Sequence[Mount], out: Array, jets: Array = NO_JETS) -> None:
        """Make len(out) physics steps and read the mounts after each.

        out: (steps, mounts, 22).
        jets: (steps, 3 or more for each actuator), or without columns: see turning.
        """
        self._plant.advance_reading(mounts, out, jets, self.turning)

    def turning(self, out: Array) -> None:
        """Write angle and speed of actuator i, now, to columns 3 i and 3 i + 1."""
        end = 3 * len(self._names)
        out[0:end:3], out[1:end:3] = self.phases, self.speeds

    @property
    def wheel_angles(self) -> Array:
        """Encoder angles (rad) of the wheels since the start."""
        return self.phases

    @property
    def travel_m(self) -> float:
        """Odometer: mean distance of the left and the right wheels by their encoders, in whole ticks."""
        ways: dict[str, list[float]] = {"left": [], "right": []}
        for wheel, angle in zip(self.vehicle.wheels, self.phases.tolist(), strict=True):
            tick = 2.0 * math.pi / wheel.ticks_per_turn
            ways[wheel.side].append(math.floor(angle / tick) * tick * wheel.radius_m)
        return 0.5 * sum(sum(side) / len(side) for side in ways.values())

    def joints(self) -> tuple[str, ...]:
        """The joints that servos move; empty for other kinds of vehicles."""
        return tuple(servo.joint for servo in self.vehicle.servos)

    def scene(self) -> dict[str, Any]:
        """Links and their shapes as plain lists, for a page (scene.scene_of)."""
        return scene_of(self.vehicle.robot, self.vehicle.turning())

    def poses(self, out: Array) -> None:
        """Position (0:3) and quaternion (3:7) of every body of scene(), in its order, frame n; out is (bodies, 7)."""
        bodies = self._plant.model.nbody
        if out.shape != (bodies, 7):
            raise InputError(f"poses needs an array of shape ({bodies}, 7) to fill; it was given {out.shape}")
        data = self._plant.placed()
        out[:, :3], out[:, 3:] = data.xpos, data.xquat

    def links(self) -> tuple[str, ...]:
        return self._plant.links()

    def actuate(self, values: Array) -> None:
        """New commands of all actuators in their order, from now on, limited to the range of the actuators."""
        wanted = values.tolist()
        if len(wanted) != len(self._names):
            raise InputError(
                f"{self.vehicle.name} has {len(self._names)} actuators ({', '.join(self._names)}); actuate was given "
                f"{len(wanted)} values"
            )
        if wanted == self._commands.tolist():
            return
        if not math.isfinite(sum(wanted)):
            for name, value in zip(self._names, wanted, strict=True):
                if not math.isfinite(value):
                    raise InputError(f'the command of actuator "{name}" is {value}; give a finite number')
        self._commands[:] = values
        self._law.commanded()
        self._plant.refresh_forces()

    def command(self, targets: Mapping[str, float]) -> None:
        """New commands of some actuators, by name."""
        values = self._commands.copy()
        for name, value in targets.items():
            values[self._index(name)] = value
        self.actuate(values)

    def set_air(self, density_kg_m3: float, wind_n: Sequence[float] | Array) -> None:
        """Density of the air, and wind (m/s, frame n: where the air moves to), from now on."""
        x, y, z = wind_n
        now = [density_kg_m3, float(x), float(y), float(z)]
        if now == self._air.tolist():
            return
        if not (all(map(math.isfinite, now)) and density_kg_m3 >= 0.0):
            raise InputError(f"density {density_kg_m3} kg/m3 and wind {now[1:]} m/s; give finite numbers, density >= 0")
        self._air[:] = now
        self._plant.refresh_forces()

    def set_efficiency(self, name: str, share: float) -> None:
        """A motor that gives only a share (0 to 1) of its thrust or torque, from now on."""
        if not 0.0 <= share <= 1.0:
            raise InputError(f'the efficiency of actuator "{name}" is {share}; give a share from 0 to 1')
        self._shares[self._index(name)] = share
        self._plant.refresh_forces()

    def contacts(self) -> list[Contact]:
        return self._plant.contacts()

    def range_along(self, point_n: Sequence[float] | Array, direction_n: Sequence[float] | Array) -> float:
        """Distance (m) from a point along a direction (frame n, any length) to the first surface that is no part of the
        vehicle. The distance is inf if there is none.
        """
        at, along = np.array(point_n, dtype=np.float64), np.array(direction_n, dtype=np.float64)
        length = math.hypot(*along.tolist())
        if not 0.0 < length < math.inf:
            raise InputError(f"range along {along.tolist()}; give a direction that is not 0, in finite numbers")
        along /= length
        model, data, gone = self._plant.model, self._plant.placed(), 0.0
        while True:
            distance = mujoco.mj_ray(model, data, at, along, None, True, -1, self._hit)
            if distance < 0.0:
                return math.inf
            if self._hit.item(0) not in self._own_shapes:
                return gone + float(distance)
            gone += distance + _CLOSE
            at += (distance + _CLOSE) * along

    def _index(self, name: str) -> int:
        return self._names.index(known(name, self._names, "actuator", self.vehicle.name))

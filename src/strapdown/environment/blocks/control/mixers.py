"""From thrust and torque to rotor speeds, or to the pitch angles of a coaxial helicopter."""

import math
from typing import Self

import numpy as np
from pydantic import model_validator

from strapdown.arrays import Array
from strapdown.environment.blocks.common import Numbers, between, not_negative, parameter, plain_array
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block
from strapdown.environment.diagram.port import Port, Value
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.environment import control as kernel

_DEG = math.pi / 180.0
_INPUTS = {"thrust": Port("N", None, ()), "torque": Port("N m", "b", (3,))}


def _each(default: tuple[float, ...], title: str, description: str, unit: str) -> Numbers:
    return parameter(
        default, title=title, description=description, unit=unit, min_length=3, max_length=16, strict=False
    )


@block("mixer", category="control")
class Mixer(Memoryless):
    """Rotor speeds that give a thrust and a torque. Where the rotors cannot reach both, yaw is reduced first, then
    thrust.

    Rotors push along body z. A rotor that turns counter-clockwise, seen from above, has spin 1 and turns the body
    clockwise. Thrust is `thrust_n_s2` times the squared speed; torque is `moment_m` times the thrust.
    """

    class Parameters(BlockParameters):
        x_m: Numbers = _each((0.17, 0.0, -0.17, 0.0), "Places, x", "Of the rotors, forward.", "m")
        y_m: Numbers = _each((0.0, 0.17, 0.0, -0.17), "Places, y", "Of the rotors, to the left.", "m")
        spin: Numbers = _each((-1.0, 1.0, -1.0, 1.0), "Spins", "1: counter-clockwise from above; -1: clockwise.", "1")
        thrust_n_s2: float = between(8.54858e-6, 1e-12, 1e6, "Thrust constant", "Thrust per squared speed.", "N s2")
        moment_m: float = not_negative(0.016, "Moment constant", "Torque per thrust.", "m")
        slowest_rad_s: float = not_negative(0.0, "Slowest", "Least rotor speed.", "rad/s")
        fastest_rad_s: float = not_negative(838.0, "Fastest", "Largest rotor speed.", "rad/s")

        @model_validator(mode="after")
        def _fits(self) -> Self:
            if not len(self.x_m) == len(self.y_m) == len(self.spin):
                counts = f"{len(self.x_m)}, {len(self.y_m)} and {len(self.spin)} numbers"
                raise ValueError(f"x_m, y_m and spin have {counts}; give one of each for every rotor")
            if not self.slowest_rad_s < self.fastest_rad_s:
                raise ValueError(
                    f"slowest_rad_s is {self.slowest_rad_s:g}, not below fastest_rad_s of {self.fastest_rad_s:g}"
                )
            if np.linalg.matrix_rank(effects(self)) < 4:
                raise ValueError("these rotors cannot give thrust and all three torques; check x_m, y_m and spin")
            return self

    def __init__(self, p: Parameters) -> None:
        n = len(p.x_m)
        self.inputs = dict(_INPUTS)
        self.outputs = {"command": Port("rad/s", None, (n,))}
        table = np.empty((n, kernel.MIX_COLUMNS))
        table[:, :4] = np.linalg.pinv(effects(p))
        table[:, kernel.PER_SPEED2] = p.thrust_n_s2
        table[:, kernel.LEAST_FORCE] = p.thrust_n_s2 * p.slowest_rad_s**2
        table[:, kernel.MOST_FORCE] = p.thrust_n_s2 * p.fastest_rad_s**2
        self._rotors = plain_array(table)
        self._count = n

    def start(self) -> None:
        fix_signature(kernel.mix)

    def apply(self, thrust: float, torque: Array) -> Value:
        out = np.empty(self._count)
        kernel.mix(thrust, torque, self._rotors, out)
        return out


def effects(p: Mixer.Parameters) -> Array:
    """(4, n): thrust and torque about body x, y, z of 1 N of each rotor."""
    return np.array([[1.0] * len(p.x_m), p.y_m, [-x for x in p.x_m], [-s * p.moment_m for s in p.spin]])


@block("helicopter_mixer", category="control")
class HelicopterMixer(Memoryless):
    """Collective and cyclic pitch of two coaxial rotors for a thrust and a torque, by the hover's formulas.

    Blade element and momentum theory with one common wake, as in the vehicle's model: exact in hover without rates.
    """

    class Parameters(BlockParameters):
        density_kg_m3: float = between(0.017, 1e-6, 1e4, "Air density", "At the place.", "kg/m3")
        radius_m: float = between(0.605, 1e-3, 1e3, "Radius", "Of the rotors.", "m")
        speed_rpm: float = between(2537.0, 1.0, 1e6, "Rotor speed", "Of both rotors.", "rpm")
        solidity: float = between(0.074, 1e-6, 1.0, "Solidity", "Of one rotor.", "1")
        lift_slope: float = between(5.0, 0.01, 100.0, "Lift slope", "Lift coefficient per angle of attack.", "1/rad")
        induced_factor: float = between(1.15, 0.1, 10.0, "Induced factor", "Power of the wake over an even one.", "1")
        collective_deg: Numbers = parameter(
            (-4.5, 17.5),
            title="Collective",
            description="Least and largest collective pitch.",
            unit="deg",
            min_length=2,
            max_length=2,
            strict=False,
        )
        most_cyclic_deg: float = between(10.0, 0.0, 45.0, "Largest cyclic", "Limit of the cyclic pitch.", "deg")
        most_yaw_deg: float = between(2.0, 0.0, 45.0, "Largest yaw", "Limit of the collectives' difference.", "deg")

    def __init__(self, p: Parameters) -> None:
        self.inputs = dict(_INPUTS)
        self.outputs = {"command": Port("rad", None, (4,))}
        omega = p.speed_rpm * 2.0 * math.pi / 60.0
        area, self._tip = math.pi * p.radius_m**2, omega * p.radius_m
        self._wake = 1.0 / (2.0 * p.density_kg_m3 * area)  # squared induced speed per thrust
        self._k = 0.5 * p.density_kg_m3 * area * self._tip**2 * p.solidity * p.lift_slope  # N per (theta/3)
        hub = p.density_kg_m3 * p.lift_slope * p.solidity * math.pi * omega**2 * p.radius_m**5 / 16.0
        self._cyclic = 1.0 / (2.0 * hub)  # rad per N m
        self._yaw = -1.5 * omega / (self._k * p.induced_factor)  # rad per N m and m/s of the wake
        low, high = p.collective_deg
        self._low, self._high = low * _DEG, high * _DEG
        self._most_cyclic, self._most_yaw = p.most_cyclic_deg * _DEG, 0.5 * p.most_yaw_deg * _DEG

    def apply(self, thrust: float, torque: Array) -> Value:
        roll, pitch, yaw = torque.tolist()
        wake = math.sqrt(self._wake * thrust) if thrust > 0.0 else 0.0
        collective = 1.5 * (thrust / self._k + wake / self._tip)
        half = _limited(self._yaw * yaw / wake, self._most_yaw) if wake > 0.0 else 0.0
        return np.array(
            (
                min(max(collective + half, self._low), self._high),
                min(max(collective - half, self._low), self._high),
                _limited(self._cyclic * roll, self._most_cyclic),
                _limited(self._cyclic * pitch, self._most_cyclic),
            )
        )


def _limited(x: float, most: float) -> float:
    return -most if x < -most else most if x > most else x

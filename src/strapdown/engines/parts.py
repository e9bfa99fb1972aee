"""Additions of a rig to a robot: motors on joints, mounts for sensors on links, and start positions of joints."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Physics:
    """Gravity (m/s2, downward), the physics step (s) and the integrator of a simulation."""

    gravity: float
    step_s: float = 1e-3
    integrator: str = "rk4"


@dataclass(frozen=True)
class Motor:
    """A motor on a joint, following a target speed, a target position or a torque.

    `time_constant_s`: time in which the error decays, for the inertia that the joint carries at the start. None: 10 ms,
    or ten physics steps if that is longer, with every integrator. Position motors are critically damped. `max_torque`
    in N m (N if the joint slides). `gravity_compensation`: the motor also carries the weight behind its joint, as servo
    drives do. Gravity compensation works for speed and position motors, where every joint down to the fixed base has
    one.
    """

    name: str
    joint: str
    kind: str  # "speed", "position" or "torque"
    max_torque: float | None = None
    time_constant_s: float | None = None
    gravity_compensation: bool = True


@dataclass(frozen=True)
class ProofMass:
    """A small mass on a force sensor. joint_frequency_hz None: rigid; otherwise on a spring and damper per axis."""

    mass_kg: float = 1e-3
    joint_frequency_hz: float | None = None
    damping_ratio: float = 0.7


@dataclass(frozen=True)
class Mount:
    """A frame s fixed to a link: lever arm r_bs_b (m) and mounting rotation q_bs, both in the link's frame b."""

    name: str
    link: str
    r_bs_b: tuple[float, float, float] = (0.0, 0.0, 0.0)
    q_bs: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    proof_mass: ProofMass | None = None


@dataclass(frozen=True)
class Start:
    """Start of a joint: rad and rad/s (m and m/s if it slides)."""

    joint: str
    position: float = 0.0
    speed: float = 0.0

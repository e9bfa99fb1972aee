"""Height: an observer from acceleration and altimeter, and a controller of the thrust."""

from typing import Any

from strapdown.arrays import Array
from strapdown.environment.blocks.common import between, not_negative
from strapdown.environment.blocks.control.flight_control import ATTITUDE, gravity_parameter
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import FLAG, Port, Value

_FLAG = Port(FLAG, None, ())


def mass_parameter() -> Any:
    """Mass of the vehicle; by default that of the quadcopter."""
    return between(0.716, 1e-3, 1e6, "Mass", "Mass of the vehicle.", "kg")


# height (m), vertical speed (m/s), and for how long readings have been further off than the gate (s)
Climb = tuple[float, float, float]


@block("height_observer", category="estimation")
class HeightObserver:
    """Height and vertical speed: acceleration integrated, corrected at every new altimeter reading.

    The altimeter measures along the body's z axis: its reading times the cosine of the tilt is the height. A reading
    beyond the gate is rejected. If such readings last, the ground has changed and they are used. Without `ok` the
    altimeter is not used, and a measured velocity corrects the vertical speed in each tick with `velocity_new`. Without
    `accelerometer_ok` the thrust over the mass replaces the accelerometer; no thrust means rest.
    """

    class Parameters(BlockParameters):
        height_gain: float = between(0.12, 0.0, 1.0, "Height gain", "Height correction per error of a reading.", "1")
        speed_gain: float = not_negative(0.30, "Speed gain", "Speed correction per error of a reading.", "1/s")
        velocity_gain: float = between(
            0.1, 0.0, 1.0, "Velocity gain", "Speed correction per error of a measured velocity.", "1"
        )
        gate_m: float = not_negative(1.0, "Gate", "Readings that are further off are rejected.", "m")
        gate_s: float = not_negative(0.5, "Gate time", "Readings that are off for this time count again.", "s")
        mass_kg: float = mass_parameter()
        gravity_m_s2: float = gravity_parameter()

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {
            "altimeter": Port("m", None, ()),
            "new": _FLAG,
            "ok": Port(FLAG, None, (), default=1.0),
            "accelerometer": Port("m/s2", "b", (3,)),
            "accelerometer_ok": Port(FLAG, None, (), default=1.0),
            "thrust": Port("N", None, (), default=0.0),
            "attitude": ATTITUDE,
            "velocity": Port("m/s", "n", (3,), default=0.0),
            "velocity_new": Port(FLAG, None, (), default=0.0),
        }
        self.outputs = {"height": Port("m", None, ()), "speed": Port("m/s", None, ())}

    def start(self) -> Climb | None:
        return None

    def step(
        self,
        state: Climb | None,
        altimeter: float,
        new: float,
        ok: float,
        accelerometer: Array,
        accelerometer_ok: float,
        thrust: float,
        attitude: Array,
        velocity: Array,
        velocity_new: float,
        dt: float,
    ) -> tuple[Climb | None, tuple[Value, ...]]:
        w, x, y, z = attitude.tolist()
        upright = 1.0 - 2.0 * (x * x + y * y)
        if state is None:  # until the first reading
            found = (altimeter * upright, 0.0)
            return ((*found, 0.0), found) if new > ON else (None, (0.0, 0.0))
        p = self.p
        if accelerometer_ok > ON:
            fx, fy, fz = accelerometer.tolist()
        else:
            fx, fy, fz = 0.0, 0.0, thrust / p.mass_kg if thrust > 0.0 else p.gravity_m_s2
        up = 2.0 * (x * z - w * y) * fx + 2.0 * (y * z + w * x) * fy + upright * fz - p.gravity_m_s2
        height, speed, off_s = state
        height += (speed + 0.5 * up * dt) * dt
        speed += up * dt
        off_s += dt
        if not ok > ON:
            if velocity_new > ON:
                speed += p.velocity_gain * (float(velocity[2]) - speed)
        elif new > ON:
            error = altimeter * upright - height
            if -p.gate_m <= error <= p.gate_m:
                off_s = 0.0
            if off_s <= 0.0 or off_s > p.gate_s:
                height += p.height_gain * error
                speed += p.speed_gain * error
        return (height, speed, off_s), (height, speed)


# height of the ground at arming, target (m), integral (m/s2), whether the thrust is on
Flight = tuple[float, float, float, bool]


@block("altitude_controller", category="control")
class AltitudeController:
    """Thrust for a vertical speed; holds the height while none is asked for. Takes off on a climb, ends on the ground.

    While not flying there is no thrust. A climb while on starts the flight. A descent ends it below `landed_m` over the
    height at arming. The integral stops while the thrust is at a limit.
    """

    class Parameters(BlockParameters):
        height_gain: float = not_negative(1.2, "Height gain", "Vertical speed per height error.", "1/s")
        speed_gain: float = not_negative(3.0, "Speed gain", "Acceleration per error of the vertical speed.", "1/s")
        speed_integral: float = not_negative(1.0, "Integral gain", "Acceleration per integral of that.", "1/s2")
        most_speed_m_s: float = not_negative(1.5, "Largest vertical speed", "Limit of the vertical speed.", "m/s")
        mass_kg: float = mass_parameter()
        most_thrust_n: float = not_negative(20.0, "Largest thrust", "Limit of the thrust.", "N")
        landed_m: float = not_negative(0.05, "Landed below", "Height over the ground at which a descent ends.", "m")
        gravity_m_s2: float = gravity_parameter()

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {
            "climb": Port("m/s", None, ()),
            "height": Port("m", None, ()),
            "speed": Port("m/s", None, ()),
            "attitude": ATTITUDE,
            "on": _FLAG,
        }
        self.outputs = {"thrust": Port("N", None, ()), "target": Port("m", None, ()), "flying": _FLAG}

    def start(self) -> Flight | None:
        return None

    def step(
        self, state: Flight | None, climb: float, height: float, speed: float, attitude: Array, on: float, dt: float
    ) -> tuple[Flight | None, tuple[Value, ...]]:
        p = self.p
        if not on > ON:
            return None, (0.0, height, 0.0)
        if state is None:
            state = (height, height, 0.0, False)
        ground, target, integral, flying = state
        if not flying:
            if not climb > 0.0:
                return state, (0.0, height, 0.0)
            target = height
        elif climb < 0.0 and height - ground < p.landed_m:
            return (ground, height, 0.0, False), (0.0, height, 0.0)
        target += climb * dt
        # not further ahead than the vertical speed reaches: a target that is out of reach does not wind up
        ahead = p.most_speed_m_s / p.height_gain if p.height_gain > 0.0 else 0.0
        target = height - ahead if target < height - ahead else height + ahead if target > height + ahead else target
        wanted = climb + p.height_gain * (target - height)
        most = p.most_speed_m_s
        wanted = -most if wanted < -most else most if wanted > most else wanted
        error = wanted - speed
        _, x, y, _ = attitude.tolist()
        upright = 1.0 - 2.0 * (x * x + y * y)
        lifted = p.mass_kg / (upright if upright > 0.5 else 0.5)  # no more than twice the thrust, however far it leans
        demand = lifted * (p.gravity_m_s2 + p.speed_gain * error + integral)
        thrust = 0.0 if demand < 0.0 else p.most_thrust_n if demand > p.most_thrust_n else demand
        if (demand - thrust) * error <= 0.0:
            integral += p.speed_integral * error * dt
        return (ground, target, integral, True), (thrust, target, 1.0)

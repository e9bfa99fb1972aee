"""Paper B's IMU block: calibration at rest and the complementary filter of Euler angles, (11) to (16).

The low-pass filters of the paper are separate blocks before it. The filter is the package's PaperB.
"""

from typing import Any, NamedTuple

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.estimation.at_rest import Rest, RestLimits, begun, continued, level_yaw
from strapdown.environment.blocks.estimation.orientation_filters import advanced, parameters_of
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import block, parameter
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value
from strapdown.kernels.orientation.paper_b import OFFSET
from strapdown.kernels.orientation.state import BIAS, Q
from strapdown.live import Start
from strapdown.orientation.paper_b import PaperB
from strapdown.rotation import IDENTITY, q_from_euler

_FLAG = Port(FLAG, None, ())
_NO_FIELD = np.empty(0)
_ENDLESS_S, _AT_ONCE_S = 1e9, 1e-9  # calibration times: while the switch is on; from the moment it goes off


class _Settings(RestLimits, parameters_of("paper-b", without=("low_pass_s", "calibration_s"))):  # type: ignore[misc]
    level: bool = parameter(
        True,
        title="Level",
        description="On: level during the calibration, heading by the magnetometer. Off: by the accelerometer.",
    )


class Calibrating(NamedTuple):
    """State of the calibration in the block.

    calibrated: the filter in use comes from a calibration.
    numbers: numbers of the state of the filter that is being calibrated.
    rest: statistics of its readings; None while the switch is off.
    moving: the calibration was refused, or is being refused, because of motion.
    """

    calibrated: bool = False
    numbers: Array | None = None
    rest: Rest | None = None
    moving: bool = False


# numbers of the state of the filter in use, None before the first reading; time since the last reading, s
Imu = tuple[Array | None, float, Calibrating]


@block("imu_block", category="estimation")
class ImuBlock:
    """Paper B's IMU block: calibration while the switch is on, then attitude from all three sensors.

    Motion restarts the calibration. When the switch goes off after enough rest the calibrated filter is used. Otherwise
    the old one continues and `moving` stays on. Without any calibration the filter uses the readings unchanged.
    """

    Parameters = _Settings
    rate_hz: float | None = None

    def __init__(self, p: Any) -> None:
        self.p = p
        own = p.model_dump(exclude={*RestLimits.model_fields, "level"})
        self._gathering = PaperB(low_pass_s=0.0, calibration_s=_ENDLESS_S, **own)
        self._calibrated = PaperB(low_pass_s=0.0, calibration_s=_AT_ONCE_S, **own)
        self._plain = PaperB(low_pass_s=0.0, calibration_s=0.0, **own)
        self._kernels: dict[bool, tuple[Any, Array]] = {}  # of the filter in use, by calibrated or not
        force, rate = Port("m/s2", "b", (3,)), Port("rad/s", "b", (3,))
        self.inputs = {
            "accelerometer": force,
            "gyroscope": rate,
            "magnetometer": Port("uT", "b", (3,), default=0.0),
            "new": Port(FLAG, None, (), default=1.0),
            "magnetometer_new": Port(FLAG, None, (), default=0.0),
            "switch": _FLAG,
        }
        self.outputs = {
            "attitude": Port(QUATERNION, "nb", (4,)),
            "accelerometer": force,
            "gyroscope": rate,
            "done": _FLAG,
            "busy": _FLAG,
            "moving": _FLAG,
        }

    def start(self) -> Imu:
        return None, 0.0, Calibrating()

    def step(
        self,
        state: Imu,
        accelerometer: Array,
        gyroscope: Array,
        magnetometer: Array,
        new: float,
        magnetometer_new: float,
        switch: float,
        dt: float,
    ) -> tuple[Imu, tuple[Value, ...]]:
        numbers, waited_s, phase = state
        on = switch > ON
        if not on and phase.rest is not None:  # the switch has just gone off
            if phase.rest.elapsed_s >= self.p.least_s:
                numbers, phase = phase.numbers, Calibrating(calibrated=True)
            else:
                phase = Calibrating(phase.calibrated, moving=True)
        waited_s += dt
        if new > ON:
            field = magnetometer if magnetometer_new > ON else _NO_FIELD
            if on:
                phase = self._gathered(phase, gyroscope, accelerometer, field, magnetometer, waited_s, dt)
            if numbers is None:
                numbers, waited_s = self._plain.start(Start(step_s=dt)).numbers, 0.0
            live = self._kernels.get(phase.calibrated) or self._kernel(phase.calibrated)
            numbers = advanced(live, numbers, gyroscope, accelerometer, field, waited_s)
            waited_s = 0.0
        done, moving = 1.0 if phase.calibrated else 0.0, 1.0 if phase.moving else 0.0
        if numbers is None:
            outputs = (IDENTITY, accelerometer, gyroscope, done, 1.0 if on else 0.0, moving)
        else:
            rate, force = gyroscope - numbers[BIAS : BIAS + 3], accelerometer - numbers[OFFSET : OFFSET + 3]
            outputs = (numbers[Q : Q + 4], force, rate, done, 1.0 if on else 0.0, moving)
        return (numbers, waited_s, phase), outputs

    def _kernel(self, calibrated: bool) -> tuple[Any, Array]:
        found = self._kernels[calibrated] = (self._calibrated if calibrated else self._plain).live_kernel
        return found

    def _gathered(
        self, phase: Calibrating, gyr: Array, acc: Array, field: Array, held_field: Array, since: float, dt: float
    ) -> Calibrating:
        """The filter that is being calibrated, with one more sample; motion restarts it."""
        calibrated, numbers, rest, moving = phase
        mag = field if len(field) else None
        if rest is None:
            moving = False
        else:
            rest = continued(rest, gyr, acc, mag, since, self.p)
            moving = rest is None or (moving and rest.elapsed_s < self.p.least_s)
        if rest is None or numbers is None:
            rest, since = begun(gyr, acc, mag), 0.0
            numbers = self._gathering.start(Start(step_s=dt, q_ns=self._attitude(held_field))).numbers
        numbers = advanced(self._gathering.live_kernel, numbers, gyr, acc, field, since)
        return Calibrating(calibrated, numbers, rest, moving)

    def _attitude(self, magnetometer: Array) -> Array | None:
        """The known attitude: level, heading by the magnetometer if there is one."""
        if not self.p.level:
            return None
        seen = self.p.magnetometer and bool(np.any(magnetometer[:2]))
        return q_from_euler(0.0, 0.0, level_yaw(magnetometer, self.p.declination_rad) if seen else 0.0)

"""Paper B's IMU block: calibration at rest and the complementary filter of Euler angles, (11) to (16).

The low-pass filters of the paper stand before it, as blocks of their own. The filter is the package's PaperB.
"""

from typing import Any, NamedTuple

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.at_rest import Rest, RestLimits, begun, continued, level_yaw
from strapdown.environment.blocks.logic import ON
from strapdown.environment.blocks.orientation_filters import parameters_of
from strapdown.environment.diagram.block import block, parameter
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value
from strapdown.kernels.orientation.paper_b import OFFSET
from strapdown.kernels.orientation.state import BIAS, Q
from strapdown.live import Start, State
from strapdown.orientation.paper_b import PaperB
from strapdown.rotation import IDENTITY, q_from_euler
from strapdown.sample import Sample

_FLAG = Port(FLAG, None, ())
_ENDLESS_S, _AT_ONCE_S = 1e9, 1e-9  # calibration times: while the switch is on; from the moment it goes off


class _Settings(RestLimits, parameters_of("paper-b", without=("low_pass_s", "calibration_s"))):  # type: ignore[misc]
    level: bool = parameter(
        True,
        title="Level",
        description="On: level during the calibration, heading by the magnetometer. Off: attitude by the accelerometer.",
    )


class Imu(NamedTuple):
    """used: state of the filter in use, None before the first reading; calibrated: it comes from a calibration.
    next: state of the filter that is being calibrated, rest: its readings. moving: refused, or being refused.
    waited_s: since the last reading; t: of that reading."""

    used: State | None
    calibrated: bool
    next: State | None
    rest: Rest | None
    moving: bool
    waited_s: float
    t: float


@block("imu_block", category="estimation")
class ImuBlock:
    """Paper B's IMU block: calibration while the switch is on, then attitude from all three sensors.

    Motion starts the calibration anew. When the switch goes off after enough rest the calibrated filter is used; else
    the old one goes on and `moving` stays on. Without any calibration the filter runs on the readings as they are.
    """

    Parameters = _Settings
    rate_hz: float | None = None

    def __init__(self, p: Any) -> None:
        self.p = p
        own = p.model_dump(exclude={*RestLimits.model_fields, "level"})
        self._gathering = PaperB(low_pass_s=0.0, calibration_s=_ENDLESS_S, **own)
        self._calibrated = PaperB(low_pass_s=0.0, calibration_s=_AT_ONCE_S, **own)
        self._plain = PaperB(low_pass_s=0.0, calibration_s=0.0, **own)
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
        return Imu(None, False, None, None, False, 0.0, 0.0)

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
        used, calibrated, candidate, rest, moving, waited_s, t = state
        if not switch > ON and rest is not None:  # the switch has just gone off
            if rest.elapsed_s >= self.p.least_s:
                used, calibrated, moving = candidate, True, False
            else:
                moving = True
            candidate = rest = None
        if new > ON:
            waited_s += dt
            t += waited_s
            field = magnetometer if magnetometer_new > ON else None
            if switch > ON:
                candidate, rest, moving = self._gathered(
                    state, Sample(t, waited_s, gyroscope, accelerometer, field), magnetometer, dt
                )
            first = used is None
            estimator = self._calibrated if calibrated else self._plain
            before = estimator.start(Start(step_s=dt)) if used is None else used
            used = estimator.step(before, Sample(t, 0.0 if first else waited_s, gyroscope, accelerometer, field))
            waited_s = 0.0
        else:
            waited_s += dt
        after = Imu(used, calibrated, candidate, rest, moving, waited_s, t)
        flags = (1.0 if calibrated else 0.0, 1.0 if switch > ON else 0.0, 1.0 if moving else 0.0)
        if used is None:
            return after, (IDENTITY, accelerometer, gyroscope, *flags)
        n = used.numbers
        rate, force = gyroscope - n[BIAS : BIAS + 3], accelerometer - n[OFFSET : OFFSET + 3]
        return after, (n[Q : Q + 4], force, rate, *flags)

    def _gathered(
        self, state: Imu, sample: Sample, magnetometer: Array, dt: float
    ) -> tuple[State, Rest, bool]:
        """The filter that is being calibrated, with one more sample; motion starts it anew."""
        candidate, rest, moving = state.next, state.rest, state.moving
        gyr, acc, field, since = sample.gyr_s, sample.acc_s, sample.mag_s, sample.dt
        if rest is None:
            moving = False
        else:
            rest = continued(rest, gyr, acc, field, since, self.p)
            if rest is None:
                candidate, moving = None, True
            elif rest.elapsed_s >= self.p.least_s:
                moving = False
        if rest is None or candidate is None:
            rest, sample = begun(gyr, acc, field), sample._replace(dt=0.0)
            candidate = self._gathering.start(Start(step_s=dt, q_ns=self._attitude(magnetometer)))
        return self._gathering.step(candidate, sample), rest, moving

    def _attitude(self, magnetometer: Array) -> Array | None:
        """The known attitude: level, heading by the magnetometer if there is one."""
        if not self.p.level:
            return None
        seen = self.p.magnetometer and bool(np.any(magnetometer[:2]))
        return q_from_euler(0.0, 0.0, level_yaw(magnetometer, self.p.declination_rad) if seen else 0.0)

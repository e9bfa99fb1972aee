"""Attitudes and angles between an estimate and a command."""

import math

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block, parameter
from strapdown.environment.diagram.port import QUATERNION, Port, Value
from strapdown.rotation import euler_from_q, q_conj, q_from_euler, q_rotate, wrap


class _Frames(BlockParameters):
    frames: str = parameter(
        "nb",
        title="Frames",
        description="Two letters: nb takes a vector in b to n, as q_nb does.",
        pattern=r"^[a-z]{2}$",
    )


@block("rotate", category="vector")
class Rotate(Memoryless):
    """Expresses a vector in another frame: b to n by q_nb."""

    Parameters = _Frames

    def __init__(self, p: _Frames) -> None:
        self.inputs = {
            "attitude": Port(QUATERNION, p.frames, (4,)),
            "in": Port(frame=p.frames[1], shape=(3,), group="vector"),
        }
        self.outputs = {"out": Port(frame=p.frames[0], shape=(3,), group="vector")}

    def apply(self, q: Array, v: Array) -> Value:
        return q_rotate(q, v)


@block("rotate_back", category="vector")
class RotateBack(Memoryless):
    """Expresses a vector in another frame, backward: n to b by q_nb."""

    Parameters = _Frames

    def __init__(self, p: _Frames) -> None:
        self.inputs = {
            "attitude": Port(QUATERNION, p.frames, (4,)),
            "in": Port(frame=p.frames[0], shape=(3,), group="vector"),
        }
        self.outputs = {"out": Port(frame=p.frames[1], shape=(3,), group="vector")}

    def apply(self, q: Array, v: Array) -> Value:
        return q_rotate(q_conj(q), v)


@block("euler_angles", category="vector")
class EulerAngles(Memoryless):
    """Roll, pitch and yaw (ZYX) of an attitude q_nb."""

    Parameters = _Frames

    def __init__(self, p: _Frames) -> None:
        self.inputs = {"attitude": Port(QUATERNION, p.frames, (4,))}
        self.outputs = {name: Port("rad", None, ()) for name in ("roll", "pitch", "yaw")}

    def apply(self, q: Array) -> tuple[Value, ...]:
        return tuple(float(angle) for angle in euler_from_q(q))


@block("attitude_of_angles", category="vector")
class AttitudeOfAngles(Memoryless):
    """The attitude q_nb with this roll, pitch and yaw (ZYX)."""

    Parameters = _Frames

    def __init__(self, p: _Frames) -> None:
        self.inputs = {name: Port("rad", None, ()) for name in ("roll", "pitch", "yaw")}
        self.outputs = {"attitude": Port(QUATERNION, p.frames, (4,))}

    def apply(self, roll: float, pitch: float, yaw: float) -> Value:
        return q_from_euler(roll, pitch, yaw)


@block("wrap_angle", category="math")
class WrapAngle(Memoryless):
    """The same angle between -pi and pi; put it behind a difference of headings."""

    def __init__(self, p: BlockParameters) -> None:
        self.inputs = {"in": Port("rad", group="angle")}
        self.outputs = {"out": Port("rad", group="angle")}

    def apply(self, angle: Value) -> Value:
        if isinstance(angle, np.ndarray):
            return wrap(angle)
        return angle if -math.pi < angle <= math.pi else float(wrap(angle))

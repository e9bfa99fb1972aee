"""Common part of the robots of this engine; it is not used alone."""

from typing import Any

from strapdown.engines.mujoco.build import Built, known


class BuiltRobot:
    """A compiled robot on a clock."""

    _built: Built
    _time_s: float

    @property
    def model(self) -> Any:
        """The compiled mujoco.MjModel."""
        return self._built.model

    def links(self) -> tuple[str, ...]:
        return self._built.links

    @property
    def time_s(self) -> float:
        return self._time_s

    def _body(self, link: str) -> int:
        return int(self.model.body(known(link, self.links(), "link", "robot")).id)


class SteppedRobot(BuiltRobot):
    """A robot that physics moves: its data holds the present state of its joints."""

    data: Any  # mujoco.MjData

    def joints(self) -> tuple[str, ...]:
        """The joints that can carry a motor."""
        return self._built.joints

    def joint_position(self, joint: str) -> float:
        """Position of a joint: rad, or m for a slide."""
        return float(self.data.joint(known(joint, self.joints(), "joint", "robot")).qpos[0])

    def joint_speed(self, joint: str) -> float:
        """Speed of a joint: rad/s, or m/s for a slide."""
        return float(self.data.joint(known(joint, self.joints(), "joint", "robot")).qvel[0])

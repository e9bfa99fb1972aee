"""What robots of this engine share; it is not used by itself."""

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

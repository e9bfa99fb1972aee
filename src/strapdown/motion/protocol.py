"""Two interfaces for the place of a body: a path gives it for any time, a source is moved step by step."""

from collections.abc import Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from strapdown.types import Motion


class Path(Protocol):
    """A motion known in advance: analytic or recorded."""

    @property
    def duration_s(self) -> float: ...

    def at(self, t: ArrayLike) -> Motion:
        """The motion of the body at the given times (s, increasing, from 0 to duration_s)."""
        ...


class MotionSource(Protocol):
    """Something that moves link by link while it is advanced: a physics engine, or a path played back."""

    def links(self) -> Sequence[str]:
        """The names that state() knows."""
        ...

    @property
    def time_s(self) -> float: ...

    def state(self, link: str) -> Motion:
        """One row of motion of the link's frame at time_s. Never stale: it belongs to the present state."""
        ...

    def advance(self, duration_s: float) -> None: ...

    def reset(self) -> None:
        """Back to the start, as if just made."""
        ...

"""A path played back like an engine: a motion source with one link."""

from strapdown.checks import END_ROUNDOFF_S, finite
from strapdown.errors import InputError
from strapdown.motion.protocol import Path
from strapdown.types import Motion

LINK = "body"


class Played:
    """Any path as a MotionSource: its only link is "body"."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sum_s = 0.0
        self._lost_s = 0.0

    def links(self) -> tuple[str, ...]:
        return (LINK,)

    @property
    def time_s(self) -> float:
        return min(self._sum_s + self._lost_s, self.path.duration_s)

    def state(self, link: str) -> Motion:
        if link != LINK:
            raise InputError(f'a played path has no link "{link}"; its only link is "{LINK}"')
        return self.path.at([self.time_s])

    def advance(self, duration_s: float) -> None:
        step_s = finite("duration_s", duration_s)
        if step_s < 0.0:
            raise InputError(f"cannot advance by {step_s:g} s; time only goes forward, use reset() to start again")
        # Neumaier's sum: what each addition rounds off is kept, so a million small steps end where one does
        sum_s = self._sum_s + step_s
        if self._sum_s >= step_s:
            lost_s = self._lost_s + ((self._sum_s - sum_s) + step_s)
        else:
            lost_s = self._lost_s + ((step_s - sum_s) + self._sum_s)
        if sum_s + lost_s > self.path.duration_s + END_ROUNDOFF_S:
            raise InputError(
                f"cannot advance from {self.time_s:.9g} s by {step_s:.9g} s: "
                f"the path ends at {self.path.duration_s:.9g} s; reset() or give it a longer path"
            )
        self._sum_s, self._lost_s = sum_s, lost_s

    def reset(self) -> None:
        self._sum_s = 0.0
        self._lost_s = 0.0

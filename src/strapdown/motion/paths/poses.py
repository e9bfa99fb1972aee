"""Rest in one attitude after the other, as for a calibration: the six faces of a box, or poses by hand."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import Array, attitude, not_negative, positive, rows, set_fields, times_within, triple
from strapdown.errors import InputError
from strapdown.keywords import shows_keywords
from strapdown.motion.paths.profile import Keep, MoveTo, Phase, Profile, interval_of
from strapdown.motion.rotation_spline import LARGEST_TURN
from strapdown.rotation import q_conj, q_continuous, q_exp, q_log, q_mul
from strapdown.types import Motion

GOLDEN_TURN = np.pi * (3.0 - np.sqrt(5.0))  # rad: points a golden angle apart never line up
HEADING_SHARE = 0.75  # of the spiral's step: then the turns go about as far about x, about y and about z
MOST_POSES = 10_000
# The axis that points up, face by face; neighbours are a quarter turn apart, and the turns go about y, y, x, z, z
SIX_UP_B = ((0, 0, 1), (1, 0, 0), (0, 0, -1), (0, 1, 0), (-1, 0, 0), (0, -1, 0))


@shows_keywords("six", "spread")
@dataclass(frozen=True)
class Poses:
    """Rest for hold_s in each attitude of q_nb, and turn to the next in turn_s, from rest to rest, by the shortest
    turn.

    first_hold_s: duration of the first rest, from which the noise of a log can be estimated (None: hold_s).
    p_n (m): the point about which the body turns.

    Everything up to the angular acceleration is continuous. Two attitudes half a turn apart do not determine the
    direction of the turn and are refused.
    """

    q_nb: ArrayLike
    hold_s: float = 4.0
    turn_s: float = 2.0
    first_hold_s: float | None = None
    p_n: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        q_nb = rows("q_nb", self.q_nb, 4)
        set_fields(
            self,
            q_nb=tuple(attitude(f"q_nb[{i}]", q) for i, q in enumerate(q_nb)),
            hold_s=positive("hold_s", self.hold_s),
            turn_s=positive("turn_s", self.turn_s),
            first_hold_s=None if self.first_hold_s is None else positive("first_hold_s", self.first_hold_s),
            p_n=triple("p_n", self.p_n),
        )
        angles = np.linalg.norm(self._turns_b, axis=1)
        if len(angles) and angles.max() > LARGEST_TURN:
            i = int(np.argmax(angles))
            raise InputError(
                f"attitudes {i} and {i + 1} are half a turn apart, so the way round is open; put one between them"
            )

    @classmethod
    def six(cls, tilt_deg: float = 0.0, seed: int = 0, **settings: Any) -> Self:
        """Each axis up and down once, in quarter turns: z, x, -z, y, -x, -y.

        tilt_deg: the box is tilted.
        """
        ups_b = np.array(SIX_UP_B, dtype=np.float64)
        q_nb = [np.array([1.0, 0.0, 0.0, 0.0])]
        for up_b, next_up_b in pairwise(ups_b):
            q_nb.append(q_mul(q_nb[-1], q_exp(0.5 * np.pi * np.cross(next_up_b, up_b))))
        return cls(scattered(np.array(q_nb), tilt_deg, seed), **settings)

    @classmethod
    def spread(cls, count: int, tilt_deg: float = 0.0, seed: int = 0, **settings: Any) -> Self:
        """`count` attitudes whose directions of up cover the sphere evenly (a spiral), each with another heading.

        So the turns between them go about any axis.

        tilt_deg: their scatter about each axis, as by hand.
        """
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 2 <= count <= MOST_POSES:
            raise InputError(f"count is {count!r}; give a whole number of poses from 2 to {MOST_POSES}")
        k = np.arange(count)
        up_z = 1.0 - (2.0 * k + 1.0) / count
        tilt = np.arccos(up_z)[:, None] * np.stack([np.cos(GOLDEN_TURN * k), np.sin(GOLDEN_TURN * k), 0.0 * k], axis=1)
        heading = np.stack([0.0 * k, 0.0 * k, HEADING_SHARE * GOLDEN_TURN * k], axis=1)
        return cls(scattered(q_mul(q_exp(heading), q_exp(tilt)), tilt_deg, seed), **settings)

    @cached_property
    def _signed_q_nb(self) -> Array:
        """The attitudes, each with the sign at the end of the previous turn."""
        return q_continuous(np.array(self.q_nb))

    @cached_property
    def _turns_b(self) -> Array:
        """Rotation vectors from each attitude to the next, (m - 1, 3); a turn's vector is the same at its two ends."""
        q_nb = self._signed_q_nb
        return q_log(q_mul(q_conj(q_nb[:-1]), q_nb[1:])).reshape(-1, 3)

    @cached_property
    def _clock(self) -> Profile:
        """Number of turns done: whole numbers while the body is at rest."""
        phases: list[Phase] = [Keep(self.hold_s if self.first_hold_s is None else self.first_hold_s)]
        for i in range(len(self._turns_b)):
            phases += [MoveTo(float(i + 1), self.turn_s), Keep(self.hold_s)]
        return Profile(phases)

    @property
    def duration_s(self) -> float:
        return self._clock.duration_s

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Times at which a rest begins or ends."""
        return self._clock.inner_joints_s

    @property
    def holds_s(self) -> Array:
        """Times (s) from and until which each attitude is held, (m, 2)."""
        return self._clock.joints_s.reshape(-1, 2)

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        phase = interval_of(inside, self._clock.joints_s)
        pose, turning = phase // 2, phase % 2 == 1
        done, rate, acceleration, _ = (np.where(turning, x, 0.0)[:, None] for x in self._clock.at(inside))
        turns_b = np.concatenate([self._turns_b, np.zeros((1, 3))])[pose]
        part = np.where(turning[:, None], done - pose[:, None], 0.0)
        zero = np.zeros((len(asked), 3))
        return Motion(
            asked,
            np.tile(self.p_n, (len(asked), 1)),
            zero,
            zero,
            q_mul(self._signed_q_nb[pose], q_exp(part * turns_b)),
            rate * turns_b,
            acceleration * turns_b,
        )


def scattered(q_nb: Array, tilt_deg: float, seed: int) -> Array:
    """Attitudes turned randomly, by tilt_deg (standard deviation) about each body axis."""
    tilt_rad = np.radians(not_negative("tilt_deg", tilt_deg))
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}; give a whole number that is not negative")
    if tilt_rad == 0.0:
        return q_nb
    return q_mul(q_nb, q_exp(tilt_rad * np.random.default_rng(seed).standard_normal((len(q_nb), 3))))


def poses_from(
    q_nb: ArrayLike | None = None,
    set_name: str | None = None,
    count: int | None = None,
    tilt_deg: float = 0.0,
    seed: int = 0,
    **settings: Any,
) -> Poses:
    """Poses from the keys of a file: a list of attitudes, the set "six", or a count of well-spread ones."""
    if sum(x is not None for x in (q_nb, set_name, count)) != 1:
        raise InputError('one of attitudes_deg, set = "six" and count is needed; give exactly one of them')
    if set_name is not None:
        if set_name != "six":
            raise InputError(f'set is "{set_name}", which is not known; use "six", or give a count')
        return Poses.six(tilt_deg, seed, **settings)
    if count is not None:
        return Poses.spread(count, tilt_deg, seed, **settings)
    assert q_nb is not None
    return Poses(scattered(rows("q_nb", q_nb, 4), tilt_deg, seed), **settings)

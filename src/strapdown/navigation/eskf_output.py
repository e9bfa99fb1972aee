"""What the error-state filter gives: rows of the kernel as a Solution, its events, its innovations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels import eskf as kernel
from strapdown.kernels import eskf_layout as at
from strapdown.navigation.eskf_input import Rows
from strapdown.navigation.eskf_state import State
from strapdown.rotation import q_conj, q_mul
from strapdown.types import Array, Event, Solution

_NO_TAPES = np.empty((0, at.T_SIZE))
_NO_STATES = np.empty((0, at.X_SIZE))
_TOGETHER_S = 0.5  # rejections closer than this are one event
DEGREES = {name: 3 if name in ("stop", "still", "fix") else 1 for name in at.KINDS}
_WORDS = {
    "stop": ("a stop was not believed: the filter's velocity says it moves", "stops"),
    "still": ("at a stop the gyroscope says that the body turns", "zero rates"),
    "heading": ("the magnetic field is disturbed, or its heading does not fit", "headings"),
    "floor": ("the floor is not flat here", "floor heights"),
    "sideways": ("the vehicle slides sideways", "constraints"),
    "upward": ("the vehicle leaves its floor", "constraints"),
    "odometer": ("the wheel does not fit the motion: it slips or its encoder is dead", "wheel readings"),
    "fix": ("position fixes do not fit", "fixes"),
    "height": ("heights do not fit", "heights"),
}


@dataclass(frozen=True, eq=False)
class Innovations:
    """Of one kind of measurement: time (s), normalised innovation squared, whether it was taken; degrees of freedom."""

    t: Array
    nis: Array
    taken: NDArray[np.bool_]
    degrees: int


@dataclass(frozen=True, eq=False)
class Track:
    """A run with all that it saw."""

    solution: Solution
    innovations: Mapping[str, Innovations]
    last: State


class Output:
    """Room for the rows of a run; those before row `first` of the recording are at rest, as the filter starts."""

    def __init__(self, n: int, x: Array, first: int) -> None:
        self.first = first
        self.nominal = np.empty((n, at.BIAS_M + 1))
        self.sigma = np.empty((n, at.N))
        self.nis = np.zeros((n, len(at.KINDS)))
        self.said = np.zeros((n, 2), dtype=np.int64)
        self.nominal[:first] = x[: at.BIAS_M + 1]
        self.sigma[:first] = np.sqrt(np.diag(x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)))

    def fill(
        self,
        x: Array,
        settings: Array,
        rows: Rows,
        part: slice,
        tapes: Array = _NO_TAPES,
        states: Array = _NO_STATES,
    ) -> None:
        """Run the filter over these of the rows; x becomes the state after them."""
        here = slice(self.first + part.start, self.first + part.stop)
        kernel.rows(
            x,
            settings,
            *rows.part(part),
            self.nominal[here],
            self.sigma[here],
            self.nis[here],
            self.said[here],
            tapes,
            states,
        )

    def solution(self, rows: Rows, q_bs: ArrayLike, meta: Mapping[str, Any]) -> Solution:
        t = rows.t
        with np.errstate(all="ignore"):  # a sum is quick, and told as what it is
            suspect = not np.isfinite(self.nominal.sum() + self.sigma.sum())
        if suspect:
            good = np.isfinite(self.nominal).all(axis=1) & np.isfinite(self.sigma).all(axis=1)
            i = int(np.argmin(good))
            raise InputError(
                f"the filter {meta['filter']} lost its state at sample {i} (t = {t[i]:.6g} s): readings or settings "
                "are too large for it; check the units of the log"
            )
        q_ns = self.nominal[:, at.Q : at.Q + 4]  # of unit length: the kernel draws it there at every step
        flags = {
            f"{name}_{what}": bits >> k & 1 == 1
            for what, bits in zip(("used", "rejected"), self.said.T, strict=True)
            for ever in (int(np.bitwise_or.reduce(bits)),)
            for k, name in enumerate(at.KINDS)
            if ever >> k & 1
        }
        return Solution(
            t,
            q_mul(q_ns, q_conj(q_bs)),
            self.nominal[:, at.POSITION : at.POSITION + 3],
            self.nominal[:, at.VELOCITY : at.VELOCITY + 3],
            meta=meta,
            bias={
                "gyr_s": self.nominal[:, at.BIAS_G : at.BIAS_G + 3],
                "acc_s": self.nominal[:, at.BIAS_A : at.BIAS_A + 3],
            },
            sigma={
                "p_n": self.sigma[:, at.P_N : at.P_N + 3],
                "v_n": self.sigma[:, at.V_N : at.V_N + 3],
                "attitude_n": self.sigma[:, at.PHI_N : at.PHI_N + 3],
                "gyr_s": self.sigma[:, at.GYR_BIAS : at.GYR_BIAS + 3],
                "acc_s": self.sigma[:, at.ACC_BIAS : at.ACC_BIAS + 3],
            },
            flags=flags,
            events=tuple(sorted(self._events(t), key=lambda event: event.t_s)),
        )

    def _events(self, t: Array) -> Iterator[Event]:
        used, rejected = self.said.T
        for i in np.flatnonzero(used >> at.GAP & 1):
            yield Event(
                float(t[i - 1]),
                float(t[i]),
                "gap",
                f"no samples for {t[i] - t[i - 1]:.3g} s: predicted, and the variance opened",
            )
        for i in np.flatnonzero(used >> at.INSISTED & 1):
            yield Event(
                float(t[i]),
                float(t[i]),
                "stop_insisted",
                "stops were rejected while nothing turned: the velocity was wrong and is set to 0",
            )
        for k, name in enumerate(at.KINDS):
            rows = np.flatnonzero(rejected >> k & 1)
            for group in np.split(rows, np.flatnonzero(np.diff(t[rows]) > _TOGETHER_S) + 1) if len(rows) else ():
                why, what = _WORDS[name]
                yield Event(
                    float(t[group[0]]), float(t[group[-1]]), f"{name}_rejected", f"{why}; {len(group)} {what} left out"
                )

    def innovations(self, rows: Rows) -> dict[str, Innovations]:
        used, rejected = self.said.T
        found = {}
        for k, name in enumerate(at.KINDS):
            at_rows = np.flatnonzero((used | rejected) >> k & 1)
            if len(at_rows):
                found[name] = Innovations(
                    rows.t[at_rows], self.nis[at_rows, k], used[at_rows] >> k & 1 == 1, DEGREES[name]
                )
        return found

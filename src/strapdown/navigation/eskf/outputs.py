"""Results of the error-state filter: rows of the kernel as a Solution, its events, its innovations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.io.blocks.memory import refuse_beyond_memory
from strapdown.kernels.navigation.eskf import filter as kernel
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.live import State
from strapdown.navigation.eskf.inputs import Rows
from strapdown.rotation import q_conj, q_mul
from strapdown.types import Array, Event, Solution

_NO_ROWS = np.empty((0, 0))
_AT_ONCE = 20_000  # rows: what the kernel tells of them fits into a cache
_TOGETHER_S = 0.5  # rejections closer than this are one event
DEGREES = {name: 3 if name in ("stop", "still", "fix", "velocity") else 1 for name in at.KINDS}
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
    "velocity": ("velocity fixes do not fit", "fixes"),
}


# vectors of a solution: (0: nominal or 1: sigma, first column, columns) of what the kernels write
VECTORS = {
    "q_ns": (0, at.Q, 4),
    "p_n": (0, at.POSITION, 3),
    "v_n": (0, at.VELOCITY, 3),
    "gyr_bias_s": (0, at.BIAS_G, 3),
    "acc_bias_s": (0, at.BIAS_A, 3),
    "sigma p_n": (1, at.P_N, 3),
    "sigma v_n": (1, at.V_N, 3),
    "sigma attitude_n": (1, at.PHI_N, 3),
    "sigma gyr_s": (1, at.GYR_BIAS, 3),
    "sigma acc_s": (1, at.ACC_BIAS, 3),
}
_VECTOR_BYTES = 8 * sum(width for _, _, width in VECTORS.values())
_BESIDE_BYTES = 90  # of a sample: flags, innovations, events and the verdicts on stops, as measured on a robot's log


def refuse_too_long(n: int) -> None:
    """Beforehand: whether navigating n samples more fits into the memory of this machine."""
    refuse_beyond_memory(n * float(_VECTOR_BYTES + _BESIDE_BYTES), f"navigating {n} samples", "cut the log into parts")


@dataclass(frozen=True, eq=False)
class Innovations:
    """Innovations of one kind of measurement: time (s), normalised innovation squared, whether it was used; degrees of
    freedom.
    """

    t: Array
    nis: Array
    taken: NDArray[np.bool_]
    degrees: int


@dataclass(frozen=True, eq=False)
class Track:
    """A run with all its results."""

    solution: Solution
    innovations: Mapping[str, Innovations]
    last: State


class Output:
    """Memory for the rows of a run.

    Each vector of a solution has its own array, which solution() returns without a copy: a long run is in memory once.
    Further results of the kernel are kept for some rows at a time.
    """

    def __init__(self, n: int) -> None:
        refuse_too_long(n)
        self._rows = n
        self._vectors: dict[str, Array] = {}
        self._said = np.zeros((n, 2), dtype=np.uint16)
        self._nis: dict[str, list[Array]] = {name: [] for name in at.KINDS}
        self._lost: int | None = None
        self.aligned_rows = 0  # in which the filter aligned itself

    def fill(
        self,
        x: Array,
        settings: Array,
        rows: Rows,
        part: slice,
        tapes: Array = _NO_ROWS,
        states: Array = _NO_ROWS,
    ) -> None:
        """Run the filter over these rows; x becomes the state after them."""
        if len(tapes):
            self._nis = {}  # a second time over the same rows
        for begin in range(part.start, part.stop, _AT_ONCE):
            some = slice(begin, min(begin + _AT_ONCE, part.stop))
            m = some.stop - begin
            nominal, sigma = np.empty((m, at.BIAS_M + 1)), np.empty((m, at.N))
            nis, said = np.zeros((m, len(at.KINDS))), np.zeros((m, 2), dtype=np.int64)
            taped = slice(begin - part.start, some.stop - part.start)
            written = (out.reshape(-1) for out in (nominal, sigma, nis, said, tapes[taped], states[taped]))
            assert kernel.rows(x, settings, *rows.part(some), *written)
            self._said[some] = said
            for k, name in enumerate(at.KINDS) if self._nis else ():
                seen = (said[:, 0] | said[:, 1]) >> k & 1 == 1
                if seen.any():
                    self._nis[name].append(nis[seen, k])
            self.put(some, nominal, sigma)
            del nominal, sigma, nis, said, written  # before the next ones are made

    def put_state(self, i: int, x: Array) -> None:
        """Write one row, of a live state."""
        self.put(slice(i, i + 1), x[None, : at.BIAS_M + 1], sigma_of(x)[None])

    def put(self, here: slice, nominal: Array, sigma: Array) -> None:
        """Rows of the recording as the kernels have them: q_ns, p_n, v_n and biases; sigmas of the error state."""
        if self._lost is None:
            self._lost = _first_lost(nominal, sigma, here.start)
        for name, (kind, begin, width) in VECTORS.items():
            if name not in self._vectors:
                self._vectors[name] = np.empty((self._rows, width))
            self._vectors[name][here] = (nominal, sigma)[kind][:, begin : begin + width]

    def solution(self, rows: Rows, q_bs: ArrayLike, meta: Mapping[str, Any]) -> Solution:
        """Of all rows. The solution owns the arrays from then on: later results are written into new ones."""
        t, vectors = rows.recording.t, self._vectors
        self._vectors = {}
        self.refuse_lost(t, meta["filter"])
        q_sb = q_conj(q_bs)
        for begin in range(0, self._rows, _AT_ONCE):
            some = vectors["q_ns"][begin : begin + _AT_ONCE]
            some[:] = q_mul(some, q_sb)  # of unit length: the kernel draws it there at every step
        for array in vectors.values():
            array.flags.writeable = False
        return Solution(
            t,
            vectors["q_ns"],
            vectors["p_n"],
            vectors["v_n"],
            meta=meta,
            bias={"gyr_s": vectors["gyr_bias_s"], "acc_s": vectors["acc_bias_s"]},
            sigma={name: vectors[f"sigma {name}"] for name in ("p_n", "v_n", "attitude_n", "gyr_s", "acc_s")},
            flags=self._flags(),
            events=tuple(sorted(self._events(t), key=lambda event: event.t_s)),
        )

    def refuse_lost(self, t: Array, name: str) -> None:
        """Refuse a state that is no longer a number; the message names its sample.

        name: name of the filter.
        """
        if self._lost is not None:
            raise InputError(
                f"the filter {name} lost its state at sample {self._lost} (t = {t[self._lost]:.6g} s): "
                "readings or settings are too large for it; check the units of the log"
            )

    def _flags(self) -> dict[str, NDArray[np.bool_]]:
        flags = {}
        for what, bits in zip(("used", "rejected"), self._said.T, strict=True):
            ever = int(np.bitwise_or.reduce(bits))
            for k, name in enumerate(at.KINDS):
                if ever >> k & 1:
                    flags[f"{name}_{what}"] = bits & (1 << k) != 0
                    flags[f"{name}_{what}"].flags.writeable = False
        if self.aligned_rows:
            flags["aligning"] = np.arange(self._rows) < self.aligned_rows
        return flags

    def _events(self, t: Array) -> Iterator[Event]:
        used, rejected = self._said.T
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
                    float(t[group[0]]), float(t[group[-1]]), f"{name}_rejected", f"{why}; {len(group)} {what} rejected"
                )

    def innovations(self, rows: Rows) -> dict[str, Innovations]:
        """Innovations by kind, of one run over all rows."""
        used, rejected = self._said.T
        found = {}
        for k, name in enumerate(at.KINDS):
            at_rows = np.flatnonzero((used | rejected) & (1 << k))
            if len(at_rows):
                # a kind that comes with every row shares the recording's times
                every = at_rows[-1] - at_rows[0] + 1 == len(at_rows)
                where = slice(at_rows[0], at_rows[-1] + 1) if every else at_rows
                self._nis[name] = [np.concatenate(self._nis[name])]
                taken = used[where] & (1 << k) != 0
                found[name] = Innovations(rows.recording.t[where], self._nis[name][0], taken, DEGREES[name])
        return found


def sigma_of(x: Array) -> Array:
    """Standard deviations of the error state, as the kernel writes them."""
    return np.sqrt(np.maximum(np.diag(x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)), 0.0))


def _first_lost(nominal: Array, sigma: Array, begin: int) -> int | None:
    with np.errstate(all="ignore"):  # a sum is quick
        if np.isfinite(nominal.sum() + sigma.sum()):
            return None
    good = np.isfinite(nominal).all(axis=1) & np.isfinite(sigma).all(axis=1)
    return None if good.all() else begin + int(np.argmin(good))

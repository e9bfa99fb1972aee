"""What all orientation filters share: a state that is a value, the live step, and the run over a recording.

A filter hands in two kernels. step(state, gyr_s, acc_s, mag_s, dt) changes an array of numbers laid out as
kernels/orientation_state.py says, and answers whether the readings have three numbers; without a new magnetometer
reading mag_s is empty. rows(state, dt, gyr_s, acc_s, mag_s, mag_new, q, bias, sigma, flags) is the loop over the same
step: live and recorded give the same bits.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    BIAS,
    FLAGS,
    GAP,
    MAG_REJECTED,
    OWN,
    REST,
    SIGMA,
    STARTED,
    Q,
)
from strapdown.orientation.samples import Samples, samples_of, unit_quaternion, without_faults
from strapdown.recordings.faults import silences
from strapdown.types import Array, Event, Recording, Solution

_BITS = {"acc_rejected": ACC_REJECTED, "mag_rejected": MAG_REJECTED, "rest": REST, "gap": GAP}
_NO_MAG = np.empty(0)
_NO_MAG.flags.writeable = False


class State:
    """The state of a filter after a sample: a value, which a step does not change."""

    __slots__ = ("numbers",)
    numbers: Array  # set by those who make one: a constructor written in Python would be a tenth of a live step

    @property
    def q_ns(self) -> Array:
        return self.numbers[Q : Q + 4].copy()

    @property
    def gyr_bias_s(self) -> Array:
        return self.numbers[BIAS : BIAS + 3].copy()

    @property
    def sigma_n(self) -> Array:
        """Standard deviations of the attitude about the axes of n, rad; zeros if the filter has none."""
        return self.numbers[SIGMA : SIGMA + 3].copy()

    @property
    def flags(self) -> dict[str, bool]:
        said = int(self.numbers[FLAGS])
        return {name: bool(said & bit) for name, bit in _BITS.items()}


def fresh_state(own: ArrayLike, q_ns: ArrayLike | None = None) -> State:
    """A state before its first sample; with q_ns the attitude is given and not taken from the first sample."""
    own = np.asarray(own, dtype=np.float64)
    state = State()
    state.numbers = numbers = np.zeros(OWN + len(own))
    numbers[OWN:] = own
    numbers[Q] = 1.0
    if q_ns is not None:
        numbers[Q : Q + 4] = unit_quaternion(q_ns, "the attitude to start from")
        numbers[STARTED] = 1.0
    return state


class OrientationFilter:
    """A filter is its settings, and these are its verbs; a filter of its own kind adds only what it is made of."""

    name: ClassVar[str]
    kernel: ClassVar[Any]  # of kernels/, with step and rows
    reports_bias: ClassVar[bool] = True
    reports_sigma: ClassVar[bool] = False
    _step: ClassVar[Any]
    if TYPE_CHECKING:

        @property
        def magnetometer(self) -> bool: ...
        @property
        def longest_step_s(self) -> float: ...

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "kernel"):
            cls._step = staticmethod(cls.kernel.step)  # found by one look instead of three, in every live step

    def own(self) -> ArrayLike:
        """Settings and empty memory, as the kernel lays them out from orientation_state.OWN on."""
        raise NotImplementedError

    def start(self, q_ns: ArrayLike | None = None) -> State:
        """Before the first sample. q_ns: the attitude at it; without, the first readings tell it."""
        fix_signature(self.kernel.step)
        return fresh_state(self.own(), q_ns)

    def step(self, state: State, gyr_s: Array, acc_s: Array, mag_s: Array | None = None, *, dt: float) -> State:
        """One sample (rad/s, m/s2, uT; arrays of three doubles), dt s after the last.

        mag_s None or empty: no new reading. Arrays are not converted, since this runs a thousand times a second.
        """
        numbers = state.numbers.copy()
        try:
            new_mag_s = mag_s if mag_s is not None and self.magnetometer else _NO_MAG
            fits = self._step(numbers, gyr_s, acc_s, new_mag_s, dt)
        except TypeError:  # numba's word that no compiled version fits
            fits = False
        if not fits:
            raise InputError(_misfit(gyr_s, acc_s, mag_s, dt))
        after = State()
        after.numbers = numbers
        return after

    def run(
        self,
        recording: Recording,
        *,
        q_ns: ArrayLike | None = None,
        magnetometer: Recording | None = None,
        q_bs: ArrayLike | None = None,
    ) -> Solution:
        """Attitude, flags, bias and deviations, where the filter has them, over a recording: the numbers of its steps.

        magnetometer: its own recording, if it has its own times; q_bs: how the sensor sits on the body; without it the
        attitude is that of the sensor's frame.
        """
        return self._over(self.kernel.rows, recording, q_ns, magnetometer, q_bs, {})

    def _over(
        self,
        rows: Any,
        recording: Recording,
        q_ns: ArrayLike | None,
        magnetometer: Recording | None,
        q_bs: ArrayLike | None,
        meta: dict[str, Any],
    ) -> Solution:
        fix_signature(rows)
        s = samples_of(recording, magnetometer=magnetometer, q_bs=q_bs, use_mag=self.magnetometer)
        n = len(s.t)
        faults = None
        if rows is not self.kernel.rows:  # a step leaves them out by itself
            s, faults = without_faults(s)
        q, bias, sigma, flags = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
        numbers = fresh_state(self.own(), q_ns).numbers
        rows(numbers, s.dt, s.gyr, s.acc, s.mag, s.mag_new, q, bias, sigma, flags)
        if faults is not None:
            flags = (flags.astype(np.int64) | faults).astype(np.float64)
        return solution_of(
            s,
            q,
            bias if self.reports_bias else None,
            sigma if self.reports_sigma else None,
            flags,
            {"filter": self.name, **meta},
            self.longest_step_s,
        )


class SmoothingFilter(OrientationFilter):
    """One that can also look back."""

    smoother: ClassVar[Any]  # of kernels/, with smooth_rows

    def smooth(
        self,
        recording: Recording,
        *,
        q_ns: ArrayLike | None = None,
        magnetometer: Recording | None = None,
        q_bs: ArrayLike | None = None,
    ) -> Solution:
        """As run, from the whole recording: each sample knows those after it too."""
        return self._over(self.smoother.smooth_rows, recording, q_ns, magnetometer, q_bs, {"smoothed": True})


def _misfit(gyr_s: Any, acc_s: Any, mag_s: Any, dt: Any) -> str:
    """What of a live sample does not fit, in a sentence."""
    for name, given in (("gyr_s", gyr_s), ("acc_s", acc_s), ("mag_s", mag_s)):
        if given is None and name == "mag_s":
            continue
        if not isinstance(given, np.ndarray):
            had = f"of type {type(given).__name__}"
        elif given.shape != (3,) or given.dtype != np.float64:
            had = f"an array of {given.dtype} of shape {given.shape}"
        elif not given.flags.c_contiguous:
            had = "every so manieth number of a larger array"
        else:
            continue
        return f"{name} of a live step is {had}; give three doubles side by side: np.array(..., dtype=float)"
    return f"a live step of dt = {dt!r} cannot be taken; give dt in seconds, and readings as arrays of three doubles"


def solution_of(
    samples: Samples,
    q: Array,
    bias: Array | None,
    sigma: Array | None,
    flags: Array,
    meta: dict[str, Any],
    longest_step_s: float,
) -> Solution:
    """Rows of a kernel as a Solution, with its flags and the events that users should hear of."""
    said = flags.astype(np.uint8)
    flagged = {key: (said & np.uint8(bit)) != 0 for key, bit in _BITS.items()}
    for array in (q, bias, sigma, *flagged.values()):
        if array is not None:
            array.flags.writeable = False  # so it is held as it is
    try:
        return Solution(
            samples.t,
            q,
            meta=meta,
            bias={} if bias is None else {"gyr_s": bias},
            sigma={} if sigma is None else {"attitude_n": sigma},
            flags=flagged,
            events=(*_gaps(samples, longest_step_s), *_silences(samples)),
        )
    except InputError:  # the types look at every number; what they found means something else here
        lost = ~np.isfinite(np.column_stack([x for x in (q, bias, sigma) if x is not None])).all(axis=1)
        if not lost.any():
            raise
    i = int(np.argmax(lost))
    raise InputError(
        f"the filter {meta['filter']} lost its attitude at sample {i} (t = {samples.t[i]:.6g} s): readings or "
        "settings are too large for it; check the units of the log"
    )


def _gaps(samples: Samples, longest_step_s: float) -> tuple[Event, ...]:
    """Steps over which a filter only predicts; a log that has no others is one event."""
    t, usual_s = samples.t, samples.dt[0]
    if usual_s > longest_step_s:
        text = (
            f"the usual step of {usual_s:.3g} s is longer than the {longest_step_s:g} s that the filter follows: the "
            "gyroscope alone led it; record faster, or raise longest_step_s"
        )
        return (Event(float(t[0]), float(t[-1]), "gap", text),)
    return tuple(
        Event(
            float(t[i]),
            float(t[i + 1]),
            "gap",
            f"no samples for {t[i + 1] - t[i]:.3g} s: the attitude was predicted over the gap",
        )
        for i in np.flatnonzero(samples.dt[1:] > longest_step_s)
    )


def _silences(samples: Samples) -> list[Event]:
    return [
        Event(
            *(begin, end, "no_field"),
            f"no magnetometer reading for {end - begin:.3g} s: the heading was the gyroscope's",
        )
        for begin, end in silences(samples.t, samples.mag_new)
    ]

"""What all orientation filters share: a state that is a value, the live step, and the run over a recording.

A filter hands in two kernels. step(state, gyr_s, acc_s, mag_s, dt) changes an array of numbers laid out as
kernels/orientation_state.py says; without a new magnetometer reading mag_s is empty. rows(state, dt, gyr_s, acc_s,
mag_s, mag_new, q, bias, sigma, flags) is the loop over the same step: live and recorded give the same bits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.compiled import settle
from strapdown.kernels.orientation_state import (
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
from strapdown.orientation.samples import Samples, samples_of
from strapdown.rotation import q_normalise
from strapdown.types import Array, Event, Recording, Solution

_BITS = {"acc_rejected": ACC_REJECTED, "mag_rejected": MAG_REJECTED, "rest": REST, "gap": GAP}
_NO_MAG = np.empty(0)
_NO_MAG.flags.writeable = False


class State:
    """The state of a filter after a sample: a value, which a step does not change."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

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
    numbers = np.zeros(OWN + len(own))
    numbers[OWN:] = own
    numbers[Q] = 1.0
    if q_ns is not None:
        given = np.asarray(q_ns, dtype=np.float64)
        if given.shape != (4,) or not np.isfinite(given).all() or not np.linalg.norm(given) > 0.0:
            raise InputError(f"the attitude to start from is {q_ns}; give a unit quaternion (w, x, y, z)")
        numbers[Q : Q + 4] = q_normalise(given)
        numbers[STARTED] = 1.0
    return State(numbers)


def live_step(
    kernel: Callable[..., None], state: State, gyr_s: Array, acc_s: Array, mag_s: Array | None, dt: float
) -> State:
    """The state one sample later. Arrays of three doubles; not checked, this runs a thousand times a second."""
    if kernel._can_compile:  # type: ignore[attr-defined]
        settle(kernel)
    numbers = state.numbers.copy()
    kernel(numbers, gyr_s, acc_s, _NO_MAG if mag_s is None else mag_s, dt)
    return State(numbers)


def run_rows(
    rows: Callable[..., None],
    state: State,
    recording: Recording,
    *,
    name: str,
    magnetometer: Recording | None,
    q_bs: ArrayLike | None,
    use_mag: bool,
    longest_step_s: float,
    reports_bias: bool = True,
    reports_sigma: bool = False,
    meta: dict[str, Any] | None = None,
) -> Solution:
    """A filter over a whole recording. magnetometer: its own recording, if it has its own times; q_bs: how the sensor
    sits on the body; without it the attitude is that of the sensor's frame."""
    settle(rows)
    samples = samples_of(recording, magnetometer=magnetometer, q_bs=q_bs, use_mag=use_mag)
    n = len(samples.t)
    q, bias, sigma, flags = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    rows(
        state.numbers.copy(), samples.dt, samples.gyr, samples.acc, samples.mag, samples.mag_new, q, bias, sigma, flags
    )
    return solution_of(
        samples,
        q,
        bias if reports_bias else None,
        sigma if reports_sigma else None,
        flags,
        {"filter": name, **(meta or {})},
        longest_step_s,
    )


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
    if not np.isfinite(q).all():
        i = int(np.argmax(~np.isfinite(q).all(axis=1)))
        raise InputError(
            f"the filter {meta['filter']} lost its attitude at sample {i} (t = {samples.t[i]:.6g} s): readings or "
            "settings are too large for it; check the units of the log"
        )
    said = flags.astype(np.int64)
    named: dict[str, NDArray[np.bool_]] = {key: (said & bit) != 0 for key, bit in _BITS.items()}
    gaps = np.flatnonzero(np.diff(samples.t) > longest_step_s)
    events = [
        Event(
            float(samples.t[i]),
            float(samples.t[i + 1]),
            "gap",
            f"no samples for {samples.t[i + 1] - samples.t[i]:.3g} s: the attitude was predicted over the gap",
        )
        for i in gaps
    ]
    return Solution(
        samples.t,
        q_normalise(q),
        meta=meta,
        bias={} if bias is None else {"gyr_s": bias},
        sigma={} if sigma is None else {"attitude_n": sigma},
        flags=named,
        events=tuple(events),
    )

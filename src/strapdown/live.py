"""Interfaces that live and recorded work share: estimators, stop detectors, virtual modules, simulated plants.

Protocols, not base classes: an object of the user's own that has these methods is accepted wherever ours are. The
contract tests (tests/contract/) run the properties below against every implementation.

1. `run` equals the steps to the bit.
2. A state of another class is refused.
3. New settings act from the next sample on.
4. A copied state continues to the bit.
5. Any chunking gives the same bits.
6. snapshot, restore and advance equal advance.
7. Nothing allocates without bound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from strapdown.arrays import Array
from strapdown.errors import InputError
from strapdown.keywords import shows_keywords
from strapdown.sample import Fix, Height
from strapdown.types import Recording, Sample, Solution

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Alignment:
    """Where a filter starts: attitude q_ns at the end of the rest, row `rows` - 1 of the recording.

    tilt_sigma_rad: standard deviation of roll and pitch, from the noise of the averages alone; add that of the
        accelerometer's bias where it is known. heading_sigma_rad.
    heading_from_mag: that heading carries the error of the magnetometer.
    gyr_bias_s (rad/s), gyr_bias_sigma: from the rest.
    rest_s: its length.
    field_ut, dip_rad (downward): strength and dip of the mean field at rest, None without a magnetometer.
    """

    q_ns: Array
    rows: int
    rest_s: float
    tilt_sigma_rad: float
    heading_sigma_rad: float
    heading_from_mag: bool
    gyr_bias_s: Array
    gyr_bias_sigma: Array
    field_ut: float | None = None
    dip_rad: float | None = None


@shows_keywords("of")
@dataclass(frozen=True, eq=False)
class Start:
    """Input of an estimator before its first sample. None: it determines the value itself, or uses its default.

    step_s: the usual step of the source (s), for a filter that needs one before its second sample.
    q_ns: attitude at the first sample.
    alignment: attitude, biases and standard deviations from a rest.
    p_n: position at the first sample (m), each number known to p_sigma_n.
    v_n: velocity at the first sample (m/s), each number known to v_sigma_m_s.
    means: the source's readings are means over the step before, not values at their stamps.
    skip: number of samples before the filter starts: those of the rest on which it was aligned.
    """

    step_s: float | None = None
    q_ns: Array | None = None
    alignment: Alignment | None = None
    p_n: Array = field(default_factory=lambda: np.zeros(3))
    means: bool = False
    skip: int = 0
    v_n: Array = field(default_factory=lambda: np.zeros(3))
    v_sigma_m_s: float = 0.0
    p_sigma_n: Array = field(default_factory=lambda: np.zeros(3))

    @classmethod
    def of(cls, recording: Recording, **given: Any) -> "Start":
        """Start for the samples of a recording, from its first on; a given alignment must be on its first rows."""
        alignment = given.get("alignment")
        known = {
            "step_s": recording.step_s,
            "means": "mean" in str(recording.meta.get("gyroscope_stamp", "")),
            "skip": 0 if alignment is None else max(alignment.rows - 1, 0),
        }
        return cls(**{**known, **given})


class Belief(NamedTuple):
    """Estimate after a sample, in the terms of a Solution; None or empty where the estimator has none."""

    q_nb: Array
    p_n: Array | None = None
    v_n: Array | None = None
    bias: Mapping[str, Array] = {}
    sigma: Mapping[str, Array] = {}
    flags: Mapping[str, bool] = {}


class State:
    """The memory of a filter or detector after a sample: a value, which a step does not change.

    owner: the class of the state; it determines the layout of numbers. Settings are not in it.
    """

    __slots__ = ("numbers", "owner")
    numbers: Array
    owner: type

    def copy(self) -> "State":
        return state_of(self.owner, self.numbers.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "State":
        return self.copy()

    def __eq__(self, other: object) -> bool:
        """Whether two states are equal to the bit."""
        if not isinstance(other, State):
            return NotImplemented
        return self.owner is other.owner and self.numbers.tobytes() == other.numbers.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return state_of, (self.owner, self.numbers)

    def __repr__(self) -> str:
        return f"<state of {self.owner.__name__}, {len(self.numbers)} numbers>"


def state_of(owner: type, numbers: Array) -> State:
    """A state without a call of its constructor: a constructor in Python would take a tenth of a live step."""
    state = State()
    state.owner, state.numbers = owner, numbers
    return state


def refuse_state(state: object, owner: type) -> InputError:
    """The error for a state that does not belong to the estimator it was given to."""
    had = f"a state of {state.owner.__name__}" if isinstance(state, State) else f"a {type(state).__name__}"
    return InputError(f"{owner.__name__}.step was given {had}; start with {owner.__name__}(...).start()")


def numbers_of(state: Any, owner: type, size: int) -> Array:
    """The numbers of a state, checked: it belongs to this class and has its layout."""
    if not isinstance(state, State) or state.owner is not owner:
        raise refuse_state(state, owner)
    numbers = state.numbers
    if numbers.shape != (size,) or numbers.dtype != np.float64:
        raise InputError(
            f"the state holds {numbers.size} numbers ({numbers.dtype}), a state of {owner.__name__} holds {size} "
            "(float64): it is damaged or of another version; start anew"
        )
    return numbers


def fields_of(estimator: Any) -> dict[str, Any]:
    """The settings of an estimator, without data for its kernels; these are pickled."""
    return {each.name: getattr(estimator, each.name) for each in fields(estimator)}


def checked_start(given: Any) -> Start:
    """Refuse a start value that is not a Start."""
    if not isinstance(given, Start):
        raise InputError(f"a filter was started with a {type(given).__name__}; give a Start, as Start(q_ns=...)")
    return given


def misfit(sample: Any) -> str | None:
    """The type or shape of a live sample that does not fit, in a sentence; None: all fit."""
    if not isinstance(sample, Sample):
        return f"a live step was given a {type(sample).__name__}; give a Sample(t, dt, gyr_s, acc_s, mag_s)"
    for name in ("gyr_s", "acc_s", "mag_s"):
        given = getattr(sample, name)
        if name == "mag_s" and (given is None or np.shape(given) == (0,)):
            continue
        if not isinstance(given, np.ndarray):
            had = f"of type {type(given).__name__}"
        elif given.shape != (3,) or given.dtype != np.float64:
            had = f"an array of {given.dtype} of shape {given.shape}"
        elif not given.flags.c_contiguous:
            had = "a strided view of a larger array"
        else:
            continue
        return f"{name} of a live sample is {had}; give three contiguous doubles: np.array(..., dtype=float)"
    if not isinstance(sample.dt, float | int):
        return f"dt of a live sample is {sample.dt!r}; give the seconds since the previous sample, a float"
    return None


def refuse_sample(sample: Any) -> InputError:
    """The error for a live sample that a step cannot use: wrong types or shapes, no finite numbers, time that runs
    backward."""
    found = misfit(sample)
    if found is not None:
        return InputError(found)
    where = f"of the live sample at t = {sample.t!r} s"
    for name, kind in (("position_fix", Fix), ("velocity_fix", Fix), ("height", Height)):
        given = getattr(sample, name)
        if given is not None and not isinstance(given, kind):
            return InputError(f"{name} {where} is of type {type(given).__name__}; give a {kind.__name__}")
    for name in ("gyr_s", "acc_s", "mag_s", "travel_m", "position_fix", "velocity_fix", "height"):
        given = getattr(sample, name)
        if given is not None and not _finite(given):
            had = given.tolist() if isinstance(given, np.ndarray) else given
            return InputError(
                f"{name} {where} is {had!r}; give finite numbers, or skip the sample and give the next one the time "
                "since the last sample that was used"
            )
    return InputError(f"dt {where} is {sample.dt!r} s; give the seconds since the previous sample, 0 or more")


def _finite(given: Any) -> bool:
    """Whether a number, an array, or all values of a tuple are finite."""
    try:
        parts = given if isinstance(given, tuple) else (given,)
        return all(bool(np.isfinite(part).all()) for part in parts)
    except TypeError:  # no numbers
        return False


@runtime_checkable
class Estimator(Protocol[S]):
    """Every orientation filter, Eskf, Ekf15, a user's own."""

    def start(self, given: Start = ...) -> S: ...
    def step(self, state: S, sample: Sample) -> S:
        """The state after the sample: settings of self, memory of state."""
        ...

    def belief(self, state: S) -> Belief: ...
    def run(self, recording: Recording, given: Start | None = None) -> Solution:
        """The steps over a recording, to the bit."""
        ...


class Ideal(NamedTuple):
    """Rows of the readings of perfect instruments: t (n,); gyr_s, acc_s, mag_s (n, 3). temperature (n,) of the part is
    in deg C, if it is not the module's own. A Recording has the same fields.
    """

    t: Array
    gyr_s: Array | None = None
    acc_s: Array | None = None
    mag_s: Array | None = None
    temperature: Array | None = None


@runtime_checkable
class LiveModule(Protocol[S]):
    """Virtual instruments, read while the simulation runs."""

    def start(self) -> S: ...
    def read(self, state: S, ideal: Ideal | Recording) -> tuple[S, list[Sample]]:
        """The next rows of ideal readings, and the samples that have arrived: any chunking gives the same bits."""
        ...


# The columns of a row of Plant.read: position, attitude, velocity and acceleration of the mount's frame s in frame n,
# then its angular rate, angular acceleration and specific force in frame s (what ideal instruments read).
PLANT_COLUMNS = {
    "p_n": slice(0, 3),
    "q_ns": slice(3, 7),
    "v_n": slice(7, 10),
    "a_n": slice(10, 13),
    "w_s": slice(13, 16),
    "dw_s": slice(16, 19),
    "f_s": slice(19, 22),
}
PLANT_ROW = 22  # columns


@runtime_checkable
class Plant(Protocol):
    """A simulated robot that is commanded and read while it moves. MuJoCo is the first; other engines have the same
    interface.
    """

    def command(self, targets: Mapping[str, float]) -> None: ...
    def push(self, link: str, force_n: Array, torque_n: Array, for_s: float) -> None: ...
    def advance_to(self, t_s: float) -> None: ...
    def read(self, mounts: Sequence[Any], out: Array) -> None:
        """One row of PLANT_COLUMNS for each mount, at the present time; no Motion objects are made."""
        ...


@runtime_checkable
class Rewindable(Plant, Protocol):
    """A plant that can return to an earlier state."""

    def snapshot(self) -> bytes: ...
    def restore(self, kept: bytes) -> None: ...

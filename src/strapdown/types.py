"""What passes from room to room: frozen, checked once at the door, arrays locked.

Frames: n local level (x east, y north, z up), b body (x forward, y left, z up), s sensor. SI units and radians.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.earth import gravity_vector
from strapdown.errors import InputError
from strapdown.rotation import q_conj, q_mul, q_rotate

Array = NDArray[np.float64]

UNIT_NORM_TOLERANCE = 1e-6  # print rounding of logs with 7 digits


def _numbers(x: ArrayLike, name: str) -> Array:
    """x as float64, locked: a copy, or x itself where its owner has locked it already: large logs are held once."""
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.flags.c_contiguous and _sealed(x):
        return x
    try:
        array = np.array(x, dtype=np.float64, order="C")  # kernels take rows, MATLAB gives columns
    except (ValueError, TypeError) as e:  # text, None, rows of different lengths
        raise InputError(f"{name} is not an array of numbers ({e}); give rows of equal length") from None
    array.flags.writeable = False
    return array


def _sealed(x: NDArray[Any]) -> bool:
    """Locked, and no view of memory that another array may write to."""
    return x.base is None and type(x) is np.ndarray and not x.flags.writeable and x.flags.owndata


def locked(x: ArrayLike, shape: tuple[int, ...], name: str, t: Array | None = None) -> Array:
    """x read-only, of the given shape and finite; the error names the first bad sample and its time."""
    array = _numbers(x, name)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():  # which row is only looked for where there is one: narrow rows are slow to look at
        bad = np.flatnonzero(~np.isfinite(array).reshape(len(array), -1).all(axis=1))
        i = int(bad[0])
        when = "" if t is None or not np.isfinite(t[i]) else f" (t = {t[i]:.6g} s)"
        raise InputError(
            f"{name} is not finite at sample {i}{when}, {len(bad)} of {len(array)} samples; "
            "drop or fill these samples first"
        )
    return array


def locked_time(t: ArrayLike, name: str = "t") -> Array:
    """Time in s, strictly increasing."""
    array = _numbers(t, name)
    if array.ndim != 1 or len(array) == 0:
        raise InputError(f"{name} has shape {array.shape}, expected a column of at least one time")
    array = locked(array, array.shape, name)
    back = np.flatnonzero(array[1:] <= array[:-1])  # not diff, which overflows between times of 1e308 s
    if len(back):
        i = int(back[0]) + 1
        what = "repeats" if array[i] == array[i - 1] else "goes backward"
        raise InputError(
            f"{name} {what} at sample {i} ({array[i - 1]:.9g} s, then {array[i]:.9g} s); "
            "sort the samples and keep one for each time"
        )
    return array


def locked_flags(flags: ArrayLike, n: int, name: str, t: Array | None = None) -> NDArray[np.bool_]:
    """True or false, given as bool or as 0 and 1."""
    if isinstance(flags, np.ndarray) and flags.dtype == np.bool_ and flags.shape == (n,):
        if not _sealed(flags):
            flags = flags.copy()
            flags.flags.writeable = False
        return flags
    number = locked(flags, (n,), name, t)  # bool() alone would take NaN and "0" for true
    odd = np.flatnonzero((number != 0.0) & (number != 1.0))
    if len(odd):
        raise InputError(f"{name} is {number[odd[0]]:.6g} at sample {odd[0]}; give 0 or 1")
    array = number == 1.0
    array.flags.writeable = False
    return array


def locked_attitude(q: ArrayLike, n: int, name: str, t: Array | None = None) -> Array:
    """Unit quaternions (w, x, y, z)."""
    array = locked(q, (n, 4), name, t)
    with np.errstate(over="ignore"):  # squares of 1e200 are inf, and then told as that
        norms = np.sqrt(np.einsum("ij,ij->i", array, array))
    if not (np.abs(norms - 1.0) <= UNIT_NORM_TOLERANCE).all():
        i = int(np.argmax(~(np.abs(norms - 1.0) <= UNIT_NORM_TOLERANCE)))
        when = "" if t is None else f" (t = {t[i]:.6g} s)"
        raise InputError(
            f"{name} has norm {norms[i]:.6g} at sample {i}{when}, expected 1; "
            "check the order of its columns (w, x, y, z) or normalise the log first"
        )
    return array


def _set(obj: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(obj, name, value)


@dataclass(frozen=True, eq=False)
class Motion:
    """Truth on a grid of times: where the body is, how it turns.

    p_n, v_n, a_n: position, velocity, acceleration of the body's origin, frame n (m, m/s, m/s2; no gravity in a_n).
    q_nb: attitude. w_nb_b, dw_nb_b: angular rate and acceleration, frame b (rad/s, rad/s2).
    """

    t: Array
    p_n: Array
    v_n: Array
    a_n: Array
    q_nb: Array
    w_nb_b: Array
    dw_nb_b: Array

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        n = len(t)
        vectors = {
            name: locked(getattr(self, name), (n, 3), name, t) for name in ("p_n", "v_n", "a_n", "w_nb_b", "dw_nb_b")
        }
        _set(self, t=t, q_nb=locked_attitude(self.q_nb, n, "q_nb", t), **vectors)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Motion":
        return Motion(*(getattr(self, f.name)[rows] for f in fields(self)))

    def specific_force_b(self, gravity: float) -> Array:
        """What an ideal accelerometer in frame b reads, a - g told in b (m/s2)."""
        return q_rotate(q_conj(self.q_nb), self.a_n - gravity_vector(gravity))

    def seen_from(self, r_bs_b: ArrayLike, q_bs: ArrayLike) -> "Motion":
        """The motion of a frame s fixed to the body: lever arm r_bs_b (m, frame b), mounting rotation q_bs."""
        r_b, w_b, dw_b = np.asarray(r_bs_b, dtype=np.float64), self.w_nb_b, self.dw_nb_b
        q_sb = q_conj(q_bs)
        turning_b = np.cross(w_b, r_b)
        return Motion(
            self.t,
            self.p_n + q_rotate(self.q_nb, r_b),
            self.v_n + q_rotate(self.q_nb, turning_b),
            self.a_n + q_rotate(self.q_nb, np.cross(dw_b, r_b) + np.cross(w_b, turning_b)),
            q_mul(self.q_nb, q_bs),
            q_rotate(q_sb, w_b),
            q_rotate(q_sb, dw_b),
        )


@dataclass(frozen=True, eq=False)
class Increments:
    """What an integrating sensor gives: the turn and the velocity gained since the reading before.

    Reading k belongs to the interval of length dt[k] that ends at t[k]. theta_s is the rotation vector (rad) from
    the sensor's attitude at the start of the interval to that at its end; dv_s (m/s) is the integral of specific
    force, told in the sensor's frame at the start. The first interval may have no length, and is then zero.
    """

    t: Array
    dt: Array
    theta_s: Array
    dv_s: Array

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        n = len(t)
        dt = locked(self.dt, (n,), "dt", t)
        if n and dt.min() < 0.0:
            raise InputError(
                f"dt is negative at sample {int(np.argmax(dt < 0))}; an interval has a length of 0 or more"
            )
        _set(
            self,
            t=t,
            dt=dt,
            theta_s=locked(self.theta_s, (n, 3), "theta_s", t),
            dv_s=locked(self.dv_s, (n, 3), "dv_s", t),
        )


@dataclass(frozen=True, eq=False)
class Recording:
    """What a measuring module gives, and the truth where it is known. Missing is None.

    gyr_s (rad/s), acc_s (specific force, m/s2), mag_s (uT): frame s. temperature (deg C), odometer (m): (n,).
    tilt_s (rad): inclination of the x and y axes, (n, 2). stop: the controller's word that the vehicle stands (bool).
    clipped: some axis was at the end of its range (bool). truth: the motion of the sensor's frame s, at the
    same times. meta: sensor, part, rate, methods, gravity: plain values, which io writes along.
    """

    t: Array
    gyr_s: Array | None = None
    acc_s: Array | None = None
    mag_s: Array | None = None
    temperature: Array | None = None
    stop: NDArray[np.bool_] | None = None
    odometer: Array | None = None
    increments: Increments | None = None
    truth: Motion | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    tilt_s: Array | None = None
    clipped: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        n = len(t)
        checked: dict[str, Any] = {"t": t, "meta": MappingProxyType(dict(self.meta))}
        for name, shape in (("gyr_s", (n, 3)), ("acc_s", (n, 3)), ("mag_s", (n, 3)), ("tilt_s", (n, 2))):
            if getattr(self, name) is not None:
                checked[name] = locked(getattr(self, name), shape, name, t)
        for name in ("temperature", "odometer"):
            if getattr(self, name) is not None:
                checked[name] = locked(getattr(self, name), (n,), name, t)
        for name in ("stop", "clipped"):
            if getattr(self, name) is not None:
                checked[name] = locked_flags(getattr(self, name), n, name, t)
        for name in ("truth", "increments"):
            part = getattr(self, name)
            if part is not None and not np.array_equal(part.t, t):
                raise InputError(f"{name} has other times than the recording; resample it to the recording's times")
        _set(self, **checked)

    def __len__(self) -> int:
        return len(self.t)

    def inertial(self) -> tuple[Array, Array, Motion]:
        """(acc_s, gyr_s, truth), for those who need all three."""
        missing = [name for name in ("acc_s", "gyr_s", "truth") if getattr(self, name) is None]
        if self.acc_s is None or self.gyr_s is None or self.truth is None:
            raise InputError(
                f"the recording has no {' and no '.join(missing)}; record with a virtual sensor to have it"
            )
        return self.acc_s, self.gyr_s, self.truth

    def with_meta(self, **more: Any) -> Self:
        """The same recording with further facts about it."""
        return replace(self, meta={**self.meta, **more})


@dataclass(frozen=True)
class Event:
    """Something an algorithm noticed between the times t_s and until_s: kind in one word, and a sentence for people."""

    t_s: float
    until_s: float
    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Solution:
    """What an algorithm computed from a recording: attitude q_nb, position p_n (m), velocity v_n (m/s).

    bias: estimated offsets of instruments by field of the recording, {"gyr_s": (n, 3)}, in its units. sigma: standard
    deviations, (n, 3) each: "attitude_n" (rad, of the small rotation in n between truth and q_nb), "p_n", "v_n", and
    the names of the biases. flags: yes or no for each sample, as "acc_rejected", "mag_rejected", "rest".
    """

    t: Array
    q_nb: Array
    p_n: Array | None = None
    v_n: Array | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    bias: Mapping[str, Array] = field(default_factory=dict)
    sigma: Mapping[str, Array] = field(default_factory=dict)
    flags: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        n = len(t)
        checked: dict[str, Any] = {"t": t, "q_nb": locked_attitude(self.q_nb, n, "q_nb", t)}
        for name in ("p_n", "v_n"):
            if getattr(self, name) is not None:
                checked[name] = locked(getattr(self, name), (n, 3), name, t)
        for name in ("bias", "sigma"):
            vectors = {key: locked(value, (n, 3), f"{name} {key}", t) for key, value in getattr(self, name).items()}
            checked[name] = MappingProxyType(vectors)
        flags = {key: locked_flags(value, n, f"flag {key}", t) for key, value in self.flags.items()}
        _set(self, meta=MappingProxyType(dict(self.meta)), flags=MappingProxyType(flags), **checked)

    def __len__(self) -> int:
        return len(self.t)

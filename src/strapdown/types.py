"""Types that the packages exchange: frozen, checked when made, arrays read-only.

Frames: n local level (x east, y north, z up), b body (x forward, y left, z up), s sensor. SI units and radians.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import Array, locked, locked_attitude, locked_flags, locked_time, refuse_negative
from strapdown.earth import gravity_vector
from strapdown.errors import InputError
from strapdown.held_rows import new_rows
from strapdown.rotation import q_conj, q_mul, q_rotate
from strapdown.sample import Fix, Fixes, Height, Heights
from strapdown.sample import Sample as Sample
from strapdown.summaries import (
    html_table,
    recording_rows,
    recording_summary,
    solution_rows,
    solution_summary,
    span_summary,
)


def _set(obj: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(obj, name, value)


@dataclass(frozen=True, eq=False)
class Motion:
    """Truth on a grid of times: position, attitude and their derivatives.

    p_n, v_n, a_n: position, velocity, acceleration of the body's origin, frame n (m, m/s, m/s2; no gravity in a_n).
    q_nb: attitude.
    w_nb_b, dw_nb_b: angular rate and acceleration, frame b (rad/s, rad/s2).
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

    def __repr__(self) -> str:
        return f"<Motion: {span_summary(self.t)}>"

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Motion":
        return Motion(*(getattr(self, f.name)[rows] for f in fields(self)))

    def specific_force_b(self, gravity: float) -> Array:
        """Reading of an ideal accelerometer in frame b, a - g expressed in b (m/s2)."""
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
    """Readings of an integrating sensor: the turn and the velocity gained since the previous reading.

    Reading k belongs to the interval of length dt[k] that ends at t[k]. theta_s is the rotation vector (rad) from the
    sensor's attitude at the start of the interval to that at its end. dv_s (m/s) is the integral of specific force,
    expressed in the sensor's frame at the start. The first interval may have no length, and is then zero.
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

    def __getitem__(self, rows: slice) -> "Increments":
        return Increments(*(getattr(self, f.name)[rows] for f in fields(self)))


# instruments that may be slower than the rows of a recording; Recording.new has flags for them
SLOW = ("mag_s", "temperature", "tilt_s", "odometer", "position_fix", "velocity_fix", "height")


@dataclass(frozen=True, eq=False)
class Recording:
    """Readings of a measuring module, and the truth where it is known. Missing is None.

    gyr_s (rad/s), acc_s (specific force, m/s2), mag_s (uT): frame s.
    temperature (deg C), odometer (m): (n,).
    tilt_s (rad): inclination of the x and y axes, (n, 2).
    stop: the controller's signal that the vehicle is at rest (bool).
    clipped: some axis was at the end of its range (bool).
    truth: the motion of the sensor's frame s, at the same times.
    meta: sensor, part, rate, methods, gravity: plain values, which io writes along.
    position_fix, velocity_fix, height: external measurements.
    new: for instruments slower than the rows (SLOW), True where the row holds a new reading and False where it repeats
        an old one. An instrument without flags is new in every row.

    A magnetometer without flags that repeats its previous row in more than 30 % of the rows gets flags here.
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
    position_fix: Fixes | None = None
    velocity_fix: Fixes | None = None
    height: Heights | None = None
    new: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

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
        for name in ("position_fix", "velocity_fix", "height"):
            part = getattr(self, name)
            if part is not None and len(part) != n:
                raise InputError(f"{name} has {len(part)} rows, the recording has {n}; give one row per sample")
        for name in self.new:
            if name not in SLOW:
                raise InputError(f'new has flags for "{name}"; flags are for {", ".join(SLOW)}')
        flags = {  # those of an instrument that was taken out go with it
            name: locked_flags(value, n, f"new {name}", t)
            for name, value in self.new.items()
            if getattr(self, name) is not None
        }
        if "mag_s" in checked and "mag_s" not in flags:
            inferred = new_rows(checked["mag_s"])
            if inferred is not None:
                inferred.flags.writeable = False
                flags["mag_s"] = inferred
        _set(self, new=MappingProxyType(flags), **checked)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: slice) -> Self:
        """Samples a to b - 1, by log[a:b]."""
        if not isinstance(rows, slice):
            raise InputError("a recording is cut by a slice, log[a:b]; one sample is log.sample(i)")
        try:
            rows.indices(len(self))
        except (TypeError, ValueError) as error:
            raise InputError(f"[{rows.start!r}:{rows.stop!r}:{rows.step!r}] cuts no recording: {error}") from None
        if (rows.step or 1) < 0:
            raise InputError("a recording is cut forward in time; give a step above 0")
        if len(self.t[rows]) == 0:
            raise InputError(f"no sample lies in [{rows.start}:{rows.stop}]; the recording has {len(self)}")
        kept: dict[str, Any] = {"meta": self.meta, "new": {name: flags[rows] for name, flags in self.new.items()}}
        for each in fields(self):
            if each.name not in kept:
                value = getattr(self, each.name)
                kept[each.name] = None if value is None else value[rows]
        return type(self)(**kept)

    def between(self, t0_s: float, t1_s: float) -> Self:
        """The samples from t0_s to t1_s (s), both included."""
        for given in (t0_s, t1_s):
            if isinstance(given, bool) or not isinstance(given, int | float | np.number) or np.isnan(given):
                raise InputError(f"a recording is cut between times, and {given!r} was given; give two times in s")
        first, last = np.searchsorted(self.t, t0_s), np.searchsorted(self.t, t1_s, side="right")
        if not first < last:
            raise InputError(
                f"no sample lies between {t0_s:.9g} and {t1_s:.9g} s; the recording runs from {self.t[0]:.9g} to "
                f"{self.t[-1]:.9g} s"
            )
        return self[first:last]

    @property
    def step_s(self) -> float:
        """The usual step: the median of the differences between time stamps (s); 0 for a single sample."""
        return float(np.median(np.diff(self.t))) if len(self) > 1 else 0.0

    def sample(self, i: int) -> Sample:
        """Sample i, as a live source would give it."""
        if isinstance(i, bool) or not isinstance(i, int | np.integer):
            raise InputError(f"sample {i!r} was asked for; give its number, from 0 to {len(self) - 1}")
        if not -len(self) <= i < len(self):
            raise InputError(f"there is no sample {i}; the recording has {len(self)}")
        if self.gyr_s is None or self.acc_s is None:
            missing = "gyroscope" if self.gyr_s is None else "accelerometer"
            raise InputError(f"the recording has no {missing}, and a sample needs one")
        i %= len(self)
        dt = float(self.t[i] - self.t[i - 1]) if i > 0 else 0.0
        position, velocity = (self._fix(name, i) for name in ("position_fix", "velocity_fix"))
        height = self.height
        return Sample(
            float(self.t[i]),
            dt,
            self.gyr_s[i],
            self.acc_s[i],
            mag_s=self.mag_s[i] if self.mag_s is not None and self._is_new("mag_s", i) else None,
            temperature=float(self.temperature[i])
            if self.temperature is not None and self._is_new("temperature", i)
            else None,
            tilt_s=self.tilt_s[i] if self.tilt_s is not None and self._is_new("tilt_s", i) else None,
            stop=None if self.stop is None else bool(self.stop[i]),
            travel_m=float(self.odometer[i] - self.odometer[max(i - 1, 0)])
            if self.odometer is not None and self._is_new("odometer", i)
            else None,
            position_fix=position,
            velocity_fix=velocity,
            height=Height(float(height.height_m[i]), float(height.sigma_m[i]))
            if height is not None and self._is_new("height", i)
            else None,
            clipped=self.clipped is not None and bool(self.clipped[i]),
        )

    def samples(self) -> Iterator[Sample]:
        """All samples in order."""
        return (self.sample(i) for i in range(len(self)))

    def _is_new(self, name: str, i: int) -> bool:
        flags = self.new.get(name)
        return flags is None or bool(flags[i])

    def _fix(self, name: str, i: int) -> Fix | None:
        fixes: Fixes | None = getattr(self, name)
        if fixes is None or not self._is_new(name, i):
            return None
        return Fix(fixes.value_n[i], fixes.sigma_n[i], float(fixes.t_s[i]))

    def inertial(self) -> tuple[Array, Array, Motion]:
        """acc_s, gyr_s and truth, for code that needs all three."""
        missing = [name for name in ("acc_s", "gyr_s", "truth") if getattr(self, name) is None]
        if self.acc_s is None or self.gyr_s is None or self.truth is None:
            raise InputError(
                f"the recording has no {' and no '.join(missing)}; record with a virtual sensor to have it"
            )
        return self.acc_s, self.gyr_s, self.truth

    def with_meta(self, **more: Any) -> Self:
        """The same recording with further facts about it."""
        return replace(self, meta={**self.meta, **more})

    @staticmethod
    def from_arrays(
        *,
        rate_hz: float | None = None,
        frame: str = "flu",
        stop: ArrayLike | None = None,
        truth: Motion | None = None,
        meta: Mapping[str, Any] | None = None,
        t_s: ArrayLike | None = None,
        t_ms: ArrayLike | None = None,
        t_us: ArrayLike | None = None,
        t_ns: ArrayLike | None = None,
        gyr_rad_s: ArrayLike | None = None,
        gyr_deg_s: ArrayLike | None = None,
        acc_m_s2: ArrayLike | None = None,
        acc_g: ArrayLike | None = None,
        acc_mg: ArrayLike | None = None,
        mag_ut: ArrayLike | None = None,
        mag_nt: ArrayLike | None = None,
        mag_gauss: ArrayLike | None = None,
        temperature_c: ArrayLike | None = None,
        temperature_k: ArrayLike | None = None,
        odometer_m: ArrayLike | None = None,
        odometer_mm: ArrayLike | None = None,
    ) -> "Recording":
        """A recording from arrays in the units that their names state.

        Times: t_s, t_ms, t_us or t_ns, or rate_hz instead. Rows of x, y, z: gyr_rad_s or gyr_deg_s; acc_m_s2, acc_g or
        acc_mg (specific force: +1 g upward at rest); mag_ut, mag_nt or mag_gauss. One number per sample: temperature_c
        or temperature_k, odometer_m or odometer_mm, stop (bool).

        frame: directions of x, y and z, as "flu" (forward, left, up) or "frd".
        """
        from strapdown.io.in_memory import from_arrays

        given = {
            "t_s": t_s,
            "t_ms": t_ms,
            "t_us": t_us,
            "t_ns": t_ns,
            "gyr_rad_s": gyr_rad_s,
            "gyr_deg_s": gyr_deg_s,
            "acc_m_s2": acc_m_s2,
            "acc_g": acc_g,
            "acc_mg": acc_mg,
            "mag_ut": mag_ut,
            "mag_nt": mag_nt,
            "mag_gauss": mag_gauss,
            "temperature_c": temperature_c,
            "temperature_k": temperature_k,
            "odometer_m": odometer_m,
            "odometer_mm": odometer_mm,
        }
        readings = {name: array for name, array in given.items() if array is not None}
        return from_arrays(readings, rate_hz, frame, stop, truth, dict(meta or {}))

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the columns of our files ("gyr_x [rad/s, s]"); meta is in its attrs."""
        from strapdown.io.in_memory import to_pandas

        return to_pandas(self)

    @staticmethod
    def from_pandas(table: Any, columns: Mapping[str, Any] | None = None) -> "Recording":
        """A recording from a pandas DataFrame.

        columns: a column mapping (docs/io.md), where the names are not ours.
        """
        from strapdown.io.in_memory import from_pandas

        return from_pandas(table, columns)

    def __repr__(self) -> str:
        return f"<Recording: {recording_summary(self)}>"

    def _repr_html_(self) -> str:
        return html_table(recording_rows(self))


@dataclass(frozen=True)
class Event:
    """An event between the times t_s and until_s: kind in one word, and a sentence for people."""

    t_s: float
    until_s: float
    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of an algorithm from a recording: attitude q_nb, position p_n (m), velocity v_n (m/s).

    bias: estimated offsets of instruments by field of the recording, {"gyr_s": (n, 3)}, in its units.
    sigma: standard deviations, (n, 3) each: "attitude_n" (rad, of the small rotation in n between truth and q_nb),
        "p_n", "v_n", and the names of the biases.
    flags: yes or no for each sample, as "acc_rejected", "mag_rejected", "rest".
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
        for key, sigma in checked["sigma"].items():
            refuse_negative(sigma, f"sigma {key}", t)
        flags = {key: locked_flags(value, n, f"flag {key}", t) for key, value in self.flags.items()}
        _set(self, meta=MappingProxyType(dict(self.meta)), flags=MappingProxyType(flags), **checked)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<Solution: {solution_summary(self)}>"

    def _repr_html_(self) -> str:
        return html_table(solution_rows(self))

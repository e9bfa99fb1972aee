"""Vibration as a layer on any motion: rotor imbalance, motor hum, road.

The body's frame is displaced by r (m) and turned by theta (rad), frame b. Each is a sum of lines: an amplitude times
the cosine and the sine of a phase. A phase follows time, the angle of a rotor or wheel, or the way along a road.
Position, velocity, acceleration, attitude, rate and specific force of the shaken body belong together exactly. The same
kernel shakes rows of a recorded motion and the rows of a plant while it runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import Triple, finite, positive, rows, set_fields, triple
from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.motion import vibration as kernel
from strapdown.live import PLANT_COLUMNS, PLANT_ROW
from strapdown.motion.hermite import hermite
from strapdown.motion.paths.profile import interval_of
from strapdown.motion.protocol import Path
from strapdown.rotation import q_conj, q_rotate
from strapdown.types import Motion

Array = NDArray[np.float64]
Pair = tuple[Triple, Triple]

TRAVEL = "travel"  # a source: the way along the body's x axis, m
LARGEST_RAD = 0.02  # rms of the angle: its peaks of four sigmas then leave the kernel's series good to 1e-5 of a rate
_NOTHING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
_NODE_S = 0.005  # between nodes of the way
_NOTHING_AROUND, _NO_READINGS = np.zeros(0), np.zeros((0, 3))
_FIELDS = (("p_n", "p_n"), ("q_ns", "q_nb"), ("v_n", "v_n"), ("a_n", "a_n"), ("w_s", "w_nb_b"), ("dw_s", "dw_nb_b"))


class Turning(Protocol):
    """A source whose phase is a known function of time: a Profile."""

    def at(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Phase and its first three derivatives."""
        ...


@dataclass(frozen=True)
class Line:
    """Displacement linear_m[0] cos(phase) + linear_m[1] sin(phase), and angular_rad in the same way; frame b.

    The phase is factor times the source's phase, plus phase_rad.

    source: its number; None is time, and factor is in rad/s.
    """

    linear_m: Pair = _NOTHING
    angular_rad: Pair = _NOTHING
    source: int | None = None
    factor: float = 1.0
    phase_rad: float = 0.0

    def __post_init__(self) -> None:
        if self.source is not None and (isinstance(self.source, bool) or self.source < 0):
            raise InputError(f"source is {self.source!r}; give the number of a rotor or wheel, from 0, or none")
        set_fields(
            self,
            linear_m=tuple(triple("linear_m", each) for each in self.linear_m),
            angular_rad=tuple(triple("angular_rad", each) for each in self.angular_rad),
            factor=finite("factor", self.factor),
            phase_rad=finite("phase_rad", self.phase_rad),
        )


@dataclass(frozen=True)
class Vibration:
    """Lines of vibration. a + b has the lines of both; both use the same numbers of sources."""

    lines: tuple[Line, ...] = ()

    def __post_init__(self) -> None:
        set_fields(self, lines=tuple(self.lines))
        rms = math.sqrt(0.5 * float(sum(np.sum(np.square(line.angular_rad)) for line in self.lines)))
        if rms > LARGEST_RAD:
            raise InputError(f"the vibration turns by {rms:.3g} rad rms; give at most {LARGEST_RAD:g} rad")

    def __add__(self, other: "Vibration") -> "Vibration":
        return Vibration(self.lines + other.lines)

    @cached_property
    def sources(self) -> int:
        """Number of sources it needs: the largest number plus one."""
        return max((line.source + 1 for line in self.lines if line.source is not None), default=0)

    def mounted(self, r_bs_b: ArrayLike, q_bs: ArrayLike) -> "Vibration":
        """Vibration at a sensor's frame s: lever arm r_bs_b (m, frame b), mounting q_bs. The body is rigid."""
        arm, q_sb = np.asarray(r_bs_b, dtype=np.float64), q_conj(np.asarray(q_bs, dtype=np.float64))
        moved = []
        for line in self.lines:
            angular = np.array(line.angular_rad)
            linear = np.array(line.linear_m) + np.cross(angular, arm)
            felt = (_pair(q_rotate(q_sb, linear)), _pair(q_rotate(q_sb, angular)))
            moved.append(Line(*felt, line.source, line.factor, line.phase_rad))
        return Vibration(tuple(moved))

    @cached_property
    def table(self) -> Array:
        """Its lines in the form of the kernel."""
        fix_signature(kernel.felt_rows)
        found = np.zeros((len(self.lines), kernel.LINE))
        for row, line in zip(found, self.lines, strict=True):
            source = -1 if line.source is None else line.source
            row[:] = (source, line.factor, line.phase_rad, *np.ravel(line.linear_m), *np.ravel(line.angular_rad))
        return found

    def shake(self, plant_rows: Array, t: Array, jets: Array) -> None:
        """Rows of a plant (n, 22; live.PLANT_COLUMNS) of a smooth frame become those of the shaken one, in place.

        t: (n,).
        jets: (n, 3 sources): phase, its first and its second derivative, source after source.
        """
        if jets.shape[1] < 3 * self.sources:
            raise InputError(f"the vibration has {self.sources} sources and jets {jets.shape[1] / 3:g}; give all")
        t = np.array(t, dtype=np.float64)  # the kernel can write times
        flat = plant_rows.reshape(-1)
        readings = _NO_READINGS, _NO_READINGS, _NO_READINGS
        rows = plant_rows[:, None, :]
        kernel.felt_rows(rows, 0, 0, 0.0, t, jets, self.table, flat, PLANT_ROW, _NOTHING_AROUND, *readings)

    def extra(self, t: float, phases: Sequence[float] | Array, speeds: Sequence[float] | Array) -> tuple[Array, Array]:
        """Specific force and rate that the vibration adds for a frame that does not turn, (3,) each, frame b."""
        row, jets = np.zeros((1, PLANT_ROW)), np.zeros((1, 3 * max(len(phases), 1)))
        row[0, 3] = 1.0
        jets[0, : 3 * len(phases) : 3], jets[0, 1 : 3 * len(phases) : 3] = phases, speeds
        self.shake(row, np.array([t], dtype=np.float64), jets)
        return row[0, PLANT_COLUMNS["f_s"]], row[0, PLANT_COLUMNS["w_s"]]

    def on(self, motion: Motion, jets: Array | None = None) -> Motion:
        """The motion with this vibration on it.

        jets: as for shake; None: all lines follow time.
        """
        found = np.zeros((len(motion), PLANT_ROW))
        for column, name in _FIELDS:
            found[:, PLANT_COLUMNS[column]] = getattr(motion, name)
        self.shake(found, motion.t, np.zeros((len(motion), 3)) if jets is None else np.ascontiguousarray(jets))
        return Motion(motion.t, **{name: found[:, PLANT_COLUMNS[column]] for column, name in _FIELDS})


@dataclass(frozen=True)
class Vibrating:
    """A path with vibration on it.

    sources: for each source its speed in rad/s, or a Profile of its angle, or TRAVEL.
    """

    path: Path
    vibration: Vibration
    sources: tuple[float | Turning | str, ...] = ()

    def __post_init__(self) -> None:
        set_fields(self, sources=tuple(self.sources))
        if len(self.sources) < self.vibration.sources:
            raise InputError(
                f"the vibration has {self.vibration.sources} sources and the path lists {len(self.sources)}; give a "
                "speed, a profile or TRAVEL for each"
            )
        for source in self.sources:
            if isinstance(source, str) and source != TRAVEL:
                raise InputError(f"a source is {source!r}; give a speed in rad/s, a profile, or {TRAVEL!r}")

    @property
    def duration_s(self) -> float:
        return self.path.duration_s

    @property
    def joints_s(self) -> tuple[float, ...]:
        return tuple(getattr(self.path, "joints_s", ()))

    def at(self, t: ArrayLike) -> Motion:
        motion = self.path.at(t)
        jets = np.zeros((len(motion), 3 * max(len(self.sources), 1)))
        for k, source in enumerate(self.sources):
            jets[:, 3 * k : 3 * k + 3] = self._jet(source, np.clip(motion.t, 0.0, self.duration_s))
        return self.vibration.on(motion, jets)

    def stopped(self, t: ArrayLike) -> NDArray[np.bool_] | None:
        """The planned stops of the path, if it has some."""
        stopped = getattr(self.path, "stopped", None)
        return None if stopped is None else stopped(t)

    def _jet(self, source: float | Turning | str, t: Array) -> Array:
        if isinstance(source, str):
            times, way = self._way
            i = interval_of(t, times)
            step = np.diff(times)[i]
            first, last = ([way[i + k, :, j] for j in range(3)] for k in (0, 1))
            return np.concatenate(hermite((t - times[i]) / step, step, tuple(first), tuple(last)), axis=1)
        if isinstance(source, int | float):
            return np.stack([source * t, np.full(len(t), float(source)), np.zeros(len(t))], axis=1)
        return np.stack(source.at(t)[:3], axis=1)

    @cached_property
    def _way(self) -> tuple[Array, Array]:
        """Times, and the distance along body x with its first two derivatives at them, (n, 1, 3)."""
        times = np.linspace(0.0, self.duration_s, max(int(np.ceil(self.duration_s / _NODE_S)), 1) + 1)
        motion = self.path.at(times)
        v_b, a_b = (q_rotate(q_conj(motion.q_nb), each) for each in (motion.v_n, motion.a_n))
        speed, change = v_b[:, 0], (a_b - np.cross(motion.w_nb_b, v_b))[:, 0]
        h = np.diff(times)
        steps = 0.5 * h * (speed[1:] + speed[:-1]) + h**2 / 12.0 * (change[:-1] - change[1:])
        way = np.concatenate([[0.0], np.cumsum(steps)])
        return times, np.stack([way, speed, change], axis=1)[:, None, :]


def _pair(vectors: Array) -> Pair:
    return triple("line", vectors[0]), triple("line", vectors[1])


def rotor_imbalance(
    unbalance_kg_m: float | Sequence[float],
    places_b: ArrayLike,
    spins: Sequence[float],
    mass_kg: float,
    inertia_kg_m2: ArrayLike,
    angles_rad: Sequence[float] | None = None,
) -> Vibration:
    """Rotors (sources 0, 1, ...) about body z whose mass is off centre: unbalance = mass times distance, kg m.

    places_b: hubs against the centre of mass (m).
    spins: 1 counter-clockwise seen from above, -1 clockwise. The free body moves against the unbalance: r = -U e / m,
        theta = -inertia^-1 (place x U e), e = (cos, spin sin, 0), whatever the speed. So its acceleration grows with
        the square of the speed.
    angles_rad: angles of each unbalance at phase 0; None: 2.4 rad (the golden angle) from rotor to rotor.
    """
    hubs = rows("places_b", places_b, 3)
    unbalance = np.broadcast_to(np.asarray(unbalance_kg_m, dtype=np.float64), (len(hubs),))
    angles = [2.4 * k for k in range(len(hubs))] if angles_rad is None else list(angles_rad)
    if len(spins) != len(hubs) or len(angles) != len(hubs):
        raise InputError(
            f"there are {len(hubs)} places, {len(spins)} spins and {len(angles)} angles; give one for each"
        )
    mass, inertia = positive("mass_kg", mass_kg), np.array(triple("inertia_kg_m2", inertia_kg_m2))
    if not inertia.min() > 0.0:
        raise InputError(f"inertia_kg_m2 is {tuple(inertia)}; give three numbers above 0")
    lines = []
    for k, hub in enumerate(hubs):
        push = float(unbalance[k]) * np.array([[1.0, 0.0, 0.0], [0.0, math.copysign(1.0, spins[k]), 0.0]])
        linear, angular = -push / mass, -np.cross(hub, push) / inertia
        lines.append(Line(_pair(linear), _pair(angular), k, 1.0, float(angles[k])))
    return Vibration(tuple(lines))


def motor_hum(
    acc_m_s2: ArrayLike, frequency_hz: float, *, source: int | None = None, order: float = 1.0, phase_rad: float = 0.0
) -> Vibration:
    """Hum of a motor: acc_m_s2 is its amplitude at frequency_hz, frame b.

    source: a motor whose phase it follows, order times; the amplitude then grows with the square of its speed. None:
        the frequency is constant.
    """
    per_s = 2.0 * np.pi * positive("frequency_hz", frequency_hz)
    moved = tuple((-np.array(triple("acc_m_s2", acc_m_s2)) / per_s**2).tolist())
    factor = per_s if source is None else positive("order", order)
    return Vibration((Line((moved, _NOTHING[0]), _NOTHING, source, factor, phase_rad),))


def road(
    roughness_m3: float,
    rng: np.random.Generator,
    *,
    source: int = 0,
    wheelbase_m: float = 0.3,
    waves_per_m: tuple[float, float] = (0.1, 10.0),
    count: int = 24,
) -> Vibration:
    """A road of random height under the front and rear wheels, as a function of the distance along it (TRAVEL is the
    source's phase, m).

    Density of ISO 8608: roughness_m3 (wave number / 0.1 per m)^-2, per wave per m. 16e-6 m3 is a very good road, its
    class A. There are count sines at wave numbers between the limits, each with the variance of its band and a random
    phase. The body rises by the mean of the two heights and pitches by their difference; it has no springs.
    """
    low, high = (positive("waves_per_m", each) for each in waves_per_m)
    if not low < high or count < 1:
        raise InputError(f"waves_per_m is {waves_per_m} and count {count}; give the lower limit first, and one or more")
    size, base = positive("roughness_m3", roughness_m3), positive("wheelbase_m", wheelbase_m)
    edges = np.geomspace(low, high, count + 1)
    lines = []
    for n0, n1 in pairwise(edges.tolist()):
        k = 2.0 * np.pi * float(rng.uniform(n0, n1))
        height = math.sqrt(2.0 * size * 0.01 * (1.0 / n0 - 1.0 / n1))  # twice the integral of the density over the band
        half = 0.5 * k * base
        rise, pitch = (0.0, 0.0, height * math.cos(half)), (0.0, 2.0 * height * math.sin(half) / base, 0.0)
        phase = float(rng.uniform(0.0, 2.0 * np.pi))
        lines.append(Line((rise, _NOTHING[0]), (_NOTHING[0], pitch), source, k, phase))
    return Vibration(tuple(lines))

"""CoppeliaSim runs of paper A's experiments: loading, readings of the compared methods, and the truth phase by phase.

Layout, columns, windows and truth are those of the recordings' own README. Everything is expressed in the sensor's
frame, which is the recorded pose itself.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.earth import gravity_vector
from strapdown.errors import InputError
from strapdown.motion.pose_file import read_columns
from strapdown.motion.recorded import RecordedMotion
from strapdown.rotation import q_conj, q_log, q_mul, q_rotate
from strapdown.types import Array

REFERENCE_STEP_S = 1e-3  # A-e: the run with this step is the truth for the others
_RADIUS_M = {
    "D1": {"shoulder": 0.6, "elbow": 0.2},
    "D2": {"shoulder": 0.2, "elbow": 0.0},
}  # A-a, from each axis

Truth = Callable[[Array], Array]


@dataclass(frozen=True)
class Phase:
    """A part of a run, low_s < t < high_s, whose true readings are known functions of time."""

    name: str
    low_s: float
    high_s: float
    acc_s: Truth
    gyr_s: Truth


@dataclass(frozen=True, eq=False)
class Run:
    """One run: its settings (the JSON file) and its columns (the CSV file)."""

    name: str
    settings: dict[str, Any]
    columns: dict[str, Array]

    @property
    def t(self) -> Array:
        return self.columns["t"]

    @property
    def step_s(self) -> float:
        step_s = self.number("dt")
        if not step_s > 0.0:
            raise InputError(f"{self.name}.json has dt = {step_s:g}; a time step is longer than 0")
        return step_s

    @property
    def gravity(self) -> float:
        return -self.number("gravity", 2)

    @property
    def engine(self) -> str:
        return str(self.need("engine"))

    @property
    def experiment(self) -> str:
        """A-a .. The experiment, such as A-e; the direct variants and the cases of A-d count as separate
        experiments.
        """
        variant = "-direct" if self.settings.get("variant") == "direct" else ""
        return f"{self.need('experiment')}{self.settings.get('case', '')}{variant}"

    @property
    def label(self) -> str:
        return f"{self.experiment}/{self.engine}/{self.step_s * 1e3:g}ms"

    @property
    def sensors(self) -> list[str]:
        found = self.need("sensors")
        if not isinstance(found, dict) or not found:
            raise InputError(f"{self.name}.json names no sensors; expected entries like D1")
        return sorted(found)

    @property
    def is_reference(self) -> bool:
        return bool(np.isclose(self.step_s, REFERENCE_STEP_S))

    def need(self, key: str) -> Any:
        try:
            return self.settings[key]
        except KeyError:
            raise InputError(f"{self.name}.json has no entry {key!r}") from None

    def number(self, *keys: str | int) -> float:
        """A number of the settings; further keys lead into nested entries."""
        value: Any = self.settings
        try:
            for key in keys:
                value = value[key]
            return float(value)
        except (KeyError, IndexError, TypeError, ValueError):
            raise InputError(f"{self.name}.json has no number {'.'.join(map(str, keys))}") from None

    def vector(self, sensor: str, kind: str) -> Array:
        return np.column_stack([self.columns[f"{sensor}_{kind}_{axis}"] for axis in "xyz"])

    def has(self, sensor: str, kind: str) -> bool:
        return f"{sensor}_{kind}_x" in self.columns

    @cached_property
    def motions(self) -> dict[str, RecordedMotion]:
        """The poses of each sensor: semi-implicit engines are half a physics step ahead of their clock."""
        return {sensor: self._motion(sensor) for sensor in self.sensors}

    def _motion(self, sensor: str) -> RecordedMotion:
        p_n = np.column_stack([self.columns[f"{sensor}_{axis}"] for axis in "xyz"])
        q_ns = np.column_stack([self.columns[f"{sensor}_q{axis}"] for axis in "wxyz"])
        try:
            return RecordedMotion(self.t, p_n, q_ns, pose_time_offset_s=0.5 * self.number("physics_dt"))
        except InputError as error:
            raise InputError(f"{self.name}, sensor {sensor}: {error}") from None

    def specific_force(self, sensor: str, a_n: Array) -> Array:
        """f_s = R^T (a - g) at the recorded attitudes."""
        return q_rotate(q_conj(self.motions[sensor].q_nb), a_n - gravity_vector(self.gravity))


def find_runs(folder: Path) -> list[Path]:
    """The JSON files of the runs in the folder or in its folder data."""
    for place in (folder / "data", folder):
        found = sorted(place.glob("*.json")) if place.is_dir() else []
        if found:
            return found
    raise InputError(
        f"{folder} holds no recorded runs; expected files like A-c_ode_10ms.json with A-c_ode_10ms.csv "
        "or .csv.gz, in it or in its folder data"
    )


def load_run(path: Path) -> Run | None:
    """The run of a JSON file; None if the file is about something else."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(settings, dict) or "experiment" not in settings:
        return None
    run = Run(path.stem, settings, {})
    named = path.parent / Path(str(settings.get("file", path.stem))).name
    places = (named, path.with_suffix(".csv"), path.with_suffix(".csv.gz"))
    table = next((place for place in places if place.is_file()), None)
    if table is None:
        raise InputError(f"{path} has no table next to it; expected {path.stem}.csv or {path.stem}.csv.gz")
    needed, may_be_missing = ["t"], []
    for sensor in run.sensors:
        needed += [f"{sensor}_{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        needed += [f"{sensor}_{kind}_{axis}" for kind in ("ov", "oe") for axis in "xyz"]
        may_be_missing += [f"{sensor}_{kind}_{axis}" for kind in ("ff", "sa", "sg") for axis in "xyz"]
    listed = run.need("columns")
    names = [*needed, *(name for name in may_be_missing if isinstance(listed, list) and name in listed)]
    return Run(path.stem, settings, read_columns(table, {name: name for name in names}, None, may_be_missing))


def paper_accelerometer(run: Run, sensor: str) -> Array:
    """Paper A2: backward difference of the simulator velocity, rotated by the newest pose, stamped t."""
    velocity = run.vector(sensor, "ov")
    a_n = np.full_like(velocity, np.nan)
    a_n[1:] = np.diff(velocity, axis=0) / run.step_s
    gap = np.flatnonzero(np.diff(run.t) > 1.5 * run.step_s)
    a_n[np.concatenate([gap, gap + 1])] = np.nan  # as in the README's figures
    return run.specific_force(sensor, a_n)


def force_accelerometer(run: Run, sensor: str) -> Array:
    """Paper A's A1: force on the proof mass, with the sign of an IMU."""
    return -run.vector(sensor, "ff") / run.number("sensors", sensor, "proof_mass", "mass")


def phases(run: Run, sensor: str, reference: Run | None) -> Iterator[Phase]:
    """Windows and truth.

    reference: the 1 ms run of A-e, which is all the truth A-e has.
    """
    kind, g = str(run.need("experiment")), run.gravity
    if kind == "A-a" and sensor in _RADIUS_M:
        yield from _arm(run, sensor)
    elif kind == "A-b":
        # the direct variant carries its proof mass itself: 5.001 kg
        carried = run.number("sensors", sensor, "proof_mass", "mass") if "direct" in run.experiment else 0.0
        lift = run.number("force", 2) / (run.number("mass") + carried)
        for name, low, high, f_z in (
            ("rest", 1.0, 2.45, g),
            ("lift", 3.0, 4.92, lift),
            ("fall", 5.4, 5.94, 0.0),
        ):
            yield Phase(name, low, high, _constant(0.0, 0.0, f_z), _constant(0.0, 0.0, 0.0))
    elif kind == "A-c":
        w, radius = run.number("speed"), run.number("radius")
        yield Phase("steady", 1.0, 4.94, _constant(-w * w * radius, 0.0, g), _constant(0.0, 0.0, w))
    elif kind == "A-d":
        yield from _bar(run)
    elif kind == "A-e" and reference is not None and sensor in reference.sensors:
        f_s, w_s = five_point_readings(reference, sensor)
        row = np.rint((run.t - reference.t[0]) / reference.step_s).astype(int)
        inside = (row >= 0) & (row < len(reference.t))
        # at the recorded poses, whatever the stamp: both runs are ahead of the clock by the same half step
        f_there, w_there = (np.where(inside[:, None], x[np.where(inside, row, 0)], np.nan) for x in (f_s, w_s))
        yield Phase("swing", 0.12, 4.94, lambda _: f_there, lambda _: w_there)


def _arm(run: Run, sensor: str) -> Iterator[Phase]:
    """A-a: gravity at the recorded attitude and the centripetal acceleration of the commanded rate."""
    w = run.number("speed")
    gravity_s = run.specific_force(sensor, np.zeros((len(run.t), 3)))
    for name, low, high, axis in (
        ("rest", 1.0, 9.9, None),
        ("turn shoulder", 10.5, 24.9, "shoulder"),
        ("rest 45", 25.6, 29.9, None),
        ("turn elbow", 30.5, 44.9, "elbow"),
        ("rest end", 45.6, 49.9, None),
    ):
        radius = 0.0 if axis is None else _RADIUS_M[sensor][axis]
        rate = w if radius else 0.0
        f_s = gravity_s - np.array([0.0, 0.0, rate * rate * radius])
        yield Phase(name, low, high, lambda _, f_s=f_s: f_s, _constant(rate, 0.0, 0.0))  # type: ignore[misc]


def _bar(run: Run) -> Iterator[Phase]:
    """A-d: constant angular acceleration up to the set speed."""
    dt, g, radius = run.step_s, run.gravity, run.number("radius")
    w, run_up_s, dw = (run.number(key) for key in ("target_speed", "runup_time", "angular_acceleration"))

    def force(t: Array) -> Array:
        return np.column_stack([-((dw * t) ** 2) * radius, np.full_like(t, dw * radius), np.full_like(t, g)])

    def rate(t: Array) -> Array:
        return np.column_stack([np.zeros_like(t), np.zeros_like(t), dw * t])

    yield Phase("run-up", 2.5 * dt, run_up_s - 1.5 * dt, force, rate)
    steady = _constant(-w * w * radius, 0.0, g)
    yield Phase("steady", run_up_s + 0.4, 1.5 - 1.2 * dt, steady, _constant(0.0, 0.0, w))


def _constant(*value: float) -> Truth:
    return lambda t: np.tile(np.array(value), (len(t), 1))


def five_point_readings(reference: Run, sensor: str) -> tuple[Array, Array]:
    """Specific force and rate by plain five-point formulas, two rows short at both ends (NaN).

    Written out here without RecordedMotion, so that the truth of A-e is independent of the method that it judges.
    """
    h, motion = reference.step_s, reference.motions[sensor]
    p, q = motion.p_n, motion.q_nb
    a_n, w_s = np.full_like(p, np.nan), np.full_like(p, np.nan)
    a_n[2:-2] = (-p[4:] + 16 * p[3:-1] - 30 * p[2:-2] + 16 * p[1:-3] - p[:-4]) / (12 * h * h)
    mean = q_log(q_mul(q_conj(q[:-1]), q[1:])) / h
    w_s[2:-2] = (-mean[:-3] + 7 * mean[1:-2] + 7 * mean[2:-1] - mean[3:]) / 12  # means of intervals to their joints
    return reference.specific_force(sensor, a_n), w_s

"""Paper A's experiments in any engine: errors of the exact readings, of the paper's methods and of pose methods.

Engines that give accelerations are held to the tolerances of MuJoCo. CoppeliaSim gives poses alone: its tolerances are
those that the paper published, and for the pendulum the paper's own method in the same run. Where an engine does not
follow its commands to the last digit (an arm on motors), truth is gravity at the attitude that the engine reports.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.engines.catalogue import COPPELIASIM, DRAKE, MUJOCO, PYBULLET, engine_named
from strapdown.environment.rig import Rig, rig_from
from strapdown.environment.simulate import simulate
from strapdown.errors import RangeWarning
from strapdown.papers.a.experiments import (
    EXPERIMENTS,
    KINEMATIC,
    METHODS,
    STEPS_MS,
    Experiment,
    Phase,
    arm_motion,
    on_motors,
    pendulum_rig,
)
from strapdown.papers.a.ramp import CASES, fit_ramp
from strapdown.papers.a.runup import run_case
from strapdown.rotation import q_conj, q_rotate
from strapdown.types import Recording

Array = NDArray[np.float64]

# the integrator that each engine runs the experiments with, and the one of MuJoCo that makes the same steps
_INTEGRATORS = {MUJOCO: ("euler", "euler"), PYBULLET: ("euler", "euler"), DRAKE: ("discrete", "euler")}
_FINE_STEP_S = 1e-3  # of the physics, whatever the sample time: for motors, and for PyBullet's contacts
_RUN_UP_S = 0.5  # in CoppeliaSim the motor starts later: the first poses of a run are not used


@dataclass(frozen=True)
class EngineRow:
    """Largest errors (m/s2, rad/s) of one method in one phase in one engine."""

    engine: str
    experiment: str
    step_ms: int
    phase: str
    method: str
    acc: float
    gyr: float


@dataclass(frozen=True)
class RunUpError:
    """A-d: error (s) of the run-up time by the line fit, and by the first sample as the paper reads it."""

    engine: str
    case: int
    step_ms: int
    line_s: float
    first_sample_s: float


@dataclass(frozen=True)
class EngineRun:
    """rows and run_ups as measured; recordings by experiment and step."""

    engine: str
    rows: list[EngineRow]
    run_ups: list[RunUpError]
    recordings: dict[str, dict[str, Recording]]


def run_in(
    engine: str,
    names: Sequence[str],
    steps_ms: Sequence[int] = STEPS_MS,
    progress: Callable[[float], None] | None = None,
    server: str | None = None,
) -> EngineRun:
    """Run the named experiments ("a-a" to "a-e") in an engine. server: of CoppeliaSim, host:port."""
    engine_named(engine)
    run = EngineRun(engine, [], [], {})
    total, done = len(names) * len(steps_ms), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)  # methods are meant to leave their range here
        for name in names:
            for step_ms in sorted(steps_ms):  # the finest first: it is the reference of the others
                if name == "a-d":
                    _run_ups(run, step_ms, server)
                else:
                    _experiment(run, EXPERIMENTS[f"A-{name[-1]}"], step_ms, server)
                done += 1
                if progress is not None:
                    progress(done / total)
    return run


def _experiment(run: EngineRun, experiment: Experiment, step_ms: int, server: str | None) -> None:
    recordings = simulate(_rig(run.engine, experiment, step_ms / 1000.0, server)).recordings
    run.recordings[f"{experiment.id}_{step_ms}ms"] = recordings
    reference = _pendulum(run, experiment, step_ms) if experiment.truth is None else None
    for name, recording in recordings.items():
        place, method = name.split(" ")
        acc, gyr = _errors(experiment, place, recording, reference)
        for phase in _phases(run.engine, experiment):
            inside = (recording.t > phase.begin_s) & (recording.t < phase.end_s)
            found = float(acc[inside].max()), float(gyr[inside].max())
            run.rows.append(EngineRow(run.engine, experiment.id, step_ms, phase.name, method, *found))


def _phases(engine: str, experiment: Experiment) -> Sequence[Phase]:
    """In CoppeliaSim the bar of A-c begins at rest; its motor and the differences need a moment."""
    if engine == COPPELIASIM and experiment.id == "A-c":
        return [replace(phase, begin_s=1.0) for phase in experiment.phases]
    return experiment.phases


def _rig(engine: str, experiment: Experiment, step_s: float, server: str | None) -> Rig:
    values = experiment.values(step_s, KINEMATIC)
    physics = {**values["physics"], "engine": engine, "step_s": step_s}
    physics.pop("integrator", None)
    if experiment.id == "A-a":
        values = on_motors(values)
    if engine == COPPELIASIM:
        values["coppeliasim"] = {"physics_engine": "mujoco"} | ({} if server is None else {"server": server})
        if experiment.id == "A-c":
            starts = values.pop("start")
            values["motor"] = [{"joint": s["joint"], "kind": "speed"} for s in starts]
            values["program"] = [{"at_s": 0.0, "motor": s["joint"], "speed_deg_s": s["speed_deg_s"]} for s in starts]
        if experiment.id == "A-e":
            values["coppeliasim"]["substep_s"] = 1e-3  # the same motion at every step
    else:
        physics["integrator"] = _INTEGRATORS[engine][0]
        if experiment.id in ("A-a", "A-e") or (engine, experiment.id) == (PYBULLET, "A-b"):
            physics["step_s"] = _FINE_STEP_S
    return rig_from({**values, "physics": physics}, Path(f"experiment {experiment.id} in {engine}"))


def _errors(
    experiment: Experiment, place: str, recording: Recording, reference: Recording | None
) -> tuple[Array, Array]:
    """Length of the error vectors."""
    acc_s, gyr_s, _ = recording.inertial()
    if reference is not None:
        at = np.rint((recording.t - reference.t[0]) * reference.meta["rate_hz"]).astype(int)
        known = (at >= 0) & (at < len(reference))
        acc, gyr = (np.full_like(acc_s, np.nan) for _ in range(2))
        acc[known], gyr[known] = (signal[at[known]] for signal in reference.inertial()[:2])
    else:
        assert experiment.truth is not None
        acc, gyr = experiment.truth(place, recording.t)
        if experiment.id == "A-a":  # the motion's own attitude, and the centripetal part of the commanded rate
            assert recording.truth is not None
            g = recording.meta["gravity_m_s2"]
            level = -q_rotate(q_conj(recording.truth.q_nb), np.broadcast_to(gravity_vector(g), acc.shape))
            _, _, towards_axis = arm_motion(place, recording.t)
            acc = level - towards_axis[:, None] * [0.0, 0.0, 1.0]
    return np.linalg.norm(acc_s - acc, axis=1), np.linalg.norm(gyr_s - gyr, axis=1)


def _pendulum(run: EngineRun, experiment: Experiment, step_ms: int) -> Recording:
    """A-e in MuJoCo with the same steps; in CoppeliaSim the finest run itself, read by the fit through its poses."""
    if run.engine == COPPELIASIM:
        finest = min(int(key.removeprefix("A-e_").removesuffix("ms")) for key in run.recordings if "A-e_" in key)
        return run.recordings[f"A-e_{finest}ms"]["D1 exact"]
    values = pendulum_rig(step_ms / 1000.0)
    values["physics"] = {**values["physics"], "integrator": _INTEGRATORS[run.engine][1]}
    values["sensor"] = [{"name": "D1", "rate_hz": 1000.0 / step_ms, **experiment.sensors["D1"], **METHODS["exact"]}]
    return simulate(rig_from(values, Path("experiment A-e, reference"))).recordings["D1"]


def _run_ups(run: EngineRun, step_ms: int, server: str | None) -> None:
    for case in CASES:
        step_s = step_ms / 1000.0
        physics: dict[str, Any] = {"gravity": 9.81, "step_s": step_s, "engine": run.engine}
        more: dict[str, Any] = {"physics": physics}
        if run.engine == COPPELIASIM:
            more["coppeliasim"] = {"physics_engine": "mujoco"} | ({} if server is None else {"server": server})
            more["duration_s"] = 1.5
            more["motor"] = [{"joint": "axis", "kind": "speed", "max_torque_nm": case.torque_nm}]
            more["program"] = [{"motor": "axis", "at_s": _RUN_UP_S, "speed_deg_s": case.speed_deg_s}]
        else:
            physics["integrator"] = _INTEGRATORS[run.engine][0]
        recordings = run_case(case, step_s, more)
        run.recordings[f"A-d{case.number}_{step_ms}ms"] = recordings
        line_s, first_s = _read_ramp(run.engine, recordings, float(np.radians(case.speed_deg_s)), step_s)
        errors = line_s - case.analytic_s, first_s - case.analytic_s
        run.run_ups.append(RunUpError(run.engine, case.number, step_ms, *errors))


def _read_ramp(engine: str, recordings: dict[str, Recording], speed: float, step_s: float) -> tuple[float, float]:
    """When the speed is reached: by the line through the ramp, and by the paper's first sample; NaN where no ramp is.

    Poses alone: the turn of a step over its time belongs to the middle of the step.
    """
    of_poses = engine == COPPELIASIM
    begin_s = _RUN_UP_S if of_poses else 0.0
    paper, best = (recordings[method] for method in ("paper", "paper" if of_poses else "exact"))
    line = fit_ramp(best.t - begin_s - (0.5 * step_s if of_poses else 0.0), best.inertial()[1][:, 2], speed)
    first = fit_ramp(paper.t - begin_s, paper.inertial()[1][:, 2], speed)
    return np.nan if line is None else line.line_s, np.nan if first is None else first.first_sample_s

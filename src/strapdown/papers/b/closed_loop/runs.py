"""Many sessions: scenarios with changes and seeds, run on all cores; the figures of each."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

from strapdown.environment.diagram.edit import with_parameters
from strapdown.environment.session.recording.outcome import errors_of, figures, verdict
from strapdown.environment.session.recording.record import SessionRecording, recording_of
from strapdown.environment.session.scenario.file import Scenario, read_scenario
from strapdown.environment.session.session import Session, SessionStopped

# errors beyond which an estimate is wrong: a velocity held with it grows instead of falling, or no thrust holds it
WRONG_HEADING, WRONG_TILT = np.radians(90.0), np.radians(30.0)


@dataclass(frozen=True)
class Job:
    """One session.

    changes: keys of the scenario.
    sensors: keys of its module.
    blocks: parameters by (sheet, block).
    calibrated: False keeps the calibration switch off.
    """

    scenario: str
    seed: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    sensors: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    calibrated: bool = True


def scenario_of(job: Job) -> Scenario:
    """The scenario with the job's changes."""
    scenario = read_scenario(job.scenario)
    changes = dict(job.changes)
    if "scene" in changes:
        changes["scene"] = scenario.scene.model_copy(update=changes["scene"])
    if not job.calibrated:
        lines = (line.model_copy(update={"calibrate": None}) for line in scenario.pilot)
        changes["pilot"] = tuple(line for line in lines if line.model_dump(exclude={"at_s"}, exclude_none=True))
    if job.sensors:
        changes["sensor"] = tuple(table.model_copy(update=dict(job.sensors)) for table in scenario.sensor)
    return scenario.model_copy(update=changes)


def session_of(job: Job) -> Session:
    """The session of a job, at its start."""
    session = Session(scenario_of(job), seed=job.seed)
    if job.blocks:
        diagram = session.runner.diagram
        for place, values in job.blocks.items():
            diagram = with_parameters(diagram, place, values)
        session.runner.replace(diagram)
        session.attach()
        session.started = session.snapshot()
    return session


def run_job(job: Job) -> dict[str, Any]:
    """The figures of one session, and its verdict where the scenario expects one. The session ends where the vehicle is
    lost.
    """
    session = session_of(job)
    with suppress(SessionStopped):  # the figures report it
        while session.t_s < session.scenario.duration_s and not session.watch.lost:
            session.advance(min(1.0, session.scenario.duration_s - session.t_s))
    run = recording_of(session)
    found, p_n, expect = figures(run), run.truth.p_n, session.scenario.expect
    return {
        **found,
        "verdict": None if expect is None else verdict(found, expect),
        "first_wrong": _first_wrong(run),
        "moved_m": (p_n[-1] - p_n[0]).tolist(),
    }


def _first_wrong(run: SessionRecording) -> str | None:
    """The estimate that was wrong first, "heading" or "tilt"; None if neither was."""
    angles = errors_of(run).angles
    if angles is None:
        return None
    wrong = {
        "heading": np.flatnonzero(np.abs(angles[:, 2]) > WRONG_HEADING),
        "tilt": np.flatnonzero(np.abs(angles[:, :2]).max(axis=1) > WRONG_TILT),
    }
    first = {name: rows[0] for name, rows in wrong.items() if len(rows)}
    return min(first, key=lambda name: first[name]) if first else None


def run_all(
    jobs: Sequence[Any],
    done: Callable[[float], None] = lambda share: None,
    run: Callable[[Any], dict[str, Any]] = run_job,
) -> list[dict[str, Any]]:
    """Run all jobs, in their order, on all cores.

    run: function for each job; it must be found by its name.
    """
    results: list[dict[str, Any]] = [{} for _ in jobs]
    workers = min(os.cpu_count() or 1, len(jobs))
    if workers <= 1:
        for i, job in enumerate(jobs):
            results[i] = run(job)
            done((i + 1) / len(jobs))
        return results
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run, job): i for i, job in enumerate(jobs)}
        for count, future in enumerate(as_completed(waiting), start=1):
            results[waiting[future]] = future.result()
            done(count / len(jobs))
    return results

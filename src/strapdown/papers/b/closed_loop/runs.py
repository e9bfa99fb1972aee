"""Many sessions: scenarios with changes and seeds, run on all cores; the figures of each."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from strapdown.environment.diagram.edit import with_parameters
from strapdown.environment.session.outcome import figures, verdict
from strapdown.environment.session.record import recording_of
from strapdown.environment.session.scenario import Scenario, read_scenario
from strapdown.environment.session.session import Session, SessionStopped


@dataclass(frozen=True)
class Job:
    """One session. changes: keys of the scenario. sensors: keys of its module. blocks: parameters by (sheet, block)."""

    scenario: str
    seed: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    sensors: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)


def scenario_of(job: Job) -> Scenario:
    """The scenario with the job's changes."""
    scenario = read_scenario(job.scenario)
    changes = dict(job.changes)
    if "scene" in changes:
        changes["scene"] = scenario.scene.model_copy(update=changes["scene"])
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
    """The figures of one session, and its verdict where the scenario expects one."""
    session = session_of(job)
    with suppress(SessionStopped):  # the figures report it
        session.run()
    found = figures(recording_of(session))
    expect = session.scenario.expect
    return {**found, "verdict": None if expect is None else verdict(found, expect)}


def run_all(jobs: Sequence[Job], done: Callable[[float], None] = lambda share: None) -> list[dict[str, Any]]:
    """All jobs, in their order, on all cores."""
    results: list[dict[str, Any]] = [{} for _ in jobs]
    workers = min(os.cpu_count() or 1, len(jobs))
    if workers <= 1:
        for i, job in enumerate(jobs):
            results[i] = run_job(job)
            done((i + 1) / len(jobs))
        return results
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_job, job): i for i, job in enumerate(jobs)}
        for count, future in enumerate(as_completed(waiting), start=1):
            results[waiting[future]] = future.result()
            done(count / len(jobs))
    return results

"""strapdown reproduce B flight: quadcopter, paper's filter, skipped calibration, Mars helicopter, rover, faults."""

from collections.abc import Callable, Sequence
from typing import Any

from strapdown.papers.b.closed_loop.fault_runs import faults
from strapdown.papers.b.closed_loop.flight_figures import angle_figures
from strapdown.papers.b.closed_loop.mars import mars
from strapdown.papers.b.closed_loop.paper_filter import paper_filter
from strapdown.papers.b.closed_loop.part import Part
from strapdown.papers.b.closed_loop.quadcopter import quadcopter
from strapdown.papers.b.closed_loop.rover import RoverJob, rover, run_rover
from strapdown.papers.b.closed_loop.runs import run_all, run_job
from strapdown.papers.b.closed_loop.skipped import skipped
from strapdown.papers.outcome import Outcome

SEEDS = 20
_FIGURES_SHARE = 0.02  # of the time


def parts(seeds: int = SEEDS, repeat: int = 0) -> list[Part]:
    """The parts of the flight experiments.

    seeds: seeds of the quadcopter, the Mars helicopter and the rover. Faults and skipped calibration have half as many,
        each combination of the paper's filter a quarter.
    repeat: other seeds.
    """
    half, quarter = max(1, seeds // 2), max(1, seeds // 4)
    each = {quadcopter: seeds, paper_filter: quarter, skipped: half, mars: seeds, rover: seeds, faults: half}
    return [part(count, repeat) for part, count in each.items()]


def reproduce_flight(done: Callable[[float], None], seeds: int = SEEDS, repeat: int = 0) -> Outcome:
    """All parts. A session that several parts need runs once.

    repeat: other seeds.
    """
    out = Outcome(figures=angle_figures(repeat))
    done(_FIGURES_SHARE)
    judge(parts(seeds, repeat), out, lambda share: done(_FIGURES_SHARE + (1.0 - _FIGURES_SHARE) * share))
    return out


def judge(given: Sequence[Part], out: Outcome, done: Callable[[float], None] = lambda share: None) -> None:
    """Run the sessions of the parts and add their claims and tables."""
    jobs = {repr(job): job for part in given for job in part.jobs}
    results = dict(zip(jobs, run_all(list(jobs.values()), done, run_one), strict=True))
    for part in given:
        claims, table = part.judge([results[repr(job)] for job in part.jobs])
        out.claims += claims
        out.tables.append(table)
    out.more["flight"] = [table.as_dict() for table in out.tables]


def run_one(job: Any) -> dict[str, Any]:
    """One session of any part."""
    return run_rover(job) if isinstance(job, RoverJob) else run_job(job)

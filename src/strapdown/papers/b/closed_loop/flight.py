"""strapdown reproduce B flight: quadcopter, paper's filter, skipped calibration, Mars helicopter, rover, faults."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

from strapdown.papers.b.closed_loop.fault_runs import faults
from strapdown.papers.b.closed_loop.flight_figures import angle_figures
from strapdown.papers.b.closed_loop.mars import mars
from strapdown.papers.b.closed_loop.paper_filter import paper_filter
from strapdown.papers.b.closed_loop.part import Part, Table
from strapdown.papers.b.closed_loop.quadcopter import quadcopter
from strapdown.papers.b.closed_loop.rover import RoverJob, rover, run_rover
from strapdown.papers.b.closed_loop.runs import run_all, run_job
from strapdown.papers.b.closed_loop.skipped import skipped
from strapdown.papers.claim import Claim

SEEDS = 20
_FIGURES_SHARE = 0.02  # of the time


@dataclass
class FlightClaims:
    claims: list[Claim] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)


def parts(seeds: int = SEEDS) -> list[Part]:
    """seeds: of the quadcopter, the Mars helicopter and the rover; half as many of faults and skipped calibration, a
    quarter of each combination of the paper's filter."""
    half, quarter = max(1, seeds // 2), max(1, seeds // 4)
    return [quadcopter(seeds), paper_filter(quarter), skipped(half), mars(seeds), rover(seeds), faults(half)]


def reproduce_flight(done: Callable[[float], None], seeds: int = SEEDS) -> FlightClaims:
    """All parts. A session that several parts need runs once."""
    out = FlightClaims(figures=angle_figures())
    done(_FIGURES_SHARE)
    judge(parts(seeds), out, lambda share: done(_FIGURES_SHARE + (1.0 - _FIGURES_SHARE) * share))
    return out


def judge(given: Sequence[Part], out: FlightClaims, done: Callable[[float], None] = lambda share: None) -> None:
    """Run the sessions of the parts and add their claims and tables."""
    jobs = {repr(job): job for part in given for job in part.jobs}
    results = dict(zip(jobs, run_all(list(jobs.values()), done, run_one), strict=True))
    for part in given:
        claims, table = part.judge([results[repr(job)] for job in part.jobs])
        out.claims += claims
        out.tables.append(table)


def run_one(job: Any) -> dict[str, Any]:
    """One session of any part."""
    return run_rover(job) if isinstance(job, RoverJob) else run_job(job)

"""What paper A's experiments must show in other engines, and all engines in one table."""

from collections.abc import Iterator, Sequence

import numpy as np

from strapdown.engines.catalogue import COPPELIASIM
from strapdown.papers.a.engines import EngineRow, EngineRun
from strapdown.papers.a.experiments import KINEMATIC
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Outcome, Table

_SOURCE = "paper A, DOI 10.34031/2071-7318-2024-10-3-125-135"
# m/s2, rad/s: engines that give accelerations, as in MuJoCo; A-a runs on motors, which keep a rate to 4e-6 rad/s while
# the arm's weight moves
_EXACT = {"A-a": 1e-5, "A-b": 1e-9, "A-c": 1e-9}
# A-e: two engines that make the same steps differ by roundoff, which the pendulum makes 1e4 times larger in 5 s
_SAME_MOTION = 1e-6
_PUBLISHED = {"A-a": (1e-4, 5e-4), "A-b": (1e-5, None), "A-c": (1e-4, 1e-4)}  # at 50 ms: m/s2, rad/s
_RUN_UP_S = 1e-6
# in CoppeliaSim: semi-implicit sub-steps of 5 ms (1 ms at 1 ms) put poses half a sub-step ahead of the clock
_RUN_UP_OF_POSES_S = {50: 3e-3, 10: 3e-3, 1: 6e-4}
_PUBLISHED_RUN_UP_S = 0.008  # the smallest of the six published errors
# A-e in CoppeliaSim: how many times larger the error of the paper's method is; at 50 ms the pendulum turns by 0.75 rad
# from sample to sample, which no method resolves well
_BETTER = {50: 2.0, 10: 5.0, 1: 5.0}
_NOT_CLAIMED = ("A-b", "rest")  # contacts settle as each engine lets them: shown, not claimed
_UNITS = ("m/s2", "rad/s")


def outcome_in(run: EngineRun) -> Outcome:
    """Claims and tables of one engine."""
    return Outcome(claims_of(run), tables_of([run]))


def claims_of(run: EngineRun) -> list[Claim]:
    return [*_settled(run), *_pendulum(run), *_run_ups(run)]


def _steps(run: EngineRun, experiment: str) -> list[int]:
    return sorted({row.step_ms for row in run.rows if row.experiment == experiment}, reverse=True)


def _settled(run: EngineRun) -> Iterator[Claim]:
    """The largest error of the exact readings over all settled phases."""
    of_poses = run.engine == COPPELIASIM
    for experiment, published in _PUBLISHED.items():
        for step in _steps(run, experiment):
            rows = [
                row
                for row in run.rows
                if (row.experiment, row.step_ms, row.method) == (experiment, step, "exact")
                and (row.experiment, row.phase) != _NOT_CLAIMED
            ]
            for name, unit, allowed in zip(("acc", "gyr"), _UNITS, published, strict=True):
                if allowed is None:
                    continue
                known = allowed if step == 50 else None
                yield Claim(
                    f"{experiment}/{run.engine}/{step}ms/{name}",
                    f"{experiment} in {run.engine} at {step} ms, settled phases: largest error, {unit}",
                    known,
                    max(getattr(row, name) for row in rows),
                    allowed if of_poses else _EXACT[experiment],
                    f"{_SOURCE}, experiment {experiment[-1]}" if known else "ours",
                    kind="beats" if known else "requirement",
                )


def _pendulum(run: EngineRun) -> Iterator[Claim]:
    steps = _steps(run, "A-e")
    for step in steps:
        if run.engine != COPPELIASIM:
            for name, unit in zip(("acc", "gyr"), _UNITS, strict=True):
                yield Claim(
                    f"A-e/{run.engine}/{step}ms/{name}",
                    f"double pendulum in {run.engine} at {step} ms against MuJoCo with the same steps, {unit}",
                    None,
                    max(getattr(row, name) for row in _swing(run, step, "exact")),
                    _SAME_MOTION,
                    "ours",
                    kind="requirement",
                )
        elif step > min(steps):  # the finest run is the reference of the others
            ours, paper = (max(row.acc for row in _swing(run, step, method)) for method in ("exact", "paper"))
            yield Claim(
                f"A-e/{run.engine}/{step}ms/acc",
                f"pendulum in {run.engine} at {step} ms: error of the paper's method over ours ({ours:.3g} m/s2)",
                None,
                paper / ours,
                _BETTER[step],
                "the paper's method in the same run",
                ">=",
                kind="beats",
            )


def _swing(run: EngineRun, step: int, method: str) -> list[EngineRow]:
    return [r for r in run.rows if (r.experiment, r.step_ms, r.method) == ("A-e", step, method)]


def _run_ups(run: EngineRun) -> Iterator[Claim]:
    for step in sorted({row.step_ms for row in run.run_ups}, reverse=True):
        known = _PUBLISHED_RUN_UP_S if step == 50 else None
        yield Claim(
            f"A-d/{run.engine}/{step}ms/line",
            f"run-up in {run.engine} at {step} ms, six cases: largest error of the time by line fit, s",
            known,
            float(np.max([abs(row.line_s) for row in run.run_ups if row.step_ms == step])),
            _RUN_UP_OF_POSES_S[step] if run.engine == COPPELIASIM else _RUN_UP_S,
            f"{_SOURCE}, table" if known else "ours",
            kind="beats" if known else "requirement",
        )


def tables_of(runs: Sequence[EngineRun]) -> list[Table]:
    """Errors in all engines side by side, and run-up times."""
    found: dict[tuple[str, str, str, str], dict[str, tuple[float, float]]] = {}
    for run in runs:
        for row in run.rows:
            key = row.experiment, f"{row.step_ms}", row.phase, row.method
            acc, gyr = found.setdefault(key, {}).get(run.engine, (0.0, 0.0))
            found[key][run.engine] = max(acc, row.acc), max(gyr, row.gyr)
    engines = [run.engine for run in runs]
    columns = ["experiment", "step, ms", "phase", "method"]
    columns += [
        f"{engine}: {name}, {unit}" for engine in engines for name, unit in zip(("acc", "gyr"), _UNITS, strict=True)
    ]
    order = {method: i for i, method in enumerate(KINEMATIC)}
    rows = [
        [*key, *(f"{x:.2g}" for engine in engines for x in found[key].get(engine, (np.nan, np.nan)))]
        for key in sorted(found, key=lambda key: (key[0], -int(key[1]), key[2], order[key[3]]))
    ]
    tables = [Table("Paper A, largest error in each settled phase", columns, rows, left=4)] if rows else []
    late: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for run in runs:
        for up in run.run_ups:
            late.setdefault((str(up.case), str(up.step_ms)), {})[run.engine] = up.line_s, up.first_sample_s
    if late:
        columns = ["case", "step, ms"]
        columns += [f"{engine}: {what}, s" for engine in engines for what in ("line fit", "first sample")]
        shown = [
            [*key, *(f"{x:.2g}" for engine in engines for x in of.get(engine, (np.nan, np.nan)))]
            for key, of in sorted(late.items(), key=lambda item: (-int(item[0][1]), item[0][0]))
        ]
        tables.append(Table("A-d, error of the run-up time", columns, shown, left=2))
    return tables

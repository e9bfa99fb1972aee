"""Paper A's results as tables: errors by sensor, phase and method, and run-up times."""

from strapdown.papers.a.experiments import STEPS_MS
from strapdown.papers.a.figures import figures
from strapdown.papers.a.results import Reproduction
from strapdown.papers.outcome import Outcome, Table


def outcome_of(result: Reproduction) -> Outcome:
    """Claims, tables and figures of a reproduction."""
    return Outcome(result.claims, [*_errors(result), *_run_ups(result)], figures(result))


def _errors(result: Reproduction) -> list[Table]:
    """A table for each experiment, the three steps side by side."""
    by_experiment: dict[str, dict[tuple[str, ...], dict[int, tuple[float, float]]]] = {}
    for row in result.errors:
        rows = by_experiment.setdefault(row.experiment, {})
        rows.setdefault((row.sensor, row.phase, row.method), {})[row.step_ms] = (row.acc, row.gyr)
    columns = ["sensor", "phase", "method"]
    columns += [f"{name}, {s} ms, {unit}" for name, unit in (("acc", "m/s2"), ("gyr", "rad/s")) for s in STEPS_MS]
    return [
        Table(
            f"{experiment}, largest error by step: accelerometer (acc), gyroscope (gyr; exact with a proof mass)",
            columns,
            [[*key, *(f"{value[step][i]:.3g}" for i in range(2) for step in STEPS_MS)] for key, value in rows.items()],
            left=3,
        )
        for experiment, rows in by_experiment.items()
    ]


def _run_ups(result: Reproduction) -> list[Table]:
    if not result.run_ups:
        return []
    columns = ["case", "step, ms", "method", "analytic, s", "error of line fit, s", "error of first sample, s"]
    rows = [
        [
            *(str(r.case), str(r.step_ms), r.method, f"{r.analytic_s:.6f}"),
            *(f"{x:.3g}" for x in (r.line_error_s, r.first_sample_error_s)),
        ]
        for r in result.run_ups
    ]
    return [Table("A-d, run-up time: error of the line fit and of the first sample at speed", columns, rows, left=3)]

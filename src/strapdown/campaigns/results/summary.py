"""What `campaign show`, its report and the studio state of a campaign: one document of plain values, and tables."""

from dataclasses import asdict
from typing import Any

from strapdown.campaigns.definition.space import Cell
from strapdown.campaigns.results.cells import CONFIDENCE, HIGH, Results, Statistic, short_key, shown_value
from strapdown.campaigns.results.comparison import failures, worst_runs
from strapdown.campaigns.results.sensitivity import effects
from strapdown.errors import InputError

Rows = list[list[str]]


def document(results: Results, figure: str | None = None) -> dict[str, Any]:
    """Everything as plain values, for JSON and for the studio. figure: the one that is looked at closely."""
    chosen = results.figure(figure) if results.figures else None
    sensitivity, problem = [], None
    if chosen is not None:
        try:
            sensitivity = [asdict(effect) for effect in effects(results, chosen)]
        except InputError as error:
            problem = str(error)
    status = results.dataset.status()
    return {
        "title": results.plan.title,
        "base": results.plan.kind,
        "folder": str(results.dataset.folder),
        "runs": len(results.table),
        "planned": results.plan.runs,
        "failed": sum(count for _, count, _ in failures(results)),
        "status": status,
        "figures": list(results.figures),
        "figure": chosen,
        "cells": [
            {
                "row": i,
                "cell": cell.name,
                "settings": {key: _plain(value) for key, value in cell.settings.items()},
                "runs": results.runs(cell),
                "failed": results.failed(cell),
                "figures": {name: results.statistic(name, cell).numbers() for name in results.figures},
                "words": {name: counted(results, name, cell) for name in results.words},
            }
            for i, cell in enumerate(results.cells, start=1)
        ],
        "sensitivity": sensitivity,
        "sensitivity_problem": problem,
        "failures": [{"cause": cause, "runs": count, "key": key} for cause, count, key in failures(results)],
        "worst": [] if chosen is None else [{"key": key, "value": value} for key, value in worst_runs(results, chosen)],
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else shown_value(value)


def counted(results: Results, word: str, cell: Cell) -> dict[str, int]:
    """How often each word stands in a column."""
    cells, words = (results.table.column(name).to_pylist() for name in ("cell", word))
    found: dict[str, int] = {}
    for name, value in zip(cells, words, strict=True):
        if name == cell.name and value is not None:
            found[value] = found.get(value, 0) + 1
    return dict(sorted(found.items()))


def mean_text(found: Statistic) -> str:
    """Mean and its interval; a share in %."""
    if not found.runs:
        return "-"
    low, high = found.interval
    if found.flag:
        return f"{100 * found.mean:.3g} % ({100 * low:.3g} to {100 * high:.3g})"
    return f"{found.mean:.4g}" if found.runs < 2 else f"{found.mean:.4g} ± {0.5 * (high - low):.2g}"


def high_text(found: Statistic) -> str:
    return "-" if not found.runs or found.flag else f"{found.high:.4g}"


def _heads(results: Results) -> list[str]:
    """Names of the settings above their columns: the last words of the keys, where these differ."""
    short = [short_key(key) for key in results.varied]
    return short if len(set(short)) == len(short) else list(results.varied)


def mean_rows(results: Results) -> tuple[list[str], Rows]:
    """Head and rows: a row for each cell, a column for each figure."""
    head = ["row", *_heads(results), "runs", "failed", *results.figures]
    return head, [
        [
            str(i),
            *(shown_value(cell.settings[key]) for key in results.varied),
            str(results.runs(cell)),
            str(results.failed(cell)),
            *(mean_text(results.statistic(name, cell)) for name in results.figures),
        ]
        for i, cell in enumerate(results.cells, start=1)
    ]


def high_rows(results: Results) -> tuple[list[str], Rows]:
    numbers = [name for name in results.figures if not results.is_flag(name)]
    head = ["row", *_heads(results), *numbers]
    return head, [
        [
            str(i),
            *(shown_value(cell.settings[key]) for key in results.varied),
            *(high_text(results.statistic(name, cell)) for name in numbers),
        ]
        for i, cell in enumerate(results.cells, start=1)
    ]


def close_rows(results: Results, figure: str) -> tuple[list[str], Rows]:
    """One figure in full."""
    head = ["row", *_heads(results), "runs", "mean", "median", f"{100 * HIGH:g} %", "its interval", "largest"]
    rows = []
    for i, cell in enumerate(results.cells, start=1):
        found = results.statistic(figure, cell)
        low, high = found.high_interval
        rows.append(
            [
                str(i),
                *(shown_value(cell.settings[key]) for key in results.varied),
                str(found.runs),
                mean_text(found),
                f"{found.median:.4g}",
                high_text(found),
                "-" if found.flag else f"{low:.3g} to {high:.3g}",
                f"{found.largest:.4g}",
            ]
        )
    return head, rows


def effect_rows(results: Results, figure: str) -> tuple[list[str], Rows]:
    found = effects(results, figure)

    def text(value: float | None, half: float | None) -> str:
        if value is None:
            return "-"
        return f"{value:.2f}" if half is None else f"{value:.2f} ± {half:.2f}"

    names = {"sobol": "first Sobol index", "rank": "rank correlation", "variance": "share of variance"}
    rows = [[e.factor, names[e.kind], text(e.first, e.first_half), text(e.total, e.total_half)] for e in found]
    return ["factor", "measure", f"value, {100 * CONFIDENCE:g} % interval", "total Sobol index"], rows

"""The report of a navigation run: one HTML file that needs nothing else, reads on a screen and prints on A4.

Its first page is the table of stops and the path; then errors, attitude, biases, events and conditions. The same
solutions give the same bytes.
"""

import base64
import io
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from os import PathLike
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.errors import InputError
from strapdown.evaluation.evaluate import Evaluation, evaluate_path, solution_and_truth
from strapdown.evaluation.matching import Reference
from strapdown.evaluation.stops import StopPlaces, StopTable, believed_stands, positions, stop_table
from strapdown.evaluation.trajectory import closing_error
from strapdown.io.atomic import whole_file, writable_target
from strapdown.motion.paths.stop_and_go import Stops
from strapdown.navigation.program import Navigated
from strapdown.reporting.comparison_figures import difference_figure, path_3d_figure
from strapdown.reporting.interactive import data_of
from strapdown.reporting.navigation_figures import (
    attitude_figure,
    bias_figure,
    colour_of,
    error_figure,
    innovation_figure,
    stops_figure,
    trajectory_figure,
)
from strapdown.types import Solution

CLIMB = 0.1  # height over width of a path, beyond which it is also drawn in three dimensions
MOST_EVENTS = 60  # shown for each solution
MOST_STOPS = 400  # shown for each solution: more are no reading matter, and the file of the solution has them all
_LONG_TABLE = 27  # rows: beyond it the path stands above the table, so that both begin on the first page
_TALL = 1.6  # height over width of the path's picture: beyond it the picture stands next to the table


def write_report(
    path: str | PathLike[str],
    solutions: Mapping[str, Solution],
    *,
    title: str = "Navigation",
    note: str = "",
    reference: Reference | None = None,
    stops: Stops | StopPlaces | None = None,
    conditions: Mapping[str, Mapping[str, Any]] | None = None,
    more_figures: Mapping[str, Figure] | None = None,
) -> None:
    """Write the report of one or several solutions of the same run; whole or not at all.

    reference and stops: the truth, where it is known. Without it the error columns are only the closing error and the
        filter's own sigma.
    conditions: title -> name -> value, as {"log": {"file": "run.csv", "rate": "100 Hz"}}; each solution's meta and the
        versions are added.
    more_figures: title -> figure, as of a stop detector.
    """
    writable_target(path)  # refused before anything is drawn
    text = report_text(solutions, title, note, reference, stops, conditions or {}, more_figures or {})
    with whole_file(path) as tmp:
        tmp.write_text(text, encoding="utf-8")


def report(
    path: str | PathLike[str],
    *estimates: Solution | Navigated,
    truth: Reference | None = None,
    stops: Stops | StopPlaces | None = None,
    title: str = "Navigation",
) -> None:
    """Write the report of one or several estimates of the same run as one HTML file.

    truth: a Motion, Solution or recorded poses; None: that of the log, where navigate had one.
    """
    solutions: dict[str, Solution] = {}
    navigated: dict[str, Navigated] = {}
    notes: list[str] = []
    for number, estimate in enumerate(estimates, start=1):
        solution, known = solution_and_truth(estimate, truth)
        name = str(solution.meta.get("filter", "estimate"))
        name = name if name not in solutions else f"{name} {number}"
        solutions[name] = solution
        truth = truth if known is None else known
        if isinstance(estimate, Navigated):
            navigated[name] = estimate
            notes += estimate.notes
    write_report(
        path,
        solutions,
        title=title,
        note=" ".join(_sentence(n) for n in dict.fromkeys(notes)),
        reference=truth,
        stops=stops,
        more_figures=navigated_figures(navigated),
    )


def navigated_figures(found: Mapping[str, Navigated]) -> dict[str, Figure]:
    """Additions to a report for results of navigate: innovations of each filter, and the signal of the stop
    detector.
    """
    figures = {f"Innovations of {name}": innovation_figure(n.innovations) for name, n in found.items() if n.innovations}
    for first in list(found.values())[:1]:
        figures["Stops: what the sensor shows"] = stops_figure(first)
    return figures


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")


def report_text(
    solutions: Mapping[str, Solution],
    title: str,
    note: str,
    reference: Reference | None,
    stops: Stops | StopPlaces | None,
    conditions: Mapping[str, Mapping[str, Any]],
    more_figures: Mapping[str, Figure],
) -> str:
    """The HTML of write_report."""
    from jinja2 import Environment, StrictUndefined  # here: commands that write no report start without it

    if not solutions:
        raise InputError("there is no solution to report; give at least one")
    tables, notices = _tables(solutions, stops)
    warnings = [f"{name}: {text}." for name, each in solutions.items() for text in each.meta.get("warnings", ())]
    judged = {} if reference is None else {name: evaluate_path(s, reference) for name, s in solutions.items()}
    path_figure = trajectory_figure(solutions, reference, stops)
    width, height = path_figure.get_size_inches()
    table = _error_stops(tables, solutions) if tables else _own_stops(solutions)
    summary, long_table = _summary(solutions, tables, judged), len(table["rows"]) > _LONG_TABLE
    template = resources.files("strapdown.reporting").joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(
        title=title,
        note=note,
        solutions=[_solution_entry(i, name, s) for i, (name, s) in enumerate(solutions.items())],
        summary=summary,
        notices=notices,
        warnings=warnings,
        stops=table,
        trajectory=_picture("Computed and reference path", "", path_figure),
        beside=height > _TALL * width and len(table["rows"]) > 0 and len(solutions) < 3,
        picture_first=long_table,
        first_picture_mm=_room_for_picture_mm(len(summary), 0 if long_table else len(table["rows"])),
        pictures=list(_pictures(solutions, reference, stops, more_figures)),
        conditions=_conditions(solutions, conditions),
        script=resources.files("strapdown.reporting").joinpath("interactive.js").read_text(encoding="utf-8"),
    )


def _room_for_picture_mm(summary_rows: int, stop_rows: int) -> int:
    """Height for the picture on an A4 page of 271 mm after title and tables, in the print sizes of the template."""
    stops_mm = 18.0 + (3.9 if stop_rows > 18 else 4.4) * (stop_rows + 2) if stop_rows else 0.0
    return round(max(70.0, 271.0 - 26.0 - 4.6 * (summary_rows + 1) - stops_mm))


def _tables(
    solutions: Mapping[str, Solution], stops: Stops | StopPlaces | None
) -> tuple[dict[str, StopTable], list[str]]:
    """The table of each solution; a solution whose stops cannot be matched gets a sentence instead."""
    tables, notices = {}, []
    for name, solution in solutions.items() if stops is not None else ():
        assert stops is not None
        try:
            tables[name] = stop_table(solution, stops)
        except InputError as e:
            notices.append(f"{name}: no table of stops, because {e}.")
    return tables, notices


def _summary(
    solutions: Mapping[str, Solution], tables: Mapping[str, StopTable], judged: Mapping[str, Evaluation]
) -> list[dict[str, Any]]:
    """Rows of figures, a cell for each solution."""
    rows: dict[str, list[str]] = {}
    for i, (name, solution) in enumerate(solutions.items()):
        for what, text in _summary_of(solution, tables.get(name), judged.get(name)):
            rows.setdefault(what, ["–"] * len(solutions))[i] = text
    return [{"what": what, "cells": cells} for what, cells in rows.items()]


def _summary_of(solution: Solution, table: StopTable | None, found: Evaluation | None) -> list[tuple[str, str]]:
    said = []
    if table is not None and table.final.percent is not None:
        said.append(("error at the last stop", f"{_metres(table.final.dr_m)}, {table.final.percent:.2f} % of the path"))
        said.append(
            ("largest error at a stop", f"{table.worst.percent:.2f} % of the way so far, at stop {table.worst.number}")
        )
    if found is not None:
        said.append(
            ("horizontal error, rms / max", f"{_metres(found.horizontal.rms)} / {_metres(found.horizontal.max)}")
        )
        if found.heading_deg is not None:
            said.append(("heading error, rms / max", f"{found.heading_deg.rms:.2f}° / {found.heading_deg.max:.2f}°"))
        if found.inside_3_sigma is not None:
            said.append(("position inside 3σ (99.7 % is right)", f"{100 * found.inside_3_sigma:.1f} %"))
        if found.compared_s < 0.99 * found.estimate_s:
            said.append(("compared with the reference", f"{found.compared_s:.4g} of {found.estimate_s:.4g} s"))
    else:
        closing = closing_error(solution)
        share = "" if closing.percent is None else f", {closing.percent:.2f} % of {closing.path_length_m:.3g} m"
        said.append(("from start to end (0 if the path is closed)", f"{_metres(closing.length_m)}{share}"))
        if "p_n" in solution.sigma:
            sigma = solution.sigma["p_n"][-1]
            said.append(("horizontal σ at the end", _metres(float(np.hypot(sigma[0], sigma[1])))))
    said.append(("stops believed", str(len(believed_stands(solution)))))
    return said


def _metres(x: float) -> str:
    return f"{1000 * x:.1f} mm" if abs(x) < 0.1 else f"{x:.3f} m"


@dataclass(frozen=True)
class _Cell:
    text: str
    kind: str = ""


def _error_stops(tables: Mapping[str, StopTable], solutions: Mapping[str, Solution]) -> dict[str, Any]:
    """Paper C's table; several solutions are side by side."""
    shared, own = ["stop", "L, m"], ["dx, m", "dy, m", "dr, m", "e, %"]
    if len(tables) == 1:
        shared, own = ["stop", "t, s", "L, m", "x, m", "y, m"], own
    elif len(tables) > 3:
        own = own[2:]
    first_table = next(iter(tables.values()))
    heads = first_table.cells()[0]
    printed = {name: table.cells()[1:] for name, table in tables.items()}
    rows, n = [], len(first_table.rows)
    kept = {n - 1, *(table.worst.number for table in tables.values())}  # of a long run: the first, the worst, the last
    for k in sorted({*range(min(n, MOST_STOPS)), *kept}):
        cells = [_Cell(next(iter(printed.values()))[k][heads.index(h)]) for h in shared]
        for name, table in tables.items():
            worst = table.worst.number == k and table.worst.percent is not None
            for j, h in enumerate(own):
                kind = "worst" if worst and h == "e, %" else ""
                cells.append(_Cell(printed[name][k][heads.index(h)], f"from {kind}".strip() if j == 0 else kind))
        rows.append(cells)
    colours = {name: colour_of(i) for i, name in enumerate(solutions)}
    groups = [{"name": name, "colour": colours[name], "columns": len(own)} for name in tables]
    head = [{"text": h, "begins": False} for h in shared]
    head += [{"text": h, "begins": j == 0} for _ in tables for j, h in enumerate(own)]
    return {
        "title": "Errors at the stops",
        "rows": rows,
        "head": head,
        "groups": groups,
        "shared": len(shared),
        "foot": "dx, dy: estimate minus reference, east and north. dr: its length. L: path length so far. "
        f"e = dr / L, of the way so far; the largest is marked.{_cut(n - len(rows))}",
    }


def _cut(left_out: int) -> str:
    return f" {left_out} more stops are not shown." if left_out > 0 else ""


def _own_stops(solutions: Mapping[str, Solution]) -> dict[str, Any]:
    """Stops that each filter reports, with its own sigma, where there is no reference."""
    rows, left_out = [], 0
    for name, solution in solutions.items():
        p_n, sigma, found = positions(solution), solution.sigma.get("p_n"), believed_stands(solution)
        left_out = max(left_out, len(found) - MOST_STOPS)
        for k, (first, last) in enumerate(found[:MOST_STOPS]):
            spread = "" if sigma is None else f"{np.hypot(sigma[last, 0], sigma[last, 1]):.4f}"
            texts = [f"{solution.t[first]:.2f}", f"{solution.t[last]:.2f}", *(f"{x:.4f}" for x in p_n[last]), spread]
            whose = [_Cell(name if k == 0 else "", "text")] if len(solutions) > 1 else []
            rows.append([*whose, _Cell(str(k)), *map(_Cell, texts)])
    head = ["stop", "from, s", "until, s", "x, m", "y, m", "z, m", "σ, m"]
    if len(solutions) > 1:
        head = ["", *head]
    return {
        "title": "Believed stops",
        "rows": rows,
        "head": [{"text": h, "begins": False} for h in head],
        "groups": [],
        "shared": 0,
        "foot": "x east, y north, z up, where the filter stood at the end of the stop. σ: its own standard deviation "
        f"of the horizontal position. No stops are known to compare with.{_cut(left_out)}",
    }


def _solution_entry(i: int, name: str, solution: Solution) -> dict[str, Any]:
    shown = solution.events[:MOST_EVENTS]
    return {
        "name": name,
        "colour": colour_of(i),
        "events": [
            {"start": f"{e.t_s:.2f}", "end": f"{e.until_s:.2f}", "kind": e.kind.replace("_", " "), "text": e.text}
            for e in shown
        ],
        "more_events": len(solution.events) - len(shown),
    }


def _pictures(
    solutions: Mapping[str, Solution],
    reference: Reference | None,
    stops: Stops | StopPlaces | None,
    more_figures: Mapping[str, Figure],
) -> list[dict[str, str | None]]:
    drawn = []
    if reference is not None:
        figure = error_figure(solutions, reference, stops if isinstance(stops, Stops) else None)
        drawn.append(_picture("Error along the path", "Estimate minus reference; grey: the reference's stops.", figure))
    if len(solutions) > 1:
        text = "Each filter minus the first one. Band: 3σ of the difference of two independent estimates."
        drawn.append(_picture("How the filters disagree", text, difference_figure(solutions)))
    if _climbs(solutions):
        drawn.append(_picture("Path in three dimensions", "Equal scales.", path_3d_figure(solutions, reference)))
    text = "Heading clockwise from north, pitch nose up, roll right side down."
    drawn.append(_picture("Attitude", text, attitude_figure(solutions, reference)))
    biases = bias_figure(solutions)
    if biases is not None:
        drawn.append(_picture("Biases", "As the filter estimates them, with its own ±3σ.", biases))
    return [*drawn, *(_picture(title, "", figure) for title, figure in more_figures.items())]


def _climbs(solutions: Mapping[str, Solution]) -> bool:
    """Whether the path is more than a plane. Then the picture from above misses a part of it."""
    spans = [np.ptp(positions(solution), axis=0) for solution in solutions.values()]
    return any(up > CLIMB * max(east, north) for east, north, up in spans)


def _picture(title: str, text: str, figure: Figure) -> dict[str, str | None]:
    """An SVG that is the same in every run, and its curves for the script."""
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "strapdown", "svg.fonttype": "path"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    picture = base64.b64encode(drawn.getvalue()).decode("ascii")
    return {"title": title, "text": text, "alt": title, "data": picture, "curves": data_of(figure)}


def _conditions(solutions: Mapping[str, Solution], conditions: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    versions = {name: metadata.version(name) for name in ("strapdown", "numpy", "numba")}
    parts = {
        **conditions,
        **{f"filter: {name}": {**s.meta, "samples": _samples(s)} for name, s in solutions.items()},
        "versions": {**versions, "Python": platform.python_version()},
    }
    return [{"title": title, "entries": list(_flat(part))} for title, part in parts.items()]


def _samples(solution: Solution) -> str:
    return f"{len(solution)}, {solution.t[0]:.3f} to {solution.t[-1]:.3f} s"


def _flat(values: Mapping[str, Any], before: str = "") -> Sequence[tuple[str, str]]:
    """Nested settings as lines `a.b`, value."""
    lines: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{before}{key}".replace("_", " ")
        lines += _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else [(name, _plain(value))]
    return lines


def _plain(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(_plain(x) for x in value)
    return "none" if value is None else str(value)

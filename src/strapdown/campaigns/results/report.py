"""The report of a campaign: one HTML file with tables and figures."""

import base64
import io
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from strapdown.campaigns.results.cells import CONFIDENCE, HIGH, Results
from strapdown.campaigns.results.comparison import failures, worst_figure, worst_runs
from strapdown.campaigns.results.figures import MOST_CELLS, distribution_figure, effects_figure, map_figure
from strapdown.campaigns.results.sensitivity import effects
from strapdown.campaigns.results.summary import close_rows, effect_rows, high_rows, mean_rows
from strapdown.errors import InputError
from strapdown.io.atomic import whole_file


def pictures(results: Results, figure: str) -> dict[str, Figure]:
    """By their title."""
    found = {f"{figure} by cell": distribution_figure(results, figure)}
    if len(results.cells) > MOST_CELLS:
        found = {f"{figure} by cell, the first {MOST_CELLS} of {len(results.cells)}": found.popitem()[1]}
    over = map_figure(results, figure)
    if over is not None:
        what = "share of runs with its interval, %," if results.is_flag(figure) else "mean"
        found[f"{figure}, {what} over {' and '.join(results.varied[-2:])}"] = over
    try:
        some = effects(results, figure)
    except InputError:
        some = []
    if some:
        found[f"What {figure} depends on"] = effects_figure(some, figure)
    return found


def report_text(results: Results, figure: str | None = None, answer: tuple[str, ...] = (), repeat: str = "") -> str:
    """answer: sentences in front of all tables. repeat: the command that repeats a run, without its key."""
    import jinja2

    chosen = results.figure(figure) if results.figures else None
    tables: list[tuple[str, list[str], list[list[str]]]] = []
    shown: dict[str, Figure] = {}
    notes: list[str] = []
    if chosen is not None:
        tables.append((f"Mean, with its {100 * CONFIDENCE:g} % interval; shares of runs in %", *mean_rows(results)))
        tables.append((f"{100 * HIGH:g} % of the runs are below", *high_rows(results)))
        tables.append((f"{chosen} in full", *close_rows(results, chosen)))
        shown = pictures(results, chosen)
        try:
            head, rows = effect_rows(results, chosen)
            if rows:
                tables.append((f"What {chosen} depends on", head, rows))
        except InputError as error:
            notes.append(str(error))
        worst = [
            [key, f"{value:.4g}", f"{repeat} {key}" if repeat else ""] for key, value in worst_runs(results, chosen)
        ]
        largest = worst_figure(results, chosen)
        tables.append((f"Runs with the largest {largest}", ["key", largest, "to repeat it"], worst))
    failed = [[cause, str(count), key] for cause, count, key in failures(results)]
    if failed:
        tables.append(("Failed runs by cause", ["cause", "runs", "one of them"], failed))
    template = jinja2.Environment(autoescape=True).from_string(
        resources.files("strapdown.campaigns.results").joinpath("report.html.j2").read_text(encoding="utf-8")
    )
    about: dict[str, Any] = results.about
    return template.render(
        title=results.plan.title,
        base=results.plan.kind,
        runs=len(results.table),
        planned=results.plan.runs,
        cells=len(results.cells),
        versions=about["versions"],
        answer=answer,
        notes=notes,
        tables=tables,
        pictures=[(title, encoded(picture)) for title, picture in shown.items()],
    )


def encoded(picture: Figure) -> str:
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=110)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def write_report(
    path: str | PathLike[str],
    results: Results,
    figure: str | None = None,
    answer: tuple[str, ...] = (),
    repeat: str = "",
) -> None:
    text = report_text(results, figure, answer, repeat)
    with whole_file(Path(path)) as tmp:
        tmp.write_text(text, encoding="utf-8")

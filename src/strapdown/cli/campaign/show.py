"""strapdown campaign show: what a campaign found, also while it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strapdown.cli.log import Json

if TYPE_CHECKING:
    from strapdown.campaigns.results.cells import Results


def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that campaign run has made.")],
    figure: Annotated[
        str | None, typer.Option("--figure", metavar="NAME", help="Look at this figure closely; default: the first.")
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="ROW ROW", help="Compare two cells on the same seeds, by row or name."),
    ] = None,
    worst: Annotated[int, typer.Option("--worst", metavar="N", min=0, help="How many of the worst runs to list.")] = 5,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Write the report, with pictures.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tables with confidence intervals, sensitivity, failures and the worst runs of a campaign; a report on demand.

    Example: strapdown campaign show out --figure final_percent -o report.html
    """
    from strapdown.campaigns.results.cells import Results
    from strapdown.campaigns.results.comparison import compare as compared
    from strapdown.campaigns.results.report import write_report
    from strapdown.campaigns.results.summary import document
    from strapdown.cli import screen
    from strapdown.io.atomic import writable_target

    if output is not None:
        writable_target(output)
    results = Results(folder)
    chosen = results.figure(figure) if results.figures else None
    pair = None
    if compare is not None and chosen is not None:
        pair = compared(results, chosen, results.cell(compare[0]), results.cell(compare[1]))
    if output is not None:
        write_report(output, results, figure, repeat=f"strapdown run {folder} --run")
    if as_json:
        found = document(results, figure)
        if pair is not None:
            found["compared"] = {**pair.__dict__, "interval": list(pair.interval)}
        screen.show_json(found | {"report": None if output is None else str(output)})
        return
    if pair is not None:
        print(pair.sentence())
        print(
            f"the second is larger on {100 * pair.larger:.3g} % of the seeds; probability of such a difference by "
            f"chance {pair.chance:.2g} (Wilcoxon)"
        )
    else:
        _tables(results, figure, chosen, worst)
    if output is not None:
        print(f"report: {output}")


def _tables(results: "Results", figure: str | None, chosen: str | None, worst: int) -> None:
    from strapdown.campaigns.results.cells import CONFIDENCE, HIGH
    from strapdown.campaigns.results.comparison import failures, worst_figure, worst_runs
    from strapdown.campaigns.results.summary import close_rows, counted, effect_rows, high_rows, mean_rows
    from strapdown.cli import screen
    from strapdown.errors import InputError

    plan, status = results.plan, results.dataset.status()
    runs = f"{len(results.table)} of {'at most ' if plan.until is not None else ''}{plan.runs} runs"
    going = " (it runs)" if status.get("running") and results.dataset.is_locked() else ""
    keys = 1 + len(results.varied)
    if chosen is None:
        print(f"{plan.title}: {runs}{going}; all failed")
    elif figure is not None:
        head, rows = close_rows(results, chosen)
        screen.show_table(f"{plan.title}: {chosen}; {runs}{going}", head, rows, left=keys)
    else:
        head, rows = mean_rows(results)
        title = f"{plan.title}: mean with its {100 * CONFIDENCE:g} % interval; {runs}{going}"
        screen.show_table(title, head, rows, left=keys, evenly=False)
        head, rows = high_rows(results)
        if len(head) > keys:
            screen.show_table(f"{100 * HIGH:g} % of the runs are below", head, rows, left=keys, evenly=False)
        for word in results.words:
            rows = [
                [str(i), results.shown(cell), ", ".join(f"{w} {n}" for w, n in counted(results, word, cell).items())]
                for i, cell in enumerate(results.cells, start=1)
            ]
            if any(row[2] for row in rows):
                screen.show_table(f"{word}, number of runs", ["row", "cell", word], rows, left=3)
    if chosen is not None:
        try:
            head, rows = effect_rows(results, chosen)
            if rows:
                screen.show_table(f"What {chosen} depends on", head, rows, left=2)
        except InputError as error:
            print(f"note: {error}")
    failed = [[cause, str(count), key] for cause, count, key in failures(results)]
    if failed:
        screen.show_table("Failed runs by cause", ["cause", "runs", "one of them"], failed, left=1)
    if chosen is not None and worst:
        largest, runs_shown = worst_figure(results, chosen), worst_runs(results, chosen, worst)
        if not runs_shown:
            print(f"no run has {largest}")
            return
        what = f"runs with {largest}" if results.is_flag(largest) else f"runs with the largest {largest}"
        print(f"{what}; to repeat one: strapdown run {results.dataset.folder} --run KEY")
        for key, value in runs_shown:
            print(f"  {key}" if results.is_flag(largest) else f"  {key}  {value:.4g}")

"""strapdown evaluate: an estimate next to its truth."""

from pathlib import Path
from typing import Annotated

import typer

from strapdown.cli.log import Json, Sensor


def evaluate(
    estimate: Annotated[Path, typer.Argument(metavar="ESTIMATE", help="A solution, as navigate writes it; or poses.")],
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="A recording with truth, a solution, or poses or positions by time.")
    ],
    sensor: Sensor = None,
    as_json: Json = False,
) -> None:
    """Compare an estimate with its truth: errors of position, path and heading, and consistency.

    Example: strapdown evaluate out/eskf.csv drive.parquet
    """
    from strapdown.cli import screen
    from strapdown.evaluation.evaluate import evaluate_files

    found = evaluate_files(estimate, truth, sensor)
    if as_json:
        screen.show_json({"estimate": str(estimate), "truth": str(truth), **found.numbers()})
        return
    screen.show_table(f"{estimate} against {truth}", ["what", "how much"], [list(row) for row in found.rows()], left=2)
    if found.stops is not None:
        print(found.stops.text())

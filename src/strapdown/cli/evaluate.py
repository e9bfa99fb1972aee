"""strapdown evaluate: an estimate next to its truth."""

from pathlib import Path
from typing import Annotated

import typer

from strapdown.cli.log import Json, Sensor


def evaluate(
    estimate: Annotated[
        Path, typer.Argument(metavar="ESTIMATE", help="A solution, as navigate writes it; or poses, also TUM or KITTI.")
    ],
    truth: Annotated[
        Path,
        typer.Argument(
            metavar="TRUTH",
            help="A recording with truth, a solution, poses or positions by time, or a log with its own estimate.",
        ),
    ],
    sensor: Sensor = None,
    as_json: Json = False,
) -> None:
    """Compare an estimate with its truth: errors of position, path and heading, and consistency.

    Logs of autopilots and robots hold an estimate of their own: it is taken as the truth. Where one of the two has no
    positions, attitudes alone are compared.

    Example: strapdown evaluate out/eskf.csv drive.parquet
    """
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.evaluation.evaluate import evaluate_files
    from strapdown.io.formats import CHOOSE

    try:
        found = evaluate_files(estimate, truth, sensor)
    except InputError as error:
        if CHOOSE not in str(error):
            raise
        how = "with --topic" if str(error).startswith(str(truth)) else "and write it with strapdown convert --topic"
        raise InputError(f"{error}, {how}") from None
    if as_json:
        screen.show_json({"estimate": str(estimate), "truth": str(truth), **found.numbers()})
        return
    head, *rows = found.figure_rows()
    screen.show_table(f"{estimate} against {truth}", head, rows)
    screen.show_table("The same in short", ["what", "how much"], [list(row) for row in found.rows()], left=2)
    if found.stops is not None:
        print(found.stops.text())

"""strapdown choose: which part of the catalogue is enough for a task."""

import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from strapdown.cli.log import Json


def choose(
    error: Annotated[
        str, typer.Option("--error", metavar="E", help="Allowed horizontal error: 0.5m, or 1% of the way.")
    ],
    probability: Annotated[
        float, typer.Option("--probability", metavar="P", help="Share of drives that must keep it.")
    ] = 0.95,
    drive: Annotated[str, typer.Option("--drive", metavar="KIND", help="straight or square.")] = "straight",
    length: Annotated[float, typer.Option("--length", metavar="M", help="Length of the whole drive.")] = 20.0,
    speed: Annotated[float, typer.Option("--speed", metavar="M/S", help="Mean speed between two stops.")] = 0.5,
    without_aiding: Annotated[
        float, typer.Option("--without-aiding", metavar="S", help="Time of driving from one stop to the next.")
    ] = 5.0,
    stop: Annotated[float, typer.Option("--stop", metavar="S", help="Length of each stop.")] = 3.0,
    odometer: Annotated[bool, typer.Option("--odometer", help="With a wheel odometer, scale known to 0.2 %.")] = False,
    temperature: Annotated[
        float, typer.Option("--temperature", metavar="DEGC", help="Of the drive; parts are calibrated at 25 degC.")
    ] = 25.0,
    parts: Annotated[
        str | None, typer.Option("--parts", metavar="A,B", help="Parts to compare; default: the whole catalogue.")
    ] = None,
    efforts: Annotated[
        str | None,
        typer.Option("--efforts", metavar="A,B", help="Of none, rest, positions, full; default: what may help."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", metavar="N", min=2, help="Drives of each part and effort at most; default: enough."),
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", min=0, help="Processes.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that is running.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of campaign, picture and report.")
    ] = Path("choose"),
    as_json: Json = False,
) -> None:
    """State which parts are enough for a drive, with which calibration effort, and what each step of it buys.

    Every part of the catalogue drives many times as another specimen. A cell ends when its answer is certain.

    Example: strapdown choose --error 1% --length 20 --without-aiding 5 --parts MPU-6050,ADIS16470
    """
    from strapdown.campaigns.choose import (
        Answer,
        Task,
        answer_figure,
        campaign_text,
        needed_runs,
        parts_of_catalogue,
        usual_runs,
    )
    from strapdown.campaigns.results.cells import Results
    from strapdown.campaigns.results.report import write_report
    from strapdown.campaigns.running.campaign import prepared, run_prepared
    from strapdown.campaigns.running.scheduler_address import check_scheduler
    from strapdown.cli import screen
    from strapdown.cli.campaign.run import Bar, end_stopped
    from strapdown.io.atomic import whole_file
    from strapdown.reporting.figures import save

    if scheduler is not None:
        check_scheduler(scheduler)
    allowed, percent = _error(error)
    task = Task(allowed, percent, probability, drive, length, speed, without_aiding, stop, odometer, temperature)
    named = parts_of_catalogue() if parts is None else _listed(parts)
    usual = ["none", "rest", "positions", *(["full"] if temperature != 25.0 else [])]
    chosen = usual if efforts is None else _listed(efforts)
    most, needed = usual_runs(probability) if runs is None else runs, needed_runs(probability)
    text = campaign_text(task, named, chosen, most)
    if most < needed:
        print(
            f"note: {most} drives can show that a part is not enough, not that it is: {100 * probability:g} % need "
            f"{needed} drives without a miss",
            file=sys.stderr,
        )
    output.mkdir(parents=True, exist_ok=True)
    file = output / "choose.toml"
    with whole_file(file) as tmp:
        tmp.write_text(text, encoding="utf-8")
    campaign = prepared(file)
    screen.ready(*campaign.kernels)
    bar = Bar()
    count = (os.cpu_count() or 1) if workers is None else workers
    try:
        run_prepared(campaign, output / "campaign", workers=count, scheduler=scheduler, progress=bar.update)
    except KeyboardInterrupt:
        bar.stop()
        end_stopped(output / "campaign")
    finally:
        bar.stop()
    answer = Answer(task, Results(output / "campaign"))
    save(answer_figure(answer), output / "choose.png")
    repeat = f"strapdown run {output / 'campaign'} --run"
    write_report(output / "report.html", answer.results, task.figure, tuple(answer.sentences()), repeat)
    if as_json:
        screen.show_json(
            {
                "task": task.sentence(),
                "answer": answer.sentences(),
                "steps": [step.__dict__ | {"interval": list(step.interval)} for step in answer.steps],
                "picture": str(output / "choose.png"),
                "report": str(output / "report.html"),
            }
        )
        return
    print(task.sentence())
    head, rows = answer.rows()
    screen.show_table("Largest horizontal error by calibration effort; * is enough, ? is open", head, rows)
    for sentence in answer.sentences():
        print(sentence)
    print(f"picture: {output / 'choose.png'}")
    print(f"report: {output / 'report.html'}")


def _error(text: str) -> tuple[float, bool]:
    from strapdown.errors import InputError

    found = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(m|%)\s*", text)
    try:
        return float(found.group(1)), found.group(2) == "%"  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        raise InputError(f'--error is "{text}"; give a number with its unit, 0.5m or 1%') from None


def _listed(text: str) -> list[str]:
    from strapdown.errors import InputError

    found = [each.strip() for each in text.split(",") if each.strip()]
    if not found:
        raise InputError("--parts or --efforts names nothing; give names with commas between them")
    return list(dict.fromkeys(found))

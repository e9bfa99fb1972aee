"""strapdown campaign run: a campaign file in, a data set out."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from strapdown.cli.log import Json

if TYPE_CHECKING:
    from strapdown.campaigns.running.campaign import Prepared
    from strapdown.campaigns.running.runner import Progress


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The campaign file.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder of the results; default: the file's name."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=0, help="Processes; default: one for each core. 0: none but this."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that is running: tcp://host:8786."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the number of runs, their time and disk space.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run all runs of a campaign that are missing. Killed anywhere, the same command goes on where it stopped.

    Example: strapdown campaign run examples/campaigns/which_part.toml -o out
    """
    from strapdown.campaigns.running.campaign import prepared, run_prepared
    from strapdown.campaigns.running.scheduler_address import check_scheduler
    from strapdown.cli import screen
    from strapdown.errors import InputError

    if workers is not None and scheduler is not None:
        raise InputError("--workers is for this computer and --scheduler names another; give one of them")
    if scheduler is not None:
        check_scheduler(scheduler)
    campaign = prepared(file)
    folder = file.with_suffix("") if output is None else output
    screen.ready(*campaign.kernels)
    count = (os.cpu_count() or 1) if workers is None else workers
    if dry_run:
        _dry_run(campaign, folder, max(count, 1), scheduler, as_json)
        return
    bar = Bar()
    began = time.monotonic()
    try:
        table = run_prepared(campaign, folder, workers=count, scheduler=scheduler, progress=bar.update)
    except KeyboardInterrupt:
        bar.stop()
        end_stopped(folder)
    finally:
        bar.stop()
    rows = 0 if table is None else len(table)
    failed = 0 if table is None else rows - table.column("failed").null_count
    if as_json:
        took = time.monotonic() - began
        screen.show_json({"folder": str(folder), "runs": rows, "failed": failed, "seconds": took})
        return
    print(f"{rows} runs in {folder}" + (f", {failed} of them failed" if failed else ""))
    print(f"next: strapdown campaign show {folder}")


def end_stopped(folder: Path) -> NoReturn:
    """After Ctrl-C: what is kept, and the exit code of a program that was stopped."""
    from strapdown.campaigns.running.dataset import Dataset

    rows = Dataset(folder).rows(["key"])
    done = 0 if rows is None else len(rows)
    print(f"strapdown: stopped; {done} runs are kept in {folder}, and the same command goes on", file=sys.stderr)
    sys.exit(130)


class Bar:
    """Runs, rate and time left; on a terminal in one line, else a line each half minute."""

    def __init__(self) -> None:
        from strapdown.cli.screen import told

        self._console = told()
        self._live: Any = None
        self._said = time.monotonic()

    def update(self, now: "Progress") -> None:
        if not self._console.is_terminal:
            if time.monotonic() - self._said > 30.0:
                self._said = time.monotonic()
                self._console.print(text_of(now), soft_wrap=True)
            return
        if self._live is None:
            from rich.live import Live

            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(text_of(now), refresh=True)

    def stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def text_of(now: "Progress") -> str:
    percent = 100.0 * now.done / max(now.total, 1)
    left = "" if now.left_s is None else f", {duration(now.left_s)} left"
    failed = f", {now.failed} failed" if now.failed else ""
    return (
        f"{now.done} of {now.total} runs ({percent:.0f} %), {now.rate:.3g} runs/s, {now.workers} workers{failed}{left}"
    )


def duration(seconds: float) -> str:
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"


def _dry_run(campaign: "Prepared", folder: Path, workers: int, scheduler: str | None, as_json: bool) -> None:
    """Some runs are tried in this process: what they cost is what the others will cost."""
    from strapdown.campaigns.running.forecast import forecast
    from strapdown.cli import screen

    plan, files = campaign.plan, list(campaign.archive.manifest["files"])
    found = forecast(campaign, workers)
    document = {
        "runs": plan.runs,
        "at_most": plan.until is not None,
        "cells": plan.space.count,
        "seconds_of_a_run": found.seconds,
        "cpu_s": plan.runs * found.seconds,
        "time_s": None if scheduler else plan.runs * found.seconds / workers,
        "workers": None if scheduler else workers,
        "disk_bytes": found.disk_bytes,
        "archive_bytes": len(campaign.archive.data),
        "files": files,
        "failed": list(found.failed),
        "folder": str(folder),
    }
    if as_json:
        screen.show_json(document)
        return
    most = "at most " if plan.until is not None else ""
    print(f"runs: {most}{plan.runs} ({plan.space.count} cells, {most}{plan.most} each)")
    print(f"one run: {found.seconds:.3g} s of CPU, measured on {found.tried}")
    if scheduler:
        print(f"all runs: {duration(plan.runs * found.seconds)} of CPU, shared by the workers of {scheduler}")
    else:
        time_s = duration(plan.runs * found.seconds / workers)
        print(f"time: {time_s} with {workers} workers that have a core each, and 5 to 10 s for their start")
    print(f"disk space: about {found.disk_bytes / 1e6:.2g} MB in {folder}")
    print(f"archive: {len(files)} files, {len(campaign.archive.data) / 1e3:.3g} kB")
    for reason in dict.fromkeys(found.failed):
        print(f"warning: a run that was tried failed: {reason}")

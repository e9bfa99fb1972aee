"""strapdown run DIR --run KEY: one run of a campaign again, with all that the campaign did not keep."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.campaigns.bases.navigation import Run
    from strapdown.campaigns.replay import Repeat


def repeat_run(folder: Path, key: str, output: Path | None, as_json: bool) -> None:
    from strapdown.campaigns.replay import repeat
    from strapdown.cli import screen
    from strapdown.io.folder import refuse_folder

    if output is not None:
        refuse_folder(output)
    with repeat(folder, key) as one:
        screen.ready(*one.work.base.kernels)
        if one.plan.kind == "scenario":
            _scenario(one, output, as_json)
        else:
            _navigation(one, output, as_json)


def _scenario(one: "Repeat", output: Path | None, as_json: bool) -> None:
    from strapdown.campaigns.bases.scenario import ScenarioBase, figures_of
    from strapdown.cli.run import show_run, write_run

    base = one.work.base
    assert isinstance(base, ScenarioBase)
    scenario, recorded = base.full_run(one.settings, one.seed)
    written = [] if output is None else write_run(output, recorded)
    show_run(scenario, recorded, None, written, as_json)
    if not as_json:
        _agreement(one, figures_of(scenario, recorded))


def _navigation(one: "Repeat", output: Path | None, as_json: bool) -> None:
    from strapdown.campaigns.bases.navigation import figures_of
    from strapdown.campaigns.bases.recording import RecordingBase
    from strapdown.campaigns.bases.rig import RigBase
    from strapdown.cli import screen

    base = one.work.base
    assert isinstance(base, RigBase | RecordingBase)
    run = base.full_run(one.settings, one.seed)
    figures = figures_of(run)
    written = {} if output is None else _write(output, one, run)
    if as_json:
        document = {"key": one.key, "seed": one.seed, "settings": one.settings, "figures": figures, **written}
        screen.show_json(document | {"differs": one.differs(figures)})
        return
    head, *rows = run.evaluation.figure_rows()
    screen.show_table(f"{one.plan.title}, run {one.key}, seed {one.seed}", head, rows)
    screen.show_table("The same in short", ["what", "how much"], [list(row) for row in run.evaluation.rows()], left=2)
    if run.evaluation.stops is not None:
        print(run.evaluation.stops.text())
    for note in (*run.navigated.notes, *run.navigated.warnings):
        print(f"note: {note}")
    _agreement(one, figures)
    for what, path in written.items():
        print(f"{what}: {path}")


def _write(output: Path, one: "Repeat", run: "Run") -> dict[str, str]:
    from strapdown.cli.navigate.outputs import write_all
    from strapdown.io import write

    name = one.plan.title
    found = write_all(
        output,
        {str(run.navigated.solution.meta.get("filter", "solution")): run.navigated},
        run.truth,
        None,
        Path(f"{one.key}.parquet"),
        f"{run.navigated.facts.gravity:.5f} m/s2, of {name}",
        None,
    )
    log = output / "log.parquet"
    write(log, {"imu": run.log})
    return {**found, "log": str(log)}


def _agreement(one: "Repeat", figures: dict[str, Any]) -> None:
    differs = one.differs(figures)
    if one.row is None:
        print("the campaign has not run this key yet")
    elif differs is None:
        print("all figures are those of the campaign's table")
    else:
        print(f"warning: not as in the campaign's table: {differs}")

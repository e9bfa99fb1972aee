"""strapdown run: a scenario in the closed loop, without a screen."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import Json

if TYPE_CHECKING:
    from strapdown.environment.session.recording.record import SessionRecording
    from strapdown.environment.session.session import Session


def run(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario by its name (--list), or a scenario file; with --run the folder of a campaign.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Seed of all random numbers; default: the scenario's.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for recording, signals and report.")
    ] = None,
    realtime: Annotated[bool, typer.Option("--realtime", help="Run in real time.")] = False,
    blocks: Annotated[
        list[Path] | None,
        typer.Option("--blocks", metavar="FILE.py", help="Python file with blocks of your own; it is run. Repeatable."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--run", metavar="KEY", help="Repeat this run of a campaign; its folder comes first.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the scenarios that come with the package.")] = False,
    as_json: Json = False,
) -> None:
    """Run a vehicle with virtual sensors and its control diagram in a closed loop, and compare estimates with truth.

    Example: strapdown run quadcopter -o flight
    """
    from strapdown.cli import screen
    from strapdown.environment.session.recording.record import recording_of
    from strapdown.environment.session.scenario.file import read_scenario
    from strapdown.errors import InputError

    if show_list:
        _list(as_json)
        return
    if scenario is None:
        raise InputError("name a scenario; strapdown run --list shows those of the package")
    if seed is not None and seed < 0:
        raise InputError(f"--seed is {seed}; give a whole number that is not negative")
    if key is not None:
        from strapdown.cli.campaign.repeat import repeat_run

        if seed is not None or realtime or blocks:
            raise InputError("--run has the seed, pace and blocks of its campaign; leave the other options away")
        repeat_run(Path(scenario), key, output, as_json)
        return
    settings = read_scenario(scenario)
    if output is not None:
        from strapdown.io.folder import refuse_folder

        refuse_folder(output)
    screen.ready(*KERNELS)
    session = _session(scenario, settings, seed, blocks)
    punctual = _run(session, settings.duration_s, realtime)
    if session.stopped and not len(session.body):
        raise InputError(f"the session stopped in its first cycle, nothing was recorded: {session.stopped}")
    recorded, stopped = recording_of(session), session.stopped
    written = [] if output is None else write_run(output, recorded)
    show_run(settings, recorded, punctual, written, as_json)
    if stopped:
        raise InputError(f"the session stopped at {recorded.meta['duration_s']:g} s: {stopped}")


# what a session compiles besides the kernels of motion
KERNELS = (
    *("sensors.live_chain", "sensors.draws", "sensors.chain_supply", "mounts", "environment", "vehicles", "motion"),
    *("orientation.mekf.filter", "navigation.eskf.filter"),
)


def _session(name: str, settings: Any, seed: int | None, blocks: list[Path] | None) -> "Session":
    from strapdown.environment.diagram.kinds import builtin, load_blocks
    from strapdown.environment.session.session import Session
    from strapdown.errors import InputError

    kinds = builtin()
    for file in blocks or ():
        kinds = load_blocks(file, kinds)
    try:
        return Session(settings, seed=seed, kinds=kinds)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _run(session: "Session", duration_s: float, realtime: bool) -> dict[str, float] | None:
    """Run to the end, or until the session stops. The recording is kept, and the reason is reported at the end."""
    from strapdown.cli import screen
    from strapdown.environment.session.pace import run_paced
    from strapdown.environment.session.session import SessionStopped

    punctual = None
    with screen.progress("running", duration_s) as done, suppress(SessionStopped):
        if realtime:
            punctual = run_paced(session, duration_s, each=lambda: done(session.t_s)).figures()
        else:
            session.run(done)
    return punctual


def write_run(output: Path, recorded: "SessionRecording") -> list[str]:
    from strapdown.environment.session.recording.files import write_session
    from strapdown.environment.session.recording.report import session_figures, write_session_report
    from strapdown.io.folder import output_folder
    from strapdown.reporting.figures import save

    with output_folder(output, "run") as new:
        names = write_session(new, recorded)
        for title, figure in session_figures(recorded).items():
            name = f"{title.partition(',')[0].split()[0].lower()}.png"
            save(figure, new / name)
            names.append(name)
        write_session_report(new / "report.html", recorded)
    return [str(output / name) for name in ("report.html", *names)]


def show_run(settings: Any, recorded: "SessionRecording", punctual: Any, written: list[str], as_json: bool) -> None:
    from strapdown.cli import screen
    from strapdown.environment.session.events import sentence
    from strapdown.environment.session.recording.outcome import figures, verdict
    from strapdown.environment.session.recording.report import table_rows

    found = figures(recorded)
    judged = None if settings.expect is None else verdict(found, settings.expect)
    if as_json:
        document = {
            "scenario": recorded.meta["title"],
            "vehicle": recorded.meta["vehicle"],
            "seed": recorded.meta["seed"],
            "figures": found,
            "verdict": judged,
            "expected": None if settings.expect is None else settings.expect.verdict,
            "real_time": punctual,
            "events": recorded.meta["events"],
            "written": written,
        }
        screen.show_json(document)
        return
    rows = [[what, value, unit] for what, value, unit in table_rows(found)]
    title = recorded.meta["title"] or recorded.meta["vehicle"]
    counted = found["counted_from_s"]
    since = "" if counted is None else f"; errors from {counted:g} s on"
    screen.show_table(
        f"{title}, {found['duration_s']:g} s, seed {recorded.meta['seed']}{since}", ["figure", "value", "unit"], rows
    )
    for event in recorded.events:
        if event.kind != "console":
            print(f"{event.t_s:8.3f} s  {sentence(event)}")
    if judged is not None:
        print(f"verdict: {judged} (expected before the run: {settings.expect.verdict})")
    if punctual is not None:
        print(
            f"real time: ended {punctual['end_late_ms']:.2f} ms late; cycles: 99 % within "
            f"{punctual['cycle_p99_ms']:.2f} ms, longest {punctual['cycle_worst_ms']:.2f} ms"
        )
    for name in written:
        print(f"written: {name}")


def _list(as_json: bool) -> None:
    from strapdown.cli import screen
    from strapdown.environment.session.scenario.file import fault_names, read_scenario, scenario_names

    rows = []
    for name in (*scenario_names(), *fault_names()):
        scenario = read_scenario(name)
        rows.append([name, scenario.title, scenario.vehicle, f"{scenario.duration_s:g}"])
    if as_json:
        screen.show_json([dict(zip(("name", "title", "vehicle", "duration_s"), row, strict=True)) for row in rows])
        return
    screen.show_table("Scenarios", ["name", "title", "vehicle", "s"], rows, left=3)

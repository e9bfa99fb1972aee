"""strapdown bridge: a running session, a module or a log in the viewers of others."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from strapdown.bridges.viewer import Viewer

bridge = typer.Typer(
    help="Show a session, a module or a log in Foxglove or Rerun.", no_args_is_help=True, rich_markup_mode="rich"
)

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A scenario (strapdown run --list), a log, or a module: its serial port or tcp://host:port.",
    ),
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", metavar="S", help="Stop after so long; default: at the end, or Ctrl-C.")
]
Factor = Annotated[
    float, typer.Option("--factor", metavar="F", help="Pace of sessions and logs against the clock; 0: no pause.")
]


@bridge.command("foxglove")
def foxglove(
    source: Source,
    listen: Annotated[
        int, typer.Option("--listen", metavar="PORT", help="Port of the websocket on this machine; 0: any free one.")
    ] = 8765,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="OUT.mcap", help="Record what is shown as an MCAP file.")
    ] = None,
    seconds: Seconds = None,
    factor: Factor = 1.0,
) -> None:
    """Serve ROS 2 messages on a websocket that Foxglove opens: Imu, MagneticField, Odometry.

    Example: strapdown bridge foxglove quadcopter --record flight.mcap
    """
    from strapdown.bridges.foxglove_viewer import FoxgloveViewer
    from strapdown.errors import InputError
    from strapdown.io.atomic import refuse_overwriting

    if not 0 <= listen <= 65535:
        raise InputError(f"--listen is {listen}; give a port from 0 to 65535")
    if record is not None and record.suffix != ".mcap":
        raise InputError(f"{record} is no .mcap file; name it like flight.mcap")
    refuse_overwriting((record,), (source,))
    updates = _updates(source, seconds, factor)
    viewer = FoxgloveViewer(listen, record, time.time_ns())
    print(f"open in Foxglove: {viewer.address} (Open connection, Foxglove WebSocket)", flush=True)
    _show(viewer, updates)
    if record is not None:
        print(f"recorded: {record}")


@bridge.command("rerun")
def rerun(
    source: Source,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="OUT.rrd", help="Save as a file that Rerun opens.")
    ] = None,
    connect: Annotated[
        str | None, typer.Option("--connect", metavar="URL", help="Address of a viewer that runs, as rerun+http://...")
    ] = None,
    seconds: Seconds = None,
    factor: Factor = 1.0,
) -> None:
    """Send readings and poses to Rerun: to a viewer that runs (start it with: rerun), or into a file.

    Example: strapdown bridge rerun flight.ulg --save flight.rrd --factor 0
    """
    from strapdown.bridges.rerun_viewer import RerunViewer

    updates = _updates(source, seconds, factor)
    viewer = RerunViewer(save, connect if save is not None or connect is not None else "")
    _show(viewer, updates)
    if save is not None:
        print(f"saved: {save}")


def _updates(source: str, seconds: float | None, factor: float) -> Iterator[Any]:
    """The updates of a log that exists, of a module's port, or of a scenario; refused before a viewer is opened."""
    from strapdown.bridges.feeds import log_updates, module_updates, paced, session_updates
    from strapdown.cli.log import read_contents
    from strapdown.errors import InputError
    from strapdown.io import LOG_SUFFIXES

    if seconds is not None and not 0.0 < seconds < 1e9:
        raise InputError(f"--seconds is {seconds:g}; give a number above 0")
    if not 0.0 <= factor <= 1000.0:
        raise InputError(f"--factor is {factor:g}; give a number from 0 to 1000")
    path = Path(source)
    if source.startswith(("tcp://", "/dev/")) or source.upper().startswith("COM"):
        from strapdown.cli.device.options import BAUD, greeted

        return module_updates(greeted(source, BAUD, (None, None, None, None)), seconds)
    if path.is_dir() or source.lower().endswith(LOG_SUFFIXES) or (path.is_file() and path.suffix != ".toml"):
        return paced(log_updates(read_contents(path, None), seconds), factor)
    from strapdown.cli import screen
    from strapdown.cli.run import KERNELS
    from strapdown.environment.session.scenario.file import read_scenario
    from strapdown.environment.session.session import Session

    settings = read_scenario(source)
    screen.ready(*KERNELS)
    return paced(session_updates(Session(settings), seconds), factor)


def _show(viewer: "Viewer", updates: Iterator[Any]) -> None:
    """Until the source ends or Ctrl-C; what is recorded is complete in either case."""
    count = 0
    try:
        for update in updates:
            viewer.show(update)
            count += 1
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()
    print(f"{count} updates shown")

"""strapdown convert: a log, a solution or the noise of an IMU from one format into another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strapdown.cli.log import Columns, Json, Sensor

if TYPE_CHECKING:
    from strapdown.io.formats import Contents
    from strapdown.io.formats.writers import Writer

_OWN = (".csv", ".csv.gz", ".parquet")
_NOISE = (".yaml", ".yml")
_SOLUTION = "solution"
_BESIDES = ("bias", "sigma", "flags", "events")  # of a solution, besides its path


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A log in any format that look reads, or a solution.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="What to write: .csv, .parquet, .mcap, .bag, .mat, .tum, .kitti, .yaml."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Format of OUT, where its ending states none: ros2, euroc, ..."),
    ] = None,
    sensor: Sensor = None,
    columns: Columns = None,
    as_json: Json = False,
) -> None:
    """Write a log in another format. What OUT cannot hold is stated.

    Trajectories (.tum, .kitti) take the poses of a log or of a solution. An imu.yaml of Kalibr takes the noise of a
    part or of a sensor model.

    Example: strapdown convert flight.ulg flight.mcap
    """
    from strapdown.cli import screen
    from strapdown.cli.kalibr import convert_noise
    from strapdown.io.atomic import refuse_overwriting

    refuse_overwriting((target,), (source, columns))
    if source.suffix.lower() in _NOISE or target.suffix.lower() in _NOISE:
        unheld = list(convert_noise(source, target))
        held = "noise of an IMU"
    else:
        writer = _writer(target, to)
        found = _selected(_read(source, columns), sensor, source)
        unheld = [*_write(writer, target, found), *(each for each in found.notes if found.source == _SOLUTION)]
        held = _summary(found)
    if as_json:
        screen.show_json({"in": str(source), "out": str(target), "read": held, "not_written": unheld})
        return
    print(f"{source}: {held}")
    for each in unheld:
        print(f"note: not written: {each}")
    print(f"written: {target}")


def _writer(target: Path, to: str | None) -> "Writer | None":
    """None for our own formats."""
    from strapdown.errors import InputError
    from strapdown.io.atomic import writable_target
    from strapdown.io.formats.ros.write import refuse_existing
    from strapdown.io.formats.writers import WRITERS, writer_of

    names = ", ".join(each.name for each in WRITERS)
    if to is not None and writer_of(target, to) is None:
        raise InputError(f'--to is "{to}"; valid: {names}; .csv and .parquet are chosen by the ending of OUT')
    found = writer_of(target, to)
    if found is None and not target.name.lower().endswith(_OWN):
        raise InputError(
            f"{target} states no format; end it in .csv, .parquet, .mcap, .bag, .mat, .tum or .kitti, or give --to "
            f"with one of {names}"
        )
    if found is not None and found.folder:
        refuse_existing(target)
    else:
        writable_target(target)
    return found


def _read(source: Path, columns: Path | None) -> "Contents":
    """Recordings and tracks; a solution is a track."""
    from strapdown.cli.log import read_contents
    from strapdown.io.formats import Contents, Track
    from strapdown.io.solutions.file import is_solution, read_solution

    if source.is_file() and is_solution(source):
        solved = read_solution(source)
        track = Track(solved.t, solved.p_n, solved.q_nb, solved.v_n, "solution")
        more = [f"{name} of the solution" for name in _BESIDES if getattr(solved, name)]
        return Contents(_SOLUTION, "", tracks={"solution": track}, notes=tuple(more))
    return read_contents(source, columns)


def _selected(found: "Contents", name: str | None, source: Path) -> "Contents":
    """The sensor or track of that name; all of them without one."""
    from dataclasses import replace

    from strapdown.errors import InputError

    if name is None:
        return found
    wanted = name.strip("/")
    recordings = {key: each for key, each in found.recordings.items() if key.strip("/") == wanted}
    tracks = {key: each for key, each in found.tracks.items() if key.strip("/") == wanted}
    if not recordings and not tracks:
        raise InputError(f"{source} has no {name}; it has {', '.join({**found.recordings, **found.tracks})}")
    return replace(found, recordings=recordings, tracks=tracks)


def _write(writer: "Writer | None", target: Path, found: "Contents") -> list[str]:
    from strapdown.errors import InputError
    from strapdown.io import write
    from strapdown.io.formats import CHOOSE

    if writer is not None:
        try:
            return writer.write(target, found.recordings, found.tracks)
        except InputError as error:
            if CHOOSE not in str(error):
                raise
            raise InputError(f"{error}, with --topic") from None
    if not found.recordings:
        raise InputError(f"the input holds poses and no recording; write it as .tum, .kitti or .mcap, not {target}")
    write(target, found.recordings)
    return [f"track {name}: a .tum or .mcap file holds it" for name in found.tracks]


def _summary(found: "Contents") -> str:
    parts = [f"sensor {name} ({len(each)} samples)" for name, each in found.recordings.items()]
    parts += [f"track {name} ({len(each)} poses)" for name, each in found.tracks.items()]
    return ", ".join(parts)

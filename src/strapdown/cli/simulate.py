"""strapdown simulate: a rig in, recordings out."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from strapdown.environment.rig import Rig


def simulate(
    rig: Annotated[Path, typer.Argument(metavar="RIG.toml", help="The rig file: robot or motion, sensors, program.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="OUT", help="Recording to write: .parquet, .csv or .csv.gz."),
    ],
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Instead of the rig's engine: mujoco, pybullet, drake or coppeliasim."),
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Also draw the signals, into a PNG file next to OUT.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the table.")] = False,
) -> None:
    """Simulate a robot or a motion with virtual sensors; write their readings and the truth.

    Example: strapdown simulate examples/manipulator.toml -o manipulator.parquet --plot
    """
    from strapdown.cli import screen
    from strapdown.engines.catalogue import engine_named
    from strapdown.environment.rig import read_rig
    from strapdown.environment.simulate import simulate as run
    from strapdown.errors import InputError
    from strapdown.io import check_writable, write
    from strapdown.io.atomic import refuse_overwriting, writable_target
    from strapdown.kernels.compiled import ENGINES, ERRORS

    if engine is not None:
        engine_named(engine)
    settings = read_rig(rig, engine)
    check_writable(output)
    picture = _picture(output) if plot else None
    if picture is not None:
        writable_target(picture)
    refuse_overwriting((output, picture), _files_of(settings))
    with_errors = any(sensor.part or sensor.model for sensor in settings.sensor)
    screen.ready(*ENGINES, *(ERRORS if with_errors else ()))
    with (
        screen.warnings_shown() as warned,
        screen.progress("simulating", settings.duration_s or 1.0) as done,
    ):
        try:
            result = run(settings, done)
        except InputError as error:  # it may name a robot file or a field; say also which rig
            raise InputError(f"{rig}: {error}") from None
    write(output, result.recordings)
    if picture is not None:
        from strapdown.reporting.figures import save, signals

        save(signals(result.recordings, rig.stem), picture)
    summary = [_summary(name, recording) for name, recording in result.recordings.items()]
    if as_json:
        screen.show_json(
            {
                "output": str(output),
                "plot": None if picture is None else str(picture),
                "sensors": summary,
                "warnings": warned,
            }
        )
        return
    _show(summary)
    for s in summary:
        if s["clipped_samples"]:
            clipped = f"{s['clipped_samples']} of {s['samples']} samples"
            print(f"note: sensor {s['sensor']} was at the end of its range in {clipped}")
    print(f"recording: {output}")
    if picture is not None:
        print(f"picture:   {picture}")


def _files_of(rig: "Rig") -> "Iterator[Path]":
    """Every file that a rig names: robot and its meshes and pictures, poses, parts, models."""
    import re

    from strapdown.regular_file import whole_bytes

    named = [rig.motion.model_extra.get("file")] if rig.motion is not None and rig.motion.model_extra else []
    for sensor in rig.sensor:
        named += [sensor.part, sensor.magnetometer_part, sensor.model]
    if rig.robot is not None and rig.robot.file is not None:
        named.append(rig.robot.file)
        robot = rig.folder / rig.robot.file
        if robot.is_file():
            text = whole_bytes(robot, "robot file").decode("utf-8", "replace")
            folders = {robot.parent, *(robot.parent / d for d in re.findall(r"dir\s*=\s*[\"']([^\"']+)", text))}
            files = re.findall(r"file(?:name)?\s*=\s*[\"'](?:file:/+|package:/+)?([^\"']+)", text)
            yield from (folder / name for folder in folders for name in files)
    yield from (rig.folder / name for name in named if isinstance(name, str))


def _picture(output: Path) -> Path:
    """OUT with .png in place of its format's suffix."""
    from strapdown.io import FORMATS

    suffix = max((s for s in FORMATS if output.name.lower().endswith(s)), key=len, default="")
    return output.with_name(output.name[: len(output.name) - len(suffix)] + ".png")


def _summary(name: str, recording: Any) -> dict[str, Any]:
    """Readings of a sensor, and their distance from the exact reading; null for an instrument that it does not have."""
    import numpy as np

    from strapdown.evaluation.readings import errors_by_instrument

    meta, errors = recording.meta, errors_by_instrument(recording)

    def largest(values: Any) -> float | None:
        return None if values is None else float(np.abs(values).max())

    return {
        "sensor": name,
        "link": meta["link"],
        "part": meta.get("part") or meta.get("model"),
        "accelerometer_method": meta.get("accelerometer_method"),
        "gyroscope_method": meta.get("gyroscope_method"),
        "rate_hz": meta["rate_hz"],
        "samples": len(recording),
        "largest_acc_m_s2": largest(recording.acc_s),
        "largest_gyr_rad_s": largest(recording.gyr_s),
        "largest_mag_ut": largest(recording.mag_s),
        "largest_acc_error_m_s2": largest(errors.get("acc_s")),
        "largest_gyr_error_rad_s": largest(errors.get("gyr_s")),
        "clipped_samples": None if recording.clipped is None else int(recording.clipped.sum()),
    }


def _show(summary: list[dict[str, Any]]) -> None:
    from strapdown.cli import screen

    numbers = ("largest_acc_m_s2", "largest_acc_error_m_s2", "largest_gyr_rad_s", "largest_gyr_error_rad_s")
    rows = [
        [
            s["sensor"],
            s["link"],
            _kind(s),
            screen.short(s["rate_hz"]),
            str(s["samples"]),
            *(screen.short(s[key]) for key in numbers),
        ]
        for s in summary
    ]
    screen.show_table(
        "Sensors: largest reading and largest error",
        [
            *("sensor", "link", "part, or method of accelerometer / gyroscope", "rate, Hz", "samples"),
            *("acceleration, m/s2", "its error, m/s2", "angular rate, rad/s", "its error, rad/s"),
        ],
        rows,
        left=3,
    )


def _kind(summary: dict[str, Any]) -> str:
    if summary["part"]:
        part = str(summary["part"])
        return Path(part).name if part.lower().endswith((".toml", ".json")) else part
    methods = summary["accelerometer_method"], summary["gyroscope_method"]
    return " / ".join(methods) if all(methods) else "-"

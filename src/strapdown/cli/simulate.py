"""strapdown simulate: a rig in, recordings out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from strapdown.environment.simulate import Simulated


def simulate(
    rig: Annotated[Path, typer.Argument(metavar="RIG.toml", help="The rig file: robot or motion, sensors, program.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="OUT", help="Recording to write: .parquet, .csv or .csv.gz."),
    ],
    plot: Annotated[bool, typer.Option("--plot", help="Also draw the signals, into OUT with .png.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the table.")] = False,
) -> None:
    """Run a robot or a motion with virtual sensors on it and write what they read, with the truth.

    Example: strapdown simulate examples/manipulator.toml -o manipulator.parquet --plot
    """
    from strapdown.cli import screen
    from strapdown.environment.rig import read_rig
    from strapdown.environment.simulate import simulate as run
    from strapdown.errors import InputError
    from strapdown.io import check_writable, write
    from strapdown.io.atomic import writable_target

    settings = read_rig(rig)
    check_writable(output)
    picture = _picture(output) if plot else None
    if picture is not None:
        writable_target(picture)
    screen.ready()
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
        from strapdown.evaluation.figures import save, signals

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
    _show(result, summary)
    print(f"recording: {output}")
    if picture is not None:
        print(f"picture:   {picture}")


def _picture(output: Path) -> Path:
    """OUT with .png in place of its format's suffix."""
    from strapdown.io import FORMATS

    suffix = max((s for s in FORMATS if output.name.lower().endswith(s)), key=len, default="")
    return output.with_name(output.name[: len(output.name) - len(suffix)] + ".png")


def _summary(name: str, recording: Any) -> dict[str, Any]:
    """What a sensor read, and how far that is from the exact reading."""
    import numpy as np

    from strapdown.evaluation.readings import error_against_truth

    acc_error, gyr_error = error_against_truth(recording)
    return {
        "sensor": name,
        "link": recording.meta["link"],
        "accelerometer_method": recording.meta["accelerometer_method"],
        "gyroscope_method": recording.meta["gyroscope_method"],
        "rate_hz": recording.meta["rate_hz"],
        "samples": len(recording),
        "largest_acc_m_s2": float(np.abs(recording.acc_s).max()),
        "largest_gyr_rad_s": float(np.abs(recording.gyr_s).max()),
        "largest_acc_error_m_s2": float(acc_error.max()),
        "largest_gyr_error_rad_s": float(gyr_error.max()),
    }


def _show(result: "Simulated", summary: list[dict[str, Any]]) -> None:
    from strapdown.cli import screen

    rows = [
        [
            s["sensor"],
            s["link"],
            f"{s['accelerometer_method']} / {s['gyroscope_method']}",
            screen.short(s["rate_hz"]),
            str(s["samples"]),
            screen.short(s["largest_acc_m_s2"]),
            screen.short(s["largest_acc_error_m_s2"]),
            screen.short(s["largest_gyr_rad_s"]),
            screen.short(s["largest_gyr_error_rad_s"]),
        ]
        for s in summary
    ]
    screen.show_table(
        "Sensors: largest reading and largest error of the method",
        ["sensor", "link", "accelerometer / gyroscope", "Hz", "samples", "m/s2", "error", "rad/s", "error"],
        rows,
        left=3,
    )

"""strapdown demo: the first full path in a few seconds."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for recordings and pictures.")
    ] = Path("strapdown-demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the tables.")] = False,
) -> None:
    """Put virtual sensors on a manipulator, move it, and compare what they read with what physics demands.

    Example: strapdown demo
    """
    from strapdown.cli import screen
    from strapdown.cli.reproduce import make_folder, show_claims
    from strapdown.evaluation.figures import save
    from strapdown.io import write
    from strapdown.papers.a import reproduce
    from strapdown.papers.a_figures import figures

    make_folder(output)
    screen.ready()
    with screen.progress("manipulator with two sensors", 1.0) as done:
        result = reproduce(["a-a"], done)
    recording = output / "manipulator.parquet"
    write(recording, result.recordings["A-a_10ms"])
    pictures = []
    for name, figure in figures(result).items():
        pictures.append(output / name)
        save(figure, pictures[-1])
    if as_json:
        screen.show_json(
            {
                "claims": [claim.as_dict() for claim in result.claims],
                "recording": str(recording),
                "pictures": [str(p) for p in pictures],
            }
        )
    else:
        rows = {(r.sensor, r.phase, r.method): r for r in result.errors if r.step_ms == 10}
        screen.show_table(
            "Manipulator with sensors D1 (forearm) and D2 (upper arm), 100 Hz: largest error",
            ["sensor", "phase", "method", "accelerometer m/s2", "gyroscope rad/s"],
            [
                [*key, screen.short(r.acc), screen.short(r.gyr)]
                for key, r in rows.items()
                if r.method in ("exact", "paper") and r.phase != "all samples"
            ],
            left=3,
        )
        show_claims(result.claims)
        print(f"recording: {recording}")
        for picture in pictures:
            print(f"picture:   {picture}")
        print("next: strapdown reproduce A, or strapdown simulate examples/manipulator.toml -o arm.csv --plot")
    if not all(claim.holds for claim in result.claims):
        raise typer.Exit(1)

"""Options of navigate that a live module has too."""

from typing import Annotated

import typer

StartHeading = Annotated[
    float | None,
    typer.Option(
        "--heading", metavar="DEG", help="Heading at the start, clockwise from north; default: by the magnetometer."
    ),
]
HeadingSigma = Annotated[float, typer.Option("--heading-sigma", metavar="DEG", help="Standard deviation of --heading.")]
Declination = Annotated[
    float | None, typer.Option("--declination", metavar="DEG", help="Magnetic declination, east positive.")
]
PartOfNoise = Annotated[
    str | None,
    typer.Option("--part", metavar="PART", help="Part of the catalogue whose noise to use; default: the log's own."),
]
Rest = Annotated[
    float | None, typer.Option("--rest", metavar="S", help="Length of the rest at the start, live; default: 8 s.")
]
Mounting = Annotated[
    str | None,
    typer.Option(
        "--mounting",
        metavar="ROLL,PITCH,YAW",
        help="Rotation of the sensor on the body, deg; default: as the log states it.",
    ),
]
Lever = Annotated[
    str | None,
    typer.Option(
        "--lever",
        metavar="X,Y,Z",
        help="Position of the sensor from the body's origin, m; the path is then that of the origin.",
    ),
]

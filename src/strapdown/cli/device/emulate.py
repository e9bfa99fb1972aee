"""strapdown device emulate: a virtual module on a pseudo-terminal or a TCP port."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from strapdown.papers.c.module_feed import ModuleDrive


def emulate(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|RECORDING",
            help="square, straight (paper C), calibration, rest, a scenario of strapdown run, or a recording.",
        ),
    ],
    pty: Annotated[
        bool, typer.Option("--pty", help="Use a pseudo-terminal; default where the system has them.")
    ] = False,
    tcp: Annotated[
        int | None, typer.Option("--tcp", metavar="PORT", help="Use this TCP port of this computer; 0: any free port.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Specimen and noise.")] = 1,
    magnetometer: Annotated[
        str, typer.Option("--magnetometer", metavar="CHIP", help="QMC5883L, HMC5883L, QMC5883P or none.")
    ] = "QMC5883L",
    identity: Annotated[
        str, typer.Option("--identity", metavar="HEX", help="WHO_AM_I of the inertial chip: 0x68; fakes 0x98, 0x70.")
    ] = "0x68",
    encoder: Annotated[bool, typer.Option("--encoder", help="With a wheel encoder (paper C's tests).")] = False,
    ppm: Annotated[float, typer.Option("--ppm", metavar="PPM", help="Error of the module's clock.")] = 0.0,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="KIND=X", help="Bad line: lost=0.01, flipped=0.01, inserted=0.01, burst=500."),
    ] = None,
    pace: Annotated[float, typer.Option("--pace", metavar="X", help="Speed as a multiple of real time.")] = 1.0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write calibration and true stops (paper C's tests)."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End with the motion; default: stay at its last place.")] = False,
) -> None:
    """Emulate the measuring module: programs at the other end cannot distinguish it from the real one.

    The motion begins when a host starts the module. Ctrl-C ends it.

    Example: strapdown device emulate square
    """
    import contextlib
    import os
    from dataclasses import replace

    from strapdown.cli import screen
    from strapdown.cli.device.scenario import emulated
    from strapdown.cli.run import KERNELS
    from strapdown.environment.virtual_module.line_faults import LineFaults
    from strapdown.environment.virtual_module.module import VirtualModule
    from strapdown.environment.virtual_module.served import line_of, serve
    from strapdown.errors import InputError

    if pty and tcp is not None:
        raise InputError("--pty and --tcp are two lines; give one of them")
    if not 0.01 <= pace <= 100.0:
        raise InputError(f"--pace is {pace:g}; give a number from 0.01 to 100")
    if seed < 0:
        raise InputError(f"--seed is {seed}; give a whole number that is not negative")
    try:
        who = int(identity, 0)
    except ValueError:
        who = -1
    if not 0 <= who <= 255:
        raise InputError(f"--identity is {identity}; give a byte, like 0x68")
    if tcp is None and os.name != "posix":
        tcp = 0
    faults = LineFaults.of(fault or [], seed)
    screen.ready("sensors", "devices", "calibration.ellipsoid", *KERNELS)
    with screen.progress("making the motion", 1.0):
        found = emulated(scenario, seed, encoder)
    played = found.played
    lacks = played.make.magnetometer == "none"
    make = replace(
        played.make,
        magnetometer="none" if lacks else magnetometer,
        imu_identity=who,
        clock_ppm=ppm,
        baud=played.make.baud if tcp is None else 0,
    )
    module = VirtualModule(played.feed, make, played.inputs)
    if output is not None:
        if found.drive is None:
            raise InputError(f"-o is for square and straight, whose robots have a calibration; {scenario} has none")
        write_known(output, found.drive, make.serial_number.hex())
    with line_of(tcp) as line:
        print(f"port: {line.name}", flush=True)
        screen.told().print(
            f"next: strapdown device navigate --port {line.name}, or strapdown studio {line.name}; Ctrl-C ends it",
            soft_wrap=True,
        )

        def ended() -> bool:
            return once and played.duration_s is not None and module.time_us >= played.duration_s * 1e6

        with contextlib.suppress(KeyboardInterrupt):
            serve(module, line, until=ended, pace=pace, spoiled=faults)
    status = module.controller
    screen.told().print(f"{status.samples} samples sent, {status.overruns} overruns", soft_wrap=True)


def write_known(folder: Path, drive: "ModuleDrive", serial: str) -> None:
    """calibration.toml of the robot and stops.csv, its true stops, for strapdown navigate --reference."""
    from dataclasses import replace

    from strapdown.calibration.calibration_file import write_calibration
    from strapdown.io import whole_file

    folder.mkdir(parents=True, exist_ok=True)
    write_calibration(folder / "calibration.toml", replace(drive.robot.calibration, specimen=serial))
    with whole_file(folder / "stops.csv") as new:
        rows = "".join(f"{x!r},{y!r}\n" for x, y in drive.stops.p_n[:, :2].tolist())
        new.write_text("x,y\n" + rows, "utf-8")

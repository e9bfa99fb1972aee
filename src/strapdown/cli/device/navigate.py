"""strapdown device navigate: a live module in, the solution out at its rate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.device.options import BAUD, AccRange, Baud, GyrRange, LowPass, Port, Rate, Seconds
from strapdown.cli.log import Gravity, Height, Latitude
from strapdown.cli.navigate.options import (
    Declination,
    HeadingSigma,
    Lever,
    Mounting,
    PartOfNoise,
    Rest,
    StartHeading,
)

if TYPE_CHECKING:
    from strapdown.cli.navigate.live import Known
    from strapdown.devices.protocol.messages import Hello
    from strapdown.navigation.carriers.interface import Carrier


def navigate(
    port: Port = None,
    baud: Baud = BAUD,
    calibration: Annotated[
        Path | None,
        typer.Option(metavar="CAL.toml", help="Apply this calibration; default: the one kept for this module."),
    ] = None,
    part: PartOfNoise = None,
    vehicle: Annotated[
        str, typer.Option(metavar="KIND", help="robot (wheels, flat floor) or free (stops alone).")
    ] = "robot",
    heading: StartHeading = None,
    heading_sigma: HeadingSigma = 1.0,
    declination: Declination = None,
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
    mounting: Mounting = None,
    lever: Lever = None,
    rest: Rest = None,
    rate: Rate = None,
    acc_range: AccRange = None,
    gyr_range: GyrRange = None,
    low_pass: LowPass = None,
    seconds: Seconds = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Record the module meanwhile, into this folder."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON document in each line of standard output: a solution for each sample."),
    ] = False,
) -> None:
    """Navigate a live module: keep it still for the alignment, then drive; Ctrl-C ends it.

    Example: strapdown device navigate --port /dev/ttyUSB0 --heading 0
    """
    import time

    from strapdown.cli import screen
    from strapdown.cli.device.live_run import LiveRun, json_line
    from strapdown.cli.device.options import greeted
    from strapdown.cli.navigate.live import live_navigator
    from strapdown.devices.protocol.units import meta_of
    from strapdown.devices.recorder import Recorder

    screen.ready("navigation", "devices")
    source = greeted(port, baud, (rate, acc_range, gyr_range, low_pass))
    recorder = None
    try:
        hello = source.stream.hello
        assert hello is not None and source.hello_frame is not None
        known, carrier = known_of(
            hello, calibration, part, vehicle,
            (heading, heading_sigma, declination or 0.0), (latitude, height, gravity), (mounting, lever),
        )  # fmt: skip
        for text in warnings_of(hello, known):
            screen.told().print(f"warning: {text}", soft_wrap=True, markup=False)
        navigator = live_navigator(carrier, known, meta_of(hello), rest)
        run = LiveRun(source, navigator, (lambda solution: print(json_line(solution))) if as_json else lambda s: None)
        if output is not None:
            kept = recorder = Recorder(output, source.stream)
            recorder.put(source.hello_frame, time.monotonic())
            source.heard = lambda frame, now: kept.put(frame, now, source.decoder.bad)
        run.run(lambda: run.meter.over(seconds), as_json)
        told = screen.told()
        for note in navigator.notes:
            told.print(f"note: {note}", soft_wrap=True, markup=False)
        told.print(run.summary(), soft_wrap=True, markup=False)
        if not as_json and run.solution is not None:
            print(run.line())
    finally:
        if recorder is not None:
            recorder.close()
            for path in recorder.files:
                screen.told().print(f"file: {path}", soft_wrap=True, markup=False)
        source.close()


def known_of(
    hello: "Hello",
    calibration: Path | None,
    part: str | None,
    vehicle: str,
    headings: tuple[float | None, float, float],
    place: tuple[float | None, float, float | None],
    mount: tuple[str | None, str | None],
) -> "tuple[Known, Carrier]":
    """The options as `strapdown navigate --live` takes them."""
    import math

    import numpy as np

    from strapdown.calibration.calibration_file import read_calibration
    from strapdown.cli.log import gravity_at
    from strapdown.cli.navigate.inputs import three_numbers
    from strapdown.cli.navigate.live import Known
    from strapdown.devices.home import calibration_file
    from strapdown.devices.protocol.units import meta_of
    from strapdown.errors import InputError
    from strapdown.navigation.carriers.by_name import carrier_named
    from strapdown.navigation.carriers.wheeled_robot import (
        FARTHEST_LEVER_M,
        GIVEN_LEVER_M,
        UNKNOWN_LEVER_M,
        WheeledRobot,
    )
    from strapdown.navigation.start_at_rest import Heading
    from strapdown.rotation import IDENTITY, q_from_euler
    from strapdown.types import Recording

    if vehicle not in ("robot", "free"):
        raise InputError(f'vehicle "{vehicle}" cannot be navigated live; valid: robot, free')
    heading, heading_sigma, declination = headings
    for option, degrees, most in (("--declination", declination, 180.0), ("--heading", heading, 360.0)):
        if degrees is not None and not abs(degrees) <= most:
            raise InputError(f"{option} is {degrees:g} deg; give a number from {-most:g} to {most:g}")
    if not 0.0 <= heading_sigma <= 180.0:
        raise InputError(f"--heading-sigma is {heading_sigma:g} deg; give a number from 0 to 180")
    mounting, lever = mount
    r_bs_b = (0.0, 0.0, 0.0) if lever is None else three_numbers("--lever", lever, "X,Y,Z in m", FARTHEST_LEVER_M)
    q_bs: tuple[float, ...] = tuple(IDENTITY.tolist())
    if mounting is not None:
        degrees3 = three_numbers("--mounting", mounting, "ROLL,PITCH,YAW in degrees", 360.0)
        q_bs = tuple(q_from_euler(*np.radians(degrees3)).tolist())
    path = calibration or (calibration_file(hello.serial) if calibration_file(hello.serial).is_file() else None)
    found = None if path is None else read_calibration(path)
    if found is not None and found.specimen is not None and found.specimen != hello.serial:
        raise InputError(
            f"{path} was made for module {found.specimen}, and {hello.serial} is on the line; calibrate this one"
        )
    latitude, height, gravity = place
    local, _ = gravity_at(Recording(np.zeros(1), meta=meta_of(hello)), latitude, height, gravity)
    robot = WheeledRobot(
        Heading(None if heading is None else math.radians(90.0 - heading), math.radians(heading_sigma)),
        lever_sigma_m=UNKNOWN_LEVER_M if lever is None else GIVEN_LEVER_M,
    )
    known = Known(part, local, math.radians(declination), q_bs, r_bs_b, found)
    return known, carrier_named(vehicle, robot, None)


def warnings_of(hello: Any, known: "Known") -> list[str]:
    """Warnings for the user about this module before it is used."""
    from strapdown.devices.chips.found import inertial_name, magnetometer_name

    found = [inertial_name(hello.imu_chip, hello.imu_identity)[1]]
    if hello.mag_per_gauss == 0:
        found.append(magnetometer_name(hello.mag_chip, hello.mag_identity)[1])
    if known.calibration is None:
        found.append("the module is not calibrated; run strapdown device calibrate first for a better solution")
    return [text for text in found if text is not None]

"""strapdown device demo: a virtual module and live navigation together, one command."""

from pathlib import Path
from typing import Annotated

import typer

from strapdown.cli.log import Json

_SEED = 1
_PICTURE_AT = 0.7  # of the drive


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for recording, calibration and true stops.")
    ] = Path("strapdown-device-demo"),
    pace: Annotated[float, typer.Option("--pace", metavar="X", help="Speed as a multiple of real time.")] = 4.0,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE.svg", help="Save the terminal view as a picture.")
    ] = None,
    as_json: Json = False,
) -> None:
    """A virtual module drives paper C's square on a pseudo-terminal; it is recorded and navigated live.

    Example: strapdown device demo
    """
    import math
    import os
    import threading
    import time

    from strapdown.cli import screen
    from strapdown.cli.device.emulate import write_known
    from strapdown.cli.device.live_run import LiveRun
    from strapdown.cli.device.scenario import emulated
    from strapdown.cli.device.session import figures
    from strapdown.cli.device.view import save_view
    from strapdown.cli.navigate.live import Known, live_navigator
    from strapdown.devices.link import Link
    from strapdown.devices.protocol.messages import Settings
    from strapdown.devices.protocol.units import meta_of
    from strapdown.devices.recorder import Recorder
    from strapdown.devices.source import ModuleSource
    from strapdown.environment.virtual_module.module import VirtualModule
    from strapdown.environment.virtual_module.served import line_of, serve
    from strapdown.errors import InputError
    from strapdown.evaluation.stops import stop_table
    from strapdown.io.folder import refuse_folder
    from strapdown.navigation.carriers.wheeled_robot import GIVEN_LEVER_M, WheeledRobot
    from strapdown.navigation.live_program import LiveSolution, solution_of
    from strapdown.navigation.start_at_rest import Heading
    from strapdown.papers.c.module_feed import ACC_RANGE, LOW_PASS
    from strapdown.papers.c.robot import DECLINATION, G

    if not 0.1 <= pace <= 20.0:
        raise InputError(f"--pace is {pace:g}; give a number from 0.1 to 20")
    refuse_folder(output, ["calibration.toml", "stops.csv"])
    if picture is not None:
        picture.unlink(missing_ok=True)
    if picture is not None and picture.suffix != ".svg":
        raise InputError(f"{picture} is not an .svg file; name the picture like view.svg")
    screen.ready("sensors", "navigation", "devices", "calibration.ellipsoid")
    with screen.progress("making a virtual robot, its errors and its motion", 1.0):
        found = emulated("square", _SEED)
    drive, played = found.drive, found.played
    module = VirtualModule(played.feed, played.make, played.inputs)
    write_known(output, drive, played.make.serial_number.hex())
    over = threading.Event()
    solutions: list[LiveSolution] = []
    with line_of(None if os.name == "posix" else 0) as line:
        thread = threading.Thread(
            target=serve, args=(module, line), kwargs={"until": over.is_set, "pace": pace}, daemon=True
        )
        thread.start()
        source = ModuleSource(Link(line.name), Settings(acc_range=ACC_RANGE, low_pass=LOW_PASS))
        recorder = None
        try:
            hello = source.greet()
            heading = Heading(drive.path.start_yaw_rad, 0.0)
            known = Known(None, G, DECLINATION, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), drive.robot.calibration)
            carrier = WheeledRobot(heading, lever_sigma_m=GIVEN_LEVER_M)
            navigator = live_navigator(carrier, known, meta_of(hello))
            run = LiveRun(source, navigator, solutions.append, pace)
            kept = recorder = Recorder(output, source.stream)
            assert source.hello_frame is not None
            recorder.put(source.hello_frame, time.monotonic())
            source.heard = lambda frame, now: kept.put(frame, now, source.decoder.bad)
            end_s, picture_s = drive.path.duration_s - 0.05, _PICTURE_AT * drive.path.duration_s

            def at_end() -> bool:
                if picture is not None and not picture.exists() and source.stream.t_s >= picture_s:
                    save_view(picture, run.view())
                return source.stream.t_s >= end_s

            run.run(at_end, as_json)
        finally:
            if recorder is not None:
                recorder.close()
            source.close()
            over.set()
            thread.join(2.0)
    if not solutions:
        raise InputError("the demo was stopped before the module was aligned; let it run for its 20 s")
    table = stop_table(solution_of(solutions, navigator), drive.stops)
    file = recorder.files[0]
    if as_json:
        final, worst = table.final.percent, table.worst.percent
        screen.show_json({**figures(source), "final_percent": final, "largest_percent": worst, "file": str(file)})
        return
    print("error at every stop, live solution")
    print(table.text())
    print(run.summary() if pace == 1.0 else run.summary().partition(";")[0])
    declination = f"{math.degrees(DECLINATION):.6g}"
    known_options = f"--heading 0 --heading-sigma 0 --lever 0,0,0 --gravity {G:g} --declination {declination}"
    more = f"--calibration {output / 'calibration.toml'} --reference {output / 'stops.csv'}"
    print(f"recorded: {file}")
    print(f"next: strapdown navigate {file} {more} {known_options}")

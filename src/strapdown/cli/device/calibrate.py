"""strapdown device calibrate: guided, in the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.device.options import BAUD, AccRange, Baud, GyrRange, LowPass, Port, Rate, Seconds
from strapdown.cli.log import Gravity, Height, Json, Latitude, Longitude, Strength, Year

if TYPE_CHECKING:
    from strapdown.calibration.guide import Guide
    from strapdown.devices.source import ModuleSource

_MOST_S = 900.0


def calibrate(
    port: Port = None,
    baud: Baud = BAUD,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="CAL.toml", help="Write it here; default: kept for this module."),
    ] = None,
    seconds: Seconds = None,
    latitude: Latitude = None,
    longitude: Longitude = None,
    height: Height = 0.0,
    year: Year = None,
    field: Strength = None,
    gravity: Gravity = None,
    rate: Rate = None,
    acc_range: AccRange = None,
    gyr_range: GyrRange = None,
    low_pass: LowPass = None,
    as_json: Json = False,
) -> None:
    """Calibrate a module by hand, guided: put it on its six faces, then turn it in all directions.

    The calibration carries the module's serial number and is used by device navigate from then on.

    Example: strapdown device calibrate --port /dev/ttyUSB0 --latitude 55.7 --longitude 37.6
    """
    import numpy as np

    from strapdown.calibration.calibration_file import write_calibration
    from strapdown.calibration.guide import Guide
    from strapdown.cli import screen
    from strapdown.cli.calibrate.show import as_document, show
    from strapdown.cli.device.options import greeted
    from strapdown.cli.log import field_at, gravity_at
    from strapdown.devices.home import calibration_file
    from strapdown.devices.protocol.units import meta_of
    from strapdown.errors import InputError
    from strapdown.io.atomic import writable_target
    from strapdown.types import Recording

    if output is not None:
        if output.suffix != ".toml":
            raise InputError(f"{output} is not a .toml file; name the calibration like cal.toml")
        writable_target(output)
    screen.ready("calibration", "devices")
    source = greeted(port, baud, (rate, acc_range, gyr_range, low_pass))
    try:
        hello = source.stream.hello
        assert hello is not None
        meta = meta_of(hello)
        about = Recording(np.zeros(1), meta=meta)
        local, origin = gravity_at(about, latitude, height, gravity)
        strength, dip = field_at(about, latitude, longitude, height, year, field)
        guide = Guide(float(hello.rate_hz), meta, bool(hello.mag_per_gauss))
        source.start()
        _guided(source, guide, _MOST_S if seconds is None else seconds)
        source.stop()
    finally:
        source.close()
    with screen.warnings_shown() as warned:
        found = guide.calibration(local, strength, dip)
    whole = found.of_specimen(meta.get("part"), hello.serial)
    path = output or calibration_file(hello.serial)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_calibration(path, whole)
    if as_json:
        screen.show_json({"module": hello.serial, **as_document(whole), "output": str(path), "warnings": warned})
        return
    show(whole)
    print(f"gravity: {local:.5f} m/s2, {origin}")
    print(f"calibration: {path}")


def _guided(source: "ModuleSource", guide: "Guide", most_s: float) -> None:
    """Guide the user until both steps are done; instructions are shown on standard error."""
    import time

    from rich.live import Live

    from strapdown.cli import screen
    from strapdown.errors import InputError

    told, began, hint = screen.told(), time.monotonic(), ""
    live = (
        Live(console=told, refresh_per_second=4.0, get_renderable=lambda: _shown(guide)) if told.is_terminal else None
    )
    try:
        if live is not None:
            live.start()
        while True:
            for stamped in source.poll():
                guide.put(stamped.sample)
            now = guide.progress()
            if live is None and now.hint != hint:
                hint = now.hint
                told.print(hint, soft_wrap=True)
            if now.done:
                return
            if time.monotonic() - began > most_s:
                raise InputError(f"the calibration is not complete after {most_s:.0f} s: {now.hint}")
    finally:
        if live is not None:
            live.stop()


def _shown(guide: "Guide") -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from strapdown.calibration.guide import ENOUGH, HOLD_S

    now = guide.progress()
    table = Table(box=None, show_header=False, padding=(0, 1))
    for face, held in now.faces.items():
        part = min(held / HOLD_S, 1.0)
        bar = f"{'█' * round(12 * part)}{'░' * (12 - round(12 * part))}"
        table.add_row(
            f"{face} up", Text(bar, style="green" if part >= 1.0 else "yellow"), "done" if part >= 1.0 else ""
        )
    if guide.has_field:
        part = min(now.share / ENOUGH, 1.0)
        bar = f"{'█' * round(12 * part)}{'░' * (12 - round(12 * part))}"
        table.add_row("directions", Text(bar, style="green" if part >= 1.0 else "yellow"), f"{100 * now.share:.0f} %")
    return Panel(Group(table, Text(now.hint, style="bold")), title="calibration", expand=False)

"""strapdown device list: serial ports, the modules that answer on them, and the modules that are known here."""

from typing import Annotated, Any

import typer

from strapdown.cli.device.options import BAUD, Baud
from strapdown.cli.log import Json


def list_devices(
    ask: Annotated[
        bool, typer.Option("--ask", help="Open each port with a known converter and ask for a module.")
    ] = False,
    port: Annotated[str | None, typer.Option("--port", metavar="P", help="Ask on this port.")] = None,
    baud: Baud = BAUD,
    as_json: Json = False,
) -> None:
    """List serial ports and known modules; with --ask, who answers: serial number, firmware, chips, settings.

    Example: strapdown device list --ask
    """
    from strapdown.cli import screen
    from strapdown.devices.home import calibration_file, known_modules
    from strapdown.devices.link import ports

    found = ports()
    asked = [port] if port is not None else [p.device for p in found if ask and p.converter is not None]
    answers = {name: _answer(name, baud) for name in asked}
    known = {serial: calibration_file(serial).is_file() for serial in known_modules()}
    if as_json:
        listed = [{"port": p.device, "description": p.description, "converter": p.converter} for p in found]
        screen.show_json({"ports": listed, "answers": answers, "known_modules": known})
        return
    if found:
        rows = [[p.device, p.converter or "-", p.description] for p in found]
        screen.show_table("Serial ports", ["port", "converter", "description"], rows, left=3)
    else:
        print("no serial port was found; plug the module in, or start one with strapdown device emulate square")
    for name, answer in answers.items():
        if "error" in answer:
            print(f"{name}: {answer['error']}")
            continue
        screen.show_table(f"Module on {name}", ["what", "value"], [[k, str(v)] for k, v in answer.items()], left=2)
    for serial, calibrated in known.items():
        print(f"known module {serial}: {'calibrated' if calibrated else 'not calibrated'}")


def _answer(name: str, baud: int) -> dict[str, Any]:
    from strapdown.devices.link import Link
    from strapdown.devices.source import ModuleSource
    from strapdown.errors import InputError

    try:
        link = Link(name, baud)
        try:
            hello = ModuleSource(link).greet()
        finally:
            link.close()
    except InputError as error:
        return {"error": str(error)}
    return described(hello)


def described(hello: Any) -> dict[str, Any]:
    """A hello in words."""
    from strapdown.devices.chips.found import inertial_name, magnetometer_name
    from strapdown.devices.home import calibration_file
    from strapdown.devices.protocol.units import ACC_HZ, ACC_RANGES_G, GYR_RANGES_DPS

    inertial, warning = inertial_name(hello.imu_chip, hello.imu_identity)
    compass, note = magnetometer_name(hello.mag_chip, hello.mag_identity)
    found = {
        "serial number": hello.serial,
        "firmware": ".".join(str(n) for n in hello.firmware),
        "inertial chip": f"{inertial}, at {hello.imu_address:#04x}, WHO_AM_I {hello.imu_identity:#04x}",
        "magnetometer": f"{compass}, at {hello.mag_address:#04x}",
        "ranges": f"{ACC_RANGES_G[hello.acc_range & 3]} g, {GYR_RANGES_DPS[hello.gyr_range & 3]} deg/s",
        "low-pass": f"{ACC_HZ[min(hello.low_pass, 6)]:g} Hz",
        "samples per second": f"{hello.rate_hz}, at most {hello.greatest_rate_hz}",
        "calibration": "yes" if calibration_file(hello.serial).is_file() else "none",
    }
    for text in (warning, note):
        if text is not None:
            found["note" if text is note else "warning"] = text
    return found

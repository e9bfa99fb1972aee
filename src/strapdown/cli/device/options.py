"""Common parts of the device commands: the port, the chips' settings, and the greeting of a module."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from strapdown.devices.protocol.messages import Settings
    from strapdown.devices.source import ModuleSource

Port = Annotated[
    str | None,
    typer.Option(
        "--port", metavar="P", help="Serial port or tcp://host:port; default: the one converter that is there."
    ),
]
Baud = Annotated[int, typer.Option("--baud", metavar="N", help="Baud rate of the line.")]
Rate = Annotated[int | None, typer.Option("--rate", metavar="HZ", help="Samples per second; divides 1000.")]
AccRange = Annotated[int | None, typer.Option("--acc-range", metavar="G", help="2, 4, 8 or 16 g.")]
GyrRange = Annotated[int | None, typer.Option("--gyr-range", metavar="DEG/S", help="250, 500, 1000 or 2000 deg/s.")]
LowPass = Annotated[
    int | None,
    typer.Option("--low-pass", metavar="HZ", help="Low-pass of the accelerometer: 260, 184, 94, 44, 21, 10, 5."),
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", metavar="S", help="Stop after this time of the module's clock; default: at Ctrl-C."),
]
BAUD = 921600
_ACC_G, _GYR_DPS, _LOW_PASS_HZ = (2, 4, 8, 16), (250, 500, 1000, 2000), (260, 184, 94, 44, 21, 10, 5)


def _code(option: str, value: int | None, choices: tuple[int, ...], kept: int) -> int:
    from strapdown.errors import InputError

    if value is None:
        return kept
    if value not in choices:
        raise InputError(f"{option} is {value}; valid: {', '.join(str(c) for c in choices)}")
    return choices.index(value)


def wanted(kept: "Settings", rate: int | None, acc: int | None, gyr: int | None, low_pass: int | None) -> "Settings":
    """Settings from the options; an option that is not given keeps the module's last value."""
    from strapdown.errors import InputError

    if rate is not None and not (4 <= rate <= 1000 and 1000 % rate == 0):
        raise InputError(f"--rate is {rate}; give a divisor of 1000 from 4 to 1000, like 100, 200 or 1000")
    return kept._replace(
        acc_range=_code("--acc-range", acc, _ACC_G, kept.acc_range),
        gyr_range=_code("--gyr-range", gyr, _GYR_DPS, kept.gyr_range),
        low_pass=_code("--low-pass", low_pass, _LOW_PASS_HZ, kept.low_pass),
        rate_hz=kept.rate_hz if rate is None else rate,
    )


def port_or_only(port: str | None) -> str:
    from strapdown.devices.link import ports
    from strapdown.errors import InputError

    if port is not None:
        return port
    found = [each for each in ports() if each.converter is not None]
    if len(found) == 1:
        return found[0].device
    what = "no USB-serial converter was found" if not found else f"there are {', '.join(p.device for p in found)}"
    raise InputError(f"{what}; name the port with --port, or try strapdown device demo")


def greeted(
    port: str | None, baud: int, options: tuple[int | None, int | None, int | None, int | None]
) -> "ModuleSource":
    """The module on the port, set by the options (rate, ranges, low-pass) and by its stored settings; not started."""
    from strapdown.devices.greeting import greeted_module
    from strapdown.devices.protocol.messages import Settings

    wanted(Settings(), *options)  # refuse wrong options before the port is opened
    return greeted_module(port_or_only(port), baud, lambda kept: wanted(kept, *options))

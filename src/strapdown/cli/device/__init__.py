"""strapdown device: the measuring module, real or virtual."""

import typer

from strapdown.cli.device.calibrate import calibrate
from strapdown.cli.device.check import check
from strapdown.cli.device.demo import demo
from strapdown.cli.device.emulate import emulate
from strapdown.cli.device.list_ports import list_devices
from strapdown.cli.device.navigate import navigate
from strapdown.cli.device.record import record

device = typer.Typer(rich_markup_mode="rich", no_args_is_help=True)


@device.callback()
def _group() -> None:
    """The measuring module on a serial line: record, navigate live, calibrate and check it; or emulate one.

    Example: strapdown device demo
    """


device.command("list")(list_devices)
device.command("record")(record)
device.command("navigate")(navigate)
device.command("calibrate")(calibrate)
device.command("check")(check)
device.command("emulate")(emulate)
device.command("demo")(demo)

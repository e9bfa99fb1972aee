"""Sources of an emulated module: paper C's tests, a calibration by hand, a scenario, a recording."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.environment.virtual_module.feeds import Played

OWN = ("square", "straight", "calibration", "rest")


@dataclass
class Emulated:
    """A motion for the module, and its calibration and true stops where they are known."""

    played: "Played"
    drive: Any = None


def emulated(name: str, seed: int, encoder: bool = False) -> Emulated:
    """The motion that the emulated module carries out.

    square, straight: paper C's robots. calibration: put on its faces, then turned by hand. rest: at rest. Any other
    name is a scenario by its name or file, or a recording.
    """
    from strapdown.environment.session.scenario.file import fault_names, read_scenario, scenario_names
    from strapdown.environment.virtual_module.feeds import of_recording, of_scenario
    from strapdown.errors import InputError
    from strapdown.io import LOG_SUFFIXES, read

    if name in ("square", "straight"):
        return _test(name, seed, encoder)
    if name in ("calibration", "rest"):
        return Emulated(_bench(name, seed))
    if name.lower().endswith(LOG_SUFFIXES):
        recordings = read(Path(name))
        return Emulated(of_recording(next(iter(recordings.values()))))
    if name in (*scenario_names(), *fault_names()) or name.lower().endswith(".toml"):
        return Emulated(of_scenario(read_scenario(name), seed))
    known = ", ".join((*OWN, *scenario_names()))
    raise InputError(f'"{name}" is neither a scenario nor a recording; valid: {known}, a .toml file or a recording')


def _test(name: str, seed: int, encoder: bool) -> Emulated:
    from strapdown.environment.virtual_module.feeds import Played
    from strapdown.environment.virtual_module.module import Make
    from strapdown.papers.c.module_feed import TICK_NM, module_drive

    drive = module_drive(name, seed)
    make = Make(serial_number=f"virtual-{seed:04d}".encode()[:12], tick_nm=TICK_NM if encoder else 0)
    return Emulated(Played(drive.feed(), drive.inputs, make, drive.path.duration_s), drive)


def _bench(name: str, seed: int) -> "Played":
    from strapdown.devices.controller import Inputs
    from strapdown.environment.virtual_module.feeds import Played
    from strapdown.environment.virtual_module.module import Make
    from strapdown.papers.c.module_feed import bench_feed

    feed, duration_s = bench_feed(name, seed)
    make = Make(serial_number=f"virtual-{seed:04d}".encode()[:12])
    return Played(feed, lambda t_s: Inputs(), make, duration_s)

"""Virtual modules for the tests: fed by a few rows, or by paper C's square."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from strapdown.devices.chips.feed import Rows
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.frame import Frame, on_the_line
from strapdown.environment.virtual_module.module import Make, VirtualModule
from strapdown.papers.c.module_feed import ACC_RANGE, LOW_PASS, ModuleDrive, module_drive

VECTORS = Path(__file__).parent / "devices" / "protocol_vectors.txt"
SEED = 2000  # of a robot of `reproduce C navigation`


def vectors() -> dict[str, dict[str, object]]:
    """The test vectors by name: values, plain, line, crc."""
    found: dict[str, dict[str, object]] = {}
    name = ""
    for line in VECTORS.read_text().splitlines():
        words = line.split()
        if not words or words[0] == "#" or line.startswith("#"):
            continue
        if words[0] == "vector":
            name = words[1]
            found[name] = {"values": {}}
        elif words[0] == "value":
            found[name]["values"][words[1]] = int(words[2])  # type: ignore[index]
        else:
            found[name][words[0]] = b"" if words[1] == "-" else bytes.fromhex(words[1])
    return found


def noisy_feed(seconds: float = 30.0, seed: int = 0) -> Rows:
    """At rest, level, with white noise, 1000 rows a second."""
    rng, n = np.random.default_rng(seed), int(1000 * seconds)
    t = np.arange(n) / 1000.0
    acc = np.array([0.0, 0.0, 9.80665]) + 0.05 * rng.standard_normal((n, 3))
    gyr = 0.003 * rng.standard_normal((n, 3))
    mag = np.array([20.0, 0.0, -45.0]) + 0.3 * rng.standard_normal((n, 3))
    return Rows(iter([(t, acc, gyr, mag, np.full(n, 25.0))]))


def running(make: Make | None = None, settings: say.Settings | None = None, seconds: float = 30.0) -> VirtualModule:
    """A module at rest that has been started."""
    module = VirtualModule(noisy_feed(seconds), make or Make())
    if settings is not None:
        module.receive(on_the_line(say.set_to(settings)))
    module.receive(on_the_line(say.start()))
    return module


@cache
def square() -> ModuleDrive:
    return module_drive("square", SEED)


@cache
def square_bytes() -> bytes:
    """All that the module sends on paper C's square."""
    one = square()
    module = VirtualModule(one.feed(), Make(), one.inputs)
    module.receive(
        on_the_line(say.set_to(say.Settings(acc_range=ACC_RANGE, low_pass=LOW_PASS))) + on_the_line(say.start())
    )
    return module.run_until(round(one.path.duration_s * 1e6))


def sample_frame(sequence: int, time_us: int, flags: int = 0, acc: tuple[int, int, int] | None = None) -> Frame:
    readings = say.Readings(acc or (sequence % 100, 1, 16384), 0, (1, 2, sequence % 7), (3, 4, 5), flags, 0, 0)
    return Frame(0x02, sequence & 0xFFFF, time_us & 0xFFFFFFFF, readings.packed())


def hello_frame(reason: int = say.ASKED, **changed: object) -> Frame:
    given = say.Hello(reason=reason, imu_chip=1, imu_address=0x68, imu_identity=0x68, mag_chip=1)._replace(**changed)
    return Frame(0x01, 0, 0, given.packed())


@contextmanager
def emulated(*arguments: object) -> Iterator[str]:
    """strapdown device emulate in a process of its own; gives its port."""
    command = [sys.executable, "-m", "strapdown", "device", "emulate", *(str(a) for a in arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert child.stdout is not None
        yield child.stdout.readline().removeprefix("port: ").strip()
    finally:
        child.kill()
        child.wait()

"""make bench: prints every figure with its peer and their ratio.

Usage: python -m benchmarks [NAME ...]        all of them, or those named
"""

import sys
from collections.abc import Callable, Iterable, Iterator

from benchmarks import (
    calibration_magnetometer,
    calibration_positions,
    calibration_temperature,
    campaigns,
    compilation,
    devices,
    diagram,
    navigation,
    orientation,
    rotations,
    sensor_errors,
    session,
    simulation,
    startup,
    studio,
)


def main(names: list[str]) -> None:
    sections: dict[str, Callable[[], Iterable[str]]] = {
        "devices": _devices,
        "rotations": _rotations,
        "simulation": _simulation,
        "sensor_errors": sensor_errors.report,
        "calibration_positions": calibration_positions.report,
        "calibration_magnetometer": calibration_magnetometer.report,
        "calibration_temperature": calibration_temperature.report,
        "orientation": orientation.report,
        "navigation": navigation.report,
        "campaigns": campaigns.report,
        "compilation": compilation.report,
        "diagram": diagram.report,
        "session": session.report,
        "studio": studio.report,
        "startup": _startup,
    }
    unknown = [name for name in names if name not in sections]
    if unknown:
        sys.exit(f"no benchmark is named {unknown[0]}; there are: {', '.join(sections)}")
    for name in names or sections:
        for line in sections[name]():
            print(line)
        print()


def _devices() -> Iterator[str]:
    yield "The measuring module (peer of the decoder: the package cobs)"
    devices.main()


def _rotations() -> Iterator[str]:
    yield "Rotations, arrays of 1e6, CPU time per item (peer: scipy Rotation, which always makes a new array)"
    for name, into, new, scipy in rotations.run():
        yield (
            f"  {name:16s} kernel {into:6.1f} ns   into a new array {new:6.1f} ns   scipy {scipy:7.1f} ns   "
            f"{scipy / into:6.1f} and {scipy / new:6.1f} times as fast   kernel: {_met(scipy / into, rotations.TARGET)}"
        )


def _simulation() -> Iterator[str]:
    yield "Manipulator with 4 sensors at 1 kHz, every reading fresh, with truth (peer: bare loop of mj_step)"
    for integrator, ours, bare, stale in simulation.run():
        ratio = ours / bare
        yield (
            f"  {integrator:12s} {ours:10.0f} samples/s   bare loop {bare:10.0f} steps/s   ratio {ratio:4.2f}   "
            f"{_met(ratio, simulation.TARGET)}   (reading stale values in the loop: {stale:.0f} steps/s)"
        )
    yield ""
    yield "Live plant: a step of 1 ms with commands and one ideal sensor read (peer: bare mj_step, same robot)"
    for integrator, live, bare in simulation.run_live():
        beyond = live - bare
        met = "met" if beyond <= simulation.LIVE_TARGET_US else "MISSED"
        yield (
            f"  {integrator:12s} {live:6.1f} us   bare {bare:6.1f} us   beyond it {beyond:5.1f} us   "
            f"target {simulation.LIVE_TARGET_US:g} us: {met}"
        )


def _startup() -> Iterator[str]:
    yield "Waiting times, CPU seconds of a fresh interpreter"
    for name, seconds in startup.run():
        yield f"  {name:38s} {seconds:6.2f} s"


def _met(ratio: float, target: float) -> str:
    return f"target {target:g}: {'met' if ratio >= target else 'MISSED'}"


if __name__ == "__main__":
    main(sys.argv[1:])

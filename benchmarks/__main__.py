"""make bench: prints every figure with its peer and their ratio."""

from benchmarks import (
    calibration_magnetometer,
    calibration_positions,
    calibration_temperature,
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


def main() -> None:
    print("The measuring module (peer of the decoder: the package cobs)")
    devices.main()

    print("Rotations, arrays of 1e6, CPU time per item (peer: scipy Rotation, which always makes a new array)")
    for name, into, new, scipy in rotations.run():
        print(
            f"  {name:16s} kernel {into:6.1f} ns   into a new array {new:6.1f} ns   scipy {scipy:7.1f} ns   "
            f"{scipy / into:6.1f} and {scipy / new:6.1f} times as fast   kernel: {_met(scipy / into, rotations.TARGET)}"
        )

    print("\nManipulator with 4 sensors at 1 kHz, every reading fresh, with truth (peer: bare loop of mj_step)")
    for integrator, ours, bare, stale in simulation.run():
        ratio = ours / bare
        print(
            f"  {integrator:12s} {ours:10.0f} samples/s   bare loop {bare:10.0f} steps/s   ratio {ratio:4.2f}   "
            f"{_met(ratio, simulation.TARGET)}   (reading stale values in the loop: {stale:.0f} steps/s)"
        )

    print("\nLive plant: a step of 1 ms with commands and one ideal sensor read (peer: bare mj_step, same robot)")
    for integrator, live, bare in simulation.run_live():
        beyond = live - bare
        met = "met" if beyond <= simulation.LIVE_TARGET_US else "MISSED"
        print(
            f"  {integrator:12s} {live:6.1f} us   bare {bare:6.1f} us   beyond it {beyond:5.1f} us   "
            f"target {simulation.LIVE_TARGET_US:g} us: {met}"
        )

    print()
    parts = (
        sensor_errors,
        calibration_positions,
        calibration_magnetometer,
        calibration_temperature,
        orientation,
        navigation,
        compilation,
        diagram,
        session,
        studio,
    )
    for part in parts:
        for line in part.report():
            print(line)
        print()

    print("\nWaiting times, CPU seconds of a fresh interpreter")
    for name, seconds in startup.run():
        print(f"  {name:38s} {seconds:6.2f} s")


def _met(ratio: float, target: float) -> str:
    return f"target {target:g}: {'met' if ratio >= target else 'MISSED'}"


if __name__ == "__main__":
    main()

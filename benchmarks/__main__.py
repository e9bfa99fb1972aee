"""make bench: prints every figure with its peer and their ratio."""

from benchmarks import rotations, simulation, startup


def main() -> None:
    print("Rotation kernels, arrays of 1e6, CPU time per item (peer: scipy Rotation)")
    for name, ours, scipy in rotations.run():
        ratio = scipy / ours
        print(
            f"  {name:16s} {ours:8.1f} ns   scipy {scipy:8.1f} ns   {ratio:5.1f} times as fast   {_met(ratio, rotations.TARGET)}"
        )

    print(
        "\nManipulator with 4 sensors at 1 kHz, every reading fresh, with truth (peer: bare loop of mj_step, no sensors)"
    )
    for integrator, ours, bare, stale in simulation.run():
        ratio = ours / bare
        print(
            f"  {integrator:12s} {ours:10.0f} samples/s   bare loop {bare:10.0f} steps/s   ratio {ratio:4.2f}   "
            f"{_met(ratio, simulation.TARGET)}   (reading stale values in the loop: {stale:.0f} steps/s)"
        )

    print("\nWaiting times, CPU seconds of a fresh interpreter")
    for name, seconds in startup.run():
        print(f"  {name:38s} {seconds:6.2f} s")


def _met(ratio: float, target: float) -> str:
    return f"target {target:g}: {'met' if ratio >= target else 'MISSED'}"


if __name__ == "__main__":
    main()

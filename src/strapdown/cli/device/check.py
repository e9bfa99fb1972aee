"""strapdown device check: finds a bad or fake part."""

from typing import TYPE_CHECKING, Any

import typer

from strapdown.cli.device.options import BAUD, AccRange, Baud, GyrRange, LowPass, Port, Rate
from strapdown.cli.log import Gravity, Height, Json, Latitude

if TYPE_CHECKING:
    from strapdown.devices.source import ModuleSource
    from strapdown.types import Recording

_CHECK_S = 10.0


def check(
    port: Port = None,
    baud: Baud = BAUD,
    seconds: float = typer.Option(_CHECK_S, "--seconds", metavar="S", help="Length of the rest that is examined."),
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
    rate: Rate = None,
    acc_range: AccRange = None,
    gyr_range: GyrRange = None,
    low_pass: LowPass = None,
    as_json: Json = False,
) -> None:
    """Check a module that is at rest: identity, noise against the data sheet, rest reading, regular sampling.

    Exit code 1 if something is bad.

    Example: strapdown device check --port /dev/ttyUSB0
    """
    from strapdown.cli import screen
    from strapdown.cli.device.options import greeted
    from strapdown.cli.device.session import figures, sentence
    from strapdown.cli.log import gravity_at
    from strapdown.devices.chips.found import inertial_name, magnetometer_name
    from strapdown.errors import InputError
    from strapdown.recordings.facts import noise_of_part, part_named
    from strapdown.recordings.part_check import BAD, GOOD, STILLNESS, SUSPECT, Checked, check_part

    if not 3.0 <= seconds <= 3600.0:
        raise InputError(f"--seconds is {seconds:g}; give 3 to 3600")
    source = greeted(port, baud, (rate, acc_range, gyr_range, low_pass))
    try:
        with screen.progress("listening, keep the module still", seconds) as done:
            recording = _listened(source, seconds, done)
        source.stop()
    finally:
        source.close()
    hello, counts = source.stream.hello, source.stream.counts
    assert hello is not None
    name, warning = inertial_name(hello.imu_chip, hello.imu_identity)
    compass, note = magnetometer_name(hello.mag_chip, hello.mag_identity)
    rows = [
        Checked(
            "inertial chip", f"{name} ({hello.imu_identity:#04x})", "MPU-6050 (0x68)", GOOD if warning is None else BAD
        ),
        Checked("magnetometer", compass, "QMC5883L or HMC5883L", GOOD if hello.mag_per_gauss else SUSPECT),
    ]
    named, noise = noise_of_part(recording)
    local, _ = gravity_at(recording, latitude, height, gravity)
    rows += check_part(recording, part_named(named), noise or {}, local)
    errors = 0 if source.stream.status is None else source.stream.status.i2c_errors
    rows.append(
        Checked(
            "line",
            f"{source.decoder.bad} bad frames, {errors} I2C errors",
            "none",
            GOOD if not source.decoder.bad + errors else SUSPECT,
        )
    )
    if counts.silent or counts.frozen:
        rows.append(Checked("answers", f"{counts.silent} silent, {counts.frozen} repeated", "none", BAD))
    worst = max((row.verdict for row in rows), key=(GOOD, SUSPECT, BAD).index)
    notes = [text for text in (warning, note) if text is not None]
    if any(row.what == STILLNESS and row.verdict != GOOD for row in rows):
        notes.append("the module moved while it was checked; put it down, take the hand off and check again")
    if as_json:
        screen.show_json({**figures(source), "verdict": worst, "checks": [vars(row) for row in rows], "notes": notes})
    else:
        table = [[row.what, row.measured, row.allowed, row.verdict] for row in rows]
        screen.show_table(f"Module {hello.serial}", ["what", "measured", "expected", "verdict"], table, left=4)
        for text in notes:
            print(f"note: {text}")
        print(sentence(figures(source)))
        print(f"verdict: {worst}")
    if worst == BAD:
        raise typer.Exit(1)


def _listened(source: "ModuleSource", seconds: float, done: Any) -> "Recording":
    import time

    from strapdown.devices.protocol.units import meta_of
    from strapdown.errors import InputError
    from strapdown.recordings.tape import Tape

    assert source.stream.hello is not None
    source.start()
    tape = Tape(int(1100 * seconds) + 1, meta=meta_of(source.stream.hello))
    began = time.monotonic()
    while len(tape) < 2 or tape.recording().t[-1] - tape.recording().t[0] < seconds:
        for stamped in source.poll():
            tape.put(stamped.sample)
        done(min(time.monotonic() - began, seconds))
        if time.monotonic() - began > 2.0 * seconds + 3.0:
            counts = source.stream.counts
            why = "its inertial chip does not answer" if counts.silent else "no samples come"
            raise InputError(f"the module on {source.link.name} gave {counts.samples} samples: {why}; check its wiring")
    return tape.recording()

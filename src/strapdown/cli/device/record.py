"""strapdown device record: writes the data of a module into files that survive a missing end."""

from pathlib import Path
from typing import Annotated

import typer

from strapdown.cli.device.options import BAUD, AccRange, Baud, GyrRange, LowPass, Port, Rate, Seconds
from strapdown.cli.log import Json


def record(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")],
    port: Port = None,
    baud: Baud = BAUD,
    minutes: Annotated[float, typer.Option("--minutes", metavar="M", help="Length of one file.")] = 60.0,
    seconds: Seconds = None,
    rate: Rate = None,
    acc_range: AccRange = None,
    gyr_range: GyrRange = None,
    low_pass: LowPass = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="TEXT", help='Text lines instead of frames, as "t [us],acc_x [g],...".'),
    ] = None,
    as_json: Json = False,
) -> None:
    """Record a module until Ctrl-C: a new file every --minutes, forced to the disk once a second, losses counted.

    A file needs no proper end: after a crash it has all data that had arrived. navigate and the other commands read it.

    Example: strapdown device record --port /dev/ttyUSB0 -o drive --acc-range 8
    """
    import time

    from strapdown.cli import screen
    from strapdown.cli.device.options import greeted, port_or_only
    from strapdown.cli.device.session import Meter, figures, sentence
    from strapdown.devices.recorder import Recorder
    from strapdown.errors import InputError

    if not minutes > 0.0:
        raise InputError(f"--minutes is {minutes:g}; give a number above 0")
    if columns is not None:
        from strapdown.cli.device.text_lines import record_lines

        record_lines(port_or_only(port), baud, columns, output, seconds, as_json)
        return
    source = greeted(port, baud, (rate, acc_range, gyr_range, low_pass))
    recorder = Recorder(output, source.stream, minutes)
    try:
        assert source.hello_frame is not None
        recorder.put(source.hello_frame, time.monotonic())
        source.heard = lambda frame, now: recorder.put(frame, now, source.decoder.bad)
        source.start()
        meter = Meter(source)
        told = screen.told()
        told.print(f"recording {figures(source)['module']} to {recorder.files[0]}; Ctrl-C ends it", soft_wrap=True)
        try:
            while not meter.over(seconds):
                source.poll()
                for event in source.happened:
                    told.print(f"{event.t_s:.3f} s: {event.text}", soft_wrap=True, markup=False)
                source.happened.clear()
                if meter.look() and told.is_terminal:
                    line = f"{meter.elapsed_s:6.0f} s, {meter.samples_hz:.0f} Hz, {sentence(figures(source))}"
                    told.print(line[: told.width - 1], end="\r", markup=False)
        except KeyboardInterrupt:
            pass
        source.stop()
    finally:
        recorder.close()
        source.close()
    found = {**figures(source), "files": [str(path) for path in recorder.files], "bytes": recorder.bytes}
    if as_json:
        screen.show_json(found)
        return
    print(sentence(found))
    for path in recorder.files:
        print(f"file: {path}")

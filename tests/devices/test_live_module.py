"""A virtual module on a pseudo-terminal and the programs at the other end: recording, faults, errors."""

import errno
import importlib.util
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from device_cases import noisy_feed
from strapdown.devices.link import Link, refused
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.stream import Stamped
from strapdown.devices.recorder import Recorder
from strapdown.devices.source import ModuleSource, SampleSource
from strapdown.environment.virtual_module.line_faults import LineFaults
from strapdown.environment.virtual_module.module import Make, VirtualModule
from strapdown.environment.virtual_module.served import PtyLine, TcpLine, serve
from strapdown.errors import InputError
from strapdown.io import read_one

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")
PACE = 10.0


@contextmanager
def served(
    make: Make | None = None, tcp: bool = False, line: PtyLine | TcpLine | None = None, **more: object
) -> Iterator[tuple[VirtualModule, Any]]:
    """A module at rest on a line, in a thread, ten times as fast as the clock."""
    module = VirtualModule(noisy_feed(30.0), make or Make())
    line = line or (TcpLine() if tcp else PtyLine())
    over = threading.Event()
    options = {"until": over.is_set, "pace": PACE, **more}
    thread = threading.Thread(target=serve, args=(module, line), kwargs=options, daemon=True)
    thread.start()
    try:
        yield module, line
    finally:
        over.set()
        thread.join(10.0)
        line.close()


@contextmanager
def opened(name: str, settings: say.Settings | None = None) -> Iterator[ModuleSource]:
    source = ModuleSource(Link(name), settings or say.Settings())
    try:
        source.greet()
        yield source
    finally:
        source.close()


def gathered(source: ModuleSource, seconds: float, most_s: float = 60.0) -> list[Stamped]:
    """Samples of so many seconds of the module's time."""
    found: list[Stamped] = []
    until = time.monotonic() + most_s
    while not found or found[-1].module_s - found[0].module_s < seconds:
        found += source.poll()
        assert time.monotonic() < until, source.happened
    return found


@pytest.mark.parametrize("tcp", [False, True])
def test_a_module_is_greeted_set_and_started(tcp: bool) -> None:
    with served(tcp=tcp) as (_, line), opened(line.name, say.Settings(acc_range=2, rate_hz=200)) as source:
        hello = source.stream.hello
        assert hello is not None and (hello.acc_range, hello.acc_per_g, hello.rate_hz) == (2, 4096, 200)
        source.start()
        found = gathered(source, 2.0)
        assert isinstance(source, SampleSource)
        np.testing.assert_allclose(np.diff([s.module_s for s in found]), 0.005, atol=1e-9)
        mean = np.mean([s.sample.acc_s for s in found], axis=0)
        np.testing.assert_allclose(mean, [0.0, 0.0, 9.80665], atol=5 * 0.05 / 20.0)  # noise of 400 readings
        assert source.stream.counts.lost == 0


def test_settings_that_the_module_cannot_have_are_refused_in_one_sentence() -> None:
    with served() as (_, line):
        source = ModuleSource(Link(line.name), say.Settings(rate_hz=3))
        with pytest.raises(InputError, match="refuses these settings"):
            source.greet()
        source.close()


def test_a_port_that_vanishes_and_returns_goes_on() -> None:
    with served(tcp=True) as (module, line), opened(line.name) as source:
        source.start()
        before = gathered(source, 1.0)
        line.hang_up()
        after = gathered(source, 1.0)
        assert source.link.lost == 1
        assert any(event.kind == "vanished" for event in source.happened)
        assert after[0].module_s > before[-1].module_s
        assert source.stream.counts.lost > 0  # what was sent meanwhile is counted
        assert module.controller.running


def test_a_module_that_is_reset_is_set_and_started_again() -> None:
    with served() as (module, line), opened(line.name, say.Settings(acc_range=3)) as source:
        source.start()
        before = gathered(source, 1.0)
        module.reset()
        after = gathered(source, 1.0)
        assert source.stream.counts.resets >= 1
        assert module.controller.running and module.controller.settings.acc_range == 3
        assert after[0].module_s > before[-1].module_s
        size = np.linalg.norm(np.mean([s.sample.acc_s for s in after], axis=0))
        assert size == pytest.approx(9.80665, abs=0.1)  # in the units of the range that was set again


def test_a_stuck_chip_is_reported_and_returns() -> None:
    with served() as (module, line), opened(line.name) as source:
        source.start()
        gathered(source, 0.5)
        module.bus.stuck.add(0x68)
        until = time.monotonic() + 30.0
        while not source.stream.counts.silent and time.monotonic() < until:
            source.poll()
        module.bus.stuck.clear()
        gathered(source, 0.5)
        assert any(event.kind == "silent" for event in source.happened)
        assert source.stream.counts.silent > 0 and module.controller.i2c_errors > 0


def test_a_line_of_one_percent_errors_is_recorded_and_every_loss_counted(tmp_path: Path) -> None:
    faults = LineFaults(lost=0.01, flipped=0.01, inserted=0.01, seed=1)
    with served(spoiled=faults) as (_, line), opened(line.name) as source:
        recorder = Recorder(tmp_path, source.stream)
        recorder.put(source.hello_frame, time.monotonic())
        source.heard = lambda frame, now: recorder.put(frame, now, source.decoder.bad)
        source.start()
        found = gathered(source, 10.0) + source.stop()
        recorder.close()
    counts = source.stream.counts
    assert counts.lost > 100 and source.decoder.bad > 100  # a third of the frames is hit
    steps = round((found[-1].module_s - found[0].module_s) * 100.0)
    assert counts.samples + counts.lost + counts.doubtful == steps + 1
    log = read_one(recorder.files[0])
    assert log.meta["losses"]["lost"] == counts.lost
    assert np.array_equal(log.t, [s.module_s for s in found])
    assert np.array_equal(log.acc_s, [s.sample.acc_s for s in found])


def test_a_reset_and_a_wrap_are_in_the_file_as_they_were_live(tmp_path: Path) -> None:
    with served(Make(first_us=(1 << 32) - 2_000_000, tick_nm=1000)) as (module, line), opened(line.name) as source:
        recorder = Recorder(tmp_path, source.stream, minutes=1.0)
        recorder.put(source.hello_frame, time.monotonic())
        source.heard = lambda frame, now: recorder.put(frame, now, source.decoder.bad)
        source.start()
        found = gathered(source, 4.0)
        module.reset()
        found += gathered(source, 2.0) + source.stop()
        recorder.close()
    log = read_one(recorder.files[0])
    assert np.array_equal(log.t, [s.module_s for s in found])
    live = [s.sample for s in found]
    for i, sample in enumerate(log.samples()):
        other = live[i]
        assert (sample.t, sample.dt, sample.temperature, sample.stop) == (
            other.t,
            other.dt,
            other.temperature,
            other.stop,
        )
        assert np.array_equal(sample.gyr_s, other.gyr_s) and np.array_equal(sample.acc_s, other.acc_s)
        assert (sample.mag_s is None) == (other.mag_s is None)
        assert sample.mag_s is None or np.array_equal(sample.mag_s, other.mag_s)
    assert log.meta["losses"]["resets"] == 1


def test_a_new_file_begins_after_the_minutes_and_each_stands_alone(tmp_path: Path) -> None:
    with served() as (_, line), opened(line.name) as source:
        recorder = Recorder(tmp_path, source.stream, minutes=0.01)
        recorder.put(source.hello_frame, time.monotonic())
        source.heard = lambda frame, now: recorder.put(frame, now)
        source.start()
        found = gathered(source, 15.0)
        recorder.close()
    assert len(recorder.files) >= 2
    logs = [read_one(path) for path in recorder.files]
    t = np.concatenate([log.t for log in logs])
    assert np.array_equal(t, [s.module_s for s in found])


def test_a_recorder_that_is_killed_leaves_what_was_sent() -> None:
    """kill -9 at random times, five times: the file holds what the module sent, up to the last second at least."""
    path = Path(__file__).parents[2] / "tools" / "device_checks.py"  # which does it 50 times
    spec = importlib.util.spec_from_file_location("device_checks", path)
    assert spec is not None and spec.loader is not None
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    assert checks.killed(5)


def test_a_cut_file_holds_the_frames_before_the_cut(tmp_path: Path) -> None:
    with served() as (_, line), opened(line.name) as source:
        recorder = Recorder(tmp_path, source.stream)
        recorder.put(source.hello_frame, time.monotonic())
        source.heard = lambda frame, now: recorder.put(frame, now)
        source.start()
        gathered(source, 3.0)
        recorder.close()
    whole = read_one(recorder.files[0])
    data = recorder.files[0].read_bytes()
    for size in (len(data) - 1, len(data) - 17, len(data) // 2):
        cut = tmp_path / f"cut{size}.module"
        cut.write_bytes(data[:size])
        log = read_one(cut)
        assert np.array_equal(log.acc_s, whole.acc_s[: len(log)])
        assert len(whole) - len(log) <= (len(data) - size) / 38 + 1
    empty = tmp_path / "empty.module"
    empty.write_bytes(data[:40])
    with pytest.raises(InputError, match="has no sample"):
        read_one(empty)
    empty.write_bytes(b"not this")
    with pytest.raises(InputError, match="is not a recording of a module"):
        read_one(empty)


def test_a_wrong_baud_rate_is_explained() -> None:
    """At another baud rate bytes arrive, and no frame."""
    rng = np.random.default_rng(0)

    def garbled(data: bytes) -> bytes:
        return rng.integers(1, 256, 200, dtype=np.uint8).tobytes()

    with served(spoiled=garbled, waits=False) as (_, line):
        source = ModuleSource(Link(line.name, 115200))
        with pytest.raises(InputError, match=r"no frame was among them; check the baud rate \(115200"):
            source.greet()
        source.close()


def test_a_silent_port_is_explained() -> None:
    line = PtyLine()
    try:
        source = ModuleSource(Link(line.name))
        with pytest.raises(InputError, match="no byte came"):
            source.greet()
        source.close()
    finally:
        line.close()


def test_a_virtual_module_that_serves_another_program_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        source = ModuleSource(Link(f"tcp://127.0.0.1:{silent.getsockname()[1]}"))
        with pytest.raises(InputError, match="one program at a time, so end the other one"):
            source.greet()
        source.close()


def test_ports_that_cannot_be_opened_are_explained() -> None:
    with pytest.raises(InputError, match="there is no port /dev/ttyNOT"):
        Link("/dev/ttyNOT")
    with pytest.raises(InputError, match="nothing answers at tcp://"):
        Link("tcp://127.0.0.1:9")
    line = PtyLine()
    try:
        first = Link(line.name)
        with pytest.raises(InputError, match="in use by another program"):
            Link(line.name)
        first.close()
    finally:
        line.close()
    denied = OSError(errno.EACCES, "Permission denied")
    assert "no permission to open /dev/ttyUSB0" in str(refused("/dev/ttyUSB0", denied))


def test_a_slow_line_overruns_and_the_losses_are_counted() -> None:
    """At 9600 baud 20 samples a second fit; the module refuses more, and its status counts what it could not send."""
    with served(Make(baud=9600)) as (module, line), opened(line.name) as source:
        assert source.stream.hello is not None and source.stream.hello.greatest_rate_hz == 20
        module.controller.greatest_hz = 1000  # as if the line had become worse
        source.settings = say.Settings(rate_hz=100)
        source.greeted = False
        source.greet()
        source.start()
        gathered(source, 10.0)
        until = time.monotonic() + 20.0
        while not (source.stream.status and source.stream.status.overruns) and time.monotonic() < until:
            source.poll()
        assert source.stream.status is not None and source.stream.status.overruns > 0
        assert source.stream.counts.lost > 0

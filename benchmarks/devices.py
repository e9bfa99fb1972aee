"""The measuring module: speed of the decoder, cost and delay of live navigation, next to the PyPI package `cobs`."""

import binascii
import os
import threading
import time

import numpy as np

from strapdown.devices.chips.feed import Rows
from strapdown.devices.link import Link
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder, sample_rows
from strapdown.devices.protocol.frame import SAMPLE, Frame, on_the_line
from strapdown.devices.protocol.stream import ModuleStream
from strapdown.devices.protocol.units import meta_of
from strapdown.devices.source import ModuleSource
from strapdown.environment.virtual_module.module import Make, VirtualModule
from strapdown.environment.virtual_module.served import PtyLine, serve
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.live_program import LiveNavigator
from strapdown.navigation.start_at_rest import Heading
from strapdown.recordings.facts import facts_of

FRAMES = 100_000
REST_S, RUN_S, RATE_HZ = 4.0, 12.0, 1000


def _bytes() -> bytes:
    rng = np.random.default_rng(0)
    counts = rng.integers(-32768, 32768, (FRAMES, 10)).tolist()
    return b"".join(
        on_the_line(
            Frame(SAMPLE, i, 1000 * i, say.Readings(tuple(c[:3]), c[3], tuple(c[4:7]), tuple(c[7:]), 1, 0, i).packed())
        )
        for i, c in enumerate(counts)
    )


def _best(run: object, times: int = 3) -> float:
    """Least processor time of several runs (s)."""
    found = []
    for _ in range(times):
        began = time.process_time()
        run()  # type: ignore[operator]
        found.append(time.process_time() - began)
    return min(found)


def _peer(data: bytes) -> int:
    """The same work by the package cobs and the CRC of the standard library, whose inner loops are C."""
    from cobs import cobs

    good = 0
    for line in data.split(b"\0")[:-1]:
        plain = cobs.decode(line)
        good += binascii.crc_hqx(plain[:-2], 0xFFFF) == int.from_bytes(plain[-2:], "little")
    return good


def decoder() -> None:
    data, size = _bytes(), 0.0
    size = len(data) / 1e6
    Decoder().feed(data[:1000])

    def table() -> None:
        one = Decoder()
        assert sum(len(sample_rows(rows)) for rows, _ in one.blocks(data)) == FRAMES

    def objects() -> None:
        assert len(Decoder().feed(data)) == FRAMES

    peer = _best(lambda: _peer(data))
    for name, run in (("frames as tables", table), ("frames as objects", objects)):
        ours = _best(run)
        print(
            f"decoder, {name}: {size / ours:.0f} MB/s; package cobs and binascii {size / peer:.1f} MB/s "
            f"({peer / ours:.1f} times as fast; asked: 10 MB/s)"
        )


def _feed(seconds: float) -> Rows:
    rng, n = np.random.default_rng(1), int(1000 * seconds)
    acc = np.array([0.0, 0.0, 9.80665]) + 0.05 * rng.standard_normal((n, 3))
    mag = np.array([20.0, 0.0, -45.0]) + 0.3 * rng.standard_normal((n, 3))
    return Rows(iter([(np.arange(n) / 1000.0, acc, 0.003 * rng.standard_normal((n, 3)), mag, np.full(n, 25.0))]))


def _navigator(hello: say.Hello) -> LiveNavigator:
    carrier = WheeledRobot(Heading(0.0, 0.0))
    return LiveNavigator(carrier, facts_of, meta=meta_of(hello), rest_s=REST_S)


def navigation() -> None:
    """Decoding, units, stops and filter of 1000 samples a second: part of one core, and the delay on a line."""
    module = VirtualModule(_feed(REST_S + RUN_S), Make())
    module.receive(on_the_line(say.set_to(say.Settings(rate_hz=RATE_HZ))) + on_the_line(say.start()))
    data = module.run_until(round((REST_S + RUN_S) * 1e6))
    stream, one, navigator, count = ModuleStream(), Decoder(), None, 0
    pieces = [data[i : i + 380] for i in range(0, len(data), 380)]
    began = 0.0
    for piece in pieces:
        for frame in one.feed(piece):
            for stamped in stream.take(frame):
                if navigator is None:
                    assert stream.hello is not None
                    navigator = _navigator(stream.hello)
                solution = navigator.put(stamped.sample)
                if solution is not None and not began:
                    began = time.process_time()  # after the alignment
                count += solution is not None
    each = (time.process_time() - began) / count
    print(
        f"live navigation at {RATE_HZ} Hz: {1e6 * each:.0f} us a sample, {100.0 * each * RATE_HZ:.1f} % of one core "
        "(asked: at most 20 %)"
    )


def delay() -> None:
    """From the byte that the module sends to the solution, over a pseudo-terminal, in one process with the module."""
    if os.name != "posix":
        return
    sent: dict[int, float] = {}
    module, line, over = VirtualModule(_feed(30.0), Make()), PtyLine(), threading.Event()

    def noted(data: bytes) -> bytes:
        sent[module.controller.samples] = time.monotonic()
        return data

    thread = threading.Thread(
        target=serve, args=(module, line), kwargs={"until": over.is_set, "spoiled": noted}, daemon=True
    )
    thread.start()
    source = ModuleSource(Link(line.name), say.Settings(rate_hz=200))
    delays: list[float] = []
    try:
        navigator = _navigator(source.greet())
        source.start()
        while source.stream.t_s < REST_S + 6.0:
            for stamped in source.poll():
                solution = navigator.put(stamped.sample)
                at = sent.get(source.stream.counts.samples)
                if solution is not None and at is not None:
                    delays.append(time.monotonic() - at)
    finally:
        source.close()
        over.set()
        thread.join()
        line.close()
    print(
        f"byte to solution: median {1e3 * float(np.median(delays)):.2f} ms, 95 % below "
        f"{1e3 * float(np.percentile(delays, 95)):.2f} ms (asked: median at most 2 ms)"
    )


def main() -> None:
    decoder()
    navigation()
    delay()


if __name__ == "__main__":
    main()

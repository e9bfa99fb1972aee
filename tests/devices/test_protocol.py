"""The protocol against its test vectors, and the decoder against everything a line can do to bytes."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device_cases import sample_frame, vectors
from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder, sample_rows
from strapdown.devices.protocol.frame import Frame, cobs_encoded, crc16, on_the_line, plain_frame

VECTORS = vectors()
FRAMES = [name for name, vector in VECTORS.items() if "kind" in vector["values"]]
BAD = [name for name in VECTORS if name.startswith("bad_")]
MESSAGES = {
    of.HELLO: say.Hello,
    of.SAMPLE: say.Readings,
    of.STATUS: say.Status,
    of.ANSWER: say.Answer,
    of.SET: say.Settings,
}


def from_values(values: dict[str, int]) -> Frame:
    """A frame built from the values that the vector states, by name."""
    kind = values["kind"]
    if kind in MESSAGES:
        fields = {}
        for name in MESSAGES[kind]._fields:
            if name in values:
                fields[name] = values[name]
            else:
                several = [
                    values[f"{name}_{i}"]
                    for i in range(sum(key.startswith(f"{name}_") for key in values))
                    if f"{name}_{i}" in values
                ]
                fields[name] = bytes(several) if name in ("serial_number", "mag_identity") else tuple(several)
        body = MESSAGES[kind](**fields).packed()
    else:
        body = bytes((values["light"], values["pattern"])) if kind == of.LIGHT else b""
    # the answer's body has a sequence of its own, which stands last
    return Frame(kind, values["sequence"], values["time_us"], body)


@pytest.mark.parametrize("name", [name for name in FRAMES if not name.startswith("answer")])
def test_a_frame_built_from_its_values_has_the_bytes_of_its_vector(name: str) -> None:
    vector = VECTORS[name]
    frame = from_values(vector["values"])
    assert plain_frame(frame) == vector["plain"]
    assert on_the_line(frame) == vector["line"]


@pytest.mark.parametrize("name", FRAMES)
def test_the_decoder_returns_the_frame_of_the_vector(name: str) -> None:
    (frame,) = Decoder().feed(VECTORS[name]["line"])
    assert plain_frame(frame) == VECTORS[name]["plain"]
    message = MESSAGES.get(frame.kind)
    if message is not None:
        assert message.unpacked(frame.body).packed() == frame.body


@pytest.mark.parametrize("name", BAD)
def test_a_bad_frame_is_counted_and_the_next_one_is_read(name: str) -> None:
    decoder, good = Decoder(), on_the_line(sample_frame(1, 10))
    assert len(decoder.feed(VECTORS[name]["line"] + good)) == 1
    assert (decoder.bad, decoder.good) == (1, 1)
    assert decoder.bad_bytes == len(VECTORS[name]["line"])


def test_crc_and_cobs_vectors() -> None:
    assert crc16(VECTORS["crc_check"]["plain"]) == int.from_bytes(VECTORS["crc_check"]["crc"], "big")
    for name, vector in VECTORS.items():
        if name.startswith("cobs"):
            assert cobs_encoded(vector["plain"]) + b"\0" == vector["line"]


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=600))
def test_cobs_leaves_no_zero_and_one_byte_in_254(data: bytes) -> None:
    encoded = cobs_encoded(data)
    assert 0 not in encoded
    assert len(encoded) <= len(data) + 1 + len(data) // 254


def test_any_cutting_of_the_stream_gives_the_same_frames() -> None:
    data = b"".join(on_the_line(sample_frame(i, 1000 * i)) for i in range(200))
    whole = Decoder().feed(data)
    rng = np.random.default_rng(0)
    decoder, found, at = Decoder(), [], 0
    while at < len(data):
        step = int(rng.integers(1, 60))
        found += decoder.feed(data[at : at + step])
        at += step
    assert found == whole and len(whole) == 200


def test_ten_million_random_bytes_do_no_harm() -> None:
    """No exception, bounded memory, in step again within two frames."""
    rng = np.random.default_rng(1)
    decoder, false = Decoder(), 0
    decoder.feed(b"\0" * 1000)
    tracemalloc.start()
    for _ in range(10):
        false += len(decoder.feed(rng.integers(0, 256, 1_000_000, dtype=np.uint8).tobytes()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6  # a piece of random bytes and its frames; not the 1e7 bytes
    # a random frame of a right kind and length has a right CRC once in 65536: 4e4 frames, few of a right kind
    assert false <= 2
    frames = [sample_frame(i, 1000 * i) for i in range(5)]
    found = decoder.feed(b"".join(on_the_line(frame) for frame in frames))
    assert len(found) >= 4 and found[-1] == frames[-1]  # the first may be a part of the garbage before it


def test_a_line_without_a_zero_is_dropped_with_bounded_memory() -> None:
    decoder = Decoder()
    decoder.feed(b"\x55" * 1_000_000)
    assert decoder.pending == 1_000_000
    assert decoder.feed(b"\0" + on_the_line(sample_frame(0, 0))) == [sample_frame(0, 0)]
    assert (decoder.bad, decoder.bad_bytes) == (1, 1_000_001)


def test_a_table_of_samples_has_the_numbers_of_the_messages() -> None:
    frames = [sample_frame(i, 1000 * i) for i in range(10)]
    ((rows, _),) = Decoder().blocks(b"".join(on_the_line(f) for f in frames) + on_the_line(say.start()))
    table = sample_rows(rows)
    for row, frame in zip(table, frames, strict=True):
        readings = say.Readings.unpacked(frame.body)
        assert tuple(row["acc"]) == readings.acc and tuple(row["mag"]) == readings.mag
        assert (row["sequence"], row["time_us"], row["ticks"]) == (frame.sequence, frame.time_us, readings.ticks)


def test_the_greatest_rate_fits_on_the_line() -> None:
    assert [say.greatest_rate(baud) for baud in (921600, 115200, 9600, 0)] == [1000, 250, 20, 1000]

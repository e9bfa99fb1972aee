"""The firmware's frames are those of the protocol, byte for byte: tests/devices/protocol_vectors.txt."""

import ctypes
import random
from pathlib import Path

import pytest
from firmware_host import loaded

from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say

VECTORS = Path(__file__).parents[1] / "devices" / "protocol_vectors.txt"


def vectors():
    found, name = {}, None
    for line in VECTORS.read_text().splitlines():
        word, *rest = line.split() or ["#"]
        if word == "vector":
            name = rest[0]
            found[name] = {"values": []}
        elif word == "value":
            found[name]["values"].append(int(rest[1]))
        elif not word.startswith("#"):
            found[name][word] = b"" if rest[0] == "-" else bytes.fromhex(rest[0])
    return found


ALL = vectors()
FROM_MODULE = [name for name, v in ALL.items() if v["values"] and v["values"][0] < 0x10]
FROM_HOST = [name for name, v in ALL.items() if v["values"] and v["values"][0] >= 0x10]
BAD = [name for name in ALL if name.startswith("bad_")]


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    return loaded("portable", tmp_path_factory.mktemp("lib"))


def received(lib, data):
    """Good and bad frames that the firmware finds in these bytes."""
    good = ctypes.c_uint32()
    bad = lib.host_receiver_bad(data, ctypes.c_size_t(len(data)), ctypes.byref(good))
    return good.value, bad


def test_all_kinds_of_vectors_are_there():
    assert {ALL[name]["values"][0] for name in FROM_MODULE} == {1, 2, 3, 4}
    assert {ALL[name]["values"][0] for name in FROM_HOST} == {0x10, 0x11, 0x12, 0x13, 0x14}
    assert len(BAD) >= 6


@pytest.mark.parametrize("name", FROM_MODULE)
def test_frames_of_the_module(lib, name):
    vector = ALL[name]
    kind, sequence, time_us, *values = vector["values"]
    plain, line, count = ctypes.create_string_buffer(128), ctypes.create_string_buffer(130), ctypes.c_size_t()
    fields = (ctypes.c_int64 * len(values))(*values)
    size = lib.host_frame(kind, sequence, ctypes.c_uint32(time_us), fields, plain, line, ctypes.byref(count))
    assert plain.raw[:size] == vector["plain"]
    assert line.raw[: count.value] == vector["line"]


@pytest.mark.parametrize("name", FROM_HOST)
def test_commands_are_understood(lib, name):
    assert received(lib, ALL[name]["line"]) == (1, 0)


@pytest.mark.parametrize("name", BAD)
def test_bad_frames_are_counted_and_the_next_is_good(lib, name):
    assert received(lib, ALL[name]["line"] + ALL["start"]["line"]) == (1, 1)


@pytest.mark.parametrize("name", FROM_MODULE)
def test_frames_of_a_module_are_bad_for_a_module(lib, name):
    assert received(lib, ALL[name]["line"]) == (0, 1)


@pytest.mark.parametrize("name", [n for n in ALL if n.startswith("cobs_")])
def test_cobs(lib, name):
    plain, line = ALL[name]["plain"], ALL[name]["line"]
    out, count = ctypes.create_string_buffer(len(plain) + 2), ctypes.c_size_t()
    size = lib.cobs_encode(plain, ctypes.c_size_t(len(plain)), out)
    assert out.raw[:size] + b"\0" == line
    assert lib.cobs_decode(out, ctypes.c_size_t(size), out, ctypes.byref(count))
    assert out.raw[: count.value] == plain


def test_cobs_of_any_length_equals_the_host_and_returns(lib):
    random_bytes = random.Random(15)
    for length in (0, 1, 253, 254, 255, 256, 507, 508, 509, 600):
        for zeros in (0.0, 0.01, 0.5):
            plain = bytes(0 if random_bytes.random() < zeros else random_bytes.randrange(1, 256) for _ in range(length))
            out, back, count = ctypes.create_string_buffer(700), ctypes.create_string_buffer(700), ctypes.c_size_t()
            size = lib.cobs_encode(plain, ctypes.c_size_t(length), out)
            assert out.raw[:size] == of.cobs_encoded(plain), length
            assert lib.cobs_decode(out, ctypes.c_size_t(size), back, ctypes.byref(count))
            assert back.raw[: count.value] == plain


def test_crc_of_the_check_text(lib):
    plain, crc = ALL["crc_check"]["plain"], ALL["crc_check"]["crc"]
    lib.crc16.restype = ctypes.c_uint16
    assert lib.crc16(plain, ctypes.c_size_t(len(plain))) == int.from_bytes(crc, "big")


def test_a_cut_frame_costs_itself_and_the_next_two_stay_good(lib):
    whole = of.on_the_line(say.set_to(say.Settings(rate_hz=200), sequence=9))
    for cut in range(1, len(whole) - 1):
        good, bad = received(lib, whole[:cut] + b"\0" + whole + whole)
        assert (good, bad) == (2, 1), cut
        # the end is lost as well: the piece spoils the frame that follows it, and no more
        good, bad = received(lib, whole[:cut] + whole + whole)
        assert (good, bad) == (1, 1), cut


def test_every_flipped_bit_is_found(lib):
    whole = of.on_the_line(say.set_to(say.Settings(rate_hz=200), sequence=9))
    for bit in range(8 * (len(whole) - 1)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        good, bad = received(lib, bytes(damaged) + whole)
        assert good == 1 and bad >= 1, bit


def test_random_bytes_leave_the_receiver_in_step(lib):
    noise = random.Random(1).randbytes(200_000)
    good, bad = received(lib, noise + b"\0" + of.on_the_line(say.start()))
    assert good == 1
    # a random byte ends a frame in 1 of 256 cases; those that follow another zero at once are empty and do not count
    assert bad == sum(1 for piece in (noise + b"\0").split(b"\0") if piece)


def test_baud_limits_the_rate(lib):
    lib.greatest_rate.restype = ctypes.c_uint16
    for baud in (0, 300, 1200, 9600, 19200, 57600, 115200, 230400, 460800, 500000, 921600, 3000000, 0xFFFFFFFF):
        assert lib.greatest_rate(ctypes.c_uint32(baud)) == say.greatest_rate(baud), baud
    assert lib.greatest_rate(115200) == 250 and lib.greatest_rate(921600) == 1000


def test_ring_keeps_every_byte_when_its_counters_wrap(lib):
    data, out = bytes(range(200)), ctypes.create_string_buffer(200)
    for start in (0, 0xFFFFFFF0):
        assert lib.host_ring(ctypes.c_uint32(start), data, ctypes.c_size_t(200), out) == 200
        assert out.raw == data

"""The firmware for the STM32F103: cross-compiled without warnings, within its memory, and booted in qemu-system-arm."""

import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from firmware_host import ROOT, need

from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder

BOARD_RAM = 8 * 1024  # of qemu's stm32vldiscovery (STM32F100RB); the Blue Pill has 20 KiB


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    need("arm-none-eabi-gcc", "make")
    folder = tmp_path_factory.mktemp("firmware")
    done = subprocess.run(["make", "-C", str(ROOT), f"BUILD={folder}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()
    return folder, done.stdout


def test_fits_the_memory_of_the_controller(build, capsys):
    folder, out = build
    line = re.search(r"flash (\d+) of 65536 bytes, RAM (\d+) of 20480 bytes, (\d+) of it stack", out)
    with capsys.disabled():
        print(f"\nfirmware: {line[0]}")
    flash, ram = int(line[1]), int(line[2])
    assert (folder / "module.bin").stat().st_size == flash <= 64 * 1024
    assert ram <= BOARD_RAM < 20 * 1024


def test_the_deepest_calls_fit_the_stack(build):
    """The frames of gcc's -fstack-usage, summed along the deepest chain of calls, take at most half of the stack."""
    folder, out = build
    frames = {}
    for path in folder.rglob("*.su"):
        for line in path.read_text().splitlines():
            place, size, kind = line.split("\t")
            assert kind == "static", line  # no array of variable length
            frames[place.rsplit(":", 1)[1]] = int(size)
    chain = ("main", "module_step", "receive_commands", "send_hello", "send", "frame_on_line", "frame_plain")
    deepest = sum(frames.get(name, 0) for name in chain)
    stack = int(re.search(r"(\d+) of it stack", out)[1])
    # 256: an interrupt on top, with its registers, and what the compiler has joined or renamed
    assert deepest + 256 < stack / 2, frames


def test_vector_table_starts_the_program(build):
    folder, _ = build
    image = (folder / "module.bin").read_bytes()
    stack, reset, *others = (int.from_bytes(image[i : i + 4], "little") for i in range(0, 4 * 59, 4))
    assert 0x20000000 < stack <= 0x20000000 + BOARD_RAM and stack % 8 == 0
    assert all(handler == 0 or (handler & 1 and 0x08000000 < handler < 0x08010000) for handler in (reset, *others))
    assert others[16 + 6 - 2] and others[16 + 37 - 2]  # data-ready signal, serial line


class Qemu:
    """The firmware on qemu's STM32VLDISCOVERY, with its first USART on two pipes."""

    def __init__(self, elf, folder):
        need("qemu-system-arm")
        pipes = Path(folder) / "line"
        for end in ("in", "out"):
            os.mkfifo(f"{pipes}.{end}")
        self.out = os.open(f"{pipes}.out", os.O_RDONLY | os.O_NONBLOCK)
        # icount: 64 ns for each instruction, so that the time on the board does not depend on the load of this machine
        machine = [
            "-M",
            "stm32vldiscovery",
            "-icount",
            "shift=6,sleep=off",
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            f"pipe:{pipes}",
        ]
        self.process = subprocess.Popen([shutil.which("qemu-system-arm"), *machine, "-kernel", str(elf)])
        self.into = os.open(f"{pipes}.in", os.O_WRONLY)
        self.decoder, self.frames = Decoder((of.HELLO, of.SAMPLE, of.STATUS, of.ANSWER)), []

    def until(self, enough, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not enough(self.frames):
            if select.select([self.out], [], [], 0.2)[0]:
                self.frames += self.decoder.feed(os.read(self.out, 4096))
        assert enough(self.frames), [f.kind for f in self.frames]

    def send(self, frame):
        os.write(self.into, of.on_the_line(frame))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)


def bodies(frames, kind, message):
    return [message.unpacked(f.body) for f in frames if f.kind == kind]


def test_boots_in_qemu_and_reports_that_no_chip_answers(build, tmp_path):
    """No STM32 of qemu has I2C, PLL or a crystal: every wait must end by its limit. USART1 is there."""
    board = Qemu(build[0] / "module.elf", tmp_path)
    try:
        board.until(lambda frames: sum(f.kind == of.STATUS for f in frames) >= 3)
        hello = bodies(board.frames, of.HELLO, say.Hello)[0]
        assert board.frames[0].kind == of.HELLO and hello.reason == say.WAS_RESET
        assert (hello.imu_chip, hello.mag_chip, hello.firmware) == (0, 0, (1, 0, 0))
        # without a PLL the core runs at 8 MHz, which cannot make 921600 baud
        assert (hello.baud, hello.greatest_rate_hz) == (115200, 250)
        status = bodies(board.frames, of.STATUS, say.Status)
        assert [s.uptime_s for s in status[:3]] == [1, 2, 3]
        assert 5 <= status[0].i2c_errors < status[1].i2c_errors < status[2].i2c_errors
        assert all(s.state == 0 and s.lights >> say.FAULT_LIGHT & 1 for s in status)

        board.send(say.ask_hello(41))
        board.send(say.start(42))
        board.until(lambda frames: sum(f.kind == of.SAMPLE for f in frames) >= 50)
        answers = bodies(board.frames, of.ANSWER, say.Answer)
        assert [(a.command, a.sequence, a.result) for a in answers] == [(of.ASK_HELLO, 41, 0), (of.START, 42, 0)]
        samples = [f for f in board.frames if f.kind == of.SAMPLE]
        assert all(say.Readings.unpacked(f.body).flags & say.IMU_SILENT for f in samples)
        assert board.decoder.bad == 0
        board.send(say.set_to(say.Settings(rate_hz=50), 43))
        board.until(lambda frames: len(bodies(frames, of.ANSWER, say.Answer)) == 3)
        assert bodies(board.frames, of.ANSWER, say.Answer)[-1] == say.Answer(of.SET, say.NO_ANSWER_OF_CHIP, 43)
    finally:
        board.close()

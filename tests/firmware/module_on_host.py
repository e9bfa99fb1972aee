"""The portable firmware as a running module: virtual chips, a line, buttons, and a clock that the test moves."""

import ctypes
import itertools

from firmware_host import loaded

from strapdown.devices.chips.bus import VirtualBus
from strapdown.devices.chips.feed import Felt
from strapdown.devices.chips.magnetometers import VirtualQmc5883l
from strapdown.devices.chips.mpu6050 import VirtualMpu6050
from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder

READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint8, ctypes.c_uint8, ctypes.POINTER(ctypes.c_uint8), ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint8, ctypes.c_uint8, ctypes.c_uint8)
DONE, NO_ANSWER, TIMED_OUT = 0, 1, 2
TIME_LIMIT_US = 2000
SERIAL = bytes.fromhex("39ffd9054e4b303822571443")
BODIES = {of.HELLO: say.Hello, of.SAMPLE: say.Readings, of.STATUS: say.Status, of.ANSWER: say.Answer}


class Wobble:
    """A feed in which every reading differs from the one before, in all axes."""

    def at(self, time_us):
        x = 1e-6 * time_us
        return Felt((1.0 + x, -2.0 - x, 9.8 - x), (0.1 + x, -0.2, 0.3 - x), (20.0 + x, -10.0, -40.0 - x), 25.0)


def usual_chips(feed=None):
    feed = feed or Wobble()
    return {0x68: VirtualMpu6050(feed), 0x0D: VirtualQmc5883l(feed)}


class ModuleOnHost:
    """wire: the data-ready signal of the inertial chip is connected. start_us: the board's clock at power-up."""

    def __init__(self, folder, chips=None, *, wire=True, start_us=0, baud=921600):
        self.lib = loaded("portable", folder)
        self.bus = VirtualBus(usual_chips() if chips is None else chips)
        self.wire, self.hangs, self.drains = wire, set(), True
        self._turns, self._last = 0, start_us
        self._hooks = READ(self._read), WRITE(self._write)
        self.lib.host_bus(*self._hooks)
        self._set("host_us", ctypes.c_uint32, start_us)
        self._set("host_baud", ctypes.c_uint32, baud)
        (ctypes.c_uint8 * 12).in_dll(self.lib, "host_serial")[:] = SERIAL
        self._decoder = Decoder((of.HELLO, of.SAMPLE, of.STATUS, of.ANSWER))
        self.frames, self.raw = [], b""
        self._sequence = itertools.count()

    def _set(self, name, kind, value):
        kind.in_dll(self.lib, name).value = value

    @property
    def board_us(self):
        return ctypes.c_uint32.in_dll(self.lib, "host_us").value

    @property
    def now_us(self):
        """The board's clock without its wraps."""
        board = self.board_us
        self._turns += board < self._last
        self._last = board
        return board + (self._turns << 32)

    def _read(self, address, register, data, count):
        self._signal_data_ready()
        self.bus.time_us = self.now_us
        if address in self.hangs:
            self.advance(TIME_LIMIT_US)
            return TIMED_OUT
        found = self.bus.read(address, register, count)
        if found is None:
            return NO_ANSWER
        ctypes.memmove(data, found, count)
        return DONE

    def _write(self, address, register, value):
        self.bus.time_us = self.now_us
        return DONE if self.bus.write(address, bytes((register, value))) else NO_ANSWER

    def advance(self, us):
        self._set("host_us", ctypes.c_uint32, self.board_us + us & 0xFFFFFFFF)

    def power_up(self):
        self.lib.host_module_start()
        self._drain()
        return self

    def press(self, inputs):
        self._set("host_inputs", ctypes.c_uint8, inputs)

    def turn_encoder(self, count):
        self._set("host_encoder", ctypes.c_uint16, count & 0xFFFF)

    @property
    def lights(self):
        return ctypes.c_uint8.in_dll(self.lib, "host_lights").value

    def send(self, data):
        """Bytes from the host; a frame or raw bytes."""
        data = data if isinstance(data, bytes) else of.on_the_line(data)
        assert self.lib.host_send(data, len(data))

    def _signal_data_ready(self):
        chip = self.bus.chips.get(0x68) or self.bus.chips.get(0x69)
        if not self.wire or chip is None or 0x68 in self.bus.stuck:
            return
        now = self.now_us
        while (due := chip.next_ready_us) is not None and due <= now:
            chip.at(round(due))
            self.lib.host_signal(round(due) & 0xFFFFFFFF)

    def run(self, us, turn_us=100):
        """So much time passes, with a turn of the main loop each turn_us. Returns the frames that were sent."""
        end, before = self.now_us + us, len(self.frames)
        while self.now_us < end:
            self._signal_data_ready()
            self.lib.host_module_step()
            self.advance(turn_us)
            self._drain()
        return self.frames[before:]

    def _drain(self):
        if not self.drains:
            return
        buffer = ctypes.create_string_buffer(2048)
        count = self.lib.host_receive(buffer, 2048)
        data = buffer.raw[:count]
        self.raw += data
        self.frames += self._decoder.feed(data)
        assert self._decoder.bad == 0

    def of_kind(self, kind, frames=None):
        """The bodies of this kind, as messages."""
        return [BODIES[kind].unpacked(f.body) for f in (self.frames if frames is None else frames) if f.kind == kind]

    def command(self, make, *arguments):
        """Send a command, run a millisecond, return its answer's result."""
        frame = make(*arguments, sequence=next(self._sequence))
        self.send(frame)
        answers = self.of_kind(of.ANSWER, self.run(1000))
        assert [(a.command, a.sequence) for a in answers] == [(frame.kind, frame.sequence)]
        return answers[0].result

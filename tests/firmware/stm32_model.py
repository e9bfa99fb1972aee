"""A model of the STM32F103's peripherals for the hardware layer of the firmware: clocks, SysTick, pins, I2C, USART.

Every register access takes some cycles of the core clock, so that time passes while the firmware waits.
"""

import ctypes

from firmware_host import loaded
from stm32_i2c_model import PE, I2cModel

from strapdown.devices.chips.bus import VirtualBus

GET = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
SET = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)
MASK = ctypes.CFUNCTYPE(None, ctypes.c_int)
RCC_CR, RCC_CFGR, SYST_CVR = 0x40021000, 0x40021004, 0xE000E018
GPIOA, GPIOB, GPIOC, I2C1, USART1, IWDG_KR = 0x40010800, 0x40010C00, 0x40011000, 0x40005400, 0x40013800, 0x40003000
IDENTITY = 0x1FFFF7E8
CYCLES_PER_ACCESS = 12
SCL, SDA = 6, 7
OPEN_DRAIN, ALTERNATE_OPEN_DRAIN = 0b01, 0b11
TXE, RXNE, TXEIE = 1 << 7, 1 << 5, 1 << 7


class Stm32:
    """crystal, pll: do they start? serial: the unique identity. An interrupt of another part may delay any access for
    interrupt_us, while interrupts are on: see delay_every."""

    def __init__(self, folder, chips=None, *, crystal=True, pll=True, serial=bytes(range(12)), kind="registers"):
        self.lib = loaded(kind, folder)
        self.bus = VirtualBus(chips or {})
        self.crystal, self.pll, self.serial = crystal, pll, serial
        self.now_ns, self.cycles, self.core_hz = 0.0, 0.0, 8e6
        self.i2c = I2cModel(self.bus, lambda: self.core_hz / (2 if self._registers.get(RCC_CFGR, 0) & 0x400 else 1))
        self.i2c.lines_busy = lambda: not (self.level(SCL) and self.level(SDA))
        self.sda_clocks = 0  # a chip holds SDA low for so many clocks; -1: for ever
        self.scl_low = False  # a chip holds SCL low for ever
        self.pressed = set()  # pins of port B at ground
        self.sent, self.to_receive = bytearray(), []
        self.fed = 0
        self.delay_every, self.interrupt_us, self._accesses, self.masked = 0, 0.0, 0, False
        self._registers = {}
        self._pins = dict.fromkeys((GPIOA, GPIOB, GPIOC), 0)
        self._toggled = set()
        self._hooks = GET(self._get), SET(self._set), MASK(self._mask)
        self.lib.host_registers(*self._hooks)

    def start(self, baud=921600):
        """As after a reset; returns the core's and the first bus's clock (Hz)."""
        clocks = (ctypes.c_uint32 * 2)()
        self.lib.host_start(clocks, ctypes.c_uint32(baud))
        return tuple(clocks)

    # time

    def _mask(self, masked):
        self.masked = bool(masked)

    def _pass(self, cycles):
        self.cycles += cycles
        self.now_ns += cycles * 1e9 / self.core_hz
        self.i2c.clock_held = self.scl_low
        self.i2c.run(self.now_ns)

    def _access(self):
        self._pass(CYCLES_PER_ACCESS)
        self._accesses += 1
        if self.delay_every and not self.masked and self._accesses % self.delay_every == 0:
            self._pass(self.interrupt_us * 1e-6 * self.core_hz)

    def idle(self, us):
        self._pass(us * 1e-6 * self.core_hz)

    # pins

    def mode(self, port, pin):
        control = self._registers.get(port + (0 if pin < 8 else 4), 0x44444444)
        return control >> 4 * (pin % 8) & 0xF

    def level(self, pin):
        """Of SCL or SDA, with all that pull it down."""
        mode = self.mode(GPIOB, pin)
        driven_low = mode >> 2 == OPEN_DRAIN and mode & 3 and not self._pins[GPIOB] >> pin & 1
        held = self.scl_low if pin == SCL else self.sda_clocks != 0
        return not driven_low and not held

    def _input(self, port):
        if port != GPIOB:
            return self._pins[port]
        lines = (1 << SCL if self.level(SCL) else 0) | (1 << SDA if self.level(SDA) else 0)
        others = sum(1 << pin for pin in range(16) if pin not in (SCL, SDA, *self.pressed))
        return lines | others

    def _drive(self, port, value):
        before = self.level(SCL)
        self._pins[port] = (self._pins[port] | value) & 0xFFFF & ~(value >> 16)
        if port != GPIOB:
            return
        if self.level(SCL) and not before and self.sda_clocks > 0:
            self.sda_clocks -= 1
        self._toggled |= {pin for pin in (SCL, SDA) if not self.level(pin)}
        if self._toggled == {SCL, SDA} and self.level(SCL) and self.level(SDA):
            self.i2c.filter_freed = True

    # registers

    def _get(self, address):
        self._access()
        if address == SYST_CVR:
            return int(-self.cycles) & 0xFFFFFF
        if address == RCC_CR:
            value = self._registers.get(RCC_CR, 0)
            ready = (1 << 17 if value & 1 << 16 and self.crystal else 0) | (
                1 << 25 if value & 1 << 24 and self.pll else 0
            )
            return value | ready
        if address == RCC_CFGR:
            value = self._registers.get(RCC_CFGR, 0)
            return value | (value & 3) << 2
        if I2C1 <= address < I2C1 + 0x24:
            return self.i2c.get(address - I2C1, self.now_ns)
        for port in self._pins:
            if address == port + 8:
                return self._input(port)
        if address == USART1:
            return TXE | (RXNE if self.to_receive else 0)
        if address == USART1 + 4:
            return self.to_receive.pop(0)
        if IDENTITY <= address < IDENTITY + 12:
            return int.from_bytes(self.serial[address - IDENTITY : address - IDENTITY + 4], "little")
        return self._registers.get(address, 0x44444444 if address & ~4 in self._pins else 0)

    def _set(self, address, value):
        self._access()
        if I2C1 <= address < I2C1 + 0x24:
            freed = getattr(self.i2c, "filter_freed", False)
            if address == I2C1 and value & 0x8000 and freed:
                self.i2c.busy_locked = False
            self.i2c.set(address - I2C1, value, self.now_ns)
            if address == I2C1 and value & PE:
                modes = {self.mode(GPIOB, pin) >> 2 for pin in (SCL, SDA)}
                assert modes == {ALTERNATE_OPEN_DRAIN}, "the pins belong to the peripheral while it works"
        elif address - 0x10 in self._pins:
            self._drive(address - 0x10, value)
        elif address == USART1 + 4:
            self.sent.append(value)
        elif address == IWDG_KR and value == 0xAAAA:
            self.fed += 1
        else:
            self._registers[address] = value
        if address == RCC_CFGR:
            self._switch_clock(value)

    def _switch_clock(self, value):
        if value & 3 == 2:
            times = (value >> 18 & 0xF) + 2
            self.core_hz = times * (8e6 if value & 1 << 16 else 4e6)
            assert self._registers.get(0x40022000, 0) & 7 == 2, "the flash needs two wait states"

    def register(self, address):
        return self._registers.get(address, 0)

    # the line and the signals

    def serve(self):
        """The USART's interrupts, until nothing is left to send or receive."""
        while self.to_receive or self.register(USART1 + 0xC) & TXEIE:
            self.lib.usart1_interrupt()

    def read(self, address, register, count):
        """(result, bytes) of the driver."""
        data = (ctypes.c_uint8 * count)()
        result = self.lib.board_i2c_read(address, register, data, ctypes.c_size_t(count))
        return result, bytes(data)

    def write(self, address, register, value):
        return self.lib.board_i2c_write(address, register, value)

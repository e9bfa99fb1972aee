"""The I2C peripheral of an STM32F103 as its reference manual RM0008 describes it, with the chips of a virtual bus.

Time is that of the model that owns it. Two errata are part of it: a BUSY flag that the analog filter locks, and the
last byte that is lost when the read comes after the stop.
"""

SB, ADDR, BTF, RXNE, TXE, AF = 1 << 0, 1 << 1, 1 << 2, 1 << 6, 1 << 7, 1 << 10
PE, START, STOP, ACK, POS, SWRST = 1 << 0, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 15
CR1, CR2, DR, SR1, SR2, CCR, TRISE = 0x00, 0x04, 0x10, 0x14, 0x18, 0x1C, 0x20
LOST = 0xEE  # what is read in place of a byte that the erratum has lost


class I2cModel:
    """bus: a VirtualBus. clock_held: a chip holds SCL low for ever. busy_locked: the erratum of the analog filter."""

    def __init__(self, bus, apb1_hz):
        self.bus, self._apb1_hz = bus, apb1_hz
        self.clock_held = self.busy_locked = False
        self.lines_busy = lambda: False
        self.sent_by_chip = []  # bytes of each read that the chip has put on the wires
        self.resets = 0
        self.stops_after_ack = 0  # the chip then holds the data line with its next byte
        self._registers = dict.fromkeys((CR1, CR2, CCR, TRISE), 0)
        self._clear()

    def _clear(self):
        self.sr1, self.busy, self._dr, self._shift = 0, False, None, None
        self._event = None  # (instant in ns, what happens)
        self._chip, self._pointer, self._receiving, self._acked = None, None, False, True
        self._read_sr1 = False
        self._ack_next = True

    @property
    def bit_ns(self):
        """One clock of the bus: high for CCR and low for twice as many clocks of APB1 in fast mode."""
        ccr = self._registers[CCR]
        assert ccr & 0x8000, "the driver uses fast mode"
        return 3 * (ccr & 0xFFF) * 1e9 / self._apb1_hz()

    def _later(self, now_ns, bits, what):
        self._event = (now_ns + bits * self.bit_ns, what)

    def run(self, now_ns):
        """Let everything happen that is due."""
        while self._event is not None and not self.clock_held and self._event[0] <= now_ns:
            at, what = self._event
            self._event = None
            what(at)

    # what happens on the wires

    def _started(self, at):
        self.sr1 |= SB
        self.busy = True
        self._registers[CR1] &= ~START
        if self._receiving:
            self.end_of_read()

    def end_of_read(self):
        self._receiving = False

    def _addressed(self, at):
        address, self._receiving = self._dr >> 1, bool(self._dr & 1)
        self._dr = None
        self._chip = None if address in self.bus.stuck else self.bus.chips.get(address)
        if self._chip is None:
            self.sr1 |= AF
            return
        self._chip.at(round(at / 1000))
        self.sr1 |= ADDR | (0 if self._receiving else TXE)
        self._pointer = self._pointer if self._receiving else None
        if self._receiving:
            self.sent_by_chip.append(0)

    def _byte_sent(self, at):
        byte, self._dr = self._dr, None
        if self._pointer is None:
            self._pointer = byte
        else:
            self._chip.write_register(self._pointer, byte)
            self._pointer = self._chip.after(self._pointer)
        self.sr1 |= TXE | BTF

    def _byte_received(self, at):
        byte = 0xFF
        if self._acked:
            byte = self._chip.read_register(self._pointer)
            self._pointer = self._chip.after(self._pointer)
            self.sent_by_chip[-1] += 1
        # with POS the ACK bit is that of the byte after this one
        ack = bool(self._registers[CR1] & ACK)
        self._acked = self._acked and (self._ack_next if self._registers[CR1] & POS else ack)
        self._ack_next = ack
        if self._dr is None:
            self._dr = byte
            self.sr1 |= RXNE
            self._next_byte(at)
        else:
            self._shift = byte
            self.sr1 |= BTF  # the clock is held low until the data register is read
            if self._registers[CR1] & STOP:
                self._later(at, 1, self._stopped)

    def _next_byte(self, at):
        if self._registers[CR1] & STOP:
            self._later(at, 1, self._stopped)
        else:
            self._later(at, 9, self._byte_received)

    def _stopped(self, at):
        self.stops_after_ack += self._receiving and self._acked
        if self._shift is not None:
            self._shift = LOST  # erratum: the read of the byte before came after the stop
        self.busy = self._receiving = False
        self._registers[CR1] &= ~STOP

    # registers

    def get(self, register, now_ns):
        if register == SR1:
            self._read_sr1 = True
            return self.sr1
        if register == SR2:
            if self.sr1 & ADDR and self._read_sr1:
                self.sr1 &= ~ADDR
                if self._receiving:
                    self._acked = self._ack_next = True
                    self._next_byte(now_ns)
            return 2 if self.busy or self.busy_locked or self.lines_busy() else 0
        if register == DR:
            return self._read_data(now_ns)
        return self._registers[register]

    def _read_data(self, now_ns):
        byte = self._dr if self._dr is not None else 0
        self._dr, self._shift, stretched = self._shift, None, self._shift is not None
        self.sr1 &= ~(BTF | (RXNE if self._dr is None else 0))
        if stretched and self._receiving and self._event is None:
            self._next_byte(now_ns)
        return byte

    def set(self, register, value, now_ns):
        if register == CR1:
            self._set_control(value, now_ns)
        elif register == DR:
            self._write_data(value, now_ns)
        elif register == SR1:
            self.sr1 &= value
        else:
            self._registers[register] = value

    def _set_control(self, value, now_ns):
        before = self._registers[CR1]
        if value & SWRST:
            self.resets += 1
            self._clear()
        self._registers[CR1] = value
        rising = value & ~before
        if not value & PE:
            self._clear()
        elif rising & START and not self.busy_locked and not (self.lines_busy() and not self.busy):
            self.sr1 &= ~BTF
            self._later(now_ns, 1, self._started)
        elif rising & STOP and (self._event is None or self.sr1 & AF):
            self.sr1 &= ~BTF if not self._receiving else 0xFFFF
            self._later(now_ns, 1, self._stopped)

    def _write_data(self, value, now_ns):
        self._dr = value
        if self.sr1 & SB and self._read_sr1:
            self.sr1 &= ~SB
            self._later(now_ns, 9, self._addressed)
        else:
            self.sr1 &= ~(TXE | BTF)
            self._later(now_ns, 9, self._byte_sent)
        self._read_sr1 = False

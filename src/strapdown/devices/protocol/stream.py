"""From frames to samples: time, units, losses, resets. The same code serves a serial line and a recorded file."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from strapdown.devices.protocol import frame as of
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.frame import Frame
from strapdown.devices.protocol.mark import Mark
from strapdown.devices.protocol.time_axis import WRAP_US, ClockFit, TimeAxis
from strapdown.devices.protocol.units import Units, at_end_of_range, new_field
from strapdown.sample import Sample

_BACKWARD = 1 << 31
_SEQUENCES = 1 << 16
_UNEVEN = 0.3  # of a step: how far a stamp may be from where its sequence number puts it
_FROZEN_S = 0.25  # a chip whose six readings stay the same for so long is stuck: noise changes them


class Stamped(NamedTuple):
    """A sample with the module's time (s on its axis) and the counts it was made of. A stamped sample also has the
    host's time at its arrival (s, monotone; None: from a file).
    """

    module_s: float
    host_s: float | None
    sample: Sample
    readings: say.Readings


class Happened(NamedTuple):
    """An event of the module or its line: kind in one word, and a sentence for people."""

    t_s: float
    kind: str
    text: str


@dataclass
class Counts:
    """Counts of received and lost data since the stream began."""

    samples: int = 0
    lost: int = 0
    silent: int = 0  # samples without a reading of the inertial chip, rejected
    doubtful: int = 0  # samples whose stamp and sequence number fit no others, rejected
    resets: int = 0
    gaps: int = 0  # stretches of lost samples
    longest_gap_s: float = 0.0
    frozen: int = 0  # samples in which the inertial chip repeated itself for too long
    by_kind: dict[int, int] = field(default_factory=dict)


class ModuleStream:
    """One module.

    hello: the last hello frame; samples before the first hello are counted as doubtful.
    """

    def __init__(self) -> None:
        self.hello: say.Hello | None = None
        self.status: say.Status | None = None
        self.counts = Counts()
        self.axis, self.clock = TimeAxis(), ClockFit()
        self.happened: list[Happened] = []
        self.rebased = False  # the axis has begun anew: a recorder writes a mark before the next frame
        self._units: Units | None = None
        self._sequence: int | None = None
        self._step_us = 0.0
        self._last_t: float | None = None
        self._ticks: int | None = None
        self._travel_ticks = 0
        self._doubted: Frame | None = None
        self._uptime_s = 0
        self._same: tuple[tuple[int, ...], float] = ((), 0.0)
        self._is_frozen = False

    @property
    def odometer_m(self) -> float | None:
        """Travel since the stream began; None: no encoder."""
        tick_m = None if self._units is None else self._units.tick_m
        return None if tick_m is None else self._travel_ticks * tick_m

    @property
    def t_s(self) -> float:
        return 0.0 if self.axis.last_us is None else self.axis.last_us / 1e6

    def take(self, frame: Frame, host_s: float | None = None) -> list[Stamped]:
        """The samples that are certain after this frame: none, one, or two."""
        self.counts.by_kind[frame.kind] = self.counts.by_kind.get(frame.kind, 0) + 1
        if frame.kind == of.SAMPLE:
            return self._sample(frame, host_s)
        if frame.kind == of.HELLO:
            self._hello(frame, host_s)
        elif frame.kind == of.STATUS:
            self.status = say.Status.unpacked(frame.body)
            if self.status.uptime_s < self._uptime_s:
                self._reset(frame.time_us, host_s)
            self._uptime_s = self.status.uptime_s
        elif frame.kind == of.HOST_MARK:
            self._mark(frame)
        return []

    def _say(self, kind: str, text: str) -> None:
        self.happened.append(Happened(self.t_s, kind, text))

    def _hello(self, frame: Frame, host_s: float | None) -> None:
        hello = say.Hello.unpacked(frame.body)
        if self.hello is not None and hello.serial_number != self.hello.serial_number:
            self._say("other_module", f"another module answers: {hello.serial}, before it was {self.hello.serial}")
        if self.hello is not None and hello.reason == say.WAS_RESET:
            self._reset(frame.time_us, host_s)
        self.hello, self._units = hello, Units.of(hello)
        self._uptime_s = hello.uptime_s
        step_us = 1e6 / max(hello.rate_hz, 1)
        if step_us != self._step_us:
            self._step_us, self._sequence = step_us, None

    def _reset(self, stamp: int, host_s: float | None) -> None:
        self.counts.resets += 1
        if host_s is not None:  # in a file a mark has moved the axis before
            self.axis.restart(stamp, host_s)
        self._sequence, self._ticks, self._doubted = None, None, None
        self.rebased = True
        self._say("reset", "the module was reset; its time goes on by the host's clock")

    def _mark(self, frame: Frame) -> None:
        """Take a mark from a file: it has the recorder's own time axis."""
        mark = Mark.unpacked(frame.body)
        if mark.offset_us != self.axis.offset_us:
            self.counts.doubtful += self._doubted is not None
            self._sequence, self._ticks, self._doubted = None, None, None
            self.axis.offset_us = mark.offset_us
            self.axis.last_us = max(frame.time_us + mark.offset_us, self.axis.last_us or 0)
        self.clock.put(frame.time_us + mark.offset_us, mark.host_ns * 1e-9)

    def _sample(self, frame: Frame, host_s: float | None) -> list[Stamped]:
        if self._units is None:
            self.counts.doubtful += 1
            return []
        doubted, self._doubted = self._doubted, None
        if self._sequence is None:
            return self._taken(frame, host_s, 0)
        lost = self._fits(self._sequence, self.axis.ahead_us(frame.time_us), frame.sequence)
        if lost is not None:
            self.counts.doubtful += doubted is not None
            return self._taken(frame, host_s, lost)
        if doubted is not None:
            ahead = (frame.time_us - doubted.time_us) % WRAP_US
            if self._fits(doubted.sequence, ahead, frame.sequence) is not None:
                return self._moved_on(doubted, frame, host_s)
            self.counts.doubtful += 1
        self._doubted = frame  # it counts if the next one agrees with it
        return []

    def _moved_on(self, first: Frame, second: Frame, host_s: float | None) -> list[Stamped]:
        """Whether two frames agree with each other and not with those before: a reset without a hello, or a long
        silence.
        """
        if self.axis.ahead_us(first.time_us) >= _BACKWARD:
            self.counts.doubtful += 1
            self._reset(second.time_us, host_s)
            return self._taken(second, host_s, 0)
        lost = max(round(self.axis.ahead_us(first.time_us) / self._step_us) - 1, 0)
        found = self._taken(first, host_s, lost)
        return found + self._taken(second, host_s, (second.sequence - first.sequence - 1) % _SEQUENCES)

    def _fits(self, sequence: int, ahead_us: int, new: int) -> int | None:
        """Samples lost between two frames whose time and sequence numbers agree; None: they do not agree."""
        gap = (new - sequence) % _SEQUENCES
        if ahead_us >= _BACKWARD or ahead_us == 0:
            return None
        steps = ahead_us / self._step_us
        gap += _SEQUENCES * max(round((steps - gap) / _SEQUENCES), 0)
        # a chip's own clock is off by up to a few percent
        return gap - 1 if gap and abs(steps - gap) <= _UNEVEN + 0.05 * gap else None

    def _taken(self, frame: Frame, host_s: float | None, lost: int) -> list[Stamped]:
        assert self._units is not None
        before_us = self.axis.offset_us
        axis_us = self.axis.take(frame.time_us, host_s)
        if self.axis.offset_us - before_us > WRAP_US:  # several wraps, which a file's reader cannot count
            self.rebased = True
        if host_s is not None:
            self.clock.put(axis_us, host_s)
        self._sequence = frame.sequence
        t = axis_us / 1e6
        if lost:
            self.counts.lost += lost
            self.counts.gaps += 1
            gap_s = t - (t if self._last_t is None else self._last_t)
            self.counts.longest_gap_s = max(self.counts.longest_gap_s, gap_s)
            self._say("lost", f"{lost} samples lost in {gap_s:.3f} s")
        readings = say.Readings.unpacked(frame.body)
        if readings.flags & say.IMU_SILENT:
            if not self.counts.silent:
                self._say("silent", "the inertial chip does not answer; its samples are rejected")
            self.counts.silent += 1
            return []
        if self._last_t is not None and t <= self._last_t:
            self.counts.doubtful += 1
            return []
        self._look_frozen(readings, t)
        self.counts.samples += 1
        sample = self._made(readings, t)
        self._last_t = t
        return [Stamped(t, host_s, sample, readings)]

    def _look_frozen(self, readings: say.Readings, t: float) -> None:
        six = (*readings.acc, *readings.gyr)
        if six != self._same[0]:
            self._same, self._is_frozen = (six, t), False
        elif t - self._same[1] > _FROZEN_S:
            self.counts.frozen += 1
            if not self._is_frozen:
                self._is_frozen = True
                self._say("frozen", "the inertial chip repeats the same readings: it is stuck, or its data line is")

    def _made(self, readings: say.Readings, t: float) -> Sample:
        units = self._units
        assert units is not None
        acc, gyr = np.array(readings.acc, dtype=np.float64), np.array(readings.gyr, dtype=np.float64)
        mag = None
        if units.mag is not None and new_field(readings.flags):
            mag = units.field(np.array(readings.mag, dtype=np.float64))
        travel = None
        if units.tick_m is not None:
            before = self._travel_ticks
            self._travel_ticks += 0 if self._ticks is None else _signed32(readings.ticks - self._ticks)
            self._ticks = readings.ticks
            # as a recording has it, whose odometer is the sum: to the bit
            travel = self._travel_ticks * units.tick_m - before * units.tick_m
        return Sample(
            t,
            0.0 if self._last_t is None else t - self._last_t,
            gyr * units.gyr,
            acc * units.acc,
            mag,
            readings.temperature / units.per_c + units.zero_c,
            stop=bool(readings.flags & say.STOP_SIGNAL),
            travel_m=travel,
            clipped=at_end_of_range((*readings.acc, *readings.gyr)),
        )


def _signed32(x: int) -> int:
    return (x + 0x80000000) % 0x100000000 - 0x80000000

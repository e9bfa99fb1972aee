"""The virtual sensors of a session: read while the vehicle moves, logged, and passed on to the diagram."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.engines.parts import Mount
from strapdown.environment.session.faults.sensor_faults import Reading, SensorFault
from strapdown.environment.session.recording.growing import GrowingRows
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.environment.ideal import IRON
from strapdown.kernels.motion.vibration import LINE, felt_rows
from strapdown.kernels.sensors.module import LOG_COLUMNS, NEW_MAG, READINGS, T
from strapdown.live import PLANT_ROW, Ideal
from strapdown.motion.vibration import Vibration
from strapdown.rotation import q_rotate
from strapdown.sensors.module import Module
from strapdown.sensors.module_reader import FIELDS
from strapdown.types import Motion

_FASTEST_HZ = 200.0  # of sensors with a pace of their own, for the length of their log
NO_LINES = np.zeros((0, LINE))  # of vibration
_ORDER = tuple(FIELDS)  # accelerometer, gyroscope, magnetometer
# number and place in a row of a module's log
_PARTS = {name: (k, slice(READINGS + 3 * k, READINGS + 3 * k + 3)) for k, name in enumerate(_ORDER)}


@dataclass
class Around:
    """Input of sensors besides motion; one object, changed in place each cycle.

    jets: phase, speed and acceleration of each source of vibration, for each row (n, 3 sources).
    celsius: None if each part has a constant temperature.
    carried: magnets that are fixed to the body, frame b of the body.
    """

    field_n: Array
    magnets: Array
    carried: Array = field(default_factory=lambda: np.zeros((0, 6)))
    jets: Array = field(default_factory=lambda: np.zeros((0, 0)))
    celsius: float | None = None


@dataclass
class Tap:
    """Feeds of a sensor block (a tap) and the number of ticks between two of its steps."""

    value: int
    new: int
    every: int
    sigma: int | None = None
    at: int | None = None


class LiveSensor:
    """One sensor of a session. `keep` and `bring_back` return and restore its whole state, a value."""

    instruments: tuple[str, ...] = ()
    rate_hz: float | None = None  # None: a pace of its own
    nominal_hz = 1.0  # readings per second, also of a sensor with a pace of its own
    next_s = -math.inf  # sense need not be called with rows that end before

    def __init__(self, name: str, mount: Mount, base_hz: float) -> None:
        self.name, self.mount, self.base_hz = name, mount, base_hz
        self.faults: tuple[tuple[str, SensorFault], ...] = ()
        self._fault_memory: dict[tuple[str, str], Any] = {}
        self.taps: dict[str, list[Tap]] = {}
        self._q_bs = None if tuple(mount.q_bs) == (1.0, 0.0, 0.0, 0.0) else np.array(mount.q_bs)

    def sense(self, tick: int, rows: Array, j: int, around: Around, feed: "Feed") -> None:
        """The next rows of the plant, (n, mounts, 22), of which mount j is the sensor's. Rows are one tick apart.

        tick: tick of the last row.
        """
        raise NotImplementedError

    def keep(self) -> Any:
        return self._own(), tuple(self._fault_memory.items()), self.faults

    def bring_back(self, kept: Any) -> None:
        own, memory, self.faults = kept
        self._fault_memory = dict(memory)
        self._restore(own)

    def _own(self) -> Any:
        raise NotImplementedError

    def _restore(self, own: Any) -> None:
        raise NotImplementedError

    def forget(self, keep_s: float) -> None:
        """Drop readings that are older than this."""
        raise NotImplementedError

    def begin_fault(self, name: str, fault: SensorFault, seed: int) -> None:
        self.faults = (*self.faults, (name, fault))
        for instrument in self.instruments:
            stream = name if fault.together else f"{name} {instrument}"
            self._fault_memory[name, instrument] = fault.begin(seed, stream)

    def end_fault(self, name: str) -> None:
        self.faults = tuple(item for item in self.faults if item[0] != name)
        for instrument in self.instruments:
            self._fault_memory.pop((name, instrument), None)

    def _afflicted(self, instrument: str, reading: Reading) -> Reading:
        rate = self.rate_hz or self.nominal_hz
        for name, fault in self.faults:
            if fault.instrument in (None, instrument):
                memory = self._fault_memory.get((name, instrument))
                self._fault_memory[name, instrument], reading = fault.act(memory, reading, rate)
        return reading

    def _in_b(self, vector_s: Array) -> Array:
        return vector_s if self._q_bs is None else q_rotate(self._q_bs, vector_s)


class Feed:
    """Writes readings into the feeds of a runner, and takes `new` back after its taps have run."""

    def __init__(self, feeds: list[Any]) -> None:
        self.feeds = feeds
        self._fresh: list[Tap] = []

    def put(self, taps: Sequence[Tap], value: Any, new: bool) -> None:
        feeds = self.feeds
        for tap in taps:
            feeds[tap.value] = value
            if new:
                feeds[tap.new] = 1.0
                self._fresh.append(tap)

    def taken(self, tick: int) -> None:
        """After the diagram's tick: sensor blocks that have run have used their reading."""
        if self._fresh:
            feeds, waiting = self.feeds, []
            for tap in self._fresh:
                if tick % tap.every == 0:
                    feeds[tap.new] = 0.0
                else:
                    waiting.append(tap)
            self._fresh = waiting

    def keep(self) -> tuple[Tap, ...]:
        return tuple(self._fresh)

    def bring_back(self, kept: tuple[Tap, ...]) -> None:
        self._fresh = list(kept)


class ModuleSensor(LiveSensor):
    """A module with accelerometer, gyroscope and magnetometer, through its whole error chain."""

    def __init__(self, name: str, mount: Mount, base_hz: float, module: Module, rate_hz: float, iron: Array) -> None:
        super().__init__(name, mount, base_hz)
        self.rate_hz, self._every = rate_hz, round(base_hz / rate_hz)
        self.instruments = tuple(module.triads)
        assert len(iron) == IRON
        self._iron = iron
        n = self._every
        self._acc, self._gyr, self._mag = (np.zeros((n, 3)) for _ in range(3))
        self._t, self._celsius = np.zeros(n), np.zeros(n)
        self.log, self.truth = GrowingRows(LOG_COLUMNS), GrowingRows(1 + PLANT_ROW)
        self._true = np.zeros(1 + PLANT_ROW)  # time and motion, shaken, at the last row
        self._felt = self._true[1:]
        self.use(module)
        self._state = self._reader.start()
        self._count = 0  # rows in the buffers
        self._waiting: tuple[Array, ...] = ()
        self._lines = NO_LINES  # of the vibration as felt on its mount
        self._seen: tuple[Any, ...] = (None, None, None)  # what _around was made of
        self._around = iron
        fix_signature(felt_rows)

    def shaken_by(self, vibration: Vibration) -> None:
        """Set the vibration of the body that acts on it."""
        self._lines = vibration.mounted(self.mount.r_bs_b, self.mount.q_bs).table

    def use(self, module: Module) -> None:
        """Another specimen or other errors from the next row on."""
        reader = module.reader(self.rate_hz, 1.0 / self.base_hz)  # type: ignore[arg-type]
        self.module, self._reader = module, reader
        self._late = any(t.latency_s > 0.0 or t.jitter_s > 0.0 for t in module.triads.values())

    def sense(self, tick: int, rows: Array, j: int, around: Around, feed: Feed) -> None:
        every, jets, count, i = self._every, around.jets, len(rows), self._count
        if not (i or self.truth.begun):  # a sensor begins with one row, at an instant of its own clock
            if tick % every:
                return
            rows, jets, count = rows[-1:], jets[-1:], 1
        seen = self._seen
        if around.field_n is not seen[0] or around.magnets is not seen[1] or around.carried is not seen[2]:
            self._look_around(around)
        n = i + count
        t, gyr, acc, mag = self._t, self._gyr, self._acc, self._mag
        if count != every:
            t, gyr, acc, mag = t[i:n], gyr[i:n], acc[i:n], mag[i:n]
        first = tick - count + 1
        felt_rows(rows, j, first, self.base_hz, t, jets, self._lines, self._felt, 0, self._around, acc, gyr, mag)
        if around.celsius is not None:
            self._celsius[i:n] = around.celsius
        if tick % every:
            self._count = n
            return
        self._count = 0
        celsius = None if around.celsius is None else self._celsius[:n]
        if n == every:
            ideal = Ideal(self._t, self._gyr, self._acc, self._mag, celsius)
        else:  # the first reading
            ideal = Ideal(self._t[:n], self._gyr[:n], self._acc[:n], self._mag[:n], celsius)
        self._state, log, newest = self._reader.read_log(self._state, ideal)
        self._true[0] = newest
        self.truth.append(self._true)
        if self._late:
            waiting = (*self._waiting, *log)
            arrived = sum(row.item(T) <= newest for row in waiting)
            log, self._waiting = waiting[:arrived], waiting[arrived:]  # type: ignore[assignment]
        for i in range(len(log)):  # by number: to begin to iterate over an array takes longer
            self._pass_on(log[i], feed)

    def _look_around(self, around: Around) -> None:
        """Magnetic surroundings and the iron of the mount in the form of the kernel."""
        magnets = around.magnets, around.carried
        counts = [float(len(each)) for each in magnets]
        self._around = np.concatenate([self._iron, around.field_n, counts, *(each.ravel() for each in magnets)])
        self._seen = around.field_n, *magnets

    def _pass_on(self, row: Array, feed: Feed) -> None:
        news = (True, True, row.item(NEW_MAG) != 0.0)
        if self.faults:
            row, news = self._faulty(row, news)
            if not (news[0] or news[1]):
                return
        self.log.append(row)
        for instrument, taps in self.taps.items():
            k, part = _PARTS[instrument]
            feed.put(taps, row[part] if self._q_bs is None else self._in_b(row[part]), news[k])

    def _faulty(self, row: Array, news: tuple[bool, bool, bool]) -> tuple[Array, tuple[bool, bool, bool]]:
        """The row with the faults, and which instruments have a new reading. Apply the faults to a row. Without
        accelerometer and gyroscope there is no row.
        """
        row, given = row.copy(), list(news)
        for k, instrument in enumerate(_ORDER):
            if instrument not in self.instruments:
                continue
            part = _PARTS[instrument][1]
            row[part], given[k] = self._afflicted(instrument, Reading(row[part].copy(), news[k]))
        row[NEW_MAG] = float(given[2])
        return row, (given[0], given[1], given[2])

    def _own(self) -> Any:
        buffers = tuple(b[: self._count].copy() for b in (self._acc, self._gyr, self._mag, self._t, self._celsius))
        return self._state, buffers, self._waiting, len(self.log), len(self.truth), self.module

    def _restore(self, own: Any) -> None:
        self._state, buffers, self._waiting, logged, true, module = own
        self._count = len(buffers[0])
        for ours, kept in zip((self._acc, self._gyr, self._mag, self._t, self._celsius), buffers, strict=True):
            ours[: self._count] = kept
        self.log.cut(logged)
        self.truth.cut(true)
        if module is not self.module:
            self.use(module)

    def forget(self, keep_s: float) -> None:
        assert self.rate_hz is not None
        for rows in (self.log, self.truth):
            rows.forget(len(rows) - math.ceil(keep_s * self.rate_hz))

    def ideal_now(self, instrument: str) -> Array:
        """Present reading of an ideal instrument, frame s."""
        return {"accelerometer": self._acc, "gyroscope": self._gyr, "magnetometer": self._mag}[instrument][
            self._count - 1
        ]

    def motion(self) -> Motion:
        """The truth of the sensor's frame at its own times."""
        return motion_of(self.truth.rows())


def motion_of(rows: Array) -> Motion:
    """Rows of time and plant as a Motion."""
    t, r = rows[:, 0], rows[:, 1:]
    return Motion(t, r[:, 0:3], r[:, 7:10], r[:, 10:13], r[:, 3:7], r[:, 13:16], r[:, 16:19])


class ValueSensor(LiveSensor):
    """A sensor with its own rate. `read(state, t, rows, j) -> (state, reading or None)`; a reading has a value of
    `size` numbers, its sigma, and its own instant. `due(state, t)`: the time of the next possible reading.
    """

    def __init__(
        self,
        name: str,
        mount: Mount,
        base_hz: float,
        instrument: str,
        size: int,
        start: Any,
        read: Callable[..., Any],
        due: Callable[[Any, float], float],
    ) -> None:
        super().__init__(name, mount, base_hz)
        self.instruments, self.size = (instrument,), size
        self._state, self.read, self._due = start, read, due
        self.log = GrowingRows(2 + size + (size + 1))  # t, new, value, sigma, instant
        self.out = False  # an outage

    def sense(self, tick: int, rows: Array, j: int, around: Around, feed: Feed) -> None:
        now = tick / self.base_hz
        self._state, reading = self.read(self._state, now, rows[-1], j)
        self.next_s = self._due(self._state, now)
        if reading is None or self.out:
            return
        value, sigma, at = reading
        if self.faults:
            value, new = self._afflicted(self.instruments[0], Reading(value, True))
            if not new:
                return
        if self.size == 1:
            self.log.append((now, 1.0, value, sigma, at))
        else:
            self.log.append((now, 1.0, *value.tolist(), *sigma.tolist(), at))
        for tap in self.taps.get(self.instruments[0], ()):
            feed.put((tap,), value, True)
            if tap.sigma is not None and tap.at is not None:
                feed.feeds[tap.sigma], feed.feeds[tap.at] = sigma, at

    def forget(self, keep_s: float) -> None:
        self.log.forget(len(self.log) - math.ceil(keep_s * min(self.base_hz, _FASTEST_HZ)))

    def _own(self) -> Any:
        return self._state, len(self.log), self.out

    def _restore(self, own: Any) -> None:
        self._state, logged, self.out = own
        self.log.cut(logged)
        self.next_s = -math.inf


def iron_numbers(hard_ut: Sequence[float], soft: Sequence[Sequence[float]]) -> Array:
    """Hard and soft iron in the form of the kernel."""
    return np.concatenate([np.array(hard_ut, dtype=np.float64), np.array(soft, dtype=np.float64).ravel()])

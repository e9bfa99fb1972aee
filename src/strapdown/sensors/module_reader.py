"""A virtual module while it is read: ideal rows go in, in chunks of any size, and the samples of its log come out."""

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import module as k
from strapdown.kernels.sensors.live_chain import BAD, MISFIT, read_rows
from strapdown.kernels.sensors.module import ANY_CLIPPED, CELSIUS, DT, LOG_COLUMNS, NEW_MAG, T
from strapdown.live import Ideal
from strapdown.sample import Sample
from strapdown.sensors.chain.inputs import (
    exact_step,
    listed_kernel,
    refuse_row,
    rows,
    step_of,
    stride_of,
)
from strapdown.sensors.chain.numbers import as_mode, chain_settings, drift_layout, memory_size
from strapdown.sensors.chain.state import (
    Drawn,
    Origin,
    ReadingState,
    adapted,
    drawn_ahead,
    layout_of,
    new_memory,
    nothing_drawn,
    origin_of,
    state_of,
)
from strapdown.sensors.streams import branch, seed_of
from strapdown.sensors.temperature import SelfHeating, TemperatureSeries, temperature_at
from strapdown.sensors.triad import NO_MATRIX, Triad
from strapdown.types import Recording

if TYPE_CHECKING:
    from strapdown.sensors.module import Module

Array = NDArray[np.float64]

FIELDS = {"accelerometer": "acc_s", "gyroscope": "gyr_s", "magnetometer": "mag_s"}
_KINDS = {"accelerometer": k.ACCELEROMETER, "gyroscope": k.GYROSCOPE, "magnetometer": k.MAGNETOMETER, "clock": k.CLOCK}
_ACC, _GYR, _MAG = (slice(k.READINGS + 3 * _KINDS[name], k.READINGS + 3 * _KINDS[name] + 3) for name in FIELDS)
_ONE_LOG_ROW = 1, LOG_COLUMNS
_NO_ROWS = np.empty((0, 3))  # not locked: numba takes longer to look at an array that is read-only
# Sample's own constructor takes keywords, in Python, and a third of the time of a row
_new_tuple, _NOTHING = tuple.__new__, (None,) * (len(Sample._fields) - 7)


class _Prepared(NamedTuple):
    """Data that a reader needs for every chunk."""

    settings: Array
    parts: NDArray[np.int64]
    origin: Origin
    used: tuple[bool, ...]  # accelerometer, gyroscope, magnetometer
    stride: int
    celsius: Array | None  # None: it changes, or comes with the rows
    names: tuple[str, ...]
    late: bool  # stamps are later than the rows, or may be


@dataclass(frozen=True)
class ModuleReader:
    """Reads a module at rate_hz from ideal rows step_s apart: a LiveModule, the bits of Module.measure.

    step_s: None is the step that the module's low-pass needs (Module.inner_factor).
    instruments: None is all that the module has.

    A reader of another Module may continue with a state: its settings act from the next row on.
    """

    module: "Module"
    rate_hz: float
    step_s: float | None = None
    instruments: tuple[str, ...] | None = None
    even: bool = True  # live rows are checked for their times
    _prepared: "_Prepared" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        chains = self._chains()
        parts, start, kept = [], 0, k.HEAD_MEMORY
        for name, (_, settings) in chains.items():
            size = memory_size(settings)
            source = _KINDS[name if name in FIELDS else next(x for x in chains if x in FIELDS)]
            parts.append((_KINDS[name], source, start, start + len(settings), kept, kept + size))
            start, kept = start + len(settings), kept + size
        lead, numbers = next(iter(chains.values()))
        prepared = _Prepared(
            np.concatenate([settings for _, settings in chains.values()]),
            np.array(parts, dtype=np.int64),
            origin_of(ModuleReader, tuple((name, drift_layout(settings)) for name, (_, settings) in chains.items())),
            tuple(name in chains for name in FIELDS),
            int(numbers[0]),
            self._constant_temperature(),
            tuple(chains),
            lead.latency_s > 0.0 or lead.jitter_s > 0.0,
        )
        object.__setattr__(self, "_prepared", prepared)
        listed_kernel(read_rows)

    def _chains(self) -> dict[str, tuple[Triad, Array]]:
        """The triads in use and their settings; the first is the lead, whose samples are the rows of the log."""
        module, rate_hz = self.module, self.rate_hz
        names = [name for name in FIELDS if name in module.triads and name in (self.instruments or FIELDS)]
        if not names:
            raise InputError(f'module "{module.name}" has no instrument that the ideal readings know')
        step_s = 1.0 / (rate_hz * module.inner_factor(rate_hz)) if self.step_s is None else step_of(self.step_s)
        if self.even:
            step_s = exact_step(None, step_s, rate_hz)
        stride = stride_of(step_s, rate_hz)
        strides = {
            name: stride_of(step_s, rate_hz / max(1, math.ceil(rate_hz / module.fastest_hz.get(name, math.inf))))
            for name in names
        }
        triads = {name: replace(module.triads[name], latency_s=0.0, jitter_s=0.0, loss=0.0) for name in names}
        lead = next((name for name in names if strides[name] == stride), "clock")
        clock = {
            field: max(getattr(triad, field) for triad in module.triads.values())
            for field in ("latency_s", "jitter_s", "loss")
        }
        triads[lead] = replace(triads.get(lead, Triad("m/s2")), **clock)
        chains = {}
        for name in (lead, *(name for name in names if name != lead)):
            # a part has terms that the other models' formulas lack: choosing such a model removes them
            triad = as_mode(triads[name], module.mode)
            try:
                if name != "gyroscope" and triad.g_sensitivity != NO_MATRIX:
                    raise InputError("g_sensitivity is a term of gyroscopes; remove it")
                axes = module.magnetometer_axes if name == "magnetometer" else None
                each = strides.get(name, stride)
                settings = chain_settings(triad, module.mode, step_s, each, even=self.even, axes=axes)
            except InputError as error:
                raise InputError(f'sensor "{module.name}", {name}: {error}') from None
            chains[name] = triad, settings
        return chains

    def _constant_temperature(self) -> Array | None:
        """The constant temperature. None: it changes, or comes with the rows."""
        source = self.module.temperature
        if isinstance(source, TemperatureSeries | SelfHeating) or np.ndim(source) > 0:
            return None
        return np.array(temperature_at(source, np.empty(0)))

    def start(self) -> ReadingState:
        """The state before the first row: of the module's seed."""
        memory, generators = [np.zeros(k.HEAD_MEMORY)], []
        memory[0][[k.BEGAN, k.LAST, k.SHOWN]] = -np.inf
        clock = branch(seed_of(self.module.seed, self.module.name, "clock"), 1 + m.TERMS)
        for i, name in enumerate(self._prepared.names):
            turn_on, *own = branch(seed_of(self.module.seed, self.module.name, name), 1 + m.TERMS)
            if i == 0:  # stamps and losses are those of the module
                own[m.JITTER], own[m.LOSS] = clock[1 + m.JITTER], clock[1 + m.LOSS]
            size = self._prepared.parts[i, k.MEMORY_END] - self._prepared.parts[i, k.MEMORY]
            memory.append(new_memory(int(size), turn_on))
            generators += own
        return state_of(self._prepared.origin, np.concatenate(memory), nothing_drawn(generators))

    def read(self, state: ReadingState, ideal: Ideal | Recording) -> tuple[ReadingState, list[Sample]]:
        """The next rows of ideal readings, and the samples that have arrived by the time of the last of them."""
        prepared = self._prepared
        used = prepared.used
        if not (used[0] and used[1]):
            missing = "gyroscope" if used[0] else "accelerometer"
            raise InputError(f'module "{self.module.name}" has no {missing}, and a sample needs one')
        after, log, newest = self.read_log(state, ideal)
        if prepared.late:
            waiting, arrived = (*state.waiting, *log), 0
            for row in waiting:
                if row.item(T) > newest:
                    break
                arrived += 1
            log, after.waiting = waiting[:arrived], waiting[arrived:]  # type: ignore[assignment]
        samples, with_mag = [], used[2]
        for row in log:
            v = row.tolist()
            mag_s = row[_MAG] if with_mag and v[NEW_MAG] else None
            values = v[T], v[DT], row[_GYR], row[_ACC], mag_s, v[CELSIUS], *_NOTHING, v[ANY_CLIPPED] != 0.0
            samples.append(_new_tuple(Sample, values))
        return after, samples

    def read_log(self, state: ReadingState, ideal: Ideal | Recording) -> tuple[ReadingState, Array, float]:
        """The next rows of the log (columns: kernels/sensors/module.py), also those stamped later; and the newest
        time.
        """
        settings, parts, origin, used, stride, constant, *_ = self._prepared
        t, acc, gyr, mag, celsius = ideal.t, ideal.acc_s, ideal.gyr_s, ideal.mag_s, ideal.temperature
        try:
            n = len(t)
            if state.origin is not origin or n == 0:
                raise TypeError
            gyr, mag = gyr if used[1] else _NO_ROWS, mag if used[2] else _NO_ROWS
            if celsius is None:
                celsius = self._temperature(t) if constant is None else constant
            elif celsius.shape != (n,):
                raise TypeError
            memory, drawn = state.memory.copy(), state.drawn
            out = np.empty(_ONE_LOG_ROW if n == 1 else ((n - 1) // stride + 1, LOG_COLUMNS))
            count = read_rows(settings, parts, memory, drawn[0], t, acc, gyr, mag, celsius, out)
            if count == MISFIT:
                raise TypeError
        except (TypeError, AttributeError):  # not as the kernel takes it: lists, one row as (3,), other settings
            memory, drawn = self._adopted(state), state.drawn
            t, acc, gyr, mag, celsius = self._checked(ideal)
            out = np.empty(((len(t) - 1) // stride + 1, LOG_COLUMNS))
            count = read_rows(settings, parts, memory, drawn[0], t, acc, gyr, mag, celsius, out)
        while count < 0:
            if count == BAD:
                self._refuse(memory, t, {"accelerometer": acc, "gyroscope": gyr, "magnetometer": mag}, celsius)  # type: ignore[dict-item]
            drawn = self._drawn_on(memory, drawn)
            count = read_rows(settings, parts, memory, drawn[0], t, acc, gyr, mag, celsius, out)
        after = ReadingState()
        after.origin, after.memory, after.drawn, after.waiting = origin, memory, drawn, state.waiting
        return after, out if count == len(out) else out[:count], t[-1]

    def _temperature(self, t: Array) -> Array:
        source = self.module.temperature
        if not isinstance(source, TemperatureSeries | SelfHeating) and np.shape(source) not in ((), t.shape):
            raise InputError(f'module "{self.module.name}" has a temperature for each row; give it with the ideal rows')
        return np.ascontiguousarray(temperature_at(source, t))

    def _adopted(self, state: ReadingState) -> Array:
        """The memory of a state, laid out for our settings."""
        layout = layout_of(state, ModuleReader, "Module.reader(rate_hz).start()")
        wanted = self._prepared.origin[1]
        if tuple(name for name, _ in layout) != tuple(name for name, _ in wanted):
            raise InputError(
                f"the state was started with {', '.join(name for name, _ in layout)} in this order, "
                f"the module now has {', '.join(self._prepared.names)}; start anew"
            )
        memory, at = [state.memory[: k.HEAD_MEMORY]], k.HEAD_MEMORY
        for (name, had), (_, ours), part in zip(layout, wanted, self._prepared.parts, strict=True):
            size = memory_of(had)
            try:
                ends = int(part[k.MEMORY_END] - part[k.MEMORY])
                memory.append(adapted(state.memory[at : at + size], had, ours, ends))
            except InputError as error:
                raise InputError(f'sensor "{self.module.name}", {name}: {error}') from None
            at += size
        return np.concatenate(memory)

    def _drawn_on(self, memory: Array, drawn: Drawn) -> Drawn:
        """Draw random numbers for the next rows of all instruments."""
        ahead, generators = drawn[0].copy(), list(drawn[1])
        for i, part in enumerate(self._prepared.parts.tolist()):
            settings = self._prepared.settings[part[k.SETTINGS] : part[k.SETTINGS_END]]
            mine = slice(m.TERMS * i, m.TERMS * (i + 1))
            own = memory[part[k.MEMORY] : part[k.MEMORY_END]]
            generators[mine] = drawn_ahead(settings, own, ahead[mine], generators[mine])
        return ahead, tuple(generators)

    def _refuse(self, memory: Array, t: Array, ideals: dict[str, Array], celsius: Array) -> None:
        """Raise for the row at which the kernel stopped."""
        lead = self._prepared.parts[0, k.MEMORY]
        row, force = int(memory[lead + m.NEXT_ROW]), ideals["accelerometer"]
        for name, part in zip(self._prepared.names, self._prepared.parts, strict=True):
            settings = self._prepared.settings[part[k.SETTINGS] : part[k.SETTINGS_END]]
            own = memory[part[k.MEMORY] : part[k.MEMORY_END]]
            ideal = ideals.get(name, next(x for x in ideals.values() if len(x)))
            try:
                refuse_row(settings, own, t, ideal, force, celsius, row)
            except InputError as error:
                raise InputError(f'sensor "{self.module.name}", {name}: {error}') from None

    def _checked(self, ideal: Ideal | Recording) -> tuple[Array, Array, Array, Array, Array]:
        t = np.ascontiguousarray(np.atleast_1d(np.asarray(ideal.t, dtype=np.float64)))
        if t.ndim != 1 or len(t) == 0:
            raise InputError(f"t has shape {t.shape}, expected at least one time")
        arrays = []
        for used, (name, column) in zip(self._prepared.used, FIELDS.items(), strict=True):
            values = getattr(ideal, column)
            if used and values is None:
                raise InputError(f'the ideal rows have no {column}, which the {name} of "{self.module.name}" needs')
            keep = values is not None and (used or (column == "acc_s" and self._prepared.used[1]))
            values = np.reshape(values, (1, 3)) if np.shape(values) == (3,) else values
            arrays.append(rows(values, t, column) if keep else _NO_ROWS)
        if not len(arrays[0]) and self._needs_force():
            raise InputError(
                f'sensor "{self.module.name}", gyroscope: g_sensitivity needs the specific force; give acc_s'
            )
        own = ideal.temperature is None
        celsius = self._temperature(t) if own else np.ascontiguousarray(temperature_at(ideal.temperature, t))  # type: ignore[arg-type]
        return t, *arrays, celsius  # type: ignore[return-value]

    def _needs_force(self) -> bool:
        triad = self.module.triads.get("gyroscope")
        if triad is None or not self._prepared.used[1]:
            return False
        return as_mode(triad, self.module.mode).g_sensitivity != NO_MATRIX


def memory_of(layout: tuple[int, ...]) -> int:
    """Size of a chain's memory with this layout of its drift."""
    return m.PARTS + (3 * (layout[1] + 1) if layout[:1] == (-1,) else 6 * len(layout))

"""From true values to readings: a Triad's errors applied to a recording. What acts, in which order: docs/errors.md."""

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors.drift import drift_grid, matlab_drift_rows
from strapdown.kernels.sensors.error_chain import arrival_rows, measure_rows
from strapdown.sensors.chain_input import even_times, locked, rows, stride_of
from strapdown.sensors.streams import branch
from strapdown.sensors.temperature import Temperature, temperature_at
from strapdown.sensors.triad import NO_MATRIX, ZERO, Triad, instability_processes

Array = NDArray[np.float64]
Stream = np.random.Generator | np.random.SeedSequence

PHYSICAL, MATLAB, PAPER = "physical", "matlab", "paper"
# What the formulas of the other models do not have; filters, latency, jitter and loss stand around any of them
MISSING = {
    PHYSICAL: (),
    MATLAB: ("nonlinearity", "turn_on", "quantisation"),
    PAPER: ("nonlinearity", "turn_on", "quantisation", "g_sensitivity", "instability", "walk"),
}
# Processes of the instability run straight between steps, at least this many per time constant: the fastest, whose rise
# lies below the band, and the others, whose rise lies in it; the lines take less than 0.3 % of the Allan deviation
# in the band. Steps are powers of two samples.
STEPS_OF_FASTEST, STEPS_OF_OTHERS = 8, 16
SAMPLES_PER_STEP = 16  # at most, of the fastest
SAMPLES_IN_BAND = 5  # the floor cannot be told from white noise below so many samples


@dataclass(frozen=True, eq=False)
class Measured:
    """What comes out of a sensor. t: stamps of the log; kept: the input rows the readings belong to.

    A value belongs to the instant of its input row; its stamp is later by the latency, and off by the jitter.
    saturated: per sample and axis. resolution: unit per count, 0 if the readings are not rounded.
    """

    t: Array
    values: Array
    saturated: NDArray[np.bool_]
    kept: NDArray[np.int64]
    resolution: float = 0.0

    def __len__(self) -> int:
        return len(self.t)

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """The register values: counts * resolution == values, to the bit. None without a resolution."""
        return np.rint(self.values / self.resolution).astype(np.int64) if self.resolution > 0.0 else None


def measure(
    triad: Triad,
    t: ArrayLike,
    ideal: ArrayLike,
    *,
    stream: Stream,
    temperature_c: Temperature = 25.0,
    specific_force: ArrayLike | None = None,
    output_rate_hz: float | None = None,
    mode: str = PHYSICAL,
) -> Measured:
    """Readings of a sensor whose frame has the true values `ideal` (n, 3) at the evenly spaced times t.

    specific_force (n, 3), same frame: for the g-sensitivity of gyroscopes. output_rate_hz: the part's data rate, the
    input's or a whole part of it. The same SeedSequence gives the same readings; a Generator goes on from call to call.
    """
    task = _Task(triad, t, temperature_c, output_rate_hz, mode)
    return task.run(rows(ideal, task.t, "ideal"), task.force(specific_force), stream)


def measure_batch(
    triads: Triad | Sequence[Triad],
    t: ArrayLike,
    ideal: ArrayLike,
    *,
    streams: Sequence[Stream],
    temperature_c: Temperature = 25.0,
    specific_force: ArrayLike | None = None,
    output_rate_hz: float | None = None,
    mode: str = PHYSICAL,
    workers: int | None = None,
) -> list[Measured]:
    """Many recordings at once, one for each stream, on all cores: the same bits as `measure` one by one.

    ideal and specific_force: (m, n, 3), or (n, 3) for all. triads: one for all, or m specimens.
    """
    m = len(streams)
    many = [triads] * m if isinstance(triads, Triad) else list(triads)
    if len(many) != m:
        raise InputError(f"{len(many)} triads for {m} streams; give one for all or one for each")
    if len({id(source) for source in streams if isinstance(source, np.random.Generator)}) < sum(
        isinstance(source, np.random.Generator) for source in streams
    ):
        raise InputError("one generator stands twice in streams; give each recording its own")
    tasks = {triad: _Task(triad, t, temperature_c, output_rate_hz, mode) for triad in dict.fromkeys(many)}

    def each(x: ArrayLike | None, name: str) -> Iterable[Any]:
        array = None if x is None else np.asarray(x)
        if array is None or array.ndim == 2:
            return [array] * m
        if array.ndim != 3 or len(array) != m:
            raise InputError(f"{name} has shape {array.shape}; expected ({m}, n, 3), one recording for each stream")
        return array

    def one(work: tuple[Triad, Any, Any, Stream]) -> Measured:
        task = tasks[work[0]]
        return task.run(rows(work[1], task.t, "ideal"), task.force(work[2]), work[3])

    work = zip(many, each(ideal, "ideal"), each(specific_force, "specific_force"), streams, strict=True)
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:  # the kernels run without the interpreter's lock
        return list(pool.map(one, work))


def as_mode(triad: Triad, mode: str) -> Triad:
    """The same sensor with only the terms that the mode's formula has."""
    empty: dict[str, Any] = {
        name: NO_MATRIX if name == "g_sensitivity" else ZERO for name in MISSING[_known_mode(mode)]
    }
    if mode != PHYSICAL:
        empty |= {name: getattr(triad, name)[:1] for name in ("temperature_bias", "temperature_scale")}
    if mode == MATLAB:
        empty["g_sensitivity"] = tuple(map(tuple, np.diag(np.diag(triad.g_sensitivity)).tolist()))
    return replace(triad, **empty)


class _Task:
    """All that is the same for each recording of one sensor: checked once, in the form the kernels take."""

    def __init__(
        self, triad: Triad, t: ArrayLike, temperature_c: Temperature, output_rate_hz: float | None, mode: str
    ) -> None:
        reduced = as_mode(triad, mode)
        if reduced != triad:
            names = [name for name in triad.__dataclass_fields__ if getattr(triad, name) != getattr(reduced, name)]
            raise InputError(
                f'mode "{mode}" has no such {", ".join(names)}; use error_chain.as_mode() to leave out what it lacks'
            )
        self.triad, self.mode = triad, mode
        self.t, step = even_times(t, output_rate_hz)
        self.stride = stride_of(step, output_rate_hz)
        self.period = step * self.stride
        self.warm = locked(temperature_at(temperature_c, self.t, triad.limits_c) - triad.reference_c)
        self.lowpass = _NONE1 if triad.bandwidth_hz is None else lowpass(triad.bandwidth_hz, triad.filter_order, step)
        self.full_scale = math.inf if triad.full_scale is None else triad.full_scale
        self.n_out = (len(self.t) - 1) // self.stride + 1
        self.drifts = max(triad.instability + triad.walk) > 0.0
        if self.drifts and mode == PHYSICAL:
            self.processes = _processes(triad, self.period)

    def force(self, specific_force: ArrayLike | None) -> Array:
        if self.triad.g_sensitivity == NO_MATRIX:
            return _NONE2
        if specific_force is None:
            raise InputError("g_sensitivity needs the specific force in the sensor's frame; give specific_force")
        return rows(specific_force, self.t, "specific_force")

    def run(self, ideal: Array, force: Array, source: Stream) -> Measured:
        triad, stride = self.triad, self.stride
        turn_on, white, instability, walk, quantum, jitter, loss = branch(source, 7)
        stamps, kept = np.empty(self.n_out), np.empty(self.n_out, dtype=np.int64)
        count = arrival_rows(
            *(self.t, stride, triad.latency_s, triad.jitter_s, jitter, triad.loss, loss),
            *(1e-3 * self.period, stamps, kept),
        )
        stamps, kept = stamps[:count], kept[:count]
        values, saturated = np.empty((count, 3)), np.empty((count, 3), dtype=np.bool_)
        drift, node = self._drift(instability, walk)
        measure_rows(
            *(ideal, force, self.warm, locked(kept), stride, self.lowpass),
            locked(np.array(triad.nonlinearity) * (0.0 if triad.full_scale is None else triad.full_scale)),
            *(locked(triad.matrix), locked(triad.g_sensitivity)),
            locked(np.array(triad.bias) + np.array(triad.turn_on) * turn_on.standard_normal(3)),
            *(_powers(triad.temperature_bias), _powers(triad.temperature_scale), self.mode != PHYSICAL),
            *(locked(np.array(triad.white) / math.sqrt(self.period)), white, drift, node),
            *(locked(np.array(triad.quantisation) * math.sqrt(12.0) / self.period), quantum),
            *(self.full_scale, triad.resolution, values, saturated),
        )
        return Measured(stamps, values, saturated, kept, triad.resolution)

    def _drift(self, instability: np.random.Generator, walk: np.random.Generator) -> tuple[Array, int]:
        """Instability and walk at the nodes of a grid, and the samples from node to node."""
        triad = self.triad
        if not self.drifts:
            return _NONE2, 1
        if self.mode == PHYSICAL:
            # the walk goes from sample to sample; the instability alone needs no node between its steps
            strides, keep, deviations = self.processes
            node = 1 if max(triad.walk) > 0.0 else int(strides[0])
            out = np.empty(((self.n_out - 1) // node + 2, 3))
            step = locked(np.array(triad.walk) * math.sqrt(self.period))
            drift_grid(
                locked(strides // node), keep, deviations, locked(triad.instability), instability, step, walk, out
            )
            return locked(out), node
        length = max(map(len, triad.matlab_filter))
        numerator, denominator = (np.array(part + (0.0,) * (length - len(part))) for part in triad.matlab_filter)
        out = np.empty((self.n_out, 3))
        step = np.array(triad.walk) * math.sqrt(self.period)
        matlab_drift_rows(
            *(locked(numerator / denominator[0]), locked(denominator / denominator[0])),
            *(locked(triad.instability), instability, locked(step), walk, out),
        )
        return locked(out), 1


@lru_cache(maxsize=256)
def lowpass(bandwidth_hz: float, order: int, step: float) -> Array:
    """b0, b1, b2, a1, a2 of a low-pass with -3 dB at bandwidth_hz (2: Butterworth), exact for straight input."""
    from scipy.signal import butter, cont2discrete

    b, a, _ = cont2discrete(butter(order, 2.0 * math.pi * bandwidth_hz, analog=True), step, method="foh")
    b, a = (np.concatenate([np.ravel(x), np.zeros(2 - order)]) for x in (b, a))
    return locked(np.concatenate([b, a[1:]]))


def _processes(triad: Triad, period: float) -> tuple[NDArray[np.int64], Array, Array]:
    """For each process of the instability: samples per step, what it keeps in a step, and its deviation."""
    low, high = triad.instability_band_s
    low = max(low, SAMPLES_IN_BAND * period)
    if max(triad.instability) == 0.0:
        return np.empty(0, dtype=np.int64), _NONE1, _NONE1
    if not low < high:
        raise InputError(
            f"instability_band_s ends at {high:g} s, which is less than {SAMPLES_IN_BAND} samples {period:g} s apart; "
            "give a longer band or sample faster"
        )
    time_constants, deviations = instability_processes(low, high)
    samples = time_constants / (STEPS_OF_OTHERS * period)
    samples[0] = min(time_constants[0] / (STEPS_OF_FASTEST * period), SAMPLES_PER_STEP)
    strides = 2 ** np.floor(np.log2(np.maximum(samples, 1.0))).astype(np.int64)
    strides = np.maximum.accumulate(strides)  # no slower process is stepped more often
    return strides, locked(np.exp(-strides * period / time_constants)), deviations


def _known_mode(mode: str) -> str:
    if mode not in MISSING:
        raise InputError(f'mode "{mode}" is not known; valid: {", ".join(MISSING)}')
    return mode


_NONE1, _NONE2 = locked(np.empty(0)), locked(np.empty((0, 3)))


def _powers(vectors: tuple[Any, ...]) -> Array:
    return locked(np.array(vectors, dtype=np.float64).reshape(-1, 3))

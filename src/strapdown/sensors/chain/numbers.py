"""The settings of a Triad at one rate as the kernels take them: one array of numbers."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.sensors.chain.inputs import EVEN, locked
from strapdown.sensors.temperature import ABSOLUTE_ZERO_C
from strapdown.sensors.triad import NO_MATRIX, ZERO, Matrix, Triad, instability_processes

Array = NDArray[np.float64]

PHYSICAL, MATLAB, PAPER = "physical", "matlab", "paper"
# Terms that the formulas of the other models lack; filters, latency, jitter and loss act in all of them
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
SAMPLES_IN_BAND = 5  # below so many samples the floor looks like white noise


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


def refuse_missing(triad: Triad, mode: str) -> None:
    """Refuse a triad with a term that the mode's formula does not have."""
    reduced = as_mode(triad, mode)
    if reduced != triad:
        names = [name for name in triad.__dataclass_fields__ if getattr(triad, name) != getattr(reduced, name)]
        raise InputError(f'mode "{mode}" has no such {", ".join(names)}; use error_chain.as_mode() to remove them')


def chain_settings(
    triad: Triad, mode: str, step_s: float, stride: int, *, even: bool, axes: Matrix | None = None
) -> Array:
    """The array that kernels/sensors/chain_settings.py describes.

    even: whether the times of rows are checked.
    axes: v_module = axes @ v_instrument, None if they are the same.
    """
    period = step_s * stride
    parts, processes, node, order = _drift_parts(triad, mode, period)
    powers = [np.ravel(triad.temperature_bias), np.ravel(triad.temperature_scale)]
    numbers = np.zeros(s.PARTS)
    low, high = (ABSOLUTE_ZERO_C, np.finfo(np.float64).max) if triad.limits_c is None else triad.limits_c
    values: dict[int, Any] = {
        s.STRIDE: stride,
        s.MATLAB: mode != PHYSICAL,
        s.FILTERED: triad.bandwidth_hz is not None,
        s.LOWPASS: 0.0 if triad.bandwidth_hz is None else lowpass(triad.bandwidth_hz, triad.filter_order, step_s),
        s.NONLINEARITY: np.array(triad.nonlinearity) * (0.0 if triad.full_scale is None else triad.full_scale),
        s.FULL_SCALE: math.inf if triad.full_scale is None else triad.full_scale,
        s.RESOLUTION: triad.resolution,
        s.MATRIX: np.ravel(triad.matrix),
        s.FORCED: triad.g_sensitivity != NO_MATRIX,
        s.G_MATRIX: np.ravel(triad.g_sensitivity),
        s.BIAS: triad.bias,
        s.TURN_ON: triad.turn_on,
        s.REFERENCE_C: triad.reference_c,
        s.LOW_C: low,
        s.HIGH_C: high,
        s.WHITE: np.array(triad.white) / math.sqrt(period),
        s.QUANTUM: np.array(triad.quantisation) * math.sqrt(12.0) / period,
        s.INSTABILITY: triad.instability,
        s.WALK: np.array(triad.walk) * math.sqrt(period),
        s.NODE: node,
        s.LATENCY: triad.latency_s,
        s.JITTER: triad.jitter_s,
        s.LOSS: triad.loss,
        s.SHORTEST: 1e-3 * period,
        s.STEP: step_s,
        s.UNEVEN: EVEN * step_s if even else math.inf,
        s.PROCESSES: processes,
        s.BIAS_POWERS: len(triad.temperature_bias),
        s.SCALE_POWERS: len(triad.temperature_scale),
        s.ORDER: order,
        s.TURNED: axes is not None,
        s.AXES: 0.0 if axes is None else np.ravel(axes),
    }
    for place, value in values.items():
        numbers[place : place + np.size(value)] = value
    return locked(np.concatenate([numbers, *powers, parts]))


def memory_size(settings: Array) -> int:
    """Number of numbers in the memory of such a chain."""
    if settings[s.MATLAB]:
        return m.PARTS + 3 * (int(settings[s.ORDER]) + 1)
    return m.PARTS + 6 * int(settings[s.PROCESSES])


def drift_layout(settings: Array) -> tuple[int, ...]:
    """Layout of the drift memory: the kind of model, and strides of processes or length of filter."""
    if settings[s.MATLAB]:
        return -1, int(settings[s.ORDER])
    processes = int(settings[s.PROCESSES])
    first = len(settings) - 4 * processes
    return tuple(int(stride) for stride in settings[first : first + processes])


@lru_cache(maxsize=256)
def lowpass(bandwidth_hz: float, order: int, step: float) -> Array:
    """Coefficients b0, b1, b2, a1, a2 of a low-pass with -3 dB at bandwidth_hz (2: Butterworth), exact for input that
    is linear between samples.
    """
    from scipy.signal import butter, cont2discrete

    b, a, _ = cont2discrete(butter(order, 2.0 * math.pi * bandwidth_hz, analog=True), step, method="foh")
    b, a = (np.concatenate([np.ravel(x), np.zeros(2 - order)]) for x in (b, a))
    return locked(np.concatenate([b, a[1:]]))


def _drift_parts(triad: Triad, mode: str, period: float) -> tuple[Array, int, int, int]:
    """The last part of the settings, number of processes, samples per node of their grid, order of MATLAB's filter."""
    if mode != PHYSICAL:
        length = max(map(len, triad.matlab_filter))
        numerator, denominator = (np.array(part + (0.0,) * (length - len(part))) for part in triad.matlab_filter)
        return np.concatenate([numerator, denominator]) / denominator[0], 0, 1, length - 1
    strides, keep, sigmas = _processes(triad, period)
    # the walk goes from sample to sample; the instability alone needs no node between its steps
    node = 1 if max(triad.walk) > 0.0 or len(strides) == 0 else int(strides[0])
    fresh = sigmas * np.sqrt(1.0 - keep * keep)
    return np.concatenate([strides, keep, sigmas, fresh]), len(strides), node, 0


def _processes(triad: Triad, period: float) -> tuple[NDArray[np.int64], Array, Array]:
    """For each process of the instability: samples per step, its factor per step, and its standard deviation."""
    low, high = triad.instability_band_s
    low = max(low, SAMPLES_IN_BAND * period)
    if max(triad.instability) == 0.0:
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    if not low < high:
        raise InputError(
            f"instability_band_s ends at {high:g} s, which is less than {SAMPLES_IN_BAND} samples {period:g} s apart; "
            "give a longer band or sample faster"
        )
    time_constants, sigmas = instability_processes(low, high)
    samples = time_constants / (STEPS_OF_OTHERS * period)
    samples[0] = min(time_constants[0] / (STEPS_OF_FASTEST * period), SAMPLES_PER_STEP)
    strides = 2 ** np.floor(np.log2(np.maximum(samples, 1.0))).astype(np.int64)
    strides = np.maximum.accumulate(strides)  # no slower process is stepped more often
    return strides, locked(np.exp(-strides * period / time_constants)), sigmas


def _known_mode(mode: str) -> str:
    if mode not in MISSING:
        raise InputError(f'mode "{mode}" is not known; valid: {", ".join(MISSING)}')
    return mode

"""The errors of a three-axis sensor: accelerometer, gyroscope or magnetometer, as settings.

SI units: m/s2, rad/s, and uT for magnetometers; "unit" below stands for the one that applies. Every term is zero by
default. The order of the terms and the three modes of the model are in docs/errors.md. After the settings come the
conversions from other terms: data sheets, MATLAB, paper B.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_MATRIX: Matrix = (ZERO, ZERO, ZERO)
UNITS = ("m/s2", "rad/s", "uT")
FLICKER_FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)  # 0.664: Allan deviation of flicker noise, in units of B


@dataclass(frozen=True)
class Triad:
    """One specimen of a sensor. Vectors are per axis x, y, z.

    matrix: scale and cross-coupling, reading = matrix @ truth.
    nonlinearity: largest distance from the straight line, as a part of full_scale; negative: of the other sign.
    g_sensitivity: unit per m/s2 of specific force (gyroscopes).
    bias: constant.
    turn_on: standard deviation of a further constant, drawn again for every run.
    temperature_bias, temperature_scale: one vector for each power of (T - reference), unit/degC and 1/degC first.
    white: N, the integral after t s has sigma N sqrt(t).
    instability: B, the Allan deviation is flat at 0.664 B over instability_band_s.
    walk: K, the drift after t s has sigma K sqrt(t).
    quantisation: Q, unit times s.
    full_scale: readings are clipped there.
    resolution: unit per count.
    bandwidth_hz, filter_order: low-pass of the part (1, or 2: Butterworth). latency_s.
    jitter_s: sigma of the time stamps.
    loss: probability that a sample is missing.
    """

    unit: str
    matrix: Matrix = IDENTITY
    nonlinearity: Vector = ZERO
    g_sensitivity: Matrix = NO_MATRIX
    bias: Vector = ZERO
    turn_on: Vector = ZERO
    temperature_bias: tuple[Vector, ...] = ()
    temperature_scale: tuple[Vector, ...] = ()
    reference_c: float = 25.0
    limits_c: tuple[float, float] | None = None
    white: Vector = ZERO
    instability: Vector = ZERO
    instability_band_s: tuple[float, float] = (1.0, 1000.0)
    walk: Vector = ZERO
    quantisation: Vector = ZERO
    full_scale: float | None = None
    resolution: float = 0.0
    bandwidth_hz: float | None = None
    filter_order: int = 1
    latency_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0
    matlab_filter: tuple[tuple[float, ...], tuple[float, ...]] = ((1.0,), (1.0, -0.5))  # mode "matlab" only

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InputError(f'unit "{self.unit}" is not known; valid: {", ".join(UNITS)}')
        for name in ("matrix", "g_sensitivity"):
            self._set(name, _tuples(getattr(self, name), (3, 3), name))
        for name in (*_NOT_NEGATIVE, "nonlinearity", "bias"):
            self._set(name, _tuples(getattr(self, name), (3,), name))
        for name in ("temperature_bias", "temperature_scale"):
            powers = getattr(self, name)
            if not isinstance(powers, tuple | list | np.ndarray):
                raise InputError(f"{name} is {powers}; give a list of vectors, one for each power of T - reference")
            self._set(name, tuple(_tuples(power, (3,), f"{name}[{p}]") for p, power in enumerate(powers)))
        for name in ("reference_c", "resolution", "latency_s", "jitter_s", "loss"):
            self._set(name, _tuples(getattr(self, name), (), name))
        for name in ("full_scale", "bandwidth_hz"):
            if getattr(self, name) is not None:
                self._set(name, _tuples(getattr(self, name), (), name))
        self._set("instability_band_s", _tuples(self.instability_band_s, (2,), "instability_band_s"))
        if self.limits_c is not None:
            self._set("limits_c", _tuples(self.limits_c, (2,), "limits_c"))
        self._check_ranges()
        self._check_matlab_filter()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_ranges(self) -> None:
        for name in _NOT_NEGATIVE:
            if min(getattr(self, name)) < 0.0:
                raise InputError(f"{name} is {getattr(self, name)}; give numbers that are not negative")
        for name in ("resolution", "latency_s", "jitter_s"):
            if getattr(self, name) < 0.0:
                raise InputError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        if self.full_scale is not None and not self.full_scale > self.resolution:
            raise InputError(
                f"full_scale {self.full_scale:g} {self.unit} is not above "
                f"the resolution {self.resolution:g} {self.unit}; give a larger range"
            )
        if any(self.nonlinearity) and self.full_scale is None:
            raise InputError("nonlinearity is a part of full_scale, which is not given; give it")
        if self.bandwidth_hz is not None and not self.bandwidth_hz > 0.0:
            raise InputError(f"bandwidth_hz is {self.bandwidth_hz}; give a number above 0, or none")
        if self.filter_order not in (1, 2):
            raise InputError(f"filter_order is {self.filter_order}; give 1 or 2")
        self._set("filter_order", int(self.filter_order))
        if not 0.0 <= self.loss < 1.0:
            raise InputError(f"loss is {self.loss}; give a probability from 0 to below 1")
        low, high = self.instability_band_s
        if not 0.0 < low < high:
            raise InputError(
                f"instability_band_s is {self.instability_band_s}; give two times above 0, the shorter first"
            )
        if self.limits_c is not None and not self.limits_c[0] < self.limits_c[1]:
            raise InputError(f"limits_c is {self.limits_c}; give the lower temperature first")

    def _check_matlab_filter(self) -> None:
        parts = self.matlab_filter
        if not isinstance(parts, tuple | list) or len(parts) != 2:
            raise InputError(f"matlab_filter is {parts}; give numerator and denominator, two lists of numbers")
        names = ("numerator", "denominator")
        numerator, denominator = (
            _tuples(part, (-1,), f"{name} of matlab_filter") for name, part in zip(names, parts, strict=True)
        )
        if denominator[0] == 0.0:
            raise InputError(f"denominator of matlab_filter is {denominator}; its first number must not be 0")
        self._set("matlab_filter", (numerator, denominator))


_NOT_NEGATIVE = ("white", "instability", "walk", "quantisation", "turn_on")


def _tuples(value: object, shape: tuple[int, ...], name: str) -> Any:
    """A finite number, or (nested) tuples of them, of this shape; (-1,) is a list of any length but 0."""
    try:
        array = np.array(value, dtype=np.float64)
    except (ValueError, TypeError):
        array = np.full((), np.nan)
    wanted = {(): "a number", (2,): "two numbers", (3,): "three numbers", (3, 3): "three rows of three numbers"}
    fits = array.ndim == 1 and len(array) > 0 if shape == (-1,) else array.shape == shape
    if not fits or not np.isfinite(array).all() or isinstance(value, str):
        value = value.tolist() if isinstance(value, np.ndarray) else value  # one line
        raise InputError(f"{name} is {value}; give {wanted.get(shape, 'a list of numbers')}, all finite")

    def nested(x: Any) -> Any:
        return tuple(map(nested, x)) if isinstance(x, list) else x

    return nested(array.tolist())


def random_walk_from_density(one_sided: float) -> float:
    """Data sheet noise density (unit/sqrt(Hz)) to N (unit sqrt(s)).

    Data sheets mean one-sided density: over a bandwidth W the rms is density * sqrt(W), as the MPU-6050's own
    0.005 deg/s/sqrt(Hz) and 0.05 deg/s rms at 100 Hz. N is two-sided, as Allan deviation, Kalibr and IEEE 952 have it:
    the ADIS16470's 0.008 deg/s/sqrt(Hz) is 0.34 deg/sqrt(h), which is N.
    """
    return one_sided / math.sqrt(2.0)


def random_walk_from_per_root_hour(per_root_hour: float) -> float:
    """N from an angle or velocity random walk per sqrt(h) (rad/sqrt(h), (m/s)/sqrt(h)): an hour has 3600 s."""
    return per_root_hour / 60.0


def instability_from_floor(allan_floor: float) -> float:
    """B from the in-run bias stability, which is the lowest point of the Allan curve: the floor is 0.664 B."""
    return allan_floor / FLICKER_FLOOR


def white_from_matlab(noise_density: float, noise_type: str = "double-sided") -> float:
    """MATLAB's NoiseDensity to N. "double-sided" there means the one-sided density of a data sheet."""
    return noise_density / _matlab_ratio(noise_type)


def walk_from_matlab(random_walk: float, noise_type: str = "double-sided") -> float:
    """MATLAB's RandomWalk to K: it steps by RandomWalk / sqrt(Fs / 2), or / sqrt(Fs) if single-sided."""
    return random_walk * _matlab_ratio(noise_type)


def _matlab_ratio(noise_type: str) -> float:
    """sqrt(Fs / bandwidth): imuSensor's bandwidth is Fs/2 for "double-sided" and Fs for "single-sided"."""
    ratios = {"double-sided": math.sqrt(2.0), "single-sided": 1.0}
    if noise_type not in ratios:
        raise InputError(f'NoiseType "{noise_type}" is not known; valid: {", ".join(ratios)}')
    return ratios[noise_type]


def paper_matrix(c_x: float, c_y: float, c_z: float) -> Matrix:
    """Paper B's C: one coefficient for each source axis, (B3)."""
    return _tuples([[1.0, c_y, c_z], [c_x, 1.0, c_z], [c_x, c_y, 1.0]], (3, 3), "paper B's matrix")


def matlab_matrix(axes_misalignment_percent: ArrayLike) -> Matrix:
    """MATLAB's AxesMisalignment, percent: a number, three numbers (one for each source axis), or the whole matrix."""
    shape = np.shape(axes_misalignment_percent)
    if shape not in ((), (3,), (3, 3)):
        raise InputError(f"AxesMisalignment has shape {shape}; give a number, three numbers, or a 3x3 matrix")
    percent = np.array(_tuples(axes_misalignment_percent, shape, "AxesMisalignment"))
    if shape != (3, 3):
        percent = np.broadcast_to(percent, (3, 3)) * (1.0 - np.eye(3)) + 100.0 * np.eye(3)
    return _tuples(percent / 100.0, (3, 3), "AxesMisalignment")


def gauss_markov_allan_variance(tau: ArrayLike, time_constant: ArrayLike) -> Array:
    """Allan variance of a stationary Gauss-Markov process of variance 1 (IEEE 952)."""
    r = np.asarray(tau, dtype=np.float64) / np.asarray(time_constant, dtype=np.float64)
    return 2.0 / r * (1.0 + (4.0 * np.exp(-r) - np.exp(-2.0 * r) - 3.0) / (2.0 * r))


@lru_cache(maxsize=256)
def instability_processes(low_s: float, high_s: float) -> tuple[Array, Array]:
    """Time constants (s) and sigmas of the Gauss-Markov processes whose Allan deviations sum to a floor for B = 1.

    Processes are at most a decade apart, from 0.3 times the band's start to 1.2 times its end. The variances are the
    least-squares solution against a flat floor of 0.664. The result is within 1.5 % of it over the whole band
    (tests/sensors/test_error_chain_noise.py).
    """
    from scipy.optimize import nnls

    low, high = 0.3 * low_s, 1.2 * high_s
    time_constants = np.geomspace(low, high, math.ceil(math.log10(high / low) - 0.05) + 1)
    tau = np.geomspace(low_s, high_s, 40 * len(time_constants))
    variances, _ = nnls(gauss_markov_allan_variance(tau[:, None], time_constants), np.ones(len(tau)))
    deviations = FLICKER_FLOOR * np.sqrt(variances)
    time_constants.flags.writeable = deviations.flags.writeable = False  # shared by all who ask
    return time_constants, deviations

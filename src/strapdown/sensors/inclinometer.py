"""A two-axis inclinometer: angles of the sensor's x and y axes above the horizon.

Inside it is an accelerometer, so it reads tilt at rest only: acceleration reads as tilt (atan(a/g) when level). tilt[:,
0] is of the x axis, tilt[:, 1] of the y axis, rad, positive when the axis points up. At rest, for the attitude Rz(yaw)
Ry(pitch) Rx(roll) of the sensor: sin(tilt_x) = -sin(pitch), sin(tilt_y) = cos(pitch) sin(roll).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import finite, not_negative, positive, set_fields
from strapdown.errors import InputError
from strapdown.sensors.chain.inputs import exact_step, step_of
from strapdown.sensors.chain.state import (
    ReadingState,
    kept_generator,
    layout_of,
    origin_of,
    restored_generator,
    state_of,
)
from strapdown.sensors.streams import branch
from strapdown.sensors.temperature import Temperature, temperature_at
from strapdown.types import Motion

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Pair = tuple[float, float]
Stream = np.random.Generator | np.random.SeedSequence

DEG = np.pi / 180.0
SENSES = ((1.0, 0.0), (0.0, 1.0))  # scale and cross-axis of a perfect part
UNEVEN = 1e-6  # of a step: roundoff of times k / rate after hours
# memory: step (s), times of the first and the last row, force at the first row, memory of the low-pass, turn-on bias
_STEP, _FIRST, _TIME, _LEVEL, _FILTER, _TURN_ON, _SIZE = 0, 1, 2, slice(3, 6), slice(6, 9), slice(9, 11), 11
IMPOSSIBLE = 0.05  # of sin^2 + sin^2 above 1: a degree or two of noise where z lies level


@dataclass(frozen=True, eq=False)
class Tilt:
    """Readings: tilt (n, 2) in rad, and which of them were clipped at the range."""

    t: Array
    tilt: Array
    saturated: Flags

    def __post_init__(self) -> None:
        self.tilt.flags.writeable = self.saturated.flags.writeable = False


@dataclass(frozen=True)
class Inclinometer:
    """One specimen of an inclinometer; pairs are for the x and the y axis. Angles in rad.

    gravity_m_s2: None is a part with three axes inside, tilt_x = atan2(f_x, sqrt(f_y^2 + f_z^2)), right on any planet.
        A number is a part with two axes, tilt_x = asin(f_x / gravity), adjusted to that gravity.

    The errors act in this order:

    bandwidth_hz: first-order low-pass of the specific force, settled at the first sample.
    nonlinearity: largest distance from the straight line as a part of range_rad, a cubic as in a Triad.
    matrix: 2x2, scale and cross-axis.
    bias: constant offset.
    turn_on: standard deviation of a further constant, drawn for every run.
    drift: offset per degC (rad/degC) from reference_c; temperatures outside limits_c are refused.
    settling: error at switch-on, t[0], which decays with the time constant settling_s.
    white: N, rad sqrt(s); a reading has the standard deviation N / sqrt(dt).
    range_rad: readings are clipped there and flagged.
    resolution: step of a reading.
    """

    gravity_m_s2: float | None = None
    bandwidth_hz: float | None = None
    nonlinearity: Pair = (0.0, 0.0)
    matrix: tuple[Pair, Pair] = SENSES
    bias: Pair = (0.0, 0.0)
    turn_on: Pair = (0.0, 0.0)
    drift: Pair = (0.0, 0.0)
    reference_c: float = 25.0
    limits_c: Pair | None = None
    settling: Pair = (0.0, 0.0)
    settling_s: float = 1.0
    white: Pair = (0.0, 0.0)
    range_rad: float = 90.0 * DEG
    resolution: float = 0.0

    def __post_init__(self) -> None:
        pairs = {name: _pair(name, getattr(self, name)) for name in ("bias", "drift", "settling")}
        sizes = {name: _pair(name, getattr(self, name)) for name in ("nonlinearity", "turn_on", "white")}
        for name, pair in sizes.items():
            if min(pair) < 0.0:
                raise InputError(f"{name} is {pair}; give numbers that are not negative")
        for name in ("gravity_m_s2", "bandwidth_hz"):
            if getattr(self, name) is not None:
                set_fields(self, **{name: positive(name, getattr(self, name))})
        if self.limits_c is not None:
            set_fields(self, limits_c=_pair("limits_c", self.limits_c))
            if self.limits_c[0] >= self.limits_c[1]:
                raise InputError(f"limits_c is {self.limits_c}; give the lower temperature first")
        range_rad, resolution = positive("range_rad", self.range_rad), not_negative("resolution", self.resolution)
        if range_rad > 90.0 * DEG:
            raise InputError(
                f"range_rad is {range_rad:g} rad ({range_rad / DEG:g} deg); give at most 90 deg, no axis points higher"
            )
        if resolution >= range_rad:
            raise InputError(
                f"resolution is {resolution:g} rad, which is not below range_rad, {range_rad:g} rad; give a finer one"
            )
        set_fields(
            self,
            **pairs,
            **sizes,
            matrix=_matrix(self.matrix),
            reference_c=finite("reference_c", self.reference_c),
            settling_s=positive("settling_s", self.settling_s),
            range_rad=range_rad,
            resolution=resolution,
        )

    def measure(self, motion: Motion, gravity: float, *, stream: Stream, temperature_c: Temperature = 25.0) -> Tilt:
        """Readings along the motion of the sensor's frame s (Motion.seen_from), at its times.

        gravity: gravity of the place, m/s2.
        """
        f_s = motion.specific_force_b(gravity)
        return self.measure_force(motion.t, f_s, stream=stream, temperature_c=temperature_c)

    def measure_force(self, t: Array, f_s: Array, *, stream: Stream, temperature_c: Temperature = 25.0) -> Tilt:
        """Readings from specific force f_s (n, 3) in m/s2: for a source that is not a Motion."""
        if max(self.white) > 0.0 and len(t) < 2:
            raise InputError("white noise needs at least two samples, to know the rate; measure for longer")
        step_s = exact_step(t, float(t[-1] - t[0]) / (len(t) - 1)) if len(t) > 1 else 1.0
        state = self.start(stream, step_s)
        return self.read(state, t, f_s, temperature_c=temperature_c)[1]

    def start(self, stream: Stream, step_s: float) -> ReadingState:
        """The state before the first row, for rows step_s apart."""
        for_turn_on, for_noise = branch(stream, 2)
        memory = np.zeros(_SIZE)
        memory[_STEP], memory[_TIME] = exact_step(None, step_of(step_s)), np.nan
        memory[_TURN_ON] = for_turn_on.standard_normal(2)
        return state_of(origin_of(Inclinometer, ()), memory, (np.empty(0), (kept_generator(for_noise),)))

    def read(
        self, state: ReadingState, t: Array, f_s: Array, *, temperature_c: Temperature = 25.0
    ) -> tuple[ReadingState, Tilt]:
        """The next rows, in chunks of any size: times t (n,) and specific force f_s (n, 3)."""
        layout_of(state, Inclinometer, "Inclinometer(...).start(stream, step_s)")
        times, force = np.atleast_1d(np.asarray(t, dtype=np.float64)), np.reshape(f_s, (-1, 3))
        if len(force) != len(times) or not len(times):
            raise InputError(f"f_s has {len(force)} rows and t {len(times)}; give one row for each time")
        memory, (ahead, (kept,)) = state.memory.copy(), state.drawn
        if np.isnan(memory[_TIME]):
            memory[_FIRST], memory[_LEVEL] = times[0], force[0]
        warmth = temperature_at(temperature_c, times, self.limits_c) - self.reference_c
        if self.bandwidth_hz is not None:
            force = _low_pass(force, times, self.bandwidth_hz, memory)
        steps = np.diff(times, prepend=times[0] - memory[_STEP] if np.isnan(memory[_TIME]) else memory[_TIME])
        if np.isnan(memory[_TIME]):
            steps[0] = memory[_STEP]
        true, beyond = tilt_from_force(force, self.gravity_m_s2)
        share = np.clip(true / self.range_rad, -1.0, 1.0)
        curved = true + np.array(self.nonlinearity) * self.range_rad * share * (4.0 * share**2 - 3.0)
        (xx, xy), (yx, yy) = self.matrix
        tilt = np.stack([curved[:, 0] * xx + curved[:, 1] * xy, curved[:, 0] * yx + curved[:, 1] * yy], axis=1)
        tilt += np.array(self.bias) + np.array(self.turn_on) * memory[_TURN_ON]
        tilt += warmth[:, None] * np.array(self.drift)
        tilt += np.exp(-(times - memory[_FIRST]) / self.settling_s)[:, None] * np.array(self.settling)
        if max(self.white) > 0.0:
            generator = restored_generator(kept)
            tilt += np.array(self.white) * generator.standard_normal((len(times), 2)) / np.sqrt(steps)[:, None]
            kept = kept_generator(generator)
        saturated = beyond | (np.abs(tilt) > self.range_rad)
        tilt = np.clip(tilt, -self.range_rad, self.range_rad)
        if self.resolution > 0.0:
            tilt = self.resolution * np.round(tilt / self.resolution)
        memory[_TIME] = times[-1]
        return state_of(state.origin, memory, (ahead, (kept,))), Tilt(times, tilt, saturated)


def tilt_from_force(f_s: ArrayLike, gravity_m_s2: float | None = None) -> tuple[Array, Flags]:
    """Tilt (n, 2) of x and y from specific force, by atan2 (None) or asin; and where asin had more than gravity."""
    f = np.atleast_2d(np.asarray(f_s, dtype=np.float64))
    if gravity_m_s2 is None:  # atan2(0, 0) is 0: in free fall it reads level
        others = np.stack([np.hypot(f[:, 1], f[:, 2]), np.hypot(f[:, 0], f[:, 2])], axis=-1)
        return np.arctan2(f[:, :2], others), np.zeros((len(f), 2), dtype=np.bool_)
    ratio = f[:, :2] / gravity_m_s2
    return np.arcsin(np.clip(ratio, -1.0, 1.0)), np.abs(ratio) > 1.0 + 1e-12  # roundoff at straight up


def attitude_from(tilt: ArrayLike) -> tuple[Array, Array]:
    """Roll and pitch in rad of the sensor at rest, from tilt (..., 2): exact, for the start of a filter.

    Roll is within 90 deg: two axes do not distinguish upright from upside down, nor show any yaw (q_from_euler(roll,
    pitch, yaw)). With noise there may be no attitude where z is nearly level; roll is then 90 deg. With x vertical roll
    has no meaning.
    """
    angles = np.asarray(tilt, dtype=np.float64)
    if angles.shape[-1:] != (2,) or not np.isfinite(angles).all():
        raise InputError("tilt needs two finite angles (x axis, y axis) in its last axis, in rad")
    sin_x, sin_y = np.sin(angles[..., 0]), np.sin(angles[..., 1])
    if np.max(sin_x**2 + sin_y**2, initial=0.0) > 1.0 + IMPOSSIBLE:
        i = int(np.argmax(sin_x**2 + sin_y**2))
        x_deg, y_deg = (float(a) / DEG for a in angles.reshape(-1, 2)[i])
        raise InputError(
            f"tilts of {x_deg:.4g} and {y_deg:.4g} deg do not belong to one body at rest; "
            "average them while it stands still"
        )
    # the vertical expressed in s is (sin_x, sin_y, up), and 1 - sin_x^2 - sin_y^2 is this product, without cancellation
    up = np.sqrt(np.maximum(0.0, np.cos(angles[..., 0] + angles[..., 1]) * np.cos(angles[..., 0] - angles[..., 1])))
    return np.arctan2(sin_y, up), -angles[..., 0]


def _low_pass(f: Array, t: Array, bandwidth_hz: float, memory: Array) -> Array:
    """First-order low-pass, exact for a force that is linear between samples; it starts settled."""
    from scipy.signal import lfilter  # slow to import, and only this needs it

    step, begins = memory[_STEP], np.isnan(memory[_TIME])
    steps = np.diff(t) if begins else np.diff(t, prepend=memory[_TIME])
    if len(steps) and np.max(np.abs(steps - step)) > UNEVEN * step + 4.0 * np.spacing(np.max(np.abs(t))):
        raise InputError("bandwidth_hz needs evenly spaced times; sample the motion at a steady rate")
    w = 2.0 * np.pi * bandwidth_hz * step
    decay = np.exp(-w)
    mean = -np.expm1(-w) / w  # of the decay over a step
    b = [1.0 - mean, mean - decay]
    out, after = lfilter(b, [1.0, -decay], f - memory[_LEVEL], axis=0, zi=memory[None, _FILTER])
    memory[_FILTER] = after[0]
    filtered: Array = memory[_LEVEL] + out
    return filtered


def _pair(name: str, value: ArrayLike) -> Pair:
    try:
        x, y = (float(v) for v in np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        x = y = np.nan
    if not (np.isfinite(x) and np.isfinite(y)):
        raise InputError(f"{name} is {value!r}; give two finite numbers, for the x and the y axis")
    return x, y


def _matrix(value: tuple[Pair, Pair]) -> tuple[Pair, Pair]:
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise InputError(f"matrix is {value!r}; give two rows of two numbers")
    return _pair("matrix[0]", value[0]), _pair("matrix[1]", value[1])

"""The error-state filter: position, velocity, attitude and the biases of gyroscope and accelerometer.

The solution is that of the sensor's frame s: p_n and v_n are those of the sensor's origin. q_nb is the body's attitude,
through the mounting q_bs. A filter is its settings; a state is a value; a recording and a live stream run the same
kernel.

`stop` of a sample or recording is the believed stop. After a stop detector, replace the controller's signal by its
verdict. Fixes and heights come in the sample or in the rows of the recording.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from strapdown import earth
from strapdown.arrays import locked
from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation.eskf import filter as kernel
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.keywords import shows_keywords
from strapdown.live import (
    Alignment,
    Belief,
    Start,
    State,
    checked_start,
    fields_of,
    numbers_of,
    refuse_sample,
    refuse_state,
    state_of,
)
from strapdown.navigation import self_alignment
from strapdown.navigation.alignment import UNKNOWN_HEADING_RAD
from strapdown.navigation.eskf.inputs import Rows, further_of, rows_of
from strapdown.navigation.eskf.numbers import first_covariance, settings_as_numbers
from strapdown.navigation.eskf.outputs import Output, Track, sigma_of
from strapdown.navigation.eskf.updates import (
    FlatFloor,
    MagneticHeading,
    NonHolonomic,
    WheelTravel,
    ZeroRate,
    ZeroVelocity,
)
from strapdown.navigation.examination import examine_for_navigation
from strapdown.navigation.live_step import BITS, EMPTY, NO_COUNTS_OUT, NO_OUT
from strapdown.rotation import q_conj, q_mul, q_normalise, q_rotate
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording, Sample, Solution


def _shrunk(value: float, variance: float) -> float:
    """As much of a value as is beyond its own variance."""
    return value * max(1.0 - variance / value**2, 0.0) if value != 0.0 else 0.0


_PIECE = 200_000  # samples between two reports on the progress: half a second


@shows_keywords("for_triads")
@dataclass(frozen=True)
class Eskf:
    """Settings.

    gyr_white, acc_white: N (rad/sqrt(s), m/s/sqrt(s)).
    gyr_bias_sigma, acc_bias_sigma: sigmas of the constant offsets after calibration (rad/s, m/s2).
    gyr_drift, acc_drift: sigmas of the slow part of the bias, which changes within drift_time_s.
    gyr_walk, acc_walk: K.
    gyr_resolution, acc_resolution: one count (rad/s, m/s2). Sigmas of the errors that remain after calibration:
        gyr_matrix_sigma is that of the gyroscope's scale and cross-coupling. acc_scale_sigma is that of the
        accelerometer's scale. acc_axes_sigma is that of its reading across body x for an acceleration along x.

    gate_probability: how often a correct measurement may be rejected. 0: every measurement is used, however far off it
        is (except a magnetic field that is not the Earth's).
    gap_s: a longer step is a gap. Accelerations of gap_acc_m_s2 and rates of gap_rate_rad_s may have happened in it,
        each for a second at a time.
    q_bs, r_bs_b: mounting and lever arm of the sensor on the body; each number of the arm is known to lever_sigma_m.
    follows_shaking: the noise is that of the machine's vibration, where this is more than the sensor's. This setting is
        meant for a vehicle, not for a body that moves as fast as it shakes.
    huber_sigmas: beyond this many sigmas a row of wheels or floor gets less weight, never none; 0: it is rejected by
        the gate.
    fix_delay_s: time for which velocities are kept for late velocity fixes; an older fix has less weight.
    """

    name: str = field(default="eskf", init=False)
    gyr_white: float = 1e-4
    acc_white: float = 3e-3
    gyr_bias_sigma: float = 0.02
    acc_bias_sigma: float = 0.02
    gyr_drift: float = 6e-5
    acc_drift: float = 1e-3
    drift_time_s: float = 100.0
    gyr_walk: float = 0.0
    acc_walk: float = 0.0
    gyr_resolution: float = 0.0
    acc_resolution: float = 0.0
    gyr_matrix_sigma: float = 0.0
    acc_scale_sigma: float = 0.0
    acc_axes_sigma: float = 0.0
    gravity: str | float = "earth"
    zero_velocity: ZeroVelocity | None = field(default_factory=ZeroVelocity)
    zero_rate: ZeroRate | None = field(default_factory=ZeroRate)
    flat_floor: FlatFloor | None = None
    non_holonomic: NonHolonomic | None = None
    wheel_travel: WheelTravel | None = None
    magnetic_heading: MagneticHeading | None = None
    gate_probability: float = 1e-6
    gap_s: float = 0.5
    gap_acc_m_s2: float = 0.5
    gap_rate_rad_s: float = 0.5
    gap_tilt_rad: float = 0.05
    q_bs: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    r_bs_b: tuple[float, ...] = (0.0, 0.0, 0.0)
    lever_sigma_m: float = 0.0
    fix_delay_s: float = 0.5
    follows_shaking: bool = False
    huber_sigmas: float = 0.0

    def __post_init__(self) -> None:
        for name in (
            *("gyr_white", "acc_white", "gyr_bias_sigma", "acc_bias_sigma", "gyr_drift", "acc_drift", "gyr_walk"),
            *("acc_walk", "gyr_resolution", "acc_resolution", "gyr_matrix_sigma", "acc_scale_sigma", "acc_axes_sigma"),
            *("gap_acc_m_s2", "gap_rate_rad_s", "gap_tilt_rad", "lever_sigma_m", "huber_sigmas"),
        ):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise InputError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        for name in ("gyr_white", "acc_white", "drift_time_s", "gap_s", "fix_delay_s"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InputError(f"{name} is {getattr(self, name)}; give a number above 0")
        if not 0.0 <= self.gate_probability < 1.0:
            raise InputError(f"gate_probability is {self.gate_probability}; give a number from 0 (no gate) to below 1")
        q = locked(np.asarray(self.q_bs, dtype=np.float64), (4,), "q_bs")
        if abs(np.linalg.norm(q) - 1.0) > 1e-6:
            raise InputError(f"q_bs has norm {np.linalg.norm(q):.6g}; give a unit quaternion (w, x, y, z)")
        object.__setattr__(self, "q_bs", tuple(q_normalise(q).tolist()))
        object.__setattr__(self, "r_bs_b", tuple(locked(self.r_bs_b, (3,), "r_bs_b").tolist()))

    @classmethod
    def for_triads(cls, gyroscope: Triad, accelerometer: Triad, **more: Any) -> Self:
        """Noise from the sensor's N, B, K and resolution: of each instrument the noisiest axis.

        B, a floor of the Allan curve, is given to the filter as one process over 100 s with sigma 1.2 B. Within the
        tens of seconds between stops it drifts as far as flicker noise does.
        """
        said: dict[str, Any] = {}
        for name, triad, unit in (("gyr", gyroscope, "rad/s"), ("acc", accelerometer, "m/s2")):
            if triad.unit != unit:
                raise InputError(f"the {name} triad reads {triad.unit}; give one that reads {unit}")
            said[f"{name}_white"] = max(triad.white)
            said[f"{name}_drift"] = 1.2 * max(triad.instability)
            said[f"{name}_walk"] = max(triad.walk)
            said[f"{name}_resolution"] = triad.resolution
        return cls(**{**said, **more})

    @cached_property
    def settings(self) -> Array:
        """The settings in the form of the kernel."""
        return settings_as_numbers(self)

    def __getstate__(self) -> dict[str, Any]:
        return fields_of(self)

    def start(self, given: Start = Start()) -> State:  # noqa: B008
        """State before the first sample: at rest at given.p_n, as aligned; velocity 0.

        Without alignment and attitude the filter aligns itself. The first second of samples is taken as a rest in which
        the body heads north (yaw 90 deg, paper C's heading 0).
        """
        fix_signature(kernel.rows)
        given = checked_start(given)
        aligned = self_alignment.given_alignment(given, self.gyr_bias_sigma)
        p_n = locked(given.p_n, (3,), "p_n")
        if aligned is not None:
            x = self._numbers(aligned, p_n, given.means, given.skip)
            x[at.VELOCITY : at.VELOCITY + 3] = locked(given.v_n, (3,), "v_n")
            p_sigma_n = locked(given.p_sigma_n, (3,), "p_sigma_n")
            for k in range(3):
                x[at.COVARIANCE + (at.V_N + k) * (at.COLUMNS + 1)] = given.v_sigma_m_s**2
                floor = self.flat_floor is not None and self.flat_floor.height_sigma_m is not None
                if k < 2 or not floor:  # heights over a floor are those over the start
                    x[at.COVARIANCE + (at.P_N + k) * (at.COLUMNS + 1)] = p_sigma_n[k] ** 2
            return state_of(Eskf, x)
        x = np.zeros(at.X_SIZE)
        x[at.Q], x[at.STARTED], x[at.MEANS], x[at.PAST_COUNT] = 1.0, -1.0, float(given.means), -1.0
        x[at.POSITION : at.POSITION + 3] = p_n
        for i in range(3):
            x[at.COVARIANCE + (at.PHI_N + i) * (at.COLUMNS + 1)] = UNKNOWN_HEADING_RAD**2
        return state_of(Eskf, x)

    def _numbers(self, aligned: Alignment, p_n: Array, means: bool, skip: int) -> Array:
        x = np.zeros(at.X_SIZE)
        x[at.Q : at.Q + 4] = q_normalise(np.asarray(aligned.q_ns, dtype=np.float64))
        x[at.POSITION : at.POSITION + 3] = p_n
        x[at.BIAS_G : at.BIAS_G + 3] = aligned.gyr_bias_s
        x[at.FLOOR_M], x[at.PAST_COUNT], x[at.ROUGH] = x[at.POSITION + 2], -1.0, 1.0
        x[at.STOP_UP : at.STOP_UP + 3] = q_rotate(q_conj(x[at.Q : at.Q + 4]), np.array([0.0, 0.0, 1.0]))
        x[at.SKIP], x[at.MEANS], x[at.DIP] = float(skip), float(means), at.UNKNOWN_DIP
        if aligned.field_ut is not None and aligned.dip_rad is not None:
            x[at.FIELD], x[at.DIP] = aligned.field_ut, aligned.dip_rad
        cov = first_covariance(self, aligned)
        x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)[:, : at.N] = cov
        if self.flat_floor is not None:
            x_n = q_rotate(q_mul(x[at.Q : at.Q + 4], q_conj(self.q_bs)), np.array([1.0, 0.0, 0.0]))
            tilt = float(cov[at.PHI_N, at.PHI_N] + cov[at.PHI_N + 1, at.PHI_N + 1]) / 2.0
            x[at.LEVEL] = x_n[2]
            x[at.SLOPES] = _shrunk(float(x_n[2]), tilt + self.flat_floor.mounting_sigma_rad**2)
        return x

    def step(self, state: State, sample: Sample) -> State:
        """The state after the sample.

        sample.stop: a believed stop.

        Readings are arrays of three doubles.
        """
        try:
            if state.owner is not Eskf:
                raise refuse_state(state, Eskf)
            x = state.numbers.copy()
            seen, extra, mag = (at.SEEN_STOP if sample.stop else 0), EMPTY, EMPTY
            if self.wheel_travel is not None or sample[8:12] != _NOTHING:
                more, extra = further_of(sample, self.wheel_travel is not None)
                seen |= more
            if sample.mag_s is not None and self.magnetic_heading is not None:
                seen, mag = seen | at.SEEN_MAG, sample.mag_s
            dt = np.array((sample.dt,))
            taken = kernel.rows(
                *(x, self.settings, BITS[seen], sample.gyr_s, sample.acc_s, mag, extra, dt),
                *(NO_OUT, NO_OUT, NO_OUT, NO_COUNTS_OUT, NO_OUT, NO_OUT),
            )
        except (TypeError, AttributeError):  # numba has no compiled version that fits; or no state, no sample
            numbers_of(state, Eskf, at.X_SIZE)
            raise refuse_sample(sample) from None
        if taken:
            return state_of(Eskf, x)
        if numbers_of(state, Eskf, at.X_SIZE)[at.STARTED] < 0.0:
            return self.align(x, sample)
        raise refuse_sample(sample)

    def aligns(self, x: Array) -> bool:
        """Whether the filter still aligns itself."""
        return bool(x[at.STARTED] < 0.0)

    def align(self, x: Array, sample: Sample) -> State:
        """The state after a sample, while the filter aligns itself; the first one after the rest starts it."""
        begun = self.after_rest(x, sample)
        if begun is not None:
            return self.step(begun, sample)
        sums = x[at.REST : at.REST + self_alignment.SIZE]
        x[at.Q : at.Q + 4] = self_alignment.take(sums, sample, self.q_bs)
        x[at.LAST_GYR : at.LAST_GYR + 3], x[at.LAST_ACC : at.LAST_ACC + 3] = sample.gyr_s, sample.acc_s
        return state_of(Eskf, x)

    def after_rest(self, x: Array, sample: Sample) -> State | None:
        """The state at the end of the rest, as if its last sample had been the first; None: it has not ended."""
        sums = x[at.REST : at.REST + self_alignment.SIZE]
        if not self_alignment.is_over(sums, sample):
            return None
        aligned = self_alignment.aligned(sums, self.q_bs, None)
        begun = self._numbers(aligned, x[at.POSITION : at.POSITION + 3], x[at.MEANS] > 0.0, 0)
        begun[at.STARTED] = 1.0
        last = slice(at.LAST_GYR, at.LAST_ACC + 3)
        begun[last] = x[last]
        return state_of(Eskf, begun)

    def belief(self, state: State) -> Belief:
        """Estimate after the last sample: attitude of the body, position and velocity of the sensor, biases, sigmas,
        flags.
        """
        x = self._checked(state)
        sigma = sigma_of(x)
        used, rejected = int(x[at.USED]), int(x[at.REJECTED])
        flags = {f"{name}_used": bool(used >> k & 1) for k, name in enumerate(at.KINDS)}
        flags |= {f"{name}_rejected": bool(rejected >> k & 1) for k, name in enumerate(at.KINDS)}
        places = {"p_n": at.P_N, "v_n": at.V_N, "attitude_n": at.PHI_N, "gyr_s": at.GYR_BIAS, "acc_s": at.ACC_BIAS}
        return Belief(
            q_mul(x[at.Q : at.Q + 4], q_conj(self.q_bs)),
            x[at.POSITION : at.POSITION + 3].copy(),
            x[at.VELOCITY : at.VELOCITY + 3].copy(),
            {"gyr_s": x[at.BIAS_G : at.BIAS_G + 3].copy(), "acc_s": x[at.BIAS_A : at.BIAS_A + 3].copy()},
            {name: sigma[place : place + 3] for name, place in places.items()},
            {**flags, "aligning": bool(x[at.STARTED] < 0.0)},
        )

    def covariance(self, state: State) -> Array:
        """(16, 16): p_n, v_n, phi_n, gyroscope bias, accelerometer bias, magnetic disturbance; SI, rad."""
        return self._checked(state)[at.COVARIANCE :].reshape(at.N, at.COLUMNS)[:, : at.N].copy()

    def _checked(self, state: State) -> Array:
        return numbers_of(state, Eskf, at.X_SIZE)

    def run(self, recording: Recording, given: Start | None = None) -> Solution:
        """The steps over the whole recording, to the bit.

        given: None: Start.of(recording).
        """
        return self.track(recording, given).solution

    def track(
        self,
        recording: Recording,
        given: Start | None = None,
        *,
        done: Callable[[float], None] = lambda part: None,
    ) -> Track:
        """run(), with further results: normalised innovations of every kind of measurement, and the last state.

        done: called with the part of the recording that is done, from 0 to 1.
        """
        rows, out, state, begun = self.prepare(recording, given)
        x, n = state.numbers.copy(), len(rows)
        for begin in range(begun, n, _PIECE):
            end = min(begin + _PIECE, n)
            out.fill(x, self.settings, rows, slice(begin, end))
            done(end / n)
        solution = out.solution(rows, self.q_bs, self.meta())
        return Track(solution, out.innovations(rows), state_of(Eskf, x))

    def prepare(self, recording: Recording, given: Start | None) -> tuple[Rows, Output, State, int]:
        """Checked rows, memory for the results, and the state before row `begun`. Rows before it are done: in them the
        filter aligned itself by live steps.
        """
        examine_for_navigation(recording, self.gravity, self.q_bs, mag=self.magnetic_heading is not None)
        rows = rows_of(
            recording,
            needs_stops=self.zero_velocity is not None or self.zero_rate is not None,
            needs_travel=self.wheel_travel is not None,
            needs_mag=self.magnetic_heading is not None,
        )
        start = Start.of(recording) if given is None else given
        if start.skip >= len(recording):
            raise InputError(
                f"the alignment took {start.skip + 1} samples and the recording has {len(recording)}; align on fewer"
            )
        out = Output(len(rows))
        state, begun = self_alignment.rows_at_rest(self, recording, self.start(start), out.put_state)
        out.aligned_rows = begun
        return rows, out, state, begun

    def meta(self) -> dict[str, Any]:
        return {"filter": self.name, "settings": repr(self), "gravity": earth.gravity(self.gravity)}


_NOTHING = (None,) * 4  # no travel, fixes, height

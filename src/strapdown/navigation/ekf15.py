"""Paper C's filter: 15 states, Euler angles, seven measurements, and a reset at every stop that is believed.

States: position, velocity and acceleration in frame n, body rates, roll, heading, pitch; the paper's body has x right,
y forward, z up. The paper's errors (docs/paper-c.md, errata 8 to 12) are corrected; each printed form can be selected.
The solution is that of the sensor's frame s, as in the error-state filter: p_n and v_n are those of the sensor's
origin.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown import earth
from strapdown.arrays import locked
from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation import ekf15 as kernel
from strapdown.kernels.navigation import ekf15_layout as at
from strapdown.kernels.navigation.ekf15_layout import HEADING, PITCH, ROLL, N
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
from strapdown.navigation.examination import examine_for_navigation
from strapdown.navigation.live_step import BITS, EMPTY, NO_COUNTS_OUT, NO_OUT
from strapdown.rotation import heading_from_q, matrix, q_conj, q_from_heading, q_mul, q_normalise, rfu_from_flu
from strapdown.types import Array, Event, Recording, Sample, Solution

_POSITIVE = ("force_sigma_m_s2", "rate_sigma_rad_s", "heading_sigma_rad", "stop_force_m_s2", "stop_rate_rad_s", "gap_s")
_NOT_NEGATIVE = ("acc_walk", "rate_walk", "angle_walk", "start_tilt_sigma_rad", "start_heading_sigma_rad")
_GAP_ACC, _GAP_RATE = 0.5, 0.5  # m/s2, rad/s: what may have happened over a gap, each for a second at a time
_TOGETHER_S = 0.5  # refused stops closer than this are one event
_FLAGS = {"stop_believed": at.BELIEVED, "stop_rejected": at.REFUSED, "not_updated": at.NOT_UPDATED}


@dataclass(frozen=True)
class Ekf15:
    """Settings.

    force_sigma_m_s2, rate_sigma_rad_s, heading_sigma_rad: sigmas of one sample. acc_walk (m/s2/sqrt(s)), rate_walk
        (rad/s/sqrt(s)), angle_walk (rad/sqrt(s)): how vehicle and attitude may change.

    stop_force_m_s2, stop_rate_rad_s: a stop is believed if ||f| - g| and |w| are below these.
    start_tilt_sigma_rad, start_heading_sigma_rad: sigmas of roll, pitch and heading at the start and after every stop.
    magnetic_heading: False ignores the magnetometer.
    declination_rad: field east of north is positive.
    rest_bias: the mean rate of the alignment is subtracted.
    gap_s: a longer step is a gap, over which only straight motion is predicted.
    q_bs: mounting of the sensor on the body.

    printed_heading_rate (erratum 8): the heading is advanced without 1/cos(pitch).
    printed_innovation (9): the innovation of the heading is not wrapped.
    printed_heading_cases (10): the list of cases that omits south, given as 0.
    printed_reset (11): a stop sets variances and keeps the covariances.
    printed_covariance (12): P = (E - K H) P.
    """

    name: str = field(default="ekf15", init=False)
    force_sigma_m_s2: float = 0.05
    rate_sigma_rad_s: float = 0.002
    heading_sigma_rad: float = 0.05
    acc_walk: float = 1.0
    rate_walk: float = 2.0
    angle_walk: float = 1e-4
    stop_force_m_s2: float = 0.25
    stop_rate_rad_s: float = 0.03
    start_tilt_sigma_rad: float = 0.002
    start_heading_sigma_rad: float = 0.02
    magnetic_heading: bool = True
    declination_rad: float = 0.0
    rest_bias: bool = True
    gap_s: float = 0.5
    gravity: str | float = "earth"
    q_bs: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    printed_heading_rate: bool = False
    printed_innovation: bool = False
    printed_heading_cases: bool = False
    printed_reset: bool = False
    printed_covariance: bool = False

    def __post_init__(self) -> None:
        for name in (*_POSITIVE, *_NOT_NEGATIVE):
            value = getattr(self, name)
            if not (np.isfinite(value) and (value > 0.0 or (value == 0.0 and name in _NOT_NEGATIVE))):
                raise InputError(f"{name} is {value}; give a number {'above' if name in _POSITIVE else 'from'} 0")
        if not np.isfinite(self.declination_rad):
            raise InputError(f"declination_rad is {self.declination_rad}; give an angle in rad")
        q = locked(np.asarray(self.q_bs, dtype=np.float64), (4,), "q_bs")
        if abs(np.linalg.norm(q) - 1.0) > 1e-6:
            raise InputError(f"q_bs has norm {np.linalg.norm(q):.6g}; give a unit quaternion (w, x, y, z)")
        object.__setattr__(self, "q_bs", tuple(q_normalise(q).tolist()))

    @cached_property
    def settings(self) -> Array:
        """The settings in the form of the kernel."""
        s = np.zeros(at.S_SIZE)
        s[at.S_GRAVITY] = earth.gravity(self.gravity)
        s[at.S_FORCE_VAR], s[at.S_RATE_VAR] = self.force_sigma_m_s2**2, self.rate_sigma_rad_s**2
        s[at.S_HEADING_VAR] = self.heading_sigma_rad**2
        s[at.S_ACC_Q], s[at.S_RATE_Q], s[at.S_ANGLE_Q] = self.acc_walk**2, self.rate_walk**2, self.angle_walk**2
        s[at.S_STOP_FORCE], s[at.S_STOP_RATE] = self.stop_force_m_s2, self.stop_rate_rad_s
        s[at.S_TILT_VAR], s[at.S_HEADING_VAR_0] = self.start_tilt_sigma_rad**2, self.start_heading_sigma_rad**2
        s[at.S_DECLINATION] = self.declination_rad
        s[at.S_GAP_S], s[at.S_GAP_ACC_Q], s[at.S_GAP_RATE_Q] = self.gap_s, _GAP_ACC**2, _GAP_RATE**2
        s[at.S_PRINTED_RATE : at.S_PRINTED_COVARIANCE + 1] = (
            self.printed_heading_rate,
            self.printed_innovation,
            self.printed_heading_cases,
            self.printed_reset,
            self.printed_covariance,
        )
        s[at.S_REST_BIAS], s[at.S_N] = float(self.rest_bias), N
        s[at.S_R_PS : at.S_R_PS + 9] = rfu_from_flu(matrix(self.q_bs).T).T.ravel()
        s.flags.writeable = False
        return s

    def __getstate__(self) -> dict[str, Any]:
        return fields_of(self)

    def start(self, given: Start = Start()) -> State:  # noqa: B008
        """State before the first sample: at rest at given.p_n, as aligned.

        Without alignment and attitude the filter aligns itself. The first second of samples is taken as a rest. The
        heading is that of the magnetometer, or 0 (north) where the filter does not use it.
        """
        fix_signature(kernel.rows)
        given = checked_start(given)
        aligned = self_alignment.given_alignment(given, 0.0)
        p_n = locked(given.p_n, (3,), "p_n")
        if aligned is not None:
            return state_of(Ekf15, self._numbers(aligned, p_n, given.skip))
        x = np.zeros(at.X_SIZE)
        x[:3], x[at.STARTED], x[at.NIS] = p_n, -1.0, -1.0
        for k in (ROLL, HEADING, PITCH):
            x[at.COVARIANCE + k * (N + 1)] = UNKNOWN_HEADING_RAD**2
        return state_of(Ekf15, x)

    def _numbers(self, aligned: Alignment, p_n: Array, skip: int) -> Array:
        x = np.zeros(at.X_SIZE)
        x[:3], x[at.SKIP], x[at.NIS] = p_n, float(skip), -1.0
        x[at.RATE_BIAS : at.RATE_BIAS + 3] = aligned.gyr_bias_s
        q_nb = q_mul(aligned.q_ns, q_conj(self.q_bs))
        x[HEADING], x[PITCH], x[ROLL] = (float(angle) for angle in heading_from_q(q_nb))
        cov = _covariance_in(x)
        cov[ROLL, ROLL] = cov[PITCH, PITCH] = self.start_tilt_sigma_rad**2
        cov[HEADING, HEADING] = max(aligned.heading_sigma_rad, self.start_heading_sigma_rad) ** 2
        return x

    def step(self, state: State, sample: Sample) -> State:
        """The state after the sample.

        sample.stop: the controller's signal, which the filter checks.
        """
        try:
            if state.owner is not Ekf15:
                raise refuse_state(state, Ekf15)
            x = state.numbers.copy()
            seen, mag = (at.SEEN_STOP if sample.stop else 0), EMPTY
            if sample.mag_s is not None and self.magnetic_heading:
                seen, mag = seen | at.SEEN_FIELD, sample.mag_s
            dt = np.array((sample.dt,))
            taken = kernel.rows(
                *(x, self.settings, BITS[seen], sample.gyr_s, sample.acc_s, mag, dt),
                *(NO_OUT, NO_OUT, NO_COUNTS_OUT, NO_OUT),
            )
        except (TypeError, AttributeError):  # numba has no compiled version that fits; or no state, no sample
            numbers_of(state, Ekf15, at.X_SIZE)
            raise refuse_sample(sample) from None
        if taken:
            return state_of(Ekf15, x)
        if numbers_of(state, Ekf15, at.X_SIZE)[at.STARTED] < 0.0:
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
        q_nb = q_mul(self_alignment.take(sums, sample, self.q_bs), q_conj(self.q_bs))
        x[HEADING], x[PITCH], x[ROLL] = (float(angle) for angle in heading_from_q(q_nb))
        return state_of(Ekf15, x)

    def after_rest(self, x: Array, sample: Sample) -> State | None:
        """The state at the end of the rest, as if its last sample had been the first; None: it has not ended."""
        sums = x[at.REST : at.REST + self_alignment.SIZE]
        if not self_alignment.is_over(sums, sample):
            return None
        aligned = self_alignment.aligned(sums, self.q_bs, self.declination_rad if self.magnetic_heading else None)
        begun = self._numbers(aligned, x[:3], 0)
        begun[at.STARTED] = 1.0
        return state_of(Ekf15, begun)

    def belief(self, state: State) -> Belief:
        """Estimate after the last sample: attitude of the body, position and velocity of the sensor, sigmas, flags."""
        x, sigma = self._checked(state), np.empty(9)
        kernel.deviations(x, sigma)
        said = int(x[at.SAID])
        return Belief(
            q_from_heading(x[HEADING], x[PITCH], x[ROLL]),
            x[:3].copy(),
            x[3:6].copy(),
            {},
            {"p_n": sigma[:3], "v_n": sigma[3:6], "attitude_n": sigma[6:]},
            {**{name: bool(said & bit) for name, bit in _FLAGS.items()}, "aligning": bool(x[at.STARTED] < 0.0)},
        )

    def covariance(self, state: State) -> Array:
        """(15, 15): p_n, v_n, a_n, rates (x right, y forward, z up), roll, heading, pitch; SI, rad."""
        return _covariance_in(self._checked(state)).copy()

    def _checked(self, state: State) -> Array:
        return numbers_of(state, Ekf15, at.X_SIZE)

    def run(self, recording: Recording, given: Start | None = None) -> Solution:
        """The steps over the whole recording, to the bit.

        given: None: Start.of(recording).
        recording.stop: the controller's signal.
        """
        gyr_s, acc_s, mag_s, seen = self._readings(recording)
        start = Start.of(recording) if given is None else given
        t, n = recording.t, len(recording)
        if start.skip >= n:
            raise InputError(f"the alignment took {start.skip + 1} samples and the recording has {n}; align on fewer")
        dt = np.diff(t, prepend=t[0])
        dt.flags.writeable = False
        states, sigma = np.empty((n, N)), np.empty((n, 9))
        said, nis = np.zeros(n, dtype=np.int64), np.full(n, -1.0)

        def put(i: int, x: Array) -> None:
            states[i] = x[:N]
            kernel.deviations(x, sigma[i])

        state, first = self_alignment.rows_at_rest(self, recording, self.start(start), put)
        rest = slice(first, n)
        inputs = (seen[rest], *(x[rest].reshape(-1) if len(x) else EMPTY for x in (gyr_s, acc_s, mag_s)), dt[rest])
        if first < n:
            outputs = (states[rest].reshape(-1), sigma[rest].reshape(-1), said[rest], nis[rest])
            assert kernel.rows(state.numbers.copy(), self.settings, *inputs, *outputs)
        return self._solution(t, states, sigma, said, first)

    def _readings(self, recording: Recording) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        if recording.gyr_s is None or recording.acc_s is None:
            missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
            raise InputError(f"the recording has no {missing}; navigation needs gyroscope and accelerometer")
        if self.magnetic_heading and recording.mag_s is None:
            raise InputError("the recording has no magnetometer; set magnetic_heading to False to go without")
        examine_for_navigation(recording, self.gravity, self.q_bs, mag=self.magnetic_heading)
        if recording.stop is None:
            raise InputError(
                "the recording has no stop column, which ekf15 needs; set it from a stop detector, "
                "replace(recording, stop=...)"
            )
        seen = np.where(recording.stop, at.SEEN_STOP, 0).astype(np.int64)
        if self.magnetic_heading:
            seen[recording.new.get("mag_s", slice(None))] |= at.SEEN_FIELD
        seen.flags.writeable = False
        mag_s = recording.mag_s if self.magnetic_heading and recording.mag_s is not None else EMPTY
        return recording.gyr_s, recording.acc_s, mag_s, seen

    def _solution(self, t: Array, states: Array, sigma: Array, said: NDArray[np.int64], first: int) -> Solution:
        bad = np.flatnonzero(~(np.isfinite(states).all(axis=1) & np.isfinite(sigma).all(axis=1)))
        if len(bad):
            raise InputError(
                f"the filter {self.name} lost its state at sample {bad[0]} (t = {t[bad[0]]:.6g} s): readings or "
                "settings are too large for it; check the units of the log"
            )
        flags = {name: said & bit != 0 for name, bit in _FLAGS.items()}
        flags["aligning"] = np.arange(len(t)) < first
        columns = [np.ascontiguousarray(part) for part in (states[:, :3], states[:, 3:6], *np.split(sigma, 3, axis=1))]
        for array in columns:
            array.flags.writeable = False  # so that it is held as it is
        p_n, v_n, p_sigma, v_sigma, attitude_sigma = columns
        return Solution(
            t,
            q_from_heading(states[:, HEADING], states[:, PITCH], states[:, ROLL]),
            p_n,
            v_n,
            meta=self.meta(),
            sigma={"p_n": p_sigma, "v_n": v_sigma, "attitude_n": attitude_sigma},
            flags={key: value for key, value in flags.items() if key.startswith("stop") or value.any()},
            events=tuple(sorted(self._events(t, said), key=lambda event: event.t_s)),
        )

    def _events(self, t: Array, said: NDArray[np.int64]) -> Iterator[Event]:
        for i in np.flatnonzero(said & at.GAP):
            yield Event(
                float(t[i - 1]),
                float(t[i]),
                "gap",
                f"no samples for {t[i] - t[i - 1]:.3g} s: straight motion assumed, and the variance opened",
            )
        for kind, bit, text in (
            ("stop_rejected", at.REFUSED, "a stop was signalled and not believed: force or rate shows motion"),
            ("not_updated", at.NOT_UPDATED, "the covariance is no longer positive definite; updates were skipped"),
        ):
            rows = np.flatnonzero(said & bit)
            if len(rows) == 0:
                continue
            for group in np.split(rows, np.flatnonzero(np.diff(t[rows]) > _TOGETHER_S) + 1):
                yield Event(float(t[group[0]]), float(t[group[-1]]), kind, f"{text} ({len(group)} samples)")

    def meta(self) -> dict[str, Any]:
        return {"filter": self.name, "settings": repr(self), "gravity": earth.gravity(self.gravity)}


def _covariance_in(x: Array) -> Array:
    return x[at.COVARIANCE : at.SCRATCH].reshape(N, N)

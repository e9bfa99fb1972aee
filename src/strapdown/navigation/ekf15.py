"""Paper C's filter: 15 states, Euler angles, seven measurements, and a reset at every stop that is believed.

States: position, velocity and acceleration in frame n, body rates, roll, heading, pitch; the paper's body has x right,
y forward, z up. The paper's errors (docs/paper-c.md, errata 8 to 12) are corrected; each printed form can be asked for.
The sensor's frame s is navigated, as by the error-state filter: p_n and v_n are those of the sensor's origin.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown import earth
from strapdown.arrays import locked, locked_flags
from strapdown.errors import InputError
from strapdown.kernels.navigation import ekf15 as kernel
from strapdown.kernels.navigation.ekf15_covariance import HEADING, PITCH, ROLL, N
from strapdown.navigation.alignment import Alignment, align_by_magnetometer, align_to_yaw
from strapdown.navigation.eskf.inputs import new_readings
from strapdown.rotation import heading_from_q, matrix, q_conj, q_from_heading, q_mul, q_normalise, rfu_from_flu
from strapdown.types import Array, Event, Recording, Solution

_POSITIVE = ("force_sigma_m_s2", "rate_sigma_rad_s", "heading_sigma_rad", "stop_force_m_s2", "stop_rate_rad_s", "gap_s")
_NOT_NEGATIVE = ("acc_walk", "rate_walk", "angle_walk", "start_tilt_sigma_rad", "start_heading_sigma_rad")
_GAP_ACC, _GAP_RATE = 0.5, 0.5  # m/s2, rad/s: what may have happened over a gap, each for a second at a time
_TOGETHER_S = 0.5  # refused stops closer than this are one event


class State:
    """The state of the filter after a sample: a value, which a step does not change."""

    __slots__ = ("numbers", "settings")

    def __init__(self, numbers: Array, settings: Array) -> None:
        self.numbers, self.settings = numbers, settings

    @property
    def q_nb(self) -> Array:
        """Attitude of the body, x forward, y left, z up."""
        return q_from_heading(*(self.numbers[k] for k in (HEADING, PITCH, ROLL)))

    @property
    def p_n(self) -> Array:
        return self.numbers[:3].copy()

    @property
    def v_n(self) -> Array:
        return self.numbers[3:6].copy()

    @property
    def covariance(self) -> Array:
        """(15, 15): p_n, v_n, a_n, rates (x right, y forward, z up), roll, heading, pitch; SI, rad."""
        return self.numbers[kernel.COVARIANCE :].reshape(N, N).copy()

    @property
    def stop_believed(self) -> bool:
        """Of the last sample."""
        return int(self.numbers[kernel.SAID]) & kernel.BELIEVED != 0


@dataclass(frozen=True)
class Ekf15:
    """Settings. force_sigma_m_s2, rate_sigma_rad_s, heading_sigma_rad: deviations of one sample. acc_walk
    (m/s2/sqrt(s)), rate_walk (rad/s/sqrt(s)), angle_walk (rad/sqrt(s)): how vehicle and attitude may change.

    stop_force_m_s2, stop_rate_rad_s: a stop is believed if ||f| - g| and |w| are below. start_tilt_sigma_rad,
    start_heading_sigma_rad: of roll, pitch and heading at the start and after every stop. magnetic_heading: False
    leaves the magnetometer out. declination_rad: field east of north is positive. rest_bias: the mean rate of the
    alignment is taken off. gap_s: a longer step is a gap, over which nothing is predicted but straight motion.
    q_bs: mounting of the sensor on the body.

    printed_heading_rate (erratum 8): the heading is advanced without 1/cos(pitch). printed_innovation (9): that of the
    heading is not wrapped. printed_heading_cases (10): the list of cases that leaves out south, told as 0.
    printed_reset (11): a stop sets variances and leaves the covariances. printed_covariance (12): P = (E - K H) P.
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

    def start(self, alignment: Alignment, *, p_n: ArrayLike = (0.0, 0.0, 0.0)) -> State:
        """At rest at p_n, as aligned."""
        x = np.zeros(kernel.X_SIZE)
        x[:3] = locked(p_n, (3,), "p_n")
        q_nb = q_mul(alignment.q_ns, q_conj(self.q_bs))
        x[HEADING], x[PITCH], x[ROLL] = (float(angle) for angle in heading_from_q(q_nb))
        cov = x[kernel.COVARIANCE :].reshape(N, N)
        cov[ROLL, ROLL] = cov[PITCH, PITCH] = self.start_tilt_sigma_rad**2
        cov[HEADING, HEADING] = max(alignment.heading_sigma_rad, self.start_heading_sigma_rad) ** 2
        return State(x, self._numbers(alignment))

    def step(
        self, state: State, gyr_s: Array, acc_s: Array, dt: float, stopped: bool = False, *, mag_s: Array | None = None
    ) -> State:
        """The state one sample later. Arrays of three doubles; not checked. The first sample has dt 0.

        stopped: the controller's word, which the filter checks. mag_s: None where there is no new reading.
        """
        x = state.numbers.copy()
        seen = kernel.SEEN_STOP if stopped else 0
        if mag_s is not None and self.magnetic_heading:
            seen |= kernel.SEEN_FIELD
        kernel.step(x, state.settings, seen, gyr_s, acc_s, gyr_s if mag_s is None else mag_s, dt)
        return State(x, state.settings)

    def run(
        self,
        recording: Recording,
        *,
        stopped: ArrayLike | None = None,
        alignment: Alignment | None = None,
        p_n: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Solution:
        """The whole recording. stopped: the controller's word (None: recording.stop).

        alignment: None takes the first second for a rest, with the heading of the magnetometer, or with heading 0
        (north) where the filter does not use it. Rows of the alignment hold the start.
        """
        gyr_s, acc_s, mag_s, stop = self._readings(recording, stopped)
        if alignment is None and self.magnetic_heading:
            alignment = align_by_magnetometer(recording, declination_rad=self.declination_rad, q_bs=self.q_bs)
        elif alignment is None:
            alignment = align_to_yaw(recording, 0.5 * np.pi, q_bs=self.q_bs)
        t, first = recording.t, max(alignment.rows - 1, 0)
        if first >= len(t):
            raise InputError(f"the alignment took {first + 1} samples and the recording has {len(t)}; align on fewer")
        seen = np.where(stop, kernel.SEEN_STOP, 0).astype(np.int64)
        if self.magnetic_heading:
            seen[new_readings(recording)] |= kernel.SEEN_FIELD
        dt = np.diff(t[first:], prepend=t[first])
        seen.flags.writeable = dt.flags.writeable = False
        state = self.start(alignment, p_n=p_n)
        states, sigma = np.empty((len(t), N)), np.empty((len(t), 9))
        said, nis = np.zeros(len(t), dtype=np.int64), np.full(len(t), -1.0)
        states[:first] = state.numbers[:N]
        kernel.deviations(state.numbers, sigma[0])
        sigma[:first] = sigma[0]
        kernel.rows(
            state.numbers,
            state.settings,
            *(seen[first:], gyr_s[first:], acc_s[first:], mag_s[first:] if len(mag_s) else mag_s, dt),
            *(states[first:], sigma[first:], said[first:], nis[first:]),
        )
        return self._solution(t, states, sigma, said, first)

    def _readings(
        self, recording: Recording, stopped: ArrayLike | None
    ) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        if recording.gyr_s is None or recording.acc_s is None:
            missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
            raise InputError(f"the recording has no {missing}; navigation needs gyroscope and accelerometer")
        mag_s = np.empty((0, 3))
        mag_s.flags.writeable = False
        if self.magnetic_heading:
            if recording.mag_s is None:
                raise InputError("the recording has no magnetometer; set magnetic_heading to False to go without")
            mag_s = recording.mag_s
        if stopped is not None:
            return recording.gyr_s, recording.acc_s, mag_s, locked_flags(stopped, len(recording), "stopped")
        if recording.stop is None:
            raise InputError("the recording has no stop column, which ekf15 needs; give stopped= from a stop detector")
        return recording.gyr_s, recording.acc_s, mag_s, recording.stop

    def _numbers(self, alignment: Alignment) -> Array:
        s = np.zeros(kernel.S_SIZE)
        s[kernel.S_GRAVITY] = earth.gravity(self.gravity)
        s[kernel.S_FORCE_VAR], s[kernel.S_RATE_VAR] = self.force_sigma_m_s2**2, self.rate_sigma_rad_s**2
        s[kernel.S_HEADING_VAR] = self.heading_sigma_rad**2
        s[kernel.S_ACC_Q], s[kernel.S_RATE_Q], s[kernel.S_ANGLE_Q] = (
            walk**2 for walk in (self.acc_walk, self.rate_walk, self.angle_walk)
        )
        s[kernel.S_STOP_FORCE], s[kernel.S_STOP_RATE] = self.stop_force_m_s2, self.stop_rate_rad_s
        s[kernel.S_TILT_VAR], s[kernel.S_HEADING_VAR_0] = (
            self.start_tilt_sigma_rad**2,
            self.start_heading_sigma_rad**2,
        )
        s[kernel.S_DECLINATION] = self.declination_rad
        s[kernel.S_GAP_S], s[kernel.S_GAP_ACC_Q], s[kernel.S_GAP_RATE_Q] = self.gap_s, _GAP_ACC**2, _GAP_RATE**2
        s[kernel.S_PRINTED_RATE : kernel.S_PRINTED_COVARIANCE + 1] = (
            self.printed_heading_rate,
            self.printed_innovation,
            self.printed_heading_cases,
            self.printed_reset,
            self.printed_covariance,
        )
        s[kernel.S_RATE_BIAS : kernel.S_RATE_BIAS + 3] = alignment.gyr_bias_s if self.rest_bias else 0.0
        s[kernel.S_R_PS : kernel.S_R_PS + 9] = rfu_from_flu(matrix(self.q_bs).T).T.ravel()
        s.flags.writeable = False
        return s

    def _solution(self, t: Array, states: Array, sigma: Array, said: NDArray[np.int64], first: int) -> Solution:
        bad = np.flatnonzero(~(np.isfinite(states).all(axis=1) & np.isfinite(sigma).all(axis=1)))
        if len(bad):
            raise InputError(
                f"the filter {self.name} lost its state at sample {bad[0]} (t = {t[bad[0]]:.6g} s): readings or "
                "settings are too large for it; check the units of the log"
            )
        flags = {
            "stop_believed": said & kernel.BELIEVED != 0,
            "stop_rejected": said & kernel.REFUSED != 0,
            "not_updated": said & kernel.NOT_UPDATED != 0,
        }
        told = [np.ascontiguousarray(part) for part in (states[:, :3], states[:, 3:6], *np.split(sigma, 3, axis=1))]
        for array in told:
            array.flags.writeable = False  # so that it is held as it is
        p_n, v_n, p_sigma, v_sigma, attitude_sigma = told
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
        for i in np.flatnonzero(said & kernel.GAP):
            yield Event(
                float(t[i - 1]),
                float(t[i]),
                "gap",
                f"no samples for {t[i] - t[i - 1]:.3g} s: straight motion assumed, and the variance opened",
            )
        for kind, bit, text in (
            ("stop_rejected", kernel.REFUSED, "a stop was told and not believed: force or rate says it moves"),
            ("not_updated", kernel.NOT_UPDATED, "the covariance is none any more, and measurements were left out"),
        ):
            rows = np.flatnonzero(said & bit)
            if len(rows) == 0:
                continue
            for group in np.split(rows, np.flatnonzero(np.diff(t[rows]) > _TOGETHER_S) + 1):
                yield Event(float(t[group[0]]), float(t[group[-1]]), kind, f"{text} ({len(group)} samples)")

    def meta(self) -> dict[str, Any]:
        return {"filter": self.name, "settings": repr(self), "gravity": earth.gravity(self.gravity)}

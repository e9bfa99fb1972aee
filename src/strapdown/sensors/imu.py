"""A virtual inertial sensor: accelerometer and gyroscope on one moving frame, sampled at its own rate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.errors import InputError
from strapdown.rotation import q_conj, q_log, q_mul, q_rotate
from strapdown.sensors.methods import ACCELEROMETER, EXACT_ACCELEROMETER, EXACT_GYROSCOPE, Method, Sight, choose
from strapdown.types import Increments, Motion, Recording

Array = NDArray[np.float64]

# Below the noise of consumer parts at 100 Hz (400 ug/rtHz and 0.005 deg/s/rtHz give 0.04 m/s2 and 0.0009 rad/s)
ALLOWED_ACC = 0.05  # m/s2
ALLOWED_GYR = 0.005  # rad/s
TURN_PER_STEP = 0.25  # rad per physics step: RK4 is then off by about 1e-5 of the signal per step


def sample_times(rate_hz: float, duration_s: float) -> Array:
    """Times k / rate from 0 to the duration."""
    n = int(np.floor(duration_s * rate_hz * (1.0 + 1e-12) + 1e-9)) + 1
    return np.minimum(np.arange(n) / rate_hz, duration_s)


_ADVICE = {
    "exact": "the physics step does not resolve the motion; use a smaller physics step, a longer time_constant_s "
    "for the motors, or rk4 if the motion is smooth; across an impact use increments",
    "proof-mass": "use a stiffer joint or exact",
}


@dataclass(frozen=True)
class OutOfRange:
    """A method left its range of validity: from when on, and its possible error."""

    sensor: str
    method: str
    since_s: float
    error: float
    allowed: float
    unit: str

    def __str__(self) -> str:
        return (
            f"sensor {self.sensor}: {self.method} is outside its range of validity from t = {self.since_s:.6g} s: "
            f"estimated error up to {self.error:.3g} {self.unit}, allowed {self.allowed:.3g}; "
            + _ADVICE.get(self.method, "sample faster or use exact")
        )


@dataclass(frozen=True)
class Imu:
    """Settings of a virtual sensor; `methods` names at most one method per instrument, the other is exact."""

    name: str
    rate_hz: float = 100.0
    methods: tuple[str, ...] = ("exact",)
    increments: bool = False
    allowed_acc: float = ALLOWED_ACC  # m/s2, error at which the run warns
    allowed_gyr: float = ALLOWED_GYR  # rad/s

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate_hz) and self.rate_hz > 0.0):
            raise InputError(f'sensor "{self.name}": rate is {self.rate_hz} Hz; give a number above 0')
        choose(self.methods, f'sensor "{self.name}"')

    def measure(self, sight: Sight) -> tuple[Recording, list[OutOfRange]]:
        """Readings with truth, and the methods that left their range (each once)."""
        chosen = choose(self.methods, f'sensor "{self.name}"')
        before, after = max(m.before for m in chosen), max(m.after for m in chosen)
        n = len(sight.motion)
        if n <= before + after:
            raise InputError(
                f'sensor "{self.name}": {n} samples are too few for {" and ".join(m.name for m in chosen)}; '
                "run longer or sample faster"
            )
        keep = slice(before, n - after)
        acc_s, gyr_s = (self._rows(m.reading(sight), m, keep) for m in chosen)
        truth = sight.motion[keep]
        meta = {
            "sensor": self.name,
            "rate_hz": self.rate_hz,
            "gravity_m_s2": sight.gravity,
            "accelerometer_method": chosen[0].name,
            "gyroscope_method": chosen[1].name,
            "accelerometer_stamp": chosen[0].stamp,
            "gyroscope_stamp": chosen[1].stamp,
            "accelerometer_validity": chosen[0].validity,
            "gyroscope_validity": chosen[1].validity,
        }
        increments = increments_of(truth, sight.gravity) if self.increments else None
        recording = Recording(t=truth.t, acc_s=acc_s, gyr_s=gyr_s, increments=increments, truth=truth, meta=meta)
        return recording, self._out_of_range(sight, chosen, keep)

    @staticmethod
    def _rows(values: Array, method: Method, keep: slice) -> Array:
        """Cut a method's rows, which begin at its own first possible sample, to the recording's rows."""
        first = keep.start - method.before
        return values[first : first + keep.stop - keep.start]

    def _distance(self, sight: Sight, method: Method, keep: slice) -> Array:
        """Difference of the method's reading from the exact one: no leading term includes jumps of the motion."""
        exact = EXACT_ACCELEROMETER if method.instrument == ACCELEROMETER else EXACT_GYROSCOPE
        difference = self._rows(method.reading(sight), method, keep) - exact.reading(sight)[keep]
        return np.linalg.norm(difference, axis=1)

    def _out_of_range(self, sight: Sight, chosen: tuple[Method, Method], keep: slice) -> list[OutOfRange]:
        found = []
        for method in chosen:
            accelerometer = method.instrument == ACCELEROMETER
            allowed = self.allowed_acc if accelerometer else self.allowed_gyr
            leading = self._rows(method.error_bound(sight), method, keep)
            bound = np.maximum(leading, self._distance(sight, method, keep))
            over = np.flatnonzero(bound > allowed)
            if len(over):
                since = float(sight.motion.t[keep][over[0]])
                unit = "m/s2" if accelerometer else "rad/s"
                found.append(OutOfRange(self.name, method.name, since, float(bound.max()), allowed, unit))
        if sight.turn_per_step is not None:
            over = np.flatnonzero(sight.turn_per_step > TURN_PER_STEP)
            if len(over):
                since, most = float(sight.motion.t[over[0]]), float(sight.turn_per_step.max())
                found.append(OutOfRange(self.name, "exact", since, most, TURN_PER_STEP, "rad of turn per step"))
        return found


def increments_of(motion: Motion, gravity: float) -> Increments:
    """Increments of an ideal integrating sensor in the frame of this motion; exact, however fast the motion."""
    q_start = motion.q_nb[:-1]
    theta_s = q_log(q_mul(q_conj(q_start), motion.q_nb[1:]))
    dt = np.diff(motion.t)
    dv_n = np.diff(motion.v_n, axis=0) - dt[:, None] * gravity_vector(gravity)
    zero = np.zeros((1, 3))
    return Increments(
        motion.t,
        np.concatenate([[0.0], dt]),
        np.concatenate([zero, theta_s]),
        np.concatenate([zero, q_rotate(q_conj(q_start), dv_n)]),
    )

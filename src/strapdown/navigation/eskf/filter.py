"""The error-state filter: position, velocity, attitude and the biases of gyroscope and accelerometer.

The sensor's frame s is navigated: p_n and v_n are those of the sensor's origin; q_nb is the body's attitude, through
the mounting q_bs. A filter is its settings; a state is a value; a recording and a live stream run the same kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from strapdown import earth
from strapdown.arrays import locked
from strapdown.errors import InputError
from strapdown.kernels.navigation.eskf import filter as kernel
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.navigation.alignment import Alignment, align_to_yaw
from strapdown.navigation.eskf.inputs import NOTHING, Rows, rows_of, seen_with
from strapdown.navigation.eskf.numbers import first_covariance, settings_as_numbers
from strapdown.navigation.eskf.outputs import Output, Track
from strapdown.navigation.eskf.state import State
from strapdown.navigation.eskf.updates import (
    FlatFloor,
    Heights,
    MagneticHeading,
    NonHolonomic,
    PositionFixes,
    WheelTravel,
    ZeroRate,
    ZeroVelocity,
)
from strapdown.rotation import q_normalise
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording, Solution

_PIECE = 200_000  # samples between two words on the progress: half a second
_NO_EXTRA = np.zeros(at.EXTRA)
_NO_EXTRA.flags.writeable = False


class Given(TypedDict, total=False):
    """What a run is given besides the recording, by name.

    stopped: which samples are believed stops (None: recording.stop as it is). alignment: None takes the first second
    for a rest in which the body heads north (yaw 90 deg, paper C's heading 0). p_n: of the start (m).
    """

    stopped: ArrayLike | None
    alignment: Alignment | None
    p_n: ArrayLike
    fixes: PositionFixes | None
    heights: Heights | None


@dataclass(frozen=True)
class Eskf:
    """Settings. gyr_white, acc_white: N (rad/sqrt(s), m/s/sqrt(s)). gyr_bias_sigma, acc_bias_sigma: of what calibration
    has left of the constant offsets (rad/s, m/s2). gyr_drift, acc_drift: of the slow part of the bias, which changes
    within drift_time_s. gyr_walk, acc_walk: K. gyr_resolution, acc_resolution: one count (rad/s, m/s2). Of what
    calibration has left: gyr_matrix_sigma, of the gyroscope's scale and cross-coupling; acc_scale_sigma and
    acc_axes_sigma, of the accelerometer's scale, and of what it reads across body x of an acceleration along it.

    gate_probability: how often an honest measurement may be rejected; 0: every measurement is taken, however far off it
    is (but a magnetic field that is not the Earth's). gap_s: a longer step is a gap, over which
    accelerations of gap_acc_m_s2 and rates of gap_rate_rad_s may have happened, each for a second at a time.
    q_bs, r_bs_b: mounting and lever arm of the sensor on the body; each number of the arm is known to lever_sigma_m.
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

    def __post_init__(self) -> None:
        for name in (
            *("gyr_white", "acc_white", "gyr_bias_sigma", "acc_bias_sigma", "gyr_drift", "acc_drift", "gyr_walk"),
            *("acc_walk", "gyr_resolution", "acc_resolution", "gyr_matrix_sigma", "acc_scale_sigma", "acc_axes_sigma"),
            *("gap_acc_m_s2", "gap_rate_rad_s", "gap_tilt_rad", "lever_sigma_m"),
        ):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise InputError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        for name in ("gyr_white", "acc_white", "drift_time_s", "gap_s"):
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

        B, a floor of the Allan curve, is told to the filter as one process: over 100 s of deviation 1.2 B, it drifts
        within the tens of seconds between stops as far as flicker noise does.
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

    def start(self, alignment: Alignment, *, p_n: ArrayLike = (0.0, 0.0, 0.0), means: bool = False) -> State:
        """At rest at p_n, as aligned. means: readings are means over the step before, not values at their times."""
        x = np.zeros(at.X_SIZE)
        x[at.Q : at.Q + 4] = q_normalise(np.asarray(alignment.q_ns, dtype=np.float64))
        x[at.POSITION : at.POSITION + 3] = locked(p_n, (3,), "p_n")
        x[at.BIAS_G : at.BIAS_G + 3] = alignment.gyr_bias_s
        x[at.FLOOR_M] = x[at.POSITION + 2]
        x[at.COVARIANCE :].reshape(at.N, at.COLUMNS)[:, : at.N] = first_covariance(self, alignment)
        return State(x, settings_as_numbers(self, alignment, means), np.array(self.q_bs))

    def step(
        self,
        state: State,
        gyr_s: Array,
        acc_s: Array,
        dt: float,
        stopped: bool = False,
        *,
        mag_s: Array | None = None,
        travel_m: float | None = None,
        fix: tuple[ArrayLike, float] | None = None,
        height: tuple[float, float] | None = None,
    ) -> State:
        """The state one sample later. Arrays of three doubles; not checked, this runs a thousand times a second.

        The first sample has no step before it, and its dt is 0. travel_m: of the wheel during dt. fix: p_n (m) and its
        deviation; height: (m) and its deviation.
        """
        x = state.numbers.copy()
        seen, extra = (at.SEEN_STOP if stopped else 0), _NO_EXTRA
        if travel_m is not None or fix is not None or height is not None:
            seen, extra = seen_with(seen, travel_m, fix, height)
        if mag_s is not None:
            seen |= at.SEEN_MAG
        kernel.step(x, state.settings, seen, gyr_s, acc_s, gyr_s if mag_s is None else mag_s, extra, dt, NOTHING)
        return State(x, state.settings, state.q_bs)

    def run(self, recording: Recording, **given: Unpack[Given]) -> Solution:
        """The whole recording."""
        return self.track(recording, **given).solution

    def track(
        self, recording: Recording, *, done: Callable[[float], None] = lambda part: None, **given: Unpack[Given]
    ) -> Track:
        """run(), with all that it saw: normalised innovations of every kind of measurement, and the last state.

        done: called with the part of the recording that is done, from 0 to 1.
        """
        rows, state = self.prepare(recording, **given)
        out = Output(len(rows.t), state.numbers, rows.first)
        last, n = state.numbers.copy(), len(rows.dt)
        for begin in range(0, n, _PIECE):
            end = min(begin + _PIECE, n)
            out.fill(last, state.settings, rows, slice(begin, end))
            done(end / n)
        return Track(
            out.solution(rows, state.q_bs, self.meta()),
            out.innovations(rows),
            State(last, state.settings, state.q_bs),
        )

    def prepare(self, recording: Recording, **given: Unpack[Given]) -> tuple[Rows, State]:
        """Checked rows from the end of the alignment on, and the state before the first of them."""
        aligned = given.get("alignment")
        if aligned is None:
            aligned = align_to_yaw(recording, 0.5 * np.pi, q_bs=self.q_bs)
        rows = rows_of(
            recording,
            first=max(aligned.rows - 1, 0),
            stopped=given.get("stopped"),
            needs_stops=self.zero_velocity is not None or self.zero_rate is not None,
            needs_travel=self.wheel_travel is not None,
            needs_mag=self.magnetic_heading is not None,
            fixes=given.get("fixes"),
            heights=given.get("heights"),
        )
        return rows, self.start(aligned, p_n=given.get("p_n", (0.0, 0.0, 0.0)), means=rows.means)

    def meta(self) -> dict[str, Any]:
        return {"filter": self.name, "settings": repr(self), "gravity": earth.gravity(self.gravity)}

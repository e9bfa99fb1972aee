"""Stops of a sensor that is carried by hand: a stop signal and the IMU's statistics, both.

Each sample gets a verdict. Believed: both agree. Doubted: a stop is signalled, and the IMU does not show it yet, or no
longer. Rejected: the IMU is sure, or the doubt lasts. Without a signal, and until it has signalled a stop for the first
time, the IMU decides alone. A hand is never quite at rest, and puts a sensor down within tenths of a second, so means
over segments (segment_stops.py) show its stops too late.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.keywords import shows_keywords
from strapdown.live import State, refuse_sample, refuse_state, state_of
from strapdown.navigation.live_step import BITS, NO_COUNTS_OUT, NO_OUT
from strapdown.navigation.stops.intervals import StopIntervals, Verdict
from strapdown.navigation.stops.judged import both_instruments, judged_stops, verdict_of, words_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording, Sample


@shows_keywords("for_triads", "from_rest")
@dataclass(frozen=True)
class NoiseStops:
    """Thresholds from the sensor's noise: acc_sigma_m_s2, gyr_sigma_rad_s are standard deviations of a reading at rest.

    window_s: time over which, at rest, readings vary by at most noise_factor times their sigmas (a parked motor
    vibrates). The test has the probability false_alarm for each window. A new stop is found where force and speed,
    integrated since the last stop, have returned to their values at rest within shift_m_s2 and speed_m_s. These limits
    grow by drift_m_s2 each second. Readings that stay calm and the same for calm_s are a stop too.

    turn_rad_s: largest mean rate at a stop, in addition to noise.
    strong: statistic over threshold at which a signalled stop is rejected at once.
    doubt_s: time for which a signalled stop that the IMU contradicts is only doubted, before it is rejected.
    gap_s: a longer step empties the window.
    mean_s: time over which the rest is learned.
    """

    name: str = field(default="noise", init=False)
    acc_sigma_m_s2: float = 0.03
    gyr_sigma_rad_s: float = 0.002
    window_s: float = 0.15
    noise_factor: float = 1.5
    false_alarm: float = 1e-4
    shift_m_s2: float = 0.05
    turn_rad_s: float = 0.01
    speed_m_s: float = 0.03
    drift_m_s2: float = 0.03
    calm_s: float = 1.0
    strong: float = 10.0
    doubt_s: float = 0.5
    gap_s: float = 0.5
    mean_s: float = 2.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "name" and not 0.0 < value < np.inf:
                raise InputError(f"{name} of the stop settings is {value}; give a number above 0")
        if not self.false_alarm < 1.0:
            raise InputError(f"false_alarm is {self.false_alarm}; give a probability below 1")

    @classmethod
    def for_triads(cls, gyroscope: Triad, accelerometer: Triad, rate_hz: float, **more: Any) -> Self:
        """Sigmas of a reading from N, the resolution and the rate: of each instrument the noisiest axis."""
        said: dict[str, Any] = {}
        for name, triad, unit in (
            ("gyr_sigma_rad_s", gyroscope, "rad/s"),
            ("acc_sigma_m_s2", accelerometer, "m/s2"),
        ):
            if triad.unit != unit:
                raise InputError(f"the triad for {name} reads {triad.unit}; give one that reads {unit}")
            said[name] = float(np.hypot(max(triad.white) * np.sqrt(rate_hz), triad.resolution / np.sqrt(12.0)))
            if not said[name] > 0.0:
                raise InputError(f"the triad for {name} has no noise to derive a threshold from; give {name}")
        return cls(**{**said, **more})

    @classmethod
    def from_rest(cls, recording: Recording, rest_s: float = 1.0, **more: Any) -> Self:
        """Standard deviations of a reading, measured in the first rest_s of this recording, which must be a rest."""
        if recording.gyr_s is None or recording.acc_s is None:
            raise InputError("the recording has no gyroscope or no accelerometer; stops are judged by both")
        rows = recording.t <= recording.t[0] + rest_s
        if rows.sum() < 10:
            raise InputError(f"the first {rest_s:g} s have {rows.sum()} samples, noise needs 10; give a longer rest")
        acc, gyr = (float(x[rows].std(axis=0).max()) for x in (recording.acc_s, recording.gyr_s))
        if not (acc > 0.0 and gyr > 0.0):
            raise InputError("the readings at rest do not vary, so they show no noise; give the standard deviations")
        known = {"acc_sigma_m_s2": acc, "gyr_sigma_rad_s": gyr}
        return cls(**{**known, **more})

    def window_of(self, step_s: float) -> int:
        """Samples of the window at this step."""
        return max(round(self.window_s / step_s), 3)

    def threshold(self, size: int) -> float:
        """Largest variance ratio of a rest, for a window of this many samples."""
        from scipy.special import chdtri

        degrees = 3 * (size - 1)
        return self.noise_factor**2 * float(chdtri(degrees, self.false_alarm)) / degrees

    @cached_property
    def _packed(self) -> dict[float, Array]:
        """Settings as the kernel reads them, by the usual step."""
        return {}

    def settings(self, step_s: float) -> Array:
        """The settings in the form of the kernel, for a source that reads every step_s."""
        if step_s in self._packed:
            return self._packed[step_s]
        size = self.window_of(step_s)
        s = np.empty(judge.S_SIZE)
        root = np.sqrt(size)
        s[judge.S_ACC_VAR], s[judge.S_GYR_VAR] = self.acc_sigma_m_s2**2, self.gyr_sigma_rad_s**2
        s[judge.S_LIMIT] = self.threshold(size)
        s[judge.S_STRONG] = self.strong * s[judge.S_LIMIT]
        s[judge.S_SHIFT] = self.shift_m_s2 + 4.0 * self.noise_factor * self.acc_sigma_m_s2 / root
        s[judge.S_TURN] = self.turn_rad_s + 4.0 * self.noise_factor * self.gyr_sigma_rad_s / root
        s[judge.S_SPEED], s[judge.S_DRIFT] = self.speed_m_s, self.drift_m_s2
        s[judge.S_DOUBT_S], s[judge.S_GAP_S], s[judge.S_MEAN_S] = self.doubt_s, self.gap_s, self.mean_s
        s[judge.S_CALM_S], s[judge.S_WINDOW_S] = self.calm_s, size * step_s
        s.flags.writeable = False
        self._packed[step_s] = s
        return s

    def start(self, step_s: float) -> State:
        """State before the first sample, of a source that reads every step_s."""
        if not 0.0 < step_s < np.inf:
            raise InputError(f"the usual step is {step_s} s; give a number above 0")
        fix_signature(judge.rows)
        size = self.window_of(step_s)
        x = np.zeros(judge.state_size(size))
        x[judge.SIZE], x[judge.STEP_S] = size, step_s
        return state_of(NoiseStops, x)

    def step(self, state: State, sample: Sample) -> tuple[State, Verdict]:
        """The state after the sample, and the verdict on it.

        sample.stop: the controller's signal.
        """
        if not isinstance(state, State) or state.owner is not NoiseStops:
            raise refuse_state(state, NoiseStops)
        x = state.numbers.copy()
        step_s = float(x[judge.STEP_S])
        settings = self._settings_for(x, step_s)
        try:
            stop = sample.stop
            word = judge.SAYS_NOTHING if stop is None else judge.SAYS_STOP if stop else judge.SAYS_MOVE
            dt = np.array((sample.dt,))
            taken = judge.rows(x, settings, BITS[word], sample.gyr_s, sample.acc_s, dt, NO_COUNTS_OUT, NO_OUT)
        except (TypeError, AttributeError):  # numba has no compiled version that fits
            taken = False
        if not taken:
            raise refuse_sample(sample)
        limit = float(settings[judge.S_LIMIT])
        return state_of(NoiseStops, x), verdict_of(int(x[judge.LAST]), float(x[judge.STATISTIC]), limit)

    def _settings_for(self, x: Array, step_s: float) -> Array:
        """Settings for a state, whose window must be as long as theirs."""
        size = self.window_of(step_s)
        if size != x[judge.SIZE]:
            raise InputError(
                f"the state's window has {x[judge.SIZE]:.0f} samples, a window_s of {self.window_s:g} s needs {size}; "
                "a window of another length needs a new start"
            )
        return self.settings(step_s)

    def find(self, recording: Recording) -> StopIntervals:
        """Verdicts on all samples, each from earlier samples only: the steps, to the bit."""
        gyr, acc = both_instruments(recording)
        x, n = self.start(recording.step_s).numbers, len(recording)
        dt = np.diff(recording.t, prepend=recording.t[0])
        words = words_of(recording)
        for array in (dt, words):
            array.flags.writeable = False
        verdict, signal = np.empty(n, dtype=np.int64), np.empty(n)
        settings = self.settings(recording.step_s)
        inputs = (x, settings, words, gyr.reshape(-1), acc.reshape(-1), dt)
        assert judge.rows(*inputs, verdict, signal)
        return judged_stops(recording, verdict, signal, float(settings[judge.S_LIMIT]))

"""Stops of a vehicle: the controller's word and the IMU's statistics, both.

A stop that only the wheels or the controller tell freezes a filter when an encoder dies or a flag sticks; one that only
the IMU tells may be a smooth drive. Each sample gets a verdict: believed (both agree), doubted (the controller says
stop, the IMU not yet or no more), rejected (the IMU is sure, or the doubt lasts). Without a controller's word the IMU
decides alone.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from strapdown import earth
from strapdown.errors import InputError
from strapdown.kernels import stop_judge as judge
from strapdown.navigation.stop_verdicts import JudgedStops, judged
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

# Of a recording as a whole, where a verdict may wait: a longer window that knows the noise sees gentler moves.
OFF_LINE = {"window_s": 0.3, "noise_factor": 1.0}


@dataclass(frozen=True)
class NoiseStops:
    """Thresholds from the sensor's noise: acc_sigma_m_s2, gyr_sigma_rad_s are deviations of one reading at rest.

    window_s: over so long readings vary by no more than noise_factor times these (a parked motor hums), by a test with
    false_alarm for each window. shift_m_s2, turn_rad_s: how far their means may lie from those at rest, beside noise.
    speed_m_s: largest speed, reckoned since the last stop. drift_m_s2: both limits grow by it each second. calm_s:
    readings that stay calm and the same for so long are a stop whatever the speed. strong: statistic over threshold at
    which a controller's stop is rejected at once; doubt_s: for how long it is only doubted else. gap_s: a longer step
    empties the window. mean_s: over which the rest is learned.
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
        """Deviations of a reading from N, the resolution and the rate: of each instrument the noisiest axis."""
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
        """Deviations of a reading as they are in the first rest_s of this recording, which are a rest."""
        if recording.gyr_s is None or recording.acc_s is None:
            raise InputError("the recording has no gyroscope or no accelerometer; stops are judged by both")
        rows = recording.t <= recording.t[0] + rest_s
        if rows.sum() < 10:
            raise InputError(f"the first {rest_s:g} s have {rows.sum()} samples, noise needs 10; give a longer rest")
        acc, gyr = (float(x[rows].std(axis=0).max()) for x in (recording.acc_s, recording.gyr_s))
        if not (acc > 0.0 and gyr > 0.0):
            raise InputError("the readings at rest do not vary, so they tell no noise; give the deviations")
        return cls(**{"acc_sigma_m_s2": acc, "gyr_sigma_rad_s": gyr, **more})

    @classmethod
    def off_line(
        cls,
        recording: Recording,
        gyroscope: Triad | None = None,
        accelerometer: Triad | None = None,
        *,
        rest_s: float = 1.0,
    ) -> Self:
        """For a whole recording that begins with a rest of rest_s; for settled(). Deviations are those of this rest,
        which hold a motor's hum too, or those of the part where they are larger or the rest shows none."""
        part = None
        if gyroscope is not None and accelerometer is not None:
            rate_hz = 1.0 / float(np.median(np.diff(recording.t)))
            part = cls.for_triads(gyroscope, accelerometer, rate_hz, **OFF_LINE)
        try:
            seen = cls.from_rest(recording, rest_s, **OFF_LINE)
        except InputError:
            if part is None:
                raise
            return part
        return (
            seen
            if part is None
            else replace(
                seen,
                acc_sigma_m_s2=max(seen.acc_sigma_m_s2, part.acc_sigma_m_s2),
                gyr_sigma_rad_s=max(seen.gyr_sigma_rad_s, part.gyr_sigma_rad_s),
            )
        )

    def window_of(self, step_s: float) -> int:
        """Samples of the window at this step."""
        return max(round(self.window_s / step_s), 3)

    def threshold(self, size: int) -> float:
        """Largest variance ratio of a rest, for a window of so many samples."""
        from scipy.special import chdtri

        degrees = 3 * (size - 1)
        return self.noise_factor**2 * float(chdtri(degrees, self.false_alarm)) / degrees

    def start(self, step_s: float) -> "JudgeState":
        """Live: before the first sample, of a sensor that reads every step_s."""
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
        s[judge.S_LONG_S] = self.calm_s
        s.flags.writeable = False
        return JudgeState(np.zeros(judge.WINDOW + 6 * size), s, judge.MOVES)

    def step(self, state: "JudgeState", gyr_s: Array, acc_s: Array, dt: float, word: bool | None) -> "JudgeState":
        """The state one sample later. word: of the controller; None: there is none. Not checked, as it runs live."""
        x = state.numbers.copy()
        says = judge.SAYS_NOTHING if word is None else judge.SAYS_STOP if word else judge.SAYS_MOVE
        return JudgeState(x, state.settings, judge.step(x, state.settings, says, gyr_s, acc_s, dt))


@dataclass(frozen=True, eq=False)
class JudgeState:
    """After a sample: a value, which a step does not change."""

    numbers: Array
    settings: Array
    verdict: int

    @property
    def believed(self) -> bool:
        return self.verdict == judge.BELIEVED

    @property
    def doubted(self) -> bool:
        return self.verdict == judge.DOUBTED

    @property
    def rejected(self) -> bool:
        return self.verdict == judge.REJECTED


@dataclass(frozen=True)
class PaperStops:
    """Paper C's check of each sample: | |f| - g | < force_m_s2 and |w| < rate_rad_s. For a calibrated sensor only: the
    offset of a raw one is above the thresholds, and true stops are then lost. A stop that fails it is doubted."""

    name: str = field(default="paper", init=False)
    force_m_s2: float = 0.25
    rate_rad_s: float = 0.03
    gravity: str | float = "earth"


def believed_stops(recording: Recording, settings: NoiseStops | PaperStops | None = None) -> JudgedStops:
    """Verdicts on all samples, each from what was known by then. A stop column that is missing or never set is no
    word: then the IMU decides alone."""
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; stops are judged by gyroscope and accelerometer")
    if len(recording) < 2:
        raise InputError("the recording has one sample; stops need a stretch of time")
    word = recording.stop if recording.stop is not None and recording.stop.any() else None
    if isinstance(settings, PaperStops):
        return _paper(recording, recording.gyr_s, recording.acc_s, word, settings)
    return _noise(recording, recording.gyr_s, recording.acc_s, word, settings or NoiseStops())


def _noise(
    recording: Recording, gyr: Array, acc: Array, word: NDArray[np.bool_] | None, settings: NoiseStops
) -> JudgedStops:
    dt = np.diff(recording.t, prepend=recording.t[0])
    state = settings.start(float(np.median(dt[1:])))
    n = len(dt)
    says = np.full(n, judge.SAYS_NOTHING) if word is None else np.where(word, judge.SAYS_STOP, judge.SAYS_MOVE)
    says = says.astype(np.int64)
    for array in (dt, says):
        array.flags.writeable = False
    verdict, statistic, speed = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    judge.rows(state.numbers, state.settings, says, gyr, acc, dt, verdict, statistic, speed)
    return judged(recording.t, verdict, statistic, float(state.settings[judge.S_LIMIT]), speed, word is None)


def _paper(
    recording: Recording, gyr: Array, acc: Array, word: NDArray[np.bool_] | None, settings: PaperStops
) -> JudgedStops:
    g = earth.gravity(settings.gravity)
    force = np.abs(np.linalg.norm(acc, axis=1) - g) / settings.force_m_s2
    statistic = np.maximum(force, np.linalg.norm(gyr, axis=1) / settings.rate_rad_s)
    still = statistic < 1.0
    said = np.ones(len(still), dtype=bool) if word is None else word
    verdict = np.where(said & still, judge.BELIEVED, np.where(said, judge.DOUBTED, judge.MOVES))
    if word is None:
        verdict[~still] = judge.MOVES
    return judged(recording.t, verdict, statistic, 1.0, np.zeros(len(still)), word is None)

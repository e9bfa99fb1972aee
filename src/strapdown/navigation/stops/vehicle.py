"""Stops of a vehicle: the controller's word and the IMU's statistics, both.

A stop that only the wheels or the controller tell freezes a filter when an encoder dies or a flag sticks; one that only
the IMU tells may be a smooth drive. Each sample gets a verdict: believed (both agree), doubted (the controller says
stop, the IMU not yet or no more), rejected (the IMU is sure, or the doubt lasts). Without a controller's word the IMU
decides alone. A wheel that turns is a word against a stop; one that does not turn is none for it, as its encoder may be
dead, but one that has just come to rest widens the IMU's limits as a controller that has just said stop does.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from strapdown import earth
from strapdown.errors import InputError
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.navigation.stops.verdicts import JudgedStops, judged
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

# Of a recording as a whole, where a verdict may wait: a longer window that knows the noise sees gentler moves.
OFF_LINE: dict[str, float] = {"window_s": 0.3, "noise_factor": 1.0, "gain_deviations": 6.0}
_WHEEL_TICKS, _WHEEL_DEVIATIONS = 1.5, 6.0  # of travel over a window, above which a wheel turns
_INVERTED = 0.2  # part of the stops that a flag may tell and still look inverted
_LOOK_S = 1.0  # of the start, at rest: what an odometer does there is noise


@dataclass(frozen=True)
class NoiseStops:
    """Thresholds from the sensor's noise: acc_sigma_m_s2, gyr_sigma_rad_s are deviations of one reading at rest.

    window_s: over so long readings vary by no more than noise_factor times these (a parked motor hums), by a test with
    false_alarm for each window. A stop is found again where force and speed, reckoned since the last one, are back:

    - after a word that has changed from move to stop: within shift_m_s2 and speed_m_s, which grow by drift_m_s2 each
      second, or if readings stay calm and the same for calm_s;
    - without such a word: within least_shift_m_s2 and least_speed_m_s beside alone_deviations of what noise, the
      wandering of a rest (steady_m_s2) and turns (turn_leak of their angle is a tilt) do to the reckoning, and calm
      for calm_share of the time since the last stop; or after lost_s of calm.

    turn_rad_s: largest mean rate at a stop, beside noise. gain_deviations: of a speed to which the readings of a stop
    add up, at which it ends; None, for what is held by hand: never, and the limits are wide without a word too.
    strong: statistic over threshold at which a controller's stop is rejected at once; doubt_s: for how long it is only
    doubted else. gap_s: a longer step empties the window. mean_s: over which the rest is learned.
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
    least_shift_m_s2: float = 0.005
    least_speed_m_s: float = 0.01
    alone_deviations: float = 3.0
    steady_m_s2: float = 0.002
    turn_leak: float = 0.002
    calm_share: float = 0.07
    lost_s: float = 12.0
    gain_deviations: float | None = None
    strong: float = 10.0
    doubt_s: float = 0.5
    gap_s: float = 0.5
    mean_s: float = 2.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "name" and value is not None and not 0.0 < value < np.inf:
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
        if part is None:
            return seen
        acc, gyr = (max(getattr(seen, x), getattr(part, x)) for x in ("acc_sigma_m_s2", "gyr_sigma_rad_s"))
        return replace(seen, acc_sigma_m_s2=acc, gyr_sigma_rad_s=gyr)

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
        s[judge.S_CALM_S], s[judge.S_LOST_S], s[judge.S_WINDOW_S] = self.calm_s, self.lost_s, size * step_s
        s[judge.S_ACC_N2] = (self.noise_factor * self.acc_sigma_m_s2) ** 2 * step_s
        s[judge.S_GYR_N2] = (self.noise_factor * self.gyr_sigma_rad_s) ** 2 * step_s
        s[judge.S_STEADY], s[judge.S_LEAK] = self.steady_m_s2, self.turn_leak
        s[judge.S_GAINED], s[judge.S_ALONE] = self.gain_deviations or 0.0, self.alone_deviations
        s[judge.S_SHARE] = self.calm_share
        # two means of a window, of the same rest
        s[judge.S_SAME] = s[judge.S_SHIFT]
        if self.gain_deviations is not None:
            s[judge.S_SAME] = (
                self.least_shift_m_s2 + 4.0 * self.noise_factor * self.acc_sigma_m_s2 * np.sqrt(2.0) / root
            )
        s[judge.S_LEAST_F], s[judge.S_LEAST_V] = self.least_shift_m_s2, self.least_speed_m_s
        s.flags.writeable = False
        return JudgeState(np.zeros(judge.WINDOW + 6 * size), s, judge.MOVES)

    def step(
        self, state: "JudgeState", gyr_s: Array, acc_s: Array, dt: float, word: bool | None, rolls: bool = False
    ) -> "JudgeState":
        """The state one sample later. word: of the controller; None: there is none. rolls: the wheel has turned by more
        than its resolution within the last window_s. Not checked, as it runs live."""
        x = state.numbers.copy()
        says = judge.SAYS_NOTHING if word is None else judge.SAYS_STOP if word else judge.SAYS_MOVE
        if rolls:
            says = judge.SAYS_ROLLS if word else judge.SAYS_MOVE
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
    rolls = wheel_turns(recording, settings.window_s)
    says[rolls] = np.where(says[rolls] == judge.SAYS_STOP, judge.SAYS_ROLLS, judge.SAYS_MOVE)
    says = says.astype(np.int64)
    for array in (dt, says):
        array.flags.writeable = False
    verdict, statistic, speed, since = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.empty(n)
    judge.rows(state.numbers, state.settings, says, gyr, acc, dt, verdict, statistic, speed, since)
    limit = float(state.settings[judge.S_LIMIT])
    return judged(recording.t, verdict, statistic, limit, speed, since, word is None)


def wheel_turns(recording: Recording, window_s: float) -> NDArray[np.bool_]:
    """Where the odometer has moved within the last window_s by more than its resolution or its noise at the start,
    which is a rest. Nowhere without an odometer, or if it moves all through that start: then it is none."""
    n = len(recording)
    if recording.odometer is None or n < 3:
        return np.zeros(n, dtype=bool)
    t, odometer = recording.t, recording.odometer
    back = np.searchsorted(t, t - window_s * (1.0 + 1e-9))
    travel = np.abs(odometer - odometer[back])
    steps = np.abs(np.diff(odometer))
    steps = steps[steps > 1e-9 * max(1.0, float(np.abs(odometer).max()))]  # roundoff
    look = max(int(np.searchsorted(t, t[0] + _LOOK_S)), 3)
    noise = float(np.diff(odometer[:look]).std())
    # a tick that was told between two samples is two smaller steps, so not the least of all
    tick = float(np.quantile(steps, 0.1)) if len(steps) else 0.0
    turns = np.asarray(travel > max(_WHEEL_TICKS * tick, _WHEEL_DEVIATIONS * noise))
    if turns[back[look - 1] + 1 : look].all():
        return np.zeros(n, dtype=bool)
    return turns


def looks_inverted(recording: Recording, settings: NoiseStops) -> bool:
    """Whether the flag is set where the readings show motion, and not where they show a stop."""
    if recording.stop is None or not recording.stop.any():
        return False
    alone = believed_stops(replace(recording, stop=None), settings).believed
    if not 0.0 < alone.mean() < 1.0:
        return False
    return bool(recording.stop[alone].mean() < _INVERTED and recording.stop[~alone].mean() > 0.5)


def unseen_moves(settings: NoiseStops, recording: Recording) -> str:
    """Which moves these settings cannot tell from rest, as a clause: their force does not leave, for longer than a
    window, what two means over it may differ by at rest."""
    state = settings.start(float(np.median(np.diff(recording.t))))
    force = 2.0 * float(state.settings[judge.S_SAME])
    return f"a move that speeds up by less than about {force:.2g} m/s2 looks like rest to it, and no deviation tells it"


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
    zeros = np.zeros(len(still))
    return judged(recording.t, verdict, statistic, 1.0, zeros, zeros, word is None)

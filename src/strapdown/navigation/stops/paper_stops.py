"""Paper C's check of a stop: each sample separately."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from strapdown import earth
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.live import State, refuse_sample, refuse_state, state_of
from strapdown.navigation.stops.intervals import StopIntervals, Verdict
from strapdown.navigation.stops.judged import both_instruments, judged_stops, verdict_of
from strapdown.types import Array, Recording, Sample


@dataclass(frozen=True)
class PaperStops:
    """| |f| - g | < force_m_s2 and |w| < rate_rad_s. For a calibrated sensor only: the offset of an uncalibrated one is
    above the thresholds, and true stops are then lost. A signalled stop that fails it is doubted. Until the controller
    has signalled a stop for the first time, its signal is ignored.
    """

    name: str = field(default="paper", init=False)
    force_m_s2: float = 0.25
    rate_rad_s: float = 0.03
    gravity: str | float = "earth"

    @cached_property
    def _gravity(self) -> float:
        return earth.gravity(self.gravity)

    def start(self, step_s: float) -> State:
        """State before the first sample. step_s is not needed: a sample is judged separately."""
        return state_of(PaperStops, np.zeros(1))  # 1: the controller has signalled a stop at least once

    def step(self, state: State, sample: Sample) -> tuple[State, Verdict]:
        if not isinstance(state, State) or state.owner is not PaperStops:
            raise refuse_state(state, PaperStops)
        spoken = bool(state.numbers[0]) or bool(sample.stop)
        try:
            (signal,) = self._signal(np.reshape(sample.gyr_s, (1, 3)), np.reshape(sample.acc_s, (1, 3)))
        except (ValueError, TypeError, AttributeError):
            raise refuse_sample(sample) from None
        signalled = sample.stop if spoken and sample.stop is not None else True
        code = judge.MOVES
        if signal < 1.0 and signalled:
            code = judge.BELIEVED
        elif signalled and spoken and sample.stop:
            code = judge.DOUBTED
        return state_of(PaperStops, np.array([float(spoken)])), verdict_of(code, float(signal), 1.0)

    def find(self, recording: Recording) -> StopIntervals:
        gyr_s, acc_s = both_instruments(recording)
        n, signal = len(recording), self._signal(gyr_s, acc_s)
        stop = np.zeros(n, dtype=bool) if recording.stop is None else recording.stop
        spoken = np.logical_or.accumulate(stop) & (recording.stop is not None)
        still = signal < 1.0
        verdict = np.where(
            still & (stop | ~spoken), judge.BELIEVED, np.where(~still & stop, judge.DOUBTED, judge.MOVES)
        )
        return judged_stops(recording, verdict, signal, 1.0)

    def _signal(self, gyr_s: Array, acc_s: Array) -> Array:
        force = np.abs(np.sqrt((acc_s * acc_s).sum(axis=1)) - self._gravity) / self.force_m_s2
        rate = np.sqrt((gyr_s * gyr_s).sum(axis=1)) / self.rate_rad_s
        return np.asarray(np.maximum(force, rate))

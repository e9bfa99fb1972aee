"""Stops of a vehicle while the samples arrive: the forward pass of segment_stops.py, with its settings.

Each sample is judged by the segment of constant force and rate to which it belongs so far, against earlier segments.
The evidence is that of a whole recording. What comes later is not known, so more of it is asked for a new stop.
Verdicts lag: a stop is used edge_s after the last change of force that noise does not explain, or as soon as a reliable
signal shows it. Its end is seen when the move has changed the mean force by more than noise may; late_s then reaches
back.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation import stop_blocks as layout
from strapdown.kernels.navigation import stop_forward as kernel
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.keywords import shows_keywords
from strapdown.live import State, refuse_sample, refuse_state, state_of
from strapdown.navigation.live_step import BITS, EMPTY, NO_COUNTS_OUT, NO_OUT
from strapdown.navigation.stops.intervals import StopIntervals, Verdict, without_late
from strapdown.navigation.stops.judged import both_instruments, judged_stops, verdict_of, words_of
from strapdown.navigation.stops.segment_stops import SegmentStops
from strapdown.navigation.stops.segments import BLOCK_S, GAP_S, LONGEST_S
from strapdown.navigation.stops.wheel import CREEP_M_S, TICKS, WINDOW_S, turning_travel_m
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording, Sample


@shows_keywords("of_rest")
@dataclass(frozen=True)
class ForwardStops:
    """A vehicle that begins at rest.

    evidence: settings of the evidence, as for a whole recording.
    rest_rate_s, rest_force_s: mean rate (rad/s) and mean force (m/s2) of a rest.
    wheel_m: travel of the wheel within 0.3 s above which it turns. None: what its ticks so far and a creep of 10 mm/s
        allow.
    unsure: probability up to which a new stop may be none and is used.
    """

    name: str = field(default="forward", init=False)
    evidence: SegmentStops
    rest_rate_s: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rest_force_s: tuple[float, float, float] = (0.0, 0.0, 9.81)
    wheel_m: float | None = None
    unsure: float = 0.15

    def __post_init__(self) -> None:
        if not isinstance(self.evidence, SegmentStops):
            raise InputError(f"evidence is a {type(self.evidence).__name__}; give SegmentStops(...)")
        for name in ("rest_rate_s", "rest_force_s"):
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.shape != (3,) or not np.isfinite(value).all():
                raise InputError(f"{name} of the stop settings is {getattr(self, name)}; give three numbers")
            object.__setattr__(self, name, tuple(value.tolist()))
        if not np.linalg.norm(self.rest_force_s) > 0.0:
            raise InputError("rest_force_s of the stop settings is 0; at rest an accelerometer reads gravity")
        if self.wheel_m is not None and not 0.0 < self.wheel_m < np.inf:
            raise InputError(f"wheel_m of the stop settings is {self.wheel_m}; give a number above 0")
        if not 0.0 < self.unsure < 0.5:
            raise InputError(f"unsure is {self.unsure}; give a probability between 0 and 0.5")

    @classmethod
    def of_rest(
        cls,
        rest: Recording,
        gyroscope: Triad | None = None,
        accelerometer: Triad | None = None,
        *,
        tick_m: float | None = None,
        **more: Any,
    ) -> Self:
        """Noise, rate and force of a recording at rest; noise of the part where that is larger.

        tick_m: length of a tick of the odometer.
        more: fields of this class.
        """
        gyr, acc = both_instruments(rest)
        known: dict[str, Any] = {
            "evidence": SegmentStops.of_rest(rest, (0, len(rest) - 1), gyroscope, accelerometer),
            "rest_rate_s": tuple(gyr.mean(axis=0)),
            "rest_force_s": tuple(acc.mean(axis=0)),
            "wheel_m": turning_travel_m(rest, WINDOW_S) if tick_m is None else TICKS * tick_m,
        }
        return cls(**{**known, **more})

    @cached_property
    def _settings(self) -> Array:
        """Settings in the form of the layout."""
        from scipy.special import chdtri

        e = self.evidence
        s = e.packed(float(np.linalg.norm(self.rest_force_s)), layout.S_SIZE)
        s[layout.S_ACC_VAR], s[layout.S_GYR_VAR] = e.acc_sigma_m_s2**2, e.gyr_sigma_rad_s**2
        s[layout.S_SPREAD], s[layout.S_TURN], s[layout.S_ERROR] = e.floor_spread, e.turn_rad_s, e.signal_error
        s[layout.S_EDGE_S], s[layout.S_GAP_S] = e.edge_s, GAP_S
        s[layout.S_PENALTY] = float(chdtri(6, e.false_alarm))
        s[layout.S_SURE] = float(np.log((1.0 - self.unsure) / self.unsure))
        s[layout.S_WHEEL_M], s[layout.S_WHEEL_S] = self.wheel_m or 0.0, WINDOW_S
        s[layout.S_TICKS], s[layout.S_CREEP_M] = TICKS, CREEP_M_S * WINDOW_S
        s[layout.S_BIAS : layout.S_BIAS + 3] = self.rest_rate_s
        s[layout.S_FORCE : layout.S_FORCE + 3] = self.rest_force_s
        s.flags.writeable = False
        return s

    def start(self, step_s: float) -> State:
        """State before the first sample, of a source that reads every step_s."""
        if not 0.0 < step_s < np.inf:
            raise InputError(f"the usual step is {step_s} s; give a number above 0")
        fix_signature(kernel.rows)
        size = max(round(BLOCK_S / step_s), 2)
        blocks = max(round(LONGEST_S / (size * step_s)), 2)
        x = np.zeros(layout.state_size(blocks, max(round(WINDOW_S / step_s), 1) + 2))
        x[layout.STEP_S], x[layout.SIZE], x[layout.BLOCKS] = step_s, size, blocks
        return state_of(ForwardStops, x)

    def step(self, state: State, sample: Sample) -> tuple[State, Verdict]:
        """The state after the sample, and the verdict on it.

        sample.stop: the controller's signal.
        """
        if not isinstance(state, State) or state.owner is not ForwardStops:
            raise refuse_state(state, ForwardStops)
        x = state.numbers.copy()
        try:
            stop, travel_m = sample.stop, sample.travel_m
            word = judge.SAYS_NOTHING if stop is None else judge.SAYS_STOP if stop else judge.SAYS_MOVE
            travel = EMPTY if travel_m is None else np.array((travel_m,))
            times = np.array((sample.t,)), np.array((sample.dt,))
            taken = kernel.rows(
                *(x, self._settings, BITS[word], sample.gyr_s, sample.acc_s, travel, *times),
                *(NO_COUNTS_OUT, NO_OUT, NO_OUT),
            )
        except (TypeError, AttributeError):  # numba has no compiled version that fits
            taken = False
        if not taken:
            raise refuse_sample(sample)
        verdict = verdict_of(int(x[layout.LAST]), -float(x[layout.EVIDENCE]), 0.0)
        return state_of(ForwardStops, x), verdict._replace(late_s=float(x[layout.LATE_S]))

    def find(self, recording: Recording) -> StopIntervals:
        """Verdicts on all samples, each from earlier samples only: the steps, to the bit. `used` is without those that
        proved wrong later.
        """
        gyr, acc = both_instruments(recording)
        x, n = self.start(recording.step_s).numbers, len(recording)
        dt = np.diff(recording.t, prepend=recording.t[0])
        travel, words = EMPTY, words_of(recording)
        if recording.odometer is not None:
            travel = np.diff(recording.odometer, prepend=recording.odometer[0])
        for array in (dt, words, travel):
            array.flags.writeable = False
        verdict, signal, late = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
        inputs = (x, self._settings, words, gyr.reshape(-1), acc.reshape(-1), travel, recording.t, dt)
        assert kernel.rows(*inputs, verdict, signal, late)
        found = judged_stops(recording, verdict, signal, 0.0)
        return replace(found, used=without_late(recording.t, found.believed, late))

"""Common part of the detectors with a moving window of readings: live steps, and the run over a recording.

look_ahead: the window is around the sample; live it must be False, and the window is before the sample.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation import stop_detectors as kernel
from strapdown.live import State, refuse_sample, refuse_state, state_of
from strapdown.navigation.live_step import NO_OUT
from strapdown.navigation.stops.intervals import StopIntervals, Verdict, nowhere
from strapdown.types import Array, Event, Recording, Sample

_NO_FLAGS_OUT = np.empty(0, dtype=bool)


@dataclass(frozen=True)
class Windowed:
    """Base of stop detectors that use a window of readings.

    window_s: length of the window.
    look_ahead: the window is around the sample; False: before it, as live use needs.
    """

    window_s: float = 0.025
    look_ahead: bool = True

    needs: ClassVar[tuple[str, ...]] = ("gyr_s", "acc_s")

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float | int) and not isinstance(value, bool) and not 0.0 < value < np.inf:
                raise InputError(f"{name} of the stop detector is {value}; give a number above 0")

    def _numbers(self) -> dict[int, float]:
        """Settings by their place for the kernel."""
        raise NotImplementedError

    @cached_property
    def settings(self) -> Array:
        """The settings in the form of the kernel."""
        s = np.ones(kernel.S_SIZE)
        for place, value in self._numbers().items():
            s[place] = value
        s.flags.writeable = False
        return s

    def window_of(self, step_s: float) -> int:
        """Samples of the window at this step, at least three."""
        return max(round(self.window_s / step_s), 3)

    def _after(self, size: int) -> int:
        """Number of samples of the window after the sample that it judges."""
        return size - 1 - size // 2 if self.look_ahead else 0

    def live(self) -> Self:
        """The detector with a window that needs no later sample."""
        from dataclasses import replace

        return replace(self, look_ahead=False)

    def start(self, step_s: float) -> State:
        """State before the first sample, of a source that reads every step_s."""
        if self.look_ahead:
            raise InputError("a detector that looks ahead cannot judge live samples; use .live(), look_ahead=False")
        return self._fresh(step_s)

    def _fresh(self, step_s: float) -> State:
        if not 0.0 < step_s < np.inf:
            raise InputError(f"the usual step is {step_s} s; give a number above 0")
        fix_signature(kernel.rows)
        size = self.window_of(step_s)
        x = np.zeros(kernel.state_size(size))
        x[kernel.SIZE], x[kernel.STEP_S] = size, step_s
        return state_of(type(self), x)

    def step(self, state: State, sample: Sample) -> tuple[State, Verdict]:
        """The state after the sample, and the verdict on it."""
        if not isinstance(state, State) or state.owner is not type(self):
            raise refuse_state(state, type(self))
        x = state.numbers.copy()
        size = self.window_of(float(x[kernel.STEP_S]))
        if size != x[kernel.SIZE] or self.look_ahead:
            raise InputError(
                f"the state's window has {x[kernel.SIZE]:.0f} samples before a sample, these settings need {size}"
                f"{' and look ahead' if self.look_ahead else ''}; another window needs a new start"
            )
        try:
            dt = np.array((sample.dt,))
            out = (NO_OUT, NO_OUT, _NO_FLAGS_OUT)
            taken = kernel.rows(x, self.settings, sample.gyr_s, sample.acc_s, dt, 0, *out)
        except (TypeError, AttributeError):  # numba has no compiled version that fits
            taken = False
        if not taken:
            raise refuse_sample(sample)
        stands = bool(x[kernel.STOP])
        return state_of(type(self), x), Verdict(
            stands, False, False, float(x[kernel.SIGNAL]), float(x[kernel.THRESHOLD])
        )

    def find(self, recording: Recording) -> StopIntervals:
        """The stops of a recording; without look_ahead they equal those of the steps, to the bit."""
        readings = self._readings(recording)
        n = len(recording)
        if n < 3:
            raise InputError(f"the recording has {n} samples; a stop detector needs three or more")
        size = self.window_of(recording.step_s)
        if size > n:
            raise InputError(
                f"a window of {self.window_s:g} s is {size} samples and the recording has {n}; give a shorter window"
            )
        dt = np.diff(recording.t, prepend=recording.t[0])
        dt.flags.writeable = False
        signal, threshold, stop = np.empty(n), np.empty(n), np.empty(n, dtype=bool)
        x = self._fresh(recording.step_s).numbers
        assert kernel.rows(x, self.settings, *readings, dt, self._after(size), signal, threshold, stop)
        none = nowhere(n)
        return StopIntervals(recording.t, stop, none, none, signal, threshold, tuple(self._events(recording.t, stop)))

    def _events(self, t: Array, stop: Any) -> list[Event]:
        return []

    def _readings(self, recording: Recording) -> tuple[Array, Array]:
        """gyr_s and acc_s, flat; zeros for one that the detector does not use."""
        found = []
        for name, instrument in (("gyr_s", "gyroscope"), ("acc_s", "accelerometer")):
            values = getattr(recording, name)
            if values is None and name in self.needs:
                raise InputError(f"the recording has no {instrument}, which this stop detector needs; use another one")
            if values is None:
                values = np.zeros((len(recording), 3))
                values.flags.writeable = False
            found.append(values.reshape(-1))
        return found[0], found[1]

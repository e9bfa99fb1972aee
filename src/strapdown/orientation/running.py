"""Common part of all orientation filters: the live step, its estimate, and the run over a recording.

A filter brings two kernels. step(state, settings, gyr_s, acc_s, mag_s, dt) changes an array of numbers laid out as
kernels/orientation/state.py states, and returns False where an array has a wrong length; without a new magnetometer
reading mag_s is empty. rows(state, settings, dt, gyr_s, acc_s, mag_s, mag_new, q, bias, sigma, flags) is the loop over
the same step: live and recorded give the same bits.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import not_negative
from strapdown.errors import InputError
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.orientation.state import BIAS, FLAGS, SIGMA, STARTED, USUAL_STEP, Q
from strapdown.live import Belief, Start, State, checked_start, fields_of, misfit, numbers_of, state_of
from strapdown.orientation.first_sample import needs_step, take_without_step
from strapdown.orientation.results import FLAG_BITS, solution_of
from strapdown.orientation.samples import Samples, samples_of, unit_quaternion, without_faults
from strapdown.orientation.settings import packed
from strapdown.types import Array, Event, Recording, Sample, Solution

_NO_MAG = np.empty(0)
_NOTHING_GIVEN = Start()


class OrientationFilter:
    """A filter is its settings, and these are its methods; a filter adds its fields, its kernel and own_settings."""

    name: ClassVar[str]
    kernel: ClassVar[Any]  # of kernels/, with step, rows, STATE_SIZE and SETTINGS_SIZE
    reports_bias: ClassVar[bool] = True
    reports_sigma: ClassVar[bool] = False
    if TYPE_CHECKING:

        @property
        def magnetometer(self) -> bool | None: ...
        @property
        def longest_step_s(self) -> float: ...

    def own_settings(self) -> Mapping[int, float]:
        """The settings in the units of the kernel, by their index in its layout."""
        raise NotImplementedError

    @cached_property
    def packed_settings(self) -> Array:
        """Settings for the kernels, packed once for each filter object."""
        return packed(self, self.kernel.SETTINGS_SIZE, self.own_settings())

    @cached_property
    def _live(self) -> tuple[Any, Array, type]:
        """Data that every step needs, by one lookup: the prepared kernel, its settings, the owner of its states."""
        fix_signature(self.kernel.step)
        # writable: numba takes twice as long to find out the type of a locked array
        return self.kernel.step, self.packed_settings.copy(), type(self)

    @property
    def live_kernel(self) -> tuple[Any, Array]:
        """The kernel of a live step and its settings, for a loop that keeps the numbers of a state. The kernel changes
        the numbers in place: pass a copy. Start with step_s, so that the first sample need not wait for the second.
        """
        return self._live[0], self._live[1]

    def __getstate__(self) -> dict[str, Any]:
        return fields_of(self)

    def start(self, given: Start = _NOTHING_GIVEN) -> State:
        """The state before the first sample.

        q_ns of `given`, or the attitude of its alignment, is the attitude at the first sample; without it the first
        readings give it.

        step_s: the usual step of the source; without it the first sample is filtered together with the second one, by
            filters that need it.
        """
        return state_of(self._live[2], first_numbers(self, given))

    def step(self, state: State, sample: Sample) -> State:
        """The state after a sample. The readings of a sample are arrays of three doubles; they are not converted, since
        this runs a thousand times a second. The dt of the first sample is ignored.
        """
        kernel, settings, owner = self._live
        try:
            if state.owner is owner:
                numbers, mag_s = state.numbers.copy(), sample.mag_s
                if mag_s is None:
                    mag_s = _NO_MAG
                if kernel(numbers, settings, sample.gyr_s, sample.acc_s, mag_s, sample.dt):
                    after = State()
                    after.owner, after.numbers = owner, numbers
                    return after
        except (TypeError, AttributeError):  # no compiled version for these types; no State; no Sample
            pass
        numbers = numbers_of(state, owner, self.kernel.STATE_SIZE)
        wrong = misfit(sample)
        if wrong is not None or not needs_step(self.kernel, numbers):
            raise InputError(wrong or f"{self.name} cannot use this sample: {sample}; please report it")
        after = state.copy()
        take_without_step(self.kernel, after.numbers, settings, sample)
        return after

    def belief(self, state: State) -> Belief:
        """Attitude of the sensor's frame (q_nb), gyroscope bias and standard deviations where the filter has them, and
        flags of the last sample."""
        n = numbers_of(state, type(self), self.kernel.STATE_SIZE)
        flags = int(n[FLAGS])
        return Belief(
            n[Q : Q + 4].copy(),
            bias={"gyr_s": n[BIAS : BIAS + 3].copy()} if self.reports_bias else {},
            sigma={"attitude_n": n[SIGMA : SIGMA + 3].copy()} if self.reports_sigma else {},
            flags={name: bool(flags & bit) for name, bit in FLAG_BITS.items()},
        )

    def run(
        self,
        recording: Recording,
        given: Start | None = None,
        *,
        magnetometer: Recording | None = None,
        q_bs: ArrayLike | None = None,
    ) -> Solution:
        """Attitude, flags, bias and standard deviations, where the filter has them: the steps over the samples of a
        recording, to the bit.

        given: as in `start`; None: Start.of(recording).

        magnetometer: its own recording, if it has its own times.
        q_bs: mounting of the sensor on the body; without it the attitude is that of the sensor's frame.
        """
        if (six := self._six_axes(recording, magnetometer)) is not None:
            return _six_axes_noted(six.run(recording, given, q_bs=q_bs))
        samples = samples_of(recording, magnetometer=magnetometer, q_bs=q_bs, use_mag=self.magnetometer is not False)
        numbers = first_numbers(self, Start(step_s=samples.step_s) if given is None else given)
        return self._solution(samples, *self._rows(self.kernel.rows, numbers, samples.dt, samples), {})

    def _six_axes(self, recording: Recording, magnetometer: Recording | None) -> Self | None:
        """The filter with 6 axes where the settings leave the choice to the log and the log has no magnetometer.

        The heading is then relative to the first sample, and its sigma starts at 0. A live filter cannot know this: it
        waits for a reading."""
        if self.magnetometer is None and magnetometer is None and getattr(recording, "mag_s", True) is None:
            return replace(self, magnetometer=False)  # type: ignore[type-var]
        return None

    def _rows(self, rows: Any, numbers: Array, dt: Array, samples: Samples) -> tuple[Array, Array, Array, Array]:
        fix_signature(rows)
        n, i, settings = len(dt), 0, self.packed_settings
        out = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
        while i < n and needs_step(self.kernel, numbers):
            fix_signature(self.kernel.step)
            take_without_step(self.kernel, numbers, settings, samples.sample(i))
            for table, at in zip(out, (Q, BIAS, SIGMA), strict=False):
                table[i] = numbers[at : at + table.shape[1]]
            out[3][i] = numbers[FLAGS]
            i += 1
        readings = (array[i:] for array in (dt, samples.gyr, samples.acc, samples.mag, samples.mag_new))
        rows(numbers, settings, *readings, *(column[i:] for column in out))
        return out

    def _solution(
        self, samples: Samples, q: Array, bias: Array, sigma: Array, flags: Array, meta: dict[str, Any]
    ) -> Solution:
        bias_or_none, sigma_or_none = bias if self.reports_bias else None, sigma if self.reports_sigma else None
        about = {"filter": self.name, **meta}
        return solution_of(samples, q, bias_or_none, sigma_or_none, flags, about, self.longest_step_s)


class SmoothingFilter(OrientationFilter):
    """A filter with a smoother: off line each sample also uses the later ones."""

    smoother: ClassVar[Any]  # of kernels/, with smooth_rows

    def smooth(
        self,
        recording: Recording,
        given: Start | None = None,
        *,
        magnetometer: Recording | None = None,
        q_bs: ArrayLike | None = None,
    ) -> Solution:
        """As run, from the whole recording: each sample also uses the later ones."""
        if (six := self._six_axes(recording, magnetometer)) is not None:
            return _six_axes_noted(six.smooth(recording, given, q_bs=q_bs))
        samples = samples_of(recording, magnetometer=magnetometer, q_bs=q_bs, use_mag=self.magnetometer is not False)
        usual, faults = without_faults(samples)
        numbers = first_numbers(self, _NOTHING_GIVEN if given is None else given)
        dt = samples.dt.copy()
        dt[0] = numbers[USUAL_STEP] = samples.step_s
        dt.flags.writeable = False
        q, bias, sigma, flags = self._rows(self.smoother.smooth_rows, numbers, dt, usual)
        flags = (flags.astype(np.int64) | faults).astype(np.float64)
        return self._solution(samples, q, bias, sigma, flags, {"smoothed": True})


def _six_axes_noted(solution: Solution) -> Solution:
    """The solution with an event that states the choice."""
    text = "the log has no magnetometer: 6 axes, the heading is the gyroscope's and counts from the first sample"
    note = Event(float(solution.t[0]), float(solution.t[-1]), "six_axes", text)
    return replace(solution, events=(note, *solution.events))


def first_numbers(filt: OrientationFilter, given: Start) -> Array:
    """The numbers of a state before its first sample."""
    given = checked_start(given)
    numbers = np.zeros(filt.kernel.STATE_SIZE)
    numbers[Q] = 1.0
    if given.step_s is not None:
        numbers[USUAL_STEP] = not_negative("step_s", given.step_s)
    q_ns = given.q_ns if given.q_ns is not None or given.alignment is None else given.alignment.q_ns
    if q_ns is not None:
        numbers[Q : Q + 4] = unit_quaternion(q_ns, "the attitude to start from")
        numbers[STARTED] = 1.0
    return numbers

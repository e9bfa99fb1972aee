"""The noise of a real part, from a log at rest: curves, constants, and notes."""

from dataclasses import dataclass

import numpy as np

from strapdown.calibration.noise.allan import Allan, Band, allan_deviation, confidence_band
from strapdown.calibration.noise.fit import AxisFit, fit_noise
from strapdown.errors import InputError
from strapdown.recordings.counts import smallest_step
from strapdown.recordings.evenness import even_step, moved_at
from strapdown.recordings.examination.faults import new_readings
from strapdown.recordings.examination.verdict import checked
from strapdown.types import Array, Recording

FIELDS = {"accelerometer": "acc_s", "gyroscope": "gyr_s", "magnetometer": "mag_s"}
UNITS = {"accelerometer": "m/s2", "gyroscope": "rad/s", "magnetometer": "uT"}
_JITTER_TO_TELL = 0.01  # of a step


@dataclass(frozen=True, eq=False)
class InstrumentNoise:
    """One instrument: its Allan curve, and for each axis fit, band, mean, and smallest step (None: not quantised)."""

    name: str
    unit: str
    curve: Allan
    fits: tuple[AxisFit, ...]
    bands: tuple[Band, ...]
    mean: Array
    steps: tuple[float | None, ...]


@dataclass(frozen=True, eq=False)
class LogNoise:
    """All instruments of a log at rest.

    notes: sentences for the user.
    touched: notes that contradict the rest.
    """

    instruments: dict[str, InstrumentNoise]
    step_s: float
    samples: int
    notes: tuple[str, ...]
    touched: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        return self.samples * self.step_s


def analyse_log(recording: Recording, probability: float = 0.95) -> LogNoise:
    """Allan deviation with its band, and the noise constants, of every axis of a log at rest."""
    present = {name: getattr(recording, field) for name, field in FIELDS.items()}
    present = {name: values for name, values in present.items() if values is not None}
    if not present:
        raise InputError("the log has neither accelerometer, gyroscope nor magnetometer; record at least one of them")
    if recording.clipped is not None and recording.clipped.any():
        first = int(np.argmax(recording.clipped))
        raise InputError(
            f"{int(recording.clipped.sum())} of {len(recording)} samples are clipped at the sensor's range, the first "
            f"at sample {first} (t = {recording.t[first]:.6g} s); record at rest with a wider range, or cut them out"
        )
    notes = [finding.sentence for finding in checked(recording, rests=True) if finding.kind == "magnetometer_slow"]
    step, jitter = even_step(recording.t)
    steps = dict.fromkeys(present, step)
    if "magnetometer" in present:
        new = new_readings(recording)
        if not new.all():
            present["magnetometer"] = present["magnetometer"][new]
            steps["magnetometer"] = even_step(recording.t[new])[0]
    if jitter > _JITTER_TO_TELL * step:
        notes.append(
            f"time stamps scatter by {jitter:.2g} s ({100 * jitter / step:.2g} % of a step) around an even grid of "
            f"{1.0 / step:.5g} Hz, which the analysis takes instead; at rest that does no harm"
        )
    looked = [
        moved_at(v[:, i], steps[name], f"{name} {axis}") for name, v in present.items() for i, axis in enumerate("xyz")
    ]
    touched = tuple(note for note in looked if note is not None)
    notes += touched
    instruments = {name: _instrument(name, values, steps[name], probability) for name, values in present.items()}
    for name, found in instruments.items():
        notes += _of_axes(name, [fit.notes for fit in found.fits])
    return LogNoise(instruments, step, len(recording), tuple(notes), touched)


def _instrument(name: str, values: Array, step: float, probability: float) -> InstrumentNoise:
    curve = allan_deviation(values, step)
    fits = tuple(fit_noise(np.ascontiguousarray(values[:, i]), step) for i in range(3))
    bands = tuple(confidence_band(curve, i, fit.noise, probability) for i, fit in enumerate(fits))
    steps = tuple(smallest_step(values[:, i]) for i in range(3))
    return InstrumentNoise(name, UNITS[name], curve, fits, bands, values.mean(axis=0), steps)


def _of_axes(name: str, notes: list[tuple[str, ...]]) -> list[str]:
    return [f"{name} {axis}: {note}" for axis, said in zip("xyz", notes, strict=True) for note in said]

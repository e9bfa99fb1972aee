"""Does a calibration still fit its sensor? Judged on any log: gravity and rates at rest, the size of the field."""

from dataclasses import dataclass

import numpy as np

from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import FIELDS, UNITS, Calibration, Correction
from strapdown.calibration.still import Still, still_intervals
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.types import Array, Recording

# What a sensor may have changed since without the calibration being called worn: below what a fresh one reaches by
# hand (1 mg, 0.05 deg/s) times two, and the radius error of a compass on a desk.
_WEAR = {"accelerometer": 2e-3 * STANDARD_GRAVITY, "gyroscope": np.radians(0.1), "magnetometer": 0.03}
_SIGMAS = 3.0
_TURNED = 0.5  # least spread of field directions (1: all over the sphere) that says anything about its size


@dataclass(frozen=True)
class Check:
    """One instrument: what was compared, rms before and after the calibration, what is allowed, all in unit."""

    instrument: str
    what: str
    unit: str
    before: float
    after: float
    allowed: float
    places: int
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return bool(self.after <= self.allowed)


def check(
    calibration: Calibration, recording: Recording, *, gravity: float, field_ut: float | None = None
) -> tuple[Check, ...]:
    """Every instrument that the calibration and the log share. gravity (m/s2) and field_ut (uT, None: not known)."""
    corrected = apply(calibration, recording)
    checks = []
    shared = [name for name in calibration.corrections if getattr(recording, FIELDS[name]) is not None]
    stills = still_intervals(recording) if {"accelerometer", "gyroscope"} & set(shared) else ()
    for name in shared:
        correction = calibration.corrections[name]
        before, after = (np.asarray(getattr(r, FIELDS[name])) for r in (recording, corrected))
        if name == "magnetometer":
            checks.append(_field(correction, before, after, field_ut))
        else:
            checks.append(_at_rest(name, correction, stills, before, after, gravity))
    if not checks:
        raise InputError("the calibration and the log share no instrument; give another log")
    return tuple(checks)


def _at_rest(
    name: str, correction: Correction, stills: tuple[Still, ...], before: Array, after: Array, gravity: float
) -> Check:
    """The accelerometer reads g in size and the gyroscope nothing wherever the sensor lies still."""

    def left(values: Array) -> Array:
        means = np.array([values[still.rows].mean(axis=0) for still in stills])
        return np.linalg.norm(means, axis=1) - (gravity if name == "accelerometer" else 0.0)

    noise = max(float(np.max(after[s.rows].std(axis=0, ddof=1)) / np.sqrt(s.samples)) for s in stills)
    notes = []
    if name == "accelerometer" and _directions(np.array([after[s.rows].mean(axis=0) for s in stills])) < _TURNED:
        notes.append("the log holds few directions of gravity: it can only tell about these")
    what = "size of gravity at rest" if name == "accelerometer" else "rate at rest"
    return Check(
        name,
        what,
        UNITS[name],
        _rms(left(before)),
        _rms(left(after)),
        max(_WEAR[name], _SIGMAS * np.hypot(_uncertainty(correction), noise)),
        len(stills),
        tuple(notes),
    )


def _field(correction: Correction, before: Array, after: Array, field_ut: float | None) -> Check:
    """The field is of one size whichever way the sensor is turned."""
    size = np.linalg.norm(after, axis=1)
    wanted = float(np.median(size)) if field_ut is None else field_ut
    raw = np.linalg.norm(before, axis=1)
    if _directions(after) < _TURNED:
        raise InputError(
            "the log's magnetometer turned too little to check its calibration; turn it through all directions"
        )
    allowed = max(_WEAR["magnetometer"] * wanted, _SIGMAS * (correction.found.residual_rms or 0.0))
    # robust: a passing magnet is not the sensor's fault
    after_rms = 1.4826 * float(np.median(np.abs(size - wanted)))
    before_rms = 1.4826 * float(np.median(np.abs(raw - (np.median(raw) if field_ut is None else wanted))))
    what = "size of the field, against its median" if field_ut is None else "size of the field, against the model"
    return Check("magnetometer", what, "uT", before_rms, after_rms, allowed, len(after))


def _uncertainty(correction: Correction) -> float:
    """Of the bias, as far as it is known, and of what the fit left over."""
    sigma = correction.sigma.get("bias", np.zeros(3))
    known = sigma[np.isfinite(sigma)]
    return float(np.hypot(np.linalg.norm(known), correction.found.residual_rms or 0.0))


def _directions(vectors: Array) -> float:
    """How well directions fill the sphere: 1 for all over it, 0 for a plane, or for one direction."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return float(np.clip(3.0 * np.linalg.eigvalsh(unit.T @ unit / len(unit))[0], 0.0, 1.0))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x))))

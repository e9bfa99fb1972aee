"""Check whether a calibration still fits its sensor. Any log can be used: gravity and rates at rest, and the size of
the field are checked.
"""

from dataclasses import dataclass

import numpy as np

from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import FIELDS, UNITS, Calibration, Correction
from strapdown.calibration.temperature.heated_rest import still_while_heated
from strapdown.calibration.temperature.rest_blocks import blocks_of
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.recordings.examination.verdict import checked
from strapdown.recordings.rest import Still
from strapdown.types import Array, Recording

# What a sensor may have changed since without the calibration being called worn: below what a fresh one reaches by
# hand (1 mg, 0.05 deg/s) times two, and the radius error of a compass on a desk.
_WEAR = {"accelerometer": 2e-3 * STANDARD_GRAVITY, "gyroscope": np.radians(0.1), "magnetometer": 0.03}
_SIGMAS = 3.0
_EXACT = 0.01  # of the noise of a mean: residuals so small are no chance, the fit was to these very poses
_MET_EXACTLY = (
    "the calibration meets this log exactly: it was found from as many rests as it has unknowns, so that nothing is "
    "left to check; give another log"
)
_TURNED = 0.5  # least spread of field directions (1: all over the sphere) that shows anything about its size


@dataclass(frozen=True)
class Check:
    """One instrument: the quantity compared, its rms before and after the calibration, and the allowed value, all in
    unit.

    before, after and allowed are None where the log does not determine them; notes then state why.
    """

    instrument: str
    what: str
    unit: str
    before: float | None
    after: float | None
    allowed: float | None
    places: int
    notes: tuple[str, ...] = ()

    @property
    def told(self) -> bool:
        return self.after is not None

    @property
    def holds(self) -> bool:
        """Whether the calibration is valid, or not determined so that nothing contradicts it."""
        return self.after is None or self.allowed is None or bool(self.after <= self.allowed)


def check(
    calibration: Calibration, recording: Recording, *, gravity: float, field_ut: float | None = None
) -> tuple[Check, ...]:
    """Every instrument that the calibration and the log share. gravity (m/s2) and field_ut (uT, None: not known).

    What the log does not show is skipped with a note. A log that shows nothing is refused.
    """
    corrected = apply(calibration, recording)
    shared = [name for name in calibration.corrections if getattr(recording, FIELDS[name]) is not None]
    stills: tuple[Still, ...] = ()
    no_rest, checks = "", []
    if {"accelerometer", "gyroscope"} & set(shared):
        checked(recording, uses=("accelerometer", "gyroscope"), gravity=gravity, rests=True)
        try:
            stills = still_while_heated(recording)
        except InputError as error:
            no_rest = str(error)
    for name in shared:
        correction = calibration.corrections[name]
        before, after = (np.asarray(getattr(r, FIELDS[name])) for r in (recording, corrected))
        if name == "magnetometer":
            checks.append(_field(correction, before, after, field_ut))
        elif stills:
            checks.append(_at_rest(name, correction, stills, before, after, gravity, recording))
        else:
            checks.append(_untold(name, "at rest", no_rest))
    if not any(item.told or item.notes == (_MET_EXACTLY,) for item in checks):
        raise InputError(checks[0].notes[0])
    return tuple(checks)


def _untold(name: str, what: str, why: str) -> Check:
    return Check(name, what, UNITS[name], None, None, None, 0, (why,))


def _at_rest(
    name: str,
    correction: Correction,
    stills: tuple[Still, ...],
    before: Array,
    after: Array,
    gravity: float,
    recording: Recording,
) -> Check:
    """Wherever the sensor is at rest, the accelerometer reads g in size and the gyroscope zero.

    Where the offset was assumed (a calibration against temperature), only the change within each rest is judged.
    """
    acc = name == "accelerometer"
    sigma = correction.sigma.get("bias")
    assumed = acc and correction.follows_temperature and (sigma is None or not np.isfinite(sigma).all())
    blocks = blocks_of(recording.t, [still.rows for still in stills])

    def left(values: Array) -> Array:
        if assumed:
            size = np.linalg.norm(blocks.means(values), axis=1)
            own = np.array([size[blocks.rest == k].mean() for k in range(len(stills))])
            return np.asarray(size - own[blocks.rest])
        means = np.array([values[still.rows].mean(axis=0) for still in stills])
        return np.asarray(np.linalg.norm(means, axis=1) - (gravity if acc else 0.0))

    noise = max(float(np.max(after[s.rows].std(axis=0, ddof=1)) / np.sqrt(s.samples)) for s in stills)
    if not assumed and _rms(left(after)) < _EXACT * noise:
        return _untold(name, "size of gravity at rest" if acc else "rate at rest", _MET_EXACTLY)
    notes = []
    if assumed:
        notes.append("its offset was not calibrated: only its change within each rest is judged")
    elif acc and directions_filled(np.array([after[s.rows].mean(axis=0) for s in stills])) < _TURNED:
        notes.append("the log holds few directions of gravity: it can only tell about these")
    what = "rate at rest" if not acc else "change of gravity's size at rest" if assumed else "size of gravity at rest"
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
    """Check the field, which has one size in every attitude of the sensor."""
    size = np.linalg.norm(after, axis=1)
    wanted = float(np.median(size)) if field_ut is None else field_ut
    raw = np.linalg.norm(before, axis=1)
    if directions_filled(after) < _TURNED:
        why = "the log's magnetometer turned too little to check its calibration; turn it through all directions"
        return _untold("magnetometer", "size of the field", why)
    allowed = max(_WEAR["magnetometer"] * wanted, _SIGMAS * (correction.found.residual_rms or 0.0))
    # robust: a passing magnet is not the sensor's fault
    after_rms = 1.4826 * float(np.median(np.abs(size - wanted)))
    before_rms = 1.4826 * float(np.median(np.abs(raw - (np.median(raw) if field_ut is None else wanted))))
    what = "size of the field, against its median" if field_ut is None else "size of the field, against the model"
    return Check("magnetometer", what, "uT", before_rms, after_rms, allowed, len(after))


def allowed_error(correction: Correction, name: str) -> float | None:
    """Largest rms error of a corrected instrument, in its unit, with which a calibration is still valid.

    None where its bias was assumed and not found, so that there is no limit. For the magnetometer it is a share of the
    field.
    """
    sigma = correction.sigma.get("bias")
    if sigma is None or not np.isfinite(sigma).all():
        return None
    return float(_WEAR[name]) if name == "magnetometer" else max(float(_WEAR[name]), _SIGMAS * _uncertainty(correction))


def _uncertainty(correction: Correction) -> float:
    """Uncertainty of the bias, as far as it is known, and of the residuals of the fit."""
    sigma = correction.sigma.get("bias", np.zeros(3))
    known = sigma[np.isfinite(sigma)]
    return float(np.hypot(np.linalg.norm(known), correction.found.residual_rms or 0.0))


def directions_filled(vectors: Array) -> float:
    """How well directions cover the sphere: 1 for the whole sphere, 0 for a plane or a single direction."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return float(np.clip(3.0 * np.linalg.eigvalsh(unit.T @ unit / len(unit))[0], 0.0, 1.0))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x))))

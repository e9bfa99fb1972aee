"""Preparation of strapdown orient: the log made ready, and the filter's settings from the known facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from strapdown.cli.log import gravity_at

if TYPE_CHECKING:
    from strapdown.calibration.calibration import Calibration, Correction
    from strapdown.sensors.triad import Triad
    from strapdown.types import Recording

_LEAST_BIAS_DPS = 0.1  # what a calibrated MEMS gyroscope moves by in some degrees of temperature


_REMEDIES = {
    "gyroscope_offset": " (strapdown calibrate static)",
    "magnetometer_uneven": " (strapdown calibrate magnetometer)",
}


@dataclass(frozen=True)
class Prepared:
    """A log prepared for filters; own: the magnetometer's recording if it has one; nine: axes, not six."""

    recording: "Recording"
    own: "Recording | None"
    nine: bool
    gravity_mps2: float
    part: str | None
    noise: "Mapping[str, Triad] | None"
    calibration: "Calibration | None" = None
    notes: list[str] = field(default_factory=list)


def prepared(
    recording: "Recording",
    own: "Recording | None",
    axes: str,
    calibration: "Calibration | None",
    gravity: float | None,
    part: str | None,
) -> Prepared:
    """The log, calibrated if asked for, with or without magnetometer; its gravity, and the noise of its part."""
    from strapdown.errors import InputError
    from strapdown.recordings.facts import noise_of_part

    if axes not in ("6", "9", "auto"):
        raise InputError(f'--axes is "{axes}"; give 6, 9 or auto')
    named, noise = noise_of_part(recording, part)
    local, _ = gravity_at(recording, None, 0.0, gravity)
    if gravity is not None:
        recording = recording.with_meta(gravity_m_s2=gravity)
    notes: list[str] = []
    if calibration is not None:
        from strapdown.calibration.apply import apply
        from strapdown.cli import screen

        with screen.warnings_shown() as warned:
            recording = apply(calibration, recording)
            if own is not None and "magnetometer" in calibration.corrections:
                own = apply(calibration, own)
        notes += warned
    has = own is not None or recording.mag_s is not None
    nine = has if axes == "auto" else axes == "9"
    notes += uncalibrated(recording, own, magnetometer=nine)
    if axes == "auto" and not has:
        notes.append("the log has no magnetometer: 6 axes, the heading is the gyroscope's and starts at 0")
    return Prepared(recording, own, nine, local, named, noise, calibration, notes)


def uncalibrated(recording: "Recording", own: "Recording | None" = None, *, magnetometer: bool = True) -> list[str]:
    """Notes of the examination. Most filters that seem broken lack a calibration. magnetometer: whether it is used."""
    from strapdown.recordings.examination.findings import NOTE
    from strapdown.recordings.examination.verdict import examine

    findings = list(examine(recording, uses=("accelerometer", "gyroscope")).of(NOTE))
    if magnetometer:
        findings += [f for f in examine(own or recording).of(NOTE) if f.kind.startswith("magnetometer")]
    return [finding.sentence + _REMEDIES.get(finding.kind, "") for finding in findings]


def declination_of(recording: "Recording", nine: bool, notes: list[str]) -> float:
    """Declination in deg, by the field that a simulated log states for its place; 0 where nothing is known."""
    import math

    from strapdown.recordings.facts import LOG, facts_of

    facts = facts_of(recording)
    if not nine or facts.sources["declination_rad"] != LOG:
        return 0.0
    degrees = math.degrees(facts.declination_rad)
    notes.append(f"declination {degrees:.2f} deg, from the field that the log states for its place")
    return degrees


def filter_for(name: str, log: Prepared, declination_deg: float, part_given: bool) -> Any:
    """The named filter with the known facts of the log: axes, declination, gravity, noise of the part, calibration.

    The notes state the source of each setting.
    """
    import math

    from strapdown.errors import InputError
    from strapdown.orientation.catalogue import FILTERS, filter_by_name

    cls = FILTERS[name].cls
    known = {
        "magnetometer": log.nine,
        "declination_rad": math.radians(declination_deg),
        "gravity": log.gravity_mps2,
    }
    settings = {key: value for key, value in known.items() if key in cls.__dataclass_fields__}
    filt, noise = filter_by_name(name, **settings), None
    if log.noise is not None and hasattr(cls, "for_triads"):
        try:
            filt, noise = cls.for_triads(log.noise, **settings), log.noise
            log.notes.append(f"{name}: noise of {log.part}, {'as asked for' if part_given else 'which the log names'}")
        except InputError:
            if part_given:
                raise
    elif part_given:
        log.notes.append(f"{name}: has no noise settings to take from a part")
    return _after_calibration(filt, log, noise) if hasattr(filt, "tilt_floor_rad") else filt


def _after_calibration(filt: Any, log: Prepared, noise: "Mapping[str, Triad] | None") -> Any:
    """The filter with the residual errors of a calibration: tilt by the accelerometer, bias and turns of the gyroscope.

    Settings after a calibration. The bias walk is the part's; without a part the defaults of the filter, for a
    calibrated consumer part, are the minimum.
    """
    import math

    from strapdown.orientation.mekf import steady_rate

    cls = type(filt)
    corrections = {} if log.calibration is None else log.calibration.corrections
    acc, gyr = corrections.get("accelerometer"), corrections.get("gyroscope")
    more: dict[str, float] = {}
    scale = _left(gyr, "matrix")
    # a data sheet as printed has no errors of scale and axes: those of the part at hand are unknown until calibrated
    if scale is None:
        more["gyr_turn"] = max(filt.gyr_turn, cls.gyr_turn)
    else:
        more["gyr_turn"] = scale if noise is None else math.hypot(filt.gyr_turn, scale)
    offset = _left(acc, "bias")
    if acc is not None and offset is not None:
        tilt = math.hypot(offset, acc.found.residual_rms or 0.0) / log.gravity_mps2
        more["tilt_floor_rad"] = (
            max(cls.tilt_floor_rad, tilt) if noise is None else math.hypot(filt.tilt_floor_rad, tilt)
        )
    rest = _left(gyr, "bias")
    if noise is not None and rest is not None:
        steady = steady_rate(noise["gyroscope"], log.gravity_mps2)
        more["bias_start_dps"] = max(_LEAST_BIAS_DPS, math.degrees(math.hypot(rest, steady)))
    found = replace(filt, **more)
    told = [
        f"{key} {getattr(found, key):.2g}" for key in more if corrections and getattr(found, key) != getattr(filt, key)
    ]
    if told:
        log.notes.append(f"{filt.name}: {', '.join(told)}, from the residual errors of the calibration")
    return found


def _left(correction: "Correction | None", parameter: str) -> float | None:
    """Sigma of a parameter of a calibration for one axis (root mean square over the axes); None if not found."""
    import numpy as np

    sigma = None if correction is None else correction.sigma.get(parameter)
    if sigma is None or not np.isfinite(sigma).all():
        return None
    return float(np.sqrt(np.sum(np.square(sigma)) / 3.0))

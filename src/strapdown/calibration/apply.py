"""Apply a calibration to a recording, once; and join calibrations of several methods into one."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from strapdown.calibration.calibration import FIELDS, PARAMETERS, VERDICTS, Calibration, Correction, Found
from strapdown.errors import InputError, RangeWarning
from strapdown.recordings.examination.verdict import checked
from strapdown.types import Array, Recording

META = "calibrated"  # key in a recording's meta: instrument -> method and date of what was applied


def apply(calibration: Calibration, recording: Recording) -> Recording:
    """The recording with corrected readings. The meta of the result lists the corrections that were applied; applying
    again is refused.

    Instruments that the log lacks are skipped, but it must have one. Readings in another unit are refused. A
    RangeWarning reports a log of another part, and anything that looks wrong about the log. A RangeWarning also reports
    temperatures outside the data of the calibration, which are extrapolated.
    """
    done = applied(recording)
    todo = {name: c for name, c in calibration.corrections.items() if getattr(recording, FIELDS[name]) is not None}
    if not todo:
        raise InputError(
            f"the calibration is for {_listed(calibration.corrections)}, and the log has none of them; give another log"
        )
    twice = [name for name in todo if name in done]
    if twice:
        how = done[twice[0]]
        raise InputError(
            f"the {twice[0]} of this log is calibrated already ({_origin(how)}); applying a calibration twice would "
            "correct twice: give the log as recorded"
        )
    if recording.increments is not None:
        raise InputError("the log has increments (delta angle, delta velocity), which this calibration is not for")
    checked(recording, uses=tuple(todo), upright=False)
    warn_other_part("the calibration", calibration.part, recording)
    values: dict[str, Any] = {}
    f_s = recording.acc_s
    for name in sorted(todo):  # the accelerometer first: the gyroscope's g-sensitivity needs it corrected
        correction = todo[name]
        _warn_outside(name, correction, recording)
        readings = getattr(recording, FIELDS[name])
        try:
            values[FIELDS[name]] = correction.corrected(readings, recording.temperature, f_s)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if name == "accelerometer":
            f_s = values["acc_s"]
    said = {name: {"method": c.found.method, "date": c.found.date} for name, c in todo.items()}
    return replace(recording, **values, meta={**recording.meta, META: {**done, **said}})


def applied(recording: Recording) -> Mapping[str, Any]:
    """Corrections that were applied to the recording so far: instrument -> method and date."""
    said = recording.meta.get(META, {})
    return said if isinstance(said, Mapping) else {}


def refuse_calibrated(recording: Recording, *instruments: str) -> None:
    """Refuse a calibrated log: a calibration starts from readings as recorded."""
    done = [name for name in instruments if name in applied(recording)]
    if done:
        raise InputError(
            f"the {done[0]} of this log is calibrated already ({_origin(applied(recording)[done[0]])}); give the log "
            "as recorded, and join what was found before with what is found now"
        )


def joined(first: Calibration, second: Calibration) -> Calibration:
    """One calibration with the effect of `first` followed by `second`."""
    for name in ("part", "specimen"):
        one, other = getattr(first, name), getattr(second, name)
        if one is not None and other is not None and one != other:
            raise InputError(f"the calibrations are of {name} {one} and of {name} {other}; join those of one {name}")
    corrections = dict(first.corrections)
    for name, correction in second.corrections.items():
        corrections[name] = _in_turn(name, corrections[name], correction) if name in corrections else correction
    return Calibration(corrections, first.part or second.part, first.specimen or second.specimen)


def _in_turn(name: str, first: Correction, second: Correction) -> Correction:
    """Two corrections of one instrument as one: (y - b1) / S1, M1, then - b2, M2, has its b2 moved in front of M1."""
    if first.cubic.any():
        raise InputError(f"{name}: nothing can be joined behind a cubic correction; begin with the other calibration")
    diagonal = np.array_equal(first.matrix, np.diag(np.diag(first.matrix)))
    if len(second.temperature_scale) and not diagonal:
        raise InputError(f"{name}: a scale that follows temperature must come first; join them the other way round")
    if first.follows_temperature and second.follows_temperature and first.reference_c != second.reference_c:
        raise InputError(
            f"{name}: both calibrations follow temperature, from {first.reference_c:g} and from {second.reference_c:g} "
            "degC; fit the second on the log as recorded"
        )
    before = np.linalg.inv(first.matrix).T  # rows are vectors
    scale = np.vstack([np.ones(3), first.temperature_scale])
    late = np.vstack([second.bias, second.temperature_bias]) @ before
    offset = _sum(np.vstack([first.bias, first.temperature_bias]), _product(scale, late))
    if second.g_sensitivity.any() and len(first.temperature_scale):
        raise InputError(f"{name}: g-sensitivity must come before a scale that follows temperature; fit it first")
    both = _product(scale, np.vstack([np.ones(3), second.temperature_scale]))
    return Correction(
        first.unit,
        _both_found(first, second),
        matrix=second.matrix @ first.matrix,
        bias=offset[0],
        cubic=second.cubic,
        g_sensitivity=first.g_sensitivity + np.linalg.inv(first.matrix) @ second.g_sensitivity,
        temperature_bias=offset[1:],
        temperature_scale=both[1:],
        reference_c=first.reference_c if first.follows_temperature else second.reference_c,
        range_c=first.range_c if first.follows_temperature else second.range_c or first.range_c,
        sigma=_sigmas(first, second, offset, both),
    )


def _product(a: Array, b: Array) -> Array:
    """Product of polynomials, one for each column, lowest power first."""
    out = np.zeros((len(a) + len(b) - 1, 3))
    for i, row in enumerate(a):
        out[i : i + len(b)] += row * b
    return out


def _sum(a: Array, b: Array) -> Array:
    out = np.zeros((max(len(a), len(b)), 3))
    out[: len(a)] += a
    out[: len(b)] += b
    return out


def _sigmas(first: Correction, second: Correction, offset: Array, scale: Array) -> dict[str, Array]:
    """The later fit saw the residuals of the earlier one, so its sigma counts. A parameter that the later one assumed
    may be known from the earlier one.
    """
    shapes = {"temperature_bias": offset[1:].shape, "temperature_scale": scale[1:].shape}
    sigma = dict(first.sigma)
    for name, later in second.sigma.items():
        both = np.full(max(later.shape, sigma.get(name, later).shape), np.inf)  # of curves the higher degree
        for known in (sigma.get(name, later), later):
            rows = both[: len(known)]
            rows[np.isfinite(known)] = known[np.isfinite(known)]
        sigma[name] = both
    return {name: s for name, s in sigma.items() if name not in shapes or s.shape == shapes[name]}


def _both_found(first: Correction, second: Correction) -> Found:
    """Result of both steps together: the worse verdict, all notes, and the parameters that neither of them
    determined.
    """
    one, other = first.found, second.found
    left_open = [said for said in one.undetermined if not _tells(second, said)]
    left_open += [said for said in other.undetermined if not _tells(first, said) and said not in left_open]
    # an earlier joining has its steps in tables of their own already
    data: dict[str, Any] = {}
    for found in (one, other):
        steps = found.data if ", " in found.method else {found.method: found.data}
        for name, step in steps.items():
            number = 2
            while name in data:
                name, number = f"{name.partition(' (')[0]} ({number})", number + 1
            data[name] = dict(step)
    return replace(
        other,
        method=f"{one.method}, {other.method}",
        data=data,
        verdict=max(one.verdict, other.verdict, key=VERDICTS.index),
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
        undetermined=tuple(left_open),
    )


def _tells(correction: Correction, said: str) -> bool:
    """Whether the correction found all parameters that the sentence ("matrix, off the diagonal: why") names first."""
    head = said.partition(":")[0]
    named = [name for name in PARAMETERS if name in head.replace(",", " ").split()]
    known = [name in correction.sigma and bool(np.isfinite(correction.sigma[name]).all()) for name in named]
    return bool(named) and all(known)


def warn_other_part(what: str, part: str | None, recording: Recording) -> None:
    """A RangeWarning where the log states another part. The log is not refused, because names of parts vary."""
    said = recording.meta.get("part")
    if part is not None and isinstance(said, str) and _plain(part) != _plain(said):
        warnings.warn(f"{what} is of part {part}, and the log states {said}; check it", RangeWarning, stacklevel=3)


def _plain(part: str) -> str:
    if part.lower().endswith(".toml"):  # a part file: the same one by whatever path
        return os.path.realpath(part)
    return "".join(letter for letter in part.lower() if letter.isalnum())


def _warn_outside(name: str, correction: Correction, recording: Recording) -> None:
    if correction.range_c is None or recording.temperature is None or not correction.follows_temperature:
        return
    low, high = correction.range_c
    outside = (recording.temperature < low) | (recording.temperature > high)
    if outside.any():
        least, most = recording.temperature.min(), recording.temperature.max()
        warnings.warn(
            f"{name}: the log runs from {least:.1f} to {most:.1f} degC, the calibration was found between {low:.1f} "
            f"and {high:.1f} degC: {100.0 * outside.mean():.0f} % of the samples are extrapolated",
            RangeWarning,
            stacklevel=3,
        )


def _origin(how: Any) -> str:
    if not isinstance(how, Mapping):
        return "its meta states it"
    return ", ".join(str(how[key]) for key in ("method", "date") if how.get(key)) or "its meta states it"


def _listed(names: Mapping[str, Any]) -> str:
    return " and ".join(names)

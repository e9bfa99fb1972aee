"""Known facts of a log before its use, and their sources: gravity, declination, noise, part, mounting."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from strapdown.checks import attitude, finite, triple
from strapdown.earth import STANDARD_GRAVITY, gravity
from strapdown.earth_magnetism import declination, dip, strength
from strapdown.errors import InputError
from strapdown.keywords import keywords_of
from strapdown.recordings.stated import stated_field, stated_gravity
from strapdown.recordings.two_chips import PART_OF
from strapdown.rotation import IDENTITY
from strapdown.sensors.parts.kalibr import SUFFIXES as KALIBR
from strapdown.sensors.parts.model_file import read_model
from strapdown.sensors.parts.part import Part, load_part
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

GIVEN, LOG, STANDARD, UNKNOWN = "given", "from the log", "standard", "not known"
_MOUNTING = "quaternion_wxyz"  # in meta, as strapdown simulate writes it
_NOT_TURNED = tuple(IDENTITY.tolist())
_SAME_RATE = 0.05  # the rate that the log states is believed if the time stamps agree to this share


@dataclass(frozen=True)
class Facts:
    """Known facts of a log.

    sources: for each field its source, in words.

    gravity (m/s2).

    declination_rad: field east of north is positive.
    noise: errors of the part by instrument, for the log's own rate and range.
    part: None where the catalogue has none of that name.
    calibration: the calibration that was applied to the readings.
    q_bs, r_bs_b: mounting of the sensor on the body, and its place (m, frame b).
    """

    gravity: float = STANDARD_GRAVITY
    declination_rad: float = 0.0
    noise: Mapping[str, Triad] = field(default_factory=dict)
    part: Part | None = None
    calibration: Any = None
    q_bs: tuple[float, ...] = _NOT_TURNED
    r_bs_b: tuple[float, ...] = (0.0, 0.0, 0.0)
    sources: Mapping[str, str] = field(default_factory=dict)


class _Given(NamedTuple):
    """Keywords of facts_of."""

    gravity: float | str | None
    declination_rad: float | None
    noise: Mapping[str, Triad] | None
    part: Part | str | None
    calibration: Any
    q_bs: ArrayLike | None
    r_bs_b: ArrayLike | None
    latitude_deg: float | None
    height_m: float | None


@keywords_of(_Given)
def facts_of(recording: Recording, **given: Any) -> Facts:
    """The facts of a log: given values, else those of its meta, else the usual ones.

    given: fields of Facts by name. gravity may also be "earth", "mars" or "moon", and part the name of one.
    latitude_deg and height_m give the gravity of the place. None means that a value is not given.
    """
    known = _Given._fields
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InputError(f'facts_of was given "{unknown[0]}"; valid: {", ".join(sorted(known))}')
    given = {name: value for name, value in given.items() if value is not None}
    sources: dict[str, str] = {}
    local, sources["gravity"] = gravity_of(
        recording, given.get("gravity"), given.get("latitude_deg"), given.get("height_m", 0.0)
    )
    east, sources["declination_rad"] = _declination(recording, given)
    named, noise = noise_of_part(recording, given.get("part"))
    sources["noise"] = (GIVEN if "part" in given else LOG) if noise else UNKNOWN
    if "noise" in given:
        noise, sources["noise"] = dict(given["noise"]), GIVEN
    part = given["part"] if isinstance(given.get("part"), Part) else part_named(named)
    sources["part"] = UNKNOWN if part is None else GIVEN if "part" in given else LOG
    q_bs, sources["q_bs"] = _mounting(recording, given)
    sources["r_bs_b"] = GIVEN if "r_bs_b" in given else UNKNOWN
    sources["calibration"] = GIVEN if "calibration" in given else UNKNOWN
    r_bs_b = triple("r_bs_b", given.get("r_bs_b", (0.0, 0.0, 0.0)))
    return Facts(local, east, noise or {}, part, given.get("calibration"), q_bs, r_bs_b, sources)


def gravity_of(
    recording: Recording, given: float | str | None = None, latitude_deg: float | None = None, height_m: float = 0.0
) -> tuple[float, str]:
    """Gravity (m/s2) and its source: given, of the place, stated by the log, or the standard."""
    if given is not None:
        if latitude_deg is not None:
            raise InputError("gravity and latitude_deg both state how strong gravity is; give one of them")
        return gravity(given if isinstance(given, str) else finite("gravity", given)), GIVEN
    if latitude_deg is not None:
        return gravity("earth", latitude_deg, height_m), f"at latitude {latitude_deg:g} deg, height {height_m:g} m"
    stated = stated_gravity(recording)
    return (STANDARD_GRAVITY, STANDARD) if stated is None else (stated, LOG)


def strength_and_dip(recording: Recording) -> tuple[float | None, float | None]:
    """Strength (uT) and dip (rad, down positive) of the field that the log states; None where it states none."""
    b_n = stated_field(recording)
    return (None, None) if b_n is None else (float(strength(b_n)), float(dip(b_n)))


def _declination(recording: Recording, given: Mapping[str, Any]) -> tuple[float, str]:
    if "declination_rad" in given:
        return finite("declination_rad", given["declination_rad"]), GIVEN
    b_n = stated_field(recording)
    return (0.0, UNKNOWN) if b_n is None else (float(declination(b_n)), LOG)


def _mounting(recording: Recording, given: Mapping[str, Any]) -> tuple[tuple[float, ...], str]:
    if "q_bs" in given:
        return attitude("q_bs", given["q_bs"]), GIVEN
    said = recording.meta.get(_MOUNTING)
    if said is None:
        return _NOT_TURNED, UNKNOWN
    try:
        return attitude("quaternion_wxyz", said), LOG
    except InputError as error:
        raise InputError(f"the log states a mounting that is none: {error}") from None


def _of_second_chip(triads: dict[str, Triad], parts: Mapping[str, object], recording: Recording) -> dict[str, Triad]:
    """Errors by instrument, with those of a second chip in place of the first's; none where its part is not known."""
    kept = {name: triad for name, triad in triads.items() if name not in parts}
    for name, part in parts.items():
        try:
            known = _triads(load_part(str(part)), None, recording) if part else {}
        except InputError:
            known = {}
        kept |= {name: known[name]} if name in known else {}
    return kept


def noise_of_part(recording: Recording, part: str | Part | None = None) -> tuple[str | None, dict[str, Triad] | None]:
    """Name and errors by instrument of the given part, or of the one that the log names if it is in the catalogue.
    An imu.yaml of Kalibr may be given instead of a part.

    Data-sheet numbers are those for the log's own rate and range, where the part has them. A magnetometer next to
    the part has the numbers of its own part.
    """
    meta = recording.meta
    named = part if part is not None else meta.get("part")
    triads: dict[str, Triad] = {}
    if isinstance(part, str) and part.lower().endswith(KALIBR):
        triads |= read_model(part)[0]
    elif isinstance(named, str | Part):
        try:
            # ranges that the log states are those of its own part
            ranges = meta.get("range") if part is None or meta.get("part") in (None, part) else None
            triads |= _triads(named if isinstance(named, Part) else load_part(named), ranges, recording)
        except InputError:
            if part is not None:
                raise
    beside = meta.get("magnetometer_part")
    if isinstance(beside, str) and "magnetometer" not in triads:
        try:
            known = _triads(load_part(beside), meta.get("range"), recording)
            triads |= {name: triad for name, triad in known.items() if name == "magnetometer"}
        except InputError:
            pass
    others = meta.get(PART_OF)
    if isinstance(others, Mapping) and not (isinstance(part, str) and part.lower().endswith(KALIBR)):
        triads = _of_second_chip(triads, others, recording)
    name = named.file.name if isinstance(named, Part) else named
    return name if isinstance(name, str) else None, triads or None


def part_named(name: str | None) -> Part | None:
    """The part of the catalogue, where it has one of this name."""
    try:
        return None if name is None else load_part(name)
    except InputError:
        return None


def _triads(part: Part, said: object, recording: Recording) -> Mapping[str, Triad]:
    """Errors of the part for the ranges that the log states ({"accelerometer": "2 g"}) and its rate, if the part has
    them.
    """
    ranges: dict[str, float] = {}
    for name in part.instruments:
        text = said.get(name) if isinstance(said, Mapping) else None
        sheet: Any = getattr(part.file, name).ranges
        number, _, unit = text.partition(" ") if isinstance(text, str) else ("", "", "")
        try:
            value = float(number)
        except ValueError:
            continue
        if unit == sheet.unit and value in sheet.all():
            ranges[name] = value
    try:
        found = part.nominal(ranges, rate_hz=_rate_hz(recording)).triads()
    except InputError:
        found = part.nominal(ranges).triads()
    return {name: _as_set(triad, name, recording) for name, triad in found.items()}


def _as_set(triad: Triad, name: str, recording: Recording) -> Triad:
    """Errors with the low-pass that the log states in place of the catalogue's, and the delay of its data sheet."""
    bands, delays = recording.meta.get("low_pass_hz"), recording.meta.get("delay_s")
    band = bands.get(name) if isinstance(bands, Mapping) else None
    delay = delays.get(name) if isinstance(delays, Mapping) else None
    if not isinstance(band, int | float) or not band > 0.0:
        return triad
    rest_s = 0.0  # of the stated delay, behind that of a first-order low-pass
    if isinstance(delay, int | float):
        rest_s = max(float(delay) - 1.0 / (2.0 * math.pi * band), 0.0)
    return replace(triad, bandwidth_hz=float(band), filter_order=1, latency_s=rest_s)


def _rate_hz(recording: Recording) -> float | None:
    """Rate by the usual step. If the rate that the log states agrees, that one is used, because time stamps are
    rounded.
    """
    if len(recording) < 2:
        return None
    rate = 1.0 / recording.step_s
    said = recording.meta.get("rate_hz")
    agrees = isinstance(said, int | float) and not isinstance(said, bool) and abs(said / rate - 1.0) < _SAME_RATE
    return float(said) if agrees and said is not None else float(f"{rate:.4g}")

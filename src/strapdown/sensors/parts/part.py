"""A part that can be bought, and one specimen of it: a part is a population, its data sheet states how specimens
differ.

Noise, range, resolution and bandwidth are those of the design and are taken as printed. Tolerances (offset, scale,
cross-axis, temperature, g-sensitivity, and a nonlinearity given as a limit) are drawn from a normal distribution around
0. A limit (kind bound or max) is three sigmas, a typ value one sigma. No draw is beyond three sigmas. A typ
nonlinearity is taken as printed, with either sign.
"""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.sensors.parts.part_file import GROUPS, INSTRUMENTS, Instrument, PartFile, read_part_file
from strapdown.sensors.parts.sheet_number import Number
from strapdown.sensors.parts.tolerance import Spread, drawn_spread, no_spread
from strapdown.sensors.parts.units import per_degree, to_si, unit
from strapdown.sensors.triad import Array, Matrix, Triad, Vector, instability_from_floor, random_walk_from_density

CATALOGUE = Path(__file__).parents[1] / "catalogue"
SI_UNIT = {"accelerometer": "m/s2", "gyroscope": "rad/s", "magnetometer": "uT"}
_BITS = 16  # of a register, where the data sheet does not say
# the numbers of a data sheet from which the noise terms of a triad come
_NOISE_FROM = {"white": ("random_walk", "noise_density"), "instability": ("in_run_bias",), "walk": ("walk",)}


@dataclass(frozen=True)
class Specimen:
    """One specimen of a part, at one range and rate. seed is None for the nominal part, whose tolerances are 0."""

    part: str
    seed: int | None
    range: Mapping[str, str]  # instrument: range as printed, "2 g"
    rate_hz: float | None = None
    accelerometer: Triad | None = None
    gyroscope: Triad | None = None
    magnetometer: Triad | None = None
    magnetometer_axes: Matrix | None = None  # v_imu = axes @ v_magnetometer
    fastest_hz: Mapping[str, float] = field(default_factory=dict)  # largest rate of the magnetometer
    magnetometer_part: str | None = None  # if it is another part on the same board
    estimated: frozenset[str] = frozenset()  # noise that is not verified in a data sheet, as "gyroscope.instability"

    def __repr__(self) -> str:
        which = "nominal" if self.seed is None else f"specimen {self.seed}"
        rate = "" if self.rate_hz is None else f", {self.rate_hz:g} Hz"
        return f"<Specimen: {self.part}, {which}{rate}; {', '.join(f'{n} {r}' for n, r in self.range.items())}>"

    def triads(self) -> dict[str, Triad]:
        """The instruments it has, by name."""
        return {name: getattr(self, name) for name in INSTRUMENTS if getattr(self, name) is not None}

    def with_magnetometer(self, other: "Specimen") -> "Specimen":
        """The same specimen with the magnetometer of another part on its board."""
        if self.magnetometer is not None:
            raise InputError(f"{self.part} has a magnetometer of its own; use it, or choose a part without one")
        if other.magnetometer is None:
            raise InputError(f"{other.part} has no magnetometer; name a part that has one")
        return replace(
            self,
            magnetometer=other.magnetometer,
            magnetometer_axes=other.magnetometer_axes,
            fastest_hz=other.fastest_hz,
            range={**self.range, "magnetometer": other.range["magnetometer"]},
            magnetometer_part=other.part,
            estimated=self.estimated | {term for term in other.estimated if term.startswith("magnetometer.")},
        )

    def meta(self) -> dict[str, object]:
        """The origin of a model, for its file."""
        meta: dict[str, object] = {"part": self.part, "seed": self.seed, "range": dict(self.range)}
        if self.rate_hz is not None:
            meta["rate_hz"] = self.rate_hz
        if self.magnetometer_axes is not None:
            meta["magnetometer_axes"] = [list(row) for row in self.magnetometer_axes]
        return meta


@dataclass(frozen=True)
class Part:
    """A part of the catalogue, or of a file in the same form."""

    file: PartFile
    path: Path

    def __repr__(self) -> str:
        return f"<Part: {self.name}; {', '.join(self.instruments)}>"

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def instruments(self) -> tuple[str, ...]:
        return tuple(name for name in INSTRUMENTS if getattr(self.file, name) is not None)

    def draw(
        self, seed: int, range: float | Mapping[str, float] | None = None, rate_hz: float | None = None
    ) -> Specimen:
        """One specimen within its data sheet; the same seed gives the same bits.

        range: in the unit of the part's ranges, {"accelerometer": 4.0}, or one number if it has one instrument.
        rate_hz: your sample rate; the low-pass is then set to half of it, if the part can.
        """
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InputError(f"seed is {seed!r}; give a whole number that is not negative")
        return self._specimen(int(seed), range, rate_hz)

    def nominal(self, range: float | Mapping[str, float] | None = None, rate_hz: float | None = None) -> Specimen:
        """The part without its tolerances: noise, range and bandwidth as printed."""
        return self._specimen(None, range, rate_hz)

    def _specimen(self, seed: int | None, range: float | Mapping[str, float] | None, rate_hz: float | None) -> Specimen:
        ranges = self._ranges(range)
        self._check_rate(rate_hz)
        triads: dict[str, Any] = {}
        for name in self.instruments:
            spread = no_spread if seed is None else drawn_spread(seed, self.name, name)
            try:
                triads[name] = self._triad(name, ranges[name], rate_hz, spread)
            except InputError as error:
                raise InputError(f"{self.path}: {name}: {error}") from None
        mag = self.file.magnetometer
        top = None if mag is None else self.largest_rate_hz("magnetometer")
        return Specimen(
            self.name,
            seed,
            {name: f"{ranges[name]:g} {getattr(self.file, name).ranges.unit}" for name in self.instruments},
            rate_hz,
            **triads,
            magnetometer_axes=None if mag is None or mag.axes is None else mag.axes.rows,
            fastest_hz={} if top is None else {"magnetometer": top},
            estimated=frozenset(
                f"{name}.{term}"
                for name in self.instruments
                for term, fields in _NOISE_FROM.items()
                if getattr(self.file, name).is_estimated(*fields)
            ),
        )

    def _ranges(self, given: float | Mapping[str, float] | None) -> dict[str, float]:
        """The chosen range of every instrument, in its printed unit."""
        if given is None:
            given = {}
        elif not isinstance(given, Mapping):
            if len(self.instruments) > 1:
                raise InputError(f"{self.name} has {len(self.instruments)} instruments; give the range by name")
            given = {self.instruments[0]: given}
        for name in given:
            if name not in self.instruments:
                raise InputError(f'{self.name} has no "{name}"; it has {", ".join(self.instruments)}')
        chosen = {}
        for name in self.instruments:
            sheet: Instrument = getattr(self.file, name)
            default = sheet.ranges.all()[0] if sheet.default_range is None else sheet.default_range.all()[0]
            chosen[name] = given.get(name, default)
            if chosen[name] not in sheet.ranges.all():
                valid = ", ".join(f"{r:g}" for r in sheet.ranges.all())
                raise InputError(
                    f"{self.name} has no {name} range of {chosen[name]:g} {sheet.ranges.unit}; valid: {valid}"
                )
        return chosen

    def _check_rate(self, rate_hz: float | None) -> None:
        if rate_hz is None:
            return
        if not (np.isfinite(rate_hz) and rate_hz > 0.0):
            raise InputError(f"rate_hz is {rate_hz}; give a number above 0")
        for name in self.instruments:
            # next to an IMU the magnetometer keeps its own, lower rate
            if name == "magnetometer" and len(self.instruments) > 1:
                continue
            top = self.largest_rate_hz(name)
            if top is not None and rate_hz > top:
                raise InputError(f"{self.name} cannot give {rate_hz:g} Hz: its {name} ends at {top:g} Hz")

    def largest_rate_hz(self, instrument: str) -> float | None:
        """The highest output data rate on the data sheet."""
        rates = getattr(self.file, instrument).rates
        return None if rates is None else max(to_si(r, rates.unit) for r in rates.all())

    def _triad(self, name: str, chosen: float, rate_hz: float | None, spread: Spread) -> Triad:
        sheet: Instrument = getattr(self.file, name)
        full_scale = to_si(chosen, sheet.ranges.unit)
        resolution = _resolution(sheet, chosen)

        def drawn(field: str, shape: tuple[int, ...] = (3,)) -> Array:
            """A tolerance in SI; 0 where the data sheet has none."""
            number: Number | None = getattr(sheet, field)
            return np.zeros(shape) if number is None else spread(field, number, shape) * unit(number.unit).factor

        offset = drawn("offset") * (resolution if _unit_of(sheet.offset) == "LSB" else 1.0)
        coupling = _coupling(drawn("cross_axis", (3, 3)), sheet.cross_axis, full_scale)
        np.fill_diagonal(coupling, 1.0 + drawn("scale_tolerance"))
        nonlinearity = drawn("nonlinearity")
        if sheet.nonlinearity is not None and sheet.nonlinearity.kind == "typ":
            nonlinearity = np.copysign(_taken(sheet.nonlinearity), nonlinearity)
        white = _taken(sheet.random_walk)
        if sheet.random_walk is None:  # it has no one- or two-sided readings, so it comes first
            white = np.array([random_walk_from_density(x) for x in _taken(sheet.noise_density)])
        limits = self.file.temperature_limits
        return Triad(
            SI_UNIT[name],
            matrix=(_vector(coupling[0]), _vector(coupling[1]), _vector(coupling[2])),
            nonlinearity=_vector(nonlinearity),
            g_sensitivity=_diagonal(drawn("g_sensitivity")),
            bias=_vector(offset),
            temperature_bias=_slopes(sheet.offset_temperature, drawn("offset_temperature")),
            temperature_scale=_slopes(sheet.scale_temperature, drawn("scale_temperature")),
            limits_c=None if limits is None else (limits.all()[0], limits.all()[1]),
            white=_vector(white),
            instability=_vector(np.array([instability_from_floor(x) for x in _taken(sheet.in_run_bias)])),
            walk=_vector(_taken(sheet.walk)),
            full_scale=min(full_scale, _largest_count(sheet) * resolution) if resolution > 0.0 else full_scale,
            resolution=resolution,
            bandwidth_hz=_bandwidth(sheet.bandwidth, rate_hz),
        )


def _unit_of(number: Number | None) -> str | None:
    return None if number is None else number.unit


def _taken(number: Number | None) -> Array:
    """A number of the design, per axis, in SI."""
    if number is None:
        return np.zeros(3)
    return np.broadcast_to([to_si(x, number.unit) for x in number.all()], 3).astype(float)


def _vector(values: Array) -> Vector:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _diagonal(values: Array) -> Matrix:
    x, y, z = np.diag(values)
    return _vector(x), _vector(y), _vector(z)


def _slopes(number: Number | None, change: Array) -> tuple[Vector, ...]:
    if number is None:
        return ()
    return (_vector(change if number.over_c is None else np.array([per_degree(c, number.over_c) for c in change])),)


def _resolution(sheet: Instrument, chosen: float) -> float:
    """Resolution in SI per count; 0 for analog parts and those that give floating-point numbers."""
    steps = sheet.sensitivity
    if steps is None or unit(steps.unit).quantity.startswith("voltage"):
        return 0.0
    value = steps.all()[0 if len(steps.all()) == 1 else sheet.ranges.all().index(chosen)]
    return (
        to_si(value, steps.unit) if unit(steps.unit).quantity.endswith("per count") else 1.0 / to_si(value, steps.unit)
    )


def _largest_count(sheet: Instrument) -> float:
    """Largest count of the smallest of the registers."""
    return 2.0 ** (_BITS if sheet.bits is None else min(sheet.bits.all())) / 2.0 - 1.0


def _coupling(drawn: Array, number: Number | None, full_scale: float) -> Array:
    if number is not None and unit(number.unit).quantity == "angle":
        return np.sin(drawn)
    if number is not None and unit(number.unit).quantity == "part of full scale per field":
        return drawn * full_scale
    return drawn


def _bandwidth(number: Number | None, rate_hz: float | None) -> float | None:
    """The widest low-pass of the part; for a given rate, the widest below half of it, if there is one."""
    if number is None:
        return None
    span = [to_si(x, number.unit) for x in number.all()]
    if rate_hz is None:
        return span[-1]
    return min(span[-1], max(rate_hz / 2.0, span[0] if len(span) == 2 else 0.0))


def load_part(name: str | os.PathLike[str]) -> Part:
    """A part of the catalogue by its name (case, dashes and spaces do not matter), or a part file by its path."""
    text = os.fspath(name)
    if text.lower().endswith(".toml") or "/" in text or os.sep in text:
        part = Part(read_part_file(Path(text)), Path(text))
        part.nominal()  # a range below the resolution is seen here, not at the first draw
        return part
    names = _names()
    if _key(text) in names:
        path = names[_key(text)]
        return Part(read_part_file(path), path)
    near = difflib.get_close_matches(_key(text), names, 3, 0.6) or [key for key in names if _key(text)[:4] == key[:4]]
    known = list(dict.fromkeys(read_part_file(names[key]).name for key in near))
    hint = f"did you mean {' or '.join(known[:4])}" if known else "strapdown sensors lists them"
    raise InputError(f'part "{text}" is not in the catalogue; {hint}')


def catalogue() -> list[Part]:
    """All parts, by group and then by name."""
    parts = [Part(read_part_file(path), path) for path in sorted(CATALOGUE.glob("*.toml"))]
    return sorted(parts, key=lambda part: (GROUPS.index(part.file.group), part.name.lower()))


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


@cache
def _names() -> dict[str, Path]:
    """Names and aliases of the catalogue, plain, to their files."""
    names = {}
    for part in catalogue():
        for name in (*part.file.aliases, part.name):
            names[_key(name)] = part.path
    return names

"""NMEA 0183: positions and velocities of a satellite receiver, by pynmea2. Other sentences are passed over."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.contents import Contents, Track, in_seconds
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.formats.numbers import first_lines
from strapdown.io.formats.rows import UNSTATED_FIX_SIGMA_M, in_order, local_positions
from strapdown.regular_file import opened
from strapdown.sample import Fixes
from strapdown.types import Recording

SOURCE, KIND = "NMEA log", "an NMEA log"
FRAMES = "NMEA: WGS 84, converted to east-north-up from the first fix; height above the ellipsoid where it is stated"
_DAY_NS = 86_400 * 10**9


def is_nmea(path: Path) -> bool:
    return any(_sentence(line) for line in first_lines(path, 20))


def _sentence(line: str) -> str:
    """The type of a sentence with its checksum, as GGA; nothing for other lines."""
    at = line.find("$")
    ok = (
        at >= 0
        and "*" in line
        and len(line) - at < 120
        and line[at + 3 : at + 6] in ("GGA", "RMC", "GST", "GSA", "GSV", "VTG", "GLL", "ZDA", "TXT")
    )
    return line[at + 3 : at + 6] if ok else ""


class _Fix:
    """One epoch: its place, and what further sentences of the same instant state."""

    def __init__(self, t_ns: int, place: tuple[float, float, float], hdop: float) -> None:
        self.t_ns, self.place, self.hdop = t_ns, place, hdop
        self.sigma: tuple[float, float, float] | None = None


def read_nmea(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """A recording of fixes alone, and the same as a track."""
    library("pynmea2", path, KIND)
    with opened(path, KIND) as raw, damage_refused(path, KIND):
        fixes, bad = _fixes(io.TextIOWrapper(raw, "ascii", "replace"))
    if len(fixes) < 2:
        raise InputError(
            f"{path} has {len(fixes)} GGA sentences with a fix and a checksum; positions need two at least"
        )
    stamps = np.array([each.t_ns for each in fixes], dtype=np.int64)
    rows = in_order(stamps)
    if rows is not None:
        fixes, stamps = [fixes[row] for row in rows], stamps[rows]
    t0_ns = int(stamps[0])
    t = in_seconds(stamps, t0_ns)
    p_n, origin = local_positions(*np.array([each.place for each in fixes]).T)
    sigma = np.array([each.sigma or tuple(each.hdop * s for s in UNSTATED_FIX_SIGMA_M) for each in fixes])
    meta: dict[str, Any] = {"source": SOURCE, "topic": "gga", "frames": FRAMES, "t0_ns": t0_ns, "origin": origin}
    log = Recording(t, position_fix=Fixes(p_n, sigma, t), meta=meta)
    done(1.0)
    notes = (f"{bad} sentences are damaged and were passed over",) if bad else ()
    track = Track(t, p_n, what="GGA, from its first fix", t0_ns=t0_ns)
    return Contents(SOURCE, FRAMES, {"gga": log}, {"gga": track}, notes)


def _fixes(lines: Any) -> tuple[list[_Fix], int]:
    import pynmea2

    found: list[_Fix] = []
    bad, day_ns, dated = 0, 0, False
    for line in lines:
        kind = _sentence(line)
        if kind not in ("GGA", "RMC", "GST"):
            continue
        try:
            said: Any = pynmea2.parse(line[line.find("$") :].strip(), check=True)
            clock = None if not said.timestamp else _clock_ns(said.timestamp)
            if kind == "RMC" and said.datestamp and not dated:
                day_ns, dated = int(np.datetime64(said.datestamp, "ns").astype(np.int64)), True
                for each in found:  # fixes before the first date
                    each.t_ns += day_ns
            if clock is None:
                continue
            if kind == "GGA" and int(said.gps_qual or 0) > 0:
                day_ns = _next_day(found, day_ns, clock)
                height = float(said.altitude or 0.0) + float(said.geo_sep or 0.0)
                found.append(
                    _Fix(day_ns + clock, (said.latitude, said.longitude, height), float(said.horizontal_dil or 1.0))
                )
            elif kind == "GST" and found and found[-1].t_ns % _DAY_NS == clock:
                found[-1].sigma = (
                    float(said.std_dev_longitude),
                    float(said.std_dev_latitude),
                    float(said.std_dev_altitude),
                )
        except (pynmea2.ParseError, ValueError, TypeError, AttributeError, OverflowError):
            bad += 1
    good = [each for each in found if np.isfinite(each.place).all() and each.hdop > 0.0]
    return good, bad + len(found) - len(good)


def _clock_ns(time: Any) -> int:
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 10**9 + time.microsecond * 1000


def _next_day(found: list[_Fix], day_ns: int, clock: int) -> int:
    """GGA has the time of day alone: a step back by more than half a day is midnight."""
    if found and (found[-1].t_ns - day_ns) - clock > _DAY_NS // 2:
        return day_ns + _DAY_NS
    return day_ns

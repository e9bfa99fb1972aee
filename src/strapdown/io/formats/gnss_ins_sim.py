"""Folders that gnss-ins-sim writes: time.csv, gyro-0.csv, accel-0.csv and more, one file for each quantity."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from strapdown.errors import InputError
from strapdown.io.formats.aerial import FRAMES as NED
from strapdown.io.formats.contents import Contents, Track
from strapdown.io.formats.numbers import first_lines, number_table
from strapdown.io.formats.rows import UNSTATED_FIX_SIGMA_M, held_fixes, local_positions
from strapdown.rotation import enu_from_ned, flu_from_frd, q_enu_flu_from_ned_frd, q_from_euler
from strapdown.types import Array, Recording

SOURCE = "gnss-ins-sim folder"
FRAMES = f"gnss-ins-sim: {NED}; degrees became radians"
_UNITS = {"deg/s": np.pi / 180.0, "rad/s": 1.0, "m/s^2": 1.0, "m/s2": 1.0, "uT": 1.0}


def is_folder(path: Path) -> bool:
    return (path / "time.csv").is_file() and any(path.glob("gyro-*.csv")) and any(path.glob("accel-*.csv"))


def read_folder(path: Path, done: Callable[[float], None], tracks: bool) -> Contents:
    """One recording for each run of the simulation ("run-0"), and the reference motion as a track."""
    t = _table(path / "time.csv", 1)[:, 0]
    recordings = {}
    for gyro in sorted(path.glob("gyro-*.csv")):
        run = gyro.stem.partition("-")[2]
        if not (path / f"accel-{run}.csv").is_file():
            continue
        gyr, acc = _vectors(gyro, len(t)), _vectors(path / f"accel-{run}.csv", len(t))
        field = path / f"mag-{run}.csv"
        mag = flu_from_frd(_vectors(field, len(t))) if field.is_file() else None
        meta = {"source": SOURCE, "topic": f"run-{run}", "frames": FRAMES}
        log = Recording(t, flu_from_frd(gyr), flu_from_frd(acc), mag, meta=meta)
        recordings[f"run-{run}"] = _with_fixes(log, path, run)
    if not recordings:
        raise InputError(f"{path} has no pair of gyro-N.csv and accel-N.csv; save gyro and accel")
    found = {}
    if tracks and (path / "ref_pos.csv").is_file():
        found["reference"] = _reference(path, t)
    done(1.0)
    return Contents(SOURCE, FRAMES, recordings, found)


def _with_fixes(log: Recording, path: Path, run: str) -> Recording:
    """With the fixes of gps-N.csv, if there are any, from the first reference position on, else from the first fix."""
    times, fixes = path / "gps_time.csv", path / f"gps-{run}.csv"
    if not (times.is_file() and fixes.is_file()):
        return log
    at, place = _table(times, 1)[:, 0], number_table(fixes, "a file of gnss-ins-sim", (3, 6), ",", skip=1)[:, :3]
    if len(at) != len(place):
        raise InputError(f"{fixes} has {len(place)} rows, gps_time.csv has {len(at)}; save the run again")
    reference = path / "ref_pos.csv"
    first = _table(reference, 3)[0] if reference.is_file() else place[0]
    if "lat" in _header(fixes):
        origin = dict(zip(("latitude_deg", "longitude_deg", "height_m"), map(float, first), strict=True))
        p_n, log = local_positions(place[:, 0], place[:, 1], place[:, 2], origin)[0], log.with_meta(origin=origin)
    else:
        p_n = enu_from_ned(place - first)
    sigma = np.tile(UNSTATED_FIX_SIGMA_M, (len(at), 1))
    held, new = held_fixes(log.t, at, p_n, sigma)
    return replace(log, position_fix=held, new={**log.new, "position_fix": new})


def _reference(path: Path, t: Array) -> Track:
    """Positions from the first one on. Velocities are not read: their frame differs between versions of the program."""
    place, geodetic = _table(path / "ref_pos.csv", 3), "lat" in _header(path / "ref_pos.csv")
    if len(place) != len(t):
        raise InputError(f"{path} has {len(t)} times and {len(place)} reference positions; save it again")
    p_n = local_positions(*place.T)[0] if geodetic else enu_from_ned(place - place[0])
    q_nb = None
    euler = path / "ref_att_euler.csv"
    if euler.is_file():
        yaw, pitch, roll = np.radians(_vectors(euler, len(t), degrees=True)).T
        q_nb = q_enu_flu_from_ned_frd(q_from_euler(roll, pitch, yaw))
    return Track(t, p_n, q_nb, what="reference motion of the simulation")


def _header(path: Path) -> str:
    return next(iter(first_lines(path, 1)), "")


def _table(path: Path, columns: int) -> Array:
    return number_table(path, "a file of gnss-ins-sim", (columns, columns), ",", skip=1)


def _vectors(path: Path, rows: int, degrees: bool = False) -> Array:
    """Three columns in SI units, or in degrees; the header states theirs, as in "gyro_x (deg/s)"."""
    table = _table(path, 3)
    if len(table) != rows:
        raise InputError(f"{path} has {len(table)} rows, time.csv has {rows}; save the run again")
    unit = _header(path).split(",")[0].partition("(")[2].rstrip(") \"'")
    if degrees and unit == "deg":
        return table
    if unit not in _UNITS:
        raise InputError(f'{path} has the unit "{unit[:20]}"; known: {", ".join(_UNITS)}')
    return table * _UNITS[unit]

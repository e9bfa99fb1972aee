"""Inputs of strapdown navigate besides the log: its calibration, its truth, and the mounting of the sensor on the
body.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.evaluation.matching import Reference
    from strapdown.evaluation.stops import StopPlaces
    from strapdown.motion.paths.stop_and_go import Stops
    from strapdown.types import Recording


def three_numbers(option: str, text: str, what: str, most: float) -> tuple[float, float, float]:
    """Three numbers with commas, each at most this large."""
    from strapdown.errors import InputError

    try:
        x, y, z = (float(cell) for cell in text.split(","))
    except ValueError:
        raise InputError(f'{option} is "{text}"; give three numbers with commas, {what}') from None
    for value in (x, y, z):
        if not abs(value) <= most:
            raise InputError(f"{option} has {value:g}; give {what}, from {-most:g} to {most:g}")
    return x, y, z


def carrier_of(recording: "Recording") -> str:
    """The carrier of the sensor, as the log of a session states it; without a statement, a robot."""
    from strapdown.navigation.carriers.by_name import VEHICLES

    stated = recording.meta.get("carrier")
    return stated if isinstance(stated, str) and stated in VEHICLES else "robot"


def mounting_of(recording: "Recording", option: str | None, notes: list[str]) -> tuple[float, ...]:
    """Mounting of the sensor in the body.

    q_bs: the given mounting, else that of the log, else that of the body itself.
    """
    import numpy as np

    from strapdown.recordings.facts import LOG, facts_of
    from strapdown.rotation import euler_from_q, q_from_euler

    if option is not None:
        degrees = three_numbers("--mounting", option, "ROLL,PITCH,YAW in degrees", 360.0)
        return tuple(q_from_euler(*np.radians(degrees)).tolist())
    facts = facts_of(recording)
    if facts.sources["q_bs"] == LOG and abs(abs(facts.q_bs[0]) - 1.0) >= 1e-12:  # turned
        roll, pitch, yaw = np.degrees(euler_from_q(np.asarray(facts.q_bs)))
        notes.append(
            f"the sensor's mounting is the log's: roll {roll:.4g}, pitch {pitch:.4g}, yaw {yaw:.4g} deg; "
            "give --mounting if it is another"
        )
    return facts.q_bs


def calibrated(recording: "Recording", path: Path | None, log: Path) -> tuple["Recording", Any, list[str]]:
    from strapdown.calibration.apply import apply
    from strapdown.calibration.calibration_file import read_calibration
    from strapdown.cli import screen
    from strapdown.cli.log import refused
    from strapdown.cli.orient.log import uncalibrated
    from strapdown.errors import InputError

    if path is None:
        return recording, None, uncalibrated(recording)
    found = read_calibration(path)
    try:
        with screen.warnings_shown() as warned:
            return apply(found, recording), found, warned
    except InputError as error:
        raise refused(log, error) from None


def reference_of(
    recording: "Recording", path: Path | None, q_bs: tuple[float, ...], r_bs_b: tuple[float, ...]
) -> "tuple[Reference | None, Stops | StopPlaces | None]":
    """The truth of the body's origin along the path, and the stops to compare with, as far as they are known."""
    from strapdown.evaluation.evaluate import read_reference
    from strapdown.evaluation.stops import stops_of_motion
    from strapdown.navigation.body_origin import body_motion
    from strapdown.types import Motion

    if path is not None:
        places = _places(path)
        if places is not None:
            return None, places
        truth = read_reference(path)
    elif recording.truth is not None:
        truth = body_motion(recording.truth, q_bs, r_bs_b)
    else:
        return None, None
    if (
        isinstance(truth, Motion)
        and recording.stop is not None
        and recording.stop.any()
        and len(truth) == len(recording)
    ):
        return truth, stops_of_motion(truth, recording.stop)
    return truth, None


def _places(path: Path) -> "StopPlaces | None":
    """Stops in the order of the drive: a CSV file with the columns x and y (m), and z if there is one."""
    import csv
    import io

    import numpy as np

    from strapdown.errors import InputError
    from strapdown.evaluation.stops import stop_places
    from strapdown.regular_file import opened

    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(line for line in file if line.strip() and not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error, InputError):
        return None  # its reader will say what it is
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if header not in (["x", "y"], ["x", "y", "z"]):
        return None
    try:
        return stop_places(np.array([[float(cell) for cell in row] for row in rows[1:]]))
    except ValueError as error:
        raise InputError(f"{path}: a stop is not a number ({error}); give x,y in m, one stop in each line") from None

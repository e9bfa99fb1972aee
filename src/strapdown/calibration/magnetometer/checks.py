"""Checks whether a log can be used for a magnetometer's calibration: in range, in its unit, and turned."""

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.coverage import axis_word
from strapdown.calibration.magnetometer.ellipsoid import Ellipsoid, principal_spread
from strapdown.errors import InputError
from strapdown.recordings.examination.faults import new_readings, saturated_rows
from strapdown.recordings.examination.findings import REFUSE, Finding, LogError
from strapdown.recordings.examination.limits import EARTH_UT, MOST_SATURATED
from strapdown.recordings.examination.verdict import checked
from strapdown.types import Array, Recording

_NOT_EARTH_UT = (5.0, 200.0)  # of the radius, before calibration: beyond it the unit is another
_UNTURNED_UT = 2.0  # largest spread of a magnetometer that was not turned
_FLAT = 0.05  # least to largest spread of one that was turned about one axis only


def usable_rows(recording: Recording) -> tuple[NDArray[np.bool_], list[str]]:
    """Rows of the recording that may be used, and notes on the others."""
    if recording.mag_s is None:
        raise InputError("the log has no magnetometer; give its columns mag_x, mag_y and mag_z (docs/io.md)")
    notes = [finding.sentence for finding in checked(recording) if finding.kind == "magnetometer_slow"]
    clipped = saturated_rows(recording.mag_s)
    if recording.clipped is not None:
        clipped |= recording.clipped
    share = float(clipped.mean())
    if share > MOST_SATURATED:
        first = int(np.argmax(clipped))
        numbers = {"percent": 100.0 * share, "sample": first, "t_s": float(recording.t[first])}
        raise LogError(Finding("magnetometer_saturated", REFUSE, numbers))
    if share > 0.0:
        notes.append(f"{int(clipped.sum())} saturated samples were rejected")
    return ~clipped & new_readings(recording), notes


def refuse_unturned(mag: Array, up: Array | None) -> None:
    """mag (n, 3), uT.

    up (m, 3): unit vectors of the accelerometer, where there is one.
    """
    spread, directions = principal_spread(mag)
    if spread[2] < _UNTURNED_UT:
        raise InputError(
            f"the magnetometer never turned: its readings spread by {spread[2]:.2g} uT only; turn it about all axes, "
            "or give its unit in the column mapping (docs/io.md) if it did"
        )
    if spread[0] < _FLAT * spread[2]:
        axis = axis_word(directions[:, 0] * np.sign(directions[np.argmax(np.abs(directions[:, 0])), 0]))
        about = "the vertical" if up is not None and np.linalg.norm(up.mean(axis=0)) > 0.97 else "one axis"
        raise InputError(
            f"it was only turned about {about}: the readings lie in a plane, and the axis across it ({axis[1:]}) "
            "is not determined; tilt the sensor to all sides and turn it upside down"
        )


def refuse_units(found: Ellipsoid, field_ut: float | None) -> None:
    """The radius states the unit: the Earth's field has the same size everywhere, to a factor of three."""
    radius = float(np.linalg.det(found.matrix)) ** (-1.0 / 3.0)
    expected = (
        f"the Earth's field is {EARTH_UT[0]:g} to {EARTH_UT[1]:g} uT"
        if field_ut is None
        else f"{field_ut:g} uT is given"
    )
    low, high = _NOT_EARTH_UT if field_ut is None else (0.2 * field_ut, 5.0 * field_ut)
    if not low < radius < high:
        raise InputError(
            f"the readings have a radius of {radius:.4g} uT, and {expected}: these look like raw counts or another "
            "unit; give unit and counts_per_unit in the column mapping (docs/io.md)"
        )

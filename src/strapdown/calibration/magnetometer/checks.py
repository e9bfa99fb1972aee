"""Is a log fit for a magnetometer's calibration: in range, in its unit, and turned?"""

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.coverage import axis_word
from strapdown.calibration.magnetometer.ellipsoid import Ellipsoid, principal_spread
from strapdown.errors import InputError
from strapdown.types import Array, Recording

EARTH_UT = (22.0, 67.0)  # weakest and strongest field at the ground
_NOT_EARTH_UT = (5.0, 200.0)  # of the radius, before calibration: beyond it the unit is another
_LEAST_READ_UT, _MOST_READ_UT = 2.0, 1e6  # in gauss the field is below 1, and counts have at most 24 bits
_UNTURNED_UT = 2.0  # largest spread of a magnetometer that was not turned
_FLAT = 0.05  # least to largest spread of one that was turned about one axis only
_MOST_CLIPPED = 0.2  # of all samples


def usable_rows(recording: Recording) -> tuple[NDArray[np.bool_], list[str]]:
    """Rows of the recording that may be used, and what to say of the others."""
    if recording.mag_s is None:
        raise InputError("the log has no magnetometer; give its columns mag_x, mag_y and mag_z (docs/io.md)")
    mag, notes = recording.mag_s, []
    refuse_size(mag)
    clipped = np.zeros(len(mag), dtype=bool) if recording.clipped is None else recording.clipped.copy()
    for i in range(3):
        for end in (mag[:, i].min(), mag[:, i].max()):
            # turned through its largest reading a sensor stays near it, not exactly at it
            stuck = mag[:, i] == end
            near = np.abs(mag[:, i] - end)
            step = near[~stuck].min() if (~stuck).any() else 0.0
            if stuck.sum() >= 10 and stuck.sum() > 5 * np.sum((near > 0.0) & (near < 3.0 * step)) and step > 0.0:
                clipped |= stuck
    share = float(clipped.mean())
    if share > _MOST_CLIPPED:
        first = int(np.argmax(clipped))
        raise InputError(
            f"{100.0 * share:.0f} % of the samples are saturated, the first at sample {first} (t = "
            f"{recording.t[first]:.6g} s); choose a wider range, or move away from the magnet"
        )
    if share > 0.0:
        notes.append(f"{int(clipped.sum())} saturated samples were left out")
    return ~clipped, notes


def refuse_size(mag: Array) -> None:
    """Before anything is squared: readings that no magnetometer in uT gives, and axes that say nothing."""
    largest = float(np.abs(mag).max())
    if largest > _MOST_READ_UT or largest < _LEAST_READ_UT:
        guess = "gauss" if 0.1 < largest < _LEAST_READ_UT else "raw counts or another unit"
        raise InputError(
            f"the magnetometer's largest reading is {largest:.4g} uT, and the Earth's field is {EARTH_UT[0]:g} to "
            f"{EARTH_UT[1]:g} uT: {guess}; give unit and counts_per_unit in the column mapping (docs/io.md)"
        )
    for i, axis in enumerate("xyz"):
        if np.ptp(mag[:, i]) == 0.0 and np.ptp(mag, axis=0).max() > 0.0:
            raise InputError(
                f"magnetometer {axis} reads {mag[0, i]:.4g} uT in all {len(mag)} samples while the others change: it "
                "is broken or its column is wrong; check wiring and column mapping (docs/io.md)"
            )


def refuse_unturned(mag: Array, up: Array | None) -> None:
    """mag (n, 3), uT. up (m, 3): unit vectors of the accelerometer, where there is one."""
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
    """The radius tells the unit: the Earth's field has the same size everywhere, to a factor of three."""
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

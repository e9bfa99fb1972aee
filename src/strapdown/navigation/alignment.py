"""Initial alignment at rest: roll and pitch from averages of the accelerometer, the gyroscope's bias from its own.

The heading comes from a given value or from the magnetometer: two functions. An unknown heading is given with
UNKNOWN_HEADING_RAD; the path is then right except for a turn about the vertical.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.live import Alignment as Alignment
from strapdown.navigation.stops.segment_stops import SegmentStops
from strapdown.rotation import IDENTITY, matrix, q_from_euler, q_mul, q_normalise, q_rotate, wrap
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

UNKNOWN_HEADING_RAD = float(np.pi / np.sqrt(3.0))  # sigma of an angle of which nothing is known
MOST_RATE_RAD_S, MOST_FORCE_M_S2 = 0.1, 0.8  # sigma of readings beyond which a body is not at rest
LEAST_SAMPLES = 10
_FIRST_S = 1.0  # of a log that begins at rest: taken for rest, to tell its noise and its mean force
_FLICKER = 3  # samples: a flag that is lost for fewer is still set


@dataclass(frozen=True, eq=False)
class Rest:
    """Means over a rest of this many rows, and the standard deviations of these means.

    acc_sigma: sigma of the tilt (rad).
    """

    rows: int
    length_s: float
    acc_s: Array
    acc_sigma: float
    gyr_s: Array
    gyr_sigma: Array
    mag_s: Array | None


def align_to_yaw(
    recording: Recording,
    yaw_rad: float,
    sigma_rad: float = 0.0,
    *,
    rest_s: float = 1.0,
    q_bs: ArrayLike = IDENTITY,
) -> Alignment:
    """The body's yaw is known: counter-clockwise from x of frame n (pi/2 less the heading from north)."""
    if not (np.isfinite(yaw_rad) and np.isfinite(sigma_rad) and sigma_rad >= 0.0):
        raise InputError(f"yaw is {yaw_rad} with a sigma of {sigma_rad} rad; give a number and one not below 0")
    rest = rest_of(recording, rest_s)
    return alignment_of(rest, attitude_of(rest, float(yaw_rad), q_bs), float(sigma_rad), False)


def align_by_magnetometer(
    recording: Recording,
    sigma_rad: float = 0.05,
    *,
    declination_rad: float = 0.0,
    rest_s: float = 1.0,
    q_bs: ArrayLike = IDENTITY,
) -> Alignment:
    """The yaw at which the mean horizontal field points to the declination (east of north)."""
    rest = rest_of(recording, rest_s)
    if rest.mag_s is None:
        raise InputError("the recording has no magnetometer for its heading; give the yaw")
    yaw = magnetic_yaw(rest, declination_rad, q_bs)
    return alignment_of(rest, attitude_of(rest, yaw, q_bs), float(sigma_rad), True)


def magnetic_yaw(rest: Rest, declination_rad: float, q_bs: ArrayLike) -> float:
    """The yaw at which the mean field of the rest points to the declination."""
    x, y, _ = q_rotate(attitude_of(rest, 0.0, q_bs), np.zeros(3) if rest.mag_s is None else rest.mag_s)
    if np.hypot(x, y) == 0.0:
        raise InputError("the field at rest has no horizontal part to take a heading from; give the yaw")
    return float(wrap(np.arctan2(x, y) - declination_rad))  # turning the body to the left takes the azimuth back


def first_rest_s(recording: Recording, longest_s: float, accelerometer: Triad | None = None) -> float:
    """How long the rest at the start of a log lasts, at most longest_s. The rest ends where the controller's flag ends,
    if the flag is set at the start. The rest also ends where the force changes as it does in no rest. The reason is
    that a move may begin, and continue, more calmly than any window of readings can show.

    accelerometer: accelerometer of the part; its noise may not show in the log.
    """
    if recording.acc_s is None or recording.gyr_s is None:
        return longest_s
    t, stop = recording.t, recording.stop
    if stop is not None and stop[0]:
        off = np.convolve(~stop, np.ones(_FLICKER), "valid") == _FLICKER
        if off.any():
            longest_s = min(longest_s, float(t[off.argmax()] - t[0]))
    rows = int(np.searchsorted(t, t[0] + longest_s, side="right"))
    first = int(np.searchsorted(t, t[0] + _FIRST_S))
    if first < LEAST_SAMPLES or rows <= first:
        return longest_s
    start = replace(recording[:rows], stop=None, odometer=None)
    known = 0, first - 1
    try:
        settings = SegmentStops.of_rest(start, known, accelerometer=accelerometer)
    except InputError:  # no noise
        return longest_s
    moves = np.flatnonzero(~settings.find(start, known).believed)
    moves = moves[moves >= first]
    return float(t[moves[0]] - t[0]) if len(moves) else longest_s


def rest_of(recording: Recording, rest_s: float) -> Rest:
    """Means over the first rest_s; refused if the body moved meanwhile."""
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; alignment needs gyroscope and accelerometer")
    t = recording.t
    rows = int(np.searchsorted(t, t[0] + rest_s, side="right"))
    if rows < LEAST_SAMPLES:
        raise InputError(
            f"the first {rest_s:g} s have {rows} samples, alignment needs {LEAST_SAMPLES} at rest; give a longer rest"
        )
    gyr, acc = recording.gyr_s[:rows], recording.acc_s[:rows]
    mag = None if recording.mag_s is None else recording.mag_s[:rows].mean(axis=0)
    length_s = float(t[rows - 1] - t[0])
    return rest_from(rows, length_s, (acc.mean(axis=0), acc.std(axis=0)), (gyr.mean(axis=0), gyr.std(axis=0)), mag)


def rest_from(
    rows: int, length_s: float, acc: tuple[Array, Array], gyr: tuple[Array, Array], mag_s: Array | None
) -> Rest:
    """Means and their standard deviations from the readings of a rest; refused if the body moved meanwhile."""
    if rows < LEAST_SAMPLES:
        raise InputError(
            f"the first {length_s:.3g} s have {rows} samples, alignment needs {LEAST_SAMPLES} at rest; "
            "give a longer rest"
        )
    if gyr[1].max() > MOST_RATE_RAD_S or acc[1].max() > MOST_FORCE_M_S2:
        raise InputError(
            f"the sensor moves during its first {length_s:.3g} s (readings vary by {gyr[1].max():.3g} rad/s and "
            f"{acc[1].max():.3g} m/s2); start the log at rest, or give the alignment"
        )
    force = float(np.linalg.norm(acc[0]))
    if not force > 0.0:
        raise InputError("the accelerometer reads 0 at rest; it cannot show the vertical: check that it is connected")
    root = np.sqrt(rows)
    return Rest(rows, length_s, acc[0], float(acc[1].max() / root / force), gyr[0], gyr[1] / root, mag_s)


def attitude_of(rest: Rest, yaw: float, q_bs: ArrayLike) -> Array:
    q_bs = q_normalise(np.asarray(q_bs, dtype=np.float64))
    up_b = q_rotate(q_bs, rest.acc_s)
    roll, pitch = np.arctan2(up_b[1], up_b[2]), np.arctan2(-up_b[0], np.hypot(up_b[1], up_b[2]))
    return q_mul(q_from_euler(roll, pitch, yaw), q_bs)


def alignment_of(rest: Rest, q_ns: Array, heading_sigma: float, from_mag: bool) -> Alignment:
    field = dip = None
    if rest.mag_s is not None and np.linalg.norm(rest.mag_s) > 0.0:
        field_n = matrix(q_ns) @ rest.mag_s
        field = float(np.linalg.norm(field_n))
        dip = float(np.arctan2(-field_n[2], np.hypot(field_n[0], field_n[1])))
    return Alignment(
        q_ns,
        rest.rows,
        rest.length_s,
        rest.acc_sigma,
        heading_sigma,
        from_mag,
        rest.gyr_s,
        rest.gyr_sigma,
        field,
        dip,
    )

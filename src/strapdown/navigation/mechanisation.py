"""Readings to increments, compensated for coning and sculling; dead_reckon_increments integrates them.

An increment has the turn as a rotation vector and the velocity gained, expressed in the sensor's frame at the start of
the step. Readings of a rate are values at their time stamps, or means over the step before (an integrating sensor's
counts over dt): two functions.
"""

import numpy as np

from strapdown.errors import InputError
from strapdown.kernels.navigation import mechanisation as kernel
from strapdown.types import Array, Increments, Recording


def increments_from_values(recording: Recording) -> Increments:
    """Increments from readings at their time stamps, linear in between: second order in the step. The first row has
    zero length.
    """
    gyr, acc = _readings(recording)
    theta, dv = np.zeros((len(recording), 3)), np.zeros((len(recording), 3))
    kernel.increments_of_points_rows(recording.t, gyr, acc, theta, dv)
    return Increments(recording.t, np.diff(recording.t, prepend=recording.t[0]), theta, dv)


def increments_from_means(recording: Recording, *, first_dt_s: float | None = None) -> Increments:
    """Increments from readings that are means over the step before, as of a sensor that integrates. The order in the
    step is three where rate and force are smooth (two-sample coning and sculling); without these terms it is one.

    first_dt_s: length of the step before the first reading; None is the length of the next.
    """
    gyr, acc = _readings(recording)
    t = recording.t
    if len(t) < 2 and first_dt_s is None:
        raise InputError("the recording has one sample, and the length of its step is not known; give first_dt_s")
    dt = np.diff(t, prepend=t[0])
    dt[0] = dt[1] if first_dt_s is None else first_dt_s
    dt.flags.writeable = False
    theta, dv = np.empty((len(t), 3)), np.empty((len(t), 3))
    kernel.increments_of_means_rows(dt, gyr, acc, theta, dv)
    return Increments(t, dt, theta, dv)


def _readings(recording: Recording) -> tuple[Array, Array]:
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyr_s" if recording.gyr_s is None else "acc_s"
        raise InputError(f"the recording has no {missing}; increments need gyroscope and accelerometer")
    return recording.gyr_s, recording.acc_s

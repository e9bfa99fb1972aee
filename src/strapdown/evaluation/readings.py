"""Readings of a virtual sensor against the motion that made them."""

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.types import Motion, Recording

Array = NDArray[np.float64]


def ideal_readings(motion: Motion, gravity: float) -> tuple[Array, Array]:
    """Specific force (m/s2) and rate (rad/s) in the moving frame, as an ideal sensor in it reads them."""
    return motion.specific_force_b(gravity), np.array(motion.w_nb_b)


def true_readings(recording: Recording) -> dict[str, Array]:
    """Readings of ideal instruments, for the inertial ones that the recording has: "acc_s", "gyr_s"."""
    if recording.truth is None:
        raise InputError("the recording has no truth; errors need it")
    true = dict(
        zip(("acc_s", "gyr_s"), ideal_readings(recording.truth, recording.meta.get("gravity_m_s2", 0.0)), strict=True)
    )
    return {name: value for name, value in true.items() if getattr(recording, name) is not None}


def errors_by_instrument(recording: Recording) -> dict[str, Array]:
    """Length of the error vector at every sample, for the inertial instruments the recording has: "acc_s", "gyr_s"."""
    true = true_readings(recording)
    return {name: np.linalg.norm(getattr(recording, name) - value, axis=1) for name, value in true.items()}


def error_against_truth(recording: Recording) -> tuple[Array, Array]:
    """Length of the error vector at every sample: accelerometer (m/s2), gyroscope (rad/s)."""
    recording.inertial()
    errors = errors_by_instrument(recording)
    return errors["acc_s"], errors["gyr_s"]

"""Readings of a virtual sensor against the motion that made them."""

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.types import Motion, Recording

Array = NDArray[np.float64]


def ideal_readings(motion: Motion, gravity: float) -> tuple[Array, Array]:
    """(specific force m/s2, rate rad/s) in the moving frame, as an ideal sensor in it reads them."""
    return motion.specific_force_b(gravity), np.array(motion.w_nb_b)


def errors_by_instrument(recording: Recording) -> dict[str, Array]:
    """Length of the error vector at every sample, for the inertial instruments the recording has: "acc_s", "gyr_s"."""
    if recording.truth is None:
        raise InputError("the recording has no truth; errors need it")
    true = dict(
        zip(("acc_s", "gyr_s"), ideal_readings(recording.truth, recording.meta.get("gravity_m_s2", 0.0)), strict=True)
    )
    have = {name: value for name in true if (value := getattr(recording, name)) is not None}
    return {name: np.linalg.norm(value - true[name], axis=1) for name, value in have.items()}


def error_against_truth(recording: Recording) -> tuple[Array, Array]:
    """Length of the error vector at every sample: accelerometer (m/s2), gyroscope (rad/s)."""
    recording.inertial()
    errors = errors_by_instrument(recording)
    return errors["acc_s"], errors["gyr_s"]

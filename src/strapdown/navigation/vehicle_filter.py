"""The error-state filter for a vehicle, from what its task knows: one set of settings for the command and the papers.

What it assumes of a robot: wheels that slide sideways by some mm/s and a floor that is flat to some mm (navigation.md).
"""

from typing import Any

import numpy as np

from strapdown import earth
from strapdown.calibration.calibration import Calibration
from strapdown.navigation.eskf import Eskf
from strapdown.navigation.task import Task
from strapdown.navigation.updates import FlatFloor, MagneticHeading, NonHolonomic, WheelTravel
from strapdown.types import Array, Recording

# rad/s, m/s2: what a part changes between its calibration and the drive
CHANGED_GYR, CHANGED_ACC = 5e-4, 2e-3
_UNKNOWN_COUPLING = 0.01  # of the gyroscope's axes, where the calibration has not found it


def vehicle_filter(task: Task, recording: Recording) -> Eskf:
    """Updates by the vehicle and by what the log has; noise of the part, uncertainty of its calibration."""
    settings: dict[str, Any] = {"gravity": task.gravity, "q_bs": task.q_bs, "r_bs_b": task.r_bs_b}
    if recording.mag_s is not None:
        settings["magnetic_heading"] = MagneticHeading(declination_rad=task.declination_rad)
    if task.vehicle == "robot":
        settings["flat_floor"] = FlatFloor()
        settings["non_holonomic"] = NonHolonomic(upward_sigma_m_s=None)  # upward it would take the mounting for a slope
        if recording.odometer is not None:
            settings["wheel_travel"] = WheelTravel(scale=task.odometer_scale, scale_sigma=task.odometer_sigma)
    if task.calibration is not None:
        settings |= left_by(task.calibration, earth.gravity(task.gravity))
    if {"gyroscope", "accelerometer"} <= set(task.noise):
        return Eskf.for_triads(task.noise["gyroscope"], task.noise["accelerometer"], **settings)
    return Eskf(**settings)


def left_by(calibration: Calibration, gravity: float) -> dict[str, float]:
    """Settings of the filter for what a calibration says of itself, and for what the part has changed since.

    An error of a matrix off its diagonal is half a skew of the axes and half a turn of all axes of the sensor against
    the case, mounting_sigma_rad(), which no filter can see. The skew of the accelerometer acts as a bias while level;
    that of the gyroscope tilts in turns. Its scale is told for the rates of the calibration: at others the bend of the
    part changes it, so it is taken for no better than the skew.
    """
    found: dict[str, float] = {}
    gyr, acc = _sigma(calibration, "gyroscope"), _sigma(calibration, "accelerometer")
    if "bias" in gyr and np.isfinite(gyr["bias"]).all():
        found["gyr_bias_sigma"] = float(np.hypot(_rms(gyr["bias"]), CHANGED_GYR))
    if "matrix" in gyr:
        matrix = np.where(np.isfinite(gyr["matrix"]), gyr["matrix"], _UNKNOWN_COUPLING)
        across = _rms(matrix[~np.eye(3, dtype=bool)]) / float(np.sqrt(2.0))
        found["gyr_matrix_sigma"] = max(_rms(np.diag(matrix)), across)
    if "bias" in acc and np.isfinite(acc["bias"]).all():
        skew = mounting_sigma_rad(calibration)
        found["acc_bias_sigma"] = float(np.sqrt(_rms(acc["bias"]) ** 2 + (gravity * skew) ** 2 + CHANGED_ACC**2))
    return found


def mounting_sigma_rad(calibration: Calibration) -> float:
    """How well the accelerometer's axes are known against their case, about each horizontal axis of a level case."""
    matrix = _sigma(calibration, "accelerometer").get("matrix")
    if matrix is None or not np.isfinite(matrix[:2, 2]).all():
        return 0.0
    return _rms(matrix[:2, 2]) / float(np.sqrt(2.0))


def _sigma(calibration: Calibration, instrument: str) -> dict[str, Array]:
    return dict(getattr(calibration.corrections.get(instrument), "sigma", {}))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

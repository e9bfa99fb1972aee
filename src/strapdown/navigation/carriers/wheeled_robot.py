"""The error-state filter for a vehicle, from what its task knows: one set of settings for the command and the papers.

What it assumes of a robot: wheels that slide sideways by some mm/s and a floor that is flat to some mm (navigation.md).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from strapdown import earth
from strapdown.calibration.calibration import Calibration
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, MagneticHeading, NonHolonomic, WheelTravel
from strapdown.navigation.task import Task
from strapdown.sensors.parts.part import Part
from strapdown.sensors.parts.sheet_number import Number
from strapdown.sensors.parts.units import unit
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

# rad/s, m/s2: what a part changes between its calibration and the drive
CHANGED_GYR, CHANGED_ACC = 5e-4, 2e-3
CHANGED_SCALE = 1e-4  # of the accelerometer: a degree or two, where data sheets allow 0.005 to 0.02 % each
# scale and cross-coupling of a sensor of which nothing is told: most such logs are of modules calibrated by their maker
COMMON_SCALE, COMMON_AXES = 0.003, 0.003
KNOWN_SCALE, KNOWN_AXES = 0.001, 0.001  # of a log that says it is calibrated, and not how well
SIDEWAYS = 2.5e-3  # m/s, a sample: how far wheels slide to the side
_LIMIT = 3.0  # deviations: where the limit of a data sheet stands, as for virtual specimens (sensors/tolerance.py)
_FREE_POSES = ("diagonal", "full", "cubic")  # calibrations by gravity alone: they cannot see all axes turned together


def vehicle_filter(task: Task, recording: Recording) -> Eskf:
    """Updates by the vehicle and by what the log has; noise of the part, uncertainty of its calibration."""
    settings: dict[str, Any] = {"gravity": task.gravity, "q_bs": task.q_bs, "r_bs_b": task.r_bs_b}
    settings["lever_sigma_m"] = task.lever_sigma_m
    if recording.mag_s is not None:
        settings["magnetic_heading"] = MagneticHeading(declination_rad=task.declination_rad)
    if task.vehicle == "robot":
        settings["flat_floor"] = None if task.flat_floor is False else FlatFloor(slope_of_pitch=1.0)
        # upward it would take the mounting for a slope
        settings["non_holonomic"] = NonHolonomic(SIDEWAYS, upward_sigma_m_s=None)
        if recording.odometer is not None:
            settings["wheel_travel"] = WheelTravel(scale=task.odometer_scale, scale_sigma=task.odometer_sigma)
    elif task.flat_floor:
        settings["flat_floor"] = FlatFloor(velocity_sigma_m_s=None, tilt_rad=np.pi)
    gravity = earth.gravity(task.gravity)
    settings |= as_bought(None if task.calibration is None and _says_calibrated(recording) else task.part)
    if task.calibration is None and _says_calibrated(recording):
        settings |= {"gyr_matrix_sigma": KNOWN_SCALE, "acc_scale_sigma": KNOWN_SCALE, "acc_axes_sigma": KNOWN_AXES}
    if task.calibration is not None:
        settings |= left_by(task.calibration, gravity, task.part)
    settings["acc_scale_sigma"] = float(
        np.hypot(settings["acc_scale_sigma"], left_by_bend(task.noise.get("accelerometer"), gravity, task.calibration))
    )
    if {"gyroscope", "accelerometer"} <= set(task.noise):
        return Eskf.for_triads(task.noise["gyroscope"], task.noise["accelerometer"], **settings)
    return Eskf(**settings)


def _says_calibrated(recording: Recording) -> bool:
    """As calibration/apply.py writes it."""
    said = recording.meta.get("calibrated")
    return isinstance(said, Mapping) and {"accelerometer", "gyroscope"} <= set(said)


def as_bought(part: Part | None) -> dict[str, float]:
    """Settings of the filter for a specimen that nobody has calibrated: the tolerances of its part."""
    acc, gyr = (_tolerance(part, name) for name in ("accelerometer", "gyroscope"))
    found = {
        "gyr_matrix_sigma": max(gyr["scale"], gyr["axes"] / float(np.sqrt(2.0))),
        "acc_scale_sigma": acc["scale"],
        "acc_axes_sigma": acc["axes"],
    }
    return found | {f"{name}_bias_sigma": each["bias"] for name, each in (("gyr", gyr), ("acc", acc)) if "bias" in each}


def left_by(calibration: Calibration, gravity: float, part: Part | None = None) -> dict[str, float]:
    """Settings of the filter for what a calibration says of itself, and for what the part has changed since.

    An error of a matrix off its diagonal is half a skew of the axes and half a turn of all axes of the sensor against
    the case, mounting_sigma_rad(), which no filter can see. The skew of the accelerometer acts as a bias while level;
    that of the gyroscope tilts in turns. Its scale is told for the rates of the calibration: at others the bend of the
    part changes it, so it is taken for no better than the skew. What the accelerometer reads across of a drive forward
    is its skew and the turn of its axes against the wheels, both. Elements that were not found: the part's tolerance.
    """
    found: dict[str, float] = {}
    gyr, acc = _sigma(calibration, "gyroscope"), _sigma(calibration, "accelerometer")
    if "bias" in gyr and np.isfinite(gyr["bias"]).all():
        found["gyr_bias_sigma"] = float(np.hypot(_rms(gyr["bias"]), CHANGED_GYR))
    if "matrix" in gyr:
        scale, axes = _matrix_sigma(gyr["matrix"], part, "gyroscope")
        found["gyr_matrix_sigma"] = max(scale, axes / float(np.sqrt(2.0)))
    if "bias" in acc and np.isfinite(acc["bias"]).all():
        skew = mounting_sigma_rad(calibration)
        found["acc_bias_sigma"] = float(np.sqrt(_rms(acc["bias"]) ** 2 + (gravity * skew) ** 2 + CHANGED_ACC**2))
    if "matrix" in acc:
        scale, axes = _matrix_sigma(acc["matrix"], part, "accelerometer")
        found["acc_scale_sigma"] = float(np.hypot(scale, CHANGED_SCALE))
        if calibration.corrections["accelerometer"].found.data.get("model") in _FREE_POSES:
            axes = float(np.hypot(axes, _tolerance(part, "accelerometer")["axes"] / np.sqrt(2.0)))
        found["acc_axes_sigma"] = axes
    return found


def left_by_bend(accelerometer: Triad | None, gravity: float, calibration: Calibration | None) -> float:
    """How far the scale of a part that bends differs between 0, where the axes of a level vehicle work, and the
    straight line over +-1 g that a calibration finds: y - x = n (3 x - 4 x^3 / R^2), R the range, so 4 n (g / R)^2."""
    cubic = {} if calibration is None else _sigma(calibration, "accelerometer")
    if accelerometer is None or accelerometer.full_scale is None or np.isfinite(cubic.get("cubic", np.inf)).all():
        return 0.0
    bent = max(abs(n) for n in accelerometer.nonlinearity)
    return 4.0 * bent * (gravity / accelerometer.full_scale) ** 2


def mounting_sigma_rad(calibration: Calibration) -> float:
    """How well the accelerometer's axes are known against their case, about each horizontal axis of a level case."""
    matrix = _sigma(calibration, "accelerometer").get("matrix")
    if matrix is None or not np.isfinite(matrix[:2, 2]).all():
        return 0.0
    return _rms(matrix[:2, 2]) / float(np.sqrt(2.0))


def _matrix_sigma(sigma: Array, part: Part | None, instrument: str) -> tuple[float, float]:
    """Deviations on the diagonal and off it; inf stands for an element that was assumed."""
    allowed, diagonal = _tolerance(part, instrument), np.eye(3, dtype=bool)
    known = np.where(np.isfinite(sigma), sigma, np.where(diagonal, allowed["scale"], allowed["axes"]))
    return _rms(known[diagonal]), _rms(known[~diagonal])


def _tolerance(part: Part | None, instrument: str) -> dict[str, float]:
    """Deviations of scale, axes and, where the data sheet tells it, bias (rad/s, m/s2) among specimens."""
    found = {"scale": COMMON_SCALE, "axes": COMMON_AXES}
    sheet = None if part is None else getattr(part.file, instrument)
    if sheet is not None:
        for name, field in (("scale", "scale_tolerance"), ("axes", "cross_axis"), ("bias", "offset")):
            number: Number | None = getattr(sheet, field)
            if number is not None and number.unit != "LSB":  # counts need the range
                largest = max(abs(value) for value in number.all()) * unit(number.unit).factor
                found[name] = largest / (1.0 if number.kind == "typ" else _LIMIT)
    return found


def _sigma(calibration: Calibration, instrument: str) -> dict[str, Array]:
    return dict(getattr(calibration.corrections.get(instrument), "sigma", {}))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

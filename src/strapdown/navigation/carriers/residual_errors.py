"""Errors of the sensor that calibration has not removed: settings of the error-state filter for a vehicle.

One set of settings for the command and the papers (docs/navigation.md).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from strapdown.calibration.calibration import Calibration
from strapdown.calibration.static import REPEATABILITY
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import MagneticHeading, ZeroRate
from strapdown.recordings.facts import Facts
from strapdown.sensors.parts.part import Part
from strapdown.sensors.parts.sheet_number import Number
from strapdown.sensors.parts.units import unit
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording, Solution

# rad/s, m/s2: what a part changes between its calibration and the drive
CHANGED_GYR, CHANGED_ACC = REPEATABILITY["gyroscope"], REPEATABILITY["accelerometer"]
# variance of a turn of the ground in stops, too slow to be seen, over that of the bias before the first stop: a turn
# that the test of a stop just lets pass (navigation/eskf/numbers.py)
UNSEEN_TURN = 21.0
CHANGED_SCALE = 1e-4  # of the accelerometer: a degree or two, where data sheets allow 0.005 to 0.02 % each
# scale and cross-coupling of a sensor of which nothing is known: most such modules were calibrated by their maker
COMMON_SCALE, COMMON_AXES = 0.003, 0.003
KNOWN_SCALE, KNOWN_AXES = 0.001, 0.001  # of a log that states it is calibrated, and not how well
_LIMIT = 3.0  # sigmas: where the limit of a data sheet stands, as for virtual specimens (sensors/parts/tolerance.py)
_FREE_POSES = ("diagonal", "full", "cubic")  # calibrations by gravity alone: they cannot see all axes turned together


def vehicle_filter(recording: Recording, facts: Facts, **more: Any) -> Eskf:
    """The error-state filter for the known errors of the sensor: noise of the part and uncertainty of its calibration.
    It uses the magnetometer if the log has one that is calibrated, or of which nothing is known.

    more: settings that depend on the carrier.
    """
    settings: dict[str, Any] = {"gravity": facts.gravity, "q_bs": facts.q_bs, "r_bs_b": facts.r_bs_b}
    settings |= {"follows_shaking": True, "zero_rate": ZeroRate(unseen_turn=UNSEEN_TURN)}
    if recording.mag_s is not None and not has_raw_field(recording, facts):
        settings["magnetic_heading"] = MagneticHeading(declination_rad=facts.declination_rad)
    calibrated = facts.calibration is None and _states_calibrated(recording)
    settings |= as_bought(None if calibrated else facts.part)
    if calibrated:
        settings |= {"gyr_matrix_sigma": KNOWN_SCALE, "acc_scale_sigma": KNOWN_SCALE, "acc_axes_sigma": KNOWN_AXES}
    if facts.calibration is not None:
        settings |= left_by(facts.calibration, facts.gravity, facts.part)
    for name, instrument in (("acc_scale_sigma", "accelerometer"), ("gyr_matrix_sigma", "gyroscope")):
        if calibrated or _scaled(facts.calibration, instrument):
            continue
        settings[name] = float(np.hypot(settings[name], slope_at_zero(facts.noise.get(instrument))))
    nonlinearity = left_by_nonlinearity(facts.noise.get("accelerometer"), facts.gravity, facts.calibration)
    settings["acc_scale_sigma"] = float(np.hypot(settings["acc_scale_sigma"], nonlinearity))
    settings |= more
    if {"gyroscope", "accelerometer"} <= set(facts.noise):
        return Eskf.for_triads(facts.noise["gyroscope"], facts.noise["accelerometer"], **settings)
    return Eskf(**settings)


def _states_calibrated(recording: Recording, *instruments: str) -> bool:
    """Whether the log states that they are calibrated, as calibration/apply.py writes it."""
    said = recording.meta.get("calibrated")
    return isinstance(said, Mapping) and set(instruments or ("accelerometer", "gyroscope")) <= set(said)


def has_raw_field(recording: Recording, facts: Facts) -> bool:
    """Whether the magnetometer is a known part without calibration. It then shows the iron near it as well as the
    Earth's field, and its heading may be wrong by any angle, in every attitude by another one.
    """
    if recording.mag_s is None or "magnetometer" not in facts.noise:
        return False
    known = facts.calibration is not None and "magnetometer" in facts.calibration.corrections
    return not known and not _states_calibrated(recording, "magnetometer")


def as_bought(part: Part | None) -> dict[str, float]:
    """Settings of the filter for a specimen without calibration: the tolerances of its part."""
    acc, gyr = (_tolerance(part, name) for name in ("accelerometer", "gyroscope"))
    found = {
        "gyr_matrix_sigma": max(gyr["scale"], gyr["axes"] / float(np.sqrt(2.0))),
        "acc_scale_sigma": acc["scale"],
        "acc_axes_sigma": acc["axes"],
    }
    return found | {f"{name}_bias_sigma": each["bias"] for name, each in (("gyr", gyr), ("acc", acc)) if "bias" in each}


def left_by(calibration: Calibration, gravity: float, part: Part | None = None) -> dict[str, float]:
    """Settings of the filter for the uncertainty that a calibration states, and for later changes of the part.

    Half of a matrix error off its diagonal is a skew of the axes. The other half is a turn of all axes of the sensor
    against the case, mounting_sigma_rad(), which no filter can detect. The skew of the accelerometer acts as a bias
    while level. The skew of the gyroscope causes a tilt in turns. The scale of the gyroscope belongs to the rates of
    the calibration. At other rates the nonlinearity of the part changes it, so its sigma is no smaller than that of the
    skew. The reading of the accelerometer across a forward acceleration has two causes: its skew, and the turn of its
    axes against the wheels. Elements that were not found have the part's tolerance.
    """
    found: dict[str, float] = {}
    gyr, acc = _sigma(calibration, "gyroscope"), _sigma(calibration, "accelerometer")
    if "bias" in gyr and np.isfinite(gyr["bias"]).all():
        found["gyr_bias_sigma"] = float(np.hypot(_rms(gyr["bias"]), CHANGED_GYR))
    if "matrix" in gyr:
        scale, axes = _matrix_sigma(gyr["matrix"], part, "gyroscope")
        found["gyr_matrix_sigma"] = max(scale, axes / float(np.sqrt(2.0)))
    if "bias" in acc and np.isfinite(acc["bias"]).all():
        skew = _skew_rad(calibration, part)
        found["acc_bias_sigma"] = float(np.sqrt(_rms(acc["bias"]) ** 2 + (gravity * skew) ** 2 + CHANGED_ACC**2))
    if "matrix" in acc:
        scale, axes = _matrix_sigma(acc["matrix"], part, "accelerometer")
        found["acc_scale_sigma"] = float(np.hypot(scale, CHANGED_SCALE))
        if calibration.corrections["accelerometer"].found.data.get("model") in _FREE_POSES:
            axes = float(np.hypot(axes, _tolerance(part, "accelerometer")["axes"] / np.sqrt(2.0)))
        found["acc_axes_sigma"] = axes
    return found


def slope_at_zero(triad: Triad | None) -> float:
    """Error of the scale near 0 by the nonlinearity n of a part, if no calibration found the scale. It is 3 n, because
    y - x = n (3 x - 4 x^3 / R^2) with the range R.
    """
    return 0.0 if triad is None else 3.0 * max(abs(n) for n in triad.nonlinearity)


def _scaled(calibration: Calibration | None, instrument: str) -> bool:
    """Whether a calibration has found the scale of an instrument."""
    matrix = {} if calibration is None else _sigma(calibration, instrument)
    return "matrix" in matrix and bool(np.isfinite(np.diag(matrix["matrix"])).all())


def left_by_nonlinearity(accelerometer: Triad | None, gravity: float, calibration: Calibration | None) -> float:
    """Difference in scale of a nonlinear part between 0 and the straight line over +-1 g that a calibration finds. The
    axes of a level vehicle work near 0. With y - x = n (3 x - 4 x^3 / R^2), R the range, it is 4 n (g / R)^2.
    """
    cubic = {} if calibration is None else _sigma(calibration, "accelerometer")
    if accelerometer is None or accelerometer.full_scale is None or np.isfinite(cubic.get("cubic", np.inf)).all():
        return 0.0
    largest = max(abs(n) for n in accelerometer.nonlinearity)
    return 4.0 * largest * (gravity / accelerometer.full_scale) ** 2


def mounting_sigma_rad(calibration: Calibration) -> float:
    """Sigma of the accelerometer's axes against their case, about each horizontal axis of a level case."""
    matrix = _sigma(calibration, "accelerometer").get("matrix")
    if matrix is None or not np.isfinite(matrix[:2, 2]).all():
        return 0.0
    return _rms(matrix[:2, 2]) / float(np.sqrt(2.0))


def _skew_rad(calibration: Calibration, part: Part | None) -> float:
    """Sigma of the skew of the accelerometer's axes; the part's tolerance where the calibration did not find it."""
    matrix = _sigma(calibration, "accelerometer").get("matrix")
    if matrix is None or np.isfinite(matrix[:2, 2]).all():
        return mounting_sigma_rad(calibration)
    return _tolerance(part, "accelerometer")["axes"] / float(np.sqrt(2.0))


def open_rotation_rad(recording: Recording, facts: Facts) -> float:
    """Sigma of the turn of the accelerometer's axes against the case, about each axis, where it was not found.

    Gravity alone shows the skew of three axes, not a turn of all of them: a calibration in free poses takes its matrix
    as symmetric. The cross-axis tolerance of the part is half skew and half such a turn. The turn does not change the
    path, only the attitude of the case on it.
    """
    if facts.calibration is None:
        axes = KNOWN_AXES if _states_calibrated(recording) else _tolerance(facts.part, "accelerometer")["axes"]
        return axes / float(np.sqrt(2.0))
    found = facts.calibration.corrections.get("accelerometer")
    if found is None or found.found.data.get("model") in _FREE_POSES:
        return _tolerance(facts.part, "accelerometer")["axes"] / float(np.sqrt(2.0))
    return 0.0


def attitude_of_case(solution: Solution, recording: Recording, facts: Facts) -> Solution:
    """The solution, with the turn of the accelerometer's axes against the case in the sigma of roll and pitch."""
    turn = open_rotation_rad(recording, facts)
    if facts.calibration is not None and turn == 0.0:
        turn = mounting_sigma_rad(facts.calibration)
    sigma = np.array(solution.sigma["attitude_n"])
    sigma[:, :2] = np.hypot(sigma[:, :2], turn)
    return replace(solution, sigma={**solution.sigma, "attitude_n": sigma})


def _matrix_sigma(sigma: Array, part: Part | None, instrument: str) -> tuple[float, float]:
    """Sigmas on the diagonal and off it; inf marks an element that was assumed."""
    allowed, diagonal = _tolerance(part, instrument), np.eye(3, dtype=bool)
    known = np.where(np.isfinite(sigma), sigma, np.where(diagonal, allowed["scale"], allowed["axes"]))
    return _rms(known[diagonal]), _rms(known[~diagonal])


def _tolerance(part: Part | None, instrument: str) -> dict[str, float]:
    """Sigmas of scale, axes and, where the data sheet states it, bias (rad/s, m/s2) among specimens."""
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

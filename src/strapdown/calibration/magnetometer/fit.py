"""A magnetometer's hard iron, soft iron and axes, from a log in which it was turned all about.

The readings of a turned magnetometer lie on an ellipsoid (ellipsoid.py). The centre of the ellipsoid is the hard iron
with the part's own offset. The shape of the ellipsoid is the soft iron with scale and cross-axis errors. The ellipsoid
does not determine a rotation, which an accelerometer in the log gives (axis_alignment.py). Nor does it determine the
strength of the field, which the place gives. Sigmas include the noise that the log shows, however long it is
correlated, and the known errors of the part.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.apply import refuse_calibrated
from strapdown.calibration.calibration import Calibration, Correction, Found
from strapdown.calibration.coverage import Coverage, coverage, missing_words
from strapdown.calibration.magnetometer.axis_alignment import (
    DELAY,
    Alignment,
    Side,
    align_axes,
    quasi_static,
    rate_sigma,
    rates,
)
from strapdown.calibration.magnetometer.checks import refuse_units, refuse_unturned, usable_rows
from strapdown.calibration.magnetometer.covariance import JointFit, direction_sigma
from strapdown.calibration.magnetometer.ellipsoid import CUTOFF, PARAMETERS, Ellipsoid, fit_ellipsoid
from strapdown.errors import InputError
from strapdown.recordings.examination.limits import EARTH_UT
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_BLOCK_S, _BLOCKS = 1.0, (40, 400)  # stretches of time whose sums are taken as independent, and are tested for it
_MOST_ALIGNED = 40_000  # readings: more tell nothing new
_MOST_LOOKED_AT = 200_000  # for the coverage
# of parts that are not given: what data sheets of such parts print
_UNKNOWN_MAGNETOMETER = Triad("uT", nonlinearity=(1e-3, 1e-3, 1e-3), full_scale=200.0)
_UNKNOWN_ACCELEROMETER = Triad("m/s2", nonlinearity=(5e-3, 5e-3, 5e-3), full_scale=19.6)
_RAW_OFFSET = 0.3  # m/s2: of an accelerometer about which nothing is known
_GRAVITY = (8.0, 12.0)  # m/s2: of an accelerometer in its unit
_LAG_KNOWN = 0.02  # of the delay of a low-pass: its corner frequency is a design value
_UNDETERMINED_RAD = np.radians(5.0)
# limits of: minus coverage, radius error, direction (rad), share of gross errors
_GOOD, _USABLE = (-0.6, 0.02, np.radians(0.5), 0.02), (-0.35, 0.06, np.radians(2.0), 0.15)


@dataclass(frozen=True, eq=False)
class MagnetometerFit:
    """The calibration and its evidence.

    used (n,): rows of the recording that the fit saw.
    readings, corrected (m, 3): readings before and after the correction, uT.
    weight (m,): weight of each reading; 0: gross error.
    radius_error (m,): |corrected| / field_ut - 1.
    field_ut: the length to which the field was scaled.
    direction_sigma_rad: error of the corrected field's direction that the parameters' sigmas make, rms over the sphere.
    covariance (12, 12): covariance of the matrix, row by row, and the bias.
    accelerometer: its own ellipsoid, where it was found in the same log.
    """

    calibration: Calibration
    used: NDArray[np.bool_]
    readings: Array
    corrected: Array
    weight: Array
    radius_error: Array
    field_ut: float
    direction_sigma_rad: float
    covariance: Array
    coverage: Coverage
    ellipsoid: Ellipsoid
    alignment: Alignment | None = None
    accelerometer: Ellipsoid | None = None

    @property
    def radius_rms(self) -> float:
        """Rms error of the radius, of all readings except gross errors."""
        return float(np.sqrt(np.mean(self.radius_error[self.weight > 0.0] ** 2)))


def calibrate_magnetometer(
    recording: Recording,
    *,
    field_ut: float | None = None,
    dip_rad: float | None = None,
    noise: Mapping[str, Triad] | None = None,
    accelerometer: Correction | None = None,
) -> MagnetometerFit:
    """Hard and soft iron from a log in which the magnetometer was turned all about.

    field_ut: strength of the field at the place (earth_magnetism.strength); without it the corrected field has the
        readings' mean radius.
    dip_rad: dip of the field at the place, whose sign shows left-handed axes.
    noise: errors of the parts by instrument; their drift and nonlinearity enter the sigmas. Without it, nonlinearities
        of 0.1 % of the range (2 G, or as far as the readings go) and 0.5 % of 2 g are assumed.
    accelerometer: its calibration; without it offset and scale of the log's accelerometer are estimated too.
    """
    refuse_calibrated(recording, "magnetometer")
    used, notes = usable_rows(recording)
    mag, t = np.asarray(recording.mag_s)[used], recording.t[used]
    some = slice(None, None, max(1, len(t) // _MOST_LOOKED_AT))
    up = None if recording.acc_s is None else _unit(recording.acc_s[used][some])
    refuse_unturned(mag, up)
    count = int(np.clip((t[-1] - t[0]) / _BLOCK_S, *_BLOCKS))
    count = min(count, len(t) // 5)
    block = np.minimum(((t - t[0]) * (count / (t[-1] - t[0]))).astype(np.int64), count - 1)
    noise = noise or {}
    bend = _bend(mag, noise.get("magnetometer", _UNKNOWN_MAGNETOMETER))
    found = fit_ellipsoid(mag, block, bend)
    seen = coverage(_unit((mag[some] - found.centre) @ found.matrix)[found.weight[some] > 0.0])
    missing = missing_words(seen, up)
    refuse_units(found, field_ut)

    aligned: Alignment | str = "the log has no accelerometer"
    up_fit = None
    if recording.acc_s is not None:
        acc = recording.acc_s[used] if accelerometer is None else accelerometer.corrected(recording.acc_s[used])
        up_fit, aligned, said = _aligned(_Turned(t, mag, bend, block, count, found), acc, noise, accelerometer)
        notes += said
    step_s = float(t[-1] - t[0]) / count
    shape = JointFit(found, None, None, count, step_s, noise, 0.0)
    soft, hard, length, covariance = shape.outcome(field_ut, 1.0)
    direction = direction_sigma(soft, length, covariance)
    if not direction < _UNDETERMINED_RAD:
        raise InputError(_undetermined(found, seen, missing, direction))
    mirror = 1.0
    if isinstance(aligned, Alignment):
        if dip_rad is not None and aligned.dip_rad * dip_rad < 0.0:
            mirror = -1.0
            notes.append("the magnetometer's axes are left-handed against the accelerometer's; the matrix mirrors them")
        whole = JointFit(found, aligned, up_fit, count, step_s, noise, _offset_sigma(accelerometer))
        told = whole.outcome(field_ut, mirror)
        turned = direction_sigma(told[0], length, told[3])
        if turned < _UNDETERMINED_RAD:
            (soft, hard, length, covariance), direction = told, turned
        else:
            aligned = f"the accelerometer determines it to {np.degrees(turned):.0f} deg only; turn it more slowly"
    corrected = (mag - hard) @ soft.T
    radius_error = np.linalg.norm(corrected, axis=1) / length - 1.0
    rms = float(np.sqrt(np.mean(radius_error[found.weight > 0.0] ** 2)))
    gross = float(np.mean(found.weight == 0.0))
    if gross > 0.0:
        notes.append(f"{100.0 * gross:.2g} % of the readings are gross errors, {CUTOFF:g} sigmas off: excluded")
    verdict = _verdict((-seen.share, rms, direction, gross), notes)
    if not EARTH_UT[0] < length < EARTH_UT[1]:
        low, high = EARTH_UT
        notes.append(
            f"the field comes out as {length:.3g} uT, and the Earth's is {low:g} to {high:g} uT: check the scale"
        )
    undetermined = []
    if field_ut is None:
        undetermined.append("scale: the strength of the field is not given, the mean radius of the readings is kept")
    if isinstance(aligned, str):
        undetermined.append(f"rotation of the axes: {aligned}; the matrix is taken to be symmetric")
    data = {
        "samples": len(mag),
        "duration_s": float(t[-1] - t[0]),
        "coverage": seen.share,
        "field_ut": length,
        "field_given": field_ut is not None,
        "radius_error_rms": rms,
        "noise_ut": found.sigma,
        "direction_sigma_deg": float(np.degrees(direction)),
        "gross_errors": gross,
    }
    if recording.temperature is not None:
        data["temperature_c"] = float(recording.temperature.mean())
    if isinstance(aligned, Alignment):
        data |= {
            "dip_deg": mirror * float(np.degrees(aligned.dip_rad)),
            "accelerometer_delay_s": aligned.delay_s,
            "alignment_residual_deg": float(np.degrees(aligned.sigma)),
        }
    residual = float(np.sqrt(np.average(found.distance**2, weights=found.weight)))
    sigma = np.sqrt(np.diag(covariance))
    correction = Correction(
        "uT",
        Found("ellipsoid", data, None, residual, verdict, tuple(notes + missing), tuple(undetermined)),
        matrix=soft,
        bias=hard,
        sigma={"matrix": sigma[:9].reshape(3, 3), "bias": sigma[9:]},
    )
    return MagnetometerFit(
        *(Calibration({"magnetometer": correction}), used, mag, corrected, found.weight, radius_error, length),
        *(direction, covariance, seen, found, aligned if isinstance(aligned, Alignment) else None, up_fit),
    )


@dataclass(frozen=True, eq=False)
class _Turned:
    """The readings of a magnetometer that was turned, with their nonlinearity and blocks of time, and the ellipsoid on
    which they lie.
    """

    t: Array
    mag: Array
    bend: Array
    block: NDArray[np.int64]
    count: int
    found: Ellipsoid


def _aligned(
    turned: _Turned, acc: Array, noise: Mapping[str, Triad], known: Correction | None
) -> tuple[Ellipsoid | None, Alignment | str, list[str]]:
    """The accelerometer's own ellipsoid (None: unchanged readings), the alignment or why there is none, and notes.

    acc: its readings at the same times.
    known: its calibration, which is applied already.
    """
    t, found = turned.t, turned.found
    usual = float(np.median(np.linalg.norm(acc[:: max(1, len(acc) // _MOST_ALIGNED)], axis=1)))
    if not _GRAVITY[0] < usual < _GRAVITY[1]:
        return None, f"the accelerometer reads {usual:.4g} m/s2 where gravity is 9.8: raw counts or another unit", []
    still = np.flatnonzero(found.weight > 0.0)
    still = still[:: max(1, len(still) // _MOST_ALIGNED)]
    still = still[quasi_static(t, acc, still, 0.15)]
    rate, rate_noise = rates(t, acc, still), rate_sigma(t, acc, still)
    acc, mag, bend, block = acc[still], turned.mag[still], turned.bend[still], turned.block[still]
    acc_bend = _bend(acc, noise.get("accelerometer", _UNKNOWN_ACCELEROMETER))
    if known is not None and "cubic" in known.sigma:
        acc_bend = np.zeros_like(acc)  # its nonlinearity is found and taken off
    up_fit, said = None, []
    if known is None:
        try:
            up_fit = fit_ellipsoid(acc, block, acc_bend) if len(block) and block[-1] == turned.count - 1 else None
        except InputError:
            up_fit = None
        if up_fit is not None and not np.abs(np.linalg.eigvalsh(up_fit.matrix) * usual - 1.0).max() < 0.15:
            up_fit = None  # no accelerometer is off so far
        if up_fit is None:
            said.append(
                "the accelerometer is taken as it reads: an offset of 0.1 m/s2 turns the axes by 0.6 deg; calibrate it"
            )
    centre, c = (np.zeros(3), np.eye(3) / usual) if up_fit is None else (up_fit.centre, up_fit.matrix)
    z = acc - centre
    near = np.abs(np.linalg.norm(z @ c, axis=1) - 1.0) < 0.05
    shift = np.zeros((PARAMETERS, 3)) if up_fit is None else up_fit.shift_by_bend
    up = Side(z[near], c, acc_bend[near], shift)
    field = Side((mag - found.centre)[near], found.matrix, bend[near], found.shift_by_bend)
    return up_fit, align_axes(field, up, rate[near], rate_noise, block[near], turned.count, _delay(noise)), said


def _bend(readings: Array, triad: Triad) -> Array:
    """Contribution of a part's nonlinearity to its linear response: 4 a (y / range)^3. Its linear part 3 a acts as
    scale.
    """
    if triad.full_scale is None:
        return np.zeros_like(readings)
    top = max(triad.full_scale, float(np.abs(readings).max()))  # a part that reads so far has a range as wide
    part = readings / top
    return np.asarray(4.0 * np.array(triad.nonlinearity) * top * part * part * part)


def _delay(noise: Mapping[str, Triad]) -> tuple[float, float]:
    """Delay of the accelerometer behind the magnetometer, s, by the low-passes of the parts, where both are known."""
    if not {"accelerometer", "magnetometer"} <= set(noise):
        return DELAY
    lags = [
        0.0 if part.bandwidth_hz is None else np.sqrt(part.filter_order) / (2.0 * np.pi * part.bandwidth_hz)
        for part in (noise["accelerometer"], noise["magnetometer"])  # at low frequency, order 1 and 2 (Butterworth)
    ]
    return float(lags[0] - lags[1]), max(_LAG_KNOWN * max(lags), 1e-5)


def _offset_sigma(accelerometer: Correction | None) -> float:
    """Sigma (m/s2) of the offset of the accelerometer, if it is not found in the log."""
    if accelerometer is None or "bias" not in accelerometer.sigma:
        return _RAW_OFFSET
    known = accelerometer.sigma["bias"]
    return float(np.sqrt(np.mean(known**2))) if np.isfinite(known).all() else _RAW_OFFSET


def _undetermined(found: Ellipsoid, seen: Coverage, missing: list[str], direction: float) -> str:
    """Why the direction of the field is not determined: the sphere is not covered, or nonlinearity hides the iron."""
    begin = f"the log does not determine the ellipsoid (direction known to {np.degrees(direction):.2g} deg: "
    iron, radius = float(np.linalg.norm(found.centre)), float(np.linalg.det(found.matrix)) ** (-1.0 / 3.0)
    if not missing and seen.share >= -_USABLE[0] and iron > radius:
        return (
            f"{begin}a hard iron of {iron:.3g} uT against a field of {radius:.3g} uT, at which the part's nonlinearity "
            "counts); move the sensor away from magnets and steel and record again"
        )
    why = "; ".join(missing) or "it was turned too little"
    return f"{begin}{why}); turn it about all axes and record again"


def _verdict(measures: tuple[float, float, float, float], notes: list[str]) -> str:
    """Good, usable or poor, with the reasons among the notes.

    measures: negative coverage, radius error, direction error and share of gross errors.
    """
    share, rms, direction, gross = measures
    said = (
        f"{-100.0 * share:.0f} % of the sphere visited",
        f"radius error {100.0 * rms:.2g} % rms",
        f"direction known to {np.degrees(direction):.2g} deg",
        f"{100.0 * gross:.2g} % gross errors",
    )
    worst = "good"
    for value, good, usable, text in zip(measures, _GOOD, _USABLE, said, strict=True):
        if value > good:
            grade = "usable" if value <= usable else "poor"
            worst = "poor" if "poor" in (grade, worst) else "usable"
            notes.append(f"{grade}: {text}")
    return worst


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300))

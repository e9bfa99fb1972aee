"""The fit of a calibration by hand, its figures, and its union with the stored calibration of the module."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.apply import META, apply, joined
from strapdown.calibration.calibration import Calibration, Correction
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.static import calibrate_static
from strapdown.calibration.temperature.rest_blocks import blocks_of
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.recordings.facts import noise_of_part
from strapdown.recordings.rest import still_intervals
from strapdown.studio import messages as m
from strapdown.studio.calibration.result import rows_of
from strapdown.types import Recording

_TABLE_RAD = np.radians(1.0)  # how level a table is


@dataclass(frozen=True)
class MeasuredModule:
    """The module that is calibrated.

    name: name on the page.
    meta: meta data of the recording.
    kept: the calibration that this module has, None: none.
    """

    name: str
    serial: str
    rate_hz: float
    has_field: bool
    meta: Mapping[str, Any]
    kept: Calibration | None

    def with_found(self, found: Calibration) -> Calibration:
        """The stored calibration, with the newly calibrated instruments in place of the earlier ones."""
        earlier = {} if self.kept is None else dict(self.kept.corrections)
        part = self.meta.get("part")
        whole = Calibration({**earlier, **found.corrections})
        return whole.of_specimen(part if isinstance(part, str) else None, self.serial)


def fitted_by_hand(
    workflow: str, log: Recording, module: MeasuredModule
) -> tuple[Calibration, tuple[list[m.Measured], ...]]:
    """The corrections that this workflow finds, and its tables: result, before, after. Gravity is the standard one."""
    _, noise = noise_of_part(log)
    kept = {} if module.kept is None else dict(module.kept.corrections)
    if workflow == "static":
        found = _static(log, kept.get("gyroscope"), noise)
    elif workflow == "six_positions":
        found = calibrate_positions(log, STANDARD_GRAVITY, model="squared", noise=noise).calibration
    else:
        fit = calibrate_magnetometer(log, noise=noise, accelerometer=kept.get("accelerometer"))
        found = Calibration({"magnetometer": fit.calibration.corrections["magnetometer"]})
    before, after = _figures(workflow, log), _figures(workflow, apply(found, log))
    return found, (rows_of(found, {}), before, after)


def _static(log: Recording, gyroscope: Correction | None, noise: Any) -> Calibration:
    """The gyroscope's offset alone: on a table the accelerometer's offset cannot be distinguished from the slope. A
    stored scale is kept, and the offset is added to it.
    """
    first = None if gyroscope is None else Calibration({"gyroscope": gyroscope})
    if first is not None:
        done = apply(first, log)
        log = replace(done, meta={key: value for key, value in done.meta.items() if key != META})
    fit = calibrate_static(log, gravity=STANDARD_GRAVITY, attitude_sigma_rad=_TABLE_RAD, noise=noise).calibration
    found = Calibration({"gyroscope": fit.corrections["gyroscope"]})
    return found if first is None else joined(first, found)


def _figures(workflow: str, log: Recording) -> list[m.Measured]:
    """Errors that the readings themselves show, without a truth."""
    if workflow == "magnetometer":
        field = np.asarray(log.mag_s)[log.new.get("mag_s", slice(None))]
        size = np.linalg.norm(field, axis=1)
        return [m.Measured(name="strength of the field: spread", value=float(size.std()), unit="uT")]
    stills = still_intervals(log)
    if not stills:
        raise InputError("the module was never still; put it down and take your hand off")
    rate = _means(log, log.gyr_s, stills)
    rows = [m.Measured(name="gyroscope: rate at rest", value=_rms(np.linalg.norm(rate, axis=1)), unit="rad/s")]
    if workflow == "six_positions":
        force = np.linalg.norm(_means(log, log.acc_s, stills), axis=1) - STANDARD_GRAVITY
        rows.insert(0, m.Measured(name="accelerometer: force at rest less gravity", value=_rms(force), unit="m/s2"))
    return rows


def _means(log: Recording, values: Any, stills: Any) -> Array:
    """Means over each second of rest: a single mean over the whole rest would be 0 after the fit, whatever the quality
    of the readings.
    """
    blocks = blocks_of(log.t, [still.rows for still in stills])
    found: Array = blocks.means(values)
    return found


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))

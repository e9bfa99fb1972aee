"""The result of a guided calibration: the fit, its figures next to the truth, and errors before and after it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.calibration_file import calibration_from
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.static import calibrate_static
from strapdown.calibration.truth_check import against_truth
from strapdown.errors import InputError
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.triad import Triad
from strapdown.studio import messages as m
from strapdown.studio.calibration.turntable import Turntable
from strapdown.studio.messages import commands as c
from strapdown.types import Recording

_LEVEL_RAD = np.radians(0.02)  # how level the virtual table is known to be
_LOOK_S = 3.0  # in each attitude, for errors of means over 1 s


def fitted(workflow: str, table: Turntable) -> tuple[Calibration, tuple[list[m.Measured], ...]]:
    """The calibration, and its tables: result, before, after."""
    log = table.log()
    noise = _noise(table)
    if workflow == "static":
        found = calibrate_static(log, gravity=table.gravity, attitude_sigma_rad=_LEVEL_RAD, noise=noise).calibration
    elif workflow == "six_positions":
        found = calibrate_positions(
            log, table.gravity, model="squared", noise=noise, level_sigma_rad=_LEVEL_RAD
        ).calibration
    else:
        size = float(np.linalg.norm(table.field_n))
        dip = float(-np.arcsin(table.field_n[2] / size))
        found = calibrate_magnetometer(log, field_ut=size, dip_rad=dip, noise=noise).calibration
    return found, _tables(found, table, log)


def loaded(command: c.Calibrate) -> Calibration:
    """The calibration file that a page has sent."""
    if command.text is None:
        raise InputError("the text of the calibration file is missing; choose a file")
    return calibration_from(command.text.encode("utf-8"), Path(Path(command.name or "calibration.toml").name))


def shown_with(found: Calibration, table: Turntable, attitudes: list[Array]) -> tuple[list[m.Measured], ...]:
    """The tables of a calibration from a file: the sensor rests on the turntable in these attitudes."""
    for q in attitudes:
        table.turn_to(q)
        table.rest(_LOOK_S)
    return _tables(found, table, table.log())


def _tables(found: Calibration, table: Turntable, log: Recording) -> tuple[list[m.Measured], ...]:
    hard = {"magnetometer": table.iron[0]}
    true_bias = {name: np.add(triad.bias, hard.get(name, 0.0)) for name, triad in table.module.triads.items()}
    return rows_of(found, true_bias), *_compared(found, log)


def _noise(table: Turntable) -> dict[str, Triad] | None:
    part = table.module.about.get("part")
    if not isinstance(part, str):
        return None
    try:
        return load_part(part).nominal().triads()
    except InputError:
        return None


def rows_of(found: Calibration, true_bias: Mapping[str, Array]) -> list[m.Measured]:
    """Biases and the diagonal of the matrices with their standard deviations.

    true_bias: true bias of a virtual specimen.
    """
    rows = []
    for instrument, correction in found.corrections.items():
        truth = true_bias.get(instrument)
        for i, axis in enumerate("xyz"):
            sigma = correction.sigma.get("bias")
            rows.append(
                m.Measured(
                    name=f"{instrument}: bias {axis}",
                    value=float(correction.bias[i]),
                    unit=correction.unit,
                    sigma=_finite(sigma[i]) if sigma is not None else None,
                    truth=None if truth is None else float(truth[i]),
                    note=correction.found.verdict,
                )
            )
        sigma = correction.sigma.get("matrix")
        if sigma is not None:
            scale = np.linalg.inv(correction.matrix)
            rows += [
                m.Measured(
                    name=f"{instrument}: scale {axis}",
                    value=float(scale[i, i]),
                    unit="1",
                    sigma=_finite(sigma[i, i]),
                    note=correction.found.verdict,
                )
                for i, axis in enumerate("xyz")
            ]
    return rows


def _compared(found: Calibration, log: Recording) -> tuple[list[m.Measured], list[m.Measured]]:
    """RMS errors of the readings before and after, against the truth."""
    errors, _ = against_truth(found, log, apply(found, log))
    name = "{}: error of the reading, RMS of means over 1 s"
    before = [m.Measured(name=name.format(e.instrument), value=e.before, unit=e.unit) for e in errors]
    after = [m.Measured(name=name.format(e.instrument), value=e.after, unit=e.unit, sheet=e.allowed) for e in errors]
    return before, after


def _finite(x: Any) -> float | None:
    return float(x) if np.isfinite(x) else None

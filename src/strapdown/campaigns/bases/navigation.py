"""Navigation of a log and its figures: what rigs, paths and recordings share."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from strapdown.arrays import Array
from strapdown.environment.table import Flag, Name, NotNegative, Number, Positive, Table, Vector
from strapdown.errors import InputError
from strapdown.evaluation.evaluate import Evaluation, evaluate_path
from strapdown.evaluation.matching import Reference
from strapdown.evaluation.stops import stops_of_motion
from strapdown.evaluation.trajectory import ErrorFigures
from strapdown.navigation.carriers.by_name import carrier_named
from strapdown.navigation.carriers.wheeled_robot import GIVEN_LEVER_M, UNKNOWN_LEVER_M, WheeledRobot
from strapdown.navigation.program import Navigated, navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.recordings.facts import facts_of
from strapdown.rotation import euler_from_q
from strapdown.sensors.streams import stream
from strapdown.types import Motion, Recording

KERNELS = ("navigation", "calibration", "orientation.mekf.filter")


class NavigateTable(Table):
    """How a log is navigated. heading: "truth" is the true one at the start, wrong by a random error of
    heading_sigma_deg; a number is in deg clockwise from north. mounting_error_deg: roll, pitch, yaw by which the sensor
    sits otherwise than stated. odometer, magnetometer: whether they are used where the log has them."""

    filter: Literal["eskf", "ekf15"] = "eskf"
    vehicle: Literal["robot", "foot", "hand", "free"] = "robot"
    heading: Literal["truth", "magnetometer"] | Number = "truth"
    heading_sigma_deg: Annotated[float, Field(strict=True, ge=0.0, le=180.0)] = 0.0
    mounting_error_deg: Vector = (0.0, 0.0, 0.0)
    sensor: Name | None = None
    odometer: Flag = True
    magnetometer: Flag = True
    odometer_scale: Positive = 1.0
    odometer_sigma: NotNegative = 0.002
    flat_floor: Flag | None = None
    smooth: Flag = False
    lever_m: Vector | None = None  # of a recording: place of the sensor from the body's origin


@dataclass(frozen=True, eq=False)
class Run:
    """A log that was navigated: what the replay of a run shows. log: as the filter had it. truth: of the body."""

    log: Recording
    navigated: Navigated
    evaluation: Evaluation
    truth: Reference


def run_of(
    log: Recording,
    table: NavigateTable,
    seed: int,
    *,
    q_bs: Array | None = None,
    calibration: Any = None,
    r_bs_b: Vector | None = None,
    reference: Reference | None = None,
) -> Run:
    """log: calibrated already, by `calibration`. q_bs: the stated mounting, None: as the log states. reference: None:
    the truth of the log."""
    changed: dict[str, Any] = {}
    if not table.odometer:
        changed["odometer"] = None
    if not table.magnetometer:
        changed["mag_s"] = None
    new = {name: flags for name, flags in log.new.items() if name not in changed}
    log = replace(log, **changed, new=new) if changed else log
    lever = table.lever_m if r_bs_b is None else r_bs_b
    facts = facts_of(log, q_bs=q_bs, r_bs_b=lever, calibration=calibration)
    truth = reference if reference is not None else log.truth
    if truth is None:
        raise InputError("the recording has no truth to compare with; give reference = FILE in the campaign")
    robot = WheeledRobot(
        _heading(table, truth, seed),
        lever_sigma_m=UNKNOWN_LEVER_M if lever is None else GIVEN_LEVER_M,
        odometer_scale=table.odometer_scale,
        odometer_sigma=table.odometer_sigma,
        flat_floor=table.flat_floor is not False,
    )
    carrier = carrier_named(table.vehicle, robot, table.flat_floor, table.filter)
    found = navigate(log, carrier, facts, smoothed=table.smooth)
    stops = None
    if isinstance(truth, Motion) and log.stop is not None and log.stop.any() and len(truth) == len(log):
        stops = stops_of_motion(truth, log.stop)
    return Run(log, found, evaluate_path(found.solution, truth, stops), truth)


def _heading(table: NavigateTable, truth: Reference, seed: int) -> Heading:
    if table.heading == "magnetometer":
        return Heading()
    if table.heading != "truth":
        return Heading.clockwise(float(table.heading), table.heading_sigma_deg)
    q_nb = getattr(truth, "q_nb", None)
    if q_nb is None:
        raise InputError('the reference has no attitude; give navigate.heading in deg, or "magnetometer"')
    yaw = float(euler_from_q(np.asarray(q_nb)[0])[2])
    sigma = float(np.radians(table.heading_sigma_deg))
    return Heading(yaw + sigma * float(stream(seed, "campaign", "heading").standard_normal()), sigma)


def figures_of(run: Run) -> dict[str, Any]:
    """All figures of `evaluate` by name, as position.rms; and whether the filter diverged."""
    found: dict[str, Any] = {}
    for each in fields(Evaluation):
        value = getattr(run.evaluation, each.name)
        if each.name in _FOUR:
            for part in _PARTS:
                found[f"{each.name}.{part}"] = None if value is None else float(getattr(value, part))
        elif each.name != "stops":
            found[each.name] = None if value is None else float(value)
    stops = run.evaluation.stops
    for name in ("final", "worst"):
        found[f"stops.{name}_percent"] = None if stops is None else getattr(stops, name).percent
    finite = all(value is None or np.isfinite(value) for value in found.values())
    found["diverged"] = bool(run.navigated.warnings) or not finite
    return found


def _four_figures() -> tuple[str, ...]:
    return tuple(each.name for each in fields(Evaluation) if "ErrorFigures" in str(each.type))


_FOUR = _four_figures()
_PARTS = tuple(each.name for each in fields(ErrorFigures))
_ALONE = tuple(each.name for each in fields(Evaluation) if each.name not in (*_FOUR, "stops"))
FIGURES = (
    *_ALONE,
    *(f"{name}.{part}" for name in _FOUR for part in _PARTS),
    *("stops.final_percent", "stops.worst_percent", "diverged"),
)
USUAL = (
    *("final_percent", "horizontal.final", "horizontal.max", "position.rms", "heading_deg.rms", "nees_position"),
    *("stops.final_percent", "stops.worst_percent", "diverged"),
)


def split_tables(values: Mapping[str, Any], names: Mapping[str, type[Table]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables of a run besides those of its rig, checked; and the rest."""
    from pydantic import ValidationError

    from strapdown.environment.complaint import first_complaint

    rest, tables = dict(values), {}
    for name, model in names.items():
        given = rest.pop(name, {})
        if not isinstance(given, Mapping):
            raise InputError(f'"{name}" is {str(given)[:60]}; give a key of it, such as {name}.{_first(model)}')
        try:
            tables[name] = model(**given)
        except ValidationError as error:
            raise InputError(f"[{name}]: {first_complaint(error, model, name)}") from None
    return tables, rest


def _first(model: type[Table]) -> str:
    return next(iter(model.model_fields))

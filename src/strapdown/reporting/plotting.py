"""plot: the figure that fits a recording, a solution, a fit or a part. The commands draw the same figures."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from strapdown.calibration.magnetometer.fit import MagnetometerFit
from strapdown.calibration.noise.static_log import LogNoise
from strapdown.calibration.poses.positions import PositionsFit
from strapdown.calibration.static import StaticFit
from strapdown.calibration.temperature.bias_curve import TemperatureFit
from strapdown.errors import InputError
from strapdown.evaluation.evaluate import solution_and_truth
from strapdown.evaluation.matching import Reference
from strapdown.motion.recorded import RecordedMotion
from strapdown.navigation.program import Navigated
from strapdown.reporting.allan_figures import allan_comparison, allan_figure
from strapdown.reporting.comparison_figures import difference_figure, path_3d_figure
from strapdown.reporting.figures import signals
from strapdown.reporting.magnetometer_figures import magnetometer_figure
from strapdown.reporting.navigation_figures import (
    attitude_figure,
    bias_figure,
    error_figure,
    innovation_figure,
    stops_figure,
    trajectory_figure,
)
from strapdown.reporting.orientation_figures import orientation_figure
from strapdown.reporting.part_figures import comparison
from strapdown.reporting.positions_figures import positions_figure
from strapdown.reporting.temperature_figures import static_figure, temperature_figure
from strapdown.sensors.parts.part import Part, Specimen
from strapdown.types import Motion, Recording, Solution

_FITS: dict[type, Callable[[Any, str], Figure]] = {
    LogNoise: allan_figure,
    MagnetometerFit: magnetometer_figure,
    PositionsFit: positions_figure,
    TemperatureFit: temperature_figure,
    StaticFit: static_figure,
}
_PATH_POINTS = 2000  # of a path that is drawn: more than a picture has pixels
KINDS = ("path", "3d", "error", "difference", "attitude", "bias", "innovations", "stops")


def plot(what: Any, kind: str | None = None, *, truth: Reference | None = None, title: str = "") -> Figure:
    """A matplotlib figure of one object, or of several of one type in a mapping {"name": object}.

    what: a Recording (its signals; with its truth also the errors); a Solution or the result of navigate; a LogNoise
        (Allan deviation; several: their curves in one plot); a fit of calibrate_magnetometer, calibrate_positions,
        calibrate_temperature or calibrate_static; parts or specimens to compare; a Motion, recorded poses, or a path
        (sd.motion); a Session or what it recorded.
    kind: for solutions "path", "3d", "error" (with truth), "difference" (how they disagree, without truth), "attitude",
        "bias", "innovations" or "stops". None: the path, or the attitude where there is no position. For recordings
        "signals" omits truth and errors. For sessions "attitude", "path" or "actuators".
    truth: true motion for solutions.

    Show it in a notebook, or save it by figure.savefig("name.png").
    """
    if type(what) in _FITS:
        return _FITS[type(what)](what, title)
    if callable(getattr(what, "figure", None)):  # draws itself: a session, or a thing of a user's own
        drawn: Figure = what.figure(kind)
        return drawn
    things = {
        name: _as_solution(t) for name, t in (what if isinstance(what, Mapping) else {_name_of(what): what}).items()
    }
    if not things:
        raise InputError("plot was given an empty mapping; give at least one thing to draw")
    if all(isinstance(thing, Recording) for thing in things.values()):
        if kind not in (None, "signals", "error"):
            raise InputError(f'recordings have no plot of kind "{kind}"; valid: signals, error')
        return signals(things, title, errors=kind != "signals")
    if all(isinstance(thing, LogNoise) for thing in things.values()):
        return allan_comparison(things, title)
    if all(isinstance(thing, Part | Specimen) for thing in things.values()):
        return comparison({name: t.nominal() if isinstance(t, Part) else t for name, t in things.items()})
    if all(isinstance(thing, Solution | Navigated) for thing in things.values()):
        return _of_solutions(things, kind, truth, title)
    names = ", ".join(sorted({type(thing).__name__ for thing in things.values()}))
    raise InputError(
        f"plot was given {names}; give recordings, solutions, motions, a calibration's fit, or parts of one type"
    )


def _as_solution(thing: Any) -> Any:
    """A motion as the solution that it would be; everything else as it is."""
    if isinstance(thing, RecordedMotion):
        thing = thing.at_samples()
    elif callable(getattr(thing, "at", None)) and hasattr(thing, "duration_s"):  # a path of sd.motion, or a user's own
        thing = thing.at(np.linspace(0.0, thing.duration_s, _PATH_POINTS))
    if isinstance(thing, Motion):
        return Solution(thing.t, thing.q_nb, thing.p_n, thing.v_n, meta={"filter": "motion"})
    return thing


def _name_of(thing: Any) -> str:
    if isinstance(thing, Navigated):
        thing = thing.solution
    meta = getattr(thing, "meta", None)
    for key in ("filter", "sensor", "part"):
        if isinstance(meta, Mapping) and isinstance(meta.get(key), str):
            return str(meta[key])
    return str(getattr(thing, "name", getattr(thing, "part", type(thing).__name__.lower())))


def _of_solutions(things: Mapping[str, Any], kind: str | None, truth: Reference | None, title: str) -> Figure:
    pairs = {name: solution_and_truth(thing, truth) for name, thing in things.items()}
    solutions = {name: solution for name, (solution, _) in pairs.items()}
    truth = next((known for _, known in pairs.values() if known is not None), truth)
    placed = all(solution.p_n is not None for solution in solutions.values())
    kind = ("path" if placed else "attitude") if kind is None else kind
    if kind not in KINDS:
        raise InputError(f'plot has no kind "{kind}"; valid: {", ".join(KINDS)}')
    if kind in ("path", "3d", "error") and not placed:
        raise InputError(f'kind "{kind}" needs positions, and a solution has attitude alone; use "attitude"')
    if kind == "path":
        return trajectory_figure(solutions, truth, title=title)
    if kind == "3d":
        return path_3d_figure(solutions, truth, title)
    if kind == "difference":
        return difference_figure(solutions, title)
    if kind == "stops":
        return _stops(things)
    if kind == "error":
        if truth is None:
            raise InputError('kind "error" needs the truth; give truth=...')
        return error_figure(solutions, truth)
    if kind == "attitude":
        return attitude_figure(solutions, truth) if placed else _orientation(solutions, truth, title)
    if kind == "bias":
        figure = bias_figure(solutions)
        if figure is None:
            raise InputError("no solution has estimated biases; use a filter that estimates them")
        return figure
    innovations = {
        n: i for thing in things.values() if isinstance(thing, Navigated) for n, i in thing.innovations.items()
    }
    if not innovations:
        raise InputError('kind "innovations" needs the result of navigate with the error-state filter')
    return innovation_figure(innovations)


def _orientation(solutions: Mapping[str, Solution], truth: Reference | None, title: str) -> Figure:
    if truth is None:
        return orientation_figure(solutions, None, None, title)
    if not isinstance(truth, Motion | Solution) or not all(
        np.array_equal(truth.t, solution.t) for solution in solutions.values()
    ):
        raise InputError("the truth of an attitude needs the times of the solution; give log.truth")
    return orientation_figure(solutions, truth.t, truth.q_nb, title)


def _stops(things: Mapping[str, Any]) -> Figure:
    found = next((thing for thing in things.values() if isinstance(thing, Navigated)), None)
    if found is None:
        raise InputError('kind "stops" needs the result of navigate; a solution alone has no stop detector')
    return stops_figure(found)

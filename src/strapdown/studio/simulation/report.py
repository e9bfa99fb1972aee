"""The summary of a run for the page: figures, parameters against the data sheet, path."""

from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.session.recording.outcome import DEG, Errors, errors_of, figures, verdict
from strapdown.environment.session.recording.record import SessionRecording
from strapdown.environment.session.scenario.file import ExpectTable, Scenario
from strapdown.errors import InputError
from strapdown.sensors.module import Module
from strapdown.sensors.module_reader import FIELDS
from strapdown.sensors.parts.part import load_part
from strapdown.studio import messages as m
from strapdown.studio.simulation.other_filters import other_filters
from strapdown.studio.stage.session_state import event_message

_POINTS = 500  # of a path
_STILL_M_S = 1e-3  # slower than this the vehicle rests
_SETTLE_S = 0.5  # after the begin of a rest
_TERMS = ("bias", "white", "instability", "walk")


def report_of(
    run: SessionRecording, scenario: Scenario, modules: dict[str, Module], take: int | None = None
) -> m.Report:
    found, errors = figures(run), errors_of(run)
    position = run.estimated("position")
    query = "" if take is None else f"?take={take}"
    rest = rest_of(run)
    return m.Report(
        title=str(run.meta["title"] or run.meta["vehicle"]),
        duration_s=float(run.meta["duration_s"]),
        verdict=_verdict(found, scenario.expect),
        path_m=found["path_m"],
        fastest_m_s=float(np.linalg.norm(run.truth.v_n, axis=1).max()),
        counted_from_s=found["counted_from_s"],
        samples=len(errors.t),
        errors=_error_rows(run, errors),
        rest_s=None if rest is None else list(rest),
        parameters=[row for name, module in modules.items() for row in parameters(run, name, module, rest)],
        others=other_filters(run, errors, rest_of(run, found["counted_from_s"]), scenario.scene.g()),
        path_truth=_path(run.truth.p_n),
        path_estimate=None if position is None else _path(position),
        events=[event_message(i, event) for i, event in enumerate(run.events)][-200:],
        html=f"/download/report{query}",
        recording=f"/download/recording{query}",
    )


def _error_rows(run: SessionRecording, errors: Errors) -> list[m.ErrorRow]:
    if not len(errors.t):
        return []
    rows = []
    at = np.searchsorted(run.t, errors.t)
    for i, name in enumerate(("Roll", "Pitch", "Heading")):
        if errors.angles is None:
            break
        sigma = run.estimated("heading_sigma" if name == "Heading" else "tilt_sigma")
        rows.append(_error_row(name, "deg", errors.angles[:, i] * DEG, None if sigma is None else sigma[at] * DEG))
    for name, unit, error in (
        ("Position", "m", errors.position_n),
        ("Height", "m", errors.height_m),
        ("Velocity", "m/s", errors.velocity_n),
    ):
        if error is not None:
            rows.append(_error_row(name, unit, error if error.ndim == 1 else np.linalg.norm(error, axis=1), None))
    return rows


def _error_row(name: str, unit: str, error: Array, sigma: Array | None) -> m.ErrorRow:
    inside = None
    if sigma is not None and (known := np.isfinite(sigma)).any():
        inside = float(np.mean(np.abs(error[known]) <= 3.0 * sigma[known]))
    return m.ErrorRow(
        name=name,
        unit=unit,
        rms=float(np.sqrt(np.mean(error**2))),
        mean=float(np.mean(error)),
        largest=float(np.abs(error).max()),
        inside=inside,
    )


def rest_of(run: SessionRecording, before_s: float | None = None) -> tuple[float, float] | None:
    """The longest rest (begin, end) with the power on and not armed (rotors shake the sensors), since the errors of a
    sensor were last changed. None: shorter than 1 s.

    before_s: the rest ends before this time, and later changes of a sensor do not matter.
    """
    still = np.linalg.norm(run.truth.v_n, axis=1) < _STILL_M_S
    for name, switch in run.signals.items():
        if name.endswith("console.power"):
            still &= switch > 0.5
        if name.endswith("console.arm"):
            still &= switch < 0.5
    end_s = np.inf if before_s is None else before_s
    changed = [event.t_s for event in run.events if event.kind in ("sensor", "fault", "fault_ends")]
    still &= (run.t > max((t for t in changed if t <= end_s), default=-1.0)) & (run.t <= end_s)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], still.astype(int), [0]))))
    stretches = [
        (float(run.t[a]) + _SETTLE_S, float(run.t[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]
    longest = max(stretches, key=lambda stretch: stretch[1] - stretch[0], default=(0.0, 0.0))
    return longest if longest[1] - longest[0] >= 1.0 else None


def white_noise(t: Array, readings: Array, window_s: float = 0.1) -> tuple[float, float] | None:
    """Density of white noise of readings (n, 3) at rest, root mean square of the axes, and its standard deviation. The
    density is the Allan deviation of means over window_s. Slower noise terms of usual sensors are far below the white
    noise at this averaging time.
    """
    known = np.isfinite(readings).all(axis=1)
    t, readings = t[known], readings[known]
    window = np.floor((t - t[0]) / window_s).astype(int) if len(t) else np.zeros(0, int)
    count = np.bincount(window)
    if len(count) < 11 or count[1:-1].min() < 1:
        return None
    means = np.stack([np.bincount(window, readings[:, k]) / count for k in range(3)], axis=1)[1:-1]
    differences = np.diff(means, axis=0)
    if not differences.any(axis=0).all():
        return None  # below the resolution
    density = float(np.sqrt(0.5 * np.mean(differences**2) * window_s))
    freedom = 3.0 * len(differences) / 1.5  # neighbouring differences of white noise are correlated by -1/2
    return density, density / np.sqrt(2.0 * freedom)


def _verdict(found: dict[str, Any], expect: ExpectTable | None) -> str:
    if found["stopped"]:
        return "stopped"
    if found["lost"]:
        return "lost"
    return "no limits stated" if expect is None else verdict(found, expect)


def _path(p: Any) -> list[list[float]]:
    good = p[np.isfinite(p).all(axis=1)]
    thin = good[:: max(1, len(good) // _POINTS)]
    return [[round(float(x), 3) for x in row] for row in thin]


def parameters(run: SessionRecording, name: str, module: Module, rest: tuple[float, float] | None) -> list[m.Measured]:
    """True value of the specimen (truth), typical value of the data sheet, and value found in the readings at rest
    (value). Root mean square of the axes.
    """
    part = module.about.get("part")
    nominal: dict[str, Any] = {}
    estimated: frozenset[str] = frozenset()
    if isinstance(part, str):
        try:
            specimen = load_part(part).nominal()
            nominal, estimated = specimen.triads(), specimen.estimated
        except InputError:
            nominal = {}
    rows = []
    for instrument, triad in module.triads.items():
        units = {
            "bias": triad.unit,
            "white": f"{triad.unit}/√Hz",
            "instability": triad.unit,
            "walk": f"{triad.unit}/√s",
        }
        for term in _TERMS:
            values = np.array(getattr(triad, term))
            if not values.any():
                continue
            sheet = nominal.get(instrument)
            found = _noise_at_rest(run, name, instrument, rest) if term == "white" else None
            rows.append(
                m.Measured(
                    name=f"{name}, {instrument}: {term}",
                    value=None if found is None else found[0],
                    sigma=None if found is None else found[1],
                    truth=_rms(values),
                    unit=units[term],
                    sheet=None if sheet is None or term == "bias" else _rms(getattr(sheet, term)),
                    sheet_estimated=f"{instrument}.{term}" in estimated,
                )
            )
    return rows


def _noise_at_rest(
    run: SessionRecording, name: str, instrument: str, rest: tuple[float, float] | None
) -> tuple[float, float] | None:
    log = run.recordings.get(name)
    readings = None if log is None else getattr(log, FIELDS[instrument])
    if log is None or readings is None or rest is None:
        return None
    rows = (log.t >= rest[0]) & (log.t <= rest[1])
    new = log.new.get(FIELDS[instrument])
    if new is not None:
        rows &= new
    return white_noise(log.t[rows], readings[rows])


def _rms(values: Any) -> float:
    return float(np.sqrt(np.mean(np.square(np.asarray(values, dtype=float)))))

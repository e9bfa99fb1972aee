"""The summary of a run for the page: figures, parameters against the data sheet, path."""

from typing import Any

import numpy as np

from strapdown.environment.session.outcome import figures, verdict
from strapdown.environment.session.record import SessionRecording
from strapdown.environment.session.report import TABLE
from strapdown.environment.session.scenario import ExpectTable, Scenario
from strapdown.errors import InputError
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.studio import messages as m
from strapdown.studio.session_state import event_message

_POINTS = 500  # of a path
_TERMS = ("bias", "white", "instability", "walk")


def report_of(
    run: SessionRecording, scenario: Scenario, modules: dict[str, Module], take: int | None = None
) -> m.Report:
    found = figures(run)
    rows = [
        m.Measured(name=what, value=found[key], unit=unit)
        for key, (what, unit) in TABLE.items()
        if found.get(key) is not None
    ]
    position = run.estimated("position")
    query = "" if take is None else f"?take={take}"
    return m.Report(
        title=str(run.meta["title"] or run.meta["vehicle"]),
        duration_s=float(run.meta["duration_s"]),
        verdict=_verdict(found, scenario.expect),
        figures=rows,
        parameters=[row for name, module in modules.items() for row in parameters(name, module)],
        path_truth=_path(run.truth.p_n),
        path_estimate=None if position is None else _path(position),
        events=[event_message(i, event) for i, event in enumerate(run.events)][-200:],
        html=f"/download/report{query}",
        recording=f"/download/recording{query}",
    )


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


def parameters(name: str, module: Module) -> list[m.Measured]:
    """What the specimen has, and the value of the data sheet: the limit of a bias, the typical noise."""
    part = module.about.get("part")
    nominal: dict[str, Any] = {}
    if isinstance(part, str):
        try:
            nominal = load_part(part).nominal().triads()
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
            printed = None if sheet is None or term == "bias" else float(np.max(getattr(sheet, term)))
            rows.append(
                m.Measured(
                    name=f"{name}, {instrument}: {term}",
                    value=float(np.max(np.abs(values))),
                    unit=units[term],
                    sheet=printed,
                    note="largest of the three axes",
                )
            )
    return rows

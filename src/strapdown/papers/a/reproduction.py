"""Paper A reproduced: runs its experiments at 50, 10 and 1 ms with every method and states the claims.

`exact` must meet the tolerances of the product. The paper's methods are shown next to it with the errors that theory
gives them (design facts: first order in the step, errata 2 and 3).
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.errors import InputError, RangeWarning
from strapdown.evaluation.readings import error_against_truth
from strapdown.papers.a.claims import CLAIMS, run_up_claims
from strapdown.papers.a.experiments import EXPERIMENTS, KINEMATIC, METHODS, STEPS_MS, Experiment, Phase, pendulum_rig
from strapdown.papers.a.ramp import CASES, fit_ramp
from strapdown.papers.a.results import ErrorRow, Reproduction, RunUpRow
from strapdown.papers.a.runup import run_case
from strapdown.types import Recording

Array = NDArray[np.float64]

NAMES = ("a-a", "a-b", "a-c", "a-d", "a-e")


def reproduce(names: Sequence[str] = NAMES, progress: Callable[[float], None] | None = None) -> Reproduction:
    """Run the named experiments (see NAMES)."""
    for name in names:
        if name not in NAMES:
            raise InputError(f'experiment "{name}" is not known; valid names: {", ".join(NAMES)}')
    out = Reproduction()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)  # methods are meant to leave their range here
        for i, name in enumerate(names):
            if name == "a-d":
                _run_ups(out)
            else:
                _experiment(out, EXPERIMENTS[f"A-{name[-1]}"])
            if progress is not None:
                progress((i + 1) / len(names))
    return out


def _experiment(out: Reproduction, experiment: Experiment) -> None:
    reference = _pendulum_reference() if experiment.truth is None else None
    for step_ms in STEPS_MS:
        runs: dict[str, Recording] = {}
        for methods in (KINEMATIC, ("proof-mass",), ("proof-mass-soft",)):
            runs.update(simulate(experiment.with_methods(step_ms / 1000.0, methods)).recordings)
        out.recordings[f"{experiment.id}_{step_ms}ms"] = runs
        for name, recording in runs.items():
            place, method = name.split(" ")
            acc, gyr = _errors(experiment, reference, place, method, recording)
            if method == "exact" and experiment.id != "A-b":
                phase = Phase("all samples", -1.0, np.inf)
                out.errors.append(_row(experiment, place, phase, step_ms, method, recording.t, acc, gyr))
            for phase in experiment.phases:
                out.errors.append(_row(experiment, place, phase, step_ms, method, recording.t, acc, gyr))
    out.claims += CLAIMS[experiment.id](out)


def _errors(
    experiment: Experiment, reference: Recording | None, place: str, method: str, recording: Recording
) -> tuple[Array, Array]:
    """Length of the error vectors against analytic truth; A-e against a run at 0.1 ms.

    A proof mass makes its robot a gram heavier, which changes the motion. So it is compared with the motion of its own
    run.
    """
    acc_s, gyr_s, _ = recording.inertial()
    if method not in KINEMATIC:
        return error_against_truth(recording)
    if experiment.truth is not None:
        acc, gyr = experiment.truth(place, recording.t)
    else:
        assert reference is not None
        at = np.round(recording.t * reference.meta["rate_hz"]).astype(int)
        acc, gyr = (signal[at] for signal in reference.inertial()[:2])
    return np.linalg.norm(acc_s - acc, axis=1), np.linalg.norm(gyr_s - gyr, axis=1)


def _row(
    experiment: Experiment, place: str, phase: Phase, step_ms: int, method: str, t: Array, acc: Array, gyr: Array
) -> ErrorRow:
    inside = (t > phase.begin_s) & (t < phase.end_s)
    return ErrorRow(
        experiment.id, place, phase.name, step_ms, method, float(acc[inside].max()), float(gyr[inside].max())
    )


def _pendulum_reference() -> Recording:
    """A-e with the physics at 0.1 ms, read at 1 ms."""
    values = pendulum_rig(1e-3, 1e-4)
    mounting = EXPERIMENTS["A-e"].sensors["D1"]
    values["sensor"] = [{"name": "D1", "rate_hz": 1000.0, **mounting, **METHODS["exact"]}]
    return simulate(rig_from(values, Path("experiment A-e, reference"))).recordings["D1"]


def _run_ups(out: Reproduction) -> None:
    for step_ms in STEPS_MS:
        for case in CASES:
            runs = run_case(case, step_ms / 1000.0)
            out.recordings[f"A-d{case.number}_{step_ms}ms"] = runs
            for method, recording in runs.items():
                _, gyr_s, _ = recording.inertial()
                fit = fit_ramp(recording.t, gyr_s[:, 2], float(np.radians(case.speed_deg_s)))
                assert fit is not None  # every case runs up within its second
                out.run_ups.append(
                    RunUpRow(
                        case.number,
                        step_ms,
                        method,
                        case.analytic_s,
                        fit.line_s - case.analytic_s,
                        fit.first_sample_s - case.analytic_s,
                        fit,
                    )
                )
    out.claims += run_up_claims(out)

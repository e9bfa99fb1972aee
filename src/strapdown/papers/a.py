"""Paper A reproduced: runs its experiments at 50, 10 and 1 ms with every method and states the claims.

`exact` is held to the tolerances of the product; the paper's methods are shown beside it with the errors that theory
gives them (design facts: first order in the step, errata 2 and 3).
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.errors import InputError, RangeWarning
from strapdown.evaluation.readings import error_against_truth
from strapdown.papers.a_experiments import EXPERIMENTS, KINEMATIC, METHODS, STEPS_MS, Experiment, Phase, pendulum_rig
from strapdown.papers.a_runup import CASES, RunUp, run_case, run_up
from strapdown.papers.claim import Claim
from strapdown.types import Recording

Array = NDArray[np.float64]

NAMES = ("a-a", "a-b", "a-c", "a-d", "a-e")
_SOURCE = "paper A, DOI 10.34031/2071-7318-2024-10-3-125-135"
_OURS = "ours"


@dataclass(frozen=True)
class ErrorRow:
    """Largest error of one method in one phase."""

    experiment: str
    sensor: str
    phase: str
    step_ms: int
    method: str
    acc: float  # m/s2
    gyr: float  # rad/s


@dataclass(frozen=True)
class RunUpRow:
    """One case of A-d at one step by one gyroscope method; times in s."""

    case: int
    step_ms: int
    method: str
    analytic_s: float
    line_error_s: float
    first_sample_error_s: float
    fit: RunUp


@dataclass
class Reproduction:
    claims: list[Claim] = field(default_factory=list)
    errors: list[ErrorRow] = field(default_factory=list)
    run_ups: list[RunUpRow] = field(default_factory=list)
    recordings: dict[str, dict[str, Recording]] = field(default_factory=dict)  # "A-b_50ms" -> sensor -> recording


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
    out.claims += _CLAIMS[experiment.id](out)


def _errors(
    experiment: Experiment, reference: Recording | None, place: str, method: str, recording: Recording
) -> tuple[Array, Array]:
    """Length of the error vectors against analytic truth; A-e against a run at 0.1 ms.

    A proof mass makes its robot a gram heavier, which changes the motion: it is held against its own run's motion.
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
                fit = run_up(recording.t, gyr_s[:, 2], float(np.radians(case.speed_deg_s)))
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
    out.claims += _run_up_claims(out)


def _largest(
    out: Reproduction, experiment: str, method: str, step_ms: int, phase: str, instrument: str = "acc"
) -> float:
    return max(
        getattr(row, instrument)
        for row in out.errors
        if (row.experiment, row.method, row.step_ms) == (experiment, method, step_ms) and row.phase == phase
    )


def _arm_claims(out: Reproduction) -> list[Claim]:
    claims = []
    for step in STEPS_MS:
        for instrument, unit, published in (("acc", "m/s2", 1e-4), ("gyr", "rad/s", 5e-4)):
            claims.append(
                Claim(
                    f"A-a/exact/{step}ms/{instrument}",
                    f"manipulator at {step} ms, D1 and D2, all samples: largest error, {unit}",
                    published if step == 50 else None,
                    _largest(out, "A-a", "exact", step, "all samples", instrument),
                    1e-9,
                    f"{_SOURCE}, experiment a" if step == 50 else _OURS,
                )
            )
    return claims


def _cube_claims(out: Reproduction) -> list[Claim]:
    claims = [
        Claim(
            f"A-b/exact/{step}ms/{phase}",
            f"cube at {step} ms, {phase}: largest accelerometer error, m/s2",
            1e-5 if step == 50 else None,
            _largest(out, "A-b", "exact", step, phase),
            1e-9,
            f"{_SOURCE}, experiment b" if step == 50 else _OURS,
        )
        for step in STEPS_MS
        for phase in ("lift", "fall")
    ]
    rest = _largest(out, "A-b", "exact", 1, "rest")
    claims.append(Claim("A-b/exact/1ms/rest", "cube at 1 ms, settled on the floor, m/s2", None, rest, 1e-6, _OURS))
    return claims


def _bar_claims(out: Reproduction) -> list[Claim]:
    claims = [
        Claim(
            f"A-c/exact/{step}ms/{instrument}",
            f"constant rotation at {step} ms, all samples: largest error, {unit}",
            1e-4 if step == 50 else None,
            _largest(out, "A-c", "exact", step, "all samples", instrument),
            1e-9,
            f"{_SOURCE}, experiment c" if step == 50 else _OURS,
        )
        for step in STEPS_MS
        for instrument, unit in (("acc", "m/s2"), ("gyr", "rad/s"))
    ]
    for step in STEPS_MS:
        theory = np.pi**3 / 64.0 * 0.75 * step / 1000.0 / 2.0  # w T/2 times r w^2
        error = _largest(out, "A-c", "paper", step, "steady")
        claims.append(
            Claim(
                f"A-c/paper/{step}ms/acc",
                f"velocity difference at {step} ms is off by {error:.3g} m/s2; relative distance to theory w T/2 r w^2",
                None,
                abs(error / theory - 1.0),
                0.01,
                "theory, errata 3; leading term",
            )
        )
    return claims


def _pendulum_claims(out: Reproduction) -> list[Claim]:
    what = "double pendulum, physics at 1 ms, against physics at 0.1 ms, all samples"
    claims = [
        Claim(
            f"A-e/exact/1ms/{instrument}",
            f"{what}: largest error, {unit}",
            None,
            _largest(out, "A-e", "exact", 1, "all samples", instrument),
            1e-6,
            _OURS,
        )
        for instrument, unit in (("acc", "m/s2"), ("gyr", "rad/s"))
    ]
    for instrument, unit, least in (("acc", "m/s2", 1.0), ("gyr", "rad/s", 0.1)):
        claims.append(
            Claim(
                f"A-e/paper/50ms/{instrument}",
                f"double pendulum at 50 ms: the paper's method is off by at least, {unit}",
                None,
                _largest(out, "A-e", "paper", 50, "swing", instrument),
                least,
                _OURS,
                ">=",
            )
        )
    for method, order in (("paper", 1), ("second-order", 2)):
        slope = np.log10(_largest(out, "A-e", method, 10, "swing") / _largest(out, "A-e", method, 1, "swing"))
        what = f"double pendulum, 10 to 1 ms: the {method} accelerometer has order {order} in the step; distance to it"
        claims.append(Claim(f"A-e/{method}/order", what, None, abs(slope - order), 0.2, "theory, errata 3"))
    claims.append(
        Claim(
            "A-e/proof-mass-soft/1ms/acc",
            "double pendulum at 1 ms: a proof mass on a soft joint is off by at least, m/s2 (the authors warn)",
            None,
            _largest(out, "A-e", "proof-mass-soft", 1, "swing"),
            1.0,
            _OURS,
            ">=",
        )
    )
    return claims


def _run_up_claims(out: Reproduction) -> list[Claim]:
    claims = []
    rows = {(r.case, r.step_ms): r for r in out.run_ups if r.method == "exact"}
    for case in CASES:
        for step in STEPS_MS:
            claims.append(
                Claim(
                    f"A-d/{case.number}/{step}ms/line",
                    f"run-up case {case.number} at {step} ms: error of the time by line fit, s",
                    case.published_error_s if step == 50 else None,
                    abs(rows[case.number, step].line_error_s),
                    1e-6,
                    f"{_SOURCE}, table row {case.number}" if step == 50 else _OURS,
                )
            )
    for case in CASES:
        claims.append(
            Claim(
                f"A-d/{case.number}/50ms/first-sample",
                f"run-up case {case.number} at 50 ms: error of the first sample at speed, s: the paper's kind of error",
                case.published_error_s,
                rows[case.number, 50].first_sample_error_s,
                0.008,
                f"{_SOURCE}, table row {case.number}; at least the paper's smallest error, errata 4",
                ">=",
            )
        )
    return claims


_CLAIMS = {"A-a": _arm_claims, "A-b": _cube_claims, "A-c": _bar_claims, "A-e": _pendulum_claims}

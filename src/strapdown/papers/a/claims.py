"""Paper A's claims: what was published, what we get, what is allowed."""

import numpy as np

from strapdown.papers.a.experiments import STEPS_MS
from strapdown.papers.a.ramp import CASES
from strapdown.papers.a.results import Reproduction
from strapdown.papers.claim import Claim

_SOURCE = "paper A, DOI 10.34031/2071-7318-2024-10-3-125-135"
_OURS = "ours"


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


def run_up_claims(out: Reproduction) -> list[Claim]:
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
        error = rows[case.number, 50].first_sample_error_s
        claims.append(
            Claim(
                f"A-d/{case.number}/50ms/first-sample",
                f"run-up case {case.number} at 50 ms: the first sample at speed is late, s, by a part of the step",
                case.published_error_s,
                error,
                0.05,
                f"{_SOURCE}, table row {case.number}; errata 4: the paper's errors are its 50 ms step",
            )
        )
    late = max(rows[case.number, 50].first_sample_error_s for case in CASES)
    claims.append(
        Claim(
            "A-d/50ms/first-sample",
            "run-up at 50 ms: read at the first sample, the worst case is off by at least the paper's worst, s",
            max(case.published_error_s for case in CASES),
            late,
            max(case.published_error_s for case in CASES),
            f"{_SOURCE}, table; errata 4",
            ">=",
        )
    )
    for case in CASES[2:]:  # in the first two the paper's time lies before the analytic one, which no sample can
        claims.append(
            Claim(
                f"A-d/{case.number}/50ms/as-published",
                f"run-up case {case.number} at 50 ms: time of the first sample at speed, s: the paper's own reading",
                case.published_s,
                case.analytic_s + rows[case.number, 50].first_sample_error_s,
                1e-9,
                f"{_SOURCE}, table row {case.number}",
                "~",
            )
        )
    return claims


CLAIMS = {"A-a": _arm_claims, "A-b": _cube_claims, "A-c": _bar_claims, "A-e": _pendulum_claims}

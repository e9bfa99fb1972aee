"""Paper A's claims: published value, ours, limit."""

import numpy as np

from strapdown.papers.a.experiments import EXPERIMENTS, STEPS_MS
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
                    kind="beats" if step == 50 else "requirement",
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
            kind="beats" if step == 50 else "requirement",
        )
        for step in STEPS_MS
        for phase in ("lift", "fall")
    ]
    rest = _largest(out, "A-b", "exact", 1, "rest")
    claims.append(
        Claim(
            "A-b/exact/1ms/rest",
            "cube at 1 ms, settled on the floor, m/s2",
            None,
            rest,
            1e-6,
            _OURS,
            kind="requirement",
        )
    )
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
            kind="beats" if step == 50 else "requirement",
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
                kind="self-check",
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
            kind="requirement",
        )
        for instrument, unit in (("acc", "m/s2"), ("gyr", "rad/s"))
    ]
    for instrument, unit, theory in zip(("acc", "gyr"), ("m/s2", "rad/s"), _theory_of_paper(out, 1), strict=True):
        error = _largest(out, "A-e", "paper", 1, "swing", instrument)
        what = f"double pendulum at 1 ms: the paper's method is off by {error:.3g} {unit}; relative distance to theory"
        claims.append(
            Claim(
                f"A-e/paper/1ms/{instrument}",
                what,
                None,
                abs(error / theory - 1.0),
                0.01,  # terms of the second order: 15 rad/s times 1 ms, on the largest error
                "theory, errata 2 and 3; leading term",
                kind="self-check",
            )
        )
    for method, order in (("paper", 1), ("second-order", 2)):
        slope = np.log10(_largest(out, "A-e", method, 10, "swing") / _largest(out, "A-e", method, 1, "swing"))
        what = f"double pendulum, 10 to 1 ms: the {method} accelerometer has order {order} in the step; distance to it"
        claims.append(
            Claim(f"A-e/{method}/order", what, None, abs(slope - order), 0.2, "theory, errata 3", kind="self-check")
        )
    return claims


def _theory_of_paper(out: Reproduction, step_ms: int) -> tuple[float, float]:
    """Largest errors of the paper's accelerometer (m/s2) and gyroscope (rad/s) by their leading terms, from exact f, w.

    The mean over a step T belongs to its middle: -T/2 R^T da/dt = -T/2 (df/dt + w x f), and -T/2 dw/dt. Euler angles of
    a small turn are not its rotation vector: T/2 (wy wz, -wx wz, wx wy) more.
    """
    f_s, w_s, _ = out.recordings[f"A-e_{step_ms}ms"]["D1 exact"].inertial()
    t, half = out.recordings[f"A-e_{step_ms}ms"]["D1 exact"].t, 0.5 * step_ms / 1000.0
    df, dw = (np.gradient(x, t, axis=0) for x in (f_s, w_s))
    x, y, z = w_s.T
    acc, gyr = -half * (df + np.cross(w_s, f_s)), half * (np.stack([y * z, -x * z, x * y], axis=1) - dw)
    (swing,) = EXPERIMENTS["A-e"].phases
    inside = (t > swing.begin_s) & (t < swing.end_s)
    largest_acc, largest_gyr = (float(np.linalg.norm(e[inside], axis=1).max()) for e in (acc, gyr))
    return largest_acc, largest_gyr


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
                    kind="beats" if step == 50 else "requirement",
                )
            )
    for case in CASES[2:]:  # in the first two the paper's time lies before the analytic one, which no sample can
        claims.append(
            Claim(
                f"A-d/{case.number}/50ms/as-published",
                f"run-up case {case.number} at 50 ms: time of the first sample at speed, s: the paper's own reading",
                case.published_s,
                case.analytic_s + rows[case.number, 50].first_sample_error_s,
                0.0005,  # print rounding: the table has three decimals
                f"{_SOURCE}, table row {case.number}",
                "~",
                kind="reproduces",
            )
        )
    return claims


CLAIMS = {"A-a": _arm_claims, "A-b": _cube_claims, "A-c": _bar_claims, "A-e": _pendulum_claims}

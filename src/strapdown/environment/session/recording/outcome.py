"""Figures of a session: errors of the estimates against the truth, losses, verdict."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.session.recording.record import SessionRecording
from strapdown.environment.session.scenario.file import ExpectTable
from strapdown.environment.session.world.watch import LOST
from strapdown.rotation import euler_from_q, wrap

DEG = 180.0 / np.pi


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of the estimates over the time in which they count. The time begins with arming; where nothing is armed,
    with the end of the calibration, or with power on. Angles in rad, (n, 3): roll, pitch, heading; wrapped. None: not
    estimated.
    """

    t: Array
    angles: Array | None = None
    true_angles: Array | None = None
    velocity_n: Array | None = None
    position_n: Array | None = None
    height_m: Array | None = None


def errors_of(run: SessionRecording) -> Errors:
    """Estimates minus truth, at the control rate."""
    start = _since(run)
    rows = run.t >= start
    truth = run.truth
    angles = true_angles = None
    q = run.estimated("attitude")
    if q is not None:
        rows &= np.isfinite(q).all(axis=1) & (np.abs(np.linalg.norm(q, axis=1) - 1.0) < 1e-3)
        true_angles = np.stack(euler_from_q(truth.q_nb[rows]), axis=1)
        angles = wrap(np.stack(euler_from_q(q[rows]), axis=1) - true_angles)
    return Errors(
        run.t[rows],
        angles,
        true_angles,
        _difference(run.estimated("velocity"), truth.v_n, rows),
        _difference(run.estimated("position"), truth.p_n, rows),
        _difference(run.estimated("height"), truth.p_n[:, 2], rows),
    )


def _difference(estimate: Array | None, truth: Array, rows: Any) -> Array | None:
    return None if estimate is None else estimate[rows] - truth[rows]


def _since(run: SessionRecording) -> float:
    """Time from which the estimates count."""
    for control in ("arm", "calibrate", "power"):
        flags = next((v > 0.5 for name, v in run.signals.items() if name.endswith(f"console.{control}")), None)
        if flags is not None and flags.any():
            if control == "calibrate":  # after the last calibration
                return float(run.t[min(int(np.flatnonzero(flags)[-1]) + 1, len(run.t) - 1)])
            return float(run.t[int(np.argmax(flags))])
    return float(run.t[0])


def figures(run: SessionRecording) -> dict[str, Any]:
    """The summary of a run: plain values, None where there is nothing to compare."""
    errors = errors_of(run)
    lost = [event for event in run.events if event.kind in LOST]
    found: dict[str, Any] = {
        "duration_s": float(run.meta["duration_s"]),
        "counted_from_s": float(errors.t[0]) if len(errors.t) else None,
        "lost": bool(lost),
        "lost_at_s": lost[0].t_s if lost else None,
        "lost_by": lost[0].kind if lost else None,
        "stopped": run.meta["stopped"] or None,
    }
    angles = errors.angles
    for i, name in enumerate(("roll", "pitch", "heading")):
        found[f"{name}_rmse_deg"] = None if angles is None or not len(angles) else _rms(angles[:, i]) * DEG
    tilt = [found["roll_rmse_deg"], found["pitch_rmse_deg"]]
    found["tilt_rmse_deg"] = None if None in tilt else max(tilt)
    found["tilt_max_deg"] = None if angles is None or not len(angles) else float(np.abs(angles[:, :2]).max()) * DEG
    found["heading_drift_deg"] = (
        None if angles is None or not len(angles) else float(wrap(angles[-1, 2] - angles[0, 2])) * DEG
    )
    for name, error in (("velocity", errors.velocity_n), ("position", errors.position_n), ("height", errors.height_m)):
        unit = "m_s" if name == "velocity" else "m"
        sizes = None
        if error is not None and len(error):
            sizes = np.abs(error) if error.ndim == 1 else np.linalg.norm(error, axis=1)
        found[f"{name}_rmse_{unit}"] = None if sizes is None else _rms(sizes)
        found[f"{name}_max_{unit}"] = None if sizes is None else float(sizes.max())
    p = run.truth.p_n
    found["end_distance_m"] = float(np.linalg.norm(p[-1] - p[0]))
    found["path_m"] = float(np.linalg.norm(np.diff(p, axis=0), axis=1).sum())
    found["highest_m"] = float(p[:, 2].max() - p[0, 2])
    return found


def verdict(found: dict[str, Any], expect: ExpectTable) -> str:
    """The verdict survives, degrades or lost, by the limits of the scenario."""
    if found["lost"] or found["stopped"]:
        return "lost"
    beyond = (expect.attitude_deg is not None and _above(found["tilt_rmse_deg"], expect.attitude_deg)) or (
        expect.height_m is not None and _above(found["height_max_m"], expect.height_m)
    )
    return "degrades" if beyond else "survives"


def _above(value: float | None, limit: float) -> bool:
    return value is None or not value <= limit


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

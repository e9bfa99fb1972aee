"""Experiment A-d: a bar runs up under a constant torque; the time to reach its speed is measured.

The paper reads the time of the first sample at the set speed, and so is wrong by up to a step. The line through the
ramp's samples, cut with the set speed, has no such limit (errata 4).
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.papers.a.experiments import GRAVITY, METHODS
from strapdown.papers.a.ramp import INERTIA_PER_KG, Case
from strapdown.types import Recording
from strapdown.vehicles import builtin


def run_case(case: Case, step_s: float, more: Mapping[str, Any] | None = None) -> dict[str, Recording]:
    """Run-up of one case, read by every gyroscope method; one recording per method. more: other tables of the rig."""
    bar = builtin("bar").read_text(encoding="utf-8")
    inertia = INERTIA_PER_KG * case.mass_kg
    bar = bar.replace('<mass value="10"/>', f'<mass value="{case.mass_kg!r}"/>')
    bar = bar.replace('iyy="2.65" izz="2.65"', f'iyy="{inertia!r}" izz="{inertia!r}"')
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bar.urdf"
        file.write_text(bar, encoding="utf-8")
        values = {**_rig(case, step_s), **(more or {})}
        return simulate(rig_from(values, Path(folder) / f"experiment A-d{case.number}")).recordings


def _rig(case: Case, step_s: float) -> dict[str, Any]:
    return {
        "duration_s": 1.0,
        "robot": {"file": "bar.urdf"},
        "physics": {"gravity": GRAVITY, "step_s": step_s, "integrator": "euler"},
        # a time constant of one step: full torque until the speed can be met within the step, then met exactly
        "motor": [{"joint": "axis", "kind": "speed", "max_torque_nm": case.torque_nm, "time_constant_s": step_s}],
        "program": [{"motor": "axis", "at_s": 0.0, "speed_deg_s": case.speed_deg_s}],
        "sensor": [
            {"name": method, "link": "bar", "position_m": [0.75, 0.0, 0.0], "rate_hz": 1.0 / step_s, **METHODS[method]}
            for method in ("exact", "paper", "second-order")
        ],
    }

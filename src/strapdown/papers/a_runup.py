"""Experiment A-d: a bar runs up under a constant torque; when does it reach its speed?

The paper reads the time of the first sample at the set speed, and so is wrong by up to a step. The line through the
ramp's samples, cut with the set speed, has no such limit (errata 4).
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.errors import InputError
from strapdown.papers.a_experiments import GRAVITY, METHODS
from strapdown.types import Recording
from strapdown.vehicles import builtin

Array = NDArray[np.float64]

INERTIA_PER_KG = 0.265  # m2, of the bar about its axis


@dataclass(frozen=True)
class Case:
    """A row of paper A's table: torque, set speed, mass; the time it prints and its error."""

    number: int
    torque_nm: float
    speed_deg_s: float
    mass_kg: float
    published_s: float
    published_error_s: float

    @property
    def analytic_s(self) -> float:
        """t = I w / M."""
        return INERTIA_PER_KG * self.mass_kg * np.radians(self.speed_deg_s) / self.torque_nm


CASES = (
    Case(1, 5.0, 45.0, 10.0, 0.399, 0.018),
    Case(2, 5.0, 45.0, 5.0, 0.2, 0.008),
    Case(3, 5.0, 30.0, 5.0, 0.15, 0.012),
    Case(4, 15.0, 90.0, 5.0, 0.15, 0.012),
    Case(5, 15.0, 45.0, 10.0, 0.15, 0.012),
    Case(6, 15.0, 30.0, 20.0, 0.2, 0.015),
)


@dataclass(frozen=True)
class RunUp:
    """What the recording says: the ramp's fitted line (rate = slope t + offset), where it meets the set speed, and
    the first sample at the set speed."""

    slope: float
    offset: float
    line_s: float
    first_sample_s: float


def run_case(case: Case, step_s: float) -> dict[str, Recording]:
    """Run-up of one case, read by every gyroscope method; one recording per method."""
    bar = builtin("bar").read_text(encoding="utf-8")
    inertia = INERTIA_PER_KG * case.mass_kg
    bar = bar.replace('<mass value="10"/>', f'<mass value="{case.mass_kg!r}"/>')
    bar = bar.replace('iyy="2.65" izz="2.65"', f'iyy="{inertia!r}" izz="{inertia!r}"')
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bar.urdf"
        file.write_text(bar, encoding="utf-8")
        rig = rig_from(_rig(case, step_s), Path(folder) / f"experiment A-d{case.number}")
        return simulate(rig).recordings


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


def run_up(t: Array, rate: Array, set_speed: float) -> RunUp:
    """Fit a line to the ramp and cut it with the set speed; t in s, rates in rad/s."""
    at_speed = np.flatnonzero(rate >= 0.999 * set_speed)
    if len(at_speed) == 0:
        raise InputError(f"the rate never reaches {set_speed:.6g} rad/s; record longer")
    first = int(at_speed[0])
    # the last sample before the set speed may already feel the end of the ramp, if a method looks ahead
    ramp = slice(0, first - 1 if first >= 3 else first)
    if len(t[ramp]) < 2:
        raise InputError(f"only {first} samples on the ramp, a line needs 2; sample faster")
    slope, offset = np.polyfit(t[ramp], rate[ramp], 1)
    return RunUp(float(slope), float(offset), float((set_speed - offset) / slope), float(t[first]))

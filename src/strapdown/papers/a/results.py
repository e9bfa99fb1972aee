"""Results of the reproduction of paper A: errors by phase and method, run-up times, claims, recordings."""

from dataclasses import dataclass, field

from strapdown.papers.a.ramp import Ramp
from strapdown.papers.claim import Claim
from strapdown.types import Recording


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
    fit: Ramp


@dataclass
class Reproduction:
    claims: list[Claim] = field(default_factory=list)
    errors: list[ErrorRow] = field(default_factory=list)
    run_ups: list[RunUpRow] = field(default_factory=list)
    recordings: dict[str, dict[str, Recording]] = field(default_factory=dict)  # "A-b_50ms" -> sensor -> recording

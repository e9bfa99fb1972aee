"""Which part is enough for a task: a campaign over parts and calibration efforts, and its answer in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.special import ndtri

from strapdown.campaigns.bases.calibration_effort import EFFORTS
from strapdown.campaigns.definition.file import WITHIN
from strapdown.campaigns.results.cells import CONFIDENCE, Results
from strapdown.campaigns.results.comparison import failures
from strapdown.campaigns.results.intervals import share_interval
from strapdown.errors import InputError
from strapdown.io.toml_text import toml_value
from strapdown.reporting.figures import STYLE, panels, plain_ticks
from strapdown.reporting.navigation_figures import colour_of
from strapdown.sensors.parts.part import catalogue, load_part

RATE_HZ = 100.0
FIRST_REST_S = 10.0  # the stand before the drive, in which the filter finds its level
CALIBRATED_C = 25.0  # temperature of the table at which parts are calibrated
BLOCK = 20
LEAST_RUNS = 100  # of a cell that is not decided earlier
WORDS = {
    "none": "as bought",
    "rest": "after a minute at rest",
    "positions": "after the positions of its case",
    "full": "after positions and temperature",
}


@dataclass(frozen=True)
class Task:
    """drive: straight or square, length_m in all. A stop of stop_s every without_aiding_s of driving at speed_m_s, on
    the mean. The largest horizontal error of the drive, in m or in % of its length, is at most `error` in the share
    `probability` of drives. celsius: of the drive; parts are calibrated at 25 degC."""

    error: float
    percent: bool
    probability: float = 0.95
    drive: str = "straight"
    length_m: float = 20.0
    speed_m_s: float = 0.5
    without_aiding_s: float = 5.0
    stop_s: float = 3.0
    odometer: bool = False
    celsius: float = CALIBRATED_C

    @property
    def figure(self) -> str:
        return "largest_percent_of_path" if self.percent else "horizontal.max"

    @property
    def unit(self) -> str:
        return "%" if self.percent else "m"

    def __post_init__(self) -> None:
        if self.drive not in ("straight", "square"):
            raise InputError(f'the drive is "{self.drive}"; give straight or square')
        for name in ("error", "length_m", "speed_m_s", "without_aiding_s", "stop_s"):
            if not 0.0 < getattr(self, name) <= 1e6:
                raise InputError(f"{name} is {getattr(self, name):g}; give a number above 0")
        if not 0.0 < self.probability < 1.0:
            raise InputError(f"the probability is {self.probability:g}; give a number between 0 and 1")

    def sentence(self) -> str:
        wheel = " with a wheel odometer" if self.odometer else ""
        return (
            f"A {self.drive} drive of {self.length_m:g} m{wheel}, a stop of {self.stop_s:g} s after each "
            f"{self.without_aiding_s:g} s of driving, at {self.celsius:g} degC. The horizontal error stays below "
            f"{self.error:g} {self.unit}{' of the way' if self.percent else ''} in {100 * self.probability:g} % of "
            "drives."
        )


def needed_runs(probability: float) -> int:
    """Drives, all within the limit, after which the probability is certain."""
    z = float(ndtri(0.5 + 0.5 * CONFIDENCE))
    runs = max(1, int(probability / (1.0 - probability) * z * z))  # Wilson's interval of n in n begins at n / (n + z^2)
    while share_interval(runs, runs, CONFIDENCE)[0] < probability:
        runs += 1
    return runs


def usual_runs(probability: float) -> int:
    """Drives at most, where none are asked for: a third more than needed, so that a few misses are allowed."""
    return max(LEAST_RUNS, -(-4 * needed_runs(probability) // 3))


def parts_of_catalogue() -> list[str]:
    """All that have an accelerometer and a gyroscope, at the rate of the drive."""
    return [part.name for part in catalogue() if _possible(part.name)]


def _possible(name: str) -> bool:
    part = load_part(name)
    tops = [part.largest_rate_hz(each) for each in ("accelerometer", "gyroscope") if each in part.instruments]
    return len(tops) == 2 and all(top is None or top >= RATE_HZ for top in tops)


def campaign_text(task: Task, parts: Sequence[str], efforts: Sequence[str], runs: int) -> str:
    """The campaign file of the question."""
    unknown = [effort for effort in efforts if effort not in EFFORTS]
    if unknown:
        raise InputError(f'effort "{unknown[0]}" is not known; valid names: {", ".join(EFFORTS)}')
    efforts = [effort for effort in EFFORTS if effort in efforts]  # the least one is named first
    for part in parts:
        if not _possible(part):
            raise InputError(f"{part} has no accelerometer and gyroscope at {RATE_HZ:g} Hz; choose other parts")
    spacing_m = task.speed_m_s * task.without_aiding_s
    way = "side_m" if task.drive == "square" else "length_m"
    length_m = task.length_m / 4.0 if task.drive == "square" else task.length_m
    lines = [
        "version = 1",
        f"title = {toml_value(task.sentence())}",
        f"measure = {toml_value([task.figure, 'final_percent', 'nees_position', 'diverged'])}",
        "[path]",
        f'kind = "stop-and-go-{task.drive}"',
        f"{way} = {length_m!r}",
        f"stop_spacing_m = {spacing_m!r}",
        f"move_s = {task.without_aiding_s!r}",
        f"rest_s = {task.stop_s!r}",
        f"first_rest_s = {FIRST_REST_S!r}",
        "[set]",
        f'"sensor.imu.rate_hz" = {RATE_HZ!r}',
        f'"sensor.imu.temperature_c" = {task.celsius!r}',
        '"navigate.magnetometer" = false',
    ]
    if task.odometer:
        lines += [
            "[[set.odometer]]",
            'name = "wheel"',
            'link = "body"',
            "radius_m = 0.03",
            "ticks_per_revolution = 600",
        ]
        lines += ["[draw]", '"odometer.wheel.scale_error" = { normal = [0.0, 0.002] }']
    lines += [
        "[grid]",
        f'"sensor.imu.part" = {toml_value(list(parts))}',
        f'"calibration.effort" = {toml_value(list(efforts))}',
        "[seeds]",
        f"runs = {runs}",
        "[limit]",
        f"figure = {toml_value(task.figure)}",
        f"at_most = {task.error!r}",
        "[until]",
        f'figure = "{WITHIN}"',
        f"decides = {task.probability!r}",
        f"block = {min(BLOCK, runs) if runs > 1 else 2}",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Step:
    """One part with one effort. error: the quantile of the task's probability. verdict: enough, not enough, open."""

    part: str
    effort: str
    runs: int
    failed: int
    share: float
    interval: tuple[float, float]
    error: float
    verdict: str


class Answer:
    """What the campaign answers to the task."""

    def __init__(self, task: Task, results: Results) -> None:
        self.task, self.results = task, results

    @cached_property
    def steps(self) -> list[Step]:
        found = []
        for cell in self.results.cells:
            within, errors = self.results.values(WITHIN, cell), self.results.values(self.task.figure, cell)
            low, high = share_interval(int(within.sum()), len(within), CONFIDENCE)
            p = self.task.probability
            verdict = "enough" if low >= p else "not enough" if high < p else "open"
            found.append(
                Step(
                    str(cell.settings["sensor.imu.part"]),
                    str(cell.settings["calibration.effort"]),
                    self.results.runs(cell),
                    self.results.failed(cell),
                    float(within.mean()) if len(within) else float("nan"),
                    (low, high),
                    float(np.quantile(errors, p)) if len(errors) else float("nan"),
                    verdict,
                )
            )
        return found

    @cached_property
    def parts(self) -> dict[str, dict[str, Step]]:
        found: dict[str, dict[str, Step]] = {}
        for step in self.steps:
            found.setdefault(step.part, {})[step.effort] = step
        return found

    def least(self, part: str, verdict: str = "enough") -> str | None:
        """The least effort with which the part has this verdict."""
        return next((effort for effort, step in self.parts[part].items() if step.verdict == verdict), None)

    def sentences(self) -> list[str]:
        """The answer in words."""
        found = []
        for effort in EFFORTS:
            parts = [part for part in self.parts if self.least(part) == effort]
            if parts:
                found.append(f"Enough {WORDS[effort]}: {', '.join(parts)}.")
        rest = [part for part in self.parts if self.least(part) is None]
        undecided = [part for part in rest if self.least(part, "open") is not None]
        refused = [part for part in rest if part not in undecided]
        if undecided:
            needed, percent = needed_runs(self.task.probability), 100 * self.task.probability
            found.append(
                f"Open, more runs decide: {', '.join(undecided)}. At least {needed} drives without a miss are needed "
                f"to state {percent:g} %."
            )
        if refused:
            found.append(f"Not enough with any effort that was tried: {', '.join(refused)}.")
        failed = failures(self.results)
        if failed:
            count = sum(runs for _, runs, _ in failed)
            what = "1 drive failed and is a miss" if count == 1 else f"{count} drives failed and are misses"
            found.append(f"{what}; the most frequent cause: {failed[0][0]}.")
        if len(refused) == len(self.parts):
            found.append("No part is enough: stop more often, add an odometer, or allow a larger error.")
        return found

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """A row for each part: the error at the probability of the task by effort, and the verdict."""
        efforts = list(dict.fromkeys(step.effort for step in self.steps))
        percent, unit = 100 * self.task.probability, self.task.unit
        head = [
            "part",
            *(f"{effort}: {percent:g} % below, {unit}" for effort in efforts),
            "enough with",
            "each step buys",
        ]
        rows = []
        for part, steps in self.parts.items():
            errors = [steps[effort].error for effort in efforts if effort in steps]
            bought = [f"{a / b:.1f} x" if b > 0.0 and np.isfinite(a) else "-" for a, b in pairwise(errors)]
            least = self.least(part) or ("open" if self.least(part, "open") else "none")
            cells = [_shown(steps[e]) if e in steps else "-" for e in efforts]
            rows.append([part, *cells, least, ", ".join(bought) or "-"])
        return head, rows


def _shown(step: Step) -> str:
    error = f"{step.error:.3g}" if np.isfinite(step.error) else "-"
    return error + _MARK[step.verdict]


_MARK = {"enough": " *", "not enough": "", "open": " ?"}


@mpl.rc_context(STYLE)
def answer_figure(answer: Answer) -> Figure:
    """Errors of all drives by part and effort, and the error that is allowed."""
    efforts = list(dict.fromkeys(step.effort for step in answer.steps))
    parts = list(answer.parts)
    figure, axes = panels(1, 1, (9.0, 1.4 + 0.55 * len(parts)))
    axis = axes[0, 0]
    cells = {(c.settings["sensor.imu.part"], c.settings["calibration.effort"]): c for c in answer.results.cells}
    for i, part in enumerate(parts):
        for k, effort in enumerate(efforts):
            if (part, effort) not in cells:
                continue
            values = answer.results.values(answer.task.figure, cells[part, effort])
            y = len(parts) - 1 - i + 0.36 - 0.72 * (k + 0.5) / len(efforts)
            axis.plot(values, np.full(len(values), y), ".", ms=3, alpha=0.35, color=colour_of(k))
            step = answer.parts[part][effort]
            label = f"{effort}: {WORDS[effort]}" if i == 0 else None
            axis.plot([step.error], [y], "|", ms=11, mew=2.2, color=colour_of(k), label=label)
    axis.axvline(
        answer.task.error, color="#c0392b", ls="--", label=f"allowed: {answer.task.error:g} {answer.task.unit}"
    )
    axis.set_xscale("log")
    plain_ticks(axis.xaxis)
    axis.set_yticks(range(len(parts)), list(reversed(parts)))
    axis.set_ylim(-0.6, len(parts) - 0.4)
    axis.set_xlabel(
        f"largest horizontal error of a drive, {answer.task.unit} (points: drives, bar: "
        f"{100 * answer.task.probability:g} % are below)"
    )
    axis.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, frameon=False)
    return figure

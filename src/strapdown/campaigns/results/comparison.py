"""Two cells compared on the same seeds; failures by cause; the worst runs."""

import math
import re
from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from strapdown.campaigns.definition.file import WITHIN
from strapdown.campaigns.definition.space import Cell
from strapdown.campaigns.results.cells import CONFIDENCE, Results
from strapdown.campaigns.results.intervals import mean_interval
from strapdown.errors import InputError

WORST = 5


@dataclass(frozen=True)
class Compared:
    """second minus first, run by run. larger: share of seeds where the second is larger. chance: probability of such a
    difference by chance alone (Wilcoxon's test of signed ranks)."""

    figure: str
    pairs: int
    first: float
    second: float
    difference: float
    interval: tuple[float, float]
    larger: float
    chance: float

    def sentence(self) -> str:
        low, high = self.interval
        sure = "" if low <= 0.0 <= high else ", which is not chance"
        return (
            f"{self.figure}: {self.first:.4g} and {self.second:.4g} on the same {self.pairs} seeds; difference "
            f"{self.difference:.3g}, {100 * CONFIDENCE:g} % within {low:.3g} to {high:.3g}{sure}"
        )


def compare(results: Results, figure: str, first: Cell, second: Cell) -> Compared:
    a, b = results.by_number(figure, first), results.by_number(figure, second)
    both = sorted(set(a) & set(b))
    if len(both) < 2:
        raise InputError(f"the two cells have {len(both)} seeds in common; give cells with at least 2")
    one, other = np.array([a[n] for n in both]), np.array([b[n] for n in both])
    difference = other - one
    chance = 1.0 if not difference.any() else float(wilcoxon(difference).pvalue)
    return Compared(
        figure,
        len(both),
        float(one.mean()),
        float(other.mean()),
        float(difference.mean()),
        mean_interval(difference, CONFIDENCE),
        float(np.mean(difference > 0.0)),
        chance,
    )


def failures(results: Results) -> list[tuple[str, int, str]]:
    """Cause, number of runs, and the key of one of them; causes that differ in numbers only are one."""
    found: dict[str, list[str]] = {}
    causes: dict[str, str] = {}
    keys, reasons = (results.table.column(name).to_pylist() for name in ("key", "failed"))
    for key, reason in zip(keys, reasons, strict=True):
        if reason is not None:
            cause = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", reason)
            causes.setdefault(cause, reason)
            found.setdefault(cause, []).append(key)
    ranked = sorted(found.items(), key=lambda item: -len(item[1]))
    return [(causes[cause], len(some), some[0]) for cause, some in ranked]


def worst_figure(results: Results, figure: str) -> str:
    """The figure whose largest values are the worst runs: of the flag "within" the one that is limited."""
    limit = results.plan.limit
    return limit.figure if limit is not None and figure == WITHIN and limit.figure in results.figures else figure


def worst_runs(results: Results, figure: str, count: int = WORST) -> list[tuple[str, float]]:
    """Keys with the largest values of a figure, in size; of a flag those that have it."""
    chosen = worst_figure(results, figure)
    values = results.column(chosen)
    keys = results.table.column("key").to_pylist()
    shown = ~np.isnan(values) & ((values != 0.0) | (not results.is_flag(chosen)))
    order = np.argsort(np.where(shown, np.abs(values), -math.inf), kind="stable")[::-1]
    return [(keys[i], float(values[i])) for i in order[:count] if shown[i]]

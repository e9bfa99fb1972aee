"""Which setting matters: Sobol indices by SALib for a Sobol design, else rank correlation of draws and the share of
variance of each key of the grid."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from strapdown.arrays import Array
from strapdown.campaigns.definition.space import SEED_FACTOR, Cell
from strapdown.campaigns.results.cells import CONFIDENCE, Results
from strapdown.errors import InputError

MISSING = "Sobol indices need the package SALib; install strapdown[sensitivity]"


@dataclass(frozen=True)
class Effect:
    """Of one factor on one figure. kind: "sobol", "rank" or "variance". first: first Sobol index, rank correlation, or
    share of variance; total: total Sobol index. Half widths of their 95 % intervals where they are known."""

    factor: str
    kind: str
    first: float
    first_half: float | None = None
    total: float | None = None
    total_half: float | None = None


def effects(results: Results, figure: str, cell: Cell | None = None) -> list[Effect]:
    """Largest first. cell: of a Sobol design, which is analysed cell by cell; None: the first one."""
    found = []
    if results.plan.space.sobol:
        found += _sobol(results, figure, cell or results.cells[0])
    else:
        found += [_rank(results, figure, key) for key in results.plan.space.draws]
    found += [_variance(results, figure, key) for key in results.varied]
    return sorted(found, key=lambda effect: -abs(effect.first if effect.total is None else effect.total))


def _sobol(results: Results, figure: str, cell: Cell) -> list[Effect]:
    try:
        from SALib.analyze import sobol
    except ImportError:
        raise InputError(MISSING) from None
    plan = results.plan
    names = [*plan.space.draws, SEED_FACTOR]
    known = results.by_number(figure, cell)
    if len(known) < plan.most:
        raise InputError(
            f"Sobol indices need all {plan.most} runs of a cell, and {len(known)} have a value; wait, or measure a "
            "figure that every run has"
        )
    values = np.array([known[n] for n in range(plan.most)])
    if np.ptp(values) == 0.0:
        return [Effect(name, "sobol", 0.0, 0.0, 0.0, 0.0) for name in names]
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    found = sobol.analyze(problem, values, calc_second_order=False, conf_level=CONFIDENCE, seed=1)
    return [
        Effect(name, "sobol", *(float(found[key][i]) for key in ("S1", "S1_conf", "ST", "ST_conf")))
        for i, name in enumerate(names)
    ]


def _rank(results: Results, figure: str, key: str) -> Effect:
    """Spearman's rank correlation within the cells; interval by Fisher's transformation."""
    draw = results.plan.space.draws[key]
    if draw.kind == "choice" and not all(isinstance(value, int | float) for value in draw.values):
        return _by_value(results, figure, key)
    x, y = results.column(results.plan.column(key)), results.column(figure)
    cells = np.array(results.table.column("cell").to_pylist())
    rows = ~(np.isnan(x) | np.isnan(y))
    for cell in np.unique(cells):  # differences between cells are no effect of the draw
        here = rows & (cells == cell)
        if here.any():
            y[here] -= np.median(y[here])
    n = int(rows.sum())
    if n < 4 or np.ptp(x[rows]) == 0.0 or np.ptp(y[rows]) == 0.0:
        return Effect(key, "rank", 0.0)
    rho = float(spearmanr(x[rows], y[rows]).statistic)
    half = 1.96 * math.sqrt(1.06 / (n - 3)) * (1.0 - rho**2)
    return Effect(key, "rank", rho, half)


def _by_value(results: Results, figure: str, key: str) -> Effect:
    labels = results.table.column(results.plan.column(key)).to_pylist()
    return Effect(key, "variance", _share(results.column(figure), np.array([str(label) for label in labels])))


def _variance(results: Results, figure: str, key: str) -> Effect:
    """Share of the variance of all runs that the means of this key's values explain."""
    names = {cell.name: str(cell.settings[key]) for cell in results.cells}
    labels = np.array([names[name] for name in results.table.column("cell").to_pylist()])
    return Effect(key, "variance", _share(results.column(figure), labels))


def _share(values: Array, labels: Array) -> float:
    rows = ~np.isnan(values)
    values, labels = values[rows], labels[rows]
    if len(values) < 2 or np.ptp(values) == 0.0:
        return 0.0
    means = {label: values[labels == label].mean() for label in np.unique(labels)}
    between = np.array([means[label] for label in labels])
    return float(np.var(between) / np.var(values))

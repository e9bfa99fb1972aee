"""Solutions of the same run next to each other without a truth, and the path in three dimensions."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.errors import InputError
from strapdown.evaluation.matching import Reference
from strapdown.evaluation.stops import positions
from strapdown.motion.recorded import RecordedMotion
from strapdown.reporting.figures import STYLE, panels, titled
from strapdown.reporting.navigation_figures import REFERENCE, colour_of
from strapdown.reporting.thinning import evenly, peaks
from strapdown.rotation import q_conj, q_log, q_mul
from strapdown.types import Array, Solution

_STYLE = {**STYLE, "text.parse_math": False}
_WORDS = ("east", "north", "up")


@mpl.rc_context(_STYLE)
def difference_figure(solutions: Mapping[str, Solution], title: str = "") -> Figure:
    """How solutions disagree: each minus the first one, position (m) and attitude (deg), with bands of 3 sigma.

    The band is that of the difference of two independent estimates: the root of the sum of their variances. Filters
    that read the same log share errors, so a difference inside the band proves little. A difference outside proves that
    a filter's sigma is too small.
    """
    if len(solutions) < 2:
        raise InputError("a comparison without truth needs two solutions or more; give another one of the same run")
    (base_name, base), *others = solutions.items()
    placed = all(solution.p_n is not None for solution in solutions.values())
    figure, axes = panels(3, 2 if placed else 1, (11.0 if placed else 8.0, 6.2))
    for k, (name, solution) in enumerate(others, start=1):
        rows = (solution.t >= base.t[0]) & (solution.t <= base.t[-1])
        if not rows.any():
            raise InputError(f"{name} and {base_name} have no time in common; give solutions of the same run")
        label = f"{name} − {base_name}"
        t, nearest = solution.t[rows], _nearest(base.t, solution.t[rows])
        turned = np.degrees(q_log(q_mul(solution.q_nb[rows], q_conj(base.q_nb[nearest]))))
        bands = _sigmas(solution, base, rows, nearest, "attitude_n")
        _draw(axes[:, -1], t, turned, None if bands is None else np.degrees(bands), colour_of(k), label)
        if placed:
            p = positions(solution)[rows]
            there = np.column_stack([np.interp(t, base.t, positions(base)[:, i]) for i in range(3)])
            bands = _sigmas(solution, base, rows, nearest, "p_n")
            _draw(axes[:, 0], t, p - there, bands, colour_of(k), label)
    for i, word in enumerate(_WORDS):
        axes[i, -1].set_ylabel(f"turned about {word}, °")
        if placed:
            axes[i, 0].set_ylabel(f"difference {word}, m")
    for panel in axes[-1]:
        panel.set_xlabel("time, s")
    figure.legend(*axes[0, -1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    titled(figure, title or f"How the filters disagree: each minus {base_name}; band: 3σ of the difference", 10.0)
    return figure


def _draw(column: Any, t: Array, difference: Array, sigma: Array | None, colour: str, label: str) -> None:
    for i, panel in enumerate(column):
        if sigma is not None:
            thin = peaks(sigma[:, i])
            band = 3.0 * sigma[thin, i]
            panel.fill_between(t[thin], -band, band, color=colour, alpha=0.13, lw=0)
        thin = peaks(difference[:, i])
        panel.plot(t[thin], difference[thin, i], color=colour, label=label)
        panel.axhline(0.0, color="black", lw=0.6)


def _sigmas(one: Solution, other: Solution, rows: Array, nearest: Array, name: str) -> Array | None:
    """Sigmas of the difference; None where a solution reports none."""
    if name not in one.sigma or name not in other.sigma:
        return None
    return np.asarray(np.hypot(one.sigma[name][rows], other.sigma[name][nearest]))


def _nearest(t: Array, wanted: Array) -> Any:
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    return np.where(wanted - t[after - 1] < t[after] - wanted, after - 1, after)


@mpl.rc_context(_STYLE)
def path_3d_figure(solutions: Mapping[str, Solution], reference: Reference | None = None, title: str = "") -> Figure:
    """The path in three dimensions with equal scales: east, north, up in m; a dot at the start."""
    figure, _ = panels(1, 1, (7.5, 6.5))
    figure.clear()
    panel: Any = figure.add_subplot(projection="3d")
    known = reference.at_samples() if isinstance(reference, RecordedMotion) else reference
    lines = [] if known is None or known.p_n is None else [("reference", known.p_n, REFERENCE, 3.0)]
    lines += [(name, positions(s), colour_of(k), 1.4) for k, (name, s) in enumerate(solutions.items())]
    for name, p, colour, width in lines:
        some = p[evenly(len(p))]
        panel.plot(*some.T, color=colour, lw=width, label=name)
    start = lines[0][1][0]
    panel.plot(*start[:, None], "o", color="black", ms=5, label="start")
    _equal_scales(panel, np.concatenate([p for _, p, _, _ in lines]))
    panel.set_xlabel("east, m")
    panel.set_ylabel("north, m")
    panel.set_zlabel("up, m")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    if title:
        titled(figure, title, 10.0)
    return figure


def _equal_scales(panel: Any, p: Array) -> None:
    """A metre has the same length on each axis; a flat path has a height of a quarter of its length."""
    low, high = p.min(axis=0), p.max(axis=0)
    middle, span = 0.5 * (low + high), np.maximum(high - low, 0.25 * max(float((high - low).max()), 1e-3)) * 1.05
    for name, m, s in zip("xyz", middle, span, strict=True):
        getattr(panel, f"set_{name}lim")(m - 0.5 * s, m + 0.5 * s)
        getattr(panel, f"{name}axis").set_major_locator(mpl.ticker.MaxNLocator(5))
    panel.set_box_aspect(span)

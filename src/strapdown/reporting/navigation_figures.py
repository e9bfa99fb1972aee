"""Pictures of a navigation run: the path with its stops, errors with three sigma, attitude, biases, innovations.

Every function takes data and returns a figure; the caller saves it (figures.save) or puts it into a report.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from strapdown.evaluation.consistency import chi_square_bounds
from strapdown.evaluation.matching import Reference, matched
from strapdown.evaluation.stops import StopPlaces, believed_stands, positions, stands
from strapdown.motion.paths.stop_and_go import Stops
from strapdown.motion.recorded import RecordedMotion
from strapdown.navigation.program import Navigated
from strapdown.reporting.figures import GREY, LEGEND_ABOVE, STYLE, panels, titled
from strapdown.reporting.thinning import cloud, evenly, peaks
from strapdown.rotation import heading_from_q
from strapdown.types import Array, Solution

SOLUTION_COLOURS = ("#2460a7", "#d35400", "#1e8449", "#8e44ad", "#b7950b", "#148f8f")
REFERENCE = "#b8c0c6"
_STYLE = {**STYLE, "text.parse_math": False}  # names are the user's: a $ in one is a $
_MOST_SPANS = 1000  # stops shaded in a picture: more of them are one grey
_PIECE = 200_000  # rows
_BIAS_UNITS = {"gyr_s": ("gyroscope bias", "°/s", np.degrees(1.0)), "acc_s": ("accelerometer bias", "m/s²", 1.0)}
_STOP_COLOURS = {"stop_believed": "#1e8449", "stop_doubted": "#d68910", "stop_rejected": "#c0392b"}


def colour_of(i: int) -> str:
    return SOLUTION_COLOURS[i % len(SOLUTION_COLOURS)]


def _coloured(solutions: Mapping[str, Solution]) -> Iterator[tuple[str, Solution, str]]:
    for i, (name, solution) in enumerate(solutions.items()):
        yield name, solution, colour_of(i)


def _shade(panel: Any, spans: Sequence[tuple[float, float]], colour: str, **more: Any) -> None:
    """Spans of time behind a panel, drawn as one object however many they are."""
    some = [spans[i] for i in evenly(len(spans), _MOST_SPANS)]
    bars = [(start, end - start) for start, end in some]
    panel.broken_barh(bars, (0.0, 1.0), transform=panel.get_xaxis_transform(), color=colour, lw=0, zorder=0, **more)


@mpl.rc_context(_STYLE)
def trajectory_figure(
    solutions: Mapping[str, Solution],
    reference: Reference | None = None,
    stops: Stops | StopPlaces | None = None,
    title: str = "",
) -> Figure:
    """Seen from above, east to the right, equal scales. Stops: of the filters in black, of the reference as rings."""
    known = reference.at_samples() if isinstance(reference, RecordedMotion) else reference
    places = [positions(s)[:, :2] for s in solutions.values()]
    if known is not None and known.p_n is not None:
        places.append(known.p_n[:, :2])
    if stops is not None:
        places.append(stops.p_n[:, :2])
    width, height, low, high = _frame(places)
    figure, axes = panels(1, 1, (width, height))
    panel = axes[0, 0]
    if known is not None and known.p_n is not None:
        p = known.p_n[evenly(len(known.p_n))]
        panel.plot(p[:, 0], p[:, 1], color=REFERENCE, lw=4.5, solid_capstyle="round", label="reference", zorder=1)
    if stops is not None:
        rings = {"ms": 10, "mfc": "white", "mec": GREY, "mew": 1.2}
        p = stops.p_n[evenly(len(stops.p_n))]
        panel.plot(p[:, 0], p[:, 1], "o", label="reference stops", zorder=2, **rings)
    for i, (name, solution, colour) in enumerate(_coloured(solutions)):
        p, ends = positions(solution), np.array([last for _, last in believed_stands(solution)], dtype=np.int64)
        line = p[evenly(len(p))]
        panel.plot(line[:, 0], line[:, 1], color=colour, lw=1.5, label=name, zorder=3 + i)
        if len(ends):
            ends = ends[evenly(len(ends))]
            # black as in paper C; with several solutions the rim has the colour of its solution
            rim = {"mec": colour if len(solutions) > 1 else "black", "mew": 0.9, "zorder": 20 + i}
            label = f"stops of {name}" if len(solutions) > 1 else "stops"
            panel.plot(p[ends, 0], p[ends, 1], "o", ms=4.6, mfc="black", label=label, **rim)
    panel.set_xlim(low[0], high[0])
    panel.set_ylim(low[1], high[1])
    panel.set_aspect("equal", adjustable="box")
    panel.set_xlabel("east, m")
    panel.set_ylabel("north, m")
    if title:  # above the figure: the panel's own title would be cut, since equal scales move the panel
        titled(figure, title, 10.0)
    columns = 1 if width < 5.0 else 3
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=columns)
    return figure


def _frame(places: Sequence[Array]) -> tuple[float, float, Array, Array]:
    """Size of the figure (inches) and the part of the plane to show; never thinner than a quarter of its length."""
    low, high = np.min([p.min(axis=0) for p in places], axis=0), np.max([p.max(axis=0) for p in places], axis=0)
    span = np.maximum(high - low, 0.28 * max(float((high - low).max()), 1e-3)) * 1.1
    middle = 0.5 * (low + high)
    aspect = span[1] / span[0]
    width, height = (6.4, 6.4 * aspect) if aspect <= 1.0 else (6.4 / aspect, 6.4)
    return max(width, 2.2) + 0.8, max(height, 2.0) + 1.2, middle - 0.5 * span, middle + 0.5 * span


@mpl.rc_context(_STYLE)
def error_figure(solutions: Mapping[str, Solution], reference: Reference, stops: Stops | None = None) -> Figure:
    """Position error over time in east, north and up with the filter's own three sigma, a column for each solution.

    The path length is on the upper axis. Each column has its own scale: a small error is judged by its own sigma.
    """
    figure, axes = panels(3, len(solutions), (max(10.0, 5.0 * len(solutions)), 5.6))
    for column, (name, solution, colour) in zip(axes.T, _coloured(solutions), strict=True):
        pair = matched(solution, reference)
        sigma, error_n = solution.sigma.get("p_n"), pair.error_n
        for i, panel in enumerate(column):
            if sigma is not None:
                _band(panel, pair.t, 3.0 * sigma[pair.rows, i], colour, 0.16, label="±3σ")
            thin = peaks(error_n[:, i])
            panel.plot(pair.t[thin], error_n[thin, i], color=colour, label="estimate − reference")
            panel.axhline(0.0, color="black", lw=0.6)
            if stops is not None:
                _shade(panel, list(zip(stops.start_s, stops.end_s, strict=True)), "#f0f2f4")
            panel.set_xlim(pair.t[0], pair.t[-1])
        # one scale within a column, so that east, north and up can be compared
        most = max(abs(limit) for panel in column for limit in panel.get_ylim())
        for panel in column:
            panel.set_ylim(-most, most)
        column[0].set_title(name, pad=8.0)
        column[-1].set_xlabel("time, s")
        _path_length_axis(column[0], pair.t, pair.length_m)
    for panel, word in zip(axes[:, 0], ("east", "north", "up"), strict=True):
        panel.set_ylabel(f"error {word}, m")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)  # errors go anywhere in their panels
    return figure


def _band(panel: Any, t: Array, half: Array, colour: str, alpha: float, **more: Any) -> None:
    thin = peaks(half)
    panel.fill_between(t[thin], -half[thin], half[thin], color=colour, alpha=alpha, lw=0, **more)


def _path_length_axis(panel: Any, t: Array, length_m: Array) -> None:
    """Ticks above the panel with the distance travelled."""
    above = panel.secondary_xaxis("top")
    ticks = [x for x in panel.get_xticks() if t[0] <= x <= t[-1]]
    above.set_xticks(ticks, [f"{np.interp(x, t, length_m):.2f}" for x in ticks])
    above.set_xlabel("path length, m")
    above.tick_params(length=2.0)


@mpl.rc_context(_STYLE)
def attitude_figure(solutions: Mapping[str, Solution], reference: Reference | None = None) -> Figure:
    """Heading (clockwise from north), pitch (nose up), roll (right side down); next to them errors with three sigma."""
    known = reference.at_samples() if isinstance(reference, RecordedMotion) else reference
    true_q = getattr(known, "q_nb", None)
    figure, axes = panels(3, 1 if true_q is None else 2, (10.0, 5.6))
    if known is not None and true_q is not None:
        _angle_lines(axes[:, 0], known.t, true_q, color=REFERENCE, lw=3.5, label="reference")
    for name, solution, colour in _coloured(solutions):
        _angle_lines(axes[:, 0], solution.t, solution.q_nb, color=colour, lw=1.2, label=name)
        if known is not None and true_q is not None:
            _attitude_errors(axes[::-1, 1], solution, known, colour)
    for panel, word in zip(axes[:, 0], ("heading", "pitch", "roll"), strict=True):
        panel.set_ylabel(f"{word}, °")
    if true_q is not None:
        for panel, word in zip(axes[:, 1], ("up", "north", "east"), strict=True):
            panel.axhline(0.0, color="black", lw=0.6)
            panel.set_ylabel(f"error about {word}, °")
    for panel in axes[-1]:
        panel.set_xlabel("time, s")
    axes[0, 0].legend(ncols=3, **LEGEND_ABOVE)
    return figure


def _attitude_errors(upwards: NDArray[Any], solution: Solution, known: Reference, colour: str) -> None:
    """Errors about east, north and up; the panels are ordered from below to above."""
    pair = matched(solution, known)
    error, sigma = np.degrees(pair.attitude_error_n), solution.sigma.get("attitude_n")
    for i, panel in enumerate(upwards):
        if sigma is not None:
            _band(panel, pair.t, 3.0 * np.degrees(sigma[pair.rows, i]), colour, 0.13)
        thin = peaks(error[:, i])
        panel.plot(pair.t[thin], error[thin, i], color=colour)


def _angle_lines(upright: NDArray[Any], t: Array, q: Array, **style: Any) -> None:
    """Heading, pitch and roll, in panels below each other."""
    for panel, degrees in zip(upright, _unwrapped_angles(q), strict=True):
        thin = peaks(degrees)
        panel.plot(t[thin], degrees[thin], **style)


def _unwrapped_angles(q: Array) -> Array:
    """Heading, pitch, roll of every sample: degrees without jumps, starting in [-90, 270). So two lines that begin near
    south begin at the same turn. The angles are made piece by piece, because intermediate results need ten times the
    memory.
    """
    degrees = np.empty((3, len(q)))
    for begin in range(0, len(q), _PIECE):
        some = slice(begin, begin + _PIECE)
        for line, angle in zip(degrees, heading_from_q(q[some]), strict=True):
            before = line[begin - 1 : begin] if begin else np.empty(0)
            line[some] = np.unwrap(np.concatenate([before, np.degrees(angle)]), period=360.0)[len(before) :]
    for line in degrees:
        line += 360.0 if line[0] < -90.0 else 0.0
    return degrees


@mpl.rc_context(_STYLE)
def bias_figure(solutions: Mapping[str, Solution]) -> Figure | None:
    """Estimated biases with three sigma, a row for each instrument; None where no filter estimates any."""
    keys = list(dict.fromkeys(key for s in solutions.values() for key in s.bias))
    if not keys:
        return None
    figure, axes = panels(len(keys), 3, (10.0, 0.9 + 2.3 * len(keys)))
    for row, key in zip(axes, keys, strict=True):
        word, unit, factor = _BIAS_UNITS.get(key, (f"bias {key}", "SI", 1.0))
        for name, solution, colour in _coloured(solutions):
            if key not in solution.bias:
                continue
            for i, panel in enumerate(row):
                thin = peaks(solution.bias[key][:, i])
                t, bias = solution.t[thin], factor * solution.bias[key][thin, i]
                if key in solution.sigma:
                    band = 3.0 * factor * solution.sigma[key][thin, i]
                    panel.fill_between(t, bias - band, bias + band, color=colour, alpha=0.13, lw=0)
                panel.plot(t, bias, color=colour, label=name)
        for i, panel in enumerate(row):
            panel.set_title(f"{word} {'xyz'[i]}, {unit}")
    for panel in axes[-1]:
        panel.set_xlabel("time, s")
    handles = {label: h for row in axes for p in row for h, label in zip(*p.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=max(len(handles), 1))
    return figure


class Innovations(Protocol):
    """Innovations of a filter's track, for one kind of measurement: times (s), NIS, which were used, number of
    components.
    """

    @property
    def t(self) -> Array: ...
    @property
    def nis(self) -> Array: ...
    @property
    def taken(self) -> NDArray[np.bool_]: ...
    @property
    def degrees(self) -> int: ...


@mpl.rc_context(_STYLE)
def innovation_figure(updates: Mapping[str, Innovations], probability: float = 0.95) -> Figure:
    """Normalised squares of the innovations, a row for each kind of update, between their chi-square bounds."""
    figure, axes = panels(len(updates), 1, (8.0, 0.8 + 2.0 * len(updates)))
    for panel, (name, found) in zip(axes[:, 0], updates.items(), strict=True):
        low, high = chi_square_bounds(found.degrees, 1, probability)
        least = 0.2 * low  # a zero has no place on a logarithmic scale
        shown = np.maximum(found.nis, least)
        panel.axhspan(
            low, high, color="#e8f1ea", lw=0, zorder=0, label=f"{100 * probability:g} % of a consistent filter"
        )
        for rows, marks in (
            (np.flatnonzero(found.taken), {"marker": ".", "ms": 2.5, "color": colour_of(0), "label": "used"}),
            (np.flatnonzero(~found.taken), {"marker": "x", "ms": 4, "color": "#c0392b", "label": "rejected"}),
        ):
            if len(rows):
                some = rows[cloud(shown[rows])]
                panel.semilogy(found.t[some], shown[some], ls="none", **marks)
        mean = f", mean {found.nis[found.taken].mean():.3g}" if found.taken.any() else ""
        below = int(np.sum(found.nis < least))
        floor = f", {100.0 * below / len(found.nis):.2g} % below {least:.2g}, drawn there" if below else ""
        panel.set_title(f"{name}: {found.degrees} component{'s' if found.degrees > 1 else ''}{mean}{floor}")
        panel.set_ylabel("NIS")
    axes[-1, 0].set_xlabel("time, s")
    entries = {label: h for p in axes[:, 0] for h, label in zip(*p.get_legend_handles_labels(), strict=True)}
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=3)
    return figure


@mpl.rc_context(_STYLE)
def detector_figure(
    t: Array, statistic: Array, threshold: float | Array, flags: Mapping[str, NDArray[np.bool_]], label: str
) -> Figure:
    """The signal of a stop detector with its threshold; the background marks believed, doubted and rejected stops."""
    figure, axes = panels(1, 1, (8.0, 3.2))
    panel = axes[0, 0]
    for name, colour in _STOP_COLOURS.items():
        spans = [(t[first], t[last]) for first, last in stands(t, flags[name])] if name in flags else []
        if spans:
            _shade(panel, spans, colour, alpha=0.16, label=name.replace("_", " "))
    limit = np.broadcast_to(np.asarray(threshold, dtype=np.float64), t.shape)
    above = statistic[statistic > 0.0]
    if len(above) and statistic.max() > 20.0 * float(limit.min()) > 0.0:
        # stops lie around the threshold, moves far above it; an empty window has 0, which a log axis has not
        least = max(float(above.min()), 1e-3 * float(limit.min()))
        if (statistic < least).any():
            panel.set_title(f"smaller values are drawn at {least:.2g}", fontsize=8)
        statistic = np.maximum(statistic, least)
        panel.set_yscale("log")
    for values, style in (
        (statistic, {"color": "#34495e", "lw": 0.9, "label": label}),
        (limit, {"color": "#c0392b", "lw": 1.1, "ls": "--", "label": "threshold"}),
    ):
        thin = peaks(values)
        panel.plot(t[thin], values[thin], **style)
    panel.set_xlim(t[0], t[-1])
    panel.set_xlabel("time, s")
    panel.set_ylabel(label)
    figure.legend(*panel.get_legend_handles_labels(), loc="outside upper right", ncols=5)
    return figure


def stops_figure(found: Navigated) -> Figure:
    """detector_figure for the result of navigate."""
    stops = found.stops
    return detector_figure(stops.t, stops.signal, stops.threshold, stops.flags, "detector")

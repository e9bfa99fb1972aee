"""Allan curves: measured with their band, fitted, and the processes that the fit is made of."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.calibration.noise.static_log import InstrumentNoise, LogNoise
from strapdown.calibration.noise.units import USUAL
from strapdown.reporting.figures import AXIS_COLOURS, GREY, STYLE, panels, plain_ticks, titled

COMPARED = ("#2460a7", "#d35400", "#1e8449", "#8e44ad")  # of the logs
_TERM_STYLE = {
    "quantisation": ("Q", (0, (1, 1))),
    "white": ("N", "--"),
    "instability": ("B", "-."),
    "markov": ("GM", (0, (4, 1, 1, 1, 1, 1))),
    "walk": ("K", ":"),
    "ramp": ("R", (0, (6, 2))),
}


_TERM_WORDS = {
    "Q": "quantisation",
    "N": "white noise",
    "B": "bias instability",
    "GM": "Gauss-Markov",
    "K": "random walk",
    "R": "steady drift",
}


@mpl.rc_context(STYLE)
def allan_figure(log: LogNoise, title: str, with_fit: bool = True) -> Figure:
    """A row for each instrument, a panel for each axis; all panels of a row have the same scales."""
    figure, axes = panels(len(log.instruments), 3, (11.0, 0.6 + 3.2 * len(log.instruments)), sharex=False)
    for row, found in zip(axes, log.instruments.values(), strict=True):
        unit, factor = next(iter(USUAL[found.name]["instability"].items()))
        measured = factor * found.curve.deviation
        for i, panel in enumerate(row):
            _draw(panel, found, i, factor, with_fit)
            panel.set_title(f"{found.name} {'xyz'[i]}")
            panel.set_ylim(0.3 * measured.min(), 3.0 * measured.max())
            panel.set_xlabel("averaging time, s")
        row[0].set_ylabel(f"Allan deviation, {unit.replace('ug', 'µg')}")
    entries = {label: h for p in axes.flat for h, label in zip(*p.get_legend_handles_labels(), strict=True)}
    order = ["measured", next(label for label in entries if label.endswith("band")), "fit"]
    order = [label for label in order if label in entries] + [
        f"{short} {_TERM_WORDS[short]}"
        for short, _ in _TERM_STYLE.values()
        if f"{short} {_TERM_WORDS[short]}" in entries
    ]
    # outside: curves go anywhere in their panels
    figure.legend([entries[label] for label in order], order, loc="outside lower center", ncols=min(len(order), 6))
    titled(figure, f"{title}: {log.duration_s:.4g} s at {1.0 / log.step_s:.5g} Hz, at rest")
    return figure


def _draw(panel: Any, found: InstrumentNoise, i: int, factor: float, with_fit: bool) -> None:
    tau, band, noise = found.curve.tau_s, found.bands[i], found.fits[i].noise
    colour = AXIS_COLOURS[i]
    panel.loglog(tau, factor * found.curve.deviation[:, i], "o", ms=3, color=colour, label="measured")
    label = f"{100 * band.probability:.0f} % band"
    panel.fill_between(tau, factor * band.low, factor * band.high, color=colour, alpha=0.2, lw=0, label=label)
    if with_fit:
        fine = np.geomspace(tau[0], tau[-1], 200)
        panel.loglog(fine, factor * noise.deviation(fine), color="black", lw=1.1, label="fit")
        for name, variance in noise.variances(fine).items():
            if variance.max() > 0.0 and np.sqrt(variance.max()) < noise.deviation(fine).max() * 1.001:
                short, style = _TERM_STYLE[name]
                label = f"{short} {_TERM_WORDS[short]}"
                panel.loglog(fine, factor * np.sqrt(variance), color=GREY, ls=style, lw=1.0, label=label)


@mpl.rc_context({**STYLE, "text.parse_math": False})
def allan_comparison(logs: Mapping[str, LogNoise], title: str) -> Figure:
    """The measured curves of several logs in the same panels, a colour for each log."""
    instruments = list(dict.fromkeys(name for log in logs.values() for name in log.instruments))
    figure, axes = panels(len(instruments), 3, (11.0, 0.9 + 3.0 * len(instruments)), sharex=False)
    for row, name in zip(axes, instruments, strict=True):
        unit, factor = next(iter(USUAL[name]["instability"].items()))
        for k, (log_name, log) in enumerate(logs.items()):
            if name not in log.instruments:
                continue
            found, colour = log.instruments[name], COMPARED[k % len(COMPARED)]
            for i, panel in enumerate(row):
                tau, band = found.curve.tau_s, found.bands[i]
                panel.loglog(
                    tau, factor * found.curve.deviation[:, i], color=colour, marker="o", ms=2.5, label=log_name
                )
                panel.fill_between(tau, factor * band.low, factor * band.high, color=colour, alpha=0.15, lw=0)
        low, high = min(p.get_ylim()[0] for p in row), max(p.get_ylim()[1] for p in row)
        for i, panel in enumerate(row):
            panel.set_ylim(low, high)
            panel.set_title(f"{name} {'xyz'[i]}")
            panel.set_xlabel("averaging time, s")
            plain_ticks(panel.xaxis)
            plain_ticks(panel.yaxis)
        row[0].set_ylabel(f"Allan deviation, {unit.replace('ug', 'µg')}")
    entries = {label: h for p in axes.flat for h, label in zip(*p.get_legend_handles_labels(), strict=True)}
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=3)
    titled(figure, title)
    return figure

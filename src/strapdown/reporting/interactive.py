"""The curves of a figure as data, for the script of a report that zooms, reads values and hides curves.

The picture itself stays in the report: it is printed, and shown where scripts do not run.
"""

import base64
import json
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

LEAST_POINTS = 2  # of a curve


def data_of(figure: Figure) -> str | None:
    """Panels and curves as JSON for interactive.js; None where nothing in the figure is a curve in a plane."""
    figure.canvas.draw()  # the layout is made when it is drawn
    width, height = figure.get_size_inches()
    panels = [found for axis in figure.axes if (found := _panel(axis)) is not None]
    if not panels or any(axis.name == "3d" for axis in figure.axes):
        return None
    names = {name: colour for panel in panels for name, colour in panel.pop("names")}
    for panel in panels:
        for curve in (*panel["lines"], *panel["bands"]):
            if curve["name"] not in names:  # without a name of its own: that of its colour, in whatever panel
                curve["name"] = next((name for name, colour in names.items() if colour == curve["colour"]), "")
    document = {"aspect": height / width, "panels": panels, "names": [[name, names[name]] for name in names]}
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _panel(axis: Any) -> dict[str, Any] | None:
    lines = [found for line in axis.lines if (found := _line(axis, line)) is not None]
    bands = [found for fill in axis.collections if (found := _band(axis, fill)) is not None]
    if not lines:
        return None
    box = axis.get_position()
    named = [(curve["name"], curve["colour"]) for curve in (*lines, *bands) if curve["name"]]
    return {
        "box": [round(x, 4) for x in (box.x0, box.y0, box.width, box.height)],
        "x": [*axis.get_xlim(), axis.get_xscale() == "log"],
        "y": [*axis.get_ylim(), axis.get_yscale() == "log"],
        "equal": axis.get_aspect() == 1.0,
        "labels": [axis.get_xlabel(), axis.get_ylabel(), axis.get_title(loc="left") or axis.get_title()],
        "lines": lines,
        "bands": bands,
        "names": named,
    }


def _line(axis: Any, line: Any) -> dict[str, Any] | None:
    if line.get_transform() != axis.transData or not line.get_visible():
        return None
    x, y = (np.asarray(values, dtype=np.float64) for values in (line.get_xdata(), line.get_ydata()))
    if len(x) < 1 or (len(x) < LEAST_POINTS and line.get_marker() in ("None", None, "")):
        return None
    marker = line.get_marker()
    return {
        "name": _name(line),
        "colour": to_hex(line.get_color()),
        "width": 0.0 if line.get_linestyle() in ("None", "") else float(line.get_linewidth()),
        "alpha": float(line.get_alpha() or 1.0),
        "dashed": line.get_linestyle() not in ("-", "None", ""),
        "dot": 0.0 if marker in ("None", None, "") else float(line.get_markersize()),
        "face": to_hex(line.get_markerfacecolor()),
        "x": _packed(x),
        "y": _packed(y),
    }


def _band(axis: Any, fill: Any) -> dict[str, Any] | None:
    """A filled area of fill_between; its outline is one closed path."""
    if not isinstance(fill, PolyCollection) or fill.get_transform() != axis.transData:
        return None
    corners = [np.asarray(path.vertices) for path in fill.get_paths()]
    outline = max(corners, key=len, default=np.empty((0, 2)))
    if len(outline) <= LEAST_POINTS:
        return None
    return {
        "name": _name(fill),
        "colour": to_hex(fill.get_facecolor()[0]),
        "alpha": float(fill.get_facecolor()[0][3]),
        "x": _packed(outline[:, 0]),
        "y": _packed(outline[:, 1]),
    }


def _name(artist: Any) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else label


def _packed(values: Any) -> str:
    """Numbers of 32 bits, relative to their first value, which has all its digits."""
    values = np.asarray(values, dtype=np.float64)
    apart = (values - values[0]).astype("<f4").tobytes()
    return f"{float(values[0])!r}:{base64.b64encode(apart).decode('ascii')}"

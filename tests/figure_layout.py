"""What is wrong with a figure's layout: text that is cut off, legends over titles, over each other or over data."""

import itertools
import warnings

import numpy as np


def faults(figure):
    """One sentence for each fault of a drawn figure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.canvas.draw()
    renderer, page = figure.canvas.get_renderer(), figure.bbox
    texts = [("title of the figure", figure._suptitle)] if figure._suptitle is not None else []
    boxes, found = [], []
    for number, axis in enumerate(figure.axes):
        for what in ("title", "_left_title", "_right_title"):
            text = getattr(axis, what)
            if text.get_text():
                texts.append((f"title {text.get_text()!r}", text))
        for side in (axis.xaxis, axis.yaxis):
            low, high = sorted(side.get_view_interval())
            labels = [side.label, *(t.label1 for t in side.get_major_ticks() if low <= t.get_loc() <= high)]
            texts += [(f"label {t.get_text()!r}", t) for t in labels if t.get_text() and t.get_visible()]
        if axis.get_legend() is not None:
            boxes.append((f"legend of panel {number}", axis.get_legend().get_window_extent(renderer), axis))
    notes = [(f"text {t.get_text()!r}", t) for axis in figure.axes for t in axis.texts if t.get_text().strip()]
    for (what, one), (other, two) in itertools.combinations(notes, 2):
        if _overlap(one.get_window_extent(renderer), two.get_window_extent(renderer)):
            found.append(f"{what} covers {other}")
    texts += notes
    boxes += [("legend of the figure", legend.get_window_extent(renderer), None) for legend in figure.legends]
    for what, text in texts:
        box = text.get_window_extent(renderer)
        if "$" in text.get_text() and "mathdefault" in text.get_text() and not text.get_parse_math():
            found.append(f"{what} shows mathematical markup")
        visible = box.width > 0 and box.height > 0
        if visible and (box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1):
            found.append(f"{what} is cut off")
    for what, box, owner in boxes:
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1:
            found.append(f"{what} is cut off")
        for other, text in texts:
            if other.startswith(("title", "text")) and _overlap(box, text.get_window_extent(renderer)):
                found.append(f"{what} covers {other}")
        for axis in figure.axes:
            found += [f"{what} covers {hit}" for hit in _hits(axis, box)]
        del owner
    return found


def _overlap(a, b):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


def _hits(axis, box):
    """Lines of a panel that pass under a box."""
    window = axis.get_window_extent()
    for line in axis.get_lines():
        if line.get_transform() is not axis.transData or not len(line.get_xdata()):
            continue
        points = axis.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float))
        if len(points) > 1 and line.get_linestyle() not in ("None", "", " "):
            steps = np.linspace(0.0, 1.0, 20)[:, None]
            points = np.concatenate([a + steps * (b - a) for a, b in itertools.pairwise(points)])
        inside = (points > [box.x0, box.y0]) & (points < [box.x1, box.y1])
        shown = (points >= [window.x0, window.y0]) & (points <= [window.x1, window.y1])
        if (inside & shown).all(axis=1).any():
            yield f"line {line.get_label()!r}"

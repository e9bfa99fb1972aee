"""The report as a real browser shows it: all pictures drawn, nothing cut off, nothing asked of the network."""

import json
import os
import re
import shutil
import subprocess

import pytest
from test_report import PATH, TRUTH, drifting

from strapdown.reporting.report import write_report

WIDTH = 1100
# what the page looks like from within, expressed in its title: --dump-dom prints it
ASKED = """<script>
addEventListener("load", () => {
  const images = [...document.images];
  document.title = JSON.stringify({
    images: images.length,
    drawn: images.filter((image) => image.complete && image.naturalWidth > 0).length,
    wide: document.documentElement.scrollWidth,
    fetched: performance.getEntriesByType("resource").filter((e) => !e.name.startsWith("data:")).map((e) => e.name),
    names: getComputedStyle(document.querySelector("tr.names")).display,
    stops: document.querySelectorAll("table.stops tbody tr").length,
    below: document.querySelector("table.stops").getBoundingClientRect().bottom,
  });
});
</script>"""


def browser():
    """Chromium, or a skip with its reason; CI installs it (.ci/run) and may not skip."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if not found and os.environ.get("CI") == "true":
        pytest.fail("CI has no chromium; .ci/run installs it")
    if not found:
        pytest.skip("needs a chromium in the PATH")
    return found


def shown(folder, page):
    """What the page is about itself in a window of 1100 points."""
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--virtual-time-budget=3000",
    ]
    command += [f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},2000", "--dump-dom", page.as_uri()]
    out = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    title = re.search(r"<title>(.*?)</title>", out, re.DOTALL)
    assert title, out[:500]
    return json.loads(title[1].replace("&quot;", '"').replace("&amp;", "&"))


def test_the_report_in_a_browser(tmp_path):
    browser()
    page = tmp_path / "report.html"
    write_report(
        page,
        {"eskf": drifting(0.001), "ekf15": drifting(-0.004, "ekf15")},
        title="Two filters",
        reference=TRUTH,
        stops=PATH.stops,
    )
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", ASKED + "</body>"), encoding="utf-8")
    seen = shown(tmp_path, page)
    assert seen["images"] >= 4
    assert seen["drawn"] == seen["images"]
    assert seen["wide"] <= WIDTH  # nothing needs scrolling sideways
    assert seen["fetched"] == []
    assert seen["stops"] == len(PATH.stops.p_n)
    assert seen["names"] == "table-row"  # each name stands above its own columns
    assert seen["below"] < 1000.0  # the table is what one sees first, not a picture


OPERATED = """<script>
addEventListener("load", () => setTimeout(() => {
  const figure = [...document.querySelectorAll("figure.live")].find((f) => /Error/.test(f.querySelector("img").alt));
  const chart = figure.chart, canvas = chart.canvas, panel = chart.data.panels[0];
  const box = canvas.getBoundingClientRect(), [left, top, w, h] = chart.frame(panel);
  const at = (fx, fy, more = {}) => ({ clientX: box.left + left + fx * w, clientY: box.top + top + fy * h,
    bubbles: true, cancelable: true, pointerId: 1, ...more });
  canvas.setPointerCapture = () => {};
  const span = () => panel.x[1] - panel.x[0];
  const home = span();
  canvas.dispatchEvent(new PointerEvent("pointermove", at(0.5, 0.5)));
  const read = chart.tip.textContent, seen = getComputedStyle(chart.tip).display;
  canvas.dispatchEvent(new WheelEvent("wheel", at(0.5, 0.5, { deltaY: -1 })));
  const under = chart.data.panels.find((p) => p !== panel && p.box[0] === panel.box[0]);
  const wheeled = span(), below = under.x[1] - under.x[0];
  canvas.dispatchEvent(new MouseEvent("dblclick", at(0.5, 0.5)));
  const reset = span();
  canvas.dispatchEvent(new PointerEvent("pointerdown", at(0.25, 0.5)));
  canvas.dispatchEvent(new PointerEvent("pointermove", at(0.5, 0.5)));
  canvas.dispatchEvent(new PointerEvent("pointerup", at(0.5, 0.5)));
  const dragged = span();
  const image = () => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const ink = () => image().reduce((s, v) => s + v, 0);
  chart.reset();
  const before = ink(), button = figure.querySelector(".curves button");
  button.click();
  const hidden = ink();
  button.click();
  document.title = JSON.stringify({ charts: document.querySelectorAll(".chart canvas").length, home, wheeled, below,
    reset, dragged, read, seen, changed: before !== hidden, back: ink() === before, name: button.textContent,
    wide: document.documentElement.scrollWidth });
}, 300));
</script>"""


def test_figures_zoom_read_and_hide(tmp_path):
    browser()
    page = tmp_path / "report.html"
    write_report(page, {"eskf": drifting(0.001), "ekf15": drifting(-0.004, "ekf15")}, reference=TRUTH)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="http', text)
    page.write_text(text.replace("</body>", OPERATED + "</body>"), encoding="utf-8")
    seen = shown(tmp_path, page)
    assert seen["charts"] >= 4 and seen["wide"] <= WIDTH
    assert seen["wheeled"] < 0.9 * seen["home"] and seen["below"] == seen["wheeled"]  # the same time below
    assert seen["reset"] == seen["home"]
    assert abs(seen["dragged"] / seen["home"] - 0.25) < 0.01  # pixels
    assert seen["seen"] == "block" and "estimate − reference: " in seen["read"]
    assert seen["changed"] and seen["back"], seen["name"]

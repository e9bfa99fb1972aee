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
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
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
    assert seen["below"] < 1000.0  # the table is what one sees first, not a picture

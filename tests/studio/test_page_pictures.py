"""Pictures of every view, for the documentation. STRAPDOWN_PICTURES=1 writes them to docs/pictures."""

import os

import pytest
from page_browser import ROOT, PageStudio, Visitor, browser_running, need_browser

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    need_browser()
    studio = PageStudio(tmp_path_factory.mktemp("page"))
    with browser_running() as browser:
        made = Visitor(browser, studio, "&q=high&theme=dark", width=1440, height=900)
        made.page.goto(f"{studio.origin}?tour=0&theme=dark")
        made.until("window.strapdown && strapdown.world().session !== null")
        made.run("quadcopter")
        made.power()
        made.calibrate()
        made.arm()
        made.hold(["w"], 2.5)
        made.hold(["ArrowUp", "d"], 2.0)
        made.hold(["ArrowLeft"], 1.5)
        made.page.keyboard.down("ArrowUp")
        made.wait(0.8)
        yield made
        made.close()
    studio.stop()


@pytest.mark.parametrize("view", ["fly", "diagram", "calibrate", "report", "chooser"])
def test_picture_of_a_view(visitor, tmp_path, view):
    visitor.show(view)
    if view == "calibrate":
        visitor.page.get_by_role("button", name="Six positions").first.click()
        visitor.until("strapdown.world().calibration?.workflow === 'six_positions'")
    if view == "report":
        visitor.page.get_by_role("heading", name="Errors").wait_for()
    visitor.page.wait_for_timeout(2500)
    folder = ROOT / "docs" / "pictures" if os.environ.get("STRAPDOWN_PICTURES") else tmp_path
    path = folder / f"studio_{view}.png"
    visitor.page.screenshot(path=path)
    data = path.read_bytes()
    assert data.startswith(PNG)
    assert len(data) > 20_000  # bytes; an empty page has a tenth of it
    visitor.page.keyboard.up("ArrowUp")

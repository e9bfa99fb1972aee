"""A live module in the browser: choose its port, see its charts move, calibrate, record, download, orient."""

import os
import subprocess
import sys

import numpy as np
import pytest
from page_browser import AXE, ROOT, PageStudio, Visitor, need_browser
from PIL import Image

from device_cases import emulated

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")


@pytest.fixture(scope="module")
def at_home(tmp_path_factory):
    """A studio of its own: what it keeps of modules is not the user's."""
    need_browser()
    folder = tmp_path_factory.mktemp("device")
    before = os.environ.get("STRAPDOWN_MODULES")
    os.environ["STRAPDOWN_MODULES"] = str(folder / "modules")
    with PageStudio(folder) as made:
        yield made
    if before is None:
        del os.environ["STRAPDOWN_MODULES"]
    else:
        os.environ["STRAPDOWN_MODULES"] = before


def connect(visitor, port):
    visitor.show("chooser")
    visitor.page.get_by_label("Port of the module").select_option("")
    visitor.page.get_by_label("Address of the module").fill(port)
    visitor.page.get_by_role("button", name="Connect").click()


def test_a_module_is_chosen_seen_calibrated_recorded_and_its_file_oriented(browser, at_home, tmp_path):
    visitor = Visitor(browser, at_home)
    page = visitor.page
    connect(visitor, "/dev/ttyNOT")
    page.get_by_text("There is no port /dev/ttyNOT").wait_for()
    with emulated("rest", "--pace", "8", "--seed", "3") as port:
        connect(visitor, port)
        visitor.until("strapdown.world().session.mode === 'device' && strapdown.rows() > 100")
        assert visitor.ask("location.hash") == "#fly"
        charts = visitor.ask("strapdown.world().charts.map((chart) => chart.title)")
        assert charts[:4] == ["Accelerometer", "Gyroscope", "Magnetometer", "Attitude"]
        assert not visitor.ask("strapdown.world().signals.some((s) => s.role === 'truth')")
        for name in ("Arm", "Run", "Pause", "Reset"):
            assert page.get_by_role("button", name=name, exact=True).count() == 0
        visitor.wait(1.0)  # the charts move
        page.keyboard.press("p")  # does nothing: a module is not paused
        visitor.wait(1.0)
        force = visitor.column("sensor/module/accelerometer", 2, 0.0)
        assert len(force) > 100 and 8.0 < np.nanmean(force) < 11.0  # NaN: a slow computer makes a gap
        no_serious_fault(visitor)

        page.get_by_role("button", name="Record", exact=True).click()
        visitor.until("(strapdown.now().state & 2) !== 0")
        visitor.show("calibrate")
        page.get_by_role("button", name="Start: At rest").click()
        page.get_by_role("button", name="Take readings").click()
        visitor.until("strapdown.world().calibration.state === 'taking'")
        visitor.until("['done', 'failed'].includes(strapdown.world().calibration.state)")
        assert visitor.ask("strapdown.world().calibration.error") == ""
        before, after = visitor.ask("['before', 'after'].map((x) => strapdown.world().calibration[x][0].value)")
        assert after < 0.02 * before
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save", exact=True).click()
        serial = visitor.ask("strapdown.world().device.serial")
        assert f'specimen = "{serial}"' in saved.value.path().read_text()
        visitor.until("strapdown.world().device.kept !== null")
        visitor.show("fly")
        page.get_by_role("button", name="End the recording").click()
        with page.expect_download() as recorded:
            page.get_by_role("link", name="Download").click()
        file = tmp_path / recorded.value.suggested_filename
        assert file.suffix == ".module"
        recorded.value.save_as(file)
    oriented = subprocess.run(
        [sys.executable, "-m", "strapdown", "orient", str(file), "--json"], capture_output=True, text=True, timeout=300
    )
    assert oriented.returncode == 0, oriented.stderr
    assert visitor.errors == []
    visitor.close()


def test_a_port_that_vanishes_and_returns_is_stated_on_the_page(browser, at_home):
    visitor = Visitor(browser, at_home)
    page = visitor.page
    with emulated("calibration", "--tcp", "0", "--pace", "4") as port:
        connect(visitor, port)
        visitor.until(f"strapdown.world().device?.port === '{port}' && strapdown.rows() > 200")  # not the module before
        picture(visitor, "studio_device")
    page.get_by_text(f"The port {port} has vanished.").wait_for()
    assert visitor.ask("strapdown.world().lights.find((l) => l.name === 'line').word") == "port vanished"
    t = visitor.ask("strapdown.now().t")
    with emulated("rest", "--tcp", port.rpartition(":")[2], "--pace", "4"):
        visitor.until(f"strapdown.now().t > {t} + 1")
        page.get_by_text(f"The port {port} has vanished.").wait_for(state="detached")
    assert visitor.errors == []
    visitor.close()


def no_serious_fault(visitor):
    """By axe-core, in the views that a module has."""
    assert AXE.is_file(), "axe-core is not installed; run npm ci in web/"
    visitor.ask(AXE.read_text(encoding="utf-8") + "; true")
    for view in ("chooser", "calibrate", "fly"):
        visitor.show(view)
        visitor.page.wait_for_timeout(300)
        found = visitor.ask("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        assert [(view, v["id"], [n["target"] for n in v["nodes"]][:3]) for v in serious] == []


def picture(visitor, name):
    """STRAPDOWN_PICTURES=1 takes the picture of the docs, from a second page that looks at the same module."""
    if not os.environ.get("STRAPDOWN_PICTURES"):
        return
    second = Visitor(visitor.context.browser, visitor.studio, "&theme=dark", quality="high", width=1440, height=900)
    second.show("fly")
    second.until("strapdown.now().t > 19")
    path = ROOT / "docs" / "pictures" / f"{name}.png"
    second.page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    second.close()

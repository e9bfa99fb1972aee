"""A person's session in the browser, from power on to the report; pictures of every view; faults of accessibility."""

import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from page_browser import AXE, ROOT, Visitor
from PIL import Image

GYRO = "sensor/imu/gyroscope"
PNG = b"\x89PNG\r\n\x1a\n"
# wires of our filter behind the calibration block: input, source
FILTER = {
    "gyroscope": "IMU block.gyroscope",
    "accelerometer": "IMU block.accelerometer",
    "hold": "IMU block.busy",
    "start": "IMU block.attitude",
    "bias_sigma": "IMU block.bias_sigma",
    "tilt_sigma": "IMU block.tilt_sigma",
}


def take_off(visitor):
    visitor.calibrate()
    visitor.arm()
    visitor.hold(["w"], 3.0)
    visitor.until("(strapdown.now().state & 32) !== 0")


def spread(visitor, signal, part, seconds):
    t = visitor.ask("strapdown.now().t")
    visitor.wait(seconds)
    values = np.array(visitor.column(signal, part, t + 0.2), dtype=float)
    return values[np.isfinite(values)].std()


def test_a_session_from_power_on_to_the_report(visitor, tmp_path):
    visitor.run("quadcopter")
    visitor.power()
    more_noise_spreads_the_readings_as_the_model_says(visitor)
    take_off(visitor)
    assert visitor.height() > 0.5
    visitor.page.get_by_role("button", name="Record", exact=True).click()
    visitor.until("(strapdown.now().state & 2) !== 0")
    charts_follow_the_truth(visitor)
    a_magnetometer_fault_is_rejected_and_cleared(visitor)
    rewind_and_fly_on(visitor)
    pictures_of_all_views(visitor, tmp_path)
    download_orient_and_report(visitor, tmp_path)


def more_noise_spreads_the_readings_as_the_model_says(visitor):
    page = visitor.page
    page.get_by_role("button", name="Gyroscope", exact=True).click()
    field = page.get_by_label("White noise x, °/s/√Hz").first
    before = float(field.input_value())
    quiet = spread(visitor, GYRO, 0, 4.0)

    def fill(value):
        field.fill(str(value))
        field.press("Enter")
        visitor.until(
            "Math.abs(strapdown.world().sensors[0].instruments.find((i) => i.name === 'gyroscope').values.white[0]"
            f" / {np.radians(value)} - 1) < 1e-3"
        )

    fill(20.0 * before)
    loud = spread(visitor, GYRO, 0, 4.0)
    # white noise is in proportion to its density. 4 s at 100 Hz: the ratio of two spreads of 400 samples has a sigma
    # of 5 %; other noise of the part makes it up to a fifth smaller
    assert 14.0 < loud / quiet < 24.0
    assert page.get_by_text("1 edit").count() == 1
    # a bad value is not sent, and the reason stands under its row
    field.fill("-1")
    field.press("Enter")
    assert page.get_by_text("At least 0").count() >= 1
    fill(before)


def charts_follow_the_truth(visitor):
    t = visitor.ask("strapdown.now().t")
    visitor.hold(["ArrowRight"], 1.0)
    visitor.wait(1.0)
    estimate, truth = (np.array(visitor.column(f"{of}/attitude", 0, t)) for of in ("estimate", "truth"))
    assert np.abs(truth).max() > 3.0  # the vehicle leaned, deg
    n = min(len(estimate), len(truth))
    # deg; the filter is better than 2 deg in flight, a chart of something else would differ by more
    assert np.sqrt(np.mean((estimate[:n] - truth[:n]) ** 2)) < 3.0
    assert visitor.page.locator(".ch canvas").count() >= 5
    assert visitor.page.locator(".rd").filter(has_text="Gyroscope").locator("td").first.inner_text() not in ("", "–")
    # key-up centres the stick: the vehicle holds its height
    visitor.wait(1.5)
    held = visitor.height()
    visitor.wait(1.0)
    assert abs(visitor.height() - held) < 0.3  # m, while the speed decays


def a_magnetometer_fault_is_rejected_and_cleared(visitor):
    page = visitor.page
    page.get_by_role("button", name="Magnetometer", exact=True).click()
    page.get_by_role("button", name="Fault of imu magnetometer").click()
    page.get_by_role("menuitemradio", name=re.compile("^Bias jump")).click()
    visitor.until("Object.keys(strapdown.world().faults).length === 1")
    offset = page.get_by_label(re.compile("^Offset")).first
    offset.fill("60")
    offset.press("Enter")
    visitor.until("strapdown.world().lights.find((l) => l.name === 'mag').word === 'rejected'", 240.0)
    page.get_by_role("button", name="Clear fault").click()
    visitor.until("Object.keys(strapdown.world().faults).length === 0")
    assert [e["kind"] for e in visitor.ask("strapdown.world().events")].count("fault_ends") >= 1


def rewind_and_fly_on(visitor):
    page = visitor.page
    t = visitor.ask("strapdown.now().t")
    page.evaluate("document.activeElement.blur()")
    for _ in range(10):
        page.keyboard.press(",")
    looked = visitor.ask("strapdown.view().cursor")
    # the first look back is from the present, which goes on: 5 s of the simulation per second
    assert t - 11.0 < looked < t
    assert visitor.ask("strapdown.now().t") >= t  # looking back does not stop the others
    page.keyboard.press("Shift+Enter")
    visitor.until("strapdown.world().takes.takes.length === 1", 180.0)
    left = visitor.ask("strapdown.world().takes.takes[0]")
    assert abs(left["from_s"] - looked) < 0.05 and left["end_s"] >= t
    visitor.hold(["w"], 1.0)
    visitor.wait(0.5)
    assert visitor.height() > 0.3


def pictures_of_all_views(visitor, tmp_path):
    """STRAPDOWN_PICTURES=1 writes them to docs/pictures, from a second page that looks at the same flight."""
    final = bool(os.environ.get("STRAPDOWN_PICTURES"))
    size = {"quality": "high", "width": 1440, "height": 900} if final else {}
    second = Visitor(visitor.context.browser, visitor.studio, "&theme=dark", **size)
    folder = ROOT / "docs" / "pictures" if final else tmp_path
    if final:
        visitor.speed(1)
        visitor.page.keyboard.down("ArrowUp")
        visitor.page.keyboard.down("d")
        visitor.wait(2.0)
    for view in ("fly", "diagram", "calibrate", "report", "chooser"):
        second.show(view)
        if view == "calibrate":
            second.page.get_by_role("button", name="Six positions").first.click()
            second.until("strapdown.world().calibration?.workflow === 'six_positions'")
        if view == "report":
            second.page.get_by_role("heading", name="Errors").wait_for()
        second.page.wait_for_timeout(2500 if final else 200)
        path = folder / f"studio_{view}.png"
        second.page.screenshot(path=path)
        data = path.read_bytes()
        assert data.startswith(PNG) and len(data) > 20_000  # bytes; an empty page has a tenth of it
        if final:  # a quarter of the size
            Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
        if view == "fly":
            visitor.page.keyboard.up("ArrowUp")
            visitor.page.keyboard.up("d")
    assert second.errors == []
    second.close()


def download_orient_and_report(visitor, tmp_path):
    page = visitor.page
    page.get_by_role("button", name="End the recording").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    path = tmp_path / "recording.zip"
    waiting.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "log")
    log = tmp_path / "log" / "recording" / "recording.parquet"
    command = [sys.executable, "-m", "strapdown", "orient", str(log), "--filter", "mekf", "--output", "out"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((tmp_path / "out" / "mekf.csv").read_text().splitlines()) > 1000  # 500 readings per second
    visitor.show("report")
    page.get_by_role("heading", name="Errors").wait_for()
    assert page.locator(".report .kpi b").first.inner_text().endswith("s")
    # no card is cut: the figures at the top are seen as a whole, also on a low screen
    top = visitor.ask("[document.querySelector('.kpi')].map((e) => [e.scrollHeight, e.clientHeight])[0]")
    assert top[0] <= top[1]
    others = page.get_by_role("table", name="Other filters on the same readings").locator("tbody tr td:first-child")
    assert {"as flown", "mekf", "lodestar", "gyro"} <= set(others.all_inner_texts())
    a_calibration_file_is_loaded(visitor, tmp_path)
    visitor.show("report")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download report (HTML)").click()
    waiting.value.save_as(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")[:500].lower()


def a_calibration_file_is_loaded(visitor, tmp_path):
    page = visitor.page
    visitor.show("calibrate")
    file = tmp_path / "calibration.toml"
    file.write_text(
        'format = "strapdown calibration 1"\n[gyroscope]\nmethod = "by hand"\nverdict = "good"\n'
        "bias_rad_s = [0.01, 0.02, 0.03]\n"
    )
    page.get_by_label("Calibration file").set_input_files(file)
    page.get_by_role("group", name="Result of the calibration").get_by_text("gyroscope: bias x").wait_for()
    file.write_text("nothing = 1\n")
    page.get_by_label("Calibration file").set_input_files(file)
    page.get_by_text(re.compile("a calibration has format")).wait_for()


def flown_error(visitor):
    """RMS of the tilt error (deg) over the same manoeuvre."""
    visitor.power()
    take_off(visitor)
    visitor.wait(1.0)
    t = visitor.ask("strapdown.now().t")
    for keys in (["ArrowUp"], ["ArrowDown"], ["ArrowLeft"], ["ArrowRight"]):
        visitor.hold(keys, 1.5)
    errors = [np.array(visitor.column("error/attitude", part, t), dtype=float) for part in (0, 1)]
    return float(np.sqrt(np.nanmean(np.concatenate(errors) ** 2)))


def test_our_filter_in_place_of_the_papers_block_lowers_the_error(visitor):
    visitor.run("quadcopter_paper_b")
    paper = flown_error(visitor)
    page = visitor.page
    page.get_by_role("button", name="Reset", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    visitor.until("strapdown.world().takes.takes.length === 1 && (strapdown.now().state & 4) === 0")
    visitor.show("diagram")
    page.locator('.react-flow__node[data-id="IMU"] header').dblclick()
    page.locator('.react-flow__node[data-id="IMU block"] header').click()
    page.get_by_role("button", name="Replace IMU block by another kind").click()
    page.get_by_role("menuitem", name=re.compile("^Static calibration")).click()
    page.get_by_label("Find a block").fill("mekf")
    page.locator(".pal").get_by_role("button", name="MEKF").click()
    for name, source in FILTER.items():
        page.get_by_label(re.compile(f"^Source of input {name}(,|$)")).select_option(source)
    # new readings: the same sources as those of the block before it
    for name in ("new", "magnetometer", "magnetometer_new"):
        same = visitor.ask(
            "strapdown.world().diagram.diagram.diagram.find((s) => s.name === 'IMU').wire"
            f".find((w) => w.to === 'IMU block.{name}')?.from ?? ''"
        )
        if same:
            page.get_by_label(re.compile(f"^Source of input {name}(,|$)")).select_option(same)
    output = page.locator('.react-flow__node[data-id="< attitude"] .react-flow__handle')
    page.locator('.react-flow__node[data-id="orientation mekf"] .react-flow__handle[data-handleid="attitude"]').drag_to(
        output
    )
    page.get_by_text("No problem was found").wait_for()
    page.get_by_role("button", name="Apply", exact=True).click()
    visitor.until("strapdown.world().diagram.blocks.some((b) => b.kind === 'orientation_mekf')")
    visitor.show("fly")
    assert flown_error(visitor) < 0.6 * paper


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_axe_finds_no_serious_fault(browser, page_studio, theme):
    assert AXE.is_file(), "axe-core is not installed; run npm ci in web/"
    visitor = Visitor(browser, page_studio, f"&theme={theme}")
    if visitor.ask("strapdown.world().session.mode") == "empty":
        visitor.run("quadcopter")
    visitor.ask(AXE.read_text(encoding="utf-8") + "; true")
    for view in ("chooser", "fly", "diagram", "calibrate", "report"):
        visitor.show(view)
        visitor.page.wait_for_timeout(500)
        found = visitor.ask("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        assert [(view, v["id"], [n["target"] for n in v["nodes"]][:3]) for v in serious] == []
    visitor.close()

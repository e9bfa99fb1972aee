"""The page with other vehicles, a robot of the user, a gamepad, two clients, a lost server, no WebGL, small buffers."""

import gzip
import re

from long_flight import Meter
from page_browser import STATIC, PageStudio, Visitor, need_browser

URDF = """<robot name="arm">
<link name="base"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual>
<collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
<inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.03" length="0.4"/></geometry></visual>
<collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.03" length="0.4"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.05"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="2" effort="20" velocity="5"/></joint>
<link name="hand"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 0.1"/><geometry><box size="0.05 0.05 0.2"/></geometry></collision></link>
<joint name="k" type="revolute"><parent link="arm"/><child link="hand"/><origin xyz="0 0 0.4"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="2" effort="20" velocity="5"/></joint></robot>"""
PAD = """() => {
  const buttons = Array.from({ length: 12 }, () => ({ pressed: false }));
  const pad = { connected: true, id: "stand-in", axes: [0, 0, 0, 0], buttons };
  window.pad = pad;
  navigator.getGamepads = () => [pad];
}"""


def test_rover_drives_with_the_arrow_keys(visitor):
    visitor.run("rover")
    visitor.power()
    if visitor.page.get_by_role("button", name="Arm", exact=True).count():
        visitor.arm()
    before = visitor.ask("strapdown.body()")
    visitor.page.evaluate("document.activeElement.blur()")
    visitor.hold(["ArrowUp"], 3.0)
    after = visitor.ask("strapdown.body()")
    assert sum((a - b) ** 2 for a, b in zip(after[:2], before[:2], strict=True)) ** 0.5 > 0.05  # m


def test_mars_helicopter_takes_off(visitor):
    visitor.run("mars_helicopter")
    ground = visitor.height()
    visitor.power()
    if visitor.page.get_by_role("button", name="Calibrate", exact=True).count():
        visitor.calibrate()
    visitor.arm()
    visitor.hold(["w"], 5.0)
    assert visitor.height() > ground + 0.3


def test_manipulator_follows_its_sliders(visitor):
    visitor.run("manipulator")
    visitor.power()
    slider = visitor.page.locator(".joint input").first
    first = visitor.ask("strapdown.world().session.sliders[0]")
    slider.evaluate(
        "(e, v) => { Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, v);"
        " e.dispatchEvent(new Event('input', { bubbles: true })); }",
        str(first["low"] + 0.7 * (first["high"] - first["low"])),
    )
    visitor.wait(2.0)
    moved = [e for e in visitor.ask("strapdown.world().events") if e["kind"] == "console"]
    assert any("sliders" in e["data"].get("changes", {}) for e in moved)


def test_robot_of_the_user_gets_a_sensor_on_a_chosen_link(visitor, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    page = visitor.page
    visitor.show("chooser")
    before = visitor.ask("strapdown.world().session.started")
    page.get_by_label("Your robot").set_input_files(path)
    visitor.until(f"strapdown.world().session.started !== {before}", 300.0)
    visitor.until("strapdown.world().session.links.includes('arm')")
    count = visitor.ask("strapdown.world().sensors.length")
    page.get_by_role("button", name="Add a sensor").click()
    page.locator(".add").get_by_label("Mounted on").select_option("arm")
    page.get_by_role("button", name="Add sensor", exact=True).click()
    visitor.until(f"strapdown.world().sensors.length === {count + 1}")
    assert visitor.ask("strapdown.world().sensors.at(-1).link") == "arm"


def test_a_file_that_is_no_robot_is_refused_with_a_sentence(visitor, tmp_path):
    path = tmp_path / "wrong.urdf"
    path.write_text("<robot name='x'><link name='a'/>")
    visitor.show("chooser")
    visitor.page.get_by_label("Your robot").set_input_files(path)
    visitor.page.locator(".toast").get_by_text("wrong.urdf was not opened").wait_for()
    visitor.errors.clear()  # the browser reports the refused upload


def test_gamepad_moves_the_sticks_and_centres_them(visitor):
    visitor.run("quadcopter")
    visitor.page.evaluate(PAD)
    visitor.page.evaluate("pad.axes = [0, -0.8, 0.5, 0]")
    visitor.until("strapdown.view().input === 'gamepad'")
    label = visitor.page.get_by_label(re.compile("^Left stick")).get_attribute("aria-label")
    assert re.search(r"7\d % up|78 % up", label)
    visitor.page.evaluate("pad.axes = [0, 0, 0, 0]")
    visitor.page.wait_for_timeout(400)
    assert "0 % up" in visitor.page.get_by_label(re.compile("^Left stick")).get_attribute("aria-label")


def test_two_clients_see_the_same_session(browser, page_studio, visitor):
    visitor.run("quadcopter")
    other = Visitor(browser, page_studio)
    other.until("strapdown.world().clients.length >= 2")
    visitor.power()
    other.until("(strapdown.now().state & 4) !== 0")
    other.page.keyboard.press("p")
    for one in (visitor, other):  # the key acts on what its own page shows
        one.until("(strapdown.now().state & 1) === 0")
    other.page.keyboard.press("p")
    visitor.until("(strapdown.now().state & 1) !== 0")
    assert other.errors == []
    other.close()


def test_layout_is_saved_and_comes_back(visitor):
    visitor.run("quadcopter")
    page = visitor.page
    page.locator(".rd").first.hover()
    page.get_by_role("button", name=re.compile("^Close chart")).first.click()
    count = visitor.ask("strapdown.view().charts.length")
    page.get_by_role("button", name=re.compile("^Layout")).click()
    page.get_by_role("menuitem", name="Save this layout…").click()
    page.get_by_label("Name of the layout").fill("Fewer charts")
    page.get_by_role("button", name="Save", exact=True).click()
    visitor.until("'Fewer charts' in strapdown.world().layouts")
    page.get_by_role("button", name=re.compile("^Layout")).click()
    page.get_by_role("menuitemradio", name="Standard").click()
    visitor.until(f"strapdown.view().charts.length === {count + 1}")
    page.get_by_role("button", name=re.compile("^Layout")).click()
    page.get_by_role("menuitemradio", name="Fewer charts").click()
    visitor.until(f"strapdown.view().charts.length === {count}")


def test_a_broken_diagram_is_not_applied_and_leaving_warns(visitor):
    visitor.run("quadcopter")
    visitor.show("diagram")
    page = visitor.page
    page.locator('.react-flow__node[data-id="mixer"] header').click()
    page.locator(".insp").get_by_role("button", name="Delete").click()
    page.locator(".prow.on").first.wait_for()
    assert page.get_by_role("button", name="Apply", exact=True).get_attribute("aria-disabled") == "true"
    page.get_by_role("link", name="Fly").click()
    page.get_by_role("dialog").get_by_text("Leave with changes that do not fly?").wait_for()
    page.get_by_role("button", name="Stay").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("No problem was found").wait_for()
    visitor.show("fly")


def test_the_tour_has_five_steps(browser, page_studio):
    visitor = Visitor(browser, page_studio, "&tour=1")
    visitor.run("quadcopter")
    page = visitor.page
    page.get_by_role("button", name="Help and keys").click()
    page.get_by_role("button", name="Start the tour").click()
    for i, title in enumerate(("Power", "Calibrate", "Arm", "Fly", "Break a sensor"), start=1):
        page.get_by_role("heading", name=f"{i} of 5: {title}").wait_for()
        page.get_by_role("button", name="Finish" if i == 5 else "Next", exact=True).click()
    assert page.locator(".tour").count() == 0
    visitor.close()


def test_without_webgl_the_page_says_so_and_works(browser, page_studio):
    visitor = Visitor(browser, page_studio)
    visitor.run("quadcopter")
    visitor.page.add_init_script(
        "const old = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        " return String(kind).startsWith('webgl') ? null : old.call(this, kind, ...more); };"
    )
    visitor.page.reload()
    visitor.page.get_by_role("heading", name="No 3-D picture").wait_for()
    visitor.until("strapdown.rows() > 20")
    visitor.close()


def test_the_page_comes_back_after_the_server_restarts(browser, tmp_path):
    with PageStudio(tmp_path) as studio:
        visitor = Visitor(browser, studio)
        studio.stop()
        visitor.page.get_by_text(re.compile("^Connection lost")).wait_for()
        studio.start(studio.port)
        visitor.page.get_by_role("button", name="Try now").click()
        visitor.page.get_by_text(re.compile("^Connection lost")).wait_for(state="detached")
        visitor.until("strapdown.world().hello !== null")
        visitor.close()


def test_memory_of_the_page_is_bounded_by_its_buffers(browser, page_studio):
    """60 s with every buffer at a hundredth of its size: neither rows nor objects grow."""
    visitor = Visitor(browser, page_studio, "&buffers=0.01")
    visitor.run("quadcopter", speed=10)
    visitor.wait(15.0)  # the buffers hold 6 s
    meter, rows = Meter(visitor, page_studio.process.pid), visitor.ask("strapdown.rows()")
    before = meter.read(0.0)
    visitor.wait(45.0)
    after = meter.read(45.0)
    assert visitor.ask("strapdown.rows()") <= 1.3 * rows
    for name in ("page objects", "page arrays"):
        # MB; the first look at each part of the page compiles it. 45 s at full size have 4 MB of rows alone
        assert after.mb[name] - before.mb[name] < 1.5, name
    visitor.close()


def test_the_page_is_small_and_without_inline_scripts():
    need_browser()
    assert sum(len(gzip.compress(path.read_bytes())) for path in STATIC.rglob("*") if path.is_file()) <= 1_500_000
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|\bon\w+=|javascript:", text) == []
    licences = (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
    for library in ("three", "react", "react-dom", "uplot", "@xyflow/react"):
        assert re.search(rf"^{library} [\d.]+ \(MIT\)$", licences, re.M), library

"""The page of the studio in headless Chromium. Where something is missing the tests are skipped, but not in CI."""

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from studio_server import Studio

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "strapdown" / "studio" / "static"
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# what a browser without a graphics card prints by itself
HARMLESS = re.compile(r"GPU stall due to ReadPixels|software WebGL|GroupMarkerNotSet|WebGL.*deprecated", re.I)


def missing():
    """Why the page cannot be tested here; "" if it can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    if chromium() is None:
        return "chromium was not found"
    if not (STATIC / "index.html").is_file():
        return "the page is not built; run npm ci and npm run build in web/"
    return ""


def chromium():
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def need_browser():
    reason = missing()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class PageStudio(Studio):
    """`strapdown studio` in a process of its own, with the page that was built."""

    def __init__(self, folder, *arguments, port=0):
        self.folder, self._arguments = Path(folder), arguments
        self.start(port)

    def start(self, port=0):
        self.begin(["-m", "strapdown", "studio", "--no-browser", "--port", str(port), *self._arguments])


@contextlib.contextmanager
def browser_running():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--headless=new", *FLAGS])
        yield browser
        browser.close()


class Visitor:
    """A person at the page. Times are those of the simulation, so that a slow computer does not matter."""

    def __init__(self, browser, studio, query="", quality="low", width=1280, height=720):
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        self.context, self.studio, self.query = context, studio, query
        self.page = context.new_page()
        self.page.set_default_timeout(120_000)
        self.errors = []
        self.page.on("console", lambda m: self._said(m.type, m.text))
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.goto(studio.entrance)
        self.page.wait_for_url(f"{studio.origin}/")  # it leads there by itself
        self.page.goto(f"{studio.origin}/?q={quality}&tour=0{query}")
        self.until("window.strapdown && strapdown.world().session !== null")

    def _said(self, kind, text):
        if kind == "error" and not HARMLESS.search(text):
            self.errors.append(text)

    def ask(self, script):
        return self.page.evaluate(script)

    def until(self, script, seconds=120.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.page.evaluate(script):
                return found
            self.page.wait_for_timeout(50)
        raise AssertionError(f"did not happen in {seconds:g} s: {script}")

    def wait(self, seconds):
        """Let the simulation go on by some seconds."""
        t = self.ask("strapdown.now().t")
        self.until(f"strapdown.now().t >= {t + seconds}", 60.0 + 20.0 * seconds)

    def show(self, view):
        self.ask(f"location.hash = '{view}'")
        self.until(f"strapdown.view().view === '{view}'")

    def speed(self, factor):
        """How much faster than the clock; the tests take less time so."""
        self.page.get_by_role("button", name=re.compile("^Speed, now")).click()
        self.page.get_by_role("menuitemradio", name=f"×{factor}", exact=True).click()
        self.until(f"strapdown.now().speed === {factor}")

    def run(self, name, speed=5):
        """Choose a scenario and run it."""
        before = self.ask("strapdown.world().session.started")
        self.show("chooser")
        card = self.page.locator(".pick", has=self.page.get_by_role("button", name=re.compile("^(Run|Again) ")))
        for i in range(card.count()):
            choice = card.nth(i).locator("select")
            if choice.count() and choice.locator(f'option[value="{name}"]').count():
                choice.select_option(name)
                break
            title = self.ask(f"strapdown.world().hello.choices.find((c) => c.name === '{name}').title")
            if card.nth(i).get_by_role("button", name=re.compile(f"^(Run|Again) {re.escape(title)}$")).count():
                break
        else:
            raise AssertionError(f"{name} is not offered")
        card.nth(i).get_by_role("button", name=re.compile("^(Run|Again) ")).click()
        self.until(f"strapdown.world().session.started !== {before} && strapdown.now().t > 0.2", 300.0)
        self.until("strapdown.rows() > 5")
        if speed != 1:
            self.speed(speed)

    def power(self):
        self.page.get_by_role("switch", name="Power", exact=True).click()
        self.until("(strapdown.now().state & 4) !== 0")

    def calibrate(self, seconds=5.0):
        self.page.get_by_role("button", name="Calibrate", exact=True).click()
        self.until("(strapdown.now().state & 8) !== 0")
        self.wait(seconds)
        self.page.get_by_role("button", name=re.compile("^Calibrating")).click()
        self.until("(strapdown.now().state & 8) === 0")
        self.wait(0.5)

    def arm(self):
        self.page.get_by_role("button", name="Arm", exact=True).click()
        self.until("(strapdown.now().state & 16) !== 0")
        self.page.evaluate("document.activeElement.blur()")

    def hold(self, keys, seconds):
        for key in keys:
            self.page.keyboard.down(key)
        self.wait(seconds)
        for key in keys:
            self.page.keyboard.up(key)

    def column(self, signal, part, from_s):
        return self.ask(f"strapdown.column({signal!r}, {part}, {from_s})")

    def height(self):
        return self.ask("strapdown.body()[2]")

    def close(self):
        self.context.close()

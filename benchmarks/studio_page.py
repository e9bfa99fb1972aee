"""The page of the studio in Chromium without a graphics card, 1280 x 720: frames, latency of keys, time until ready.

python -m benchmarks.studio_page

A frame counts when the scene was drawn into an animation frame of the browser. Key to pixel: from the time stamp of
the key's event to the animation frame after the one that was drawn from the simulation's first state with the moved
stick. The command goes to the simulation and its effect comes back; how fast a vehicle starts to move does not matter.
"""

import functools
import gzip
import http.server
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.studio import machine, met
from strapdown.studio.messages import frame

# isort: split
from page_browser import ROOT, STATIC, PageStudio, Visitor, browser_running, missing  # the path is set above

FRAMES, LATENCY_MS, READY_S, BUNDLE = 40.0, 100.0, 2.0, 1_500_000
COUNT_S, KEYS = 8.0, 15
CONSOLE = next(place for place in frame.HEADER if place.name == "console")
WATCH = (
    (Path(__file__).parent / "studio_page.js")
    .read_text(encoding="utf-8")
    .replace("CONSOLE_AT", str(frame.offsets()["console"]))
    .replace("CONSOLE_COUNT", str(CONSOLE.count))
)
# an empty scene of the same size, drawn in every animation frame
EMPTY_SCENE = """
import { Scene, PerspectiveCamera, WebGLRenderer } from "three";
const renderer = new WebGLRenderer({ antialias: false });
renderer.setSize(WIDTH, HEIGHT);
document.body.append(renderer.domElement);
const scene = new Scene(), camera = new PerspectiveCamera();
const draw = () => { requestAnimationFrame(draw); renderer.render(scene, camera); };
draw();
"""


def bundle_bytes():
    """Of all files of the page, each compressed."""
    return sum(len(gzip.compress(path.read_bytes())) for path in STATIC.rglob("*") if path.is_file())


class Drawing(NamedTuple):
    """Frames per second; processor time per frame (ms) of the page's main thread and of the graphics process."""

    frames: float
    page_ms: float
    graphics_ms: float

    @property
    def possible(self) -> float:
        """Frames per second that the processor time allows if each of the two has a core of its own."""
        return 1e3 / max(self.page_ms, self.graphics_ms)


def drawing(page, seconds=COUNT_S):
    browser = page.context.browser.new_browser_cdp_session()
    link = page.context.new_cdp_session(page)
    link.send("Performance.enable", {"timeDomain": "threadTicks"})

    def look():
        metrics = {m["name"]: m["value"] for m in link.send("Performance.getMetrics")["metrics"]}
        processes = browser.send("SystemInfo.getProcessInfo")["processInfo"]
        graphics = sum(p["cpuTime"] for p in processes if p["type"] == "GPU")
        return *page.evaluate("[bench.drawn, performance.now()]"), metrics["TaskDuration"], graphics

    start = look()
    page.wait_for_timeout(1000 * seconds)
    drawn, took, page_s, graphics_s = (b - a for a, b in zip(start, look(), strict=True))
    link.detach()
    browser.detach()
    return Drawing(drawn / took * 1e3, 1e3 * page_s / drawn, 1e3 * graphics_s / drawn)


def empty_scene(browser, width, height):
    """The peer; None where its library is not installed."""
    bundler = ROOT / "web" / "node_modules" / "esbuild" / "bin" / "esbuild"
    if not bundler.is_file():
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = EMPTY_SCENE.replace("WIDTH", str(width)).replace("HEIGHT", str(height))
        command = [
            str(bundler),
            "--bundle",
            "--minify",
            "--format=esm",
            f"--outfile={folder / 'scene.js'}",
            "--loader=js",
        ]
        subprocess.run(command, input=text, text=True, check=True, cwd=ROOT / "web", capture_output=True)
        (folder / "index.html").write_text('<!doctype html><body><script type="module" src="scene.js"></script>')
        handler = functools.partial(Quiet, directory=name)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.add_init_script(WATCH)
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        page.wait_for_function("bench.drawn > 10")
        found = drawing(page)
        page.close()
        server.shutdown()
    return found


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def fly(browser, studio, quality):
    """A quadcopter in the air: frames per second, time until the page is ready (s), size of the scene."""
    visitor = Visitor(browser, studio, quality=quality)
    visitor.run("quadcopter", speed=1)
    visitor.power()
    visitor.calibrate()
    visitor.arm()
    visitor.hold(["w"], 3.0)
    visitor.page.add_init_script(WATCH)
    ready = []
    for _ in range(3):
        visitor.page.reload()
        visitor.until("window.bench?.first > 0")
        ready.append(visitor.ask("bench.first") / 1e3)
    visitor.wait(2.0)
    found = drawing(visitor.page), min(ready), visitor.ask("[bench.gl.canvas.width, bench.gl.canvas.height]")
    visitor.close()
    return found


def key_latencies(browser, studio):
    """Key to pixel, ms, for each key."""
    visitor = Visitor(browser, studio)
    visitor.page.add_init_script(WATCH)
    visitor.page.reload()
    visitor.until("window.strapdown && strapdown.world().session !== null")
    visitor.run("quadcopter", speed=1)
    visitor.power()
    visitor.ask("document.activeElement.blur()")
    visitor.wait(3.0)
    found = []
    for i in range(KEYS):
        key = ("ArrowUp", "ArrowLeft", "w")[i % 3]
        visitor.page.keyboard.down(key)
        visitor.until("bench.latency > 0", 60.0)
        visitor.page.keyboard.up(key)
        found.append(visitor.ask("bench.latency"))
        visitor.wait(0.5)
    visitor.close()
    return found


def report() -> Iterator[str]:
    """Lines for make bench."""
    yield f"Page of the studio, 1280 x 720, Chromium with software rendering ({machine()})"
    size = bundle_bytes()
    yield f"  files of the page {size / 1e6:.2f} MB compressed, target {BUNDLE / 1e6:g}: {met(size <= BUNDLE)}"
    if reason := missing():
        yield f"  not measured: {reason}"
        return
    with tempfile.TemporaryDirectory() as folder, browser_running() as browser, PageStudio(folder) as studio:
        for name, quality in (("as opened", "auto"), ("q=low", "low")):
            seen, ready, (width, height) = fly(browser, studio, quality)
            frames = seen.frames
            yield (
                f"  {name}: {frames:.1f} frames/s, target {FRAMES:g}: {met(frames >= FRAMES)}; processor time per "
                f"frame: page {seen.page_ms:.1f} ms, graphics {seen.graphics_ms:.1f} ms, enough for "
                f"{seen.possible:.0f} frames/s on two cores of its own"
            )
            if (peer := empty_scene(browser, width, height)) is not None:
                yield (
                    f"    peer, an empty scene of {width} x {height}: {peer.frames:.1f} frames/s, ratio "
                    f"{frames / peer.frames:.2f}; page {peer.page_ms:.1f} ms, graphics {peer.graphics_ms:.1f} ms"
                )
            yield f"  {name}: ready after {ready:.2f} s, target {READY_S:g}: {met(ready <= READY_S)}"
        latencies = key_latencies(browser, studio)
        middle = statistics.median(latencies)
        yield (
            f"  key to pixel, {len(latencies)} keys: median {middle:.0f} ms, longest {max(latencies):.0f}, target "
            f"{LATENCY_MS:g}: {met(middle <= LATENCY_MS)}"
        )


if __name__ == "__main__":
    for line in report():
        print(line, flush=True)

"""A long flight at real time, operated in the page: no process may grow once the buffers are full.

python tests/studio/long_flight.py [--seconds 3600] [--buffers 1.0]

Every 15 s an arrow key is held for a moment. Every 5 minutes all views are opened, the noise of a sensor is edited and
the session looks back. Memory is read between: resident memory of the server, of the simulation and of the browser's
process of the page; after a garbage collection, the objects of the page and its arrays; the nodes of its document.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from typing import NamedTuple

from page_browser import STATIC, Visitor, browser_running, missing
from process_memory import children, command_of, resident_mb
from studio_server import Studio

from strapdown.studio.buffers import Buffers

KEYS = ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight")  # each undoes the one before it
PRESS_S, VIEWS_S, READ_S = 15.0, 300.0, 20.0  # how often
FULL = 1.5  # buffers are full after this multiple of their length
# MB, from the time at which the buffers are full to the end: an hour has 180 000 frames, so 30 bytes that each frame
# leaves behind are 5 MB. Resident memory also varies by the allocators' unused pages; a copy of the charts has 10 MB.
REAL_TIME = 0.95  # least real-time factor of the whole flight: other work may run on the machine
LIMITS = {"server": 8.0, "simulation": 12.0, "page objects": 5.0, "page arrays": 5.0, "page process": 60.0}


class Reading(NamedTuple):
    t_s: float  # of the clock, since take-off
    flown_s: float  # of the simulation
    mb: dict[str, float]
    nodes: int


def flight(visitor, studio, seconds, speed=1.0, say=print):
    """Take off and fly; the readings."""
    visitor.run("quadcopter", speed=1)
    visitor.power()
    visitor.calibrate()
    visitor.arm()
    visitor.hold(["w"], 3.0)
    if speed != 1.0:
        assert studio.client().ask("speed", factor=speed)["ok"]
    meter = Meter(visitor, studio.process.pid)
    began = time.monotonic()
    press = views = read = began
    count = 0
    readings = []
    while (now := time.monotonic()) < began + seconds:
        if now >= press:
            visitor.page.keyboard.down(KEYS[count % len(KEYS)])
            visitor.page.wait_for_timeout(400.0 / speed)
            visitor.page.keyboard.up(KEYS[count % len(KEYS)])
            count, press = count + 1, now + PRESS_S / speed
        if now >= views:
            look_around(visitor)
            views = now + VIEWS_S / speed
            say(line(readings[-1]) if readings else heads())
        if now >= read:
            readings.append(meter.read(now - began))
            read = now + READ_S / speed
        visitor.page.wait_for_timeout(250.0 / speed)
    readings.append(meter.read(time.monotonic() - began))
    say(line(readings[-1]))
    return readings


def look_around(visitor):
    """All views, an edit, and a look back."""
    for view in ("diagram", "calibrate", "report", "fly"):
        visitor.show(view)
        visitor.page.wait_for_timeout(1000)
    visitor.page.keyboard.press(",")
    visitor.page.wait_for_timeout(500)
    visitor.page.keyboard.press("Escape")
    visitor.ask("document.activeElement.blur()")


class Meter:
    """Memory of all that takes part, MB."""

    def __init__(self, visitor, server):
        self._server, self._visitor = server, visitor
        self._simulation = next(pid for pid in children(server) if "spawn_main" in command_of(pid))
        self._page = visitor.context.new_cdp_session(visitor.page)
        browser = visitor.context.browser.new_browser_cdp_session()
        found = browser.send("SystemInfo.getProcessInfo")["processInfo"]
        # the process of the page is the one that works most: Chromium keeps spare ones
        self._renderer = max((p for p in found if p["type"] == "renderer"), key=lambda p: p["cpuTime"])["id"]

    def read(self, t_s):
        self._page.send("HeapProfiler.collectGarbage")
        heap = self._page.send("Runtime.getHeapUsage")
        found = {
            "server": resident_mb(self._server),
            "simulation": resident_mb(self._simulation),
            "page objects": heap["usedSize"] / 1e6,
            "page arrays": heap["backingStorageSize"] / 1e6,
            "page process": resident_mb(self._renderer),
        }
        return Reading(
            t_s, self._visitor.ask("strapdown.now().t"), found, self._page.send("Memory.getDOMCounters")["nodes"]
        )


def growth(readings, full_s):
    """MB that each grew by, from the time at which buffers are full to the end: medians of a fifth of the readings."""
    after = [r for r in readings if r.flown_s >= full_s]
    part = max(1, len(after) // 5)
    return {
        name: statistics.median(r.mb[name] for r in after[-part:]) - statistics.median(r.mb[name] for r in after[:part])
        for name in LIMITS
    }


def heads():
    return f"{'clock, s':>10}{'flown, s':>10}" + "".join(f"{name + ', MB':>18}" for name in LIMITS) + f"{'nodes':>8}"


def line(reading):
    return (
        f"{reading.t_s:10.0f}{reading.flown_s:10.0f}"
        + "".join(f"{reading.mb[name]:18.1f}" for name in LIMITS)
        + f"{reading.nodes:8d}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--buffers", type=float, default=1.0, help="all buffers times this")
    options = parser.parse_args()
    if reason := missing():
        print(reason, file=sys.stderr)
        return 2
    full_s = FULL * Buffers().scaled(options.buffers).history_s
    if options.seconds < 2.0 * full_s:
        print(f"buffers are full after {full_s:g} s; give at least --seconds {2.0 * full_s:g}", file=sys.stderr)
        return 2
    with (
        tempfile.TemporaryDirectory() as folder,
        Studio(folder, scale=options.buffers, static=STATIC) as studio,
        browser_running() as browser,
    ):
        visitor = Visitor(browser, studio)
        readings = flight(visitor, studio, options.seconds, say=lambda text: print(text, flush=True))
        height, errors = visitor.height(), list(visitor.errors)
        visitor.close()
    first, last = readings[0], readings[-1]
    factor = (last.flown_s - first.flown_s) / (last.t_s - first.t_s)
    print(f"\nload of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"real-time factor {factor:.3f}, height at the end {height:.1f} m, errors of the page: {errors or 'none'}")
    print(f"growth from {full_s:.0f} s of flight, when buffers are full, to the end:")
    grown = growth(readings, full_s)
    for name, limit in LIMITS.items():
        print(f"  {name:14} {grown[name]:+7.2f} MB, limit {limit:g}")
    grows = [name for name, limit in LIMITS.items() if grown[name] > limit]
    print(f"memory: {'grows: ' + ', '.join(grows) if grows else 'no growth'}")
    print(f"pace: {'real time' if factor > REAL_TIME else f'too slow, the least is {REAL_TIME:g}'}")
    good = not grows and factor > REAL_TIME and height > 0.3 and not errors
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""A studio in a process of its own, and a client in Python, for tests and benchmarks."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from strapdown.studio.messages import frame

SERVE = """
import sys
from pathlib import Path
from strapdown.studio.buffers import Buffers
from strapdown.studio.server.serving import serve
if __name__ == "__main__":
    opened = Path(sys.argv[1]) if sys.argv[1] else None
    buffers = Buffers().scaled(float(sys.argv[2]))
    serve(opened, port=int(sys.argv[3]), folder=Path(sys.argv[4]), static=Path(sys.argv[5]), buffers=buffers,
          new_token="new" in sys.argv)
"""


class Studio:
    """Starts at a free port. folder: for files and state. static: the page; without it an empty one."""

    def __init__(self, folder, opened="", scale=1.0, port=0, more=(), static=None):
        self.folder = Path(folder)
        if static is None:
            static = self.folder / "static"
            static.mkdir(exist_ok=True)
            (static / "index.html").write_text("<!doctype html><title>page</title>")
            (static / "app.js").write_text("export {};")
        script = self.folder / "serve.py"
        script.write_text(SERVE)
        arguments = [str(opened), str(scale), str(port), str(self.folder), str(static), *more]
        self.begin([str(script), *arguments])

    def begin(self, arguments):
        """Start it and wait for the address that it prints."""
        environment = {**os.environ, "XDG_STATE_HOME": str(self.folder / "state"), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE, env=environment, text=True, cwd=self.folder
        )
        self.lines = []
        while not (found := re.search(r"http://([\d.]+):(\d+)/\?token=(\S+)", self.lines[-1] if self.lines else "")):
            self.lines.append(self.process.stdout.readline())
            if not self.lines[-1]:
                raise RuntimeError(f"the studio did not start: {self.lines}")
        self.host, self.port, self.token = found[1], int(found[2]), found[3]
        self.origin, self.entrance = f"http://{self.host}:{self.port}", found[0]
        self.cookie = f"strapdown_{self.port}={self.token}"
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def client(self, **more):
        return Client(self, **more)

    def get(self, path, data=None):
        """The body of an answer; with data the request is a POST."""
        headers = {"Cookie": self.cookie, "Origin": self.origin}
        request = urllib.request.Request(self.origin + path, data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def stop(self):
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


class Client:
    """Reads in a thread: keeps the newest message of each type, and all frames."""

    def __init__(self, studio, name="test", read=True):
        headers = {"Cookie": studio.cookie}
        self.socket = connect(
            f"ws://{studio.host}:{studio.port}/live",
            origin=studio.origin,
            additional_headers=headers,
            compression=None,
            legacy=True,
            max_size=None,
        )
        self.last, self.replies, self.texts, self.frames, self.history = {}, {}, [], [], {}
        self.bytes = 0
        self.closed = False
        self._id = 0
        if read:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for message in self.socket:
                self.bytes += len(message)
                if isinstance(message, bytes):
                    found = frame.unpacked(message)
                    if found.kind == frame.HISTORY:
                        self.history[found.head.sequence] = found
                    else:
                        self.frames.append(found)
                    continue
                values = json.loads(message)
                self.texts.append(values)
                if values["type"] == "reply":
                    self.replies[values["id"]] = values
                else:
                    self.last[values["type"]] = values
        except ConnectionClosed:
            pass
        finally:
            self.closed = True

    def send(self, type, **fields):
        self.socket.send(json.dumps({"type": type, **fields}))

    def ask(self, type, wait_s=60.0, **fields):
        """Send a command and wait for its reply."""
        self._id += 1
        number = self._id
        self.send(type, id=number, **fields)
        return wait(lambda: self.replies.get(number) or self.history.get(number), wait_s)

    def until(self, condition, wait_s=60.0):
        return wait(condition, wait_s)

    def open(self, choice="quadcopter", **more):
        """Load a scenario, and wait for the first frames of it."""
        wait(lambda: "session" in self.last)
        before = self.last["session"]["started"]
        reply = self.ask("open", choice=choice, **more)
        assert reply["ok"], reply
        wait(lambda: self.last["session"]["started"] > before and "signals" in self.last)
        return self.last["session"]

    def take_off(self, speed=1.0):
        """By hand: power, calibrate, arm, climb, hold."""
        self.ask("speed", factor=speed)
        assert self.ask("console", changes={"power": True, "mode": "hold"})["ok"]
        assert self.ask("console", changes={"calibrate": True})["ok"]
        start = self.t_s
        wait(lambda: self.t_s > start + 5.5)
        assert self.ask("console", changes={"calibrate": False})["ok"]
        start = self.t_s
        wait(lambda: self.t_s > start + 1.0)
        assert self.ask("console", changes={"arm": True})["ok"]
        self.ask("sticks", throttle=0.6)
        start = self.t_s
        wait(lambda: self.t_s > start + 4.0)
        self.ask("sticks", throttle=0.0)

    @property
    def t_s(self):
        return self.frames[-1].head.t_s

    def close(self):
        self.socket.close()


def wait(condition, wait_s=60.0):
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise TimeoutError("it did not happen in time")

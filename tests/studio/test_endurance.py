"""What a page cannot do: stop the server, disturb the simulation, or make memory grow."""

import json
import os
import random
import signal
import socket
import struct
import time
from pathlib import Path

from studio_server import Studio, wait

COMMANDS = [
    {"type": "introduce", "name": "x"},
    {"type": "console", "changes": {"power": True}},
    {"type": "sticks", "roll": 0.5, "throttle": -0.25},
    {"type": "parameters", "block": "motors", "changes": {"x": 1}},
    {"type": "check_diagram", "diagram": {"version": 1, "block": [{"name": "a", "kind": "gain"}]}},
    {"type": "apply_diagram", "diagram": {"version": 1, "block": [], "wire": [{"from": "a.b", "to": "c.d"}]}},
    {"type": "read_diagram", "text": "version = 1"},
    {"type": "errors", "sensor": "imu", "instrument": "gyroscope", "changes": {"bias": [0, 0, 0]}},
    {"type": "add_sensor", "kind": "sensor", "table": {"name": "b", "part": "MPU-6050"}},
    {"type": "begin_fault", "name": "f", "fault": {"kind": "biased", "sensor": "imu", "offset": [1.0]}},
    {"type": "push", "link": "body", "force_n": [0, 0, 1]},
    {"type": "scene", "changes": {"wind_m_s": [1, 0, 0]}},
    {"type": "continue_from", "t_s": 0.5},
    {"type": "subscribe", "signals": ["truth/attitude"]},
    {"type": "history", "signals": ["truth/attitude"], "from_s": 0.0},
    {"type": "calibrate", "action": "next"},
    {"type": "report"},
    {"type": "save_layout", "name": "l", "layout": {}},
]
ODD = [None, True, -1, 0, 1e308, -1e308, 2**63, "", "x" * 1000, [], {}, [[[]]], {"a": {"b": []}}, "\u0000", "../../etc"]


def mutated(rng):
    """A command with something changed in it, or bytes without sense."""
    what = rng.random()
    if what < 0.15:
        return rng.randbytes(rng.randrange(0, 400))
    command = json.loads(json.dumps(rng.choice(COMMANDS)))
    command["id"] = rng.randrange(0, 2**31)
    for _ in range(rng.randrange(1, 4)):
        place = command
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.6:
                place = place[key]
                continue
            place[key] = json.loads(json.dumps(rng.choice(ODD)))
            break
    text = json.dumps(command)
    if what > 0.85:
        cut = rng.randrange(len(text))
        text = text[:cut] + rng.choice(["", "\x00", "}", "]", "é", "NaN"]) + text[cut + 1 :]
    return text


def test_fuzz_of_the_websocket(studio, client):
    rng = random.Random(7)
    client.open()
    victim = studio.client()
    started = time.monotonic()
    count = 0
    while time.monotonic() - started < 12.0:
        try:
            victim.socket.send(mutated(rng))
        except Exception:
            victim = studio.client()  # it was disconnected
        count += 1
        time.sleep(0.004)
    assert count > 500 and studio.process.poll() is None
    assert client.ask("run", on=True)["ok"] or client.ask("reset")["ok"]
    client.ask("run", on=True)
    client.ask("speed", factor=1.0)
    before = len(client.frames)
    wait(lambda: len(client.frames) > before + 100)
    assert client.open()["mode"] == "live"
    victim.close()


def test_broken_frames_of_the_websocket(studio, client):
    client.open()
    for data in (b"\x81\xff" + struct.pack(">Q", 2**62), b"\xff" * 50, b"\x00", b"\x88\x80\0\0\0\0", b"\x83\x05abcde"):
        with socket.create_connection((studio.host, studio.port)) as raw:
            raw.sendall(
                f"GET /live HTTP/1.1\r\nHost: {studio.host}:{studio.port}\r\nOrigin: {studio.origin}\r\n"
                f"Cookie: {studio.cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
            )
            raw.recv(200)
            raw.sendall(data)
            time.sleep(0.1)
    before = client.t_s
    wait(lambda: client.t_s > before + 0.5)


def test_the_simulation_starts_again_after_it_died(tmp_path):
    with Studio(tmp_path) as studio:
        client = studio.client()
        client.open()
        child = next(pid for pid in children(studio.process.pid) if "spawn_main" in command_of(pid))
        os.kill(child, signal.SIGKILL)
        wait(lambda: client.last["session"]["mode"] == "empty")
        wait(lambda: client.last.get("notice", {}).get("level") == "error")
        assert client.open()["mode"] == "live"
        wait(lambda: client.t_s > 0.5)


def test_a_client_that_stops_reading_costs_no_memory(studio, client):
    client.open()
    names = [s["name"] for s in client.last["signals"]["signals"]][:60]
    client.ask("subscribe", signals=["truth/position"])
    slow = []
    for _ in range(4):
        made = studio.client(read=False)
        made.socket.send(json.dumps({"type": "subscribe", "signals": names}))
        made.socket.send(json.dumps({"type": "watch", "on": True}))
        slow.append(made)
    wait(lambda: client.t_s > 3.0)
    before = memory(studio.process.pid)
    start = len(client.frames)
    until = time.monotonic() + 12.0
    while time.monotonic() < until:
        client.ask("parameters", block="mixer", changes={})  # a message for all clients
        time.sleep(0.2)
    grown = memory(studio.process.pid) - before
    assert len(client.frames) - start > 300  # the others are served: 50 per second
    # buffers of the four sockets, and 12 s of samples: 150 numbers at 100 Hz are 60 kB/s
    assert grown < 4 * 1.0 + 12 * 0.1 + 4.0, f"{grown:.1f} MB"
    for made in slow:
        made.close()


def test_sixty_seconds_with_small_buffers(tmp_path):
    """Every buffer at a hundredth of its size: after they are full, nothing grows."""
    with Studio(tmp_path, scale=0.01) as studio:
        client = studio.client()
        client.open(script=True)
        client.ask("subscribe", signals=["truth/attitude", "sensor/imu/accelerometer"])
        client.ask("speed", factor=10.0)
        processes = [studio.process.pid, *children(studio.process.pid)]
        wait(lambda: client.t_s > 30.0, 120.0)
        before = [memory(pid) for pid in processes]
        wait(lambda: client.t_s > 60.0, 120.0)
        after = [memory(pid) for pid in processes]
        found = client.ask("history", signals=["truth/attitude"])
        assert 4.0 < found.times[-1] - found.times[0] < 8.0  # 6 s are kept
        assert not client.ask("continue_from", t_s=20.0)["ok"]
        assert client.ask("continue_from", t_s=client.t_s - 2.0)["ok"]
        # chunks of 4096 rows are dropped whole: at 500 Hz and 25 numbers one has 0.8 MB, and there are eight logs
        for b, a in zip(before, after, strict=True):
            assert a - b < 6.0, (before, after)


def memory(pid):
    """Resident memory of a process, MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1e3
    return 0.0


def children(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def command_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")

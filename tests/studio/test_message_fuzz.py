"""Random and mutated messages: the server lives. A flight that no valid command reached is the same to the bit."""

import contextlib
import importlib.resources
import io
import json
import random
import socket
import struct
import threading
import time
import zipfile

from studio_server import wait

from strapdown.errors import InputError
from strapdown.studio.messages.commands import command_from

# what only looks, or works on a copy: the simulation must not notice it
LOOKS = [
    {"type": "introduce", "name": "x"},
    {"type": "check_diagram", "diagram": {"version": 1, "block": [{"name": "a", "kind": "gain"}]}},
    {"type": "read_diagram", "text": "version = 1"},
    {"type": "write_diagram", "diagram": {"version": 1, "block": []}},
    {"type": "subscribe", "signals": ["truth/attitude", "sensor/imu/gyroscope"]},
    {"type": "watch", "on": True},
    {"type": "history", "signals": ["truth/attitude"], "from_s": 0.0, "poses": True},
    {"type": "calibrate", "action": "start", "workflow": "static", "sensor": "imu"},
    {"type": "calibrate", "action": "next"},
    {"type": "calibrate", "action": "cancel"},
    {"type": "report"},
    {"type": "save_layout", "name": "l", "layout": {}},
    {"type": "delete_layout", "name": "l"},
]
# refused in every state of the session; most have a valid part, which must not be carried out either
REFUSED = [
    {"type": "console", "changes": {"arm": False, "yaw": 5}},
    {"type": "console", "changes": {"power": False, "warp": 1}},
    {"type": "sticks", "throttle": -1.0, "roll": 2.0},
    {"type": "parameters", "block": "nothing", "changes": {"x": 1}},
    {"type": "parameters", "block": "mixer", "changes": {"nothing": 1}},
    {"type": "apply_diagram", "diagram": {"version": 1, "block": [], "wire": [{"from": "a.b", "to": "c.d"}]}},
    {
        "type": "errors",
        "sensor": "imu",
        "instrument": "gyroscope",
        "changes": {"bias": [1, 1, 1], "white": [-1, 0, 0]},
    },
    {"type": "reset_errors", "sensor": "nothing"},
    {"type": "draw_specimen", "sensor": "nothing", "seed": 3},
    {"type": "add_sensor", "kind": "sensor", "table": {"name": "imu", "part": "MPU-6050"}},
    {"type": "remove_sensor", "sensor": "nothing"},
    {"type": "enable_sensor", "sensor": "nothing", "on": False},
    {"type": "begin_fault", "name": "f", "fault": {"kind": "biased", "sensor": "nothing", "offset": [1.0]}},
    {"type": "end_fault", "name": "nothing"},
    {"type": "push", "link": "nothing", "force_n": [0, 0, 100]},
    {"type": "scene", "changes": {"wind_m_s": [9, 0, 0], "gravity": "mars"}},
    {"type": "speed", "factor": 1000},
    {"type": "step", "cycles": 0},
    {"type": "continue_from", "t_s": 1e6},
    {"type": "open", "choice": "nothing"},
    {"type": "open", "upload": "../../etc/passwd"},
]
ACTS = [
    {"type": "console", "changes": {"power": True}},
    {"type": "sticks", "roll": 0.5, "throttle": -0.25},
    {"type": "push", "link": "frame", "force_n": [0, 0, 1]},
    {"type": "scene", "changes": {"wind_m_s": [1, 0, 0]}},
    {"type": "continue_from", "t_s": 0.5},
    {"type": "begin_fault", "name": "f", "fault": {"kind": "biased", "sensor": "imu", "offset": [1.0]}},
]
ODD = [None, True, -1, 0, 1e308, -1e308, 2**63, "", "x" * 1000, [], {}, [[[]]], {"a": {"b": []}}, "\u0000", "../../etc"]
END_S = 8.5  # of the flight: the rotors start at 7 s
LOOKING = {command["type"] for command in LOOKS}


def mutated(rng, commands):
    """A command with something changed in it, or bytes without sense."""
    what = rng.random()
    if what < 0.15:
        return rng.randbytes(rng.randrange(0, 400))
    command = json.loads(json.dumps(rng.choice(commands)))
    command["id"] = rng.randrange(1, 2**31)
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


def only_looks(message):
    """Whether a mutated message is no command, or one that changes nothing."""
    try:
        return command_from(message).type in LOOKING
    except InputError:
        return True


class Attack:
    """Sends messages in a thread, until it is ended. What is disconnected connects again."""

    def __init__(self, studio, message):
        self._studio, self._message = studio, message
        self.count, self.replies = 0, {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        client = self._studio.client()
        while not self._ended.is_set():
            try:
                client.socket.send(self._message())
            except Exception:
                self.replies |= client.replies
                client = self._studio.client()
            self.count += 1
            time.sleep(0.002)
        self.replies |= client.replies
        client.close()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join(30)


def flown(studio, client, attack=None):
    """The files of a flight by the script of the quadcopter: power, calibration, take-off. The same seed each time."""
    before = client.last["session"]["started"]
    assert client.ask("open", upload="short.toml", script=True, seed=5)["ok"]
    wait(lambda: client.last["session"]["started"] > before)
    assert client.ask("speed", factor=3.0)["ok"]
    ended = f"The end is reached at {END_S:.2f} s."
    with attack or contextlib.nullcontext():
        wait(lambda: client.last.get("notice", {}).get("text") == ended, 120.0)
    client.last.pop("notice")
    with zipfile.ZipFile(io.BytesIO(studio.get("/download/recording"))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_fuzzed_flight_equals_one_that_was_not(studio, client):
    wait(lambda: "session" in client.last)
    scenario = (importlib.resources.files("strapdown.environment.scenarios") / "quadcopter.toml").read_bytes()
    studio.get("/upload?name=short.toml", scenario.replace(b"duration_s = 67.0", f"duration_s = {END_S}".encode()))
    calm = flown(studio, client)
    rng = random.Random(7)
    refused = {}

    def message():
        if rng.random() < 0.3:
            command = {**rng.choice(REFUSED), "id": 2**32 + len(refused)}  # beyond those of mutated messages
            refused[command["id"]] = command
            return json.dumps(command)
        found = mutated(rng, LOOKS + REFUSED + ACTS)
        return found if only_looks(found) else b"?"

    attack = Attack(studio, message)
    fuzzed = flown(studio, client, attack)
    assert attack.count > 100 and len(refused) > 30
    carried_out = [c for number, c in refused.items() if attack.replies.get(number, {}).get("ok")]
    assert carried_out == []
    assert calm.keys() == fuzzed.keys() and len(calm["recording/recording.parquet"]) > 100_000
    assert [name for name in calm if calm[name] != fuzzed[name]] == []
    # the comparison can fail: one small push
    pushed = flown(
        studio, client, Attack(studio, lambda: json.dumps({"type": "push", "link": "frame", "force_n": [0, 0, 0.1]}))
    )
    assert pushed["recording/recording.parquet"] != calm["recording/recording.parquet"]


def test_the_server_lives_through_valid_and_mutated_commands(studio, client):
    rng = random.Random(11)
    client.open()
    with Attack(studio, lambda: mutated(rng, LOOKS + REFUSED + ACTS)) as attack:
        wait(lambda: attack.count > 600)
    assert studio.process.poll() is None
    assert client.open()["mode"] == "live"
    before = client.t_s
    wait(lambda: client.t_s > before + 0.5)


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

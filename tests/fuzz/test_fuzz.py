"""Whatever a file holds, a command succeeds or states in one sentence why not: never a traceback, never a crash.

STRAPDOWN_FUZZ=5000 draws so many examples, other ones each time, instead of the fixed few of every test run.
"""

import json
import os
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import EXAMPLES, ROOT, command
from strapdown.environment import mounted_motion as sights
from strapdown.vehicles import builtin

MORE = int(os.environ.get("STRAPDOWN_FUZZ", "0"))
FUZZ = settings(
    max_examples=MORE or 200,
    derandomize=not MORE,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
LIMIT = 20_000  # steps or samples: a run then takes less than a second, and what asks for more must be refused
ROBOTS = [builtin(name) for name in ("bar", "cube", "double_pendulum", "manipulator")] + [
    ROOT / "examples" / "own_robot.urdf"
]
POSES = ROOT / "examples" / "poses.csv"

NUMBERS = [
    "0",
    "-1",
    "1",
    "2",
    "1e-300",
    "1e-9",
    "0.5",
    "1e9",
    "1e12",
    "1e300",
    "1e400",
    "-1e308",
    "nan",
    "inf",
    "-inf",
    "9999999999999999999999",
    "1_0",
    "0x10",
    "true",
]
TEXTS = [
    "",
    " ",
    "\n",
    '"',
    "'",
    "[",
    "]",
    "]]",
    "{",
    "}",
    "=",
    "<",
    "/>",
    ">",
    "#",
    ",",
    ";",
    "\0",
    "\ufeff",
    "é",
    "\\",
    "&#0;",
]
WORDS = [
    "exact",
    "proof-mass",
    "velocity-difference",
    "rotation-log",
    "kinematic",
    "motors",
    "speed",
    "position",
    "torque",
    "rk4",
    "discrete",
    "euler",
    "world",
    "body",
    "joint",
    "link",
    "motor",
    "until_s",
    "over_s",
    "at_s",
    "rate_hz",
    "step_s",
    "duration_s",
    "quaternion_wxyz",
    "position_m",
    "force_n",
    "floating",
    "floor",
    "fixed",
    "revolute",
    "prismatic",
    "planar",
    "ball",
    "free",
    "mesh",
    "plane",
    "box",
    "hinge",
    "slide",
    "freejoint",
    "inertial",
    "geom",
    "site",
    "mujoco",
    "robot",
    "name",
    "kind",
    "file",
]
TOKEN = re.compile(r"[+-]?[0-9][0-9_.eE+-]*|\w+|\s+|.", re.DOTALL)

pools = st.sampled_from(NUMBERS) | st.sampled_from(TEXTS) | st.sampled_from(WORDS) | st.text(max_size=4)


@st.composite
def mutated(draw, text):
    """The text with one to four changes: of a token, of a number, of a line, of bytes."""
    gentle = draw(st.booleans())  # leave the grammar whole, so that what lies behind the parser is reached
    for _ in range(draw(st.integers(1, 4))):
        lines = draw(st.integers(0, 3)) == 0
        parts = text.splitlines(keepends=True) if lines else TOKEN.findall(text)
        if not parts:
            break
        i, j = draw(st.integers(0, len(parts) - 1)), draw(st.integers(0, len(parts) - 1))
        how = draw(st.sampled_from(["delete", "duplicate", "swap", "replace", "number", "number", "copy"]))
        if gentle and not lines:
            how = draw(st.sampled_from(["number", "number", "word"]))
        if how == "number":
            numbers = [k for k, part in enumerate(parts) if part[0].isdigit() or part[0] in "+-"]
            if numbers:
                parts[draw(st.sampled_from(numbers))] = draw(st.sampled_from(NUMBERS))
        elif how == "word":
            words = [k for k, part in enumerate(parts) if part[0].isalpha()]
            if words:
                other = st.sampled_from(WORDS) | st.sampled_from(words).map(parts.__getitem__)
                parts[draw(st.sampled_from(words))] = draw(other)
        elif how == "delete":
            del parts[i]
        elif how == "duplicate":
            parts.insert(j, parts[i])
        elif how == "copy":
            parts[j] = parts[i]
        elif how == "swap":
            parts[i], parts[j] = parts[j], parts[i]
        else:
            parts[i] = draw(pools)
        text = "".join(parts)
    raw = text.encode("utf-8", "replace")
    if not gentle and draw(st.integers(0, 4)) == 0 and raw:
        i = draw(st.integers(0, len(raw) - 1))
        raw = raw[:i] + draw(st.binary(max_size=3)) + raw[i + draw(st.integers(0, 3)) :]
    return raw


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with the examples' robot and poses, in which a run may take few steps."""
    monkeypatch.setattr(sights, "MAX_SAMPLES", LIMIT)
    monkeypatch.chdir(tmp_path)
    for name in ("own_robot.urdf", "poses.csv"):
        (tmp_path / name).write_bytes((ROOT / "examples" / name).read_bytes())
    return tmp_path


def short(path):
    """An example that takes milliseconds."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^#.*\n", "", text)
    text = text.replace("rate_hz = 10.0\n", "rate_hz = 100.0\n")  # more than one sample in the short run
    if re.search(r"(?m)\A(?:(?!\[).*\n)*duration_s", text):
        return re.sub(r"(?m)^duration_s = .*", "duration_s = 0.05", text, count=1)
    return "duration_s = 0.05\n" + text


def robot_rig(link, more=""):
    return f"""
duration_s = 0.05
[robot]
file = "robot.xml"
{more}
[[sensor]]
name = "D1"
link = "{link}"
position_m = [0.1, 0.0, 0.0]
[[sensor]]
name = "D2"
link = "{link}"
method = ["proof-mass", "euler-increment"]
rate_hz = 400.0
"""


RIGS = {path.stem: short(path) for path in EXAMPLES}
LINKS = {"bar": "bar", "cube": "cube", "double_pendulum": "lower_link", "manipulator": "tool", "own_robot": "imu"}


def tried(room, rig, suffix="parquet"):
    """Run a rig: success with one JSON document, or exit code 2 with one line and no file."""
    out = room / f"out.{suffix}"
    out.unlink(missing_ok=True)
    began = time.monotonic()
    said = command("simulate", rig, "-o", out, "--json")
    assert time.monotonic() - began < 20.0  # a busy machine; a run of LIMIT steps takes less than a second
    if said.code == 0:
        json.loads(said.out)
        assert out.is_file()
        return
    assert said.code == 2, said
    assert said.out == "" and said.err.startswith("strapdown: ") and said.err.count("\n") == 1, said
    assert not out.exists() and not [p for p in room.iterdir() if p.name.startswith(".")]
    assert not (room / "MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize("name", RIGS)
def test_the_examples_to_mutate_run(name, room):
    (room / "rig.toml").write_text(RIGS[name], encoding="utf-8")
    assert command("simulate", "rig.toml", "-o", "out.csv", "--json").code == 0


@pytest.mark.parametrize("path", ROBOTS, ids=lambda p: p.stem)
def test_the_robots_to_mutate_run(path, room):
    (room / "robot.xml").write_bytes(path.read_bytes())
    (room / "rig.toml").write_text(robot_rig(LINKS[path.stem]), encoding="utf-8")
    assert command("simulate", "rig.toml", "-o", "out.csv", "--json").code == 0


@pytest.mark.parametrize("name", RIGS)
@settings(FUZZ, max_examples=MORE or 50)
@given(data=st.data())
def test_mutated_rigs(name, room, data):
    (room / "rig.toml").write_bytes(data.draw(mutated(RIGS[name])))
    tried(room, "rig.toml")


@pytest.mark.parametrize("path", ROBOTS, ids=lambda p: p.stem)
@settings(FUZZ, max_examples=MORE or 50)
@given(data=st.data())
def test_mutated_robots(path, room, data):
    (room / "robot.xml").write_bytes(data.draw(mutated(path.read_text(encoding="utf-8"))))
    more = data.draw(st.sampled_from(["", "", "floating = true", "floor = true", 'drive = "kinematic"']))
    (room / "rig.toml").write_text(robot_rig(LINKS[path.stem], more), encoding="utf-8")
    tried(room, "rig.toml")


@FUZZ
@given(data=st.data())
def test_mutated_poses(room, data):
    lines = POSES.read_text(encoding="utf-8").splitlines(keepends=True)
    (room / "poses.csv").write_bytes(data.draw(mutated("".join(lines[: data.draw(st.integers(1, 40))]))))
    rig = RIGS["recorded_poses"].replace("duration_s = 0.05\n", data.draw(st.sampled_from(["duration_s = 0.05\n", ""])))
    (room / "rig.toml").write_text(rig, encoding="utf-8")
    tried(room, "rig.toml", data.draw(st.sampled_from(["csv", "parquet"])))


@FUZZ
@given(raw=st.binary(max_size=200), start=st.sampled_from([b"", b"<robot>", b"<mujoco>", b"\x1f\x8b", b"\xef\xbb\xbf"]))
def test_random_bytes(room, raw, start):
    (room / "noise").write_bytes(start + raw)
    tried(room, "noise")
    (room / "robot.xml").write_bytes(start + raw)
    (room / "robot.toml").write_text(robot_rig("bar"), encoding="utf-8")
    tried(room, "robot.toml")
    (room / "poses.csv").write_bytes(start + raw)
    (room / "poses.toml").write_text(RIGS["recorded_poses"], encoding="utf-8")
    tried(room, "poses.toml")


@FUZZ
@given(raw=st.binary(max_size=300), count=st.sampled_from([0, 1, 4, 2**31 - 1, 2**32 - 1]), text=st.booleans())
def test_random_meshes(room, raw, count, text):
    body = b"solid x\n facet normal 0 0 1\n" if text else bytes(80) + count.to_bytes(4, "little")
    (room / "mesh.stl").write_bytes(body + raw)
    robot = ROOT.joinpath("examples", "own_robot.urdf").read_text(encoding="utf-8")
    mesh = '<collision><geometry><mesh filename="mesh.stl"/></geometry></collision></link>'
    (room / "robot.xml").write_text(robot.replace("</link>", mesh, 1), encoding="utf-8")
    (room / "rig.toml").write_text(robot_rig("imu"), encoding="utf-8")
    tried(room, "rig.toml")


@FUZZ
@given(
    words=st.lists(
        pools | st.sampled_from(["simulate", "reproduce", "A", "-o", "--json", "-h", "rig.toml"]), max_size=5
    )
)
def test_random_arguments(room, words):
    """Of wrong use; nothing is run: the words name no file that is there."""
    said = command("simulate", *words)
    assert said.code in (0, 2), said
    if said.code == 2:
        assert said.out == "" and said.err.startswith("strapdown: ") and said.err.count("\n") == 1, said

"""`strapdown studio`: what it opens, what it refuses in one sentence, what it passes on; files from the outside."""

import socket
import webbrowser
from pathlib import Path

import pytest

from helpers import command
from strapdown.environment.diagram.kinds import builtin
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import read_scenario
from strapdown.environment.session.session import Session
from strapdown.errors import InputError, StrapdownError
from strapdown.io import write
from strapdown.studio.server import serving
from strapdown.studio.server.simulation_process import Settings
from strapdown.studio.simulation.choices import Choices
from strapdown.studio.simulation.process import Simulation
from strapdown.vehicles import vehicle

SCENARIO = """version = 1
title = "Mine"
vehicle = "quadcopter"
duration_s = 5.0
[[sensor]]
name = "imu"
part = "MPU-6050"
magnetometer_part = "QMC5883L"
rate_hz = 500.0
[[altimeter]]
name = "altimeter"
[[receiver]]
name = "receiver"
measures = "velocity"
"""
ROBOT = vehicle._FOLDER / "double_pendulum.urdf"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A built page, so that nothing else is the reason of a refusal."""
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text("<!doctype html>")
    monkeypatch.setattr("strapdown.studio.server.app.STATIC", tmp_path / "static")


def refused(*arguments):
    said = command("studio", "--no-browser", *map(str, arguments))
    assert said.code == 2 and said.out == "" and said.err.strip().count("\n") <= 2, said
    return " ".join(said.err.split())


def test_wrong_use_is_one_sentence(tmp_path, page):
    assert "there is no such file" in refused(tmp_path / "nothing.toml")
    wrong = tmp_path / "notes.txt"
    wrong.write_text("x")
    assert "not a scenario" in refused(wrong)
    assert "there is no such folder" in refused("--folder", tmp_path / "nothing")
    remote = refused("--host", "0.0.0.0")
    assert "--allow-remote" in remote and "nothing is encrypted" in remote and "whoever has the token" in remote
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert f"port {port} is in use" in refused("--port", port)


def test_without_the_page_it_says_how_to_build_it(tmp_path, monkeypatch):
    monkeypatch.setattr("strapdown.studio.server.app.STATIC", tmp_path)
    said = refused()
    assert "is not built" in said and "npm ci" in said and "npm run build" in said and "wheel" in said


def test_options_reach_the_server(tmp_path, page, monkeypatch):
    got = {}
    monkeypatch.setattr(serving, "serve", lambda opened, **more: got.update(opened=opened, **more))
    blocks = tmp_path / "mine.py"
    blocks.write_text("")
    said = command(
        *("studio", "quadcopter", "--port", "0", "--no-browser", "--host", "0.0.0.0", "--allow-remote"),
        *("--folder", str(tmp_path), "--blocks", str(blocks), "--new-token"),
    )
    assert said.code == 0, said
    assert got == {
        "opened": Path("quadcopter"),
        "device": None,
        "baud": None,
        "campaign": None,
        "run": None,
        "host": "0.0.0.0",
        "port": 0,
        "allow_remote": True,
        "folder": tmp_path,
        "blocks": (blocks,),
        "new_token": True,
        "browser": False,
    }
    assert command("studio", "--port", "0").code == 0
    assert got["host"] == "127.0.0.1" and not got["allow_remote"] and got["browser"] and not got["new_token"]


@pytest.mark.parametrize("opens", [True, False])
def test_a_browser_is_opened_or_the_user_is_told(opens, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or opens)

    class Server:
        started = True

    serving._announce(Server, "http://127.0.0.1:1/?token=t", "127.0.0.1", True)
    said = capsys.readouterr().out
    assert asked == ["http://127.0.0.1:1/?token=t"] and asked[0] in said and "other computers" not in said
    assert ("no browser could be opened" in said) is not opens
    serving._announce(Server, "http://0.0.0.0:1/?token=t", "0.0.0.0", False)
    assert "other computers can reach this address" in capsys.readouterr().out


class Link:
    """Keeps what the simulation sends to the server."""

    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)

    def said(self, kind):
        return [message[3] for message in self.sent if message[0] == "say" and message[2] == kind]


def begun(tmp_path, **settings):
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    made = Simulation(Link(), Settings(scratch, **settings))
    made.begin()
    return made


def test_a_scenario_a_recording_and_a_robot_are_opened(tmp_path):
    session = Session(read_scenario("quadcopter"))
    session.advance(0.5)
    recording, scenario = tmp_path / "flight.parquet", tmp_path / "mine.toml"
    write(recording, dict(recording_of(session).recordings))
    scenario.write_text(SCENARIO)
    for opened, mode, title in (
        (Path("rover"), "live", read_scenario("rover").title),
        (scenario, "live", "Mine"),
        (ROBOT, "live", "Robot double_pendulum"),
        (recording, "replay", ""),
    ):
        about = begun(tmp_path, opened=opened).stage.about(1)
        assert about.mode == mode and title in about.title, opened


def test_all_files_of_a_folder_are_offered(tmp_path):
    (tmp_path / "mine.toml").write_text(SCENARIO)
    (tmp_path / "arm.urdf").write_bytes(ROBOT.read_bytes())
    (tmp_path / "notes.txt").write_text("x")
    made = begun(tmp_path, opened=tmp_path)
    own = {choice.name: choice.kind for choice in made.choices.listed() if choice.own}
    assert own == {"mine.toml": "scenario", "arm.urdf": "robot"} and made.stage is None


def test_only_blocks_runs_code(tmp_path):
    """A kind of block of the user's own exists with --blocks only; a scenario next to it does not run it."""
    ran = tmp_path / "ran.txt"
    blocks = tmp_path / "mine.py"
    blocks.write_text(
        "from pathlib import Path\n"
        f"Path({str(ran)!r}).write_text('yes')\n"
        "from strapdown.environment.diagram import BlockParameters, Port, block\n"
        '@block("mine", category="own")\n'
        "class Mine:\n"
        '    """A block of the user."""\n'
        "    Parameters = BlockParameters\n"
        "    rate_hz = None\n"
        "    def __init__(self, p):\n"
        '        self.inputs, self.outputs = {}, {"out": Port(shape=())}\n'
        "    def start(self):\n"
        "        return 0.0\n"
        "    def step(self, state, dt):\n"
        "        return state, (1.0,)\n"
    )
    (tmp_path / "mine.toml").write_text('blocks = ["mine.py"]\n' + SCENARIO)
    made = begun(tmp_path, opened=tmp_path / "mine.toml")
    assert not ran.exists() and made.stage is None
    (sentence,) = made._link.said("notice")
    assert "blocks" in sentence
    assert '"mine"' not in made._link.said("hello")[0]
    made = begun(tmp_path, blocks=(blocks,))
    assert ran.exists() and '"kind":"mine"' in made._link.said("hello")[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("out.xml", '<mujoco><include file="../secret.xml"/></mujoco>'),
        ("out.xml", '<mujoco><asset><mesh name="m" file="/etc/passwd"/></asset></mujoco>'),
        ("out.urdf", '<robot name="r"><link name="a"><visual><geometry><mesh filename="../secret.stl"/></geometry>'
         '</visual></link></robot>'),
        ("bad.parquet", "PAR1 and nothing more"),
        ("bad.csv", "no,log\n1,2\n"),
        ("bad.toml", "version = 1\n[[sensor]]\npart = '../x.toml'\n"),
        ("bad.toml", "vehicle = "),
    ],
)  # fmt: skip
def test_bad_files_from_the_page_are_one_sentence(tmp_path, name, text):
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    (tmp_path / "secret.xml").write_text("<mujoco><worldbody><body name='secret'/></worldbody></mujoco>")
    (tmp_path / "secret.stl").write_bytes(b"solid secret")
    (uploads / name).write_text(text)
    with pytest.raises(StrapdownError) as error:
        Choices([], uploads, builtin(), 600.0).open(None, name, None, False)
    assert "\n" not in str(error.value) and "solid" not in str(error.value), error.value


def test_files_are_saved_by_plain_name_in_the_folder_only(tmp_path):
    from strapdown.studio.server.files_of_user import save_text

    with pytest.raises(InputError, match="--folder"):
        save_text(None, "a.toml", "x", (".toml",))
    for name in ("../a.toml", "/tmp/a.toml", "a/b.toml", "a.py", ".toml", "a\n.toml"):
        with pytest.raises(InputError):
            save_text(tmp_path, name, "x", (".toml",))
    assert save_text(tmp_path, "a.toml", "x", (".toml",)) == "a.toml" and list(tmp_path.iterdir()) == [
        tmp_path / "a.toml"
    ]

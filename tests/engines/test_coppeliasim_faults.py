"""What goes wrong with a CoppeliaSim: one sentence, within 5 s each."""

import socket
import time

import pytest

from helpers import G, command, needs, run_rig, write
from strapdown.engines.coppeliasim.connection import TIMEOUT_S, Connection
from strapdown.errors import InputError

needs("coppeliasim")
from coppeliasim_server import StandIn  # noqa: E402 it imports what may not be installed

AT_MOST_S = 5.0


@pytest.fixture
def server():
    with StandIn() as found:
        yield found


def rig(address, timeout_s=0.7, **more):
    return {
        "duration_s": 2.0,
        "robot": {"file": "strapdown:manipulator"},
        "physics": {"engine": "coppeliasim", "gravity": G, "step_s": 0.05},
        "coppeliasim": {"server": address, "timeout_s": timeout_s},
        "motor": [{"joint": "elbow", "kind": "speed"}, {"joint": "shoulder", "kind": "speed"}],
        "program": [{"motor": "elbow", "at_s": 0.1, "speed_deg_s": 20.0}],
        "sensor": [{"name": "D1", "link": "tool", "rate_hz": 20.0}],
        **more,
    }


def refused(values, sentence):
    begin = time.monotonic()
    with pytest.raises(InputError, match=sentence) as caught:
        run_rig(values)
    assert time.monotonic() - begin < AT_MOST_S
    assert "\n" not in str(caught.value)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_no_server():
    refused(rig(f"localhost:{free_port()}"), r"no CoppeliaSim listens at localhost:\d+ \(.*\); start CoppeliaSim")


def test_a_server_that_accepts_and_says_nothing():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        values = rig(f"localhost:{silent.getsockname()[1]}", TIMEOUT_S)
        refused(values, r"did not answer zmqRemoteApi\.require within 4 s")


@pytest.mark.parametrize("calls", [0, 3, 60])
def test_a_server_that_falls_silent(server, calls):
    """At the first call, while the robot is loaded, and in the middle of the run."""
    server.silent_after = calls
    refused(rig(server.address), r"did not answer \S+ within 0\.7 s; check that it runs")


def test_a_server_that_is_closed_in_mid_run(server):
    server.close_after = 60
    refused(rig(server.address), r"did not answer \S+ within 0\.7 s; check that it runs")


def test_a_server_that_waits_for_ever(server):
    """It answers that the step is not done, again and again: paused."""
    server.waits_for_ever = True
    refused(rig(server.address), r"has not finished sim\.step after 0\.7 s; is the simulation paused")


@pytest.mark.parametrize("function", ["simURDF.importFile", "sim.getObjectPose", "sim.step", "sim.setArrayParam"])
def test_error_replies(server, function):
    server.errors[function] = "42: in a function:\nsomething is wrong"
    refused(rig(server.address), rf"CoppeliaSim refused {function}: 42: in a function: something is wrong")


@pytest.mark.parametrize(
    ("function", "answer", "sentence"),
    [
        (
            "sim.getObjectPose",
            [[1.0, 2.0, 3.0]],
            r"answered \[1.0, 2.0, 3.0\] to sim.getObjectPose, expected 7 numbers",
        ),
        ("sim.getObjectPose", [["a"] * 7], "expected 7 numbers"),
        ("sim.getObjectPose", [[float("nan")] * 7], "expected 7 numbers"),
        ("sim.getObjectPose", [[0.0] * 7], "no unit quaternion"),
        ("sim.getObjectPose", ["x" * 10_000], r"answered x{200}\.\.\. to"),
        ("sim.getSimulationTime", ["soon"], "answered soon to sim.getSimulationTime, expected a number"),
        ("sim.getSimulationTime", [], "answered None to sim.getSimulationTime, expected a number"),
        ("sim.getSimulationTimeStep", [True], "expected a number"),
        ("sim.getArrayParam", [[0.0, 0.0]], "expected 3 numbers"),
        ("sim.getArrayParam", [[1.0, 0.0, -9.0]], "it must point down z"),
        ("sim.getObject", [-1], "expected the handle of an object"),
        ("sim.getObject", [{"a": 1}], "expected the handle of an object"),
        ("sim.getSimulationState", [None], "expected a whole number"),
        ("sim.getSimulationState", [17], "a simulation is already running in CoppeliaSim"),
        ("simURDF.importFile", ["robot"], "CoppeliaSim imported no robot"),
        ("simURDF.importFile", ["robot", []], "CoppeliaSim imported no robot"),
        ("zmqRemoteApi.info", [[1, 2]], "expected a list of names"),
        ("zmqRemoteApi.info", [{}], "has no constant sim.floatparam_simulation_time_step; version 4.10"),
        ("sim.getSimulationTimeStep", [0.5], "keeps a time step of 0.5 s where 0.05 s was asked for"),
    ],
)
def test_wrong_types(server, function, answer, sentence):
    server.wrong[function] = answer
    refused(rig(server.address), sentence)


@pytest.mark.parametrize("raw", [b"", b"\xff\xff\xff", b"GET / HTTP/1.1", b"\x83\x01\x02\x03", b"\xa1\x61\x61\x01"])
def test_answers_that_are_none(server, raw):
    server.raw["sim.getObjectPose"] = raw
    refused(rig(server.address), r"does not speak as CoppeliaSim does \(answer to sim\.getObjectPose\)")


def test_an_object_that_vanishes(server):
    server.vanish_at = 5
    refused(rig(server.address), r'object "tool" is no longer in the scene')


def test_a_simulation_that_is_stopped_by_hand(server):
    server.stop_at = 7
    refused(rig(server.address), r"the simulation in CoppeliaSim was stopped at t = 0\.3 s")


def test_a_missing_physics_engine(server):
    """Time runs and all bodies are frozen."""
    server.scene.frozen = True
    refused(rig(server.address), r"nothing has moved in CoppeliaSim until t = 1\.\d+ s although it is driven")


def test_sensors_on_what_stands_still_are_no_fault(server):
    """The base stands while the arm moves: the driven joint is asked, and nothing is wrong."""
    found = run_rig(rig(server.address, sensor=[{"name": "D1", "link": "base", "rate_hz": 20.0}])).recordings["D1"]
    assert len(found) == 39


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"coppeliasim": {"server": "here"}}, 'server address "here" is not known; give host:port'),
        ({"duration_s": 0.12}, "give a whole number of steps"),
        ({"start": [{"joint": "elbow", "speed_deg_s": 3.0}]}, 'joint "elbow" cannot begin with a speed'),
        ({"sensor": [{"name": "D1", "link": "tool", "method": "proof-mass"}]}, "proof-mass, which needs MuJoCo"),
        ({"sensor": [{"name": "D1", "link": "hand"}]}, 'link "hand" is not there; valid names: world, base, upper_arm'),
        (
            {"motor": [{"joint": "wrist", "kind": "speed"}], "program": []},
            'joint "wrist" is not there; valid names: shoulder, elbow',
        ),
    ],
)
def test_rigs_that_do_not_fit_coppeliasim(server, change, sentence):
    values = rig(server.address)
    refused({**values, **change}, sentence)
    assert not server.scene.robots and not server.scene.running  # nothing is left behind


def test_the_command_ends_with_the_sentence(tmp_path):
    text = (
        'duration_s = 1.0\n[robot]\n[physics]\nengine = "coppeliasim"\n[coppeliasim]\n'
        f'server = "localhost:{free_port()}"\n[[sensor]]\nname = "D1"\nlink = "/arm"\nrate_hz = 20.0\n'
    )
    out = tmp_path / "out.csv"
    said = command("simulate", write(tmp_path, "rig.toml", text), "-o", out)
    assert said.code == 2 and "no CoppeliaSim listens at" in said.err and "Traceback" not in said.err
    assert not out.exists()


def test_a_closed_connection_says_so(server):
    connection = Connection(server.address)
    connection.close()
    with pytest.raises(InputError, match="is closed; connect again"):
        connection.call("sim.step")

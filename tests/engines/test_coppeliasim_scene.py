"""Scenes in CoppeliaSim, by a stand-in: the recorded conversation, robots loaded from files, lockstep, following."""

import numpy as np
import pytest

from helpers import ROOT, G, command, needs, run_rig, shared_data, write
from strapdown.engines.coppeliasim.connection import Connection
from strapdown.engines.coppeliasim.loaded_robot import Carrier, LoadedRobot
from strapdown.engines.coppeliasim.pose_readings import PoseReadings
from strapdown.engines.coppeliasim.run import Recorder
from strapdown.engines.coppeliasim.scene import Scene
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.environment.coppeliasim_imu import CUSTOM_DATA, VirtualImu
from strapdown.errors import InputError, LogWarning
from strapdown.io import read
from strapdown.vehicles import builtin

needs("coppeliasim")
from coppeliasim_server import StandIn  # noqa: E402 it imports what may not be installed

HERE = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def recorded():
    with StandIn(shared_data("coppeliasim") / "wire_session.jsonl") as server:
        yield server


@pytest.fixture
def server():
    with StandIn() as found:
        yield found


def arm_rig(address, step_s=0.01, duration_s=1.0, **more):
    return {
        "duration_s": duration_s,
        "robot": {"file": "strapdown:manipulator"},
        "physics": {"engine": "coppeliasim", "gravity": G, "step_s": step_s},
        "coppeliasim": {"server": address},
        "motor": [{"joint": "shoulder", "kind": "speed"}, {"joint": "elbow", "kind": "speed"}],
        "program": [{"motor": "shoulder", "at_s": 0.0, "speed_deg_s": 30.0}],
        "sensor": [{"name": "D1", "link": "tool", "rate_hz": 1.0 / step_s, "position_m": [0.1, 0.0, 0.05]}],
        **more,
    }


# The recorded conversation


def test_the_recorded_scene_is_read_as_it_was(recorded):
    """A real server's answers: the forearm turns at 0.5 rad/s about x, 0.6 m from the shoulder."""
    connection = Connection(recorded.address)
    scene = Scene(connection)
    connection.require("simURDF")
    assert connection.call("simURDF.importFile", "two_link.urdf") == ("two_link", [18])
    path = "/base_respondable/forearm_respondable"
    assert scene.object_at(path) == 22
    frames = {"D1": Carrier(22, path, *HERE)}
    poses = Recorder(scene, frames).step_through(1.95, 0.05)["D1"]
    assert poses.t[0] == pytest.approx(0.1) and len(poses.t) == 38
    readings, out = PoseReadings(G), []
    for k in range(38):  # the first poses are dropped already: two of them again, for the readings' own count
        for _ in range(3 if k == 0 else 1):
            sample = readings.put(poses.t[k] - (0.1 if k == 0 else 0.0), poses.p_n[k], poses.q_nb[k])
            if sample is not None:
                out.append(sample)
    gyr, acc = np.array([s.gyr_s for s in out[2:]]), np.array([s.acc_s for s in out[2:]])
    np.testing.assert_allclose(gyr, np.tile([0.5, 0.0, 0.0], (len(gyr), 1)), atol=1e-9)  # the motor's own accuracy
    angle = 0.5 * np.array([s.t for s in out[2:]])
    centripetal = 0.6 * 0.25 * np.sinc(0.0125 / np.pi) ** 2  # of the second difference of a circle
    expected = np.stack([0.0 * angle, G * np.sin(angle), G * np.cos(angle) - centripetal], axis=1)
    np.testing.assert_allclose(acc, expected, atol=2e-6)  # gravity at the recorded angle: 2e-7 rad off the command
    with pytest.raises(InputError, match='object "/noSuchObject" is not in the scene'):
        scene.object_at("/noSuchObject")
    with pytest.raises(InputError, match='object "gone" is no longer in the scene'):
        scene.pose(999999, "gone")


def test_answers_do_not_depend_on_the_order_of_questions(recorded):
    connection = Connection(recorded.address)
    assert connection.call("simURDF.importFile", "two_link.urdf")[1] == [18]
    late = connection.handle("sim.getObject", "/base_respondable/forearm_respondable")
    assert connection.number("sim.getSimulationTimeStep") == 0.05  # never recorded: of the simulated scene
    assert connection.number("sim.getSimulationTime") == 0.0 and late == 22


def test_calls_never_seen_on_a_real_server_are_listed_in_the_docs(recorded):
    """docs/engines.md lists them: what our client calls, less what the recorded conversation holds."""
    table = {"server": recorded.address, "physics_engine": "mujoco"}
    start = [{"joint": "elbow", "position_deg": 5.0}]
    run_rig(arm_rig(recorded.address, duration_s=0.1, start=start, program=PUSHED, coppeliasim=table))
    run_rig(cube_rig(recorded.address, duration_s=0.1))
    called = recorded.functions | {"sim.setJointTargetPosition"}
    called |= {"sim.writeCustomTableData"}  # of the script inside the simulator
    never = sorted(called - recorded.recorded.seen)
    text = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    listed = text.partition("never seen on a real server")[2].partition("\n\n")[2].partition("\n\n")[0]
    assert never == sorted(part for part in listed.split("`") if part.startswith("sim"))
    (names,) = (Connection(recorded.address).call("zmqRemoteApi.info", "sim"),)
    assert all("func" in names[function.removeprefix("sim.")] for function in never)  # a real server has them all


PUSHED = [
    {"motor": "shoulder", "at_s": 0.0, "speed_deg_s": 30.0},
    {"link": "forearm", "at_s": 0.0, "until_s": 0.05, "force_n": [0.0, 0.0, 1.0]},
]


def cube_rig(address, **more):
    return {
        "duration_s": 1.0,
        "robot": {"file": "strapdown:cube"},
        "physics": {"engine": "coppeliasim", "gravity": G, "step_s": 0.01},
        "coppeliasim": {"server": address},
        "program": [{"link": "cube", "at_s": 0.5, "until_s": 1.0, "force_n": [0.0, 0.0, 54.05]}],
        "sensor": [{"name": "D1", "link": "cube", "rate_hz": 100.0}],
        **more,
    }


# Robots loaded into the scene


def test_a_loaded_robot_is_where_its_file_puts_it(server):
    """Objects of the importer have frames of their own: links are found again behind them."""
    scene = Scene(Connection(server.address))
    robot = LoadedRobot(scene, RobotFile(builtin("manipulator"), position_m=(1.0, 2.0, 3.0)))
    assert set(robot.links()) == {"world", "base", "upper_arm", "forearm", "tool"}
    assert robot.joints() == ("shoulder", "elbow")
    tool = robot.link("tool")
    p_n, q_nb = tool.seen(*scene.pose(tool.handle, "tool"))
    np.testing.assert_allclose(p_n, [1.0, 2.0, 4.0], atol=1e-12)
    np.testing.assert_allclose(np.abs(q_nb), [1.0, 0.0, 0.0, 0.0], atol=1e-12)
    with pytest.raises(InputError, match='link "hand" is not there; valid names: world, base'):
        robot.link("hand")
    robot.remove()
    assert len(server.scene.removed) == 1 and not server.scene.robots


def test_a_rig_gives_the_same_recording_as_in_mujoco(server):
    """Poses at 100 Hz through a local fit: 1e-4 of the signals, away from the start of the motor."""
    rig = arm_rig(server.address)
    theirs = run_rig(rig).recordings["D1"]
    physics = {"gravity": G, "integrator": "euler", "step_s": 0.005}
    motors = [{**motor, "time_constant_s": 0.02} for motor in rig["motor"]]  # those of the stand-in
    same = {**{k: v for k, v in rig.items() if k != "coppeliasim"}, "physics": physics, "motor": motors}
    ours = run_rig(same).recordings["D1"]
    assert set(ours.meta) <= set(theirs.meta) and theirs.meta["engine"] == "coppeliasim"
    assert theirs.meta["time_step_s"] == 0.01 and theirs.t[0] == pytest.approx(0.02)
    steady = theirs.t > 0.5
    np.testing.assert_allclose(theirs.gyr_s[steady], ours.gyr_s[2:][steady], atol=1e-4)
    np.testing.assert_allclose(theirs.acc_s[steady], ours.acc_s[2:][steady], atol=1e-2)


def test_a_cube_is_pushed_off_the_floor(server):
    """At rest g, then 54.05 N on 5 kg; the floor comes with the robot and goes with it."""
    found = run_rig(cube_rig(server.address)).recordings["D1"]
    rest, lift = (found.t > 0.2) & (found.t < 0.45), (found.t > 0.55) & (found.t < 0.95)
    np.testing.assert_allclose(found.acc_s[rest, 2], G, atol=1e-4)
    np.testing.assert_allclose(found.acc_s[lift, 2], 10.81, atol=1e-6)
    assert len(server.scene.removed) == 2 and not server.scene.floor


def test_what_was_set_in_the_scene_is_put_back(server):
    run_rig(arm_rig(server.address, duration_s=0.1, coppeliasim={"server": server.address, "physics_engine": "ode"}))
    assert server.scene.parameters == {1: 0.05, 5: 0.005} and server.scene.gravity == [0.0, 0.0, -9.81]
    assert server.scene.engine == 4 and not server.scene.running


def test_time_step_and_gravity_are_read_back_as_float32():
    with StandIn(float32=True) as server:
        found = run_rig(arm_rig(server.address, duration_s=0.2)).recordings["D1"]
    assert found.meta["time_step_s"] == float(np.float32(0.01)) and found.meta["gravity_m_s2"] == float(np.float32(G))
    np.testing.assert_allclose(found.t, np.arange(2, 21) * 0.01, atol=1e-8)


def test_a_part_reads_in_coppeliasim(server):
    sensor = {"name": "imu", "link": "forearm", "rate_hz": 100.0, "part": "MPU-6050"}
    found = run_rig(arm_rig(server.address, sensor=[sensor])).recordings["imu"]
    assert found.meta["part"] == "MPU-6050" and found.clipped is not None and len(found) > 90


# Objects of an open scene


@pytest.fixture
def open_scene(server):
    """A robot that somebody else has loaded, and its paths."""
    robot = LoadedRobot(Scene(Connection(server.address)), RobotFile(builtin("double_pendulum")))
    root = server.scene.robots[0]
    paths = {alias: f"/{root.aliases[root.base]}/{alias}" for handle, alias in root.aliases.items()}
    return server, robot, paths


def test_sensors_sit_on_objects_by_path_and_joints_are_driven(open_scene):
    server, _, paths = open_scene
    (link,) = [path for alias, path in paths.items() if alias.startswith("upper_link")]
    (joint,) = [path for alias, path in paths.items() if alias.startswith("upper_joint")]
    rig = {
        "duration_s": 1.0,
        "robot": {},
        "physics": {"engine": "coppeliasim"},
        "coppeliasim": {"server": server.address},
        "motor": [{"joint": joint, "name": "m", "kind": "speed"}],
        "program": [{"motor": "m", "at_s": 0.0, "speed_deg_s": 60.0}],
        "sensor": [{"name": "imu", "link": link, "rate_hz": 20.0}],
    }
    found = run_rig(rig).recordings["imu"]
    assert found.meta["time_step_s"] == 0.05 and found.meta["gravity_m_s2"] == G  # the scene's own
    np.testing.assert_allclose(found.gyr_s[10:-2, 0], np.radians(60.0), rtol=0.05)  # the free joint below pulls
    assert server.scene.robots  # what was there stays


def test_a_simulation_that_runs_freely_is_followed(open_scene):
    server, robot, paths = open_scene
    (link,) = [path for alias, path in paths.items() if alias.startswith("upper_link")]
    scene = Scene(Connection(server.address))
    scene.set_joint(robot.joint("upper"), 1.0)
    server.scene.do_startSimulation()
    server.free_hz = 15.0  # slow enough for a reader on a busy machine
    rig = {
        "duration_s": 1.0,
        "robot": {},
        "physics": {"engine": "coppeliasim"},
        "coppeliasim": {"server": server.address, "follow": True},
        "sensor": [{"name": "imu", "link": link, "rate_hz": 20.0}],
    }
    found = run_rig(rig).recordings["imu"]
    assert np.abs(found.gyr_s).max() > 0.5 and 0.85 <= found.t[-1] <= 1.0
    server.free_hz = 0.0
    with pytest.raises(InputError, match=r"stands at t = .*press play"):
        run_rig({**rig, "coppeliasim": {"server": server.address, "follow": True, "timeout_s": 0.5}})
    server.scene.do_stopSimulation()
    with pytest.raises(InputError, match="no simulation runs in CoppeliaSim; press play"):
        run_rig({**rig, "coppeliasim": {"server": server.address, "follow": True, "timeout_s": 0.3}})


def test_a_scene_without_motion_is_warned_of(open_scene):
    server, _, paths = open_scene
    base = next(iter(paths.values())).rsplit("/", 1)[0]
    rig = {
        "duration_s": 0.5,
        "robot": {},
        "physics": {"engine": "coppeliasim"},
        "coppeliasim": {"server": server.address},
        "sensor": [{"name": "imu", "link": base, "rate_hz": 20.0}],
    }
    with pytest.warns(LogWarning, match="no sensor moved in CoppeliaSim until t = 0.5 s"):
        found = run_rig(rig).recordings["imu"]
    np.testing.assert_allclose(found.acc_s, np.tile([0.0, 0.0, G], (len(found), 1)), atol=1e-12)


# The script inside the simulator


def test_the_script_inside_the_simulator_reads_with_our_models(open_scene, tmp_path, monkeypatch):
    """The example as CoppeliaSim runs it: init, then sensing in every step, then cleanup."""
    server, robot, _ = open_scene
    monkeypatch.chdir(tmp_path)
    scene = Scene(Connection(server.address))
    sim = _Sim(scene, robot.link("lower_link").handle)
    scene.set_joint(robot.joint("upper"), 1.0)
    names = {"require": lambda name: sim}
    exec((ROOT / "examples" / "coppeliasim_imu.py").read_text(encoding="utf-8"), names)
    scene.start()
    names["sysCall_init"]()
    for _ in range(40):
        scene.step()
        names["sysCall_sensing"]()
    scene.stop()
    names["sysCall_cleanup"]()
    found = read(tmp_path / "coppeliasim_imu.csv")["imu"]
    assert len(found) > 30 and found.meta["part"] == "MPU-6050" and np.abs(found.gyr_s).max() > 0.5
    t, values = sim.written[-1]
    assert values["t"] == pytest.approx(t - 0.05) and set(values) == {"t", "acc", "gyr"}  # one step late


class _Sim:
    """What a script calls, answered by the stand-in."""

    arrayparam_gravity = 0

    def __init__(self, scene, handle):
        self._call, self._handle, self.written = scene.connection.call, handle, []

    def getObject(self, path):
        assert path == ".."
        return self._handle

    def writeCustomTableData(self, handle, name, values):
        assert name == CUSTOM_DATA
        self.written.append((self.getSimulationTime(), values))

    def __getattr__(self, name):
        return lambda *arguments: self._call(f"sim.{name}", *arguments)


def test_an_ideal_sensor_inside_the_simulator_is_right(open_scene):
    """A pendulum held still by nothing: at its release it feels gravity along its link alone."""
    server, robot, _ = open_scene
    scene = Scene(Connection(server.address))
    imu = VirtualImu(_Sim(scene, robot.link("upper_link").handle), robot.link("upper_link").handle)
    scene.start()
    for _ in range(6):
        scene.step()
        imu.sense()
    scene.stop()
    np.testing.assert_allclose(imu.recording().acc_s, np.tile([0.0, 0.0, G], (len(imu.recording()), 1)), atol=1e-9)


def test_simulate_takes_the_engine_as_an_option(server, tmp_path):
    text = (
        'duration_s = 0.5\n[robot]\nfile = "strapdown:manipulator"\n[[motor]]\njoint = "elbow"\nkind = "speed"\n'
        '[[program]]\nmotor = "elbow"\nat_s = 0.0\nspeed_deg_s = 10.0\n[[sensor]]\nname = "D1"\nlink = "tool"\n'
        f'rate_hz = 20.0\n[physics]\nengine = "coppeliasim"\n[coppeliasim]\nserver = "{server.address}"\n'
    )
    rig = write(tmp_path, "rig.toml", text)
    said = command("simulate", rig, "-o", tmp_path / "out.csv")
    assert said.code == 0 and read(tmp_path / "out.csv")["D1"].meta["engine"] == "coppeliasim"
    said = command("simulate", rig, "-o", tmp_path / "b.csv", "--engine", "unity")
    assert said.code == 2 and 'engine "unity" is not known; valid names: mujoco, pybullet' in said.err


def test_the_engine_of_the_command_line_uses_the_table_of_the_rig(server, tmp_path):
    """One rig with the server's address runs in CoppeliaSim and, to compare, in MuJoCo."""
    text = (
        'duration_s = 0.5\n[robot]\nfile = "strapdown:manipulator"\n[[sensor]]\nname = "D1"\nlink = "base"\n'
        f'rate_hz = 20.0\n[coppeliasim]\nserver = "{server.address}"\n'
    )
    rig = write(tmp_path, "rig.toml", text)
    for engine in ("coppeliasim", "mujoco"):
        assert command("simulate", rig, "-o", tmp_path / f"{engine}.parquet", "--engine", engine).code == 0
    said = command("simulate", rig, "-o", tmp_path / "none.parquet")
    assert said.code == 2 and 'has a [coppeliasim] table; set engine = "coppeliasim"' in said.err


# How a run ends: the simulator stops some steps after it was asked


def test_a_run_waits_for_the_stop_and_then_puts_everything_back(server, tmp_path):
    """A simulator that is about to stop keeps no time step and starts no run: two runs in a row find it stopped."""
    before = dict(server.scene.parameters)
    for _ in range(2):
        run_rig(arm_rig(server.address), tmp_path)
        assert server.scene.parameters == before
        assert not server.scene.stopping and not server.scene.robots
    calls = [function for function, _ in server.asked]
    assert calls.index("sim.stopSimulation") < calls.index("sim.removeModel")


def test_a_simulation_that_never_stops_is_a_sentence(server):
    scene = Scene(Connection(server.address, timeout_s=0.3))
    scene.start()
    server.wrong["sim.getSimulationState"] = [21]
    with pytest.raises(InputError, match="does not stop"):
        scene.stop()


def test_a_client_takes_leave_and_one_that_vanished_is_soon_forgotten(server):
    """The real server waits in lockstep for a client that it knows, with all its windows, for the client's time-out."""
    connection = Connection(server.address)
    assert server.forgotten_s == 60.0  # the public client asks for 600
    connection.close()
    assert server.left == 1
    cut_off = Connection(server.address, timeout_s=0.3)
    server.waits_for_ever = True
    with pytest.raises(InputError):
        cut_off.call("sim.step")
    assert server.left == 1  # in the middle of a call nothing more can be sent

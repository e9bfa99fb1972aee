"""A block that fails stops the session; memory stays bounded; real-time pace; recordings go into the other commands."""

import json

import numpy as np
import pytest
from bad_scenarios import diagram_values, toml_text
from tests.environment.session.session_cases import flown, resting, short

from helpers import command
from strapdown import io
from strapdown.environment.diagram.file import diagram_from
from strapdown.environment.diagram.kinds import builtin, load_blocks
from strapdown.environment.session.commands import SetDiagram
from strapdown.environment.session.pace import SPIN_S, run_paced
from strapdown.environment.session.recording.files import write_session
from strapdown.environment.session.recording.outcome import figures
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.session import Session, SessionStopped
from strapdown.errors import InputError
from strapdown.vehicles import vehicle

BLOCKS = '''
from strapdown.environment.diagram import BlockParameters, Port, block, parameter


@block("fragile", category="own")
class Fragile:
    """Passes its input on until it fails."""

    class Parameters(BlockParameters):
        at_s: float = parameter(1.0, title="Time", description="When it fails.", unit="s", limits=(0.0, 100.0))
        how: str = parameter("raises", title="How", description="raises, nan or text", max_length=10)

    rate_hz = None

    def __init__(self, p):
        self.p = p
        self.inputs = {"in": Port("N", None, ())}
        self.outputs = {"out": Port("N", None, ())}

    def start(self):
        return 0.0

    def step(self, t, x, dt):
        if t >= self.p.at_s:
            if self.p.how == "raises":
                raise ZeroDivisionError("no thrust left")
            return t + dt, (float("nan") if self.p.how == "nan" else "full",)
        return t + dt, (x,)
'''
HOW = {"raises": "ZeroDivisionError: no thrust left", "nan": 'output "out" is nan', "text": 'output "out" is'}


def with_fragile(how, at_s):
    """The quadcopter's diagram with the thrust through a block that fails."""
    values = diagram_values()
    wire = next(w for w in values["wire"] if w["to"] == "mixer.thrust")
    wire["to"] = "own thrust.in"
    values["wire"].append({"from": "own thrust.out", "to": "mixer.thrust"})
    values["block"].append({"name": "own thrust", "kind": "fragile", "parameters": {"at_s": at_s, "how": how}})
    return values


@pytest.fixture
def kinds(tmp_path):
    (tmp_path / "own.py").write_text(BLOCKS, encoding="utf-8")
    return load_blocks(tmp_path / "own.py", builtin())


@pytest.mark.parametrize("how", ["raises", "nan"])
def test_a_block_that_fails_stops_the_clock_disarms_and_keeps_the_recording(how, kinds):
    session = Session(short(), seed=1, kinds=kinds)
    session.act(SetDiagram(diagram_from(with_fragile(how, 3.0))))
    with pytest.raises(SessionStopped, match=f'block "own thrust".*{HOW[how]}'):
        session.run()
    assert session.t_s == pytest.approx(3.0, abs=0.005)
    assert session.console.arm == 0.0 and session.console.power == 1.0
    assert session.events[-1].kind == "stopped" and "own thrust" in session.events[-1].data["reason"]
    run = recording_of(session)
    assert len(run.recordings["imu"]) == pytest.approx(1500, abs=3) and len(run.t) == pytest.approx(750, abs=2)
    with pytest.raises(SessionStopped):  # the clock stays where it is
        session.tick()
    assert session.t_s == pytest.approx(3.0, abs=0.005)
    session.rewind(2.0)
    session.advance(0.5)
    assert session.t_s == 2.5 and not session.stopped


@pytest.mark.parametrize("how", HOW)
def test_the_command_exits_2_with_one_sentence_and_writes_the_folder(how, tmp_path):
    (tmp_path / "own.py").write_text(BLOCKS, encoding="utf-8")
    (tmp_path / "diagram.toml").write_text(toml_text(with_fragile(how, 0.5)), encoding="utf-8")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'version = 1\nbase = "quadcopter"\nduration_s = 1.0\ndiagram = "diagram.toml"\n', encoding="utf-8"
    )
    said = command("run", scenario, "--blocks", tmp_path / "own.py", "-o", tmp_path / "out", "--json")
    assert said.code == 2
    lines = said.err.strip().splitlines()
    assert len(lines) == 1 and "stopped at 0.5" in lines[0] and 'block "own thrust"' in lines[0]
    assert HOW[how] in lines[0] and "Traceback" not in said.err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"recording.parquet", "signals.parquet", "session.json", "diagram.toml", "report.html"} <= names
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<details>" in page and "own thrust" in page and "data:image/svg" not in page  # its ports are not known here
    assert "own thrust" in json.loads((tmp_path / "out" / "session.json").read_text(encoding="utf-8"))["stopped"]
    assert json.loads(said.out)["figures"]["stopped"]
    assert len(io.read(tmp_path / "out" / "recording.parquet")["imu"]) > 200


def test_a_block_that_fails_at_once_is_named(tmp_path):
    (tmp_path / "own.py").write_text(BLOCKS, encoding="utf-8")
    (tmp_path / "diagram.toml").write_text(toml_text(with_fragile("raises", 0.0)), encoding="utf-8")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'version = 1\nbase = "quadcopter"\nduration_s = 1.0\ndiagram = "diagram.toml"\n', encoding="utf-8"
    )
    said = command("run", scenario, "--blocks", tmp_path / "own.py", "-o", tmp_path / "out")
    assert said.code == 2 and len(said.err.strip().splitlines()) == 1
    assert 'block "own thrust"' in said.err and "nothing was recorded" in said.err


def test_memory_is_bounded_when_old_rows_are_forgotten():
    """60 s with a history of 2 s: what is kept does not grow with time."""
    session = Session(resting(60.0, history_s=2.0), seed=1)

    def kept_bytes():
        growing = [session.body, *(s.log for s in session.sensors), session.sensors[0].truth]
        growing += [rows for _, rows in session.signals._stretches]
        return sum(chunk.nbytes for rows in growing for chunk in rows._chunks)

    sizes = []
    for _ in range(12):
        session.advance(5.0)
        session.forget_before(session.t_s - 2.0)
        sizes.append(kept_bytes())
    assert len(session._history) <= 3 and not session._done
    # chunks have 4096 rows: 8 s of the inertial sensor, 16 s of the signals. Kept are those that the last 2 s touch
    assert max(sizes) <= 2 * min(sizes)


class Clock:
    """A clock that a test moves; each cycle of the session takes `cost_s`."""

    def __init__(self, cost_s):
        self.now, self.cost_s, self.slept = 100.0, cost_s, []

    def __call__(self):
        self.now += 1e-6  # looking at the clock takes time too: a loop that waits for it ends
        return self.now

    def sleep(self, wait_s):
        assert wait_s > 0.0
        self.slept.append(wait_s)
        self.now += wait_s

    def work(self):
        self.now += self.cost_s


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_pace_ends_on_time(factor):
    session, clock = Session(resting(2.0), seed=1), Clock(cost_s=1e-3)
    calls = []
    seen = run_paced(session, 1.0, factor, lambda: (calls.append(session.ticks), clock.work()), clock, clock.sleep)
    assert session.t_s == 1.0
    assert calls == list(range(4, 1001, 4))  # after every control cycle
    assert clock.now - 100.0 == pytest.approx(1.0 / factor, abs=1e-5)
    figures = seen.figures()
    assert 0.0 <= figures["end_late_ms"] < 0.01 and figures["late_worst_ms"] < 0.01
    assert figures["cycle_worst_ms"] == pytest.approx(1.0, abs=0.01)
    assert all(wait == pytest.approx(0.004 / factor - 1e-3 - SPIN_S, abs=1e-5) for wait in clock.slept)


def test_pace_reports_lateness_and_catches_up():
    session, clock = Session(resting(2.0), seed=1), Clock(cost_s=1e-3)

    def slow_once():
        clock.work()
        if session.ticks == 400:
            clock.now += 0.1

    figures = run_paced(session, 1.0, 1.0, slow_once, clock, clock.sleep).figures()
    # one cycle is late by what it took beyond its 4 ms; the schedule is absolute, so that the end is on time
    assert figures["late_worst_ms"] == pytest.approx(101.0 - 4.0, abs=0.1)
    assert figures["cycle_worst_ms"] == pytest.approx(101.0, abs=0.1)
    assert figures["end_late_ms"] < 0.01
    assert clock.now - 100.0 == pytest.approx(1.0, abs=1e-5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A flight with 4 s of rest before it, as `strapdown run -o` leaves it."""
    path = tmp_path_factory.mktemp("flight")
    pilot = [
        {"at_s": 0.1, "power": True, "mode": "hold"},
        {"at_s": 0.5, "calibrate": True},
        {"at_s": 4.5, "calibrate": False},
        {"at_s": 5.0, "arm": True, "throttle": 0.6},
        {"at_s": 7.0, "throttle": 0.0, "pitch": 0.6},
    ]
    write_session(path, recording_of(flown(short(10.0, pilot=pilot), seed=1)))
    return path


def test_orient_takes_the_recording(folder, tmp_path):
    said = command("orient", folder / "recording.parquet", "--sensor", "imu", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)


def test_navigate_takes_the_recording_as_that_of_a_flight(folder, tmp_path):
    """Taken for a robot on wheels, it ended far off, with notes on the floor and on slides."""
    said = command("navigate", folder / "recording.parquet", "-o", tmp_path / "nav", "--json")
    assert said.code == 0, said.err
    notes = " ".join(json.loads(said.out)["notes"])
    assert not [words for words in ("floor", "slides", "no declination is given", "grows unbounded") if words in notes]


def test_calibrate_static_takes_the_recording(folder, tmp_path):
    said = command("calibrate", "static", folder / "recording.parquet", "-o", tmp_path / "cal.toml")
    assert said.code == 0, said.err
    assert (tmp_path / "cal.toml").exists()


def test_the_recording_holds_sensors_truth_fixes_and_heights(folder):
    log = io.read(folder / "recording.parquet")["imu"]
    assert log.truth is not None and log.height is not None and log.velocity_fix is not None
    assert log.new["height"].sum() == pytest.approx(500, abs=2) and log.new["velocity_fix"].sum() == pytest.approx(
        99, abs=2
    )
    err = log.height.height_m[log.new["height"]] - log.truth.p_n[log.new["height"], 2]
    assert np.std(err[:200]) == pytest.approx(0.02, rel=0.3)  # chance: 200 readings at rest
    meta = json.loads((folder / "session.json").read_text(encoding="utf-8"))
    assert meta["version"] == 1 and meta["seed"] == 1 and meta["scenario"]["vehicle"] == "quadcopter"
    assert {"console", "lift_off", "calibrated"} <= {event["kind"] for event in meta["events"]}
    assert (folder / "diagram.toml").read_text(encoding="utf-8") == meta["diagram"]


def test_times_that_are_none_are_refused_and_a_name_is_enough():
    session = Session("rover")
    session.advance(0.01)
    for action, bad in ((session.rewind, float("nan")), (session.advance, float("nan")), (session.advance, -1.0)):
        with pytest.raises(InputError, match="give a time"):
            action(bad)
    assert session.t_s == pytest.approx(0.01)


@pytest.mark.parametrize("name", ["quadcopter", "rover", "mars_helicopter"])
def test_a_vehicle_on_the_ground_reads_gravity_from_the_first_row_on(name):
    session = Session(name)
    session.advance(0.05)
    recorded = recording_of(session)
    log = recorded.recordings["imu"]
    # 0.3 m/s2: offset and noise of the part; a vehicle that is not yet in contact falls and reads 0
    assert abs(log.acc_s[0, 2] - session.scene.g()) < 0.3
    assert np.abs(log.truth.v_n).max() < 1e-4 and np.ptp(log.truth.p_n[:, 2]) < 1e-6


def test_the_rover_knows_its_way_by_wheels_and_stops():
    """Errors of six specimens were 0.02 to 0.04 m; without the odometer the first was 1.1 m off."""
    session = Session("rover", seed=11)
    session.run()
    assert figures(recording_of(session))["position_max_m"] < 0.08


def test_a_robot_without_a_diagram_has_a_slider_for_each_joint(tmp_path):
    text = (vehicle._FOLDER / "double_pendulum.urdf").read_text(encoding="utf-8")
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    values = {"version": 1, "vehicle": "arm.urdf", "duration_s": 1.0, "sensor": [{"name": "imu", "part": "MPU-6050"}]}
    (tmp_path / "arm.toml").write_text(toml_text(values), encoding="utf-8")
    session = Session(tmp_path / "arm.toml")
    joint = session.vehicle.actuators[0].name
    session.operate(power=True, sliders={joint: 0.4})
    session.advance(1.0)
    assert session.plant.achieved[0] == pytest.approx(0.4, abs=0.05)  # the servo's own error under gravity

"""The guided calibration, the turntable, robots and samples, without a server."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from strapdown.environment.diagram.kinds import builtin
from strapdown.environment.session.scenario.file import read_scenario
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.studio.calibration import guided as calibrating
from strapdown.studio.calibration.guided import Bench
from strapdown.studio.messages.commands import Calibrate
from strapdown.studio.server.samples import Samples
from strapdown.studio.simulation.robot_scenario import robot_scenario
from strapdown.studio.stage.live_stage import LiveStage
from strapdown.vehicles import vehicle


@pytest.fixture
def session():
    return Session(read_scenario("quadcopter"))


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(calibrating, "FASTER", 1e6)
    with ThreadPoolExecutor(1) as worker:
        yield Bench(worker)


def command(action, **more):
    return Calibrate(type="calibrate", action=action, **more)


def finished(bench):
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        bench.news()
        if bench._state in ("done", "failed"):
            bench._changed = True
            return bench.news()
        time.sleep(0.01)
    raise TimeoutError


@pytest.mark.parametrize(("workflow", "steps"), [("static", 1), ("six_positions", 6)])
def test_a_guided_calibration_recovers_the_specimen(bench, session, workflow, steps):
    bench.do(command("start", workflow=workflow, sensor="imu"), session)
    for _ in range(steps):
        bench.do(command("next"), session)
        time.sleep(0.001)
        bench.news()
    found = finished(bench)
    assert found.state == "done" and found.error == "" and all(step.done for step in found.steps)
    gyr = [row for row in found.result if row.name.startswith("gyroscope: bias")]
    assert len(gyr) == 3
    for before, after in zip(found.before, found.after, strict=True):
        assert after.value < 0.1 * before.value, after.name  # offsets of the part are far above its noise
    assert "[gyroscope]" in bench.do(command("save"), session)["text"]


def test_a_calibration_file_is_shown_next_to_the_truth_and_a_foreign_one_is_refused(bench, session):
    bench.do(command("start", workflow="static", sensor="imu"), session)
    bench.do(command("next"), session)
    time.sleep(0.001)
    bench.news()
    made = finished(bench)
    text = bench.do(command("save"), session)["text"]
    bench.close()
    bench.do(command("load", sensor="imu", name="mine.toml", text=text), session)
    found = finished(bench)
    assert (found.state, found.workflow, found.sensor) == ("done", None, "imu")
    assert [(r.name, r.value, r.truth) for r in found.result] == [(r.name, r.value, r.truth) for r in made.result]
    gyr = next(i for i, row in enumerate(found.before) if row.name.startswith("gyroscope"))
    # the file has offsets alone; scale errors of some per cent are left while the table turns
    assert found.after[gyr].value < 0.3 * found.before[gyr].value
    assert bench.do(command("save"), session)["text"] == text
    with pytest.raises(InputError, match="start one to take readings"):
        bench.do(command("next"), session)
    for bad, sentence in (
        (text.replace("calibration 1", "calibration 9"), "update strapdown"),
        ("x = [", "not valid TOML"),
        (None, "choose a file"),
    ):
        with pytest.raises(InputError, match=sentence):
            bench.do(command("load", sensor="imu", name="../mine.toml", text=bad), session)
    assert finished(bench).result == found.result  # what was shown stays
    mars = Session(read_scenario("mars_helicopter"))  # without a magnetometer
    field = text[: text.index("[")] + "[magnetometer]\n" + 'method = "m"\nverdict = "good"\nbias_ut = [1.0, 2.0, 3.0]\n'
    with pytest.raises(InputError, match="no magnetometer"):
        bench.do(command("load", sensor="imu", name="m.toml", text=field), mars)


def test_six_positions_find_the_biases_within_their_sigma(bench, session):
    bench.do(command("start", workflow="six_positions", sensor="imu"), session)
    for _ in range(6):
        bench.do(command("next"), session)
        time.sleep(0.001)
        bench.news()
    for row in finished(bench).result:
        if row.name.startswith("accelerometer: bias"):
            # five sigma, and what the temperature adds: the part is at 25 degC, where its terms are 0
            assert abs(row.value - row.truth) < 5.0 * row.sigma, row


def test_the_magnetometer_needs_coverage(bench, session):
    bench.do(command("start", workflow="magnetometer", sensor="imu"), session)
    assert bench.news().coverage < 0.1
    with pytest.raises(InputError, match="no positions"):
        bench.do(command("next"), session)
    rng = np.random.default_rng(3)
    for _ in range(40):
        bench.do(command("turn", attitude=tuple(rng.standard_normal(4))), session)
    seen = bench.news()
    assert seen.state == "ready" and seen.coverage > 0.9 and seen.points
    bench.do(command("finish"), session)
    found = finished(bench)
    assert found.state == "done"
    for row in found.result:
        if "bias" in row.name:
            assert abs(row.value - row.truth) < 6.0 * row.sigma + 0.05, row  # uT: the nonlinearity of the part


def test_too_little_turning_is_one_sentence(bench, session):
    bench.do(command("start", workflow="magnetometer", sensor="imu"), session)
    bench.do(command("turn", attitude=(1.0, 0.0, 0.0, 0.05)), session)
    bench.do(command("finish"), session)
    found = finished(bench)
    assert found.state == "failed" and found.error and "internal" not in found.error


def test_a_robot_file_gets_a_diagram_with_sliders():
    for name in ("manipulator.urdf", "double_pendulum.urdf"):
        scenario = robot_scenario(vehicle._FOLDER / name)
        stage = LiveStage(scenario, name, builtin())
        sliders = stage.about(1).sliders
        assert len(sliders) == len(stage.session.vehicle.actuators) > 0
        stage.advance(0.5, lambda _: None, lambda: False)
        assert not stage.stopped and stage.t_s == pytest.approx(0.5)
        # without power a sensor gives nothing: neither to the charts nor to the filter
        at, size = stage.charts.places["sensor/imu/accelerometer"]
        row = np.empty(stage.charts.width)
        stage.charts.fill(row)
        assert np.isnan(row[at : at + size]).all()
        assert stage.session.runner.value("estimate.attitude").tolist() == [1.0, 0.0, 0.0, 0.0]
        stage.session.operate(power=True)
        stage.advance(1.0, lambda _: None, lambda: False)
        stage.charts.fill(row)
        assert np.isfinite(row[at : at + size]).all()
        assert stage.session.runner.value("estimate.attitude").tolist() != [1.0, 0.0, 0.0, 0.0]


def test_reset_keeps_diagram_and_errors_of_sensors():
    from strapdown.studio.messages import commands as c

    stage = LiveStage(read_scenario("quadcopter"), "quadcopter", builtin(), None, True)
    stage.advance(1.0, lambda _: None, lambda: False)
    plain = stage.diagram().diagram
    plain["block"].append({"name": "extra", "kind": "constant", "at": [0.0, 0.0]})
    stage.do(c.ApplyDiagram(type="apply_diagram", diagram=plain), 1)
    errors = c.SetErrors(type="errors", sensor="imu", instrument="gyroscope", changes={"bias": [0.5, 0.0, 0.0]})
    stage.do(errors, 1)
    stage.advance(2.0, lambda _: None, lambda: False)
    stage.reset()
    assert stage.t_s == 0.0 and stage.diagram().diagram["block"][-1]["name"] == "extra"
    assert stage.sensors().sensors[0].instruments[1].values["bias"] == [0.5, 0.0, 0.0]
    stage.advance(0.5, lambda _: None, lambda: False)


def test_a_command_at_a_whole_second_is_repeated_once_by_a_rewind():
    from strapdown.environment.session.commands import BeginFault
    from strapdown.environment.session.faults.kinds import GustFault

    session = Session(read_scenario("quadcopter"))
    session.advance(2.0)
    session.act(BeginFault(GustFault(velocity_m_s=(3.0, 0.0, 0.0)), "gust"))
    session.advance(1.5)
    before = session.truth.copy()
    session.rewind(2.5)
    session.advance(1.0)
    np.testing.assert_array_equal(session.truth, before)  # to the bit
    assert [event.kind for event in session.events].count("fault") == 1


def test_samples_forget_cut_and_move():
    samples = Samples(2, 1, 1000)
    for i in range(3000):
        row = np.array([[i, -i]], np.float32)
        samples.add(np.array([i / 100.0]), row, np.full((1, 7), i, np.float32))
    assert samples.end == 3000 and samples.first == 2000
    t, rows, poses = samples.part(2990, 3000)
    assert t[0] == 29.9 and rows[-1, 0] == 2999 and poses[0, 0] == 2990
    tail = samples.cut(25.0)
    assert samples.end == 2501 and len(tail.part(0, tail.end)[0]) == 499
    samples.add(np.array([25.01]), np.array([[7.0, 8.0]], np.float32), np.zeros((1, 7), np.float32))
    assert samples.part(2501, 2502)[1][0, 1] == 8.0
    moved = samples.laid_out({"a": (0, 1), "b": (1, 1)}, {"b": (0, 1), "new": (1, 2)}, 3)
    last = moved.part(moved.end - 1, moved.end)[1][0]
    assert last[0] == 8.0 and np.isnan(last[1:]).all()
    t, _, _ = samples.between(20.5, 22.5, 50)
    assert len(t) <= 50 and t[0] == 20.5

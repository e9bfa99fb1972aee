"""A person's session over the websocket: what is sent, what commands do, what can be downloaded."""

import io
import json
import time
import zipfile

import numpy as np
import pytest
from pydantic import TypeAdapter
from studio_server import wait

from strapdown.io import read
from strapdown.studio.messages import Message


def test_every_text_is_a_message_of_the_protocol(client):
    client.open()
    client.ask("console", changes={"power": True})
    client.ask("watch", on=True)
    wait(lambda: "values" in client.last)
    adapter = TypeAdapter(Message)
    for text in client.texts:
        adapter.validate_python(text)
    assert {"hello", "session", "sensors", "signals", "diagram", "faults", "scene", "events"} <= set(client.last)


def test_samples_of_frames_are_those_of_the_history(client):
    client.open()
    names = ["sensor/imu/gyroscope", "truth/position", "not a signal"]
    assert client.ask("subscribe", signals=names)["ok"]
    assert client.last["subscription"]["signals"] == names[:2]
    start = len(client.frames) + 5
    wait(lambda: len(client.frames) > start + 60)
    frames = client.frames[start:]
    times = np.concatenate([f.times for f in frames])
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-9)  # every sample, once: roundoff of times in ticks
    gyr = np.concatenate([f.samples[: 3 * len(f.times)].reshape(-1, 3) for f in frames])
    kept = client.ask("history", signals=names[:1], from_s=float(times[0]), to_s=float(times[-1]))
    np.testing.assert_array_equal(kept.times, times)
    np.testing.assert_array_equal(kept.samples.reshape(-1, 3), gyr)


def test_a_quadcopter_takes_off_by_hand(client):
    client.open()
    client.take_off(speed=4.0)
    wait(lambda: any(event["kind"] == "lift_off" for text in client.texts for event in text.get("events", [])))
    hover = client.t_s
    wait(lambda: client.t_s > hover + 3.0)
    found = client.ask("history", signals=["truth/position", "error/attitude"], from_s=hover)
    n = len(found.times)
    height, error = found.samples[: 3 * n].reshape(n, 3)[:, 2], found.samples[3 * n :].reshape(n, 3)
    assert height.min() > 0.5
    assert np.abs(error[:, :2]).max() < 2.0  # deg: the filter of the default diagram keeps 0.5
    armed = {event["text"] for text in client.texts for event in text.get("events", []) if event["lane"] == "state"}
    assert {"power on, mode hold", "calibration begins", "armed"} <= armed
    assert client.frames[-1].head.state & 0b110100 == 0b110100  # powered, armed, airborne


def test_history_has_poses_of_all_bodies(client):
    session = client.open()
    wait(lambda: client.frames and client.t_s > 0.5)
    found = client.ask("history", signals=[], poses=True, most_rows=10)
    assert found.poses.shape == (len(found.times) * len(session["bodies"]), 7) and len(found.times) <= 10
    np.testing.assert_allclose(np.linalg.norm(found.poses[:, 3:], axis=1), 1.0, atol=1e-6)  # roundoff of float32


def test_a_refused_command_is_one_sentence_and_changes_nothing(client):
    client.open()
    for command, word in (
        ({"type": "console", "changes": {"arm": True}}, "power is off"),
        ({"type": "console", "changes": {"yaw": 5}}, "-1 to 1"),
        ({"type": "parameters", "block": "nothing", "changes": {}}, "nothing"),
        (
            {"type": "errors", "sensor": "imu", "instrument": "gyroscope", "changes": {"white": [-1, 0, 0]}},
            "not negative",
        ),
        ({"type": "errors", "sensor": "imu", "instrument": "compass", "changes": {}}, "compass"),
        ({"type": "begin_fault", "name": "x", "fault": {"kind": "eaten"}}, "valid kinds"),
        ({"type": "end_fault", "name": "x"}, "x"),
        ({"type": "push", "link": "tail", "force_n": [1, 0, 0]}, "tail"),
        ({"type": "continue_from", "t_s": 1e6}, "rewind"),
        ({"type": "add_sensor", "kind": "sensor", "table": {"name": "b", "part": "/etc/passwd.toml"}}, "plain name"),
        ({"type": "add_sensor", "kind": "sensor", "table": {"name": "imu"}}, "two sensors"),
        ({"type": "remove_sensor", "sensor": "imu"}, "accelerometer"),
        ({"type": "open", "choice": "nothing"}, "not offered"),
        ({"type": "open", "upload": "../x.toml"}, "not uploaded"),
        ({"type": "scene", "changes": {"gravity": "mars"}}, "gravity"),
        ({"type": "calibrate", "action": "finish"}, "start"),
        ({"type": "speed", "factor": 1000}, "factor"),
    ):
        kind = command.pop("type")
        reply = client.ask(kind, **command)
        assert not reply["ok"] and word in reply["error"] and "\n" not in reply["error"], (kind, reply)
    before = client.t_s
    wait(lambda: client.t_s > before + 0.3)
    assert client.last["sensors"]["sensors"][0]["name"] == "imu"


def test_noise_of_the_gyroscope_grows_as_the_model_says(client):
    client.open()
    client.ask("console", changes={"power": True})  # without power a sensor gives no readings
    name = "sensor/imu/gyroscope"
    white, rate_hz = 0.02, client.last["sensors"]["sensors"][0]["rate_hz"]
    changes = {
        "white": [white] * 3,
        "bandwidth_hz": None,
        "resolution": 0.0,
        "full_scale": None,
        "nonlinearity": [0] * 3,
    }
    assert client.ask("errors", sensor="imu", instrument="gyroscope", changes=changes)["ok"]
    gyroscope = lambda: client.last["sensors"]["sensors"][0]["instruments"][1]  # noqa: E731
    wait(lambda: gyroscope()["values"]["white"] == [white] * 3)
    start = client.t_s + 0.1
    wait(lambda: client.t_s > start + 4.0)
    found = client.ask("history", signals=[name], from_s=start)
    sigma = found.samples.reshape(-1, 3).astype(float).std(axis=0)
    n = len(found.times)
    assert np.all(np.abs(sigma / (white * np.sqrt(rate_hz)) - 1.0) < 5 / np.sqrt(2 * n))  # five sigmas
    assert client.ask("reset_errors", sensor="imu")["ok"]
    wait(lambda: gyroscope()["values"] == gyroscope()["original"])


def test_another_diagram_is_applied_and_a_broken_one_is_not(client):
    client.open()
    name = "diagram/motors.command"
    client.ask("subscribe", signals=[name, "truth/position"])
    diagram = client.last["diagram"]["diagram"]
    epoch, revision = client.last["signals"]["epoch"], client.last["diagram"]["revision"]
    broken = json.loads(json.dumps(diagram))
    broken["wire"] = [wire for wire in broken["wire"] if wire["to"] != "mixer.thrust"]
    checked = client.ask("check_diagram", diagram=broken)
    assert checked["ok"] and [p["kind"] for p in checked["problems"]] == ["unconnected"]
    refused = client.ask("apply_diagram", diagram=broken)
    assert not refused["ok"] and refused["problems"] and client.last["diagram"]["revision"] == revision
    more = json.loads(json.dumps(diagram))
    more["block"].append({"name": "extra", "kind": "constant", "at": [0, 0], "parameters": {"value": 3.5}})
    assert client.ask("apply_diagram", diagram=more)["ok"]
    wait(lambda: client.last["signals"]["epoch"] != epoch and client.last["subscription"]["epoch"] != epoch)
    assert client.last["subscription"]["signals"] == [name, "truth/position"]
    assert "diagram/extra.out" in [signal["name"] for signal in client.last["signals"]["signals"]]
    wait(lambda: client.frames[-1].head.epoch == client.last["signals"]["epoch"] and client.frames[-1].head.rows)
    found = client.ask("history", signals=["truth/position"])
    assert np.isfinite(found.samples).all()  # samples of before the change are kept
    text = client.ask("write_diagram", diagram=more, name="mine.toml")
    assert text["file"] == "mine.toml" and "extra" in text["text"]
    assert client.ask("read_diagram", text=text["text"])["diagram"]["block"][-1]["name"] == "extra"
    assert not client.ask("write_diagram", diagram=more, name="../mine.toml")["ok"]


def test_every_wire_of_the_diagram_has_a_signal(client):
    client.open()
    state = client.last["diagram"]
    names = {signal["name"] for signal in client.last["signals"]["signals"]}
    assert {edge["signal"] for edge in state["edges"]} <= names
    main = {edge["source"] for edge in state["edges"] if edge["sheet"] == ""}
    assert main == {wire["from"] for wire in state["diagram"]["wire"]}
    assert all("at" in block for block in state["diagram"]["block"])


def test_sensors_are_added_switched_and_removed(client):
    client.open()
    client.ask("console", changes={"power": True})
    table = {"name": "second", "part": "MPU-6050", "rate_hz": 100.0, "position_m": [0.1, 0, 0]}
    assert client.ask("add_sensor", kind="sensor", table=table)["ok"]
    assert client.ask("subscribe", signals=["sensor/second/accelerometer"])["ok"]
    wait(lambda: client.frames[-1].head.columns == 3 and np.isfinite(client.frames[-1].samples).any())
    assert client.ask("enable_sensor", sensor="second", on=False)["ok"]
    wait(lambda: not client.last["sensors"]["sensors"][1]["instruments"][0]["enabled"])
    assert client.last["sensors"]["sensors"][1]["name"] == "second"
    assert client.ask("enable_sensor", sensor="second", on=True)["ok"]
    assert client.ask("remove_sensor", sensor="second")["ok"]
    wait(lambda: [s["name"] for s in client.last["sensors"]["sensors"]] == ["imu", "altimeter", "receiver"])
    assert client.ask("reset")["ok"]
    wait(lambda: client.t_s < 2.0)


def test_a_dead_magnetometer_lights_up(client):
    client.open()
    client.ask("console", changes={"power": True})
    wait(lambda: any(light["name"] == "mag" and light["state"] == "ok" for light in client.last["lights"]["lights"]))
    fault = {"kind": "dead", "sensor": "imu", "instrument": "magnetometer"}
    assert client.ask("begin_fault", name="broken", fault=fault)["ok"]
    wait(
        lambda: any(light["name"] == "mag" and light["state"] == "failed" for light in client.last["lights"]["lights"])
    )
    wait(lambda: client.last["faults"]["faults"].get("broken", {}).get("kind") == "dead")
    assert client.ask("end_fault", name="broken")["ok"]
    wait(lambda: any(light["name"] == "mag" and light["state"] == "ok" for light in client.last["lights"]["lights"]))


def test_pause_step_speed(client):
    client.open()
    assert client.ask("run", on=False)["ok"]
    time.sleep(0.3)
    before = client.t_s
    assert client.ask("step", cycles=5)["ok"]
    wait(lambda: client.t_s > before)
    assert client.t_s == pytest.approx(before + 5 / 250.0)
    time.sleep(0.3)
    assert client.t_s == pytest.approx(before + 5 / 250.0)
    assert client.ask("speed", factor=0.5)["ok"]
    client.ask("run", on=True)
    wait(lambda: client.frames[-1].head.real_time_factor > 0.0)
    time.sleep(2.0)
    assert client.frames[-1].head.real_time_factor == pytest.approx(0.5, abs=0.03)  # of one frame in a second


def test_continue_from_here_keeps_three_takes(client):
    client.open(seed=3)
    client.ask("subscribe", signals=["truth/position"])
    for i in range(4):
        wait(lambda: client.t_s > 1.5)
        assert client.ask("push", link="frame", force_n=[0, 0, 5.0 * i])["ok"]
        assert client.ask("continue_from", t_s=1.0)["ok"]
        wait(lambda: client.t_s < 1.5)
    takes = client.last["takes"]
    assert [take["number"] for take in takes["takes"]] == [2, 3, 4] and takes["present"] == 5
    assert "take 1" in takes["dropped"]
    tail = client.ask("history", signals=["truth/position"], take=4)
    assert tail.times[0] > 1.0 and not client.ask("history", signals=["truth/position"], take=1)["ok"]
    assert client.frames[-1].head.take == 5
    report = client.ask("report", take=4)
    assert report["ok"] and report["report"]["duration_s"] > 1.5


def test_a_stretch_is_recorded_and_downloaded(studio, client):
    client.open()
    client.ask("console", changes={"power": True})
    wait(lambda: client.t_s > 1.0)
    before = client.t_s
    assert client.ask("record", on=True)["ok"]
    start = client.t_s
    wait(lambda: client.t_s > start + 1.5)
    end = client.t_s
    assert client.ask("record", on=False)["ok"]
    wait(lambda: not client.frames[-1].head.state & 2)
    path = studio.folder / "log.parquet"
    path.write_bytes(studio.get("/download/log"))
    log = read(path)["imu"]
    # the recording begins and ends where the commands were carried out; between two frames are 0.02 s of the clock
    assert before - 0.01 < log.t[0] < start + 0.05 and end - 0.01 < log.t[-1] < client.t_s
    with zipfile.ZipFile(io.BytesIO(studio.get("/download/recording"))) as file:
        assert {"recording/recording.parquet", "recording/session.json"} <= set(file.namelist())
    assert b"<html" in studio.get("/download/report")[:200].lower()
    assert b'vehicle = "quadcopter"' in studio.get("/download/scenario")
    assert b"[[block]]" in studio.get("/download/diagram")
    report = client.ask("report")["report"]
    assert report["errors"] and report["path_truth"] and report["parameters"]
    marked = {
        row["name"].split(": ")[1]: row["sheet_estimated"] for row in report["parameters"] if "gyro" in row["name"]
    }
    assert marked["instability"] and not marked["white"]  # as in the catalogue, of the MPU-6050


def test_an_uploaded_scenario_a_robot_and_a_recording_are_opened(studio, client):
    from strapdown.vehicles import vehicle

    client.open()
    scenario = studio.get("/download/scenario").replace(b"seed = 1", b"seed = 7")
    studio.get("/upload?name=mine.toml", scenario)
    assert client.ask("open", upload="mine.toml")["ok"] and client.last["session"]["seed"] == 7
    wait(lambda: client.t_s > 0.5 and client.last["session"]["choice"] == "mine.toml")
    log = studio.get("/download/log")
    robot = (vehicle._FOLDER / "manipulator.urdf").read_bytes()
    studio.get("/upload?name=arm.urdf", robot)
    assert client.ask("open", upload="arm.urdf")["ok"]
    sliders = client.last["session"]["sliders"]
    assert sliders and client.ask("console", changes={"power": True, "sliders": {sliders[0]["block"]: 0.5}})["ok"]
    wait(lambda: client.t_s > 2.0)
    moved = client.ask("history", signals=[f"actuator/{client.last['session']['actuators'][0]}"])
    assert abs(moved.samples[-1]) > 0.1
    studio.get("/upload?name=flight.parquet", log)
    reply = client.ask("open", upload="flight.parquet")
    assert reply["ok"], reply
    session = client.last["session"]
    assert session["mode"] == "replay" and session["duration_s"] > 0.4
    assert not client.ask("console", changes={"power": True})["ok"]
    bad = scenario.replace(b'vehicle = "quadcopter"', b'vehicle = "/etc/robot.urdf"')
    studio.get("/upload?name=bad.toml", bad)
    refused = client.ask("open", upload="bad.toml")
    assert not refused["ok"] and "plain name" in refused["error"]


def test_two_clients_see_the_same(studio, client):
    client.open()
    other = studio.client()
    wait(lambda: "session" in other.last and other.frames)
    other.ask("introduce", name="second page")
    wait(lambda: "second page" in [c["name"] for c in client.last["clients"]["clients"]])
    client.ask("mark", text="here")
    wait(lambda: any(event["text"] == "here" for event in other.last["events"]["events"]))
    other.close()
    wait(lambda: len(client.last["clients"]["clients"]) == 1)


def test_layouts_are_kept(client):
    assert client.ask("save_layout", name="mine", layout={"charts": [1, 2]})["ok"]
    assert client.last["layouts"]["layouts"]["mine"] == {"charts": [1, 2]}
    assert not client.ask("save_layout", name="big", layout={"x": "y" * 200_000})["ok"]
    assert client.ask("delete_layout", name="mine")["ok"] and not client.ask("delete_layout", name="mine")["ok"]


def test_pictures_of_the_vehicles(studio, client):
    wait(lambda: "hello" in client.last)
    choices = client.last["hello"]["choices"]
    assert "quadcopter" in [choice["name"] for choice in choices]
    for picture in {choice["picture"] for choice in choices if choice["picture"]}:
        assert studio.get(picture).startswith(b"<svg")


def test_a_form_that_is_dragged_sends_few_large_messages(client):
    """Changes at 50 Hz give five messages a second with the sensors, and the last one has the last value."""
    client.open()
    start, began = len(client.texts), time.monotonic()
    for i in range(50):
        client.send("errors", sensor="imu", instrument="gyroscope", changes={"bias": [0.001 * i, 0, 0]})
        time.sleep(0.02)
    wait(lambda: client.last["sensors"]["sensors"][0]["instruments"][1]["values"]["bias"][0] == 0.049)
    large = [text for text in client.texts[start:] if text["type"] == "sensors"]
    assert len(large) <= 5.0 * (time.monotonic() - began) + 3.0  # those at both ends, and one already on its way

"""Bridges: what a client of the websocket sees, what is recorded, and what reaches Rerun."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from format_cases import recording, track
from helpers import command
from strapdown import io
from strapdown.bridges.feeds import log_updates, paced, session_updates
from strapdown.bridges.viewer import Pose, Readings
from strapdown.environment.session.session import Session
from strapdown.io.formats import Contents

foxglove = pytest.importorskip("foxglove")


def contents(n=60):
    return Contents("test", "", {"imu": recording(n)}, {"filter": track(n // 2)})


def test_a_client_of_the_websocket_gets_messages_of_ros2():
    """By the protocol of Foxglove: channels are advertised with their definitions, and a subscription is served."""
    from mcap.records import Schema
    from mcap_ros2.decoder import DecoderFactory
    from websockets.asyncio.client import connect

    from strapdown.bridges.foxglove_viewer import FoxgloveViewer

    viewer = FoxgloveViewer(port=0, t0_ns=10**18)
    updates = list(log_updates(contents()))
    viewer.show(updates[0])  # the first message of a topic advertises it

    async def client():
        async with connect(viewer.address, subprotocols=["foxglove.sdk.v1"]) as line:
            channel = None
            while channel is None:
                text = await asyncio.wait_for(line.recv(), 10.0)
                if isinstance(text, str) and json.loads(text)["op"] == "advertise":
                    channel = next((c for c in json.loads(text)["channels"] if c["topic"] == "/imu"), None)
            assert channel["encoding"] == "cdr" and channel["schemaName"] == "sensor_msgs/msg/Imu"
            assert "geometry_msgs/Vector3 angular_velocity" in channel["schema"]
            await line.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 7, "channelId": channel["id"]}]}))
            await asyncio.sleep(0.3)  # the server has to see it before the next message
            for update in updates[1:]:
                viewer.show(update)
            raw = b""
            while not (isinstance(raw, bytes) and raw[:1] == b"\x01"):
                raw = await asyncio.wait_for(line.recv(), 10.0)
            return channel, raw

    # in a thread of its own: tests of the page leave an event loop in this one
    with ThreadPoolExecutor(1) as thread:
        channel, raw = thread.submit(lambda: asyncio.run(client())).result()
    viewer.close()
    assert int.from_bytes(raw[1:5], "little") == 7
    schema = Schema(1, channel["schema"].encode(), "ros2msg", channel["schemaName"])
    message = DecoderFactory().decoder_for("cdr", schema)(raw[13:])
    log = recording(60)
    k = round(message.header.stamp.nanosec / 1e7)
    w = message.angular_velocity
    np.testing.assert_array_equal((w.x, w.y, w.z), log.gyr_s[k])
    assert message.header.stamp.sec == 10**9


def test_what_is_shown_is_recorded_as_mcap(tmp_path):
    from strapdown.bridges.foxglove_viewer import FoxgloveViewer

    viewer = FoxgloveViewer(port=None, record=tmp_path / "out.mcap", t0_ns=10**18)
    for update in log_updates(contents()):
        viewer.show(update)
    viewer.close()
    found = io.read_all(tmp_path / "out.mcap")
    log, back = recording(60), found.recordings["imu"]
    np.testing.assert_array_equal(back.gyr_s, log.gyr_s)
    np.testing.assert_array_equal(back.temperature, log.temperature)
    np.testing.assert_array_equal(back.new["mag_s"], log.new["mag_s"])
    np.testing.assert_array_equal(found.tracks["filter/pose"].p_n, track(30).p_n)


def test_half_an_imu_and_positions_alone_are_shown_as_what_they_are(tmp_path):
    """A gyroscope without an accelerometer, and the fixes of a receiver."""
    from strapdown.bridges.foxglove_viewer import FoxgloveViewer
    from strapdown.bridges.rerun_viewer import RerunViewer

    log, path = replace(recording(60), acc_s=None, truth=None), replace(track(30), q_nb=None, v_n=None)
    found = Contents("test", "", {"imu": log}, {"gps": path})
    viewer = FoxgloveViewer(port=None, record=tmp_path / "half.mcap", t0_ns=10**18)
    for update in log_updates(found):
        viewer.show(update)
    viewer.close()
    back = io.read_all(tmp_path / "half.mcap")
    assert back.recordings["imu"].acc_s is None
    np.testing.assert_array_equal(back.recordings["imu"].gyr_s, log.gyr_s)
    assert back.tracks["gps/pose"].q_nb is None
    np.testing.assert_array_equal(back.tracks["gps/pose"].p_n, path.p_n)
    pytest.importorskip("rerun")
    curves = RerunViewer(save=tmp_path / "half.rrd")
    for update in log_updates(found):
        curves.show(update)
    curves.close()
    assert (tmp_path / "half.rrd").stat().st_size > 1000


def test_a_session_gives_readings_and_poses():
    updates = list(session_updates(Session("quadcopter"), 0.2))
    readings = [u for u in updates if isinstance(u, Readings)]
    truth = [u for u in updates if isinstance(u, Pose) and u.name == "truth"]
    assert len(readings) == 100 and len(truth) == 10  # 500 Hz, 50 Hz
    assert np.all(np.diff([u.t_s for u in readings]) > 0.0)
    assert abs(np.linalg.norm(readings[50].acc_s) - 9.8) < 1.0 and any(u.mag_s is not None for u in readings)
    assert any(u.name == "estimate" for u in updates if isinstance(u, Pose))


def test_the_pace_of_a_log_is_that_of_the_clock():
    slept = []
    list(paced(log_updates(contents(), 0.3), 2.0, slept.append))
    assert 0.0 < max(slept) <= 0.15 + 0.01  # at most half of 0.3 s, as nothing sleeps here
    slept.clear()
    list(paced(log_updates(contents()), 0.0, slept.append))
    assert slept == []


def test_a_module_over_its_line(tmp_path):
    """A virtual module on a local socket, as strapdown device emulate offers it."""
    from device_cases import emulated

    with emulated("rest", "--tcp", 0) as port:
        said = command("bridge", "foxglove", port, "--listen", "0", "--seconds", "0.5", "--record", tmp_path / "m.mcap")
    assert said.code == 0, said.err
    log = io.read_one(tmp_path / "m.mcap")
    assert len(log) > 10 and abs(np.linalg.norm(log.acc_s.mean(axis=0)) - 9.8) < 0.5


def test_rerun_gets_the_numbers(tmp_path):
    """Read back by Rerun's own reader."""
    chunks = pytest.importorskip("rerun.chunk")
    said = command("bridge", "rerun", _written(tmp_path), "--save", tmp_path / "out.rrd", "--factor", "0")
    assert said.code == 0, said.err
    log, found = recording(60), {}
    for chunk in chunks.RrdReader(str(tmp_path / "out.rrd")).stream():
        table = chunk.to_record_batch()
        if "Scalars:scalars" in table.schema.names:
            rows = found.setdefault(chunk.entity_path, [])
            rows += zip(table["time"].cast("int64").to_pylist(), table["Scalars:scalars"].to_pylist(), strict=True)
    turns = sorted(found["/imu/gyroscope_rad_s"])
    np.testing.assert_array_equal([values for _, values in turns], log.gyr_s)
    np.testing.assert_allclose([t for t, _ in turns], 1e9 * log.t, atol=1.0)  # ns
    assert len(found["/imu/magnetometer_ut"]) == 12


def _written(folder):
    io.write(folder / "in.mcap", {"imu": recording(60)})
    return folder / "in.mcap"


def test_wrong_use_is_one_sentence(tmp_path):
    log = _written(tmp_path)
    for words, text in (
        (("foxglove", "nowhere.mcap"), "nowhere.mcap does not exist"),
        (("foxglove", "nothing"), "nothing"),
        (("foxglove", log, "--listen", "70000"), "--listen is 70000"),
        (("foxglove", log, "--record", tmp_path / "out.bag"), "is no .mcap file"),
        (("foxglove", log, "--record", log), "this command reads it"),
        (("rerun", log, "--save", tmp_path / "out.txt"), "is no .rrd file"),
        (("rerun", log, "--factor", "-1"), "--factor is -1"),
    ):
        said = command("bridge", *words)
        assert said.code == 2 and text in said.err and said.err.count("\n") == 1, said
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.mcap"]


def test_a_missing_library_is_named_with_the_extra(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "foxglove", None)
    said = command("bridge", "foxglove", _written(tmp_path))
    assert said.code == 2 and "pip install 'strapdown[bridges]'" in said.err

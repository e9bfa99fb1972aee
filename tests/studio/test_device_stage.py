"""A live module on the stage of the studio, without a browser: readings, lights, recording, calibration by hand."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from device_cases import noisy_feed
from strapdown.calibration.calibration_file import read_calibration
from strapdown.devices.home import calibration_file
from strapdown.devices.link import is_address
from strapdown.environment.virtual_module.module import Make, VirtualModule
from strapdown.environment.virtual_module.served import PtyLine, TcpLine, serve
from strapdown.errors import InputError
from strapdown.io import read_one
from strapdown.papers.c.module_feed import bench_feed
from strapdown.papers.c.robot import robot
from strapdown.studio.messages import commands as c
from strapdown.studio.stage.device_stage import DeviceStage

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")
PACE = 20.0
SEED = 3


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("STRAPDOWN_MODULES", str(tmp_path / "modules"))


class Shown:
    """A stage, and the rows that a page would be sent."""

    def __init__(self, stage, module, line):
        self.stage, self.module, self.line = stage, module, line
        self.t, self.rows = [], []

    def _row(self, t_s):
        numbers = np.empty(self.stage.charts.width)
        self.stage.charts.fill(numbers)
        self.t.append(t_s)
        self.rows.append(numbers)

    def until(self, condition, most_s=60.0):
        end = time.monotonic() + most_s
        while not condition():
            assert time.monotonic() < end, self.stage.device()
            self.stage.advance(np.inf, self._row, lambda: False)
            time.sleep(0.005)

    def run(self, seconds):
        """By the module's time."""
        end_s = self.stage.t_s + seconds
        self.until(lambda: self.stage.t_s >= end_s)

    def column(self, name):
        first, size = self.stage.charts.places[name]
        return np.array(self.rows)[:, first : first + size]

    def light(self, name):
        return next(x for x in self.stage.lights.state().lights if x.name == name)

    def load(self, text):
        self.stage.bench.do(c.Calibrate(type="calibrate", action="load", name="mine.toml", text=text))

    def calibrate(self, action, workflow=None):
        return self.stage.bench.do(c.Calibrate(type="calibrate", action=action, workflow=workflow))


@contextmanager
def shown(tmp_path, feed=None, make=None, tcp=False):
    module = VirtualModule(feed or noisy_feed(60.0), make or Make())
    line, over = TcpLine() if tcp else PtyLine(), threading.Event()
    thread = threading.Thread(
        target=serve, args=(module, line), kwargs={"until": over.is_set, "pace": PACE}, daemon=True
    )
    thread.start()
    stage = None
    with ThreadPoolExecutor(1) as worker:
        try:
            stage = DeviceStage(line.name, tmp_path / "recordings", worker)
            yield Shown(stage, module, line)
        finally:
            if stage is not None:
                stage.close()
            over.set()
            thread.join(10.0)
            line.close()


def test_charts_show_the_readings_the_attitude_and_no_truth(tmp_path):
    with shown(tmp_path) as page:
        page.run(3.0)
        names = [signal.name for signal in page.stage.charts.signals]
        assert not any(signal.role in ("truth", "error") for signal in page.stage.charts.signals)
        assert {"estimate/attitude", "sigma/attitude", "sensor/module/temperature"} <= set(names)
        force = page.column("sensor/module/accelerometer")
        # 300 readings of a noise of 0.05 m/s2
        np.testing.assert_allclose(force.mean(axis=0), [0.0, 0.0, 9.80665], atol=5 * 0.05 / np.sqrt(300))
        np.testing.assert_allclose(np.diff(page.t), 0.01, atol=1e-6)
        roll, pitch, _ = page.column("estimate/attitude")[-1]
        assert abs(roll) < 3.0 and abs(pitch) < 3.0
        sigma = page.column("sigma/attitude")[-1]
        assert 0.0 < sigma[0] < 30.0
        about = page.stage.about(1)
        assert about.mode == "device" and about.controls == [] and about.sliders == []
        assert [page.light(name).state for name in ("acc", "gyr", "mag", "line")] == ["ok"] * 4


def test_a_port_that_vanishes_is_shown_and_the_charts_go_on(tmp_path):
    with shown(tmp_path, tcp=True) as page:
        page.run(1.0)
        page.line.hang_up()
        page.until(lambda: page.light("line").state == "failed")
        assert not page.stage.device().connected  # at once, though its figures are sent once a second
        assert page.light("acc").word == "port vanished"
        page.until(lambda: page.light("line").state != "failed")
        page.run(1.0)
        kinds = [event.kind for event in page.stage.events()]
        assert kinds.index("fault") < kinds.index("fault_ends")
        broken = np.isnan(page.column("sensor/module/gyroscope")).any(axis=1)
        assert broken.sum() == 1  # one row, which breaks the lines of the charts


def test_a_silent_chip_and_a_fake_are_shown(tmp_path):
    with shown(tmp_path, make=Make(imu_identity=0x98, magnetometer="none")) as page:
        page.run(0.5)
        assert "0x98" in page.stage.about(1).comment
        assert "mag" not in [light.name for light in page.stage.lights.state().lights]
        assert "sensor/module/magnetometer" not in page.stage.charts.places
        page.module.bus.stuck.add(0x68)
        page.until(lambda: page.light("gyr").word == "no answer")
        page.module.bus.stuck.clear()
        page.until(lambda: page.light("gyr").state == "ok")


def test_a_recording_begun_in_mid_run_holds_what_came_from_then_on(tmp_path):
    with shown(tmp_path) as page:
        page.run(1.0)
        with pytest.raises(InputError, match="cannot be paused"):
            page.stage.rewind(0.5)
        page.stage.record(True)
        assert page.stage.state_bits()["recording"]
        page.run(3.0)
        page.stage.record(False)
        log = read_one(page.stage.recorded)
        assert 2.5 < log.t[-1] - log.t[0] < 6.0 and log.meta["losses"]["lost"] == 0
        np.testing.assert_allclose(np.diff(log.t), 0.01, atol=1e-9)
        assert log.t[0] > 0.9
        first, _ = page.stage.charts.places["sensor/module/accelerometer"]
        shown_rows = np.array(page.rows)[:, first : first + 3]
        at = np.round((log.t - page.stage.first_s) * 100.0).astype(int)  # rows of the page, 100 a second from the first
        there = at < len(shown_rows)
        assert there.sum() > 200
        np.testing.assert_array_equal(log.acc_s[there], shown_rows[at[there]])


def test_a_calibration_at_rest_is_kept_for_the_module_and_used(tmp_path):
    feed, _ = bench_feed("rest", SEED, 80.0)
    with shown(tmp_path, feed) as page:
        with pytest.raises(InputError, match="start one first"):
            page.calibrate("next")
        page.calibrate("start", "static")
        with pytest.raises(InputError, match="turn the module itself"):
            page.calibrate("turn")
        page.calibrate("next")
        found = []

        def done():
            news = page.stage.bench.news()
            found.extend([news] if news is not None else [])
            return bool(found) and found[-1].state in ("done", "failed")

        page.until(done)
        assert found[-1].state == "done", found[-1].error
        true = robot(SEED).triads["gyroscope"].bias
        for row, bias in zip(found[-1].result, true, strict=True):
            # white noise over 20 s, drift of the bias and g-sensitivity
            assert abs(row.value - bias) < 0.005 and row.truth is None
        assert found[-1].after[0].value < 0.02 * found[-1].before[0].value
        page.calibrate("save")
        serial = page.stage.hello.serial
        kept = read_calibration(calibration_file(serial))
        assert kept.specimen == serial and kept.part == "MPU-6050" and list(kept.corrections) == ["gyroscope"]
        page.run(0.5)
        better = page.column("sensor/module/gyroscope/calibrated")[-30:]
        assert np.abs(better.mean(axis=0)).max() < 0.01 * np.abs(true).max()
        loaded_files_are_used(page, calibration_file(serial).read_text(encoding="utf-8"), serial)


def loaded_files_are_used(page, text, serial):
    """A file with another offset is kept and used at once; that of another module is refused."""
    found = page.stage.calibration.corrections["gyroscope"].bias
    shifted = text.replace(repr(float(found[0])), repr(float(found[0]) + 0.5))
    assert shifted != text
    page.load(shifted)
    assert page.stage.bench.news().state == "done"
    page.run(0.5)
    assert page.column("sensor/module/gyroscope/calibrated")[-30:, 0].mean() < -0.4  # rad/s
    assert "specimen" in text and read_calibration(calibration_file(serial)).specimen == serial
    with pytest.raises(InputError, match="choose its own file"):
        page.load(text.replace(serial, "another"))
    page.load(text)
    assert np.array_equal(page.stage.calibration.corrections["gyroscope"].bias, found)


def test_six_positions_are_recognised_by_themselves_then_the_field_is_covered(tmp_path):
    feed, _ = bench_feed("calibration", SEED)
    with shown(tmp_path, feed) as page:
        page.calibrate("start", "six_positions")
        with pytest.raises(InputError, match="taken by themselves"):
            page.calibrate("next")
        last = []

        def reached(states):
            news = page.stage.bench.news()
            last[:] = [news] if news is not None else last
            return bool(last) and last[0].state in states

        page.until(lambda: reached(("done", "failed")))
        assert last[0].state == "done", last[0].error
        assert all(pose.done for pose in last[0].steps)
        assert sorted(pose.title for pose in last[0].steps) == ["x down", "x up", "y down", "y up", "z down", "z up"]
        bias = robot(SEED).triads["accelerometer"].bias
        found = [row.value for row in last[0].result if row.name.startswith("accelerometer: bias")]
        np.testing.assert_allclose(found, bias, atol=0.03)  # drift of the bias and nonlinearity of the part
        page.calibrate("save")
        page.calibrate("start", "magnetometer")
        with pytest.raises(InputError, match="% of the directions"):
            page.calibrate("finish")
        page.until(lambda: reached(("ready", "failed")) and last[0].coverage > 0.8)
        page.calibrate("finish")
        page.until(lambda: reached(("done", "failed")))
        assert last[0].state == "done", last[0].error
        assert last[0].after[0].value < 0.1 * last[0].before[0].value  # strength of the field in all directions
        page.calibrate("save")
        kept = read_calibration(calibration_file(page.stage.hello.serial))
        assert sorted(kept.corrections) == ["accelerometer", "gyroscope", "magnetometer"]


def test_ports_that_cannot_be_opened_are_one_sentence(tmp_path):
    with ThreadPoolExecutor(1) as worker:
        for name, why in (
            ("/dev/ttyNOT", "there is no port"),
            ("tcp://127.0.0.1:9", "nothing answers"),
            ("spy:///dev/null?file=/tmp/x", "no address of a module"),
            ("/etc/hostname", "no address of a module"),
        ):
            with pytest.raises(InputError, match=why):
                DeviceStage(name, tmp_path, worker)
        with shown(tmp_path) as page, pytest.raises(InputError, match="in use by another program"):
            DeviceStage(page.line.name, tmp_path, worker)


def test_addresses_are_recognised():
    assert all(is_address(text) for text in ("/dev/ttyUSB0", "COM3", "tcp://localhost:5000", "socket://a:1"))
    assert not any(is_address(text) for text in ("quadcopter", "flight.parquet", "COM.toml", "dev/robot.urdf"))

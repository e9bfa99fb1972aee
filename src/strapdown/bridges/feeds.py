"""Where updates come from: a session that runs, a module on its line, or a log that is played."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from strapdown.bridges.viewer import Pose, Readings
from strapdown.devices.source import ModuleSource
from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.environment.session.session import Session, SessionStopped
from strapdown.errors import InputError
from strapdown.io.formats import Contents
from strapdown.kernels.sensors.module import CELSIUS, NEW_MAG, READINGS, T
from strapdown.live import PLANT_COLUMNS

Update = Readings | Pose
_POSES_HZ = 50.0  # of the truth of a session: more than a screen shows
_MODULE = "module"


def paced(updates: Iterator[Update], factor: float, sleep: Callable[[float], None] = time.sleep) -> Iterator[Update]:
    """The updates at `factor` times the pace of the clock; 0: as fast as they come."""
    began: tuple[float, float] | None = None
    for update in updates:
        if factor > 0.0:
            if began is None:
                began = (time.monotonic(), update.t_s)
            ahead = (update.t_s - began[1]) / factor - (time.monotonic() - began[0])
            if ahead > 0.0:
                sleep(ahead)
        yield update


def session_updates(session: Session, duration_s: float | None = None) -> Iterator[Update]:
    """Readings of every module, the true pose "truth", and the pose that the diagram estimates, "estimate"."""
    end_s = session.scenario.duration_s if duration_s is None else duration_s
    modules = [sensor for sensor in session.sensors if isinstance(sensor, ModuleSensor)]
    seen = {sensor.name: len(sensor.log) for sensor in modules}
    while session.t_s < end_s - 1e-9:
        try:
            session.advance(1.0 / _POSES_HZ)
        except SessionStopped:
            return
        for sensor in modules:
            rows = sensor.log.rows(seen[sensor.name])
            seen[sensor.name] = len(sensor.log)
            has_field = "magnetometer" in sensor.instruments
            for row in rows:
                mag = row[READINGS + 6 : READINGS + 9] if has_field and row[NEW_MAG] else None
                acc, gyr = row[READINGS : READINGS + 3], row[READINGS + 3 : READINGS + 6]
                yield Readings(sensor.name, float(row[T]), gyr, acc, mag, float(row[CELSIUS]))
        truth = session.truth
        p_n, q_nb, v_n = (np.array(truth[PLANT_COLUMNS[name]]) for name in ("p_n", "q_ns", "v_n"))
        yield Pose("truth", session.t_s, q_nb, p_n, v_n)
        attitude = session.wiring.estimate.get("attitude")
        if attitude is not None:
            place = session.wiring.estimate.get("position")
            q = np.asarray(session.runner.value(attitude), dtype=np.float64)
            p = None if place is None else np.asarray(session.runner.value(place), dtype=np.float64)
            if q.shape == (4,) and abs(float(np.linalg.norm(q)) - 1.0) < 1e-3:
                yield Pose("estimate", session.t_s, q, p)


def module_updates(source: ModuleSource, seconds: float | None = None) -> Iterator[Update]:
    """Readings of a module that is greeted; it is started here, and stopped at the end."""
    source.start()
    first: float | None = None
    try:
        while not source.stopped:
            for stamped in source.poll():
                sample: Any = stamped.sample
                first = stamped.module_s if first is None else first
                t_s = stamped.module_s - first
                if seconds is not None and t_s > seconds:
                    return
                yield Readings(_MODULE, t_s, sample.gyr_s, sample.acc_s, sample.mag_s, sample.temperature)
    finally:
        source.stop()


def log_updates(found: Contents, seconds: float | None = None) -> Iterator[Update]:
    """Readings and poses of a log, in the order of time."""
    measured = {name: log for name, log in found.recordings.items() if log.gyr_s is not None or log.acc_s is not None}
    streams = [_readings(name, log) for name, log in measured.items()]
    streams += [_poses(name, track) for name, track in found.tracks.items()]
    if not streams:
        raise InputError("the log has no gyroscope, no accelerometer and no poses; nothing can be shown")
    import heapq

    for update in heapq.merge(*streams, key=lambda each: each.t_s):
        if seconds is not None and update.t_s > seconds:
            return
        yield update


def _readings(name: str, log: Any) -> Iterator[Update]:
    if log.gyr_s is None or log.acc_s is None:  # half an IMU has no samples
        for i, t in enumerate(log.t):
            gyr, acc = (None if each is None else each[i] for each in (log.gyr_s, log.acc_s))
            yield Readings(name, float(t), gyr, acc)
        return
    for sample in log.samples():
        yield Readings(name, sample.t, sample.gyr_s, sample.acc_s, sample.mag_s, sample.temperature)


def _poses(name: str, track: Any) -> Iterator[Update]:
    for i in range(len(track)):
        q, p, v = (None if each is None else each[i] for each in (track.q_nb, track.p_n, track.v_n))
        yield Pose(f"{name}/pose", float(track.t[i]), q, p, v)

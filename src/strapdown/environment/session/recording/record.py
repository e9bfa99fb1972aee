"""Results of a session: recordings of its sensors, signals, events, diagram, seeds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.diagram.file import diagram_text
from strapdown.environment.session.events import SessionEvent, sentence
from strapdown.environment.session.live_sensors import ModuleSensor, ValueSensor, motion_of
from strapdown.errors import InputError
from strapdown.kernels.sensors.module import ANY_CLIPPED, CELSIUS, NEW_MAG, READINGS, T
from strapdown.live import PLANT_ROW
from strapdown.motion.resample import resample
from strapdown.sample import Fixes, Heights
from strapdown.sensors.module_reader import FIELDS
from strapdown.types import Motion, Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strapdown.environment.session.session import Session


@dataclass(frozen=True, eq=False)
class SessionRecording:
    """A session that was run.

    recordings: recordings by the name of the module; the first also has the fixes, heights, odometer, tilt and stop
        signal.
    t, signals: times and signals of the diagram at the control rate, by "block.output".
    truth: motion of the body at the same times.
    actuators: states of the actuators (rotor speeds and the like).
    meta: scenario, seeds, faults, diagram; plain values.
    """

    recordings: Mapping[str, Recording]
    t: Array
    signals: Mapping[str, Array]
    units: Mapping[str, str]
    truth: Motion
    actuators: Mapping[str, Array]
    events: tuple[SessionEvent, ...]
    estimate: Mapping[str, str]
    meta: Mapping[str, Any]

    def estimated(self, name: str) -> Array | None:
        """An input of the diagram's estimate block over time; None if it is not connected."""
        return self.signals[self.estimate[name]] if name in self.estimate else None

    def figure(self, kind: str | None = None) -> "Figure":
        """ "attitude" (the default where it is estimated), "path" or "actuators": the figures of `strapdown run`."""
        from strapdown.environment.session.recording.report import figure_of  # it draws recordings, and so imports them

        return figure_of(self, kind)


def recording_of(session: "Session") -> SessionRecording:
    """Everything that was recorded so far."""
    body = session.body.rows()
    if not len(body):
        raise InputError("the session has not run yet; run it first")
    t, signals, ports = session.signals.columns()
    names = [actuator.name for actuator in session.vehicle.actuators]
    estimate = {key: name for key, name in session.wiring.estimate.items() if name in signals}
    return SessionRecording(
        _recordings(session),
        t,
        signals,
        {name: port.unit or "1" for name, port in ports.items()},
        motion_of(body[:, : 1 + PLANT_ROW]),
        {name: body[:, 1 + PLANT_ROW + i] for i, name in enumerate(names)},
        tuple(session.events),
        estimate,
        _meta(session),
    )


def _meta(session: "Session") -> dict[str, Any]:
    scenario = session.scenario
    return {
        "title": scenario.title,
        "vehicle": session.vehicle.name,
        "seed": session.seed,
        "duration_s": session.t_s,
        "physics_hz": session.base_hz,
        "scenario": scenario.model_dump(mode="json", exclude_unset=True, exclude={"folder"}),
        "diagram": diagram_text(session.runner.diagram),
        "events": [
            {"t_s": event.t_s, "kind": event.kind, "data": _plain(event.data), "text": sentence(event)}
            for event in session.events
        ],
        "estimate": dict(session.wiring.estimate),
        "sliders": session.wiring.sliders,
        "actuator_units": {actuator.name: actuator.unit for actuator in session.vehicle.actuators},
        "stopped": session.stopped,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _recordings(session: "Session") -> dict[str, Recording]:
    modules = [s for s in session.sensors if isinstance(s, ModuleSensor) and len(s.log)]
    others = [s for s in session.sensors if isinstance(s, ValueSensor) and len(s.log)]
    found = {}
    for i, module in enumerate(modules):
        log = module_recording(session, module)
        found[module.name] = with_others(session, log, others) if i == 0 else log
    return found


def module_recording(session: "Session", sensor: ModuleSensor) -> Recording:
    """The log of one module, with the truth of its frame s."""
    rows, module = sensor.log.rows(), sensor.module
    t = rows[:, T]
    columns: dict[str, Any] = {
        field: rows[:, READINGS + 3 * k : READINGS + 3 * k + 3]
        for k, (name, field) in enumerate(FIELDS.items())
        if name in module.triads
    }
    truth = sensor.motion()
    truth = truth if np.array_equal(truth.t, t) else resample(truth, np.clip(t, truth.t[0], truth.t[-1]))
    new = {}
    if "mag_s" in columns and not np.all(rows[:, NEW_MAG] != 0.0):
        new["mag_s"] = rows[:, NEW_MAG] != 0.0
    scene = session.scene
    meta = {
        "sensor": sensor.name,
        "link": sensor.mount.link,
        "position_m": list(sensor.mount.r_bs_b),
        "quaternion_wxyz": list(sensor.mount.q_bs),
        "rate_hz": sensor.rate_hz,
        "gravity_m_s2": scene.g(),
        "magnetic_field_n_ut": scene.field_n().tolist(),
        "seed": session.seed,
        "vehicle": session.vehicle.name,
        "carrier": "robot" if session.vehicle.kind == "wheels" else "free",  # for navigate
        "errors": module.mode,
        **module.about,
        "resolution": {name: module.triads[name].resolution for name in module.triads},
    }
    return Recording(
        t,
        **columns,
        temperature=rows[:, CELSIUS],
        clipped=rows[:, ANY_CLIPPED] != 0.0,
        truth=truth,
        meta=meta,
        new=new,
    )


def with_others(session: "Session", log: Recording, others: list[ValueSensor]) -> Recording:
    """The log of the first module with the readings of slower sensors: held between them, with `new` flags."""
    columns: dict[str, Any] = {}
    new = dict(log.new)
    for sensor in others:
        kind = sensor.instruments[0]
        field = {"inclinometer": "tilt_s", "altimeter": "height", "odometer": "odometer"}.get(kind, kind)
        if field in columns or field not in Recording.__dataclass_fields__:
            continue  # a second one of its kind, or one that no recording has a column for
        rows = sensor.log.rows()
        at = np.searchsorted(log.t, rows[:, 0] - 1e-9)
        rows, at = rows[at < len(log)], at[at < len(log)]
        if not len(at):
            continue
        arrived = np.zeros(len(log), dtype=bool)
        arrived[at] = True
        last = np.searchsorted(at, np.arange(len(log)), side="right") - 1  # the newest reading at each row, -1: none
        held = rows[np.maximum(last, 0)]
        size = sensor.size
        value, sigma = held[:, 2 : 2 + size], held[:, 2 + size : 2 + 2 * size]
        if field == "tilt_s":
            columns[field] = value
        elif field == "odometer":
            columns[field] = value[:, 0]
        elif field == "height":
            columns[field] = Heights(value[:, 0], sigma[:, 0])
        else:
            columns[field] = Fixes(value, sigma, np.minimum(held[:, -1], log.t))
        new[field] = arrived
    stop = _stop(session, log.t)
    if stop is not None:
        columns["stop"] = stop
    return replace(log, **columns, new=new)


def _stop(session: "Session", t: Array) -> Any:
    """The controller's stop signal, where the diagram marks one."""
    if "stop" not in session.wiring.estimate:
        return None
    times, signals, _ = session.signals.columns()
    flags = signals[session.wiring.estimate["stop"]] > 0.5
    return flags[np.clip(np.searchsorted(times, t + 1e-9, side="right") - 1, 0, len(flags) - 1)]

"""The slow state of a session as messages: loaded scenario, sensors, faults, scene, events."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from strapdown.environment.session.events import SessionEvent, console_words, sentence
from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.environment.session.session import Session
from strapdown.sensors.module import Module
from strapdown.sensors.triad import Triad
from strapdown.studio import messages as m
from strapdown.studio.simulation.schemas import ERROR_FIELDS, LIVE_SCENE, TABLES

OFF = " switched off"  # end of the name of the fault that stands for a sensor that is off
_STATES = ("tipped", "impact", "away", "lift_off", "touch_down", "stopped", "rewind")


def about(session: Session, choice: str | None, script: bool, started: int) -> m.Session:
    vehicle, scene = session.vehicle, session.plant.scene()
    names = [body["name"] for body in scene["bodies"]]
    return m.Session(
        mode="live",
        choice=choice,
        title=session.scenario.title or vehicle.title,
        comment=session.scenario.comment,
        vehicle=vehicle.name,
        vehicle_title=vehicle.title,
        vehicle_kind=vehicle.kind,
        seed=session.seed,
        duration_s=session.scenario.duration_s,
        script=script,
        start_s=0.0,
        bodies=[m.Body(**body) for body in scene["bodies"]],
        body=names.index(vehicle.body),
        links=list(session.plant.links()),
        actuators=[actuator.name for actuator in vehicle.actuators],
        controls=controls(session),
        sliders=sliders(session),
        started=started,
    )


def controls(session: Session) -> list[str]:
    """Controls of the console that a wire starts from."""
    found = set()
    for _, sheet in session.runner.diagram.sheets():
        consoles = {table.name for table in sheet.block if table.kind == "console"}
        for wire in sheet.wire:
            block, _, output = wire.source.rpartition(".")
            if block in consoles:
                found.add(output)
    return sorted(found)


def sliders(session: Session) -> list[m.Slider]:
    found = []
    for step in session.runner.plan.steps:
        if step.kind == "slider":
            block: Any = step.block
            value = session.console.sliders.get(step.path, block.feeds["value"])
            unit = step.output_ports["out"].unit or "1"
            label = step.path.rpartition("/")[2]
            found.append(m.Slider(block=step.path, label=label, unit=unit, low=block.low, high=block.high, value=value))
    return found


def sensors(session: Session, originals: Mapping[str, Module]) -> m.Sensors:
    scene = [body["name"] for body in session.plant.scene()["bodies"]]
    found = []
    for table, sensor in zip(session.scenario.mounted(), session.sensors, strict=True):
        kind = next(name for name, cls in TABLES.items() if isinstance(table, cls))
        instruments = []
        for instrument in sensor.instruments:
            off = any(name.endswith(OFF) and f.instrument in (None, instrument) for name, f in sensor.faults)
            values = original = {}
            unit = "1"
            if isinstance(sensor, ModuleSensor):
                triad = sensor.module.triads[instrument]
                unit, values = triad.unit, plain_errors(triad)
                original = plain_errors(originals[sensor.name].triads[instrument])
            instruments.append(
                m.Instrument(name=instrument, unit=unit, values=values, original=original, enabled=not off)
            )
        found.append(
            m.SensorState(
                name=sensor.name,
                kind=kind,
                part=getattr(table, "part", None),
                link=sensor.mount.link,
                body=scene.index(sensor.mount.link) if sensor.mount.link in scene else 0,
                position_m=list(sensor.mount.r_bs_b),
                quaternion=list(sensor.mount.q_bs),
                rate_hz=sensor.rate_hz or getattr(table, "rate_hz", None),
                table=table.model_dump(mode="json", exclude_none=True),
                instruments=instruments,
            )
        )
    return m.Sensors(sensors=found)


def plain_errors(triad: Triad) -> dict[str, Any]:
    return {name: plain(getattr(triad, name)) for name in ERROR_FIELDS}


def faults(session: Session) -> m.Faults:
    return m.Faults(
        faults={
            name: fault.model_dump(mode="json", exclude_none=True, exclude={"name", "at_s", "until_s"})
            for name, fault in session.faults.items()
            if not name.endswith(OFF)
        }
    )


def scene_state(session: Session) -> m.SceneState:
    scene = session.surroundings.scene
    values = {name: plain(getattr(scene, name)) for name in LIVE_SCENE}
    values |= {
        "air_temperature_c": scene.celsius(),
        "air_density_kg_m3": scene.density(),
        "magnetic_induction_ut": scene.field_n().tolist(),
    }
    return m.SceneState(values=values, gravity_m_s2=scene.g(), field_n=scene.field_n().tolist())


def event_message(number: int, event: SessionEvent) -> m.Event:
    lane: Any = "event"
    if event.kind in ("fault", "fault_ends"):
        lane = "fault"
    elif event.kind in _STATES or (
        event.kind == "console" and set(event.data["changes"]) & {"power", "calibrate", "arm"}
    ):
        lane = "state"
    return m.Event(number=number, t_s=event.t_s, kind=event.kind, lane=lane, data=plain(event.data), text=words(event))


def words(event: SessionEvent) -> str:
    """The event in short words for a timeline."""
    if event.kind == "mark":
        return str(event.data.get("text") or "mark")
    if event.kind == "push":
        force = float(np.linalg.norm(event.data["force_n"]))
        return f"push of {force:.1f} N on {event.data['link']}"
    if event.kind == "sensor" and "specimen_seed" in event.data.get("changes", ()):
        return f'sensor "{event.data["sensor"]}": new specimen'
    if event.kind != "console":
        return sentence(event)
    return console_words(event.data["changes"])


def plain(value: Any) -> Any:
    """Plain JSON values."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value

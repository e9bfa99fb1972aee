"""The effect of each command on a session."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from strapdown.environment.complaint import first_complaint
from strapdown.environment.diagram.problem import did_you_mean
from strapdown.environment.session import commands as c
from strapdown.environment.session.console import STICKS, console_values
from strapdown.environment.session.events import SessionEvent
from strapdown.environment.session.faults.kinds import AnyFault, GustFault, Magnet, Outage, TemperatureStep, WeakMotor
from strapdown.environment.session.faults.sensor_faults import Biased, SensorFault
from strapdown.environment.session.live_sensors import LiveSensor, ModuleSensor, ValueSensor
from strapdown.environment.session.scenario.scene import SceneTable
from strapdown.errors import InputError
from strapdown.sensors.triad import Triad

if TYPE_CHECKING:
    from strapdown.environment.session.session import Session

_SCENE_KEYS = ("wind_m_s", "turbulence_m_s", "air_temperature_c", "air_density_kg_m3", "magnetic_induction_ut")


def apply(session: "Session", command: c.Command) -> tuple[SessionEvent, ...]:
    """Carry out a command now. After an InputError nothing has changed."""
    t = session.t_s
    if isinstance(command, c.SetConsole):
        changes = console_values(command.changes)
        refused = session.set_console(changes)
        events = []
        if not set(command.changes) <= set(STICKS):  # sticks are recorded as signals, at every control cycle
            events.append(SessionEvent(t, "console", {"changes": dict(command.changes)}))
        if refused:
            events.append(SessionEvent(t, "refused", {"reason": refused}))
        return tuple(events)
    if isinstance(command, c.SetParameters):
        session.runner.set_parameters(command.block, **command.changes)
        session.attach()
        return (SessionEvent(t, "parameters", {"block": command.block, "changes": dict(command.changes)}),)
    if isinstance(command, c.SetDiagram):
        before = session.runner.snapshot()
        session.runner.replace(command.diagram)
        try:
            session.attach()
        except InputError:
            session.runner.restore(before)
            session.attach()
            raise
        return (SessionEvent(t, "diagram"),)
    if isinstance(command, c.SetErrors):
        return _set_errors(session, command)
    if isinstance(command, c.DrawSpecimen):
        return _draw(session, command)
    if isinstance(command, c.BeginFault):
        return _begin_fault(session, command)
    if isinstance(command, c.EndFault):
        return _end_fault(session, command.name)
    if isinstance(command, c.Push):
        session.plant.push(command.link, command.force_n, command.torque_n, command.for_s)
        data = {"link": command.link, "force_n": list(command.force_n), "for_s": command.for_s}
        return (SessionEvent(t, "push", data),)
    if isinstance(command, c.SetScene):
        return _set_scene(session, command.changes)
    raise InputError(f"a session cannot carry out a {type(command).__name__}; see environment/session/commands.py")


def _module_sensor(session: "Session", name: str) -> ModuleSensor:
    sensor = _sensor(session, name)
    if not isinstance(sensor, ModuleSensor):
        raise InputError(f'sensor "{name}" has no error chain; its parameters are those of its table')
    return sensor


def _sensor(session: "Session", name: str) -> LiveSensor:
    known = {sensor.name: sensor for sensor in session.sensors}
    if name not in known:
        raise InputError(f'sensor "{name}" is not in the scenario; {did_you_mean(name, known)}')
    return known[name]


def _set_errors(session: "Session", command: c.SetErrors) -> tuple[SessionEvent, ...]:
    sensor = _module_sensor(session, command.sensor)
    triads = dict(sensor.module.triads)
    if command.instrument not in triads:
        raise InputError(f'sensor "{command.sensor}" has no {command.instrument}; it has {", ".join(triads)}')
    known = [field.name for field in fields(Triad)]
    for name in command.changes:
        if name not in known:
            raise InputError(f'an error chain has no "{name}"; {did_you_mean(name, known)}')
    try:
        triads[command.instrument] = replace(triads[command.instrument], **_tuples(command.changes))
    except (TypeError, ValueError) as error:
        raise InputError(f'sensor "{command.sensor}", {command.instrument}: {error}') from None
    sensor.use(replace(sensor.module, triads=triads))
    data = {"sensor": command.sensor, "instrument": command.instrument, "changes": dict(command.changes)}
    return (SessionEvent(session.t_s, "sensor", data),)


def _tuples(changes: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        return tuple(plain(item) for item in value) if isinstance(value, list) else value

    return {name: plain(value) for name, value in changes.items()}


def _draw(session: "Session", command: c.DrawSpecimen) -> tuple[SessionEvent, ...]:
    sensor = _module_sensor(session, command.sensor)
    table = next(table for table in session.scenario.sensor if table.name == command.sensor)
    if table.part is None:
        raise InputError(f'sensor "{command.sensor}" is not a part of the catalogue; name a part in the scenario')
    another = table.model_copy(update={"specimen_seed": int(command.seed)})
    sensor.use(another.drawn(session.scenario.folder, session.seed, session.scene.celsius()))
    data = {"sensor": command.sensor, "changes": {"specimen_seed": command.seed}}
    return (SessionEvent(session.t_s, "sensor", data),)


def _begin_fault(session: "Session", command: c.BeginFault) -> tuple[SessionEvent, ...]:
    fault, name = command.fault, command.name
    if name in session.faults:
        raise InputError(f'a fault "{name}" is active; end it first, or choose another name')
    check_fault(session, fault)
    if isinstance(fault, SensorFault):
        _sensor(session, fault.sensor).begin_fault(name, fault, session.seed)
    elif isinstance(fault, Outage):
        _set_outage(session, fault.sensor, True)
    elif isinstance(fault, WeakMotor):
        session.plant.set_efficiency(fault.motor, fault.efficiency)
    elif isinstance(fault, GustFault | Magnet | TemperatureStep):
        session.surroundings.begin(name, fault, session.t_s)
    session.faults[name] = fault
    data = {"name": name, "fault": fault.model_dump(exclude_none=True, exclude={"name", "at_s", "until_s"})}
    return (SessionEvent(session.t_s, "fault", data),)


def _end_fault(session: "Session", name: str) -> tuple[SessionEvent, ...]:
    if name not in session.faults:
        raise InputError(f'no fault "{name}" is active; {did_you_mean(name, session.faults)}')
    fault = session.faults.pop(name)
    if isinstance(fault, SensorFault):
        _sensor(session, fault.sensor).end_fault(name)
    elif isinstance(fault, Outage):
        others = [f for f in session.faults.values() if isinstance(f, Outage) and f.sensor == fault.sensor]
        _set_outage(session, fault.sensor, bool(others))
    elif isinstance(fault, WeakMotor):
        weak = [f for f in session.faults.values() if isinstance(f, WeakMotor) and f.motor == fault.motor]
        session.plant.set_efficiency(fault.motor, weak[-1].efficiency if weak else 1.0)
    else:
        session.surroundings.end(name)
    return (SessionEvent(session.t_s, "fault_ends", {"name": name}),)


def _set_outage(session: "Session", name: str, out: bool) -> None:
    sensor = _sensor(session, name)
    assert isinstance(sensor, ValueSensor)
    sensor.out = out


def check_fault(session: "Session", fault: AnyFault) -> None:
    """InputError if the fault is of a sensor, instrument or motor that the vehicle does not have."""
    if isinstance(fault, SensorFault):
        sensor = _sensor(session, fault.sensor)
        if fault.instrument is not None and fault.instrument not in sensor.instruments:
            had = ", ".join(sensor.instruments)
            raise InputError(f'fault "{fault.kind}": sensor "{fault.sensor}" has no {fault.instrument}; it has {had}')
        size = sensor.size if isinstance(sensor, ValueSensor) else 3
        if isinstance(fault, Biased) and len(fault.offset) not in (1, size):
            wanted = "1 number" if size == 1 else f"1 or {size} numbers"
            raise InputError(
                f'fault "biased": offset has {len(fault.offset)} numbers, sensor "{fault.sensor}" needs {wanted}'
            )
    elif isinstance(fault, Outage):
        if not isinstance(_sensor(session, fault.sensor), ValueSensor):
            raise InputError(
                f'fault "outage": sensor "{fault.sensor}" gives no fixes; an outage is for receivers and altimeters'
            )
    elif isinstance(fault, WeakMotor):
        motors = [actuator.name for actuator in session.vehicle.actuators]
        if fault.motor not in motors:
            raise InputError(
                f'fault "weak_motor": motor "{fault.motor}" does not exist; {did_you_mean(fault.motor, motors)}'
            )


def check_plan(session: "Session") -> None:
    """InputError if the scenario plans a fault or moves a slider that the vehicle or its diagram does not have."""
    for fault in session.scenario.fault:
        check_fault(session, fault)
    sliders = session.wiring.sliders
    for i, line in enumerate(session.scenario.pilot, start=1):
        for name in line.sliders or ():
            if name not in sliders:
                raise InputError(
                    f'pilot line {i}: slider "{name}" is not in the diagram; {did_you_mean(name, sliders)}'
                )


def _set_scene(session: "Session", changes: Mapping[str, Any]) -> tuple[SessionEvent, ...]:
    for name in changes:
        if name not in _SCENE_KEYS:
            raise InputError(f'the scene cannot change "{name}" while it runs; {did_you_mean(name, _SCENE_KEYS)}')
    before = session.surroundings.scene
    try:
        scene = SceneTable(**{**before.model_dump(exclude_unset=True), **_tuples(changes)})
    except ValidationError as error:
        raise InputError(first_complaint(error, SceneTable, "scene")) from None
    session.surroundings.change(scene, session.plant)
    return (SessionEvent(session.t_s, "scene", {"changes": dict(changes)}),)

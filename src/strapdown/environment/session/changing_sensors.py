"""Sensors that are added to a running session, or removed from it. The other sensors continue unchanged."""

from typing import TYPE_CHECKING, Any

from strapdown.engines.parts import Mount
from strapdown.environment.session.events import SessionEvent
from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.environment.session.scenario.file import Scenario, scenario_from
from strapdown.environment.session.wiring import make_sensors
from strapdown.errors import InputError

if TYPE_CHECKING:
    from strapdown.environment.session.session import Session

KINDS = ("sensor", "inclinometer", "altimeter", "barometer", "receiver", "odometer")


def with_sensor(scenario: Scenario, kind: str, table: dict[str, Any]) -> Scenario:
    """The scenario with one more sensor, checked as a whole."""
    if kind not in KINDS:
        raise InputError(f'a sensor "{kind[:60]}" does not exist; valid kinds: {", ".join(KINDS)}')
    plain = scenario.model_dump(exclude_unset=True, exclude={"folder"})
    plain["version"] = scenario.version  # one made in Python has not set it
    return scenario_from({**plain, kind: [*plain.get(kind, ()), table]}, scenario.folder / "scenario")


def without_sensor(scenario: Scenario, name: str) -> Scenario:
    """The scenario without a sensor and without its faults."""
    if name not in [table.name for table in scenario.mounted()]:
        raise InputError(f'sensor "{name[:60]}" is not in the scenario')
    kept = {kind: tuple(t for t in getattr(scenario, kind) if t.name != name) for kind in KINDS}
    faults = tuple(f for f in scenario.fault if getattr(f, "sensor", None) != name)
    return scenario.model_copy(update={**kept, "fault": faults})


def use_sensors(session: "Session", scenario: Scenario) -> tuple[SessionEvent, ...]:
    """Fly on with the sensors of another scenario. Sensors with the same name and table keep their states and logs. A
    rewind to a time before this is not possible. After an InputError nothing has changed.
    """
    before = session.scenario, session.sensors
    old = {table.name: (table, sensor) for table, sensor in zip(before[0].mounted(), before[1], strict=True)}
    session.scenario = scenario
    try:
        made = make_sensors(session)
        new = [
            old[sensor.name][1] if sensor.name in old and old[sensor.name][0] == table else sensor
            for table, sensor in zip(scenario.mounted(), made, strict=True)
        ]
        _install(session, new)
        session.check_links()
        session.runner.replace(session.runner.diagram)
        session.attach()
    except InputError:
        session.scenario = before[0]
        _install(session, before[1])
        session.runner.replace(session.runner.diagram)
        session.attach()
        raise
    names = {sensor.name for sensor in new}
    for sensor in new:
        if isinstance(sensor, ModuleSensor) and sensor.name not in old and session.surroundings.vibration is not None:
            sensor.shaken_by(session.surroundings.vibration)
    session.faults = {k: f for k, f in session.faults.items() if getattr(f, "sensor", None) in (None, *names)}
    session.begin_history()
    changes = [(name, "added") for name in names - set(old)] + [(name, "removed") for name in set(old) - names]
    events = tuple(SessionEvent(session.t_s, "sensor", {"sensor": n, "changes": {"sensor": w}}) for n, w in changes)
    session.events += events
    return events


def _install(session: "Session", sensors: list[Any]) -> None:
    session.sensors = sensors
    session.mounts = (Mount("body", session.vehicle.body), *(sensor.mount for sensor in sensors))
    session.places = list(enumerate(sensors, start=1))
    session.look()

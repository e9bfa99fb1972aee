"""Commands of a page to the sensors of a session: errors, specimens, adding and removing, faults."""

import secrets
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from strapdown.environment.complaint import first_complaint
from strapdown.environment.session import commands as to_session
from strapdown.environment.session.changing_sensors import use_sensors, with_sensor, without_sensor
from strapdown.environment.session.faults.sensor_faults import Dead
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.studio.messages import commands as c
from strapdown.studio.server.files_of_user import refuse_paths
from strapdown.studio.simulation.schemas import FAULTS
from strapdown.studio.stage import session_state

if TYPE_CHECKING:
    from strapdown.studio.stage.live_stage import LiveStage

Answer = dict[str, Any]  # fields of a Reply


def do_to_sensors(stage: "LiveStage", command: Any) -> tuple[Answer, set[str]]:
    """Carry out a command; returns fields of the reply, and the messages that have changed. InputError: nothing did."""
    session = stage.session
    act = session.act
    if isinstance(command, c.SetErrors):
        act(to_session.SetErrors(command.sensor, command.instrument, dict(command.changes)))
        return {}, {"sensors"}
    if isinstance(command, c.ResetErrors):
        original = stage.originals.get(command.sensor)
        if original is None:
            raise InputError(f'sensor "{command.sensor}" has no error chain')
        for name, triad in original.triads.items():
            if command.instrument in (None, name):
                changes = {field: getattr(triad, field) for field in session_state.ERROR_FIELDS}
                act(to_session.SetErrors(command.sensor, name, changes))
        return {}, {"sensors"}
    if isinstance(command, c.DrawSpecimen):
        seed = secrets.randbelow(2**31) if command.seed is None else command.seed
        act(to_session.DrawSpecimen(command.sensor, seed))
        stage.remember_originals(command.sensor)
        return {}, {"sensors"}
    if isinstance(command, c.AddSensor):
        refuse_paths({command.kind: [command.table]})
        use_sensors(session, with_sensor(session.scenario, command.kind, command.table))
        return {}, stage.changed_sensors()
    if isinstance(command, c.RemoveSensor):
        use_sensors(session, without_sensor(session.scenario, command.sensor))
        return {}, stage.changed_sensors()
    if isinstance(command, c.EnableSensor):
        return _switch(session, command)
    if isinstance(command, c.BeginFault):
        act(to_session.BeginFault(_fault(command.fault), command.name))
        return {}, {"faults"}
    if isinstance(command, c.EndFault):
        act(to_session.EndFault(command.name))
        return {}, {"faults"}
    raise InputError(f'command "{command.type}" is not possible in a live session')


def _switch(session: Session, command: c.EnableSensor) -> tuple[Answer, set[str]]:
    name = " ".join(filter(None, (command.sensor, command.instrument))) + session_state.OFF
    if command.on and name in session.faults:
        session.act(to_session.EndFault(name))
    elif not command.on and name not in session.faults:
        fault = _fault({"kind": "dead", "sensor": command.sensor, "instrument": command.instrument})
        assert isinstance(fault, Dead)
        session.act(to_session.BeginFault(fault, name))
    return {}, {"sensors", "faults"}


def _fault(values: dict[str, Any]) -> Any:
    cls = FAULTS.get(str(values.get("kind")))
    if cls is None:
        raise InputError(f"a fault of this kind does not exist; valid kinds: {', '.join(FAULTS)}")
    try:
        return cls(**values)
    except ValidationError as error:
        raise InputError(first_complaint(error, cls, "fault")) from None

"""Commands of a page to the loaded session: console, diagram, sensors, faults, scene."""

from typing import Annotated, Any, Literal

from pydantic import Field

from strapdown.studio.messages.command_base import Command, Label, Number, Stick, Vector


class Open(Command):
    """Load an entry of the chooser (`choice`), an uploaded file (`upload`: the name that POST /upload gave), or a live
    module. `device` is a serial port or tcp://host:port.
    """

    type: Literal["open"]
    choice: Label | None = None
    upload: Label | None = None
    device: Label | None = None
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] | None = None  # None: the usual one
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    script: bool = False  # let the pilot script of the scenario fly, with its planned faults


class SetConsole(Command):
    """Switches, mode and sliders: power, calibrate, arm, mode, sliders {block: value}."""

    type: Literal["console"]
    changes: dict[Label, bool | Number | str | dict[str, Number]]


class Sticks(Command):
    """Positions of the sticks, -1 to 1; sticks that are not given stay the same. Send at most 50 per second, and only
    on change.
    """

    type: Literal["sticks"]
    roll: Stick | None = None
    pitch: Stick | None = None
    yaw: Stick | None = None
    throttle: Stick | None = None
    drive: Stick | None = None
    turn: Stick | None = None


class SetParameters(Command):
    """Parameters of a block, by its path in the diagram ("estimation/mekf")."""

    type: Literal["parameters"]
    block: Label
    changes: dict[Label, Any]


class CheckDiagram(Command):
    """Look for problems. The reply has `problems`; nothing is changed."""

    type: Literal["check_diagram"]
    diagram: dict[str, Any]


class ApplyDiagram(Command):
    """Fly another diagram. With problems nothing is changed, and the reply lists them."""

    type: Literal["apply_diagram"]
    diagram: dict[str, Any]


class ReadDiagram(Command):
    """The diagram in a TOML text that the user opened. The reply has `diagram`, or the problems of the text."""

    type: Literal["read_diagram"]
    text: Annotated[str, Field(max_length=500_000)]


class WriteDiagram(Command):
    """The TOML text of a diagram. The reply has `text`; with `name` it is also saved in --folder."""

    type: Literal["write_diagram"]
    diagram: dict[str, Any]
    name: Label | None = None


class SetErrors(Command):
    """Parameters of the error chain of one instrument, in SI units (SensorState.instruments)."""

    type: Literal["errors"]
    sensor: Label
    instrument: Label
    changes: dict[Label, Any]


class ResetErrors(Command):
    """Restore the errors that the sensor had when it was made. instrument None: all."""

    type: Literal["reset_errors"]
    sensor: Label
    instrument: Label | None = None


class DrawSpecimen(Command):
    """Another specimen of the same part. seed None: the server draws one."""

    type: Literal["draw_specimen"]
    sensor: Label
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class AddSensor(Command):
    """A new sensor on a link.

    table: as in a scenario file, checked against `Hello.sensor_schemas[kind]`.
    """

    type: Literal["add_sensor"]
    kind: Label
    table: dict[str, Any]


class RemoveSensor(Command):
    type: Literal["remove_sensor"]
    sensor: Label


class EnableSensor(Command):
    """Switch an instrument of a sensor on or off; while off, it gives no reading. instrument None: all."""

    type: Literal["enable_sensor"]
    sensor: Label
    on: bool
    instrument: Label | None = None


class BeginFault(Command):
    """A fault from now on.

    fault: checked against `Hello.fault_schemas[kind]`.
    """

    type: Literal["begin_fault"]
    name: Label
    fault: dict[str, Any]


class EndFault(Command):
    type: Literal["end_fault"]
    name: Label


class Push(Command):
    """A force (N) and torque (N m), frame n, on a link for a time (s)."""

    type: Literal["push"]
    link: Label
    force_n: Vector
    torque_n: Vector = (0.0, 0.0, 0.0)
    for_s: Annotated[float, Field(gt=0.0, le=10.0)] = 0.1


class SetScene(Command):
    """New values: wind_m_s, turbulence_m_s, air_temperature_c, air_density_kg_m3, magnetic_induction_ut."""

    type: Literal["scene"]
    changes: dict[Label, Any]

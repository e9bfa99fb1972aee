"""What a page asks of the server: one JSON text per command. The TypeScript types are generated from these models.

Every command may carry an `id`; its answer is a Reply with the same id. docs/studio-protocol.md explains the flow.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from strapdown.errors import InputError

MOST_TEXT = 600_000  # characters of one command: a diagram of the largest size has about 350 kB
MOST_SIGNALS = 64  # that one client can subscribe to
SPEEDS = (0.05, 10.0)

Number = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]
Label = Annotated[str, Field(min_length=1, max_length=100)]
Stick = Annotated[float, Field(ge=-1.0, le=1.0, allow_inf_nan=False)]


class Command(BaseModel):
    """Base of all commands. id: chosen by the page; 0: no answer is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: Annotated[int, Field(ge=0, le=2**31)] = 0


class Introduce(Command):
    """The first command of a client: its name, which others see in the list of clients."""

    type: Literal["introduce"]
    name: Label


class Open(Command):
    """Load an entry of the chooser (`choice`), or an uploaded file (`upload`: the name that POST /upload gave)."""

    type: Literal["open"]
    choice: Label | None = None
    upload: Label | None = None
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    script: bool = False  # let the pilot script of the scenario fly, with its planned faults


class SetConsole(Command):
    """Switches, mode and sliders: power, calibrate, arm, mode, sliders {block: value}."""

    type: Literal["console"]
    changes: dict[Label, bool | Number | str | dict[str, Number]]


class Sticks(Command):
    """Positions of the sticks, -1 to 1; those not given stay. Send at most 50 per second, and only on change."""

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
    """Fly another diagram. With problems nothing is changed and the reply has them."""

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
    """Back to the errors that the sensor had when it was made. instrument None: all."""

    type: Literal["reset_errors"]
    sensor: Label
    instrument: Label | None = None


class DrawSpecimen(Command):
    """Another specimen of the same part. seed None: the server draws one."""

    type: Literal["draw_specimen"]
    sensor: Label
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class AddSensor(Command):
    """A new sensor on a link. table: as in a scenario file, checked against `Hello.sensor_schemas[kind]`."""

    type: Literal["add_sensor"]
    kind: Label
    table: dict[str, Any]


class RemoveSensor(Command):
    type: Literal["remove_sensor"]
    sensor: Label


class EnableSensor(Command):
    """Switch an instrument of a sensor on or off; off, it gives no reading. instrument None: all."""

    type: Literal["enable_sensor"]
    sensor: Label
    on: bool
    instrument: Label | None = None


class BeginFault(Command):
    """A fault from now on. fault: checked against `Hello.fault_schemas[kind]`."""

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


class Run(Command):
    """Run or pause."""

    type: Literal["run"]
    on: bool


class Step(Command):
    """Pause, and go on by some control cycles."""

    type: Literal["step"]
    cycles: Annotated[int, Field(ge=1, le=1000)] = 1


class Speed(Command):
    """How many seconds of the simulation pass in one second."""

    type: Literal["speed"]
    factor: Annotated[float, Field(ge=SPEEDS[0], le=SPEEDS[1])]


class Reset(Command):
    """Back to the start. The run becomes a take."""

    type: Literal["reset"]


class ContinueFrom(Command):
    """Go on from an earlier time. The run until now becomes a take. In a replay: go to this time, also later."""

    type: Literal["continue_from"]
    t_s: Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)]


class Mark(Command):
    """An event "mark" at the present time."""

    type: Literal["mark"]
    text: Annotated[str, Field(max_length=200)] = ""


class Record(Command):
    """Begin or end the stretch that is downloaded as a recording."""

    type: Literal["record"]
    on: bool


class Subscribe(Command):
    """The signals whose samples the frames carry, in this order, by Signal.name. Unknown names are skipped; the
    Subscription message lists which are carried."""

    type: Literal["subscribe"]
    signals: Annotated[list[Label], Field(max_length=MOST_SIGNALS)]


class Watch(Command):
    """Switch the Values message on or off (live values on the edges of the diagram, 5 per second)."""

    type: Literal["watch"]
    on: bool


class History(Command):
    """Earlier samples: the answer is one binary message of kind 2. poses: also the poses of all bodies."""

    type: Literal["history"]
    signals: Annotated[list[Label], Field(max_length=MOST_SIGNALS)] = []
    poses: bool = False
    from_s: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    to_s: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    most_rows: Annotated[int, Field(ge=2, le=20_000)] = 6_000
    take: Annotated[int, Field(ge=0)] | None = None  # None: the present run


class Calibrate(Command):
    """The guided calibration of a virtual sensor on a turntable of its own. The answer is a Calibration message.

    start: begin `workflow` with `sensor`. next: take the readings of the present step. turn: turn the sensor by hand
    (magnetometer), a quaternion q_nb. finish: compute the result. cancel: end without one. save: reply with the
    calibration file as text, and save it in --folder if `name` is given.
    """

    type: Literal["calibrate"]
    action: Literal["start", "next", "turn", "finish", "cancel", "save"]
    workflow: Literal["static", "six_positions", "magnetometer"] | None = None
    sensor: Label | None = None
    attitude: tuple[Number, Number, Number, Number] | None = None
    name: Label | None = None


class GetReport(Command):
    """The summary of the run. The reply has `report`. take None: the present run."""

    type: Literal["report"]
    take: Annotated[int, Field(ge=0)] | None = None


class SaveLayout(Command):
    """Keep a layout of the page under a name, for this user."""

    type: Literal["save_layout"]
    name: Label
    layout: dict[str, Any]


class DeleteLayout(Command):
    type: Literal["delete_layout"]
    name: Label


AnyCommand = Annotated[
    Introduce
    | Open
    | SetConsole
    | Sticks
    | SetParameters
    | CheckDiagram
    | ApplyDiagram
    | ReadDiagram
    | WriteDiagram
    | SetErrors
    | ResetErrors
    | DrawSpecimen
    | AddSensor
    | RemoveSensor
    | EnableSensor
    | BeginFault
    | EndFault
    | Push
    | SetScene
    | Run
    | Step
    | Speed
    | Reset
    | ContinueFrom
    | Mark
    | Record
    | Subscribe
    | Watch
    | History
    | Calibrate
    | GetReport
    | SaveLayout
    | DeleteLayout,
    Field(discriminator="type"),
]
COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(AnyCommand)


def command_from(text: str | bytes) -> AnyCommand:
    """The command in a message of a page; InputError names what is wrong with it."""
    if len(text) > MOST_TEXT:
        raise InputError(f"the command has {len(text)} characters, at most {MOST_TEXT} are possible")
    try:
        return COMMANDS.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:60] for part in first["loc"][:6]) or "command"
        raise InputError(f"{where}: {first['msg'][:200]}") from None
    except RecursionError:
        raise InputError("the command is nested too deeply") from None

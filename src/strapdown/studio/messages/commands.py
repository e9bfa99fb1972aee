"""Commands of a page to the server: one JSON text per command. The TypeScript types are generated from these models.

Every command may carry an `id`; its answer is a Reply with the same id. docs/studio-protocol.md explains the flow.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from strapdown.errors import InputError
from strapdown.studio.messages.command_base import SPEEDS, Command, Label, Number
from strapdown.studio.messages.commands_to_session import (
    AddSensor,
    ApplyDiagram,
    BeginFault,
    CheckDiagram,
    DrawSpecimen,
    EnableSensor,
    EndFault,
    Open,
    Push,
    ReadDiagram,
    RemoveSensor,
    ResetErrors,
    SetConsole,
    SetErrors,
    SetParameters,
    SetScene,
    Sticks,
    WriteDiagram,
)

__all__ = [
    "COMMANDS",
    "MOST_SIGNALS",
    "MOST_TEXT",
    "AddSensor",
    "AnyCommand",
    "ApplyDiagram",
    "BeginFault",
    "Calibrate",
    "CheckDiagram",
    "ContinueFrom",
    "DeleteLayout",
    "DrawSpecimen",
    "EnableSensor",
    "EndFault",
    "GetReport",
    "History",
    "Introduce",
    "ListPorts",
    "Mark",
    "Open",
    "Push",
    "ReadDiagram",
    "Record",
    "RemoveSensor",
    "Reset",
    "ResetErrors",
    "Run",
    "SaveLayout",
    "SetConsole",
    "SetErrors",
    "SetParameters",
    "SetScene",
    "Speed",
    "Step",
    "Sticks",
    "Subscribe",
    "Watch",
    "WriteDiagram",
    "command_from",
]

MOST_TEXT = 600_000  # characters of one command: a diagram of the largest size has about 350 kB
MOST_SIGNALS = 64  # that one client can subscribe to


class Introduce(Command):
    """The first command of a client: its name, which others see in the list of clients."""

    type: Literal["introduce"]
    name: Label


class Run(Command):
    """Run or pause."""

    type: Literal["run"]
    on: bool


class Step(Command):
    """Pause, and continue by some control cycles."""

    type: Literal["step"]
    cycles: Annotated[int, Field(ge=1, le=1000)] = 1


class Speed(Command):
    """How many seconds of the simulation pass in one second."""

    type: Literal["speed"]
    factor: Annotated[float, Field(ge=SPEEDS[0], le=SPEEDS[1])]


class Reset(Command):
    """Return to the start. The run becomes a take."""

    type: Literal["reset"]


class ContinueFrom(Command):
    """Continue from an earlier time. The run until now becomes a take. In a replay: go to this time, also later."""

    type: Literal["continue_from"]
    t_s: Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)]


class Mark(Command):
    """An event "mark" at the present time."""

    type: Literal["mark"]
    text: Annotated[str, Field(max_length=200)] = ""


class Record(Command):
    """Begin or end the interval that is downloaded as a recording."""

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
    """Earlier samples: the answer is one binary message of kind 2.

    poses: also the poses of all bodies.
    """

    type: Literal["history"]
    signals: Annotated[list[Label], Field(max_length=MOST_SIGNALS, default_factory=list)]
    poses: bool = False
    from_s: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    to_s: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    most_rows: Annotated[int, Field(ge=2, le=20_000)] = 6_000
    take: Annotated[int, Field(ge=0)] | None = None  # None: the present run


class Calibrate(Command):
    """The guided calibration of a virtual sensor on its own turntable. The answer is a Calibration message.

    start: begin `workflow` with `sensor`.
    next: take the readings of the present step.
    turn: turn the sensor by hand (magnetometer), a quaternion q_nb.
    finish: compute the result.
    cancel: end without one.
    save: reply with the calibration file as text, and save it in --folder if `name` is given.
    load: show the calibration file `text` (called `name`) with `sensor`: parameters next to the truth, errors before
        and after. A live module keeps it and uses it from then on.
    """

    type: Literal["calibrate"]
    action: Literal["start", "next", "turn", "finish", "cancel", "save", "load"]
    workflow: Literal["static", "six_positions", "magnetometer"] | None = None
    sensor: Label | None = None
    attitude: tuple[Number, Number, Number, Number] | None = None
    name: Label | None = None
    text: Annotated[str, Field(max_length=MOST_TEXT)] | None = None


class ListPorts(Command):
    """The serial ports of the computer on which the studio runs. The reply has `ports`."""

    type: Literal["ports"]


class GetReport(Command):
    """The summary of the run. The reply has `report`. take None: the present run."""

    type: Literal["report"]
    take: Annotated[int, Field(ge=0)] | None = None


class GetCampaign(Command):
    """What the campaign of the studio's folder has found so far. The reply has `campaign`. figure: None: the first."""

    type: Literal["campaign"]
    figure: Label | None = None


class OpenRun(Command):
    """Repeat a run of the campaign, by its key: a scenario runs again, of the others the log is replayed."""

    type: Literal["open_run"]
    key: Label


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
    | ListPorts
    | GetReport
    | GetCampaign
    | OpenRun
    | SaveLayout
    | DeleteLayout,
    Field(discriminator="type"),
]
COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(AnyCommand)


def command_from(text: str | bytes) -> AnyCommand:
    """The command in a message of a page; InputError states its error."""
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

"""What the server reports to a page: one JSON text per message, besides the binary frames (frame.py).

The TypeScript types are generated from these models (`python -m strapdown.studio.typescript`).
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

PROTOCOL = 1  # a page with another number reloads itself


class Part(BaseModel):
    """Base of all that a message has."""

    model_config = ConfigDict(frozen=True)


# what there is to choose


class Choice(Part):
    """An entry of the chooser. kind: scenario, recording or robot. picture: address of an SVG, or None."""

    name: str
    kind: Literal["scenario", "recording", "robot"]
    title: str
    comment: str
    vehicle: str | None
    own: bool  # a file of the user
    picture: str | None
    sensors: list[str]  # short names of its instruments: acc, gyr


class Kind(Part):
    """A kind of block (diagram.palette)."""

    kind: str
    category: str
    description: str
    schema_: dict[str, Any] = Field(alias="schema", serialization_alias="schema")  # JSON schema of the parameters
    inputs: list["PortInfo"] | None
    outputs: list["PortInfo"] | None


class PortInfo(Part):
    name: str
    unit: str | None
    frame: str | None
    shape: list[int] | None
    default: float | None


class CatalogPart(Part):
    """A part of the sensor catalogue."""

    name: str
    title: str
    instruments: list[str]


class Control(Part):
    """A control of the console. kind: switch, choice or stick. choices: for a choice."""

    name: str
    kind: Literal["switch", "choice", "stick"]
    choices: list[str]


class Display(Part):
    """How a quantity is shown: number in SI times factor, in this unit."""

    unit: str
    factor: float


class Hello(Part):
    """First message. Schemas are JSON schemas; numbers in them have `unit`."""

    type: Literal["hello"] = "hello"
    protocol: int
    version: str
    client: int  # number of this client
    choices: list[Choice]
    kinds: list[Kind]
    parts: list[CatalogPart]
    controls: list[Control]
    sensor_schemas: dict[str, dict[str, Any]]  # by kind: sensor, inclinometer, altimeter, receiver, odometer
    fault_schemas: dict[str, dict[str, Any]]  # by kind
    error_schema: dict[str, Any]  # of the error chain of an instrument; unit "unit" stands for that of the instrument
    scene_schema: dict[str, Any]
    display: dict[str, Display]  # by SI unit
    layouts: dict[str, dict[str, Any]]
    folder: bool  # files can be saved on the server by name
    history_s: float  # how far back samples are kept
    chart_hz: float  # rate of samples, per second of the simulation
    frame_hz: float


# the session


class Geom(Part):
    """MuJoCo's: half lengths, radius first. pos (m) and quat (w, x, y, z) in the frame of the body."""

    name: str
    type: str
    size: list[float]
    rgba: list[float]
    pos: list[float]
    quat: list[float]
    vertices: list[list[float]] | None = None
    faces: list[list[int]] | None = None
    heights: list[list[float]] | None = None


class Body(Part):
    """parent: its number in the list; the first body is the world."""

    name: str
    parent: int | None
    geoms: list[Geom]


class Signal(Part):
    """What a chart can show. labels: of its numbers, "" for a single one.

    block, output: where it is in the diagram; None for others. Units: SI, or deg for angles of attitude.
    """

    name: str
    title: str
    group: str
    role: Literal["truth", "reading", "estimate", "error", "sigma", "signal"]
    unit: str
    frame: str | None
    shape: list[int]
    size: int
    labels: list[str]
    block: str | None
    output: str | None


class Chart(Part):
    """A chart that the page shows first. signals: names, drawn on each other."""

    title: str
    signals: list[str]


class Signals(Part):
    """All signals. Those of the diagram are called "diagram/PATH.OUTPUT". Frames with this epoch carry them. charts:
    what to show at first."""

    type: Literal["signals"] = "signals"
    epoch: int
    signals: list[Signal]
    charts: list[Chart]


class Subscription(Part):
    """The signals in the following frames, in order."""

    type: Literal["subscription"] = "subscription"
    epoch: int
    signals: list[str]


class BlockState(Part):
    """A block of the running diagram, by its path; ports with their units as they were resolved."""

    path: str
    kind: str
    rate_hz: float
    inputs: list[PortInfo]
    outputs: list[PortInfo]


class Edge(Part):
    """Which signal a wire carries. sheet: path of the sub-diagram's use ("" for the main diagram, "estimation",
    "estimation/inner"). source: as in the wire's `from`. signal: Signal.name."""

    sheet: str
    source: str
    signal: str


class DiagramState(Part):
    """The diagram that flies, as plain values of a diagram file. Every block has `at`: position on the canvas (px)."""

    type: Literal["diagram"] = "diagram"
    revision: int
    by: int  # client that changed it, 0 for nobody
    diagram: dict[str, Any]
    blocks: list[BlockState]
    edges: list[Edge]


class Values(Part):
    """The present numbers of all signals, in the order of Signals; null: none yet. Only after the command watch."""

    type: Literal["values"] = "values"
    epoch: int
    t_s: float
    values: list[list[float | None]]


class Instrument(Part):
    """values: of the error chain now, by the names of Hello.error_schema. original: when the sensor was made."""

    name: str
    unit: str
    values: dict[str, Any]
    original: dict[str, Any]
    enabled: bool


class SensorState(Part):
    """kind: key of Hello.sensor_schemas. table: as in the scenario file. body: its number in Session.bodies."""

    name: str
    kind: str
    part: str | None
    link: str
    body: int
    position_m: list[float]
    quaternion: list[float]
    rate_hz: float | None
    table: dict[str, Any]
    instruments: list[Instrument]


class Sensors(Part):
    type: Literal["sensors"] = "sensors"
    sensors: list[SensorState]


class Faults(Part):
    """Faults that are active, by name."""

    type: Literal["faults"] = "faults"
    faults: dict[str, dict[str, Any]]


class SceneState(Part):
    """The scene now. gravity_m_s2 points down; field_n: magnetic induction (uT), frame n."""

    type: Literal["scene"] = "scene"
    values: dict[str, Any]
    gravity_m_s2: float
    field_n: list[float]


class Slider(Part):
    block: str
    label: str
    unit: str
    low: float
    high: float
    value: float


class Session(Part):
    """What is loaded: sent after hello, and again when something else is opened. `sensors`, `signals`, `diagram`,
    `faults`, `scene`, `lights`, `takes` and `events` follow as messages of their own."""

    type: Literal["session"] = "session"
    mode: Literal["live", "replay", "empty"]
    choice: str | None
    title: str
    comment: str
    vehicle: str
    vehicle_title: str
    vehicle_kind: str
    seed: int
    duration_s: float
    script: bool  # the pilot script and the planned faults of the scenario are carried out
    start_s: float
    bodies: list[Body]
    body: int  # the one that carries the sensors
    links: list[str]
    actuators: list[str]
    controls: list[str]  # that this vehicle uses
    sliders: list[Slider]
    started: int  # number of this session since the server started


class Light(Part):
    """state: ok, degraded, failed or off. word: what is the matter ("rejected", "no reading")."""

    name: str
    title: str
    state: Literal["ok", "degraded", "failed", "off"]
    word: str


class Lights(Part):
    type: Literal["lights"] = "lights"
    lights: list[Light]


class Event(Part):
    """lane: of the timeline. number: counts up over the session. text: a sentence."""

    number: int
    t_s: float
    kind: str
    lane: Literal["state", "event", "fault"]
    data: dict[str, Any]
    text: str


class Events(Part):
    """New events. whole: the list replaces what the page has (after a rewind)."""

    type: Literal["events"] = "events"
    whole: bool
    events: list[Event]


class Take(Part):
    number: int
    from_s: float  # where it was left
    end_s: float
    title: str


class Takes(Part):
    """Earlier runs, oldest first. dropped: title of the one that was dropped just now, None if none was."""

    type: Literal["takes"] = "takes"
    present: int
    takes: list[Take]
    dropped: str | None = None


class Client(Part):
    number: int
    name: str


class Clients(Part):
    type: Literal["clients"] = "clients"
    clients: list[Client]


class Notice(Part):
    """For a toast. level: info, warning or error."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    text: str


# answers


class ProblemInfo(Part):
    """kind, block (path, "" for none) and place as in diagram.problem."""

    kind: str
    block: str
    place: str
    message: str


class Measured(Part):
    """A line of a table: name, value, unit. truth: of the virtual sensor. sheet: limit of the data sheet."""

    name: str
    value: float | None
    unit: str
    sigma: float | None = None
    truth: float | None = None
    sheet: float | None = None
    note: str = ""


class ErrorRow(Part):
    """Errors of an estimate over a run; of a vector its length. inside: share of the samples within 3 sigma."""

    name: str
    unit: str
    rms: float
    mean: float
    largest: float
    inside: float | None


class Report(Part):
    """The summary of a run. errors: from counted_from_s on, of so many samples. parameters: value is found in readings
    at rest (between rest_s), truth is what the virtual sensor has."""

    title: str
    duration_s: float
    verdict: str
    path_m: float
    fastest_m_s: float
    counted_from_s: float | None
    samples: int
    errors: list[ErrorRow]
    rest_s: list[float] | None
    parameters: list[Measured]
    path_truth: list[list[float]]  # east, north, up (m), thinned
    path_estimate: list[list[float]] | None
    events: list[Event]
    html: str  # addresses of downloads
    recording: str


class Reply(Part):
    """The answer to a command with this id. error: a sentence."""

    type: Literal["reply"] = "reply"
    id: int
    ok: bool
    error: str = ""
    problems: list[ProblemInfo] = []
    diagram: dict[str, Any] | None = None
    text: str | None = None
    file: str | None = None  # name for a download of `text`
    address: str | None = None  # of a download
    report: Report | None = None


class Pose(Part):
    """A step of a calibration. attitude: how the sensor lies, q_nb. reading: mean of the accelerometer along the axis
    that points up or down, m/s2, once it is taken."""

    title: str
    attitude: list[float]
    done: bool
    reading: float | None = None


class Calibration(Part):
    """Where a guided calibration is. coverage: share from 0 to 1. covered, missing: directions of the field in the
    frame of the sensor (unit vectors) that have been seen, and that have not. taken_s, wanted_s: of this step. points:
    readings for the picture, thinned. before, after: of the calibrated readings."""

    type: Literal["calibration"] = "calibration"
    workflow: Literal["static", "six_positions", "magnetometer"] | None
    sensor: str | None
    state: Literal["none", "waiting", "taking", "ready", "done", "failed"]
    instruction: str
    steps: list[Pose] = []
    step: int = 0
    taken_s: float = 0.0
    wanted_s: float = 0.0
    coverage: float = 0.0
    covered: list[list[float]] = []
    missing: list[list[float]] = []
    points: list[list[float]] = []
    result: list[Measured] = []
    before: list[Measured] = []
    after: list[Measured] = []
    error: str = ""


class Layouts(Part):
    type: Literal["layouts"] = "layouts"
    layouts: dict[str, dict[str, Any]]


Message = Annotated[
    Hello
    | Session
    | Signals
    | Subscription
    | DiagramState
    | Values
    | Sensors
    | Faults
    | SceneState
    | Lights
    | Events
    | Takes
    | Clients
    | Notice
    | Calibration
    | Layouts
    | Reply,
    Field(discriminator="type"),
]


def text_of(message: Part) -> str:
    """The message as it is sent."""
    return message.model_dump_json(by_alias=True)

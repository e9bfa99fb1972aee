"""Messages on the session: loaded scenario, signals, diagram, sensors, faults, scene, events and takes."""

from typing import Any, Literal

from strapdown.studio.messages.hello import PortInfo
from strapdown.studio.messages.part import Part


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
    """A body of the scene.

    parent: its number in the list; the first body is the world.
    """

    name: str
    parent: int | None
    geoms: list[Geom]


class Signal(Part):
    """A signal for a chart.

    labels: labels of its numbers, "" for a single one.

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
    """A chart that the page shows first.

    signals: names, drawn on each other.
    """

    title: str
    signals: list[str]


class Signals(Part):
    """All signals. Signals of the diagram are called "diagram/PATH.OUTPUT". Frames with this epoch carry them.

    charts: first charts to show.
    """

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
    """The signal on a wire.

    sheet: path of the sub-diagram's use ("" for the main diagram, "estimation", "estimation/inner").
    source: text of the wire's `from`.
    signal: Signal.name.
    """

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
    """The present numbers of all signals, in the order of Signals; null: none yet. The message is sent only after the
    command watch.
    """

    type: Literal["values"] = "values"
    epoch: int
    t_s: float
    values: list[list[float | None]]


class Instrument(Part):
    """An instrument of a sensor and the settings of its errors.

    values: values of the error chain now, by the names of Hello.error_schema.
    original: values when the sensor was made.
    """

    name: str
    unit: str
    values: dict[str, Any]
    original: dict[str, Any]
    enabled: bool


class SensorState(Part):
    """A sensor of the session.

    kind: key of Hello.sensor_schemas.
    table: table as in the scenario file.
    body: its number in Session.bodies.
    """

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
    """The scene now. gravity_m_s2 points down.

    field_n: magnetic induction (uT), frame n.
    """

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
    """The loaded session: sent after hello, and again when something else is opened. `sensors`, `signals`, `diagram`,
    `faults`, `scene`, `lights`, `takes` and `events` follow as separate messages.
    """

    type: Literal["session"] = "session"
    mode: Literal["live", "replay", "device", "empty"]
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


class Fact(Part):
    """A line on a live module, in words."""

    name: str
    value: str
    state: Literal["ok", "warning", "error"]


class FactGroup(Part):
    title: str
    facts: list[Fact]


class Device(Part):
    """A live module and its line, sent after the session and whenever one of them has changed.

    connected: the port is there.
    notes: sentences.
    kept: file of its calibration, None: it has none.
    """

    type: Literal["device"] = "device"
    port: str
    connected: bool
    serial: str
    groups: list[FactGroup]
    notes: list[str]
    kept: str | None


class Light(Part):
    """A light of the status display.

    state: ok, degraded, failed or off.
    word: the fault ("rejected", "no reading").
    """

    name: str
    title: str
    state: Literal["ok", "degraded", "failed", "off"]
    word: str


class Lights(Part):
    type: Literal["lights"] = "lights"
    lights: list[Light]


class Event(Part):
    """An event on the timeline.

    lane: lane of the timeline.
    number: counts up over the session.
    text: a sentence.
    """

    number: int
    t_s: float
    kind: str
    lane: Literal["state", "event", "fault"]
    data: dict[str, Any]
    text: str


class Events(Part):
    """New events.

    whole: the list replaces that of the page (after a rewind).
    """

    type: Literal["events"] = "events"
    whole: bool
    events: list[Event]


class Take(Part):
    number: int
    from_s: float  # where it was left
    end_s: float
    title: str


class Takes(Part):
    """Earlier runs, oldest first.

    dropped: title of the one that was dropped just now, None if none was.
    """

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
    """For a toast.

    level: info, warning or error.
    """

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    text: str


EMPTY = Session(
    mode="empty",
    choice=None,
    title="",
    comment="",
    vehicle="",
    vehicle_title="",
    vehicle_kind="",
    seed=0,
    duration_s=0.0,
    script=False,
    start_s=0.0,
    bodies=[],
    body=0,
    links=[],
    actuators=[],
    controls=[],
    sliders=[],
    started=0,
)  # nothing is loaded

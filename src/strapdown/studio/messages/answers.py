"""Messages that answer a command: replies, reports, calibrations, layouts."""

from typing import Any, Literal

from pydantic import Field

from strapdown.studio.messages.part import Part
from strapdown.studio.messages.session import Event


class ProblemInfo(Part):
    """kind, block (path, "" for none) and place as in diagram.problem."""

    kind: str
    block: str
    place: str
    message: str


class Measured(Part):
    """A line of a table: name, value, unit.

    truth: truth of the virtual sensor.
    sheet: typical value of the data sheet.
    sheet_estimated: that value is not verified in a data sheet.
    """

    name: str
    value: float | None
    unit: str
    sigma: float | None = None
    truth: float | None = None
    sheet: float | None = None
    sheet_estimated: bool = False
    note: str = ""


class ErrorRow(Part):
    """Errors of an estimate over a run; of a vector its length.

    inside: share of the samples within 3 sigma.
    """

    name: str
    unit: str
    rms: float
    mean: float
    largest: float
    inside: float | None


class FilterRow(Part):
    """RMS errors of an orientation filter, deg. heading None: the readings have no field.

    flown: what the vehicle flew with; else the name of a filter of the catalogue.
    """

    name: str
    flown: bool
    roll: float
    pitch: float
    heading: float | None


class OtherFilters(Part):
    """Other orientation filters on the readings of the run, between from_s and to_s."""

    from_s: float
    to_s: float
    rows: list[FilterRow]


class Report(Part):
    """The summary of a run.

    errors: errors from counted_from_s on.
    samples: their number.
    parameters: value is found in readings at rest (between rest_s), truth is that of the virtual sensor.
    """

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
    others: OtherFilters | None
    path_truth: list[list[float]]  # east, north, up (m), thinned
    path_estimate: list[list[float]] | None
    events: list[Event]
    html: str  # addresses of downloads
    recording: str


class SerialPort(Part):
    """A serial port of the computer on which the studio runs.

    converter: converter of a known kind.
    """

    port: str
    description: str
    converter: str | None


class CampaignCell(Part):
    """A cell of a campaign and one of its figures. settings: in the order of `keys`. text: mean and its interval.
    quantiles: 0, 5, 25, 50, 75, 95 and 100 % of the runs."""

    row: int
    settings: list[str]
    runs: int
    failed: int
    text: str
    mean: float | None
    interval: list[float] | None
    quantiles: list[float]


class CampaignEffect(Part):
    """What the figure depends on. text: value with its interval."""

    factor: str
    measure: str
    value: float
    text: str
    total: str


class CampaignRun(Part):
    """A run that can be opened."""

    key: str
    settings: str
    value: str


class CampaignFailure(Part):
    cause: str
    runs: int
    key: str


class CampaignState(Part):
    """What a campaign has found so far. total: at most so many runs. flag: the figure is a share of runs. worst_by: the
    figure of the worst runs; of the flag "within" the one that is limited."""

    title: str
    base: str
    folder: str
    running: bool
    done: int
    total: int
    failed: int
    rate: float | None
    left_s: float | None
    figures: list[str]
    figure: str | None
    flag: bool
    keys: list[str]
    cells: list[CampaignCell]
    effects: list[CampaignEffect]
    note: str
    failures: list[CampaignFailure]
    worst: list[CampaignRun]
    worst_by: str | None
    openable: bool


class Reply(Part):
    """The answer to a command with this id.

    error: a sentence.
    """

    type: Literal["reply"] = "reply"
    id: int
    ok: bool
    error: str = ""
    problems: list[ProblemInfo] = Field(default_factory=list)
    diagram: dict[str, Any] | None = None
    text: str | None = None
    file: str | None = None  # name for a download of `text`
    address: str | None = None  # of a download
    report: Report | None = None
    ports: list[SerialPort] | None = None
    campaign: CampaignState | None = None


class Pose(Part):
    """A step of a calibration.

    attitude: attitude of the sensor, q_nb.
    reading: mean of the accelerometer along the axis that points up or down, m/s2, once it is taken.
    """

    title: str
    attitude: list[float]
    done: bool
    reading: float | None = None


class Calibration(Part):
    """State of a guided calibration.

    coverage: share from 0 to 1.
    enough: the share that is needed.
    covered, missing: directions of the field in the frame of the sensor (unit vectors) that were visited, and that were
        not.
    taken_s, wanted_s: seconds done and seconds in all of this step.
    points: readings for the picture, thinned.
    attitude: attitude of a real module, q_nb, as estimated.
    by_hand: the person turns a real module; the readings of a face are taken automatically.
    before, after: errors of the readings.
    """

    type: Literal["calibration"] = "calibration"
    workflow: Literal["static", "six_positions", "magnetometer"] | None
    sensor: str | None
    state: Literal["none", "waiting", "taking", "ready", "done", "failed"]
    instruction: str
    steps: list[Pose] = Field(default_factory=list)
    step: int = 0
    taken_s: float = 0.0
    wanted_s: float = 0.0
    coverage: float = 0.0
    enough: float = 1.0
    covered: list[list[float]] = Field(default_factory=list)
    missing: list[list[float]] = Field(default_factory=list)
    points: list[list[float]] = Field(default_factory=list)
    attitude: list[float] | None = None
    by_hand: bool = False
    result: list[Measured] = Field(default_factory=list)
    before: list[Measured] = Field(default_factory=list)
    after: list[Measured] = Field(default_factory=list)
    error: str = ""


class Layouts(Part):
    type: Literal["layouts"] = "layouts"
    layouts: dict[str, dict[str, Any]]

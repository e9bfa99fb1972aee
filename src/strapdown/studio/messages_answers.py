"""Messages that answer a command: replies, reports, calibrations, layouts."""

from typing import Any, Literal

from pydantic import Field

from strapdown.studio.message_part import Part
from strapdown.studio.messages_session import Event


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
    problems: list[ProblemInfo] = Field(default_factory=list)
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
    steps: list[Pose] = Field(default_factory=list)
    step: int = 0
    taken_s: float = 0.0
    wanted_s: float = 0.0
    coverage: float = 0.0
    covered: list[list[float]] = Field(default_factory=list)
    missing: list[list[float]] = Field(default_factory=list)
    points: list[list[float]] = Field(default_factory=list)
    result: list[Measured] = Field(default_factory=list)
    before: list[Measured] = Field(default_factory=list)
    after: list[Measured] = Field(default_factory=list)
    error: str = ""


class Layouts(Part):
    type: Literal["layouts"] = "layouts"
    layouts: dict[str, dict[str, Any]]

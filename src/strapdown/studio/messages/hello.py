"""The first message to a page: the choices, and the schemas of its forms."""

from typing import Any, Literal

from pydantic import Field

from strapdown.studio.messages.part import Part


class Choice(Part):
    """An entry of the chooser.

    kind: scenario, recording or robot.
    picture: address of an SVG, or None.
    """

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
    """A control of the console.

    kind: switch, choice or stick.
    choices: values of a choice.
    """

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
    campaign: bool  # the studio was opened with the folder of a campaign
    folder: bool  # files can be saved on the server by name
    history_s: float  # how far back samples are kept
    chart_hz: float  # rate of samples, per second of the simulation
    frame_hz: float

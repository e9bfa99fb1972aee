"""Messages from the server to a page: one JSON text per message, besides the binary frames (frame.py).

The TypeScript types are generated from these models (`python -m strapdown.studio.messages.typescript`).
"""

from typing import Annotated

from pydantic import Field

from strapdown.studio.messages.answers import (
    Calibration,
    CampaignCell,
    CampaignEffect,
    CampaignFailure,
    CampaignRun,
    CampaignState,
    ErrorRow,
    FilterRow,
    Layouts,
    Measured,
    OtherFilters,
    Pose,
    ProblemInfo,
    Reply,
    Report,
    SerialPort,
)
from strapdown.studio.messages.hello import (
    CatalogPart,
    Choice,
    Control,
    Display,
    Hello,
    Kind,
    PortInfo,
)
from strapdown.studio.messages.part import Part
from strapdown.studio.messages.session import (
    EMPTY,
    BlockState,
    Body,
    Chart,
    Client,
    Clients,
    Device,
    DiagramState,
    Edge,
    Event,
    Events,
    Fact,
    FactGroup,
    Faults,
    Geom,
    Instrument,
    Light,
    Lights,
    Notice,
    SceneState,
    Sensors,
    SensorState,
    Session,
    Signal,
    Signals,
    Slider,
    Subscription,
    Take,
    Takes,
    Values,
)

__all__ = [
    "EMPTY",
    "PROTOCOL",
    "BlockState",
    "Body",
    "Calibration",
    "CampaignCell",
    "CampaignEffect",
    "CampaignFailure",
    "CampaignRun",
    "CampaignState",
    "CatalogPart",
    "Chart",
    "Choice",
    "Client",
    "Clients",
    "Control",
    "Device",
    "DiagramState",
    "Display",
    "Edge",
    "ErrorRow",
    "Event",
    "Events",
    "Fact",
    "FactGroup",
    "Faults",
    "FilterRow",
    "Geom",
    "Hello",
    "Instrument",
    "Kind",
    "Layouts",
    "Light",
    "Lights",
    "Measured",
    "Message",
    "Notice",
    "OtherFilters",
    "Part",
    "PortInfo",
    "Pose",
    "ProblemInfo",
    "Reply",
    "Report",
    "SceneState",
    "SensorState",
    "Sensors",
    "SerialPort",
    "Session",
    "Signal",
    "Signals",
    "Slider",
    "Subscription",
    "Take",
    "Takes",
    "Values",
    "text_of",
    "type",
]

PROTOCOL = 1  # a page with another number reloads itself

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
    | Device
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

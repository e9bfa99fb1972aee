"""What the server reports to a page: one JSON text per message, besides the binary frames (frame.py).

The TypeScript types are generated from these models (`python -m strapdown.studio.typescript`).
"""

from typing import Annotated

from pydantic import Field

from strapdown.studio.message_part import Part
from strapdown.studio.messages_answers import (
    Calibration,
    ErrorRow,
    Layouts,
    Measured,
    Pose,
    ProblemInfo,
    Reply,
    Report,
)
from strapdown.studio.messages_hello import (
    CatalogPart,
    Choice,
    Control,
    Display,
    Hello,
    Kind,
    PortInfo,
)
from strapdown.studio.messages_session import (
    EMPTY,
    BlockState,
    Body,
    Chart,
    Client,
    Clients,
    DiagramState,
    Edge,
    Event,
    Events,
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
    "CatalogPart",
    "Chart",
    "Choice",
    "Client",
    "Clients",
    "Control",
    "DiagramState",
    "Display",
    "Edge",
    "ErrorRow",
    "Event",
    "Events",
    "Faults",
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
    "Part",
    "PortInfo",
    "Pose",
    "ProblemInfo",
    "Reply",
    "Report",
    "SceneState",
    "SensorState",
    "Sensors",
    "Session",
    "Signal",
    "Signals",
    "Slider",
    "Subscription",
    "Take",
    "Takes",
    "Values",
    "text_of",
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

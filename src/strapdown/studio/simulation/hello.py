"""The first message to a client: the choices, and the schemas of all forms."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from strapdown.environment.diagram.kinds import Kinds, palette
from strapdown.environment.session.console import MODES, STICKS, SWITCHES
from strapdown.sensors.parts.part import catalogue
from strapdown.studio import messages as m
from strapdown.studio.buffers import CHART_HZ, FRAME_HZ
from strapdown.studio.simulation.schemas import DISPLAY, error_schema, fault_schemas, scene_schema, sensor_schemas

if TYPE_CHECKING:
    from strapdown.studio.server.simulation_process import Settings


def hello_of(choices: list[m.Choice], kinds: Kinds, settings: "Settings") -> m.Hello:
    """The message for client 0; the server adds the number of the client and the layouts of the user."""
    return m.Hello(
        protocol=m.PROTOCOL,
        version=_version(),
        client=0,
        choices=choices,
        kinds=[m.Kind(**entry) for entry in palette(kinds)],
        parts=[
            m.CatalogPart(
                name=part.name,
                title=f"{part.name} ({int(100.0 * part.file.data_sheet_share() + 1e-9)} % from data sheet)",
                instruments=list(part.instruments),
            )
            for part in catalogue()
        ],
        controls=_controls(),
        sensor_schemas=sensor_schemas(),
        fault_schemas=fault_schemas(),
        error_schema=error_schema(),
        scene_schema=scene_schema(),
        display=DISPLAY,
        layouts={},
        campaign=settings.campaign is not None,
        folder=settings.folder is not None,
        history_s=settings.buffers.history_s,
        chart_hz=CHART_HZ,
        frame_hz=FRAME_HZ,
    )


def _controls() -> list[m.Control]:
    kinds: list[tuple[str, Any, tuple[str, ...]]] = [(name, "switch", ()) for name in SWITCHES]
    kinds += [("mode", "choice", MODES), *((name, "stick", ()) for name in STICKS)]
    return [m.Control(name=name, kind=kind, choices=list(choices)) for name, kind, choices in kinds]


def _version() -> str:
    try:
        return version("strapdown")
    except PackageNotFoundError:
        return "unknown"

"""Commands of the operator, a script or the page to a session. A command acts between two cycles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strapdown.environment.diagram.file import Diagram
from strapdown.environment.session.faults.kinds import AnyFault


@dataclass(frozen=True)
class SetConsole:
    """New positions of controls: names and values as in a pilot script."""

    changes: Mapping[str, Any]


@dataclass(frozen=True)
class SetParameters:
    """New parameters of a block, by its path in the diagram."""

    block: str
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class SetDiagram:
    """Another diagram. States of unchanged blocks are kept."""

    diagram: Diagram


@dataclass(frozen=True)
class SetErrors:
    """New parameters of the error chain of one instrument of a module, by the names of sensors.triad.Triad, in SI."""

    sensor: str
    instrument: str
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class DrawSpecimen:
    """Another specimen of the same part."""

    sensor: str
    seed: int


@dataclass(frozen=True)
class BeginFault:
    """A fault from now on. Its at_s and until_s are relative to now."""

    fault: AnyFault
    name: str


@dataclass(frozen=True)
class EndFault:
    name: str


@dataclass(frozen=True)
class Push:
    """A force (N) and torque (N m), frame n, on a link for a time (s)."""

    link: str
    force_n: tuple[float, float, float]
    torque_n: tuple[float, float, float] = (0.0, 0.0, 0.0)
    for_s: float = 0.1


@dataclass(frozen=True)
class SetScene:
    """New values of wind_m_s, turbulence_m_s, air_temperature_c, air_density_kg_m3 or magnetic_induction_ut."""

    changes: Mapping[str, Any] = field(default_factory=dict)


Command = SetConsole | SetParameters | SetDiagram | SetErrors | DrawSpecimen | BeginFault | EndFault | Push | SetScene

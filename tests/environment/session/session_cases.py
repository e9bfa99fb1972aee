"""Short sessions for tests: a quadcopter that takes off and flies forward."""

from typing import Any

from strapdown.environment.diagram.file import Diagram, diagram_from
from strapdown.environment.session.scenario.file import Scenario, read_scenario
from strapdown.environment.session.session import Session

SHORT_PILOT = (
    {"at_s": 0.1, "power": True, "mode": "hold"},
    {"at_s": 0.2, "calibrate": True},
    {"at_s": 2.2, "calibrate": False},
    {"at_s": 2.4, "arm": True, "throttle": 0.6},
    {"at_s": 4.0, "throttle": 0.0, "pitch": 0.6},
)


def short(duration_s: float = 6.0, name: str = "quadcopter", **changes: Any) -> Scenario:
    """A scenario of the package with a short pilot script."""
    whole = read_scenario(name)
    values = whole.model_dump(mode="json", exclude_unset=True, exclude={"folder"})
    values |= {"duration_s": duration_s, "pilot": list(SHORT_PILOT), **changes}
    return Scenario(**values, folder=whole.folder)


def flown(scenario: Scenario, **more: Any) -> Session:
    """The session at the end of its scenario."""
    session = Session(scenario, **more)
    session.run()
    return session


def logs(session: Session) -> dict[str, bytes]:
    """All that was recorded, as bytes."""
    found = {sensor.name: sensor.log.rows().tobytes() for sensor in session.sensors}
    t, signals, _ = session.signals.columns()
    found |= {name: values.tobytes() for name, values in signals.items()}
    return {**found, "t": t.tobytes(), "body": session.body.rows().tobytes()}


def on_truth(diagram: Diagram) -> Diagram:
    """The diagram with the true attitude in place of the estimate: what no real vehicle can do."""
    values = diagram.model_dump(by_alias=True, exclude_unset=True)
    for wire in values["wire"]:
        if wire["from"] == "estimation.attitude" and not wire["to"].startswith("estimate."):
            wire["from"] = "TRUTH.attitude"
        if wire["from"] == "estimation.rate":
            wire["from"] = "TRUTH.rate"
        if wire["from"] == "estimation.force":
            wire["from"] = "TRUTH.specific_force"
        if wire["from"] == "estimation.attitude":
            wire["from"] = "TRUTH.attitude"
    values["block"] = [*values["block"], {"name": "TRUTH", "kind": "truth"}]
    return diagram_from(values)


def resting(duration_s: float = 1.5, name: str = "quadcopter", **changes: Any) -> Scenario:
    """The vehicle stands on the ground and nobody operates it: its sensors read the same whatever the diagram does."""
    return short(duration_s, name, **{"pilot": [], **changes})

"""A user's robot (URDF or MJCF) as a scenario: a servo with a slider on each joint, and an IMU on the last link."""

from pathlib import Path
from typing import Any

from strapdown.environment.diagram.file import Diagram, diagram_from
from strapdown.environment.session.scenario import Scenario
from strapdown.environment.session.sensor_tables import ModuleTable

_MOST_SLIDERS = 60
_FAR = 3.141592653589793  # a joint without limits: half a turn to each side


def robot_scenario(path: Path) -> Scenario:
    """The robot on its own, with an IMU. Its joints are moved with sliders."""
    return Scenario(
        title=f"Robot {path.stem}",
        comment="Each joint has a servo. Move the sliders.",
        vehicle=path.name,
        duration_s=3600.0,
        sensor=(ModuleTable(name="imu", part="MPU-9250"),),
        folder=path.parent,
    )


def robot_diagram(scenario: Scenario) -> Diagram | None:
    """A diagram with a slider for each actuator; None: the vehicle has its own."""
    vehicle = scenario.read_vehicle()
    if vehicle.diagram is not None:
        return None
    actuators = vehicle.actuators[:_MOST_SLIDERS]
    blocks: list[dict[str, Any]] = [
        {"name": "console", "kind": "console", "at": [0.0, 0.0]},
        {"name": "joints", "kind": "joints", "at": [560.0, 260.0]},
    ]
    wires = [("console.power", "joints.arm")]
    several = len(actuators) > 1
    if several:
        blocks.append({"name": "join", "kind": "join", "parameters": {"size": len(actuators)}, "at": [360.0, 260.0]})
        wires.append(("join.out", "joints.command"))
    for i, actuator in enumerate(actuators):
        low, high = max(actuator.low, -_FAR), min(actuator.high, _FAR)
        start = min(max(0.0, low), high)
        name = actuator.name.replace(".", "_").replace("/", "_").replace('"', "_")
        parameters = {"name": name, "unit": actuator.unit, "low": low, "high": high, "start": start}
        blocks.append({"name": name, "kind": "slider", "parameters": parameters, "at": [120.0, 260.0 + 90.0 * i]})
        wires.append((f"{name}.out", f"join.in{i + 1}" if several else "joints.command"))
    taps = [("accelerometer", 0.0), ("gyroscope", 90.0), ("magnetometer", 180.0)]
    blocks += [{"name": n, "kind": n, "at": [200.0, y - 360.0]} for n, y in taps]
    blocks += [
        {"name": "mekf", "kind": "orientation_mekf", "at": [440.0, -300.0]},
        {"name": "estimate", "kind": "estimate", "at": [700.0, -300.0]},
    ]
    wires += [
        *((f"{n}.out", f"mekf.{n}") for n, _ in taps),
        ("gyroscope.new", "mekf.new"),
        ("magnetometer.new", "mekf.magnetometer_new"),
        *((f"mekf.{n}", f"estimate.{n}") for n in ("attitude", "tilt_sigma", "heading_sigma")),
    ]
    return diagram_from(
        {
            "version": 1,
            "title": f"Joints of {vehicle.name}",
            "block": blocks,
            "wire": [{"from": a, "to": b} for a, b in wires],
        }
    )

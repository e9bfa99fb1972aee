"""The diagram of a robot that has none: a slider for each actuator, and the attitude of its sensor."""

from collections.abc import Collection
from typing import Any

from strapdown.environment.diagram.file import Diagram, diagram_from
from strapdown.vehicles.vehicle import Vehicle

_MOST_SLIDERS = 60
_FAR = 3.141592653589793  # a joint without limits: half a turn to each side


def slider_diagram(vehicle: Vehicle, instruments: Collection[str]) -> Diagram:
    """A slider for each actuator.

    instruments: instruments of the sensor whose attitude is estimated; empty if there is none.
    """
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
    if {"accelerometer", "gyroscope"} <= set(instruments):
        _estimate(blocks, wires, "magnetometer" in instruments)
    return diagram_from(
        {
            "version": 1,
            "title": f"Joints of {vehicle.name}",
            "block": blocks,
            "wire": [{"from": a, "to": b} for a, b in wires],
        }
    )


def _estimate(blocks: list[dict[str, Any]], wires: list[tuple[str, str]], field: bool) -> None:
    """The attitude of the sensor, with the magnetometer if it has one."""
    taps = ["accelerometer", "gyroscope", *(["magnetometer"] if field else [])]
    blocks += [{"name": name, "kind": name, "at": [200.0, 90.0 * i - 360.0]} for i, name in enumerate(taps)]
    blocks += [
        {
            "name": "mekf",
            "kind": "orientation_mekf",
            "parameters": {"magnetometer": field},
            "at": [440.0, -300.0],
        },
        {"name": "estimate", "kind": "estimate", "at": [700.0, -300.0]},
    ]
    wires += [("console.power", f"{name}.enable") for name in taps]
    wires += [(f"{name}.out", f"mekf.{name}") for name in taps]
    wires += [("gyroscope.new", "mekf.new")]
    if field:
        wires += [("magnetometer.new", "mekf.magnetometer_new")]
    wires += [(f"mekf.{name}", f"estimate.{name}") for name in ("attitude", "tilt_sigma", "heading_sigma")]

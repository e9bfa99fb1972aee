"""Broken scenarios: for each what is changed in a good one, and what the sentence must name."""

import json
import tomllib
from typing import Any

from strapdown.vehicles.vehicle import read_vehicle

QUAD = read_vehicle("quadcopter")
DIAGRAM = QUAD.diagram.read_text(encoding="utf-8")

GOOD: dict[str, Any] = {
    "version": 1,
    "vehicle": "quadcopter",
    "duration_s": 0.1,
    "sensor": [{"name": "imu", "part": "MPU-6050", "magnetometer_part": "QMC5883L", "rate_hz": 500.0}],
    "altimeter": [{"name": "altimeter"}],
    "receiver": [{"name": "receiver", "measures": "velocity"}],
    "pilot": [{"at_s": 0.0, "power": True}, {"at_s": 0.05, "roll": 0.1}],
}


def fault(**values: Any) -> dict[str, Any]:
    return {"fault": [{"at_s": 0.0, **values}]}


def sensors(*more: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"sensor": [{**GOOD["sensor"][0], **values}, *more]}


# name: changes of GOOD (None removes a key), and words of the sentence
VALUES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no version": ({"version": None}, ("version is missing",)),
    "newer version": ({"version": 2}, ("version 2 is newer", "update strapdown")),
    "version of the wrong type": ({"version": "1"}, ("version is '1'",)),
    "unknown key": ({"vehicel": "x"}, ('"vehicel" is not known', "valid names")),
    "unknown key of a table": (sensors(ratehz=5.0), ('"sensor.1.ratehz" is not known',)),
    "misspelt key": ({"duration_s": None, "duraton_s": 1.0}, ("duraton_s", "did you mean duration_s?")),
    "missing key": ({"duration_s": None}, ('"duration_s" is missing',)),
    "wrong type": ({"duration_s": "long"}, ('"duration_s" is', "'long'")),
    "duration that is not positive": ({"duration_s": 0.0}, ('"duration_s"', "0")),
    "duration of years": ({"duration_s": 1e12}, ('"duration_s" is 1000000000000.0', "at most 86400")),
    "physics that never ends": ({"physics_hz": 1e9}, ('"physics_hz"', "at most 100000")),
    "negative seed": ({"seed": -1}, ('"seed" is -1',)),
    "two sensors of one name": (sensors({"name": "imu"}), ('two sensors called "imu"',)),
    "sensors of two kinds with one name": ({"altimeter": [{"name": "imu"}]}, ('two sensors called "imu"',)),
    "link that does not exist": (sensors(link="wing"), ('sensor "imu"', 'link "wing"', "valid names")),
    "rate that does not divide": (
        sensors(rate_hz=300.0),
        ('sensor "imu"', "300", "does not divide", "choose 500 or 250"),
    ),
    "rate above the physics": (sensors(rate_hz=2000.0), ('sensor "imu"', "2000")),
    "unknown part": (sensors(part="MPU-6051"), ('sensor "imu"', "MPU-6051")),
    "unknown vehicle": ({"vehicle": "quadcoper"}, ("quadcoper",)),
    "vehicle file that is missing": ({"vehicle": "mine.toml"}, ("mine.toml",)),
    "odometer without wheels": ({"odometer": [{"name": "odometer"}]}, ("has no wheels", "odometer")),
    "no sensor for a tap": ({"altimeter": []}, ("altimeter", "add one")),
    "receiver that measures nothing": ({"receiver": [{"name": "receiver"}]}, ('"receiver.1.measures" is missing',)),
    "pilot times out of order": (
        {"pilot": [{"at_s": 2.0, "power": True}, {"at_s": 1.0, "arm": True}]},
        ("pilot line 2 is at 1 s, before line 1 at 2 s",),
    ),
    "unknown control": ({"pilot": [{"at_s": 0.0, "flaps": 1.0}]}, ('"pilot.1.flaps" is not known',)),
    "stick beyond 1": ({"pilot": [{"at_s": 0.0, "roll": 1.5}]}, ('"pilot.1"', "roll is 1.5")),
    "unknown mode": ({"pilot": [{"at_s": 0.0, "mode": "acro"}]}, ('"pilot.1"', "mode is 'acro'")),
    "pilot line that changes nothing": ({"pilot": [{"at_s": 0.0}]}, ('"pilot.1"', "changes nothing")),
    "slider that does not exist": (
        {"pilot": [{"at_s": 0.0, "sliders": {"elbow": 0.5}}]},
        ("pilot line 1", 'slider "elbow" is not in the diagram'),
    ),
    "pilot and recording": ({"pilot_recording": "flight"}, ("both a pilot script and a pilot_recording",)),
    "pilot recording that is missing": ({"pilot": None, "pilot_recording": "flight"}, ("flight",)),
    "fault of an unknown kind": (
        fault(kind="ded", sensor="imu"),
        ('"fault.1.kind" is "ded"; valid kinds: dead, stuck',),
    ),
    "fault of an unknown sensor": (fault(kind="dead", sensor="imuu"), ('fault "dead" of sensor "imuu"', "valid names")),
    "fault of an unknown instrument": (
        fault(kind="dead", sensor="imu", instrument="altimeter"),
        ('sensor "imu" has no altimeter',),
    ),
    "fault of a word that is no instrument": (
        fault(kind="dead", sensor="imu", instrument="gyro"),
        ("fault.1.instrument", "'gyro'"),
    ),
    "fault of an unknown motor": (
        fault(kind="weak_motor", motor="fifth", efficiency=0.5),
        ('motor "fifth" does not exist', "front"),
    ),
    "unknown key of a fault": (
        fault(kind="weak_motor", motor="front", efficiency=0.5, share=0.5),
        ('"fault.1.share" is not known', "valid names: kind, name, at_s, until_s, motor, efficiency"),
    ),
    "efficiency beyond 1": (fault(kind="weak_motor", motor="front", efficiency=1.5), ("fault.1.efficiency", "1.5")),
    "bias with two numbers": (fault(kind="biased", sensor="imu", offset=[1.0, 2.0]), ("offset has 2 numbers",)),
    "outage of a module": (fault(kind="outage", sensor="imu"), ('sensor "imu" gives no fixes',)),
    "fault that ends before it begins": (
        fault(kind="dead", sensor="imu", until_s=-1.0),
        ("fault.1.until_s", "-1"),
    ),
    "fault of no length": (
        {"fault": [{"kind": "dead", "sensor": "imu", "at_s": 2.0, "until_s": 2.0}]},
        ("not after at_s",),
    ),
    "two faults of one name": (
        {"fault": [{"kind": "dead", "sensor": "imu", "name": "x"}, {"kind": "stuck", "sensor": "imu", "name": "x"}]},
        ('two faults called "x"',),
    ),
    "unknown verdict": ({"expect": {"verdict": "fine"}}, ("expect.verdict", "'fine'")),
    "imbalance without rotors": (
        {"vehicle": "rover", "vibration": {"imbalance_kg_m": 1e-5}, "odometer": [{"name": "odometer"}]},
        ('vehicle "rover" has no rotors',),
    ),
    "scene that is not known": ({"scene": {"gravity": "venus"}}, ("scene.gravity", "'venus'")),
    "scene file that is missing": ({"scene": {"file": "scene.txt"}}, ("scene.txt",)),
    "base that does not exist": ({"base": "quad"}, ("quad",)),
    "base that has a base": ({"base": "quadcopter_paper_b"}, ("quadcopter_paper_b", "has a base itself")),
    "base of the wrong type": ({"base": 3}, ("base is 3",)),
    "diagram that is missing": ({"diagram": "mine.toml"}, ("mine.toml",)),
}


def diagram_values() -> dict[str, Any]:
    return tomllib.loads(DIAGRAM)


def without_motors(values: dict[str, Any]) -> None:
    values["block"] = [b for b in values["block"] if b["name"] != "motors"]
    values["wire"] = [w for w in values["wire"] if not w["to"].startswith("motors.")]


def two_motors(values: dict[str, Any]) -> None:
    values["block"].append({"name": "more motors", "kind": "motors"})
    values["wire"] += [
        {"from": "mixer.command", "to": "more motors.command"},
        {"from": "console.arm", "to": "more motors.arm"},
    ]


def tap_of_nothing(values: dict[str, Any]) -> None:
    next(b for b in values["block"] if b["name"] == "altimeter")["parameters"] = {"sensor": "laser"}


def tap_of_another_kind(values: dict[str, Any]) -> None:
    next(b for b in values["block"] if b["name"] == "altimeter")["parameters"] = {"sensor": "imu"}


def unconnected(values: dict[str, Any]) -> None:
    values["wire"] = [w for w in values["wire"] if w["to"] != "mixer.thrust"]


def unknown_kind(values: dict[str, Any]) -> None:
    values["block"].append({"name": "mine", "kind": "my_block"})


def fast(values: dict[str, Any]) -> None:
    values["control_hz"] = 300.0


def newer(values: dict[str, Any]) -> None:
    values["version"] = 99


# name: change of the quadcopter's diagram, and words of the sentence
DIAGRAMS = {
    "no block that drives": (without_motors, ("exactly one block that drives the vehicle", "none")),
    "two blocks that drive": (two_motors, ("exactly one block that drives the vehicle", '"motors", "more motors"')),
    "tap of a sensor that does not exist": (
        tap_of_nothing,
        ('block "altimeter"', 'sensor "laser" is not in the scenario'),
    ),
    "tap of a sensor of another kind": (tap_of_another_kind, ('sensor "imu" has no altimeter',)),
    "unconnected input": (unconnected, ('block "mixer"', '"thrust"')),
    "unknown kind": (unknown_kind, ('block "mine"', "my_block")),
    "control rate that does not divide": (fast, ("300",)),
    "newer version": (newer, ("version 99 is newer",)),
}


def toml_text(values: dict[str, Any]) -> str:
    """Plain values as TOML, one line for each key."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items() if value is not None)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_toml(item)}' for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else repr(value)

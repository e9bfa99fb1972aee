"""Schemas for the forms of the page: sensors, faults, error chains, scene. Each number has a title and a unit."""

from typing import Any, get_args

from strapdown.environment.session.faults.kinds import AnyFault
from strapdown.environment.session.scenario.scene import SceneTable
from strapdown.environment.session.scenario.sensor_tables import (
    AltimeterTable,
    EncoderTable,
    ModuleTable,
    ReceiverTable,
    TiltTable,
)
from strapdown.studio.messages import Display

TABLES: dict[str, Any] = {
    "sensor": ModuleTable,
    "inclinometer": TiltTable,
    "altimeter": AltimeterTable,
    "receiver": ReceiverTable,
    "odometer": EncoderTable,
}
FAULTS: dict[str, Any] = {cls.model_fields["kind"].default: cls for cls in get_args(get_args(AnyFault)[0])}
LIVE_SCENE = ("wind_m_s", "turbulence_m_s", "air_temperature_c", "air_density_kg_m3", "magnetic_induction_ut")
# longest first: the end of a field's name is its unit
_SUFFIXES = {
    "_deg_rthz": "deg/√Hz",
    "_kg_m3": "kg/m3",
    "_deg_c": "deg/°C",
    "_m_s2": "m/s2",
    "_am2": "A m2",
    "_m_s": "m/s",
    "_rad_s": "rad/s",
    "_deg": "deg",
    "_rtm": "√m",
    "_hz": "Hz",
    "_ut": "uT",
    "_pa": "Pa",
    "_c": "°C",
    "_m": "m",
    "_s": "s",
    "_n": "N",
}
# how SI units are shown
DISPLAY = {
    "rad": Display(unit="°", factor=180.0 / 3.141592653589793),
    "rad/s": Display(unit="°/s", factor=180.0 / 3.141592653589793),
    "deg": Display(unit="°", factor=1.0),
    "m/s2": Display(unit="m/s²", factor=1.0),
    "uT": Display(unit="µT", factor=1.0),
    "1": Display(unit="", factor=1.0),
    "flag": Display(unit="", factor=1.0),
    "quaternion": Display(unit="", factor=1.0),
    "Pa": Display(unit="kPa", factor=1e-3),
    "N m": Display(unit="N m", factor=1.0),
    "kg/m3": Display(unit="kg/m³", factor=1.0),
    "A m2": Display(unit="A m²", factor=1.0),
}
# the error chain of an instrument: title, unit ("unit": that of the instrument), shape, description, group
_ERRORS: dict[str, tuple[str, str, str, str, str]] = {
    "bias": ("Bias", "unit", "vector", "Constant offset.", "Bias"),
    "turn_on": (
        "Turn-on bias",
        "unit",
        "vector",
        "Standard deviation of a constant drawn anew at every start.",
        "Bias",
    ),
    "white": (
        "White noise",
        "unit/√Hz",
        "vector",
        "N, two-sided: the integral after t has the sigma N √t.",
        "Noise",
    ),
    "instability": ("Bias instability", "unit", "vector", "B: the Allan deviation is flat at 0.664 B.", "Noise"),
    "walk": ("Random walk", "unit/√s", "vector", "K: the drift after t has the sigma K √t.", "Noise"),
    "quantisation": ("Quantisation noise", "unit s", "vector", "Q, of the integral.", "Noise"),
    "matrix": ("Scale and misalignment", "1", "matrix", "Reading = matrix times truth.", "Scale"),
    "nonlinearity": ("Nonlinearity", "of full scale", "vector", "Largest distance from the line.", "Scale"),
    "g_sensitivity": ("g-sensitivity", "unit/(m/s2)", "matrix", "Of a gyroscope: per specific force.", "Scale"),
    "full_scale": ("Range", "unit", "optional", "Readings are clipped there.", "Range"),
    "resolution": ("Resolution", "unit", "number", "Of one count.", "Range"),
    "bandwidth_hz": ("Bandwidth", "Hz", "optional", "Low-pass of the part.", "Dynamics"),
    "filter_order": ("Order of the low-pass", "1", "integer", "1, or 2 for Butterworth.", "Dynamics"),
    "latency_s": ("Latency", "s", "number", "Delay of the readings.", "Dynamics"),
    "jitter_s": ("Jitter", "s", "number", "Standard deviation of the time stamps.", "Dynamics"),
    "loss": ("Loss", "1", "number", "Probability that a sample is missing.", "Dynamics"),
    "reference_c": ("Reference temperature", "°C", "number", "Where the temperature terms are 0.", "Temperature"),
    "temperature_bias": ("Bias over temperature", "unit/°C", "powers", "For each power of T.", "Temperature"),
    "temperature_scale": ("Scale over temperature", "1/°C", "powers", "For each power of T.", "Temperature"),
}
ERROR_FIELDS = tuple(_ERRORS)
_NOT_NEGATIVE = (
    "white",
    "instability",
    "walk",
    "quantisation",
    "turn_on",
    "resolution",
    "latency_s",
    "jitter_s",
    "loss",
)


def sensor_schemas() -> dict[str, dict[str, Any]]:
    """Schemas of sensors by kind of table. Keys for recorded motion are omitted."""
    found = {}
    for kind, table in TABLES.items():
        schema = with_units(table.model_json_schema())
        hidden = ("method", "increments", "proof_mass_kg", "joint_frequency_hz", "damping_ratio", "model")
        for name in (*hidden, "allowed_error_m_s2", "allowed_error_rad_s"):
            schema["properties"].pop(name, None)
        found[kind] = schema
    return found


def fault_schemas() -> dict[str, dict[str, Any]]:
    """Schemas of faults by kind of fault. Times are set by the buttons."""
    found = {}
    for kind, table in FAULTS.items():
        schema = with_units(table.model_json_schema())
        for name in ("at_s", "until_s", "name"):
            schema["properties"].pop(name, None)
        found[kind] = schema
    return found


def scene_schema() -> dict[str, Any]:
    """Schema of values that can change while the session runs."""
    schema = with_units(SceneTable.model_json_schema())
    schema["properties"] = {name: schema["properties"][name] for name in LIVE_SCENE}
    return schema


def error_schema() -> dict[str, Any]:
    properties = {}
    for name, (title, unit, shape, description, group) in _ERRORS.items():
        number: dict[str, Any] = {"type": "number"}
        if name in _NOT_NEGATIVE:
            number["minimum"] = 0.0
        if name == "loss":
            number["exclusiveMaximum"] = 1.0
        vector = {"type": "array", "items": number, "minItems": 3, "maxItems": 3}
        value = {
            "number": number,
            "optional": {"anyOf": [{"type": "number", "exclusiveMinimum": 0.0}, {"type": "null"}]},
            "integer": {"type": "integer", "enum": [1, 2]},
            "vector": vector,
            "matrix": {"type": "array", "items": vector, "minItems": 3, "maxItems": 3},
            "powers": {"type": "array", "items": vector},
        }[shape]
        properties[name] = {**value, "title": title, "unit": unit, "description": description, "group": group}
    return {"type": "object", "properties": properties}


def with_units(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a `unit` and a plain title for every field whose name ends in one."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, field in part.get("properties", {}).items():
            suffix = next((s for s in _SUFFIXES if name.endswith(s)), "")
            if suffix and "unit" not in field:
                field["unit"] = _SUFFIXES[suffix]
            plain = name[: len(name) - len(suffix)].replace("_", " ")
            field["title"] = plain[:1].upper() + plain[1:]
    return schema

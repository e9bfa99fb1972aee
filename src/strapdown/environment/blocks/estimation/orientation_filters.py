"""Every orientation filter of the package as a block, with parameters made from the filter's own settings.

All kinds have the same ports, so that one can replace another.
"""

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
from pydantic import create_model, model_validator

from strapdown.arrays import Array
from strapdown.environment.blocks.estimation.filter_settings import SETTINGS, SHARED, SWITCHES
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value
from strapdown.errors import InputError
from strapdown.kernels.orientation.state import BIAS, SIGMA, Q
from strapdown.live import Start
from strapdown.orientation.catalogue import FILTERS
from strapdown.rotation import IDENTITY

_ATTITUDE = Port(QUATERNION, "nb", (4,))
# settings that the inputs bias_sigma and tilt_sigma replace, by the filter that has them
_BIAS_SIGMA = {"mekf": "bias_start_dps", "vqf": "bias_sigma_start_dps", "lodestar": "bias_sigma_start_dps"}
_TILT_SIGMA = {"mekf": "attitude_start_deg"}
_NO_BIAS = np.zeros(3)


def optional(unit: str, frame: str | None, shape: tuple[int, ...], default: float = 0.0) -> Port:
    """An input that may stay without a wire."""
    return Port(unit, frame, shape, default=default)


FILTER_INPUTS = {
    "gyroscope": Port("rad/s", "b", (3,)),
    "accelerometer": Port("m/s2", "b", (3,)),
    "new": optional(FLAG, None, (), 1.0),
    "magnetometer": optional("uT", "b", (3,)),
    "magnetometer_new": optional(FLAG, None, ()),
    "hold": optional(FLAG, None, ()),
    "start": optional(QUATERNION, "nb", (4,)),
    "bias_sigma": optional("rad/s", None, ()),
    "tilt_sigma": optional("rad", None, ()),
}
FILTER_OUTPUTS = {
    "attitude": _ATTITUDE,
    "tilt_sigma": Port("rad", None, ()),
    "heading_sigma": Port("rad", None, ()),
    "gyroscope_bias": Port("rad/s", "b", (3,)),
}


# numbers of the filter's state, None before it has started; time since its last sample (s); standard deviations of
# bias (rad/s) and attitude (rad) that it was started with
Filtering = tuple[Array | None, float, tuple[float, float]]
_IDLE: Filtering = (None, 0.0, (0.0, 0.0))
_NO_FIELD = np.empty(0)


def known_attitude(q: Array) -> Array | None:
    """A given attitude: four zeros mean that there is none."""
    size = math.hypot(*q.tolist())
    return q / size if size > 0.5 else None


class FilterBlock:
    """Base of the kinds. Ticks without a new gyroscope reading are skipped; their time is added to the next one."""

    rate_hz: float | None = None
    name: str

    def __init__(self, p: Any) -> None:
        self.filter = filter_of(self.name, p)
        self.inputs, self.outputs = dict(FILTER_INPUTS), dict(FILTER_OUTPUTS)
        self._kernels: dict[tuple[float, float], tuple[Any, Array]] = {}
        self._has_bias, self._has_sigma = self.filter.reports_bias, self.filter.reports_sigma

    def start(self) -> Filtering:
        return _IDLE

    def step(
        self,
        state: Filtering,
        gyroscope: Array,
        accelerometer: Array,
        new: float,
        magnetometer: Array,
        magnetometer_new: float,
        hold: float,
        start: Array,
        bias_sigma: float,
        tilt_sigma: float,
        dt: float,
    ) -> tuple[Filtering, tuple[Value, ...]]:
        if hold > ON:
            given = known_attitude(start)
            return _IDLE, (IDENTITY if given is None else given, 0.0, 0.0, _NO_BIAS)
        numbers, waited_s, sigmas = state
        if not new > ON:
            if numbers is None:
                return _IDLE, (IDENTITY, 0.0, 0.0, _NO_BIAS)
            return (numbers, waited_s + dt, sigmas), self._outputs(numbers)
        if numbers is None:
            sigmas, since = (bias_sigma, tilt_sigma), 0.0
            numbers = self.filter.start(Start(step_s=dt, q_ns=known_attitude(start))).numbers
        else:
            since = waited_s + dt
        after = advanced(
            self._kernels.get(sigmas) or self._kernel(sigmas),
            numbers,
            *(gyroscope, accelerometer, magnetometer if magnetometer_new > ON else _NO_FIELD, since),
        )
        return (after, 0.0, sigmas), self._outputs(after)

    def _outputs(self, numbers: Array) -> tuple[Value, ...]:
        bias = numbers[BIAS : BIAS + 3] if self._has_bias else _NO_BIAS
        if not self._has_sigma:
            return numbers[Q : Q + 4], 0.0, 0.0, bias
        east, north, up = numbers[SIGMA : SIGMA + 3].tolist()
        return numbers[Q : Q + 4], east if east > north else north, up, bias

    def _kernel(self, sigmas: tuple[float, float]) -> tuple[Any, Array]:
        """The kernel and the settings with the standard deviations given at the start; 0: those of the settings."""
        changes = {
            names[self.name]: math.degrees(sigma)
            for names, sigma in zip((_BIAS_SIGMA, _TILT_SIGMA), sigmas, strict=True)
            if self.name in names and sigma > 0.0
        }
        found = self._kernels[sigmas] = replace(self.filter, **changes).live_kernel
        return found


def advanced(
    live: tuple[Any, Array], numbers: Array, gyroscope: Array, accelerometer: Array, field: Array, dt: float
) -> Array:
    """The numbers of a filter's state after a sample, by its kernel.

    field: magnetic field; empty without a new reading.
    """
    kernel, settings = live
    after = numbers.copy()
    try:
        kernel(after, settings, gyroscope, accelerometer, field, dt)
    except TypeError:  # integers, or strided views
        readings = (np.array(reading, dtype=np.float64) for reading in (gyroscope, accelerometer, field))
        kernel(after, settings, *readings, dt)
    return after


def filter_of(name: str, p: BlockParameters) -> Any:
    """The filter with these parameters; ValueError if they do not fit each other."""
    try:
        return FILTERS[name].cls(**p.model_dump())
    except InputError as error:
        raise ValueError(str(error)) from None


def parameters_of(name: str, without: tuple[str, ...] = ()) -> type[BlockParameters]:
    """The settings of a filter as parameters of its block."""
    made: dict[str, Any] = {}
    for each in fields(FILTERS[name].cls):
        if not each.init or each.name in without:
            continue
        if each.name in SWITCHES:
            title, description = SWITCHES[each.name]
            made[each.name] = (bool, parameter(each.default is not False, title=title, description=description))
            continue
        title, unit, low, high, description = {**SHARED, **SETTINGS[name]}[each.name]
        field = parameter(each.default, title=title, description=description, unit=unit, limits=(low, high))
        made[each.name] = (float, field)

    def fits(self: BlockParameters) -> BlockParameters:
        filter_of(name, self)
        return self

    checks: dict[str, Any] = {"fits": model_validator(mode="after")(fits)} if not without else {}
    return create_model("Parameters", __base__=BlockParameters, __validators__=checks, **made)


def _kind(name: str, description: str) -> type[FilterBlock]:
    kind = f"orientation_{name.replace('-', '_')}"
    body = {
        "name": name,
        "Parameters": parameters_of(name),
        "__module__": __name__,
        "__doc__": f"Orientation filter {name}: {description}.",
    }
    return block(kind, category="estimation")(type(f"{FILTERS[name].class_name}Block", (FilterBlock,), body))


GyroBlock = _kind("gyro", FILTERS["gyro"].what)
PaperBBlock = _kind("paper-b", FILTERS["paper-b"].what)
ComplementaryBlock = _kind("complementary", FILTERS["complementary"].what)
MahonyBlock = _kind("mahony", FILTERS["mahony"].what)
MadgwickBlock = _kind("madgwick", FILTERS["madgwick"].what)
MekfBlock = _kind("mekf", FILTERS["mekf"].what)
VqfBlock = _kind("vqf", FILTERS["vqf"].what)
LodestarBlock = _kind("lodestar", "VQF's inclination, a Kalman filter of the heading")

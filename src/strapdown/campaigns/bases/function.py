"""A function of the user as the base of a campaign."""

import math
import numbers
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from strapdown.campaigns.definition.draws import Draw
from strapdown.campaigns.definition.file import UntilTable
from strapdown.campaigns.definition.space import Space
from strapdown.campaigns.plan import KEYS, Plan, hashed
from strapdown.errors import InputError, StrapdownError


class FunctionBase:
    """pickled: the function, by value."""

    figures: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()

    def __init__(self, pickled: bytes) -> None:
        import cloudpickle

        self._trial = cloudpickle.loads(pickled)

    def check(self, settings: Mapping[str, Any]) -> None:
        pass

    def run(self, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
        try:
            found = self._trial(**settings, seed=seed)
        except StrapdownError:
            raise
        except (Exception, SystemExit) as error:  # of the user's code
            raise InputError(f"{type(error).__name__}: {error}") from error
        found = _number(found)
        if isinstance(found, numbers.Real):
            found = {"value": found}
        if not isinstance(found, Mapping) or not found:
            raise InputError(f"the trial returned a {type(found).__name__}; return a number, or a dict of figures")
        return {str(name): _plain(str(name), value, settings) for name, value in found.items()}

    def files(self, settings: Mapping[str, Any]) -> Iterable[Path]:
        return ()


def _number(value: Any) -> Any:
    """A number of numpy, or an array that has only one, as a number of Python."""
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value


def _plain(name: str, value: Any, settings: Mapping[str, Any]) -> Any:
    if name in KEYS or name == "seconds" or name in settings:
        raise InputError(f'the trial returned a figure called "{name}", which the table has already; rename it')
    value = _number(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, numbers.Real):
        return float(value) if not math.isnan(float(value)) else None
    raise InputError(f'figure "{name}" is a {type(value).__name__}; return numbers, flags or words')


def function_plan(values: Mapping[str, Any]) -> Plan:
    """From the plain values of space.json in an archive."""
    space = Space(
        {key: tuple(items) for key, items in values["grid"].items()},
        {key: Draw(kind, tuple(items)) for key, (kind, items) in values["draws"].items()},
    )
    until = None if values["until"] is None else UntilTable(**values["until"])
    identity = {"name": values["name"], "code": values["code"], "grid": sorted(space.grid), "draws": values["draws"]}
    return Plan(
        "function",
        values["name"],
        {},
        space,
        values["first"],
        values["runs"],
        until,
        (),
        hashed(identity | {"first": values["first"]}),
    )

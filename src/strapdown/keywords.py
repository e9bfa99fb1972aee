"""Functions that pass further keywords on to a class show them by name in help() and completion."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def keywords_of(source: type) -> Callable[[F], F]:
    """Decorator of a function with **settings: its signature names the fields of the class `source` instead.

    Shown are fields with a default; the function itself sets the others. Of a named tuple all fields are shown.
    """

    def decorate(function: F) -> F:
        _show(function, _fields_of(source))
        return function

    return decorate


def shows_keywords(*methods: str, without: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Decorator of a dataclass: the same for these class methods, whose further keywords are its own fields.

    without: fields that the methods set."""

    def decorate(cls: C) -> C:
        for name in methods:
            shown = [p for p in _fields_of(cls) if p.name not in without]
            _show(inspect.getattr_static(cls, name).__func__, shown)
        return cls

    return decorate


def _show(function: Any, more: Iterable[inspect.Parameter]) -> None:
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    assert len(own) < len(signature.parameters), f"{function.__qualname__} takes no further keywords"
    names = {p.name for p in own}
    shown = [p for p in more if p.name not in names]
    function.__signature__ = signature.replace(parameters=[*own, *shown])


def _fields_of(source: type) -> list[inspect.Parameter]:
    if not is_dataclass(source):
        hints = source.__annotations__
        return [_parameter(name, hints.get(name, Any), None) for name in source._fields]  # type: ignore[attr-defined]
    return [
        _parameter(each.name, each.type, default)
        for each in fields(source)
        if each.init and (default := _default_of(each)) is not MISSING
    ]


def _default_of(each: "Field[Any]") -> Any:
    return each.default_factory() if each.default_factory is not MISSING else each.default


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

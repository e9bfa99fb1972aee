"""Whether a function is the same as before: its code, and all values that it carries along.

A campaign with a folder goes on with what is there. A function that another value was bound to gives other results, so
it is another campaign.
"""

import functools
import hashlib
import inspect
import pickle
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np


def identity_of(trial: Any) -> str:
    """Hash of code, defaults, bound arguments, closures and the global values that the code names. Comments do not
    count. Of functions in other modules only the name does: they are imported by the workers."""
    found = hashlib.sha256()
    home = getattr(inspect.unwrap(trial) if callable(trial) else trial, "__module__", None)
    for piece in _pieces(trial, home, {}):
        found.update(piece.encode() if isinstance(piece, str) else piece)
        found.update(b"\0")
    return found.hexdigest()


def _pieces(value: Any, home: str | None, seen: dict[int, Any]) -> Iterator[str | bytes]:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield f"{type(value).__name__} {value!r}"
        return
    if id(value) in seen:
        yield "again"
        return
    if not isinstance(value, tuple):  # equal tuples of a program may or may not be one object
        seen[id(value)] = value
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"array {value.dtype} {value.shape}"
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _pieces(key, home, seen)
            yield from _pieces(item, home, seen)
    elif isinstance(value, set | frozenset):  # their order differs from process to process
        yield from sorted(repr(item) for item in value)
    elif isinstance(value, list | tuple):
        yield f"{type(value).__name__} {len(value)}"
        for item in value:
            yield from _pieces(item, home, seen)
    elif isinstance(value, ModuleType | BuiltinFunctionType):
        yield value.__name__
    else:
        yield from _of_object(value, home, seen)


def _of_object(value: Any, home: str | None, seen: dict[int, Any]) -> Iterator[str | bytes]:
    inner = getattr(value, "__wrapped__", None) or getattr(value, "py_func", None)  # cached, decorated, compiled
    if isinstance(value, functools.partial):
        for item in (value.func, value.args, value.keywords):
            yield from _pieces(item, home, seen)
    elif isinstance(value, MethodType):
        yield from _pieces(value.__func__, home, seen)
        yield from _pieces(value.__self__, home, seen)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, home, seen)
    elif isinstance(inner, FunctionType):
        yield from _of_function(inner, home, seen)
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__}"
        if value.__module__ in (home, "__main__"):
            yield from _members(vars(value), home, seen)
    elif type(value).__module__ in (home, "__main__") and hasattr(value, "__dict__"):
        yield from _pieces(type(value), home, seen)
        yield from _pieces(vars(value), home, seen)
    else:
        yield type(value).__qualname__
        try:
            yield pickle.dumps(value, protocol=4)
        except Exception:  # pickling raises nearly everything; its type must do
            return


def _members(members: Mapping[str, Any], home: str | None, seen: dict[int, Any]) -> Iterator[str | bytes]:
    for name, item in members.items():
        item = item.__func__ if isinstance(item, staticmethod | classmethod) else item
        if isinstance(item, FunctionType) or not name.startswith("__"):
            yield name
            yield from _pieces(item, home, seen)


def _of_function(function: FunctionType, home: str | None, seen: dict[int, Any]) -> Iterator[str | bytes]:
    if function.__module__ not in (home, "__main__"):
        yield f"{function.__module__}.{function.__qualname__}"
        return
    yield from _of_code(function.__code__)
    for item in (function.__defaults__, function.__kwdefaults__):
        yield from _pieces(item, home, seen)
    for cell in function.__closure__ or ():
        try:
            yield from _pieces(cell.cell_contents, home, seen)
        except ValueError:  # not bound yet
            yield "empty"
    for name in sorted(_names(function.__code__) & set(function.__globals__)):
        yield name
        yield from _pieces(function.__globals__[name], home, seen)


def _of_code(code: CodeType) -> Iterator[str | bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames))
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _of_code(item)
        else:
            yield repr(sorted(item, key=repr)) if isinstance(item, frozenset) else repr(item)


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for item in code.co_consts:
        if isinstance(item, CodeType):
            found |= _names(item)
    return found

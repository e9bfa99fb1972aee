"""Kinds of blocks by name: those of the package, and a user's own from a file that is named explicitly."""

import inspect
import re
import sys
import traceback
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from strapdown.environment.diagram.block import Block, BlockParameters
from strapdown.environment.diagram.port import Port
from strapdown.errors import InputError

_KIND_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_NUMBER_LIMITS = ({"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"})


@dataclass(frozen=True)
class Kind:
    """A kind of block: its name in diagram files, its place and text in the palette, its class."""

    name: str
    category: str
    description: str
    cls: type

    @property
    def parameters(self) -> type[BlockParameters]:
        return getattr(self.cls, "Parameters", BlockParameters)

    def make(self, values: Mapping[str, Any]) -> Block[Any]:
        """A block with these parameters; pydantic's ValidationError or ValueError if they do not fit."""
        return self.cls(self.parameters(**values))

    def schema(self) -> dict[str, Any]:
        """JSON schema of the parameters, from which a form is made: title, unit, limits, description, default."""
        return self.parameters.model_json_schema()


Kinds = Mapping[str, Kind]


def kinds_of(modules: Iterable[ModuleType]) -> dict[str, Kind]:
    """All kinds that the modules define."""
    found: dict[str, Kind] = {}
    for module in modules:
        for cls in vars(module).values():
            if isinstance(cls, type) and "block_kind" in vars(cls) and cls.__module__ == module.__name__:
                kind = _kind(cls)
                if kind.name in found:
                    raise InputError(f'two classes define the block kind "{kind.name}"; rename one')
                found[kind.name] = kind
    return found


def _kind(cls: Any) -> Kind:
    name, category = cls.block_kind, cls.block_category
    if not isinstance(name, str) or not _KIND_NAME.fullmatch(name):
        raise InputError(f"class {cls.__name__} has the block kind {name!r}; use letters, digits and _")
    description = " ".join(((inspect.getdoc(cls) or "") if cls.__doc__ else "").partition("\n\n")[0].split())
    if not description or not isinstance(category, str) or not category:
        raise InputError(f'block kind "{name}" has no docstring or no category; the palette shows both')
    kind = Kind(name, category, description, cls)
    for method in ("start", "step"):
        if not callable(getattr(cls, method, None)):
            raise InputError(f'block kind "{name}" has no method {method}; see docs/diagram.md')
    if not (isinstance(kind.parameters, type) and issubclass(kind.parameters, BlockParameters)):
        raise InputError(f'the Parameters of block kind "{name}" must be a subclass of BlockParameters')
    _check_schema(kind)
    return kind


def _check_schema(kind: Kind) -> None:
    """Refuse a parameter that lacks what its form needs."""
    try:
        fields = kind.schema().get("properties", {})
    except Exception as error:
        raise InputError(
            f'the Parameters of block kind "{kind.name}" have no JSON schema ({_one_line(error)})'
        ) from None
    for name, field in fields.items():
        missing = [word for word in ("title", "description") if not field.get(word)]
        number = field if field.get("type") in ("number", "integer") else field.get("items", {})
        if number.get("type") in ("number", "integer"):
            missing += ["unit"] if "unit" not in field else []
            missing += ["limits"] if not all(side & set(number) for side in _NUMBER_LIMITS) else []
        if kind.parameters.model_fields[name].title is None and "title" not in missing:
            missing.append("title")  # pydantic makes one up from the name
        if missing:
            raise InputError(f'parameter "{name}" of block kind "{kind.name}" has no {" and no ".join(missing)}')


def builtin() -> Kinds:
    """The kinds of the package."""
    from strapdown.environment.blocks import KINDS

    return KINDS


def load_blocks(path: str | Path, kinds: Kinds | None = None) -> dict[str, Kind]:
    """The given kinds (default: those of the package) and those of a Python file, which is run. Only name files that
    you trust. A diagram file cannot name one."""
    path = Path(path)
    known = dict(builtin() if kinds is None else kinds)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name of the block file") from None
    except (UnicodeDecodeError, ValueError):
        raise InputError(f"{path}: not a text file in UTF-8; blocks are defined in Python") from None
    # a name that does not change between runs: states of the user's own classes are pickled by it
    name = f"strapdown_blocks_{re.sub(r'[^A-Za-z0-9]', '_', path.stem)}_{zlib.crc32(str(path.resolve()).encode()):08x}"
    module = ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
        found = kinds_of([module])
        if not found:
            raise InputError("defines no block; mark a class with @block(kind, category=...)")
        for kind in found:
            if kind in known:
                raise InputError(f'block kind "{kind}" exists already; choose another name')
    except BaseException as error:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        if isinstance(error, InputError):
            raise InputError(f"{path}: {error}") from None
        if isinstance(error, SyntaxError):
            raise InputError(f"{path}: line {error.lineno}: not valid Python: {error.msg}; correct it there") from None
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(f"{path}: {_line(error, path)}running it failed: {_one_line(error)}; correct it") from None
    return {**known, **found}


def _line(error: BaseException, path: Path) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"line {lines[-1]}: " if lines else ""


def _one_line(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:197] + "..."


def palette(kinds: Kinds | None = None) -> list[dict[str, Any]]:
    """Data for a page to offer the kinds: name, category, description, schema, ports with default parameters."""
    return [
        {
            "kind": kind.name,
            "category": kind.category,
            "description": kind.description,
            "schema": kind.schema(),
            **_default_ports(kind),
        }
        for kind in (builtin() if kinds is None else kinds).values()
    ]


def _default_ports(kind: Kind) -> dict[str, Any]:
    try:
        made = kind.make({})
    except Exception:  # a kind with parameters that have no default
        return {"inputs": None, "outputs": None}
    return {"inputs": _plain(made.inputs), "outputs": _plain(made.outputs)}


def _plain(ports: Mapping[str, Port]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "unit": port.unit,
            "frame": port.frame,
            "shape": None if port.shape is None else list(port.shape),
            "default": port.default,
        }
        for name, port in ports.items()
    ]

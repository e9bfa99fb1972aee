"""Robots and vehicles that come with the package; a rig names them as "strapdown:NAME"."""

from pathlib import Path

from strapdown.errors import InputError

_FOLDER = Path(__file__).parent
PREFIX = "strapdown:"


def builtin(name: str) -> Path:
    """The model file of a robot that comes with the package."""
    names = sorted(p.stem for p in _FOLDER.iterdir() if p.suffix in (".urdf", ".xml"))
    for suffix in (".urdf", ".xml"):
        if (path := _FOLDER / f"{name}{suffix}").is_file() and name in names:
            return path
    raise InputError(f'robot "{PREFIX}{name}" does not come with the package; valid names: {", ".join(names)}')

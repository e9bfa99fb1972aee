"""Files that settings name: robots with their meshes, parts, recordings."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.regular_file import shown_path, whole_bytes

PACKAGE = Path(__file__).resolve().parents[2]
_ROBOTS = (".urdf", ".xml", ".mjcf")
_LONGEST = 500  # characters of a path


def relative_to(folder: Path, value: Any) -> Any:
    """A setting of the campaign with the files that it names as seen from the campaign's folder, by their full path."""
    if isinstance(value, Mapping):
        return {key: relative_to(folder, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [relative_to(folder, item) for item in value]
    if isinstance(value, str) and _is_file(folder, value):
        return str((folder / value).resolve())
    return value


def named_files(folder: Path, values: Any) -> Iterator[Path]:
    """Every file that plain values name, relative to the folder, with what robot files name in turn."""
    if isinstance(values, Mapping):
        packages = values.get("packages")
        more = packages if isinstance(packages, Mapping) else {}
        for item in values.values():
            for path in named_files(folder, item):
                yield path
                if path.suffix.lower() in _ROBOTS:
                    yield from _of_robot(path, {name: folder / str(at) for name, at in more.items()}, set())
    elif isinstance(values, list | tuple):
        for item in values:
            yield from named_files(folder, item)
    elif isinstance(values, str) and _is_file(folder, values):
        yield (folder / values).resolve()


def refuse_full_paths(values: Any, where: str) -> None:
    """Files named by their full path are on this machine only; workers would not find them."""
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, list | tuple):
        for item in values:
            refuse_full_paths(item, where)
    elif isinstance(values, str) and len(values) < _LONGEST and Path(values).is_absolute() and _is_file(Path(), values):
        raise InputError(
            f"{where} names {shown_path(values)} by its full path, which other computers do not have; name it relative "
            "to the file"
        )


def _is_file(folder: Path, name: str) -> bool:
    if not 0 < len(name) < _LONGEST or not Path(name).suffix or "\0" in name:
        return False
    try:
        return (folder / name).is_file()
    except OSError:
        return False


def _of_robot(robot: Path, packages: Mapping[str, Path], seen: set[Path]) -> Iterator[Path]:
    """Meshes, pictures and included files of a URDF or MJCF file."""
    if robot in seen:
        return
    seen.add(robot)
    text = whole_bytes(robot, "robot file").decode("utf-8", "replace")
    folders = [robot.parent, *(robot.parent / d for d in re.findall(r"dir\s*=\s*[\"']([^\"']+)", text))]
    for scheme, name in re.findall(r"file(?:name)?\s*=\s*[\"'](file:/+|package:/+)?([^\"']+)", text):
        places = [folder / name for folder in folders]
        if scheme.startswith("package"):
            package, _, rest = name.partition("/")
            places = [packages[package] / rest] if package in packages else []
            places += [(up if up.name == package else up / package) / rest for up in robot.parents]
        for place in places:
            if place.is_file():
                found = place.resolve()
                yield found
                if found.suffix.lower() in _ROBOTS:
                    yield from _of_robot(found, packages, seen)
                break


def outside_package(paths: Iterator[Path]) -> Iterator[Path]:
    """What does not come with the package: every worker has that."""
    return (path for path in paths if not path.resolve().is_relative_to(PACKAGE))

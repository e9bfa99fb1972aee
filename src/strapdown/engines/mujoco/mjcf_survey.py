"""Examines an MJCF file and all its includes before the engine reads it.

A few lines of MJCF can ask for gigabytes (copies of copies, height fields, soft bodies). MJCF files can also read any
file of the machine, or end the process (a model that attaches itself). Such files are refused here, with one sentence.
"""

import math
import struct
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from strapdown.engines.mujoco.xml_numbers import check_numbers, number
from strapdown.engines.robot_limits import (
    ALL_MESH_BYTES,
    HEIGHT_CELLS,
    LINKS,
    MESH_BYTES,
    PARTS,
    SOFT_BODY_BYTES,
    file_size,
    shown,
)
from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import RobotError

_PNG = b"\x89PNG\r\n\x1a\n"
# the largest value of an attribute: work that grows with it in the compiler or in every step
_LARGEST = {
    ("mesh", "params"): 200,
    ("numeric", "size"): 10_000,
    **{("option", f"{what}iterations"): 10_000 for what in ("", "ls_", "noslip_", "ccd_", "mpr_", "sdf_")},
    ("option", "sdf_initpoints"): 10_000,
}


@dataclass
class _Count:
    """Size of a model after all copies are made."""

    links: int = 0
    parts: int = 0
    attached: list[tuple[str, int]] = field(default_factory=list)  # name of a model, copies
    models: dict[str, Path] = field(default_factory=dict)


class MjcfSurvey:
    """The files of one robot: includes must be inside the folder `root`."""

    def __init__(self, path: Path) -> None:
        self._main = path
        self._root = path.parent.resolve()
        self._mesh_bytes = 0
        self._asset_folders: list[Path] = [path.parent]
        self._checked: set[Path] = set()

    def check(self, xml: XmlFile) -> None:
        """Raises RobotError for a file that the engine should not read."""
        self._model(xml, ())

    def _model(self, xml: XmlFile, above: tuple[Path, ...]) -> _Count:
        """A model with all that it includes and attaches."""
        if xml.path.resolve() in above:
            raise RobotError(f"{xml.path}: the model attaches itself; remove that <attach>")
        above = (*above, xml.path.resolve())
        count = _Count()
        self._file(xml, count, {xml.path.resolve()})
        inside = {name: self._model(XmlFile(path), above) for name, path in count.models.items()}
        for name, copies in count.attached:
            if name in inside:
                count.links += copies * inside[name].links
                count.parts += copies * inside[name].parts
        self._check_size(str(xml.path), count)
        return count

    def _file(self, xml: XmlFile, count: _Count, included: set[Path]) -> None:
        check_numbers(xml)
        for compiler in xml.root.iter("compiler"):
            for key in ("meshdir", "assetdir"):
                if compiler.get(key):
                    self._asset_folders.append(self._main.parent / compiler.get(key, ""))
        waiting: list[tuple[ET.Element, int, bool]] = [(xml.root, 1, False)]
        while waiting:
            element, copies, in_world = waiting.pop()
            where = xml.where(element)
            self._check_attributes(where, element)
            if element.tag in ("plugin", "extension"):
                raise RobotError(f"{where}: the robot needs an engine plugin, which is not supported; remove it")
            if element.tag == "include":
                self._include(xml, element, count, included)
            elif element.tag == "model" and element.get("file"):
                count.models[element.get("name", "")] = self._inside(where, xml, element.get("file", ""))
            elif element.tag == "attach":
                count.attached.append((element.get("model", ""), copies))
            elif element.tag == "hfield":
                self._check_heights(where, xml, element)
            elif element.tag in ("mesh", "flexcomp") and element.get("file"):
                self._check_mesh(where, xml, element)
            in_world = in_world or element.tag == "worldbody"
            if element.tag in ("replicate", "flexcomp", "composite"):
                copies *= self._copies(where, element)
            if in_world:
                count.parts += copies
                count.links += copies if element.tag in ("body", "flexcomp", "composite") else 0
                self._check_size(where, count)
            waiting += [(child, copies, in_world) for child in element]

    def _check_size(self, where: str, count: _Count) -> None:
        for number_of, most, what in ((count.links, LINKS, "links"), (count.parts, PARTS, "parts")):
            if number_of > most:
                raise RobotError(f"{where}: the robot has {number_of} {what} or more, at most {most}; simplify it")

    def _check_attributes(self, where: str, element: ET.Element) -> None:
        for key, value in element.attrib.items():
            most = _LARGEST.get((element.tag, key))
            if most is not None and any(abs(number(word) or 0.0) > most for word in value.split()):
                raise RobotError(f'{where}: {key} of <{element.tag}> is "{shown(value)}"; give at most {most}')

    def _copies(self, where: str, element: ET.Element) -> int:
        counts = [number(word) for word in element.get("count", "1").split()]
        points = len(element.get("point", "").split()) / 3.0  # of a flexcomp: each becomes a link
        copies = max(points, math.prod(max(1.0, n) for n in counts if n is not None))
        if not copies <= PARTS:
            raise RobotError(
                f'{where}: count of <{element.tag}> is "{shown(element.get("count", ""))}"; give at most {PARTS} copies'
            )
        return int(copies)

    def _include(self, xml: XmlFile, element: ET.Element, count: _Count, included: set[Path]) -> None:
        path = self._inside(xml.where(element), xml, element.get("file", ""))
        if path.resolve() in included:
            raise RobotError(f'{xml.where(element)}: "{shown(element.get("file", ""))}" is included twice; remove one')
        included.add(path.resolve())
        self._file(XmlFile(path), count, included)

    def _inside(self, where: str, xml: XmlFile, name: str) -> Path:
        """The XML file of that name where the engine finds it: next to the main file, else next to the including
        one.
        """
        name = name.replace("\\", "/")  # as the engine does
        for folder in (self._main.parent, xml.path.parent):
            path = folder / name
            try:
                there = path.exists()
                inside = path.resolve().is_relative_to(self._root)
            except (OSError, ValueError, RuntimeError):
                break
            if not inside:
                raise RobotError(
                    f'{where}: "{shown(name)}" is outside the folder of the robot file; copy it into {self._root}'
                )
            if there:
                return path
        raise RobotError(f'{where}: file "{shown(name)}" is not there; put it next to the robot file')

    def _assets(self, xml: XmlFile, name: str) -> list[Path]:
        """All files that the engine may use for this name."""
        name = name.replace("\\", "/")  # as the engine does
        found = []
        for folder in (*self._asset_folders, xml.path.parent):
            for path in (folder / name, folder / Path(name).name):
                try:
                    if path.exists() and path not in found:
                        found.append(path)
                except (OSError, ValueError):
                    continue
        return found

    def _check_mesh(self, where: str, xml: XmlFile, element: ET.Element) -> None:
        most = MESH_BYTES if element.tag == "mesh" else SOFT_BODY_BYTES
        for path in self._assets(xml, element.get("file", "")):
            size = file_size(path, where, most)
            if path not in self._checked:
                self._checked.add(path)
                self._mesh_bytes += size
        if self._mesh_bytes > ALL_MESH_BYTES:
            raise RobotError(
                f"{self._main}: all meshes together have more than {ALL_MESH_BYTES / 1e6:g} MB; simplify them"
            )

    def _check_heights(self, where: str, xml: XmlFile, element: ET.Element) -> None:
        rows, columns = (number(element.get(key, "0")) or 0.0 for key in ("nrow", "ncol"))
        cells = rows * columns
        for path in self._assets(xml, element.get("file", "")) if element.get("file") else []:
            file_size(path, where, MESH_BYTES)
            with path.open("rb") as stream:
                head = stream.read(24)
            layout = ">II" if head.startswith(_PNG) else "<II"
            begin = 16 if head.startswith(_PNG) else 0
            if len(head) == 24:
                cells = max(cells, math.prod(struct.unpack(layout, head[begin : begin + 8])))
        if cells > HEIGHT_CELLS:
            raise RobotError(
                f"{where}: the height field has {cells:.3g} cells, at most {HEIGHT_CELLS:g}; make it coarser"
            )

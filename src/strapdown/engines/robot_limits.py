"""Limits on the size of a robot. A file beyond these bounds is refused before the engine reads it.

The limits are far above any robot (a humanoid has about 50 links, its file 200 kB) and far below the memory of a
computer.
"""

import stat
from collections.abc import Iterable
from pathlib import Path

from strapdown.errors import RobotError

LINKS = 1000  # 6 s and 1.7 GB of contacts, were they all in one place and the engine's memory unbounded
INERTIA_ENTRIES = 300_000  # of the joint-space inertia: 0.3 s to compile, 3 s for four times as many
PARTS = 20_000  # shapes, joints, sites and all else in the world, after copying
DEPTH = 200  # of nested elements, and of links that hang on each other; the engine itself stops at 500 elements
ELEMENTS = 50_000  # of an XML file: about 50 MB in memory
XML_BYTES = 4_000_000  # numbers of 4 MB are read in 0.6 s
MESH_BYTES = 20_000_000  # the engine's own bound of an STL, 200 000 faces, is 10 MB
ALL_MESH_BYTES = 200_000_000
HEIGHT_CELLS = 1_000_000  # of a height field
SOFT_BODY_BYTES = 16_000  # of the mesh file of a flexcomp: each corner is a link
# For contacts and constraints during a step. Below 32 MB for ordinary robots: larger blocks go back to the system each
# time they are freed, and so do all later arrays, which made recordings 15 % slower.
ENGINE_BYTES, ENGINE_BYTES_PER_LINK = 30_000_000, 70_000
_SHOWN = 20  # names in a message
LONGEST_NAME = 200  # characters of a link or joint
LONGEST_PATH = 1000  # characters of a path in a message


def listed(names: Iterable[str]) -> str:
    """Names for a message: the first ones, if there are many."""
    names = [shown(name) for name in names]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def shown(text: str, most: int = 60) -> str:
    """A value for a message: its beginning, if it is longer than this many characters."""
    return text if len(text) <= most else text[:most] + "..."


def file_size(path: Path, where: str, most: int) -> int:
    """The size of a regular file; raises RobotError for another kind of file (a pipe, a device) or a larger one."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RobotError(f"{where}: {shown(str(path))} cannot be read ({reason}); check the name") from None
    if not stat.S_ISREG(found.st_mode):
        kind = "Is a directory" if stat.S_ISDIR(found.st_mode) else "it is a pipe or a device"
        raise RobotError(f"{where}: {path} cannot be read ({kind}); give a regular file")
    if found.st_size > most:
        raise RobotError(f"{where}: {path} has {found.st_size / 1e6:.3g} MB, more than {most / 1e6:g} MB; simplify it")
    return found.st_size

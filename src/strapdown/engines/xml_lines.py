"""XML elements with their line number, so that a message can name it."""

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.parsers import expat

from strapdown.engines.robot_limits import DEPTH, ELEMENTS, XML_BYTES, file_size
from strapdown.errors import RobotError


class XmlFile:
    """A parsed XML file: its root element, and the line of every element."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[ET.Element, int] = {}
        self._depth = 0
        self._builder = ET.TreeBuilder()
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._builder.data
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        file_size(path, str(path), XML_BYTES)
        try:
            parser.Parse(path.read_bytes(), True)
            self.root = self._builder.close()
        except OSError as error:
            raise RobotError(f"{path}: cannot be read ({error.strerror}); check the name of the robot file") from None
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise RobotError(f"{path}, line {error.lineno}: not well-formed XML ({what}); correct it there") from None
        except (LookupError, ValueError, AssertionError) as error:  # an unknown or broken text encoding
            raise RobotError(f"{path}: not readable as XML ({error}); save it as UTF-8") from None

    def where(self, element: ET.Element) -> str:
        """The file and line of an element, to begin a message with."""
        return f"{self.path}, line {self._lines[element]}"

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._lines[self._builder.start(tag, attributes)] = self._parser.CurrentLineNumber
        self._depth += 1
        if self._depth > DEPTH:
            raise RobotError(
                f"{self.path}, line {self._parser.CurrentLineNumber}: elements are nested deeper than {DEPTH}; "
                "use fewer links in a row"
            )
        if len(self._lines) > ELEMENTS:
            raise RobotError(f"{self.path}: more than {ELEMENTS} elements; simplify the robot")

    def _end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(tag)

    def _refuse_document_type(self, *_: object) -> None:
        # its entities multiply text, and the engine's reader finds its end at another place
        raise RobotError(
            f"{self.path}, line {self._parser.CurrentLineNumber}: a <!DOCTYPE> does not belong in a robot file; "
            "remove it"
        )

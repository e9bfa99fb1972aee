"""XML elements that remember the line they stand on, so that a message can name it."""

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.parsers import expat

from strapdown.errors import RobotError


class XmlFile:
    """A parsed XML file: its root element, and the line of every element."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[ET.Element, int] = {}
        builder = ET.TreeBuilder()
        parser = expat.ParserCreate()
        parser.buffer_text = True

        def start(tag: str, attributes: dict[str, str]) -> None:
            self._lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

        parser.StartElementHandler = start
        parser.EndElementHandler = builder.end
        parser.CharacterDataHandler = builder.data
        try:
            parser.Parse(path.read_bytes(), True)
            self.root = builder.close()
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

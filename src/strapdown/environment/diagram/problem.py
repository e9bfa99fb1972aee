"""Problems of a diagram as data: the page lists all of them, the command prints them."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strapdown.errors import InputError

# kinds of problems and what each means
PROBLEMS = {
    "file": "the file is not readable, a key is unknown, or a value has the wrong type",
    "name": "a name is used twice",
    "kind": "the kind of a block, or a sub-diagram, is not known",
    "parameter": "a parameter is unknown or has a bad value",
    "wire": "a wire starts or ends at a block that does not exist",
    "port": "a wire names a port that the block does not have",
    "twice": "several wires end at one input",
    "unconnected": "an input has no wire",
    "type": "unit, frame or shape of the two ends of a wire differ",
    "loop": "blocks need each other's outputs in the same cycle",
    "rate": "a rate does not divide the base clock, or the block cannot run at it",
    "recursion": "a sub-diagram contains itself",
    "size": "the diagram is too large",
}


@dataclass(frozen=True)
class Problem:
    """One problem.

    block: path of the block concerned, "" if there is none.
    place: place in the file.
    """

    kind: str
    block: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class DiagramError(InputError):
    """A diagram cannot be used; the sentence is its first problem, `problems` has all."""

    def __init__(self, problems: Sequence[Problem], source: str = "") -> None:
        first = str(problems[0])
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{source}: {first}{more}" if source else f"{first}{more}")
        self.problems = tuple(problems)
        self.source = source

    def __reduce__(self) -> tuple[type, tuple[tuple[Problem, ...], str]]:
        return DiagramError, (self.problems, self.source)


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The end of a sentence: similar names if there are any, else what to do instead."""
    names = list(known)
    near = [n for n in names if n.lower() == word.lower()] or difflib.get_close_matches(word[:100], names, 3, 0.6)
    if near:
        return f"did you mean {' or '.join(near)}"
    if otherwise:
        return otherwise
    return f"valid names: {', '.join(names[:20])}" if names else "it has none"


class Hints:
    """did_you_mean for the first wrong names only: a file with thousands of them would take minutes."""

    def __init__(self) -> None:
        self.left = 50

    def __call__(self, word: str, known: Iterable[str], otherwise: str) -> str:
        self.left -= 1
        return did_you_mean(word, known, otherwise) if self.left >= 0 else otherwise

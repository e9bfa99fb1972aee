"""Ports: the type of a signal is its unit, its frame and its shape."""

from dataclasses import dataclass

from strapdown.arrays import Array

Value = float | Array  # a number for shape (), an array that nobody writes to for every other shape

ANY = "any"  # a unit or frame that is not checked and not shared with the other ports of the group
FLAG = "flag"  # unit of on / off signals: 1.0 or 0.0
QUATERNION = "quaternion"  # unit of attitudes (w, x, y, z); the frame holds the two letters, as in q_nb


@dataclass(frozen=True)
class Port:
    """An input or output of a block.

    unit, frame, shape: None takes the value of the connected port. Ports of one block with the same `group` share the
        values that are None: a gain's output has the unit of its input.
    default: the value of an input without a wire; None: the input must be connected.
    """

    unit: str | None = None
    frame: str | None = None
    shape: tuple[int, ...] | None = None
    group: str | None = None
    default: float | None = None

    def label(self) -> str:
        """Text for people: "rad/s, frame b, 3 numbers"."""
        shape = () if self.shape is None else self.shape
        words = [self.unit or "any unit"]
        if self.frame is not None:
            words.append(f"frame {self.frame}")
        if shape:
            words.append(f"{' x '.join(str(n) for n in shape)} numbers")
        return ", ".join(words)

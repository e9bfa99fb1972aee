"""The CSV lines that many modules print: columns with units, one line for each sample (docs/device-protocol.md)."""

import math
import re

from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError

_NAMES = {
    "t": "s",
    **{f"acc_{axis}": "m/s2" for axis in "xyz"},
    **{f"gyr_{axis}": "rad/s" for axis in "xyz"},
    **{f"mag_{axis}": "uT" for axis in "xyz"},
    "temperature": "degC",
    "stop": "",
}
_FRAMES = {"acc": ", s", "gyr": ", s", "mag": ", s"}
# unit: SI unit, factor times, divisor; two numbers, so that 2 ms is the double 0.002 s
_UNITS = {
    **{"s": ("s", 1.0, 1.0), "ms": ("s", 1.0, 1e3), "us": ("s", 1.0, 1e6)},
    **{"m/s2": ("m/s2", 1.0, 1.0), "g": ("m/s2", STANDARD_GRAVITY, 1.0), "mg": ("m/s2", STANDARD_GRAVITY, 1e3)},
    **{"rad/s": ("rad/s", 1.0, 1.0), "deg/s": ("rad/s", math.pi, 180.0)},
    **{
        "uT": ("uT", 1.0, 1.0),
        "G": ("uT", 100.0, 1.0),
        "mG": ("uT", 0.1, 1.0),
        "degC": ("degC", 1.0, 1.0),
        "": ("", 1.0, 1.0),
    },
}
_COLUMN = re.compile(
    r"\s*([A-Za-z_]+)\s*(?:\[\s*(?:([0-9.]+)\s*LSB\s*/\s*\(?)?([A-Za-z/0-9]*?)\)?\s*(?:,\s*s\s*)?\])?\s*"
)
_SPLIT = re.compile(r"[,;\t ]+")
_LONGEST = 4096  # bytes of a line
_GAP = 1.5  # steps


class TextLines:
    """Samples from the text lines of a module that prints numbers.

    columns: text such as "t [us],acc_x [16384 LSB/g],...". Columns of other names are skipped.
    """

    def __init__(self, columns: str) -> None:
        self._columns: list[tuple[str, float, float] | None] = []
        for text in columns.split(","):
            match = _COLUMN.fullmatch(text)
            if match is None:
                raise InputError(f'column "{text.strip()}" is not written like acc_x [g] or gyr_x [131 LSB/(deg/s)]')
            name, per, unit = match[1], match[2], match[3] or ""
            if name not in _NAMES:
                self._columns.append(None)
                continue
            known = _UNITS.get(unit)
            if known is None or known[0] != _NAMES[name]:
                valid = ", ".join(u for u, (si, _, _) in _UNITS.items() if si == _NAMES[name]) or "none"
                raise InputError(f'column "{text.strip()}": unit "{unit}" is not known for {name}; valid: {valid}')
            self._columns.append((name, known[1], known[2] * (float(per) if per else 1.0)))
        self.names = [column[0] for column in self._columns if column is not None]
        wanted = {"t", *(f"{part}_{axis}" for part in ("acc", "gyr") for axis in "xyz")}
        missing = sorted(wanted - set(self.names))
        if missing or len(set(self.names)) != len(self.names):
            what = f"{missing[0]} is missing" if missing else "a column is named twice"
            raise InputError(f"columns of the text lines: {what}; name t, acc_x to acc_z and gyr_x to gyr_z once each")
        self._rest = b""
        self.good = self.bad = self.gaps = 0
        self._last_t: float | None = None
        self._step: float | None = None

    def header(self) -> bytes:
        """The first line of a file of ours."""
        heads = [f"{n} [{_NAMES[n]}{_FRAMES.get(n[:3], '')}]" if _NAMES[n] else n for n in self.names]
        return (",".join(f'"{head}"' if "," in head else head for head in heads) + "\n").encode()

    def feed(self, data: bytes) -> list[bytes]:
        """Rows of a file of ours, of the lines that end in data."""
        self._rest += data
        *lines, self._rest = self._rest.split(b"\n")
        if len(self._rest) > _LONGEST:
            self._rest, self.bad = b"", self.bad + 1
        found = []
        for line in lines:
            row = self._row(line)
            if row is not None:
                found.append(row)
        return found

    def _row(self, line: bytes) -> bytes | None:
        text = line.decode("ascii", "replace").strip()
        if not text:
            return None
        cells = _SPLIT.split(text)
        try:
            if len(cells) != len(self._columns):
                raise ValueError
            values = [
                float(cell) * column[1] / column[2]
                for cell, column in zip(cells, self._columns, strict=True)
                if column is not None
            ]
            if not all(math.isfinite(value) for value in values):
                raise ValueError
        except ValueError:
            self.bad += 1
            return None
        t = values[self.names.index("t")]
        if self._last_t is not None:
            step = t - self._last_t
            if not step > 0.0:
                self.bad += 1
                return None
            self.gaps += self._step is not None and step > _GAP * self._step
            self._step = step if self._step is None else min(step, self._step)
        self._last_t, self.good = t, self.good + 1
        shown = [str(int(v != 0)) if n == "stop" else repr(v) for n, v in zip(self.names, values, strict=True)]
        return (",".join(shown) + "\n").encode()

"""Tables on the terminal: as wide as it is, broken between words and never inside one.

Where the columns do not fit next to each other, the table is split into parts. Each has the first columns, which name
the row. A word that is longer than the terminal is wide is the only one that is cut.
"""

import os
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_BETWEEN = 3  # a line and a space on either side
_PIPE_WIDTH = 200  # of a file or a pipe, which has no width of its own


class Screen(Console):
    """Standard output; a reader that has left (head, less) is reported to the caller, who ends quietly."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def output_console() -> Console:
    console = Screen(highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Screen(highlight=False, width=_PIPE_WIDTH)


def print_table(
    console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1
) -> None:
    """A table whose first `left` columns are text, in as many parts as it needs."""

    def plain(text: str) -> str:
        """In the letters that the terminal has, before it is laid out."""
        return text.strip().encode(console.encoding, "strapdown-plain").decode(console.encoding)

    heads = [plain(column) for column in columns]
    body = [[plain(cell) for cell in row] for row in rows]
    texts = [[head, *(row[i] for row in body)] for i, head in enumerate(heads)]
    natural = [max(cell_len(line) for text in column for line in text.split("\n")) for column in texts]
    least = [max((cell_len(word) for text in column for word in text.split()), default=1) for column in texts]
    console.print(Text(plain(title), style="italic"))
    for part in parts(least, console.width, left):
        widths = fitted([natural[i] for i in part], [least[i] for i in part], console.width)
        table = Table()
        for i, width in zip(part, widths, strict=True):
            table.add_column(Text(heads[i]), justify="left" if i < left else "right", overflow="fold", width=width)
        for row in body:
            table.add_row(*(Text(row[i]) for i in part))  # names of users are text, whatever brackets they have
        console.print(table)


def parts(least: Sequence[int], width: int, left: int) -> list[list[int]]:
    """Columns of each part, by the least width of every column: the first ones, which name the row, are in each."""
    every = list(range(len(least)))
    if _total([least[i] for i in every]) <= width:
        return [every]
    keys = every[:left] if left < len(every) and _total(least[:left]) <= width // 2 else every[:1]
    found: list[list[int]] = [list(keys)]
    for i in every[len(keys) :]:
        if len(found[-1]) > len(keys) and _total([least[j] for j in (*found[-1], i)]) > width:
            found.append(list(keys))
        found[-1].append(i)
    return found


def fitted(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths of columns: as they are where there is space, else the widest ones narrower, none below its least."""
    widths = list(natural)
    while _total(widths) > width:
        wide = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not wide:  # one word alone is too long: it is cut
            longest = max(range(len(widths)), key=lambda i: widths[i])
            widths[longest] = max(1, widths[longest] - (_total(widths) - width))
            break
        widths[max(wide, key=lambda i: widths[i])] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _BETWEEN * len(widths) + 1

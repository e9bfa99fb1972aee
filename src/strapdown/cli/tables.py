"""Tables on the terminal, as wide as the terminal; lines break between words and never inside one.

Where the columns do not fit next to each other, the table is split into parts. Each part repeats the key columns, which
identify the row. Where these are too wide, or do not identify it, the rows of all parts are numbered. Only a word that
is longer than the width of the terminal is cut.
"""

import os
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_BETWEEN = 3  # a line and a space on either side
_PIPE_WIDTH = 200  # of a file or a pipe, which has no width of its own
_ROW = "row"  # name of the column with numbers of rows


class Screen(Console):
    """Standard output. A reader that has closed the pipe (head, less) is reported to the caller, who ends quietly."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def output_console() -> Console:
    console = Screen(highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Screen(highlight=False, width=_PIPE_WIDTH)


def print_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: int = 1,
    keys: int = 1,
    evenly: bool = True,
) -> None:
    """A table whose first `left` columns are text, in as many parts as it needs; the first `keys` are in each."""

    def plain(text: str) -> str:
        """Text in the letters of the terminal, before it is laid out."""
        return text.strip().encode(console.encoding, "strapdown-plain").decode(console.encoding)

    heads = [plain(column) for column in columns]
    body = [[plain(cell) for cell in row] for row in rows]
    if _split(_least(heads, body), console.width) and _numbered(heads, body, keys, console.width):
        heads, body, left, keys = [_ROW, *heads], [[str(i), *row] for i, row in enumerate(body, 1)], left + 1, 1
    texts = [[head, *(row[i] for row in body)] for i, head in enumerate(heads)]
    natural = [max(cell_len(line) for text in column for line in text.split("\n")) for column in texts]
    least = _least(heads, body)
    console.print(Text(plain(title), style="italic"))
    for part in parts(least, console.width, keys, evenly):
        widths = fitted([natural[i] for i in part], [least[i] for i in part], console.width)
        table = Table()
        for i, width in zip(part, widths, strict=True):
            table.add_column(Text(heads[i]), justify="left" if i < left else "right", overflow="fold", width=width)
        for row in body:
            table.add_row(*(Text(row[i]) for i in part))  # names of users are text, whatever brackets they have
        console.print(table)


def _least(heads: Sequence[str], body: Sequence[Sequence[str]]) -> list[int]:
    """Least width of each column: that of its longest word."""
    texts = [[head, *(row[i] for row in body)] for i, head in enumerate(heads)]
    return [max((cell_len(word) for text in column for word in text.split()), default=1) for column in texts]


def _split(least: Sequence[int], width: int) -> bool:
    return _total(least) > width


def _numbered(heads: Sequence[str], body: Sequence[Sequence[str]], keys: int, width: int) -> bool:
    """Whether the key columns leave no space for another one, or are equal in two rows."""
    least = _least(heads, body)
    wide = _total([*least[:keys], max(least[keys:], default=0)]) > width
    return wide or len({tuple(row[:keys]) for row in body}) < len(body)


def parts(least: Sequence[int], width: int, keys: int, evenly: bool = True) -> list[list[int]]:
    """Columns of each part, by the least width of every column. The key columns are in each part. The other columns are
    distributed evenly over the parts, or fill one after the other.
    """
    every = list(range(len(least)))
    if not _split(least, width):
        return [every]
    first, others = every[:keys], every[keys:]
    greedy = _filled(least, width, first, others, len(others))
    even = _filled(least, width, first, others, -(-len(others) // max(1, len(greedy))))
    return even if evenly and len(even) == len(greedy) else greedy


def _filled(least: Sequence[int], width: int, keys: list[int], others: list[int], most: int) -> list[list[int]]:
    """Parts with at most `most` other columns each, and no more than fit."""
    found: list[list[int]] = [list(keys)]
    for i in others:
        some = len(found[-1]) - len(keys)
        if some and (some >= most or _total([least[j] for j in (*found[-1], i)]) > width):
            found.append(list(keys))
        found[-1].append(i)
    return found


def fitted(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths of columns: unchanged where there is space; otherwise the widest ones become narrower, none below its
    least.
    """
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

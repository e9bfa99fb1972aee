"""Common parts of commands: tables and progress on the terminal, JSON on standard output."""

import codecs
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from strapdown.cli.tables import output_console, print_table

_SHOW_PROGRESS_AFTER_S = 2.0
# for terminals whose character set lacks them; everything else becomes a question mark
_PLAIN = {
    "√": "rt",
    "σ": "sigma",
    "µ": "u",
    "°": "deg",
    "±": "+-",
    "−": "-",
    "…": "...",
    "→": "->",
    "≤": "<=",
    "²": "2",
}


def plain_characters() -> None:
    """Make standard output and error accept any text: characters that they lack are replaced by plain letters."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a captured stream may be anything
            stream.reconfigure(errors="strapdown-plain")


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    text = "".join(_PLAIN.get(c, "?") for c in lost)
    encoded = text.encode(error.encoding, "replace").decode(error.encoding)  # ASCII is in every set, but to be sure
    return encoded, error.end


codecs.register_error("strapdown-plain", _in_plain_letters)


def told() -> Console:
    """Progress and warnings go here; standard output keeps the results."""
    return Console(stderr=True, highlight=False)


def ready(*more: str, helped: bool = True) -> None:
    """Compile the kernels of motion and of further files; this is reported, with progress, if they are not in the
    cache.

    helped: compile on all cores.
    """
    from strapdown.kernels.cache import cache_problem
    from strapdown.kernels.compiled import MOTION, compile_kernels, kernels_of

    files = (*MOTION, *more)
    bar, said = _bar(), False
    task = bar.add_task("compiling kernels (first run only)", total=len(kernels_of(files)))
    try:
        for compiled in compile_kernels(files, helped=helped):
            bar.advance(task)
            if compiled and not said:
                bar.console.print("compiling numerical kernels, once; they are kept for later runs")
                bar.start()
                said = True
        if said and cache_problem() is not None:
            bar.console.print(f"warning: every run compiles them again: {cache_problem()}", soft_wrap=True)
    finally:
        _stop(bar)


def _stop(bar: Progress) -> None:
    if bar.live.is_started:  # a bar that was never shown would still write an empty line
        bar.stop()


def _bar() -> Progress:
    console = told()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # in a file or a pipe it would leave empty lines
    )


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """A function to call with the work done so far; a bar appears when it takes longer than two seconds."""
    began = time.monotonic()
    bar = _bar()
    task = bar.add_task(what, total=total)

    def done(so_far: float) -> None:
        bar.update(task, completed=so_far)
        if not bar.live.is_started and time.monotonic() - began > _SHOW_PROGRESS_AFTER_S:
            bar.start()

    try:
        yield done
    finally:
        _stop(bar)


@contextmanager
def warnings_shown() -> Iterator[list[str]]:
    """Collects our warnings and states each once, in one line, at the end."""
    from strapdown.errors import RangeWarning

    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RangeWarning)
        yield messages
    messages += dict.fromkeys(str(w.message) for w in caught)
    for message in messages:
        told().print(f"warning: {message}", soft_wrap=True, markup=False)


def show_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, keys: int = 1, evenly: bool = True
) -> None:
    """A table whose first `left` columns are text. The first `keys` columns identify a row. evenly: of a table that is
    too wide, all parts have about as many columns; else the first is filled."""
    print_table(output_console(), title, columns, rows, left, keys, evenly)


def show_json(document: Any) -> None:
    """One JSON document and nothing else on standard output."""
    print(json.dumps(document, indent=2, allow_nan=False))


def short(value: float | None) -> str:
    """A number for a table: three digits."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.3g}"

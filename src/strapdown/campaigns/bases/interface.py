"""What a campaign varies: the interface of all bases."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol


class Base(Protocol):
    """A run is a function of its settings (by dotted key) and its seed alone.

    figures: names of all figures that a run may have. usual: those of a campaign that names none.
    kernels: files of kernels that a run needs, for compilation before the first one.
    """

    figures: tuple[str, ...]
    usual: tuple[str, ...]
    kernels: tuple[str, ...]

    def check(self, settings: Mapping[str, Any]) -> None:
        """InputError if a run with these settings cannot start."""

    def run(self, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """Figures by name: numbers, flags, words, or None."""

    def files(self, settings: Mapping[str, Any]) -> Iterable[Path]:
        """Files that a run with these settings reads, apart from those of the package."""

"""Layouts of the page that a user has saved."""

import json
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file

MOST, MOST_BYTES = 50, 100_000


class Layouts:
    """Layouts in one file of the user's state folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "studio-layouts.json"

    def read(self) -> dict[str, dict[str, Any]]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {str(name): layout for name, layout in found.items() if isinstance(layout, dict)}

    def save(self, name: str, layout: dict[str, Any]) -> None:
        size = len(json.dumps(layout))
        if size > MOST_BYTES:
            raise InputError(f"the layout has {size} characters, at most {MOST_BYTES} are possible")
        kept = {**self.read(), name: layout}
        if len(kept) > MOST:
            raise InputError(f"there are {MOST} layouts; delete one first")
        self._write(kept)

    def delete(self, name: str) -> None:
        kept = self.read()
        if name not in kept:
            raise InputError(f'there is no layout "{name}"')
        self._write({key: layout for key, layout in kept.items() if key != name})

    def _write(self, layouts: dict[str, dict[str, Any]]) -> None:
        with whole_file(self._path) as tmp:
            Path(tmp).write_text(json.dumps(layouts), encoding="utf-8")

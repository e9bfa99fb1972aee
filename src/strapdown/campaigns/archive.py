"""One archive with all that a campaign needs: its file and every file that it names, each with its hash.

The same content has the same bytes, so that the archive is known by its hash. A run is a function of the archive and
its key alone.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from strapdown.campaigns.bases import base_of
from strapdown.campaigns.bases.interface import Base
from strapdown.campaigns.definition.file import Campaign, read_campaign
from strapdown.campaigns.plan import Plan, plan_of, usual_settings
from strapdown.errors import InputError
from strapdown.regular_file import shown_path, whole_bytes

MANIFEST = "manifest.json"
MOST_BYTES = 1 << 31  # of one file
_DATE = (2026, 1, 1, 0, 0, 0)  # of every entry: the time of packing is no part of the content


@dataclass(frozen=True)
class Archive:
    data: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def manifest(self) -> dict[str, Any]:
        with zipfile.ZipFile(io.BytesIO(self.data)) as file:
            found: dict[str, Any] = json.loads(file.read(MANIFEST))
        return found

    def unpack(self, folder: Path) -> Path:
        """The files in a folder of their own, each checked; the path of the first one, the campaign's."""
        target = folder / f"campaign-{self.digest[:16]}"
        with zipfile.ZipFile(io.BytesIO(self.data)) as file:
            for name, digest in self.manifest["files"].items():
                path = target / name
                if not path.resolve().is_relative_to(target.resolve()):
                    raise InputError(f"the archive has a file {shown_path(name)} outside its folder; pack it again")
                content = file.read(name)
                if hashlib.sha256(content).hexdigest() != digest:
                    raise InputError(f"{shown_path(name)} in the archive is damaged; pack it again")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        return target / self.manifest["main"]


def packed(files: dict[str, bytes], main: str, kind: str) -> Archive:
    """main: the name of the first file to open."""
    manifest = {
        "version": 1,
        "kind": kind,
        "main": main,
        "files": {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in (
            (MANIFEST, json.dumps(manifest, indent=1).encode()),
            *((name, files[name]) for name in sorted(files)),
        ):
            file.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return Archive(buffer.getvalue())


def pack(campaign: Campaign, plan: Plan, base: Base) -> Archive:
    """The campaign's file and all files that its base and its settings name."""
    paths = {campaign.path.resolve()}
    paths |= set(base.files(usual_settings(plan)))
    choices = {key: draw.values for key, draw in plan.space.draws.items() if draw.kind == "choice"}
    for key, values in {**plan.space.grid, **choices}.items():
        usual = usual_settings(plan, key)
        for value in values:
            paths |= set(base.files({**usual, key: value, **plan.space.linked_to(key, value)}))
    root = _root(paths)
    files = {path.relative_to(root).as_posix(): whole_bytes(path, "file", MOST_BYTES) for path in sorted(paths)}
    return packed(files, campaign.path.resolve().relative_to(root).as_posix(), campaign.kind)


def _root(paths: Iterable[Path]) -> Path:
    return Path(os.path.commonpath([path.parent for path in paths]))


@dataclass(frozen=True)
class Work:
    """An archive that was opened: the plan, and what a run does."""

    plan: Plan
    base: Base


def opened(archive: Archive, folder: Path) -> Work:
    """Unpacked into the folder and read."""
    main = archive.unpack(folder)
    if archive.manifest["kind"] == "function":
        from strapdown.campaigns.bases.function import FunctionBase, function_plan

        base = FunctionBase(main.read_bytes())
        return Work(function_plan(json.loads((main.parent / "space.json").read_text(encoding="utf-8"))), base)
    campaign = read_campaign(main)
    found = base_of(campaign)
    return Work(plan_of(campaign, found), found)

"""The folder of a campaign: archive, parts that grow, the sorted table, how far it is.

Every part is written whole or not at all. What is done is the set of keys in the parts, so a campaign that was killed
anywhere goes on where it stopped. A key that is in two parts counts once.
"""

import contextlib
import errno
import hashlib
import importlib.util
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from strapdown.campaigns.archive import Archive
from strapdown.campaigns.plan import Plan
from strapdown.campaigns.running.columns import SECONDS, joined
from strapdown.campaigns.running.enough import Enough
from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.regular_file import reason, refused_unreadable, shown_path

ARCHIVE, ABOUT, PARTS, TABLE, STATUS, LOCK = (
    "archive.zip",
    "campaign.json",
    "parts",
    "table.parquet",
    "status.json",
    ".lock",
)
MOST_PARTS = 200  # small parts, which are then written as one
VERSION = 1
_LOOKS = 10  # at parts that a running campaign joins, before it is an error


class Dataset:
    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def exists(self) -> bool:
        return (self.folder / ABOUT).is_file()

    def about(self) -> dict[str, Any]:
        """What the folder states of its campaign."""
        path = self.folder / ABOUT
        if not path.is_file():
            raise InputError(
                f"{shown_path(self.folder)} is not the folder of a campaign; name one that campaign run made"
            )
        try:
            found = json.loads(_bytes(path))
            if found["version"] > VERSION:
                raise InputError(
                    f"{path}: version {found['version']} is newer than this program, which reads up to {VERSION}; "
                    "update strapdown"
                )
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path} is damaged; copy it again, or run the campaign into another folder") from None
        return dict(found)

    def archive(self) -> Archive:
        about = self.about()
        archive = Archive(_bytes(self.folder / ARCHIVE))
        if archive.digest not in (about["archive"], about.get("archive_before")):
            raise InputError(f"{self.folder / ARCHIVE} is not the archive of this campaign; copy it again")
        return archive

    def begin(self, plan: Plan, archive: Archive, versions: dict[str, str]) -> None:
        """Make the folder, or go on with the one that is there; refused if it has runs of another campaign."""
        self._make(PARTS)
        begun = self.exists()
        about = self.about() if begun else {}
        if begun and self._parts():
            if about["identity"] != plan.identity:
                what = "function, keys, draws" if plan.kind == "function" else "base, keys, draws, figures"
                raise InputError(
                    f"{shown_path(self.folder)} holds another campaign ({what} or first seed differ); choose another "
                    "folder"
                )
            if about["content"] != _content(archive):
                raise InputError(
                    f"{shown_path(self.folder)} was begun with other contents of the files that the campaign names; "
                    "choose another folder"
                )
            if about["versions"].get("strapdown") != versions.get("strapdown"):
                raise InputError(
                    f"{shown_path(self.folder)} was begun with strapdown {about['versions'].get('strapdown')}, this is "
                    f"{versions.get('strapdown')}; go on with that one, or choose another folder"
                )
        elif not begun and self._parts():
            raise InputError(f"{shown_path(self.folder)} has parts and no {ABOUT}; choose another folder")
        self._remove_half_written()
        there = self.folder / ARCHIVE
        before = Archive(_bytes(there)).digest if there.is_file() else archive.digest
        about = {
            "version": VERSION,
            "title": plan.title,
            "kind": plan.kind,
            "identity": plan.identity,
            "archive": archive.digest,
            "archive_before": before,  # a program that is killed between the two files leaves that one
            "content": _content(archive),
            "versions": versions,
            "grid": {key: list(values) for key, values in plan.space.grid.items()},
            "draws": {key: {draw.kind: list(draw.values)} for key, draw in plan.space.draws.items()},
            "sobol": plan.space.sobol,
            "first": plan.first,
            "runs_of_a_cell": plan.most,
            "until": None if plan.until is None else plan.until.model_dump(),
            "figures": list(plan.figures),
        }
        if not begun:
            self._write_archive(archive)
        with whole_file(self.folder / ABOUT) as tmp:
            tmp.write_text(json.dumps(about, indent=1), encoding="utf-8")
        if begun:
            self._write_archive(archive)

    def _make(self, name: str = "") -> None:
        try:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise InputError(f"cannot make folder {shown_path(self.folder)}: {reason(e)}; choose another") from None

    def _remove_half_written(self) -> None:
        """Files that were being written when a program was killed."""
        hidden = "." + 12 * "[0-9a-f]" + "-"  # as io.atomic names them
        found = [self.folder.glob(f"{hidden}{name}") for name in (ARCHIVE, ABOUT, TABLE)]
        for path in (*(path for some in found for path in some), *(self.folder / PARTS).glob(".*")):
            path.unlink(missing_ok=True)

    def _write_archive(self, archive: Archive) -> None:
        with whole_file(self.folder / ARCHIVE) as tmp:
            tmp.write_bytes(archive.data)

    @contextlib.contextmanager
    def locked(self, wait_s: float = 1.0) -> Iterator[None]:
        """One program at a time writes here; the lock of one that was killed is free. wait_s: for those that only look
        whether it is locked."""
        self._make()
        try:
            lock = (self.folder / LOCK).open("a+b")
        except OSError as e:
            raise InputError(f"cannot write in folder {shown_path(self.folder)}: {reason(e)}; choose another") from None
        with lock as file:
            if importlib.util.find_spec("fcntl") is None:  # no such locks on this system
                yield
                return
            try:
                _flock(file, wait_s)
            except OSError as e:
                if e.errno not in (errno.EAGAIN, errno.EACCES):
                    yield  # a file system without locks
                    return
                raise InputError(
                    f"another program runs the campaign in {shown_path(self.folder)}; wait for it, or choose another "
                    "folder"
                ) from None
            yield

    def is_locked(self) -> bool:
        """Whether a program writes here now."""
        if not (self.folder / LOCK).is_file():
            return False
        try:
            with self.locked(wait_s=0.0):
                return False
        except (InputError, OSError):
            return True

    # parts

    def write(self, table: pa.Table) -> None:
        """A new part; after many small ones, all of them as one."""
        self._write_part(table)
        small = self._parts("part-")
        if len(small) >= MOST_PARTS:
            self._write_part(joined([_read(path) for path in small]), "many")
            for path in small:  # a kill in between leaves keys in two parts, which count once
                path.unlink(missing_ok=True)

    def _write_part(self, table: pa.Table, prefix: str = "part") -> None:
        digest = hashlib.sha256("".join(table.column("key").to_pylist()).encode()).hexdigest()[:16]
        with whole_file(self.folder / PARTS / f"{prefix}-{digest}.parquet") as tmp:
            pq.write_table(table, tmp)

    def _parts(self, prefix: str = "") -> list[Path]:
        found = (self.folder / PARTS).glob(f"{prefix}*.parquet")
        return sorted(path for path in found if not path.name.startswith("."))  # a dot: it is being written

    def _tables(self, columns: list[str] | None) -> list[pa.Table]:
        for _ in range(_LOOKS):
            with contextlib.suppress(FileNotFoundError):  # joined with others in between: the list is an old one
                return [_read(path, columns) for path in self._parts()]
        raise InputError(f"{shown_path(self.folder / PARTS)} changes all the time; look again")

    def rows(self, columns: list[str] | None = None) -> pa.Table | None:
        """All rows so far, each key once; None if there are none."""
        tables = [table for table in self._tables(columns) if len(table)]
        if not tables:
            return None
        whole = joined(tables)
        _, first = np.unique(
            np.asarray(whole.column("key").to_numpy(zero_copy_only=False), dtype=str), return_index=True
        )
        return whole.take(pa.array(first))  # sorted by key, as np.unique has them

    def table(self, plan: Plan) -> pa.Table | None:
        """The table of the campaign: sorted by key, without runs that it does not have (any more), or does not need."""
        whole = self.rows()
        if whole is None:
            return None
        index = {cell.name: i for i, cell in enumerate(plan.space.cells())}
        cells = np.array([index.get(name, -1) for name in whole.column("cell").to_pylist()])
        numbers = whole.column("number").to_numpy() - plan.first
        keep = (cells >= 0) & (numbers >= 0) & (numbers < plan.most)
        whole = whole.filter(pa.array(keep))
        if plan.until is not None and len(whole):
            enough = Enough(plan)
            cells, numbers = cells[keep], numbers[keep]
            enough.put(cells, numbers, whole)
            limit = np.array([enough.count(int(i)) for i in range(plan.space.count)])
            whole = whole.filter(pa.array(numbers < limit[cells]))
        return whole.drop_columns([SECONDS])

    def write_table(self, plan: Plan) -> pa.Table | None:
        found = self.table(plan)
        if found is not None:
            with whole_file(self.folder / TABLE) as tmp:
                pq.write_table(found.combine_chunks(), tmp)
        return found

    # how far it is

    def write_status(self, **status: Any) -> None:
        with contextlib.suppress(InputError):  # a status is worth no failure: the next part reports a full disk
            path = self.folder / STATUS
            tmp = path.with_name(f".{STATUS}")
            try:
                tmp.write_text(json.dumps({**status, "at": time.time(), "process": os.getpid()}), encoding="utf-8")
                tmp.replace(path)
            except OSError:
                tmp.unlink(missing_ok=True)

    def status(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.folder / STATUS).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def seconds(self) -> np.ndarray:
        """CPU time of each run so far."""
        rows = self.rows(["key", SECONDS])
        return np.zeros(0) if rows is None else pc.fill_null(rows.column(SECONDS), 0.0).to_numpy()


def _flock(file: Any, wait_s: float) -> None:
    import fcntl

    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.05)


def _bytes(path: Path) -> bytes:
    """Of a file that is our own: it is read and written again, as no input is."""
    with refused_unreadable(path, "file"):
        return path.read_bytes()


def _read(path: Path, columns: list[str] | None = None) -> pa.Table:
    try:
        return pq.read_table(path, columns=columns)
    except (pa.ArrowInvalid, OSError) as e:
        if isinstance(e, FileNotFoundError):
            raise
        raise InputError(f"{path} is damaged; delete it, and run the campaign again to repeat its runs") from None


def _content(archive: Archive) -> str:
    """Hash of all files but the campaign's own, whose grid and number of runs may grow."""
    manifest = archive.manifest
    if manifest["kind"] == "function":  # its code is part of the plan's identity
        return ""
    others = {name: digest for name, digest in manifest["files"].items() if name != manifest["main"]}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()

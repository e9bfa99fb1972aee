"""A folder of results, replaced as a whole: after a failure or a kill it has the old results or the new ones.

All files of a run are first written into a separate folder inside the output folder. When the last one is complete, a
list of the moves is written (the plan). Then the files are moved to their places at once. A kill while they are written
keeps the old results. A kill between two moves leaves the plan. The next run that writes into the folder finishes it
first, and so does every command that names the folder or a file in it.

The names of the files and their writer (the owner, such as "orient") are kept in `.strapdown-files.json`. A later run
of the same owner removes those files of the earlier run that it does not write again. Files that somebody has changed
since are kept. Files that are not on this list belong to the user and are never removed.
"""

import contextlib
import json
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.io.atomic import refuse_input, whole_file, writable_target
from strapdown.regular_file import UNFINISHED as _NEW
from strapdown.regular_file import reason, shown_path

LIST = ".strapdown-files.json"
_PLAN = "plan.json"
_active: set[str] = set()  # of this process


def refuse_folder(folder: str | os.PathLike[str], names: list[str] | tuple[str, ...] = ()) -> None:
    """Refuse a folder into which results of these names cannot be written, before the work begins. Leaves no trace."""
    folder = Path(folder)
    try:
        there = next((each for each in (folder, *folder.absolute().parents) if each.exists()), folder)
        if not there.is_dir():
            raise InputError(f"cannot make folder {shown_path(folder)}: {there} is a file; choose another with -o")
        if not os.access(there, os.W_OK):
            raise InputError(
                f"cannot make folder {shown_path(folder)}: {there} is not writable; choose another with -o"
            )
        if there == folder:
            for name in names:
                writable_target(folder / name)
        elif any(len(os.fsencode(part)) > 255 for part in folder.absolute().relative_to(there).parts):
            raise InputError(f"cannot make folder {shown_path(folder)}: File name too long; choose another with -o")
    except (OSError, ValueError) as e:
        raise InputError(f"cannot make folder {shown_path(folder)}: {reason(e)}; choose another with -o") from None


@contextmanager
def output_folder(folder: str | os.PathLike[str], owner: str) -> Iterator[Path]:
    """An empty folder to write the results into. If the block ends without an error they replace those of `folder`.

    owner: the command, and words that distinguish its results from others in the same folder, such as "reproduce A
    a-e".
    """
    folder = Path(folder)
    made = _make(folder)
    new = folder / f"{_NEW}{os.getpid()}-{secrets.token_hex(4)}"
    _active.add(new.name)
    try:
        _finish_others(folder)
        new.mkdir()
        yield new
        with _no_signals():
            _replace(folder, new, owner)
    except OSError as e:
        raise InputError(f"cannot write into folder {shown_path(folder)}: {reason(e)}; choose another with -o") from e
    except InputError as e:  # it names the file by the place that the user knows
        raise InputError(str(e).replace(str(new), str(folder))) from e
    finally:
        _active.discard(new.name)
        if not (new / _PLAN).exists():
            shutil.rmtree(new, ignore_errors=True)
        for each in made:  # only if nothing came of it
            with contextlib.suppress(OSError):
                each.rmdir()


def _make(folder: Path) -> list[Path]:
    """Make the folders that are missing; returns them, the innermost first."""
    missing = []
    try:
        for each in (folder, *folder.parents):
            if each.exists():
                break
            missing.append(each)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot make folder {shown_path(folder)}: {reason(e)}; choose another with -o") from None
    return missing


def _replace(folder: Path, new: Path, owner: str) -> None:
    names = sorted(path.name for path in new.iterdir())
    for name in names:
        if (folder / name).is_dir():
            raise InputError(f"cannot write {shown_path(folder / name)}: it is a folder; choose another with -o")
        refuse_input(folder / name)
        with contextlib.suppress(OSError):  # as whole_file does
            (new / name).chmod(stat.S_IMODE((folder / name).stat().st_mode))
    known = _listed(folder)
    stale = [
        name
        for other, files in known.items()
        if other == owner or other.startswith(f"{owner} ")
        for name, stamp in files.items()
        if name not in names and _stamp(folder / name) == stamp and not _is_input(folder / name)
    ]
    kept = {
        other: {name: stamp for name, stamp in files.items() if name not in names}
        for other, files in known.items()
        if other != owner and not other.startswith(f"{owner} ")
    }
    kept[owner] = {name: _stamp(new / name) for name in names}
    plan = {"move": names, "remove": stale, "list": {other: files for other, files in kept.items() if files}}
    with whole_file(new / _PLAN) as tmp:
        tmp.write_text(json.dumps(plan), encoding="utf-8")
    _carry_out(folder, new, plan)


def _carry_out(folder: Path, new: Path, plan: dict[str, Any]) -> None:
    """Carry out the plan, also a second time: moves that are already done are skipped."""
    for name in plan["move"]:
        with contextlib.suppress(FileNotFoundError):
            (new / name).replace(folder / name)
    for name in plan["remove"]:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    with whole_file(folder / LIST) as tmp:
        tmp.write_text(json.dumps(plan["list"], indent=1), encoding="utf-8")
    (new / _PLAN).unlink()
    shutil.rmtree(new, ignore_errors=True)


def finish_interrupted(folders: Iterable[Path]) -> None:
    """Carry out the plans that killed runs left in these folders, so that nobody reads results of which a part is
    old.
    """
    for folder in folders:
        with contextlib.suppress(OSError):  # not writable: then it is read as it is
            _finish_others(folder, plans_only=True)


def _finish_others(folder: Path, plans_only: bool = False) -> None:
    """Finish earlier runs: a plan is carried out, and files without a plan are removed. Runs that are still active are
    not touched.
    """
    for new in folder.glob(f"{_NEW}*"):
        process = new.name.removeprefix(_NEW).partition("-")[0]
        other = process.isdigit() and int(process) != os.getpid()
        if new.name in _active or (other and _runs(int(process))):
            continue
        plan = _plan(new / _PLAN)
        if plan is not None:
            _carry_out(folder, new, plan)
        elif not plans_only:
            shutil.rmtree(new, ignore_errors=True)


def _plan(path: Path) -> dict[str, Any] | None:
    """The plan; None if there is none, or if a name would lead out of the folder."""
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        names = [*plan["move"], *plan["remove"]]
        good = all(isinstance(name, str) and name == Path(name).name and name not in ("", "..") for name in names)
        return plan if good and isinstance(plan["list"], dict) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _runs(process: int) -> bool:
    if os.name != "posix":  # elsewhere the question would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _listed(folder: Path) -> dict[str, dict[str, list[int] | None]]:
    """Owner -> file -> stamp; empty where there is no list or it is damaged."""
    try:
        found = json.loads((folder / LIST).read_text(encoding="utf-8"))
        return {
            str(owner): {name: list(stamp) for name, stamp in files.items() if name == Path(name).name}
            for owner, files in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _stamp(path: Path) -> list[int] | None:
    """Size and time of the last change, which show whether a file is unchanged."""
    try:
        info = path.lstat()
    except OSError:
        return None
    return [info.st_size, info.st_mtime_ns]


def _is_input(path: Path) -> bool:
    try:
        refuse_input(path)
    except InputError:
        return True
    return False


@contextmanager
def _no_signals() -> Iterator[None]:
    """Ctrl-C and the like wait until the block has ended."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Files appear whole or not at all: written next to the target, then moved over it in one step."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from strapdown.errors import InputError
from strapdown.regular_file import input_at, reason, shown_path
from strapdown.regular_file import refused_unreadable as refused_unreadable
from strapdown.regular_file import whole_bytes as whole_bytes

# what the disk can answer while a file is being written; other OSErrors of the caller are not ours to explain
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty temporary file with the suffix of `path`; it becomes `path` if the block ends well.

    with whole_file("figure.png") as tmp:
        figure.savefig(tmp)
    """
    target = writable_target(path)
    # the full name at the end keeps all suffixes (.csv.gz), which figure writers choose their format by;
    # cut, because the random part must not push a long name over the file system's 255 bytes
    end = os.fsencode(target.name)[-120:].decode("utf-8", "ignore")
    tmp = target.with_name(f".{secrets.token_hex(6)}-{end}")
    try:
        tmp.open("xb").close()  # plain open, not mkstemp: the new file gets the user's usual permissions
        if target.exists():
            tmp.chmod(stat.S_IMODE(target.stat().st_mode))
    except OSError as e:
        _remove(tmp)
        raise InputError(f"cannot write {shown_path(path)}: {reason(e)}; choose a folder you may write to") from e
    try:
        yield tmp
        with tmp.open("rb") as written:
            os.fsync(written.fileno())  # the new name must not reach the disk before the content
        tmp.replace(target)
    except OSError as e:
        _remove(tmp)
        if e.errno in _DISK_ERRORS:
            raise InputError(f"cannot write {shown_path(path)}: {reason(e)}; nothing was left behind") from e
        raise
    except BaseException:  # also Ctrl-C
        _remove(tmp)
        raise


def writable_target(path: str | os.PathLike[str]) -> Path:
    """The file to replace, behind any symbolic link; refused early, before the caller computes anything."""
    shown = shown_path(path)
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise InputError(f"cannot write {shown}: it is a folder; name a file in it")
        if target.exists() and not target.is_file():
            raise InputError(f"cannot write {shown}: it is not a regular file; name another file")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {shown}: folder {shown_path(target.parent)} does not exist; make it first")
    except (OSError, ValueError) as e:  # no permission to look, name too long, zero byte in the name
        raise InputError(f"cannot write {shown}: {reason(e)}; choose another path") from e
    refuse_input(path)
    return target


def refuse_input(path: str | os.PathLike[str]) -> None:
    """Refuse to overwrite a file that the command has read, under whatever name or link."""
    read_as = input_at(path)
    if read_as is not None:
        raise InputError(f"cannot write {shown_path(path)}: this command reads it ({shown_path(read_as)}); {_OTHER}")


def refuse_overwriting(
    written: Iterable[str | os.PathLike[str] | None], read: Iterable[str | os.PathLike[str] | None]
) -> None:
    """Refuse, before anything is read: no file to write may be one of those to read, or another one to write."""
    inputs = [path for path in read if path is not None]
    outputs = [path for path in written if path is not None]
    for i, output in enumerate(outputs):
        for other in inputs:
            if _same_file(output, other):
                raise InputError(f"cannot write {shown_path(output)}: this command reads it; {_OTHER}")
        for other in outputs[:i]:
            if _same_file(output, other):
                raise InputError(f"{shown_path(output)} is to be written twice; give each result a name of its own")


_OTHER = "choose another name with -o"


def _same_file(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> bool:
    try:
        return os.path.realpath(a) == os.path.realpath(b) or Path(a).samefile(b)
    except (OSError, ValueError):  # one of them does not exist
        return False


def _remove(tmp: Path) -> None:
    with contextlib.suppress(OSError):
        tmp.unlink()

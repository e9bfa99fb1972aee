"""Files appear whole or not at all: written beside the target, then moved over it in one step."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from strapdown.errors import InputError

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
    tmp = target.with_name(f".{secrets.token_hex(6)}-{target.name[-120:]}")
    try:
        tmp.open("xb").close()  # plain open, not mkstemp: the new file gets the user's usual permissions
        if target.exists():
            tmp.chmod(stat.S_IMODE(target.stat().st_mode))
    except OSError as e:
        _remove(tmp)
        raise InputError(f"cannot write {path}: {_reason(e)}; choose a folder you may write to") from e
    try:
        yield tmp
        with tmp.open("rb") as written:
            os.fsync(written.fileno())  # the new name must not reach the disk before the content
        tmp.replace(target)
    except OSError as e:
        _remove(tmp)
        if e.errno in _DISK_ERRORS:
            raise InputError(f"cannot write {path}: {_reason(e)}; nothing was left behind") from e
        raise
    except BaseException:  # also Ctrl-C
        _remove(tmp)
        raise


def writable_target(path: str | os.PathLike[str]) -> Path:
    """The file to replace, behind any symbolic link; refused early, before the caller computes anything."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; name a file in it")
        if target.exists() and not target.is_file():
            raise InputError(f"cannot write {path}: it is not a regular file; name another file")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: folder {target.parent} does not exist; make it first")
    except (OSError, ValueError) as e:  # no permission to look, name too long, zero byte in the name
        raise InputError(f"cannot write {str(path)!r}: {_reason(e)}; choose another path") from e
    return target


def whole_bytes(path: str | os.PathLike[str], kind: str = "file") -> bytes:
    """All bytes of a file, or one sentence on why not."""
    with refused_unreadable(path, kind):
        return Path(path).read_bytes()


@contextmanager
def refused_unreadable(path: str | os.PathLike[str], kind: str = "file") -> Iterator[None]:
    """What the system says to opening and reading a file, as one sentence; kind: what the file should be."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{kind} {path} does not exist; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file in it") from None
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read {path!s}: {_reason(e)}; check the path and its permissions") from e


def _reason(e: Exception) -> str:
    return e.strerror if isinstance(e, OSError) and e.strerror else str(e)


def _remove(tmp: Path) -> None:
    with contextlib.suppress(OSError):
        tmp.unlink()

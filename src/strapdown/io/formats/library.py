"""Libraries that read the formats of others: imported when a file needs them; their errors become one sentence."""

import contextlib
import importlib
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strapdown.errors import InputError, StrapdownError
from strapdown.regular_file import shown_path

INSTALL = "pip install 'strapdown[formats]'"


def library(module: str, path: Path, kind: str) -> Any:
    """The module, or a sentence that names what to install. kind: what the file is, as "a PX4 ULog"."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise InputError(f"{shown_path(path)} is {kind}, which {name} reads or writes; install it: {INSTALL}") from None


@contextmanager
def damage_refused(path: Path, kind: str, quiet: bool = False) -> Iterator[None]:
    """Around calls into a library: whatever a damaged file makes it raise becomes one sentence.

    Libraries raise AssertionError, KeyError, struct.error, RecursionError and more; no list of them is complete.
    quiet: for libraries that print about damage, which may be thousands of lines.
    """
    try:
        with contextlib.ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if quiet:
                stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
                stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
            yield
    except (StrapdownError, KeyboardInterrupt, GeneratorExit):
        raise
    except MemoryError:
        raise InputError(f"{shown_path(path)} asks for more memory than there is; it may be damaged") from None
    except PermissionError as error:
        raise InputError(f"cannot read {shown_path(path)}: {error.strerror}; check its permissions") from None
    except Exception as error:
        text = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())
        raise InputError(
            f"{shown_path(path)} cannot be read as {kind} ({text[:120] or type(error).__name__}); "
            "it may be damaged: copy it again, or record it anew"
        ) from error

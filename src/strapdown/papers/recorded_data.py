"""Folder of recorded data of others, and its .mat files. The data is not in the package, so claims about it need the
folder.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strapdown.errors import InputError

VARIABLE = "STRAPDOWN_DATA"
BESIDE = Path("..") / "shared" / "data"  # from the project's root


def data_folder(given: Path | None = None) -> Path | None:
    """The folder that was given, else that of the environment variable, else the one next to the project; or None."""
    if given is not None:
        if not given.is_dir():
            raise InputError(f"{given} is not a folder; give the folder of the recorded data")
        return given
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_dir():
            raise InputError(f"{VARIABLE} is {named}, which is not a folder; correct it or unset it")
        return Path(named)
    return BESIDE if BESIDE.is_dir() else None


def read_mat(path: Path, names: Sequence[str], what: str) -> dict[str, Any]:
    """The fields of a MATLAB file, which must include these.

    what: description of the file in an error: "a trial of BROAD".
    """
    from scipy.io import loadmat, matlab  # slow to import, and only this needs it

    if not path.is_file():
        raise InputError(f"there is no file {path}; give the path of {what} (.mat)")
    try:
        fields: dict[str, Any] = loadmat(path)
    except (matlab.MatReadError, ValueError, OSError, NotImplementedError, TypeError) as e:
        raise InputError(f"{path} cannot be read as a MATLAB file ({e}); fetch it again") from None
    missing = [name for name in names if name not in fields]
    if missing:
        raise InputError(f"{path} has no {' and no '.join(missing)}; it is not {what}, give one (.mat)")
    return fields

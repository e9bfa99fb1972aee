"""Where recorded data of others lies: not in the package, so claims about it are made only where it is."""

import os
from pathlib import Path

from strapdown.errors import InputError

VARIABLE = "STRAPDOWN_DATA"
BESIDE = Path("..") / "shared" / "data"  # from the project's root


def data_folder(given: Path | None = None) -> Path | None:
    """The folder that was given, else that of the environment variable, else the one beside the project; or None."""
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

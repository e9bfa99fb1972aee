"""Data kept of each module on this computer, by its serial number: calibration and chip settings."""

import json
import os
from pathlib import Path

from strapdown.devices.protocol.messages import Settings
from strapdown.errors import InputError

_CALIBRATION, _SETTINGS = "calibration.toml", "settings.json"


def modules_folder() -> Path:
    """Folder STRAPDOWN_MODULES, else the user's folder for data of programs."""
    given = os.environ.get("STRAPDOWN_MODULES")
    if given:
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".local" / "share")
    return Path(base) / "strapdown" / "modules"


def known_modules() -> list[str]:
    """Serial numbers of modules with stored data."""
    folder = modules_folder()
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def calibration_file(serial: str) -> Path:
    """Where the module's calibration is, or would be."""
    return modules_folder() / serial / _CALIBRATION


def read_settings(serial: str) -> Settings:
    """The settings with which the module was used last; if none are stored, settings that change nothing."""
    path = modules_folder() / serial / _SETTINGS
    if not path.is_file():
        return Settings()
    try:
        found = json.loads(path.read_text("utf-8"))
        return Settings(**{name: int(found[name]) for name in Settings._fields if name in found})
    except (ValueError, TypeError, OSError):
        raise InputError(f"{path} does not hold the settings of a module; remove it") from None


def keep_settings(serial: str, settings: Settings) -> None:
    folder = modules_folder() / serial
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{_SETTINGS}.new"
    new.write_text(json.dumps(settings._asdict(), indent=2) + "\n", "utf-8")
    new.replace(folder / _SETTINGS)

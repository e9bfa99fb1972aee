"""Noise of an IMU for look and convert: Kalibr's imu.yaml, sensor models, parts of the catalogue."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.sensors.triad import Triad


def show_noise(path: Path, as_json: bool) -> None:
    """What look prints of an imu.yaml."""
    from strapdown.cli import screen
    from strapdown.sensors.parts.model_file import read_model

    triads, meta = read_model(path)
    if as_json:
        noise = {name: {"white": triad.white[0], "walk": triad.walk[0]} for name, triad in triads.items()}
        screen.show_json({"log": str(path), "format": "Kalibr imu.yaml", "meta": dict(meta), "noise": noise})
        return
    rows = [
        [name, f"{t.white[0]:.6g} {t.unit}/sqrt(Hz)", f"{t.walk[0]:.6g} {t.unit}/s/sqrt(Hz)"]
        for name, t in triads.items()
    ]
    screen.show_table(f"{path}: Kalibr imu.yaml", ["instrument", "white noise N", "random walk K"], rows, left=3)
    for key, value in meta.items():
        print(f"{key}: {value}")
    print("\nWhat can be done with it:")
    print(f"  use its noise: strapdown navigate LOG --part {path}")
    print(f"  a virtual sensor with this noise: strapdown convert {path} my_imu.toml")


def convert_noise(source: Path, target: Path) -> tuple[str, ...]:
    """From an imu.yaml, a sensor model or a part to an imu.yaml or a sensor model; what could not be held."""
    from strapdown.errors import InputError
    from strapdown.sensors.parts.model_file import write_model

    if target.suffix.lower() not in (".yaml", ".yml", ".toml", ".json"):
        raise InputError(f"{source} holds the noise of an IMU; write it as .toml, .json (MATLAB) or .yaml (Kalibr)")
    triads, meta = _noise(source)
    return write_model(target, triads, meta)


def _noise(source: Path) -> "tuple[dict[str, Triad], dict[str, Any]]":
    from strapdown.errors import InputError
    from strapdown.sensors.parts.model_file import read_model
    from strapdown.sensors.parts.part import load_part

    if source.is_file() and source.suffix.lower() in (".yaml", ".yml", ".json"):
        return read_model(source)
    if source.is_file():
        try:
            return read_model(source)
        except InputError as error:
            if '"format"' not in str(error):
                raise
    nominal = load_part(str(source)).nominal()
    return nominal.triads(), dict(nominal.meta())

"""Paper C's calibration before its tests, each method on many virtual specimens and on recorded logs."""

from collections.abc import Callable
from pathlib import Path

from strapdown.papers import c_magnetometer, c_positions, c_positions_recorded, c_static, c_temperature
from strapdown.papers.claim import Claim

METHODS = {"positions": c_positions, "magnetometer": c_magnetometer, "temperature": c_temperature, "static": c_static}
RECORDED = {"imu_tk_xsens": c_positions_recorded, "qmc5883l": c_magnetometer, "mpu6050": c_static}


def calibration_claims(
    folder: Path | None, done: Callable[[float], None], runs: int = 100
) -> tuple[list[Claim], list[str]]:
    """Claims, and sentences on what was left out. folder: of recorded data; runs: virtual specimens per method."""
    found, notes = [], []
    for i, method in enumerate(METHODS.values()):
        found += method.claims(lambda x, i=i: done((i + x) / len(METHODS)), runs)
    for name, method in RECORDED.items():
        if folder is not None and (folder / name).is_dir():
            found += method.real_claims(folder)
        else:
            notes.append(f"no recorded data {name} here: give its folder with --data, or in STRAPDOWN_DATA")
    return found, notes

"""Paper C's calibration before its tests, each method on many virtual specimens and on recorded logs."""

from collections.abc import Callable
from pathlib import Path

from strapdown.papers.c import magnetometer as c_magnetometer
from strapdown.papers.c import positions as c_positions
from strapdown.papers.c import positions_recorded as c_positions_recorded
from strapdown.papers.c import static as c_static
from strapdown.papers.c import temperature as c_temperature
from strapdown.papers.outcome import Outcome

METHODS = {"positions": c_positions, "magnetometer": c_magnetometer, "temperature": c_temperature, "static": c_static}
RECORDED = {"imu_tk_xsens": c_positions_recorded, "qmc5883l": c_magnetometer, "mpu6050": c_static}


def reproduce_calibration(
    folder: Path | None, done: Callable[[float], None], runs: int = 100, repeat: int = 0
) -> Outcome:
    """Reproduce the calibration of paper C.

    folder: folder of recorded data.
    runs: virtual specimens per method.
    repeat: other seeds.
    """
    out = Outcome()
    for i, method in enumerate(METHODS.values()):
        out.claims += method.claims(lambda x, i=i: done((i + x) / len(METHODS)), runs, repeat)
    for name, method in RECORDED.items():
        if folder is not None and (folder / name).is_dir():
            out.claims += method.real_claims(folder)
        else:
            out.notes.append(f"the recorded data {name} was not found; set STRAPDOWN_DATA to the folder that holds it")
    return out

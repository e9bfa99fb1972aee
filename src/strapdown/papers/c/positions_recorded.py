"""Calibration by positions on a recorded log, that of imu_tk (Tedaldi, Pretto, Menegatti 2014)."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from strapdown.calibration.poses.accelerometer_fit import PoseTable, fit_model
from strapdown.calibration.poses.accelerometer_model import forces
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.papers.claim import Claim
from strapdown.types import Array, Recording

XSENS_GRAVITY = 9.81744
XSENS_ZERO, XSENS_PER_M_S2, XSENS_PER_RAD_S = 32768.0, 415.0, 4778.0  # counts; nominal, gravity states the first
_OURS = "ours"
_TEDALDI = "Tedaldi, Pretto, Menegatti 2014, data of imu_tk"


def read_xsens(folder: Path) -> Recording:
    """The log of imu_tk: raw counts, by nominal scales."""
    acc, gyr = (np.loadtxt(folder / f"xsens_{name}.mat") for name in ("acc", "gyro"))
    return Recording(
        acc[:, 0],
        acc_s=(acc[:, 1:] - XSENS_ZERO) / XSENS_PER_M_S2,
        gyr_s=(gyr[:, 1:] - XSENS_ZERO) / XSENS_PER_RAD_S,
        meta={"part": "Xsens MTi", "source": _TEDALDI},
    )


def every_second_left_out(poses: PoseTable) -> Array:
    """|f| - g (m/s2) of poses 2, 4, 6... by a full model fitted to poses 1, 3, 5..."""
    odd = slice(0, None, 2)
    some = replace(
        poses,
        rows=poses.rows[odd],
        from_s=poses.from_s[odd],
        until_s=poses.until_s[odd],
        readings=poses.readings[odd],
        white=poses.white[odd],
        drift=None,
        rates=None,
        rates_white=None,
        groups=poses.groups[odd],
    )
    found = fit_model(some, "full", with_left_out=False)
    upper = found.matrix[np.triu_indices(3, 1)]
    x = np.concatenate([found.bias / poses.gravity, np.diag(found.matrix) - 1.0, upper])
    f, _, _ = forces("full", x, poses.readings[1::2], poses.gravity)
    return np.asarray(poses.gravity * (np.linalg.norm(f, axis=1) - 1.0))


def real_claims(folder: Path) -> list[Claim]:
    """Claims on the recorded data set imu_tk_xsens in the folder of recorded data."""
    fit = calibrate_positions(read_xsens(folder / "imu_tk_xsens"), XSENS_GRAVITY)
    assert fit.turns is not None
    mg = XSENS_GRAVITY * 1e-3

    def rms(values: Array, unit: float) -> float:
        return float(np.sqrt(np.mean(values**2))) / unit

    place, log = "C/calibration/positions/xsens", f"Xsens log of imu_tk, {len(fit.poses)} poses, model {fit.model}"
    acc, turns = fit.accelerometer, fit.turns
    return [
        # the figures that imu_tk's own fit leaves on this log: 0.10 and 0.11 mg, with their print rounding and 5 %
        Claim(
            f"{place}/all",
            f"{log}: |f| - g over all poses, rms, mg",
            None,
            rms(acc.after, mg),
            0.105,
            _TEDALDI,
            kind="requirement",
        ),
        Claim(
            f"{place}/every-second",
            f"{log}: |f| - g of every second pose, excluded from a fit to the others, rms, mg (the other way round the "
            "fit lacks the two poses with x up and is not determined)",
            None,
            rms(every_second_left_out(fit.poses), mg),
            0.12,
            _TEDALDI,
            kind="requirement",
        ),
        Claim(
            f"{place}/left-out",
            f"{log}: |f| - g of each pose by a fit without it and all others within 3 deg of it, rms, mg",
            None,
            rms(acc.left_out, mg),
            0.15,
            _OURS,
            kind="requirement",
        ),
        Claim(
            f"{place}/turns",
            f"{log}: {int(turns.used.sum())} turns, gravity carried from pose to pose, rms error, deg (offset alone "
            f"taken off: {rms(turns.before, float(np.radians(1.0))):.2f} deg)",
            None,
            rms(turns.after, float(np.radians(1.0))),
            0.2,
            _OURS,
            kind="requirement",
        ),
    ]

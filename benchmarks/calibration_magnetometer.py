"""Magnetometer calibration of a million readings, against scipy's least squares on the same ellipsoid."""

import numpy as np
from scipy.optimize import least_squares

from benchmarks.measure import interleaved
from strapdown.calibration.magnetometer.ellipsoid import fit_ellipsoid, unpacked
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.papers.c.magnetometer import calibrated, specimen
from strapdown.types import Recording

N = 1_000_000
MOST_S = 2.0


def million() -> Recording:
    """A virtual log repeated, with noise of its own in every repetition."""
    log = specimen(0).log
    times = -(-N // len(log))
    fresh = np.random.default_rng(1).normal(0.0, 0.1, (N, 3))
    mag, acc = (np.tile(np.asarray(x), (times, 1))[:N] for x in (log.mag_s, log.acc_s))
    return Recording(np.arange(N) / 50.0, mag_s=mag + fresh, acc_s=acc + 0.1 * fresh)


def by_scipy(mag: np.ndarray) -> np.ndarray:
    """Hard iron and the six elements of the symmetric matrix: the norm's error, Cauchy's robust loss."""
    middle, half = 0.5 * (mag.min(axis=0) + mag.max(axis=0)), 0.5 * float(np.ptp(mag, axis=0).max())
    y = (mag - middle) / half

    def error(p: np.ndarray) -> np.ndarray:
        return np.linalg.norm((y - p[:3]) @ unpacked(p[3:]), axis=1) - 1.0

    p = least_squares(error, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0], loss="cauchy", f_scale=0.01).x
    return np.concatenate([middle + half * p[:3], p[3:] / half])


def report() -> list[str]:
    log = million()
    mag = np.asarray(log.mag_s)
    block = (np.arange(N) * 400 // N).astype(np.int64)
    found = fit_ellipsoid(mag, block)
    calibrated(log)
    best = interleaved(
        {
            "ellipsoid": lambda: fit_ellipsoid(mag, block),
            "alone": lambda: calibrate_magnetometer(Recording(log.t, mag_s=mag)),
            "aligned": lambda: calibrated(log),
        },
        rounds=2,
    )
    peer = interleaved({"scipy": lambda: by_scipy(mag)}, rounds=1)["scipy"]
    apart = np.abs(by_scipy(mag[::50])[:3] - found.centre).max()
    met = "met" if best["aligned"] < MOST_S else "MISSED"
    return [
        f"Magnetometer calibration, {N:.0e} readings, CPU seconds (peer: scipy least_squares, the ellipsoid only)",
        f"  ellipsoid with sigmas  {best['ellipsoid']:6.2f} s   scipy {peer:6.2f} s   "
        f"{peer / best['ellipsoid']:5.1f} times as fast   (centres {apart:.1g} uT apart)",
        f"  whole calibration          {best['alone']:6.2f} s   with an accelerometer to align {best['aligned']:6.2f} s"
        f"   target {MOST_S:g} s: {met}",
    ]


if __name__ == "__main__":
    for line in report():
        print(line)

"""Calibration by positions of a log of a million samples, and its fit against scipy's generic least squares."""

import numpy as np
from scipy.optimize import least_squares

from benchmarks.measure import cpu_seconds, interleaved
from strapdown.calibration.poses.accelerometer_fit import fit_model
from strapdown.calibration.poses.accelerometer_model import forces, solve
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.motion.paths.poses import Poses
from strapdown.papers.c.positions import POSES, G, Ideal, hand_held
from strapdown.sensors.parts.part import load_part

SAMPLES, RATE_HZ = 1_000_000, 1000.0
TARGET_S = 2.0  # the whole calibration of a million samples, on one core
TARGET_RATIO = 2.0  # the fit alone, against scipy on the same residuals


def run() -> dict[str, float]:
    """CPU seconds: the whole calibration, and the fit of the accelerometer's 12 unknowns alone by ours and by scipy."""
    triads = load_part("mpu6050").draw(1).triads()
    short = hand_held()
    seconds = SAMPLES / RATE_HZ / POSES
    motion = Poses(short.q_nb, hold_s=seconds - short.turn_s, turn_s=short.turn_s)
    log = Ideal.of(motion, RATE_HZ).log(triads, 1)
    small = Ideal.of(short).log(triads, 1)
    fit = calibrate_positions(small, G, model="cubic", noise=triads)  # compiled
    poses = fit.poses
    white = 1e-4 * np.ones(len(poses))
    covariance = np.diag(white**2)

    def residual(x: np.ndarray) -> np.ndarray:
        f, _, _ = forces("cubic", x, poses.readings, G)
        return (np.linalg.norm(f, axis=1) - 1.0) / white

    ours = solve("cubic", poses.readings, G, covariance)
    peer = least_squares(residual, np.zeros(12), xtol=1e-12, ftol=1e-12, gtol=1e-12)
    agree = float(np.abs(ours.x - peer.x).max())
    times = interleaved(
        {
            "solve": lambda: solve("cubic", poses.readings, G, covariance),
            "scipy": lambda: least_squares(residual, np.zeros(12), xtol=1e-12, ftol=1e-12, gtol=1e-12),
            "fit with covariances and left-out poses": lambda: fit_model(poses, "cubic"),
        }
    )
    whole = cpu_seconds(lambda: calibrate_positions(log, G, model="cubic", noise=triads), 2)
    return {**times, "whole": whole, "samples": float(len(log)), "agree": agree}


def report() -> list[str]:
    """The lines of the benchmark, each with its target."""
    s = run()
    ratio = s["scipy"] / s["solve"]
    return [
        f"{s['samples']:.0f} samples at {RATE_HZ:g} Hz, 24 poses, accelerometer and gyroscope: "
        f"{s['whole']:.2f} s, target {TARGET_S:g}: "
        f"{'met' if s['whole'] <= TARGET_S else 'MISSED'}",
        f"12 unknowns from 24 poses {1e3 * s['solve']:.2f} ms   scipy least_squares {1e3 * s['scipy']:.2f} ms   "
        f"{ratio:.1f} times as fast, target {TARGET_RATIO:g}: {'met' if ratio >= TARGET_RATIO else 'MISSED'}   "
        f"largest difference {s['agree']:.1e}",
        f"the same with covariances and every pose excluded once "
        f"{1e3 * s['fit with covariances and left-out poses']:.0f} ms",
    ]


if __name__ == "__main__":
    print("Calibration by positions, CPU time")
    for line in report():
        print(" ", line)

"""Bias against temperature from a million samples, against scipy's generic least squares on the same curve."""

import numpy as np

from benchmarks.measure import interleaved
from strapdown.calibration.temperature.bias_curve import TemperatureFit, calibrate_temperature
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.types import Array, Recording

N, RATE_HZ = 1_000_000, 100.0
TARGET_S = 2.0
REFERENCE_C = 25.0


def chamber_log() -> Recording:
    """A virtual MPU-6050 at rest from 0 to 60 degC and back."""
    t = np.arange(N) / RATE_HZ
    celsius = np.interp(t, [0.0, 0.5 * t[-1], t[-1]], [0.0, 60.0, 0.0])
    f_s = np.tile([0.0, 0.0, 9.81], (N, 1))
    triads = load_part("MPU-6050").draw(0, rate_hz=RATE_HZ).triads()
    acc = measure(triads["accelerometer"], t, f_s, stream=seed_of(0, "acc"), temperature_c=celsius).values
    gyr = measure(
        triads["gyroscope"], t, 0.0 * f_s, stream=seed_of(0, "gyr"), temperature_c=celsius, specific_force=f_s
    ).values
    return Recording(t, gyr, acc, temperature=celsius)


def generic(log: Recording) -> Array:
    """A cubic for each of six axes by scipy.optimize.least_squares on all samples, as one would write it first.

    It has no drift in its model: its sigmas would be those of white noise.
    """
    from scipy.optimize import least_squares

    assert log.gyr_s is not None and log.acc_s is not None and log.temperature is not None
    warm = (log.temperature - REFERENCE_C) / 30.0
    powers = warm[:, None] ** np.arange(4)
    columns = [*log.gyr_s.T, *log.acc_s.T]
    return np.array([least_squares(lambda c, y=y: powers @ c - y, np.zeros(4)).x for y in columns])


def run() -> tuple[dict[str, float], float]:
    """CPU seconds of ours and of the peer, and the largest difference of the two gyroscope curves, deg/s."""
    log = chamber_log()
    fits: dict[str, TemperatureFit | Array] = {}

    def ours() -> None:
        fits["ours"] = calibrate_temperature(log)

    def peer() -> None:
        fits["scipy"] = generic(log)

    seconds = interleaved({"ours": ours, "scipy": peer}, rounds=3)
    fit, curve = fits["ours"], fits["scipy"]
    assert isinstance(fit, TemperatureFit) and isinstance(curve, np.ndarray)
    celsius = np.linspace(0.0, 60.0, 61)
    mine, _ = fit.curves["gyroscope"].curve(fit.calibration.corrections["gyroscope"], celsius)
    theirs = (((celsius - REFERENCE_C) / 30.0)[:, None] ** np.arange(4)) @ curve[:3].T
    return seconds, float(np.degrees(np.abs(mine - theirs).max()))


def report() -> list[str]:
    seconds, apart = run()
    met = "met" if seconds["ours"] <= TARGET_S else "MISSED"
    return [
        f"{N} samples, six axes: {seconds['ours']:.2f} s with still phases, degree and sigmas, "
        f"target {TARGET_S:g}: {met}   scipy least_squares, cubic only {seconds['scipy']:.2f} s   "
        f"{seconds['scipy'] / seconds['ours']:.1f} times as fast   curves within {apart:.4f} deg/s"
    ]


if __name__ == "__main__":
    print("Bias against temperature, CPU time on one core")
    for line in report():
        print(" ", line)

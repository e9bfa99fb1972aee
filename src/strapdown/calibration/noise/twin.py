"""The virtual twin of the user's own part: the noise of its log as the settings of a virtual sensor."""

import math
from pathlib import Path
from typing import Any

from strapdown.calibration.noise.model import FLOOR, MARKOV_PEAK, MARKOV_PEAK_AT, Noise
from strapdown.calibration.noise.static_log import InstrumentNoise, LogNoise
from strapdown.errors import InputError
from strapdown.sensors.triad import Triad, Vector

EARTH_RATE_DEG_H = 15.04


def twin_of(log: LogNoise) -> dict[str, Triad]:
    """A sensor for each instrument, to be read at the log's rate.

    A constant that the log does not show is zero. The mean of the gyroscope is its bias. The mean of the others is
    mostly gravity and the Earth's field, and is not used. A log that was touched is refused.
    """
    if log.touched:
        raise InputError(f"{log.touched[0]}, a twin is made from a log at rest only")
    return {name: _triad(found, log) for name, found in log.instruments.items()}


def _triad(found: InstrumentNoise, log: LogNoise) -> Triad:
    noises = [fit.noise for fit in found.fits]
    steps = [step for step in found.steps if step is not None]
    resolution = min(steps) if len(steps) == 3 else 0.0
    return Triad(
        unit=found.unit,
        bias=_vector(found.mean.tolist()) if found.name == "gyroscope" else (0.0, 0.0, 0.0),
        white=_vector([_without_rounding(noise.white, resolution, log.step_s) for noise in noises]),
        instability=_vector([_floor(noise) for noise in noises]),
        instability_band_s=_band(noises, log),
        walk=_vector([noise.walk for noise in noises]),
        quantisation=_vector([noise.quantisation for noise in noises]),
        resolution=resolution,
    )


def _without_rounding(white: float, resolution: float, step_s: float) -> float:
    """The log's white noise includes that of its rounding, resolution^2 / 12 per sample, which the twin adds itself."""
    return math.sqrt(max(0.0, white**2 - step_s * resolution**2 / 12.0))


def _floor(noise: Noise) -> float:
    """B of the twin; a Gauss-Markov process becomes the B whose floor is as high as its peak."""
    return math.hypot(noise.instability, MARKOV_PEAK * noise.markov / FLOOR)


def _band(noises: list[Noise], log: LogNoise) -> tuple[float, float]:
    shortest = 10.0 * log.step_s
    times = [MARKOV_PEAK_AT * noise.markov_s for noise in noises if noise.markov > 0.0]
    if times and not any(noise.instability > 0.0 for noise in noises):
        return max(shortest, min(times) / 2.0), max(times) * 2.0
    # from well below the time at which the floor comes out of the white noise
    out = [(noise.white / (FLOOR * noise.instability)) ** 2 for noise in noises if noise.instability > 0.0]
    low = max(min([1.0, *(0.3 * time for time in out)]), shortest)
    return low, max(1000.0, 1000.0 * low, log.duration_s)


def _vector(values: list[float]) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def twin_meta(log: LogNoise, source: str) -> dict[str, Any]:
    """Origin of the twin."""
    return {
        "source": f"Allan analysis of {source}",
        "rate_hz": round(1.0 / log.step_s, 9),
        "duration_s": round(log.duration_s, 6),
        "convention": CONVENTION,
        "remarks": remarks(log),
    }


CONVENTION = (
    "N: the integral of the noise after t s has the sigma N sqrt(t), the Allan deviation is N / sqrt(tau); "
    "data sheets print the one-sided density N sqrt(2). B: the Allan floor is 0.664 B. K: the drift after t s has the "
    "sigma K sqrt(t)"
)


def remarks(log: LogNoise) -> list[str]:
    """Notes on what the twin omits or approximates."""
    said = []
    if "gyroscope" in log.instruments:
        said.append(
            f"the gyroscope's bias is the mean of the log; it holds up to {EARTH_RATE_DEG_H} deg/h of Earth rate"
        )
    for name, found in log.instruments.items():
        for axis, fit in zip("xyz", found.fits, strict=True):
            if fit.noise.ramp != 0.0:
                said.append(f"{name} {axis}: a steady drift of {fit.noise.ramp:.3g} {found.unit}/s is not in the twin")
            if fit.noise.markov > 0.0:
                said.append(f"{name} {axis}: a Gauss-Markov process stands in the twin as a floor of the same height")
    return said


def write_twin(path: str | Path, log: LogNoise, source: str) -> dict[str, Triad]:
    """Write the twin as a sensor model file."""
    from strapdown.sensors.parts.model_file import write_model

    triads = twin_of(log)
    write_model(path, triads, twin_meta(log, source))
    return triads

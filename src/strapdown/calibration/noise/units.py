"""Noise constants in the units that people use, and as plain values for files and pages."""

import math
from dataclasses import asdict
from typing import Any

from strapdown.calibration.noise.fit import Term
from strapdown.calibration.noise.static_log import InstrumentNoise, LogNoise
from strapdown.calibration.noise.twin import CONVENTION
from strapdown.earth import STANDARD_GRAVITY

_UG = 1e6 / STANDARD_GRAVITY
_DEG = 180.0 / math.pi
_ONE_SIDED = math.sqrt(2.0)

# term -> its SI unit
SI: dict[str, dict[str, str]] = {
    "accelerometer": {
        "white": "m/s2/sqrt(Hz)",
        "instability": "m/s2",
        "walk": "m/s2/sqrt(s)",
        "quantisation": "m/s",
        "ramp": "m/s3",
        "markov": "m/s2",
        "markov_s": "s",
    },
    "gyroscope": {
        "white": "rad/s/sqrt(Hz)",
        "instability": "rad/s",
        "walk": "rad/s/sqrt(s)",
        "quantisation": "rad",
        "ramp": "rad/s2",
        "markov": "rad/s",
        "markov_s": "s",
    },
    "magnetometer": {
        "white": "uT/sqrt(Hz)",
        "instability": "uT",
        "walk": "uT/sqrt(s)",
        "quantisation": "uT s",
        "ramp": "uT/s",
        "markov": "uT",
        "markov_s": "s",
    },
}

# term -> usual units with their factors from SI; the first is the one of the table
USUAL: dict[str, dict[str, dict[str, float]]] = {
    "accelerometer": {
        "white": {"ug/sqrt(Hz)": _UG, "m/s/sqrt(h)": 60.0, "ug/sqrt(Hz) one-sided": _UG * _ONE_SIDED},
        "instability": {"ug": _UG},
        "walk": {"ug/sqrt(s)": _UG, "m/s2/sqrt(h)": 60.0},
        "quantisation": {"mm/s": 1e3},
        "ramp": {"ug/s": _UG},
        "markov": {"ug": _UG},
        "markov_s": {"s": 1.0},
    },
    "gyroscope": {
        "white": {"deg/s/sqrt(Hz)": _DEG, "deg/sqrt(h)": 60.0 * _DEG, "deg/s/sqrt(Hz) one-sided": _DEG * _ONE_SIDED},
        "instability": {"deg/h": 3600.0 * _DEG, "deg/s": _DEG},
        "walk": {"deg/h/sqrt(h)": 216000.0 * _DEG, "deg/s/sqrt(s)": _DEG},
        "quantisation": {"arcsec": 3600.0 * _DEG, "deg": _DEG},
        "ramp": {"deg/h/h": 3600.0**2 * _DEG},
        "markov": {"deg/h": 3600.0 * _DEG},
        "markov_s": {"s": 1.0},
    },
    "magnetometer": {
        "white": {"nT/sqrt(Hz)": 1e3, "nT/sqrt(Hz) one-sided": 1e3 * _ONE_SIDED},
        "instability": {"nT": 1e3},
        "walk": {"nT/sqrt(s)": 1e3},
        "quantisation": {"nT s": 1e3},
        "ramp": {"nT/s": 1e3},
        "markov": {"nT": 1e3},
        "markov_s": {"s": 1.0},
    },
}


def as_document(log: LogNoise, with_fit: bool) -> dict[str, Any]:
    """Everything as plain values, ready for JSON."""
    document: dict[str, Any] = {
        "rate_hz": 1.0 / log.step_s,
        "samples": log.samples,
        "duration_s": log.duration_s,
        "convention": CONVENTION,
        "instruments": {name: _instrument(found, with_fit) for name, found in log.instruments.items()},
        "notes": list(log.notes),
    }
    return document


def _instrument(found: InstrumentNoise, with_fit: bool) -> dict[str, Any]:
    axes = {}
    for i, axis in enumerate("xyz"):
        band, fit = found.bands[i], found.fits[i]
        axes[axis] = {
            "mean": float(found.mean[i]),
            "resolution": found.steps[i],
            "deviation": found.curve.deviation[:, i].tolist(),
            "low": band.low.tolist(),
            "high": band.high.tolist(),
            "degrees_of_freedom": band.freedom.tolist(),
        }
        if with_fit:
            axes[axis]["highest_hz"] = fit.highest_hz
            axes[axis]["fit"] = {name: _term(found.name, name, term) for name, term in fit.terms.items()}
    return {
        "unit": found.unit,
        "tau_s": found.curve.tau_s.tolist(),
        "band_probability": found.bands[0].probability,
        "axes": axes,
    }


def _term(instrument: str, name: str, term: Term) -> dict[str, Any]:
    in_si = {**asdict(term), "unit": SI[instrument][name]}
    usual = {
        unit: {key: None if value is None else value * factor for key, value in _numbers(term).items()}
        for unit, factor in USUAL[instrument][name].items()
    }
    return {**in_si, "usual": usual}


def _numbers(term: Term) -> dict[str, float | None]:
    return {"value": term.value, "sigma": term.sigma, "at_most": term.at_most}

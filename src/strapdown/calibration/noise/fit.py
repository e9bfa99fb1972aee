"""Noise constants of an axis from a log at rest, each with its standard deviation, or with the reason for having none.

A process is in the result only if the log needs it: without it, -2 log likelihood must rise by at least 9. By chance
this happens once in about 700 logs. Otherwise its value is None, with a reason and the largest value the log allows.
"""

from dataclasses import dataclass, replace

import numpy as np

from strapdown.calibration.noise.model import Noise, markov_shape, spectrum_shapes
from strapdown.calibration.noise.spectrum_fit import Likely, Spectrum, most_likely, sigmas, spectrum
from strapdown.types import Array

TERMS = ("white", "instability", "walk", "quantisation", "ramp", "markov", "markov_s")
_POWERS = ("white", "instability", "walk", "quantisation")
_SLOW = ("instability", "walk", "ramp")
_NEEDED = 9.0  # in -2 log likelihood per constant: three sigmas
_BOUND = 2.706  # the same for a one-sided bound of 95 %
_MISFIT = 0.1  # of the power in an octave: 5 % of the sigma is no reason to speak
_ALARM = np.log(1e-5)  # chance of speaking without reason
_LEAST_COEFFICIENTS = 150
_MOST_HALVINGS = 6  # of the band: a low-pass at 1/100 of the rate can be excluded


@dataclass(frozen=True)
class Term:
    """A constant with its standard deviation; or no value, the reason, and its upper limit (95 %)."""

    value: float | None
    sigma: float | None = None
    at_most: float | None = None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class AxisFit:
    """Result of the fit for one axis.

    highest_hz: frequencies above it were excluded from the fit.
    """

    terms: dict[str, Term]
    noise: Noise
    highest_hz: float
    notes: tuple[str, ...]


def fit_noise(readings: Array, step_s: float) -> AxisFit:
    """Noise of one axis at rest, sampled every step_s seconds."""
    scale = float(readings.std())  # all constants go with the size of the readings
    whole = spectrum(readings / scale, step_s)
    spec, found = _band_that_fits(whole)
    terms = {name: _scaled(term, 1.0 if name == "markov_s" else scale) for name, term in _terms(spec, found).items()}
    nyquist = 0.5 / step_s
    highest = nyquist * min(1.0, (spec.k[-1] + 1) / whole.samples)
    highest = nyquist if len(spec.k) == len(whole.k) else highest
    notes = []
    if highest < nyquist:
        notes.append(
            f"above {highest:.3g} Hz the spectrum is not that of such noise (a low-pass in the sensor, or vibration); "
            f"times below {0.5 / highest:.3g} s were excluded from the fit"
        )
    odd = _unexplained(spec, found.likely)
    if odd is not None:
        notes.append(
            f"the noise model does not explain the readings around {odd:.2g} Hz (times near {0.4 / odd:.2g} s): "
            "vibration, temperature, or a sensor that was not at rest; take the constants with care"
        )
    noise = Noise(**{name: term.value for name, term in terms.items() if term.value is not None})
    return AxisFit(terms, noise, highest, tuple(notes))


@dataclass(frozen=True, eq=False)
class _Found:
    """The processes that a log needs."""

    names: tuple[str, ...]
    likely: Likely
    markov_s: float | None = None

    @property
    def cost(self) -> float:
        return self.likely.deviance + _NEEDED * (len(self.names) + (self.markov_s is not None))


def _band_that_fits(whole: Spectrum) -> tuple[Spectrum, _Found]:
    """The spectrum up to the frequency to which it can be explained, and its explanation; if there is none, the whole
    spectrum.
    """
    first = _needed(whole)
    spec, found = whole, first
    for _ in range(_MOST_HALVINGS + 1):
        if _unexplained(spec, found.likely) is None:
            return spec, found
        spec = spec.below(0.5 * spec.k[-1])
        if spec.freedom.sum() < _LEAST_COEFFICIENTS:
            break
        found = _needed(spec)
    return whole, first


def _unexplained(spec: Spectrum, likely: Likely) -> float | None:
    """Frequency of the octave that is explained worst, None where all are explained."""
    from scipy.stats import chi2  # takes a second to load

    worst, at = _ALARM, None
    high = spec.k[-1]
    while high > 2:
        rows = (spec.k <= high) & (spec.k > 0.5 * high)
        freedom = spec.freedom[rows].sum()
        power = np.sum(spec.freedom[rows] * spec.residual_power(likely.ramp)[rows] / likely.total[rows])
        chance = min(chi2.logsf(power / (1.0 + _MISFIT), freedom), chi2.logcdf(power / (1.0 - _MISFIT), freedom))
        if chance < worst:
            worst, at = chance, 0.7 * high / (2.0 * spec.samples * spec.step)
        high *= 0.5
    return at


def _fit(spec: Spectrum, names: tuple[str, ...], markov_s: float | None = None, fixed: Array | None = None) -> _Found:
    all_shapes = spectrum_shapes(spec.k, spec.samples, spec.step)
    if markov_s is not None:
        all_shapes["markov"] = markov_shape(spec.k, spec.samples, spec.step, markov_s)
    shapes = {name: all_shapes[name] for name in names if name != "ramp"}
    return _Found(names, most_likely(spec, shapes, "ramp" in names, fixed), markov_s)


def _needed(spec: Spectrum) -> _Found:
    """Start with all processes and remove the least needed one after another; then try a Gauss-Markov process."""
    best = _without_the_needless(spec, _fit(spec, (*_POWERS, "ramp")))
    if {"instability", "walk"} & set(best.names):
        lone = tuple(name for name in best.names if name not in ("instability", "walk", "ramp"))
        for names in ((*lone, "markov"), (*lone, "markov", "walk"), (*lone, "markov", "ramp")):
            worth = best.cost + _NEEDED * len(lone)  # of the others some may not be needed next to it
            trial = _best_correlation(spec, names, worth)
            if trial is not None and trial.cost < worth:
                best = min(best, _without_the_needless(spec, trial), key=lambda found: found.cost)
    return best


def _without_the_needless(spec: Spectrum, found: _Found) -> _Found:
    while len(found.names) > 1:
        shorter = [tuple(n for n in found.names if n != name) for name in found.names if name != "markov"]
        # a drift alone is no noise
        trials = [_fit(spec, names, found.markov_s) for names in shorter if names != ("ramp",)]
        best = min(trials, key=lambda trial: trial.cost)
        if best.cost >= found.cost:
            break
        found = best
    return found


def _best_correlation(spec: Spectrum, names: tuple[str, ...], worth: float) -> _Found | None:
    """The most likely correlation time, if the log has at least ten times its length and it has ten samples."""
    low, high = 10.0 * spec.step, 0.1 * spec.samples * spec.step
    if high < 4.0 * low:
        return None
    grid = np.geomspace(low, high, 3 + int(3 * np.log10(high / low)))
    tried = [_fit(spec, names, tau) for tau in grid]
    i = int(np.argmin([trial.likely.deviance for trial in tried]))
    if i in (0, len(grid) - 1) or tried[i].cost > worth + _NEEDED:  # no finer time will make up for that
        return None
    left, middle, right = grid[i - 1], tried[i], grid[i + 1]
    for _ in range(9):  # halves the bracket: to 1 % of the correlation time
        assert middle.markov_s is not None
        for tau in (np.sqrt(left * middle.markov_s), np.sqrt(middle.markov_s * right)):
            trial = _fit(spec, names, float(tau))
            if trial.likely.deviance < middle.likely.deviance:
                left, right = (left, middle.markov_s) if tau < middle.markov_s else (middle.markov_s, right)
                middle = trial
                break
        else:
            left, right = np.sqrt(left * middle.markov_s), np.sqrt(middle.markov_s * right)
    return middle


def _terms(spec: Spectrum, found: _Found) -> dict[str, Term]:
    """Values with sigmas, and upper limits for processes that are not found."""
    likely = found.likely
    values = {name: float(np.sqrt(square)) for name, square in likely.squares.items()}
    shapes = spectrum_shapes(spec.k, spec.samples, spec.step)
    gradients = {}
    for name, value in values.items():
        shape = shapes[name] if name in shapes else _markov(spec, found.markov_s)
        gradients[name] = 2.0 * value * shape / likely.total
    if found.markov_s is not None:
        by = 1.01
        change = _markov(spec, found.markov_s * by) - _markov(spec, found.markov_s / by)
        gradients["markov_s"] = values["markov"] ** 2 * change / (likely.total * found.markov_s * (by - 1.0 / by))
        values["markov_s"] = found.markov_s
    deviations = sigmas(spec, likely.total, gradients)
    terms = {name: Term(value, deviations[name]) for name, value in values.items()}
    if "ramp" in found.names:
        terms["ramp"] = Term(likely.ramp, likely.ramp_sigma)
    for name in TERMS:
        if name not in terms:
            terms[name] = _absent(spec, found, name)
    for name in _SLOW:
        for other in _SLOW:
            if name in found.names and other not in found.names and _alike(spec, found, name, other):
                long = _duration(spec)
                sure = f"a log of {long} is too short to be sure that it is not {other}"
                terms[name] = replace(terms[name], reason=terms[name].reason or sure)
                terms[other] = replace(terms[other], reason=f"a log of {long} is too short to tell it from {name}")
    return {name: terms[name] for name in TERMS}


def _markov(spec: Spectrum, correlation_s: float | None) -> Array:
    assert correlation_s is not None
    return markov_shape(spec.k, spec.samples, spec.step, correlation_s)


def _alike(spec: Spectrum, found: _Found, name: str, other: str) -> bool:
    """Would the other process explain the log about as well?"""
    swapped = _fit(spec, tuple(other if n == name else n for n in found.names), found.markov_s)
    return swapped.likely.deviance - found.likely.deviance < _NEEDED


def _absent(spec: Spectrum, found: _Found, name: str) -> Term:
    long = _duration(spec)
    if name in ("markov", "markov_s"):
        return Term(None, reason=f"no Gauss-Markov process is needed to explain {long} of log")
    if name == "ramp":
        with_it = _fit(spec, (*found.names, "ramp"), found.markov_s).likely
        at_most = abs(with_it.ramp) + np.sqrt(_BOUND) * with_it.ramp_sigma
        return Term(None, at_most=float(at_most), reason=f"no steady drift is visible in {long}")
    # where another slow process took what may be this one's, the bound is that without the other
    rivals = [n for n in found.names if name in _SLOW and n in _SLOW]
    models = [found, *(_fit(spec, tuple(n for n in found.names if n != rival), found.markov_s) for rival in rivals)]
    at_most = max(_largest(spec, model, name) for model in models)
    hidden = f"not visible: {long} of log would show it only above the bound"
    return Term(None, at_most=at_most, reason="not visible below the other noise" if name == "quantisation" else hidden)


def _largest(spec: Spectrum, found: _Found, name: str) -> float:
    """The largest constant that the log allows at 95 %, whatever the others are."""
    from scipy.optimize import brentq

    shape = spectrum_shapes(spec.k, spec.samples, spec.step)[name]
    with_it = _fit(spec, (*found.names, name), found.markov_s).likely

    def too_much(log_square: float) -> float:
        tried = _fit(spec, found.names, found.markov_s, np.exp(log_square) * shape)
        return tried.likely.deviance - with_it.deviance - _BOUND

    start = float(np.log(max(with_it.squares[name], 1e-3 * np.min(found.likely.total / shape))))
    low, high = start, start
    while too_much(high) < 0.0 and high < start + 60.0:
        high += 1.5
    while too_much(low) >= 0.0 and low > start - 60.0:
        low -= 1.5
    return float(np.exp(0.5 * brentq(too_much, low, high, xtol=0.02)))


def _duration(spec: Spectrum) -> str:
    seconds = spec.samples * spec.step
    return f"{seconds:.3g} s" if seconds < 7200.0 else f"{seconds / 3600.0:.3g} h"


def _scaled(term: Term, scale: float) -> Term:
    def times(value: float | None) -> float | None:
        return None if value is None else value * scale

    return Term(times(term.value), times(term.sigma), times(term.at_most), term.reason)

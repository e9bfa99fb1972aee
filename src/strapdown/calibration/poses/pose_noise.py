"""Error of the mean of a reading over an interval of time, and its correlation with other intervals.

White noise averages out. The drift does not average out: means over 4 s of neighbouring poses have almost the same
error. So the means of poses have covariances. All standard deviations of a calibration come from them.
"""

import numpy as np

from strapdown.recordings.rest import Still
from strapdown.sensors.triad import Triad, instability_processes
from strapdown.types import Array

FLICKER_BAND_S = (1.0, 1000.0)  # of a part whose noise is not known: that of the catalogue's parts
_BATCH_S = 0.25


def white_variances(readings: Array, stills: tuple[Still, ...], step_s: float) -> Array:
    """Variance of each still mean by its short-term noise, (stills, 3).

    The variance follows from the sigma of the samples. Noise behind a low-pass averages out more slowly than white
    noise. The factor is estimated from means over quarters of a second in all intervals at rest together.
    """
    batch = max(2, round(_BATCH_S / step_s))
    inside, between, freedom = np.zeros(3), np.zeros(3), 0
    variances, counts = np.empty((len(stills), 3)), np.array([s.samples for s in stills], dtype=np.float64)
    for k, still in enumerate(stills):
        values = readings[still.rows]
        variances[k] = values.var(axis=0, ddof=1)
        batches = len(values) // batch
        if batches >= 2:
            cut = values[: batches * batch].reshape(batches, batch, 3).mean(axis=1)
            # neighbouring differences, so that slow drift does not count as noise
            between += 0.5 * np.sum(np.diff(cut, axis=0) ** 2, axis=0) * batch
            inside += variances[k] * (batches - 1)
            freedom += batches - 1
    correlated = np.maximum(between / np.maximum(inside, 1e-300), 1.0) if freedom >= 8 else np.ones(3)
    least = np.median(variances, axis=0)  # a coarse count may hide the noise of a pose altogether
    return np.asarray(np.maximum(variances, 0.25 * least) * correlated / counts[:, None])


def flicker_covariance(starts_s: Array, ends_s: Array, band_s: tuple[float, float] = FLICKER_BAND_S) -> Array:
    """Covariances of the means of flicker noise with B = 1 over the given intervals of time, (m, m)."""
    time_constants, deviations = instability_processes(*band_s)
    total = np.zeros((len(starts_s), len(starts_s)))
    lengths = np.maximum(ends_s - starts_s, 1e-6)
    for tau, deviation in zip(time_constants, deviations, strict=True):

        def twice(u: Array, tau: float = tau) -> Array:  # exp(-|u| / tau) integrated twice
            x = np.abs(u) / tau
            return tau**2 * (np.exp(-x) + x - 1.0)

        total += deviation**2 * (
            twice(ends_s[:, None] - starts_s)
            + twice(starts_s[:, None] - ends_s)
            - twice(ends_s[:, None] - ends_s)
            - twice(starts_s[:, None] - starts_s)
        )
    return np.asarray(total / lengths[:, None] / lengths)


def drift_covariances(triad: Triad, starts_s: Array, ends_s: Array) -> Array:
    """Covariances of the means of a part's drift, instability and walk, over intervals of its log, (3, m, m)."""
    unit = flicker_covariance(starts_s, ends_s, triad.instability_band_s)
    middle = 0.5 * (starts_s + ends_s) - float(starts_s.min())
    walk = np.minimum(middle[:, None], middle)
    return np.array(
        [
            b**2 * unit + k**2 * walk if k > 0.0 else b**2 * unit
            for b, k in zip(triad.instability, triad.walk, strict=True)
        ]
    )

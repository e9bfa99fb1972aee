"""Fixes and heights with times of their own, put into the rows of a recording."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import locked, locked_time
from strapdown.errors import InputError
from strapdown.sample import Fixes, Heights
from strapdown.types import Array, Recording


def with_position_fixes(recording: Recording, t_s: ArrayLike, p_n: ArrayLike, sigma_m: ArrayLike = 0.01) -> Recording:
    """The recording with positions p_n (m) of the sensor, measured at times t_s; sigma_m of each axis: one number for
    all, one for each fix, or three for each. A fix joins the first row that is not earlier; of several the last."""
    own = locked_time(t_s)
    values = locked(p_n, (len(own), 3), "p_n of the fixes", own)
    given = np.asarray(sigma_m, dtype=np.float64)
    sigma = _positive(np.broadcast_to(given[:, None] if given.ndim == 1 else given, (len(own), 3)), own)
    rows, kept = _joined(recording.t, own, "position fix")
    n = len(recording)
    value_n, sigma_n, when = np.zeros((n, 3)), np.ones((n, 3)), recording.t.copy()
    value_n[rows], sigma_n[rows], when[rows] = values[kept], sigma[kept], own[kept]
    fixes = Fixes(value_n, sigma_n, when)
    return replace(recording, position_fix=fixes, new={**recording.new, "position_fix": _flags(n, rows)})


def with_heights(recording: Recording, t_s: ArrayLike, height_m: ArrayLike, sigma_m: ArrayLike = 0.2) -> Recording:
    """The recording with heights of the sensor above the origin of n (m), as of a barometer set to 0 at the start."""
    own = locked_time(t_s)
    values = locked(height_m, (len(own),), "height_m", own)
    sigma = _positive(np.broadcast_to(np.asarray(sigma_m, dtype=np.float64), (len(own),)), own)
    rows, kept = _joined(recording.t, own, "height")
    n = len(recording)
    height, sigma_of = np.zeros(n), np.ones(n)
    height[rows], sigma_of[rows] = values[kept], sigma[kept]
    return replace(recording, height=Heights(height, sigma_of), new={**recording.new, "height": _flags(n, rows)})


def at_their_instants(recording: Recording) -> Recording:
    """The recording with every fix in the row of the instant it belongs to, the first that is not earlier, as if it had
    come without delay: for those who have the whole recording. Of several in a row the last is kept."""
    moved: dict[str, Any] = {}
    new = dict(recording.new)
    for name in ("position_fix", "velocity_fix"):
        fixes: Fixes | None = getattr(recording, name)
        if fixes is None:
            continue
        came = np.flatnonzero(new.get(name, np.ones(len(recording), dtype=bool)))
        row = np.searchsorted(recording.t, fixes.t_s[came])
        came, row = came[fixes.t_s[came] >= recording.t[0]], row[fixes.t_s[came] >= recording.t[0]]
        source = np.arange(len(recording))
        source[row] = came
        t_s = recording.t.copy()
        t_s[row] = fixes.t_s[came]
        moved[name] = Fixes(fixes.value_n[source], fixes.sigma_n[source], t_s)
        new[name] = _flags(len(recording), row)
    return replace(recording, **moved, new=new) if moved else recording


def _flags(n: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    new = np.zeros(n, dtype=bool)
    new[rows] = True
    return new


def _positive(sigma: Array, t: Array) -> Array:
    each = locked(sigma, sigma.shape, "sigma_m", t)
    if not each.min() > 0.0:
        raise InputError("sigma_m has a value that is not above 0; give standard deviations in m")
    return each


def _joined(t: Array, own: Array, what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    row = np.searchsorted(t, own)
    kept = np.flatnonzero((row < len(t)) & (own >= t[0]))
    if len(kept) == 0:
        raise InputError(f"no {what} lies within the times of the recording; check the clocks")
    last = np.append(np.diff(row[kept]) > 0, True)
    return row[kept][last], kept[last]

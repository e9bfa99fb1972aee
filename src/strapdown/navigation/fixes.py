"""Late fixes, moved to the rows of their own instants."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.sample import Fixes
from strapdown.types import Recording


def at_their_instants(recording: Recording) -> Recording:
    """The recording with every fix in the row of its own instant, as if it had come without delay. This is the first
    row that is not earlier. The function needs the whole recording. If a row has several fixes, the last is kept.
    """
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

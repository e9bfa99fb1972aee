"""Result of a run of an orientation filter: a Solution with flags and events."""

from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.kernels.orientation.state import ACC_REJECTED, GAP, MAG_REJECTED, REST
from strapdown.orientation.samples import Samples
from strapdown.recordings.examination.faults import silences
from strapdown.types import Array, Event, Solution

FLAG_BITS = {"acc_rejected": ACC_REJECTED, "mag_rejected": MAG_REJECTED, "rest": REST, "gap": GAP}


def solution_of(
    samples: Samples,
    q: Array,
    bias: Array | None,
    sigma: Array | None,
    flags: Array,
    meta: dict[str, Any],
    longest_step_s: float,
) -> Solution:
    """Rows of a kernel as a Solution, with its flags and events."""
    bits = flags.astype(np.uint8)
    flagged = {key: (bits & np.uint8(bit)) != 0 for key, bit in FLAG_BITS.items()}
    for array in (q, bias, sigma, *flagged.values()):
        if array is not None:
            array.flags.writeable = False  # so it is held as it is
    try:
        return Solution(
            samples.t,
            q,
            meta=meta,
            bias={} if bias is None else {"gyr_s": bias},
            sigma={} if sigma is None else {"attitude_n": sigma},
            flags=flagged,
            events=(*_gaps(samples, longest_step_s), *_silences(samples)),
        )
    except InputError:  # Solution checks every number; here a bad one means that the filter failed
        lost = ~np.isfinite(np.column_stack([x for x in (q, bias, sigma) if x is not None])).all(axis=1)
        if not lost.any():
            raise
    i = int(np.argmax(lost))
    raise InputError(
        f"the filter {meta['filter']} lost its attitude at sample {i} (t = {samples.t[i]:.6g} s): readings or "
        "settings are too large for it; check the units of the log"
    )


def _gaps(samples: Samples, longest_step_s: float) -> tuple[Event, ...]:
    """Steps over which a filter only predicts; a log with only such steps is one event."""
    t, usual_s = samples.t, samples.step_s
    if usual_s > longest_step_s:
        text = (
            f"the usual step of {usual_s:.3g} s is longer than the {longest_step_s:g} s that the filter follows: the "
            "gyroscope alone led it; record faster, or raise longest_step_s"
        )
        return (Event(float(t[0]), float(t[-1]), "gap", text),)
    return tuple(
        Event(
            float(t[i]),
            float(t[i + 1]),
            "gap",
            f"no samples for {t[i + 1] - t[i]:.3g} s: the attitude was predicted over the gap",
        )
        for i in np.flatnonzero(samples.dt[1:] > longest_step_s)
    )


def _silences(samples: Samples) -> list[Event]:
    return [
        Event(
            *(begin, end, "no_field"),
            f"no magnetometer reading for {end - begin:.3g} s: the heading was the gyroscope's",
        )
        for begin, end in silences(samples.t, samples.mag_new)
    ]

"""Events of a solution as sentences: one for each kind, with their number and the time of the first."""

import numpy as np

from strapdown.types import Solution

_WORDS = {
    "gap": "gaps without samples",
    "spike": "jumps of a reading beyond what the sensor can read, bridged by a straight line",
    "stop_doubted": "stops that the controller signalled and the sensor did not confirm",
    "stop_rejected": "stops that were signalled and not used, because the sensor or the filter shows motion",
    "stop_insisted": "stops at which the velocity was found wrong and set to 0: the way before them is uncertain",
    "still_rejected": "stops at which the gyroscope shows that the body turns",
    "heading_rejected": "stretches of disturbed magnetic heading, rejected",
    "floor_rejected": "stretches on which the floor is not flat",
    "sideways_rejected": "slides to the side",
    "upward_rejected": "stretches off the floor",
    "odometer_rejected": "stretches on which the wheel does not fit the motion: it slips or its encoder is dead",
    "no_stance": "long stretches without a stance of the foot",
    "height_rejected": "stretches on which the measured height does not fit the motion",
    "fix_rejected": "position fixes that do not fit the motion",
    "velocity_rejected": "velocity fixes that do not fit the motion",
    "not_updated": "stretches on which the filter's covariance is not positive definite",
}
_WITHOUT_FLAG = {"stop_rejected": "stops that the readings seemed to show, not used because the filter shows motion"}


def notes_of_events(solution: Solution, flag: bool = True, aided: bool = False) -> list[str]:
    """A sentence for each kind of event except the believed stops. Another one where no stop was believed, or none in
    the second half.

    flag: the log has a controller's stop flag.
    aided: the log has fixes, which bound the error too.
    """
    words = _WORDS if flag else {**_WORDS, **_WITHOUT_FLAG}
    notes = []
    kinds = dict.fromkeys(event.kind for event in solution.events if event.kind != "stop_believed")
    for kind in kinds:
        found = [event for event in solution.events if event.kind == kind]
        what = words.get(kind, kind.replace("_", " "))
        notes.append(f"{kind}: {len(found)} (first at t = {found[0].t_s:.2f} s): {what}")
    if aided:
        return notes
    believed = solution.flags.get("stop_believed")
    rows = np.flatnonzero(believed) if believed is not None else np.empty(0, dtype=np.int64)
    if len(rows) == 0:
        notes.append("no stop was believed: the error grows unbounded from the start")
    elif solution.t[-1] - solution.t[rows[-1]] > 0.5 * (solution.t[-1] - solution.t[0]):
        notes.append(
            f"no stop was believed after t = {solution.t[rows[-1]]:.1f} s: the error grows unbounded from there"
        )
    return notes

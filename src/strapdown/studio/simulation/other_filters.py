"""Other orientation filters on the readings of a run: what each would have estimated in the place of the flown one."""

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.static import calibrate_static
from strapdown.environment.session.recording.outcome import DEG, Errors
from strapdown.environment.session.recording.record import SessionRecording
from strapdown.errors import StrapdownError
from strapdown.orientation.catalogue import FILTERS, filter_by_name
from strapdown.rotation import euler_from_q, wrap
from strapdown.studio import messages as m
from strapdown.types import Recording

LONGEST_S = 120.0  # of the interval that is compared: a filter holds the interpreter while it runs, 0.1 s for 120 s
_LEVEL_RAD = np.radians(2.0)  # a vehicle that rests so level calibrates its accelerometer there, as the diagrams do


def other_filters(
    run: SessionRecording, errors: Errors, rest: tuple[float, float] | None, gravity: float
) -> m.OtherFilters | None:
    """RMS errors of all filters with their default settings, after a calibration at rest; None where there is nothing
    to compare: no attitude was estimated, no rest before, or no module with truth.

    rest: an interval at rest before the errors count.
    """
    log = next(
        (r for r in run.recordings.values() if r.gyr_s is not None and r.acc_s is not None and r.truth is not None),
        None,
    )
    if log is None or rest is None or errors.angles is None or not len(errors.t):
        return None
    begin, end = float(errors.t[0]), min(float(errors.t[-1]), float(errors.t[0]) + LONGEST_S)
    flown = errors.angles[errors.t <= end]
    rows = [_row("flown", flown, magnetic=True)]
    try:
        still = log.between(*rest)
        cut = log.between(rest[0], end)
        assert still.truth is not None and cut.truth is not None
        found = calibrate_static(still, gravity=gravity).calibration
        roll, pitch, _ = euler_from_q(still.truth.q_nb)
        if max(np.abs(roll).max(), np.abs(pitch).max()) > _LEVEL_RAD:
            found = Calibration({"gyroscope": found.corrections["gyroscope"]})
        readings = apply(found, cut)
    except StrapdownError:  # too short a rest, a saturated sensor
        return None
    true = np.stack(euler_from_q(cut.truth.q_nb), axis=1)
    counted = cut.t >= begin
    for name in FILTERS:
        angles = _angles(name, readings)
        if angles is not None:
            rows.append(_row(name, wrap(angles - true)[counted], magnetic=cut.mag_s is not None))
    return m.OtherFilters(from_s=begin, to_s=end, rows=rows)


def _angles(name: str, readings: Recording) -> Array | None:
    try:
        return np.stack(euler_from_q(filter_by_name(name).run(readings).q_nb), axis=1)
    except StrapdownError:
        return None


def _row(name: str, errors: Array, magnetic: bool) -> m.FilterRow:
    """RMS errors in deg. Without a field the heading of a filter begins anywhere, so it has no error."""
    roll, pitch, heading = (float(x) for x in np.sqrt(np.mean(errors**2, axis=0)) * DEG)
    return m.FilterRow(name=name, flown=name == "flown", roll=roll, pitch=pitch, heading=heading if magnetic else None)

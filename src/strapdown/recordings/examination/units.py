"""Checks whether the readings of a log are in the stated units. Raw counts, g, deg/s, gauss, kelvin and ms are found
here.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from strapdown.recordings.examination.findings import NOTE, REFUSE, WARN, Finding, LogError
from strapdown.recordings.examination.limits import (
    CALM_M_S2,
    CELSIUS,
    DOUBTFUL_NOISE_RAD_S,
    EARTH_LIKE_M_S2,
    ELSEWHERE,
    FIELD_TURN_RAD,
    FIELD_UT,
    LIKE_GRAVITY,
    MOST_FAULTS,
    MOST_NOISE_RAD_S,
    MOST_OFF_GRAVITY,
    MOST_OFFSET_RAD_S,
    OFF_GRAVITY,
    PART_RATE_RAD_S,
    QUIET_M_S2,
    SLOWEST_S,
    STARTS_OFF_GRAVITY,
    STEADY,
    STILL_RAD_S,
    SUSPECT_S,
    UNCALIBRATED_RAD_S,
    USUAL_RATE_RAD_S,
)
from strapdown.recordings.examination.windows import Windows
from strapdown.rotation import q_rotate
from strapdown.types import Array, Recording

FIELDS: Mapping[str, str] = {"accelerometer": "acc_s", "gyroscope": "gyr_s", "magnetometer": "mag_s"}
_LOOKED_AT = 10_000  # samples: a median needs no more
_HUGE = 1e100  # squares of larger numbers overflow
_STANCES = 0.1  # part of a run in which a foot stands, at least
_DOWN = 0.7  # of the force along minus z: within 45 deg of straight down


def time_findings(recording: Recording) -> list[Finding]:
    step = recording.step_s
    if step < SUSPECT_S:
        return []
    return [Finding("time_unit", REFUSE if step > SLOWEST_S else WARN, {"step_s": step})]


def size_findings(recording: Recording, uses: Iterable[str], gravity: float) -> list[Finding]:
    """Findings by the usual size of the readings, at rest or not."""
    found: list[Finding] = []
    for name in uses:
        values = getattr(recording, FIELDS[name])
        if values is None:
            continue
        size = usual_size(values)
        if name == "accelerometer":
            if size > LIKE_GRAVITY[1] * gravity:  # a foot that runs: only its stances read gravity
                size = usual_size(values, _STANCES)
            found += _force_findings(size, gravity)
        elif name == "gyroscope":
            found += _rate_findings(values, size)
        elif not FIELD_UT[0] < size < FIELD_UT[1] and size > 0.0:
            guess = "gauss" if 0.1 < size < 1.0 else "raw counts or another unit"
            found.append(Finding("magnetometer_unit", REFUSE, {"size": size, "guess": guess}))
    return found


def usual_size(values: Array, part: float = 0.5) -> float:
    """Norm of the rows that this part of them is below: the median."""
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    return float(np.quantile(np.linalg.norm(np.clip(some, -_HUGE, _HUGE), axis=1), part))


def _force_findings(size: float, gravity: float) -> list[Finding]:
    if size == 0.0:
        return [Finding("accelerometer_zero", REFUSE)]
    if LIKE_GRAVITY[0] < size / gravity < LIKE_GRAVITY[1]:
        return []
    if 0.5 < size < 2.0 and gravity > EARTH_LIKE_M_S2:
        guess = "the readings look like g"
    elif size < 0.5 and gravity > EARTH_LIKE_M_S2:
        guess = "gravity was removed from the readings, and a filter needs it: record the acceleration with gravity"
    elif 500.0 < size < 2000.0 and gravity > EARTH_LIKE_M_S2:
        guess = "the readings look like mg, or raw counts"
    else:
        guess = "the readings look like raw counts or another unit"
    return [Finding("accelerometer_unit", REFUSE, {"size": size, "gravity": gravity, "guess": guess})]


def _rate_findings(gyr_s: Array, size: float) -> list[Finding]:
    if size > USUAL_RATE_RAD_S:
        return [Finding("gyroscope_rate", REFUSE, {"rate": size, "where": "at the median"})]
    most = max(float(gyr_s.max()), -float(gyr_s.min()))
    # single readings beyond every part are faults of a wire, which filters reject
    if most > PART_RATE_RAD_S:
        beyond = np.count_nonzero((np.abs(gyr_s) > PART_RATE_RAD_S).any(axis=1)) / len(gyr_s)
        if beyond > MOST_FAULTS:
            where = f"in {100.0 * beyond:.2g} % of the samples"
            return [Finding("gyroscope_rate", REFUSE, {"rate": most, "where": where})]
    return []


def rest_findings(windows: Windows, gravity: float, *, rests: bool, q_bs: Array | None = None) -> list[Finding]:
    """Findings from windows in which the accelerometer is calm.

    rests: whether the log should be at rest there.
    """
    found: list[Finding] = []
    calm = calm_windows(windows)
    if windows.acc_mean is not None and len(calm):
        acc = windows.acc_mean[calm]
        turns = windows.gyr_mean is not None and float(np.median(windows.gyr_rate[calm])) > STILL_RAD_S
        severity = WARN if turns and not rests else REFUSE
        found += _gravity_findings(float(np.median(np.linalg.norm(acc, axis=1))), gravity, "at rest", severity)
        acc = acc if q_bs is None else q_rotate(q_bs, acc)
        size = np.linalg.norm(acc, axis=1)
        if (acc[:, 2] < -_DOWN * size).all() and size.min() > 0.0:
            z = {"z": float(np.median(acc[:, 2])), "size": float(np.median(size)), "where": "wherever the log rests"}
            found.append(Finding("z_down", WARN, z))
    quiet = windows.quietest
    if windows.acc_scatter is not None:
        quiet = quiet[windows.acc_scatter[quiet] < QUIET_M_S2]
    if windows.gyr_mean is not None and len(quiet):
        found += _gyroscope_at_rest(windows, quiet, rests)
    return found


def calm_windows(windows: Windows) -> NDArray[np.int64]:
    """The quietest windows in which the mean force is gravity; none without an accelerometer."""
    if windows.acc_scatter is None:
        return np.empty(0, dtype=np.int64)
    quiet = windows.quietest
    return quiet[windows.acc_scatter[quiet] < CALM_M_S2]


def _gravity_findings(size: float, gravity: float, where: str, severity: str) -> list[Finding]:
    off = size / gravity - 1.0
    numbers = {"size": size, "gravity": gravity, "percent": 100.0 * off, "where": where}
    if abs(off) > MOST_OFF_GRAVITY:
        return [Finding("accelerometer_scale", severity, numbers)]
    if abs(off) > OFF_GRAVITY and where == "at rest":
        return [Finding("accelerometer_scale", NOTE, numbers)]
    return []


def moving_findings(kept: Array, gravity: float) -> list[Finding]:
    """Findings on the units of a log that never rests.

    kept: share of gravity in windows rotated by the gyroscope (axes.gravity_kept): of logs that never rest.
    """
    return _gravity_findings(float(np.median(kept)) * gravity, gravity, "on the average of its motion", WARN)


def _gyroscope_at_rest(windows: Windows, quiet: NDArray[np.int64], rests: bool) -> list[Finding]:
    assert windows.gyr_mean is not None and windows.gyr_scatter is not None and windows.gyr_noise is not None
    mean = windows.gyr_mean[quiet]
    offset = float(np.median(np.linalg.norm(mean, axis=1)))
    # an offset is the same in all of them, whichever way the sensor lies; a turn that goes on is not
    between = float(np.median(np.linalg.norm(mean - np.median(mean, axis=0), axis=1)))
    within = float(np.median(windows.gyr_scatter[quiet]))
    noise = float(np.median(windows.gyr_noise[quiet]))
    steady = offset > MOST_OFFSET_RAD_S and max(within, between) < STEADY * offset
    where = "the accelerometer" if windows.acc_mean is not None else "it"
    numbers = {"offset": offset, "noise": noise, "where": where}
    table = windows.acc_mean is not None
    if (table and noise > MOST_NOISE_RAD_S) or (steady and rests):
        return [Finding("gyroscope_at_rest", REFUSE, numbers)]
    if (table and noise > DOUBTFUL_NOISE_RAD_S) or steady:  # a turntable turns as steadily as a wrong unit reads
        return [Finding("gyroscope_at_rest", WARN, numbers)]
    calm = UNCALIBRATED_RAD_S < offset < MOST_OFFSET_RAD_S and max(within, between) < 0.5 * offset
    if not calm or _turns_there(windows, quiet, offset):
        return []
    # without a field that stands still a steady turn about the vertical reads as an offset does
    meaning = "at rest:" if _field_shows(windows, quiet) else "while the force is steady. If it did not turn then,"
    return [Finding("gyroscope_offset", NOTE, {"rate_dps": float(np.degrees(offset)), "meaning": meaning})]


def _turns_there(windows: Windows, quiet: NDArray[np.int64], offset: float) -> bool:
    """Whether the mean rate of the quiet windows is a turn: the field turns with it, or it is missing elsewhere."""
    if float(np.mean(windows.gyr_rate < 0.5 * offset)) > ELSEWHERE:
        return True
    if not _field_shows(windows, quiet):
        return False
    assert windows.field_turn is not None and windows.field_as_read is not None
    return bool(np.median(windows.field_turn[quiet]) > 0.5 * np.median(windows.field_as_read[quiet]))


def _field_shows(windows: Windows, quiet: NDArray[np.int64]) -> bool:
    """Whether the field would show a turn at the rate that is read."""
    return windows.field_as_read is not None and float(np.median(windows.field_as_read[quiet])) > FIELD_TURN_RAD


def temperature_findings(celsius: Array | None) -> list[Finding]:
    """Findings on the temperature in degC, as thermometers of such parts read it."""
    if celsius is None:
        return []
    low, high = float(celsius.min()), float(celsius.max())
    if CELSIUS[0] <= low and high <= CELSIUS[1]:
        return []
    return [Finding("temperature_unit", REFUSE, {"low": low, "high": high})]


def refuse_slow(recording: Recording) -> None:
    """Refuse steps of half a second or more for methods that follow motion from sample to sample. The unit of time is
    then most often ms.
    """
    if recording.step_s >= SUSPECT_S:
        raise LogError(Finding("time_unit", REFUSE, {"step_s": recording.step_s}))


def refuse_uncalibrated(recording: Recording, rest_s: float, gravity: float) -> None:
    """Refuse a log whose accelerometer does not read gravity within 5 % in its first rest_s, for methods that start
    from this rest.
    """
    if recording.acc_s is None:
        return
    rest = recording.acc_s[recording.t <= recording.t[0] + rest_s]
    size = float(np.linalg.norm(rest.mean(axis=0)))
    if abs(size / gravity - 1.0) > STARTS_OFF_GRAVITY:
        numbers = {"size": size, "gravity": gravity, "percent": 100.0 * (size / gravity - 1.0), "where": "at rest"}
        raise LogError(Finding("accelerometer_scale", REFUSE, numbers))

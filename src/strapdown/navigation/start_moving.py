"""The start of a recording that does not begin at rest: in motion, by its wheels, or at rest on a machine that shakes.

Roll and pitch come from the force less the acceleration of the wheels. The gyroscope carries roll and pitch back to the
first sample. The gyroscope's bias is that of the first stop that wheels or controller show, if there is one.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import (
    LEAST_SAMPLES,
    MOST_FORCE_M_S2,
    Alignment,
    Rest,
    alignment_of,
    attitude_of,
    magnetic_yaw,
    rest_of,
)
from strapdown.navigation.body_origin import sensor_at_start
from strapdown.navigation.start_at_rest import EDGE_S, NORTH_RAD, Heading, as_measured
from strapdown.navigation.stops.wheel import CREEP_M_S
from strapdown.recordings.facts import Facts
from strapdown.recordings.runs import runs_of
from strapdown.rotation import q_exp, q_mul, q_rotate
from strapdown.types import Array, Recording

LEVELS_S = 3.0  # how long the force is averaged
BLOCK_S = 0.5  # means of so long scatter by what is not gravity
LEAST_BLOCKS = 4
SPEED_SIGMA_M_S = 0.1  # of the speed at the first sample, by the wheels
SHORTEST_STAND_S = 1.0
SHORTEST_ROLLED_OUT_S = 0.3  # of a wheel that has already stood for half a second
SEEN_S = 0.1  # within which a wheel is seen to begin to turn
LEAST_BIAS_RAD_S = 3e-4  # a bias read later was another by as much
_WIDE_RAD_S = 1.0  # the filter knows better how wide the bias is
_COMPASS_RAD = 0.05


def _has_word(recording: Recording) -> bool:
    return recording.stop is not None and bool(recording.stop.any()) and not bool(recording.stop.all())


def standing_by_word(recording: Recording) -> NDArray[np.bool_]:
    """Rows at which the controller signals a stop, or at which the wheel has been slower than a creep for half a second
    to either side.
    """
    if _has_word(recording):
        return np.asarray(recording.stop)
    if recording.odometer is None:
        return np.zeros(len(recording), dtype=bool)
    t, way = recording.t, recording.odometer
    before = np.searchsorted(t, t - 0.5)
    after = np.minimum(np.searchsorted(t, t + 0.5), len(t) - 1)
    return np.asarray(np.abs(way[after] - way[before]) < CREEP_M_S * (t[after] - t[before]))


def first_stand(recording: Recording) -> tuple[int, int] | None:
    """First and last row of the first stop that the controller shows for SHORTEST_STAND_S, or the wheels for
    SHORTEST_ROLLED_OUT_S after they have rolled out.
    """
    t = recording.t
    least_s = SHORTEST_STAND_S if _has_word(recording) else SHORTEST_ROLLED_OUT_S
    long = [run for run in runs_of(standing_by_word(recording)) if t[run[1]] - t[run[0]] >= least_s]
    return long[0] if long else None


def stand_at_start_s(recording: Recording) -> float:
    """How long the wheel of a recording has not moved yet at its start (s), without the edge at which a drive begins:
    a wheel has play, and its readings may be held.
    """
    if recording.odometer is None:
        return 0.0
    t, way = recording.t, recording.odometer
    back = np.searchsorted(t, t - SEEN_S)
    moved = np.abs(way - way[back]) >= CREEP_M_S * SEEN_S
    first = int(moved.argmax()) if moved.any() else len(t)
    changes = np.flatnonzero(np.diff(way[first:])) if moved.any() else np.empty(0, dtype=np.int64)
    held_s = float(np.median(np.diff(t[first:][changes]))) if len(changes) > 1 else recording.step_s
    return float(t[first - 1] - t[0]) - max(EDGE_S, held_s)


def start_moving(recording: Recording, facts: Facts, heading: Heading, refused: InputError) -> Start:
    """Start values of a recording that begins without a visible rest.

    refused: why the recording has no rest at its start that readings show.
    """
    stand = first_stand(recording)
    stand_s = stand_at_start_s(recording)
    if stand is not None and stand[0] == 0:
        stand_s = max(stand_s, float(recording.t[stand[1]] - recording.t[0]))
    if stand_s >= LEAST_SAMPLES * recording.step_s:
        aligned = _shaken_stand(recording, facts, heading, stand_s)
        p_n, p_sigma_n = as_measured(sensor_at_start(aligned, facts.q_bs, facts.r_bs_b), recording, stand_s)
        return Start.of(recording, alignment=aligned, p_n=p_n, p_sigma_n=p_sigma_n)
    if recording.odometer is None or recording.gyr_s is None or recording.acc_s is None:
        raise refused
    rows = int(np.searchsorted(recording.t, recording.t[0] + LEVELS_S))
    if rows < 3 * LEAST_SAMPLES:
        raise refused
    speed, gain = _wheel_speed(recording, rows)
    rest = _levelled(recording, facts, rows, speed, gain)
    if stand is not None:  # off line the first stand shows the bias beforehand
        there = slice(stand[0], stand[1] + 1)
        t, gyr_s = recording.t[there], recording.gyr_s[there]
        rest = replace(rest, gyr_s=gyr_s.mean(axis=0), gyr_sigma=np.maximum(_scatter(t, gyr_s), LEAST_BIAS_RAD_S))
    aligned = replace(_aligned(rest, facts, heading, recording), rows=1, rest_s=LEVELS_S)
    q_nb = q_mul(aligned.q_ns, np.asarray(facts.q_bs) * (1.0, -1.0, -1.0, -1.0))
    return Start.of(
        recording,
        alignment=aligned,
        p_n=sensor_at_start(aligned, facts.q_bs, facts.r_bs_b),
        v_n=q_rotate(q_nb, np.array([speed[0], 0.0, 0.0])),
        v_sigma_m_s=SPEED_SIGMA_M_S,
        skip=0,
    )


def _aligned(rest: Rest, facts: Facts, heading: Heading, recording: Recording) -> Alignment:
    yaw, sigma = heading.of(recording)
    by_field = yaw is None
    if yaw is None:
        yaw, sigma = magnetic_yaw(rest, facts.declination_rad, facts.q_bs), _COMPASS_RAD
    return alignment_of(rest, attitude_of(rest, NORTH_RAD if yaw is None else yaw, facts.q_bs), sigma, by_field)


def _shaken_stand(recording: Recording, facts: Facts, heading: Heading, stand_s: float) -> Alignment:
    """Start at a stop that wheels or controller show, on a machine that shakes: sigmas from means over blocks."""
    rest = rest_of(recording, stand_s)
    rows = slice(0, rest.rows)
    assert recording.acc_s is not None and recording.gyr_s is not None
    force = _scatter(recording.t[rows], recording.acc_s[rows]).max() / float(np.linalg.norm(rest.acc_s))
    rest = replace(
        rest,
        acc_sigma=max(rest.acc_sigma, float(force)),
        gyr_sigma=np.maximum(rest.gyr_sigma, _scatter(recording.t[rows], recording.gyr_s[rows])),
    )
    return _aligned(rest, facts, heading, recording)


def _scatter(t: Array, values: Array) -> Array:
    """Standard deviation of the mean, from means over blocks of BLOCK_S, or of a quarter of a shorter time."""
    block = np.floor((t - t[0]) / min(BLOCK_S, (t[-1] - t[0]) / LEAST_BLOCKS)).astype(int)
    means = np.array([values[block == k].mean(axis=0) for k in range(block[-1] + 1) if (block == k).sum() > 1])
    if len(means) < LEAST_BLOCKS:
        return np.asarray(values.std(axis=0))
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(len(means)))


def _wheel_speed(recording: Recording, rows: int) -> tuple[Array, Array]:
    """Speed (m/s) and its derivative (m/s2) of the first rows: slopes over BLOCK_S around each."""
    assert recording.odometer is not None
    t, way = recording.t, recording.odometer
    last = min(int(np.searchsorted(t, t[rows - 1] + BLOCK_S)) + 1, len(t))
    t, way = t[:last], way[:last]

    def slope(x: Array) -> Array:
        a = np.searchsorted(t, t - 0.5 * BLOCK_S)
        b = np.minimum(np.searchsorted(t, t + 0.5 * BLOCK_S), len(t) - 1)
        return np.asarray((x[b] - x[a]) / np.maximum(t[b] - t[a], 1e-9))

    speed = slope(way)
    return speed[:rows], slope(speed)[:rows]


def _levelled(recording: Recording, facts: Facts, rows: int, speed: Array, gain: Array) -> Rest:
    """Means as of a rest at the first sample, from rows in motion."""
    assert recording.gyr_s is not None and recording.acc_s is not None
    q_bs = np.asarray(facts.q_bs)
    gyr_s, acc_s = recording.gyr_s[:rows], recording.acc_s[:rows]
    w_b = q_rotate(q_bs, gyr_s)
    moved_b = np.column_stack([gain, speed * w_b[:, 2], np.zeros(rows)])
    still_s = acc_s - q_rotate(q_bs * (1.0, -1.0, -1.0, -1.0), moved_b)
    q_0k = np.empty((rows, 4))
    q_0k[0] = 1.0, 0.0, 0.0, 0.0
    for k, dt in enumerate(np.diff(recording.t[:rows]), start=1):
        q_0k[k] = q_mul(q_0k[k - 1], q_exp(0.5 * (gyr_s[k] + gyr_s[k - 1]) * dt))
    up = q_rotate(q_0k, still_s)
    if up.std(axis=0).max() > 3.0 * MOST_FORCE_M_S2:
        raise InputError("the log begins in motion that its wheels do not explain; start it at rest, or drive gently")
    mean = up.mean(axis=0)
    sigma = float(_scatter(recording.t[:rows], up).max() / np.linalg.norm(mean))
    mag = None if recording.mag_s is None else q_rotate(q_0k, recording.mag_s[:rows]).mean(axis=0)
    return Rest(rows, LEVELS_S, mean, sigma, np.zeros(3), np.full(3, _WIDE_RAD_S), mag)

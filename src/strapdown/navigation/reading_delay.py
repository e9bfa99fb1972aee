"""The age of readings: behind a part's low-pass a reading belongs to some milliseconds before its time stamp.

A filter follows its readings, so its whole path is late by their age. At a stop this has no effect. In a turn of 1.2
rad/s behind a low-pass of 50 Hz it is 4 mrad of heading. The path of a recording is extrapolated by that time.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.recordings.facts import Facts
from strapdown.rotation import q_exp, q_mul, q_rotate
from strapdown.sensors.triad import Triad
from strapdown.types import Recording, Solution

_PER_ORDER = {1: 1.0, 2: float(np.sqrt(2.0))}  # 2: Butterworth


def delay_s(triad: Triad | None) -> float:
    """Delay of slow changes through the part: that of its low-pass, and the latency of its time stamps; 0 where it has
    none.
    """
    if triad is None:
        return 0.0
    lowpass = 0.0 if triad.bandwidth_hz is None else _PER_ORDER[triad.filter_order] / (2.0 * np.pi * triad.bandwidth_hz)
    return float(lowpass + triad.latency_s)


def carried_on_by_delay(
    solution: Solution, recording: Recording, facts: Facts, standing: NDArray[np.bool_]
) -> Solution:
    """The solution extrapolated by the age of the readings: attitude by the gyroscope's, path by the accelerometer's.

    standing: samples of a stop, which are not changed.
    """
    turn_s, move_s = (delay_s(facts.noise.get(name)) for name in ("gyroscope", "accelerometer"))
    if turn_s == 0.0 and move_s == 0.0:
        return solution
    assert recording.gyr_s is not None and recording.acc_s is not None
    assert solution.p_n is not None and solution.v_n is not None
    moves = ~np.asarray(standing)[:, None]  # at a stop it would add the readings' noise and nothing else
    mounted = np.asarray(facts.q_bs, dtype=np.float64)
    w_b = q_rotate(mounted, recording.gyr_s - solution.bias["gyr_s"]) * moves
    f_b = q_rotate(mounted, recording.acc_s - solution.bias["acc_s"])
    a_n = (q_rotate(solution.q_nb, f_b) + gravity_vector(facts.gravity)) * moves
    return replace(
        solution,
        q_nb=q_mul(solution.q_nb, q_exp(turn_s * w_b)),
        p_n=solution.p_n + move_s * solution.v_n * moves,
        v_n=solution.v_n + move_s * a_n,
        meta={**solution.meta, "delay_s": {"gyroscope": turn_s, "accelerometer": move_s}},
    )

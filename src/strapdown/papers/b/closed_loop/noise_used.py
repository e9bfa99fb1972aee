"""Checks that the noise of the sensors is in the control loop. The true motion must vibrate with it.

A controller that reads the truth flies the same whatever its sensors read, and fails the claim.
"""

from collections.abc import Callable

import numpy as np

from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.session import Session
from strapdown.papers.b.closed_loop.runs import Job, session_of

FACTOR = 100.0  # times the noise of the part
FROM_S, UNTIL_S = 9.0, 12.0  # in the air, sticks level
SEEDS = 3
LEAST = 1.5  # 1.8 to 2.2 measured: low-pass filters and rotors smooth the rest; 1 for a controller on the truth


def mean_shaking_ratio(first_seed: int) -> float:
    """Of some seeds."""
    return float(np.mean([shaking_ratio(first_seed + k) for k in range(SEEDS)]))


def shaking_ratio(seed: int, prepare: Callable[[Session], None] = lambda session: None) -> float:
    """Sigma of the true rates in hover with FACTOR times the noise, over that with the noise of the part.

    prepare: function that changes a session before it runs, such as by another diagram.
    """
    loud, quiet = (_shaking(seed, factor, prepare) for factor in (FACTOR, 1.0))
    return loud / quiet


def _shaking(seed: int, factor: float, prepare: Callable[[Session], None]) -> float:
    session = session_of(Job("quadcopter", seed, sensors={"noise_factor": factor}))
    prepare(session)
    session.advance(UNTIL_S)
    run = recording_of(session)
    return float(np.std(run.truth.w_nb_b[run.t >= FROM_S]))

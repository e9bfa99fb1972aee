"""The cost of navigating grows with the number of samples, and not with the length of windows in samples."""

import time

import numpy as np
import pytest

from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.navigation.carriers.hand import Hand
from strapdown.navigation.carriers.paper_robot import PaperRobot
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.recordings.facts import Facts
from strapdown.types import Recording

G = 9.81
NORTH = Heading(0.5 * np.pi)
# Ten times as many samples. Twice as much again for caches that no longer hold the log, and for chance: other programs
# share the machine. A window that is summed anew at every sample would make it a hundred times.
MOST = 10.0 * 2.0


def ten_seconds(rate_hz, flag):
    path = StopAndGo.straight(0.9, first_rest_s=4.0)
    truth = path.at(np.arange(0.0, 10.0, 1.0 / rate_hz))
    noise = np.sqrt(rate_hz) * np.random.default_rng(1).normal(size=(2, len(truth), 3))
    return Recording(
        truth.t,
        gyr_s=truth.w_nb_b + 1e-4 * noise[0],
        acc_s=truth.specific_force_b(G) + 1e-3 * noise[1],
        stop=path.stopped(truth.t) if flag else None,
    )


def cpu_seconds(work):
    best = np.inf
    for _ in range(2):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


WORKS = {
    "robot": lambda log: navigate(log, WheeledRobot(NORTH), Facts(G)),
    "paper": lambda log: navigate(log, PaperRobot(NORTH), Facts(G)),
    "hand": lambda log: navigate(log, Hand(NORTH), Facts(G)),
    "foot stops": FootStops(gravity=G).find,
    "judge": NoiseStops(window_s=0.3).find,
    "live": lambda log: ForwardStops.of_rest(log.between(0.0, 3.0)).find(log),
}


@pytest.mark.parametrize(("what", "flag"), [*((what, True) for what in WORKS), ("robot", False)])
def test_ten_times_the_rate_costs_ten_times_the_time(what, flag):
    work = WORKS[what]
    work(ten_seconds(200.0, flag))  # compiled
    slow, fast = (ten_seconds(rate_hz, flag) for rate_hz in (2000.0, 20_000.0))
    assert cpu_seconds(lambda: work(fast)) < MOST * max(cpu_seconds(lambda: work(slow)), 0.002)  # s: the clock's own

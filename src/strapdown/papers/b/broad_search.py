"""Settings of our filters searched on some trials of BROAD, and scored on a trial that the search has not used.

For each trial the search is repeated without it, from round numbers. Scores are cached, because the searches are
similar: some minutes in all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strapdown.orientation.lodestar import Lodestar
from strapdown.orientation.mekf import Mekf
from strapdown.papers.b.broad_data import Trial, score, sigma_ratios
from strapdown.types import Solution

_FURTHEST = 20  # steps from the start, a factor of 1000: no search runs away

Steps = tuple[int, ...]  # of each searched setting from its start, in factors of the square root of 2
ScoreOf = Callable[[Steps, int], tuple[float, ...]]  # (steps, trial): total errors of the ways, deg


@dataclass(frozen=True)
class Search:
    """Settings of a filter that are searched, and where the search begins; `ways` are its methods that are scored."""

    filt: Lodestar | Mekf
    starts: tuple[tuple[str, float], ...]
    ways: tuple[str, ...]

    def at(self, steps: Steps) -> Lodestar | Mekf:
        """The filter this many steps from the starts; all other settings are the defaults."""
        found: dict[str, Any] = {
            name: start * math.sqrt(2.0) ** k for (name, start), k in zip(self.starts, steps, strict=True)
        }
        return replace(self.filt, **found)

    def solved(self, steps: Steps, way: str, trial: Trial) -> Solution:
        solution: Solution = getattr(self.at(steps), way)(trial.recording)
        return solution


LODESTAR = Search(
    Lodestar(),
    (
        ("mag_noise_deg", 1.0),
        ("mag_noise_growth", 10.0),
        ("mag_walk_deg", 0.5),
        ("drift_dps", 0.1),
        ("matrix_percent", 0.2),
    ),
    ("run", "smooth"),
)
MEKF = Search(Mekf(), (("gyr_turn", 0.001), ("mag_disturbance_deg", 1.0), ("mag_disturbance_s", 1.0)), ("run",))


@dataclass(frozen=True)
class Excluded:
    """Mean total errors (deg) by way, of trials that the search did not use, and the settings it chose for each."""

    trials: list[Trial]
    search: Search
    totals_deg: tuple[float, ...]
    chosen: list[Steps]

    def sigma_ratios(self, way: str) -> tuple[float, float]:
        """Error over stated sigma of heading and inclination, mean of the trials, with these settings."""
        rows = [
            sigma_ratios(self.search.solved(steps, way, trial), trial)
            for steps, trial in zip(self.chosen, self.trials, strict=True)
        ]
        heading, inclination = np.mean(rows, axis=0).tolist()
        return heading, inclination


def excluded(
    trials: list[Trial], search: Search, done: Callable[[float], None], score_of: ScoreOf | None = None
) -> Excluded:
    """Each trial with the settings that were searched without it.

    score_of: function that gives the scores of a trial; by default the filter is run.
    """
    scored = Scores(trials, search) if score_of is None else score_of
    scores, chosen = [], []
    for k in range(len(trials)):
        chosen.append(searched([i for i in range(len(trials)) if i != k], scored, len(search.starts)))
        scores.append(scored(chosen[-1], k))
        done((k + 1) / len(trials))
    return Excluded(trials, search, tuple(np.mean(scores, axis=0).tolist()), chosen)


def searched(seen: list[int], score_of: ScoreOf, count: int) -> Steps:
    """The least sum of the mean scores over the given trials, by coordinates: two steps at a time, then one.

    count: number of settings.
    """

    def cost(steps: Steps) -> float:
        return float(np.mean([sum(score_of(steps, i)) for i in seen]))

    at: Steps = (0,) * count
    least = cost(at)
    for stride in (2, 1):
        moved = True
        while moved:
            moved = False
            for axis in range(len(at)):
                for way in (stride, -stride):
                    while max(abs(x) for x in at) < _FURTHEST:
                        there = (*at[:axis], at[axis] + way, *at[axis + 1 :])
                        found = cost(there)
                        if not found < least:
                            break
                        at, least, moved = there, found, True
    return at


class Scores:
    """Scores of the filter at some settings on a trial, cached."""

    def __init__(self, trials: list[Trial], search: Search) -> None:
        self.trials, self.search = trials, search
        self.known: dict[tuple[Steps, int], tuple[float, ...]] = {}

    def __call__(self, steps: Steps, i: int) -> tuple[float, ...]:
        if (steps, i) not in self.known:
            trial = self.trials[i]
            ways = (self.search.solved(steps, way, trial) for way in self.search.ways)
            self.known[steps, i] = tuple(score(way, trial).total_deg for way in ways)
        return self.known[steps, i]

"""The filter on a family of drives: whether its sigma is right, and whether it is better than simple dead reckoning.

Settings were chosen on seeds below FIRST_SEED and on other drives of the same families.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from strapdown.navigation.carriers.by_name import carrier_named
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.program import Navigated, navigate
from strapdown.papers.c.robustness.families import FAMILIES, Case, case
from strapdown.papers.c.robustness.specimens import PARTS
from strapdown.papers.chance import mean_limit, most_of
from strapdown.papers.claim import Claim
from strapdown.rotation import q_conj, q_log, q_mul
from strapdown.types import Array

SEEDS, FIRST_SEED = 20, 9000
LEAST, MOST = 0.5, 2.0  # mean of the normalised squares of a family
LARGEST = 10.0  # of a run that does not announce that it cannot be trusted
FALSE_ALARMS = 0.02
WORSE = 1.1  # rms of the error at the end, against the better of wheel x gyroscope and free
BIAS_SIGMAS = 3.0  # of one number; so many numbers exceed it by chance, and the largest of all by more
_TIMES = 24  # of a run, at which squares are taken
_C = "figure asked of this product"


@dataclass(frozen=True)
class Run:
    """Figures of one run.

    position, velocity, attitude: normalised squares of a component, mean over the run.
    end_m: horizontal error at the end of our filter, of wheel x gyroscope (None without a wheel) and of `free`.
    bias: errors of the gyroscope's bias after each stop, in sigmas, in size.
    warned: the solution announces that it cannot be trusted.
    """

    position: float
    velocity: float
    attitude: float
    end_m: float
    wheel_m: float | None
    free_m: float
    bias: tuple[float, ...]
    warned: bool

    @property
    def largest(self) -> float:
        return max(self.position, self.velocity, self.attitude)


def run_of(one: Case) -> Run:
    found = _navigated(one, one.vehicle)
    free = _navigated(one, "free")
    position, velocity, attitude = squares(one, found)
    return Run(
        position,
        velocity,
        attitude,
        _end_error(one, found.solution.p_n),
        None if one.log.odometer is None else _end_error(one, wheel_and_gyroscope(one)),
        _end_error(one, free.solution.p_n),
        _bias_sigmas(one, found),
        bool(found.warnings),
    )


def _navigated(one: Case, vehicle: str) -> Navigated:
    robot = WheeledRobot(one.heading, lever_sigma_m=one.lever_sigma_m)
    return navigate(one.log, carrier_named(vehicle, robot, None), one.specimen.facts())


def squares(one: Case, found: Navigated) -> tuple[float, float, float]:
    """Normalised squares of position, velocity and attitude, each the mean over components and times after the first
    eighth. The velocity counts while the body moves: at a stop the true one is 0 to the bit, and no sigma of a real
    machine is.
    """
    truth, solution = one.log.truth, found.solution
    assert truth is not None and solution.p_n is not None and solution.v_n is not None
    rows = np.linspace(len(solution) // 8, len(solution) - 1, _TIMES).astype(int)
    errors = {
        "p_n": (truth.p_n - truth.p_n[0] - solution.p_n)[rows],
        "v_n": (truth.v_n - solution.v_n)[rows],
        "attitude_n": q_log(q_mul(truth.q_nb[rows], q_conj(solution.q_nb[rows]))),
    }
    all_of = {name: (error / solution.sigma[name][rows]) ** 2 for name, error in errors.items()}
    moves = np.linalg.norm(truth.v_n[rows], axis=1) > 0.0
    return (
        float(all_of["p_n"].mean()),
        float(all_of["v_n"][moves].mean()) if moves.any() else 1.0,
        float(all_of["attitude_n"].mean()),
    )


def wheel_and_gyroscope(one: Case) -> Array:
    """p_n of plain dead reckoning: the wheel's travel along the integral of the gyroscope about z. The bias is the mean
    of the first stop that the controller signals. Without one it is the mean of the first second in which the wheel is
    at rest.
    """
    log = one.log
    assert log.odometer is not None and log.gyr_s is not None and one.heading.yaw_rad is not None
    travel, dt = np.diff(log.odometer, prepend=log.odometer[0]), np.diff(log.t, prepend=log.t[0])
    size = round(1.0 / log.step_s)
    stands = log.odometer[size:] == log.odometer[:-size]
    first = int(np.argmax(stands)) if stands.any() else 0
    last = first + size
    while last < len(log) and log.odometer[last] == log.odometer[first]:
        last += 1
    rate = log.gyr_s[:, 2] - (log.gyr_s[first:last, 2].mean() if stands.any() else 0.0)
    yaw = one.heading.yaw_rad + np.cumsum(rate * dt) - 0.5 * rate * dt
    return np.cumsum(np.column_stack([travel * np.cos(yaw), travel * np.sin(yaw), np.zeros(len(log))]), axis=0)


def _end_error(one: Case, p_n: Array | None) -> float:
    assert one.log.truth is not None and p_n is not None
    true = one.log.truth.p_n
    return float(np.linalg.norm((true[-1] - true[0] - p_n[-1])[:2]))


def _bias_sigmas(one: Case, found: Navigated) -> tuple[float, ...]:
    """Of three axes after each stop. The true bias of a calibrated log: reading less true rate, mean over the stop."""
    log, solution = one.log, found.solution
    assert log.truth is not None and log.gyr_s is not None
    sigmas: list[float] = []
    for first, last in found.stops.rows:
        if log.t[last] - log.t[first] > 1.0:
            over = slice(first, last + 1)
            true = (log.gyr_s[over] - log.truth.w_nb_b[over]).mean(axis=0)
            noise2 = (log.gyr_s[over] - log.truth.w_nb_b[over]).var(axis=0) / (last - first)
            sigma = np.sqrt(solution.sigma["gyr_s"][last] ** 2 + noise2)
            sigmas += (np.abs(solution.bias["gyr_s"][last] - true) / sigma).tolist()
    return tuple(sigmas)


def family_claims(name: str, runs: Sequence[Run]) -> list[Claim]:
    place, on = f"C/robustness/{name.replace(' ', '-')}", f"{name}, {len(runs)} drives"
    made = []
    for what in ("position", "velocity", "attitude"):
        mean = float(np.mean([getattr(run, what) for run in runs]))
        text = f"{on}: normalised squares of a component of the {what}, mean (1 is right)"
        made.append(Claim(f"{place}/{what}/least", text, None, mean, LEAST, _C, ">=", kind="requirement"))
        made.append(Claim(f"{place}/{what}/most", text, None, mean, MOST, _C, kind="requirement"))
    silent = max((run.largest for run in runs if not run.warned), default=0.0)
    text = f"{on}: largest such mean of a run that announces no divergence"
    made.append(Claim(f"{place}/silent", text, None, silent, LARGEST, _C, kind="requirement"))
    false = float(np.mean([run.warned and run.largest < 9.0 for run in runs]))
    text = f"{on}: part of the runs that announce a divergence although the error is within 3 sigma"
    made.append(Claim(f"{place}/alarms", text, None, false, FALSE_ALARMS, _C, kind="requirement"))
    ours, free = (_rms([getattr(run, which) for run in runs]) for which in ("end_m", "free_m"))
    wheel = [run.wheel_m for run in runs if run.wheel_m is not None]
    peer = min(free, _rms(wheel)) if wheel else free
    text = f"{on}: error at the end, rms, over the better of wheel x gyroscope and free ({ours:.2f} m, {peer:.2f} m)"
    made.append(Claim(f"{place}/end", text, None, ours / peer, WORSE, _C, kind="requirement"))
    return made + _bias_claims(place, on, np.array([each for run in runs for each in run.bias]))


def _bias_claims(place: str, on: str, sigmas: Array) -> list[Claim]:
    """Asked is 3 sigma after every stop. Of so many numbers with a right sigma 0.3 % are beyond 3, so the limits are
    those of this many normal numbers (papers/chance.py).
    """
    count, source = max(len(sigmas), 1), f"{_C}; limit for so many normal numbers"
    beyond, allowed = int((sigmas > BIAS_SIGMAS).sum()), most_of(count, float(2.0 * ndtr(-BIAS_SIGMAS)))
    text = f"{on}: gyroscope's bias after a stop, numbers of {len(sigmas)} beyond {BIAS_SIGMAS:g} sigma"
    largest, limit = float(sigmas.max(initial=0.0)), max(mean_limit(1, count), BIAS_SIGMAS)
    return [
        Claim(f"{place}/bias", text, None, beyond, allowed, source, kind="requirement"),
        Claim(
            f"{place}/bias/largest",
            f"{on}: gyroscope's bias after a stop, largest of {len(sigmas)} errors, in sigmas",
            *(None, largest, limit, source),
            kind="requirement",
        ),
    ]


def claims(
    done: Callable[[float], None],
    seeds: int = SEEDS,
    first_seed: int = FIRST_SEED,
    families: Sequence[str] = tuple(FAMILIES),
    parts: Sequence[str] = PARTS,
) -> list[Claim]:
    """Claims on each family, by each part, on this many seeds."""
    made: list[Claim] = []
    for k, family in enumerate(families):
        runs = []
        for seed in range(first_seed, first_seed + seeds):
            runs += [run_of(case(family, part, seed)) for part in parts]
            done((k + (seed - first_seed + 1) / seeds) / len(families))
        made += family_claims(family, runs)
    return made


def _rms(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

"""Every filter on the available BROAD trials, peers measured in the same run, and our settings cross-validated.

The defaults of Lodestar were searched on these trials, so their scores here are fitted. The claims are about scores of
trials that the search has not used (broad_search.py).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from strapdown.orientation.catalogue import FILTERS
from strapdown.papers.b.broad_data import Score, Trial, all_trials, score
from strapdown.papers.b.broad_search import LODESTAR, MEKF, Excluded, excluded
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Outcome, Table
from strapdown.types import Array, Recording, Solution

SOURCE = "BROAD (Laidig et al. 2021), trials at hand; RMSE over the movement, mean of the trials"
ONLINE_DEG, OFFLINE_DEG, MEKF_DEG, MEKF_WORST_DEG = 2.45, 1.30, 3.0, 10.0
SIGMA_LEAST, SIGMA_MOST = 0.7, 1.5  # error over stated sigma, mean of the trials
_SAME_DEG = 0.01  # deg: two programs of one filter may differ by so much in their mean errors


@dataclass(frozen=True)
class BroadTable:
    """Scores by method and trial, and sentences on methods that could not be measured."""

    scores: dict[str, dict[str, Score]]
    notes: tuple[str, ...]

    def mean(self, method: str) -> Score:
        rows = np.array(list(self.scores[method].values()))
        return Score(*rows.mean(axis=0).tolist())


def broad_outcome(folder: Path, done: Callable[[float], None]) -> Outcome:
    """Claims, the table of all methods and its scores for JSON."""
    claims, table = broad_claims(folder, done)
    rows = [[method, *(f"{x:.2f}" for x in table.mean(method))] for method in table.scores]
    count = len(next(iter(table.scores.values())))
    title = f"BROAD, {count} trials: RMSE over the movement, mean of the trials; every method with its defaults"
    columns = ("method", "total, deg", "heading, deg", "inclination, deg")
    scores = {
        method: {"mean": table.mean(method)._asdict(), "trials": {name: s._asdict() for name, s in trials.items()}}
        for method, trials in table.scores.items()
    }
    return Outcome(claims, [Table(title, columns, rows)], notes=list(table.notes), more={"broad": scores})


def broad_claims(folder: Path, done: Callable[[float], None]) -> tuple[list[Claim], BroadTable]:
    """All filters and peers on the trials of a folder."""
    trials = all_trials(folder)
    scores: dict[str, dict[str, Score]] = {}
    methods = {**_ours(), **_peers()}
    for i, (name, method) in enumerate(methods.items()):
        scores[name] = {trial.name: score(method(trial), trial) for trial in trials}
        done(0.1 * (i + 1) / len(methods))
    notes = [
        f"{name} is not installed, so it was not compared" for name in ("vqf", "imufusion", "ahrs") if not _has(name)
    ]
    table = BroadTable(scores, tuple(notes))
    if len(trials) < 2:
        alone = "settings cannot be cross-validated on one trial; give a folder with more of them"
        return _claims(table), replace(table, notes=(*notes, alone))
    lodestar = excluded(trials, LODESTAR, lambda x: done(0.1 + 0.7 * x))
    mekf = excluded(trials, MEKF, lambda x: done(0.8 + 0.2 * x))
    sigmas = {
        "lodestar": lodestar.sigma_ratios("run"),
        "lodestar, off line": lodestar.sigma_ratios("smooth"),
        "mekf": mekf.sigma_ratios("run"),
    }
    return [*_excluded_claims(lodestar, mekf, len(trials)), *sigma_claims(sigmas), *_claims(table)], table


def _excluded_claims(lodestar: Excluded, mekf: Excluded, count: int) -> list[Claim]:
    how = (
        f"mean of {count} trials, each with the settings that the search of docs/decisions/0007 chose on the others, "
        "begun anew from round numbers"
    )
    structure = "its structure was thought out on these trials"
    found = []
    for name, filt, search, total, limit in (
        ("online", "Lodestar on line", LODESTAR, lodestar.totals_deg[0], ONLINE_DEG),
        ("offline", "Lodestar off line", LODESTAR, lodestar.totals_deg[1], OFFLINE_DEG),
        ("mekf", "mekf", MEKF, mekf.totals_deg[0], MEKF_DEG),
    ):
        what = f"{filt}, total, deg: {how} ({len(search.starts)} settings); {structure}"
        found.append(Claim(f"B/orientation/broad/{name}", what, None, total, limit, SOURCE, kind="requirement"))
    return found


def sigma_claims(ratios: dict[str, tuple[float, float]]) -> list[Claim]:
    """Stated sigmas are right in the mean of the trials.

    ratios: of heading and inclination, by method.
    """
    listed = "; ".join(f"{name} {h:.2f} and {i:.2f}" for name, (h, i) in ratios.items())
    every = [ratio for pair in ratios.values() for ratio in pair]
    what = f"of error over stated sigma (rms of a trial, mean of the trials), heading and inclination: {listed}"
    place = "B/orientation/broad/sigma"
    return [
        Claim(f"{place}-least", f"least {what}", None, min(every), SIGMA_LEAST, SOURCE, ">=", kind="requirement"),
        Claim(f"{place}-most", f"largest {what}", None, max(every), SIGMA_MOST, SOURCE, kind="requirement"),
    ]


def _claims(table: BroadTable) -> list[Claim]:
    worst = max(score.total_deg for score in table.scores["mekf"].values())
    what = "mekf with its defaults, total of its worst trial, deg"
    found = [Claim("B/orientation/broad/mekf-worst", what, None, worst, MEKF_WORST_DEG, SOURCE, kind="requirement")]
    if not _has("vqf"):
        return found
    for name, peer in (("vqf", "package vqf"), ("vqf, off line", "package offlineVQF")):
        apart = abs(table.mean(name).total_deg - table.mean(peer).total_deg)
        what = f"our {name} and {peer} in the same run, defaults of the package: difference of the total error, deg"
        place = f"B/orientation/broad/{_word(name)}"
        found.append(Claim(place, what, None, apart, _SAME_DEG, SOURCE, kind="self-check"))
    for name, peer in (("lodestar", "package vqf"), ("lodestar, off line", "package offlineVQF")):
        ratio = table.mean(peer).total_deg / table.mean(name).total_deg
        what = f"total error of {peer} over that of {name}, same run, defaults; ours were fitted on the 14 trials"
        place = f"B/orientation/broad/{_word(name)}-ratio"
        found.append(Claim(place, what, None, ratio, 1.0, SOURCE, ">=", kind="beats"))
    return found


def _word(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "-")


def _ours() -> dict[str, Callable[[Trial], Solution]]:
    methods: dict[str, Callable[[Trial], Solution]] = {}
    for name, entry in FILTERS.items():
        filt = entry.cls()
        methods[name] = partial(_over, filt.run)
        if hasattr(filt, "smooth"):
            methods[f"{name}, off line"] = partial(_over, filt.smooth)
    return methods


def _over(way: Callable[[Recording], Solution], trial: Trial) -> Solution:
    return way(trial.recording)


def _has(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def _peers() -> dict[str, Callable[[Trial], Solution]]:
    """Packages of others, with their defaults, expressed in our frame (x east, y north)."""
    peers: dict[str, Callable[[Trial], Solution]] = {}
    if _has("vqf"):
        peers |= {"package vqf": _package_vqf, "package offlineVQF": _package_offline_vqf}
    if _has("imufusion"):
        peers["package imufusion"] = _package_imufusion
    if _has("ahrs"):
        peers["package ahrs, Madgwick"] = _package_ahrs
    return peers


def _solution(trial: Trial, q_ns: Array) -> Solution:
    q_ns = np.asarray(q_ns, dtype=np.float64)
    return Solution(trial.recording.t, q_ns / np.linalg.norm(q_ns, axis=1, keepdims=True))


def _readings(trial: Trial) -> tuple[Array, Array, Array, float]:
    r = trial.recording
    assert r.gyr_s is not None and r.acc_s is not None and r.mag_s is not None
    step = float(np.median(np.diff(r.t)))
    return r.gyr_s.copy(), r.acc_s.copy(), r.mag_s.copy(), step


def _package_vqf(trial: Trial) -> Solution:
    from vqf import VQF

    gyr, acc, mag, step = _readings(trial)
    return _solution(trial, VQF(step).updateBatch(gyr, acc, mag)["quat9D"])


def _package_offline_vqf(trial: Trial) -> Solution:
    from vqf import offlineVQF

    gyr, acc, mag, step = _readings(trial)
    return _solution(trial, offlineVQF(gyr, acc, mag, step)["quat9D"])


def _package_imufusion(trial: Trial) -> Solution:
    import imufusion

    gyr, acc, mag, step = _readings(trial)
    settings = imufusion.AhrsSettings()
    settings.convention = imufusion.CONVENTION_ENU  # given to the constructor it is ignored (1.3.3)
    settings.sample_rate = 1.0 / step
    filt = imufusion.Ahrs()
    filt.set_settings(settings)
    out = np.empty((len(gyr), 4))
    gyr, acc = np.rad2deg(gyr), acc / 9.81
    for i in range(len(gyr)):
        filt.update(gyr[i], acc[i], mag[i])
        out[i] = filt.get_quaternion()
    return _solution(trial, out)


def _package_ahrs(trial: Trial) -> Solution:
    from ahrs.filters import Madgwick

    gyr, acc, mag, step = _readings(trial)
    found = Madgwick(gyr=gyr, acc=acc, mag=mag * 1e-3, Dt=step).Q  # mT there
    half = math.sqrt(0.5)  # its frame is x north, y west: a quarter turn from ours
    w, x, y, z = np.moveaxis(found, -1, 0)
    return _solution(trial, half * np.stack([w - z, x - y, y + x, z + w], axis=-1))

"""Paper B's own filter in the loop, as printed and corrected by erratum 5: by sample rate and heading."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from strapdown.environment.session.scenario.file import read_scenario
from strapdown.papers.b.closed_loop.part import Group, Part, Results, cut, seeds
from strapdown.papers.b.closed_loop.runs import Job
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table

SCENARIO = "quadcopter_paper_b"
RATES_HZ = (100.0, 250.0, 500.0, 1000.0)
HEADINGS_DEG = (0, 90, 180, 270)  # of the nose at the start, clockwise from magnetic north
WEIGHT = 0.02
VARIANTS = {"as printed": False, "corrected": True}
_LEVEL_UT, _DOWN_UT = 20.0, -43.0
MARGIN_DEG = 12.0  # errors beyond which velocity control loses the vehicle, found with a prototype
MOSTLY = 0.9  # part of the flights: a few seeds differ
PAPER = "paper B, DOI 10.51790/2712-9942-2024-5-1-03"


def paper_job(corrected: bool, rate_hz: float, heading_deg: float, seed: int, **more: Any) -> Job:
    """A flight by the paper's filter. The nose points along x; the field of the scene is turned instead."""
    north = math.radians(heading_deg)  # direction of magnetic north, counter-clockwise from x
    field = (_LEVEL_UT * math.cos(north), _LEVEL_UT * math.sin(north), _DOWN_UT)
    block = {"corrected": corrected, "declination_rad": 0.5 * math.pi - north}
    changes = {"scene": {"magnetic_induction_ut": field}, **more.pop("changes", {})}
    return Job(SCENARIO, seed, changes, {"rate_hz": rate_hz}, {("IMU", "IMU block"): block}, **more)


def _hover() -> dict[str, Any]:
    """Take-off, then level sticks in mode stabilise: no velocity is held."""
    lines = []
    for line in read_scenario(SCENARIO).pilot:
        kept = line.model_copy(update={"pitch": None, "roll": None, **({"mode": "stabilise"} if line.mode else {})})
        if kept.model_dump(exclude={"at_s"}, exclude_none=True):
            lines.append(kept)
    return {"pilot": tuple(lines)}


def paper_filter(count: int, repeat: int = 0) -> Part:
    """Flights with the paper's filter in its combinations of settings.

    count: seeds of each combination.
    """
    cases = [(*case, "script 1") for case in product(VARIANTS, RATES_HZ, HEADINGS_DEG)]
    cases += [("corrected", rate, 0, "level sticks") for rate in RATES_HZ]
    hover = _hover()
    jobs = tuple(
        paper_job(VARIANTS[variant], rate, heading, seed, changes=hover if sticks == "level sticks" else {})
        for variant, rate, heading, sticks in cases
        for seed in seeds(count, repeat)
    )

    def judge(results: Results) -> tuple[list[Claim], Table]:
        groups = dict(zip(cases, cut(results, count), strict=True))
        rows = tuple(
            (
                variant,
                sticks,
                f"{rate:g}",
                f"{1.0 / (rate * WEIGHT):.3g}",
                str(heading),
                f"{count - group.lost} of {count}",
                group.text("tilt_rmse_deg"),
                group.text("heading_rmse_deg"),
                _when(group),
                _why(group),
            )
            for (variant, rate, heading, sticks), group in groups.items()
        )
        columns = (
            *("filter", "flight", "rate, Hz", "tau, s", "heading, deg", "flies", "tilt RMSE, deg", "heading RMSE, deg"),
            *("lost at, s", "lost first"),
        )
        title = f"Paper B's filter in the loop, {count} seeds each: RMSE is the mean of the flights not lost (worst)"
        return _claims(groups, count), Table(title, columns, rows, left=2, notes=NOTES)

    return Part(jobs, judge)


def _when(group: Group) -> str:
    times = [result["lost_at_s"] for result in group.results if result["lost"]]
    return f"{np.median(times):.0f}" if times else "-"


def _why(group: Group) -> str:
    """The estimate that failed first in most of the lost flights."""
    first = [result["first_wrong"] or "neither" for result in group.results if result["lost"]]
    return max(set(first), key=first.count) if first else "-"


NOTES = (
    "tau = dt / w is the filter's time constant with the printed weight w = 0.02: the faster the sensors, the shorter. "
    "An accelerometer on a multirotor reads drag and no lean, so the tilt errs by about dv / (g tau) after a change of "
    "velocity dv; well below 0.5 s the error feeds itself through the velocity control, and the loop is lost. Level "
    "sticks change no velocity: every rate flies.",
    "As printed, the magnetic yaw is right only within 90 deg of magnetic north, the branch of atan: beyond it the "
    "heading is pulled half a turn away, and velocity errors grow instead of falling. Corrected by erratum 5 (atan2, "
    "mixing on the circle) the heading no longer matters.",
    "delta of (15) is found with atan2, since the printed atan does not tell the two ends of a line apart; with atan "
    "there as well, south would read as north does.",
    "lost first: which estimate was wrong first in most of the lost flights, the heading by 90 deg or roll or pitch by "
    "30 deg.",
)


def _claims(groups: dict[tuple[str, float, int, str], Group], count: int) -> list[Claim]:
    """Claims from the table: where it flies, and that it is lost by its time constant or by atan."""

    def lost(variant: str, rates: Sequence[float], headings: Sequence[int], sticks: str = "script 1") -> int:
        return sum(groups[variant, rate, heading, sticks].lost for rate, heading in product(rates, headings))

    slow, fast, level = RATES_HZ[:1], RATES_HZ[2:], "level sticks"
    all_fast = count * len(fast) * len(HEADINGS_DEG)
    atan = [
        result
        for rate, heading in product(RATES_HZ, (90, 180))
        for result in groups["as printed", rate, heading, "script 1"].results
    ]
    wrong = sum(result["first_wrong"] == "heading" for result in atan) / len(atan)
    place = "B/flight/paper-b"
    flights = f"paper B's filter, {count} seeds"
    tilt = max(groups["corrected", 100.0, heading, "script 1"].most("tilt_rmse_deg") for heading in HEADINGS_DEG)
    return [
        Claim(
            f"{place}/corrected/100Hz/lost",
            f"{flights} at each heading, corrected, 100 Hz (tau 0.5 s): flights that were lost",
            None,
            float(lost("corrected", slow, HEADINGS_DEG)),
            0.0,
            PAPER,
            kind="self-check",
        ),
        Claim(
            f"{place}/corrected/100Hz/attitude",
            f"{flights} at each heading, corrected, 100 Hz: RMSE of roll or pitch, the larger, worst flight, deg",
            None,
            tilt,
            MARGIN_DEG,
            "margin of the loop, found with a prototype",
            kind="self-check",
        ),
        *(
            Claim(
                f"{place}/{variant.split()[-1]}/fast/lost",
                f"{flights} at each heading, {variant}, 500 and 1000 Hz (tau 0.1 and 0.05 s): share of flights lost",
                None,
                lost(variant, fast, HEADINGS_DEG) / all_fast,
                MOSTLY,
                PAPER,
                ">=",
                kind="self-check",
            )
            for variant in VARIANTS
        ),
        Claim(
            f"{place}/printed/atan",
            f"{flights} at each rate, as printed, nose 90 and 180 deg from magnetic north: share of flights whose "
            "heading is wrong first",
            None,
            wrong,
            MOSTLY,
            "erratum 5",
            ">=",
            kind="self-check",
        ),
        Claim(
            f"{place}/level-sticks/lost",
            f"{flights} at each rate, corrected, level sticks: flights that were lost",
            None,
            float(lost("corrected", RATES_HZ, (0,), level)),
            0.0,
            PAPER,
            kind="self-check",
        ),
    ]

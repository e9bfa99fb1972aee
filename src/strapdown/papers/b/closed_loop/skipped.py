"""The start calibration skipped: its effect on our filters, and its absence in the paper's filter."""

import numpy as np

from strapdown.papers.b.closed_loop.paper_filter import paper_job
from strapdown.papers.b.closed_loop.part import ASKED, Group, Part, Results, cut, seeds
from strapdown.papers.b.closed_loop.quadcopter import FILTERS, flight_job
from strapdown.papers.b.closed_loop.runs import Job
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table

PAPERS = "paper B's, corrected, 100 Hz"
VISIBLE = 3.0  # times: more than seeds differ among each other
SAME = 0.25  # part by which the paper filter's error may change


def _job(name: str, seed: int, calibrated: bool) -> Job:
    if name == PAPERS:
        return paper_job(True, 100.0, 0.0, seed, calibrated=calibrated)
    return flight_job("quadcopter", name, seed, calibrated=calibrated)


def skipped(count: int, repeat: int = 0) -> Part:
    """Flights with the start calibration skipped.

    count: seeds of each case, script 1.
    """
    cases = [(name, calibrated) for name in (*FILTERS, PAPERS) for calibrated in (True, False)]
    jobs = tuple(_job(name, seed, calibrated) for name, calibrated in cases for seed in seeds(count, repeat))

    def judge(results: Results) -> tuple[list[Claim], Table]:
        groups = dict(zip(cases, cut(results, count), strict=True))
        rows = tuple(
            (
                name,
                "calibrated" if calibrated else "skipped",
                f"{group.lost} of {count}",
                group.text("tilt_rmse_deg"),
                group.text("heading_rmse_deg"),
            )
            for (name, calibrated), group in groups.items()
        )
        claims = []
        for name in FILTERS:
            ratio = _median(groups[name, False]) / _median(groups[name, True])
            what = (
                f"{name}, {count} seeds on script 1: RMSE of roll or pitch with the calibration skipped over that with "
                "it, medians: visible"
            )
            place = f"B/flight/calibration-skipped/{name.split()[0]}"
            claims.append(Claim(place, what, None, ratio, VISIBLE, ASKED, ">=", kind="requirement"))
        pairs = list(zip(groups[PAPERS, False].results, groups[PAPERS, True].results, strict=True))
        ratios = [a["tilt_rmse_deg"] / b["tilt_rmse_deg"] for a, b in pairs if not (a["lost"] or b["lost"])]
        what = (
            f"{PAPERS}, script 1: change of the RMSE of roll or pitch with the calibration skipped, as a part of it, "
            f"median of the {len(ratios)} of {count} seeds that flew both ways: no difference"
        )
        change = abs(float(np.median(ratios)) - 1.0) if ratios else float("nan")
        claims.append(
            Claim("B/flight/calibration-skipped/paper-b", what, None, change, SAME, ASKED, kind="requirement")
        )
        columns = ("filter", "start calibration", "lost", "tilt RMSE, deg", "heading RMSE, deg")
        title = f"Calibration skipped, {count} seeds each: RMSE is the mean of the flights not lost (worst)"
        return claims, Table(title, columns, rows, left=2, notes=NOTES)

    return Part(jobs, judge)


def _median(group: Group) -> float:
    """Median of the RMSE; a lost flight counts as infinite."""
    return float(np.median(group.values("tilt_rmse_deg") + [np.inf] * group.lost))


NOTES = (
    "Paper B's filter shows no difference in the error of the flights that end: it follows the accelerometer, whose "
    "error in flight is many times what the calibration removes.",
    "An offset of the gyroscope of b adds b tau to its tilt: 1 deg for 2 deg/s at 100 Hz. A specimen with 8 deg/s or "
    "more uses up its margin, and without calibration the loop is lost. The data sheet allows 20 deg/s.",
)

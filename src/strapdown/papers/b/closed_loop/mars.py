"""The Mars helicopter: take off, hover 30 s, move 5 m, land, with an outage of the camera odometry."""

import math

from strapdown.papers.b.closed_loop.part import ASKED, Part, Results, cut, seeds
from strapdown.papers.b.closed_loop.runs import Job
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table

SCENARIO = "mars_helicopter"
MOVE_M = (5.0, 0.0)  # of the pilot's script, forward and to the left
MOST_TILT_DEG, MOST_OFF_M = 0.3, 1.0


def mars(count: int, repeat: int = 0) -> Part:
    jobs = tuple(Job(SCENARIO, seed) for seed in seeds(count, repeat))

    def judge(results: Results) -> tuple[list[Claim], Table]:
        off = [math.dist(result["moved_m"][:2], MOVE_M) for result in results]
        (group,) = cut([{**result, "off_m": each} for result, each in zip(results, off, strict=True)], count)
        what = (
            f"Mars helicopter, {count} seeds, attitude from the inclinometer's start, velocity by camera odometry with "
            "5 s outage"
        )
        figures = {
            "attitude": ("RMSE of roll or pitch, the larger, of the worst seed, deg", "tilt_rmse_deg", MOST_TILT_DEG),
            "landing": ("distance of the landing from the place asked for, worst seed, m", "off_m", MOST_OFF_M),
            "position": ("largest error of the estimated position, worst seed, m", "position_max_m", MOST_OFF_M),
        }
        lost = Claim("B/flight/mars/lost", f"{what}: crashes", None, float(group.lost), 0.0, ASKED, kind="requirement")
        claims = [lost] + [
            Claim(f"B/flight/mars/{name}", f"{what}: {text}", None, group.most(key), limit, ASKED, kind="requirement")
            for name, (text, key, limit) in figures.items()
        ]
        shown = {
            "RMSE of roll or pitch, the larger, deg": "tilt_rmse_deg",
            "heading drift from start to end, deg": "heading_drift_deg",
            "largest error of the position, m": "position_max_m",
            "largest error of the height, m": "height_max_m",
            "distance of the landing from the place asked for, m": "off_m",
        }
        rows = tuple((name, group.text(key)) for name, key in shown.items())
        title = f"Mars helicopter: sizes, mean of {count} seeds (worst seed); {group.lost} lost"
        return claims, Table(title, ("what", "size"), rows)

    return Part(jobs, judge)

"""The quadcopter in horizontal flight on three pilot scripts, attitude from the estimate only.

The claims are on script 1 and script 3. A first report on script 2 failed, so the settings were chosen again with its
figures known. Script 2 is reported, but proves nothing alone.
"""

from itertools import product

from strapdown.papers.b.closed_loop.part import ASKED, Part, Results, cut, seeds
from strapdown.papers.b.closed_loop.runs import Job
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table

SCRIPTS = {
    "quadcopter": "script 1, used for choosing settings",
    "quadcopter_third_script": "script 3, not used for choosing settings",
    "quadcopter_other_script": "script 2, seen when settings were chosen",
}
# diagram of each filter, None for the vehicle's own, and the largest RMSE of roll or pitch that is asked, deg
FILTERS = {"mekf": (None, 0.35), "eskf with velocity": ("velocity_aided.toml", 0.12)}
_ON = "MPU-6050 and QMC5883L specimens at 500 Hz, rotor vibration, after start calibration"


def flight_job(script: str, name: str, seed: int, calibrated: bool = True) -> Job:
    """A flight on a script by one of our filters."""
    diagram = FILTERS[name][0]
    return Job(script, seed, {} if diagram is None else {"diagram": diagram}, calibrated=calibrated)


def quadcopter(count: int, repeat: int = 0) -> Part:
    """Flights of the quadcopter.

    count: seeds on each script.
    """
    cases = list(product(SCRIPTS, FILTERS))
    jobs = tuple(flight_job(script, name, seed) for script, name in cases for seed in seeds(count, repeat))

    def judge(results: Results) -> tuple[list[Claim], Table]:
        claims, rows = [], []
        for (script, name), group in zip(cases, cut(results, count), strict=True):
            place = f"B/flight/{script}/{name.split()[0]}"
            what = f"quadcopter, {SCRIPTS[script]}, {name}, {count} seeds, {_ON}"
            most = group.most("tilt_rmse_deg")
            claims += [
                Claim(
                    f"{place}/lost",
                    f"{what}: flights that were lost",
                    None,
                    float(group.lost),
                    0.0,
                    ASKED,
                    kind="requirement",
                ),
                Claim(
                    f"{place}/attitude",
                    f"{what}: RMSE of roll or pitch, the larger, of the worst seed, deg",
                    None,
                    most,
                    FILTERS[name][1],
                    ASKED,
                    kind="requirement",
                ),
            ]
            rows.append(
                (
                    SCRIPTS[script],
                    name,
                    f"{group.lost} of {count}",
                    *(group.text(f"{angle}_rmse_deg") for angle in ("roll", "pitch", "tilt", "heading")),
                )
            )
        columns = ("script", "filter", "lost", "roll, deg", "pitch, deg", "larger of both, deg", "heading, deg")
        title = f"Quadcopter: RMSE of the estimate, mean of {count} seeds (worst seed)"
        return claims, Table(title, columns, tuple(rows), left=2)

    return Part(jobs, judge)

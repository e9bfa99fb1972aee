"""Fault scenarios: the verdict that each file states before the run, and the verdicts of its flights."""

from collections import Counter

from strapdown.environment.session.scenario.file import FAULTS, read_scenario
from strapdown.papers.b.closed_loop.part import Group, Part, Results, cut, seeds
from strapdown.papers.b.closed_loop.runs import Job
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table


def faults(count: int, repeat: int = 0) -> Part:
    """All files of the folder, count seeds each."""
    files = sorted(FAULTS.glob("*.toml"))
    jobs = tuple(Job(str(file), seed) for file in files for seed in seeds(count, repeat))

    def judge(results: Results) -> tuple[list[Claim], Table]:
        claims, rows = [], []
        for file, group in zip(files, cut(results, count) if results else [], strict=True):
            scenario = read_scenario(file)
            expect = scenario.expect
            assert expect is not None, file
            found = Counter(result["verdict"] for result in group.results)
            claims.append(
                Claim(
                    f"B/flight/faults/{file.stem}",
                    f"{scenario.title}: flights of {count} whose verdict is the expected one, {expect.verdict}",
                    None,
                    float(found[expect.verdict]),
                    float(count),
                    f"stated in scenarios/faults/{file.name} before the run",
                    ">=",
                    kind="requirement",
                )
            )
            limits = (f"{limit:g}" if limit is not None else "-" for limit in (expect.attitude_deg, expect.height_m))
            rows.append(
                (
                    file.stem,
                    scenario.title,
                    expect.verdict,
                    ", ".join(f"{name} {n}" for name, n in sorted(found.items())),
                    *limits,
                    *(
                        group.text(name) if _compared(group, name) else "-"
                        for name in ("tilt_rmse_deg", "height_max_m")
                    ),
                )
            )
        columns = (
            *("file", "fault", "expected", f"found in {count}"),
            *("limit, deg", "limit, m", "tilt RMSE, deg", "height error, m"),
        )
        title = f"Faults, {count} seeds each: errors are the mean of the flights not lost (worst)"
        return claims, Table(title, columns, tuple(rows), left=4)

    return Part(jobs, judge)


def _compared(group: Group, name: str) -> bool:
    return bool(group.values(name))

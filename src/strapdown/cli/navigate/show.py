"""What strapdown navigate prints, as a table and as JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.evaluation.matching import Reference
    from strapdown.evaluation.stops import StopTable
    from strapdown.navigation.program import Navigated


def shares(found: "dict[str, Navigated]", truth: "Reference | None") -> list[str]:
    """A sentence where the truth covers only a part of the log."""
    from strapdown.evaluation.matching import matched

    if truth is None:
        return []
    solution = next(iter(found.values())).solution
    t = matched(solution, truth).t
    compared_s, all_s = float(t[-1] - t[0]), float(solution.t[-1] - solution.t[0])
    if compared_s >= 0.99 * all_s:
        return []
    share = 100.0 * compared_s / all_s
    return [f"the reference covers {compared_s:.4g} of {all_s:.4g} s ({share:.0f} %); errors are of that part alone"]


def numbers(navigated: "Navigated", truth: "Reference | None", table: "StopTable | None") -> dict[str, Any]:
    from strapdown.evaluation.evaluate import evaluate_path
    from strapdown.evaluation.stops import believed_stands
    from strapdown.evaluation.trajectory import closing_error, estimated_path_length

    solution = navigated.solution
    assert solution.p_n is not None
    sigma = solution.sigma.get("p_n")
    said: dict[str, Any] = {
        "trusted": not navigated.warnings,
        "warnings": list(navigated.warnings),
        "samples": len(solution),
        "path_length_m": float(estimated_path_length(solution)),
        "closing_error_m": closing_error(solution).length_m,
        "last_position_m": solution.p_n[-1].tolist(),
        "last_sigma_m": None if sigma is None else sigma[-1].tolist(),
        "stops_believed": len(believed_stands(solution)),
        "events": [
            {"t_s": e.t_s, "until_s": e.until_s, "kind": e.kind, "text": e.text}
            for e in solution.events
            if e.kind != "stop_believed"
        ],
        "against_truth": None if truth is None else evaluate_path(solution, truth).numbers(),
    }
    if table is not None:
        said["largest_percent_of_way"] = table.worst.percent
        said["stops"] = [
            {
                "number": row.number,
                "t_s": row.t_s,
                "dx_m": row.dx_m,
                "dy_m": row.dy_m,
                "dr_m": row.dr_m,
                "path_length_m": row.path_length_m,
                "percent": row.percent,
            }
            for row in table.rows
        ]
    return said


def show(document: dict[str, dict[str, Any]]) -> None:
    from strapdown.cli import screen

    for name, said in document.items():
        for warning in said["warnings"]:
            print(f"WARNING, {name}: {warning}")
    rows = []
    for name, said in document.items():
        x, y, z = said["last_position_m"]
        against = said["against_truth"] or {}
        percents = [against.get(key) for key in ("final_percent", "largest_percent_of_path")]
        percents += [said[key] for key in ("largest_percent_of_way",) if key in said]
        rows.append(
            [
                name,
                f"{said['path_length_m']:.3f}",
                f"{x:.3f}",
                f"{y:.3f}",
                f"{z:.3f}",
                f"{said['closing_error_m']:.3f}",
                str(said["stops_believed"]),
                *("-" if percent is None else f"{percent:.2f}" for percent in percents),
            ]
        )
    columns = ["filter", "path length, m", "end x, m", "end y, m", "end z, m", "end to start, m", "stops"]
    columns += ["error at the end, % of the path", "largest error, % of the path"]
    if any("largest_percent_of_way" in said for said in document.values()):
        columns.append("largest error at a stop, % of the way so far")
    screen.show_table("Path, and horizontal errors where the truth is known", columns, rows)

"""strapdown reproduce A --recorded: the methods compared on poses that a simulator recorded."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strapdown.papers.a.coppeliasim import Comparison


def compare_recorded(folder: Path, output: Path | None, as_json: bool) -> None:
    import json

    from strapdown.cli import screen
    from strapdown.cli.reproduce.command import exit_by, show_claims
    from strapdown.io import whole_file
    from strapdown.io.folder import output_folder, refuse_folder
    from strapdown.papers.a.coppeliasim import compare

    if output is not None:
        refuse_folder(output)
    screen.ready()
    result = compare(folder)
    document = {
        "claims": [claim.as_dict() for claim in result.claims],
        "rows": [row.as_dict() for row in result.rows],
        "run_ups": [run_up.as_dict() for run_up in result.run_ups],
        "notes": result.notes,
    }
    if output is not None:
        with output_folder(output, "reproduce A recorded") as new, whole_file(new / "recorded.json") as tmp:
            tmp.write_text(json.dumps(document, indent=1, allow_nan=False), encoding="utf-8")
    if as_json:
        screen.show_json(document)
    else:
        show_claims(result.claims)
        _show_tables(result)
        for note in result.notes:
            print(f"note: {note}")
    exit_by(result.claims)


def _show_tables(result: "Comparison") -> None:
    from strapdown.cli import screen

    columns = [("acc", m) for m in ("ours", "paper", "shipped", "force")]
    columns += [("gyr", m) for m in ("ours", "paper", "shipped")]
    units = {"acc": "m/s2", "gyr": "rad/s"}
    screen.show_table(
        "Recorded poses: RMS error of accelerometer (acc) and gyroscope (gyr) by method",
        ["run", "phase", "sensor", *(f"{kind} {method}, {units[kind]}" for kind, method in columns)],
        [
            [
                *(row.run, row.phase, row.sensor),
                *(
                    screen.short(errors[method].rms if method in errors else None)
                    for kind, method in columns
                    for errors in (getattr(row, kind),)
                ),
            ]
            for row in result.rows
        ],
        left=3,
        keys=3,
    )
    if result.run_ups:
        screen.show_table(
            "A-d, run-up time",
            ["run", "analytic, s", "line fit, s", "error of line fit, s", "first sample (paper's gyroscope), s"],
            [
                [
                    *(r.run, f"{r.analytic_s:.4f}", f"{r.line_fit_s:.4f}"),
                    *(screen.short(r.line_fit_s - r.analytic_s), f"{r.first_sample_s:.4f}"),
                ]
                for r in result.run_ups
            ],
        )

"""strapdown reproduce: the papers' experiments, with published and own results side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from strapdown.papers.a.results import Reproduction
    from strapdown.papers.claim import Claim

_PAPERS = ("A", "B", "C")


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="The paper: A, B or C.")],
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="A: a-a, a-b, a-c, a-d or a-e. B: sensors, orientation, flight. "
            "C: calibration, navigation, scenarios, foot. Default: all.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for recordings and figures; created if missing."),
    ] = None,
    coppeliasim: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Instead: compare the methods on poses recorded from CoppeliaSim, in this folder."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="B, C: folder of recorded data; default: the variable STRAPDOWN_DATA."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="C: how many virtual specimens or robots. B flight: seeds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the tables.")] = False,
) -> None:
    """Repeat a paper's experiments and print each claim: published, ours, tolerance, holds.

    Paper A: virtual sensors at steps of 50, 10 and 1 ms with every method. Paper B: errors of virtual parts, found
    again from their readings; orientation filters; flights in the closed loop, about half an hour of CPU. Paper C:
    calibration, its two tests with both filters, faults, recorded walks. Exit code 1 if a claim does not hold.

    Example: strapdown reproduce A a-e -o out
    """
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.folder import refuse_folder

    if paper.upper() not in _PAPERS:
        raise InputError(f'paper "{paper}" is not known; valid names: {", ".join(_PAPERS)}')
    if paper.upper() != "A":
        from strapdown.cli.reproduce.more import reproduce_b, reproduce_c

        if coppeliasim is not None:
            raise InputError("--coppeliasim belongs to paper A; leave it out")
        folder = output or Path(f"strapdown-reproduce-{paper.upper()}")
        if paper.upper() == "C":
            reproduce_c(experiment, folder, data, runs, as_json)
        else:
            reproduce_b(experiment, folder, data, runs, as_json)
        return
    if data is not None or runs is not None:
        raise InputError("--data and --runs belong to papers B and C; leave them out")
    if coppeliasim is not None:
        if experiment is not None:
            raise InputError("--coppeliasim compares all recordings in its folder; leave out the experiment")
        _compare_coppeliasim(coppeliasim, output, as_json)
        return
    from strapdown.kernels.compiled import ENGINES
    from strapdown.papers.a.reproduction import NAMES
    from strapdown.papers.a.reproduction import reproduce as run

    names = NAMES if experiment is None else (experiment.lower(),)
    if names[0] not in NAMES:
        raise InputError(f'experiment "{experiment}" is not known; valid names: {", ".join(NAMES)}')
    folder = output if output is not None else Path("strapdown-reproduce-A")
    refuse_folder(folder)
    screen.ready(*ENGINES)
    with screen.progress("paper A", 1.0) as done:
        result = run(names, done)
    written = _write(result, folder, "reproduce A" if experiment is None else f"reproduce A {names[0]}")
    if as_json:
        screen.show_json({"claims": [claim.as_dict() for claim in result.claims], "output": str(folder)})
    else:
        _show(result)
        show_claims(result.claims)
        pictures = [p for p in written if p.suffix == ".png"]
        print(f"recordings and figures: {folder}/ ({len(written) - len(pictures)} recordings)")
        for picture in pictures:
            print(f"  {picture}")
    exit_by(result.claims)


def _write(result: "Reproduction", folder: Path, owner: str) -> list[Path]:
    from strapdown.io import write
    from strapdown.io.folder import output_folder
    from strapdown.papers.a.figures import figures
    from strapdown.reporting.figures import save

    written = []
    with output_folder(folder, owner) as new:
        for name, recordings in result.recordings.items():
            written.append(folder / f"{name}.parquet")
            write(new / f"{name}.parquet", recordings)
        for name, figure in figures(result).items():
            written.append(folder / name)
            save(figure, new / name)
    return written


def _show(result: "Reproduction") -> None:
    """A table of errors for each experiment: by sensor, phase and method, the three steps side by side."""
    from strapdown.cli import screen
    from strapdown.papers.a.experiments import STEPS_MS

    tables: dict[str, dict[tuple[str, ...], dict[int, tuple[float, float]]]] = {}
    for row in result.errors:
        table = tables.setdefault(row.experiment, {})
        table.setdefault((row.sensor, row.phase, row.method), {})[row.step_ms] = (row.acc, row.gyr)
    for experiment, table in tables.items():
        screen.show_table(
            f"{experiment}, largest error by step: accelerometer (acc), gyroscope (gyr; exact with a proof mass)",
            ["sensor", "phase", "method"]
            + [f"{name}, {s} ms, {unit}" for name, unit in (("acc", "m/s2"), ("gyr", "rad/s")) for s in STEPS_MS],
            [
                [*key, *(screen.short(value[step][i]) for i in range(2) for step in STEPS_MS)]
                for key, value in table.items()
            ],
            left=3,
            keys=3,
        )
    if result.run_ups:
        screen.show_table(
            "A-d, run-up time: error of the line fit and of the first sample at speed",
            ["case", "step, ms", "method", "analytic, s", "error of line fit, s", "error of first sample, s"],
            [
                [
                    str(r.case),
                    str(r.step_ms),
                    r.method,
                    f"{r.analytic_s:.6f}",
                    screen.short(r.line_error_s),
                    screen.short(r.first_sample_error_s),
                ]
                for r in result.run_ups
            ],
            left=3,
            keys=3,
        )


def show_claims(claims: "Sequence[Claim]") -> None:
    """The table published / ours / tolerance / holds."""
    from strapdown.cli import screen

    screen.show_table(
        "Claims",
        ["claim", "what", "published", "ours", "tolerance", "holds"],
        [
            [
                claim.id,
                claim.what,
                screen.short(claim.published),
                screen.short(claim.ours),
                f"{'within ' if claim.relation == '~' else claim.relation + ' '}{screen.short(claim.tolerance)}",
                "yes" if claim.holds else "NO",
            ]
            for claim in claims
        ],
        left=2,
    )
    held = sum(claim.holds for claim in claims)
    print(f"{held} of {len(claims)} claims hold")


def exit_by(claims: "Sequence[Claim]") -> None:
    if not all(claim.holds for claim in claims):
        raise typer.Exit(1)


def _compare_coppeliasim(folder: Path, output: Path | None, as_json: bool) -> None:
    import json

    from strapdown.cli import screen
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
        with output_folder(output, "reproduce A coppeliasim") as new, whole_file(new / "coppeliasim.json") as tmp:
            tmp.write_text(json.dumps(document, indent=1, allow_nan=False), encoding="utf-8")
    if as_json:
        screen.show_json(document)
    else:
        columns = [("acc", m) for m in ("ours", "paper", "shipped", "force")]
        columns += [("gyr", m) for m in ("ours", "paper", "shipped")]
        units = {"acc": "m/s2", "gyr": "rad/s"}
        screen.show_table(
            "Poses recorded from CoppeliaSim: RMS error of accelerometer (acc) and gyroscope (gyr) by method",
            ["run", "phase", "sensor", *(f"{kind} {method}, {units[kind]}" for kind, method in columns)],
            [
                [
                    row.run,
                    row.phase,
                    row.sensor,
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
                        r.run,
                        f"{r.analytic_s:.4f}",
                        f"{r.line_fit_s:.4f}",
                        screen.short(r.line_fit_s - r.analytic_s),
                        f"{r.first_sample_s:.4f}",
                    ]
                    for r in result.run_ups
                ],
            )
        show_claims(result.claims)
        for note in result.notes:
            print(f"note: {note}")
    exit_by(result.claims)

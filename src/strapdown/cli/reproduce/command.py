"""strapdown reproduce: the papers' experiments, with published and own results side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.reproduce.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from strapdown.papers.claim import Claim
    from strapdown.papers.outcome import Outcome
    from strapdown.types import Recording


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="The paper: A, B or C.")],
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="A: a-a, a-b, a-c, a-d or a-e. B: sensors, orientation, flight. "
            "C: calibration, navigation, scenarios, foot, robustness. Default: all.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for page, figures, recordings; made if missing."),
    ] = None,
    recorded: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instead, A: compare the methods on recorded poses in this folder."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Instead, A in another engine: pybullet, drake or coppeliasim."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="With --engine coppeliasim: its address; default localhost:23000."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="B, C: folder of recorded data; default: the variable STRAPDOWN_DATA."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="C: how many virtual specimens or robots. B flight: seeds.")
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="B, C: repeat with other seeds, from 1; 0 for the reported ones.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the tables.")] = False,
) -> None:
    """Repeat a paper's experiments and print each claim: published, ours, limit, holds.

    Claims have four kinds, counted separately: reproduces (a published value), beats (a published value or method),
    requirement (asked of ourselves), self-check. Limits of random runs follow from their number.

    Paper A: virtual sensors at steps of 50, 10 and 1 ms with every method. Paper B: errors of virtual parts, found
    again from their readings; orientation filters; flights in the closed loop, about half an hour of CPU. Paper C:
    calibration, its two tests with both filters, faults, recorded walks. Exit code 1 if a claim does not hold.

    Example: strapdown reproduce A a-e -o out
    """
    from strapdown.cli import screen
    from strapdown.cli.reproduce.experiments import (
        Asked,
        checked,
        experiments_of,
        needed,
        paper_a,
        paper_a_in,
        paper_b,
        paper_c,
    )
    from strapdown.errors import InputError
    from strapdown.io.folder import refuse_folder
    from strapdown.papers.recorded_data import data_folder

    paper = paper.upper()
    if paper not in EXPERIMENTS:
        raise InputError(f'paper "{paper}" is not known; valid names: {", ".join(EXPERIMENTS)}')
    engine = None if engine == "mujoco" else engine  # the usual one
    if engine is not None and paper != "A":
        raise InputError("--engine belongs to paper A; omit it")
    if server is not None and engine != "coppeliasim":
        raise InputError("--server belongs to --engine coppeliasim; omit it")
    if recorded is not None:
        if engine is not None:
            raise InputError("--recorded compares poses that were recorded, in no engine; omit --engine")
        if paper != "A":
            raise InputError("--recorded belongs to paper A; omit it")
        if experiment is not None or data is not None or runs is not None or seed:
            raise InputError("--recorded compares all recordings in its folder; omit experiment and other options")
        from strapdown.cli.reproduce.recorded import compare_recorded

        compare_recorded(recorded, output, as_json)
        return
    names = experiments_of(paper, experiment)
    if paper == "A" and data is not None:
        raise InputError("--data belongs to papers B and C; omit it")
    asked = Asked(names, experiment is not None, None if paper == "A" else data_folder(data), runs, seed)
    checked(paper, asked)
    if asked.named and data is not None and "orientation" in names:
        needed(asked.data, ("broad",), "the trials of BROAD")
    folder = output or Path(f"strapdown-reproduce-{paper}" + ("" if engine is None else f"-{engine}"))
    refuse_folder(folder)
    recordings: Mapping[str, Mapping[str, Recording]] = {}
    if engine is not None:
        out, recordings = paper_a_in(asked, engine, server)
    elif paper == "A":
        out, recordings = paper_a(asked)
    else:
        out = (paper_b if paper == "B" else paper_c)(asked)
    owner = f"reproduce {paper}" if experiment is None else f"reproduce {paper} {names[0]}"
    owner += "" if engine is None else f" --engine {engine}"
    conditions = {"command": f"strapdown {owner}", "seed": seed, "runs": "usual number" if runs is None else runs}
    written = _write(out, recordings, folder, paper, owner, conditions)
    if as_json:
        screen.show_json(_document(out, folder, seed))
    else:
        _show(out, folder, written)
    exit_by(out.claims)


def _write(
    out: "Outcome",
    recordings: "Mapping[str, Mapping[str, Recording]]",
    folder: Path,
    paper: str,
    owner: str,
    conditions: Mapping[str, Any],
) -> list[Path]:
    """Write recordings, pictures and the page; returns the paths of pictures and page."""
    from strapdown.io import write
    from strapdown.io.folder import output_folder
    from strapdown.papers.page import write_page
    from strapdown.reporting.figures import save

    with output_folder(folder, owner) as new:
        for name, some in recordings.items():
            write(new / f"{name}.parquet", dict(some))
        for name, figure in out.figures.items():
            save(figure, new / name)
        write_page(new / f"paper-{paper}.html", paper, out, conditions)
    return [folder / f"paper-{paper}.html", *(folder / name for name in out.figures)]


def _document(out: "Outcome", folder: Path, seed: int) -> dict[str, Any]:
    from strapdown.papers.claim import counts

    return {
        "claims": [claim.as_dict() for claim in out.claims],
        "counts": {kind: {"hold": held, "of": of} for kind, (held, of) in counts(out.claims).items()},
        "seed": seed,
        "figures": [str(folder / name) for name in out.figures],
        "notes": out.notes,
        "output": str(folder),
        **out.more,
    }


def _show(out: "Outcome", folder: Path, written: Sequence[Path]) -> None:
    """Claims first, then the details."""
    from strapdown.cli import screen

    show_claims(out.claims)
    for table in out.tables:
        screen.show_table(table.title, table.columns, table.rows, left=table.left, keys=max(1, table.left))
        for note in table.notes:
            print(note)
    for note in out.notes:
        print(f"note: {note}")
    print(f"written to {folder}/:")
    for path in written:
        print(f"  {path}")


def show_claims(claims: "Sequence[Claim]") -> None:
    """A table for each kind of claim, and how many of each hold."""
    from strapdown.cli import screen
    from strapdown.papers.claim import KINDS, by_kind, counts
    from strapdown.papers.page import cells_of, columns_of, has_published

    for kind, some in by_kind(claims).items():
        published = has_published(some)
        rows = [cells_of(claim, published) for claim in some]
        screen.show_table(f"Claims, {kind}: {KINDS[kind]}", columns_of(published), rows, left=2)
    for kind, (held, of) in counts(claims).items():
        print(f"{kind}: {held} of {of} claims hold")
    for claim in claims:
        if not claim.holds:
            print(f"does not hold: {claim.id}")


def exit_by(claims: "Sequence[Claim]") -> None:
    if not all(claim.holds for claim in claims):
        raise typer.Exit(1)

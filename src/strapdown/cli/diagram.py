"""strapdown diagram: check a functional block diagram, draw it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from strapdown.environment.diagram.kinds import Kinds
    from strapdown.environment.diagram.problem import Problem
    from strapdown.environment.diagram.running.schedule import Plan

_FILE = typer.Argument(metavar="FILE", help="The diagram (.toml).")
_BLOCKS = typer.Option(
    "--blocks", metavar="FILE.py", help="Python file with blocks of your own; it is run. Repeatable."
)
_JSON = typer.Option("--json", help="Print one JSON document instead of text.")

diagram = typer.Typer(rich_markup_mode="rich", no_args_is_help=True, help="Functional block diagrams: check and draw.")


@diagram.command("check")
def check(
    file: Annotated[Path, _FILE],
    blocks: Annotated[list[Path] | None, _BLOCKS] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """List all problems of a diagram; exit code 2 if there is one. Without problems it prints blocks, rates and
    signals.

    Example: strapdown diagram check examples/diagrams/second_order_pid.toml
    """
    from strapdown.cli import screen
    from strapdown.environment.diagram.checking.check import analysed
    from strapdown.environment.diagram.file import read_diagram
    from strapdown.environment.diagram.problem import DiagramError

    kinds = _kinds(blocks)
    plan = None
    try:
        problems, plan = analysed(read_diagram(file), kinds)
    except DiagramError as error:
        problems = list(error.problems)
    if as_json:
        screen.show_json(_document(file, problems, plan))
    elif plan is None:
        for problem in problems:
            print(f"strapdown: {file}: {problem}", file=sys.stderr)
    else:
        _summary(file, plan)
    if problems:
        raise typer.Exit(2)


@diagram.command("show")
def show(
    file: Annotated[Path, _FILE],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.svg", help="The picture to write.")],
    blocks: Annotated[list[Path] | None, _BLOCKS] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Draw a diagram with its sub-diagrams as an SVG picture. Blocks with problems have a red border.

    Example: strapdown diagram show examples/diagrams/second_order_pid.toml -o diagram.svg
    """
    from strapdown.cli import screen
    from strapdown.environment.diagram.checking.check import analysed
    from strapdown.environment.diagram.drawing.svg import svg_of
    from strapdown.environment.diagram.file import read_diagram
    from strapdown.errors import InputError
    from strapdown.io.atomic import whole_file, writable_target

    if output.suffix.lower() != ".svg":
        raise InputError(f"{output}: pictures of diagrams are SVG; name it {output.with_suffix('.svg')}")
    writable_target(output)
    kinds = _kinds(blocks)
    read = read_diagram(file)
    problems, plan = analysed(read, kinds)
    text = svg_of(read, kinds)
    with whole_file(output) as tmp:
        tmp.write_text(text, encoding="utf-8")
    if as_json:
        screen.show_json({**_document(file, problems, plan), "output": str(output)})
        return
    print(f"picture: {output}")
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        print(f"note: {count}; strapdown diagram check lists them", file=sys.stderr)


def _kinds(files: list[Path] | None) -> "Kinds":
    from strapdown.environment.diagram.kinds import builtin, load_blocks

    kinds = builtin()
    for file in files or []:
        kinds = load_blocks(file, kinds)
    return kinds


def _document(file: Path, problems: "list[Problem]", plan: "Plan | None") -> dict[str, Any]:
    return {
        "file": str(file),
        "problems": [
            {"kind": p.kind, "block": p.block or None, "place": p.place or None, "message": p.message} for p in problems
        ],
        "base_hz": None if plan is None else plan.base_hz,
        "blocks": [
            {
                "path": step.path,
                "kind": step.kind,
                "rate_hz": plan.base_hz / step.every,
                "inputs": {name: port.label() for name, port in step.input_ports.items()},
                "outputs": {name: port.label() for name, port in step.output_ports.items()},
            }
            for step in (plan.steps if plan else ())
            if plan is not None
        ],
    }


def _summary(file: Path, plan: "Plan") -> None:
    from strapdown.cli import screen

    rows = []
    for i in plan.order:
        step = plan.steps[i]
        signals = "; ".join(f"{name}: {port.label()}" for name, port in step.output_ports.items())
        rows.append([step.path, step.kind, f"{plan.base_hz / step.every:g}", signals or "-"])
    screen.show_table("Blocks in the order of computation", ["block", "kind", "rate, Hz", "outputs"], rows, left=4)
    print(f"{file}: no problems; {len(rows)} blocks on a base clock of {plan.base_hz:g} Hz")

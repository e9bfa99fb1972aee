"""The page of a paper: claims by kind, figures and tables in one HTML file that needs nothing else."""

import base64
import io
import math
from collections.abc import Mapping, Sequence
from importlib import metadata, resources
from os import PathLike
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from strapdown.io.atomic import whole_file
from strapdown.papers.claim import KINDS, Claim, by_kind, counts
from strapdown.papers.outcome import Outcome
from strapdown.reporting.figures import STYLE, panels, plain_ticks

PAPERS = {
    "A": (
        "Paper A: a virtual inertial sensor",
        'Lukyanov, Mpengele, Alkhalili, "Creation of a virtual sensor for modeling inertial navigation systems", 2025, '
        "DOI 10.34031/2071-7318-2024-10-3-125-135",
    ),
    "B": (
        "Paper B: inertial sensors in a virtual environment",
        'Strashnov, Mironenko, "Simulation of inertial sensors in virtual environments", 2024, '
        "DOI 10.51790/2712-9942-2024-5-1-03",
    ),
    "C": (
        "Paper C: a robot that stops",
        'Pesov, Tripolskiy, Monakhov, "Hardware and algorithmic support for SINS of a mobile robot with zero-velocity '
        'update correction"',
    ),
}
_SHOWN = (1e-4, 10.0)  # parts of the limit: what is less or more is drawn at the edge
_COLOURS = {True: "#1e8449", False: "#c0392b"}


def write_page(path: str | PathLike[str], paper: str, out: Outcome, conditions: Mapping[str, Any]) -> None:
    """Write the page; whole or not at all.

    conditions: conditions such as the command, its seed and the number of runs.
    """
    from jinja2 import Environment, StrictUndefined  # here: a command that writes no page starts without it

    title, reference = PAPERS[paper]
    template = resources.files("strapdown.papers").joinpath("page.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    figures = {"Claims: how much of its limit each uses": claims_figure(out.claims), **out.figures}
    text = environment.from_string(template).render(
        title=title,
        reference=reference,
        counts=[(kind, KINDS[kind], held, of) for kind, (held, of) in counts(out.claims).items()],
        groups=[_group(kind, claims) for kind, claims in by_kind(out.claims).items()],
        figures=[(_caption(name), _svg(figure)) for name, figure in figures.items()],
        tables=out.tables,
        notes=out.notes,
        conditions={**conditions, "version": metadata.version("strapdown")},
    )
    with whole_file(path) as tmp:
        tmp.write_text(text, encoding="utf-8")


def cells_of(claim: Claim, published: bool) -> list[str]:
    """A row of the table of claims.

    published: whether to include that column.
    """
    return [
        claim.id,
        claim.what,
        *([_number(claim.published)] if published else []),
        _number(claim.ours),
        limit_text(claim),
        "yes" if claim.holds else "NO",
    ]


def columns_of(published: bool) -> list[str]:
    """The heads of cells_of."""
    return ["claim", "what", *(["published"] if published else []), "ours", "limit", "holds"]


def has_published(claims: Sequence[Claim]) -> bool:
    """Whether any of these has a published value."""
    return any(claim.published is not None for claim in claims)


def limit_text(claim: Claim) -> str:
    """The limit in words: the values that ours may have."""
    number = _number(claim.tolerance)
    words = {"~": f"within {number}", "factor": f"within a factor {number}"}
    return words.get(claim.relation, f"{claim.relation} {number}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _group(kind: str, claims: Sequence[Claim]) -> dict[str, Any]:
    published = has_published(claims)
    rows = [(claim.holds, cells_of(claim, published), claim.source) for claim in claims]
    return {"kind": kind, "columns": columns_of(published), "rows": rows}


def _caption(name: str) -> str:
    return name.removesuffix(".png").replace("_", " ")


def _svg(figure: Figure) -> str:
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "strapdown", "svg.fonttype": "path"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return base64.b64encode(drawn.getvalue()).decode("ascii")


@mpl.rc_context({**STYLE, "text.parse_math": False})
def claims_figure(claims: Sequence[Claim]) -> Figure:
    """A dot for each claim: the part of its limit that it uses. A claim beyond 1 does not hold."""
    groups = by_kind(claims)
    ordered = [claim for some in groups.values() for claim in some]
    figure, axes = panels(1, 1, (9.0, 1.2 + 0.17 * len(ordered)))
    axis = axes[0, 0]
    for row, claim in enumerate(ordered):
        used = min(max(_used(claim), _SHOWN[0]), _SHOWN[1])
        axis.plot([_SHOWN[0], used], [row, row], color="#dde2e6", lw=1.0, zorder=1)
        axis.plot(used, row, "o", ms=4, color=_COLOURS[claim.holds], zorder=2)
    begin = 0
    for kind, some in groups.items():
        axis.axhline(begin - 0.5, color="black", lw=0.5)
        axis.text(_SHOWN[1] * 1.1, begin, kind, va="center", fontsize=8.0, fontweight="bold")
        begin += len(some)
    axis.axvline(1.0, color="black", ls="--", lw=1.0)
    axis.set_xscale("log")
    axis.set_xlim(*_SHOWN)
    plain_ticks(axis.xaxis)
    axis.set_ylim(len(ordered) - 0.5, -0.5)
    axis.set_yticks(range(len(ordered)), [claim.id for claim in ordered], fontsize=7.0)
    axis.set_xlabel("part of the limit that is used; beyond 1 the claim does not hold")
    return figure


def _used(claim: Claim) -> float:
    """Part of the limit, 0 to 1 where the claim holds."""
    if not math.isfinite(claim.ours):
        return math.inf
    if claim.relation == "~":
        assert claim.published is not None
        return abs(claim.ours - claim.published) / claim.tolerance
    if claim.relation == "factor":
        assert claim.published is not None
        return abs(math.log(max(claim.ours, 1e-300) / claim.published)) / math.log(claim.tolerance)
    small, large = (claim.ours, claim.tolerance) if claim.relation == "<=" else (claim.tolerance, claim.ours)
    if large > 0.0:
        return small / large
    return 0.0 if claim.holds else math.inf

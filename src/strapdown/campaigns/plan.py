"""What is to be run: the space, the number of runs, the figures; from a campaign file or from a function in Python."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strapdown.campaigns.bases import base_of
from strapdown.campaigns.bases.interface import Base
from strapdown.campaigns.definition.file import WITHIN, Campaign, LimitTable, UntilTable
from strapdown.campaigns.definition.space import Cell, Space
from strapdown.errors import InputError

KEYS = ("key", "cell", "number", "seed", "failed")  # columns in front of settings and figures
FLAGS = ("lost", "diverged", WITHIN)
WORDS = ("lost_by", "verdict", "stopped")


@dataclass(frozen=True)
class Plan:
    """kind: of the base. fixed: settings of all runs. first, most: number of the first run of a cell, and how many at
    most. figures: empty for a function, whose figures are what it returns. identity: hash of all that must be the same
    when a campaign goes on."""

    kind: str
    title: str
    fixed: Mapping[str, Any]
    space: Space
    first: int
    most: int
    until: UntilTable | None
    figures: tuple[str, ...]
    identity: str
    limit: LimitTable | None = None

    @property
    def runs(self) -> int:
        return self.space.count * self.most

    @property
    def factors(self) -> tuple[str, ...]:
        return (*self.space.grid, *self.space.draws)

    def cell_at(self, index: int) -> Cell:
        return self.space.cell_at(index)

    def settings(self, cell: Cell, number: int) -> dict[str, Any]:
        return {**self.fixed, **cell.settings, **cell.linked, **self.space.drawn(number)}

    def column(self, factor: str) -> str:
        """Name of the factor's column: another one where a figure has the same name."""
        return f"{factor} (set)" if factor in (*KEYS, *self.figures, "seconds") else factor


def plan_of(campaign: Campaign, base: Base | None = None) -> Plan:
    """Of a campaign file. Every figure that it names must be one of its base."""
    base = base_of(campaign) if base is None else base
    until, limit = campaign.file.until, campaign.file.limit
    wanted = list(campaign.file.measure or base.usual)
    wanted += [] if limit is None else [limit.figure, WITHIN]
    wanted += [] if until is None else [until.figure]
    valid = base.figures if limit is None else (*base.figures, WITHIN)
    for name in wanted:
        if name not in valid:
            raise InputError(
                f'{campaign.path}: figure "{name}" is not known; a {campaign.kind} has: {", ".join(valid)}'
            )
    for table in (until, limit):
        if table is not None and table.figure in WORDS:
            raise InputError(f"{campaign.path}: {table.figure} is a word; name a number or a flag to decide by")
    if until is not None and until.decides is not None and until.figure not in FLAGS:
        raise InputError(f"{campaign.path}: until.decides is a share, and {until.figure} is no flag; name {WITHIN}")
    figures = tuple(dict.fromkeys(wanted))
    return Plan(
        campaign.kind,
        campaign.file.title or campaign.path.stem,
        campaign.fixed,
        campaign.space,
        campaign.first,
        campaign.most,
        until,
        figures,
        hashed(campaign.identity() | {"figures": figures}),
        limit,
    )


def usual_settings(plan: Plan, without: str = "") -> dict[str, Any]:
    """The first value of each key; of the key `without`, not even what is linked to it."""
    found = dict(plan.fixed)
    for key, values in plan.space.grid.items():
        if key != without:
            found |= {key: values[0], **plan.space.linked_to(key, values[0])}
    return found | {key: draw.extremes()[0] for key, draw in plan.space.draws.items()}


def hashed(values: Any) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def check_plan(campaign: Campaign, plan: Plan, base: Base) -> None:
    """Every value of every key is tried once with the first values of all others: a wrong key or value is refused
    before the first run, at the cost of the sum of the values and not of their product."""
    grid, draws = plan.space.grid, plan.space.draws
    for key, values in {**grid, **{key: draw.extremes() for key, draw in draws.items()}}.items():
        usual = usual_settings(plan, key)
        for value in values:
            try:
                base.check({**usual, key: value, **plan.space.linked_to(key, value)})
            except InputError as error:
                raise InputError(f'{campaign.path}: with "{key}" = {_shown(value)}: {error}') from None
    if not grid and not draws:
        try:
            base.check(usual_settings(plan))
        except InputError as error:
            raise InputError(f"{campaign.path}: {error}") from None


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) < 60 else text[:57] + "..."

"""One run of a campaign, as a row: a pure function of the archive and the key."""

import time
import warnings
from collections.abc import Mapping
from typing import Any

from strapdown.campaigns.archive import Work
from strapdown.campaigns.definition.file import WITHIN
from strapdown.campaigns.definition.space import Cell, parsed_key
from strapdown.campaigns.plan import Plan
from strapdown.errors import InputError, StrapdownError

_LONGEST = 300  # characters of a reason


def cell_of(plan: Plan, key: str) -> tuple[Cell, int]:
    """Cell and number of a key; InputError if the campaign has no such run."""
    name, number = parsed_key(key)
    if not plan.first <= number < plan.first + plan.most:
        last = plan.first + plan.most - 1
        raise InputError(f'the campaign has no run "{key}"; its runs are numbered from {plan.first} to {last}')
    found = next((cell for cell in plan.space.cells() if cell.name == name), None)
    if found is None:
        raise InputError(f'the campaign has no cell "{name}"; campaign show lists those that it has')
    return found, number


def run_key(work: Work, key: str) -> dict[str, Any]:
    """The row of a key: settings, figures, and why the run failed if it did."""
    return row_of(work, *cell_of(work.plan, key))


def row_of(work: Work, cell: Cell, number: int) -> dict[str, Any]:
    plan = work.plan
    row: dict[str, Any] = {
        "key": cell.key(number),
        "cell": cell.name,
        "number": number,
        "seed": plan.space.seed(number),
        "failed": None,
    }
    drawn = plan.space.drawn(number)
    row |= {plan.column(key): value for key, value in {**cell.settings, **drawn}.items()}
    began = time.thread_time()
    figures: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a range that was left: the figures show what it costs
            figures = work.base.run({**plan.fixed, **cell.settings, **cell.linked, **drawn}, row["seed"])
    except StrapdownError as error:
        row["failed"] = _short(str(error))
    except MemoryError:
        row["failed"] = "there is not enough memory for this run"
    except Exception as error:
        row["failed"] = _short(f"internal error ({type(error).__name__}: {error})")
    figures = figures | within(plan, figures)
    row |= {name: figures.get(name) for name in plan.figures} if plan.figures else figures
    row["seconds"] = time.thread_time() - began
    return row


def within(plan: Plan, figures: Mapping[str, Any]) -> dict[str, bool]:
    """The flag of the limit, where there is one. A run that failed, or has no such figure, has not kept it."""
    if plan.limit is None:
        return {}
    value = figures.get(plan.limit.figure)
    return {WITHIN: value is not None and bool(value <= plan.limit.at_most)}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."

"""One run of a campaign again, from its folder: with everything that the campaign itself did not keep."""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from strapdown.campaigns.archive import Work, opened
from strapdown.campaigns.plan import Plan
from strapdown.campaigns.running.dataset import Dataset
from strapdown.campaigns.trial import cell_of
from strapdown.errors import InputError

SAME = 1e-9  # relative: another type of processor may round otherwise


@dataclass(frozen=True)
class Repeat:
    """A run that can be repeated. row: what the table has of it, None where it has not run yet."""

    key: str
    settings: dict[str, Any]
    seed: int
    work: Work
    row: dict[str, Any] | None

    @property
    def plan(self) -> Plan:
        return self.work.plan

    def differs(self, figures: dict[str, Any]) -> str | None:
        """The first figure that is not as in the table; None: all are."""
        if self.row is None:
            return None
        for name in self.plan.figures:
            before, now = self.row.get(name), figures.get(name)
            if isinstance(before, float) and isinstance(now, int | float) and not isinstance(now, bool):
                if not math.isclose(before, now, rel_tol=SAME, abs_tol=SAME):
                    return f"{name} is {now!r}, and {before!r} in the table"
            elif before != now:
                return f"{name} is {now!r}, and {before!r} in the table"
        return None


@contextlib.contextmanager
def repeat(folder: str | Path, key: str) -> Iterator[Repeat]:
    """The archive stays unpacked while the block runs."""
    dataset = Dataset(folder)
    with TemporaryDirectory(prefix="strapdown-") as scratch:
        work = opened(dataset.archive(), Path(scratch))
        if work.plan.kind == "function":
            raise InputError(
                "the campaign runs a function of your own; call it with the settings and the seed of the table"
            )
        cell, number = cell_of(work.plan, key)
        yield Repeat(
            cell.key(number),
            work.plan.settings(cell, number),
            work.plan.space.seed(number),
            work,
            _row(dataset, cell.key(number)),
        )


def _row(dataset: Dataset, key: str) -> dict[str, Any] | None:
    import pyarrow.compute as pc

    rows = dataset.rows()
    if rows is None:
        return None
    found = rows.filter(pc.equal(rows.column("key"), key)).to_pylist()
    return dict(found[0]) if found else None

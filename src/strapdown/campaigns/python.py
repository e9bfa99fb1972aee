"""Campaigns from Python: a function of your own, run for every cell of a space and every seed."""

import hashlib
import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from strapdown.campaigns.archive import packed
from strapdown.campaigns.bases.function import function_plan
from strapdown.campaigns.definition.draws import draw_from, is_draw
from strapdown.campaigns.definition.file import MOST_RUNS, UntilTable
from strapdown.campaigns.definition.space import MOST_CELLS, Space
from strapdown.campaigns.running.campaign import Prepared, run_prepared
from strapdown.campaigns.running.runner import Progress
from strapdown.errors import InputError


@dataclass(frozen=True, eq=False)
class CampaignRuns:
    """The runs of a campaign. table: one row for each, sorted by key: settings, seed, figures; `failed` has the reason
    of a run that failed."""

    table: pa.Table

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        failed = len(self.table) - self.table.column("failed").null_count
        return f"<CampaignRuns: {len(self.table)} runs, {failed} failed; columns {', '.join(self.table.column_names)}>"


def run_campaign(
    trial: Callable[..., Any],
    space: Mapping[str, Any],
    seeds: int | range,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    output: str | os.PathLike[str] | None = None,
    until: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CampaignRuns:
    """Call trial(seed=..., **settings) for every combination of the space and every seed, on many processes.

    space: by the name of the argument a list of values, or a draw such as {"uniform": [0.0, 1.0]}. seeds: how many,
    from 1 on, or a range. trial returns a number or a dict of figures; what it raises is the reason of a failed row.

    workers: processes of this computer, by default one for each core; 0: this process. scheduler: address of a Dask
    scheduler instead. output: folder of the data set, with which a campaign that was killed goes on. until: ends a cell
    early, as {"figure": "error_m", "half_width": 0.1}.
    """
    if not callable(trial):
        raise InputError(f"the trial is a {type(trial).__name__}; give a function")
    values = _plain_space(trial, space, seeds, until)
    campaign = _prepared(trial, values)
    count = (os.cpu_count() or 1) if workers is None else workers
    if count < 0:
        raise InputError(f"workers is {workers}; give a number that is not negative")
    with TemporaryDirectory(prefix="strapdown-") as scratch:
        folder = Path(scratch) / "campaign" if output is None else Path(output)
        found = run_prepared(
            campaign, folder, workers=count, scheduler=scheduler, progress=progress or (lambda now: None)
        )
        assert found is not None
        return CampaignRuns(found)


def _plain_space(
    trial: Callable[..., Any], space: Mapping[str, Any], seeds: int | range, until: Mapping[str, Any] | None
) -> dict[str, Any]:
    grid: dict[str, list[Any]] = {}
    draws: dict[str, tuple[str, list[Any]]] = {}
    for name, given in space.items():
        if name == "seed":
            raise InputError('the space has a "seed", which is the argument for the seeds; rename it')
        if is_draw(given):
            draw = draw_from(name, given)
            draws[name] = draw.kind, list(draw.values)
        elif isinstance(given, Sequence) and not isinstance(given, str) and len(given):
            grid[name] = list(given)
        else:
            raise InputError(f'"{name}" of the space is {str(given)[:60]}; give a list of values, or a draw')
    try:
        json.dumps([grid, draws])
    except (TypeError, ValueError):
        raise InputError("the space has values that are no numbers, words or lists; give plain values") from None
    first, runs = (1, seeds) if isinstance(seeds, int) and not isinstance(seeds, bool) else (0, 0)
    if isinstance(seeds, range) and seeds.step == 1:
        first, runs = seeds.start, len(seeds)
    if runs < 1 or first < 0:
        raise InputError(f"seeds is {seeds!r}; give a number from 1 on, or a range such as range(100, 200)")
    cells = Space({key: tuple(items) for key, items in grid.items()}, {}).count
    if cells > MOST_CELLS or cells * runs > MOST_RUNS:
        raise InputError(f"the space has {cells:.3g} combinations and {runs} seeds, which are too many; give fewer")
    if until is not None:
        try:
            until = UntilTable(**until).model_dump()
        except ValueError as error:
            raise InputError(f"until is {dict(until)}; give a figure and a half_width ({_first_line(error)})") from None
    return {
        "name": getattr(trial, "__name__", "trial"),
        "code": _code(trial),
        "grid": grid,
        "draws": draws,
        "first": first,
        "runs": runs,
        "until": until,
    }


def _code(trial: Callable[..., Any]) -> str:
    """Hash of the function's source; a changed function is another campaign."""
    try:
        text = inspect.getsource(trial)
    except (OSError, TypeError):
        text = getattr(trial, "__qualname__", "trial")
    return hashlib.sha256(text.encode()).hexdigest()


def _prepared(trial: Callable[..., Any], values: dict[str, Any]) -> Prepared:
    import cloudpickle

    try:
        pickled = cloudpickle.dumps(trial)
    except Exception as error:  # pickling raises nearly everything
        raise InputError(
            f"the trial cannot be sent to workers ({_first_line(error)}); use plain values in it"
        ) from None
    files = {"trial.pickle": pickled, "space.json": json.dumps(values, sort_keys=True).encode()}
    return Prepared(function_plan(values), packed(files, "trial.pickle", "function"), ())


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]

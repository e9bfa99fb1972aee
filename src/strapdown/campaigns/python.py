"""Campaigns from Python: a function of your own, run for every cell of a space and every seed."""

import inspect
import json
import operator
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
from strapdown.campaigns.trial_identity import identity_of
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
    count = _whole((os.cpu_count() or 1) if workers is None else workers)
    if count is None or count < 0:
        raise InputError(f"workers is {workers!r}; give a whole number that is not negative")
    values = _plain_space(trial, space, seeds, until)
    campaign = _prepared(trial, values)
    with TemporaryDirectory(prefix="strapdown-") as scratch:
        folder = Path(scratch) / "campaign" if output is None else Path(output)
        found = run_prepared(
            campaign,
            folder,
            workers=count,
            scheduler=scheduler,
            progress=progress or (lambda now: None),
            again="" if output is None else "the same call",
        )
        assert found is not None
        return CampaignRuns(found)


def _plain_space(
    trial: Callable[..., Any], space: Mapping[str, Any], seeds: int | range, until: Mapping[str, Any] | None
) -> dict[str, Any]:
    if not isinstance(space, Mapping):
        raise InputError(f'the space is a {type(space).__name__}; give a dict such as {{"gain": [1.0, 2.0]}}')
    grid: dict[str, list[Any]] = {}
    draws: dict[str, tuple[str, list[Any]]] = {}
    for name, given in space.items():
        if name == "seed":
            raise InputError('the space has a "seed", which is the argument for the seeds; rename it')
        if not isinstance(name, str):
            raise InputError(f"the space has a name {name!r}; give the name of an argument of the trial")
        values = _plain(given)
        if is_draw(values):
            draw = draw_from(name, values)
            draws[name] = draw.kind, list(draw.values)
        elif isinstance(values, list) and values:
            grid[name] = values
            _refuse_twice(name, values)
        else:
            raise InputError(f'"{name}" of the space is {str(given)[:60]}; give a list of values, or a draw')
    try:
        json.dumps([grid, draws])
    except (TypeError, ValueError):
        raise InputError("the space has values that are no numbers, words or lists; give plain values") from None
    _refuse_other_arguments(trial, (*grid, *draws))
    count = None if isinstance(seeds, range) else _whole(seeds)
    first, runs = (0, 0) if count is None else (1, count)
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
        "code": identity_of(trial),
        "grid": grid,
        "draws": draws,
        "first": first,
        "runs": runs,
        "until": until,
    }


def _whole(value: Any) -> int | None:
    """None: it is no whole number."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as those of Python."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if hasattr(value, "tolist") and not isinstance(value, str):  # numpy, pandas
        return value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value


def _refuse_twice(name: str, values: list[Any]) -> None:
    texts = [json.dumps(value, sort_keys=True, default=str) for value in values]
    again = next((value for i, value in enumerate(values) if texts[i] in texts[:i]), None)
    if again is not None:
        raise InputError(f'"{name}" of the space has {str(again)[:60]} twice; keep one')


def _refuse_other_arguments(trial: Callable[..., Any], names: Sequence[str]) -> None:
    """A trial that cannot be called with these names would only give failed rows."""
    try:
        signature = inspect.signature(trial)
    except (TypeError, ValueError):  # of a function that is not written in Python
        return
    try:
        signature.bind(**dict.fromkeys((*names, "seed")))
    except TypeError as error:
        raise InputError(
            f"the trial cannot be called with {', '.join((*names, 'seed'))} ({error}); its arguments are the names of "
            "the space, and seed"
        ) from None


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

"""A campaign from its file to its table: what `strapdown campaign run` does."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from strapdown.campaigns.archive import Archive, Work, opened, pack
from strapdown.campaigns.bases import base_of
from strapdown.campaigns.definition.file import Campaign, read_campaign
from strapdown.campaigns.plan import Plan, check_plan, plan_of
from strapdown.campaigns.running.dataset import Dataset
from strapdown.campaigns.running.pools import pool_of
from strapdown.campaigns.running.runner import Progress, Runner
from strapdown.campaigns.running.versions import versions
from strapdown.errors import InputError


@dataclass(frozen=True)
class Prepared:
    """A campaign that was read, checked and packed."""

    plan: Plan
    archive: Archive
    kernels: tuple[str, ...]


def prepared(path: str | Path) -> Prepared:
    campaign: Campaign = read_campaign(path)
    base = base_of(campaign)
    plan = plan_of(campaign, base)
    check_plan(campaign, plan, base)
    return Prepared(plan, pack(campaign, plan, base), base.kernels)


def run_prepared(
    campaign: Prepared,
    folder: str | Path,
    *,
    workers: int,
    scheduler: str | None = None,
    progress: Callable[[Progress], None] = lambda now: None,
    again: str = "the same command",
) -> pa.Table | None:
    """Run what is missing; the sorted table, which is also in the folder. An error or Ctrl-C keeps what is done.

    again: what goes on with it, for the message of an error; empty for a folder that is removed."""
    dataset = Dataset(folder)
    with dataset.locked():
        dataset.begin(campaign.plan, campaign.archive, versions())
        with TemporaryDirectory(prefix="strapdown-") as scratch:
            work = opened(campaign.archive, Path(scratch))
            runner = Runner(campaign.plan, dataset, progress)
            try:
                with pool_of(campaign.archive, work, workers, scheduler) as pool:
                    runner.run(pool)
            except BaseException as error:
                with contextlib.suppress(InputError):  # a full disk has been reported
                    dataset.write_table(campaign.plan)
                if isinstance(error, InputError) and again and runner.done:
                    raise InputError(f"{error}; {kept(runner, dataset)}; {again} goes on with them") from None
                raise
        return dataset.write_table(campaign.plan)


def kept(runner: Runner, dataset: Dataset) -> str:
    return f"{runner.done} of {runner.plan.runs} runs are kept in {dataset.folder}"


def work_of(dataset: Dataset, scratch: Path) -> Work:
    """The campaign of a folder, from its archive alone."""
    return opened(dataset.archive(), scratch)

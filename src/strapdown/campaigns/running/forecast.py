"""What a campaign will cost, from some of its runs: time and disk space."""

import io
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from strapdown.campaigns.archive import Work, opened
from strapdown.campaigns.plan import Plan
from strapdown.campaigns.running.campaign import Prepared
from strapdown.campaigns.running.columns import SECONDS
from strapdown.campaigns.running.dataset import MOST_PARTS
from strapdown.campaigns.running.pools import WINDOW
from strapdown.campaigns.running.runner import BATCH_S, MOST_IN_BATCH
from strapdown.campaigns.running.worker import run_places

LEAST_TRIED, MOST_TRIED = 3, 8
TRIED_S = 4.0  # after so much time no further run is tried
_BYTES_OF_FILES = 2000  # of campaign.json and status.json


@dataclass(frozen=True)
class Forecast:
    """tried: runs that were measured. seconds: CPU time of a run, mean. disk_bytes: at the end. failed: reasons."""

    tried: int
    seconds: float
    disk_bytes: int
    failed: tuple[str, ...]


def forecast(campaign: Prepared, workers: int) -> Forecast:
    """Runs of cells that are spread over the grid. The first one is not counted: it loads what is loaded once. Another
    number for the others: what one run keeps for the next (a calibration) must not make them cheap."""
    plan = campaign.plan
    number = plan.first + min(1, plan.most - 1)
    with TemporaryDirectory(prefix="strapdown-") as scratch:
        work = opened(campaign.archive, Path(scratch))
        run_places(work, [(0, plan.first)])
        tables = _tried(work, plan, number)
    seconds = float(np.mean([table.column(SECONDS)[0].as_py() for table in tables]))
    failed = tuple(reason for table in tables if (reason := table.column("failed")[0].as_py()))
    return Forecast(len(tables), seconds, _disk(campaign, tables, seconds, workers), failed)


def _tried(work: Work, plan: Plan, number: int) -> list[pa.Table]:
    cells = np.linspace(0, plan.space.count - 1, MOST_TRIED).round().astype(int)
    tables: list[pa.Table] = []
    began = time.monotonic()
    for cell in cells[[0, 7, 3, 5, 1, 6, 2, 4]]:  # spread also if it ends early
        tables.append(run_places(work, [(int(cell), number)]))
        if len(tables) >= LEAST_TRIED and time.monotonic() - began > TRIED_S:
            break
    return tables


def _disk(campaign: Prepared, tables: list[pa.Table], seconds: float, workers: int) -> int:
    """Parts and the table hold every row. A small part is mostly its head; MOST_PARTS of them become one."""
    head = max(_parquet(table) for table in tables)
    row = max(table.nbytes for table in tables) / 2  # compression halves the numbers
    runs = campaign.plan.runs
    batch = min(max(BATCH_S / max(seconds, 1e-9), 1.0), MOST_IN_BATCH)
    batches = min(runs, WINDOW * workers + runs / batch)
    small = batches if batches < MOST_PARTS else MOST_PARTS / 2  # on the mean, between none and all
    return round(len(campaign.archive.data) + _BYTES_OF_FILES + (small + 1) * head + 2 * runs * row)


def _parquet(table: pa.Table) -> int:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return len(buffer.getvalue())

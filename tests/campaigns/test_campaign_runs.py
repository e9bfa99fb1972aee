"""Running a campaign: extension, early ends, failures, full disks, one writer; whatever happens, the table is right."""

import errno
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import strapdown as sd
from campaign_cases import GRID, PATH, quick_trial, slow_trial
from helpers import command, write
from strapdown.campaigns.python import _plain_space, _prepared
from strapdown.campaigns.results.intervals import mean_interval, share_interval
from strapdown.campaigns.running import dataset as dataset_module
from strapdown.campaigns.running.dataset import Dataset
from strapdown.campaigns.running.forecast import forecast
from strapdown.campaigns.running.pools import Finished
from strapdown.campaigns.running.runner import Runner


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small campaign of a path, run in this process."""
    made = tmp_path_factory.mktemp("path")
    file = write(made, "short.toml", PATH + GRID)
    said = command("campaign", "run", file, "-o", made / "out", "--workers", "0")
    assert said.code == 0, said.err
    return made / "out"


def table_of(folder):
    return pq.read_table(folder / "table.parquet")


def test_two_workers_give_the_bytes_of_one_process(folder, tmp_path):
    said = command("campaign", "run", folder.parent / "short.toml", "-o", tmp_path / "two", "--workers", "2")
    assert said.code == 0, said.err
    assert (tmp_path / "two" / "table.parquet").read_bytes() == (folder / "table.parquet").read_bytes()


def test_a_finished_campaign_is_extended(folder, tmp_path):
    text = PATH + GRID
    file = write(tmp_path, "short.toml", text.replace('["MPU-6050", "ADIS16470"]', '["MPU-6050"]'))
    assert command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0").code == 0
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out" / "parts").iterdir()}
    write(tmp_path, "short.toml", text)
    assert command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0").code == 0
    after = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out" / "parts").iterdir()}
    assert before.items() <= after.items()  # what was run is not run again
    assert (tmp_path / "out" / "table.parquet").read_bytes() == (folder / "table.parquet").read_bytes()
    write(tmp_path, "short.toml", text.replace("50.0", "60.0"))
    said = command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0")
    assert said.code == 2 and "holds another campaign" in said.err


def test_dry_run(tmp_path):
    file = write(tmp_path, "short.toml", PATH + GRID)
    said = command("campaign", "run", file, "-o", tmp_path / "out", "--dry-run", "--workers", "2", "--json")
    found = json.loads(said.out)
    assert found["runs"] == 4 and found["cells"] == 2 and found["time_s"] == pytest.approx(found["cpu_s"] / 2)
    assert found["seconds_of_a_run"] > 0.0 and found["disk_bytes"] > 4 * 8 * 6 and found["files"] == ["short.toml"]
    assert not (tmp_path / "out").exists()
    assert "runs: 4 (2 cells, 2 each)" in command("campaign", "run", file, "--dry-run").out


@pytest.mark.parametrize(("trial", "seeds"), [(quick_trial, 1500), (slow_trial, 40)])
def test_the_forecast_of_disk_space_is_right_within_a_factor_of_two(tmp_path, trial, seeds):
    space = {"gain": [1.0, 2.0]}
    found = forecast(_prepared(trial, _plain_space(trial, space, seeds, None)), 1)
    sd.run_campaign(trial, space, seeds, workers=0, output=tmp_path / "out")
    size = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert 0.5 < found.disk_bytes / size < 2.0


def test_a_cell_ends_when_its_interval_is_narrow():
    until = {"figure": "error", "half_width": 0.5, "block": 10}
    runs = sd.run_campaign(quick_trial, {"gain": [0.01, 1.0, 3.0]}, 80, workers=0, until=until)
    by_gain = {}
    for row in runs.table.to_pylist():
        by_gain.setdefault(row["gain"], []).append(row["error"])
    for values in by_gain.values():
        n = len(values)
        assert n == 80 or n % 10 == 0
        low, high = mean_interval(np.array(values))
        assert n == 80 or 0.5 * (high - low) <= 0.5
        for k in range(10, n, 10):  # and not earlier
            low, high = mean_interval(np.array(values[:k]))
            assert 0.5 * (high - low) > 0.5
    assert len(by_gain[0.01]) == 10 < len(by_gain[1.0]) < len(by_gain[3.0])


def test_the_end_of_a_cell_does_not_depend_on_the_order(tmp_path):
    """Runs that came too early are in the parts and not in the table."""
    until = {"figure": "lost", "half_width": 0.15, "block": 10}
    few = sd.run_campaign(quick_trial, {"gain": [1.0]}, 60, workers=0, until=until, output=tmp_path / "few")
    sd.run_campaign(quick_trial, {"gain": [1.0]}, 60, workers=0, output=tmp_path / "all")
    assert 10 <= len(few) < 60
    for part in (tmp_path / "all" / "parts").iterdir():  # the other runs, too
        (tmp_path / "few" / "parts" / f"more-{part.name}").write_bytes(part.read_bytes())
    again = sd.run_campaign(quick_trial, {"gain": [1.0]}, 60, workers=0, until=until, output=tmp_path / "few")
    assert again.table.equals(few.table)


class Pool:
    """Workers that die in certain runs."""

    def __init__(self, work, poison):
        self._work, self._poison, self._batches = work, poison, []

    def size(self):
        return 2

    def pending(self):
        return len(self._batches)

    def submit(self, batch):
        self._batches.append(batch)

    def finished(self, timeout_s):
        from strapdown.campaigns.running.worker import run_places

        batch = self._batches.pop()
        if any(number in self._poison for _, number in batch):
            return [Finished(batch, died=True)]
        return [Finished(batch, run_places(self._work, batch))]


def test_a_run_that_kills_its_worker_is_a_failed_row(tmp_path):
    from strapdown.campaigns.archive import opened
    from strapdown.campaigns.python import _plain_space, _prepared

    campaign = _prepared(quick_trial, _plain_space(quick_trial, {"gain": [1.0, 2.0]}, 40, None))
    dataset = Dataset(tmp_path / "out")
    dataset.begin(campaign.plan, campaign.archive, {})
    Runner(campaign.plan, dataset).run(Pool(opened(campaign.archive, tmp_path), poison={5, 23}))
    rows = dataset.table(campaign.plan).to_pylist()
    assert len(rows) == 80
    assert {(row["number"], row["gain"]) for row in rows if row["failed"]} == {(n, g) for n in (5, 23) for g in (1, 2)}
    assert all("worker process died" in row["failed"] for row in rows if row["failed"])


@pytest.mark.parametrize(("workers", "seconds"), [(2, 1.0), (800, 8.0)])
def test_a_batch_has_a_second_of_work_and_a_hundred_come_in_a_second(tmp_path, workers, seconds):
    from strapdown.campaigns.python import _plain_space, _prepared

    campaign = _prepared(quick_trial, _plain_space(quick_trial, {"gain": [1.0]}, 5000, None))
    dataset = Dataset(tmp_path / "out")
    dataset.begin(campaign.plan, campaign.archive, {})
    runner = Runner(campaign.plan, dataset)
    places = runner._places()
    assert len(runner._batch(places, workers)) == 1  # nothing is known yet
    runner._mean_s = 0.01
    assert len(runner._batch(places, workers)) == pytest.approx(seconds / 0.01)


def test_a_full_disk_keeps_what_is_there(tmp_path, monkeypatch):
    file = write(tmp_path, "short.toml", PATH + GRID)
    real, written = pq.write_table, []

    def full(table, path, **more):
        if len(written) >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        real(table, path, **more)

    monkeypatch.setattr(dataset_module.pq, "write_table", full)
    said = command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0")
    assert said.code == 2 and "No space left on device" in said.err and said.err.count("\n") == 1
    assert "2 of 4 runs are kept" in said.err
    monkeypatch.undo()
    assert Dataset(tmp_path / "out").rows().num_rows == 2
    said = command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0")
    assert said.code == 0 and table_of(tmp_path / "out").num_rows == 4


def test_one_program_at_a_time(folder):
    with Dataset(folder).locked():
        said = command("campaign", "run", folder.parent / "short.toml", "-o", folder, "--workers", "0")
    assert said.code == 2 and "another program runs the campaign" in said.err


def test_many_small_parts_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_module, "MOST_PARTS", 5)
    dataset = Dataset(tmp_path)
    (tmp_path / "parts").mkdir()
    for n in range(12):
        dataset.write(pa.table({"key": [f"{n:03d}"], "cell": ["c"], "number": [n], "seconds": [0.1]}))
    assert len(list((tmp_path / "parts").iterdir())) < 6
    assert dataset.rows().column("number").to_pylist() == list(range(12))


def test_a_part_that_was_being_written_when_the_program_was_killed_is_no_part(tmp_path):
    sd.run_campaign(quick_trial, {"gain": [1.0]}, 3, workers=0, output=tmp_path / "out")
    half = tmp_path / "out" / "parts" / ".0123456789ab-part-0123456789abcdef.parquet"
    half.write_bytes(b"PAR1")
    assert Dataset(tmp_path / "out").rows().num_rows == 3
    assert len(sd.run_campaign(quick_trial, {"gain": [1.0]}, 5, workers=0, output=tmp_path / "out")) == 5
    assert not half.exists()


def test_a_damaged_part_is_named(tmp_path):
    sd.run_campaign(quick_trial, {"gain": [1.0]}, 3, workers=0, output=tmp_path / "out")
    next((tmp_path / "out" / "parts").iterdir()).write_bytes(b"nothing")
    with pytest.raises(sd.InputError, match="is damaged; delete it"):
        sd.run_campaign(quick_trial, {"gain": [1.0]}, 3, workers=0, output=tmp_path / "out")


@pytest.mark.parametrize(
    ("trial", "space", "seeds", "sentence"),
    [
        (3, {"gain": [1]}, 1, "give a function"),
        (quick_trial, {"gain": []}, 1, "give a list of values"),
        (quick_trial, {"gain": 3}, 1, "give a list of values"),
        (quick_trial, {"seed": [1]}, 1, "rename it"),
        (quick_trial, {"gain": [1]}, 0, "seeds is 0"),
        (quick_trial, {"gain": [object()]}, 1, "give plain values"),
        (lambda **settings: 1.0, {f"a{i}": list(range(100)) for i in range(6)}, 1, "too many"),
    ],
)
def test_python_is_refused_in_one_sentence(trial, space, seeds, sentence):
    with pytest.raises(sd.InputError, match=sentence):
        sd.run_campaign(trial, space, seeds, workers=0)


def test_what_a_trial_returns():
    runs = sd.run_campaign(lambda gain, seed: gain * seed, {"gain": [2.0]}, range(5, 8), workers=0)
    assert runs.table.column("value").to_pylist() == [10.0, 12.0, 14.0]
    failed = sd.run_campaign(lambda gain, seed: "a", {"gain": [2.0]}, 1, workers=0)
    assert failed.table.column("failed").to_pylist() == [
        "the trial returned a str; return a number, or a dict of figures"
    ]


def test_intervals_cover_what_they_promise():
    """2000 repetitions: a share of 95 % has a sigma of 0.5 %."""
    rng = np.random.default_rng(1)
    means = [mean_interval(rng.normal(3.0, 2.0, 8)) for _ in range(2000)]
    assert np.mean([low <= 3.0 <= high for low, high in means]) == pytest.approx(0.95, abs=0.02)
    shares = [share_interval(rng.binomial(60, 0.2), 60) for _ in range(2000)]
    assert np.mean([low <= 0.2 <= high for low, high in shares]) == pytest.approx(0.95, abs=0.02)
    assert share_interval(0, 20)[1] > 0.1

"""A campaign that is killed by -9 again and again: nothing but running work is lost, nothing counts twice."""

import pyarrow.parquet as pq

import strapdown as sd
from campaign_cases import killed_again_and_again, slow_trial

SEEDS = 60


def test_three_kills(tmp_path):
    kept = killed_again_and_again(tmp_path / "killed", kills=3, seeds=SEEDS, workers=1)
    assert kept == sorted(kept)  # what was kept stays
    sd.run_campaign(slow_trial, {"gain": [1.0, 2.0, 4.0]}, SEEDS, workers=0, output=tmp_path / "whole")
    killed, whole = (tmp_path / name / "table.parquet" for name in ("killed", "whole"))
    assert killed.read_bytes() == whole.read_bytes()
    keys = pq.read_table(killed).column("key").to_pylist()
    assert len(keys) == len(set(keys)) == 3 * SEEDS
    assert keys == sorted(keys)
    # no part has a run that another part has: what was kept was not run again
    parts = [key for path in (tmp_path / "killed" / "parts").glob("*.parquet") for key in _keys(path)]
    assert len(parts) == len(set(parts))


def _keys(path):
    return pq.read_table(path, columns=["key"]).column("key").to_pylist()

"""Campaigns of a user's own function: what it may be, what it may return, when it is another campaign."""

import functools
import sys

import numpy as np
import pytest

import strapdown as sd
from strapdown.campaigns.running.dataset import Dataset
from strapdown.campaigns.running.pools import Finished
from strapdown.campaigns.running.runner import Runner
from strapdown.campaigns.running.worker import run_places


def times(factor):
    return lambda gain, seed: factor * gain


def product(gain, factor, seed):
    return factor * gain


class Product:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, gain, seed):
        return self.factor * gain


def values(trial, output=None, space=None, seeds=1, **more):
    found = sd.run_campaign(trial, space or {"gain": [1.0, 2.0]}, seeds, workers=0, output=output, **more)
    return sorted(found.table.column("value").to_pylist())


@pytest.mark.parametrize(
    "made",
    [times, lambda factor: functools.partial(product, factor=factor), Product],
    ids=["closure", "partial", "object"],
)
def test_a_function_that_carries_another_value_is_another_campaign(tmp_path, made):
    assert values(made(1.0), tmp_path / "out") == [1.0, 2.0]
    assert values(made(1.0), tmp_path / "out", seeds=2) == [1.0, 1.0, 2.0, 2.0]
    with pytest.raises(sd.InputError, match=r"another campaign \(function, keys, draws or first seed differ"):
        values(made(3.0), tmp_path / "out")


def test_code_and_globals_count_and_comments_do_not(tmp_path):
    def trial_of(text):
        names = {"__name__": "__main__"}
        exec(text, names)
        return names["trial"]

    begun = "K = 2.0\ndef trial(gain, seed):\n    return K * gain\n"
    assert values(trial_of(begun), tmp_path / "out") == [2.0, 4.0]
    same = begun.replace("return", "# twice\n    return")
    assert values(trial_of(same), tmp_path / "out") == [2.0, 4.0]
    for other in (begun.replace("2.0", "3.0"), begun.replace("*", "+")):
        with pytest.raises(sd.InputError, match="another campaign"):
            values(trial_of(other), tmp_path / "out")


@pytest.mark.parametrize(
    ("returned", "value"),
    [(np.float32(2.0), 2.0), (np.array(2.0), 2.0), (np.bool_(True), True), (False, False), (float("nan"), None)],
)
def test_numbers_and_flags_of_any_kind(returned, value):
    found = sd.run_campaign(lambda seed: returned, {}, 1, workers=0)
    assert found.table.column("value").to_pylist() == [value]


def test_arrays_of_numpy_as_a_space():
    assert values(lambda gain, seed: gain, space={"gain": np.linspace(0.0, 1.0, 3)}) == [0.0, 0.5, 1.0]
    assert values(lambda gain, seed: gain, space={"gain": [np.float64(1.5), np.int64(2)]}, seeds=np.int64(1)) == [
        1.5,
        2,
    ]


@pytest.mark.parametrize(
    ("space", "more", "sentence"),
    [
        ([1.0], {}, "the space is a list"),
        ({"gain": [1, 1]}, {}, '"gain" of the space has 1 twice'),
        ({"gian": [1.0]}, {}, "cannot be called with gian, seed"),
        ({"gain": [1.0]}, {"workers": 1.5}, "workers is 1.5"),
        (
            {"gain": [1.0]},
            {"until": {"figure": "eror", "half_width": 1.0}},
            "the trial returns error; name one of them$",
        ),
        ({"gain": [1.0]}, {"until": {"figure": "word", "half_width": 1.0}}, "which is a word"),
    ],
)
def test_one_sentence_each(space, more, sentence):
    def trial(gain, seed):
        return {"word": "a"} if more.get("until", {}).get("figure") == "word" else {"error": gain}

    with pytest.raises(sd.InputError, match=sentence):
        sd.run_campaign(trial, space, 3, **({"workers": 0} | more))


def test_a_number_that_is_called_like_a_flag():
    found = sd.run_campaign(
        lambda seed: {"diverged": 3.5}, {}, 40, workers=0, until={"figure": "diverged", "half_width": 0.1, "block": 5}
    )
    assert len(found) == 5


def test_sys_exit_is_a_failed_row():
    found = sd.run_campaign(lambda seed: sys.exit(3), {}, 1, workers=0)
    assert found.table.column("failed").to_pylist() == ["SystemExit: 3"]


class Blaming:
    """A pool as Dask has it: a run that kills its worker takes the blame of all batches that wait there along."""

    def __init__(self, work, killers):
        self.work, self.killers, self.batches = work, killers, []

    def size(self):
        return 2

    def pending(self):
        return len(self.batches)

    def submit(self, batch):
        self.batches.append(batch)

    def finished(self, timeout_s):
        batches, self.batches = self.batches, []
        if any(number in self.killers for batch in batches for _, number in batch):
            return [Finished(batch, died=True) for batch in batches]
        return [Finished(batch, run_places(self.work, batch)) for batch in batches]


@pytest.mark.parametrize("until", [None, {"figure": "value", "half_width": 1e-9, "block": 5}])
def test_only_the_run_that_kills_its_worker_fails(tmp_path, until):
    from strapdown.campaigns.archive import opened
    from strapdown.campaigns.python import _plain_space, _prepared

    def trial(seed):
        return float(seed)

    campaign = _prepared(trial, _plain_space(trial, {}, 20, until))
    dataset = Dataset(tmp_path / "out")
    dataset.begin(campaign.plan, campaign.archive, {})
    Runner(campaign.plan, dataset).run(Blaming(opened(campaign.archive, tmp_path), {4, 11}))
    rows = dataset.rows().to_pylist()
    assert [row["number"] for row in rows] == list(range(1, 21))
    assert [row["number"] for row in rows if row["failed"]] == [4, 11]

"""The folder of a campaign: what a kill between two files leaves, and what a second program sees."""

import pytest

import strapdown as sd
from campaign_cases import quick_trial
from strapdown.campaigns.results.cells import Results
from strapdown.campaigns.running import dataset as module
from strapdown.campaigns.running.dataset import Dataset

SPACE = {"gain": [1.0, 2.0]}


class Killed(BaseException):
    pass


def run(folder, seeds, space=SPACE):
    return sd.run_campaign(quick_trial, space, seeds, workers=0, output=folder)


@pytest.mark.parametrize("name", ["campaign.json", "archive.zip", "table.parquet"])
@pytest.mark.parametrize("kills", [1, 2])
def test_killed_while_a_campaign_is_extended(tmp_path, monkeypatch, name, kills):
    """Before, within and after each file: what is there can be shown, and the same call goes on."""
    run(tmp_path / "whole", 6)
    run(tmp_path / "out", 3)
    whole_file = module.whole_file

    def killed(path):
        if path.name == name:
            path.with_name(f".0123456789ab-{name}").write_bytes(b"half")
            raise Killed
        return whole_file(path)

    for seeds in (5, 6)[:kills]:
        monkeypatch.setattr(module, "whole_file", killed)
        with pytest.raises(Killed):
            run(tmp_path / "out", seeds)
        monkeypatch.undo()
        assert len(Results(tmp_path / "out").table) >= 6
    run(tmp_path / "out", 6)
    assert (tmp_path / "out" / "table.parquet").read_bytes() == (tmp_path / "whole" / "table.parquet").read_bytes()
    assert not list((tmp_path / "out").glob(".0*"))


def test_parts_that_are_joined_while_they_are_read(tmp_path, monkeypatch):
    """The list of parts is old then: it is made again, and no run is missing for a moment."""
    run(tmp_path / "out", 4)
    read, joined = module._read, []

    def joining(path, columns=None):
        if not joined:
            joined.append(path)
            path.rename(path.with_name(f"many-{path.name}"))
        return read(path, columns)

    monkeypatch.setattr(module, "_read", joining)
    assert len(Dataset(tmp_path / "out").rows()) == 8


def test_a_folder_without_runs_is_begun_anew(tmp_path):
    """As after a wrong address: nothing is there that another campaign could spoil."""
    with pytest.raises(sd.InputError, match="is not the address"):
        sd.run_campaign(quick_trial, SPACE, 2, scheduler="nowhere", output=tmp_path / "out")
    assert len(sd.run_campaign(lambda seed: 1.0, {}, 2, workers=0, output=tmp_path / "out")) == 2


def test_files_of_others_in_the_folder_are_kept(tmp_path):
    (tmp_path / "out").mkdir()
    own = tmp_path / "out" / ".my-settings"
    own.write_text("mine", encoding="utf-8")
    run(tmp_path / "out", 1)
    assert own.read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("a", encoding="utf-8")
    for path in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(sd.InputError, match=r"cannot make folder .*choose another"):
            run(path, 1)

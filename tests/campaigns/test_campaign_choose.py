"""Which part is enough: what strapdown choose answers, and how certain it is."""

import json

import numpy as np
import pytest

from helpers import command, write
from strapdown.campaigns.choose import LEAST_RUNS, Task, campaign_text, needed_runs, parts_of_catalogue, usual_runs
from strapdown.campaigns.definition.file import read_campaign
from strapdown.campaigns.plan import plan_of
from strapdown.campaigns.results.cells import Results
from strapdown.campaigns.results.intervals import share_interval
from strapdown.errors import InputError


def test_choose_finds_the_part_that_is_enough(tmp_path, monkeypatch):
    """Errors are made up: one part is good, one after calibration, one never."""
    from strapdown.campaigns.bases.rig import RigBase

    def run(self, settings, seed):
        part, effort = settings["sensor.imu.part"], settings["calibration.effort"]
        size = {"ADIS16470": 0.2, "MPU-6050": 0.9 if effort == "positions" else 3.0, "LSM9DS1": 4.0}[part]
        error = size * (1.0 + 0.0001 * seed)
        return {"largest_percent_of_path": error, "final_percent": error, "nees_position": 3.0, "diverged": False}

    monkeypatch.setattr(RigBase, "run", run)
    out = tmp_path / "out"
    said = command(
        *("choose", "--error", "1%", "--parts", "MPU-6050,LSM9DS1,ADIS16470", "-o", out, "--workers", "0"),
    )
    assert said.code == 0, said.err
    assert "Enough as bought: ADIS16470." in said.out
    assert "Enough after the positions of its case: MPU-6050." in said.out
    assert "Not enough with any effort that was tried: LSM9DS1." in said.out
    assert (out / "choose.png").is_file() and (out / "report.html").is_file()
    found = json.loads(
        command(
            "choose", "--error", "1%", "--parts", "MPU-6050,LSM9DS1,ADIS16470", "-o", out, "--workers", "0", "--json"
        ).out
    )
    runs = {(step["part"], step["effort"]): step["runs"] for step in found["steps"]}
    assert (
        runs["LSM9DS1", "none"] == 20 and runs["ADIS16470", "none"] == 80
    )  # 80 of 80: above 95 % with Wilson's interval
    for arguments, sentence in (
        (("--error", "much"), "give a number with its unit"),
        (("--error", "1%", "--parts", "QMC5883L"), "no accelerometer and gyroscope"),
        (("--error", "1%", "--efforts", "some"), 'effort "some" is not known'),
        (("--error", "1m", "--probability", "2"), "between 0 and 1"),
        (("--error", "1m", "--drive", "round"), "give straight or square"),
    ):
        said = command("choose", *arguments, "-o", tmp_path / "bad")
        assert said.code == 2 and sentence in said.err, said.err


@pytest.mark.parametrize("drive", ["straight", "square"])
def test_the_campaign_of_choose_is_one_that_runs(tmp_path, drive):
    task = Task(1.0, False, drive=drive, length_m=4.0, odometer=True)
    campaign = read_campaign(write(tmp_path, "c.toml", campaign_text(task, parts_of_catalogue(), ["none"], 10)))
    assert len(campaign.space.grid["sensor.imu.part"]) > 15
    assert plan_of(campaign).limit.at_most == 1.0


def test_a_drive_that_fails_is_a_miss_and_the_worst_are_those_beyond_the_limit(tmp_path, monkeypatch):
    """Every third drive has no result: a part is not enough by the others alone."""
    from strapdown.campaigns.bases.rig import RigBase

    def run(self, settings, seed):
        if seed % 3 == 0:
            raise InputError("the drive was refused")
        error = 5.0 if seed == 4 else 0.1
        return {"largest_percent_of_path": error, "final_percent": error, "nees_position": 3.0, "diverged": False}

    monkeypatch.setattr(RigBase, "run", run)
    out = tmp_path / "out"
    said = command("choose", "--error", "1%", "--parts", "MPU-6050", "--efforts", "none", "-o", out, "--workers", "0")
    assert "Not enough with any effort that was tried: MPU-6050." in said.out
    assert "6 drives failed and are misses; the most frequent cause: the drive was refused." in said.out  # of 20
    shown = command("campaign", "show", out / "campaign", "--worst", "1").out
    assert "runs with the largest largest_percent_of_path" in shown
    assert shown.splitlines()[-1].split()[0].endswith("-00000004")
    assert not Results(out / "campaign").column("within").all()


def test_efforts_are_ordered_by_their_size_and_few_runs_are_announced(tmp_path, monkeypatch):
    from strapdown.campaigns.bases.rig import RigBase

    error = {"largest_percent_of_path": 0.1, "final_percent": 0.1, "nees_position": 3.0, "diverged": False}
    monkeypatch.setattr(RigBase, "run", lambda self, settings, seed: error)
    wanted = ("choose", "--error", "1%", "--parts", "MPU-6050", "--efforts", "positions,none", "--workers", "0")
    said = command(*wanted, "-o", tmp_path / "a")
    assert "Enough as bought: MPU-6050." in said.out and "note:" not in said.err
    said = command(*wanted, "-o", tmp_path / "b", "--runs", "20")
    assert "note: 20 drives can show that a part is not enough, not that it is: 95 % need 73 drives" in said.err


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_the_usual_runs_can_decide(probability):
    needed = needed_runs(probability)
    assert share_interval(needed, needed)[0] >= probability > share_interval(needed - 1, needed - 1)[0]
    assert usual_runs(probability) >= max(LEAST_RUNS, 1.3 * needed)


def test_a_part_at_the_border_is_seldom_called_enough():
    """Its share is 95 %, as asked for. The interval is looked at after each block of 20: "enough" stays below the 2.5 %
    of one look (sigma of 4000 repetitions 0.25 %), "not enough" rises to 12 %."""
    rng, said = np.random.default_rng(1), []
    for _ in range(4000):
        within = rng.random(usual_runs(0.95)) < 0.95
        looks = [share_interval(int(within[:n].sum()), n) for n in range(20, len(within) + 1, 20)]
        said.append(next(("enough" if low >= 0.95 else "not" for low, high in looks if not low < 0.95 <= high), "open"))
    assert said.count("enough") / 4000 < 0.025 + 3 * 0.0025
    assert said.count("not") / 4000 == pytest.approx(0.12, abs=0.02)

"""What campaign show, run --run and choose state of a campaign."""

import json

import numpy as np
import pytest

import strapdown as sd
from campaign_cases import GRID, PATH
from helpers import EXAMPLES, command, link, stl, urdf, write
from strapdown.campaigns.archive import Archive, opened
from strapdown.campaigns.bases import base_of
from strapdown.campaigns.definition.file import read_campaign
from strapdown.campaigns.results.cells import Results
from strapdown.campaigns.results.comparison import compare, failures, worst_runs
from strapdown.campaigns.results.intervals import quantile_interval
from strapdown.campaigns.results.sensitivity import effects
from strapdown.campaigns.running.campaign import prepared
from strapdown.campaigns.trial import run_key
from strapdown.cli.tables import parts


def known_trial(a, x, seed):
    """Value with known statistics: 3 a + 2 x + noise of sigma 1; each tenth seed fails."""
    import random

    if seed % 10 == 0:
        raise ValueError(f"seed {seed} at {a}")
    return {"value": 3.0 * a + 2.0 * x + random.Random(seed).gauss(0.0, 1.0), "lost": seed % 4 == 0}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("known") / "out"
    sd.run_campaign(known_trial, {"a": [0.0, 1.0], "x": {"uniform": [0.0, 3.0]}}, 99, workers=0, output=folder)
    return Results(folder)


def test_statistics_of_cells(results):
    first, second = results.cells
    found = results.statistic("value", first)
    # mean of 2 x is 3, its sigma sqrt(3 + 1) = 2; 90 runs: 4 sigmas of the mean are 0.85
    assert found.mean == pytest.approx(3.0, abs=0.85) and found.interval[0] < found.mean < found.interval[1]
    assert found.runs == 90 and results.failed(first) == 9
    assert results.statistic("lost", second).mean == pytest.approx(20 / 90)  # of 24 quarters, 20, 40, 60, 80 failed


def test_paired_cells_show_a_difference_far_below_the_spread(results):
    pair = compare(results, "value", *results.cells)
    assert pair.pairs == 90 and pair.difference == pytest.approx(3.0, abs=1e-9)  # the same seeds: noise cancels
    assert pair.larger == 1.0 and pair.chance < 1e-6
    assert "which is not chance" in pair.sentence()


def test_failures_are_grouped_by_cause_and_worst_runs_found(results):
    ((cause, count, key),) = failures(results)
    assert count == 18 and cause.startswith("ValueError: seed ") and key in results.table.column("key").to_pylist()
    values = results.column("value")
    assert worst_runs(results, "value", 3)[0][1] == np.nanmax(values)


def test_the_worst_runs_of_a_flag_are_those_that_have_it(results, tmp_path):
    assert all(value == 1.0 for _, value in worst_runs(results, "lost", 200))
    out = tmp_path / "out"
    trial = lambda seed: {"at_s": None, "lost": False, "error": float(seed)}  # noqa: E731
    sd.run_campaign(trial, {}, 3, workers=0, output=out)
    assert worst_runs(Results(out), "lost") == []
    assert Results(out).figure(None) == "error"  # not one that no run has
    assert "no run has lost" in command("campaign", "show", out, "--figure", "lost").out


def test_effects_of_a_random_design(results):
    found = {effect.factor: effect for effect in effects(results, "value")}
    # within a cell: sigma of 2 x is sqrt(3), of the noise 1; correlation sqrt(3 / 4) = 0.87
    assert found["x"].kind == "rank" and found["x"].first == pytest.approx(0.87, abs=0.06)
    # between cells: variance 9 / 4 of 9 / 4 + 4
    assert found["a"].kind == "variance" and found["a"].first == pytest.approx(0.36, abs=0.1)


SOBOL = """
version = 1
design = "sobol"
measure = ["final_percent"]
[path]
kind = "stop-and-go-straight"
[draw]
"navigate.heading_sigma_deg" = { uniform = [0.0, 2.0] }
"navigate.odometer_sigma" = { uniform = [0.0, 0.1] }
[seeds]
runs = 256
"""


def test_sobol_indices_are_those_of_a_known_function(tmp_path, monkeypatch):
    """y = 2 a + b + seed / 2^32, a and b scaled to 0..1: indices 4/6, 1/6 and 1/6."""
    pytest.importorskip("SALib")
    from strapdown.campaigns.bases.rig import RigBase

    def run(self, settings, seed):
        a, b = settings["navigate.heading_sigma_deg"] / 2.0, settings["navigate.odometer_sigma"] / 0.1
        return {"final_percent": 2.0 * a + b + seed / 2**32}

    monkeypatch.setattr(RigBase, "run", run)
    file = write(tmp_path, "s.toml", SOBOL)
    assert command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0").code == 0
    found = {effect.factor: effect for effect in effects(Results(tmp_path / "out"), "final_percent")}
    for factor, index in (("navigate.heading_sigma_deg", 4 / 6), ("navigate.odometer_sigma", 1 / 6), ("seed", 1 / 6)):
        # 256 quasi-random samples: within 0.03, their own 95 % interval is about 0.1
        assert found[factor].first == pytest.approx(index, abs=0.05)
        assert found[factor].total == pytest.approx(index, abs=0.05)
    said = command("campaign", "show", tmp_path / "out")
    assert "first Sobol index" in said.out and "total Sobol index" in said.out


def test_missing_salib_is_one_sentence_and_the_rest_is_shown(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "SALib.analyze", None)
    from strapdown.campaigns.bases.rig import RigBase

    monkeypatch.setattr(RigBase, "run", lambda self, settings, seed: {"final_percent": float(seed % 7)})
    file = write(tmp_path, "s.toml", SOBOL.replace("256", "2"))
    command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0")
    said = command("campaign", "show", tmp_path / "out")
    assert said.code == 0 and "install strapdown[sensitivity]" in said.out and "final_percent" in said.out


def test_the_interval_of_a_quantile_covers_it():
    rng = np.random.default_rng(2)
    true = -np.log(0.05)  # of an exponential distribution
    inside = [
        low <= true <= high for low, high in (quantile_interval(rng.exponential(size=200), 0.95) for _ in range(1000))
    ]
    assert np.mean(inside) > 0.93  # at least 95 %, less 3 sigmas of 1000 repetitions


@pytest.fixture(scope="module")
def path_folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("shown")
    file = write(made, "short.toml", PATH + GRID)
    assert command("campaign", "run", file, "-o", made / "out", "--workers", "0").code == 0
    return made / "out"


def test_show_prints_tables_and_writes_a_report(path_folder, tmp_path):
    said = command("campaign", "show", path_folder, "-o", tmp_path / "report.html")
    assert said.code == 0 and "ADIS16470" in said.out and "4 of 4 runs" in said.out and "--run KEY" in said.out
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.count("data:image/png") >= 2 and "ADIS16470" in html
    document = json.loads(command("campaign", "show", path_folder, "--json").out)
    assert document["runs"] == 4 and len(document["cells"]) == 2
    said = command("campaign", "show", path_folder, "--figure", "final_percent", "--compare", "1", "2")
    assert "on the same 2 seeds" in said.out
    for wrong, sentence in (("speed", "was not measured; there are: final_percent"),):
        said = command("campaign", "show", path_folder, "--figure", wrong)
        assert said.code == 2 and sentence in said.err
    said = command("campaign", "show", tmp_path)
    assert said.code == 2 and "not the folder of a campaign" in said.err


def test_a_run_is_repeated_from_the_folder_alone(path_folder, tmp_path):
    row = Results(path_folder).table.to_pylist()[0]
    (path_folder.parent / "short.toml").rename(path_folder.parent / "gone.toml")
    try:
        said = command("run", path_folder, "--run", row["key"], "-o", tmp_path / "one")
    finally:
        (path_folder.parent / "gone.toml").rename(path_folder.parent / "short.toml")
    assert said.code == 0 and "all figures are those of the campaign's table" in said.out
    assert (tmp_path / "one" / "log.parquet").is_file() and (tmp_path / "one" / "report.html").is_file()
    found = json.loads(command("run", path_folder, "--run", row["key"], "--json").out)
    assert found["figures"]["final_percent"] == row["final_percent"] and found["differs"] is None
    said = command("run", path_folder, "--run", "0" * 12 + "-1")
    assert said.code == 2 and "has no cell" in said.err
    said = command("studio", path_folder, "--run", "nothing", "--no-browser")
    assert said.code == 2 and "is not a key of a run" in said.err
    said = command("studio", path_folder.parent / "short.toml", "--run", row["key"], "--no-browser")
    assert said.code == 2 and "--run needs the folder of a campaign" in said.err


def test_the_archive_has_all_files_and_is_the_same_each_time(tmp_path):
    stl(tmp_path / "robots" / "meshes" / "part.stl")
    shape = '<geometry><mesh filename="meshes/part.stl"/></geometry>'
    inside = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    write(tmp_path, "robots/cube.urdf", urdf(link("base", f"{inside}<collision>{shape}</collision>")))
    rig = 'duration_s = 0.5\n[robot]\nfile = "../robots/cube.urdf"\nfloating = true\n'
    rig += '[[sensor]]\nname = "imu"\nlink = "base"\n'
    write(tmp_path, "rigs/fall.toml", rig + 'part = "MPU-6050"\n')
    text = 'version = 1\nrig = "../rigs/fall.toml"\n[set]\n"navigate.vehicle" = "free"\n[seeds]\nruns = 1\n'
    file = write(tmp_path, "campaigns/c.toml", text)
    one, other = prepared(file), prepared(file)
    assert one.archive.data == other.archive.data
    assert set(one.archive.manifest["files"]) == {
        *("campaigns/c.toml", "rigs/fall.toml", "robots/cube.urdf", "robots/meshes/part.stl"),
    }
    work = opened(Archive(one.archive.data), tmp_path / "elsewhere")
    cell = next(work.plan.space.cells())
    row = run_key(work, cell.key(1))
    assert row["key"] == cell.key(1) and str(tmp_path) not in str(row)


def test_a_recording_as_base(tmp_path):
    rig = next(path for path in EXAMPLES if path.name == "figure_eight.toml")
    text = PATH + '[grid]\n"navigate.heading_sigma_deg" = [0.0]\n'
    campaign = read_campaign(write(tmp_path, "path.toml", text))
    log = base_of(campaign).full_run(dict(campaign.fixed), 3).log
    assert rig.is_file()
    sd.write(tmp_path / "log.parquet", {"imu": log})
    grid = '[grid]\n"navigate.filter" = ["eskf", "ekf15"]\n"log.acc_noise_m_s2" = [0.0, 0.5]\n[seeds]\nruns = 2\n'
    file = write(tmp_path, "c.toml", f'version = 1\nrecording = "log.parquet"\n{grid}')
    said = command("campaign", "run", file, "-o", tmp_path / "out", "--workers", "0")
    assert said.code == 0, said.err
    rows = Results(tmp_path / "out").table.to_pylist()
    assert len(rows) == 8 and not any(row["failed"] for row in rows)
    clean = {(row["navigate.filter"], row["number"]): row for row in rows if row["log.acc_noise_m_s2"] == 0.0}
    assert clean["eskf", 1]["horizontal.final"] == clean["eskf", 2]["horizontal.final"]  # nothing random is left
    noisy = [row["horizontal.final"] for row in rows if row["log.acc_noise_m_s2"] and row["navigate.filter"] == "eskf"]
    assert noisy[0] != noisy[1]


def test_tables_of_80_columns_identify_their_rows_once(path_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = command("campaign", "show", path_folder)
    heads = [line for line in said.out.splitlines() if line.startswith("┃")]
    assert heads and all(line.count(" row ") <= 1 and len(line) <= 80 for line in heads)
    assert not any("sensor.imu.part" in line for line in heads)  # short names of settings


def test_tables_of_120_columns_have_figures_in_their_first_part(path_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    heads = [line for line in command("campaign", "show", path_folder).out.splitlines() if line.startswith("┃")]
    assert "final_percent" in heads[0]
    assert parts([3, 9, 9, 9, 4, 6, 15, 15, 15, 15, 15], 120, 1, evenly=False)[0] == [0, 1, 2, 3, 4, 5, 6, 7, 8]

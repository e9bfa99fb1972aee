"""Campaign files: what they mean, and one sentence for what is wrong with them."""

import numpy as np
import pytest

from campaign_cases import GRID, PATH
from helpers import command, write
from strapdown.campaigns.bases import base_of
from strapdown.campaigns.definition.draws import Draw
from strapdown.campaigns.definition.file import read_campaign
from strapdown.campaigns.definition.settings import with_settings
from strapdown.campaigns.definition.space import Space, parsed_key, sobol_rows
from strapdown.campaigns.plan import plan_of
from strapdown.errors import InputError

LISTS = "\n".join(f'"navigate.lever_m.{i % 3 + 1}.{i}" = {list(range(100))}' for i in range(6))
BAD = {
    "no version": (PATH.replace("version = 1", ""), "version is missing; give version = 1"),
    "newer": (PATH.replace("version = 1", "version = 9"), "version 9 is newer"),
    "unknown table": (PATH + "[grids]\na = [1]", 'field "grids" is not known; did you mean grid?'),
    "no base": ("version = 1", "exactly one of scenario, rig, path, recording"),
    "two bases": (PATH.replace("title", 'rig = "a.toml"\ntitle'), "exactly one of"),
    "empty grid": (PATH + '[grid]\n"sensor.imu.part" = []', 'grid "sensor.imu.part" is []; give a list'),
    "twice": (PATH + '[grid]\n"sensor.imu.part" = ["MPU-6050", "MPU-6050"]', "twice"),
    "unknown key": (
        PATH + '[grid]\n"sensor.imu.prat" = ["MPU-6050"]',
        '"sensor.1.prat" is not known; did you mean part?',
    ),
    "unknown sensor": (PATH + '[grid]\n"sensor.gyro.part" = ["MPU-6050"]', 'called "gyro"; valid names: imu'),
    "unknown part": (PATH + '[grid]\n"sensor.imu.part" = ["MPU-6050", "MPU-7"]', '"sensor.imu.part" = "MPU-7"'),
    "unknown filter": (PATH + '[grid]\n"navigate.filter" = ["ukf"]', "navigate"),
    "unknown figure": (PATH.replace("final_percent", "speed"), 'figure "speed" is not known; a path has: '),
    "1e12": (PATH + f"[grid]\n{LISTS}", "the grid has 1e+12 combinations"),
    "too many runs": (PATH + GRID.replace("runs = 2", "runs = 90000000"), "the campaign has 1.8e+08 runs"),
    "bad draw": (PATH + '[draw]\n"navigate.heading_sigma_deg" = { uniform = [2.0, 1.0] }', "the smaller number first"),
    "unknown draw": (PATH + '[draw]\n"navigate.heading_sigma_deg" = 3', "valid kinds: uniform"),
    "sobol": (PATH.replace("title", 'design = "sobol"\ntitle') + GRID.replace("runs = 2", "runs = 3"), "power of two"),
    "word decides": (
        'version = 1\nscenario = "quadcopter"\n[until]\nfigure = "lost_by"\nhalf_width = 0.1',
        "lost_by is a word",
    ),
    "no scenario": ('version = 1\nscenario = "nothing.toml"', "nothing.toml does not exist"),
    "no recording": ('version = 1\nrecording = "nothing.csv"', "nothing.csv does not exist"),
    "no effort": (PATH + '[grid]\n"calibration.effort" = ["much"]', "calibration"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_for_a_bad_file(tmp_path, name):
    text, expected = BAD[name]
    said = command("campaign", "run", write(tmp_path, "c.toml", text), "-o", tmp_path / "out", "--workers", "0")
    assert said.code == 2
    assert expected in said.err and said.err.count("\n") == 1, said.err
    assert not (tmp_path / "out").exists()


def test_a_key_depends_on_the_settings_and_not_on_the_order():
    one = Space({"a": (1, 2), "b": ("x", "y")}, {})
    other = Space({"b": ("y", "z", "x"), "a": (2, 1)}, {})
    first = {cell.name: dict(cell.settings) for cell in one.cells()}
    second = {cell.name: dict(cell.settings) for cell in other.cells()}
    assert len(first) == 4 and set(first) < set(second)
    assert all(second[name] == first[name] for name in first)
    assert [one.cell_at(i) for i in range(4)] == list(one.cells())
    name = next(iter(first))
    assert parsed_key(f"{name}-17") == parsed_key(f"{name}-00000017") == (name, 17)


def test_draws_have_their_distributions():
    u = (np.arange(10_000) + 0.5) / 10_000
    normal = np.array([Draw("normal", (2.0, 3.0)).at(x) for x in u])
    # sums of quantiles: exact to the spacing of u, apart from the tails, which are cut at 1e-4
    assert normal.mean() == pytest.approx(2.0, abs=1e-9) and normal.std() == pytest.approx(3.0, rel=1e-3)
    log = np.log([Draw("log_uniform", (0.1, 10.0)).at(x) for x in u])
    assert log.mean() == pytest.approx(0.0, abs=1e-9) and np.ptp(log) == pytest.approx(np.log(100.0), rel=1e-3)
    whole = [Draw("whole", (1, 6)).at(x) for x in u]
    assert np.ptp(np.bincount(whole)[1:]) <= 1  # each as often, but for the rounding of 10000 / 6
    assert {Draw("choice", ("a", "b")).at(x) for x in u} == {"a", "b"}


def test_the_same_number_draws_the_same_in_every_cell():
    space = Space({"a": (1, 2)}, {"x": Draw("uniform", (0.0, 1.0)), "y": Draw("uniform", (0.0, 1.0))})
    drawn = [space.drawn(n) for n in range(200)]
    x, y = np.array([d["x"] for d in drawn]), np.array([d["y"] for d in drawn])
    assert abs(np.corrcoef(x, y)[0, 1]) < 4.0 / np.sqrt(200)  # chance: 4 sigmas
    more = Space({"a": (1, 2, 3)}, {"x": Draw("uniform", (0.0, 1.0))})
    assert more.drawn(5)["x"] == drawn[5]["x"]  # another draw besides it changes nothing


def test_the_seed_is_a_factor_of_a_sobol_design():
    space = Space({}, {"x": Draw("uniform", (0.0, 1.0))}, sobol=8)
    rows = sobol_rows(8, 2).reshape(8, 4, 2)
    assert space.rows() == 32
    for a, with_x, with_seed, b in rows:
        assert with_x.tolist() == [b[0], a[1]] and with_seed.tolist() == [a[0], b[1]]
    assert space.seed(0) == space.seed(1) != space.seed(2) == space.seed(3)


def test_settings_by_dotted_keys():
    values = {"sensor": [{"name": "a", "rate_hz": 1.0}, {"name": "b"}], "scene": {"g": 1}}
    found = with_settings(values, {"sensor.b.part": "P", "sensor.*.rate_hz": 5.0, "scene.wind_m_s.2": 3.0, "fault": []})
    assert found["sensor"] == [{"name": "a", "rate_hz": 5.0}, {"name": "b", "part": "P", "rate_hz": 5.0}]
    assert found["scene"] == {"g": 1, "wind_m_s": [0.0, 3.0, 0.0]} and found["fault"] == []
    assert values["sensor"][0]["rate_hz"] == 1.0
    with pytest.raises(InputError, match="no entry 3; the list has 2"):
        with_settings(values, {"sensor.3.part": "P"})


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (PATH, {}),
        (
            'version = 1\nscenario = "quadcopter"\n',
            {"duration_s": 0.5, "scene.wind_m_s.1": 3.0, "fault": "faults/gust"},
        ),
    ],
)
def test_the_list_of_figures_is_that_of_a_run(tmp_path, text, settings):
    campaign = read_campaign(write(tmp_path, "c.toml", text))
    base = base_of(campaign)
    found = base.run({**campaign.fixed, **settings}, 1)
    assert set(found) == set(base.figures)
    assert set(base.usual) <= set(found)
    assert plan_of(campaign).figures


def test_parameters_of_blocks(tmp_path):
    campaign = read_campaign(write(tmp_path, "c.toml", 'version = 1\nscenario = "quadcopter"\n'))
    base = base_of(campaign)
    names = [block.name for block in base.session({}, 1).runner.diagram.block if block.parameters]
    with pytest.raises(InputError, match="no such block; valid names: "):
        base.check({"block.nothing.gain": 1.0})
    with pytest.raises(InputError):
        base.check({f"block.{names[0]}.not_a_parameter": 1.0})

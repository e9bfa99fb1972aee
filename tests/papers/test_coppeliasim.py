"""Paper A's experiments on recordings from CoppeliaSim: the recordings' own figures, and what we claim next to them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from helpers import shared_data
from strapdown.errors import InputError
from strapdown.papers.a.coppeliasim import Comparison, compare
from strapdown.papers.a.ramp import fit_ramp
from strapdown.rotation import q_exp


@pytest.fixture(scope="module")
def folder() -> Path:
    return shared_data("coppeliasim")


@pytest.fixture(scope="module")
def comparison(folder) -> Comparison:
    return compare(folder)


def test_every_claim_on_the_recordings_holds(comparison):
    broken = [claim.as_dict() for claim in comparison.claims if not claim.holds]
    assert not broken and comparison.holds
    kinds = {"/".join(claim.id.split("/")[4:]) for claim in comparison.claims}
    assert kinds == {"acc", "gyr", "acc/not-worse", "gyr/not-worse", "run-up"}
    assert len({claim.id for claim in comparison.claims}) == len(comparison.claims)
    json.dumps([claim.as_dict() for claim in comparison.claims], allow_nan=False)
    json.dumps([row.as_dict() for row in [*comparison.rows, *comparison.run_ups]], allow_nan=False)


def test_rival_figures_are_those_of_the_recordings(comparison, folder):
    """Paper, shipped models and force sensor: to the three digits that comparison.csv prints."""
    windowed = {
        path.stem
        for path in (folder / "data").glob("*.json")
        if (found := json.loads(path.read_text()))["rows"] != found["rows_simulated"]
    }
    printed = {}
    for line in csv.DictReader((folder / "comparison.csv").open()):
        # phases of A-a are "D1 rest", those of A-d "run-up c1"
        phase = line["phase"].removesuffix(f" c{line['run'][3]}").split(" ", 1 if line["exp"] == "A-a" else 0)
        sensor, phase = (phase[0], phase[-1]) if line["exp"] == "A-a" else ("D1", " ".join(phase))
        printed[line["run"], sensor, phase, line["quantity"], line["method"]] = line
    checked = 0
    for row in comparison.rows:
        if row.run in windowed:  # the printed figures are of the full run
            continue
        for quantity, errors in (("accelerometer", row.acc), ("gyroscope", row.gyr)):
            for method in set(errors) - {"ours"}:
                line = printed[row.run, row.sensor, row.phase, quantity, method]
                for ours, theirs in (
                    (errors[method].max, float(line["max"])),
                    (errors[method].rms, float(line["rms"])),
                ):
                    assert abs(ours - theirs) <= max(0.0051 * theirs, 1e-9), (line, ours)  # print rounding, roundoff
                    checked += 1
    assert checked > 1000


def test_run_up_times_are_those_of_the_recordings(comparison, folder):
    printed = {(line["run"], line["gyro"]): line for line in csv.DictReader((folder / "comparison_A-d.csv").open())}
    assert len(comparison.run_ups) == 48
    for run_up in comparison.run_ups:
        paper, increments = printed[run_up.run, "paper"], printed[run_up.run, "rotvec"]
        assert run_up.first_sample_s == pytest.approx(float(paper["first_sample_at_target_s"]), abs=1e-6)
        half_step_s = 0.5 * json.loads((folder / "data" / f"{run_up.run}.json").read_text())["physics_dt"]
        assert run_up.line_fit_s == pytest.approx(float(increments["line_fit_s"]) + half_step_s, abs=1e-6)


def test_what_serves_as_truth_in_the_swing_is_noted(comparison):
    assert "A-e_ode_1ms is its own reference: five-point derivatives of the same poses" in comparison.notes
    assert "A-e_bullet_50ms is held against A-e_bullet_10ms: no run of 1 ms of this engine is there" in comparison.notes
    assert {row.run for row in comparison.rows if row.run.startswith("A-e_bullet")} == {
        "A-e_bullet_10ms",
        "A-e_bullet_50ms",
    }


def write_run(folder: Path, name: str, t, p, q, **settings) -> None:
    """A run as CoppeliaSim would give it, in the layout of the recordings."""
    dt = settings["dt"]
    velocity = np.vstack([np.zeros(3), np.diff(p, axis=0) / dt])
    columns = {"t": t}
    for kind, block, axes in (("", p, "xyz"), ("q", q, "wxyz"), ("ov_", velocity, "xyz"), ("oe_", 0 * p, "xyz")):
        columns |= {f"D1_{kind}{axis}": block[:, i] for i, axis in enumerate(axes)}
    table = np.column_stack(list(columns.values()))
    np.savetxt(folder / f"{name}.csv", table, "%.17g", ",", header=",".join(columns), comments="")
    common = {"engine": "own", "physics_dt": dt, "gravity": [0, 0, -9.81], "sensors": {"D1": {}}}
    common |= {"columns": list(columns), "file": f"{name}.csv"}
    (folder / f"{name}.json").write_text(json.dumps(common | settings))


@pytest.fixture
def small(tmp_path) -> Path:
    """A-c at 10 ms and an A-e without reference, in the folder itself."""
    t = np.arange(501) * 0.01
    angle = np.pi / 4 * t
    p = 0.75 * np.column_stack([np.cos(angle), np.sin(angle), 0 * t])
    q = q_exp(np.outer(angle, [0.0, 0.0, 1.0]))
    write_run(tmp_path, "A-c_own_10ms", t, p, q, experiment="A-c", dt=0.01, speed=np.pi / 4, radius=0.75)
    write_run(tmp_path, "A-e_own_50ms", t[::5], p[::5], q[::5], experiment="A-e", dt=0.05)
    (tmp_path / "other.json").write_text("[]")
    return tmp_path


def test_a_folder_of_own_runs(small):
    result = compare(small)
    assert [row.label for row in result.rows] == ["A-c/own/10ms"]
    assert set(result.rows[0].acc) == {"ours", "paper"}  # no shipped models, no force sensor
    assert result.rows[0].acc["paper"].rms == pytest.approx(0.00363, abs=1e-5)  # omega dt a
    assert result.rows[0].acc["ours"].rms < 1e-10
    assert [claim.id for claim in result.claims if claim.relation == ">="] == ["recorded/A-c/own/10ms/acc"]
    assert len(result.notes) == 2 and any("other.json" in note for note in result.notes)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "A-c_own_10ms.csv").unlink(), r"A-c_own_10ms\.json has no table next to it"),
        (lambda folder: (folder / "A-c_own_10ms.json").write_text("{"), r"A-c_own_10ms\.json cannot be read as JSON"),
        (
            lambda folder: (folder / "A-c_own_10ms.json").write_text('{"experiment": "A-c"}'),
            r"A-c_own_10ms\.json has no entry 'sensors'",
        ),
        (lambda folder: (folder / "A-c_own_10ms.csv").write_text("t,x\n0,1\n"), r"A-c_own_10ms\.csv: no column D1_x"),
        (lambda folder: (folder / "A-c_own_10ms.csv").write_bytes(b"\xff\x00"), r"A-c_own_10ms\.csv is not a text"),
    ],
)
def test_spoilt_runs_are_told_in_one_sentence(small, spoil, message):
    spoil(small)
    with pytest.raises(InputError, match=message):
        compare(small)


@pytest.mark.parametrize("key", ["dt", "physics_dt", "gravity", "sensors", "speed", "radius", "columns", "engine"])
@pytest.mark.parametrize("value", [None, "rubbish", [], {}, 0, -1, float("nan")])
def test_rubbish_in_the_settings_is_told_or_harmless(small, key, value):
    path = small / "A-c_own_10ms.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    try:
        compare(small)
    except InputError as error:
        assert "A-c_own_10ms" in str(error)


def test_a_folder_without_runs(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(
            InputError, match=r"holds no recorded runs; expected files like A-c_ode_10ms\.json"
        ) as error:
            compare(folder)
        assert str(folder) in str(error.value)


def test_line_fit_of_a_run_up():
    """Means over intervals of a ramp that ends inside of one: the fit does not care where."""
    edges = np.arange(0.0, 1.0, 0.05)
    for end_s in (0.38, 0.4, 0.4163):
        angle = np.where(edges < end_s, edges**2 / 2, end_s * (edges - end_s / 2))
        fit = fit_ramp(0.5 * (edges[1:] + edges[:-1]), np.diff(angle) / 0.05, end_s).line_s
        assert fit == pytest.approx(end_s, abs=1e-12)
    assert fit_ramp(edges, 0 * edges, 1.0) is None

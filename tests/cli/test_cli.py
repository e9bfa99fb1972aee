"""The commands: what they write, what they print where, and one sentence with exit code 2 for every bad input."""

import csv
import json
import os
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from helpers import EXAMPLES, command, inertial, joint, link, shared_data, urdf, write
from strapdown.cli.main import app
from strapdown.environment.rig import read_rig
from strapdown.environment.simulate import simulate
from strapdown.io import read
from strapdown.io.folder import LIST
from strapdown.papers.a.reproduction import NAMES
from strapdown.papers.claim import Claim

COMMANDS = sorted(c.name for c in app.registered_commands)
CLAIM_KEYS = {"id", "what", "published", "ours", "tolerance", "holds"}

RIG = """
duration_s = 0.2
[robot]
file = "robot.urdf"
[[motor]]
joint = "j"
kind = "speed"
[[sensor]]
name = "D1"
link = "arm"
increments = true
[[sensor]]
name = "D2"
link = "base"
rate_hz = 50.0
[[program]]
motor = "j"
at_s = 0.05
speed_deg_s = 20.0
"""
ROBOT = urdf(link("base", ""), joint("j", "base", "arm"), link("arm", inertial(xyz="0 0 -0.3")))
POSES_RIG = """
[motion]
kind = "recorded"
file = "poses.csv"
[[sensor]]
name = "D1"
link = "body"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a good rig, its robot and a pose log; commands run in it."""
    write(tmp_path, "rig.toml", RIG)
    write(tmp_path, "robot.urdf", ROBOT)
    write(tmp_path, "poses.toml", POSES_RIG)
    t = np.arange(40) * 0.05
    rows = np.column_stack([t, np.sin(t), np.cos(t), 0 * t, np.cos(t / 2), 0 * t, 0 * t, np.sin(t / 2)])
    text = "t,p_x,p_y,p_z,q_w,q_x,q_y,q_z\n" + "\n".join(",".join(f"{x:.12g}" for x in row) for row in rows)
    write(tmp_path, "poses.csv", text + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def subprocess_run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60, env={**os.environ}
    )


# Help


def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys, time; began = time.perf_counter()\n"
        "from strapdown.cli.main import run\n"
        "try:\n run(['--help'])\n"
        "except SystemExit as end:\n"
        " print(end.code, time.perf_counter() - began, *sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    said = subprocess_run("-c", code)
    code, took, *modules = said.stdout.splitlines()[-1].split()
    assert code == "0" and said.stderr == ""
    assert not {"numpy", "scipy", "numba", "mujoco", "matplotlib", "pyarrow", "pydantic"} & set(modules)
    assert float(took) < 1.5  # half a second on a quiet machine; this one may be busy


def test_the_installed_command_answers_quickly():
    began = time.perf_counter()
    said = subprocess_run("-m", "strapdown.cli.main", "--help")
    assert said.returncode == 0 and time.perf_counter() - began < 1.5
    assert all(name in said.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name):
    for flag in ("--help", "-h"):
        said = command(name, flag)
        assert said.code == 0 and said.err == ""
        assert f"Example: strapdown {name}" in said.out
        assert "--json" in said.out or name == "studio"  # which prints an address


def test_version():
    said = command("--version")
    assert said.code == 0 and said.out.strip().count(".") == 2


# Simulate


def same_recordings(a, b):
    assert list(a) == list(b)
    for name in a:
        for field in fields(a[name]):
            x, y = getattr(a[name], field.name), getattr(b[name], field.name)
            if field.name in ("truth", "increments"):
                assert (x is None) == (y is None)
                if x is not None:
                    assert all(np.array_equal(getattr(x, f.name), getattr(y, f.name)) for f in fields(x))
            elif field.name == "meta":
                assert dict(x) == dict(y)
            else:
                assert x is y is None or np.array_equal(x, y)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "csv.gz"])
def test_a_simulation_reads_back_equal(suffix, folder):
    out = folder / f"out.{suffix}"
    said = command("simulate", "rig.toml", "-o", out)
    assert said.code == 0 and said.err == ""
    same_recordings(read(out), simulate(read_rig(folder / "rig.toml")).recordings)
    assert "D1" in said.out and "D2" in said.out and str(out) in said.out


def test_json_is_one_document_and_nothing_else(folder):
    said = command("simulate", "rig.toml", "-o", "out.parquet", "--json", "--plot")
    document = json.loads(said.out)
    assert said.code == 0 and said.err == ""
    assert document["output"] == "out.parquet" and document["plot"] == "out.png" and document["warnings"] == []
    assert [s["sensor"] for s in document["sensors"]] == ["D1", "D2"]
    assert document["sensors"][0]["samples"] == 21 and document["sensors"][0]["largest_acc_error_m_s2"] == 0.0


@pytest.mark.parametrize(
    ("out", "picture"),
    [("a.parquet", "a.png"), ("a.csv.gz", "a.png"), ("run.1.csv", "run.1.png"), ("A.CSV", "A.png")],
)
def test_plot_writes_a_picture_beside_the_recording(out, picture, folder):
    before = set(folder.iterdir())
    assert command("simulate", "rig.toml", "-o", out, "--plot").code == 0
    assert {p.name for p in set(folder.iterdir()) - before} == {out, picture}
    assert (folder / picture).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


PAPER = 'method = "velocity-difference"\nallowed_error_m_s2 = 1e-9'


def test_a_warning_is_one_line_and_the_run_succeeds(folder):
    text = RIG.replace('link = "arm"', 'link = "arm"\nposition_m = [0, 0, -0.3]\n' + PAPER)
    write(folder, "rig.toml", text)
    said = command("simulate", "rig.toml", "-o", "out.csv", "--json")
    document = json.loads(said.out)
    assert said.code == 0 and len(document["warnings"]) == 1
    assert said.err.splitlines() == [f"warning: {document['warnings'][0]}"]
    assert "velocity-difference" in document["warnings"][0]


def test_a_rig_is_found_from_another_folder(folder, monkeypatch):
    monkeypatch.chdir("/")
    assert command("simulate", folder / "rig.toml", "-o", folder / "out.csv").code == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run_by_the_command_their_first_lines_name(example, folder):
    said = command("simulate", example, "-o", "out.parquet", "--json")
    assert said.code == 0 and all(s["samples"] > 100 for s in json.loads(said.out)["sensors"])


# Bad input


def spoil_poses(folder, how):
    lines = (folder / "poses.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines]
    if how == "NaN":
        rows[5][2] = "nan"
    elif how == "text":
        rows[5][2] = "east"
    elif how == "repeated time":
        rows[5][0] = rows[4][0]
    elif how == "backward time":
        rows[5], rows[6] = rows[6], rows[5]
    elif how == "missing column":
        rows = [row[:-1] for row in rows]
    elif how == "norm":
        rows[5][4] = "1.5"
    elif how == "one row":
        rows = rows[:2]
    elif how == "no rows":
        rows = rows[:1]
    elif how == "cut off":
        rows[-1] = rows[-1][:3]
    elif how == "empty":
        rows = []
    with (folder / "poses.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def replaced(old, new, name="rig.toml"):
    def change(folder):
        text = (folder / name).read_text()
        assert old in text
        write(folder, name, text.replace(old, new, 1))

    return change


def robot_of(*parts):
    return lambda folder: write(folder, "robot.urdf", urdf(*parts))


MESH = '<visual><geometry><mesh filename="meshes/arm.stl"/></geometry></visual>'

BAD = {
    "unknown link": (replaced('link = "arm"', 'link = "hand"'), ["rig.toml", '"hand"', "base, arm"]),
    "unknown joint": (replaced('joint = "j"', 'joint = "knee"'), ["rig.toml", '"knee"', "valid names: j"]),
    "unknown method": (replaced('name = "D1"', 'name = "D1"\nmethod = "magic"'), ['"magic"', "exact", "rotation-log"]),
    "unknown integrator": (replaced("[[motor]]", '[physics]\nintegrator = "rk5"\n[[motor]]'), ["rk5", "implicitfast"]),
    "missing motor": (replaced('motor = "j"', 'motor = "k"'), ["program", '"k"', "valid names: j"]),
    "step of zero": (replaced("[[motor]]", "[physics]\nstep_s = 0\n[[motor]]"), ["rig.toml", "physics.step_s"]),
    "negative rate": (replaced("rate_hz = 50.0", "rate_hz = -50.0"), ["rig.toml", "sensor.2.rate_hz"]),
    "unknown field": (replaced("rate_hz", "rate"), ["rig.toml", "sensor.2.rate", "rate_hz"]),
    "malformed TOML": (replaced("[robot]", "[robot"), ["rig.toml", "line 3"]),
    "missing rig": (lambda folder: (folder / "rig.toml").unlink(), ["rig.toml", "does not exist"]),
    "missing robot": (lambda folder: (folder / "robot.urdf").unlink(), ["robot.urdf", "cannot be read"]),
    "malformed URDF": (lambda f: write(f, "robot.urdf", ROBOT[:-5]), ["robot.urdf", "line 5", "XML"]),
    "missing mesh": (
        robot_of(link("base", ""), joint("j", "base", "arm"), link("arm", inertial() + MESH)),
        ["robot.urdf", "line 4", "meshes/arm.stl"],
    ),
    "no inertia": (
        robot_of(link("base", ""), joint("j", "base", "arm"), link("arm", "")),
        ["robot.urdf", "line 4", '"arm"', "<inertial>"],
    ),
    "too long": (replaced("0.2", "1e9"), ["rig.toml", "duration_s"]),
    "unstable": (
        replaced("[[motor]]", "[physics]\nstep_s = 0.05\n[[program]]\nlink = \"arm\"\nat_s = 0.0\nuntil_s = 1.0\n"
                 "force_n = [0.0, 1e11, 0.0]\n[[motor]]"),
        ["rig.toml", "unstable"],
    ),
}  # fmt: skip
BAD_POSES = {
    "NaN": ["poses.csv", "p_y", "line 6"],
    "text": ["poses.csv", "'east'", "p_y", "line 6"],
    "repeated time": ["poses.csv", "repeats"],
    "backward time": ["poses.csv", "backward"],
    "missing column": ["poses.csv", "q_z", "p_x"],
    "norm": ["poses.csv", "norm"],
    "one row": ["poses.csv", "1 poses"],
    "no rows": ["poses.csv"],
    "cut off": ["poses.csv", "line 41"],
    "empty": ["poses.csv", "empty"],
}


def refused(folder, *arguments):
    """Exit code 2, one line on standard error and nothing else anywhere; gives the line."""
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    said = command(*arguments)
    after = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("strapdown: ") and said.err.count("\n") == 1 and said.err.endswith("\n")
    assert "Traceback" not in said.err and "internal error" not in said.err
    assert before == after
    return said.err


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(what, folder):
    spoil, told = BAD[what]
    spoil(folder)
    write(folder, "out.parquet", "an older recording")
    for arguments in ((), ("--json",), ("--plot",)):
        said = refused(folder, "simulate", "rig.toml", "-o", "out.parquet", *arguments)
        for part in told:
            assert part in said, said


@pytest.mark.parametrize("what", BAD_POSES)
def test_a_bad_pose_log_is_one_sentence(what, folder):
    assert command("simulate", "poses.toml", "-o", "good.csv").code == 0
    spoil_poses(folder, what)
    said = refused(folder, "simulate", "poses.toml", "-o", "out.csv")
    for part in BAD_POSES[what]:
        assert part in said, said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("simulate",), ["RIG.toml"]),
        (("simulate", "rig.toml"), ["--output"]),
        (("simulate", "rig.toml", "-o", "out.xlsx"), ["out.xlsx", ".parquet"]),
        (("simulate", "rig.toml", "-o", "none/out.csv"), ["none", "does not exist"]),
        (("simulate", "rig.toml", "-o", "."), ["."]),
        (("simulate", "rig.toml", "-o", "out.csv", "--nonsense"), ["--nonsense"]),
        (("fly",), ["fly"]),
        (("reproduce",), ["PAPER"]),
        (("reproduce", "Z"), ['"Z"', "valid names: A"]),
        (("reproduce", "A", "a-z"), ['"a-z"', "a-a, a-b, a-c, a-d, a-e"]),
        (("reproduce", "A", "a-b", "-o", "rig.toml"), ["rig.toml"]),
        (("reproduce", "A", "a-b", "--recorded", "."), ["--recorded"]),
        (("reproduce", "A", "--recorded", "none"), ["none"]),
        (("reproduce", "A", "--recorded", "rig.toml"), ["rig.toml"]),
        (("demo", "-o", "rig.toml"), ["rig.toml"]),
    ],
)
def test_wrong_use_is_one_sentence(arguments, told, folder):
    said = refused(folder, *arguments)
    for part in told:
        assert part in said, said


def test_a_picture_that_cannot_be_written_is_told_before_the_run(folder):
    (folder / "out.png").mkdir()
    assert "out.png" in refused(folder, "simulate", "rig.toml", "-o", "out.csv", "--plot")


def test_the_command_without_arguments_shows_its_help():
    said = command()
    assert said.code in (0, 2) and "simulate" in said.out + said.err


def test_bad_input_by_the_real_process(folder):
    """No traceback from the interpreter's end, either; and none where the reader of a pipe leaves early."""
    said = subprocess_run("-m", "strapdown.cli.main", "simulate", "none.toml", "-o", "out.csv", cwd=folder)
    assert said.returncode == 2 and said.stdout == "" and said.stderr.count("\n") == 1
    shell = f"{sys.executable} -m strapdown.cli.main --help | head -n 1"
    piped = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=folder, timeout=60)
    assert piped.stderr == ""


# Reproduce


def test_paper_a_whole(folder):
    """Every claim holds; recordings and figures are written. One run: it takes ten seconds."""
    said = command("reproduce", "A", "-o", "out", "--json")
    assert said.code == 0, said
    claims = json.loads(said.out)["claims"]
    assert all(set(claim) >= CLAIM_KEYS for claim in claims)
    assert not [claim for claim in claims if claim["holds"] is not True]
    experiments = {claim["id"].split("/")[0].lower() for claim in claims}
    assert experiments == set(NAMES) and len({claim["id"] for claim in claims}) == len(claims)
    # the published figures are in, and ours are orders of magnitude below
    published = {claim["id"]: claim for claim in claims if claim["published"] is not None}
    for name in ("A-a/exact/50ms/acc", "A-b/exact/50ms/lift", "A-c/exact/50ms/acc", "A-d/1/50ms/line"):
        assert published[name]["ours"] < 1e-3 * published[name]["published"]

    written = {p.name for p in (folder / "out").iterdir()}
    for step in ("50ms", "10ms", "1ms"):
        assert {f"A-{x}_{step}.parquet" for x in "abce"} | {f"A-d{i}_{step}.parquet" for i in range(1, 7)} <= written
    pictures = [p for p in (folder / "out").iterdir() if p.suffix == ".png"]
    assert len(pictures) >= 5 and all(p.read_bytes().startswith(b"\x89PNG") for p in pictures)
    assert [name for name in written if name.startswith(".")] == [LIST]
    recordings = read(folder / "out" / "A-c_50ms.parquet")
    assert {name.split(" ")[1] for name in recordings} >= {"exact", "paper", "second-order", "proof-mass"}


def test_a_long_run_writes_no_bar_into_a_pipe(folder, monkeypatch):
    from strapdown.cli import screen

    monkeypatch.setattr(screen, "_SHOW_PROGRESS_AFTER_S", -1.0)
    said = command("simulate", "rig.toml", "-o", "out.csv", "--json")
    assert said.code == 0 and said.err == ""


def test_one_experiment_has_its_claims_with_their_keys(folder):
    said = command("reproduce", "a", "A-B", "-o", "out", "--json")
    document = json.loads(said.out)
    assert said.code == 0 and said.err == ""
    assert all(claim["id"].startswith("A-b/") and set(claim) >= CLAIM_KEYS for claim in document["claims"])
    assert {claim["published"] for claim in document["claims"]} == {1e-5, None}
    assert Path(document["output"]) == Path("out")


def test_reproduce_prints_the_table(folder):
    said = command("reproduce", "A", "a-c", "-o", "out")
    assert said.code == 0
    for part in ("published", "ours", "limit", "holds", "beats: 2 of 2", "A-c/exact/50ms/acc", "0.0001", "claims hold"):
        assert part in said.out


def test_the_demo_drives_calibrates_and_navigates_by_both_filters(folder):
    said = command("demo", "--json", "-o", "out")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert all(Path(p).is_file() for p in document["written"].values())
    paper, ours = (document["filters"][name] for name in ("paper C", "ours"))
    assert len(ours["stops"]) == 17  # 16 legs of 0.3 m and the start
    assert ours["final_percent"] < 1.0  # the claim of reproduce C: 95 of 100 robots
    assert ours["largest_percent_of_way"] < paper["largest_percent_of_way"]


def test_a_broken_claim_gives_exit_code_1(folder, monkeypatch):
    monkeypatch.setattr(Claim, "holds", property(lambda claim: False))
    said = command("reproduce", "A", "a-b", "-o", "out", "--json")
    assert said.code == 1 and json.loads(said.out)["claims"][0]["holds"] is False


@pytest.mark.parametrize("relation", ["<=", ">=", "~"])
def test_a_claim_of_numpys_numbers_is_plain_json(relation):
    kind, published = ("reproduces", np.float64(1.0)) if relation == "~" else ("requirement", None)
    claim = Claim("x", "x", published, np.float64(2.0), np.float64(1.5), "here", relation, kind=kind)
    assert json.loads(json.dumps(claim.as_dict()))["holds"] is (relation != "<=")


def test_recorded_poses(folder):
    data = shared_data("coppeliasim")
    said = command("reproduce", "A", "--recorded", data, "-o", "out", "--json")
    document = json.loads(said.out)
    assert said.code == 0 and document["claims"] and all(claim["holds"] for claim in document["claims"])
    assert all(set(claim) >= CLAIM_KEYS for claim in document["claims"])
    assert json.loads((folder / "out" / "recorded.json").read_text()) == document


def test_an_empty_folder_of_recordings_is_reported(folder):
    (folder / "empty").mkdir()
    assert "empty" in refused(folder, "reproduce", "A", "--recorded", "empty", "-o", "out")

"""Bad input of `strapdown run`: exit code 2 and one sentence that names the file and the place, never a traceback."""

import os
from pathlib import Path

import pytest
from bad_scenarios import DIAGRAM, DIAGRAMS, GOOD, QUAD, VALUES, diagram_values, toml_text

from helpers import command


def refused(*arguments, words=(), file=None):
    said = command("run", *arguments)
    assert said.code == 2, (said.out, said.err)
    lines = said.err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("strapdown: "), said.err
    assert "Traceback" not in said.err
    for word in words:
        assert word in lines[0], lines[0]
    if file is not None:
        assert str(file) in lines[0], lines[0]
    return lines[0]


def written(folder, text, name="scenario.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_good_one_runs(tmp_path):
    said = command("run", written(tmp_path, toml_text(GOOD)), "--json")
    assert said.code == 0, said.err


@pytest.mark.parametrize("case", VALUES)
def test_broken_scenario(case, tmp_path):
    changes, words = VALUES[case]
    path = written(tmp_path, toml_text({**GOOD, **changes}))
    refused(path, words=words, file=path)


@pytest.mark.parametrize("case", DIAGRAMS)
def test_scenario_with_a_broken_diagram(case, tmp_path):
    change, words = DIAGRAMS[case]
    values = diagram_values()
    change(values)
    written(tmp_path, toml_text(values), "diagram.toml")
    path = written(tmp_path, toml_text({**GOOD, "diagram": "diagram.toml"}))
    refused(path, words=words, file=path)


def test_diagram_of_another_vehicle(tmp_path):
    written(tmp_path, DIAGRAM, "diagram.toml")
    changes = {"vehicle": "mars_helicopter", "diagram": "diagram.toml"}
    path = written(tmp_path, toml_text({**GOOD, **changes}))
    refused(path, words=('block "motors" is of kind motors', 'vehicle "mars_helicopter"'), file=path)


def test_vehicle_file_without_a_rotor(tmp_path):
    """Three rotors of four: the mixer of the diagram has no actuator for its fourth command."""
    folder = QUAD.diagram.parent
    text = (folder / "vehicle.toml").read_text(encoding="utf-8")
    first, last = text.index('[[rotors]]\nname = "left"'), text.index('[[rotors]]\nname = "back"')
    written(tmp_path, text[:first] + text[last:], "vehicle.toml")
    for name in ("model.xml", "diagram.toml"):
        written(tmp_path, (folder / name).read_text(encoding="utf-8"), name)
    path = written(tmp_path, toml_text({**GOOD, "vehicle": "vehicle.toml", "diagram": "diagram.toml"}))
    refused(path, words=("commands 4 actuators", "has 3: front, back, right"), file=path)


def test_vehicle_file_without_any_rotor(tmp_path):
    folder = QUAD.diagram.parent
    text = (folder / "vehicle.toml").read_text(encoding="utf-8")
    written(tmp_path, text[: text.index("[[rotors]]")], "vehicle.toml")
    written(tmp_path, (folder / "model.xml").read_text(encoding="utf-8"), "model.xml")
    path = written(tmp_path, toml_text({**GOOD, "vehicle": "vehicle.toml"}))
    refused(path, words=("vehicle.toml", "rotor"), file=path)


@pytest.mark.parametrize(
    "text", ["a quadcopter\n", "version = 1\nversion = 1\n", "[[sensor]\n", "\x00", "t,x\n0,1\n", ""]
)
def test_a_file_that_is_no_scenario(text, tmp_path):
    path = written(tmp_path, text)
    refused(path, file=path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_bytes(b"\xff\xfe\x00version")
    refused(path, file=path)


def test_a_folder(tmp_path):
    refused(tmp_path, file=tmp_path)
    (tmp_path / "folder.toml").mkdir()
    refused(tmp_path / "folder.toml", file=tmp_path / "folder.toml")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device of Unix")
def test_a_device():
    refused("/dev/zero", file="/dev/zero")


def test_a_name_that_does_not_exist(tmp_path):
    assert "quadcopter" in refused("quadcoptr", words=("quadcoptr",))
    refused(tmp_path / "none.toml", file=tmp_path / "none.toml")
    refused(words=("name a scenario",))


def test_wrong_options(tmp_path):
    refused("quadcopter", "--seed", "-1", words=("--seed is -1",))
    refused("quadcopter", "--blocks", tmp_path / "none.py", file=tmp_path / "none.py")
    (tmp_path / "wrong.py").write_text("raise ValueError('no')\n", encoding="utf-8")
    refused("quadcopter", "--blocks", tmp_path / "wrong.py", file=tmp_path / "wrong.py")


def test_output_folder_that_cannot_be_written(tmp_path):
    path = written(tmp_path, toml_text(GOOD))
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused(path, "-o", tmp_path / "file", file=tmp_path / "file")
    refused(path, "-o", tmp_path / "file" / "below", file=tmp_path / "file")
    if os.geteuid() != 0:  # root may write everywhere
        (tmp_path / "locked").mkdir(mode=0o500)
        refused(path, "-o", tmp_path / "locked" / "run", file=tmp_path / "locked")


def test_paths_of_a_scenario_start_at_its_own_folder(tmp_path):
    """A scenario on a base of the package names a diagram next to itself."""
    written(tmp_path, DIAGRAM, "mine.toml")
    path = written(tmp_path, 'version = 1\nbase = "quadcopter"\nduration_s = 0.1\ndiagram = "mine.toml"\n')
    assert command("run", path).code == 0


def test_paths_of_a_base_start_at_the_folder_of_the_base(tmp_path):
    (tmp_path / "below").mkdir()
    written(tmp_path / "below", DIAGRAM, "mine.toml")
    written(tmp_path / "below", "air_temperature_c = 3\n", "scene.txt")
    values = {**GOOD, "diagram": "mine.toml", "scene": {"file": "scene.txt"}}
    written(tmp_path / "below", toml_text(values), "base.toml")
    path = written(tmp_path, 'version = 1\nbase = "below/base.toml"\nduration_s = 0.1\n')
    said = command("run", path, "--json")
    assert said.code == 0, said.err

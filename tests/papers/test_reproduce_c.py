"""strapdown reproduce C and B: an experiment that was asked for by name and has no data states so."""

import pytest

from helpers import command


@pytest.mark.parametrize(
    ("arguments", "folder", "words"),
    [
        (("C", "foot"), "none", ["none is not a folder"]),
        (("C", "foot"), "", ["has no foot_vicon, openshoe_square, xio_gait", "--data"]),
        (("B", "orientation"), "", ["has no broad", "--data"]),
    ],
)
def test_an_experiment_without_its_data_is_one_sentence(tmp_path, arguments, folder, words):
    out = tmp_path / "out"
    said = command("reproduce", *arguments, "--data", tmp_path / folder, "-o", out)
    assert said.code == 2 and len(said.err.strip().splitlines()) == 1
    assert all(word in said.err for word in words)
    assert not out.exists()


def test_without_a_name_it_is_left_out_with_a_note(tmp_path):
    from strapdown.cli.reproduce.experiments import Asked, foot

    found = foot(Asked(("foot",), False, tmp_path, None, 0))
    assert found.claims == [] and len(found.notes) == 1 and "--data" in found.notes[0]

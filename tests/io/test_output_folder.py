"""A folder of results is the old one or the new one, whatever happens on the way; files of the user stay."""

import json
import os
import signal
import subprocess
import sys

import pytest

from strapdown.errors import InputError
from strapdown.io import folder as folders
from strapdown.io.folder import LIST, finish_interrupted, output_folder, refuse_folder
from strapdown.regular_file import opened, remembering_inputs, unfinished_folders


def put(folder, owner, **files):
    with output_folder(folder, owner) as new:
        for name, text in files.items():
            (new / name).write_text(text)


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.name != LIST}


def test_a_later_run_replaces_the_earlier_one_and_nothing_else(tmp_path):
    out = tmp_path / "a" / "out"
    put(out, "orient", vqf="1", mekf="1", angles="1")
    (out / "notes.txt").write_text("mine")
    put(out, "navigate", eskf="1")
    put(out, "orient", vqf="2", angles="2")
    assert content(out) == {"vqf": "2", "angles": "2", "notes.txt": "mine", "eskf": "1"}
    put(out, "orient", mekf="3")
    assert content(out) == {"mekf": "3", "notes.txt": "mine", "eskf": "1"}


def test_a_file_that_the_user_changed_is_his(tmp_path):
    put(tmp_path, "orient", vqf="1", mekf="1")
    (tmp_path / "mekf").write_text("with a remark")
    put(tmp_path, "orient", vqf="2")
    assert content(tmp_path) == {"vqf": "2", "mekf": "with a remark"}


def test_experiments_stand_beside_each_other_and_a_whole_run_replaces_them(tmp_path):
    put(tmp_path, "reproduce A a-a", a="1")
    put(tmp_path, "reproduce A a-b", b="1")
    assert content(tmp_path) == {"a": "1", "b": "1"}
    put(tmp_path, "reproduce A", a="2", c="2")
    assert content(tmp_path) == {"a": "2", "c": "2"}


@pytest.mark.parametrize("failure", [RuntimeError("x"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failure_leaves_the_old_results(tmp_path, failure):
    put(tmp_path / "out", "orient", vqf="1", mekf="1")
    with pytest.raises((RuntimeError, KeyboardInterrupt, InputError)):  # noqa: SIM117
        with output_folder(tmp_path / "out", "orient") as new:
            (new / "vqf").write_text("2")
            raise failure
    assert content(tmp_path / "out") == {"vqf": "1", "mekf": "1"}
    with pytest.raises(type(failure) if not isinstance(failure, OSError) else InputError):  # noqa: SIM117
        with output_folder(tmp_path / "none" / "at" / "all", "orient"):
            raise failure
    assert not (tmp_path / "none").exists()


def test_a_kill_while_writing_leaves_the_old_results_and_the_next_run_cleans_up(tmp_path):
    put(tmp_path, "orient", vqf="1")
    text = (
        "import sys, time\nfrom strapdown.io.folder import output_folder\n"
        f"with output_folder({str(tmp_path)!r}, 'orient') as new:\n"
        "    (new / 'vqf').write_text('2')\n    print('written', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "written\n"
        run.send_signal(signal.SIGKILL)
    assert content_of_files(tmp_path) == {"vqf": "1"}
    put(tmp_path, "orient", vqf="3")
    assert content(tmp_path) == {"vqf": "3"}


def content_of_files(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name != LIST}


@pytest.mark.parametrize("reader", [None, "{}", "{}/vqf", "--reference={}/mekf"])
@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_kill_between_two_moves_is_finished_by_the_next_command(tmp_path, monkeypatch, after, reader):
    """after: how many moves and removals are done when the power fails."""
    put(tmp_path, "orient", vqf="1", mekf="1", old="1")
    done = []
    path_type = type(tmp_path)
    replace, unlink = path_type.replace, path_type.unlink

    class Power(BaseException):
        pass

    def counted(action):
        def acted(self, *more, **named):
            if not self.name.startswith(".") and self.name != "plan.json":
                if len(done) == after:
                    raise Power
                done.append(self.name)
            return action(self, *more, **named)

        return acted

    monkeypatch.setattr(path_type, "replace", counted(replace))
    monkeypatch.setattr(path_type, "unlink", counted(unlink))
    try:
        put(tmp_path, "orient", vqf="2", mekf="2", new="2")
    except Power:
        pass
    else:
        assert after > 3
    monkeypatch.undo()
    if reader is None:
        put(tmp_path, "navigate", eskf="1")  # any later run
        assert content(tmp_path) == {"vqf": "2", "mekf": "2", "new": "2", "eskf": "1"}
        return
    assert unfinished_folders(["orient", reader.format(tmp_path)]) == {tmp_path}  # words of a command that reads
    finish_interrupted([tmp_path])
    assert unfinished_folders(["orient", "x" * 5000, "\0", reader.format(tmp_path)]) == set()
    assert content(tmp_path) == {"vqf": "2", "mekf": "2", "new": "2"}


def test_a_run_that_goes_on_is_let_be(tmp_path):
    with output_folder(tmp_path, "orient") as first:
        (first / "a").write_text("1")
        put(tmp_path, "navigate", b="1")
        assert (first / "a").exists()
    assert content(tmp_path) == {"a": "1", "b": "1"}
    other = tmp_path / f"{folders._NEW}{os.getppid()}-x"  # of a process that runs
    other.mkdir()
    put(tmp_path, "navigate", b="2")
    assert other.exists()


def test_a_damaged_list_or_plan_does_no_harm(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "precious").write_text("mine")
    for text in ("", "[1]", '{"orient": {"../precious": [4, 0]}}', '{"orient": 3}', "[" * 10_000):
        (tmp_path / "out" / LIST).write_text(text)
        put(tmp_path / "out", "orient", vqf="1")
    left = tmp_path / "out" / f"{folders._NEW}999999999-x"
    left.mkdir()
    (left / "plan.json").write_text(json.dumps({"move": [], "remove": ["../precious"], "list": {}}))
    put(tmp_path / "out", "orient", vqf="2")
    assert (tmp_path / "precious").read_text() == "mine" and not left.exists()


def test_an_input_in_the_folder_is_neither_replaced_nor_removed(tmp_path):
    put(tmp_path, "demo", log="1", vqf="1")
    with remembering_inputs():
        opened(tmp_path / "log").close()
        put(tmp_path, "demo", vqf="2")
        assert content(tmp_path) == {"log": "1", "vqf": "2"}
        with pytest.raises(InputError, match="this command reads it"):
            put(tmp_path, "demo", log="2")
    assert content(tmp_path) == {"log": "1", "vqf": "2"}


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    for bad, why in ((tmp_path / "file", "is a file"), (tmp_path / "file" / "x", "is a file"), ("y" * 300, "too long")):
        with pytest.raises(InputError, match=why):
            refuse_folder(bad)
        with pytest.raises(InputError, match="cannot make folder"), output_folder(bad, "orient"):
            pass
    (tmp_path / "name").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        put(tmp_path, "orient", name="1")
    assert not list(tmp_path.glob(f"{folders._NEW}*"))

"""Wrong use of a command is one sentence of ours: what, where, what to do; never one of the option parser."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from helpers import ROOT, command
from strapdown.cli.main import app
from strapdown.cli.wrong_use import one_line_paragraphs

SEE = "see strapdown {} --help"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["navigate"],
            "navigate needs LOG (the log, in any format that look can read: ",
        ),
        (["evaluate", "a"], "evaluate needs TRUTH (a recording with truth, "),
        (["simulate", "a"], "simulate needs --output OUT (recording to write: "),
        (["orient", "a", "--gravity", "x"], f'--gravity is "x"; give a number, {SEE.format("orient")}'),
        (["sensors", "draw", "a", "--seed", "1.5"], '--seed is "1.5"; give a whole number, see strapdown sensors draw'),
        (["orient", "a", "--compar", "all"], "orient has no option --compar; did you mean --compare?"),
        (["orient", "a", "--zzz"], f"orient has no option --zzz; {SEE.format('orient')}"),
        (["nonsense"], 'strapdown has no command "nonsense"; valid names: demo, look, convert'),
        (["calibrate", "x"], 'calibrate has no command "x"; valid names: static, positions'),
        (["evaluate", "a", "b", "c"], 'evaluate takes ESTIMATE TRUTH; "c" is too much'),
        (["orient", "--filter"], f"--filter has no value; give one behind it, {SEE.format('orient')}"),
        (["orient", "x", "--smooth=3"], f"--smooth takes no value; write it alone, {SEE.format('orient')}"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_one_sentence(words, sentence):
    found = command(*words)
    assert found.code == 2 and found.out == ""
    assert found.err.startswith(f"strapdown: {sentence}"), found.err
    assert found.err.count("\n") == 1 and "Input should" not in found.err


def test_swapped_arguments_are_named(tmp_path):
    for what in ("apply", "check"):
        more = ("-o", tmp_path / "out.csv") if what == "apply" else ()
        found = command("calibrate", what, "drive.parquet", "cal.toml", *more)
        assert found.code == 2
        assert f"the calibration comes first: strapdown calibrate {what} cal.toml drive.parquet" in found.err
    log = tmp_path / "log.parquet"
    assert command("simulate", ROOT / "examples" / "figure_eight.toml", "-o", log).code == 0
    found = command("evaluate", log, log)
    assert "is not an estimate; give a solution or poses first, and its truth second" in found.err


@pytest.mark.parametrize("words", [["navigate"], ["orient"], ["allan"], ["calibrate", "static"], ["simulate"]])
def test_a_folder_is_not_a_file(words, tmp_path):
    more = ["-o", tmp_path / "x.csv"] if words == ["simulate"] else []
    found = command(*words, tmp_path, *more)
    assert found.code == 2 and f"{tmp_path} is a folder; name a" in found.err


def test_an_error_of_the_calibration_names_its_file_once(tmp_path):
    log, broken = tmp_path / "log.parquet", tmp_path / "cal.toml"
    assert command("simulate", ROOT / "examples" / "figure_eight.toml", "-o", log).code == 0
    broken.write_bytes(b"\xff\xfe\x00")
    found = command("orient", log, "--calibration", broken)
    assert found.err == f"strapdown: {broken} is not a text file in UTF-8; give a TOML file here\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["sensors"], ["sensors", "--json"], ["--help"], ["orient", "--list"]])
def test_a_full_disk_behind_standard_output(words):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "strapdown", *words], stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )
    assert run.returncode == 2
    assert run.stderr.startswith("strapdown: cannot write to standard output: ") and run.stderr.count("\n") == 1


def every_command(found, words=()):
    yield words, found
    for name, inner in getattr(found, "commands", {}).items():
        yield from every_command(inner, (*words, name))


COMMANDS = list(every_command(typer.main.get_command(app)))


@pytest.mark.parametrize(("words", "found"), COMMANDS, ids=[" ".join(words) or "strapdown" for words, _ in COMMANDS])
def test_help_is_broken_by_the_terminal_alone(words, found, monkeypatch):
    """Each paragraph of help is one line in a wide terminal, and usage has no doubled brackets."""
    monkeypatch.setenv("COLUMNS", "500")
    for paragraph in (found.help or "").split("\n\n"):
        assert "\n" not in paragraph.strip()
    shown = command(*words, "--help")
    assert shown.code == 0
    usage = next(line for line in shown.out.splitlines() if "Usage:" in line)
    assert "[[" not in usage and "python -m" not in usage
    for option in () if hasattr(found, "commands") else re.findall(r"(--[a-z-]+)", found.help or ""):
        assert option in {name for parameter in found.params for name in parameter.opts}, option


def test_paragraphs_of_help_become_lines():
    assert one_line_paragraphs("a\n  b\n\nc\nd") == "a b\n\nc d"


def test_library_texts_name_no_options():
    """Outside of cli/ a text must not name an option, because a library call has none."""
    sys.path.insert(0, str(ROOT / "tools"))
    from plain_words import python_prose

    options = {
        name for _, found in COMMANDS for p in found.params for name in (*p.opts, *p.secondary_opts) if name[:2] == "--"
    }
    wrong = []
    for path in (ROOT / "src" / "strapdown").rglob("*.py"):
        if {"cli", "studio"} & set(path.parts):  # the server is a command of its own
            continue
        for number, text in python_prose(path.read_text(encoding="utf-8")).items():
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
                if option in options:
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: {option}")
    assert not wrong


@pytest.mark.parametrize(("words", "found"), COMMANDS, ids=[" ".join(words) or "strapdown" for words, _ in COMMANDS])
def test_help_fits_into_80_columns_and_breaks_no_word(words, found, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = command(*words, "--help")
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) <= 80
    text = " ".join(re.sub(r"[│╭╰─╮╯]", " ", shown.out).split())
    monkeypatch.setenv("COLUMNS", "500")
    wide = " ".join(re.sub(r"[│╭╰─╮╯]", " ", command(*words, "--help").out).split())
    assert not set(wide.split()) - set(text.split())  # every word is whole somewhere

"""New text is checked against the table of words in CONTRIBUTING.md."""

import subprocess
import sys

from helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import plain_words

TABLE = plain_words.table((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def found(text, file="docs/x.md"):
    return plain_words.problems(iter([(file, 3, text)]), TABLE)


def test_every_row_of_the_table_is_read():
    rows = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(plain_words.TABLE)[2].splitlines()
    rows = [row for row in rows if row.startswith("|")][2:]
    assert {word for word, _, _ in TABLE} == {
        word.strip() for row in rows for word in row.split("|")[1].partition(" (but: ")[0].split(",")
    }


def test_a_forbidden_word_is_found_with_its_place_and_what_to_write_instead():
    assert found("the rate is told in frame b") == ['docs/x.md:3: "told"; write: expressed in, stated, reported, given']
    assert found("a Deviation of 3 m")


def test_allowed_phrases_names_and_parts_of_words_are_not_found():
    for text in (
        "the standard deviation is 3 m",
        "at room temperature",
        "told_with = 3",
        "bending",
        "the Allan deviation",
    ):
        assert found(text) == []


def test_lines_are_those_added_since_the_base(tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    (tmp_path / "a.md").write_text("it is told\n" * 20)
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    (tmp_path / "b.md").write_text("it is told\n" * 20 + "new\n")
    git("add", ".")
    assert list(plain_words.added_lines("HEAD", tmp_path)) == [("b.md", 21, "new")]


def test_of_python_only_comments_and_strings_are_read(tmp_path):
    source = 'said = f"{said} is told"  # a bend\nsaid = 3\n"""It\nsays so."""\n'
    (tmp_path / "x.py").write_text(source)
    lines = [("x.py", i + 1, text) for i, text in enumerate(source.splitlines())]
    kept = plain_words.problems(plain_words.prose(lines, tmp_path), TABLE)
    assert [line.partition("; ")[0] for line in kept] == ['x.py:1: "told"', 'x.py:1: "bend"', 'x.py:4: "says"']

"""A short run of the harness: every reader, 200 wrong files each; `python tests/fuzz/harness.py` runs longer."""

from random import Random

import pytest
from fuzz_readers import readers
from harness import fuzz


def test_wrong_files_give_sentences_and_nothing_else(tmp_path):
    """20 readers, 200 files of each; about 5 s of CPU. Limits on time and memory are the harness's."""
    outcome = fuzz(tmp_path, seed=20, cases=4000)
    assert outcome.cases == 4000 and len(outcome.by_reader) == 20
    assert outcome.failed == []
    assert outcome.read > 100  # some are changed where it does not matter: what lies behind the parsers is reached


def test_wrong_files_of_other_programs(tmp_path):
    """15 formats, 200 files of each, within 500 MB; about 8 s of CPU. The long run has 10 000 of each."""
    pytest.importorskip("rosbags")
    outcome = fuzz(tmp_path, seed=21, cases=3000, formats=True)
    assert outcome.cases == 3000 and len(outcome.by_reader) == 15
    assert outcome.failed == []
    assert outcome.read > 100


def test_cases_are_made_by_their_number_alone(tmp_path):
    known = readers(tmp_path)
    for name, reader in known.items():
        path = tmp_path / f"valid{reader.suffix}"
        if not reader.suffix.endswith(".gz"):
            accepted = 0
            for raw in reader.valid:
                path.write_bytes(raw)
                try:
                    reader.read(path)
                    accepted += 1
                except Exception:
                    continue
            assert accepted, f"{name}: no valid file is accepted"
        assert reader.case(Random("1 x")) == reader.case(Random("1 x"))


@pytest.mark.parametrize("fault", ["ZeroDivisionError", "endless", "memory", "crash"])
def test_the_harness_finds_faults(tmp_path, monkeypatch, fault):
    """The test of the test: a reader that fails in each of the ways that count."""
    text = {
        "ZeroDivisionError": "1 / 0",
        "endless": "sum(range(10**9))",
        "memory": "bytes(10**10)",
        "crash": "__import__('os').abort()",
    }[fault]
    lines = (
        "import strapdown.io.files as files",
        "def broken(*more):",
        f"    {text}",
        "files.FORMATS['.csv'] = (broken, files.FORMATS['.csv'][1])",
    )
    (tmp_path / "sitecustomize.py").write_text("\n".join(lines))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("harness.HANG_S", 2.0)
    outcome = fuzz(tmp_path, seed=1, cases=2, names=("csv",))
    assert outcome.failed
    words = {"ZeroDivisionError": "ZeroDivisionError", "endless": "long", "memory": "MemoryError", "crash": "ended"}
    assert words[fault] in outcome.failed[0]["why"]

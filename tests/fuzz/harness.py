"""Fuzzing of every reader: wrong files must give a StrapdownError, within limits of time and memory.

    python tests/fuzz/harness.py --seconds 600           # as long as you like; another seed each time
    python tests/fuzz/harness.py --cases 100000 --seed 1 # the same cases each time
    python tests/fuzz/harness.py --only mjcf:1234 --seed 1  # one case again, with its traceback

A case is made from the seed, the reader's name and its number alone. Cases run in a process of their own, with a limit
on its memory; one that crashes it or takes too long is recorded, and a new process goes on behind it. Files of cases
that fail are kept. Exit code 1 if there are any.
"""

import argparse
import faulthandler
import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

MEMORY_BYTES = 1_000_000_000  # beyond what the process has at its start
FORMAT_MEMORY_BYTES = 500_000_000  # the same for files of other programs
CASE_S = 5.0  # of CPU: a case that is read takes milliseconds
HANG_S = 60.0  # of the clock: the machine may be busy
START_S = 300.0
_BLOCK = 200  # cases of one reader in a row


@dataclass
class Outcome:
    cases: int = 0
    read: int = 0
    failed: list[dict] = field(default_factory=list)
    by_reader: dict[str, int] = field(default_factory=dict)
    slowest_s: float = 0.0
    slowest: str = ""


def fuzz(
    folder: Path,
    *,
    seed: int,
    cases: int | None = None,
    seconds: float | None = None,
    names: tuple[str, ...] = (),
    formats: bool = False,
) -> Outcome:
    """Run so many cases, or for so long; files of failed ones are in the folder. formats: of other programs."""
    outcome, began, skip = Outcome(), time.monotonic(), 0
    while True:
        left_s = None if seconds is None else seconds - (time.monotonic() - began)
        if (cases is not None and skip >= cases) or (left_s is not None and left_s <= 0.0):
            return outcome
        words = [sys.executable, str(Path(__file__)), "--work", str(folder), "--seed", str(seed), "--skip", str(skip)]
        words += ["--cases", str(cases)] if cases is not None else []
        words += ["--seconds", str(left_s)] if left_s is not None else []
        words += ["--names", ",".join(names)] if names else []
        words += ["--formats"] if formats else []
        skip = _watched(words, folder, outcome)


def _watched(words: list[str], folder: Path, outcome: Outcome) -> int:
    """Run one worker to its end, and say from which case on the next one has to go on."""
    state, failures = folder / "state.json", folder / "failures.jsonl"
    state.unlink(missing_ok=True)
    failures.unlink(missing_ok=True)
    with (folder / "worker.log").open("w") as log, subprocess.Popen(words, stdout=log, stderr=log) as worker:
        last, since = "", time.monotonic()
        while worker.poll() is None:
            time.sleep(0.05)
            now = _read(state)
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > (HANG_S if last else START_S):
                worker.kill()
                break
        worker.wait()
    found = json.loads(_read(state) or "{}")
    if not found:
        raise RuntimeError(f"the worker did not start: {(folder / 'worker.log').read_text()[-2000:]}")
    for key in ("cases", "read"):
        setattr(outcome, key, getattr(outcome, key) + found[key])
    outcome.failed += [json.loads(line) for line in _read(failures).splitlines()]
    for name, count in found["by_reader"].items():
        outcome.by_reader[name] = outcome.by_reader.get(name, 0) + count
    if found["slowest_s"] > outcome.slowest_s:
        outcome.slowest_s, outcome.slowest = found["slowest_s"], found["slowest"]
    if worker.returncode != 0:
        why = "took too long" if worker.returncode == -9 else f"ended the process with {worker.returncode}"
        text = (folder / "worker.log").read_text()[-1500:]
        kept = folder / f"crashed-{found['number']}-{Path(found['file']).name}"
        if found["file"]:
            kept.write_bytes(Path(found["file"]).read_bytes())
        outcome.failed.append({"case": found["now"], "why": why, "trace": text, "file": str(kept)})
    return found["number"] + 1


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _work(options: argparse.Namespace) -> None:
    """The worker: cases one after another, and where it is in a file that the watcher reads."""
    from strapdown.errors import StrapdownError

    folder = Path(options.work)
    known = _readers(folder, options.formats)
    names = options.names.split(",") if options.names else list(known)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + (FORMAT_MEMORY_BYTES if options.formats else MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    faulthandler.enable()
    began, number = time.monotonic(), options.skip
    found: dict = {"cases": 0, "read": 0, "by_reader": {}, "slowest_s": 0.0, "slowest": ""}
    state, temporary = folder / "state.json", folder / "state.tmp"

    def at(now: str, file: str) -> None:
        temporary.write_text(json.dumps({**found, "number": number, "now": now, "file": file}))
        temporary.replace(state)

    while (options.cases is None or number < options.cases) and (
        options.seconds is None or time.monotonic() - began < options.seconds
    ):
        name = names[number // _BLOCK % len(names)]
        case = f"{name}:{number}"
        reader = known[name]
        raw = reader.case(Random(f"{options.seed} {case}"))
        path = folder / f"case{reader.suffix}"
        path.write_bytes(raw)
        at(case, str(path))
        start = time.process_time()
        why = trace = ""
        try:
            reader.read(path)
            found["read"] += 1
        except StrapdownError as error:
            if len(str(error)) > 5000 or "\n" in str(error):
                why = "its sentence is not one line, or has no end"
                trace = str(error)[:500]
        except BaseException as error:
            why, trace = f"{type(error).__name__}: {str(error)[:200]}", traceback.format_exc()[-3000:]
            if isinstance(error, KeyboardInterrupt):
                raise
        spent = time.process_time() - start
        if spent > CASE_S:
            why = why or f"takes {spent:.1f} s"
        if spent > found["slowest_s"]:
            found["slowest_s"], found["slowest"] = spent, case
        if why:
            kept = folder / f"failed-{options.seed}-{case.replace(':', '-').replace(' ', '_')}{reader.suffix}"
            kept.write_bytes(raw)
            with (folder / "failures.jsonl").open("a") as file:
                file.write(json.dumps({"case": case, "why": why, "trace": trace, "file": str(kept)}) + "\n")
        found["cases"] += 1
        found["by_reader"][name] = found["by_reader"].get(name, 0) + 1
        number += 1
    at("", "")


def _readers(folder: Path, formats: bool) -> dict:
    if formats:
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from fuzz_formats import format_readers

        return format_readers(folder)
    from fuzz_readers import readers

    return readers(folder)


def _again(case: str, seed: int, formats: bool) -> None:
    """One case with its traceback, in this process."""
    name = case.rpartition(":")[0]
    with tempfile.TemporaryDirectory() as folder:
        reader = _readers(Path(folder), formats)[name]
        raw = reader.case(Random(f"{seed} {case}"))
        print(raw[:2000])
        path = Path(folder) / f"case{reader.suffix}"
        path.write_bytes(raw)
        print("read:", reader.read(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, help="how long")
    parser.add_argument("--cases", type=int, help="how many cases")
    parser.add_argument("--seed", type=int, help="any number; another one each time if not given")
    parser.add_argument("--names", default="", help="readers, with commas; all if not given")
    parser.add_argument("--keep", help="folder for the files of failed cases; a temporary one if not given")
    parser.add_argument("--formats", action="store_true", help="files of other programs: bags, MCAP, ULog, ...")
    parser.add_argument("--only", help="run one case again, as mjcf:1234")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    if options.work:
        _work(options)
        return
    if options.only:
        _again(options.only, seed, options.formats)
        return
    if options.cases is None and options.seconds is None:
        parser.error("give --seconds or --cases")
    quick = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(options.keep or tempfile.mkdtemp(prefix="strapdown-fuzz-", dir=quick))
    folder.mkdir(parents=True, exist_ok=True)
    names = tuple(filter(None, options.names.split(",")))
    before = os.times()
    outcome = fuzz(
        folder, seed=seed, cases=options.cases, seconds=options.seconds, names=names, formats=options.formats
    )
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    print(
        f"{outcome.cases} cases of seed {seed}: {outcome.read} read, {len(outcome.failed)} failed; {spent:.0f} s of CPU"
    )
    print(f"slowest: {outcome.slowest} with {outcome.slowest_s:.2f} s")
    kinds: dict[tuple[str, str], list[dict]] = {}
    for failure in outcome.failed:
        where = failure["trace"].strip().splitlines()[-1:] if failure["trace"] else [""]
        kinds.setdefault((failure["case"].partition(":")[0], (failure["why"] + where[0])[:80]), []).append(failure)
    for (name, _), failures in kinds.items():
        print(f"\n{len(failures)} x {name}, as {failures[0]['case']} ({failures[0]['file']}): {failures[0]['why']}")
        print(failures[0]["trace"])
    sys.exit(1 if outcome.failed else 0)


if __name__ == "__main__":
    main()

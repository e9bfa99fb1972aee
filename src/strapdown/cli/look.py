"""strapdown look: what is in a log, how its columns can be read, and what to type next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import Columns, Json, Sensor, chosen

if TYPE_CHECKING:
    from strapdown.cli.next_steps import Step
    from strapdown.io.formats import Contents
    from strapdown.recordings.foreign.mapping_guess import GuessedMapping
    from strapdown.recordings.overview import Overview
    from strapdown.types import Recording


def look(
    log: Annotated[
        Path | None,
        typer.Argument(
            metavar="LOG",
            help="The log: .csv, .txt, .parquet, .module, .bag, .mcap, .ulg, .bin, .mat and more; or a folder.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Write the column mapping (.toml), or the log (.parquet, .csv).",
        ),
    ] = None,
    columns: Columns = None,
    sensor: Sensor = None,
    ready: Annotated[bool, typer.Option("--list", help="List the ready mappings and stop.")] = False,
    as_json: Json = False,
) -> None:
    """State what is in a log: columns, units, axes, rate, gaps, rests, faults, and what can be done with it.

    Units and axes that the names do not state are guessed from the readings. Check the marked lines.

    Example: strapdown look phone.csv -o phone.toml
    """
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.atomic import refuse_overwriting, writable_target

    if ready:
        _list_ready()
        return
    if log is None:
        raise InputError("look needs LOG, the log to look at; give it, see strapdown look --help")
    if output is not None:
        writable_target(output)
        refuse_overwriting((output,), (log, columns))
        if not output.name.lower().endswith((".toml", ".parquet", ".csv", ".csv.gz")):
            raise InputError(
                f"{output} has another ending; use .toml for the mapping, .parquet or .csv for the log; "
                "strapdown convert writes other formats"
            )
    if log.suffix.lower() in (".yaml", ".yml") and log.is_file():
        from strapdown.cli.kalibr import show_noise

        show_noise(log, as_json)
        return
    guessed, found = _read(log, columns)
    recordings, notes = found.recordings, found.notes
    shown = recordings if sensor is None else {sensor: chosen(recordings, sensor, log)}
    written = _write(output, log, guessed, recordings)
    with screen.warnings_shown():
        from strapdown.recordings.overview import overview

        seen = {name: overview(each) for name, each in shown.items()}
    of_mapping = _mapping_name(log, output, columns, guessed)
    several = len(recordings) > 1 and (guessed is None or guessed.columns is None)
    if as_json:
        screen.show_json(_document(log, guessed, seen, of_mapping, written, several) | _foreign(found))
        return
    if guessed is not None:
        _show_columns(log, guessed)
    if found.tracks or found.frames:
        _show_foreign(log, found)
    for note in notes:
        print(f"note: {note}")
    for name, each in seen.items():
        if each.recording.acc_s is None and each.recording.gyr_s is None and each.recording.mag_s is None:
            print(f"\nTo compare a path with it: strapdown evaluate SOLUTION {log}")
            continue
        _show_log(name, each)
        topic = name if several and written != "log" else None
        _show_steps(each, output if written == "log" else log, None if written == "log" else of_mapping, topic)
    if written == "mapping" and guessed is not None and guessed.columns is None:
        print("\nThe log is in our own format and needs no mapping: none was written.")
    elif written:
        print(f"\n{'column mapping' if written == 'mapping' else 'log in our format'}: {output}")
    elif guessed is not None and guessed.columns is not None:
        print(f"\nThe mapping is not written yet. To write it: strapdown look {log} -o {_stem(log)}.toml")
    elif log.is_dir() and not found.frames:
        print(f"\nTo write the log as one file: strapdown look {log} -o {_stem(log.resolve())}.parquet")


def _stem(log: Path) -> str:
    return log.name.split(".")[0]


def _list_ready() -> None:
    from strapdown.cli import screen
    from strapdown.io.foreign.layouts import layouts

    rows = [[each.name, each.what, each.note] for each in layouts()]
    screen.show_table("Ready mappings, for --columns NAME", ["name", "files", "note"], rows, left=3)


def _read(log: Path, columns: Path | None) -> "tuple[GuessedMapping | None, Contents]":
    """How the columns are read, and what the log holds."""
    from strapdown.cli.log import read_contents, read_sensors
    from strapdown.errors import InputError
    from strapdown.io import read
    from strapdown.io.formats import Contents, format_of
    from strapdown.io.solutions.file import is_solution
    from strapdown.recordings.foreign.folder_join import read_folder
    from strapdown.recordings.foreign.mapping_guess import guess_mapping

    known = format_of(log)
    if columns is not None or (log.name.lower().endswith(".module") and log.is_file()):
        return None, Contents("", "", read_sensors(log, columns))
    if known is not None and known.name != "matlab":
        return None, read_contents(log, None)
    if log.is_dir():
        joined, notes = read_folder(log)
        return None, Contents("", "", {log.resolve().name: joined}, notes=notes)
    if log.is_file() and is_solution(log):
        raise InputError(f"{log} is a solution, which navigate or orient wrote; give the log it was made from")
    if known is not None:
        return _read_matlab(log)
    guessed = guess_mapping(log)
    return guessed, Contents("", "", read(log, guessed.columns))


def _read_matlab(log: Path) -> "tuple[GuessedMapping | None, Contents]":
    """By what the file states, else by a guess of its columns."""
    from strapdown.cli.log import read_contents
    from strapdown.errors import InputError
    from strapdown.io.files import read_all
    from strapdown.io.foreign.source import MAPPING_HINT
    from strapdown.recordings.foreign.mapping_guess import guess_mapping

    try:
        return None, read_contents(log, None)
    except InputError as error:
        if MAPPING_HINT not in str(error):
            raise
    guessed = guess_mapping(log)
    return guessed, read_all(log, guessed.columns)


def _show_foreign(log: Path, found: "Contents") -> None:
    from strapdown.cli import screen

    print(f"{log}: {found.source}")
    print(f"frames: {found.frames}")
    if found.tracks:
        rows = [
            [name, track.holds, f"{len(track)}", f"{track.t[0]:.4g} to {track.t[-1]:.4g} s", track.what]
            for name, track in found.tracks.items()
        ]
        heads = ["track", "holds", "poses", "time", "what"]
        screen.show_table("Poses that others computed, for evaluate and convert", heads, rows, left=5)


def _foreign(found: "Contents") -> dict[str, Any]:
    tracks = {
        name: {"holds": track.holds, "poses": len(track), "what": track.what} for name, track in found.tracks.items()
    }
    return {
        "format": found.source or None,
        "frames": found.frames or None,
        "tracks": tracks,
        "notes": list(found.notes),
    }


def _write(output: Path | None, log: Path, guessed: "GuessedMapping | None", recordings: "dict[str, Recording]") -> str:
    """What was written: "mapping", "log" or ""."""
    from strapdown.errors import InputError
    from strapdown.io import whole_file, write

    if output is None:
        return ""
    if output.suffix != ".toml":
        write(output, recordings)
        return "log"
    if guessed is None:
        raise InputError(f"there is no mapping to write for {log}; write the log itself, like -o log.parquet")
    if guessed.columns is not None:
        with whole_file(output) as tmp:
            tmp.write_text(guessed.toml(log.name), encoding="utf-8")
    return "mapping"


def _mapping_name(log: Path, output: Path | None, columns: Path | None, guessed: "GuessedMapping | None") -> str | None:
    if columns is not None:
        return str(columns)
    if guessed is None or guessed.columns is None:
        return None
    if output is not None:
        return str(output)
    return guessed.layout.name if guessed.layout is not None else f"{_stem(log)}.toml"


def _show_columns(log: Path, guessed: "GuessedMapping") -> None:
    from strapdown.cli import screen

    peeked = guessed.peeked
    head = f"{log}: {len(peeked.header)} columns, " + (
        peeked.separator if peeked.separator in ("Parquet", "MATLAB") else f"separated by {peeked.separator}"
    )
    if guessed.columns is None:
        print(f"{head}, in our own format")
        return
    if guessed.layout is not None:
        head += f", as in the ready mapping {guessed.layout.name}"
    screen.show_table(head, ["column", "read as", "unit", "how it is known"], _column_rows(guessed), left=4)
    frame = guessed.columns.get("frame", "flu")
    print(f"axes: {_axes(str(frame))}" + ("" if "frame" in guessed.columns else " (not stated; assumed)"))
    if guessed.unused:
        print(f"not used: {', '.join(guessed.unused[:20])}{' ...' if len(guessed.unused) > 20 else ''}")
    shown = {read.why for read in guessed.reads}
    for doubt in guessed.doubts:
        if doubt.partition(": ")[2] not in shown:
            print(f"check: {doubt}")


def _column_rows(guessed: "GuessedMapping") -> list[list[str]]:
    """A row for each quantity; axes that are read in the same way share it."""
    rows: dict[tuple[str, str, str], list[list[str]]] = {}
    for read in guessed.reads:
        why = ("" if read.sure else "CHECK: ") + read.why
        columns, ours = rows.setdefault((read.ours.partition("_")[0], read.unit, why), [[], []])
        columns.append(read.column)
        ours.append(read.ours)
    return [[", ".join(columns), ", ".join(ours), unit, why] for (_, unit, why), (columns, ours) in rows.items()]


def _axes(frame: str) -> str:
    words = {"f": "forward", "b": "back", "l": "left", "r": "right", "u": "up", "d": "down"}
    return ", ".join(f"{axis} {words[letter]}" for axis, letter in zip("xyz", frame, strict=True))


def _show_log(name: str, seen: "Overview") -> None:
    from strapdown.cli import screen

    rows = _log_rows(seen)
    print()
    screen.show_table(f"Sensor {name}", ["what", "how much"], rows, left=2)
    words = {"refuse": "wrong", "warn": "doubtful", "note": "note"}
    for finding in seen.findings:
        print(f"{words[finding.severity]}: {finding.sentence}")
    if not len(seen.findings):
        print("Units and axes of the readings are plausible.")


def _log_rows(seen: "Overview") -> list[list[str]]:
    recording = seen.recording
    instruments = {
        "acc_s": "accelerometer",
        "gyr_s": "gyroscope",
        "mag_s": "magnetometer",
        "temperature": "temperature",
    }
    instruments |= {"stop": "stop flag", "odometer": "odometer", "truth": "truth", "height": "height"}
    instruments |= {"position_fix": "position fixes", "velocity_fix": "velocity fixes"}
    has = [word for field, word in instruments.items() if getattr(recording, field) is not None]
    rows = [
        ["instruments", ", ".join(has)],
        ["length", f"{len(recording)} samples, {seen.duration_s:.4g} s"],
        ["rate", f"{seen.rate_hz:.4g} Hz; {_evenness(seen.jitter)}"],
    ]
    if seen.gaps:
        at, length = max(seen.gaps, key=lambda gap: gap[1])
        rows.append(["gaps", f"{len(seen.gaps)}, the longest {length:.3g} s after t = {at:.6g} s"])
    else:
        rows.append(["gaps", "none"])
    if seen.rests:
        longest = max(seen.rests, key=lambda rest: rest.duration_s)
        start = "begins at rest" if seen.begins_at_rest else "does not begin at rest"
        text = f"{len(seen.rests)}, together {seen.rest_s:.4g} s; the longest {longest.duration_s:.4g} s; {start}"
        rows.append(["rests", text])
    else:
        rows.append(["rests", seen.why_no_rest or "none"])
    return rows


def _evenness(jitter: float) -> str:
    return "even steps" if jitter < 1e-3 else f"steps vary by {100.0 * jitter:.2g} %"


def _show_steps(seen: "Overview", log: Path | None, columns: str | None, topic: str | None = None) -> None:
    steps = _steps(seen, log, columns, topic)
    possible = [step for step in steps if step.command]
    print("\nWhat can be done with it:" if possible else "\nNothing can be done with it yet:")
    for step in possible:
        print(f"  {step.what}:\n    {step.command}")
    reasons: dict[str, list[str]] = {}
    for step in steps:
        if not step.command:
            reasons.setdefault(step.why, []).append(step.what)
    for why, whats in reasons.items():
        print(f"  not {', '.join(whats)}: {why}")


def _steps(seen: "Overview", log: Path | None, columns: str | None, topic: str | None = None) -> "list[Step]":
    from strapdown.cli.next_steps import next_steps
    from strapdown.io.formats import format_of

    if log is not None and log.is_dir() and format_of(log) is None:
        return next_steps(seen, f"{_stem(log.resolve())}.parquet", None)
    return next_steps(seen, str(log) if topic is None else f"{log} --topic {topic}", columns)


def _document(
    log: Path,
    guessed: "GuessedMapping | None",
    seen: "dict[str, Overview]",
    columns: str | None,
    written: str,
    several: bool,
) -> dict[str, Any]:
    mapping = None if guessed is None else guessed.columns
    reads = [] if guessed is None else [vars(read) for read in guessed.reads]
    sensors = {}
    for name, each in seen.items():
        sensors[name] = {
            "samples": len(each.recording),
            "duration_s": each.duration_s,
            "rate_hz": each.rate_hz,
            "jitter": each.jitter,
            "gaps": [{"t_s": t, "length_s": length} for t, length in each.gaps],
            "rests": [{"t_s": rest.t_s, "until_s": rest.until_s} for rest in each.rests],
            "findings": [{"kind": f.kind, "severity": f.severity, "sentence": f.sentence} for f in each.findings],
            "steps": [vars(step) for step in _steps(each, log, columns, name if several else None)],
        }
    return {
        "log": str(log),
        "layout": guessed.layout.name if guessed is not None and guessed.layout is not None else None,
        "columns": reads,
        "unused": [] if guessed is None else list(guessed.unused),
        "doubts": [] if guessed is None else list(guessed.doubts),
        "mapping": mapping,
        "written": written or None,
        "sensors": sensors,
    }

"""Wrong files from valid ones, and files by a grammar: each case is made by its own random generator alone."""

import gzip
import io
import json
import re
from random import Random

import pyarrow as pa
import pyarrow.parquet

NUMBERS = (
    *("0", "-1", "1", "2", "3", "0.5", "1e-300", "1e-9", "1e9", "1e12", "1e300", "1e400", "-1e308", "-0.0", "5e-324"),
    *("nan", "inf", "-inf", "NaN", "9999999999999999999999", "9" * 400, "1_0", "0x10", "0b1", "1.7e9", "true", "007"),
    *("1,5", "1e", "--1", "+1", ".5", "5.", "²", "1 2", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"),
)
PLAIN = ("0", "1", "2", "0.01", "-0.5", "10", "100", "3.14", "0.001", "45")
TEXTS = (
    *("", " ", "\n", "\r", "\t", '"', "'", '"""', "[", "]", "]]", "{", "}", "=", "<", "/>", ">", "#", ",", ";", "\0"),
    *("\ufeff", "é", "\\", "&#0;", "&amp;", "&x;", "<!--", "]]>", "..", "../x", "/dev/zero", "$", "%", "\u202e", "𝟙"),
)
TOKEN = re.compile(r"[+-]?[0-9][0-9_.eE+-]*|\w+|\s+|.", re.DOTALL)


def mutated_text(rng: Random, text: str, words: tuple[str, ...]) -> bytes:
    """One to four changes of a token, a number, a line; sometimes of bytes."""
    gentle = rng.random() < 0.5  # leave the grammar whole, so that what lies behind the parser is reached
    for _ in range(rng.randint(1, 4)):
        lines = rng.random() < 0.25
        parts = text.splitlines(keepends=True) if lines else TOKEN.findall(text)
        if not parts:
            break
        i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
        how = rng.choice(("delete", "duplicate", "swap", "replace", "number", "number", "copy", "deep"))
        if gentle and not lines:
            how = rng.choice(("number", "number", "word"))
        if how == "number":
            numbers = [k for k, part in enumerate(parts) if part[0].isdigit() or part[0] in "+-"]
            if numbers:
                parts[rng.choice(numbers)] = rng.choice(PLAIN if gentle and rng.random() < 0.5 else NUMBERS)
        elif how == "word":
            known = [k for k, part in enumerate(parts) if part[0].isalpha()]
            if known:
                parts[rng.choice(known)] = rng.choice((rng.choice(words or ("x",)), parts[rng.choice(known)]))
        elif how == "delete":
            del parts[i]
        elif how == "duplicate":
            parts.insert(j, parts[i])
        elif how == "copy":
            parts[j] = parts[i]
        elif how == "swap":
            parts[i], parts[j] = parts[j], parts[i]
        elif how == "deep":
            depth = rng.choice((5, 50, 2000))
            opening, closing = rng.choice((("[", "]"), ("{", "}"), ("<x>", "</x>"), ('{"a":', "}"), ("(", ")")))
            parts[i] = opening * depth + rng.choice(("", "1")) + closing * rng.choice((0, depth))
        else:
            parts[i] = rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS), rng.choice(words or ("x",))))
        text = "".join(parts)
    raw = text.encode("utf-8", "replace")
    return mutated_bytes(rng, raw) if not gentle and rng.random() < 0.2 else raw


def mutated_bytes(rng: Random, raw: bytes) -> bytes:
    """Bytes changed, cut, repeated."""
    for _ in range(rng.randint(1, 3)):
        if not raw:
            return rng.randbytes(rng.randint(0, 20))
        i = rng.randrange(len(raw))
        how = rng.randrange(4)
        if how == 0:
            raw = raw[:i] + bytes([rng.randrange(256)]) + raw[i + 1 :]
        elif how == 1:
            raw = raw[:i]
        elif how == 2:
            raw = raw[:i] + rng.randbytes(rng.randint(1, 8)) + raw[i + rng.randint(0, 8) :]
        else:
            raw = raw[:i] + raw[i : i + rng.randint(1, 64)] * rng.randint(1, 4) + raw[i:]
    return raw


def packed(rng: Random, raw: bytes) -> bytes:
    """Gzipped; sometimes damaged, in several members, or not packed at all."""
    kind = rng.random()
    if kind < 0.1:
        return raw
    done = gzip.compress(raw, rng.choice((1, 9)), mtime=0)
    if kind < 0.2:
        cut = len(raw) // 2
        done = gzip.compress(raw[:cut], mtime=0) + gzip.compress(raw[cut:], mtime=0)
    return mutated_bytes(rng, done) if kind < 0.4 else done


def value(rng: Random, depth: int = 0) -> object:
    """Any plain value, as JSON has it."""
    kind = rng.randrange(10 if depth < 3 else 6)
    if kind < 3:
        return rng.choice((0, 1, -1, 0.5, 1e300, 10**400, 2**63, True, False, None, 3.0, 9.81, 100.0))
    if kind < 5:
        return rng.choice(("", "x", "imu", "MPU-6050", "m/s2", "../x", "é", "1", "nan"))
    if kind < 6:
        return [rng.gauss(0.0, 1.0) for _ in range(rng.randint(0, 4))]
    if kind < 8:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    return {rng.choice("abcdef"): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def toml(rng: Random, words: tuple[str, ...]) -> bytes:
    """Tables of known keys with any values."""
    lines = []
    for _ in range(rng.randint(0, 6)):
        if rng.random() < 0.3:
            name = rng.choice(words)
            lines.append(rng.choice((f"[{name}]", f"[[{name}]]", f"[{name}.{rng.choice(words)}]")))
        else:
            lines.append(f"{rng.choice(words)} = {_toml_value(rng, value(rng))}")
    return "\n".join(lines).encode("utf-8", "replace")


def _toml_value(rng: Random, item: object) -> str:
    if item is None or rng.random() < 0.1:
        return rng.choice(NUMBERS)
    if isinstance(item, dict):
        return "{ " + ", ".join(f"{key} = {_toml_value(rng, each)}" for key, each in item.items()) + " }"
    if isinstance(item, list):
        return "[" + ", ".join(_toml_value(rng, each) for each in item) + "]"
    return json.dumps(item)


def table(rng: Random, words: tuple[str, ...], before: tuple[str, ...]) -> bytes:
    """A CSV file of known columns and any cells; before: lines that may stand above the header."""
    names = [rng.choice(words) for _ in range(rng.randint(1, 9))]
    if rng.random() < 0.7:
        names = list(dict.fromkeys(names))
    separator = rng.choice((",", ",", ",", ";", "\t"))
    lines = [line for line in before if rng.random() < 0.6]
    lines.append(separator.join(f'"{name}"' if separator in name else name for name in names))
    for k in range(rng.choice((0, 1, 2, 8, 30))):
        cells = [f"{0.01 * k:g}" if rng.random() < 0.9 else rng.choice(NUMBERS) for _ in names]
        if rng.random() < 0.05:
            cells[rng.randrange(len(cells))] = rng.choice(TEXTS)
        lines.append(separator.join(cells))
    return rng.choice(("\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "replace")


TYPES = (
    *(pa.float64(), pa.float64(), pa.float64(), pa.float32(), pa.int64(), pa.bool_(), pa.string(), pa.null()),
    *(pa.timestamp("ns"), pa.list_(pa.float64()), pa.dictionary(pa.int32(), pa.string()), pa.decimal128(10, 3)),
)


def parquet(rng: Random, words: tuple[str, ...], notes: dict[str, str]) -> bytes:
    """Known columns of any type and values, and notes that may be damaged."""
    n = rng.choice((0, 1, 2, 9))
    names = list(dict.fromkeys(rng.choice(words) for _ in range(rng.randint(1, 9))))
    arrays = []
    for _ in names:
        kind = rng.choice(TYPES)
        cells = [_cell(rng, kind, k) for k in range(n)]
        arrays.append(pa.array(cells, kind))
    metadata = {}
    for key, text in notes.items():
        if rng.random() < 0.8:
            metadata[key] = text if rng.random() < 0.6 else mutated_text(rng, text, words)
    made = pa.table(arrays, names=names).replace_schema_metadata(metadata)
    file = io.BytesIO()
    pyarrow.parquet.write_table(made, file, compression=rng.choice(("none", "snappy")), row_group_size=4)
    return file.getvalue()


def _cell(rng: Random, kind: pa.DataType, k: int) -> object:
    if rng.random() < 0.05:
        return None
    if pa.types.is_floating(kind):
        return 0.01 * k if rng.random() < 0.9 else rng.choice((float("nan"), float("inf"), 1e300))
    if pa.types.is_integer(kind) or pa.types.is_timestamp(kind):
        return k
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_list(kind):
        return [1.0]
    if pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return None
    return rng.choice(("imu", "", "x"))


def xml(rng: Random, root: str, tags: tuple[str, ...], keys: tuple[str, ...]) -> bytes:
    """A tree of known elements with known attributes of any value."""

    def element(tag: str, depth: int) -> str:
        given = {rng.choice(keys): _attribute(rng) for _ in range(rng.randint(0, 3))}
        inside = "".join(element(rng.choice(tags), depth + 1) for _ in range(rng.randint(0, 3) if depth < 4 else 0))
        attributes = "".join(f' {key}="{text}"' for key, text in given.items())
        return f"<{tag}{attributes}>{inside}</{tag}>"

    return element(root, 0).encode("utf-8", "replace")


def _attribute(rng: Random) -> str:
    return rng.choice(
        (
            rng.choice(NUMBERS),
            " ".join(f"{rng.gauss(0.0, 1.0):.2g}" for _ in range(rng.randint(1, 4))),
            rng.choice(("a", "b", "world", "x.stl", "fixed", "revolute", "box", "mesh", "0 0 0", "1 1 1")),
        )
    )

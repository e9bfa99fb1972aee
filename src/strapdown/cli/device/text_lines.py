"""Recording of modules that print text lines."""

from pathlib import Path


def record_lines(port: str, baud: int, columns: str, output: Path, seconds: float | None, as_json: bool) -> None:
    """Write lines into one CSV file in our format, in SI, until Ctrl-C."""
    import os
    import time

    from strapdown.cli import screen
    from strapdown.devices.link import Link
    from strapdown.devices.text_lines import TextLines

    lines = TextLines(columns)
    link = Link(port, baud)
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{time.strftime('%Y-%m-%dT%H-%M-%SZ', time.gmtime())}-lines.csv"
    began = synced = time.monotonic()
    try:
        with path.open("xb", buffering=0) as file:
            file.write(lines.header())
            screen.told().print(f"recording text lines to {path}; Ctrl-C ends it", soft_wrap=True)
            try:
                while seconds is None or time.monotonic() - began < seconds:
                    rows = lines.feed(link.read())
                    if rows:
                        file.write(b"".join(rows))
                    if time.monotonic() - synced > 1.0:
                        synced = time.monotonic()
                        os.fsync(file.fileno())
            except KeyboardInterrupt:
                pass
            os.fsync(file.fileno())
    finally:
        link.close()
    found = {"file": str(path), "rows": lines.good, "bad_lines": lines.bad, "gaps": lines.gaps}
    if as_json:
        screen.show_json(found)
    else:
        print(f"{lines.good} rows, {lines.bad} bad lines, {lines.gaps} gaps in time")
        print(f"file: {path}")

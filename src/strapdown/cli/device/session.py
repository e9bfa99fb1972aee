"""A running module: what commands show of it, events as lines, figures at the end."""

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.devices.source import ModuleSource

_SILENT_S = 60.0  # a module that sends nothing is given up after so much more


class Meter:
    """Rates of a live source, over the last seconds."""

    def __init__(self, source: "ModuleSource") -> None:
        self._source = source
        self._at = (time.monotonic(), 0, 0)
        self.samples_hz = self.bytes_s = 0.0
        self.began_s = time.monotonic()
        self._first_s: float | None = None

    def look(self) -> bool:
        """Update the figures every second; returns whether a second has passed."""
        then, samples, received = self._at
        now = time.monotonic()
        if now - then < 1.0:
            return False
        counted, bytes_now = self._source.stream.counts.samples, self._source.received
        self.samples_hz, self.bytes_s = (counted - samples) / (now - then), (bytes_now - received) / (now - then)
        self._at = (now, counted, bytes_now)
        return True

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.began_s

    def over(self, seconds: float | None) -> bool:
        """Whether this much of the module's time has passed since its first sample. If the module is silent, the host's
        time counts.
        """
        if seconds is None:
            return False
        t_s, samples = self._source.stream.t_s, self._source.stream.counts.samples
        if self._first_s is None and samples:
            self._first_s = t_s
        passed = self._first_s is not None and t_s - self._first_s >= seconds - 1e-9
        return passed or self.elapsed_s > 2.0 * seconds + _SILENT_S


def figures(source: "ModuleSource") -> dict[str, Any]:
    """Counts of received and lost data, and the clock: for the end of a command, and for --json."""
    stream, counts = source.stream, source.stream.counts
    found: dict[str, Any] = {
        "module": None if stream.hello is None else stream.hello.serial,
        "samples": counts.samples,
        "lost": counts.lost,
        "gaps": counts.gaps,
        "longest_gap_s": counts.longest_gap_s,
        "silent": counts.silent,
        "frozen": counts.frozen,
        "doubtful": counts.doubtful,
        "bad_frames": source.decoder.bad,
        "resets": counts.resets,
        "vanished": source.link.lost,
    }
    if stream.status is not None:
        found |= {"overruns": stream.status.overruns, "i2c_errors": stream.status.i2c_errors}
    fit = stream.clock.fit()
    if fit is not None:
        found |= {"drift_ppm": fit[1], "clock_residual_ms": 1e3 * fit[2]}
    return found


def sentence(found: dict[str, Any]) -> str:
    """The figures in one line."""
    text = f"{found['samples']} samples, {found['lost']} lost, {found['bad_frames']} bad frames"
    for name, what in (
        ("silent", "without an answer of the chip"),
        ("frozen", "repeated"),
        ("doubtful", "doubtful"),
        ("resets", "resets"),
        ("vanished", "times the port vanished"),
    ):
        if found[name]:
            text += f", {found[name]} {what}"
    if "drift_ppm" in found:
        text += f"; host clock {found['drift_ppm']:+.0f} ppm against the module"
        text += f", residual {found['clock_residual_ms']:.2f} ms"
    return text

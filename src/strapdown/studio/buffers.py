"""Limits of the stored data of the studio. Every memory of it has its limit here."""

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Buffers:
    """Sizes of the buffers of the studio.

    history_s: samples for charts and for looking back.
    backlog_s: samples that a slow client is sent later.
    record_s: longest recording.
    takes: earlier runs.
    texts: messages that wait for a client; beyond it the client is disconnected.
    events: kept for clients that connect later.
    upload_bytes, uploads: limits for the files of the user.
    """

    history_s: float = 600.0
    backlog_s: float = 2.0
    record_s: float = 1800.0
    takes: int = 3
    texts: int = 400
    text_bytes: int = 8_000_000
    events: int = 5_000
    upload_bytes: int = 50_000_000
    uploads: int = 40

    def scaled(self, factor: float) -> "Buffers":
        """All limits times a factor (for tests). The data of one state of a session always fits."""
        least = {"history_s": 1.0, "backlog_s": 0.1, "record_s": 1.0, "texts": 40, "text_bytes": 300_000}
        changed = {}
        for field in fields(self):
            value = getattr(self, field.name)
            changed[field.name] = max(least.get(field.name, 1), type(value)(value * factor))
        return replace(self, **changed)


CHART_HZ = 100.0  # samples of charts, per second of the simulation
FRAME_HZ = 50.0  # frames, per second of the clock
PAUSED_HZ = 5.0  # frames while nothing moves
SLOW_HZ = 5.0  # lights and live values

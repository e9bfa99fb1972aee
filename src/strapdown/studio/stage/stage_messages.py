"""Messages to the pages about a stage: its description, signals, changes and events."""

import time
from typing import Any

from strapdown.studio import messages as m
from strapdown.studio.buffers import SLOW_HZ
from strapdown.studio.simulation.outbox import Outbox
from strapdown.studio.stage.session_state import event_message

_LARGE = ("session", "sensors", "diagram", "faults", "scene")


class StageMessages:
    """Messages on what is on the stage.

    most_events: most events of a message with all events.
    """

    def __init__(self, out: Outbox, most_events: int) -> None:
        self._out, self._most_events = out, most_events
        self.epoch = 0  # of the list of signals
        self._started = 0  # sessions so far
        self._events_sent = 0
        self._said: dict[str, float] = {}  # when a message was sent
        self._unsaid: set[str] = set()  # messages that have changed since

    def begin(self, stage: Any) -> None:
        """Another stage is loaded."""
        self._started += 1
        self._events_sent, self._unsaid = 0, set()
        self._out.say(stage.about(self._started))

    def signals(self, stage: Any, fresh: bool) -> None:
        """The list of signals.

        fresh: earlier samples do not belong to the new list.
        """
        self.epoch = (self.epoch + 1) % 65536
        charts = stage.charts
        self._out.send(("stage", self.epoch, fresh, dict(charts.places), charts.width, len(stage.poses())))
        self._out.say(m.Signals(epoch=self.epoch, signals=charts.signals, charts=charts.charts))

    def changed(self, stage: Any, names: set[str], at_once: bool = False) -> None:
        """A form that is dragged causes many changes a second: large messages then wait, see rest."""
        now = time.perf_counter()
        for name in _LARGE:
            if name in names:
                if not at_once and now - self._said.get(name, -1.0) < 1.0 / SLOW_HZ:
                    self._unsaid.add(name)
                    continue
                self._said[name] = now
                message = stage.about(self._started) if name == "session" else getattr(stage, name)()
                if message is not None:
                    self._out.say(message)

    def rest(self, stage: Any) -> None:
        """The messages that wait."""
        names, self._unsaid = self._unsaid, set()
        self.changed(stage, names, at_once=True)

    def events(self, stage: Any, whole: bool = False) -> None:
        """New events.

        whole: all of them, as after the session went back in time.
        """
        events = stage.events()
        whole = whole or len(events) < self._events_sent
        first = max(0, len(events) - self._most_events) if whole else self._events_sent
        if whole or first < len(events):
            self._out.say(
                m.Events(whole=whole, events=[event_message(i, events[i]) for i in range(first, len(events))])
            )
        self._events_sent = len(events)

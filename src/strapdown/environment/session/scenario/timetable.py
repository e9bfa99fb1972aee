"""Timetable of a scenario: lines of the pilot script, beginnings and ends of faults."""

import math
from collections.abc import Sequence
from typing import Any

from strapdown.environment.session.commands import BeginFault, Command, EndFault, SetConsole
from strapdown.environment.session.recording.files import read_console
from strapdown.environment.session.scenario.file import Scenario


def recorded_pilot(scenario: Scenario) -> list[tuple[float, dict[str, Any]]]:
    """The console of the recorded session that the scenario names."""
    return [] if scenario.pilot_recording is None else read_console(scenario.folder / scenario.pilot_recording)


class Timetable:
    """Commands by their time.

    keep and bring_back return and restore the number of commands done.
    """

    def __init__(self, scenario: Scenario, pilot: Sequence[tuple[float, dict[str, Any]]] = ()) -> None:
        plan: list[tuple[float, Command]] = [(line.at_s, SetConsole(line.changes())) for line in scenario.pilot]
        plan += [(at_s, SetConsole(changes)) for at_s, changes in pilot]
        for i, fault in enumerate(scenario.fault, start=1):
            name = fault.name or f"{fault.kind} {i}"
            plan.append((fault.at_s, BeginFault(fault, name)))
            if fault.until_s is not None:
                plan.append((fault.until_s, EndFault(name)))
        self._plan = sorted(plan, key=lambda item: item[0])  # stable: lines of one time in the order of the file
        self._next = 0
        self.next_s = self._plan[0][0] if self._plan else math.inf

    def due(self, t: float) -> list[Command]:
        """The commands up to this time that were not given yet."""
        found = []
        while self._next < len(self._plan) and self._plan[self._next][0] <= t:
            found.append(self._plan[self._next][1])
            self._next += 1
        self.next_s = self._plan[self._next][0] if self._next < len(self._plan) else math.inf
        return found

    def keep(self) -> int:
        return self._next

    def bring_back(self, kept: int) -> None:
        self._next = kept
        self.next_s = self._plan[kept][0] if kept < len(self._plan) else math.inf

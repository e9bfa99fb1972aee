"""Choices of the chooser: scenarios of the package, files of the user; and how each is opened."""

from collections import Counter
from pathlib import Path
from typing import Any

from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.session.scenario.file import Scenario, read_scenario, scenario_from, scenario_names
from strapdown.errors import InputError
from strapdown.io.plain_values import toml_values
from strapdown.studio import messages as m
from strapdown.studio.server.files_of_user import choice_kind, refuse_paths, unpacked
from strapdown.studio.simulation.robot_scenario import robot_scenario
from strapdown.studio.stage.lights import SHORT
from strapdown.studio.stage.live_stage import LiveStage
from strapdown.studio.stage.replay_stage import ReplayStage

_ORDER = ("quadcopter", "mars_helicopter", "rover", "manipulator")


class Choices:
    """Choices that the user can load.

    own: files that the user named on the command line, by their plain name.
    uploads: folder of uploaded files.
    """

    def __init__(self, own: list[Path], uploads: Path, kinds: Kinds, history_s: float) -> None:
        self._own = {path.name: path for path in own}
        self._uploads, self._kinds, self._history_s = uploads, kinds, history_s

    def listed(self) -> list[m.Choice]:
        found = []
        for name in sorted(scenario_names(), key=_place):
            scenario = read_scenario(name)
            found.append(
                _choice(name, "scenario", scenario.title, scenario.comment, scenario.vehicle, False, _sensors(scenario))
            )
        for name, path in self._own.items():
            kind = choice_kind(path)
            title, comment, vehicle, sensors = name, "", None, []
            if kind == "scenario":
                try:
                    scenario = read_scenario(path)
                    title, comment, vehicle = scenario.title or name, scenario.comment, scenario.vehicle
                    sensors = _sensors(scenario)
                except InputError as error:
                    comment = str(error)
            found.append(_choice(name, kind, title, comment, vehicle, True, sensors))
        return found

    def open(self, choice: str | None, upload: str | None, seed: int | None, script: bool) -> Any:
        """The stage of a choice or of an uploaded file. Raises InputError if it cannot be opened."""
        if upload is not None:
            path = self._uploads / upload
            if not path.is_file():
                raise InputError(f'the file "{upload[:80]}" was not uploaded; upload it first')
            return self._stage(path, upload, seed, script, uploaded=True)
        if choice is None:
            raise InputError("name a choice, or an uploaded file")
        if choice in self._own:
            return self._stage(self._own[choice], choice, seed, script, uploaded=False)
        if choice not in scenario_names():
            raise InputError(f'"{choice[:80]}" is not offered; choose one of the list')
        return self._live(read_scenario(choice), choice, seed, script)

    def _stage(self, path: Path, name: str, seed: int | None, script: bool, uploaded: bool) -> Any:
        kind = choice_kind(path)
        if kind == "recording":
            # a file of the user is not unpacked in the user's folder
            return ReplayStage(unpacked(path, self._uploads), name)
        if kind == "robot":
            scenario = robot_scenario(path)
            return self._live(scenario, name, seed, False)
        if uploaded:
            values = toml_values(path.read_bytes(), path.name, "a scenario has tables and plain values")
            refuse_paths(values)
            return self._live(scenario_from(values, path), name, seed, script)
        return self._live(read_scenario(path), name, seed, script)

    def _live(
        self, scenario: Scenario, name: str, seed: int | None, script: bool, diagram: Diagram | None = None
    ) -> LiveStage:
        """The history of a session is no longer than that of the studio."""
        history = min(scenario.history_s, self._history_s)
        return LiveStage(scenario.model_copy(update={"history_s": history}), name, self._kinds, seed, script, diagram)


def _place(name: str) -> tuple[int, str]:
    first = [i for i, word in enumerate(_ORDER) if name == word]
    return (first[0] if first else len(_ORDER)), name


def _choice(
    name: str, kind: Any, title: str, comment: str, vehicle: str | None, own: bool, sensors: list[str]
) -> m.Choice:
    picture = f"/picture/{vehicle}.svg" if vehicle is not None and not own else None
    return m.Choice(
        name=name, kind=kind, title=title, comment=comment, vehicle=vehicle, own=own, picture=picture, sensors=sensors
    )


def _sensors(scenario: Scenario) -> list[str]:
    """Short names of the instruments, each with its number if there are several."""
    found: Counter[str] = Counter()
    for table in scenario.sensor:
        found.update(list(table.drawn(scenario.folder, scenario.seed, 20.0).triads))
    for kind in ("inclinometer", "altimeter", "barometer", "odometer"):
        found[kind] += len(getattr(scenario, kind))
    for receiver in scenario.receiver:
        found[f"{receiver.measures}_fix"] += 1
    return [f"{SHORT[name]} ×{n}" if n > 1 else SHORT[name] for name, n in found.items() if n]


def own_files(path: Path | None) -> list[Path]:
    """The files of the command line: one file, or all of a folder that can be opened."""
    if path is None:
        return []
    if path.is_dir():
        found = []
        for item in sorted(path.iterdir()):
            try:
                choice_kind(item)
            except InputError:
                continue
            if item.is_file():
                found.append(item)
        return found
    if str(path) in scenario_names() and not path.exists():
        return []  # of the package
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file; give a scenario, a recording, a robot file, a folder of them, or one of "
            f"{', '.join(scenario_names())}"
        )
    choice_kind(path)
    return [path]

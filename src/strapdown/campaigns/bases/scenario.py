"""A scenario as the base of a campaign: a vehicle in the closed loop, without a screen."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from strapdown.campaigns.bases.named_files import named_files, outside_package, refuse_full_paths, relative_to
from strapdown.campaigns.definition.file import Campaign
from strapdown.campaigns.definition.settings import with_settings
from strapdown.environment.complaint import first_complaint
from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds, builtin, load_blocks
from strapdown.environment.session.recording.outcome import errors_of, figures, verdict
from strapdown.environment.session.recording.record import SessionRecording, recording_of
from strapdown.environment.session.scenario.file import Scenario, fault_names, read_scenario, scenario_names
from strapdown.environment.session.session import Session, SessionStopped
from strapdown.errors import InputError

FIGURES = (
    *("duration_s", "counted_from_s", "lost", "lost_at_s", "lost_by", "stopped"),
    *("roll_rmse_deg", "pitch_rmse_deg", "heading_rmse_deg", "tilt_rmse_deg", "tilt_max_deg", "heading_drift_deg"),
    *("velocity_rmse_m_s", "velocity_max_m_s", "position_rmse_m", "position_max_m", "height_rmse_m", "height_max_m"),
    *("end_distance_m", "path_m", "highest_m", "verdict", "nees_tilt", "nees_heading", "diverged"),
)
USUAL = (
    *("lost", "lost_by", "tilt_rmse_deg", "heading_rmse_deg", "velocity_rmse_m_s", "height_max_m", "end_distance_m"),
    *("nees_tilt", "diverged"),
)
KERNELS = (
    *("sensors.live_chain", "sensors.draws", "sensors.chain_supply", "mounts", "environment", "vehicles", "motion"),
    *("orientation.mekf.filter", "navigation.eskf.filter"),
)
DIVERGED_SIGMAS = 10.0  # rms of an error in its own sigmas, beyond which the estimate has lost its sigma's meaning


class ScenarioBase:
    figures: tuple[str, ...] = FIGURES
    usual: tuple[str, ...] = USUAL
    kernels: tuple[str, ...] = KERNELS

    def __init__(self, campaign: Campaign) -> None:
        assert campaign.file.scenario is not None
        self._folder, self._name = campaign.folder, campaign.file.scenario
        self._blocks = [campaign.folder / name for name in campaign.file.blocks]

    def check(self, settings: Mapping[str, Any]) -> None:
        self.session(settings, 0)

    def run(self, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
        scenario, recorded = self.full_run(settings, seed)
        return figures_of(scenario, recorded)

    def full_run(self, settings: Mapping[str, Any], seed: int) -> tuple[Scenario, SessionRecording]:
        session = self.session(settings, seed)
        with suppress(SessionStopped):  # what was recorded counts, and the reason is one of the figures
            session.run()
        return session.scenario, recording_of(session)

    def session(self, settings: Mapping[str, Any], seed: int) -> Session:
        """Ready to run, or to be opened in the studio."""
        scenario, blocks = self.scenario(settings)
        return Session(scenario, seed=seed, kinds=self.kinds(), diagram=self.diagram(scenario, blocks))

    def kinds(self) -> Kinds:
        kinds = builtin()
        for file in self._blocks:
            kinds = load_blocks(file, kinds)
        return kinds

    def scenario(self, settings: Mapping[str, Any]) -> tuple[Scenario, dict[str, Any]]:
        """With these settings; and parameters of blocks, by the name of the block."""
        settings = dict(settings)
        base = self._read(str(settings.pop("scenario", self._name)))
        values = base.model_dump(exclude_unset=True, exclude={"folder"})
        values = with_settings(values, relative_to(self._folder, settings))
        blocks = values.pop("block", {})
        if not isinstance(blocks, Mapping) or not all(isinstance(given, Mapping) for given in blocks.values()):
            raise InputError('"block" is not a parameter; give block.NAME.PARAMETER')
        for name in ("pilot", "fault"):
            values[name] = self._of_others(name, values.get(name, ()))
        values.setdefault("history_s", 0.0)  # nobody rewinds a run of a campaign
        try:
            return Scenario(**values, folder=base.folder), dict(blocks)
        except ValidationError as error:
            raise InputError(f"{self._name}: {first_complaint(error, Scenario, 'scenario')}") from None

    def diagram(self, scenario: Scenario, blocks: Mapping[str, Mapping[str, Any]]) -> Diagram | None:
        """None: the scenario's own, unchanged."""
        if not blocks:
            return None
        values = scenario.read_diagram(scenario.read_vehicle()).model_dump(by_alias=True, exclude_unset=True)
        sheets = [values, *values.get("diagram", ())]
        there = {block["name"]: block for sheet in sheets for block in sheet.get("block", ()) if "kind" in block}
        for name, parameters in blocks.items():
            if name not in there:
                raise InputError(f'key "block.{name}": the diagram has no such block; valid names: {", ".join(there)}')
            there[name]["parameters"] = {**there[name].get("parameters", {}), **parameters}
        return Diagram(**values)

    def files(self, settings: Mapping[str, Any]) -> Iterable[Path]:
        scenario, _ = self.scenario(settings)
        base = str(settings.get("scenario", self._name))
        values = scenario.model_dump(exclude_unset=True, exclude={"folder"})
        named = [base, *(value for value in settings.values() if isinstance(value, str))]
        paths = [path.resolve() for path in self._blocks]
        paths += list(named_files(self._folder, [*named, list(settings.values())]))
        refuse_full_paths(self._read(base).model_dump(exclude_unset=True, exclude={"folder"}), base)
        paths += list(named_files(scenario.folder, values))
        vehicle = scenario.folder / scenario.vehicle
        if vehicle.is_file():
            from strapdown.vehicles.vehicle import read_vehicle

            paths += _of_vehicle(read_vehicle(vehicle), vehicle)
            diagram = None if scenario.diagram is None else vehicle.parent / scenario.diagram
            paths += [diagram] if diagram is not None and diagram.is_file() else []
        for path in list(paths):  # a scenario on another one
            if path.suffix == ".toml":
                from strapdown.io.plain_values import toml_values
                from strapdown.regular_file import whole_bytes

                paths += list(named_files(path.parent, toml_values(whole_bytes(path), path)))
        return outside_package(iter(paths))

    def _read(self, name: str) -> Scenario:
        known = name in (*scenario_names(), *fault_names())
        return read_scenario(name if known else self._folder / name)

    def _of_others(self, table: str, given: Any) -> Any:
        """Pilot scripts and faults by the name of a scenario that has them, or several."""
        if isinstance(given, str):
            given = [given]
        found: list[Any] = []
        for item in given:
            if isinstance(item, str):
                found += [t.model_dump(exclude_unset=True) for t in getattr(self._read(item), table)]
            else:
                found.append(item)
        return found


def _of_vehicle(vehicle: Any, path: Path) -> list[Path]:
    from strapdown.io.plain_values import toml_values
    from strapdown.regular_file import whole_bytes

    if path.suffix != ".toml":
        return [path, *named_files(path.parent, {"file": path.name})]
    return [path, *named_files(path.parent, toml_values(whole_bytes(path), path))]


def figures_of(scenario: Scenario, recorded: SessionRecording) -> dict[str, Any]:
    """The figures of strapdown run, the verdict, and whether the estimates kept what their sigma promises."""
    found = figures(recorded)
    found["verdict"] = None if scenario.expect is None else verdict(found, scenario.expect)
    errors = errors_of(recorded)
    rows = np.isin(recorded.t, errors.t)
    for name, degrees, signal in (("tilt", slice(0, 2), "tilt_sigma"), ("heading", slice(2, 3), "heading_sigma")):
        sigma = recorded.estimated(signal)
        found[f"nees_{name}"] = None
        if sigma is not None and errors.angles is not None and len(errors.angles):
            given = sigma[rows]
            some = given > 0.0
            if some.any():
                squares = np.sum(errors.angles[some, degrees] ** 2, axis=1) / given[some] ** 2
                found[f"nees_{name}"] = float(squares.mean())
    nees = found["nees_tilt"]
    numbers = [value for value in found.values() if isinstance(value, float)]
    far = nees is not None and nees > 2.0 * DIVERGED_SIGMAS**2  # two components
    found["diverged"] = bool(far or not np.isfinite(numbers).all())
    return found

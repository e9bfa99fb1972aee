"""The campaign file (TOML). The models of the tables are the format; docs/campaigns.md explains every key."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from strapdown.campaigns.definition.draws import draw_from, is_draw
from strapdown.campaigns.definition.settings import flattened
from strapdown.campaigns.definition.space import MOST_CELLS, Space, as_text
from strapdown.environment.complaint import first_complaint
from strapdown.environment.table import Name, Number, Positive, Table
from strapdown.errors import InputError
from strapdown.io.plain_values import check_settings_version, toml_values
from strapdown.regular_file import whole_bytes

VERSION = 1
MOST_RUNS = 100_000_000  # of a campaign: one byte of memory each while it runs
BASES = ("scenario", "rig", "path", "recording")
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_RUNS)]
Text = Annotated[str, Field(max_length=2000)]


class SeedsTable(Table):
    """first: seed of the first run. runs: for each cell; with design = "sobol" the base samples, a power of two."""

    first: Annotated[int, Field(strict=True, ge=0, lt=2**31)] = 1
    runs: Count = 1


WITHIN = "within"  # flag: whether the figure of [limit] is at most what it allows


class LimitTable(Table):
    """What is allowed: a run is within it if the figure is at most this. Its flag is called "within"."""

    figure: Name
    at_most: Number


class UntilTable(Table):
    """When a cell has runs enough: when the confidence interval of the mean of a figure is narrow (half_width), or when
    it no longer holds this share (decides), so that more runs would not change the answer. It is decided after every
    block of seeds, in the order of the seeds."""

    figure: Name
    half_width: Positive | None = None
    decides: Annotated[float, Field(strict=True, gt=0.0, lt=1.0)] | None = None
    confidence: Annotated[float, Field(strict=True, gt=0.0, lt=1.0)] = 0.95
    block: Annotated[int, Field(strict=True, ge=2, le=100_000)] = 20

    @model_validator(mode="after")
    def _one(self) -> "UntilTable":
        if (self.half_width is None) == (self.decides is None):
            raise ValueError("needs either half_width or decides, and not both")
        return self


class CampaignFile(Table):
    """A whole campaign file."""

    version: Annotated[int, Field(strict=True)] = VERSION
    title: Text = ""
    comment: Text = ""
    scenario: Name | None = None
    rig: Name | None = None
    path: dict[str, Any] | None = None
    recording: Name | None = None
    reference: Name | None = None  # truth of a recording that has none
    columns: Name | None = None  # mapping of a foreign recording
    blocks: tuple[Name, ...] = ()  # Python files with blocks of the user
    set: dict[str, Any] = Field(default_factory=dict)
    grid: dict[str, Any] = Field(default_factory=dict)
    draw: dict[str, Any] = Field(default_factory=dict)
    design: Literal["random", "sobol"] = "random"
    seeds: SeedsTable = SeedsTable()
    limit: LimitTable | None = None
    until: UntilTable | None = None
    measure: tuple[Name, ...] = ()  # empty: the usual figures of the base

    @model_validator(mode="after")
    def _consistent(self) -> "CampaignFile":
        bases = [name for name in BASES if getattr(self, name) is not None]
        if len(bases) != 1:
            had = " and ".join(bases) if bases else "nothing"
            raise ValueError(f"runs {had}; give exactly one of {', '.join(BASES)}")
        for name in ("reference", "columns"):
            if getattr(self, name) is not None and self.recording is None:
                raise ValueError(f"has a {name}, which belongs to a recording; remove it")
        if self.blocks and self.scenario is None:
            raise ValueError("has blocks, which belong to a scenario; remove them")
        if self.design == "sobol":
            if not self.draw:
                raise ValueError('has design = "sobol" and nothing in [draw]; draw at least one key')
            if self.until is not None:
                raise ValueError('has design = "sobol", whose runs are fixed, and [until]; keep one')
            if self.seeds.runs & (self.seeds.runs - 1) or self.seeds.runs < 2:
                raise ValueError(f'has {self.seeds.runs} base samples; design = "sobol" needs a power of two')
        return self


@dataclass(frozen=True)
class Campaign:
    """A campaign that was read. path: of its file. kind: of its base. fixed: settings of all runs. most: runs of a cell
    at most."""

    path: Path
    file: CampaignFile
    kind: str
    fixed: Mapping[str, Any]
    space: Space

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def most(self) -> int:
        return self.space.rows() if self.space.sobol else self.file.seeds.runs

    @property
    def first(self) -> int:
        return 0 if self.space.sobol else self.file.seeds.first

    @property
    def runs(self) -> int:
        """Of all cells, at most."""
        return self.space.count * self.most

    def identity(self) -> dict[str, Any]:
        """What must not change when a campaign goes on or is extended: all but titles, values of the grid and the
        number of runs. Of a Sobol design the number of runs too."""
        values: dict[str, Any] = self.file.model_dump(mode="json", exclude={"title", "comment", "until", "grid"})
        values["grid"] = sorted(self.space.grid)
        if not self.space.sobol:
            values["seeds"] = {"first": self.file.seeds.first}
        return values


def read_campaign(path: str | os.PathLike[str]) -> Campaign:
    """The campaign in a TOML file; any defect is one sentence that names the file and the field."""
    values = toml_values(whole_bytes(path, "campaign file"), path, "a campaign has tables and plain values")
    return campaign_from(values, path)


def campaign_from(values: Mapping[str, Any], path: str | os.PathLike[str]) -> Campaign:
    """The campaign in plain values; `path` is where they came from, for messages and relative paths."""
    check_settings_version(values.get("version"), VERSION, path)
    try:
        file = CampaignFile(**values)
    except ValidationError as error:
        raise InputError(f"{path}: {first_complaint(error, CampaignFile, 'campaign')}") from None
    try:
        return _checked(file, Path(path))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _is_linked(value: Any) -> bool:
    """A value of the grid with further settings: { value = "MPU-6050", with = { "sensor.imu.rate_hz" = 200.0 } }."""
    return isinstance(value, Mapping) and set(value) == {"value", "with"} and isinstance(value["with"], Mapping)


def _checked(file: CampaignFile, path: Path) -> Campaign:
    fixed = flattened(file.set, lambda value: False)
    grid: dict[str, tuple[Any, ...]] = {}
    linked: dict[str, dict[str, Any]] = {}
    for key, values in flattened(file.grid, lambda value: False).items():
        if not isinstance(values, list) or not values:
            raise InputError(f'grid "{key}" is {str(values)[:60]}; give a list with at least one value')
        plain = [value["value"] if _is_linked(value) else value for value in values]
        texts = [json.dumps(value, sort_keys=True, default=str) for value in plain]
        again = next((value for i, value in enumerate(plain) if texts[i] in texts[:i]), None)
        if again is not None:
            raise InputError(f'grid "{key}" has {str(again)[:60]} twice; keep one')
        grid[key] = tuple(plain)
        linked[key] = {
            as_text(value["value"]): flattened(value["with"], lambda v: False) for value in values if _is_linked(value)
        }
    draws = {key: draw_from(key, value) for key, value in flattened(file.draw, is_draw).items()}
    for name, keys in (("draw", draws), ("set", fixed)):
        both = [key for key in keys if key in grid]
        if both:
            raise InputError(f'key "{both[0]}" is in both [grid] and [{name}]; keep one')
    both = [key for key in draws if key in fixed]
    if both:
        raise InputError(f'key "{both[0]}" is in both [draw] and [set]; keep one')
    space = Space(grid, draws, file.seeds.runs if file.design == "sobol" else 0, linked)
    if space.count > MOST_CELLS:
        raise InputError(
            f"the grid has {space.count:.3g} combinations, at most {MOST_CELLS:.0e} are possible; give fewer values, "
            "or move keys to [draw]"
        )
    kind = next(name for name in BASES if getattr(file, name) is not None)
    campaign = Campaign(path, file, kind, fixed, space)
    if campaign.runs > MOST_RUNS:
        raise InputError(
            f"the campaign has {campaign.runs:.3g} runs, at most {MOST_RUNS:.0e} are possible; give fewer values or "
            "fewer seeds"
        )
    return campaign

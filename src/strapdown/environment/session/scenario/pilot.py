"""The pilot: actions of the operator by time, from a script or from the console of a recorded session."""

from collections.abc import Sequence
from typing import Any

from pydantic import ConfigDict, model_validator

from strapdown.environment.session.console import console_values
from strapdown.environment.table import NotNegative, Number, Table
from strapdown.errors import InputError


class PilotTable(Table):
    """One line of a pilot script: a time, and the controls that change then. The others stay."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    at_s: NotNegative
    power: bool | None = None
    calibrate: bool | None = None
    arm: bool | None = None
    mode: str | None = None
    roll: Number | None = None
    pitch: Number | None = None
    yaw: Number | None = None
    throttle: Number | None = None
    drive: Number | None = None
    turn: Number | None = None
    sliders: dict[str, Number] | None = None

    @model_validator(mode="after")
    def _valid(self) -> "PilotTable":
        try:
            self.changes()
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    def changes(self) -> dict[str, Any]:
        """Values of the console."""
        given = self.model_dump(exclude={"at_s"}, exclude_none=True)
        if not given:
            raise InputError("changes nothing; name a control, for example power = true")
        return console_values(given)


def check_order(pilot: Sequence[PilotTable]) -> None:
    """Times go forward; ValueError names the first line that does not."""
    for i in range(1, len(pilot)):
        if pilot[i].at_s < pilot[i - 1].at_s:
            raise ValueError(
                f"pilot line {i + 1} is at {pilot[i].at_s:g} s, before line {i} at {pilot[i - 1].at_s:g} s; "
                "put the lines in order of time"
            )

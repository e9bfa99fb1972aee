"""Base of all commands of a page, and the limits of their fields."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

SPEEDS = (0.05, 10.0)

Number = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]
Label = Annotated[str, Field(min_length=1, max_length=100)]
Stick = Annotated[float, Field(ge=-1.0, le=1.0, allow_inf_nan=False)]


class Command(BaseModel):
    """Base of all commands.

    id: chosen by the page; 0: no answer is needed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: Annotated[int, Field(ge=0, le=2**31)] = 0

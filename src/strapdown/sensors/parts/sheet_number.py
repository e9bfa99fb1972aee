"""One number of a data sheet, with its provenance: unit, kind, status, source and page."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

FAR = 1e12  # in any unit: more is a typing error
Figure = Annotated[float, Field(strict=True, ge=-FAR, le=FAR, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=400)]
Status = Literal["verified", "unverified", "estimated"]


class Table(BaseModel):
    """A table of a part file: no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Number(Table):
    """One printed number (value), or several (values: per axis x, y, z; per range; or from - to), with its provenance.

    kind: typ; max; or bound, a tolerance printed with ±.
    status: verified in the source, unverified (from memory), or estimated by us, then with a note that states how.
        There is one status for all values, or one for each.
    over_c: the value is the whole change over these temperatures.
    signed: a tolerance whose sign is known.
    """

    value: Figure | None = None
    values: Annotated[tuple[Figure, ...], Field(min_length=1, max_length=32)] | None = None
    unit: Text
    kind: Literal["typ", "max", "bound"]
    status: Status | tuple[Status, ...]
    source: Text
    page: Text | None = None
    note: Text | None = None
    over_c: tuple[Figure, Figure] | None = None
    signed: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _complete(self) -> "Number":
        if (self.value is None) == (self.values is None):
            raise ValueError("needs either value or values, and not both")
        if isinstance(self.status, tuple) and len(self.status) != len(self.all()):
            raise ValueError(f"has {len(self.status)} statuses for {len(self.all())} values; give one, or one for each")
        if "estimated" in self.statuses() and self.note is None:
            raise ValueError("is estimated and has no note; add a note that states how")
        if "verified" in self.statuses() and self.source == "memory":
            raise ValueError('is verified from memory; name the data sheet, or set status = "unverified"')
        if self.over_c is not None and not self.over_c[0] < 25.0 < self.over_c[1]:
            raise ValueError(f"has over_c = {list(self.over_c)}; give two temperatures around 25 degC, lower first")
        if self.kind == "bound" and min(self.all()) < 0.0:
            raise ValueError("is a bound below 0; give its size")
        return self

    def all(self) -> tuple[float, ...]:
        if self.values is not None:
            return self.values
        assert self.value is not None  # _complete has seen to it
        return (self.value,)

    @property
    def estimated(self) -> bool:
        """True unless every value was verified in its source."""
        return any(status != "verified" for status in self.statuses())

    def statuses(self) -> tuple[str, ...]:
        """The status of each value."""
        return self.status if isinstance(self.status, tuple) else (self.status,) * len(self.all())

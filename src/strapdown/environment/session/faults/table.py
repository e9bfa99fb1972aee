"""Common part of all faults: a name, a kind, a time."""

from pydantic import model_validator

from strapdown.environment.table import Name, NotNegative, Table


class Fault(Table):
    """A fault that begins at at_s and ends at until_s; None: it does not end.

    name: name for switching it off, and for its random numbers.
    """

    kind: str
    name: Name | None = None
    at_s: NotNegative = 0.0
    until_s: NotNegative | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Fault":
        if self.until_s is not None and self.until_s <= self.at_s:
            raise ValueError(f"ends at until_s = {self.until_s:g}, not after at_s = {self.at_s:g}")
        return self

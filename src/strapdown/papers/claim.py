"""A claim is data: what is measured, what was published, what we get, what is allowed, and where it comes from."""

import math
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Claim:
    """One number that can be checked.

    id: stable, slashes from the general to the special. published: the number of the source, None where it has none.
    relation: how `ours` stands to `tolerance`: "<=" for an error that may be so large at most, ">=" for
    a factor that must be reached, "~" where ours may differ from the published number by the tolerance.
    """

    id: str
    what: str
    published: float | None
    ours: float
    tolerance: float
    source: str
    relation: Literal["<=", ">=", "~"] = "<="

    @property
    def holds(self) -> bool:
        """False also where ours is not a number."""
        if self.relation == "~":
            return self.published is not None and bool(abs(self.ours - self.published) <= self.tolerance)
        return bool(self.ours <= self.tolerance if self.relation == "<=" else self.ours >= self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which knows no NaN."""
        return {
            "id": self.id,
            "what": self.what,
            "published": self.published,
            "ours": self.ours if math.isfinite(self.ours) else None,
            "relation": self.relation,
            "tolerance": self.tolerance,
            "holds": self.holds,
            "source": self.source,
        }

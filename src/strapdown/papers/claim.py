"""A claim is data: the quantity, the published value, ours, the limit, and the source."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["reproduces", "beats", "requirement", "self-check"]
KINDS: dict[Kind, str] = {
    "reproduces": "a published value, met within the tolerance",
    "beats": "better than a published value, or than a published method measured in the same run",
    "requirement": "a limit that we ask of ourselves",
    "self-check": "agreement with theory, with a formula or with chance",
}


@dataclass(frozen=True)
class Claim:
    """One number that can be checked.

    id: stable, slashes from the general to the special.
    kind: what it proves (KINDS).
    published: the number of the source, None where it has none; requirements and self-checks never have one.
    relation: how `ours` compares with `tolerance`. "<=" is for an error, ">=" for a factor that must be reached. "~":
        ours may differ from the published number by the tolerance. "factor": ours may be this many times larger or
        smaller.
    """

    id: str
    what: str
    published: float | None
    ours: float
    tolerance: float
    source: str
    relation: Literal["<=", ">=", "~", "factor"] = "<="
    kind: Kind = field(kw_only=True)

    def __post_init__(self) -> None:
        """A claim that contradicts its kind is an internal error."""
        compared = self.relation in ("~", "factor")
        if self.kind not in get_args(Kind) or compared != (self.kind == "reproduces"):
            raise ValueError(f"claim {self.id}: the kind {self.kind} does not go with the relation {self.relation}")
        if (compared and self.published is None) or (self.kind in _OF_OURSELVES and self.published is not None):
            raise ValueError(f"claim {self.id}: the kind {self.kind} does not go with published = {self.published}")
        if self.kind == "beats" and self.published is not None:
            better = self.tolerance <= self.published if self.relation == "<=" else self.tolerance >= self.published
            if not better:
                raise ValueError(f"claim {self.id}: {self.tolerance} is no better than the published {self.published}")

    @property
    def holds(self) -> bool:
        """False also where ours is not a number."""
        if self.relation == "<=" or self.relation == ">=":
            return bool(self.ours <= self.tolerance if self.relation == "<=" else self.ours >= self.tolerance)
        assert self.published is not None
        if self.relation == "~":
            return bool(abs(self.ours - self.published) <= self.tolerance)
        return bool(self.published / self.tolerance <= self.ours <= self.published * self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which has no NaN."""
        return {
            "id": self.id,
            "kind": self.kind,
            "what": self.what,
            "published": self.published,
            "ours": self.ours if math.isfinite(self.ours) else None,
            "relation": self.relation,
            "tolerance": self.tolerance,
            "holds": self.holds,
            "source": self.source,
        }


_OF_OURSELVES = ("requirement", "self-check")


def by_kind(claims: Sequence[Claim]) -> dict[Kind, list[Claim]]:
    """The claims of each kind that occurs, in the order of KINDS."""
    found = {kind: [claim for claim in claims if claim.kind == kind] for kind in KINDS}
    return {kind: some for kind, some in found.items() if some}


def counts(claims: Sequence[Claim]) -> dict[Kind, tuple[int, int]]:
    """Number of claims of each kind that hold, and number of all."""
    return {kind: (sum(claim.holds for claim in some), len(some)) for kind, some in by_kind(claims).items()}

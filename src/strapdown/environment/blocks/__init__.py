"""The blocks of the package, one file for each group. KINDS has them by name."""

from strapdown.environment.blocks import (
    arithmetic,
    attitude,
    filters,
    integrator,
    limits,
    logic,
    pid,
    sources,
    vectors,
    watching,
)
from strapdown.environment.diagram.kinds import kinds_of

MODULES = (sources, arithmetic, vectors, attitude, limits, logic, integrator, filters, pid, watching)
KINDS = kinds_of(MODULES)

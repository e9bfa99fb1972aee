#!/usr/bin/env python3
"""Paper A's experiments in MuJoCo, PyBullet, Drake and CoppeliaSim, in one table with stated tolerances.

CoppeliaSim is the stand-in of the tests (tests/coppeliasim_server.py), whose scene MuJoCo simulates, unless a server is
named. Exit code 1 if a claim does not hold.

Usage: python tools/engine_checks.py [HOST:PORT]
"""

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from coppeliasim_server import StandIn
from strapdown.cli import screen
from strapdown.cli.reproduce.command import show_claims
from strapdown.engines.catalogue import COPPELIASIM, ENGINES
from strapdown.papers.a.engine_claims import claims_of, tables_of
from strapdown.papers.a.engines import EngineRun, run_in

NAMES = ("a-a", "a-b", "a-c", "a-d", "a-e")


def main(arguments: list[str]) -> int:
    runs = []
    for engine in ENGINES:
        if engine == COPPELIASIM:
            with nullcontext(SimpleNamespace(address=arguments[0])) if arguments else StandIn() as server:
                runs.append(_in_coppeliasim(server.address))
        else:
            runs.append(run_in(engine, NAMES))
        print(f"{engine}: done", flush=True)
    claims = [claim for run in runs for claim in claims_of(run)]
    for table in tables_of(runs):
        screen.show_table(table.title, table.columns, table.rows, left=table.left, keys=table.left)
    show_claims(claims)
    where = f"the server at {arguments[0]}" if arguments else "the stand-in of the tests, whose scene MuJoCo simulates"
    print(f"coppeliasim: {where}; A-a at 50 and 10 ms")
    return 0 if all(claim.holds for claim in claims) else 1


def _in_coppeliasim(address: str) -> EngineRun:
    """A-a lasts 50 s: at 1 ms its calls alone would take minutes."""
    arm = run_in(COPPELIASIM, ("a-a",), (50, 10), server=address)
    others = run_in(COPPELIASIM, NAMES[1:], server=address)
    return EngineRun(COPPELIASIM, arm.rows + others.rows, others.run_ups, {})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The order of the blocks in a cycle, and algebraic loops."""

import heapq
from collections.abc import Sequence

from strapdown.environment.diagram.checking.flatten import Node
from strapdown.environment.diagram.problem import Problem


def delays(node: Node) -> bool:
    """Whether its outputs depend on its state only."""
    return callable(getattr(node.block, "output", None))


def order_of(nodes: Sequence[Node]) -> tuple[list[int], list[Problem]]:
    """Every node after those whose outputs it needs in the same cycle. Of several possible ones, the first in the file
    is taken. Loops are problems, and their blocks come last.
    """
    needs: list[set[int]] = []
    for node in nodes:
        sources = {source.node for source in node.sources.values()}
        needs.append(set() if delays(node) else {i for i in sources if not delays(nodes[i])})
    needed_by: list[list[int]] = [[] for _ in nodes]
    for i, before in enumerate(needs):
        for j in before:
            needed_by[j].append(i)

    missing = [len(before) for before in needs]
    free = [i for i, n in enumerate(missing) if n == 0]
    order: list[int] = []
    while free:
        i = heapq.heappop(free)
        order.append(i)
        for j in needed_by[i]:
            missing[j] -= 1
            if missing[j] == 0:
                heapq.heappush(free, j)
    rest = [i for i, n in enumerate(missing) if n > 0]
    return [*order, *rest], _loops(nodes, needs, set(rest))


def _loops(nodes: Sequence[Node], needs: Sequence[set[int]], rest: set[int]) -> list[Problem]:
    """One loop of each group of blocks that need each other: follow needs backward until a block repeats."""
    problems = []
    left = set(rest)
    while left:
        path, at = [min(left)], {min(left): 0}
        while True:
            following = sorted(needs[path[-1]] & left)
            if not following:  # leads only to blocks of loops that were reported
                left.discard(path[-1])
                break
            if following[0] in at:
                loop = path[at[following[0]] :][::-1]
                problems.append(_loop_problem([nodes[k].path for k in loop]))
                left -= set(loop)
                break
            at[following[0]] = len(path)
            path.append(following[0])
    return problems


def _loop_problem(names: list[str]) -> Problem:
    shown = names if len(names) <= 12 else [*names[:6], "...", *names[-5:]]
    chain = " -> ".join(f'"{name}"' if name != "..." else name for name in [*shown, names[0]])
    message = f"algebraic loop {chain}: each needs the one before in the same cycle; put a unit_delay into the loop"
    return Problem("loop", names[0], f'block "{names[0]}"', message)

"""Paper C's tables: at every stop the error dx, dy, dr of the position, the path length L so far, and e = dr / L.

The error is estimate minus reference in frame n (x east, y north), dr its horizontal length. A reference stop with
times is compared with the estimate at the end of that stop. A stop without times is matched by order: the k-th stop of
the reference with the k-th stop that the filter believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import locked
from strapdown.errors import InputError
from strapdown.motion.paths.stop_and_go import Stops
from strapdown.summaries import html_table
from strapdown.types import Array, Motion, Solution

FLICKER_S = 0.25  # a flag that is off for less than this does not end a stand


@dataclass(frozen=True)
class StopRow:
    """One stop.

    t_s: time at which the estimate was read.
    p_n, true_p_n: positions by the filter and by the reference (m).

    sigma_m: the filter's own standard deviation of the horizontal position, None where it states none.
    percent: dr / L in %, None at the start, where L is 0.
    """

    number: int
    t_s: float
    p_n: tuple[float, float, float]
    true_p_n: tuple[float, float, float]
    path_length_m: float
    sigma_m: float | None

    @property
    def dx_m(self) -> float:
        return self.p_n[0] - self.true_p_n[0]

    @property
    def dy_m(self) -> float:
        return self.p_n[1] - self.true_p_n[1]

    @property
    def dr_m(self) -> float:
        return float(np.hypot(self.dx_m, self.dy_m))

    @property
    def percent(self) -> float | None:
        return 100.0 * self.dr_m / self.path_length_m if self.path_length_m > 0.0 else None


@dataclass(frozen=True)
class StopTable:
    """The stops of one run, in order."""

    rows: tuple[StopRow, ...]

    @property
    def final(self) -> StopRow:
        return self.rows[-1]

    @property
    def worst(self) -> StopRow:
        """The stop of the largest dr / L; the last one if no stop is away from the start."""
        away = [row for row in self.rows if row.percent is not None]
        return max(away, key=lambda row: row.percent or 0.0, default=self.final)

    def cells(self) -> list[list[str]]:
        """Head and rows as printed: lengths to 0.1 mm, e to 0.01 %."""
        head = ["stop", "t, s", "L, m", "x, m", "y, m", "dx, m", "dy, m", "dr, m", "e, %"]
        return [head, *(_printed(row) for row in self.rows)]

    def text(self) -> str:
        """Text for a screen, in aligned columns."""
        cells = self.cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        head, *rows = self.cells()
        return html_table(rows, head)

    def markdown(self) -> str:
        head, *rows = self.cells()
        lines = [head, ["---:"] * len(head), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _printed(row: StopRow) -> list[str]:
    lengths = (row.path_length_m, *row.p_n[:2], row.dx_m, row.dy_m, row.dr_m)
    percent = "" if row.percent is None else f"{row.percent:.2f}"
    return [str(row.number), f"{row.t_s:.2f}", *(f"{round(x, 4) + 0.0:.4f}" for x in lengths), percent]  # no -0.0000


@dataclass(frozen=True, eq=False)
class StopPlaces:
    """Reference stops that are known by place and order alone, such as marks on a floor.

    p_n: (m, 3), m.
    path_length_m: distance from the start to each stop along the driven path.
    """

    p_n: Array
    path_length_m: Array

    def __post_init__(self) -> None:
        m = len(np.atleast_1d(self.path_length_m))
        length = locked(self.path_length_m, (m,), "path_length_m")
        if m == 0 or length[0] < 0.0 or (np.diff(length) < 0.0).any():
            raise InputError("path_length_m of the reference stops falls or is negative; sort the stops along the way")
        object.__setattr__(self, "p_n", locked(self.p_n, (m, 3), "p_n of the reference stops"))
        object.__setattr__(self, "path_length_m", length)

    def __len__(self) -> int:
        return len(self.path_length_m)


def stop_places(p_m: ArrayLike, path_length_m: ArrayLike | None = None, start_m: ArrayLike = (0, 0, 0)) -> StopPlaces:
    """Places from rows (x, y) or (x, y, z), m, frame n; without path_length_m the path is straight from stop to
    stop.
    """
    p = np.array(p_m, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] not in (2, 3) or len(p) == 0:
        raise InputError(f"the reference stops have shape {p.shape}; give rows (x, y) or (x, y, z) in m")
    start = np.zeros(3)
    given = np.atleast_1d(np.asarray(start_m, dtype=np.float64))
    start[: len(given)] = given
    p_n = np.column_stack([p, np.full(len(p), start[2])]) if p.shape[1] == 2 else p
    if path_length_m is None:
        path_length_m = np.cumsum(np.linalg.norm(np.diff(p_n, axis=0, prepend=start[None]), axis=1))
    return StopPlaces(p_n, np.asarray(path_length_m, dtype=np.float64))


def stands(t: Array, standing: NDArray[np.bool_], flicker_s: float = FLICKER_S) -> list[tuple[int, int]]:
    """First and last sample of every stop of a flag. An interruption of less than flicker_s does not end a stop."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], standing, [False]]).astype(np.int8)))
    found: list[tuple[int, int]] = []
    for first, behind in edges.reshape(-1, 2):
        if found and t[first] - t[found[-1][1]] < flicker_s:
            found[-1] = (found[-1][0], int(behind) - 1)
        else:
            found.append((int(first), int(behind) - 1))
    return found


def stops_of_motion(truth: Motion, stop: NDArray[np.bool_]) -> Stops:
    """The stops of a controller's flag as reference stops: place and path length from the truth at their ends."""
    found = stands(truth.t, np.asarray(stop, dtype=bool))
    if not found:
        raise InputError("the stop flag is never given, so there are no stops to compare at; compare the paths instead")
    first, last = np.array(found).T
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(truth.p_n, axis=0), axis=1))])
    next_t = np.append(truth.t[1:], np.nextafter(truth.t[-1], np.inf))  # a stand ends just before its end_s
    return Stops(truth.t[first], next_t[last], truth.p_n[last], length[last])


def stop_table(solution: Solution, reference: Stops | StopPlaces) -> StopTable:
    """The errors at the reference's stops. The reference is of the same point of the body as the solution."""
    p_n = positions(solution)
    rows = _rows_at_times(solution, reference) if isinstance(reference, Stops) else _rows_by_order(solution, reference)
    sigma = solution.sigma.get("p_n")
    return StopTable(
        tuple(
            StopRow(
                number=k,
                t_s=float(solution.t[i]),
                p_n=_triple(p_n[i]),
                true_p_n=_triple(reference.p_n[k]),
                path_length_m=float(reference.path_length_m[k]),
                sigma_m=None if sigma is None else float(np.hypot(sigma[i, 0], sigma[i, 1])),
            )
            for k, i in enumerate(rows)
        )
    )


def positions(solution: Solution) -> Array:
    if solution.p_n is None:
        raise InputError("the solution has no positions, only attitudes; use a navigation filter (eskf, ekf15)")
    return solution.p_n


def believed_stands(solution: Solution) -> list[tuple[int, int]]:
    """First and last sample of each stop that the filter believed."""
    flag = solution.flags.get("stop_believed")
    return [] if flag is None else stands(solution.t, flag)


def _rows_at_times(solution: Solution, reference: Stops) -> list[int]:
    """The last sample of every stop; at end_s itself the vehicle starts to move."""
    rows = np.searchsorted(solution.t, reference.end_s, side="left") - 1
    missed = np.flatnonzero((rows < 0) | (solution.t[np.maximum(rows, 0)] < reference.start_s))
    if len(missed):
        k = int(missed[0])
        raise InputError(
            f"the solution, {solution.t[0]:.6g} to {solution.t[-1]:.6g} s, has no sample in the reference's stop {k} "
            f"({reference.start_s[k]:.6g} to {reference.end_s[k]:.6g} s), {len(missed)} of {len(reference)} stops; "
            "check that both use the same clock"
        )
    return [int(i) for i in rows]


def _rows_by_order(solution: Solution, reference: StopPlaces) -> list[int]:
    found = believed_stands(solution)
    if not found:
        raise InputError(
            "the solution has no believed stop (flag stop_believed) to match with the reference stops by order; "
            "give the reference stops with their times"
        )
    ends = _places_apart(positions(solution), [last for _, last in found], reference)
    if reference.path_length_m[0] > 0.0 and len(ends) == len(reference) + 1:
        ends = ends[1:]  # the stand before the run, which the reference does not list
    if len(ends) != len(reference):
        raise InputError(
            f"the solution believed {len(ends)} stops and the reference lists {len(reference)}, so they cannot be "
            "matched by order; give the reference stops with their times, or the list of the stops really made"
        )
    return ends


def _places_apart(p_n: Array, ends: Sequence[int], reference: StopPlaces) -> list[int]:
    """One stop for each place: before and after a turn on the spot the vehicle stops twice at the same place."""
    spacings = np.diff(reference.path_length_m)
    near_m = spacings[spacings > 0.0].min() / 3.0 if (spacings > 0.0).any() else 0.0
    kept: list[int] = []
    for i in ends:
        if kept and np.linalg.norm(p_n[i, :2] - p_n[kept[-1], :2]) < near_m:
            kept[-1] = i
        else:
            kept.append(i)
    return kept


def _triple(p: Array) -> tuple[float, float, float]:
    return float(p[0]), float(p[1]), float(p[2])

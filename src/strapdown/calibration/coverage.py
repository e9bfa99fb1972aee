"""How much of the sphere of directions a log has visited, which part is missing, and what to do about it.

Directions are expressed in frame s. The sphere is cut into 64 cells of equal area, nearly square, in six bands of z.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.types import Array

BAND_EDGES = np.array([-1.0, -0.875, -0.5, 0.0, 0.5, 0.875, 1.0])  # of z
BAND_CELLS = np.array([4, 12, 16, 16, 12, 4])  # as the heights of the bands: equal areas
CELLS = int(BAND_CELLS.sum())
_FIRST = np.concatenate([[0], np.cumsum(BAND_CELLS)])
_SURE = 3  # readings that make a cell visited; one may be a gross error
_STEADY = 0.97  # mean length of the directions of up: above it they lie within about 15 deg
_LEAST_UT = 10.0  # half of the weakest field on Earth
_NEVER_BELOW = -0.35  # up along an axis was never less: that axis never pointed 20 deg below the horizon

BAND_EDGES.flags.writeable = BAND_CELLS.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which directions of the sphere the readings have visited.

    share: visited cells of all, 0 to 1.
    counts (64,): readings by cell.
    gap_rad: radius of the largest empty cap, from its centre gap_s (unit vector, frame s) to the nearest visited cell's
        centre; 0 if none is empty.
    """

    share: float
    counts: NDArray[np.int64]
    gap_rad: float
    gap_s: Array


def cells_of(direction_s: Array) -> NDArray[np.int64]:
    """The cell (0 to 63) of each unit vector (n, 3)."""
    band = np.clip(np.searchsorted(BAND_EDGES, direction_s[:, 2], side="right") - 1, 0, len(BAND_CELLS) - 1)
    around = np.arctan2(direction_s[:, 1], direction_s[:, 0]) / (2.0 * np.pi) % 1.0
    column = np.minimum((around * BAND_CELLS[band]).astype(np.int64), BAND_CELLS[band] - 1)
    return np.asarray(_FIRST[band] + column, dtype=np.int64)


def cell_edges() -> Array:
    """Edges of the cells (64, 4): angle about z from and to (rad, 0 to 2 pi), z from and to."""
    rows = [
        (2.0 * np.pi * k / count, 2.0 * np.pi * (k + 1) / count, BAND_EDGES[b], BAND_EDGES[b + 1])
        for b, count in enumerate(BAND_CELLS)
        for k in range(count)
    ]
    return np.array(rows)


def cell_centres() -> Array:
    """(64, 3) unit vectors."""
    edges = cell_edges()
    around, z = edges[:, :2].mean(axis=1), edges[:, 2:].mean(axis=1)
    flat = np.sqrt(1.0 - z * z)
    return np.stack([flat * np.cos(around), flat * np.sin(around), z], axis=1)


def field_directions(field_s: Array) -> Array:
    """Unit vectors (m, 3) of a magnetometer's readings (n, 3; uT) about the middle of their range, which hard iron
    shifts.
    Readings near the middle are dropped, because noise determines their direction."""
    centred = field_s - 0.5 * (field_s.min(axis=0) + field_s.max(axis=0))
    length = np.linalg.norm(centred, axis=1)
    far = length > _LEAST_UT
    return np.asarray(centred[far] / length[far, None], dtype=np.float64)


def coverage(direction_s: Array) -> Coverage:
    """Coverage of the sphere by unit vectors (n, 3)."""
    counts = np.bincount(cells_of(direction_s), minlength=CELLS)
    seen = counts >= min(_SURE, max(1, len(direction_s) // CELLS))
    centres = cell_centres()
    if seen.all() or not seen.any():
        return Coverage(float(seen.mean()), counts, 0.0 if seen.all() else np.pi, centres[0])
    nearest = np.max(centres @ centres[seen].T, axis=1)
    worst = int(np.argmin(nearest))
    return Coverage(float(seen.mean()), counts, float(np.arccos(np.clip(nearest[worst], -1.0, 1.0))), centres[worst])


def axis_word(direction_s: Array) -> str:
    """ "+z", or "+x and -z" for a direction between axes."""
    size = np.abs(direction_s)
    named = [f"{'+' if direction_s[i] > 0.0 else '-'}{'xyz'[i]}" for i in np.argsort(-size) if size[i] > 0.5]
    return " and ".join(named)


def missing_words(found: Coverage, up_s: Array | None) -> list[str]:
    """Sentences on directions that the log does not contain.

    up_s (n, 3): unit vectors of an accelerometer, where the log has one.
    """
    said = []
    if up_s is not None:
        mean = up_s.mean(axis=0)
        if np.linalg.norm(mean) > _STEADY:
            said.append(
                f"only turned about the vertical: {axis_word(mean / np.linalg.norm(mean))} stayed up all the time; "
                "tilt it to all sides"
            )
        else:
            lowest = np.concatenate([up_s.min(axis=0), -up_s.max(axis=0)])
            axes = [f"{'+' if i < 3 else '-'}{'xyz'[i % 3]}" for i in np.flatnonzero(lowest > _NEVER_BELOW)]
            if axes:
                said.append(f"never turned upside down: {', '.join(axes)} never pointed down; turn it over")
    if found.gap_rad > np.radians(40.0):
        said.append(
            f"the field never pointed along {axis_word(found.gap_s)} of the sensor: "
            f"a cap of {np.degrees(found.gap_rad):.0f} deg around it is empty"
        )
    return said

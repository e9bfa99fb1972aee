"""Accelerations of a vehicle with servos, as means over the physics steps.

The force of a stiff servo jumps with each new command and decays within a few steps. An acceleration read at the end of
a step misses the jump, and its sum is not the change of velocity. At 1 ms the rover's would be 16 % too small. The mean
over the step is what has changed the velocity.
"""

from strapdown.arrays import Array
from strapdown.live import PLANT_COLUMNS

_Q, _V, _A, _W = (PLANT_COLUMNS[name] for name in ("q_ns", "v_n", "a_n", "w_s"))  # dw_s and f_s come last


class StepMeans:
    """Replaces accelerations by their means over each step.

    g: gravity, m/s2.
    """

    def __init__(self, step_s: float, g: float) -> None:
        self._per_s, self._g = 1.0 / step_s, g

    def begin(self, rows: Array) -> None:
        """Start from the present state of the plant.

        rows: rows of the plant now, (mounts, 22).
        """
        self._before = [(row[_V].tolist(), row[_W].tolist()) for row in rows]

    def put(self, rows: Array) -> None:
        """Replace the accelerations of the next steps by their means.

        rows: rows of the next steps, (steps, mounts, 22); changed in place.
        """
        per_s, g = self._per_s, self._g
        for step in rows:
            for j, row in enumerate(step):
                values = row.tolist()
                (ux, uy, uz), (px, py, pz) = self._before[j]
                w, x, y, z = values[_Q]
                v, rate = values[_V], values[_W]
                ax, ay, az = (v[0] - ux) * per_s, (v[1] - uy) * per_s, (v[2] - uz) * per_s
                self._before[j] = v, rate
                # specific force in frame s: the conjugate of q turns a - g
                fx, fy, fz = ax, ay, az + g
                tx, ty, tz = 2.0 * (z * fy - y * fz), 2.0 * (x * fz - z * fx), 2.0 * (y * fx - x * fy)
                row[_A.start :] = (
                    *(ax, ay, az, *rate),
                    *((rate[0] - px) * per_s, (rate[1] - py) * per_s, (rate[2] - pz) * per_s),
                    fx + w * tx - (y * tz - z * ty),
                    fy + w * ty - (z * tx - x * tz),
                    fz + w * tz - (x * ty - y * tx),
                )

"""A virtual turntable: a copy of a sensor rests and turns on it, and its readings are logged."""

from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.kernels.sensors.module import ANY_CLIPPED, CELSIUS, NEW_MAG, READINGS, T
from strapdown.live import Ideal
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate
from strapdown.sensors.module_reader import FIELDS
from strapdown.types import Motion, Recording

RATE_HZ = 100.0
FASTEST_RAD_S = 2.0  # mean rate of a turn
_SHORTEST_S = 0.2


class Turntable:
    """The sensor of a session with its errors, away from the vehicle. Iron of the vehicle stays next to the sensor."""

    def __init__(self, sensor: ModuleSensor, gravity: float, field_n: Array, iron: tuple[Array, Array]) -> None:
        self.sensor, self.gravity, self.field_n, self.iron = sensor.name, gravity, field_n, iron
        self.module = sensor.module
        self.rate_hz = min(RATE_HZ, float(sensor.rate_hz or RATE_HZ))
        self._every = self.module.inner_factor(self.rate_hz)
        self._fine_s = 1.0 / (self.rate_hz * self._every)
        self._reader = self.module.reader(self.rate_hz, self._fine_s)
        self._state = self._reader.start()
        self._rows: list[Array] = []  # of the module's log
        self._truth: list[Array] = []  # q, w, dw at each row of the log
        self._count = 0  # fine steps
        self.q = np.array([1.0, 0.0, 0.0, 0.0])
        self._read(self.q[None, :], np.zeros((1, 3)), np.zeros((1, 3)))

    @property
    def duration_s(self) -> float:
        return self._fine_s * (self._count - 1)

    def rest(self, duration_s: float) -> None:
        n = self._steps(duration_s)
        self._read(np.repeat(self.q[None, :], n, axis=0), np.zeros((n, 3)), np.zeros((n, 3)))

    def turn_to(self, q_nb: Array) -> None:
        """A turn about a fixed axis; rate and acceleration are 0 at both ends."""
        phi = q_log(q_mul(q_conj(self.q), q_nb))
        angle = float(np.linalg.norm(phi))
        if angle < 1e-6:
            return
        n = self._steps(max(angle / FASTEST_RAD_S, _SHORTEST_S))
        u = np.arange(1, n + 1) / n
        share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
        speed = 30.0 * u**2 * (1.0 - u) ** 2 / (n * self._fine_s)
        change = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (n * self._fine_s) ** 2
        self._read(q_mul(self.q, q_exp(share[:, None] * phi)), speed[:, None] * phi, change[:, None] * phi)
        self.q = np.array(q_nb)

    def _steps(self, duration_s: float) -> int:
        """Fine steps; whole steps of the log."""
        return max(1, round(duration_s * self.rate_hz)) * self._every

    def _read(self, q: Array, w: Array, dw: Array) -> None:
        """The readings of the next fine steps."""
        n = len(q)
        t = np.asarray((self._count + np.arange(n)) * self._fine_s, dtype=np.float64)
        self._count += n
        hard, soft = self.iron
        force = q_rotate(q_conj(q), np.array([0.0, 0.0, self.gravity]))
        field = q_rotate(q_conj(q), self.field_n) @ soft.T + hard
        self._state, log, _ = self._reader.read_log(
            self._state, Ideal(t, np.array(w), force, np.asarray(field, dtype=np.float64), None)
        )
        self._rows.append(np.array(log))
        at = slice(None) if n == 1 else slice(self._every - 1, None, self._every)  # n is 1 at the start only
        self._truth.append(np.concatenate([q, w, dw], axis=1)[at])

    def log(self) -> Recording:
        """All readings, with the truth."""
        rows, true = np.concatenate(self._rows), np.concatenate(self._truth)
        t = rows[:, T]
        if len(rows) != len(true):  # the part loses samples
            true = true[np.clip(np.round(t * self.rate_hz).astype(np.int64), 0, len(true) - 1)]
        columns: dict[str, Any] = {
            field: rows[:, READINGS + 3 * k : READINGS + 3 * k + 3]
            for k, (name, field) in enumerate(FIELDS.items())
            if name in self.module.triads
        }
        still = np.zeros((len(t), 3))
        new = {}
        if "mag_s" in columns and not np.all(rows[:, NEW_MAG] != 0.0):
            new["mag_s"] = rows[:, NEW_MAG] != 0.0
        return Recording(
            t,
            **columns,
            temperature=rows[:, CELSIUS],
            clipped=rows[:, ANY_CLIPPED] != 0.0,
            truth=Motion(t, still, still, still, true[:, :4], true[:, 4:7], true[:, 7:]),
            new=new,
            meta={
                "sensor": self.sensor,
                "rate_hz": self.rate_hz,
                "gravity_m_s2": self.gravity,
                "magnetic_field_n_ut": self.field_n.tolist(),
                "errors": self.module.mode,
                "seed": self.module.seed,
                **self.module.about,
                "resolution": {name: triad.resolution for name, triad in self.module.triads.items()},
            },
        )

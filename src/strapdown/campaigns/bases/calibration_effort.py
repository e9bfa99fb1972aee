"""How much calibration a virtual specimen gets before its run: found from simulated logs, never from its true errors.

none: readings as they are. rest: a minute at rest on a level table, offsets. positions: the case put down on its faces,
fourteen times, and tumbled by hand for the magnetometer. full: also 20 minutes between 10 and 60 degC.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.apply import apply, joined
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.static import calibrate_static
from strapdown.calibration.temperature.bias_curve import calibrate_temperature
from strapdown.earth_magnetism import dip, strength
from strapdown.environment.table import Name, NotNegative, Table
from strapdown.motion.paths.tumble import Tumble
from strapdown.papers.c.robot import HEATED_C, HEATED_S, INNER, TUMBLE_HZ, TUMBLE_S, face_poses
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.streams import seed_of, stream
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

EFFORTS = ("none", "rest", "positions", "full")
REST_S = 60.0
HEATED_HZ = 25.0


class CalibrationTable(Table):
    """effort: of a virtual specimen. level_deg: how level its table is, and how square its case. file: a calibration
    file instead, as of a recording."""

    effort: Literal["none", "rest", "positions", "full"] = "none"
    level_deg: NotNegative = 0.05
    file: Name | None = None


class Bench:
    """A specimen on the table. triads: its true errors. known: noise that its data sheet states. iron: hard (uT) and
    soft iron around its magnetometer. field_n (uT), g (m/s2): of the place."""

    def __init__(
        self,
        triads: Mapping[str, Triad],
        known: Mapping[str, Triad],
        rate_hz: float,
        seed: int,
        g: float,
        field_n: Array,
        iron: tuple[Array, Array],
        level_deg: float,
    ) -> None:
        self.triads, self.known, self.rate_hz, self.seed = triads, known, rate_hz, seed
        self.g, self.field_n, self.iron, self.level_deg = g, field_n, iron, level_deg

    def calibration(self, effort: str) -> Calibration | None:
        if effort == "none":
            return None
        if effort == "rest":
            return self._rest()
        heated = self._heated() if effort == "full" else None
        table = self._positions(heated)
        if "magnetometer" not in self.triads:
            return table
        return joined(table, self._tumbled(table))

    def _level_rad(self) -> float:
        return float(np.radians(self.level_deg))

    def _rest(self) -> Calibration:
        """On a table that is not quite level."""
        tilt = self._level_rad() * stream(self.seed, "bench", "rest").standard_normal(2)
        t = np.arange(round(REST_S * self.rate_hz) * INNER) / (self.rate_hz * INNER)
        up = np.array([np.sin(tilt[0]), np.sin(tilt[1]), np.sqrt(1.0 - np.sum(np.sin(tilt) ** 2))])
        log = self._read("rest", t, np.tile(self.g * up, (len(t), 1)), np.zeros((len(t), 3)), self.rate_hz)
        fit = calibrate_static(log, gravity=self.g, attitude_sigma_rad=self._level_rad(), noise=self.known)
        return fit.calibration

    def _positions(self, heated: Calibration | None) -> Calibration:
        poses = face_poses(self.seed, self.level_deg)
        motion = poses.at(np.arange(int(poses.duration_s * self.rate_hz) * INNER) / (self.rate_hz * INNER))
        log = self._read("faces", motion.t, motion.specific_force_b(self.g), motion.w_nb_b, self.rate_hz)
        if heated is not None:
            log = replace(apply(heated, log), meta={})  # the second is fitted to what the first has left
        found = calibrate_positions(
            log, self.g, model="squared", noise=self.known, level_sigma_rad=max(self._level_rad(), 1e-6)
        ).calibration
        return found if heated is None else joined(heated, found)

    def _heated(self) -> Calibration:
        t = np.arange(0.0, HEATED_S[-1], 1.0 / HEATED_HZ)
        celsius = np.interp(t, HEATED_S, HEATED_C)
        up = np.tile([0.0, 0.0, self.g], (len(t), 1))
        log = self._read("heated", t, up, np.zeros((len(t), 3)), HEATED_HZ, celsius)
        return calibrate_temperature(log).calibration

    def _tumbled(self, table: Calibration) -> Calibration:
        motion = Tumble(TUMBLE_S).at(np.arange(round(TUMBLE_S * TUMBLE_HZ) * INNER) / (TUMBLE_HZ * INNER))
        hard, soft = self.iron
        field_s = q_rotate(q_conj(motion.q_nb), self.field_n) @ soft.T + hard
        how: dict[str, Any] = {"output_rate_hz": TUMBLE_HZ}
        mag = measure(self.triads["magnetometer"], motion.t, field_s, stream=self._stream("tumble", "mag"), **how)
        force = motion.specific_force_b(self.g)
        acc = measure(self.triads["accelerometer"], motion.t, force, stream=self._stream("tumble", "acc"), **how)
        force_s = table.corrections["accelerometer"].corrected(acc.values, np.full(len(acc.t), 25.0))
        fit = calibrate_magnetometer(
            Recording(mag.t, acc_s=force_s, mag_s=mag.values),
            field_ut=float(strength(self.field_n)),
            dip_rad=float(dip(self.field_n)),
            noise=self.known,
        )
        return Calibration({"magnetometer": fit.calibration.corrections["magnetometer"]})

    def _stream(self, run: str, instrument: str) -> np.random.SeedSequence:
        return seed_of(self.seed, "bench", run, instrument)

    def _read(
        self, run: str, t: Array, f_s: Array, w_s: Array, rate_hz: float, celsius: Array | float = 25.0
    ) -> Recording:
        how: dict[str, Any] = {"temperature_c": celsius, "output_rate_hz": rate_hz}
        acc = measure(self.triads["accelerometer"], t, f_s, stream=self._stream(run, "acc"), **how)
        gyr = measure(self.triads["gyroscope"], t, w_s, stream=self._stream(run, "gyr"), specific_force=f_s, **how)
        warm = np.broadcast_to(celsius, len(t))[acc.kept].astype(np.float64)
        return Recording(acc.t, gyr.values, acc.values, temperature=warm)

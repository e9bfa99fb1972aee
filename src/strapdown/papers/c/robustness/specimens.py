"""Specimens of parts as bought, each calibrated from a simulated log of its own: the case put down on its faces."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import Calibration
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.motion.paths.poses import Poses, scattered
from strapdown.papers.c.robot import FACES_UP_B, HOLD_S, TURN_S, G
from strapdown.recordings.facts import Facts
from strapdown.rotation import q_exp, q_mul
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Motion, Recording

PARTS = ("mpu-6050", "icm-42688-p", "adis16470")
RATE_HZ = 100.0
INNER = 5
_LEVEL_DEG = 5.0  # of a case that is put down by hand, in any attitude


@dataclass(frozen=True, eq=False)
class Specimen:
    """A specimen of a part and its calibration.

    triads: its true errors.
    known: noise of its data sheet.
    calibration: calibration by `calibrate positions`, with the model that it chooses.
    """

    part: str
    seed: int
    triads: dict[str, Triad]
    known: dict[str, Triad]
    calibration: Calibration

    def read(self, ideal: Motion, run: str, **more: Array) -> Recording:
        """The calibrated log of this motion of the sensor, which is given INNER times as fine."""
        return apply(self.calibration, self._raw(ideal, run, **more))

    def _raw(self, ideal: Motion, run: str, **more: Array) -> Recording:
        return _measured(self.triads, ideal, seed_number(self.seed, self.part, run), **more)

    def facts(self) -> Facts:
        """Facts that a user gives strapdown navigate: gravity, the part and its calibration."""
        return Facts(G, noise=self.known, part=load_part(self.part), calibration=self.calibration)


def seed_number(*names: object) -> int:
    return int(seed_of(int(str(names[0])), *(str(name) for name in names[1:])).generate_state(1)[0])


def _measured(triads: dict[str, Triad], ideal: Motion, seed: int, **more: Array) -> Recording:
    force = ideal.specific_force_b(G) + more.get("shake_m_s2", 0.0)
    rate = ideal.w_nb_b + more.get("shake_rad_s", 0.0)
    readings = Recording(ideal.t, gyr_s=rate, acc_s=force, truth=ideal, meta={"gravity_m_s2": G})
    return Module("C", triads, seed=seed).measure(readings, RATE_HZ)


@lru_cache(maxsize=512)
def specimen(part: str, seed: int) -> Specimen:
    loaded = load_part(part)
    triads = loaded.draw(seed, rate_hz=RATE_HZ).triads()
    triads = {name: triads[name] for name in ("accelerometer", "gyroscope")}
    known = loaded.nominal(rate_hz=RATE_HZ).triads()
    table = _measured(triads, _faces(seed), seed_number(seed, part, "faces"))
    found = calibrate_positions(table, G, noise=known)
    return Specimen(part, seed, triads, known, found.calibration)


def _faces(seed: int) -> Motion:
    q_nb = [np.array([1.0, 0.0, 0.0, 0.0])]
    for up_b, next_up_b in pairwise(np.array(FACES_UP_B, dtype=np.float64)):
        q_nb.append(q_mul(q_nb[-1], q_exp(0.5 * np.pi * np.cross(next_up_b, up_b))))
    poses = Poses(scattered(np.array(q_nb), _LEVEL_DEG, seed), hold_s=HOLD_S, turn_s=TURN_S)
    return poses.at(np.arange(int(poses.duration_s * RATE_HZ) * INNER) / (RATE_HZ * INNER))

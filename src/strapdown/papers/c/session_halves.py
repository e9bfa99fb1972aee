"""Two halves of a calibration session under drift: each is calibrated by itself, and both must agree within sigma.

A virtual specimen is put down in 48 poses while its biases drift. The first 24 poses and the last 24 give two
calibrations. The difference of each parameter, over the combined sigma of both, should be below 2 in 95 % of cases.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from strapdown.calibration.calibration import Correction
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.papers.c.positions import G, Ideal, hand_held
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import stream
from strapdown.types import Array, Recording

DRIFTS = ("line", "warm-up", "walk", "noise of the part alone")
PARTS = ("MPU-6050", "ICM-42688-P", "ADIS16470")
POSES = 48
SIGMAS, SHARE = 2.0, 0.95
BY_CHANCE = 0.9545  # of normal numbers are within two sigmas
_FIRST = 9000  # seed; those below were used to choose settings
_SMALLEST, _LARGEST = 1.0, 30.0  # mg over the session, and 0.01 deg/s of the gyroscope for each mg
_MG, _RATE = 9.80665e-3, np.radians(0.01)
_WARM_S = 100.0  # time constant of a board that warms up


@dataclass(frozen=True, eq=False)
class Halves:
    """Differences of two halves in combined sigmas, by parameter.

    drift, part; known: the noise of the part was given.
    size_mg: size of the accelerometer's drift; named: halves of which the drift was named.
    same_model: both halves have a nonlinearity of the accelerometer, or neither.
    """

    drift: str
    part: str
    known: bool
    size_mg: float
    named: int
    same_model: bool
    differences: dict[str, Array]

    @property
    def all(self) -> Array:
        return np.concatenate(list(self.differences.values()))


def sessions(done: Callable[[float], None], count: int = 100, first: int = 0) -> list[Halves]:
    """`count` sessions: all kinds of drift, parts in turn, noise given or not."""
    ideal, out = Ideal.of(hand_held(POSES)), []
    for k in range(first, first + count):
        out.append(one_session(ideal, _FIRST + k, DRIFTS[k % 4], PARTS[k % 3], known=k // 4 % 2 == 0))
        done((k + 1 - first) / count)
    return out


def one_session(ideal: Ideal, seed: int, drift: str, part: str, known: bool) -> Halves:
    specimen, source = load_part(part), stream(seed, "halves of a session")
    triads = {name: specimen.draw(seed).triads()[name] for name in ("accelerometer", "gyroscope")}
    log = ideal.log(triads, seed)
    assert log.acc_s is not None and log.gyr_s is not None
    size = float(np.exp(source.uniform(np.log(_SMALLEST), np.log(_LARGEST))))
    moved = [_drift(drift, log.t, source) for _ in range(2)]
    log = replace(log, acc_s=log.acc_s + size * _MG * moved[0], gyr_s=log.gyr_s + size * _RATE * moved[1])
    nominal = specimen.nominal().triads()
    noise = {name: nominal[name] for name in triads} if known else None
    middle = 0.5 * float(log.t[0] + log.t[-1])
    fits = [calibrate_positions(half, G, noise=noise).calibration.corrections for half in _cut(log, middle)]
    differences: dict[str, Array] = {}
    for name in triads:
        differences |= {f"{name} {key}": value for key, value in _differences(*(fit[name] for fit in fits)).items()}
    models = {str(fit["accelerometer"].found.data["model"]) for fit in fits}
    named = sum("drifted" in " ".join(fit["accelerometer"].found.notes) for fit in fits)
    return Halves(drift, part, known, size, named, len(models) == 1, differences)


def _drift(kind: str, t: Array, source: np.random.Generator) -> Array:
    """A drift of three axes over the log, of size 1 in the mean of many; each axis has its own size and sign."""
    since, axes = t - t[0], source.standard_normal(3)
    if kind == "line":
        return np.outer(since / since[-1], axes)
    if kind == "warm-up":
        return np.outer(-np.expm1(-since / _WARM_S), axes)
    if kind == "walk":
        return np.asarray(np.cumsum(source.standard_normal((len(t), 3)), axis=0) / np.sqrt(len(t)))
    return np.zeros((len(t), 3))


def _cut(log: Recording, middle: float) -> tuple[Recording, Recording]:
    first, second = log.t < middle, log.t >= middle
    assert log.acc_s is not None and log.gyr_s is not None
    made = [Recording(log.t[rows], log.gyr_s[rows], log.acc_s[rows]) for rows in (first, second)]
    return made[0], made[1]


def _differences(one: Correction, other: Correction) -> dict[str, Array]:
    """Of the parameters that both found; of a symmetric matrix each number once."""
    out = {}
    for name in ("bias", "matrix", "cubic"):
        if name in one.sigma and name in other.sigma:
            sigma = np.hypot(one.sigma[name], other.sigma[name])
            each = (getattr(one, name) - getattr(other, name)) / sigma
            if name == "matrix" and one.unit == "m/s2":
                each, sigma = each[np.triu_indices(3)], sigma[np.triu_indices(3)]
            out[name] = each[np.isfinite(sigma)].reshape(-1)
    return out


def share_within(differences: Sequence[Array]) -> float:
    """Share of the differences that are within two combined sigmas."""
    return float(np.mean(np.abs(np.concatenate(list(differences))) < SIGMAS))

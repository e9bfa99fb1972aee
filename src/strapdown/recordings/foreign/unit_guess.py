"""Units of a foreign table, judged by its readings where the names of its columns state none.

Gravity scales the accelerometer, the Earth's field the magnetometer, and usual rates the time. The gyroscope's unit is
the one with which gravity, rotated by the gyroscope, stays constant; the examination of the log decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.io.columns import UNITS
from strapdown.recordings.examination.axes import gravity_turned, turns_of
from strapdown.recordings.examination.limits import EARTH_UT
from strapdown.recordings.examination.verdict import examine
from strapdown.recordings.examination.windows import windows_of
from strapdown.types import Array, Recording

_RATES_HZ = (5.0, 5000.0)  # of inertial logs
_FIELD_UT = float(np.sqrt(EARTH_UT[0] * EARTH_UT[1]))
_SHOWN = 0.1  # rad: gravity must turn by this much less with one unit than with another, or the log does not show it
# noise of MEMS gyroscopes, deg/s/rtHz: the catalogue has 0.0028 to 0.03. Read in the other unit it is 57 times off
_MEMS_NOISE = (5e-4, 0.1)
# sensitivities of common parts, counts per unit: data sheets of MPU-6050 (also 6500, 9250), QMC5883L, HMC5883L, AK8963
_ACC = (("m/s2", 1.0), ("g", 1.0), ("mg", 1.0))
_ACC_COUNTS = (("g", 16384.0), ("g", 8192.0), ("g", 4096.0), ("g", 2048.0))
_GYR = (("rad/s", 1.0), ("deg/s", 1.0))
_GYR_COUNTS = (("deg/s", 131.0), ("deg/s", 65.5), ("deg/s", 32.8), ("deg/s", 16.4))
_MAG = (("uT", 1.0), ("mG", 1.0), ("G", 1.0), ("nT", 1.0), ("mT", 1.0))
_MAG_COUNTS = (("G", 12000.0), ("G", 3000.0), ("G", 1090.0), ("uT", 6.67))


@dataclass(frozen=True)
class UnitGuess:
    """A unit, with the counts per unit of raw readings.

    why: the reason, in words.
    sure: False where the readings fit another unit as well.
    """

    unit: str
    counts_per_unit: float = 1.0
    why: str = "by the readings"
    sure: bool = True

    def convert(self, values: Array) -> Array:
        return UNITS[self.unit].convert(values / self.counts_per_unit)


def time_unit(t: Array) -> UnitGuess:
    """Unit of time by the usual step: inertial logs have 5 Hz to 5 kHz. Spreadsheets count days."""
    steps = np.diff(t)
    step = float(np.median(steps[steps > 0.0])) if np.any(steps > 0.0) else 0.0
    if step <= 0.0:
        raise InputError("the time of the log does not rise; name its column of time in a column mapping (docs/io.md)")
    for unit in ("s", "ms", "us", "ns", "d"):
        rate = 1.0 / (step * UNITS[unit].times / UNITS[unit].over)
        if _RATES_HZ[0] <= rate <= _RATES_HZ[1]:
            return UnitGuess(unit, why=f"by the usual step of {step:.4g}: {rate:.4g} Hz")
    return UnitGuess("s", why=f"the usual step is {step:.4g}", sure=False)


def accelerometer_unit(acc: Array) -> UnitGuess:
    """Unit of the accelerometer by the size of gravity."""
    size = float(np.median(np.linalg.norm(acc, axis=1)))
    return _nearest(acc, size, STANDARD_GRAVITY, (_ACC, _ACC_COUNTS), "gravity")


def magnetometer_unit(mag: Array) -> UnitGuess:
    """Unit of the magnetometer by the size of the Earth's field."""
    norms = np.linalg.norm(mag, axis=1)
    size = float(np.median(norms[norms > 0.0])) if np.any(norms > 0.0) else 0.0
    return _nearest(mag, size, _FIELD_UT, (_MAG, _MAG_COUNTS), "the Earth's field")


def _nearest(
    values: Array, size: float, expected: float, units: Sequence[Sequence[tuple[str, float]]], what: str
) -> UnitGuess:
    """The unit by which the usual size is nearest to the expected one, as a ratio."""
    whole = bool(np.all(values == np.round(values)) and np.abs(values).max(initial=0.0) > 100.0)
    fits = [UnitGuess(unit, counts) for unit, counts in units[1 if whole else 0]]
    if size <= 0.0:
        return UnitGuess(units[0][0][0], why="all readings are 0", sure=False)
    ratios = [abs(float(np.log(abs(guess.convert(np.array([size]))[0]) / expected))) for guess in fits]
    best = fits[int(np.argmin(ratios))]
    sure = bool(min(ratios) < np.log(1.5)) and not whole
    why = f"{what} reads {size:.4g}"
    if whole:
        why = f"raw counts: {why}, so {_named(best)} is assumed"
    elif not sure:
        why = f"{why}, which fits no unit well"
    return UnitGuess(best.unit, best.counts_per_unit, why, sure)


def gyroscope_unit(t: Array, gyr: Array, acc: Array | None) -> UnitGuess:
    """Unit of the gyroscope by its agreement with t (s) and acc (m/s2). Units that the examination accepts, and of
    these the one with the noise of a MEMS part and the least misfit of gravity.
    """
    later = np.concatenate([[True], t[1:] > np.maximum.accumulate(t)[:-1]])  # a coarse clock repeats its stamps
    t, gyr, acc = t[later], gyr[later], None if acc is None else acc[later]
    whole = bool(np.all(gyr == np.round(gyr)) and np.abs(gyr).max(initial=0.0) > 5.0)
    fits = [UnitGuess(unit, counts) for unit, counts in (_GYR_COUNTS if whole else _GYR)]
    judged = [_judged(t, gyr, acc, guess) for guess in fits]
    accepted = [each for each in judged if each.doubts == 0]
    if not accepted:
        least = min(judged, key=lambda each: (each.doubts, each.misfit)).guess
        return UnitGuess(least.unit, least.counts_per_unit, "no unit fits the readings", False)
    usual = [each for each in accepted if _MEMS_NOISE[0] <= each.noise <= _MEMS_NOISE[1]]
    by_noise, accepted = 0 < len(usual) < len(accepted), usual or accepted
    smallest = min(each.misfit for each in accepted)
    # of those that the log does not tell apart the first: for counts the range that a part has when it is switched on
    best, *others = (each for each in accepted if each.misfit < smallest + _SHOWN)
    if others:
        names = " or ".join(_named(guess) for guess in (best.guess, *(each.guess for each in others)))
        return UnitGuess(best.guess.unit, best.guess.counts_per_unit, f"assumed: the log fits {names}", False)
    why = "gravity turns as it reads" if len(accepted) > 1 else "other units contradict the readings"
    why = f"by its noise of {best.noise:.2g} deg/s/rtHz" if by_noise else why
    return UnitGuess(best.guess.unit, best.guess.counts_per_unit, why)


def _named(guess: UnitGuess) -> str:
    return guess.unit if guess.counts_per_unit == 1.0 else f"{guess.counts_per_unit:g} counts per {guess.unit}"


@dataclass(frozen=True)
class _Judged:
    """How well a guessed unit of the gyroscope fits the log.

    doubts: doubts of the examination about the gyroscope.
    misfit (rad): angle between gravity and its rotation by the gyroscope after 3 s.
    noise: noise at rest, deg/s/rtHz.
    """

    guess: UnitGuess
    doubts: int
    misfit: float
    noise: float


def _judged(t: Array, gyr: Array, acc: Array | None, guess: UnitGuess) -> _Judged:
    log = Recording(t, gyr_s=np.ascontiguousarray(guess.convert(gyr)), acc_s=acc)
    doubts = sum(
        finding.kind.startswith("gyroscope") and finding.severity != "note"
        for finding in examine(log, uses=("accelerometer", "gyroscope"))
    )
    windows = windows_of(log)
    noise, offset = 0.0, None
    if windows is not None and windows.gyr_noise is not None and windows.gyr_mean is not None:
        per_sample = float(np.median(windows.gyr_noise[windows.quietest]))
        noise = float(np.degrees(per_sample)) * float(np.sqrt(2.0 * log.step_s))
        offset = np.median(windows.gyr_mean[windows.quietest], axis=0)
    turns = turns_of(log, offset)
    misfit = 0.0
    if turns is not None and acc is not None:
        # most windows of a log turn little and show nothing: the worst tenth shows it
        misfit = float(np.quantile(gravity_turned(turns), 0.9))
    return _Judged(guess, doubts, misfit, noise)


def guessed_units(columns: Mapping[str, Array], stated: Mapping[str, str]) -> dict[str, UnitGuess]:
    """Units of t, acc, gyr, mag and temperature of a table.

    columns: t (n,), acc, gyr, mag (n, 3), in the units of the file.
    stated: units that the names of the columns state.
    """
    found: dict[str, UnitGuess] = {
        name: UnitGuess(unit, why="clock times in text" if UNITS[unit].text else "stated by the column")
        for name, unit in stated.items()
        if name in columns
    }
    if "t" in columns and "t" not in found:
        found["t"] = time_unit(columns["t"])
    if "acc" in columns and "acc" not in found:
        found["acc"] = accelerometer_unit(columns["acc"])
    if "mag" in columns and "mag" not in found:
        found["mag"] = magnetometer_unit(columns["mag"])
    if "gyr" in columns and "gyr" not in found:
        t = found["t"].convert(columns["t"]) if "t" in columns else np.arange(len(columns["gyr"])) / 100.0
        acc = found["acc"].convert(columns["acc"]) if "acc" in columns else None
        found["gyr"] = gyroscope_unit(t, columns["gyr"], acc)
    if "temperature" in columns and "temperature" not in found:
        middle = float(np.median(columns["temperature"]))
        kelvin = 200.0 < middle < 400.0
        sure = kelvin or -60.0 < middle < 200.0
        found["temperature"] = UnitGuess("K" if kelvin else "degC", why=f"the usual value is {middle:.4g}", sure=sure)
    return found

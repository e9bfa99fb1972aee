"""From counts to SI: by the units that the module states in its hello. One formula for one sample and for a table."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.arrays import Array
from strapdown.devices.protocol.messages import HMC5883L, MAG_NEW, MAG_WRONG, MPU6050, QMC5883L, QMC5883P, Hello
from strapdown.earth import STANDARD_GRAVITY

_LAST = 32767  # counts at the end of the range
INERTIAL = {MPU6050: "MPU-6050"}
MAGNETOMETER = {QMC5883L: "QMC5883L", HMC5883L: "HMC5883L", QMC5883P: "QMC5883P"}
ACC_RANGES_G, GYR_RANGES_DPS = (2, 4, 8, 16), (250, 500, 1000, 2000)
ACC_HZ, GYR_HZ = (260.0, 184.0, 94.0, 44.0, 21.0, 10.0, 5.0), (256.0, 188.0, 98.0, 42.0, 20.0, 10.0, 5.0)


# delays of the same settings, RM-MPU-6000A-00 revision 4.2, register 26
ACC_DELAY_S = (0.0, 2.0e-3, 3.0e-3, 4.9e-3, 8.5e-3, 13.8e-3, 19.0e-3)
GYR_DELAY_S = (0.98e-3, 1.9e-3, 2.8e-3, 4.8e-3, 8.3e-3, 13.4e-3, 18.6e-3)
_FOLDED = 1.1  # noise of the samples against the density of the chip


def folded(low_pass_hz: float, rate_hz: float) -> float:
    """Ratio of the noise of samples to the noise that the chip's density gives. A first-order low-pass lets noise above
    half the rate through, and sampling aliases it.
    """
    x = math.pi * low_pass_hz / rate_hz
    return math.sqrt(x / math.tanh(x))


def low_pass_for(rate_hz: int) -> int:
    """The code of the widest low-pass that aliases at most a tenth of the noise; the narrowest for slow rates."""
    fitting = [code for code, hz in enumerate(ACC_HZ) if folded(hz, rate_hz) <= _FOLDED]
    return min(fitting, default=len(ACC_HZ) - 1)


class Units(NamedTuple):
    """SI value of one count: acc (m/s2), gyr (rad/s), mag (uT; None: no magnetometer), tick_m (None: no encoder).

    axes, signs: which axis of the magnetometer is x, y, z of the module, and its direction.
    """

    acc: float
    gyr: float
    mag: float | None
    per_c: float
    zero_c: float
    tick_m: float | None
    axes: tuple[int, int, int]
    signs: Array

    @classmethod
    def of(cls, hello: Hello) -> "Units":
        return cls(
            STANDARD_GRAVITY / max(hello.acc_per_g, 1),
            math.radians(10.0) / max(hello.gyr_per_10_dps, 1),
            100.0 / hello.mag_per_gauss if hello.mag_per_gauss else None,
            float(max(hello.temperature_per_c, 1)),
            hello.temperature_zero_cc / 100.0,
            hello.tick_nm * 1e-9 if hello.tick_nm else None,
            tuple(abs(axis) - 1 if abs(axis) in (1, 2, 3) else i for i, axis in enumerate(hello.mag_axes)),  # type: ignore[arg-type]
            np.array([-1.0 if axis < 0 else 1.0 for axis in hello.mag_axes]),
        )

    def field(self, counts: NDArray[Any]) -> Array:
        """Field (uT) in the module's axes, from counts (3,) or (n, 3)."""
        assert self.mag is not None
        return np.ascontiguousarray(counts[..., list(self.axes)] * (self.mag * self.signs))


def at_end_of_range(counts: tuple[int, ...]) -> bool:
    return max(counts) >= _LAST or min(counts) <= -_LAST - 1


def new_field(flags: Any) -> Any:
    """Whether a sample, or each of a table, has a new reading of the magnetometer that is within its range."""
    return (flags & (MAG_NEW | MAG_WRONG)) == MAG_NEW


def meta_of(hello: Hello) -> dict[str, Any]:
    """Meta data of a recording of this module."""
    units = Units.of(hello)
    meta: dict[str, Any] = {
        "module": hello.serial,
        "firmware": ".".join(str(n) for n in hello.firmware),
        "rate_hz": float(hello.rate_hz),
        "resolution": {"accelerometer": units.acc, "gyroscope": units.gyr},
        "range": {
            "accelerometer": f"{ACC_RANGES_G[hello.acc_range & 3]:g} g",
            "gyroscope": f"{GYR_RANGES_DPS[hello.gyr_range & 3]:g} deg/s",
        },
        "low_pass_hz": {
            "accelerometer": ACC_HZ[min(hello.low_pass, 6)],
            "gyroscope": GYR_HZ[min(hello.low_pass, 6)],
        },
        "delay_s": {
            "accelerometer": ACC_DELAY_S[min(hello.low_pass, 6)],
            "gyroscope": GYR_DELAY_S[min(hello.low_pass, 6)],
        },
        "identity": {"inertial": hello.imu_identity, "magnetometer": hello.mag_identity.hex()},
    }
    if hello.imu_chip in INERTIAL:
        meta["part"] = INERTIAL[hello.imu_chip]
    if hello.mag_chip in MAGNETOMETER and units.mag is not None:
        meta["magnetometer_part"] = MAGNETOMETER[hello.mag_chip]
        meta["resolution"]["magnetometer"] = units.mag
    if units.tick_m is not None:
        meta["resolution"]["odometer"] = units.tick_m
    return meta

"""The pendulum and the mounts that tests of the engine share."""

import numpy as np

from helpers import mjcf, robot
from strapdown.engines.parts import Mount, Start

SKEW = tuple(c / np.sqrt(30.0) for c in (4.0, 1.0, 2.0, 3.0))
SWING = [Start("upper", 1.5, 0.3), Start("lower", 0.8, -0.2)]
SKEW_MOUNT = Mount("imu", "lower_link", (0.02, 0.01, -0.25), SKEW)
ORIGIN_MOUNT = Mount("imu", "lower_link")

FREE_BODY = mjcf(
    '<body name="b"><freejoint/><inertial pos="0 0 0" mass="2" diaginertia=".01 .02 .03"/></body>',
    before='<compiler inertiafromgeom="false"/>',
)


def pendulum(mount=SKEW_MOUNT, **settings):
    mounts = settings.pop("mounts", [mount])
    return robot("double_pendulum", start=SWING, mounts=mounts, **settings)


def grid(duration_s, rate_hz):
    return np.arange(round(duration_s * rate_hz) + 1) / rate_hz


def read(source, duration_s, rate_hz, name="imu"):
    return source.record(duration_s, {name: grid(duration_s, rate_hz)})[name].motion

"""The magnetic heading of a body whose tilt is wrong: an error that all its samples share."""

import numpy as np
import pytest

from strapdown.live import Alignment, Start
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import MagneticHeading
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate
from strapdown.types import Recording

G, RATE_HZ, DIP = 9.81, 100.0, np.radians(72.0)
TILT, HEADING = 0.05, 0.02  # rad, sigmas; the tilt is wrong by one of them


@pytest.mark.parametrize("axis", (0, 1))
def test_a_wrong_tilt_does_not_turn_the_heading_within_half_a_second(axis):
    """After a turn with a gyroscope whose axes are not square. At a dip of 72 deg a tilt of 3 deg across the field
    turns its azimuth by 9 deg. As white noise of 50 samples this would turn the heading by 4 sigmas."""
    wrong = np.zeros(3)
    wrong[axis] = TILT
    q_true, n = q_exp(wrong), round(0.5 * RATE_HZ)
    field_n = 52.0 * np.array([0.0, np.cos(DIP), -np.sin(DIP)])
    still = np.zeros((n, 3))
    log = Recording(
        np.arange(n) / RATE_HZ,
        gyr_s=still,
        acc_s=still + q_rotate(q_conj(q_true), np.array([0.0, 0.0, G])),
        mag_s=still + q_rotate(q_conj(q_true), field_n),
    )
    field = MagneticHeading(disturbance_rad=0.0, dip_tolerance_rad=1.0)
    filt = Eskf(gravity=G, zero_velocity=None, zero_rate=None, magnetic_heading=field)
    level = np.array([1.0, 0.0, 0.0, 0.0])
    known = Alignment(level, 0, 0.0, TILT, HEADING, False, np.zeros(3), np.full(3, 1e-4))
    found = filt.run(log, Start.of(log, alignment=known))
    error = q_log(q_mul(q_true, q_conj(found.q_nb[-1])))[2]
    assert found.flags["heading_used"].any()
    assert abs(error) < 1.5 * found.sigma["attitude_n"][-1, 2] < 0.04

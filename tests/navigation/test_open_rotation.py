"""The rotation that a calibration by gravity alone leaves open is in the stated sigma of roll and pitch."""

import numpy as np
import pytest

from strapdown.calibration.calibration import Calibration, Correction, Found
from strapdown.navigation.carriers.residual_errors import attitude_of_case
from strapdown.papers.c.positions import G, truth_of
from strapdown.recordings.facts import Facts
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording, Solution

LEVEL = Recording(np.arange(3.0), gyr_s=np.zeros((3, 3)), acc_s=np.tile([0.0, 0.0, G], (3, 1)))


def turned(part, seed):
    """Rotation vector (rad) by which a calibration in free poses turns all axes of a specimen."""
    triads = part.draw(seed).triads()
    r = truth_of(triads["accelerometer"], triads["gyroscope"]).rotation
    return 0.5 * np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])  # small: sin is the angle


def sigma_of_tilt(part, model):
    sigma = {"bias": np.zeros(3), "matrix": np.zeros((3, 3))}
    found = Correction("m/s2", Found("positions", {"model": model}), sigma=sigma)
    facts = Facts(G, part=part, calibration=Calibration({"accelerometer": found}))
    n = len(LEVEL)
    solution = Solution(
        LEVEL.t,
        np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
        sigma={"attitude_n": np.zeros((n, 3))},
    )
    return attitude_of_case(solution, LEVEL, facts).sigma["attitude_n"]


@pytest.mark.parametrize("name", ["MPU-6050", "ADIS16470"])
def test_the_tilt_of_the_case_is_within_its_sigma(name):
    part = load_part(name)
    sigma = sigma_of_tilt(part, "full")
    assert (sigma[:, 2] == 0.0).all()  # heading comes from elsewhere
    tilts = np.array([turned(part, seed)[:2] for seed in range(60)]) / sigma[0, :2]
    assert 0.8 < np.sqrt(np.mean(tilts**2)) < 1.2  # chance: three sigmas of the rms of 120 numbers


def test_a_case_on_its_faces_leaves_no_rotation_open():
    assert (sigma_of_tilt(load_part("MPU-6050"), "squared") == 0.0).all()

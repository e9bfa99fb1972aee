"""A calibration is applied to a sensor in any attitude: only who navigates asks which way is up."""

import warnings

import numpy as np
import pytest

from strapdown.errors import LogWarning
from strapdown.recordings.examination.verdict import examine
from strapdown.types import Recording


def upside_down():
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 0.01, (2, 2000, 3))
    return Recording(np.arange(2000) / 100.0, 1e-2 * noise[0], noise[1] + [0.0, 0.0, -9.81])


@pytest.mark.parametrize(("upright", "kinds"), [(True, 1), (False, 0)])
def test_z_down_is_a_doubt_only_where_the_attitude_counts(upright, kinds):
    found = examine(upside_down(), upright=upright)
    assert sum(finding.kind.startswith("z") for finding in found) == kinds


def test_a_calibration_is_applied_without_a_word_about_it():
    from strapdown.calibration.apply import apply
    from strapdown.calibration.static import calibrate_static

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LogWarning)
        found = calibrate_static(upside_down(), gravity=9.81, roll_rad=np.pi).calibration
    with warnings.catch_warnings():
        warnings.simplefilter("error", LogWarning)
        apply(found, upside_down())

"""Two halves of a session under drift agree within their sigmas; the long form is tools/calibration_checks.py."""

import numpy as np
import pytest

from strapdown.papers.c.session_halves import DRIFTS, SHARE, sessions, share_within


@pytest.mark.filterwarnings("ignore")
def test_halves_of_sessions_with_drift_agree_within_two_sigmas():
    made = sessions(lambda _: None, count=8)
    assert {halves.drift for halves in made} == set(DRIFTS)
    for parameter in ("accelerometer bias", "gyroscope bias"):
        z = np.concatenate([halves.differences[parameter] for halves in made])
        assert share_within([z]) >= SHARE  # 24 numbers: none of them off
        assert np.sqrt(np.mean(z**2)) > 0.3  # and the sigmas are no wider than three times the differences
    # chance: 160 differences, which share their drifts, so that fewer than 95 % may be within
    assert share_within([halves.all for halves in made]) >= SHARE - 0.03

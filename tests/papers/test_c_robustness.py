"""Drives unlike paper C's, the short form: one drive of each family that must hold, and how claims are made of runs.

The seeds are none of those that settings were chosen on (100 to 102), nor those of the evidence (9000 on).
"""

import numpy as np
import pytest

from strapdown.papers.c.robustness.families import FAMILIES, case
from strapdown.papers.c.robustness.outcome import Run, family_claims, run_of

HONEST = Run(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, (1.0,) * 20, False)


@pytest.mark.parametrize("family", ("circles", "slow turns in stops", "start in motion", "vibration"))
def test_a_drive_is_known_as_well_as_it_states(family):
    run = run_of(case(family, "adis16470", 500))
    # one drive: its squares scatter by more than those of a family
    assert run.largest < 10.0 or run.warned
    assert run.end_m < 3.0 * max(run.wheel_m, 0.5)


def test_every_family_has_drives_of_its_own():
    assert len(FAMILIES) == 8
    first, second = (case("skid turns", "mpu-6050", seed).log for seed in (500, 501))
    assert len(first) != len(second) or not np.array_equal(first.odometer, second.odometer)


@pytest.mark.parametrize(
    ("changed", "broken"),
    (
        ({"position": 2.1}, "position/most"),
        ({"velocity": 0.4}, "velocity/least"),
        ({"attitude": 11.0}, "silent"),
        ({"end_m": 1.2}, "end"),
        ({"bias": (3.1,) * 3}, "bias"),
        ({"bias": (1.0, 6.0)}, "bias/largest"),
        ({"warned": True}, "alarms"),
    ),
)
def test_a_claim_fails_where_runs_are_dishonest(changed, broken):
    runs = [Run(**{**HONEST.__dict__, **changed})] * 3
    failed = [claim.id for claim in family_claims("circles", runs) if not claim.holds]
    assert f"C/robustness/circles/{broken}" in failed
    assert all(claim.holds for claim in family_claims("circles", [HONEST] * 3))

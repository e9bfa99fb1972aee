"""The position at the start is that of the fixes, and as good as one of them."""

import numpy as np
import pytest
from test_heights_on_hills import drive, hills

from fix_cases import with_heights, with_position_fixes
from strapdown.navigation.carriers.free import Free
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading

SIGMA_M = 2.0


@pytest.mark.parametrize("seed", (3, 4))
def test_fixes_with_errors_that_last_are_no_certain_start(seed):
    """A receiver whose error stays for the whole drive: 80 s of its fixes are not better than one."""
    log, facts = drive(hills, seed=seed)
    off = SIGMA_M * np.random.default_rng(seed).standard_normal(3)
    fixed = with_position_fixes(log, log.t[:500:50], log.truth.p_n[:500:50] + off, SIGMA_M)
    found = navigate(fixed, Free(Heading(0.0)), facts).solution
    error = found.p_n[0] - log.truth.p_n[0]
    assert np.allclose(error, off, atol=0.1)
    assert np.allclose(found.sigma["p_n"][0], SIGMA_M)
    last = found.p_n[-1] - log.truth.p_n[-1]
    assert (np.abs(last) < 4.0 * found.sigma["p_n"][-1]).all()
    assert (found.sigma["p_n"][-1] > 0.5 * SIGMA_M).all()


def test_a_height_at_the_start_has_its_sigma_and_a_floor_is_that_of_the_start():
    log, facts = drive(hills)
    high = with_heights(log, log.t[:50], np.full(50, 100.0), 3.0)
    for carrier, sigma in ((Free(Heading(0.0)), 3.0), (WheeledRobot(Heading(0.0)), 0.0)):
        found = navigate(high, carrier, facts).solution
        assert found.p_n[0, 2] == pytest.approx(100.0)
        assert found.sigma["p_n"][0] == pytest.approx((0.0, 0.0, sigma))

"""What no measurement shows, the filter does not learn: the heading of an unaided drive.

Nothing but a magnetometer or a fix sees a turn of everything about the vertical through the origin of n: position,
velocity and attitude then err by N = (z x p, z x v, z).
"""

from dataclasses import replace

import numpy as np
import pytest

from paper_c_cases import drive
from strapdown.kernels.navigation.eskf import filter as kernel
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.carriers.free import Free
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.eskf.updates import FlatFloor, NonHolonomic, WheelTravel
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.robustness.specimens import specimen
from strapdown.papers.c.robustness.ways import Leg, drive_along, stop
from tapes import phi_of, reset_of


def turn_about_vertical(numbers):
    n = np.zeros((len(numbers), at.N))
    n[:, 0], n[:, 1] = -numbers[:, at.POSITION + 1], numbers[:, at.POSITION]
    n[:, 3], n[:, 4] = -numbers[:, at.VELOCITY + 1], numbers[:, at.VELOCITY]
    n[:, 8] = 1.0
    return n


def test_no_step_and_no_measurement_sees_a_turn_about_the_vertical():
    d = drive("square", 4, side_m=0.6)
    filt = d.filter(
        magnetic_heading=None,
        flat_floor=FlatFloor(slope_of_pitch=1.0),
        non_holonomic=NonHolonomic(),
        wheel_travel=WheelTravel(),
        lever_sigma_m=0.005,
    )
    log = replace(d.log, mag_s=None)
    rows, _, state, _ = filt.prepare(log, Start.of(log, alignment=align_to_yaw(log, 1.0, 0.05)))
    n, x = len(rows), state.numbers.copy()
    tapes, states = np.empty((n, at.T_SIZE)), np.empty((n, at.X_SIZE))
    outputs = (np.empty((n, at.BIAS_M + 1)), np.empty((n, at.N)), np.empty((n, len(at.KINDS))))
    flat = (out.reshape(-1) for out in (*outputs, np.empty((n, 2), dtype=np.int64), tapes, states))
    assert kernel.rows(x, filt.settings, *rows.part(slice(0, n)), *flat)
    after = turn_about_vertical(states)
    seen = 0
    for k in range(1, n):
        before_rows = np.linalg.solve(reset_of(tapes[k]), after[k])
        # roundoff of lengths of metres
        np.testing.assert_allclose(phi_of(tapes[k]) @ after[k - 1], before_rows, atol=1e-9)
        for i in range(int(tapes[k, at.T_COUNT])):
            h = tapes[k, at.T_UPDATES + i * at.T_ROOM :][: at.N]
            assert abs(h @ before_rows) < 1e-9
            seen += 1
    assert seen > 3 * n


@pytest.mark.parametrize("seed", (31, 32))
def test_wheels_do_not_tell_the_heading_of_a_drive_in_circles(seed):
    """An ADIS16470, two minutes of circles with stops, heading known to 3 deg and no magnetometer."""
    legs = [Leg(8.0, ramp_s=0.002)]
    for _ in range(4):
        legs += [Leg(25.0, 0.64, 0.5), stop(4.0)]
    way = drive_along(legs)
    log = specimen("adis16470", seed).read(way.body, "circles")
    rows = np.searchsorted(way.body.t, log.t + 1e-9) - 1
    log = replace(log, stop=way.stopped[rows])
    facts = specimen("adis16470", seed).facts()
    heading = Heading(0.05, float(np.radians(3.0)))
    yaw_sigma = {
        type(carrier): navigate(log, carrier, facts).solution.sigma["attitude_n"][-1, 2]
        for carrier in (WheeledRobot(heading), Free(heading))
    }
    assert yaw_sigma[WheeledRobot] >= 0.95 * yaw_sigma[Free] > np.radians(2.9)

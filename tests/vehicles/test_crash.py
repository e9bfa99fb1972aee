"""A vehicle that falls, upside down or on its side, lies on the ground and does not sink into it."""

import numpy as np
import pytest

from vehicle_cases import SHIPPED, put, reading, vehicle


@pytest.mark.parametrize("name", ["quadcopter", "mars_helicopter", "rover"])
@pytest.mark.parametrize("turn", [(np.pi, 0.0, 0.0), (1.7, 0.3, 0.0), (0.0, 2.0, 0.5)])
def test_it_lies_on_the_ground(name, turn):
    plant = put(vehicle(name).plant(gravity=SHIPPED[name]), p_n=(0.0, 0.0, 1.0), turn=turn)
    plant.advance_to(6.0)
    row = reading(plant)
    assert row["p_n"][2] > 0.01 and np.abs(row["v_n"]).max() < 0.05
    assert plant.contacts()

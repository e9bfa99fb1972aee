"""Parts by name: every number has a source, specimens differ within their limits."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.aiding.outside_parts import PARTS, outside_part


@pytest.mark.parametrize("name", PARTS)
def test_every_part_can_be_made_and_names_its_sources(name):
    part = PARTS[name]
    made, drawn = part.nominal(), part.draw(3)
    assert isinstance(made, Barometer | Altimeter | FixReceiver) and type(drawn) is type(made)
    assert all(number.source and number.status for number in part.numbers.values())
    assert made == part.nominal() and drawn == part.draw(3)
    for setting, number in part.numbers.items():
        if "_n_" not in setting:
            assert getattr(made, setting) == (0.0 if number.limit else number.value)
    assert part.nominal(rate_hz=1.0).rate_hz == 1.0


def test_specimens_differ_as_their_limits_say():
    limit = PARTS["BMP280"].numbers["bias_pa"].value
    biases = np.array([outside_part("bmp-280").draw(seed).bias_pa for seed in range(400)])
    assert np.abs(biases).max() <= limit == 100.0
    assert biases.std() == pytest.approx(limit / 3.0, rel=5.0 / np.sqrt(2.0 * 400))  # chance
    other = np.array([outside_part("BMP280").draw(seed).per_degc_pa for seed in range(400)])
    assert abs(np.corrcoef(biases, other)[0, 1]) < 5.0 / np.sqrt(400)  # each number from a stream of its own


def test_a_receiver_has_its_level_and_its_vertical_sigma():
    assert outside_part("NEO-M8N velocity").nominal().stated == pytest.approx((0.05, 0.05, 0.1))


def test_an_unknown_part_is_refused_with_the_names():
    with pytest.raises(
        InputError, match='no part "BMP999"; the barometers, altimeters and receivers are: BMP280, MS5611'
    ):
        outside_part("BMP999")

"""plot draws the figure that fits, and refuses the rest in one sentence."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import strapdown as sd


@pytest.fixture(scope="module")
def tumble():
    return sd.record(sd.motion.Tumble(20.0), sd.Imu("imu", rate_hz=50.0))


@pytest.fixture(scope="module")
def attitude(tumble):
    return sd.orientation.Mahony(magnetometer=False).run(tumble)


def lines_of(figure):
    return sum(len(axis.lines) for axis in figure.axes)


def test_signals_of_a_recording(tumble):
    assert lines_of(sd.plot(tumble)) == 6  # three axes of two instruments


def test_attitude_with_and_without_truth(tumble, attitude):
    assert lines_of(sd.plot(attitude, truth=tumble.truth)) > lines_of(sd.plot(attitude))


def test_path_and_error_of_a_solution_with_positions(tumble):
    truth = tumble.truth
    moved = sd.Solution(truth.t, truth.q_nb, truth.p_n + 0.1, truth.v_n, meta={"filter": "own"})
    assert isinstance(sd.plot(moved, truth=truth), Figure)
    figure = sd.plot({"moved": moved}, "error", truth=truth)
    drawn = np.concatenate(
        [line.get_ydata() for axis in figure.axes for line in axis.lines if len(line.get_ydata()) > 9]
    )
    assert np.isclose(drawn, 0.1).any()


def test_parts_are_compared():
    figure = sd.plot({name: sd.load_part(name) for name in ("MPU-6050", "ADIS16470")})
    assert isinstance(figure, Figure)


@pytest.mark.parametrize(
    ("what", "kind", "sentence"),
    [({}, None, "empty"), (3, None, "int"), ("attitude", "map", "valid"), ("attitude", "path", "positions")],
)
def test_refused(what, kind, sentence, attitude):
    with pytest.raises(sd.InputError, match=sentence):
        sd.plot(attitude if what == "attitude" else what, kind)

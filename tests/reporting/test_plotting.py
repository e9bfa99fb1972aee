"""plot draws the figure that fits, and refuses the rest in one sentence."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import strapdown as sd
from strapdown.errors import InputError


@pytest.fixture(scope="module")
def tumble():
    return sd.record(sd.motion.Tumble(20.0), sd.Imu("imu", rate_hz=50.0))


@pytest.fixture(scope="module")
def attitude(tumble):
    return sd.orientation.Mahony(magnetometer=False).run(tumble)


def lines_of(figure):
    return sum(len(axis.lines) for axis in figure.axes)


def test_signals_of_a_recording(tumble):
    assert lines_of(sd.plot(tumble, "signals")) == 6  # three axes of two instruments
    assert lines_of(sd.plot(tumble)) == 18  # and truth, and errors
    errors = sd.plot(tumble).axes[1].lines
    assert max(np.abs(line.get_ydata()).max() for line in errors) < 1e-9  # ideal readings


def test_several_things_in_one_plot(tumble):
    rest = sd.record(sd.motion.Rest(60.0), sd.load_part("MPU-6050").draw(seed=1, rate_hz=50), seed=1)
    other = sd.record(sd.motion.Rest(60.0), sd.load_part("ICM-20948").draw(seed=1, rate_hz=50), seed=1)
    noise = {name: sd.calibration.analyse_log(log) for name, log in (("one", rest), ("two", other))}
    figure = sd.plot(noise)
    assert len(figure.axes) == 6 and all(len(axis.lines) == 2 for axis in figure.axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]


def test_filters_that_disagree_are_shown_with_their_sigmas(tumble):
    lodestar, mekf = sd.orientation.Lodestar().smooth(tumble), sd.orientation.Mekf().run(tumble)
    figure = sd.plot({"lodestar": lodestar, "mekf": mekf}, "difference")
    assert len(figure.axes) == 3 and all(axis.collections for axis in figure.axes)  # bands
    same = sd.plot({"a": mekf, "b": mekf}, "difference")
    assert np.abs(same.axes[0].lines[0].get_ydata()).max() < 1e-5  # deg, roundoff of an angle near 0
    with pytest.raises(InputError, match="two solutions or more"):
        sd.plot(mekf, "difference")


def test_a_session_draws_itself():
    session = sd.Session(sd.read_scenario("rover"))
    session.advance(1.0)
    assert len(sd.plot(session, "path").axes) == 2 and len(sd.plot(session, "actuators").axes) == 1
    with pytest.raises(InputError, match='no plot of kind "error"; valid: attitude, path, actuators'):
        sd.plot(session, "error")


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
    # the floors of both are estimated: their curves are dashed, and the title states why
    curves = [line for axis in figure.axes for line in axis.lines if len(line.get_xdata()) > 2]
    assert curves and {line.get_linestyle() for line in curves} == {"--"}
    assert "dashed: from numbers that are estimated" in figure.get_suptitle()


@pytest.mark.parametrize(
    ("what", "kind", "sentence"),
    [({}, None, "empty"), (3, None, "int"), ("attitude", "map", "valid"), ("attitude", "path", "positions")],
)
def test_refused(what, kind, sentence, attitude):
    with pytest.raises(sd.InputError, match=sentence):
        sd.plot(attitude if what == "attitude" else what, kind)


def test_paths_and_motions_are_drawn():
    """A path before anything is measured on it, and the truth of a log."""
    path = sd.motion.StopAndGo.square(first_rest_s=2)
    truth = path.at(np.linspace(0.0, path.duration_s, 50))
    for what in (path, truth, {"planned": path, "truth": truth}):
        assert sd.plot(what).axes[0].get_xlabel()
    assert len(sd.plot(path, "3d").axes) == 1


def test_one_specimen_is_drawn():
    assert len(sd.plot(sd.load_part("MPU-6050").draw(seed=1)).axes) == 4

"""Every figure that a command draws: nothing is cut off, no legend lies over a curve, one filter ruins no scale."""

from dataclasses import dataclass

import numpy as np
import pytest

from figure_layout import faults
from helpers import EXAMPLES, ROOT, command
from strapdown.reporting import figures
from strapdown.reporting.figures import panels, titled
from strapdown.reporting.navigation_figures import (
    attitude_figure,
    bias_figure,
    detector_figure,
    error_figure,
    innovation_figure,
    trajectory_figure,
)
from strapdown.reporting.orientation_figures import error_scale
from strapdown.types import Solution


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for name in ("six_positions", "tumble", "temperature"):
        rig = ROOT / "examples" / f"calibrate_{name}.toml"
        assert command("simulate", rig, "-o", folder / f"{name}.parquet").code == 0
    said = command("calibrate", "positions", folder / "six_positions.parquet", "-o", folder / "cal.toml")
    assert said.code == 0, said
    return folder


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Figures that commands save in a folder of their own."""
    found = []
    save = figures.save
    monkeypatch.setattr(figures, "save", lambda figure, path: (found.append(figure), save(figure, path)))
    monkeypatch.chdir(tmp_path)
    return found


LONG = "a log with a name of many words that somebody has given it to tell all about the day and the sensor $x_1"


# those of calibrations are drawn below
@pytest.mark.parametrize("example", [e for e in EXAMPLES if not e.stem.startswith("calibrate")], ids=lambda e: e.stem)
def test_signals(example, drawn, tmp_path):
    said = command("simulate", example, "-o", tmp_path / "x.parquet", "--plot")
    assert said.code == 0, said
    assert [faults(figure) for figure in drawn] == [[]]


@pytest.mark.parametrize(
    "arguments",
    [
        ("calibrate", "positions", "six_positions.parquet", "--plot"),
        ("calibrate", "magnetometer", "tumble.parquet", "--plot"),
        ("calibrate", "temperature", "temperature.parquet", "--sensor", "chamber", "--plot"),
        ("calibrate", "temperature", "temperature.parquet", "--sensor", "warm-up", "--plot"),
        ("calibrate", "static", "temperature.parquet", "--sensor", "chamber", "--plot"),
        ("allan", "temperature.parquet", "--sensor", "warm-up", "--fit", "--plot", "allan.png"),
        ("orient", "tumble.parquet", "--compare", "all", "-o", "out"),
        ("orient", "tumble.parquet", "--calibration", "cal.toml", "--compare", "mekf,vqf,gyro", "-o", "out"),
    ],
    ids=" ".join,
)
def test_figures_of_commands(arguments, logs, drawn, tmp_path):
    """Under a long name: titles wrap."""
    files = {path.name: path for path in logs.iterdir()}
    copies = {}
    for name, path in files.items():
        if name in arguments and name.endswith(".parquet"):
            copies[name] = tmp_path / f"{LONG}.parquet"
            copies[name].symlink_to(path)
        elif name in arguments:
            copies[name] = path
    said = command(*(copies.get(each, each) for each in arguments))
    assert said.code == 0, said
    assert [faults(figure) for figure in drawn] == [[]]


def test_parts_side_by_side(drawn):
    assert command("sensors", "compare", "MPU-6050", "BMI088", "ADIS16470", "QMC5883L", "-o", "x.png").code == 0
    assert all(faults(figure) == [] for figure in drawn)


@dataclass
class Updates:
    """Innovations as a filter's track has them."""

    t: np.ndarray
    nis: np.ndarray
    taken: np.ndarray
    degrees: int


def test_figures_of_a_report():
    rng = np.random.default_rng(1)
    t = 0.1 * np.arange(500)
    updates = {
        name: Updates(t, rng.chisquare(n, 500) * (rng.random(500) > 0.1), rng.random(500) > 0.05, n)
        for name, n in (("stop", 3), ("heading of the magnetometer", 1), ("odometer", 1))
    }
    drawn = innovation_figure(updates)
    assert faults(drawn) == []
    assert "% below" in drawn.axes[0].get_title(loc="left")  # zeros have no place on the axis, and the title states it
    believed = np.sin(t) > 0.0
    drawn = detector_figure(t, np.where(believed, 0.0, 1e4 * rng.random(500)), 1.0, {"stop_believed": believed}, "size")
    assert faults(drawn) == [] and "drawn at" in drawn.axes[0].get_title(loc="left")
    p_n = np.column_stack([t, np.sin(t), 0.0 * t])
    q = np.tile([1.0, 0.0, 0.0, 0.0], (500, 1))
    solution = Solution(
        t, q, p_n, p_n, bias={"gyr_s": p_n}, sigma={"p_n": np.ones((500, 3)), "gyr_s": np.ones((500, 3))}
    )
    both = {"eskf": solution, "ekf15": solution}
    for made in (
        trajectory_figure(both, solution, None, LONG),
        error_figure(both, solution),
        attitude_figure(both, solution),
        bias_figure(both),
    ):
        assert faults(made) == []


def test_a_pole_of_the_map_of_directions_is_its_edge(logs, drawn):
    """A direction along z has any longitude: it lies on the line of its pole, wherever the fit puts it."""
    arguments = ("--model", "squared", "--levelness", "0.2", "--plot")
    said = command("calibrate", "positions", logs / "six_positions.parquet", *arguments)
    assert said.code == 0, said
    panel = drawn[0].axes[2]
    points, *others = panel.get_lines()
    poles = {line.get_ydata()[0] for line in others if len(set(line.get_ydata())) == 1 and len(line.get_ydata()) == 2}
    assert poles == {-90.0, 90.0}
    near = [y for y in points.get_ydata() if abs(y) > 80.0]
    assert len(near) == 2 and all(min(abs(y - pole) for pole in poles) < 1.0 for y in near)  # levelness 0.2 deg
    assert all(axis.get_title(loc="left") or axis.get_title() for axis in drawn[0].axes)


def test_figures_of_paper_a(drawn):
    assert command("reproduce", "A").code == 0
    assert len(drawn) == 5 and [faults(figure) for figure in drawn] == [[]] * 5


def test_six_poses_and_six_unknowns_have_no_residual(logs, drawn):
    said = command("calibrate", "positions", logs / "six_positions.parquet", "--plot")
    assert "residual: none" in said.out and "e-1" not in said.out  # no number of the size of roundoff
    texts = [text.get_text() for axis in drawn[0].axes for text in axis.texts]
    assert any("no residual" in text for text in texts)
    labels = [label for axis in drawn[0].axes for label in axis.get_legend_handles_labels()[1]]
    assert not any("e-1" in label for label in labels)


def test_one_filter_does_not_set_the_scale():
    good = {name: scale * np.sin(np.arange(500.0)) for name, scale in (("a", 0.3), ("b", 0.5), ("c", 0.4))}
    limit, far = error_scale({**good, "lost": np.full(500, 170.0)})
    assert limit < 1.0 and far == ["lost"]
    limit, far = error_scale({**good, "lost": np.full(500, 1.0)})  # not far: it is shown whole
    assert limit > 1.0 and far == []


def test_faults_are_found():
    """The test of the test: each fault, drawn on purpose."""
    figure, axes = panels(1, 1, (4.0, 3.0))
    axes[0, 0].plot([0.0, 1.0], [0.0, 1.0], label="line")
    assert faults(figure) == []
    axes[0, 0].legend(loc="center")
    assert any("covers line" in fault for fault in faults(figure))
    figure, axes = panels(1, 1, (4.0, 3.0))
    axes[0, 0].set_title("a title of a panel that is far longer than the figure is wide")
    assert any("cut off" in fault for fault in faults(figure))
    figure, axes = panels(1, 1, (4.0, 3.0))
    titled(figure, "a title of a figure that is far longer than the figure is wide, but wraps")
    assert faults(figure) == []

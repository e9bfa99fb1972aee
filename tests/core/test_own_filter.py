"""A user's own filter and carrier: plain classes that fit the protocols go wherever ours go."""

import inspect
import math

import numpy as np
import pytest

import strapdown as sd
from strapdown.live import Estimator, State
from strapdown.navigation import Carrier, PaperStops
from strapdown.rotation import q_exp, q_mul, q_rotate

RATE_HZ = 100.0


class PlainIntegration:
    """Dead reckoning with a reset of the velocity at each stop: five methods and no base class."""

    name = "plain"

    def start(self, given):
        aligned = given.alignment
        state = State()
        state.owner = type(self)
        state.numbers = np.concatenate([aligned.q_ns, given.p_n, np.zeros(3), aligned.gyr_bias_s])
        return state

    def step(self, state, sample):
        n = state.numbers.copy()
        n[:4] = q_mul(n[:4], q_exp((sample.gyr_s - n[10:13]) * sample.dt))
        acceleration = q_rotate(n[:4], sample.acc_s) - [0.0, 0.0, 9.80665]
        n[7:10] = 0.0 if sample.stop else n[7:10] + acceleration * sample.dt
        n[4:7] += n[7:10] * sample.dt
        after = State()
        after.owner, after.numbers = state.owner, n
        return after

    def belief(self, state):
        return sd.Belief(state.numbers[:4].copy(), state.numbers[4:7].copy(), state.numbers[7:10].copy())

    def run(self, recording, given=None):
        state = self.start(given)
        rows = []
        for i in range(len(recording)):
            state = self.step(state, recording.sample(i)) if i else state
            rows.append(self.belief(state))
        q_nb, p_n, v_n = (np.array([getattr(row, name) for row in rows]) for name in ("q_nb", "p_n", "v_n"))
        return sd.Solution(recording.t, q_nb, p_n=p_n, v_n=v_n, meta={"filter": self.name})


class SmoothedIntegration(PlainIntegration):
    def smooth(self, recording, given=None):
        solution = self.run(recording, given)
        return sd.Solution(solution.t, solution.q_nb, p_n=solution.p_n, v_n=solution.v_n, meta={"filter": "smoothed"})


class Cart:
    heading = sd.navigation.Heading(0.5 * math.pi, 0.0)

    def __init__(self, filt):
        self.filt = filt

    def stops(self, recording, facts):
        return PaperStops(gravity=facts.gravity).find(recording)

    def estimator(self, recording, facts):
        return self.filt

    def after(self, solution, stops):
        return solution


@pytest.fixture(scope="module")
def log():
    path = sd.motion.StopAndGo.straight(1.2, first_rest_s=5.0)
    return sd.record(path, sd.load_part("MPU-6050").draw(seed=2, rate_hz=RATE_HZ), seed=2)


@pytest.fixture(scope="module")
def nav(log):
    assert isinstance(PlainIntegration(), Estimator) and isinstance(Cart(PlainIntegration()), Carrier)
    return sd.navigate(log, Cart(PlainIntegration()))


def test_navigate_and_evaluate_take_both(nav, log):
    found = sd.evaluate(nav, log.truth)
    assert found.horizontal.final < 1.0  # m: a part as bought, not calibrated; without the stops it would be metres
    ours = sd.evaluate(sd.navigate(log, sd.WheeledRobot(heading_deg=0)), log.truth)
    assert ours.horizontal.final < found.horizontal.final


def test_report_and_plots_take_both(nav, log, tmp_path):
    ours = sd.navigate(log, sd.WheeledRobot(heading_deg=0))
    sd.report(tmp_path / "out.html", nav, ours, truth=log.truth)
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "plain" in text and "eskf" in text
    for kind in ("path", "error", "attitude", "difference", "3d"):
        figure = sd.plot({"mine": nav, "theirs": ours}, kind, truth=log.truth)
        labels = {label for axis in figure.axes for label in axis.get_legend_handles_labels()[1]}
        labels |= {text.get_text() for legend in figure.legends for text in legend.get_texts()}
        assert len(figure.axes) >= 1 and labels


def test_a_smoother_of_a_users_own_is_used(log):
    assert sd.navigate(log, Cart(SmoothedIntegration()), smoothed=True).solution.meta["filter"] == "smoothed"
    plain = sd.navigate(log, Cart(PlainIntegration()), smoothed=True)
    assert "plain has no smoother: it is not smoothed" in plain.notes


def test_what_a_notebook_shows(nav, log):
    for thing in (log, nav.solution, nav, sd.evaluate(nav, log.truth)):
        html = thing._repr_html_()
        assert html.startswith("<table>") and html.count("<tr>") >= 3
    assert "accelerometer" in log._repr_html_() and "from the log" in nav._repr_html_()
    named = log.with_meta(part="<b>")
    assert "<b>" not in named._repr_html_() and "&lt;b&gt;" in named._repr_html_()


def test_evaluate_prints_a_table(nav, log):
    lines = str(sd.evaluate(nav, log.truth)).splitlines()
    assert lines[0].split() == ["error", "rms", "median", "largest", "at", "the", "end"]
    assert len({len(line) for line in lines[: lines.index("")]}) == 1  # columns


# the keywords of these are a user's own words, or depend on the first argument
OPEN = {"Recording.with_meta", "filter_by_name"}


def public_functions():
    for name in sd.__all__:
        thing = getattr(sd, name)
        if inspect.ismodule(thing) and hasattr(thing, "__all__"):
            things = {each: getattr(thing, each) for each in thing.__all__}
        else:
            things = {name: thing}
        for inner, each in things.items():
            if inspect.isfunction(each):
                yield inner, each
            elif inspect.isclass(each) and each.__module__.startswith("strapdown"):
                for method in dir(each):
                    found = getattr(each, method)
                    ours = str(getattr(found, "__module__", "")).startswith("strapdown")  # not pydantic's
                    if ours and not method.startswith("_") and hasattr(found, "__code__"):
                        yield f"{inner}.{method}", found


def test_no_public_function_hides_its_keywords():
    hidden, count = set(), 0
    for name, function in public_functions():
        count += 1
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD in kinds:
            hidden.add(name)
    assert count > 100 and hidden == OPEN
    assert "first_rest_s" in inspect.signature(sd.motion.StopAndGo.square).parameters
    assert "corners_m" not in inspect.signature(sd.motion.StopAndGo.square).parameters


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_paths_are_text_or_path(log, kind, tmp_path):
    short = log[:400]
    file = kind(tmp_path / "log.csv")
    sd.write(file, short)
    assert len(sd.read_one(file)) == 400
    nav = sd.navigate(log, sd.WheeledRobot(heading_deg=0))
    sd.write_solution(kind(tmp_path / "nav.csv"), nav.solution)
    assert len(sd.read_solution(kind(tmp_path / "nav.csv"))) == len(log)
    sd.report(kind(tmp_path / "r.html"), nav)
    assert (tmp_path / "r.html").exists()
    found = sd.calibration.calibrate_static(log, gravity=9.80665)
    sd.calibration.write_calibration(kind(tmp_path / "c.toml"), found.calibration)
    assert sd.read_calibration(kind(tmp_path / "c.toml")).corrections.keys() == found.calibration.corrections.keys()
    sd.reporting.save(sd.plot(short), kind(tmp_path / "p.png"))
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")

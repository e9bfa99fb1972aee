"""The report: one file that needs nothing else, states what is known and no more, and lets no text of the user act."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.evaluation.stops import stop_places, stop_table
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.navigation.eskf.outputs import Innovations
from strapdown.reporting.figures import save
from strapdown.reporting.navigation_figures import (
    attitude_figure,
    bias_figure,
    detector_figure,
    error_figure,
    innovation_figure,
    trajectory_figure,
)
from strapdown.reporting.report import write_report
from strapdown.rotation import q_exp, q_mul
from strapdown.types import Event, Solution

PATH = StopAndGo.square(0.6)
T = np.arange(0.0, PATH.duration_s, 0.05)
TRUTH = PATH.at(T)
BELIEVED = PATH.stopped(T)


def drifting(m_per_s, name="eskf", **changes):
    """The truth with a drift to the east, and all that a filter may tell."""
    n = len(T)
    drift = np.outer(T, [m_per_s, 0.0, 0.0])
    said = {
        "meta": {"filter": name, "settings": {"gate_sigma": 3.0, "place": None, "noise": [0.1, 0.2]}},
        "bias": {"gyr_s": np.full((n, 3), 0.01), "acc_s": np.full((n, 3), 0.02)},
        "sigma": {
            "p_n": 0.01 + np.abs(drift) + np.zeros((n, 3)),
            "gyr_s": np.full((n, 3), 1e-3),
            "attitude_n": np.full((n, 3), 1e-2),
        },
        "flags": {"stop_believed": BELIEVED},
        "events": (Event(1.0, 2.5, "mag_rejected", "field of 61 µT, expected 49"),),
        **changes,
    }
    return Solution(T, q_mul(q_exp([0.0, 0.0, 0.01]), TRUTH.q_nb), TRUTH.p_n + drift, TRUTH.v_n, **said)


class Page(HTMLParser):
    """Tags, attributes and text of a page, and that every tag is closed."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def page_of(path):
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    return text, page


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    solutions = {"eskf": drifting(0.0005), "paper's filter": drifting(0.004, "ekf15")}
    detector = detector_figure(T, 1.0 + np.sin(T) ** 2, 1.5, drifting(0.0).flags, "variance")
    write_report(
        path,
        solutions,
        title="Paper C's square",
        note="seed 1",
        reference=TRUTH,
        stops=PATH.stops,
        conditions={"log": {"file": "run.csv", "rate_hz": 20.0}},
        more_figures={"Detector": detector},
    )
    return path, solutions


def test_it_needs_nothing_but_itself(full):
    text, page = page_of(full[0])
    bare = re.sub(
        r'<script type="application/json">.*?</script>', "", re.sub(r'src="data:[^"]*"', "", text), flags=re.S
    )
    assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch\(|import\(|XMLHttpRequest", bare)
    assert not any("src" in script for script in page.all("script")) and not page.all("link") and not page.all("iframe")
    sources = [image["src"] for image in page.all("img")]
    assert len(sources) == 6  # path, error, difference, attitude, biases, detector
    for source in sources:
        kind, _, data = source.partition(",")
        assert kind == "data:image/svg+xml;base64"
        svg = base64.b64decode(data).decode()
        assert svg.rstrip().endswith("</svg>") and "<image" not in svg
        # what a picture names of the web are names of formats, and nothing is fetched from there
        assert not re.findall(r'(?:href|src)="(?!#)', svg)
    assert len(text) < 3e6


def test_the_first_page_is_the_table_and_the_path(full):
    path, solutions = full
    text, page = page_of(path)
    first = text[: text.index("</section>")]
    assert first.count("<img") == 1 and "Computed and reference path" in first and "Errors at the stops" in first
    assert "break-after: page" in text and "size: A4" in text
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", first[first.index('class="stops"') :])
    for name, solution in solutions.items():
        table = stop_table(solution, PATH.stops)
        last = [f"{table.final.dx_m:.4f}", f"{table.final.dr_m:.4f}", f"{table.final.percent:.2f}"]
        assert set(last) <= set(cells), name
        assert f"{table.final.percent:.2f} % of the path" in page.words
    assert len(cells) == len(PATH.stops) * 10  # stop, L, and four for each of two
    assert first.count('class="worst"') == 2


def test_conditions_events_and_versions_are_told(full):
    _, page = page_of(full[0])
    for words in (
        "rate hz 20",
        "settings.gate sigma 3",
        "settings.place none",
        "settings.noise 0.1, 0.2",
        "numpy",
        "Python",
    ):
        assert words in page.words
    assert "1.00 2.50 mag rejected field of 61 µT, expected 49" in page.words


def test_the_same_data_give_the_same_bytes(tmp_path):
    for name in ("a.html", "b.html"):
        write_report(tmp_path / name, {"eskf": drifting(0.001, bias={})}, stops=PATH.stops)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_without_truth_there_are_no_errors_but_sigma_and_the_closing(tmp_path):
    alone = drifting(0.001)
    write_report(tmp_path / "r.html", {"eskf": alone})
    text, page = page_of(tmp_path / "r.html")
    assert "dr, m" not in page.words and "Error along" not in page.words and "rms" not in page.words
    assert "σ, m" in page.words and "from start to end" in page.words and "No stops are known" in page.words
    rows = re.findall(r"<tr[^>]*>(?:<td[^>]*>[^<]*</td>){7}</tr>", text)
    assert len(rows) == len(PATH.stops)
    bare = Solution(T, TRUTH.q_nb, TRUTH.p_n)  # no stops, no sigma, no biases, no events
    write_report(tmp_path / "bare.html", {"dead reckoning": bare, "again": bare})
    _, page = page_of(tmp_path / "bare.html")
    assert "Believed stops" not in page.words and "Biases" not in page.words and "None." in page.words


def test_words_of_the_user_stay_words(tmp_path):
    evil = '<script>alert("x")</script>&<img src=x onerror=y> $a_$ {{ 7*7 }}'
    solution = drifting(0.001, meta={evil: evil}, bias={}, events=(Event(0.0, 1.0, evil, evil),))
    told = {"title": evil, "note": evil, "conditions": {evil: {evil: evil}}}
    write_report(tmp_path / "r.html", {evil: solution}, stops=PATH.stops, **told)
    text, page = page_of(tmp_path / "r.html")
    assert [script.get("type") for script in page.all("script")] == ["application/json"] * 2 + [None]
    assert "<script>alert" not in text and len(page.all("img")) == 2
    assert all("onerror" not in a for a in page.all("img"))
    assert evil in page.words and "{{ 7*7 }}" in text


def test_stops_that_cannot_be_matched_are_a_sentence_not_a_failure(tmp_path):
    no_stops = drifting(0.004, flags={}, bias={})
    places = stop_places(PATH.stops.p_n)
    write_report(tmp_path / "r.html", {"ours": drifting(0.0005, bias={}), "other": no_stops}, stops=places)
    _, page = page_of(tmp_path / "r.html")
    assert "other: no table of stops, because the solution has no believed stop" in page.words
    assert "Errors at the stops" in page.words


def test_many_stops_and_many_events(tmp_path):
    path = StopAndGo.straight(10.0, move_s=0.5, rest_s=0.5)
    t = np.arange(0.0, path.duration_s, 0.05)
    truth = path.at(t)
    events = tuple(Event(float(k), k + 0.5, "gap", f"number {k}") for k in range(100))
    solution = Solution(t, truth.q_nb, truth.p_n, flags={"stop_believed": path.stopped(t)}, events=events)
    write_report(tmp_path / "r.html", {"eskf": solution}, stops=path.stops)
    text, page = page_of(tmp_path / "r.html")
    first = text[: text.index("</section>")]
    assert "number 59" in page.words and "number 60" not in page.words and "and 40 more" in page.words
    assert first.count("<tr") > 35 and first.count("<img") == 1


def test_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "r.html"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="at least one"):
        write_report(path, {})
    with pytest.raises(InputError, match="can be compared"):
        late = PATH.at(T[-3:])
        write_report(path, {"eskf": Solution(T[:5], TRUTH.q_nb[:5], TRUTH.p_n[:5])}, reference=late)
    assert path.read_text(encoding="utf-8") == "precious" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="does not exist"):
        write_report(tmp_path / "none" / "r.html", {"eskf": drifting(0.0)})


def test_pictures_show_the_data(tmp_path):
    """Lines and marks of the figures are the numbers that went in."""
    a, b = drifting(0.0005), drifting(0.004)
    panel = trajectory_figure({"a": a, "b": b}, TRUTH, PATH.stops, "x").axes[0]
    lines = {line.get_label(): line for line in panel.get_lines()}
    assert np.allclose(lines["reference stops"].get_xydata(), PATH.stops.p_n[:, :2], atol=0)
    ends = np.flatnonzero(BELIEVED & ~np.append(BELIEVED[1:], False))
    assert np.array_equal(lines["stops of b"].get_xydata(), b.p_n[ends, :2])
    assert lines["stops of b"].get_markerfacecolor() == "black" and panel.get_aspect() == 1.0
    low, high = np.array([panel.get_xlim(), panel.get_ylim()]).T
    assert (low < np.minimum(TRUTH.p_n, b.p_n).min(axis=0)[:2]).all() and (high > TRUTH.p_n.max(axis=0)[:2]).all()

    east = error_figure({"a": a, "b": b}, TRUTH, PATH.stops).axes[1]
    drift = next(line for line in east.get_lines() if line.get_label() == "estimate − reference").get_xydata()
    np.testing.assert_allclose(drift[:, 1], 0.004 * drift[:, 0], atol=1e-12)  # roundoff

    heading = attitude_figure({"a": a}, TRUTH).axes[0]
    shown = heading.get_lines()[1].get_ydata()
    assert np.abs(np.diff(shown)).max() < 90.0 and abs(shown[0] + np.degrees(0.01)) < 1e-9  # counter-clockwise of north
    assert shown[-1] < -265.0  # three quarter turns to the left, through south, without a jump

    gyr = bias_figure({"a": a}).axes[0].get_lines()[0].get_ydata()
    np.testing.assert_allclose(gyr, np.degrees(0.01), rtol=1e-12)
    assert bias_figure({"x": Solution(T, TRUTH.q_nb, TRUTH.p_n)}) is None

    nis = np.array([0.0, 1.0, 50.0])
    figure = innovation_figure({"heading": Innovations(np.arange(3.0), nis, np.array([True, True, False]), 1)})
    assert "1 component, mean 0.5" in figure.axes[0].get_title(loc="left")
    save(figure, tmp_path / "nis.png")
    assert (tmp_path / "nis.png").read_bytes()[:4] == b"\x89PNG"

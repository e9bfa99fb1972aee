"""What a claim is: its kind fits its numbers, its limit follows from chance, and it can fail."""

import json
import math

import numpy as np
import pytest
from tests.environment.session.session_cases import on_truth

from helpers import command
from strapdown.papers import chance
from strapdown.papers.b.closed_loop.noise_used import LEAST, shaking_ratio
from strapdown.papers.claim import Claim, by_kind, counts
from strapdown.papers.outcome import Outcome, Table
from strapdown.papers.page import claims_figure, limit_text, write_page


def claim(kind, published=None, ours=1.0, tolerance=2.0, relation="<=", name="x"):
    return Claim(name, "what", published, ours, tolerance, "source", relation, kind=kind)


@pytest.mark.parametrize(
    ("kind", "published", "relation", "tolerance"),
    [
        ("requirement", 1.0, "<=", 2.0),  # a number of ours in the published column
        ("self-check", 1.0, "<=", 2.0),
        ("reproduces", None, "~", 2.0),
        ("reproduces", 1.0, "<=", 2.0),
        ("beats", 1.0, "<=", 2.0),  # a limit that is worse than what was published
        ("beats", 3.0, ">=", 2.0),
        ("beats", 1.0, "~", 2.0),
        ("proves", None, "<=", 2.0),
    ],
)
def test_a_claim_that_is_not_what_its_kind_states_cannot_be_made(kind, published, relation, tolerance):
    with pytest.raises(ValueError, match="claim x"):
        claim(kind, published, relation=relation, tolerance=tolerance)


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (claim("beats", 3.0, ours=2.0), True),
        (claim("beats", 3.0, ours=2.1), False),
        (claim("reproduces", 4.0, ours=2.1, relation="~"), True),
        (claim("reproduces", 4.0, ours=6.1, relation="~"), False),
        (claim("reproduces", 4.0, ours=2.0, relation="factor"), True),
        (claim("reproduces", 4.0, ours=8.1, relation="factor"), False),
        (claim("reproduces", 4.0, ours=1.9, relation="factor"), False),
        (claim("requirement", ours=math.nan), False),
        (claim("requirement", ours=math.nan, relation=">="), False),
    ],
)
def test_when_a_claim_holds(made, holds):
    assert made.holds is holds


def test_a_claim_is_plain_json():
    plain = claim("requirement", ours=math.nan).as_dict()
    assert plain["ours"] is None and plain["published"] is None and plain["holds"] is False
    assert {"id", "kind", "what", "published", "ours", "tolerance", "holds"} <= set(plain)
    json.dumps(plain, allow_nan=False)


def test_kinds_are_counted_apart():
    some = [claim("beats", 3.0), claim("requirement"), claim("requirement", ours=5.0), claim("self-check")]
    assert counts(some) == {"beats": (1, 1), "requirement": (1, 2), "self-check": (1, 1)}
    assert list(by_kind(some)) == ["beats", "requirement", "self-check"]


@pytest.mark.parametrize("runs", [20, 100])
def test_the_limits_are_those_of_chance(runs):
    """Of 4000 sets of runs of 12 standard normal numbers, 4 miss each limit (FALSE_ALARM): chance, 0 to 12 do."""
    z = np.random.default_rng(5).standard_normal((4000, runs, 12))
    means, sigmas = np.abs(z.mean(axis=1)).max(axis=1), z.std(axis=1)
    low, high = chance.sigma_limits(runs, 12)
    for missed in (means > chance.mean_limit(runs, 12), sigmas.min(axis=1) < low, sigmas.max(axis=1) > high):
        assert missed.sum() <= 12
    # and the limits are no wider than that: at a tenth of the false alarms they would be missed more often
    assert (means > 0.8 * chance.mean_limit(runs, 12)).sum() > 12


def test_few_runs_prove_less_and_are_as_honest():
    errors = np.random.default_rng(1).standard_normal((100, 3))
    for runs in (10, 20, 100):
        found = chance.normal_claims("x", "errors", errors[:runs], "ours")
        assert all(each.holds for each in found)
    assert chance.mean_limit(20) == pytest.approx(chance.mean_limit(100) * math.sqrt(5.0))
    wrong = chance.normal_claims("x", "errors", 1.6 * errors, "ours")  # sigmas reported too small
    assert "x/most" in [each.id for each in wrong if not each.holds]


def test_how_many_of_the_runs_may():
    """Of 50 runs, of which each does it with 5 %: more than the limit in one of 1000."""
    draws = np.random.default_rng(2).binomial(50, 0.05, 200_000)
    assert (draws > chance.most_of(50, 0.05)).mean() < 1e-3 < (draws > chance.most_of(50, 0.05) - 1).mean()


def test_the_mean_of_runs_lies_above_that_of_all_by_chance_alone():
    draws = np.random.default_rng(3).exponential(1.0, (4000, 50))
    beyond = sum(each.mean() > 1.0 + chance.excess_of_mean(each) for each in draws)
    assert beyond <= 12  # chance: 4
    assert chance.excess_of_mean(np.array([1.0])) == 0.0


def test_seeds_of_a_repetition_are_others():
    assert list(chance.seeds_of(2000, 3)) == [2000, 2001, 2002]
    assert not set(chance.seeds_of(2000, 10_000)) & set(chance.seeds_of(2000, 10_000, 1))


def test_noise_is_used_fails_for_a_controller_that_reads_the_truth():
    def read_truth(session):
        session.runner.replace(on_truth(session.runner.diagram))
        session.attach()

    assert shaking_ratio(1) >= LEAST
    assert shaking_ratio(1, read_truth) < 1.001


def test_the_page_has_claims_first_and_needs_nothing_else(tmp_path):
    out = Outcome(
        [claim("beats", 3.0, name="A/first"), claim("requirement", ours=5.0, name="A/second")],
        [Table("Details <of> it", ("a", "b"), [("1", "2")])],
        {"A_figure.png": claims_figure([claim("self-check")])},
        ["a note"],
    )
    write_page(tmp_path / "page.html", "A", out, {"command": "strapdown reproduce A"})
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.index("A/\u200bfirst") < text.index("A/\u200bsecond") < text.index("Details &lt;of&gt; it")
    assert "1 of 1" in text and "0 of 1" in text and "A note." in text
    assert "10.34031/2071-7318-2024-10-3-125-135" in text
    assert "http" not in text.replace("http://www.w3.org", "") and "<script" not in text


def test_limits_in_words():
    assert limit_text(claim("reproduces", 4.0, relation="factor")) == "within a factor 2"
    assert limit_text(claim("reproduces", 4.0, relation="~")) == "within 2"
    assert limit_text(claim("requirement")) == "<= 2"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("A", "--seed", "2"), "no random runs"),
        (("B", "sensors", "--seed", "-1"), "--seed is -1"),
        (("A", "--data", "."), "--data belongs to papers B and C"),
        (("C", "--recorded", "."), "--recorded belongs to paper A"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    said = command("reproduce", *arguments)
    assert said.code == 2 and words in said.err and len(said.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []

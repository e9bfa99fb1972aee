"""Paper A in every engine, short form: the claims at 50 ms hold, and the command prints them."""

import json

import pytest

from helpers import command, needs
from strapdown.papers.a import experiments
from strapdown.papers.a.engine_claims import claims_of, tables_of
from strapdown.papers.a.engines import run_in

SHORT = ("a-b", "a-c", "a-d")


@pytest.fixture
def stand_in():
    needs("coppeliasim")
    from coppeliasim_server import StandIn

    with StandIn() as server:
        yield server


@pytest.mark.parametrize("engine", ["mujoco", "pybullet", "drake"])
def test_engines_that_give_accelerations_are_exact(engine):
    needs(engine)
    run = run_in(engine, (*SHORT, "a-e"), (50,))
    claims = {claim.id: claim for claim in claims_of(run)}
    assert len(claims) == 6 and all(claim.holds for claim in claims.values()), claims
    assert claims[f"A-c/{engine}/50ms/acc"].ours < 1e-14
    (errors, run_ups) = tables_of([run])
    assert len(errors.rows) == 3 * (3 + 1 + 1) and len(run_ups.rows) == 6
    paper = next(r for r in run.rows if (r.experiment, r.method) == ("A-c", "paper"))
    assert 0.008 < paper.acc < 0.01  # half a step of w times r w^2: the paper's own method is not exact in any engine


def test_coppeliasim_meets_what_was_published(stand_in):
    run = run_in("coppeliasim", (*SHORT, "a-e"), (50, 10), server=stand_in.address)
    claims = {claim.id: claim for claim in claims_of(run)}
    assert all(claim.holds for claim in claims.values()), [c for c in claims.values() if not c.holds]
    assert claims["A-e/coppeliasim/50ms/acc"].relation == ">=" and "A-e/coppeliasim/10ms/acc" not in claims


@pytest.mark.parametrize("engine", ["pybullet", "drake"])
def test_the_command_prints_the_claims(engine, tmp_path):
    needs(engine)
    said = command("reproduce", "A", "a-c", "--engine", engine, "-o", tmp_path / "out", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert {claim["id"] for claim in found["claims"]} == {
        f"A-c/{engine}/{step}ms/{signal}" for step in (50, 10, 1) for signal in ("acc", "gyr")
    }
    assert (tmp_path / "out" / "A-c_50ms.parquet").is_file() and (tmp_path / "out" / "paper-A.html").is_file()


def test_the_command_runs_in_coppeliasim(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "STEPS_MS", (50,))  # at 1 ms a run has thousands of calls
    options = ("--engine", "coppeliasim", "--server", stand_in.address, "-o", tmp_path / "out")
    said = command("reproduce", "A", "a-d", *options)
    assert said.code == 0 and "A-d/coppeliasim/50ms/line" in said.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("B", "--engine", "drake"), "--engine belongs to paper A"),
        (("A", "--engine", "ode"), 'engine "ode" is not known; valid names: mujoco, pybullet, drake, coppeliasim'),
        (("A", "--engine", "drake", "--server", "localhost:1"), "--server belongs to --engine coppeliasim"),
        (("A", "--engine", "coppeliasim", "--server", "localhost:1"), "no CoppeliaSim listens at localhost:1"),
        (("A", "--engine", "drake", "--recorded", "."), "omit --engine"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, sentence, tmp_path, monkeypatch):
    needs("drake")
    needs("coppeliasim")
    monkeypatch.chdir(tmp_path)
    said = command("reproduce", *arguments)
    assert said.code == 2 and sentence in said.err and not list(tmp_path.iterdir())

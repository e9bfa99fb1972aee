"""Sessions in other engines: the same diagram and sensors; no rewind where the engine keeps no snapshots."""

import subprocess
import sys

import numpy as np
import pytest

from helpers import needs
from strapdown.environment.session.scenario.file import scenario_from
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.live import Rewindable


def session(engine, base="manipulator"):
    return Session(scenario_from({"version": 1, "base": base, "engine": engine}, "scenario.toml"))


@pytest.mark.parametrize(("engine", "rewinds"), [("drake", True), ("pybullet", False)])
def test_a_session_runs_in_another_engine(engine, rewinds):
    needs(engine)
    here = session(engine)
    here.operate(power=True)
    here.advance(0.3)
    there = here.truth.copy()
    assert here.rewinds == rewinds == isinstance(here.plant, Rewindable)
    if rewinds:
        here.rewind(0.1)
        assert here.t_s == 0.1
        here.advance(0.2)
    else:
        with pytest.raises(InputError, match=r'engine "pybullet" keeps no snapshots, .* has no rewind'):
            here.rewind(0.1)
        with pytest.raises(InputError, match="reset goes back to the start"):
            here.snapshot()
        assert here.t_s == 0.3  # nothing has happened
        here.reset()
        assert here.t_s == 0.0
        here.operate(power=True)
        here.advance(0.3)
    assert np.array_equal(here.truth, there)


@pytest.mark.parametrize("vehicle", ["quadcopter", "mars_helicopter", "rover"])
def test_vehicles_with_rotors_or_wheels_need_mujoco(vehicle):
    needs("drake")
    with pytest.raises(InputError, match="as quadcopter, helicopter and rover do, and needs MuJoCo"):
        session("drake", vehicle)


def test_engines_are_not_imported_before_they_are_used():
    code = (
        "import sys, strapdown.cli.main, strapdown.environment.simulate, strapdown.environment.session.session; "
        "print([n for n in ('pybullet', 'pydrake', 'zmq', 'cbor2') if n in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == "[]"

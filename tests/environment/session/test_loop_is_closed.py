"""Sensors are in the loop: what they read decides how the vehicle flies. A controller on TRUTH does not care."""

import numpy as np
import pytest
from tests.environment.session.session_cases import on_truth, short

from strapdown.environment.session.recording.outcome import figures
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.session import Session

SEEDS = range(1, 6)
NOISE = 100.0


def attitude_rmse(noise_factor: float, seed: int, truth: bool) -> float:
    scenario = short(duration_s=10.0)
    loud = tuple(table.model_copy(update={"noise_factor": noise_factor}) for table in scenario.sensor)
    session = Session(scenario.model_copy(update={"sensor": loud}), seed=seed)
    if truth:
        session.runner.replace(on_truth(session.runner.diagram))
        session.attach()
    session.run()
    found = figures(recording_of(session))
    assert found["tilt_rmse_deg"] is not None
    return found["tilt_rmse_deg"]


def ratio(truth: bool) -> float:
    """RMSE of roll and pitch with 100 times the noise, over that with the noise of the part; mean of the seeds."""
    loud = np.mean([attitude_rmse(NOISE, seed, truth) for seed in SEEDS])
    quiet = np.mean([attitude_rmse(1.0, seed, truth) for seed in SEEDS])
    return float(loud / max(quiet, 1e-12))


def test_noise_times_100_raises_the_attitude_error_five_times():
    assert ratio(truth=False) >= 5.0


def test_the_same_check_fails_for_a_controller_that_reads_truth():
    assert not ratio(truth=True) >= 5.0


def test_the_vehicle_itself_flies_worse_with_noise():
    """Not only the estimate: the true attitude shakes."""

    def shaking(factor: float) -> float:
        scenario = short(duration_s=8.0)
        loud = tuple(table.model_copy(update={"noise_factor": factor}) for table in scenario.sensor)
        session = Session(scenario.model_copy(update={"sensor": loud}), seed=1)
        session.run()
        rates = recording_of(session).truth.w_nb_b[-500:]
        return float(rates.std())

    assert shaking(NOISE) > 1.5 * shaking(1.0)  # 1.8 measured; the rotors and the low-pass filters smooth the rest


@pytest.mark.parametrize("name", ["rover", "manipulator", "mars_helicopter"])
def test_every_vehicle_runs_its_scenario_without_loss(name):
    from strapdown.environment.session.scenario.file import read_scenario

    scenario = read_scenario(name)
    session = Session(scenario)
    session.advance(min(scenario.duration_s, 16.0))
    found = figures(recording_of(session))
    assert not found["lost"] and not found["stopped"]

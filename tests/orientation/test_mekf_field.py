"""Which magnetic field the Kalman filter of attitude and bias believes, and how soon it forgets a wrong one."""

import numpy as np
import pytest

from helpers import shared_data
from orientation_cases import DEG, G
from strapdown.evaluation.attitude import attitude_errors
from strapdown.orientation.mekf import Mekf
from strapdown.papers.b.broad_data import read_trial
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_log, q_mul, q_rotate
from strapdown.types import Recording

RATE_HZ = 50.0
FIELD_N = np.array([0.0, 20.0, -43.0])  # uT


def readings(q_ns, field_n, seed=0):
    n, rng = len(q_ns), np.random.default_rng(seed)
    turn = q_log(q_mul(q_conj(q_ns[:-1]), q_ns[1:])) * RATE_HZ
    noise = rng.normal(size=(3, n, 3))
    return Recording(
        np.arange(n) / RATE_HZ,
        np.vstack([turn[:1], turn]) + 0.1 * DEG * noise[0],
        q_rotate(q_conj(q_ns), np.array([0.0, 0.0, G])) + 0.02 * noise[1],
        q_rotate(q_conj(q_ns), field_n) + 0.5 * noise[2],
    )


def spun(rate_dps, duration_s):
    """About the vertical, tilted."""
    t = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    return t, q_mul(q_exp(np.outer(rate_dps * DEG * t, [0.0, 0.0, 1.0])), q_from_euler(0.3, -0.4, 0.5))


def heading_deg(found, q_ns):
    return np.rad2deg(q_log(q_mul(found.q_nb, q_conj(q_ns)))[:, 2])


def iron_until(t, until_s, iron):
    return FIELD_N + np.outer(np.clip(until_s - t, 0.0, 1.0), iron)


@pytest.mark.parametrize("iron", [[20.0, -10.0, 10.0], [30.0, -10.0, 30.0], [0.0, -60.0, 20.0]])
def test_a_start_next_to_iron_is_forgotten_while_the_sensor_turns(iron):
    """10 s next to iron that turns the field by up to 180 deg: forgotten when the true field has been seen for as long.
    By mag_patience_s alone it would take a minute."""
    t, q_ns = spun(40.0, 40.0)
    error = heading_deg(Mekf().run(readings(q_ns, iron_until(t, 10.0, iron))), q_ns)
    assert np.abs(error[t < 9.0]).min() > 30.0  # it was deceived
    assert np.abs(error[t > 26.0]).max() < 6.0  # model: a field of 2 deg over 3 s, and the bias learned meanwhile


@pytest.mark.parametrize(("rate_dps", "believed"), [(24.0, True), (16.0, False)])
def test_only_a_sensor_that_turns_tells_a_place_from_iron_on_the_part(rate_dps, believed):
    t, q_ns = spun(rate_dps, 45.0)
    found = Mekf().run(readings(q_ns, iron_until(t, 10.0, [20.0, -10.0, 10.0])))
    assert found.flags["mag_rejected"][(t > 11.0) & (t < 18.0)].all()
    assert (not found.flags["mag_rejected"][t > 24.0].any()) == believed


def test_single_readings_that_pass_by_chance_do_not_keep_a_wrong_field():
    """At rest the true dip is 11.8 deg from the one of the start, and noise lets some readings pass the limit of 10."""
    t, q_ns = spun(0.0, 110.0)
    found = Mekf().run(readings(q_ns, iron_until(t, 10.0, [0.0, -30.0, 0.0])))
    assert (~found.flags["mag_rejected"][(t > 12.0) & (t < 60.0)]).any()  # some did
    assert np.abs(heading_deg(found, q_ns)[t > 95.0]).max() < 6.0  # after mag_patience_s; model: as above


@pytest.mark.parametrize("name", ["30_disturbed_stationary_magnet_C", "34_disturbed_attached_magnet_3cm"])
def test_magnets_do_not_carry_the_heading_off(name):
    """BROAD; without the weight by norm and dip the heading is off by 11 and 14 deg at worst."""
    trial = read_trial(shared_data("broad") / f"{name}.mat")
    error = attitude_errors(Mekf().run(trial.recording).q_nb, trial.q_ns).heading
    assert np.rad2deg(np.nanmax(np.abs(error))) < 8.0

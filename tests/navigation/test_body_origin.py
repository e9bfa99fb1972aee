"""From the sensor's path to that of the body's origin: the inverse of how a lever arm makes the one from the other."""

import numpy as np

from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.body_origin import body_motion, of_body_origin, sensor_at_start
from strapdown.rotation import q_conj, q_from_euler, q_mul
from strapdown.types import Recording, Solution

R_BS_B = (0.3, -0.2, 0.5)
Q_BS = q_from_euler(0.4, -0.3, 2.0)
PATH = StopAndGo.square(start_yaw_rad=0.7, first_rest_s=2.0)
BODY = PATH.at(np.arange(0.0, 20.0, 0.01))
SENSOR = BODY.seen_from(R_BS_B, Q_BS)


def test_a_lever_is_taken_off_place_and_velocity():
    sigma = {"p_n": np.full((len(BODY), 3), 0.01), "attitude_n": np.tile([0.0, 0.0, 0.02], (len(BODY), 1))}
    q_nb = q_mul(SENSOR.q_nb, q_conj(Q_BS))
    bias = {"gyr_s": np.full((len(BODY), 3), 0.1)}
    told = Solution(BODY.t, q_nb, SENSOR.p_n, SENSOR.v_n, sigma=sigma, bias=bias)
    log = Recording(BODY.t, gyr_s=SENSOR.w_nb_b + 0.1)
    found = of_body_origin(told, log, Q_BS, R_BS_B)
    np.testing.assert_allclose(found.p_n, BODY.p_n, atol=1e-13)  # roundoff
    np.testing.assert_allclose(found.v_n, BODY.v_n, atol=1e-13)
    lever = np.hypot(0.3, 0.2)  # level: a turn about the vertical by 0.02 rad moves the origin across it
    across = np.sqrt(np.sum(found.sigma["p_n"][:, :2] ** 2, axis=1) - 2 * 0.01**2)
    np.testing.assert_allclose(across, 0.02 * lever, rtol=1e-9)
    np.testing.assert_allclose(found.sigma["p_n"][:, 2], 0.01, rtol=1e-12)
    assert of_body_origin(told, log, Q_BS, (0.0, 0.0, 0.0)) is told


def test_the_bodys_motion_is_that_whose_sensor_this_is():
    found = body_motion(SENSOR, Q_BS, R_BS_B)
    for name in ("p_n", "v_n", "a_n", "w_nb_b", "dw_nb_b"):
        np.testing.assert_allclose(getattr(found, name), getattr(BODY, name), atol=1e-12)  # roundoff
    assert np.abs(np.sum(found.q_nb * BODY.q_nb, axis=1)).min() > 1.0 - 1e-12


def test_the_sensor_starts_where_its_lever_puts_it():
    log = Recording(BODY.t, gyr_s=SENSOR.w_nb_b, acc_s=SENSOR.specific_force_b(9.81))
    aligned = align_to_yaw(log, 0.7, q_bs=Q_BS)
    np.testing.assert_allclose(sensor_at_start(aligned, Q_BS, R_BS_B), SENSOR.p_n[0], atol=1e-12)  # roundoff

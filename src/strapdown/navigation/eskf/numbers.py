"""The settings of the error-state filter as the kernel reads them, and the covariance it starts from."""

from typing import TYPE_CHECKING

import numpy as np

from strapdown import earth
from strapdown.errors import InputError
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.kernels.navigation.eskf.zero_rates import rounded_in_python
from strapdown.navigation.alignment import Alignment
from strapdown.navigation.eskf.updates import MagneticHeading
from strapdown.rotation import matrix, q_conj
from strapdown.types import Array

if TYPE_CHECKING:
    from strapdown.navigation.eskf.filter import Eskf

SURE = 1e-6  # chance of an innovation beyond which a filter without gates is not near the truth
TURN_ALARM = 1e-4  # how often a stop that does not turn may be taken for one that does
_AT_ONCE = 1e9  # per s and per m: a disturbance that does not last


def first_covariance(filt: "Eskf", alignment: Alignment) -> Array:
    """The error of tilt follows the accelerometer's bias: level means that R (f - b) points up, so phi x g = (R b),
    frame n. An attitude that was given (a rest of 0 s) does not depend on it.
    """
    g = earth.gravity(filt.gravity)
    if not g > 0.0:
        raise InputError("gravity is 0: there is no vertical to align to, and a stop tells nothing of the tilt")
    cov = np.zeros((at.N, at.N))
    gyr, acc, phi = (slice(k, k + 3) for k in (at.GYR_BIAS, at.ACC_BIAS, at.PHI_N))
    # the rest gives the bias at its middle
    gyr_var = (
        np.asarray(alignment.gyr_bias_sigma) ** 2 + _wander(filt, filt.gyr_drift, filt.gyr_walk) * alignment.rest_s
    )
    if alignment.rest_s > 0.0 and alignment.rows > 1:
        step_s = alignment.rest_s / (alignment.rows - 1)
        gyr_var = gyr_var + rounded_in_python(filt.gyr_resolution**2 / 12.0, filt.gyr_white**2, step_s)
    cov[gyr, gyr] = np.diag(np.minimum(gyr_var, filt.gyr_bias_sigma**2 + filt.gyr_drift**2))
    var = filt.acc_bias_sigma**2 + filt.acc_drift**2
    cov[acc, acc] = var * np.eye(3)
    tilt_by_bias = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / g @ matrix(alignment.q_ns)
    if not alignment.rest_s > 0.0:
        tilt_by_bias[:] = 0.0
    cov[phi, acc] = var * tilt_by_bias
    cov[acc, phi] = cov[phi, acc].T
    tilt, heading = alignment.tilt_sigma_rad**2, alignment.heading_sigma_rad**2
    cov[phi, phi] = var * tilt_by_bias @ tilt_by_bias.T + np.diag([tilt, tilt, heading])
    mag = filt.magnetic_heading
    if mag is not None and mag.disturbance_rad > 0.0:
        m, z = at.MAG_BIAS, at.PHI_N + 2
        cov[m, m] = mag.disturbance_rad**2
        if alignment.heading_from_mag:  # the heading took the disturbance for the Earth's field
            cov[z, z] = max(heading, cov[m, m])
            cov[m, z] = cov[z, m] = -cov[m, m]
            cov[z, z] += mag.sigma_rad**2
    return cov


def _wander(filt: "Eskf", drift: float, walk: float) -> float:
    return 2.0 * drift**2 / filt.drift_time_s + walk**2


def settings_as_numbers(filt: "Eskf") -> Array:
    """The settings in the form of the kernel; a variance of -1 marks a measurement that is not used."""
    from scipy.special import chdtri

    s = np.zeros(at.S_SIZE)
    s[at.S_GRAVITY] = earth.gravity(filt.gravity)
    s[at.S_GYR_Q], s[at.S_ACC_Q] = filt.gyr_white**2, filt.acc_white**2
    s[at.S_GYR_BIAS_Q] = _wander(filt, filt.gyr_drift, filt.gyr_walk)
    s[at.S_ACC_BIAS_Q] = _wander(filt, filt.acc_drift, filt.acc_walk)
    s[at.S_GYR_BIAS_CAP] = filt.gyr_bias_sigma**2 + filt.gyr_drift**2 if filt.gyr_walk == 0.0 else np.inf
    s[at.S_ACC_BIAS_CAP] = filt.acc_bias_sigma**2 + filt.acc_drift**2 if filt.acc_walk == 0.0 else np.inf
    if filt.non_holonomic is None:  # a body that tilts: errors of scale and axes act on gravity as another bias
        s[at.S_ACC_BIAS_CAP] += s[at.S_GRAVITY] ** 2 * (filt.acc_scale_sigma**2 + filt.acc_axes_sigma**2)
    s[at.S_GAP_S] = filt.gap_s
    s[at.S_GAP_ACC_Q], s[at.S_GAP_RATE_Q] = filt.gap_acc_m_s2**2, filt.gap_rate_rad_s**2
    s[at.S_GAP_TILT] = filt.gap_tilt_rad**2
    s[at.S_GATE_1], s[at.S_GATE_3] = (float(chdtri(k, filt.gate_probability)) for k in (1, 3))
    s[at.S_LINEAR_3] = min(s[at.S_GATE_3], float(chdtri(3, SURE)))
    for place in (
        *(at.S_ZUPT_R, at.S_ZARU_R, at.S_FLOOR_V_R, at.S_FLOOR_P_R),
        *(at.S_SIDE_R, at.S_UP_R, at.S_ODO_R, at.S_MAG_R),
    ):
        s[place] = -1.0
    if filt.zero_velocity is not None:
        s[at.S_ZUPT_R], s[at.S_INSIST_S] = filt.zero_velocity.sigma_m_s**2, filt.zero_velocity.insist_s
        s[at.S_ZUPT_ARM2] = filt.zero_velocity.arm_m**2
    if filt.zero_rate is not None:
        s[at.S_ZARU_R], s[at.S_STILL_Q] = filt.zero_rate.sigma_rad_s**2, filt.zero_rate.turning**2
        s[at.S_TURN_3], s[at.S_TURN_SHARE] = float(chdtri(3, TURN_ALARM)), filt.zero_rate.unseen_turn
    s[at.S_ADAPTS], s[at.S_HUBER_2] = float(filt.follows_shaking), filt.huber_sigmas**2
    floor, rolling = filt.flat_floor, filt.non_holonomic
    if floor is not None:
        s[at.S_FLOOR_V_R] = -1.0 if floor.velocity_sigma_m_s is None else floor.velocity_sigma_m_s**2
        s[at.S_FLOOR_P_R] = -1.0 if floor.height_sigma_m is None else floor.height_sigma_m**2
        s[at.S_FLOOR_LENGTH], s[at.S_FLOOR_MOUNTING_VAR] = floor.length_m, floor.mounting_sigma_rad**2
        s[at.S_FLOOR_TILT], s[at.S_FLOOR_SLOPE_VAR] = np.cos(floor.tilt_rad), floor.slope_of_pitch**2
    if rolling is not None:
        s[at.S_SIDE_R] = rolling.sideways_sigma_m_s**2
        s[at.S_UP_R] = -1.0 if rolling.upward_sigma_m_s is None else rolling.upward_sigma_m_s**2
    if filt.wheel_travel is not None:
        wheel = filt.wheel_travel
        s[at.S_ODO_R], s[at.S_ODO_WINDOW_S], s[at.S_ODO_SCALE] = wheel.sigma_m**2, wheel.window_s, wheel.scale
        s[at.S_ODO_SCALE_VAR], s[at.S_SLIP_VAR] = wheel.scale_sigma**2, wheel.slip**2
    s[at.S_GYR_EXCESS_VAR] = filt.gyr_matrix_sigma**2
    s[at.S_ACC_SCALE_VAR], s[at.S_ACC_AXES_VAR] = filt.acc_scale_sigma**2, filt.acc_axes_sigma**2
    s[at.S_GYR_READ], s[at.S_ACC_READ] = filt.gyr_resolution**2 / 12.0, filt.acc_resolution**2 / 12.0
    if filt.magnetic_heading is not None:
        _magnetic_numbers(s, filt.magnetic_heading)
    s[at.S_R_SB : at.S_R_SB + 9] = matrix(q_conj(filt.q_bs)).ravel()
    s[at.S_R_BS_B : at.S_R_BS_B + 3] = filt.r_bs_b
    s[at.S_LEVER_VAR] = filt.lever_sigma_m**2
    s[at.S_PAST_STEP_S] = filt.fix_delay_s / (at.PAST_ROWS - 1)
    s.flags.writeable = False
    return s


def _magnetic_numbers(s: Array, mag: MagneticHeading) -> None:
    s[at.S_MAG_R], s[at.S_MAG_VAR] = mag.sigma_rad**2, mag.disturbance_rad**2
    s[at.S_MAG_RATE] = 1.0 / mag.correlation_s if mag.correlation_s > 0.0 else _AT_ONCE
    s[at.S_MAG_PER_M] = 1.0 / mag.correlation_m if mag.correlation_m > 0.0 else _AT_ONCE
    s[at.S_DECLINATION] = mag.declination_rad
    s[at.S_FIELD_TOL], s[at.S_DIP_TOL] = mag.field_tolerance, mag.dip_tolerance_rad
    # where they are not given, those of the start are used
    s[at.S_FIELD] = 0.0 if mag.field_ut is None else mag.field_ut
    s[at.S_DIP] = at.UNKNOWN_DIP if mag.dip_rad is None else mag.dip_rad

"""Paper C's tests driven by a virtual MPU-6050 and QMC5883L that have been calibrated: what others may navigate.

The noise is the catalogue's (white, bias instability). What a calibration leaves of the constant errors is drawn for
each seed with the sigmas below; they are assumed, not derived.
"""

from dataclasses import dataclass, replace

import numpy as np

from strapdown.earth import gravity_vector
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, NonHolonomic, WheelTravel
from strapdown.rotation import q_conj, q_exp, q_mul, q_rotate
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.odometer import WheelOdometer
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

G = 9.81
RATE_HZ = 100.0
FIELD_N = np.array([2.6, 16.5, -49.0])  # uT, central Russia: declination 9 deg, dip 71 deg
DECLINATION = float(np.arctan2(FIELD_N[0], FIELD_N[1]))
LEFT_ACC_BIAS = 0.01  # m/s2, 1 mg
LEFT_GYR_BIAS = 1e-3  # rad/s, 0.06 deg/s
LEFT_ACC_MATRIX = 5e-4  # scale and cross-coupling
LEFT_GYR_MATRIX = 1e-3
MAG_NOISE_UT = 0.2
ROLLING = {  # virtual wheels do not slide and the virtual floor is flat to the last digit: small sigmas are honest
    "flat_floor": FlatFloor(height_sigma_m=0.001, velocity_sigma_m_s=0.002),
    "non_holonomic": NonHolonomic(0.002, 0.002),
}
WHEEL = {"wheel_travel": WheelTravel(sigma_m=2e-4)}


@dataclass(frozen=True)
class Drive:
    """path: where it went and stopped. log: readings, stop flags, odometer, truth. The triads: as known."""

    path: StopAndGo
    log: Recording
    gyroscope: Triad
    accelerometer: Triad

    def filter(self, **more):
        """The error-state filter with what is known of this part, and of virtual wheels, which do not slide."""
        known = {
            "gravity": G,
            "gyr_bias_sigma": LEFT_GYR_BIAS,
            "acc_bias_sigma": float(np.hypot(LEFT_ACC_BIAS, LEFT_ACC_MATRIX * G)),
            "gyr_matrix_sigma": LEFT_GYR_MATRIX,
        }
        return Eskf.for_triads(self.gyroscope, self.accelerometer, **{**known, **more})


def path_of(kind, **settings):
    return StopAndGo.square(**settings) if kind == "square" else StopAndGo.straight(**settings)


def drive(
    kind,
    seed,
    *,
    scale_error=0.002,
    disturbance_deg=3.0,
    constant_errors=1.0,
    noise=1.0,
    rate_hz=RATE_HZ,
    q_nm=None,
    **settings,
):
    """One run of "square" or "straight". scale_error: sigma of the odometer's, drawn. disturbance_deg: rms of the
    magnetic azimuth along the path. constant_errors, noise: how much of them. q_nm: turns the whole
    world, as a slope does."""
    path = path_of(kind, **settings)
    t = np.arange(0.0, path.duration_s, 1.0 / rate_hz)
    truth = path.at(t)
    if q_nm is not None:
        truth = replace(
            truth,
            p_n=q_rotate(q_nm, truth.p_n),
            v_n=q_rotate(q_nm, truth.v_n),
            a_n=q_rotate(q_nm, truth.a_n),
            q_nb=q_mul(q_nm, truth.q_nb),
        )
    rng_acc, rng_gyr, rng_mag, rng_wheel = np.random.default_rng([seed, 6]).spawn(4)
    acc, gyr = known_triads(rate_hz, noise)
    force = q_rotate(q_conj(truth.q_nb), truth.a_n - gravity_vector(G))
    log = Recording(
        t,
        gyr_s=measure(
            _left(gyr, rng_gyr, constant_errors * LEFT_GYR_BIAS, constant_errors * LEFT_GYR_MATRIX),
            t,
            truth.w_nb_b,
            stream=seed_of(seed, kind, "gyroscope"),
        ).values,
        acc_s=measure(
            _left(acc, rng_acc, constant_errors * LEFT_ACC_BIAS, constant_errors * LEFT_ACC_MATRIX),
            t,
            force,
            stream=seed_of(seed, kind, "accelerometer"),
        ).values,
        mag_s=_field(truth, rng_mag, np.radians(disturbance_deg), noise),
        stop=path.stopped(t),
        odometer=WheelOdometer(0.03, scale_error=float(rng_wheel.normal(0.0, scale_error)))
        .measure(truth, stream=seed_of(seed, kind, "odometer"))
        .distance_m,
        truth=truth,
    )
    return Drive(path, log, gyr, acc)


def known_triads(rate_hz=RATE_HZ, noise=1.0):
    """What is known of the part after calibration: its noise."""
    nominal = load_part("mpu-6050").nominal(rate_hz=rate_hz)
    return tuple(
        Triad(
            triad.unit,
            white=tuple(noise * x for x in triad.white),
            instability=tuple(noise * x for x in triad.instability),
            resolution=triad.resolution if noise > 0.0 else 0.0,
        )
        for triad in (nominal.accelerometer, nominal.gyroscope)
    )


def _left(triad, rng, bias, matrix):
    return replace(
        triad,
        bias=tuple(rng.normal(0.0, bias, 3) if bias > 0.0 else np.zeros(3)),
        matrix=(np.eye(3) + (rng.normal(0.0, matrix, (3, 3)) if matrix > 0.0 else 0.0)).tolist(),
    )


def _field(truth, rng, rms_rad, noise):
    """The azimuth is off by a smooth function of the place, of about this rms: waves of 1.5 and 4 m in each axis."""
    waves = rng.normal(size=(8,))
    k = 2.0 * np.pi / np.array([1.5, 4.0])
    x, y = truth.p_n[:, 0], truth.p_n[:, 1]
    off = sum(
        waves[4 * axis + 2 * i] * np.sin(k[i] * u) + waves[4 * axis + 2 * i + 1] * np.cos(k[i] * u)
        for axis, u in enumerate((x, y))
        for i in range(2)
    )
    off = rms_rad * off / 2.0  # eight waves of sigma 1, each with the mean square 1/2
    turn = np.zeros((len(x), 3))
    turn[:, 2] = -off  # clockwise
    field_s = q_rotate(q_conj(truth.q_nb), q_rotate(q_exp(turn), FIELD_N))
    return field_s + noise * rng.normal(0.0, MAG_NOISE_UT, (len(x), 3))


def error_percent(path, solution, truth):
    """Per stop, horizontal error in % of the path so far; the first stop after the start has number 0."""
    rows = np.searchsorted(solution.t, path.stops.end_s[1:] - 1e-9) - 1
    error = np.linalg.norm((solution.p_n - truth.p_n)[rows, :2], axis=1)
    return 100.0 * error / path.stops.path_length_m[1:]

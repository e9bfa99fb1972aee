"""What tests of orientation share: motions with analytic truth, and what each filter promises."""

from dataclasses import replace
from functools import cache
from inspect import signature

import numpy as np
import pytest

from strapdown.live import Start
from strapdown.motion import Keep, MoveTo, Rest, Turntable, Waypoints
from strapdown.orientation.catalogue import FILTERS, filter_by_name
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_log, q_mul, q_rotate
from strapdown.sensors.imu import sample_times
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording, Sample

DEG = np.pi / 180.0
G = 9.80665
UP = np.array([0.0, 0.0, 1.0])
FIELD_N = np.array([0.0, 20.0, -43.0])  # uT, magnetic north along y, dip 65 deg
RATE_HZ = 128.0  # a power of two: steps of time are exact, so a part of a recording has the same steps as the whole
PART = "mpu-9250"

NAMES = tuple(FILTERS)
# what a filter does not promise, by name of the promise; paper B's failures have tests of their own
EXEMPT = {
    "paper-b": {"turns with the body", "any mounting", "everywhere", "any rate", "forgets its start"},
    "gyro": {"forgets its start", "does not drift"},
}


def promises(promise):
    """The filters that make this promise."""
    return [name for name in NAMES if promise not in EXEMPT.get(name, ())]


def filter_of(name, **settings):
    """The named filter; paper B's with a calibration that fits the rest at the start of the recordings here."""
    if name == "paper-b":
        settings = {"calibration_s": 0.5, **settings}
    return filter_by_name(name, **settings)


def ways(promise="", needs=()):
    """Each filter on line, and off line where it can; needs: arguments that an off-line method may lack."""
    found = []
    for name in promises(promise):
        found.append((name, "run"))
        smooth = getattr(FILTERS[name].cls, "smooth", None)
        if smooth is not None and set(needs) <= set(signature(smooth).parameters):
            found.append((name, "smooth"))
    return pytest.mark.parametrize(("name", "way"), found, ids=[f"{name}-{way}" for name, way in found])


every_filter = pytest.mark.parametrize("name", NAMES)
axes = pytest.mark.parametrize("use_mag", [True, False], ids=["9 axes", "6 axes"])


def answer(name, way, recording, settings=None, q_ns=None, **given):
    filt = filter_of(name, **(settings or {}))
    return getattr(filt, way)(recording, Start.of(recording, q_ns=q_ns), **given)


def reading(gyr_s, acc_s, mag_s=None, *, dt):
    """A live sample; filters do not read its time."""
    return Sample(0.0, dt, gyr_s, acc_s, mag_s)


def ideal(path, rate_hz=RATE_HZ, t=None, field_n=FIELD_N):
    """Perfect readings along a path, with its truth."""
    t = sample_times(rate_hz, path.duration_s) if t is None else t
    motion = path.at(t)
    mag_s = q_rotate(q_conj(motion.q_nb), np.broadcast_to(field_n, (len(t), 3)))
    return Recording(t, gyr_s=motion.w_nb_b, acc_s=motion.specific_force_b(G), mag_s=mag_s, truth=motion)


def measured(recording, rate_hz, seed=1):
    """What the part of the catalogue reads, without its tolerances: noise, wander and resolution."""
    specimen = load_part(PART).nominal(rate_hz=rate_hz)
    triads = {name: replace(triad, bandwidth_hz=None) for name, triad in specimen.triads().items()}
    return Module("imu", triads, seed=seed).measure(recording, rate_hz)


def swing(yaw0=1.5, duration_s=16.0, reach_m=0.4):
    """A second of rest, then slow moves and turns about all axes, within 50 deg of the first heading and level.

    reach_m 0: turns alone, so that an accelerometer reads gravity.
    """
    angles = [(0, 0, 0), (0, 0, 0), (20, 10, 30), (-25, 30, -20), (30, -35, 50), (-10, -20, 10), (0, 0, 0), (0, 0, 0)]
    places = [(0, 0, 0), (0, 0, 0), (0.7, 0, 0.2), (1, 1, 0), (0, 1, 0.5), (-0.7, 0.5, 0), (0, 0, 0), (0, 0, 0)]
    times = [0.0, 1.0, *np.linspace(3.5, duration_s - 2.0, 4), duration_s - 1.0, duration_s]
    turned = [q_from_euler(*(DEG * np.array(a, dtype=float) + [0.0, 0.0, yaw0])) for a in angles]
    return Waypoints(times, reach_m * np.array(places, dtype=float), turned)


def over_the_top():
    """Once around through pitch 90 deg and upside down."""
    return Turntable(
        [Keep(1.0), MoveTo(2.0 * np.pi, 8.0), Keep(1.0)], axis_b=(0.0, 1.0, 0.0), q_nb=q_from_euler(0.0, 0.0, 1.5)
    )


def all_round():
    """Once around the vertical, tilted by 20 deg, through yaw 180 deg."""
    tilted = q_from_euler(0.0, 20.0 * DEG, 0.3)
    axis_b = q_rotate(q_conj(tilted), np.array([0.0, 0.0, 1.0]))
    return Turntable([Keep(1.0), MoveTo(2.0 * np.pi, 8.0), Keep(1.0)], axis_b=axis_b, q_nb=tilted)


@cache
def noisy_swing():
    return measured(ideal(swing()), RATE_HZ)


@cache
def long_rest():
    """Ten minutes on a slope, with the noise of the part."""
    rate_hz = 50.0
    attitude = q_from_euler(0.2, -0.3, 1.0)
    return measured(ideal(Rest(duration_s=600.0, q_nb=attitude), rate_hz), rate_hz)


@cache
def tumbling(duration_s=60.0, rate_hz=50.0):
    """(recording, q_ns): rates that change about all axes, no rest, a clean field, small noise."""
    rng, t = np.random.default_rng(12), np.arange(0.0, duration_s, 1.0 / rate_hz)
    w_s = np.stack([0.6 * np.sin(0.9 * t), 0.5 * np.cos(0.7 * t), 0.7 * np.sin(0.5 * t)], axis=1)
    q_ns = np.empty((len(t), 4))
    q_ns[0] = q_from_euler(0.0, 0.0, 0.7)
    for i in range(1, len(t)):
        q_ns[i] = q_mul(q_ns[i - 1], q_exp(0.5 * (w_s[i] + w_s[i - 1]) / rate_hz))
    force_s, field_s = (q_rotate(q_conj(q_ns), np.broadcast_to(v, (len(t), 3))) for v in ([0.0, 0.0, G], FIELD_N))
    noise = rng.standard_normal((3, len(t), 3))
    return Recording(t, w_s + 0.001 * noise[0], force_s + 0.02 * noise[1], field_s + 0.3 * noise[2]), q_ns


def slow_turn(rate_dps, axis_n, lead_s=0.0, seed=1, turn_s=60.0, rate_hz=100.0, bias_dps=0.5):
    """(recording, q_ns, bias_s): rest of lead_s, then a constant turn about an axis of n, on a slope; noise of a
    consumer part (0.1 deg/s, 0.02 m/s2, 0.5 uT for each sample) and a gyroscope bias of any direction."""
    rng, t = np.random.default_rng(seed), np.arange(0.0, lead_s + turn_s, 1.0 / rate_hz)
    axis = np.array(axis_n) / np.linalg.norm(axis_n)
    q_ns = q_mul(q_exp(np.maximum(t - lead_s, 0.0)[:, None] * rate_dps * DEG * axis), q_from_euler(0.2, -0.3, 1.1))
    turn_s = q_log(q_mul(q_conj(q_ns[:-1]), q_ns[1:])) * rate_hz
    bias_s = rng.standard_normal(3)
    bias_s *= bias_dps * DEG / np.linalg.norm(bias_s)
    noise = rng.standard_normal((3, len(t), 3))
    gyr_s = np.vstack([turn_s[:1], turn_s]) + bias_s + 0.1 * DEG * noise[0]
    force_s, field_s = (q_rotate(q_conj(q_ns), np.broadcast_to(v, (len(t), 3))) for v in ([0.0, 0.0, G], FIELD_N))
    return Recording(t, gyr_s, force_s + 0.02 * noise[1], field_s + 0.5 * noise[2]), q_ns, bias_s


def errors_n(solution, truth, rows=slice(None)):
    """The small rotation in n from the solution to the truth, rad, (n, 3)."""
    return q_log(q_mul(truth.q_nb[rows], q_conj(solution.q_nb[rows])))


def angle(solution, truth, rows=slice(None)):
    """Angle between solution and truth, rad."""
    return np.linalg.norm(errors_n(solution, truth, rows), axis=1)


def inclination(solution, truth, rows=slice(None)):
    """Angle between the verticals of solution and truth, rad."""
    a, b = (q_rotate(q_conj(q[rows]), UP) for q in (solution.q_nb, truth.q_nb))
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b))


def between(q_a, q_b):
    """Angle between attitudes, rad."""
    return np.linalg.norm(q_log(q_mul(q_conj(q_a), q_b)), axis=-1)

"""Vibration on a motion: its derivatives belong together, it has the size of its cause, live and recorded agree."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.live import PLANT_COLUMNS, PLANT_ROW
from strapdown.motion import Circle, Keep, Rest, SmoothRamp, StopAndGo
from strapdown.motion.paths.profile import Profile
from strapdown.motion.vibration import TRAVEL, Line, Vibrating, Vibration, motor_hum, road, rotor_imbalance
from strapdown.rotation import q_conj, q_from_euler, q_mul, q_rotate

G = 9.81
HUBS = ((0.17, 0.0, 0.02), (0.0, 0.17, 0.02), (-0.17, 0.0, 0.02), (0.0, -0.17, 0.02))
SPINS, MASS, INERTIA = (1.0, -1.0, 1.0, -1.0), 0.716, (0.007, 0.007, 0.012)
ROTORS = rotor_imbalance(1e-5, HUBS, SPINS, MASS, INERTIA)
HOVER = 453.2  # rad/s, 72 Hz
SPIN_UP = Profile([SmoothRamp(HOVER, 2.0), Keep(10.0)])
PATH = Circle(2.0, 1.5, 6.0, run_up_s=2.0, bank_gravity_m_s2=G)
ALL = ROTORS + motor_hum((0.1, 0.2, 0.3), 50.0) + road(16e-6, np.random.default_rng(1), source=4)
SHAKEN = Vibrating(PATH, ALL, (SPIN_UP, HOVER, 450.0, SPIN_UP, TRAVEL))


def test_position_velocity_acceleration_attitude_and_rate_belong_together():
    t, h = np.linspace(0.1, 5.9, 60), 2e-5
    at = [SHAKEN.at(t + k * h) for k in (-2, -1, 0, 1, 2)]
    weights, here = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * h), at[2]
    q_rate = 0.5 * q_mul(here.q_nb, np.concatenate([np.zeros((len(t), 1)), here.w_nb_b], axis=1))
    for name, claimed in (("p_n", here.v_n), ("v_n", here.a_n), ("q_nb", q_rate), ("w_nb_b", here.dw_nb_b)):
        slope = sum(w * getattr(m, name) for w, m in zip(weights, at, strict=True))
        order = (HOVER * h) ** 4 / 30.0 * np.abs(claimed).max()  # of the five-point difference
        roundoff = 1e-15 * np.abs(getattr(here, name)).max() / h
        # the series of the rate ends before theta^3 / 24, and theta is below 0.02 rad
        series = 0.02**3 / 24.0 * np.abs(claimed).max() if name in ("q_nb", "w_nb_b") else 0.0
        assert np.abs(slope - claimed).max() < 2.0 * order + 10.0 * roundoff + series, name


def test_the_force_of_an_unbalance_is_mass_times_distance_times_speed_squared():
    """One rotor: m r'' = U w^2, outward, and I theta'' = place x force."""
    unbalance = 2e-5
    one = rotor_imbalance(unbalance, HUBS[:1], SPINS[:1], MASS, INERTIA, angles_rad=(0.0,))
    for phase in (0.0, 1.0, 2.5):
        force = unbalance * HOVER**2 * np.array([np.cos(phase), np.sin(phase), 0.0])
        f, w = one.extra(0.0, [phase], [HOVER])
        # turned by the angle of the vibration, 2e-4 rad
        assert np.abs(f - force / MASS).max() < 1e-3 * np.abs(force / MASS).max()
        # the rate is the integral: a quarter turn behind
        before = unbalance * HOVER * np.array([np.sin(phase), -np.cos(phase), 0.0])
        expected = np.cross(HUBS[0], before) / INERTIA
        assert np.abs(w - expected).max() < 1e-3 * np.abs(expected).max()


def test_clockwise_rotors_turn_the_other_way():
    left, right = (rotor_imbalance(1e-5, HUBS[:1], (spin,), MASS, INERTIA, (0.0,)) for spin in (1.0, -1.0))
    f, g = (v.extra(0.0, [0.5], [HOVER])[0] for v in (left, right))
    assert f[0] == pytest.approx(g[0], rel=1e-3) and f[1] == pytest.approx(-g[1], rel=1e-3)  # the vibration's own turn


def test_it_has_the_size_that_a_quadcopter_has():
    """1e-5 kg m on each rotor at hover: some m/s2 and some deg/s."""
    t = np.arange(5000) / 5000.0
    shaken = Vibrating(Rest(1.0), ROTORS, (450.0, 452.0, 455.0, 457.0)).at(t)
    push = shaken.specific_force_b(G) - np.array([0.0, 0.0, G])
    # four incoherent rotors, U w^2 / m each, half of it in either axis
    assert np.sqrt((push[:, :2] ** 2).mean()) == pytest.approx(2.0 * 1e-5 * HOVER**2 / MASS / np.sqrt(2.0), rel=0.3)
    assert 3.0 < np.degrees(shaken.w_nb_b.std(axis=0)[2]) < 7.0


def test_live_and_recorded_are_the_same_bits():
    t = np.arange(2000) / 1000.0
    whole, smooth = SHAKEN.at(t), PATH.at(t)
    force, out = smooth.specific_force_b(G), np.zeros((len(t), PLANT_ROW))
    jets = np.concatenate([SHAKEN._jet(source, t) for source in SHAKEN.sources], axis=1)
    columns = {"p_n": "p_n", "q_ns": "q_nb", "v_n": "v_n", "a_n": "a_n", "w_s": "w_nb_b", "dw_s": "dw_nb_b"}
    for i in range(len(t)):  # as a session does: one row of the plant at a time
        row = np.zeros((1, PLANT_ROW))
        for column, name in columns.items():
            row[0, PLANT_COLUMNS[column]] = getattr(smooth, name)[i]
        row[0, PLANT_COLUMNS["f_s"]] = force[i]
        ALL.shake(row, t[i : i + 1], jets[i : i + 1].copy())
        out[i] = row[0]
    for column, name in columns.items():
        assert np.array_equal(out[:, PLANT_COLUMNS[column]], getattr(whole, name)), name
    felt = whole.specific_force_b(G)
    # the row turns the force by a series, the motion by its attitude: theta^4 / 24 apart, and theta is below 0.02 rad
    assert np.abs(out[:, PLANT_COLUMNS["f_s"]] - felt).max() < 0.02**4 / 24.0 * np.abs(felt).max()


def test_what_is_added_at_rest_is_what_a_session_adds():
    rest = Vibrating(Rest(1.0), ALL, (HOVER,) * 4 + (0.0,))
    t = np.arange(0.0, 1.0, 0.037)
    motion = rest.at(t)
    for i, each in enumerate(t):
        phases, speeds = [HOVER * each] * 4 + [0.0], [HOVER] * 4 + [0.0]
        f, w = ALL.extra(each, phases, speeds)
        assert np.abs(w - motion.w_nb_b[i]).max() < 1e-12
        tilt_by_road = 0.02 * G  # gravity seen under the turn of the vibration, which extra() does not know
        assert np.abs(f + np.array([0.0, 0.0, G]) - motion.specific_force_b(G)[i]).max() < tilt_by_road


def test_a_mounted_vibration_is_that_of_the_mounted_motion():
    arm, q_bs = (0.1, -0.2, 0.05), q_from_euler(0.3, -0.2, 2.0)
    t = np.linspace(0.5, 1.5, 50)
    sources = (HOVER,) * 4
    on_body = Vibrating(PATH, ROTORS, sources).at(t).seen_from(arm, q_bs)
    smooth = PATH.at(t).seen_from(arm, q_bs)
    jets = np.concatenate([Vibrating(PATH, ROTORS, sources)._jet(HOVER, t)] * 4, axis=1)
    own = ROTORS.mounted(arm, q_bs).on(smooth, jets)
    scale = np.abs(own.a_n - smooth.a_n).max()
    # arm x theta is the first order of the turned arm: theta is 3e-4 rad
    assert np.abs(own.a_n - on_body.a_n).max() < 1e-3 * scale
    assert np.abs(own.w_nb_b - on_body.w_nb_b).max() < 1e-12  # roundoff
    assert np.abs(own.p_n - on_body.p_n).max() < 1e-7


def test_a_road_has_the_variance_of_its_density_and_stands_still_with_the_vehicle():
    roughness, length = 16e-6, 2000.0
    waves = road(roughness, np.random.default_rng(3), wheelbase_m=1e-6, waves_per_m=(0.1, 10.0), count=200)
    s = np.linspace(0.0, length, 20001)
    height = np.array([[line.linear_m[0][2] * np.cos(line.factor * s + line.phase_rad)] for line in waves.lines]).sum(0)
    expected = roughness * 0.01 * (1.0 / 0.1 - 1.0 / 10.0)
    assert height.var() == pytest.approx(expected, rel=0.02)  # waves that do not fit into the length
    path = StopAndGo.straight(1.2)
    t = np.arange(0.0, path.duration_s, 0.01)
    shaken = Vibrating(path, road(roughness, np.random.default_rng(3)), (TRAVEL,)).at(t)
    rests, moves = path.stopped(t), np.linalg.norm(path.at(t).v_n, axis=1) > 0.1
    assert np.abs(shaken.v_n[rests, 2]).max() < 1e-12 < 1e-3 < shaken.v_n[moves, 2].std()
    v_x = q_rotate(q_conj(path.at(t).q_nb), path.at(t).v_n)[:, 0]
    way = Vibrating(path, waves, (TRAVEL,))._jet(TRAVEL, t)
    assert np.abs(way[:, 0] - np.concatenate([[0.0], np.cumsum(0.5 * 0.01 * (v_x[1:] + v_x[:-1]))])).max() < 1e-3


def test_hum_has_its_amplitude_and_follows_its_motor():
    hum = motor_hum((0.0, 0.0, 0.4), 60.0)
    t = np.arange(6000) / 6000.0
    motion = Vibrating(Rest(1.0), hum).at(t)
    assert np.abs(motion.a_n[:, 2]).max() == pytest.approx(0.4, rel=1e-9)
    follows = motor_hum((0.0, 0.0, 0.4), 60.0, source=0, order=3.0)
    slow, full = (follows.extra(0.0, [0.0], [w])[0][2] for w in (10.0 * np.pi * 2.0, 20.0 * np.pi * 2.0))
    assert full == pytest.approx(0.4, rel=1e-9) and slow == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Vibrating(PATH, ROTORS, (1.0,)), "4 sources and the path lists 1"),
        (lambda: Vibrating(PATH, ROTORS, ("way",) * 4), "give a speed in rad/s"),
        (lambda: Vibration((Line(angular_rad=((0.2, 0.0, 0.0), (0.0, 0.0, 0.0))),)), "at most 0.02 rad"),
        (lambda: Line(source=-1), "number of a rotor"),
        (lambda: rotor_imbalance(1e-5, HUBS, (1.0,), MASS, INERTIA), "1 spins"),
        (lambda: rotor_imbalance(1e-5, HUBS, SPINS, MASS, (0.0, 1.0, 1.0)), "inertia_kg_m2"),
        (lambda: rotor_imbalance(1e-5, HUBS, SPINS, 0.0, INERTIA), "mass_kg"),
        (lambda: motor_hum((1.0, 0.0, 0.0), -5.0), "frequency_hz"),
        (lambda: road(16e-6, np.random.default_rng(0), waves_per_m=(2.0, 1.0)), "lower limit first"),
        (lambda: ROTORS.extra(0.0, [0.0], [1.0]), "4 sources and jets 1"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(make, words):
    with pytest.raises(InputError, match=words):
        make()

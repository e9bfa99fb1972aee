"""Controllers and mixers against closed formulas."""

import math

import numpy as np
import pytest

from strapdown.environment.blocks.control.mixers import effects
from strapdown.environment.diagram.kinds import builtin
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_log, q_mul, q_rotate
from strapdown.vehicles.vehicle import read_vehicle

DT = 0.001


def make(kind, **parameters):
    return builtin()[kind].make(parameters)


def test_rates_follow_the_closed_formula():
    """P control of an integrator: e^(-kp t); PI: the second-order response of s2 + kp s + ki."""
    inertia = np.array([0.01, 0.02, 0.03])
    kp, ki = 20.0, 19.0
    controller = make(
        "rate_controller", kp=[kp] * 3, ki=[ki] * 3, inertia_kg_m2=inertia.tolist(), most_rad_s2=[1e6] * 3
    )
    state, w, found = controller.start(), np.zeros(3), []
    wanted = np.array([0.1, 0.0, 0.0])  # about one axis: no gyroscopic torque
    for _ in range(1000):
        state, (torque,) = controller.step(state, wanted, w, 1.0, dt=DT)
        found.append(w[0])
        w = w + torque / inertia * DT
    t = np.arange(1000) * DT
    # step order: one step of the first slope
    assert np.abs(np.array(found) - 0.1 * pi_response(kp, ki, t)).max() < 0.1 * kp * DT


def pi_response(kp, ki, t):
    """Step response of an integrator under PI control: (kp s + ki) / (s (s2 + kp s + ki))."""
    a, b = np.roots([1.0, kp, ki])
    parts = [(kp * r + ki) / (r * (r - other)) * np.exp(r * t) for r, other in ((a, b), (b, a))]
    return (1.0 + parts[0] + parts[1]).real


def test_gyroscopic_torque_is_compensated():
    """A body that spins as asked keeps its rate: the torque is w x I w."""
    inertia = (0.01, 0.02, 0.03)
    controller = make("rate_controller", inertia_kg_m2=list(inertia))
    w = np.array([1.0, 2.0, 3.0])
    _, (torque,) = controller.step(controller.start(), w, w, 1.0, dt=DT)
    np.testing.assert_allclose(torque, np.cross(w, np.array(inertia) * w), atol=1e-15)


@pytest.mark.parametrize("axis", range(3))
def test_the_rate_controller_does_not_wind_up(axis):
    controller = make("rate_controller", most_rad_s2=[5.0] * 3, inertia_kg_m2=[1.0] * 3)
    state, wanted, zero = controller.start(), np.zeros(3), np.zeros(3)
    wanted[axis] = 10.0
    for _ in range(5000):  # the body is stuck for 5 s
        state, (torque,) = controller.step(state, wanted, zero, 1.0, dt=DT)
        assert torque[axis] == 5.0
    _, (torque,) = controller.step(state, -0.1 * wanted, zero, 1.0, dt=DT)
    assert torque[axis] == -5.0  # at once: nothing was gathered
    state, (torque,) = controller.step(state, wanted, zero, 0.0, dt=DT)
    assert not torque.any() and not state.any()


def test_attitude_follows_the_closed_formula_about_any_axis():
    """Rates in proportion to the rotation that is missing: its length dies away as e^(-k t), its axis stays."""
    controller = make("attitude_controller", gains=[2.0] * 3, most_rates_rad_s=[100.0] * 3)
    wanted = q_from_euler(0.4, -0.3, 0.0)
    q = q_mul(wanted, q_exp([0.2, -0.3, 0.0]))
    heading = 0.0  # begun in the attitude of the target
    first = q_log(q_mul(q * [1, -1, -1, -1], wanted))
    for _ in range(500):
        heading, (rate,) = controller.step(heading, q, np.array([0.4, -0.3]), 0.0, 1.0, dt=DT)
        q = q_mul(q, q_exp(rate * DT))
    missing = q_log(q_mul(q * [1, -1, -1, -1], wanted))
    np.testing.assert_allclose(missing, first * (1.0 - 2.0 * DT) ** 500, atol=1e-9)


def test_the_heading_follows_the_yaw_rate_without_lag_and_stays_on_its_leash():
    controller = make("attitude_controller", gains=[6.0, 6.0, 2.0])
    state, q, tilt = controller.start(), q_from_euler(0.0, 0.0, 3.0), np.zeros(2)
    for _ in range(1000):  # through pi
        state, (rate,) = controller.step(state, q, tilt, 0.8, 1.0, dt=DT)
        q = q_mul(q, q_exp(rate * DT))
    np.testing.assert_allclose(rate, [0.0, 0.0, 0.8], atol=1e-2)
    turned = q_log(q_mul(q_from_euler(0, 0, -3.0), q))[2]
    assert turned == pytest.approx(0.8, abs=2 * 0.8 * DT)  # the first step begins at the present heading
    for _ in range(3000):  # a body that cannot turn
        state, (rate,) = controller.step(state, q, tilt, 0.8, 1.0, dt=DT)
    assert rate[2] == pytest.approx(min(0.8 + 2.0 * math.radians(30.0), 2.0))


def test_velocity_gives_the_acceleration_that_is_asked_for():
    """A body whose thrust leans so, with thrust g / cos(tilt), accelerates by kp e, in any heading."""
    controller = make("velocity_controller", kp=1.0, ki=0.0)
    for yaw in (0.0, 1.0, -2.5):
        q = q_from_euler(0.1, -0.2, yaw)
        _, (tilt,) = controller.step(controller.start(), np.array([1.0, 0.5]), np.zeros(3), q, 1.0, dt=DT)
        roll, pitch = tilt
        lean = np.array([math.sin(pitch) * math.cos(roll), -math.sin(roll), math.cos(pitch) * math.cos(roll)])
        np.testing.assert_allclose(9.81 * lean[:2] / lean[2], [1.0, 0.5], atol=1e-12)


def test_velocity_response_and_no_wind_up():
    controller = make("velocity_controller", kp=1.2, ki=0.4, most_m_s2=2.5)
    level, state, v = np.array([1.0, 0, 0, 0]), controller.start(), np.zeros(3)
    found = []
    for _ in range(20000):
        state, (tilt,) = controller.step(state, np.array([0.5, 0.0]), v, level, 1.0, dt=DT)
        found.append(v[0])
        v = v + np.array([9.81 * math.tan(tilt[1]), 0.0, 0.0]) * DT
    exact = 0.5 * pi_response(1.2, 0.4, np.arange(20000) * DT)
    assert np.abs(np.array(found) - exact).max() < 0.5 * 1.2 * DT
    for _ in range(5000):  # held fast: the acceleration stays at its limit and nothing is gathered
        state, (tilt,) = controller.step(state, np.array([9.0, 0.0]), np.zeros(3), level, 1.0, dt=DT)
    assert tilt[1] == pytest.approx(math.atan(2.5 / 9.81))
    gathered = state[2]
    state, _ = controller.step(state, np.array([9.0, 0.0]), np.zeros(3), level, 1.0, dt=DT)
    assert state[2] == gathered
    state, (tilt,) = controller.step(state, np.array([9.0, 0.0]), np.zeros(3), level, 0.0, dt=DT)
    assert not state.any() and not tilt.any()


def test_the_mixer_is_the_exact_inverse_of_the_rotors():
    mixer = make("mixer")
    p = mixer_parameters()
    rng = np.random.default_rng(2)
    for _ in range(100):
        wanted = np.array([7.0, 0, 0, 0]) + np.array([1.0, 0.2, 0.2, 0.03]) * rng.uniform(-1, 1, 4)
        speeds = mixer.apply(float(wanted[0]), wanted[1:].copy())
        np.testing.assert_allclose(effects(p) @ (p.thrust_n_s2 * speeds**2), wanted, atol=1e-12)


def mixer_parameters(**given):
    return builtin()["mixer"].parameters(**given)


def test_the_mixer_agrees_with_the_vehicle():
    """Places, spins and constants of the default mixer are those of the default quadcopter."""
    p, rotors = mixer_parameters(), read_vehicle("quadcopter").rotors
    for k, rotor in enumerate(rotors):
        assert (p.x_m[k], p.y_m[k]) == tuple(rotor.position_m[:2])
        assert (p.thrust_n_s2, p.moment_m, p.fastest_rad_s) == (rotor.thrust_n_s2, rotor.moment_m, rotor.fastest_rad_s)
        assert p.spin[k] == rotor.spin


def test_the_mixer_gives_up_yaw_then_thrust_then_tilt():
    mixer, p = make("mixer"), mixer_parameters()
    most = p.thrust_n_s2 * p.fastest_rad_s**2

    def done(thrust, *torque):
        speeds = mixer.apply(thrust, np.array(torque))
        assert speeds.min() >= 0.0 and speeds.max() <= p.fastest_rad_s * (1 + 1e-12)
        return effects(p) @ (p.thrust_n_s2 * speeds**2)

    np.testing.assert_allclose(done(4.0, 0.1, 0.0, 10.0)[:3], [4.0, 0.1, 0.0], atol=1e-12)  # less yaw, the rest exact
    assert 0.0 < done(4.0, 0.1, 0.0, 10.0)[3] < 0.2
    np.testing.assert_allclose(done(0.0, 0.1, 0.0, 0.0)[1:3], [0.1, 0.0], atol=1e-12)  # more thrust, torque exact
    assert done(0.0, 0.1, 0.0, 0.0)[0] == pytest.approx(4 * 0.1 / (2 * 0.17))
    np.testing.assert_allclose(done(4 * most, 0.1, 0.0, 0.0)[1], 0.1, atol=1e-12)  # less thrust
    assert done(10.0, 99.0, 0.0, 0.0)[1] == pytest.approx(0.17 * most)  # no more than the rotors have


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"x_m": [0.1, 0.2, 0.3]}, "give one of each for every rotor"),
        ({"spin": [1.0, 1.0, 1.0, 1.0]}, "cannot give thrust and all three torques"),
        ({"slowest_rad_s": 900.0}, "not below fastest_rad_s"),
    ],
)
def test_rotors_that_do_not_fit_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        make("mixer", **given)


def test_six_rotors_can_be_mixed():
    angles = np.radians(60.0 * np.arange(6))
    given = {"x_m": np.cos(angles).tolist(), "y_m": np.sin(angles).tolist(), "spin": [1.0, -1.0] * 3}
    mixer, p = make("mixer", **given), mixer_parameters(**given)
    speeds = mixer.apply(20.0, np.array([0.5, -0.3, 0.02]))
    np.testing.assert_allclose(effects(p) @ (p.thrust_n_s2 * speeds**2), [20.0, 0.5, -0.3, 0.02], atol=1e-12)


def test_the_helicopter_mixer_is_the_inverse_of_blade_element_theory_in_hover():
    """Thrust and torque of two rotors in one wake, from their pitch angles: Leishman, chapters 2 and 3."""
    rho, radius, omega, sigma, slope, induced = 0.017, 0.605, 2537.0 * 2 * math.pi / 60, 0.074, 5.0, 1.15
    tip, area = omega * radius, math.pi * radius**2

    def thrust_and_torque(upper, lower, roll, pitch):
        k = 0.5 * rho * area * tip**2 * sigma * slope
        wake = 0.0
        for _ in range(200):  # 2 rho A v^2 is the thrust of both
            wake = 0.5 * (wake + math.sqrt(max(k * ((upper + lower) / 3 - wake / tip), 0.0) / (2 * rho * area)))
        each = [k * (theta / 3 - 0.5 * wake / tip) for theta in (upper, lower)]
        yaw = -(each[0] - each[1]) * induced * wake / omega  # the upper one turns counter-clockwise
        hub = k * radius / 8
        return sum(each), 2 * hub * roll, 2 * hub * pitch, yaw

    mixer = make("helicopter_mixer")
    for wanted in ((6.678, 0.0, 0.0, 0.0), (7.5, 0.1, -0.2, 0.02), (5.0, -0.2, 0.1, -0.02)):
        found = thrust_and_torque(*mixer.apply(wanted[0], np.array(wanted[1:])))
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert np.degrees(mixer.apply(6.678, np.zeros(3))[0]) == pytest.approx(13.1, abs=0.05)  # as published for hover
    most = np.degrees(mixer.apply(1e3, np.array([9.0, -9.0, 9.0])))
    np.testing.assert_allclose(most, [17.5, 17.5, 10.0, -10.0])
    np.testing.assert_array_equal(mixer.apply(0.0, np.zeros(3)), 0.0)


def test_the_helicopter_mixer_agrees_with_the_vehicle():
    p, vehicle = builtin()["helicopter_mixer"].parameters(), read_vehicle("mars_helicopter")
    assert p.density_kg_m3 == vehicle.density_kg_m3
    for name in ("radius_m", "speed_rpm", "solidity", "lift_slope", "induced_factor"):
        assert getattr(p, name) == getattr(vehicle.coaxial, name)
    assert tuple(p.collective_deg) == tuple(vehicle.coaxial.collective_deg)
    assert p.most_cyclic_deg == vehicle.coaxial.cyclic_deg


def test_the_drive_turns_sticks_into_wheel_speeds_and_reports_the_stop():
    drive = make("differential_drive", settle_s=0.0995)
    state, found, stops = drive.start(), [], []
    for k in range(300):
        stick = (1.0, 0.5) if k < 100 else (0.0, 0.0)
        state, (wheels, stop) = drive.step(state, *stick, dt=0.01)
        found.append(wheels)
        stops.append(stop)
    v, w = 0.3, 0.5 * math.radians(60.0)
    np.testing.assert_allclose(found[99], [(v - 0.1 * w) / 0.0498, (v + 0.1 * w) / 0.0498], rtol=1e-12)
    ramp = np.array(found).mean(axis=1) * 0.0498
    assert np.diff(ramp[:60]).max() == pytest.approx(0.5 * 0.01) and ramp[59] == pytest.approx(0.3)
    standing = next(k for k in range(100, 300) if not found[k].any())
    assert standing == 159  # 0.3 m/s at 0.5 m/s2
    assert stops.index(1.0) == standing + 9 and all(stops[standing + 9 :])


STILL = np.zeros(3)


def test_height_is_observed_from_acceleration_and_altimeter():
    """Without noise and bias the observer is exact in every attitude; a bias leaves the error that its gains state."""
    observer = make("height_observer")
    q = q_from_euler(0.2, -0.3, 1.0)
    up_b = q_rotate(q_conj(q), np.array([0.0, 0.0, 1.0]))
    state = observer.start()
    assert observer.step(state, 5.0, 0.0, 1.0, np.zeros(3), 1.0, 0.0, q, STILL, 0.0, dt=DT) == (None, (0.0, 0.0))
    t, bias = 0.0, 0.05
    for k in range(20001):
        t = k * DT
        height, climb = 3.0 + 0.5 * 0.2 * t * t, 0.2 * t
        new = float(k % 20 == 0)
        state, (found, speed) = observer.step(
            state, height / up_b[2], new, 1.0, (9.81 + 0.2) * up_b, 1.0, 0.0, q, STILL, 0.0, dt=DT
        )
    assert found == pytest.approx(height, abs=1e-9 * height) and speed == pytest.approx(climb, rel=1e-3)
    level, state = np.array([1.0, 0, 0, 0]), observer.start()
    for k in range(20001):
        state, (found, speed) = observer.step(
            state, 1.0, float(k % 20 == 0), 1.0, np.array([0, 0, 9.81 + bias]), 1.0, 0.0, level, STILL, 0.0, dt=DT
        )
    # at rest between two corrections the speed gains bias * 0.02 s, which 0.3 e takes away
    assert found - 1.0 == pytest.approx(bias * 0.02 / 0.3 * (1 - 0.12), rel=0.05)


def test_a_height_without_altimeter_follows_the_measured_velocity():
    """A bias b of the accelerometer is balanced by gain * error of the speed in each of 10 readings a second."""
    observer, bias, gain = make("height_observer"), 0.05, 0.1
    level, force, climb = np.array([1.0, 0, 0, 0]), np.array([0, 0, 9.81 + bias]), np.array([3.0, 4.0, 0.5])
    state, _ = observer.step(observer.start(), 1.0, 1.0, 1.0, force, 1.0, 0.0, level, STILL, 0.0, dt=DT)
    for k in range(10000):
        fix = float(k % 100 == 99)
        state, (height, speed) = observer.step(state, 1.0, 1.0, 0.0, force, 1.0, 0.0, level, climb, fix, dt=DT)
    assert speed - 0.5 == pytest.approx(bias * 0.1 * (1.0 - gain) / gain, rel=0.01)
    assert height == pytest.approx(1.0 + 0.5 * 9.0, abs=0.6)  # the speed took a second, the bias adds 0.05 m/s


def test_a_jump_of_the_altimeter_is_left_out_and_another_ground_is_not():
    observer, level, force = make("height_observer"), np.array([1.0, 0, 0, 0]), np.array([0, 0, 9.81])
    state, _ = observer.step(observer.start(), 2.0, 1.0, 1.0, force, 1.0, 0.0, level, STILL, 0.0, dt=DT)
    track = []
    for k in range(4000):
        reading = 5.0 if k == 500 or k > 980 else 2.0
        state, (height, _) = observer.step(
            state, reading, float(k % 20 == 0), 1.0, force, 1.0, 0.0, level, STILL, 0.0, dt=DT
        )
        track.append(height)
    assert max(track[:1000]) == pytest.approx(2.0)
    assert track[1470] == pytest.approx(2.0) and track[1520] > 2.3  # 0.5 s after the last reading within 1 m
    assert track[-1] == pytest.approx(5.0, abs=0.01)


def test_thrust_takes_the_place_of_an_accelerometer_that_is_not_ok():
    """A climb at 0.4 m/s2 by the thrust: exact, whatever the accelerometer reads. On the ground nothing moves."""
    observer, level, wrong = make("height_observer", mass_kg=2.0), np.array([1.0, 0, 0, 0]), np.array([5.0, 5.0, 30.0])
    state, _ = observer.step(observer.start(), 1.0, 1.0, 1.0, wrong, 0.0, 0.0, level, STILL, 0.0, dt=DT)
    for _ in range(1000):
        state, (height, speed) = observer.step(state, 1.0, 0.0, 1.0, wrong, 0.0, 0.0, level, STILL, 0.0, dt=DT)
    assert (height, speed) == (1.0, 0.0)
    thrust = 2.0 * (9.81 + 0.4)
    for _ in range(1000):
        state, (height, speed) = observer.step(state, 1.0, 0.0, 1.0, wrong, 0.0, thrust, level, STILL, 0.0, dt=DT)
    assert speed == pytest.approx(0.4) and height == pytest.approx(1.2)


def fly_up(controller, seconds, climb, *, z=0.0, v=0.0, state=None, mass=0.716, floor=True):
    level, track = np.array([1.0, 0, 0, 0]), []
    for k in range(round(seconds / DT)):
        asked = climb(k * DT)
        state, (thrust, target, flying) = controller.step(state, asked, z, v, level, 1.0, dt=DT)
        v += (thrust / mass - 9.81) * DT
        z += v * DT
        if floor and z <= 0.0:
            z, v = 0.0, 0.0
        track.append((z, v, thrust, target, flying))
    return np.array(track), state


def test_the_vehicle_takes_off_holds_its_height_and_lands():
    controller = make("altitude_controller")
    track, state = fly_up(controller, 1.0, lambda t: 0.0)
    assert not track[:, 2].any() and not track[:, 4].any()  # armed on the ground: no thrust
    track, state = fly_up(controller, 14.0, lambda t: 1.0 if t < 3.0 else 0.0, state=state)
    assert track[2999, 1] == pytest.approx(1.0, abs=0.03) and track[-1, 0] == pytest.approx(3.0, abs=0.01)
    assert track[-1, 2] == pytest.approx(0.716 * 9.81, rel=1e-3)
    z, v = track[-1, :2]
    track, state = fly_up(controller, 8.0, lambda t: -0.5, z=z, v=v, state=state)
    assert track[-1, 0] == 0.0 and track[-1, 2] == 0.0 and track[-1, 4] == 0.0
    assert track[:, 1].min() > -1.1  # lets go within 5 cm of the ground: sqrt(0.5^2 + 2 g 0.05)


def test_height_does_not_wind_up_while_the_thrust_is_at_its_limit():
    """Too heavy to climb for 10 s: when the load is gone the vehicle does not shoot past its target."""
    controller = make("altitude_controller", most_thrust_n=9.0)
    track, state = fly_up(controller, 10.0, lambda t: 0.5, mass=1.0)
    assert (track[3000:, 2] == 9.0).all()
    track, state = fly_up(controller, 10.0, lambda t: 0.0, state=state)
    # the target waits within reach; it is passed by what the integral held for the load, some cm
    assert track[:, 0].max() < track[-1, 3] + 0.1 and track[0, 3] < 1.3


def test_thrust_grows_with_the_tilt():
    controller = make("altitude_controller")
    level, leaning = np.array([1.0, 0, 0, 0]), q_from_euler(0.3, 0.2, 0.0)
    state = (0.0, 1.0, 0.0, True)
    for q, cosine in ((level, 1.0), (leaning, math.cos(0.3) * math.cos(0.2))):
        _, (thrust, _, _) = controller.step(state, 0.0, 1.0, 0.0, q, 1.0, dt=DT)
        assert thrust == pytest.approx(0.716 * 9.81 / cosine, rel=1e-12)


def test_position_moves_with_the_sticks_and_returns():
    controller = make("position_controller", gain=0.5, most_m_s=1.0)
    q = q_from_euler(0.0, 0.0, 0.5 * math.pi)  # heading north: forward is y
    state, p = None, np.zeros(3)
    for k in range(30000):
        forward = 0.5 if k < 4000 else 0.0
        state, (velocity, target) = controller.step(state, np.array([forward, 0.0]), p, q, 1.0, dt=DT)
        p = p + np.array([-velocity[1], velocity[0], 0.0]) * DT
    np.testing.assert_allclose(p[:2], [0.0, 2.0], atol=2e-3)  # a step late at both ends
    far = np.array([30.0, 0.0, 0.0])  # blown away: the speed is limited, the target waits 2 m off
    state, (velocity, target) = controller.step(state, np.zeros(2), far, q, 1.0, dt=DT)
    assert np.hypot(*velocity) == pytest.approx(1.0) and np.hypot(*(target - far[:2])) == pytest.approx(2.0)
    state, (velocity, _) = controller.step(state, np.array([0.3, 0.1]), far, q, 0.0, dt=DT)
    assert state is None and velocity.tolist() == [0.3, 0.1]


def test_sticks_give_commands_by_mode():
    sticks = make("stick_commands")
    state, out = sticks.step(sticks.start(), 1.0, 0.5, -1.0, 0.25, 1.0, dt=DT)
    tilt, rate, velocity, yaw_rate, climb, rate_mode, hold = out
    np.testing.assert_allclose(tilt, np.radians([7.5, -15.0]))
    np.testing.assert_allclose(rate, np.radians([60.0, -120.0, 15.0]))
    np.testing.assert_allclose(velocity, [-3.0, -1.5])  # pitch forward, roll to the right
    assert (yaw_rate, climb, rate_mode, hold) == (math.radians(60.0) * 0.25, 1.0, 0.0, 0.0)
    assert sticks.step(state, 0.0, 0, 0, 0, 0, dt=DT)[1][5:] == (1.0, 0.0)
    assert sticks.step(state, 2.0, 0, 0, 0, 0, dt=DT)[1][5:] == (0.0, 1.0)
    other = make("stick_commands", most_tilt_deg=30.0)
    np.testing.assert_allclose(other.step(state, 1.0, 0.5, -1.0, 0.25, 1.0, dt=DT)[1][0], np.radians([15.0, -30.0]))

"""The quadcopter against closed formulas. Tolerances are roundoff unless they name another cause."""

import numpy as np
import pytest

from strapdown.vehicles.hover import hover_of
from vehicle_cases import G, forces, hovering, put, reading, turning, vehicle

M, IXX, IZZ = 0.716, 0.0075802, 0.0131604  # kg, kg m2
KT, MOMENT, UP, DOWN, FASTEST = 8.54858e-6, 0.016, 0.0125, 0.025, 838.0  # RotorS
ARM, HUB_Z, SPINS = 0.17, 0.01, np.array([-1.0, 1.0, -1.0, 1.0])  # front, left, back, right
DRAG, ROLLING, INERTIA, RADIUS = 8.06428e-5, 1.0e-6, 3.0e-5, 0.1
HOVER = np.sqrt(M * G / (4.0 * KT))
STILL = {"drag_n_s2_m": 0.0, "rolling_n_s2": 0.0}


def test_mass_and_inertia_are_those_of_body_and_rotors():
    quad = vehicle("quadcopter")
    rotor = 0.009
    assert abs(quad.mass_kg - (0.68 + 4 * rotor)) < 1e-12
    bar = rotor * 0.2**2 / 12.0
    np.testing.assert_allclose(
        quad.inertia_kg_m2,
        [0.007 + 2 * rotor * ARM**2 + 2 * bar] * 2 + [0.012 + 4 * rotor * ARM**2 + 4 * bar],
        rtol=1e-12,
    )
    assert bar == pytest.approx(INERTIA, rel=1e-12)
    assert [a.high for a in quad.actuators] == [FASTEST] * 4 and [a.low for a in quad.actuators] == [0.0] * 4


def test_hover():
    assert abs(HOVER - 453.2) < 0.05  # printed with one decimal
    plant = hovering(vehicle("quadcopter"), G, HOVER)
    row = reading(plant)
    assert np.abs(row["a_n"]).max() < 1e-9 and np.abs(row["dw_s"]).max() < 1e-9  # ground effect at 10 km: 6e-12 of g
    plant.advance_to(1.0)
    assert np.abs(reading(plant)["v_n"]).max() < 1e-9
    assert hover_of(plant.vehicle, G).command == pytest.approx(HOVER, rel=1e-12)


def test_thrust_goes_with_the_density_of_the_air():
    plant = hovering(vehicle("quadcopter"), G, HOVER)
    plant.set_air(0.5 * 1.225, (0.0, 0.0, 0.0))
    assert forces(plant)[0][2] == pytest.approx(0.5 * M * G, rel=1e-9)
    assert hover_of(plant.vehicle, G, 0.5 * 1.225).command == pytest.approx(np.sqrt(2.0) * HOVER, rel=1e-12)


def test_a_fall_with_stopped_rotors_ends_at_the_terminal_speed():
    """v = vt tanh(g t / vt). The step of 1 ms is of first order: below g step meanwhile, nothing at the end."""
    plant = put(vehicle("quadcopter").plant(gravity=G))
    vt = np.sqrt(M * G / 0.01)
    assert abs(vt - 26.5) < 0.05
    for t in (0.5, 2.0, 5.0, 60.0):
        plant.advance_to(t)
        error = reading(plant)["v_n"][2] + vt * np.tanh(G * t / vt)
        assert abs(error) < (1e-9 if t == 60.0 else G * 1e-3)


@pytest.mark.parametrize(("axis", "coefficient"), [(0, 0.005), (1, 0.005), (2, 0.01)])
def test_parasitic_drag_grows_with_the_square_of_the_speed(axis, coefficient):
    velocity = np.zeros(3)
    velocity[axis] = 7.0
    plant = put(vehicle("quadcopter").plant(gravity=G), v_n=velocity)
    assert forces(plant)[0][axis] == pytest.approx(-coefficient * 49.0, rel=1e-12)
    plant.set_air(0.6125, (0.0, 0.0, 0.0))
    assert forces(plant)[0][axis] == pytest.approx(-coefficient * 24.5, rel=1e-12)


def test_rotors_spin_up_and_down_with_their_lag():
    plant = put(vehicle("quadcopter").plant(gravity=G))
    plant.actuate(np.full(4, 500.0))
    for t in (0.001, 0.0125, 0.05):
        plant.advance_to(t)
        np.testing.assert_allclose(plant.achieved, 500.0 * (1.0 - np.exp(-t / UP)), rtol=1e-12)
        np.testing.assert_allclose(plant.phases, 500.0 * (t - UP * (1.0 - np.exp(-t / UP))), rtol=1e-11)
    reached, phase = plant.achieved[0], plant.phases[0]
    plant.actuate(np.full(4, -100.0))  # below the least: stop
    plant.advance_to(0.08)
    np.testing.assert_allclose(plant.achieved, reached * np.exp(-0.03 / DOWN), rtol=1e-12)
    expected = phase + reached * DOWN * (1.0 - np.exp(-0.03 / DOWN))
    np.testing.assert_allclose(plant.phases, expected, rtol=1e-12)
    plant.actuate(np.full(4, 2000.0))
    plant.advance_to(1.0)
    np.testing.assert_allclose(plant.achieved, FASTEST, rtol=1e-12)
    assert np.array_equal(plant.speeds, plant.achieved)


def test_difference_of_thrust_pitches_and_rolls():
    faster, slower = 470.0, 430.0
    lift = ARM * KT * (faster**2 - slower**2)
    plant = hovering(vehicle("quadcopter"), G, [slower, 450.0, faster, 450.0])  # back faster: nose down is about +y
    np.testing.assert_allclose(forces(plant)[1][:2], [0.0, lift], atol=1e-12)
    plant = hovering(vehicle("quadcopter"), G, [450.0, faster, 450.0, slower])  # left faster: rolls to the right, +x
    np.testing.assert_allclose(forces(plant)[1][:2], [lift, 0.0], atol=1e-12)
    assert reading(plant)["dw_s"][0] == pytest.approx(lift / IXX, rel=1e-9)


def test_difference_of_torque_yaws():
    """Clockwise rotors (front and back) faster: the body turns counter-clockwise."""
    speeds = np.array([470.0, 440.0, 470.0, 440.0])
    plant = hovering(vehicle("quadcopter", **STILL), G, speeds)
    torque = -MOMENT * KT * (SPINS @ speeds**2)
    assert torque > 0.0
    assert forces(plant)[1][2] == pytest.approx(torque, rel=1e-12)
    plant.advance_to(1.0)
    assert reading(plant)["w_s"][2] == pytest.approx(torque / IZZ, rel=1e-11)  # 1000 roundoffs


def test_rotor_acceleration_turns_the_body_and_momentum_is_conserved():
    """Without air torque nothing acts from outside: Izz w + sum of spins times rotor momentum stays 0."""
    plant = put(vehicle("quadcopter", moment_m=0.0, **STILL).plant(gravity=0.0, density_kg_m3=1e-9))
    plant.actuate(np.array([800.0, 100.0, 600.0, 0.0]))
    for t in (0.003, 0.02, 0.3):
        plant.advance_to(t)
        own = IZZ * reading(plant)["w_s"][2]
        rotors = INERTIA * (SPINS @ plant.achieved)
        assert abs(own) > 1e-4 and abs(own + rotors) < 1e-13


def test_the_reaction_to_acceleration_exceeds_the_steady_torque_for_a_moment():
    plant = hovering(vehicle("quadcopter"), G, HOVER)
    plant.actuate(np.array([HOVER, HOVER + 50.0, HOVER, HOVER + 50.0]))
    first = forces(plant)[1][2]
    lag = 50.0 * (1.0 - np.exp(-1e-3 / UP))
    mean = HOVER + 0.5 * lag
    steady = MOMENT * KT * 2.0 * (mean**2 - HOVER**2)
    assert first == pytest.approx(-(steady + 2.0 * INERTIA * lag / 1e-3), rel=1e-9)
    assert abs(first) > 10.0 * steady


def test_spinning_rotors_resist_turning_of_their_axes():
    """torque = - rate x momentum of the rotors."""
    speeds, rate = np.array([500.0, 300.0, 500.0, 300.0]), np.array([1.5, -0.7, 0.4])
    plant = hovering(vehicle("quadcopter", moment_m=0.0, **STILL), G, speeds, w_b=rate)
    momentum = np.array([0.0, 0.0, INERTIA * (SPINS @ speeds)])
    plant.set_air(0.0, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(forces(plant)[1], -np.cross(rate, momentum), atol=1e-15)


def test_level_flight_at_eight_degrees():
    """Weight along the disc against rotor drag: v = m g tan(tilt) / (4 cd w), thrust = m g cos(tilt)."""
    tilt = np.deg2rad(8.0)
    w = HOVER * np.sqrt(np.cos(tilt))
    v = M * G * np.tan(tilt) / (4.0 * DRAG * w)
    assert abs(v - 6.76) < 0.03  # the figure takes w = 453 rad/s
    quad = vehicle("quadcopter")
    plant = hovering(quad, G, w, turn=(0.0, tilt, 0.0), v_n=(v, 0.0, 0.0))
    drag_b = np.array([0.005, 0.0, 0.01]) * v * np.array([v * np.cos(tilt), 0.0, v * np.sin(tilt)])
    drag_n = [np.cos(tilt) * drag_b[0] + np.sin(tilt) * drag_b[2], -np.sin(tilt) * drag_b[0] + np.cos(tilt) * drag_b[2]]
    np.testing.assert_allclose(M * reading(plant)["a_n"][[0, 2]], -np.array(drag_n), atol=1e-9)


def test_drag_time():
    plant = hovering(vehicle("quadcopter"), G, HOVER, v_n=(0.0, 1e-3, 0.0))  # slow: no parasitic drag
    time_s = -1e-3 / reading(plant)["a_n"][1]
    assert time_s == pytest.approx(M / (4.0 * DRAG * HOVER), rel=1e-4)  # parasitic drag: 0.005 / (4 cd w) 1e-3
    assert abs(time_s - 4.9) < 0.05


def test_air_across_the_rotors_tips_the_body():
    """Drag acts at the hubs, above the centre of mass, and each rotor has a rolling moment."""
    v = 5.0
    plant = hovering(vehicle("quadcopter"), G, HOVER, v_n=(v, 0.0, 0.0))
    expected = -4.0 * HOVER * v * (DRAG * HUB_Z)
    np.testing.assert_allclose(forces(plant)[1], [-4.0 * HOVER * v * ROLLING, expected, 0.0], atol=1e-12)


def test_wind_is_motion_of_the_air():
    turn, rate, velocity, wind = (
        (0.2, -0.3, 0.9),
        (0.5, -0.2, 0.8),
        np.array([3.0, -2.0, 1.0]),
        np.array([1.0, 5.0, -2.0]),
    )
    moving = hovering(vehicle("quadcopter"), G, HOVER, turn=turn, w_b=rate, v_n=velocity)
    standing = hovering(vehicle("quadcopter"), G, HOVER, turn=turn, w_b=rate, v_n=velocity + wind)
    standing.set_air(1.225, wind)
    for one, other in zip(forces(moving), forces(standing), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    still = hovering(vehicle("quadcopter"), G, HOVER, turn=turn, w_b=rate)
    assert np.abs(forces(still)[0] - forces(moving)[0]).max() > 0.1


@pytest.mark.parametrize("height", [0.06, 0.1, 0.2, 0.5, 1.0])
def test_thrust_grows_near_the_ground(height):
    """Cheeseman and Bennett: 1 / (1 - (R / 4 h)^2)."""
    plant = hovering(vehicle("quadcopter"), G, HOVER, p_n=(0.0, 0.0, height - HUB_Z))
    factor = 1.0 / (1.0 - (RADIUS / (4.0 * height)) ** 2)
    assert forces(plant)[0][2] / (M * G) == pytest.approx(factor, rel=1e-12)


def test_ground_effect_ends_at_half_a_radius_and_leaves_the_torque():
    plant = hovering(vehicle("quadcopter"), G, HOVER, p_n=(0.0, 0.0, 0.2 * RADIUS - HUB_Z))
    assert forces(plant)[0][2] / (M * G) == pytest.approx(1.0 / (1.0 - 0.25), rel=1e-12)
    plant = turning(plant, [480.0, 440.0, 480.0, 440.0])
    assert forces(plant)[1][2] == pytest.approx(-MOMENT * KT * (SPINS @ plant.achieved**2), rel=1e-12)


def test_a_motor_that_loses_efficiency():
    plant = hovering(vehicle("quadcopter"), G, HOVER)
    plant.set_efficiency("left", 0.6)
    force, torque = forces(plant)
    one = KT * HOVER**2
    assert force[2] == pytest.approx(3.6 * one, rel=1e-9)
    assert torque[0] == pytest.approx(-0.4 * ARM * one, rel=1e-9)
    assert torque[2] == pytest.approx(0.4 * MOMENT * one, rel=1e-9)


def test_energy_of_a_throw_without_air():
    """Euler steps with the speed of their end lose m g^2 t dt / 2, exactly; roundoff of 1000 steps besides."""
    plant = put(vehicle("quadcopter").plant(gravity=G, density_kg_m3=0.0), p_n=(0, 0, 50.0), v_n=(3.0, 0.0, 8.0))

    def energy():
        row = reading(plant)
        return 0.5 * M * (row["v_n"] @ row["v_n"]) + M * G * row["p_n"][2]

    before = energy()
    plant.advance_to(1.0)
    assert energy() - before == pytest.approx(-0.5 * M * G**2 * 1e-3, rel=1e-6)


def test_power_of_the_forces_is_the_change_of_energy():
    """Climb with 10 % more thrust for a second against drag: work of thrust and drag = kinetic and potential energy."""
    plant = hovering(vehicle("quadcopter"), G, 1.05 * HOVER, p_n=(0.0, 0.0, 1000.0))
    work = 0.0
    for k in range(1000):
        force = forces(plant)[0]
        before = reading(plant)["v_n"]
        plant.advance_to((k + 1) * 1e-3)
        work += force @ (0.5 * (before + reading(plant)["v_n"])) * 1e-3
    row = reading(plant)
    gained = 0.5 * M * (row["v_n"] @ row["v_n"]) + M * G * (row["p_n"][2] - 1000.0)
    assert abs(work - gained) < M * G * row["v_n"][2] * 1e-3  # the height goes with the speed at the end of each step
    assert work > 3.0


def test_it_stands_on_its_feet():
    plant = vehicle("quadcopter").plant(gravity=G)
    plant.set_air(1.225, (4.0, 3.0, 0.0))
    plant.advance_to(1.0)
    start = reading(plant)
    plant.advance_to(2.0)
    row = reading(plant)
    assert sum(contact.force_n[2] for contact in plant.contacts()) == pytest.approx(M * G, rel=1e-6)
    np.testing.assert_allclose(row["f_s"], [0.0, 0.0, G], atol=1e-3)  # friction of the engine creeps
    assert np.abs(row["p_n"] - start["p_n"]).max() < 1e-3 and abs(row["p_n"][2] - 0.1) < 1e-3


def test_range_to_the_ground_passes_through_the_vehicle():
    plant = put(vehicle("quadcopter").plant(gravity=G), p_n=(0.0, 0.0, 7.0))
    assert plant.range_along((0.08, 0.07, 7.0), (0.0, 0.0, -2.0)) == pytest.approx(7.0, abs=1e-5)  # 1e-6 per own shape
    assert plant.range_along((0.0, 0.0, 7.0), (0.0, 0.6, -0.8)) == pytest.approx(7.0 / 0.8, rel=1e-6)
    assert plant.range_along((0.0, 0.0, 7.0), (0.0, 0.0, 1.0)) == np.inf

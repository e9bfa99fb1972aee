"""The rover: servos, rolling radius, slip where the tyres reach the limit of friction."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.rotation import euler_from_q
from vehicle_cases import G, put, reading, vehicle

RADIUS, TRACK, TICKS = 0.05, 0.20, 1440
SERVO, MOST, FASTEST = 0.5, 1.0, 30.0
CASTER = 0.02  # friction of the caster
AXLE = 0.0005 + 0.00013  # kg m2: armature and wheel


def with_wheels(**changes):
    rover = vehicle("rover")
    return replace(rover, wheels=tuple(wheel.model_copy(update=changes) for wheel in rover.wheels))


def driven(wheels, until_s, plant=None, ramp_s=0.0, **settings):
    """The plant after driving at wheel speeds (rad/s), reached over ramp_s, from rest at 0.5 s."""
    plant = plant or vehicle("rover").plant(gravity=G, **settings)
    plant.advance_to(0.5)
    for k in range(round(ramp_s / 0.01)):
        plant.actuate(np.array(wheels) * (k + 1) * 0.01 / ramp_s)
        plant.advance_to(0.5 + (k + 1) * 0.01)
    plant.actuate(np.array(wheels, dtype=float))
    plant.advance_to(until_s)
    return plant


def yaw_of(plant, until_s):
    """Yaw (rad) turned until then, followed in small steps."""
    total, last = 0.0, euler_from_q(reading(plant)["q_ns"])[2]
    for t in np.arange(plant.time_s + 0.05, until_s + 1e-9, 0.05):
        plant.advance_to(t)
        now = euler_from_q(reading(plant)["q_ns"])[2]
        total += (now - last + np.pi) % (2.0 * np.pi) - np.pi
        last = now
    return total


def test_the_file_agrees_with_the_model():
    rover = vehicle("rover")
    plant = rover.plant(gravity=G)
    apart = reading(plant, "left_wheel")["p_n"] - reading(plant, "right_wheel")["p_n"]
    np.testing.assert_allclose(apart, [0.0, rover.track_m, 0.0], atol=1e-12)
    shapes = {geom["name"]: geom for body in plant.scene()["bodies"] for geom in body["geoms"]}
    assert [shapes[f"{wheel.side}_tyre"]["size"][0] for wheel in rover.wheels] == [w.radius_m for w in rover.wheels]
    assert rover.track_m == TRACK and rover.wheels[0].radius_m == RADIUS


def test_encoder_distance_is_that_of_the_tyre_and_the_true_one_of_the_sunk_tyre():
    """The tyre touches in the middle of its sinking: true over encoder distance = 1 - sinking / (2 radius)."""
    plant = driven([6.0, 6.0], 3.0)
    start, angles = reading(plant)["p_n"], plant.wheel_angles.copy()
    travel = plant.travel_m
    plant.advance_to(5.0)
    way = reading(plant)["p_n"][0] - start[0]
    ratio = way / (RADIUS * (plant.wheel_angles - angles).mean())
    sinking = RADIUS - reading(plant, "left_wheel")["p_n"][2]
    assert abs(ratio - 0.996) < 0.0005
    assert ratio == pytest.approx(1.0 - 0.5 * sinking / RADIUS, abs=2e-5)  # creep of friction against the caster
    assert plant.travel_m - travel == pytest.approx(way / ratio, abs=2.0 * np.pi * RADIUS / TICKS)  # whole ticks
    assert np.abs(plant.achieved / 6.0 - 1.0).max() < 0.002  # the caster's drag over the servo's gain
    assert np.array_equal(plant.speeds, plant.achieved)


def test_encoders_count_whole_ticks():
    plant, tick = driven([3.0, 2.0], 1.0), 2.0 * np.pi / TICKS
    for k in range(20):
        plant.advance_to(1.0 + 0.0137 * k)
        ways = RADIUS * tick * np.floor(plant.wheel_angles / tick)
        assert plant.travel_m == pytest.approx(ways.mean(), abs=1e-12)
    assert plant.travel_m > 0.05


def test_turning_in_place():
    """Yaw = radius times difference of the wheel angles over the track, with the rolling radius."""
    plant = driven([-2.0, 2.0], 2.0, ramp_s=0.5)
    angles = plant.wheel_angles.copy()
    yaw = yaw_of(plant, 4.0)
    by_encoders = RADIUS * ((plant.wheel_angles - angles) @ [-1.0, 1.0]) / TRACK
    assert by_encoders > 1.9
    assert yaw / by_encoders == pytest.approx(0.996, abs=0.0005)


@pytest.mark.parametrize("friction", [None, 0.3, 0.15])
def test_a_hard_start_slips_until_friction_has_brought_the_rover_to_speed(friction):
    """The wheels are at their speed at once, the rover gains a = friction times the load on the wheels over its mass:
    it loses v^2 / (2 a). The load shifts to the caster, 0.11 m behind the axle, while it accelerates."""
    speed = 12.0
    rover = with_wheels(servo_n_m_s=500.0, max_torque_n_m=1e3)
    plant = driven([speed, speed], 4.0, rover.plant(gravity=G, friction=friction))
    friction = friction or 0.8  # rubber on concrete
    lost = 0.996 * RADIUS * plant.wheel_angles.mean() - reading(plant)["p_n"][0]
    x, _, z = rover.centre_m
    a = G * ((friction + CASTER) * (0.11 + x) - 0.11 * CASTER) / (0.11 + (friction + CASTER) * (0.05 + z))
    behind = 0.5 * rover.mass_kg * a * RADIUS / (AXLE / 1e-3)  # rad/s that the servo needs to give this torque
    v = 0.996 * RADIUS * (speed - behind)
    assert lost == pytest.approx(v**2 / (2.0 * a), rel=0.02)  # it nods at the start


@pytest.mark.parametrize("friction", [0.8, 0.3, 0.15])
def test_a_hard_turn_in_place_slips_more_with_less_friction(friction):
    """Full torque at once: friction of both tyres, on a lever of half the track, brings the rover to its rate. It loses
    rate^2 inertia / (2 torque), so half the friction loses twice as much; a turn that goes on does not slip."""
    speed = 12.0
    rover = with_wheels(servo_n_m_s=500.0, max_torque_n_m=1e3)
    plant = driven([0.0, 0.0], 0.5, rover.plant(gravity=G, friction=friction))
    x, _, _ = rover.centre_m
    on_caster = -x / 0.11  # part of the weight
    torque = G * rover.mass_kg * (friction * (1.0 - on_caster) * TRACK / 2.0 - CASTER * on_caster * 0.11)
    inertia = 0.020 + 2.0 * 0.02**2 + 2.0 * (0.0001 + 0.1 * (TRACK / 2.0) ** 2)  # about the middle of the axle
    behind = torque / TRACK * RADIUS / (AXLE / 1e-3)  # rad/s that the servo needs to give this torque
    rate = 0.996 * RADIUS * (speed - behind) / (TRACK / 2.0)
    plant.actuate(np.array([-speed, speed]))
    yaw = yaw_of(plant, 2.5)
    by_encoders = 0.996 * RADIUS * (plant.wheel_angles @ [-1.0, 1.0]) / TRACK
    assert by_encoders - yaw == pytest.approx(0.5 * rate**2 * inertia / torque, rel=0.03)
    before = plant.wheel_angles.copy()
    yaw = yaw_of(plant, 3.5)
    by_encoders = 0.996 * RADIUS * ((plant.wheel_angles - before) @ [-1.0, 1.0]) / TRACK
    assert yaw / by_encoders == pytest.approx(1.0, abs=0.0005)


def test_a_gentle_start_does_not_slip():
    plant = driven([6.0, 6.0], 4.0, ramp_s=1.0)
    ratio = reading(plant)["p_n"][0] / (RADIUS * plant.wheel_angles.mean())
    assert ratio == pytest.approx(0.996, abs=0.0005)


def test_it_stops_and_stands_still():
    plant = driven([6.0, 6.0], 2.0)
    plant.actuate(np.zeros(2))
    plant.advance_to(3.0)
    p_n = reading(plant)["p_n"]
    plant.advance_to(4.0)
    row = reading(plant)
    assert np.abs(row["v_n"]).max() < 1e-6 and np.abs(row["p_n"] - p_n).max() < 1e-6
    assert abs(np.linalg.norm(row["f_s"]) - G) < 1e-6  # no vibration of the contacts


def test_a_wheel_in_the_air_follows_its_servo():
    """Torque limit first, then an exponential with the wheel's inertia over the servo's gain: steps of 1 ms, of first
    order."""
    plant = put(vehicle("rover").plant(gravity=0.0), p_n=(0.0, 0.0, 5.0))
    plant.actuate(np.array([FASTEST, -FASTEST]))
    plant.advance_to(0.002)
    np.testing.assert_allclose(plant.achieved, np.array([1.0, -1.0]) * MOST / AXLE * 0.002, rtol=0.02)  # body turns too
    plant.reset()
    put(plant, p_n=(0.0, 0.0, 5.0))
    plant.actuate(np.array([1.0, 1.0]))
    plant.advance_to(0.001)
    np.testing.assert_allclose(plant.achieved, SERVO / AXLE * 0.001, rtol=0.06)  # the body turns back
    plant.actuate(np.array([100.0, -100.0]))
    plant.advance_to(1.0)
    np.testing.assert_allclose(plant.achieved, [FASTEST, -FASTEST], rtol=1e-6)


def test_a_servo_far_above_what_a_step_can_follow_stays_stable():
    stiff = with_wheels(servo_n_m_s=500.0, max_torque_n_m=1e6)
    plant = put(stiff.plant(gravity=0.0), p_n=(0.0, 0.0, 5.0))
    plant.actuate(np.array([5.0, 4.0]))
    plant.advance_to(0.1)
    np.testing.assert_allclose(plant.achieved, [5.0, 4.0], rtol=1e-6)


def test_a_motor_that_loses_torque_pulls_to_its_side():
    plant = vehicle("rover").plant(gravity=G)
    plant.set_efficiency("left", 0.0)
    driven([4.0, 4.0], 2.0, plant)
    assert plant.achieved[0] < 0.9 * plant.achieved[1]
    assert euler_from_q(reading(plant)["q_ns"])[2] > 0.05  # to the left


@pytest.mark.parametrize("friction", [0.0, -1.0, np.nan, np.inf])
def test_friction_must_be_above_zero(friction):
    with pytest.raises(InputError, match="give a number above 0"):
        vehicle("rover").plant(gravity=G, friction=friction)
    with pytest.raises(InputError, match="to a vehicle with wheels"):
        vehicle("quadcopter").plant(gravity=G, friction=0.5)

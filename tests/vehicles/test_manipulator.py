"""Manipulators: a position servo on each joint, of the package or from the user's URDF."""

import numpy as np
import pytest

from helpers import joint, link, urdf, write
from strapdown.errors import InputError
from strapdown.vehicles import builtin
from strapdown.vehicles.vehicle import read_vehicle
from vehicle_cases import G, reading, vehicle

TIME_CONSTANT = 0.05


def test_the_shipped_manipulator_is_that_of_paper_a():
    ours, paper = vehicle("manipulator"), read_vehicle(builtin("manipulator"))
    assert ours.kind == paper.kind == "joints"
    assert [a.name for a in ours.actuators] == [a.name for a in paper.actuators] == ["shoulder", "elbow"]
    assert ours.mass_kg == pytest.approx(paper.mass_kg, rel=1e-12)
    np.testing.assert_allclose(ours.inertia_kg_m2, paper.inertia_kg_m2, rtol=1e-9)
    for one in (ours, paper):
        plant = one.plant(gravity=G)
        plant.actuate(np.array([0.7, -0.4]))
        plant.advance_to(3.0)
        tool = reading(plant, "tool")
        expected = [0.0, -0.4 * np.sin(0.7) - 0.4 * np.sin(0.3), 0.2 + 0.4 * np.cos(0.7) + 0.4 * np.cos(0.3)]
        np.testing.assert_allclose(tool["p_n"], expected, atol=1e-6)  # what the servos still have to go after 3 s
        np.testing.assert_allclose(plant.achieved, [0.7, -0.4], atol=1e-6)
        np.testing.assert_allclose(plant.speeds, 0.0, atol=1e-5)


def test_a_servo_is_critically_damped_with_its_time_constant(tmp_path):
    """One joint, about a vertical axis, so that nothing else acts: 1 - (1 + t/T) exp(-t/T). Steps of first order."""
    found = urdf(link("base"), link("arm"), joint("turn", "base", "arm", inside='<axis xyz="0 0 1"/>'))
    plant = read_vehicle(write(tmp_path, "arm.urdf", found)).plant(gravity=G, step_s=1e-4)
    plant.actuate(np.array([0.5]))
    for t in (0.02, 0.05, 0.1, 0.2):
        plant.advance_to(t)
        expected = 0.5 * (1.0 - (1.0 + t / TIME_CONSTANT) * np.exp(-t / TIME_CONSTANT))
        assert plant.achieved[0] == pytest.approx(expected, abs=2e-3 * 0.5)  # 1e-4 / 0.05


def test_targets_are_limited_and_the_joints_hold_at_the_start():
    plant = vehicle("manipulator").plant(gravity=G)
    plant.advance_to(1.0)
    np.testing.assert_allclose(plant.achieved, 0.0, atol=1e-9)
    plant.actuate(np.array([0.0, 9.0]))
    plant.advance_to(6.0)
    assert plant.achieved[1] == pytest.approx(np.deg2rad(178.0), abs=1e-3)
    plant.command({"shoulder": 0.2, "elbow": 0.0})
    plant.advance_to(9.0)
    np.testing.assert_allclose(plant.achieved, [0.2, 0.0], atol=1e-4)


def test_the_arm_does_not_pass_through_the_floor():
    plant = vehicle("manipulator").plant(gravity=G)
    plant.actuate(np.array([3.0, 0.0]))
    plant.advance_to(5.0)
    assert plant.contacts() and plant.achieved[0] < 2.5
    assert reading(plant, "tool")["p_n"][2] > -0.02  # the tube's end is 4 cm from the tool


def test_the_servos_follow_in_the_time_of_the_vehicle_file():
    """The shoulder moves first as if alone: an error that dies out with (1 + t/T) exp(-t/T), coupled to the elbow."""
    plant = vehicle("manipulator").plant(gravity=0.0)
    plant.actuate(np.array([0.1, 0.1]))
    plant.advance_to(2.5 * TIME_CONSTANT)
    np.testing.assert_allclose(plant.achieved, 0.1 * (1.0 - 3.5 * np.exp(-2.5)), rtol=0.25)  # coupling of the links


def test_a_dead_servo_lets_its_link_fall():
    """The forearm swings like a pendulum about the elbow: its energy is that of the fall."""
    plant = vehicle("manipulator").plant(gravity=G)
    plant.actuate(np.array([0.0, 1.0]))
    plant.advance_to(3.0)
    kept = plant.snapshot()
    plant.set_efficiency("elbow", 0.0)
    plant.advance_to(3.3)
    angle, rate = plant.achieved[1], plant.speeds[1]
    inertia = 0.015 + 1.1 * 0.2**2
    fallen = 1.1 * G * 0.2 * (np.cos(1.0) - np.cos(angle))
    assert angle > 1.05
    assert 0.5 * inertia * rate**2 == pytest.approx(fallen, rel=0.05)  # the shoulder gives way a little
    plant.restore(kept)  # the servo is sound again
    plant.advance_to(4.0)
    assert plant.achieved[1] == pytest.approx(1.0, abs=1e-4)


def test_a_users_urdf_with_a_slide_and_a_follower(tmp_path):
    limits = '<axis xyz="0 0 1"/><limit lower="-0.1" upper="0.4" effort="50" velocity="1"/>'
    follower = '<axis xyz="1 0 0"/><mimic joint="turn"/>'
    text = urdf(
        *(link(name) for name in ("base", "a", "b", "c")),
        joint("turn", "base", "a"),
        joint("lift", "a", "b", "prismatic", limits),
        joint("follow", "b", "c", inside=follower),
    )
    arm = read_vehicle(write(tmp_path, "arm.urdf", text))
    assert [(a.name, a.unit, a.low, a.high) for a in arm.actuators] == [
        ("turn", "rad", -np.pi, np.pi),
        ("lift", "m", -0.1, 0.4),
    ]
    assert arm.diagram is None and arm.name == "arm" and arm.plant(gravity=G).joints() == ("turn", "lift")
    plant = arm.plant(gravity=G)
    plant.actuate(np.array([0.3, 0.2]))
    plant.advance_to(3.0)
    np.testing.assert_allclose(plant.achieved, [0.3, 0.2], atol=1e-3)


def test_a_model_without_joints_is_no_manipulator(tmp_path):
    with pytest.raises(InputError, match="no joint that a servo can turn or slide; a vehicle with rotors or wheels"):
        read_vehicle(write(tmp_path, "block.urdf", urdf(link("base"))))

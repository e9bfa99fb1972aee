"""Programs, physics and unstable runs of robots in MuJoCo."""

import mujoco
import numpy as np
import pytest

from helpers import G, inertial, joint, link, mjcf, robot, specific_force, urdf, write
from pendulum import FREE_BODY, SKEW, grid, pendulum, read
from strapdown.engines.mujoco.integrators import INTEGRATORS
from strapdown.engines.mujoco.recorded.driven import DrivenRobot
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Start
from strapdown.engines.program import Command, Program, Push
from strapdown.errors import InputError
from strapdown.rotation import q_log
from strapdown.vehicles import builtin

# Programs


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_force_that_begins_and_ends_between_steps_acts_for_exactly_its_time(integrator, tmp_path):
    file = write(tmp_path, "free.xml", FREE_BODY)
    begin, end, force, torque = 0.0101234, 0.0887654, (3.0, -5.0, 7.0), (0.0, 0.0, 0.02)
    source = MujocoRobot(
        RobotFile(file),
        gravity=0.0,
        integrator=integrator,
        mounts=[Mount("imu", "b")],
        program=Program(pushes=(Push("b", force, torque, begin, end),)),
    )
    motion = read(source, 0.1, 1000.0)
    np.testing.assert_allclose(motion.v_n[-1], np.array(force) * (end - begin) / 2.0, rtol=1e-12)  # roundoff
    np.testing.assert_allclose(motion.w_nb_b[-1, 2], 0.02 * (end - begin) / 0.03, rtol=1e-12)
    on = (motion.t >= begin) & (motion.t < end)
    np.testing.assert_allclose(motion.a_n, np.where(on[:, None], np.array(force) / 2.0, 0.0), atol=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_torque_that_begins_and_ends_between_steps_gives_the_exact_speed(integrator):
    program = Program((Command("axis", "torque", 5.0, 0.00345678, 0.0801234),))
    source = robot("bar", motors=[Motor("axis", "axis", "torque")], program=program, integrator=integrator)
    source.advance(0.1)
    assert abs(source.joint_speed("axis") - 5.0 * (0.0801234 - 0.00345678) / 2.65) < 1e-13  # roundoff of 100 steps


def test_a_new_command_takes_the_place_of_the_old_one_at_its_time():
    commands = (Command("axis", "torque", 5.0, 0.0), Command("axis", "torque", -2.0, 0.0304))
    source = robot("bar", motors=[Motor("axis", "axis", "torque")], program=Program(commands))
    source.advance(0.05)
    assert abs(source.joint_speed("axis") - (5.0 * 0.0304 - 2.0 * 0.0196) / 2.65) < 1e-13


def test_a_speed_motor_reaches_its_speed_and_a_position_motor_its_position():
    source = robot(
        "bar", motors=[Motor("axis", "axis", "speed")], program=Program((Command("axis", "speed", 2.0, 0.0),))
    )
    source.advance(0.5)
    assert abs(source.joint_speed("axis") - 2.0) < 1e-14  # fifty time constants of ten steps: roundoff is left
    move = Program((Command("axis", "position", 1.2, 0.0, over_s=0.5),))
    source = robot("bar", motors=[Motor("axis", "axis", "position")], program=move, integrator="implicitfast")
    source.advance(1.0)
    assert abs(source.joint_position("axis") - 1.2) < 1e-6  # half a second of a critically damped millisecond


def test_driven_joints_are_where_the_program_says():
    """Constant speed, then a smooth move: position, speed and acceleration by the formulas, at any time."""
    commands = (Command("axis", "speed", 2.0, 0.1, 0.6), Command("axis", "position", 2.0, 1.0, over_s=0.5))
    source = DrivenRobot(
        RobotFile(builtin("bar")), gravity=G, mounts=[Mount("imu", "bar", (0.75, 0, 0))], program=Program(commands)
    )
    t = np.array([0.0, 0.1, 0.35, 0.6, 0.9, 1.25, 1.5, 2.0])
    motion = source.record(2.0, {"imu": t})["imu"].motion
    np.testing.assert_allclose(motion.w_nb_b[:, 2], [0, 2.0, 2.0, 0, 0, 1.0 / 0.5 * 15 / 8, 0, 0], atol=1e-13)
    angle = q_log(motion.q_nb)[:, 2]
    np.testing.assert_allclose(angle, [0, 0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0], atol=1e-13)
    np.testing.assert_allclose(
        specific_force(motion)[:, 0], -0.75 * motion.w_nb_b[:, 2] ** 2, atol=1e-12
    )  # towards the axis


def test_a_driven_robot_without_joints_stands_still(tmp_path):
    file = write(tmp_path, "r.urdf", urdf(link("base"), joint("f", "base", "plate", kind="fixed"), link("plate")))
    source = DrivenRobot(RobotFile(file), gravity=G, mounts=[Mount("imu", "plate")])
    np.testing.assert_allclose(specific_force(read(source, 0.1, 100.0)), [[0, 0, G]] * 11, atol=1e-12)


# Physics


def energy(source):
    mujoco.mj_forward(source.model, source.data)
    mujoco.mj_energyPos(source.model, source.data)
    mujoco.mj_energyVel(source.model, source.data)
    return source.data.energy.sum()


def test_the_pendulum_keeps_its_energy():
    drift = {}
    for step in (4e-3, 2e-3, 1e-3):
        source = pendulum(step_s=step, mounts=[])
        before, size = energy(source), 2 * 1.0 * G * 1.1  # what the links can fall
        source.reset()
        source.advance(2.0)
        drift[step] = abs(energy(source) - before) / size
    assert drift[1e-3] < 1e-9  # RK4, 10 rad/s: (w h)^4 / 120 per radian
    assert drift[4e-3] / drift[2e-3] > 14.0  # order 4 at least


@pytest.mark.parametrize("name", ["manipulator", "double_pendulum"])
def test_a_floating_robot_in_free_fall_reads_zero(name):
    mounts = [Mount("root", "base" if name == "manipulator" else "upper_link", (0.1, 0.2, 0.3), SKEW)]
    if name == "double_pendulum":  # its stand has no inertia: it cannot float
        with pytest.raises(InputError, match='link "stand" moves but has no <inertial>'):
            robot(name, floating=True, mounts=mounts)
        return
    source = robot(name, floating=True, mounts=[*mounts, Mount("tool", "tool")])
    assert source.links()[0] == "base"
    readings = source.record(0.5, {"root": grid(0.5, 100.0), "tool": grid(0.5, 100.0)})
    for reading in readings.values():
        np.testing.assert_allclose(specific_force(reading.motion), 0.0, atol=1e-11)  # roundoff of falling bodies
        np.testing.assert_allclose(reading.motion.a_n, [[0, 0, -G]] * 51, atol=1e-11)


def test_forces_on_a_resting_cube_carry_its_weight():
    source = robot("cube", integrator="implicitfast")
    source.advance(2.0)
    contacts = source.contacts()
    assert len(contacts) == 4 and all(c.links == ("world", "cube") for c in contacts)
    total = sum(c.force_n for c in contacts)
    np.testing.assert_allclose(total, [0, 0, 5.0 * G], atol=1e-5)  # settled; the solver stops at 1e-8 of the forces
    for c in contacts:
        np.testing.assert_allclose(c.normal_n, [0, 0, 1], atol=1e-12)
        assert abs(c.p_n[2]) < 1e-3 and np.abs(c.p_n[:2]).max() < 0.11


def test_fixed_links_keep_their_names_and_carry_sensors():
    source = robot(
        "manipulator",
        start=[Start("shoulder", 0.4, 1.0), Start("elbow", -0.7, 2.0)],
        mounts=[Mount("imu", "tool", (0.1, 0.0, 0.02), SKEW)],
    )
    assert source.links() == ("base", "upper_arm", "forearm", "tool")
    assert source.joints() == ("shoulder", "elbow")
    source.record(0.1, {"imu": grid(0.1, 100.0)})
    forearm, tool = source.state("forearm"), source.state("tool")
    carried = forearm.seen_from((0.0, 0.0, 0.4), (1.0, 0.0, 0.0, 0.0))
    for name in ("p_n", "v_n", "a_n", "w_nb_b", "dw_nb_b"):
        np.testing.assert_allclose(getattr(tool, name), getattr(carried, name), atol=1e-12)  # roundoff


@pytest.mark.parametrize("kind", ["speed", "position"])
@pytest.mark.parametrize("integrator", ["rk4", "implicitfast"])
def test_an_arm_with_motors_holds_still_against_gravity(kind, integrator):
    start = [Start("shoulder", 0.6), Start("elbow", 0.9)]
    motors = [Motor(name, name, kind) for name in ("shoulder", "elbow")]
    source = robot("manipulator", start=start, motors=motors, integrator=integrator)
    source.advance(1.0)
    assert abs(source.joint_position("shoulder") - 0.6) < 1e-12 and abs(source.joint_position("elbow") - 0.9) < 1e-12
    weak = [Motor(name, name, kind, gravity_compensation=False) for name in ("shoulder", "elbow")]
    source = robot("manipulator", start=start, motors=weak, integrator=integrator)
    source.advance(1.0)
    assert abs(source.joint_position("shoulder") - 0.6) > 1e-6  # it sags without


def test_a_free_link_behind_a_motor_keeps_its_weight(tmp_path):
    """A vertical shaft with a motor; on it a pendulum that swings about x as if the shaft stood still."""
    m, d, moment, angle = 1.3, 0.4, 0.05, 0.7
    file = write(
        tmp_path,
        "shaft.urdf",
        urdf(
            link("stand", ""),
            joint("shaft", "stand", "post", inside='<axis xyz="0 0 1"/>'),
            link("post"),
            joint("swing", "post", "bob"),
            link("bob", inertial(m, moment, f"0 0 {-d}")),
        ),
    )
    source = MujocoRobot(
        RobotFile(file), gravity=G, motors=[Motor("shaft", "shaft", "speed")], start=[Start("swing", angle)]
    )
    expected = -m * G * d * np.sin(angle) / (moment + m * d * d)
    assert abs(source.state("bob").dw_nb_b[0, 0] - expected) < 1e-12 * abs(expected)


def test_unnamed_bodies_do_not_lend_each_other_their_motors(tmp_path):
    """Two nameless bodies: one fixed, one that swings freely; a motor behind the second carries no weight."""
    free = '<body pos="1 0 0"><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0" mass="1"/>{}</body>'
    arm = '<body name="arm" pos=".6 0 0"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0" mass="1"/></body>'
    bodies = '<body pos="-1 0 0"><geom size=".1" mass="1"/></body>' + free.format(arm)
    file = write(tmp_path, "nameless.xml", mjcf(bodies, before='<option><flag contact="disable"/></option>'))
    source = MujocoRobot(RobotFile(file), gravity=G, motors=[Motor("j", "j", "speed")])
    assert source.model.body_gravcomp[source.model.body("arm").id] == 0.0


# Unstable runs


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_an_unstable_run_says_so(live, integrator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = robot(
        "manipulator",
        step_s=0.05,
        integrator=integrator,
        motors=[Motor("shoulder", "shoulder", "torque"), Motor("elbow", "elbow", "torque")],
        mounts=[Mount("imu", "tool")],
        program=Program((Command("elbow", "torque", 1e9, 0.0),)),
    )
    with pytest.raises(InputError, match=r"unstable at about t = \d.*smaller physics step"):
        if live:
            source.advance(5.0)
        else:
            source.record(5.0, {"imu": grid(5.0, 10.0)})
    assert not list(tmp_path.iterdir())  # no MUJOCO_LOG.TXT

"""Robots in the engine: readings that belong to their time stamps, and motion as nature demands it."""

import copy

import mujoco
import numpy as np
import pytest

from helpers import G, inertial, joint, link, mjcf, robot, run_rig, same_bits, specific_force, urdf, write
from strapdown.earth import gravity_vector
from strapdown.engines.driven import DrivenRobot
from strapdown.engines.mujoco import MujocoRobot
from strapdown.engines.mujoco_build import INTEGRATORS
from strapdown.engines.parts import Motor, Mount, ProofMass, Start
from strapdown.engines.program import Command, Program, Push
from strapdown.engines.robot_file import RobotFile
from strapdown.errors import InputError
from strapdown.motion.protocol import MotionSource
from strapdown.navigation.strapdown import dead_reckon_increments
from strapdown.papers.a_experiments import EXPERIMENTS, pendulum_rig
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate
from strapdown.vehicles import builtin

SKEW = tuple(c / np.sqrt(30.0) for c in (4.0, 1.0, 2.0, 3.0))
SWING = [Start("upper", 1.5, 0.3), Start("lower", 0.8, -0.2)]
SKEW_MOUNT = Mount("imu", "lower_link", (0.02, 0.01, -0.25), SKEW)
ORIGIN_MOUNT = Mount("imu", "lower_link")

FREE_BODY = mjcf(
    '<body name="b"><freejoint/><inertial pos="0 0 0" mass="2" diaginertia=".01 .02 .03"/></body>',
    before='<compiler inertiafromgeom="false"/>',
)


def pendulum(mount=SKEW_MOUNT, **settings):
    mounts = settings.pop("mounts", [mount])
    return robot("double_pendulum", start=SWING, mounts=mounts, **settings)


def grid(duration_s, rate_hz):
    return np.arange(round(duration_s * rate_hz) + 1) / rate_hz


def read(source, duration_s, rate_hz, name="imu"):
    return source.record(duration_s, {name: grid(duration_s, rate_hz)})[name].motion


# Readings against the engine's own instruments


def engine_readings(spec, integrator, step_s, steps, qpos, qvel, mount):
    """A second model of the same file with MuJoCo's accelerometer and gyroscope, stepped by hand."""
    spec.option.gravity, spec.option.timestep = [0.0, 0.0, -G], step_s
    spec.option.integrator = INTEGRATORS[integrator]
    spec.body(mount.link).add_site(name="s", pos=mount.r_bs_b, quat=mount.q_bs)
    for kind in (mujoco.mjtSensor.mjSENS_ACCELEROMETER, mujoco.mjtSensor.mjSENS_GYRO):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="s")
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    rows = []
    for _ in range(steps + 1):
        fresh = copy.copy(data)
        mujoco.mj_forward(model, fresh)
        rows.append(fresh.sensordata.copy())
        mujoco.mj_step(model, data)
    return np.array(rows)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_exact_reads_what_the_engines_own_instruments_read(integrator):
    spec = mujoco.MjSpec.from_file(str(builtin("double_pendulum")))
    spec.compiler.fusestatic = False
    source = pendulum(integrator=integrator)
    theirs = engine_readings(spec, integrator, 1e-3, 400, source.data.qpos, source.data.qvel, SKEW_MOUNT)
    ours = read(source, 0.4, 1000.0)
    scale = np.abs(theirs).max()
    # roundoff only: 400 steps, and a change of frame on the way
    np.testing.assert_allclose(specific_force(ours), theirs[:, :3], atol=1e-13 * scale)
    np.testing.assert_allclose(ours.w_nb_b, theirs[:, 3:], atol=1e-13 * scale)


@pytest.mark.parametrize("integrator", ["implicitfast", "discrete"])
def test_exact_reads_what_the_engines_own_instruments_read_in_contact(integrator, tmp_path):
    """A cube that drops 5 mm onto the floor, slides and tips."""
    file = write(
        tmp_path,
        "drop.xml",
        mjcf(
            '<geom type="plane" size="0 0 1"/><body name="cube" pos="0 0 .105"><freejoint/>'
            '<geom type="box" size=".1 .1 .1" mass="5"/></body>'
        ),
    )
    mount = Mount("imu", "cube", (0.1, -0.05, 0.02), SKEW)
    source = MujocoRobot(RobotFile(file), gravity=G, integrator=integrator, mounts=[mount])
    theirs = engine_readings(
        mujoco.MjSpec.from_file(str(file)), integrator, 1e-3, 100, source.data.qpos, source.data.qvel, mount
    )
    ours = read(source, 0.1, 1000.0)
    assert np.abs(theirs[:, :3]).max() > 20.0  # it did hit the floor
    # the contact solver stops at 1e-8, and a warm start decides where
    np.testing.assert_allclose(specific_force(ours), theirs[:, :3], atol=1e-5)
    np.testing.assert_allclose(ours.w_nb_b, theirs[:, 3:], atol=1e-7)


# Never stale


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_state_is_never_stale(integrator):
    source = pendulum(integrator=integrator)
    body, frame = source.model.body("lower_link").id, mujoco.mjtObj.mjOBJ_XBODY
    for duration in (1e-3, 5e-3, 0.1234567, 1e-3, 0.3):
        source.advance(duration)
        state = source.state("lower_link")
        fresh, velocity, acceleration = copy.copy(source.data), np.empty(6), np.empty(6)
        mujoco.mj_forward(source.model, fresh)
        mujoco.mj_rnePostConstraint(source.model, fresh)
        mujoco.mj_objectVelocity(source.model, fresh, frame, body, velocity, 0)
        mujoco.mj_objectAcceleration(source.model, fresh, frame, body, acceleration, 0)
        scale = 1.0 + np.abs(acceleration).max()
        np.testing.assert_allclose(state.p_n[0], fresh.xpos[body], atol=1e-14 * scale)  # roundoff
        np.testing.assert_allclose(state.v_n[0], velocity[3:], atol=1e-14 * scale)
        np.testing.assert_allclose(q_rotate(state.q_nb[0], state.w_nb_b[0]), velocity[:3], atol=1e-14 * scale)
        np.testing.assert_allclose(state.a_n[0], acceleration[3:] - [0, 0, G], atol=1e-14 * scale)
        np.testing.assert_allclose(q_rotate(state.q_nb[0], state.dw_nb_b[0]), acceleration[:3], atol=1e-14 * scale)
        assert state.t[0] == source.time_s


def test_a_mount_moves_as_its_link_carries_it():
    """The mount's readings equal the live link seen from the mount."""
    recorded, live = read(pendulum(), 0.1, 1000.0), pendulum()
    for k in range(100):
        live.advance(1e-3)
        seen = live.state("lower_link").seen_from(SKEW_MOUNT.r_bs_b, SKEW_MOUNT.q_bs)
        for name in ("p_n", "v_n", "a_n", "w_nb_b", "dw_nb_b"):
            row = getattr(recorded, name)[k + 1]
            np.testing.assert_allclose(getattr(seen, name)[0], row, atol=1e-14 * (1.0 + np.abs(row).max()))
        assert abs(abs(np.dot(seen.q_nb[0], recorded.q_nb[k + 1])) - 1.0) < 1e-15


def test_asking_for_the_state_does_not_change_the_motion():
    quiet, asked = pendulum(), pendulum()
    for _ in range(200):
        quiet.advance(1e-3)
        asked.advance(1e-3)
        asked.state("lower_link")
        asked.contacts()
    assert same_bits(quiet.state("lower_link"), asked.state("lower_link"))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_recording_and_a_live_run_give_the_same_bits(integrator):
    recorded = read(pendulum(ORIGIN_MOUNT, integrator=integrator), 0.2, 1000.0)
    live = pendulum(ORIGIN_MOUNT, integrator=integrator)
    for k in range(201):
        assert same_bits(live.state("lower_link"), recorded[k : k + 1], but="t"), k
        assert abs(live.time_s - recorded.t[k]) < 1e-15  # k * step and k / rate
        if k < 200:
            live.advance(1e-3)


def test_a_recording_and_a_live_run_give_the_same_bits_in_contact_and_under_forces():
    push = Program(pushes=(Push("cube", (30.0, 4.0, 0.0), (0.1, 0.2, 0.3), 0.05, 0.1),))
    settings = {"program": push, "mounts": [Mount("imu", "cube")], "integrator": "implicitfast"}
    recorded = read(robot("cube", **settings), 0.2, 1000.0)
    live = robot("cube", **settings)
    for k in range(201):
        assert same_bits(live.state("cube"), recorded[k : k + 1], but="t"), k
        if k < 200:
            live.advance(1e-3)


def test_after_a_recording_the_robot_is_at_its_end():
    """Readings between steps are taken on the side; they must not leave the robot there."""
    source = pendulum()
    source.record(0.1, {"imu": np.array([0.0005, 0.0123, 0.0777])})
    live = pendulum()
    live.advance(0.1)
    assert same_bits(source.state("lower_link"), live.state("lower_link"))
    source.advance(0.05)
    live.advance(0.05)
    assert same_bits(source.state("lower_link"), live.state("lower_link"))


def test_after_a_recording_the_solver_goes_on_as_in_a_live_run():
    """Against its joint's limit while its target moves on: the solver's memory is part of where the robot is."""
    program = Program((Command("elbow", "position", 3.5, 0.0, over_s=0.4),))
    settings = {
        "motors": [Motor("elbow", "elbow", "position", time_constant_s=0.05)],
        "mounts": [Mount("imu", "tool")],
        "start": [Start("elbow", 3.0)],
        "program": program,
        "integrator": "implicitfast",
    }
    source, live = robot("manipulator", **settings), robot("manipulator", **settings)
    source.record(0.3, {"imu": np.array([0.0123, 0.3])})
    live.advance(0.3)
    assert live.joint_position("elbow") > 3.1  # it presses on the limit
    for _ in range(5):
        assert same_bits(source.state("tool"), live.state("tool"))
        source.advance(0.003)
        live.advance(0.003)


@pytest.mark.parametrize("integrator", ["rk4", "implicitfast"])
def test_reset_gives_the_same_bits(integrator):
    source = robot("cube", mounts=[Mount("imu", "cube")], integrator=integrator)
    first = read(source, 0.1, 400.0)
    source.advance(0.0123)
    source.reset()
    assert source.time_s == 0.0
    assert same_bits(read(source, 0.1, 400.0), first)
    source.reset()
    source.advance(0.1)
    live = source.state("cube")
    source.reset()
    source.advance(0.1)
    assert same_bits(source.state("cube"), live)


def test_robots_are_motion_sources():
    sources: list[MotionSource] = [pendulum(), DrivenRobot(RobotFile(builtin("bar")), gravity=G)]
    for source in sources:
        assert source.time_s == 0.0
        source.advance(0.25)
        assert source.time_s == 0.25
        for name in source.links():
            assert len(source.state(name)) == 1
        with pytest.raises(InputError, match="valid names"):
            source.state("nowhere")
        with pytest.raises(InputError, match="above 0"):
            source.advance(-1.0)


# Sensor rates and sensors beside each other


def test_a_sensor_does_not_change_another_ones_readings():
    """Also in contact, where the solver would remember what another reading left behind."""
    times = {"imu": grid(0.3, 400.0), "other": grid(0.3, 333.0), "third": grid(0.3, 1000.0)}
    push = Program(pushes=(Push("cube", (40.0, 4.0, 0.0), (0.1, 0.2, 0.3), 0.0312, 0.1111),))
    others = [Mount("other", "cube", (0.3, 0, 0), SKEW), Mount("third", "cube")]
    for integrator in ("rk4", "implicitfast", "discrete"):
        settings = {"program": push, "integrator": integrator}
        alone = robot("cube", mounts=[Mount("imu", "cube")], **settings).record(0.3, times)["imu"].motion
        beside = robot("cube", mounts=[others[0], Mount("imu", "cube"), others[1]], **settings).record(0.3, times)
        assert same_bits(alone, beside["imu"].motion)


def test_rate_of_a_sensor_does_not_depend_on_the_physics_step():
    """400 Hz on steps of 1 ms: every other reading falls between two steps, and is as good as the others."""
    reference = read(pendulum(step_s=1e-4), 1.0, 400.0)
    errors = {}
    for step in (2e-3, 1e-3):
        motion = read(pendulum(step_s=step), 1.0, 400.0)
        on_grid = np.abs(motion.t / step - np.round(motion.t / step)) < 1e-6
        error = np.abs(specific_force(motion) - specific_force(reference)).max(axis=1)
        errors[step] = error[~on_grid].max()
        # a partial step on the side is as exact as a whole one; 3: chance of where the largest error falls
        assert np.sum(~on_grid) > 0 and errors[step] < 3.0 * error[on_grid].max()
        assert np.array_equal(motion.t, grid(1.0, 400.0))
    # order 4 of RK4: halving the step divides the error by 16
    assert errors[2e-3] / errors[1e-3] > 12.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_readings_between_steps_fit_in_between(integrator):
    """A motor runs up in 20 ms: a reading half-way between two steps is the mean of those at the steps."""
    program = Program((Command("axis", "speed", 1.0, 0.0),))
    source = robot(
        "bar",
        motors=[Motor("axis", "axis", "speed", time_constant_s=0.02)],
        mounts=[Mount("imu", "bar")],
        program=program,
        integrator=integrator,
    )
    dw = read(source, 0.1, 2000.0).dw_nb_b[:, 2]
    assert dw[0] > 40.0
    # curvature (h / tau)^2 / 8 = 3e-4; half a step of a first-order integrator adds as much again
    np.testing.assert_allclose(dw[1:-1:2], 0.5 * (dw[0:-2:2] + dw[2::2]), rtol=2e-3)


def test_readings_on_the_grid_are_the_same_bits_at_every_rate():
    fast, slow = read(pendulum(), 0.5, 1000.0), read(pendulum(), 0.5, 200.0)
    assert same_bits(fast[::5], slow)


def test_recorded_times_are_counted_not_added_up():
    motion = read(robot("bar", start=[Start("axis", 0.0, 1.0)], mounts=[Mount("imu", "bar")]), 20.0, 1000.0)
    assert np.array_equal(motion.t, np.arange(20001) / 1000.0)


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


# Increments


def test_increments_of_the_pendulum_lead_back_to_its_motion():
    values = pendulum_rig(1e-3)
    mounting = EXPERIMENTS["A-e"].sensors["D1"]
    values["sensor"] = [{"name": "D1", "rate_hz": 1000.0, "increments": True, **mounting}]
    recording = run_rig(values).recordings["D1"]
    truth, acc_s = recording.truth, recording.acc_s
    start = truth.q_nb[0], truth.p_n[0], truth.v_n[0]
    solution = dead_reckon_increments(recording.increments, *start, G)
    n = len(truth)
    turn = np.linalg.norm(q_log(q_mul(q_conj(solution.q_nb), truth.q_nb)), axis=1)
    assert turn.max() < n * 1e-15  # one roundoff per step
    assert np.abs(solution.v_n - truth.v_n).max() < n * 1e-15 * np.abs(truth.v_n).max() * 10
    way_error = np.linalg.norm(solution.p_n - truth.p_n, axis=1).max()
    jump = np.linalg.norm(truth.a_n - truth.a_n[0], axis=1).max()
    assert way_error < 1.5 * 1e-3**2 / 12.0 * jump  # trapezoid of the velocity: h^2/12 times the change of acceleration
    # rectangles on point samples, as one would do by hand
    q, v, p = start[0], np.array(start[2]), np.array(start[1])
    for k in range(n - 1):
        v = v + 1e-3 * (q_rotate(q, acc_s[k]) + gravity_vector(G))
        p = p + 1e-3 * v
        q = q_mul(q, q_exp(1e-3 * recording.gyr_s[k]))
    assert np.linalg.norm(p - truth.p_n[-1]) > 1e3 * way_error


# Proof mass


def proof_rig(robot_values, methods, **more):
    sensors = [{"name": "D1", "link": "lower_link", "rate_hz": 500.0, "quaternion_wxyz": list(SKEW), **methods}]
    return {**robot_values, "duration_s": 1.0, "sensor": sensors, **more}


def test_a_rigid_proof_mass_reads_as_exact():
    recording = run_rig(proof_rig(pendulum_rig(1e-3), {"method": "proof-mass", "position_m": [0.02, 0.01, -0.25]}))
    acc_s, _, truth = recording.recordings["D1"].inertial()
    assert np.abs(acc_s).max() > 20.0
    np.testing.assert_allclose(acc_s, specific_force(truth), atol=1e-9)  # forces of kg carried over to a gram


@pytest.mark.parametrize("damping", [0.05, 0.7])
def test_a_soft_proof_mass_answers_a_step_like_an_oscillator(damping, tmp_path):
    """A body floats, and is pushed from 0.1 s on: the reading is off by the oscillator's step answer."""
    force, frequency, mass_kg = 6.0, 4.0, 1e-6
    recording = run_rig(
        {
            "duration_s": 1.0,
            "robot": {"file": str(write(tmp_path, "free.xml", FREE_BODY))},
            "physics": {"gravity": 0.0},
            "program": [{"link": "b", "at_s": 0.1, "until_s": 9.0, "force_n": [force, 0.0, 0.0]}],
            "sensor": [
                {
                    "name": "D",
                    "link": "b",
                    "method": "proof-mass",
                    "proof_mass_kg": mass_kg,
                    "joint_frequency_hz": frequency,
                    "damping_ratio": damping,
                    "allowed_error_m_s2": 1e6,
                }
            ],
        }
    ).recordings["D"]
    w0 = 2.0 * np.pi * frequency
    wd, tau = w0 * np.sqrt(1.0 - damping**2), np.clip(recording.t - 0.1, 0.0, None)
    swing = np.exp(-damping * w0 * tau) * (np.cos(wd * tau) - damping * w0 / wd * np.sin(wd * tau))
    expected = np.where(recording.t < 0.1 - 1e-9, 0.0, force / 2.0 * (1.0 - swing))
    # 3 m/s2; the mass of 1e-6 pulls at 2 kg, RK4 has (w0 h)^4 left
    np.testing.assert_allclose(recording.acc_s[:, 0], expected, atol=1e-5)


def test_a_soft_proof_mass_begins_at_rest():
    source = robot(
        "manipulator",
        motors=[Motor(n, n, "speed") for n in ("shoulder", "elbow")],
        start=[Start("shoulder", 0.8)],
        mounts=[Mount("imu", "forearm", (0, 0, 0.1), SKEW, ProofMass(1e-3, 4.0))],
        integrator="implicitfast",
    )
    sampled = source.record(0.2, {"imu": grid(0.2, 100.0)})["imu"]
    # the gram hangs on an arm of kilograms: the arm gives way by about that ratio
    np.testing.assert_allclose(sampled.force_s / 1e-3, specific_force(sampled.motion), atol=0.02)


# What robot files bring along must not change what we put on them


def test_defaults_of_a_robot_file_do_not_reach_our_parts(tmp_path):
    defaults = (
        '<default><general ctrllimited="true" ctrlrange="-.1 .1" gear="3 0 0 0 0 0" forcelimited="true" '
        'forcerange="-1 1"/><joint armature=".1" damping="3" frictionloss="1"/><site pos="1 2 3" quat="0 1 0 0"/>'
        '<geom contype="0" conaffinity="0"/></default>'
    )
    body = (
        '<body name="b" pos="0 0 1"><joint name="j" axis="0 0 1" armature="0" damping="0" frictionloss="0"/>'
        '<geom size=".1" pos=".5 0 0" mass="1"/></body>'
    )

    def spun(before):
        source = MujocoRobot(
            RobotFile(write(tmp_path, "r.xml", mjcf(body, before=before)), floor=True),
            gravity=G,
            motors=[Motor("m", "j", "speed")],
            mounts=[Mount("imu", "b", (0.5, 0, 0), SKEW, ProofMass(1e-3, 20.0))],
            program=Program((Command("m", "speed", 1.0, 0.0),)),
        )
        return source.record(0.5, {"imu": grid(0.5, 100.0)})["imu"], source.model

    (with_defaults, model), (without, plain) = spun(defaults), spun("")
    assert same_bits(with_defaults.motion, without.motion)
    assert np.array_equal(with_defaults.force_s, without.force_s)
    floor = [m.geom_contype[m.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)][0] for m in (model, plain)]
    assert floor == [1, 1]


@pytest.mark.parametrize("flag", ["gravity", "sensor", "actuation"])
def test_a_robot_file_cannot_switch_our_readings_off(flag, tmp_path):
    body = '<body name="b"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".5 0 0" mass="1"/></body>'

    def motion(before):
        source = MujocoRobot(
            RobotFile(write(tmp_path, "r.xml", mjcf(body, before=before))),
            gravity=G,
            motors=[Motor("m", "j", "torque")],
            mounts=[Mount("imu", "b")],
            program=Program((Command("m", "torque", 1.0, 0.0),)),
        )
        return read(source, 0.1, 100.0)

    off = motion(f'<option><flag {flag}="disable"/></option>')
    assert same_bits(off, motion(""))


def test_an_inverse_setting_of_a_robot_file_does_not_change_a_driven_robot(tmp_path):
    body = '<body name="b"><joint name="j" axis="0 1 0" damping="5"/><geom size=".1" pos=".5 0 0" mass="1"/></body>'
    program = Program((Command("j", "position", 1.0, 0.0, over_s=0.2),))

    def motion(before):
        file = RobotFile(write(tmp_path, "r.xml", mjcf(body, before=before)))
        return read(DrivenRobot(file, gravity=G, mounts=[Mount("imu", "b", (1, 0, 0))], program=program), 0.2, 100.0)

    assert same_bits(motion('<option><flag invdiscrete="enable"/></option>'), motion(""))


def test_the_rigs_attitude_of_the_root_wins_over_the_files(tmp_path):
    q = tuple(q_exp([0.0, 0.0, 0.5]))
    for turned in ('euler="90 0 0"', 'axisangle="1 0 0 30"', 'quat="0 1 0 0"', ""):
        file = write(tmp_path, "r.xml", mjcf(f'<body name="b" pos="1 2 3" {turned}><geom size=".1"/></body>'))
        state = MujocoRobot(RobotFile(file, position_m=(4.0, 5.0, 6.0), q_nb=q), gravity=G).state("b")
        np.testing.assert_allclose(state.q_nb[0], q, atol=1e-15)
        assert state.p_n[0].tolist() == [4.0, 5.0, 6.0]


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

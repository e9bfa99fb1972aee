"""Readings of robots in MuJoCo: against its own instruments, never stale, at any rate."""

import copy

import mujoco
import numpy as np
import pytest

from helpers import G, mjcf, robot, same_bits, specific_force, write
from pendulum import ORIGIN_MOUNT, SKEW, SKEW_MOUNT, grid, pendulum, read
from strapdown.engines.mujoco.integrators import INTEGRATORS
from strapdown.engines.mujoco.recorded.driven import DrivenRobot
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Start
from strapdown.engines.program import Command, Program, Push
from strapdown.errors import InputError
from strapdown.motion.protocol import MotionSource
from strapdown.rotation import q_rotate
from strapdown.vehicles import builtin

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


# Sensor rates and sensors next to each other


def test_a_sensor_does_not_change_another_ones_readings():
    """Also in contact, where the solver would remember what another reading left behind."""
    times = {"imu": grid(0.3, 400.0), "other": grid(0.29, 333.0), "third": grid(0.3, 1000.0)}
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


@pytest.mark.parametrize("t", [[0.0, 0.11], [-0.01, 0.0], [0.0, 0.02, 0.01], [0.0, np.nan]])
def test_readings_outside_the_run_or_out_of_order_are_refused(t):
    with pytest.raises(InputError, match=r"give rising times from 0 to the duration of 0\.1 s"):
        pendulum().record(0.1, {"imu": np.array(t)})


def test_readings_on_the_grid_are_the_same_bits_at_every_rate():
    fast, slow = read(pendulum(), 0.5, 1000.0), read(pendulum(), 0.5, 200.0)
    assert same_bits(fast[::5], slow)


def test_recorded_times_are_counted_not_added_up():
    motion = read(robot("bar", start=[Start("axis", 0.0, 1.0)], mounts=[Mount("imu", "bar")]), 20.0, 1000.0)
    assert np.array_equal(motion.t, np.arange(20001) / 1000.0)

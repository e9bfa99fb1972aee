"""Readings of robots that motors move: right at every step size and with every integrator."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers import G, mjcf, robot, run_rig, same_bits, specific_force, write
from pendulum import grid
from strapdown.engines.mujoco.integrators import INTEGRATORS
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Start
from strapdown.engines.program import Command, Profile, Program

AT_S, OVER_S, TO = 0.1, 0.5, 0.8
MOVE = Program((Command("axis", "position", TO, AT_S, over_s=OVER_S),))
TARGET_CURVATURE = 10.0 / np.sqrt(3.0) * TO / OVER_S**2  # largest second derivative of a minimum-jerk move
STEPS_S = (1e-2, 1e-3, 1e-4)
FIRST_ORDER = tuple(name for name in INTEGRATORS if name != "rk4")


def stated_time_constant(step_s):
    """The default of docs/engines.md."""
    return max(0.01, 10.0 * step_s)


def servo(t, time_constant_s):
    """Speed and acceleration of a critically damped servo behind a minimum-jerk target, by another solver."""

    def target(t):
        s = np.clip((t - AT_S) / OVER_S, 0.0, 1.0)
        return TO * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    def acceleration(t, q, v):
        return (target(t) - q) / time_constant_s**2 - 2.0 * v / time_constant_s

    def slope(t, x):
        return x[1], acceleration(t, *x)

    q, v = solve_ivp(slope, (0.0, t[-1]), (0.0, 0.0), t_eval=t, rtol=1e-10, atol=1e-12, max_step=5e-3).y
    return v, acceleration(t, q, v)


def moved_bar(step_s, integrator, time_constant_s=None):
    return robot(
        "bar",
        motors=[Motor("axis", "axis", "position", time_constant_s=time_constant_s)],
        mounts=[Mount("imu", "bar", (1.0, 0.0, 0.0))],
        program=MOVE,
        step_s=step_s,
        integrator=integrator,
    )


@pytest.mark.parametrize("rate_hz", [100.0, 333.0])
@pytest.mark.parametrize("step_s", STEPS_S)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_position_motor_without_a_time_constant_reads_as_its_servo_moves(integrator, step_s, rate_hz):
    """The accelerometer sits 1 m from a vertical axis: x is centripetal, y tangential. It reads up to 18 m/s2."""
    t = np.arange(round(0.99 * rate_hz)) / rate_hz
    sampled = moved_bar(step_s, integrator).record(1.0, {"imu": t})["imu"]
    speed, acceleration = servo(t, stated_time_constant(step_s))
    error = specific_force(sampled.motion)[:, :2] - np.stack([-(speed**2), acceleration], axis=-1)
    ratio = step_s / stated_time_constant(step_s)
    # rk4: the target is a ramp within a step; its curvature times h^2/12 is a mean distance, the servo pulls by 1/tau^2
    second_order = 1.5 * TARGET_CURVATURE * ratio**2 / 12.0
    first_order = np.abs(acceleration).max() * ratio  # measured: 0.04 to 0.68 of it
    allowed = second_order if integrator == "rk4" else first_order
    assert np.abs(error).max() < allowed
    # what the run itself estimates: below the 0.05 m/s2 at which it would warn
    assert sampled.unexplained.max() < 0.02


@pytest.mark.parametrize("step_s", STEPS_S)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_arm_of_position_motors_explains_its_own_motion(integrator, step_s):
    """Two coupled joints: accelerations add up to the change of velocity, to the order of the trapezoid."""
    joints = ("shoulder", "elbow")
    source = robot(
        "manipulator",
        motors=[Motor(name, name, "position") for name in joints],
        mounts=[Mount("imu", "forearm", (0.0, 0.0, 0.3))],
        program=Program(tuple(Command(name, "position", TO, AT_S, over_s=OVER_S) for name in joints)),
        step_s=step_s,
        integrator=integrator,
    )
    motion = source.record(0.8, {"imu": grid(0.8, 1.0 / step_s)})["imu"].motion
    assert np.abs(motion.a_n).max() > 4.0
    if integrator == "rk4":
        mean = 0.5 * (motion.a_n[1:] + motion.a_n[:-1])
        allowed = 2.0 * np.abs(np.diff(motion.a_n, 2, axis=0)).max()  # h^2/12 of the second derivative, and a switch
    else:
        mean = motion.a_n[:-1]  # one acceleration per step
        allowed = 1.5 * np.abs(np.diff(motion.a_n, axis=0)).max()  # the lever turns within the step
    assert np.abs(np.diff(motion.v_n, axis=0) / step_s - mean).max() < allowed


BODY = (
    '<body name="b"><joint name="j" axis="0 0 1" {}/><geom size=".1" pos=".5 0 0" mass="1"/>'
    '<body name="c" pos="1 0 0"><joint name="k" axis="0 0 1" {}/><geom size=".1" pos=".5 0 0" mass="1"/></body></body>'
)


@pytest.mark.parametrize("integrator", FIRST_ORDER)
@pytest.mark.parametrize("case", ["speed motor", "position motor", "damped joints", "fluid"])
def test_the_reading_is_the_acceleration_that_the_integrator_applies(case, integrator, tmp_path):
    """Implicit integrators apply less than force over mass. Per step the angular rate gains exactly the reading."""
    damping = 'damping="3"' if case == "damped joints" else ""
    before = '<option density="50" viscosity="0.5"/>' if case == "fluid" else ""
    file = write(tmp_path, "r.xml", mjcf(BODY.format(damping, damping), before=before))
    kind = case.removesuffix(" motor")
    time_constant_s = 10e-3 if integrator == "euler" else 2e-3  # explicit steps of coupled joints need the longer one
    motors = [Motor(j, j, kind, time_constant_s=time_constant_s) for j in "jk"] if "motor" in case else []
    program = Program(tuple(Command(m.name, m.kind, 0.5, 0.0123) for m in motors))
    source = MujocoRobot(
        RobotFile(file),
        gravity=G,
        integrator=integrator,
        motors=motors,
        mounts=[Mount("imu", "c")],
        program=program,
        start=[Start("j", 0.0, 2.0), Start("k", 0.3, -5.0)],
    )
    motion = source.record(0.03, {"imu": grid(0.03, 1000.0)})["imu"].motion
    whole = np.arange(30) != 12  # the switch splits this step in two
    gained = np.diff(motion.w_nb_b[:, 2]) / 1e-3
    scale = np.abs(motion.w_nb_b).max() / 1e-3
    np.testing.assert_allclose(motion.dw_nb_b[:-1, 2][whole], gained[whole], atol=1e-13 * scale)  # roundoff
    assert np.abs(gained).max() > 1.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_recording_and_a_live_run_give_the_same_bits_while_targets_move(integrator):
    recorded = moved_bar(1e-3, integrator).record(0.3, {"imu": grid(0.3, 1000.0)})["imu"].motion
    live = moved_bar(1e-3, integrator)
    for k in range(301):
        seen = live.state("bar")
        assert np.array_equal(seen.dw_nb_b[0], recorded.dw_nb_b[k]) and np.array_equal(seen.q_nb[0], recorded.q_nb[k])
        if k < 300:
            live.advance(1e-3)


def test_stretches_do_not_change_the_bits_while_targets_move(monkeypatch):
    whole = moved_bar(1e-3, "rk4").record(0.3, {"imu": grid(0.3, 400.0)})["imu"].motion
    monkeypatch.setattr("strapdown.engines.mujoco.recorded.steps._STRETCH", 7)
    assert same_bits(moved_bar(1e-3, "rk4").record(0.3, {"imu": grid(0.3, 400.0)})["imu"].motion, whole)


def test_a_target_does_not_drift_while_it_moves():
    """The engine adds up the ramps of 10 000 steps; each new piece of the program begins at its exact value."""
    program = Program((Command("axis", "position", 3.0, 0.0, over_s=10.0),))
    source = robot("bar", motors=[Motor("axis", "axis", "position")], program=program)
    source.advance(9.9995)
    s = 9.9995 / 10.0
    assert abs(source.data.act[0] - 3.0 * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)) < 1e-12  # 1e4 roundoffs of 4e-16
    source.advance(0.0015)
    assert source.data.act[0] == 3.0


def test_a_profile_changes_within_its_piece_only():
    profile = Profile([0.0, 1.0, 2.0], [[1.0], [2.0, 0.0, 5.0], [-4.0]])  # 1, then 5 + 2 s^2, then -4
    assert profile.change([0.0, 1.0, 1.5, 2.0], [1.0, 2.0, 2.0, 3.0]).tolist() == [0.0, 2.0, 1.5, 0.0]


# The warning of a run, and whether its advice helps


def rig_values(time_constant_s, step_s, integrator):
    return {
        "duration_s": 0.8,
        "robot": {"file": "strapdown:bar"},
        "physics": {"gravity": G, "step_s": step_s, "integrator": integrator},
        "motor": [{"joint": "axis", "kind": "position", "time_constant_s": time_constant_s}],
        "sensor": [{"name": "D", "link": "bar", "position_m": [1.0, 0.0, 0.0]}],
        "program": [{"motor": "axis", "at_s": AT_S, "over_s": OVER_S, "position_deg": 45.0}],
    }


@pytest.mark.filterwarnings("ignore::strapdown.errors.RangeWarning")
def test_the_advice_of_the_warning_helps():
    """A time constant of two steps of rk4: each thing that the warning advises ends the warning."""
    found = run_rig(rig_values(0.02, 0.01, "rk4")).out_of_range
    assert len(found) == 1 and found[0].error > 0.2
    assert all(word in str(found[0]) for word in ("smaller physics step", "longer time_constant_s", "rk4"))
    assert not run_rig(rig_values(0.02, 0.002, "rk4")).out_of_range
    assert not run_rig(rig_values(0.1, 0.01, "rk4")).out_of_range


@pytest.mark.filterwarnings("ignore::strapdown.errors.RangeWarning")
def test_rk4_is_good_advice_for_smooth_motion():
    values = {
        "duration_s": 1.0,
        "robot": {"file": "strapdown:double_pendulum"},
        "physics": {"gravity": G, "step_s": 2e-3, "integrator": "implicitfast"},
        "start": [{"joint": "upper", "position_deg": 100.0}, {"joint": "lower", "position_deg": 40.0}],
        "sensor": [{"name": "D", "link": "lower_link"}],
    }
    (found,) = run_rig(values).out_of_range
    assert "rk4 if the motion is smooth" in str(found)
    values["physics"] = {**values["physics"], "integrator": "rk4"}
    assert not run_rig(values).out_of_range


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_motors_are_the_same_with_every_step_below_a_millisecond(integrator):
    motor = Motor("axis", "axis", "position")
    gains = [
        robot("bar", motors=[m], step_s=h, integrator=integrator).model.actuator_gainprm[0, 0]
        for h in (1e-3, 1e-4)
        for m in (motor, replace(motor, time_constant_s=0.01))
    ]
    assert len(set(gains)) == 1

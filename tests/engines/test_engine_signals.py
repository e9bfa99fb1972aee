"""Increments and proof masses of robots in MuJoCo, and what their files must not change."""

import mujoco
import numpy as np
import pytest

from helpers import G, mjcf, robot, run_rig, same_bits, specific_force, write
from pendulum import FREE_BODY, SKEW, grid, read
from strapdown.earth import gravity_vector
from strapdown.engines.mujoco.recorded.driven import DrivenRobot
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, ProofMass, Start
from strapdown.engines.program import Command, Program
from strapdown.navigation.dead_reckoning import dead_reckon_increments
from strapdown.papers.a.experiments import EXPERIMENTS, pendulum_rig
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate

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
    # the gram depends on an arm of kilograms: the arm gives way by about that ratio
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

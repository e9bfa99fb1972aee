"""Robots: joints that follow others, limits, what a robot file may not bring along, impacts, and long runs."""

import tracemalloc
from itertools import pairwise
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from helpers import G, inertial, joint, link, mjcf, robot, specific_force, urdf, write
from strapdown.engines.mujoco.direct import ample_use
from strapdown.engines.mujoco.integrators import INTEGRATORS
from strapdown.engines.mujoco.recorded.driven import DrivenRobot
from strapdown.engines.mujoco.recorded.steps import Steps
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, ProofMass, Start
from strapdown.engines.program import Command, Program
from strapdown.errors import InputError, RobotError
from strapdown.vehicles import builtin

TURN = '<axis xyz="1 0 0"/>'


def grid(duration_s, rate_hz):
    return np.arange(round(duration_s * rate_hz) + 1) / rate_hz


def load(folder, text, name="r.urdf", **settings):
    return MujocoRobot(RobotFile(write(folder, name, text), **settings), gravity=G)


def refused(folder, text, name="r.urdf", **settings):
    with pytest.raises(RobotError) as caught:
        load(folder, text, name, **settings)
    said = str(caught.value)
    assert said.startswith(str(folder / name)) and "\n" not in said
    return said


# Kinematic drive: followers, constraints, limits

HINGES = "".join(
    f'<body name="b{i}" pos="0 0 {i}"><joint name="j{i}" axis="0 0 1" ref="{0.1 * i}"/><geom size=".1"/></body>'
    for i in range(4)
)
RADIAN = '<compiler angle="radian"/>'
CHAIN = '<equality><joint joint1="j2" joint2="j1" polycoef=".2 1 .5 0 0"/><joint joint1="j1" joint2="j0" '
CHAIN += 'polycoef="0 2 0 .3 -.1"/><joint joint1="j3" polycoef=".4"/></equality>'


def driven(file, *commands, start=(), link_name="b2"):
    return DrivenRobot(
        RobotFile(file), gravity=G, mounts=[Mount("imu", link_name)], program=Program(commands), start=start
    )


def test_followers_follow_their_leaders_polynomial_also_in_chains(tmp_path):
    file = write(tmp_path, "r.xml", mjcf(HINGES, before=RADIAN, after=CHAIN))
    source = driven(file, Command("j0", "position", 0.8, 0.1, over_s=0.6))
    t = np.linspace(0.0, 0.8, 801)
    got = source.record(0.8, {"imu": t})["imu"].motion
    x = source._joints(t)[0][:, 0]
    y = 0.1 + 2 * x + 0.3 * x**3 - 0.1 * x**4  # about the joints' places in the file: y - y0 = P(x - x0)
    z = 0.2 + 0.2 + (y - 0.1) + 0.5 * (y - 0.1) ** 2
    np.testing.assert_allclose(source._joints(t)[0][:, 1:], np.stack([y, z, 0.7 + 0 * t], -1), atol=1e-14)
    speed, inside = np.gradient(z, t, edge_order=2), slice(2, -2)
    np.testing.assert_allclose(got.w_nb_b[inside, 2], speed[inside], atol=5e-4)  # h^2 / 6 of a jerk of about 1400
    slope = np.gradient(got.w_nb_b[:, 2], t, edge_order=2)
    switch = np.minimum(np.abs(t - 0.1), np.abs(t - 0.7)) < 3e-3
    np.testing.assert_allclose(got.dw_nb_b[~switch, 2], slope[~switch], atol=5e-3)


def test_a_mimic_of_a_urdf_follows(tmp_path):
    mimic = TURN + '<mimic joint="j" multiplier="-2" offset="0.1"/>'
    text = urdf(link("base", ""), joint("j", "base", "a"), link("a"), joint("k", "a", "b"), link("b"))
    text = text.replace('<child link="b"/>' + TURN, '<child link="b"/>' + mimic)
    source = driven(write(tmp_path, "r.urdf", text), Command("j", "speed", 1.0, 0.0), link_name="b")
    motion = source.record(0.5, {"imu": grid(0.5, 10.0)})["imu"].motion
    np.testing.assert_allclose(motion.w_nb_b[:, 0], 1.0 - 2.0, atol=1e-14)
    with pytest.raises(InputError, match='joint "k" follows joint "j"'):
        driven(tmp_path / "r.urdf", Command("k", "speed", 1.0, 0.0), link_name="b")
    with pytest.raises(InputError, match='joint "k" follows joint "j"'):
        driven(tmp_path / "r.urdf", start=[Start("k", 0.3)], link_name="b")
    said = refused(tmp_path, text.replace('mimic joint="j"', 'mimic joint="zz"'))
    assert 'line 5: joint "k" mimics joint "zz"' in said and "j, k" in said


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ('<equality><connect body1="b0" body2="b1" anchor="0 0 0"/></equality>', 'kind "connect" needs physics'),
        ('<equality><weld body1="b0" body2="b1"/></equality>', 'kind "weld" needs physics'),
        (
            '<equality><joint joint1="j0" joint2="j1"/><joint joint1="j1" joint2="j0"/></equality>',
            "follow each other in a circle",
        ),
        (
            '<equality><joint joint1="j0" joint2="j1"/><joint joint1="j0" joint2="j2"/></equality>',
            'joint "j0" follows two joints',
        ),
    ],
)
def test_constraints_that_no_formula_drives_are_refused(after, said, tmp_path):
    with pytest.raises(InputError, match=said):
        driven(write(tmp_path, "r.xml", mjcf(HINGES, after=after)))
    driven(write(tmp_path, "r.xml", mjcf(HINGES, after=after.replace("/>", ' active="false"/>'))))


@pytest.mark.parametrize(("inside", "kind"), [("<freejoint/>", "free"), ('<joint type="ball"/>', "ball")])
def test_joints_that_no_program_drives_are_refused(inside, kind, tmp_path):
    file = write(tmp_path, "r.xml", mjcf(f'<body name="b2">{inside}<geom size=".1"/></body>'))
    with pytest.raises(InputError, match=f'link "b2" has a {kind} joint.*set drive = "motors"'):
        driven(file)


def test_a_program_beyond_a_joints_limit_is_refused(tmp_path):
    body = '<body name="b2"><joint name="j" type="slide" limited="true" range="-.2 .5"/><geom size=".1"/></body>'
    file = write(tmp_path, "r.xml", mjcf(body))
    too_far = driven(file, Command("j", "speed", 0.5, 0.25))
    too_far.record(1.25, {"imu": np.array([0.0])})  # it arrives just there
    with pytest.raises(InputError, match=r'joint "j" goes beyond its limit of 0\.5 m at t = 1\.25 s'):
        too_far.record(2.0, {"imu": np.array([0.0])})
    too_far.advance(2.0)
    with pytest.raises(InputError, match=r'joint "j" goes beyond its limit of 0\.5 m'):
        too_far.state("b2")
    with pytest.raises(InputError, match=r"limit of -0\.2 m at t = 0 s"):
        driven(file, start=[Start("j", -0.3)]).record(1.0, {"imu": np.array([0.0])})


# Robot files


@pytest.mark.parametrize("value", ["0 0 1e300", "0 inf 0", "1e12 0 0", "nan 0 0", "0 -1000000000000.5 0"])
def test_numbers_beyond_all_measure_are_refused(value, tmp_path):
    text = urdf(link("base", ""), joint("j", "base", "arm"), link("arm", inertial(xyz=value)))
    assert f'line 4: xyz of <origin> is "{value}"' in refused(tmp_path, text)


def test_limits_may_be_as_wide_as_files_write_them(tmp_path):
    wide = TURN + '<limit lower="-1e16" upper="1e16" effort="inf" velocity="1e300"/>'
    load(tmp_path, urdf(link("base", ""), joint("j", "base", "arm", "revolute", wide), link("arm")))


def test_what_the_engine_warns_of_while_it_reads_is_refused(tmp_path, monkeypatch):
    read = mujoco.MjSpec.from_file

    def warns(path):
        mujoco.get_mju_user_warning()("something was dropped")
        return read(path)

    monkeypatch.setattr(mujoco.MjSpec, "from_file", warns)
    assert "something was dropped" in refused(tmp_path, mjcf(HINGES), "r.xml")


def test_actuators_and_sensors_of_a_file_are_removed(tmp_path):
    """A servo of the file would hold the arm at 0; here it swings as if there were none."""
    body = '<body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".5 0 0" mass="1"/><site name="s"/></body>'
    after = (
        '<actuator><position name="p" joint="j" kp="1000"/></actuator>'
        '<sensor><actuatorfrc actuator="p"/><gyro site="s"/></sensor>'
        '<custom><tuple name="t"><element objtype="actuator" objname="p"/></tuple></custom>'
        '<keyframe><key ctrl="1"/></keyframe>'
    )
    before = '<option actuatorgroupdisable="0"/>'
    with_servo = load(tmp_path, mjcf(body, before=before, after=after), "r.xml")
    without = load(tmp_path, mjcf(body), "r.xml")
    assert with_servo.model.nu == 0 and with_servo.model.nsensor == 0 and with_servo.model.opt.disableactuator == 0
    for source in (with_servo, without):
        source.advance(0.2)
    assert with_servo.joint_position("j") == without.joint_position("j") > 0.1


def test_our_own_names_are_refused(tmp_path):
    for text in ('<body name="strapdown/imu/mass">{}</body>', '<body name="a"><site name="strapdown/imu"/>{}</body>'):
        said = refused(tmp_path, mjcf(text.format('<geom size=".1"/>')), "r.xml")
        assert '"strapdown/imu' in said and "rename it" in said


def with_visual(filename):
    shape = f'<visual><geometry><mesh filename="{filename}"/></geometry></visual>'
    return urdf(link("base", ""), joint("j", "base", "arm"), link("arm", inertial() + shape))


def test_pictures_are_not_needed_but_wrong_paths_are_told(tmp_path):
    load(tmp_path, with_visual("package://nowhere_at_all/arm.dae"))
    (tmp_path / "here").mkdir()
    assert "package://here/arm.dae" in refused(tmp_path, with_visual("package://here/arm.dae"))
    assert "nowhere_at_all" in refused(
        tmp_path, with_visual("package://nowhere_at_all/arm.dae").replace("visual", "collision")
    )
    write(tmp_path, "here/arm.dae", "<COLLADA/>")
    load(tmp_path, with_visual("package://here/arm.dae"))


def test_a_root_called_world_is_the_ground_and_carries_a_sensor(tmp_path):
    text = urdf(link("world", ""), joint("j", "world", "arm"), link("arm"))
    file = write(tmp_path, "r.urdf", text)
    source = MujocoRobot(RobotFile(file), gravity=G, mounts=[Mount("imu", "world", (1, 0, 0))])
    assert source.links() == ("world", "arm")
    motion = source.record(0.1, {"imu": grid(0.1, 100.0)})["imu"].motion
    np.testing.assert_allclose(specific_force(motion), [[0, 0, G]] * 11, atol=1e-12)
    assert source.state("world").p_n.tolist() == [[0, 0, 0]]
    assert "is the ground and cannot float" in refused(tmp_path, text, floating=True)
    child = urdf(link("base", ""), joint("j", "base", "world"), link("world"))
    assert 'line 4: link "world" has a joint above it' in refused(tmp_path, child)


@pytest.mark.parametrize(
    ("kind", "inside", "said"),
    [
        ("planar", TURN, ["line 3", 'joint "j" is planar', "two prismatic joints"]),
        ("floating", "", ["line 3", 'joint "j" is floating', "floating = true"]),
        ("revolute", '<axis xyz="0 0 0"/>', ["line 3", 'axis of joint "j" is "0 0 0"', "like 1 0 0"]),
        ("revolute", '<axis xyz="x"/>', ["line 3", 'axis of joint "j"']),
    ],
)
def test_joints_that_are_not_supported_are_told_with_advice(kind, inside, said, tmp_path):
    text = urdf(link("base", ""), joint("j", "base", "arm", kind, inside), link("arm"))
    told = refused(tmp_path, text)
    assert all(part in told for part in said), told


def test_an_impossible_inertia_is_told_with_its_line(tmp_path):
    moments = '<inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><mass value="1"/>{moments}</inertial>'
    told = refused(tmp_path, urdf(link("base", ""), joint("j", "base", "arm"), link("arm", body)))
    assert 'line 4: no body has the inertia of link "arm": its principal moments are 1, 1 and 3 kg m2' in told


def test_the_inertia_of_a_proof_mass_is_that_of_a_cube_of_one_density():
    def inertia(mass_kg):
        source = robot("bar", mounts=[Mount("imu", "bar", proof_mass=ProofMass(mass_kg))])
        return source.model.body("strapdown/imu/mass").inertia[0]

    assert inertia(1e-3) == pytest.approx(1e-3 * 0.02**2 / 6.0, rel=1e-12)
    assert inertia(1e-6) / inertia(1e-3) == pytest.approx(1e-3 ** (5.0 / 3.0), rel=1e-12)


# Runs


@pytest.mark.parametrize("duration_s", [1e-12, 0.0, -1.0, np.nan, np.inf])
def test_a_run_of_no_time_is_refused(duration_s):
    source = robot("bar", mounts=[Mount("imu", "bar")])
    with pytest.raises(InputError, match="above 0"):
        source.record(duration_s, {"imu": np.array([0.0])})
    with pytest.raises(InputError, match="above 0"):
        source.advance(duration_s)


BOX = mjcf(
    '<geom type="plane" size="0 0 1"/><body name="b" pos="0 0 1.1"><freejoint/>'
    '<geom type="box" size=".1 .1 .1" mass="1"/></body>'
)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("rate_hz", [7.0, 100.0, 1000.0, 1700.0])
def test_an_impact_is_noticed_whenever_the_sensor_looks(integrator, rate_hz, tmp_path):
    """Dropped from 1 m it arrives after 0.4515 s with 4.4 m/s; the contact's damper acts at once."""
    file = RobotFile(write(tmp_path, "box.xml", BOX))
    source = MujocoRobot(file, gravity=G, integrator=integrator, mounts=[Mount("imu", "b")])
    t = grid(1.0, rate_hz)
    sampled = source.record(1.0, {"imu": t})["imu"]
    before = t < 0.44
    assert sampled.unexplained[before].max() < 1e-10  # free fall: roundoff
    assert sampled.unexplained.max() > 100.0
    assert abs(t[np.argmax(sampled.unexplained)] - 0.4515) < 1.0 / rate_hz + 2e-3


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_switch_of_the_program_is_no_impact(integrator):
    program = Program((Command("axis", "torque", 5.0, 0.0123, 0.05),))
    source = robot(
        "bar",
        motors=[Motor("axis", "axis", "torque")],
        mounts=[Mount("imu", "bar", (1, 0, 0))],
        program=program,
        integrator=integrator,
    )
    sampled = source.record(0.1, {"imu": grid(0.1, 100.0)})["imu"]
    assert np.ptp(sampled.motion.dw_nb_b[:, 2]) > 1.0
    assert sampled.unexplained.max() < 2e-2  # Euler: half a step of the centripetal jerk


def test_the_worst_step_since_the_sample_before_is_told(monkeypatch):
    """The same figures at any rate, and however the run is cut into stretches."""
    start = [Start("upper", 1.5, 0.3), Start("lower", 0.8, -0.2)]

    def run(rate_hz):
        source = robot("double_pendulum", start=start, mounts=[Mount("imu", "lower_link", (0.1, 0, 0))], step_s=5e-3)
        return source.record(1.0, {"imu": grid(1.0, rate_hz)})["imu"]

    fine, coarse = run(200.0), run(10.0)
    for name in ("unexplained", "turn_per_step"):
        every, some = getattr(fine, name), getattr(coarse, name)
        # a sample is about the step that ends at it, those before, and the one that begins at it
        for k in range(1, 11):
            assert every[20 * k - 19 : 20 * k].max() <= some[k] <= every[20 * k - 20 : 20 * k + 1].max()
    rate = np.linalg.norm(fine.motion.w_nb_b, axis=1)
    turn = np.maximum(rate[1:], rate[:-1]) * 5e-3
    np.testing.assert_allclose(fine.turn_per_step[1:-1], np.maximum(turn[:-1], turn[1:]), rtol=1e-12)
    monkeypatch.setattr("strapdown.engines.mujoco.recorded.steps._STRETCH", 7)
    cut = run(200.0)
    for name in ("unexplained", "turn_per_step"):
        assert np.array_equal(getattr(cut, name), getattr(fine, name))
    assert np.array_equal(cut.motion.a_n, fine.motion.a_n) and np.array_equal(cut.motion.q_nb, fine.motion.q_nb)


def test_stretches_are_the_whole_run(monkeypatch):
    steps = Steps(1e-3, np.array([0.0, 0.0123, 0.02, 0.0299999999999]))
    whole = steps.nodes(0.0, 0.0507)
    monkeypatch.setattr("strapdown.engines.mujoco.recorded.steps._STRETCH", 10)
    parts = list(steps.stretches(0.0507))
    assert len(parts) == 6 and all(a[-1] == b[0] for a, b in pairwise(parts))
    assert np.array_equal(np.concatenate([parts[0][:1], *(part[1:] for part in parts)]), whole)
    assert steps.switched(whole).sum() == 4


def test_memory_follows_the_samples_and_not_the_steps():
    source = robot("bar", start=[Start("axis", 0.0, 1.0)], mounts=[Mount("imu", "bar")], integrator="euler")
    peaks = []
    for duration_s in (50.0, 200.0):
        tracemalloc.start()
        source.record(duration_s, {"imu": grid(duration_s, 0.1)})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_robots_that_come_with_the_package_give_no_warnings():
    for name in ("bar", "cube", "double_pendulum", "manipulator"):
        MujocoRobot(RobotFile(builtin(name)), gravity=G)


def test_kernels_call_the_engine_only_where_its_memory_is_ample():
    """The engine's C functions end the process when they run out of memory."""
    assert ample_use(SimpleNamespace(narena=1 << 20)) == 1 << 16
    assert ample_use(SimpleNamespace(narena=(1 << 20) - 1)) == -1

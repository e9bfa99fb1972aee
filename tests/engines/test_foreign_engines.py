"""Robots in PyBullet and Drake: the same motion as in MuJoCo with the same steps, and what they refuse."""

import sys

import numpy as np
import pytest

from helpers import G, joint, link, mjcf, needs, run_rig, stl, urdf, write
from pendulum import SKEW, SKEW_MOUNT, SWING, grid
from strapdown.engines import catalogue
from strapdown.engines.foreign.merged import merged
from strapdown.engines.foreign.robot import ForeignRobot
from strapdown.engines.foreign.tree import tree_of
from strapdown.engines.mujoco.build import build
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Physics, ProofMass, Start
from strapdown.engines.program import Command, Program, Push
from strapdown.errors import InputError
from strapdown.live import PLANT_COLUMNS
from strapdown.vehicles import builtin

# engine, its integrator, and the integrator of MuJoCo that makes the same steps
ENGINES = [("pybullet", "euler", "euler"), ("drake", "rk4", "rk4"), ("drake", "discrete", "euler")]
every_engine = pytest.mark.parametrize(("engine", "integrator", "same"), ENGINES)
NAMES = ("p_n", "v_n", "a_n", "q_nb", "w_nb_b", "dw_nb_b")


def both(engine, integrator, same, file, duration_s, rate_hz, **settings):
    needs(engine)
    times = {mount.name: grid(duration_s, rate_hz) for mount in settings["mounts"]}
    theirs = ForeignRobot(file, engine, gravity=G, integrator=integrator, **settings).record(duration_s, times)
    ours = MujocoRobot(file, gravity=G, integrator=same, **settings).record(duration_s, times)
    return [(theirs[name].motion, ours[name].motion) for name in times]


def assert_same(pairs, roundoff):
    """roundoff: relative to the largest number of each signal."""
    for a, b in pairs:
        for name in NAMES:
            x, y = getattr(a, name), getattr(b, name)
            np.testing.assert_allclose(x, y, atol=roundoff * (1.0 + np.abs(y).max()), err_msg=name)


@every_engine
def test_a_pendulum_swings_as_in_mujoco(engine, integrator, same):
    """Different mathematics of the same steps: roundoff, which a chaotic motion makes larger (1 s: 1e-12)."""
    file = RobotFile(builtin("double_pendulum"))
    assert_same(both(engine, integrator, same, file, 1.0, 250.0, mounts=[SKEW_MOUNT], start=SWING), 1e-11)


@every_engine
@pytest.mark.parametrize("kind", ["speed", "position", "torque"])
def test_motors_and_pushes_act_as_in_mujoco(engine, integrator, same, kind):
    program = Program(
        (Command("shoulder", kind, 0.7, 0.0), Command("elbow", kind, -0.4, 0.03)),
        (Push("forearm", (0.0, 3.0, 1.0), (0.1, 0.0, 0.0), 0.02, 0.06),),
    )
    settings = {
        "mounts": [Mount("tool", "tool", (0.1, -0.05, 0.02), SKEW), Mount("base", "base")],
        "motors": [Motor(name, name, kind, 60.0) for name in ("shoulder", "elbow")],
        "start": [Start("shoulder", 0.5, 0.4), Start("elbow", 0.3)],
        "program": program,
    }
    assert_same(both(engine, integrator, same, RobotFile(builtin("manipulator")), 0.1, 1000.0, **settings), 1e-11)


# a link whose joint lies off its origin and begins at an angle, a spring and a damper, a slide, and a skew inertia
ODD = mjcf(
    '<body name="a" pos="0 .1 1" quat="4 1 2 3"><joint name="h" type="hinge" axis="0 1 1" pos=".1 0 .2" ref="20" '
    'stiffness="3" damping=".2"/><inertial pos=".1 .05 -.2" mass="2" fullinertia=".03 .02 .04 .004 .003 .002"/>'
    '<body name="b" pos=".2 0 -.3"><joint name="s" type="slide" axis="1 0 1"/>'
    '<inertial pos="0 .1 0" quat="1 2 0 1" mass="1" diaginertia=".01 .02 .025"/>'
    '<body name="c" pos="0 .1 .1" quat="1 1 0 0"><inertial pos="0 0 .1" mass=".5" diaginertia=".01 .01 .01"/></body>'
    "</body></body>"
)
FLYING = mjcf(
    '<body name="a" pos="0 0 5" quat="4 1 2 3"><freejoint/>'
    '<inertial pos=".1 .05 -.2" mass="2" fullinertia=".03 .02 .04 .004 .003 .002"/>'
    '<body name="b" pos=".2 0 -.3"><joint name="h" axis="1 1 0"/>'
    '<inertial pos="0 .1 0" quat="1 2 0 1" mass="1" diaginertia=".01 .02 .025"/></body></body>'
)


@every_engine
def test_joints_off_the_origin_springs_slides_and_skew_inertias(engine, integrator, same, tmp_path):
    file = RobotFile(write(tmp_path, "odd.xml", ODD))
    settings = {"mounts": [Mount("c", "c", (0.1, 0.2, 0.3), SKEW)], "start": [Start("h", 0.8, 1.0), Start("s", 0.1)]}
    if integrator == "rk4":
        assert_same(both(engine, integrator, same, file, 0.2, 1000.0, **settings), 1e-11)
    else:  # euler of MuJoCo takes joint damping at the end of the step, another engine at its begin: first order
        coarse, fine = (_distance(engine, integrator, same, file, step_s, settings) for step_s in (1e-3, 1e-4))
        assert fine < 0.12 * coarse < 0.01


def _distance(engine, integrator, same, file, step_s, settings):
    ((a, b),) = both(engine, integrator, same, file, 0.1, 1000.0, step_s=step_s, **settings)
    return np.abs(a.p_n - b.p_n).max() + np.abs(a.w_nb_b - b.w_nb_b).max()


@every_engine
def test_a_floating_robot_tumbles_as_in_mujoco(engine, integrator, same, tmp_path):
    """Two links in free fall: integrators of the attitude differ, by the order of the step."""
    file = RobotFile(write(tmp_path, "flying.xml", FLYING))
    settings = {"mounts": [Mount("a", "a", (0.1, 0.2, 0.3), SKEW), Mount("b", "b")], "start": [Start("h", 0.3, 9.0)]}
    far = []
    for step_s in (2e-3, 1e-3):
        pairs = both(engine, integrator, same, file, 0.2, 500.0, step_s=step_s, **settings)
        far.append(max(np.abs(getattr(a, name) - getattr(b, name)).max() for a, b in pairs for name in NAMES))
    order = np.log2(far[0] / far[1])
    assert far[1] < (1e-6 if integrator == "rk4" else 1.0)
    assert order > (3.0 if integrator == "rk4" else 0.7) or far[1] < 1e-10


@pytest.mark.parametrize(("engine", "integrator"), [("pybullet", "euler"), ("drake", "discrete")])
def test_meshes_boxes_and_capsules_stand_on_the_floor(engine, integrator, tmp_path):
    """After half a second each shape carries its weight: the mean of the accelerometer is g, though contacts rattle."""
    needs(engine)
    stl(tmp_path / "t.stl")
    shapes = {
        "box": '<geom type="box" size=".1 .2 .1" mass="3"/>',
        "sphere": '<geom type="sphere" size=".1" mass="3"/>',
        "capsule": '<geom type="capsule" size=".1 .2" quat="1 1 0 0" mass="3"/>',
        "mesh": '<geom type="mesh" mesh="t" mass="3"/>',
    }
    for name, geom in shapes.items():
        body = f'<geom type="plane" size="0 0 1"/><body name="b" pos="0 0 .12"><freejoint/>{geom}</body>'
        assets = '<asset><mesh name="t" file="t.stl" scale=".5 .5 .5"/></asset>' if name == "mesh" else ""
        file = RobotFile(write(tmp_path, f"{name}.xml", mjcf(body, before=assets)))
        robot = ForeignRobot(file, engine, gravity=G, integrator=integrator, mounts=[Mount("imu", "b")])
        motion = robot.record(1.0, {"imu": grid(1.0, 1000.0)})["imu"].motion
        assert motion.p_n[-1, 2] > -0.02, name
        carried = motion.a_n[500:, 2].mean() + G  # a change of velocity of 0.1 m/s in half a second is 0.2 m/s2
        assert abs(carried - G) < 0.2, name


@pytest.mark.parametrize(("engine", "integrator"), [("pybullet", "euler"), ("drake", "discrete")])
def test_joint_limits_hold(engine, integrator):
    needs(engine)
    motors = [Motor("elbow", "elbow", "torque"), Motor("shoulder", "shoulder", "position")]
    program = Program((Command("elbow", "torque", 3.0, 0.0),))
    file = RobotFile(builtin("manipulator"))
    robot = ForeignRobot(file, engine, gravity=G, integrator=integrator, motors=motors, program=program)
    robot.advance(3.0)
    assert 3.05 < robot.joint_position("elbow") < 3.15


def test_drake_with_rk4_refuses_to_pass_a_limit():
    needs("drake")
    motors, program = [Motor("elbow", "elbow", "torque")], Program((Command("elbow", "torque", 3.0, 0.0),))
    robot = ForeignRobot(RobotFile(builtin("manipulator")), "drake", gravity=G, motors=motors, program=program)
    with pytest.raises(InputError, match='joint "elbow" passes its limit, which drake does not hold'):
        robot.advance(3.0)


def test_drake_with_whole_steps_refuses_parts_of_them():
    needs("drake")
    program = Program((), (Push("cube", (0.0, 0.0, 60.0), (0.0, 0.0, 0.0), 0.0105, 0.02),))
    robot = ForeignRobot(RobotFile(builtin("cube")), "drake", gravity=G, integrator="discrete", program=program)
    with pytest.raises(InputError, match=r"makes whole steps of 0\.001 s; put all switches"):
        robot.advance(0.1)


@every_engine
def test_sensor_times_between_steps_lie_on_the_motion(engine, integrator, same):
    """The same run, read on the grid and in between: positions differ by the way of a part of a step."""
    needs(engine)
    file = RobotFile(builtin("double_pendulum"))
    robot = ForeignRobot(file, engine, gravity=G, integrator=integrator, mounts=[SKEW_MOUNT], start=SWING)
    on = robot.record(0.1, {"imu": grid(0.1, 1000.0)})["imu"].motion
    t = grid(0.1, 1000.0)[:-1] + 0.0004
    between = robot.record(0.1, {"imu": t})["imu"].motion
    way = np.abs(between.p_n - (on.p_n[:-1] + 0.0004 * on.v_n[1:])).max()
    assert 0.0 < way < 0.5 * 1e-3**2 * 2.0 * np.abs(on.a_n).max()
    again = robot.record(0.1, {"imu": grid(0.1, 1000.0)})["imu"].motion
    assert np.array_equal(again.p_n, on.p_n)  # readings in between change nothing


def test_fixed_links_become_one_with_their_carrier(tmp_path):
    """Mass, centre of mass and inertia of all, seen from outside, stay the same."""
    model = build(RobotFile(write(tmp_path, "odd.xml", ODD)), Physics(G)).model
    tree, part_of = merged(tree_of(model))
    assert [link.name for link in tree.links] == ["world", "a", "b"] and part_of == [0, 1, 2, 2]
    b = tree.links[2]
    assert b.mass == 1.5
    np.testing.assert_allclose(b.centre, [0.0, (0.1 + 0.5 * (0.1 - 0.1)) / 1.5, 0.5 * 0.1 / 1.5], atol=1e-15)
    np.testing.assert_allclose(np.linalg.eigvalsh(b.inertia_about_centre()), np.sort(b.inertia), rtol=1e-12)


# What is refused

MIMIC = '<axis xyz="1 0 0"/><mimic joint="j"/>'


@pytest.mark.parametrize(
    ("robot", "sentence"),
    [
        (
            urdf(
                link("a"),
                link("b"),
                link("c"),
                joint("j", "a", "b"),
                joint("k", "a", "c", inside='<axis xyz="1 0 0"/><mimic joint="j"/>'),
            ),
            "mimic joints, equalities, tendons or flexible parts needs MuJoCo",
        ),
        (mjcf('<body name="a"><joint type="ball"/><geom size=".1"/></body>'), "is a ball joint, which needs MuJoCo"),
        (mjcf('<body name="a"><joint name="j" armature="1"/><geom size=".1"/></body>'), 'joint "j" has armature'),
        (mjcf('<body name="a"><joint/><joint axis="1 0 0"/><geom size=".1"/></body>'), 'link "a" has several joints'),
        (mjcf('<body name="a"><joint/><geom type="ellipsoid" size=".1 .2 .3"/></body>'), "a shape of kind ellipsoid"),
        (
            mjcf('<body name="a"><freejoint/><geom size=".1"/></body><body name="b"><geom size=".1"/></body>'),
            'link "a" floats next to other links',
        ),
    ],
)
def test_what_needs_mujoco_is_one_sentence(robot, sentence, tmp_path):
    needs("drake")
    file = RobotFile(write(tmp_path, "r.urdf" if robot.startswith("<robot") else "r.xml", robot))
    with pytest.raises(InputError, match=sentence) as caught:
        ForeignRobot(file, "drake", gravity=G)
    assert "\n" not in str(caught.value) and 'set engine = "mujoco"' in str(caught.value)


def test_a_proof_mass_needs_mujoco():
    needs("drake")
    with pytest.raises(InputError, match="method proof-mass, which needs MuJoCo"):
        ForeignRobot(RobotFile(builtin("bar")), "drake", gravity=G, mounts=[Mount("p", "bar", proof_mass=ProofMass())])


def test_an_engine_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(catalogue, "find_spec", lambda name: None)
    values = _arm_rig("pybullet")
    with pytest.raises(InputError, match=r'engine "pybullet" is not installed; .*pip install "strapdown\[pybullet\]"'):
        run_rig(values)


@pytest.mark.parametrize(("engine", "module"), [("pybullet", "pybullet"), ("drake", "pydrake.multibody.plant")])
def test_an_engine_that_does_not_load_is_a_sentence(monkeypatch, engine, module):
    """As a wheel that was built for another NumPy."""
    needs(engine)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(catalogue, "find_spec", lambda name: True)
    with pytest.raises(InputError, match=f'engine "{engine}" is installed and cannot be loaded .*--force-reinstall'):
        run_rig(_arm_rig(engine))


# Rigs


def _arm_rig(engine, **physics):
    return {
        "duration_s": 0.1,
        "robot": {"file": "strapdown:manipulator"},
        "physics": {"gravity": G, "engine": engine, **physics},
        "motor": [{"joint": "elbow", "kind": "speed"}],
        "program": [{"motor": "elbow", "at_s": 0.02, "speed_deg_s": 40.0}],
        "sensor": [{"name": "D1", "link": "forearm", "rate_hz": 500.0}],
    }


@pytest.mark.parametrize(("engine", "same"), [("pybullet", "euler"), ("drake", "rk4")])
def test_a_rig_gives_the_same_recording_in_another_engine(engine, same):
    needs(engine)
    theirs = run_rig(_arm_rig(engine)).recordings["D1"]
    ours = run_rig(_arm_rig("mujoco", integrator=same)).recordings["D1"]
    for name in ("acc_s", "gyr_s"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-9)  # roundoff over 100 steps
    assert theirs.meta["engine"] == engine and "engine" not in ours.meta
    assert {**theirs.meta, "engine": None} == {**ours.meta, "engine": None}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"physics": {"engine": "ode"}}, "engine"),
        ({"physics": {"engine": "pybullet", "integrator": "rk4"}}, 'engine "pybullet" has no integrator "rk4"'),
        ({"physics": {"engine": "drake", "integrator": "euler"}}, "valid names: rk4, discrete"),
        ({"robot": {"file": "strapdown:manipulator", "drive": "kinematic"}, "motor": [], "program": []}, "no physics"),
        ({"robot": {}}, "a .robot. without a file"),
        ({"physics": {}, "coppeliasim": {"follow": True}}, r"has a \[coppeliasim\] table"),
    ],
)
def test_rigs_refuse_what_does_not_fit_the_engine(change, sentence):
    needs("drake")
    needs("pybullet")
    with pytest.raises(InputError, match=sentence) as caught:
        run_rig({**_arm_rig("drake"), **change})
    assert "\n" not in str(caught.value)


def test_drakes_own_accelerations_agree_with_ours():
    """Link accelerations come from joint accelerations by the mathematics of MuJoCo; Drake computes them by its own."""
    needs("drake")
    from strapdown.engines.foreign.plant import live_plant

    plant = live_plant(RobotFile(builtin("double_pendulum")), "drake", Physics(G), start=SWING)
    plant.advance_to(0.1)
    row = np.empty((1, 22))
    plant.read([Mount("imu", "lower_link")], row)
    drake = plant._foreign.dynamics
    own = drake._plant.EvalBodySpatialAccelerationInWorld(drake._context, drake._bodies[3])
    np.testing.assert_allclose(row[0, PLANT_COLUMNS["a_n"]], own.translational(), atol=1e-12)

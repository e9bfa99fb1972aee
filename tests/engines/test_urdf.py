"""Robot files: what is wrong with one is expressed in a sentence that names the file, the line or the link."""

import contextlib

import numpy as np
import pytest

from helpers import ROOT, G, inertial, joint, link, mjcf, specific_force, stl, urdf, write
from strapdown.engines.mujoco.recorded.driven import DrivenRobot
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Mount, Start
from strapdown.errors import InputError, RobotError


def with_mesh(filename, tag="collision", inside=None):
    shape = f'<{tag}><geometry><mesh filename="{filename}"/></geometry></{tag}>'
    return urdf(
        link("base", ""), joint("j", "base", "arm"), link("arm", (inertial() if inside is None else "") + shape)
    )


def load(path, **settings):
    return MujocoRobot(RobotFile(path, **settings), gravity=G)


def refused(path, **settings):
    """The sentence with which a robot file is refused: one line that begins with the file."""
    with pytest.raises(RobotError) as caught:
        load(path, **settings)
    said = str(caught.value)
    assert said.startswith(str(path)) and "\n" not in said
    return said


BASE_ARM = (link("base", ""), joint("j", "base", "arm"), link("arm"))

DEFECTS = {
    "malformed": ('<robot name="r">\n<link name="a">\n</robot>', ["line 3", "not well-formed XML"]),
    "cut off": ('<robot name="r">\n<link name="a"/>\n', ["line 3", "not well-formed XML"]),
    "empty": ("", ["not well-formed XML"]),
    "not a robot": ("<svg/>", ["<svg>", "URDF <robot>", "MJCF <mujoco>"]),
    "no links": ('<robot name="r"/>', ["no <link>"]),
    "link without name": (urdf("<link/>"), ["line 2", "<link> has no name"]),
    "link twice": (urdf(link("a"), link("b"), link("a")), ["line 4", 'link "a"', "twice"]),
    "joint twice": (urdf(*BASE_ARM, joint("j", "arm", "base")), ["line 5", 'joint "j"', "twice"]),
    "unknown child": (urdf(*BASE_ARM, joint("k", "arm", "hand")), ["line 5", '"hand"', "base, arm"]),
    "unknown parent": (urdf(*BASE_ARM, joint("k", "torso", "arm")), ["line 5", '"torso"', "base, arm"]),
    "joint without child": (
        urdf(*BASE_ARM, '<joint name="k" type="fixed"><parent link="arm"/></joint>'),
        ["line 5", 'joint "k"', "child"],
    ),
    "two roots": (urdf(link("a"), link("b")), ["2 links have no parent: a, b"]),
    "two parents": (
        urdf(*BASE_ARM, link("hand"), joint("k", "base", "hand"), joint("l", "arm", "hand")),
        ["line 7", '"hand"', '"k" and "l"'],
    ),
    "loop of all": (urdf(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), ["loop"]),
    "loop next to a root": (
        urdf(*BASE_ARM, link("x"), link("y"), joint("k", "x", "y"), joint("l", "y", "x")),
        ["loop", '"x"'],
    ),
    "no inertial": (urdf(*BASE_ARM[:2], link("arm", "")), ["line 4", 'link "arm"', "no <inertial>"]),
    "zero mass": (urdf(*BASE_ARM[:2], link("arm", inertial(mass=0.0))), ["line 4", 'link "arm"', "no mass above 0"]),
    "negative mass": (urdf(*BASE_ARM[:2], link("arm", inertial(mass=-1.0))), ["line 4", '"arm"', "no mass above 0"]),
    "mass in words": (urdf(*BASE_ARM[:2], link("arm", inertial(mass="heavy"))), ["line 4", '"arm"', '"heavy"']),
    "mass not finite": (urdf(*BASE_ARM[:2], link("arm", inertial(mass="nan"))), ["line 4", "<mass>", '"nan"']),
    "no inertia": (
        urdf(*BASE_ARM[:2], link("arm", '<inertial><mass value="1"/></inertial>')),
        ["line 4", '"arm"', "no <inertia>"],
    ),
    "zero inertia": (urdf(*BASE_ARM[:2], link("arm", inertial(moment=0.0))), ["line 4", '"arm"', "moment of inertia"]),
    "unknown joint type": (
        urdf(BASE_ARM[0], joint("j", "base", "arm", "hinge"), BASE_ARM[2]),
        ["line 3", 'joint "j"', '"hinge"', "revolute, continuous, prismatic"],
    ),
}


@pytest.mark.parametrize("what", DEFECTS)
def test_a_defect_is_told_with_its_place(what, tmp_path):
    text, told = DEFECTS[what]
    said = refused(write(tmp_path, "robot.urdf", text))
    for part in told:
        assert part in said


def test_a_file_that_is_not_there_is_told(tmp_path):
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "none.urdf")
    assert "cannot be read (Is a directory)" in refused(tmp_path)


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b'<?xml version="1.0" encoding="martian"?><robot/>', b"\x00" * 99])
def test_a_file_that_is_not_text_is_told(raw, tmp_path):
    (tmp_path / "r.urdf").write_bytes(raw)
    refused(tmp_path / "r.urdf")


@pytest.mark.parametrize("moment", ['ixx="1" iyy="1" izz="3"', 'ixx="1" iyy="1" izz="1" ixy="7"'])
def test_an_impossible_inertia_is_refused(moment, tmp_path):
    """No mass distribution has it: one moment above the sum of the others, or a matrix that is not positive."""
    more = "" if "ixy" in moment else 'ixy="0"'
    body = f'<inertial><mass value="1"/><inertia {moment} {more} ixz="0" iyz="0"/></inertial>'
    refused(write(tmp_path, "r.urdf", urdf(*BASE_ARM[:2], link("arm", body))))


def test_an_inertia_from_the_collision_shape_only_on_demand(tmp_path):
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    file = write(tmp_path, "r.urdf", urdf(*BASE_ARM[:2], link("arm", shape)))
    assert "inertia_from_collision = true" in refused(file)
    model = load(file, inertia_from_collision=True).model
    # the engine's density is that of water
    assert abs(model.body("arm").mass[0] / (1000.0 * 4.0 / 3.0 * np.pi * 0.001) - 1.0) < 1e-9


def test_a_link_that_does_not_move_needs_no_inertia(tmp_path):
    parts = (*BASE_ARM, joint("k", "arm", "tool", "fixed", '<origin xyz="0 0 1"/>'), link("tool", ""))
    assert load(write(tmp_path, "r.urdf", urdf(*parts))).links() == ("base", "arm", "tool")


# Meshes


@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_a_missing_mesh_is_told(tag, tmp_path):
    said = refused(write(tmp_path, "r.urdf", with_mesh("meshes/arm.stl", tag)))
    for part in ("line 4", '"meshes/arm.stl"', str(tmp_path / "meshes" / "arm.stl"), "correct the path"):
        assert part in said


def test_a_missing_mesh_of_a_package_is_told(tmp_path):
    said = refused(write(tmp_path, "r.urdf", with_mesh("package://my_arm/meshes/arm.stl")))
    for part in ("line 4", "package://my_arm/meshes/arm.stl", 'package "my_arm"', "[robot.packages]"):
        assert part in said


def test_a_mesh_without_a_file_name_is_told(tmp_path):
    file = write(tmp_path, "r.urdf", with_mesh("x").replace(' filename="x"', ""))
    assert "line 4" in refused(file)


def test_a_collision_mesh_of_another_kind_is_told(tmp_path):
    write(tmp_path, "arm.dae", "<COLLADA/>")
    said = refused(write(tmp_path, "r.urdf", with_mesh("arm.dae")))
    for part in ("line 4", "arm.dae", ".stl, .obj, .msh", "convert it"):
        assert part in said
    load(write(tmp_path, "r.urdf", with_mesh("arm.dae", "visual")))  # seen, but not felt


@pytest.mark.parametrize("content", [b"", b"solid nothing", b"\x00" * 84, b"\xff" * 200])
def test_a_broken_mesh_is_told(content, tmp_path):
    (tmp_path / "arm.stl").write_bytes(content)
    refused(write(tmp_path, "r.urdf", with_mesh("arm.stl")))


@pytest.mark.parametrize(
    "filename", ["arm.stl", "./arm.stl", "file://arm.stl", "{folder}/arm.stl", "file://{folder}/arm.stl"]
)
def test_a_mesh_is_found_beside_the_file_or_by_its_path(filename, tmp_path):
    stl(tmp_path / "arm.stl")
    file = write(tmp_path, "r.urdf", with_mesh(filename.format(folder=tmp_path), inside=""))
    model = load(file, inertia_from_collision=True).model
    # the tetrahedron on three edges of 1 m has 1/6 m3 of water
    assert abs(model.body("arm").mass[0] - 1000.0 / 6.0) < 1e-3  # corners are single precision in the engine
    centre = model.body("arm").ipos
    np.testing.assert_allclose(centre, 0.25, atol=1e-6)


@pytest.mark.parametrize(
    ("place", "mesh"),
    [("my_arm/urdf", "my_arm/meshes"), ("robots", "my_arm/meshes"), ("robots/a/b", "robots/my_arm/meshes")],
)
def test_a_package_is_found_upward(place, mesh, tmp_path):
    stl(tmp_path / mesh / "arm.stl")
    load(write(tmp_path, f"{place}/r.urdf", with_mesh("package://my_arm/meshes/arm.stl")))


def test_a_package_is_found_where_the_rig_says(tmp_path):
    stl(tmp_path / "elsewhere" / "meshes" / "arm.stl")
    file = write(tmp_path, "robots/r.urdf", with_mesh("package://my_arm/meshes/arm.stl"))
    load(file, packages={"my_arm": str(tmp_path / "elsewhere")})
    assert str(tmp_path / "nowhere") in refused(file, packages={"my_arm": str(tmp_path / "nowhere")})


# MJCF, floating bases


def test_floating_needs_one_root(tmp_path):
    two = mjcf('<body name="a"><geom size=".1"/></body><body name="b" pos="1 0 0"><geom size=".1"/></body>')
    said = refused(write(tmp_path, "two.xml", two), floating=True)
    assert "exactly one root body, there are 2 (a, b)" in said
    assert load(tmp_path / "two.xml").links() == ("a", "b")
    empty = write(tmp_path, "none.xml", mjcf('<geom size=".1"/>'))
    assert "there are 0" in refused(empty, floating=True)


def test_a_root_with_a_joint_cannot_float_as_well(tmp_path):
    file = write(tmp_path, "r.xml", mjcf('<body name="a"><joint name="j"/><geom size=".1"/></body>'))
    assert 'root body "a" already has joints' in refused(file, floating=True)
    free = write(tmp_path, "f.xml", mjcf('<body name="a"><freejoint/><geom size=".1"/></body>'))
    assert load(free, floating=True).model.nv == 6


def test_what_the_engine_refuses_is_one_sentence(tmp_path):
    for body in ('<body name="a"><joint/></body>', '<body name="a"><geom size="-1"/></body>', "<nonsense/>"):
        assert "the engine refuses this robot" in refused(write(tmp_path, "r.xml", mjcf(body)))
    missing = mjcf('<body><geom type="mesh" mesh="m"/></body>', before='<asset><mesh name="m" file="no.stl"/></asset>')
    assert "no.stl" in refused(write(tmp_path, "r.xml", missing))


def test_the_engine_does_not_talk_past_us(tmp_path, monkeypatch, capfd):
    """Its warnings on a file go neither to the terminal nor into a log file."""
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, "r.xml", mjcf('<body name="a"><geom size=".1" pos="nan 0 0"/></body>'))
    assert 'line 1: pos of <geom> is "nan 0 0"' in refused(file)
    tiny = '<body name="a"><joint/><geom size=".1" mass="1e-30"/></body>'
    refused(write(tmp_path, "r.xml", mjcf(tiny)))
    heavy = (link("arm", inertial(mass=1e11, xyz="1 0 0")), joint("k", "arm", "hand"), link("hand"))
    write(tmp_path, "r.xml", urdf(BASE_ARM[0], BASE_ARM[1], *heavy))  # a singular mass matrix
    for kind in (MujocoRobot, DrivenRobot):
        source = kind(RobotFile(file), gravity=G, mounts=[Mount("imu", "hand")])
        with contextlib.suppress(InputError):
            source.record(0.1, {"imu": np.array([0.0, 0.1])})
    assert capfd.readouterr() == ("", "") and [p.name for p in tmp_path.iterdir()] == ["r.xml"]


def test_an_mjcf_finds_its_files_beside_itself(tmp_path):
    stl(tmp_path / "parts" / "m.stl")
    body = '<body name="a"><geom type="mesh" mesh="m"/></body>'
    load(write(tmp_path, "r.xml", mjcf(body, before='<asset><mesh name="m" file="parts/m.stl"/></asset>')))


def test_key_frames_of_a_file_do_not_stand_in_the_way(tmp_path):
    body = '<body name="a"><joint name="j"/><geom size=".1" pos="0 0 1"/></body>'
    file = write(tmp_path, "r.xml", mjcf(body, after='<keyframe><key name="home" qpos="1"/></keyframe>'))
    mounts = [Mount("imu", "a")]
    source = MujocoRobot(RobotFile(file), gravity=G, mounts=mounts, start=[Start("j", 0.5)])
    assert source.joint_position("j") == 0.5


def test_a_floating_urdf_stands_where_the_rig_says(tmp_path):
    file = write(tmp_path, "r.urdf", urdf(link("base"), joint("j", "base", "arm"), link("arm")))
    source = MujocoRobot(
        RobotFile(file, floating=True, position_m=(1.0, 2.0, 3.0), q_nb=(0.0, 1.0, 0.0, 0.0)), gravity=0.0
    )
    state = source.state("base")
    assert state.p_n[0].tolist() == [1.0, 2.0, 3.0] and state.q_nb[0].tolist() == [0.0, 1.0, 0.0, 0.0]
    source = MujocoRobot(RobotFile(file, q_nb=(0.0, 1.0, 0.0, 0.0)), gravity=G, mounts=[Mount("imu", "base")])
    motion = source.record(0.1, {"imu": np.array([0.0, 0.1])})["imu"].motion
    np.testing.assert_allclose(specific_force(motion), [[0, 0, -G]] * 2, atol=1e-12)  # upside down


def test_a_robot_file_is_named_by_text_or_by_path():
    path = ROOT / "examples" / "own_robot.urdf"
    assert RobotFile(str(path)).load()[1] == RobotFile(path).load()[1]

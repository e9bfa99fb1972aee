"""Robot files that ask for too much: refused with one sentence, in 1 s of CPU and 500 MB beyond the start."""

import json
import os
import struct
import subprocess
import sys

import pytest

from helpers import ROOT, inertial, joint, link, mjcf, stl, urdf, write
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.errors import InputError

CHILD = """
import json, resource, sys, time
from strapdown.engines.mujoco.robot import MujocoRobot
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.errors import InputError
from strapdown.vehicles import builtin
from pathlib import Path
MujocoRobot(RobotFile(builtin("bar")), gravity=9.81)  # the start-up
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
with open("/proc/self/statm") as f:
    mapped = int(f.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + 500_000_000,) * 2)
for path in json.loads(sys.argv[1]):
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(began) + 10, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    try:
        MujocoRobot(RobotFile(Path(path)), gravity=9.81)
        sentence = None
    except InputError as error:
        sentence = str(error)
    except BaseException as error:
        sentence = f"FOREIGN {type(error).__name__}: {error}"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - used
    print(json.dumps([path, sentence, time.process_time() - began, grown]), flush=True)
"""

GEOM = '<geom size=".1"/>'
SIX = "".join(
    f'<joint type="{kind}" axis="{axis}"/>' for kind in ("slide", "hinge") for axis in ("1 0 0", "0 1 0", "0 0 1")
)
TRAP = f"<body><freejoint/>{GEOM}</body>"


def chain(n):
    links = (f'<body name="b{i}" pos="0 0 .3"><joint axis="1 0 0"/>{GEOM}' for i in range(n))
    return mjcf("".join(links) + "</body>" * n)


def urdf_chain(n):
    parts = [link("l0", "")]
    for i in range(1, n):
        parts += [joint(f"j{i}", f"l{i - 1}", f"l{i}"), link(f"l{i}")]
    return urdf(*parts)


def asset(text, body=f'<body name="a">{GEOM}</body>'):
    return mjcf(body, before=f"<asset>{text}</asset>")


def replicated(*counts, inside=TRAP):
    for count in counts:
        inside = f'<replicate count="{count}" offset=".3 0 0">{inside}</replicate>'
    return mjcf(inside)


MESH = '<body><geom type="mesh" mesh="m"/></body>'

# name -> (text of the file, words of the sentence)
TEXTS = {
    "nested.urdf": ("<robot>" + "<link>" * 100_000 + "</link>" * 100_000 + "</robot>", "nested deeper than 200"),
    "nested.xml": ("<mujoco>" + "<frame>" * 5_000 + "</frame>" * 5_000 + "</mujoco>", "nested deeper than 200"),
    "chain.xml": (chain(3000), "nested deeper than 200"),
    "chain.urdf": (urdf_chain(3000), "3000 links, at most 1000"),
    "shorter_chain.urdf": (urdf_chain(900), "more than 200 links hang on each other"),
    "elements.xml": ("<mujoco>" + "<a/>" * 900_000 + "</mujoco>", "more than 50000 elements"),
    "large.xml": ("<mujoco><!--" + "x" * 5_000_000 + "--></mujoco>", "MB, more than 4 MB"),
    "numbers.xml": (asset(f'<mesh name="m" vertex="{"1 " * 1_900_000}"/>'), "the engine refuses this robot"),
    "entities.xml": (
        '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
        + "]><mujoco>&j;</mujoco>",
        "a <!DOCTYPE> does not belong",
    ),
    "two_readers.xml": (  # what is a comment to one XML reader is the robot to the engine's
        f"<!DOCTYPE m [ <!-- > {replicated(900, 900)} --> ]>" + mjcf(TRAP),
        "a <!DOCTYPE> does not belong",
    ),
    "freedoms.xml": (
        mjcf(f"<body>{SIX}{GEOM}" * 190 + f"<body>{SIX}{GEOM}</body>" * 800 + "</body>" * 190),
        "inertia matrix of the joints has",
    ),
    "flexcomp_points.xml": (
        mjcf(f'<flexcomp name="f" type="direct" dim="1" mass="1" point="{"1 2 3 " * 9000}"/>'),
        "9000 links or more",
    ),
    "backslash.xml": ('<mujoco><include file="..\\secret.xml"/></mujoco>', "outside the folder"),
    "long_name.urdf": (urdf(link("x" * 100_000)), "100000 characters; shorten it"),
    "long_name.xml": (mjcf(f'<body name="{"x" * 100_000}"><geom size="-1"/></body>'), "the engine refuses this robot"),
    "hfield.xml": (
        asset('<hfield name="h" nrow="50000" ncol="50000" size="1 1 1 1"/>'),
        "height field has 2.5e+09 cells",
    ),
    "replicate.xml": (replicated(1_000_000_000), "at most 20000 copies"),
    "nested_replicate.xml": (replicated(100, 100, 100), "parts or more, at most 20000"),
    "replicated_shapes.xml": (replicated(150, 150, inside=GEOM), "parts or more, at most 20000"),
    "no_number.xml": (replicated("1e400"), "numbers below 1e"),
    "flexcomp.xml": (
        mjcf('<flexcomp name="f" type="grid" count="500 500 500" spacing=".1 .1 .1" dim="3" mass="1"/>'),
        "at most 20000 copies",
    ),
    "smaller_flexcomp.xml": (
        mjcf('<flexcomp name="f" type="grid" count="20 20 20" spacing=".1 .1 .1" dim="3" mass="1"/>'),
        "8000 links or more, at most 1000",
    ),
    "composite.xml": (
        mjcf('<composite prefix="c" type="cable" count="1000000 1 1" size="1"><geom size=".005"/></composite>'),
        "at most 20000 copies",
    ),
    "torus.xml": (asset('<mesh name="m" builtin="supertorus" params="5000 .1 1 1"/>', MESH), "give at most 200"),
    "iterations.xml": (
        mjcf(f'<body name="a">{GEOM}</body>', before='<option iterations="2000000000" tolerance="0"/>'),
        "iterations of <option>",
    ),
    "numeric.xml": (mjcf("", after='<custom><numeric name="n" size="1000000000"/></custom>'), "size of <numeric>"),
    "plugin.xml": (
        mjcf("", before='<extension><plugin plugin="mujoco.sdf.nut"><instance name="n"/></plugin></extension>'),
        "needs an engine plugin",
    ),
    "touching.xml": (
        mjcf("".join(f'<body name="b{i}"><freejoint/>{GEOM}</body>' for i in range(900))),
        "more contacts at once than the engine's memory holds|the engine stopped",
    ),
    "itself.xml": (
        mjcf('<attach model="s" prefix="p"/>', before='<asset><model name="s" file="itself.xml"/></asset>'),
        "attaches itself",
    ),
    "circle.xml": (
        mjcf('<attach model="s" prefix="p"/>', before='<asset><model name="s" file="circle2.xml"/></asset>'),
        "attaches itself",
    ),
    "circle2.xml": (
        mjcf('<attach model="s" prefix="p"/>', before='<asset><model name="s" file="circle.xml"/></asset>'),
        "attaches itself",
    ),
    "attached.xml": (
        mjcf(
            '<replicate count="150">' + '<attach model="s" prefix="p"/>' + "</replicate>",
            before='<asset><model name="s" file="ten.xml"/></asset>',
        ),
        "1500 links or more",
    ),
    "includes_itself.xml": ('<mujoco><include file="includes_itself.xml"/></mujoco>', "is included twice"),
    "leaves.xml": ('<mujoco><include file="../secret.xml"/></mujoco>', "outside the folder of the robot file"),
    "leaves_root.xml": ('<mujoco><include file="/etc/passwd"/></mujoco>', "outside the folder of the robot file"),
    "leaves_link.xml": ('<mujoco><include file="link.xml"/></mujoco>', "outside the folder of the robot file"),
    "leaves_model.xml": (asset('<model name="s" file="../secret.xml"/>'), "outside the folder of the robot file"),
    "nowhere.xml": (f'<mujoco><include file="{"x" * 300}.xml"/></mujoco>', "is not there; put it next to"),
    "includes_numbers.xml": ('<mujoco><include file="sub/numbers.xml"/></mujoco>', "sub/numbers.xml, line 1: pos of"),
    "includes_pipe.xml": ('<mujoco><include file="pipe"/></mujoco>', "it is a pipe or a device"),
    "mesh_pipe.xml": (asset('<mesh name="m" file="pipe"/>', MESH), "it is a pipe or a device"),
    "mesh_zero.xml": (
        mjcf(MESH, before='<compiler meshdir="/dev"/><asset><mesh name="m" file="zero"/></asset>'),
        "/dev/zero cannot be read",
    ),
    "mesh_large.xml": (asset('<mesh name="m" file="large.stl"/>', MESH), "more than 20 MB"),
    "hfield_pipe.xml": (asset('<hfield name="h" file="pipe" size="1 1 1 1"/>'), "it is a pipe or a device"),
    "hfield_png.xml": (asset('<hfield name="h" file="bomb.png" size="1 1 1 1"/>'), "height field has 1e+10 cells"),
    "hfield_bin.xml": (asset('<hfield name="h" file="bomb.bin" size="1 1 1 1"/>'), "height field has 1e+10 cells"),
    "flex_mesh.xml": (mjcf('<flexcomp name="f" type="mesh" file="large.stl" mass="1"/>'), "more than 0.016 MB"),
    "mesh_large.urdf": (
        urdf(link("a", inertial() + '<collision><geometry><mesh filename="large.stl"/></geometry></collision>')),
        "more than 20 MB",
    ),
    "mesh_pipe.urdf": (
        urdf(link("a", inertial() + '<collision><geometry><mesh filename="pipe.stl"/></geometry></collision>')),
        'mesh "pipe.stl" is not there',
    ),
    "mesh_name.urdf": (
        urdf(link("a", f'<collision><geometry><mesh filename="{"x" * 300}.stl"/></geometry></collision>')),
        "is not there",
    ),
    "long_value.urdf": (urdf(link("a", inertial(mass="1" * 100_000))), "give numbers below 1e"),
    "many_links.urdf": (
        urdf(*(link(f"l{i}") for i in range(900)), joint("j", "l1", "nowhere")),
        "which is not there; the links are l0, l1",
    ),
}
# refused by the engine or harmless: no picture is loaded, no memory is reserved
HARMLESS = {
    "texture.xml": asset(
        '<texture name="t" type="2d" builtin="flat" width="40000" height="40000"/><material name="m" texture="t"/>',
        '<body name="a"><geom size=".1" material="m"/></body>',
    ),
    "texture_file.xml": asset('<texture name="t" type="2d" file="/dev/zero"/><material name="m" texture="t"/>'),
    "memory.xml": mjcf(
        f'<body name="a">{GEOM}</body>', before='<size memory="900G" nuserdata="2000000000" njmax="99"/>'
    ),
    "user_data.xml": mjcf(f'<body name="a">{GEOM}</body>', before='<size nuser_body="2000000000"/>'),
    "keys.xml": mjcf(f'<body name="a">{GEOM}</body>', before='<size nkey="2000000000"/>'),
    "history.xml": mjcf(
        f'<body name="a">{GEOM}</body>', after='<sensor><clock nsample="100000000" interval=".1"/></sensor>'
    ),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Every file in one child process with limits: path -> sentence, CPU seconds, bytes grown so far."""
    outer = tmp_path_factory.mktemp("hostile")
    folder = outer / "robots"
    for name, text in [*((n, t) for n, (t, _) in TEXTS.items()), *HARMLESS.items()]:
        write(folder, name, text)
    write(outer, "secret.xml", mjcf(TRAP))
    write(folder, "sub/numbers.xml", mjcf('<body name="a" pos="1e300 0 0"><geom size=".1"/></body>'))
    write(folder, "ten.xml", mjcf("".join(f'<body name="b{i}">{GEOM}</body>' for i in range(10))))
    (folder / "link.xml").symlink_to(outer / "secret.xml")
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.stl")
    with (folder / "large.stl").open("wb") as stream:
        stream.truncate(3_000_000_000)  # a sparse file
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 100_000, 100_000) + b"\x08\x00\x00\x00\x00"
    (folder / "bomb.png").write_bytes(png + bytes(100))
    (folder / "bomb.bin").write_bytes(struct.pack("<ii", 100_000, 100_000) + bytes(400))
    special = [str(folder / "pipe"), "/dev/zero", str(folder), str(folder / ("x" * 300))]
    paths = [str(folder / name) for name in [*TEXTS, *HARMLESS]] + special
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(paths)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(paths), f"ended with {done.returncode} at {paths[len(rows)]}: {done.stderr[-500:]}"
    assert not (folder / "MUJOCO_LOG.TXT").exists() and not done.stderr
    return {path.removeprefix(f"{folder}/"): row for path, *row in rows}


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_robot_is_refused_with_one_sentence(name, answers):
    said, cpu_s, grown = answers[name]
    assert said is not None and "\n" not in said and len(said) < 1500, said
    assert any(words in said for words in TEXTS[name][1].split("|")), said
    assert cpu_s < 1.0 and grown < 500e6


@pytest.mark.parametrize("name", HARMLESS)
def test_what_a_file_asks_for_in_vain_costs_nothing(name, answers):
    said, cpu_s, grown = answers[name]
    assert said is None or ("\n" not in said and not said.startswith("FOREIGN")), said
    assert cpu_s < 1.0 and grown < 500e6


def test_special_files_are_refused(answers):
    for name, words in (("pipe", "a pipe or a device"), ("/dev/zero", "a pipe or a device"), ("x" * 300, "too long")):
        said, cpu_s, _ = answers[name]
        assert words in said and cpu_s < 0.1, said


# What must go on working


def test_includes_and_models_in_the_folder_are_read(tmp_path):
    write(tmp_path, "parts/leg.xml", mjcf(f'<body name="leg">{GEOM}</body>'))
    write(tmp_path, "parts/defaults.xml", '<mujoco><include file="more.xml"/></mujoco>')
    write(tmp_path, "parts/more.xml", f'<mujoco><worldbody><body name="more">{GEOM}</body></worldbody></mujoco>')
    before = '<include file="parts/defaults.xml"/><asset><model name="l" file="parts/leg.xml"/></asset>'
    body = f'<body name="a">{GEOM}<attach model="l" body="leg" prefix="left_"/></body>'
    copies = f'<replicate count="3">{GEOM}</replicate>'
    file = write(tmp_path, "r.xml", mjcf(body + copies, before=before))
    assert set(MujocoRobot(RobotFile(file), gravity=9.81).links()) == {"more", "a", "left_leg"}


def test_meshes_may_lie_elsewhere(tmp_path):
    stl(tmp_path / "meshes" / "m.stl")
    text = mjcf(
        '<body name="a"><geom type="mesh" mesh="m"/></body>',
        before='<compiler meshdir="../meshes"/><asset><mesh name="m" file="m.stl"/></asset>',
    )
    MujocoRobot(RobotFile(write(tmp_path, "robot/r.xml", text)), gravity=9.81)


def test_a_long_but_possible_robot_is_read(tmp_path):
    assert len(MujocoRobot(RobotFile(write(tmp_path, "r.urdf", urdf_chain(190))), gravity=9.81).links()) == 190
    assert len(MujocoRobot(RobotFile(write(tmp_path, "r.xml", chain(190))), gravity=9.81).links()) == 190


def test_too_many_contacts_during_a_run_are_one_sentence(tmp_path):
    """900 balls, apart at first, are pressed together by gravity in a funnel of one point: contacts do not fit."""
    balls = "".join(f'<body name="b{i}" pos="0 0 {0.3 * i}"><freejoint/>{GEOM}</body>' for i in range(300))
    source = MujocoRobot(RobotFile(write(tmp_path, "r.xml", mjcf(balls))), gravity=0.0)
    source.data.qpos.reshape(-1, 7)[:, :3] = 0.0
    with pytest.raises(InputError, match=r"more contacts at once|the engine stopped"):
        source.advance(0.002)


def test_a_short_list_of_names_is_shown(tmp_path):
    file = write(tmp_path, "r.xml", mjcf("".join(f'<body name="b{i}">{GEOM}</body>' for i in range(100))))
    with pytest.raises(InputError, match=r"b0, b1.*and 80 more"):
        MujocoRobot(RobotFile(file), gravity=9.81).state("nowhere")

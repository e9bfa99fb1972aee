"""Wrong rig files: each is expressed in one sentence with file and field."""

import math

import pytest

from helpers import run_rig, write
from rig_cases import ARM, DRIVEN, PATH, SLIDER, changed, one, refused
from strapdown.environment.rig import read_rig
from strapdown.errors import InputError
from strapdown.sensors.methods import METHOD_NAMES

pytestmark = pytest.mark.filterwarnings("ignore::strapdown.errors.RangeWarning")


WRONG = [
    # (rig, change, parts of the sentence)
    (ARM, ("duration_s", None), ["rig.toml", "duration_s"]),
    (ARM, ("duration_s", 0.0), ["rig.toml", '"duration_s"', "give a number above 0"]),
    (ARM, ("duration_s", -1.0), ["rig.toml", '"duration_s"', "give a number above 0"]),
    (ARM, ("duration_s", math.nan), ["rig.toml", '"duration_s"', "finite"]),
    (ARM, ("duration_s", math.inf), ["rig.toml", '"duration_s"', "finite"]),
    (ARM, ("duration_s", 1e-300), ["rig.toml", '"duration_s"', "too close to 0"]),
    (ARM, ("duration_s", "10"), ["rig.toml", '"duration_s"', "'10'", "number"]),
    (ARM, ("duration_s", True), ["rig.toml", '"duration_s"', "number"]),
    (ARM, ("duration_s", 10**400), ["rig.toml", '"duration_s"', "number"]),
    (ARM, ("duration", 1.0), ["rig.toml", '"duration" is not known', "duration_s"]),
    (ARM, ("folder", "/"), ["rig.toml", '"folder" is not known']),
    (ARM, ("robot", None), ["rig.toml", "[robot] or a [motion]"]),
    (ARM, ("robot", 5), ["rig.toml", '"robot"', "table"]),
    (ARM, ("motion", PATH["motion"]), ["rig.toml", "[robot] or a [motion]", "not both"]),
    (ARM, ("robot.file", None), ["rig.toml", "[robot] without a file", "URDF or MJCF"]),
    (ARM, ("robot.file", ""), ["rig.toml", '"robot.file"']),
    (ARM, ("robot.file", "none.urdf"), ["none.urdf", "cannot be read"]),
    (ARM, ("robot.file", "strapdown:none"), ["strapdown:none", "bar, cube, double_pendulum, manipulator"]),
    (ARM, ("robot.file", "strapdown:../__init__"), ["valid names"]),
    (ARM, ("robot.drive", "magic"), ["rig.toml", '"robot.drive"', "'motors' or 'kinematic'"]),
    (ARM, ("robot.floating", "yes"), ["rig.toml", '"robot.floating"', "give true or false"]),
    (ARM, ("robot.floating", 1), ["rig.toml", '"robot.floating"', "give true or false"]),
    (ARM, ("robot.position_m", [1.0, 2.0]), ["rig.toml", '"robot.position_m.3" is missing']),
    (ARM, ("robot.position_m", [1.0, 2.0, math.nan]), ["rig.toml", '"robot.position_m.3"', "finite"]),
    (ARM, ("robot.rotation", [0.0, 0.0, 0.0]), ["rig.toml", '"robot.rotation" is not known', "rotation_deg"]),
    (ARM, ("robot.packages", {"a": 5}), ["rig.toml", '"robot.packages.a"', "give a text in quotes"]),
    (ARM, ("physics.gravity", "jupiter"), ["rig.toml", '"physics.gravity"', "'earth', 'mars' or 'moon'", "number"]),
    (ARM, ("physics.gravity", -1.0), ["rig.toml", '"physics.gravity"', "a number of at least 0"]),
    (ARM, ("physics.latitude_deg", 91.0), ["rig.toml", '"physics.latitude_deg"', "90"]),
    (ARM, ("physics.latitude_deg", math.nan), ["rig.toml", '"physics.latitude_deg"']),
    (ARM, ("physics.step_s", 0), ["rig.toml", '"physics.step_s"', "give a number above 0"]),
    (ARM, ("physics.step_s", -0.001), ["rig.toml", '"physics.step_s"', "give a number above 0"]),
    (
        ARM,
        ("physics.integrator", "rk5"),
        ["rig.toml", '"physics.integrator"', "rk4", "implicitfast", "discrete", "euler"],
    ),
    (ARM, ("motor.0.joint", "knee"), ['joint "knee"', "shoulder, elbow"]),
    (ARM, ("motor.0.kind", "rocket"), ["rig.toml", '"motor.1.kind"', "'speed', 'position' or 'torque'"]),
    (ARM, ("motor.0.kind", None), ["rig.toml", '"motor.1.kind" is missing']),
    (ARM, ("motor.1.name", "shoulder"), ['motor "shoulder"', "twice"]),
    (ARM, ("motor.0.max_torque_nm", 0.0), ["rig.toml", '"motor.1.max_torque_nm"', "give a number above 0"]),
    (ARM, ("motor.0.max_force_n", 1.0), ["motor 1", '"shoulder" turns', "max_torque_nm instead of max_force_n"]),
    (ARM, ("motor.0.time_constant_s", 1e-5), ['motor "shoulder"', "time constant", "implicitfast"]),
    (ARM, ("start", [{"joint": "knee"}]), ['joint "knee"', "shoulder, elbow"]),
    (ARM, ("start", [{"joint": "elbow", "position_m": 1.0}]), ["start 1", "position_deg instead of position_m"]),
    (
        ARM,
        ("start", [{"joint": "elbow", "position_m": 1.0, "position_deg": 1.0}]),
        ["rig.toml", '"start.1"', "both position_deg and position_m"],
    ),
    (ARM, ("start", [{"joint": "elbow"}, {"joint": "elbow"}]), ["rig.toml", 'two starts of joint "elbow"']),
    (ARM, ("sensor", None), ["rig.toml", "[[sensor]]", "add one"]),
    (ARM, ("sensor", []), ["rig.toml", "[[sensor]]", "add one"]),
    (ARM, ("sensor", {"name": "D1", "link": "forearm"}), ["rig.toml", '"sensor"', "list"]),
    (ARM, ("sensor.1", {"name": "D1", "link": "tool"}), ["rig.toml", 'two sensors called "D1"']),
    (ARM, ("sensor.0.link", "forarm"), ['link "forarm"', "base, upper_arm, forearm, tool"]),
    (ARM, ("sensor.0.link", None), ["rig.toml", '"sensor.1.link" is missing']),
    (ARM, ("sensor.0.rate", 5.0), ["rig.toml", '"sensor.1.rate" is not known', "rate_hz"]),
    (ARM, ("sensor.0.rate_hz", -5.0), ["rig.toml", '"sensor.1.rate_hz"', "give a number above 0"]),
    (ARM, ("sensor.0.rate_hz", 0), ["rig.toml", '"sensor.1.rate_hz"', "give a number above 0"]),
    (ARM, ("sensor.0.method", "exakt"), ['sensor "D1"', '"exakt"', *METHOD_NAMES]),
    (ARM, ("sensor.0.method", 5), ["rig.toml", '"sensor.1.method"', "give a text in quotes or a list"]),
    (ARM, ("sensor.0.method", ["velocity-difference", "proof-mass"]), ['sensor "D1"', "both for the accelerometer"]),
    (ARM, ("sensor.0.quaternion_wxyz", [1.0, 1.0, 0.0, 0.0]), ["rig.toml", '"sensor.1.quaternion_wxyz"', "norm 1.41"]),
    (
        ARM,
        ("sensor.0.joint_frequency_hz", -1.0),
        ["rig.toml", '"sensor.1.joint_frequency_hz"', "give a number above 0"],
    ),
    (ARM, ("program.0.motor", "knee"), ["program", 'motor "knee"', "shoulder, elbow"]),
    (ARM, ("program.0.motor", None), ["rig.toml", '"program.1"', "exactly one of motor, joint or link"]),
    (ARM, ("program.0.link", "tool"), ["rig.toml", '"program.1"', "motor and link"]),
    (ARM, ("program.0.at_s", None), ["rig.toml", '"program.1.at_s" is missing']),
    (ARM, ("program.0.at_s", -1.0), ["rig.toml", '"program.1.at_s"', "give a number of at least 0"]),
    (ARM, ("program.0.until_s", 0.0), ["rig.toml", '"program.1"', "until_s = 0, not after at_s = 0"]),
    (ARM, ("program.0.over_s", 1.0), ["rig.toml", '"program.1"', "over_s is for positions"]),
    (ARM, ("program.0.torque_nm", 1.0), ["rig.toml", '"program.1"', "exactly one of speed_deg_s"]),
    (ARM, ("program.0.speed_deg_s", None), ["rig.toml", '"program.1"', "exactly one of speed_deg_s"]),
    (ARM, ("program.0.speed_deg_s", math.inf), ["rig.toml", '"program.1.speed_deg_s"', "finite"]),
    (ARM, ("program.1.until_s", 1.0), ["rig.toml", '"program.2"', "no until_s"]),
    (ARM, ("program.2.until_s", None), ["rig.toml", '"program.3"', "needs until_s"]),
    (ARM, ("program.2.link", "hand"), ['link "hand"', "base, upper_arm, forearm, tool"]),
    (ARM, ("program.2.force_n", None), ["rig.toml", '"program.3"', "force_n"]),
    (
        ARM,
        ("program.0", {"motor": "shoulder", "at_s": 0.0, "torque_nm": 1.0}),
        ['"shoulder" follows a speed', "torque"],
    ),
    (ARM, ("program.0", {"motor": "shoulder", "at_s": 0.0, "speed_m_s": 1.0}), ["program 1", "speed_deg_s instead of"]),
    (
        ARM,
        ("program.0", {"joint": "shoulder", "at_s": 0.0, "speed_deg_s": 1.0}),
        ["rig.toml", "program 1", "the motor"],
    ),
    (
        ARM,
        ("program.3", {"motor": "elbow", "at_s": 0.04, "position_deg": 9.0, "over_s": 0.02}),
        ["program", '"elbow" is still moving', "shorten over_s"],
    ),
    (DRIVEN, ("motor", ARM["motor"]), ["rig.toml", "takes no motors"]),
    (DRIVEN, ("program.0.joint", "knee"), ["program", 'joint "knee"', "shoulder, elbow"]),
    (DRIVEN, ("program.0", {"motor": "shoulder", "at_s": 0.0, "speed_deg_s": 1.0}), ["rig.toml", "names joints"]),
    (DRIVEN, ("program.0", {"joint": "elbow", "at_s": 0.0, "position_deg": 9.0}), ["program", '"elbow"', "over_s"]),
    (DRIVEN, ("program.0", {"joint": "elbow", "at_s": 0.0, "torque_nm": 9.0}), ["program", '"elbow"', "torque"]),
    (DRIVEN, ("program.0", ARM["program"][2]), ["program", "forces do not move driven joints"]),
    (DRIVEN, ("start", [{"joint": "elbow", "speed_deg_s": 5.0}]), ["start", "speed"]),
    (
        DRIVEN,
        ("sensor.0", {"name": "D", "link": "tool", "method": "proof-mass", "joint_frequency_hz": 4.0}),
        ['sensor "D"', "joint_frequency_hz"],
    ),
    (PATH, ("motion.kind", "spiral"), ["'spiral'", "circle", "figure-eight"]),
    (PATH, ("motion.kind", None), ["rig.toml", '"motion.kind" is missing']),
    (PATH, ("motion.radius", 2.0), ['"radius"', "radius_m"]),
    (PATH, ("motion.radius_m", -2.0), ["radius_m"]),
    (PATH, ("sensor.0.link", "forearm"), ['sensor "D1"', 'link "forearm"', "body"]),
    (PATH, ("sensor.0.method", "proof-mass"), ["proof-mass needs a mass in a physics engine"]),
    (PATH, ("duration_s", 6.0), ["duration_s is 6 s", "5 s"]),
    (PATH, ("program", ARM["program"]), ["rig.toml", "takes no motor, start or program"]),
]


@pytest.mark.parametrize(("base", "change", "told"), WRONG, ids=[f"{c[0]}={c[1]}"[:60] for _, c, _ in WRONG])
def test_a_wrong_rig_is_told(base, change, told):
    run_rig(base)  # it is the change that is wrong
    said = refused(changed(base, change))
    for part in told:
        assert part in said, said


def test_a_start_in_degrees_is_refused_on_a_slide(tmp_path):
    write(tmp_path, "cart.urdf", SLIDER)
    rig = {
        "duration_s": 0.1,
        "robot": {"file": "cart.urdf"},
        "start": [{"joint": "rail", "position_deg": 5.0}],
        "sensor": [{"name": "D", "link": "cart"}],
    }
    assert '"rail" slides; give position_m instead of position_deg' in refused(rig, tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("duration_s = ", ["end of document"]),
        ("duration_s = 1.0\n[robot\n", ["line 2"]),
        ("duration_s = 1.0\nduration_s = 2.0\n", ["line 2"]),
        ("duration_s = " + "9" * 5000, ["TOML"]),
        ("a = " + "[" * 5000, ["TOML"]),
        ("", ["rig"]),
    ],
)
def test_malformed_toml_is_told_with_its_line(text, told, tmp_path):
    path = write(tmp_path, "rig.toml", text)
    with pytest.raises(InputError) as caught:
        read_rig(path)
    assert str(caught.value).startswith(str(path)) and all(part in str(caught.value) for part in told)


def test_a_rig_that_cannot_be_read_is_told(tmp_path):
    for path, why in ((tmp_path / "none.toml", "does not exist"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=why):
            read_rig(path)
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        read_rig(tmp_path / "b.toml")


@pytest.mark.parametrize(
    ("base", "change"),
    [
        (ARM, ("duration_s", 1e9)),
        (ARM, ("physics.step_s", 1e-11)),
        (ARM, ("sensor.0.rate_hz", 1e11)),
        (DRIVEN, ("sensor.0.rate_hz", 1e11)),
        (PATH, ("sensor.0.rate_hz", 1e11)),
    ],
)
def test_a_run_that_would_never_end_is_refused(base, change):
    assert "steps or samples, more than" in refused(changed(base, change))


def test_a_driven_robot_takes_no_physics_steps():
    """A long program of a driven robot read rarely is cheap, however small the step of the physics it does not have."""
    bar = {
        "duration_s": 1e6,
        "robot": {"file": "strapdown:bar", "drive": "kinematic"},
        "sensor": [{"name": "D", "link": "bar", "rate_hz": 1e-5}],
        "program": [{"joint": "axis", "at_s": 0.0, "speed_deg_s": 1.0}],
    }
    assert len(one(bar)) == 11

"""The rig file: every field reaches what it names, every wrong one is told in a sentence with file and field."""

import copy
import math
import warnings

import mujoco
import numpy as np
import pytest

from helpers import EXAMPLES, G, inertial, joint, link, run_rig, specific_force, stl, urdf, write
from strapdown.earth import gravity
from strapdown.engines.mujoco_build import INTEGRATORS
from strapdown.environment.rig import Rig, read_rig
from strapdown.environment.simulate import simulate
from strapdown.errors import InputError, RangeWarning
from strapdown.rotation import q_from_euler, q_log
from strapdown.sensors.methods import METHOD_NAMES

pytestmark = pytest.mark.filterwarnings("ignore::strapdown.errors.RangeWarning")

ARM = {
    "duration_s": 0.1,
    "robot": {"file": "strapdown:manipulator"},
    "motor": [{"joint": "shoulder", "kind": "speed"}, {"joint": "elbow", "kind": "position"}],
    "sensor": [{"name": "D1", "link": "forearm"}],
    "program": [
        {"motor": "shoulder", "at_s": 0.0, "speed_deg_s": 10.0},
        {"motor": "elbow", "at_s": 0.01, "position_deg": 5.0, "over_s": 0.05},
        {"link": "tool", "at_s": 0.02, "until_s": 0.03, "force_n": [1.0, 0.0, 0.0]},
    ],
}
DRIVEN = {
    "duration_s": 0.1,
    "robot": {"file": "strapdown:manipulator", "drive": "kinematic"},
    "sensor": [{"name": "D1", "link": "forearm"}],
    "program": [{"joint": "shoulder", "at_s": 0.0, "speed_deg_s": 10.0}],
}
PATH = {
    "duration_s": 0.1,
    "motion": {"kind": "circle", "radius_m": 2.0, "speed_m_s": 1.0, "duration_s": 5.0},
    "sensor": [{"name": "D1", "link": "body"}],
}
SLIDER = urdf(
    link("base", ""),
    joint(
        "rail", "base", "cart", "prismatic", '<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
    ),
    link("cart", inertial(2.0)),
)


def changed(base, *changes):
    """A copy of a rig with values put at places: ("sensor.0.rate_hz", 5.0); None takes the key away."""
    values = copy.deepcopy(base)
    for place, value in changes:
        *way, last = [int(p) if p.isdigit() else p for p in place.split(".")]
        inner = values
        for part in way:
            inner = inner.setdefault(part, {}) if isinstance(part, str) else inner[part]
        if value is None:
            del inner[last]
        elif isinstance(last, int) and last == len(inner):
            inner.append(value)
        else:
            inner[last] = value
    return values


def one(values, folder="."):
    (recording,) = run_rig(values, folder).recordings.values()
    return recording


def refused(values, folder="."):
    with pytest.raises(InputError) as caught:
        run_rig(values, folder)
    said = str(caught.value)
    assert "\n" not in said and len(said) < 500
    return said


# Wrong rigs

WRONG = [
    # (rig, change, parts of the sentence)
    (ARM, ("duration_s", None), ["rig.toml", "duration_s"]),
    (ARM, ("duration_s", 0.0), ["rig.toml", '"duration_s"', "greater than 0"]),
    (ARM, ("duration_s", -1.0), ["rig.toml", '"duration_s"', "greater than 0"]),
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
    (ARM, ("robot.file", None), ["rig.toml", '"robot.file" is missing']),
    (ARM, ("robot.file", ""), ["rig.toml", '"robot.file"']),
    (ARM, ("robot.file", "none.urdf"), ["none.urdf", "cannot be read"]),
    (ARM, ("robot.file", "strapdown:none"), ["strapdown:none", "bar, cube, double_pendulum, manipulator"]),
    (ARM, ("robot.file", "strapdown:../__init__"), ["valid names"]),
    (ARM, ("robot.drive", "magic"), ["rig.toml", '"robot.drive"', "'motors' or 'kinematic'"]),
    (ARM, ("robot.floating", "yes"), ["rig.toml", '"robot.floating"', "boolean"]),
    (ARM, ("robot.floating", 1), ["rig.toml", '"robot.floating"', "boolean"]),
    (ARM, ("robot.position_m", [1.0, 2.0]), ["rig.toml", '"robot.position_m.3" is missing']),
    (ARM, ("robot.position_m", [1.0, 2.0, math.nan]), ["rig.toml", '"robot.position_m.3"', "finite"]),
    (ARM, ("robot.rotation", [0.0, 0.0, 0.0]), ["rig.toml", '"robot.rotation" is not known', "rotation_deg"]),
    (ARM, ("robot.packages", {"a": 5}), ["rig.toml", '"robot.packages.a"', "string"]),
    (ARM, ("physics.gravity", "jupiter"), ["rig.toml", '"physics.gravity"', "'earth', 'mars' or 'moon'", "number"]),
    (ARM, ("physics.gravity", -1.0), ["rig.toml", '"physics.gravity"', "greater than or equal to 0"]),
    (ARM, ("physics.latitude_deg", 91.0), ["rig.toml", '"physics.latitude_deg"', "90"]),
    (ARM, ("physics.latitude_deg", math.nan), ["rig.toml", '"physics.latitude_deg"']),
    (ARM, ("physics.step_s", 0), ["rig.toml", '"physics.step_s"', "greater than 0"]),
    (ARM, ("physics.step_s", -0.001), ["rig.toml", '"physics.step_s"', "greater than 0"]),
    (
        ARM,
        ("physics.integrator", "rk5"),
        ["rig.toml", '"physics.integrator"', "rk4", "implicitfast", "discrete", "euler"],
    ),
    (ARM, ("motor.0.joint", "knee"), ['joint "knee"', "shoulder, elbow"]),
    (ARM, ("motor.0.kind", "rocket"), ["rig.toml", '"motor.1.kind"', "'speed', 'position' or 'torque'"]),
    (ARM, ("motor.0.kind", None), ["rig.toml", '"motor.1.kind" is missing']),
    (ARM, ("motor.1.name", "shoulder"), ['motor "shoulder"', "twice"]),
    (ARM, ("motor.0.max_torque_nm", 0.0), ["rig.toml", '"motor.1.max_torque_nm"', "greater than 0"]),
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
    (ARM, ("sensor.0.rate_hz", -5.0), ["rig.toml", '"sensor.1.rate_hz"', "greater than 0"]),
    (ARM, ("sensor.0.rate_hz", 0), ["rig.toml", '"sensor.1.rate_hz"', "greater than 0"]),
    (ARM, ("sensor.0.method", "exakt"), ['sensor "D1"', '"exakt"', *METHOD_NAMES]),
    (ARM, ("sensor.0.method", 5), ["rig.toml", '"sensor.1.method"', "string"]),
    (ARM, ("sensor.0.method", ["velocity-difference", "proof-mass"]), ['sensor "D1"', "both for the accelerometer"]),
    (ARM, ("sensor.0.quaternion_wxyz", [1.0, 1.0, 0.0, 0.0]), ["rig.toml", '"sensor.1.quaternion_wxyz"', "norm 1.41"]),
    (ARM, ("sensor.0.joint_frequency_hz", -1.0), ["rig.toml", '"sensor.1.joint_frequency_hz"', "greater than 0"]),
    (ARM, ("program.0.motor", "knee"), ["program", 'motor "knee"', "shoulder, elbow"]),
    (ARM, ("program.0.motor", None), ["rig.toml", '"program.1"', "exactly one of motor, joint or link"]),
    (ARM, ("program.0.link", "tool"), ["rig.toml", '"program.1"', "motor and link"]),
    (ARM, ("program.0.at_s", None), ["rig.toml", '"program.1.at_s" is missing']),
    (ARM, ("program.0.at_s", -1.0), ["rig.toml", '"program.1.at_s"', "greater than or equal to 0"]),
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
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
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


# Every field does something


def test_fields_of_the_whole_rig_are_all_tested_below():
    assert set(Rig.model_fields) == {
        *("duration_s", "robot", "motion", "physics", "motor", "start", "sensor", "program", "folder"),
        *("inclinometer", "odometer", "magnetism", "seed"),  # tests/test_rig_errors.py
    }


def test_duration_and_rate():
    recording = one(changed(ARM, ("duration_s", 0.05), ("sensor.0.rate_hz", 400.0)))
    assert np.array_equal(recording.t, np.arange(21) / 400.0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, gravity("earth", 45.0, 0.0)),
        ({"gravity": "earth", "latitude_deg": 80.0, "height_m": 5000.0}, gravity("earth", 80.0, 5000.0)),
        ({"gravity": "mars"}, gravity("mars")),
        ({"gravity": "moon"}, gravity("moon")),
        ({"gravity": 1.25}, 1.25),
        ({"gravity": 3}, 3.0),
        ({"gravity": 0}, 0.0),
    ],
)
def test_gravity(fields, expected):
    still = changed(DRIVEN, ("program", []), ("physics", fields))
    recording = one(still)
    np.testing.assert_allclose(recording.acc_s, [[0, 0, expected]] * 11, atol=1e-12)
    assert recording.meta["gravity_m_s2"] == expected


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_step_and_integrator_reach_the_engine(integrator, monkeypatch):
    seen = {}
    original = mujoco.MjData

    def watch(model):
        seen.update(step=model.opt.timestep, integrator=model.opt.integrator)
        return original(model)

    monkeypatch.setattr(mujoco, "MjData", watch)
    run_rig(changed(ARM, ("physics", {"step_s": 0.002, "integrator": integrator})))
    assert seen == {"step": 0.002, "integrator": int(INTEGRATORS[integrator])}


def test_where_a_robot_stands():
    rig = changed(DRIVEN, ("program", []), ("robot.position_m", [1.0, 2.0, 3.0]), ("robot.rotation_deg", [90.0, 0, 0]))
    recording = one(rig)
    np.testing.assert_allclose(recording.acc_s, [[0, recording.meta["gravity_m_s2"], 0]] * 11, atol=1e-12)
    np.testing.assert_allclose(recording.truth.p_n[0], [1.0, 2.0 - 0.6, 3.0], atol=1e-12)
    del rig["robot"]["rotation_deg"]
    rig["robot"]["quaternion_wxyz"] = q_from_euler(np.pi / 2, 0.0, 0.0).tolist()
    assert np.allclose(one(rig).acc_s, recording.acc_s, atol=1e-12)


def test_floating_and_floor():
    rig = changed(ARM, ("robot.floating", True), ("robot.position_m", [0, 0, 5.0]), ("motor", []), ("program", []))
    np.testing.assert_allclose(one(rig).acc_s, 0.0, atol=1e-9)
    standing = changed(
        rig,
        ("robot", {"file": "strapdown:manipulator", "floating": True, "floor": True}),
        ("sensor.0.link", "base"),
        ("duration_s", 0.5),
        ("physics", {"integrator": "implicitfast", "gravity": G}),
    )
    recording = one(standing)
    assert recording.truth.p_n[-1, 2] > -0.01 and abs(recording.acc_s[-1, 2] - G) < 0.2  # it stands, it does not fall


def test_inertia_and_packages_reach_the_robot(tmp_path):
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    write(tmp_path, "r.urdf", urdf(link("base", ""), joint("j", "base", "arm"), link("arm", shape)))
    rig = {"duration_s": 0.1, "robot": {"file": "r.urdf"}, "sensor": [{"name": "D", "link": "arm"}]}
    assert "inertia_from_collision" in refused(rig, tmp_path)
    one(changed(rig, ("robot.inertia_from_collision", True)), tmp_path)
    mesh = '<collision><geometry><mesh filename="package://p/m.stl"/></geometry></collision>'
    write(tmp_path, "r.urdf", urdf(link("base", ""), joint("j", "base", "arm"), link("arm", inertial() + mesh)))
    stl(tmp_path / "shapes" / "m.stl")
    assert "[robot.packages]" in refused(rig, tmp_path)
    one(changed(rig, ("robot.packages", {"p": "shapes"})), tmp_path)  # relative to the rig file


BAR = {
    "duration_s": 0.1,
    "robot": {"file": "strapdown:bar"},
    "motor": [{"joint": "axis", "kind": "torque"}],
    "sensor": [{"name": "D", "link": "bar", "rate_hz": 1000.0}],
    "program": [{"motor": "axis", "at_s": 0.02, "until_s": 0.08, "torque_nm": 5.3}],
}


def test_torque_its_times_and_its_limit():
    assert abs(one(BAR).gyr_s[-1, 2] - 5.3 * 0.06 / 2.65) < 1e-12
    limited = changed(BAR, ("motor.0.max_torque_nm", 2.65))
    assert abs(one(limited).gyr_s[-1, 2] - 0.06) < 1e-12
    named = changed(BAR, ("motor.0.name", "drive"), ("program.0.motor", "drive"))
    assert np.array_equal(one(named).gyr_s, one(BAR).gyr_s)


def test_forces_and_torques_on_links():
    push = {"link": "bar", "at_s": 0.0, "until_s": 0.05, "push_torque_nm": [0.0, 0.0, 2.65]}
    rig = changed(BAR, ("program", [push]))
    assert abs(one(rig).gyr_s[-1, 2] - 0.05) < 1e-12


def test_slides_take_metres(tmp_path):
    write(tmp_path, "cart.urdf", SLIDER)
    rig = {
        "duration_s": 0.5,
        "robot": {"file": "cart.urdf"},
        "motor": [{"joint": "rail", "kind": "torque", "max_force_n": 1.0}],
        "start": [{"joint": "rail", "position_m": 0.25, "speed_m_s": 0.5}],
        "program": [{"motor": "rail", "at_s": 0.0, "torque_nm": 4.0}],
        "sensor": [{"name": "D", "link": "cart"}],
    }
    truth = one(rig, tmp_path).truth
    np.testing.assert_allclose(truth.v_n[-1, 0], 0.5 + 0.5 * 0.5, rtol=1e-12)  # 1 N of 4 on 2 kg
    np.testing.assert_allclose(truth.p_n[-1, 0], 0.25 + 0.25 + 0.5 * 0.5 * 0.25, rtol=1e-12)


def test_time_constant_of_a_motor():
    rig = changed(
        BAR,
        ("motor.0", {"joint": "axis", "kind": "speed", "time_constant_s": 0.02}),
        ("program.0", {"motor": "axis", "at_s": 0.0, "speed_deg_s": 90.0}),
    )
    recording = one(rig)
    expected = np.pi / 2 * (1.0 - np.exp(-recording.t / 0.02))
    np.testing.assert_allclose(recording.gyr_s[:, 2], expected, atol=1e-6)  # RK4, (h / tau)^4 = 6e-6 per radian


def test_starts():
    rig = changed(BAR, ("program", []), ("start", [{"joint": "axis", "position_deg": 30.0, "speed_deg_s": 45.0}]))
    truth = one(rig).truth
    np.testing.assert_allclose(q_log(truth.q_nb)[[0, -1], 2], np.radians([30.0, 34.5]), atol=1e-12)


def test_gravity_compensation_can_be_left_out():
    bent = [{"joint": "shoulder", "position_deg": 60.0}, {"joint": "elbow", "position_deg": 30.0}]
    rig = changed(ARM, ("program", []), ("start", bent))
    assert np.abs(one(rig).gyr_s).max() < 1e-9
    weak = changed(rig, ("motor.0.gravity_compensation", False))
    assert np.abs(one(weak).gyr_s).max() > 1e-3


def test_mounting_of_a_sensor():
    spin = changed(BAR, ("program", []), ("start", [{"joint": "axis", "speed_deg_s": 90.0}]), ("physics.gravity", G))
    w2 = (np.pi / 2) ** 2
    far = one(changed(spin, ("sensor.0.position_m", [0.75, 0, 0])))
    np.testing.assert_allclose(far.acc_s, [[-0.75 * w2, 0, G]] * 101, atol=1e-11)
    turned = changed(spin, ("sensor.0.position_m", [0.75, 0, 0]), ("sensor.0.rotation_deg", [0.0, 90.0, 0.0]))
    recording = one(turned)  # the sensor's x looks down, its z outward
    np.testing.assert_allclose(recording.acc_s, [[-G, 0, -0.75 * w2]] * 101, atol=1e-11)
    np.testing.assert_allclose(recording.gyr_s, [[-np.pi / 2, 0, 0]] * 101, atol=1e-12)
    np.testing.assert_allclose(recording.acc_s, specific_force(recording.truth), atol=1e-12)
    q = q_from_euler(0.0, np.pi / 2, 0.0).tolist()
    same = changed(spin, ("sensor.0.position_m", [0.75, 0, 0]), ("sensor.0.quaternion_wxyz", q))
    assert np.array_equal(one(same).acc_s, recording.acc_s)
    assert recording.meta["link"] == "bar" and recording.meta["position_m"] == [0.75, 0.0, 0.0]


def test_methods_increments_and_allowed_errors():
    rig = changed(BAR, ("sensor.0.method", ["velocity-difference", "rotation-log"]), ("sensor.0.increments", True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)
        recording = one(rig)
    assert recording.meta["accelerometer_method"] == "velocity-difference"
    assert recording.meta["gyroscope_method"] == "rotation-log"
    assert recording.increments is not None and one(BAR).increments is None
    strict = changed(rig, ("sensor.0.allowed_error_rad_s", 1e-9), ("sensor.0.position_m", [0.5, 0, 0]))
    with pytest.warns(RangeWarning, match=r"rotation-log.*allowed 1e-09"):
        one(strict)
    strict = changed(rig, ("sensor.0.allowed_error_m_s2", 1e-9), ("sensor.0.position_m", [0.5, 0, 0]))
    with pytest.warns(RangeWarning, match=r"velocity-difference.*allowed 1e-09"):
        one(strict)


def test_fields_of_a_proof_mass():
    rig = changed(BAR, ("sensor.0.method", "proof-mass"), ("sensor.0.proof_mass_kg", 0.5), ("program", []))
    np.testing.assert_allclose(one(rig).acc_s[:, 2], gravity("earth"), atol=1e-9)
    soft = changed(rig, ("sensor.0.joint_frequency_hz", 5.0), ("sensor.0.damping_ratio", 0.0))
    np.testing.assert_allclose(one(soft).acc_s[:, 2], gravity("earth"), atol=1e-9)  # it hangs at rest


def test_the_order_of_sensors_is_that_of_the_rig():
    rig = changed(ARM, ("sensor.1", {"name": "B", "link": "tool"}), ("sensor.2", {"name": "A", "link": "base"}))
    assert list(run_rig(rig).recordings) == ["D1", "B", "A"]


# Examples


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = simulate(read_rig(path))
    assert all(w.category is RangeWarning for w in caught)
    for recording in result.recordings.values():
        signals = [recording.acc_s, recording.mag_s, recording.tilt_s, recording.odometer]
        assert any(signal is not None for signal in signals) and len(recording) > 100
        assert np.array_equal(recording.t, recording.truth.t)

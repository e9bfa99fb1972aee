"""Vehicle files: the user's own models, and what is refused with one sentence that names the place."""

import numpy as np
import pytest

from helpers import write
from strapdown.errors import InputError
from strapdown.vehicles.vehicle import read_vehicle, vehicle_names
from vehicle_cases import G, forces, put, reading, turning

TRICOPTER = """
<mujoco><worldbody>
  <body name="hull" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .05" mass="1.0"/>
    <body name="boom" pos="0.3 0 0" euler="0 0 90"><geom size=".01" mass="0.1"/></body>
    <body name="flap" pos="-0.1 0 0"><joint name="tilt" axis="0 1 0"/><geom size=".01" mass="0.1"/></body>
  </body>
  <body name="rock" pos="5 5 0"><geom size=".1"/></body>
</worldbody></mujoco>"""

ROTORS = """
[rotor_defaults]
thrust_n_s2 = 1e-5
moment_m = 0.02
lag_up_s = 0.01
lag_down_s = 0.01
fastest_rad_s = 1000.0
radius_m = 0.1
[[rotors]]
name = "bow"
link = "boom"
position_m = [0.1, 0.0, 0.2]
axis = [0.0, 2.0, 0.0]
spin = "clockwise"
[[rotors]]
name = "stern"
position_m = [-0.3, 0.0, 0.0]
spin = "counter-clockwise"
"""
HEAD = 'version = 1\nname = "tri"\ntitle = "Tricopter"\nmodel = "tri.xml"\nbody = "hull"\n'
CART = """
<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body name="tub" pos="0 0 0.1"><freejoint/><geom type="box" size=".2 .1 .05" mass="4"/>
    <body name="l" pos="0.2 .15 0"><joint name="lw" axis="0 1 0"/><geom type="sphere" size=".1" mass=".5"/></body>
    <body name="r" pos="0.2 -.15 0"><joint name="rw" axis="0 1 0"/><geom type="sphere" size=".1" mass=".5"/></body>
    <body name="bl" pos="-.2 .15 0"><joint name="blw" axis="0 1 0"/><geom type="sphere" size=".1" mass=".5"/></body>
    <body name="br" pos="-.2 -.15 0"><joint name="brw" axis="0 1 0"/><geom type="sphere" size=".1" mass=".5"/></body>
  </body>
</worldbody></mujoco>"""
CART_HEAD = HEAD.replace("tri.xml", "cart.xml").replace("hull", "tub") + "track_m = 0.3\nfriction = 0.9\n"


def wheel(name, joint, side):
    return (
        f'[[wheels]]\nname = "{name}"\njoint = "{joint}"\nside = "{side}"\nradius_m = 0.1\nticks_per_turn = 100\n'
        "fastest_rad_s = 20.0\nservo_n_m_s = 1.0\nmax_torque_n_m = 5.0\n"
    )


def tricopter(folder, head=HEAD, rotors=ROTORS, model=TRICOPTER):
    write(folder, "tri.xml", model)
    return read_vehicle(write(folder, "vehicle.toml", head + rotors))


def cart(folder, head=CART_HEAD, wheels=None):
    write(folder, "cart.xml", CART)
    wheels = wheels or [("a", "lw", "left"), ("b", "rw", "right"), ("c", "blw", "left"), ("d", "brw", "right")]
    return read_vehicle(write(folder, "vehicle.toml", head + "".join(wheel(*w) for w in wheels)))


def test_every_vehicle_of_the_package_is_read():
    assert vehicle_names() == ["manipulator", "mars_helicopter", "quadcopter", "rover"]
    for name in vehicle_names():
        found = read_vehicle(name)
        assert found.name == name and found.title and found.body in found.plant(gravity=G).links()
        assert all(a.low < a.high for a in found.actuators)


def test_rotors_on_links_of_the_users_own_model(tmp_path):
    """A rotor on a turned link pushes along its own axis, from its own place."""
    found = tricopter(tmp_path)
    bow, stern = found.rotors
    np.testing.assert_allclose(bow.position_m, [0.3, 0.1, 0.2], atol=1e-12)
    np.testing.assert_allclose(bow.axis, [-1.0, 0.0, 0.0], atol=1e-12)
    assert (bow.spin, stern.spin) == (-1, 1) and found.mass_kg == pytest.approx(1.2)
    plant = turning(put(found.plant(gravity=0.0)), [300.0, 0.0])
    thrust = 1e-5 * 300.0**2
    force, torque = forces(plant)
    np.testing.assert_allclose(force, [-thrust, 0.0, 0.0], atol=1e-12)
    spin = 0.02 * thrust * np.array([-1.0, 0.0, 0.0])  # turns clockwise about -x: the body counter to it
    np.testing.assert_allclose(torque, np.cross(bow.position_m, [-thrust, 0.0, 0.0]) + spin, atol=1e-12)
    assert plant.range_along((0.0, 0.0, 1.0), (0.0, 0.0, -1.0)) == np.inf  # the model has no ground


def test_a_floor_and_a_start_for_a_model_that_has_none(tmp_path):
    one = TRICOPTER.replace('<body name="rock" pos="5 5 0"><geom size=".1"/></body>', "")
    found = tricopter(tmp_path, HEAD + "floor = true\nposition_m = [1.0, 2.0, 3.0]\n", model=one)
    plant = found.plant(gravity=G)
    np.testing.assert_allclose(reading(plant, "hull")["p_n"], [1.0, 2.0, 3.0])
    assert plant.range_along((1.0, 2.0, 3.0), (0.0, 0.0, -1.0)) == pytest.approx(3.0, abs=1e-5)
    turning(put(plant, p_n=(0.0, 0.0, 0.1)), [0.0, 300.0])
    near = forces(plant)[0][2]
    assert near == pytest.approx(1e-5 * 300.0**2 / (1.0 - (0.1 / 0.4) ** 2), rel=1e-9)


def test_a_cart_of_four_wheels(tmp_path):
    plant = cart(tmp_path).plant(gravity=G)
    plant.actuate(np.full(4, 3.0))
    plant.advance_to(3.0)
    way = reading(plant, "tub")["p_n"][0]
    assert way > 0.7 and plant.travel_m == pytest.approx(way, rel=0.02)  # tyres of the engine's own softness
    plant.actuate(np.array([-2.0, 2.0, -2.0, 2.0]))
    plant.advance_to(4.0)
    assert reading(plant, "tub")["w_s"][2] > 0.1  # it scrubs


def test_a_urdf_with_wheels_floats(tmp_path):
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'

    def part(name, size, at="0 0 0"):
        return (
            f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial>'
            f'<collision><origin xyz="{at}"/><geometry><sphere radius="{size}"/></geometry></collision></link>'
        )

    def axle(name, child, y):
        return (
            f'<joint name="{name}" type="continuous"><parent link="tub"/><child link="{child}"/>'
            f'<origin xyz="0 {y} 0"/><axis xyz="0 1 0"/></joint>'
        )

    parts = [
        part("tub", 0.05, "-0.2 0 -0.05"),
        part("l", 0.1),
        part("r", 0.1),
        axle("lw", "l", 0.15),
        axle("rw", "r", -0.15),
    ]
    text = f'<robot name="r">{"".join(parts)}</robot>'
    write(tmp_path, "cart.urdf", text)
    head = CART_HEAD.replace("cart.xml", "cart.urdf") + "floor = true\nposition_m = [0.0, 0.0, 0.1]\n"
    path = write(tmp_path, "vehicle.toml", head + wheel("a", "lw", "left") + wheel("b", "rw", "right"))
    plant = read_vehicle(path).plant(gravity=G)
    plant.actuate(np.array([3.0, 3.0]))
    plant.advance_to(1.0)
    assert reading(plant, "tub")["p_n"][0] > 0.2


REFUSED = {
    "newer version": (HEAD.replace("version = 1", "version = 2"), ROTORS, "version 2 is newer than this program"),
    "no version": (HEAD.replace("version = 1", ""), ROTORS, "version is missing; give version = 1"),
    "text version": (HEAD.replace("version = 1", 'version = "1"'), ROTORS, "version is '1'; give version = 1"),
    "unknown body": (
        HEAD.replace("hull", "ship"),
        ROTORS,
        'body "ship" is not there; valid names: hull, boom, flap, rock',
    ),
    "fixed body": (HEAD.replace("hull", "boom"), ROTORS, 'body "boom" is not free to move; give it a <freejoint/>'),
    "missing rotor body": (
        HEAD,
        ROTORS.replace('"boom"', '"bough"'),
        'rotor "bow": link "bough" is not there; valid names: hull, boom, flap, rock',
    ),
    "rotor on a flap": (
        HEAD,
        ROTORS.replace('"boom"', '"flap"'),
        'is on link "flap", which a joint moves against body',
    ),
    "rotor elsewhere": (HEAD, ROTORS.replace('"boom"', '"rock"'), 'is on link "rock", which is no part of body "hull"'),
    "two of a name": (HEAD, ROTORS.replace('"stern"', '"bow"'), 'the vehicle has two rotors "bow"; give each its own'),
    "no rotors": (HEAD, "", "needs exactly one of rotors, coaxial, wheels or joints; it has none of them"),
    "defaults alone": (HEAD, ROTORS[: ROTORS.index("[[")], "there are rotor_defaults but no"),
    "rotors and joints": (HEAD, ROTORS + '[[joints]]\njoint = "tilt"\n', "it has rotors and joints"),
    "no thrust": (HEAD, ROTORS.replace("thrust_n_s2 = 1e-5", ""), 'thrust_n_s2 of rotors "bow" is missing; add it'),
    "negative thrust": (
        HEAD,
        ROTORS.replace("= 1e-5", "= -1e-5"),
        'thrust_n_s2 of rotors "bow" is -1e-05: input should',
    ),
    "text": (
        HEAD,
        ROTORS.replace("0.02", '"0.02"'),
        "moment_m of rotors \"bow\" is '0.02': input should be a valid number",
    ),
    "wrong spin": (HEAD, ROTORS.replace('"clockwise"', '"left"'), "spin of rotors \"bow\" is 'left': input should be"),
    "no axis": (HEAD, ROTORS.replace("[0.0, 2.0, 0.0]", "[0.0, 0.0, 0.0]"), 'axis of rotors "bow" has no direction'),
    "unknown key": (HEAD + "colour = 1\n", ROTORS, "colour is not known; remove it"),
    "unknown key of a rotor": (HEAD, ROTORS + "blades = 2\n", 'blades of rotors "stern" is not known; remove it'),
    "rotor without name": (HEAD, ROTORS.replace('name = "bow"', ""), "name of rotors 1 is missing; add it"),
    "rotor is a number": (HEAD + "rotors = [1]\n", "", "rotors 1 is 1: input should be a table"),
    "track without wheels": (HEAD + "track_m = 0.2\n", ROTORS, "has a track_m or friction but no wheels; remove it"),
    "no model": (HEAD.replace("tri.xml", "try.xml"), ROTORS, r"try\.xml: .* cannot be read \(No such file"),
    "not TOML": (HEAD + "[[[", ROTORS, "not valid TOML"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_defect_is_one_sentence_with_its_place(tmp_path, case):
    head, rotors, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence.replace("[", r"\[")) as caught:
        tricopter(tmp_path, head, rotors)
    message = str(caught.value)
    assert message.startswith(str(tmp_path)) and "\n" not in message


@pytest.mark.parametrize(
    ("head", "wheels", "sentence"),
    [
        (CART_HEAD, [("a", "lw", "left")], "has wheels on one side only; give a left and a right one"),
        (
            CART_HEAD,
            [("a", "lw", "left"), ("b", "lw", "right")],
            'has two wheels with the joint "lw"; give each its own',
        ),
        (CART_HEAD, [("a", "lw", "left"), ("a", "rw", "right")], 'has two wheels "a"; give each its own'),
        (
            CART_HEAD,
            [("a", "lw", "left"), ("b", "no", "right")],
            'wheel "b": joint "no" is not there; valid names: lw, rw',
        ),
        (CART_HEAD.replace("track_m = 0.3", ""), None, "has wheels but no track_m"),
        (CART_HEAD.replace("friction = 0.9", ""), None, "has wheels but no friction"),
    ],
)
def test_a_defect_of_wheels_is_one_sentence(tmp_path, head, wheels, sentence):
    with pytest.raises(InputError, match=sentence):
        cart(tmp_path, head, wheels)


ARM = """
<mujoco><worldbody>
  <body name="a"><joint name="turn"/><geom size=".1"/>
    <body name="b"><joint name="lift" type="slide"/><geom size=".1"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("joints", "sentence"),
    [
        ('[[joints]]\njoint = "wrist"\n', 'joint "wrist" is not there; valid names: turn, lift'),
        ('[[joints]]\njoint = "turn"\n[[joints]]\njoint = "turn"\n', 'has two joints "turn"; give each its own'),
        ('[[joints]]\njoint = "lift"\n', 'joint "lift" slides without limits; give it a range in the model, or low_m'),
        ('[[joints]]\njoint = "lift"\nlow_deg = 1.0\n', 'joint "lift" has low_deg, but its limits are in m and N'),
        ('[[joints]]\njoint = "turn"\nmax_force_n = 1.0\n', "has max_force_n, but its limits are in deg and N m"),
        ('[[joints]]\njoint = "turn"\nlow_deg = 9.0\nhigh_deg = 3.0\n', "runs from 9 to 3 deg; give the lower limit"),
    ],
)
def test_a_defect_of_joints_is_one_sentence(tmp_path, joints, sentence):
    write(tmp_path, "arm.xml", ARM)
    head = HEAD.replace("tri.xml", "arm.xml").replace("hull", "b")
    with pytest.raises(InputError, match=sentence):
        read_vehicle(write(tmp_path, "vehicle.toml", head + joints))


def test_joints_with_limits_of_their_own(tmp_path):
    write(tmp_path, "arm.xml", ARM)
    head = HEAD.replace("tri.xml", "arm.xml").replace("hull", "b")
    joints = (
        '[[joints]]\njoint = "turn"\nname = "slew"\nlow_deg = -90.0\nhigh_deg = 45.0\nmax_torque_n_m = 30.0\n'
        '[[joints]]\njoint = "lift"\nlow_m = 0.0\nhigh_m = 0.5\nmax_force_n = 100.0\ntime_constant_s = 0.1\n'
    )
    found = read_vehicle(write(tmp_path, "vehicle.toml", head + joints))
    assert [(a.name, a.unit) for a in found.actuators] == [("slew", "rad"), ("lift", "m")]
    np.testing.assert_allclose([(a.low, a.high) for a in found.actuators], [(-np.pi / 2, np.pi / 4), (0.0, 0.5)])
    assert [servo.most for servo in found.servos] == [30.0, 100.0] and found.servos[1].time_constant_s == 0.1


COAXIAL = """
[coaxial]
radius_m = 0.6
speed_rpm = 2500.0
solidity = 0.07
lift_slope = 5.0
profile_drag = 0.03
induced_factor = 1.1
hub_height_m = 0.2
separation_m = 0.1
lag_s = 0.02
collective_deg = [17.5, -4.5]
cyclic_deg = 10.0
drag_area_m2 = 0.05
"""


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("x", "x"), "coaxial collective_deg runs from 17.5 to -4.5; give the lower angle first"),
        (("radius_m = 0.6", "radius_m = 0"), "coaxial.radius_m is 0: input should be greater"),
        (("lag_s = 0.02", ""), "coaxial.lag_s is missing"),
        (("cyclic_deg = 10.0", "cyclic_deg = 100.0"), "coaxial.cyclic_deg is 100.0: input should be less"),
    ],
)
def test_a_defect_of_a_rotor_pair_is_one_sentence(tmp_path, change, sentence):
    with pytest.raises(InputError, match=sentence):
        tricopter(tmp_path, HEAD, COAXIAL.replace(*change))


def test_names_that_are_not_there():
    with pytest.raises(InputError, match='vehicle "zeppelin" does not come with the package; valid names: manipulator'):
        read_vehicle("zeppelin")
    with pytest.raises(InputError, match=r"nowhere/vehicle\.toml"):
        read_vehicle("nowhere/vehicle.toml")


def test_hostile_models_are_refused_by_the_checks_of_robots(tmp_path):
    doubled = "<a>" * 300 + "</a>" * 300
    with pytest.raises(InputError, match="nested deeper"):
        tricopter(tmp_path, model=f"<mujoco>{doubled}</mujoco>")
    with pytest.raises(InputError, match="outside the folder"):
        tricopter(tmp_path, model='<mujoco><include file="/etc/passwd"/></mujoco>')
    with pytest.raises(InputError, match="DOCTYPE"):
        tricopter(tmp_path, model="<!DOCTYPE a><mujoco/>")
    with pytest.raises(InputError, match="at most 64"):
        many = "".join(f'[[rotors]]\nname = "r{i}"\nspin = "clockwise"\n' for i in range(65))
        tricopter(tmp_path, rotors=ROTORS + many)


def test_a_models_own_motors_and_key_frames_do_not_act(tmp_path):
    extra = (
        '<actuator><motor joint="tilt" ctrlrange="-1 1"/></actuator><keyframe><key qpos="1 0 5 1 0 0 0 0"/></keyframe>'
    )
    plant = tricopter(tmp_path, model=TRICOPTER.replace("</mujoco>", extra + "</mujoco>")).plant(gravity=G)
    assert len(plant.achieved) == 2
    np.testing.assert_allclose(reading(plant, "hull")["p_n"], [0.0, 0.0, 1.0])

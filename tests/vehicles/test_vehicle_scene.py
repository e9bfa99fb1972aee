"""What a page draws of a vehicle."""

import json

import numpy as np
import pytest

from helpers import mjcf, stl, write
from strapdown.vehicles.vehicle import read_vehicle
from vehicle_cases import SHIPPED, put, reading, vehicle

every_vehicle = pytest.mark.parametrize("name", SHIPPED)


def poses_of(plant):
    out = np.empty((len(plant.scene()["bodies"]), 7))
    plant.poses(out)
    return out


@every_vehicle
def test_a_scene_is_plain_lists_of_every_link(name):
    plant = vehicle(name).plant(gravity=SHIPPED[name])
    scene = json.loads(json.dumps(plant.scene()))
    bodies = scene["bodies"]
    assert [body["name"] for body in bodies[1:]] == list(plant.links()) and bodies[0]["parent"] is None
    assert all(body["parent"] < i for i, body in enumerate(bodies) if i)
    geoms = [geom for body in bodies for geom in body["geoms"]]
    assert len(geoms) > 5 and {geom["type"] for geom in geoms} <= {
        *("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box")
    }
    for geom in geoms:
        assert len(geom["size"]) == len(geom["pos"]) == 3 and len(geom["quat"]) == len(geom["rgba"]) == 4


@every_vehicle
def test_poses_are_those_of_the_links_now(name):
    plant = vehicle(name).plant(gravity=SHIPPED[name])
    if name == "manipulator":
        plant.actuate(np.array([0.5, 0.2]))
    else:
        put(plant, p_n=(1.0, 2.0, 3.0), turn=(0.1, 0.2, 0.3), v_n=(1.0, 0.0, 0.0))
    plant.advance_to(0.1)
    found = poses_of(plant)
    for body, pose in zip(plant.scene()["bodies"][1:], found[1:], strict=True):
        row = reading(plant, body["name"])
        np.testing.assert_allclose(pose, [*row["p_n"], *row["q_ns"]], atol=1e-12)
    assert np.array_equal(found[0], [0, 0, 0, 1, 0, 0, 0])


@pytest.mark.parametrize("name", ["quadcopter", "mars_helicopter"])
def test_blades_turn_with_their_rotors(name):
    """About the hub, counter-clockwise seen from the tip of the axis that the scene gives."""
    found = vehicle(name)
    blades = [g for body in found.plant(gravity=1.0).scene()["bodies"] for g in body["geoms"] if "turns" in g]
    assert {blade["turns"]["actuator"] for blade in blades} == set(range(4 if found.rotors else 2))
    spins = [rotor.spin for rotor in found.rotors] or [1, -1]
    for blade in blades:
        turns = blade["turns"]
        assert turns["axis"] == [0.0, 0.0, float(spins[turns["actuator"]])]
        assert blade["name"].startswith(f"blade_{found.actuators[turns['actuator']].name}")
        assert abs(blade["pos"][2] - turns["hub"][2]) < 1e-9  # in the plane of its disc


def test_every_rotor_disc_is_drawn_where_its_thrust_acts():
    for name in ("quadcopter", "mars_helicopter"):
        found = vehicle(name)
        shapes = {g["name"]: g for body in found.plant(gravity=1.0).scene()["bodies"] for g in body["geoms"]}
        for rotor, turns in found.turning().items():
            disc = shapes[f"disc_{rotor}"]
            np.testing.assert_allclose(disc["pos"], turns.hub, atol=1e-12)
            radius = found.coaxial.radius_m if found.coaxial else found.rotors[turns.actuator].table.radius_m
            assert disc["size"][0] == radius


def test_meshes_and_materials_of_a_users_model(tmp_path):
    stl(tmp_path / "part.stl")
    asset = '<asset><mesh name="m" file="part.stl"/><material name="red" rgba="1 0 0 1"/></asset>'
    body = (
        '<body name="b"><joint name="j"/><geom type="mesh" mesh="m" material="red"/>'
        '<geom type="box" size=".1 .2 .3" rgba="0 0 1 0"/></body>'
    )
    plant = read_vehicle(write(tmp_path, "arm.xml", mjcf(body, asset))).plant(gravity=9.81)
    (shape,) = plant.scene()["bodies"][1]["geoms"]  # the box is invisible
    assert shape["type"] == "mesh" and shape["rgba"] == [1.0, 0.0, 0.0, 1.0]
    corners = np.array(shape["vertices"])[np.array(shape["faces"])]
    volume = np.einsum("ki,ki->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert abs(volume) == pytest.approx(1.0 / 6.0, rel=1e-5)  # single precision

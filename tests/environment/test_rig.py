"""The rig file: every field reaches what it names."""

import warnings

import mujoco
import numpy as np
import pytest

from helpers import EXAMPLES, G, inertial, joint, link, run_rig, specific_force, stl, urdf, write
from rig_cases import ARM, DRIVEN, SLIDER, changed, one, refused
from strapdown.earth import gravity
from strapdown.engines.mujoco.integrators import INTEGRATORS
from strapdown.environment.rig import Rig, read_rig
from strapdown.environment.simulate import simulate
from strapdown.errors import RangeWarning
from strapdown.rotation import q_from_euler, q_log

pytestmark = pytest.mark.filterwarnings("ignore::strapdown.errors.RangeWarning")


def test_fields_of_the_whole_rig_are_all_tested_below():
    assert set(Rig.model_fields) == {
        *("duration_s", "robot", "motion", "physics", "motor", "start", "sensor", "program", "folder"),
        *("inclinometer", "odometer", "magnetism", "seed"),  # tests/environment/test_rig_errors.py
        "coppeliasim",  # tests/engines/test_coppeliasim_scene.py
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

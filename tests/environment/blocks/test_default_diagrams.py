"""The default diagrams of the vehicles: without problems, and they fly."""

import math
from pathlib import Path

import numpy as np
import pytest

from flight_cases import Flight, default_diagram
from helpers import ROOT
from strapdown.environment.diagram import check, compile_diagram, read_diagram
from strapdown.environment.diagram.file import Diagram
from strapdown.vehicles.vehicle import read_vehicle, vehicle_names

FILES = sorted((ROOT / "src" / "strapdown" / "vehicles").glob("*/*.toml"))
DIAGRAMS = [path for path in FILES if path.name != "vehicle.toml"]


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_default_diagram_has_no_problems_and_fits_its_vehicle(path: Path):
    diagram: Diagram = read_diagram(path)
    assert check(diagram) == []
    run = compile_diagram(diagram)
    actuators = [step for step in run.plan.steps if getattr(step.block, "actuates", False)]
    assert len(actuators) == 1
    vehicle = read_vehicle(path.parent.name)
    assert actuators[0].output_ports["command"].shape == (len(vehicle.actuators),)
    assert not any(step.kind == "truth" for step in run.plan.steps)
    places = [table.at for sheet in (diagram, *diagram.diagram) for table in sheet.block]
    assert all(at is not None for at in places)
    run.advance(20)


def test_every_vehicle_has_a_default_diagram():
    assert vehicle_names()
    for name in vehicle_names():
        assert read_vehicle(name).diagram is not None, name


def flown(vehicle, name="diagram", **given):
    flight = Flight(vehicle, default_diagram(vehicle, name), **given)
    flight.prepare()
    flight.take_off()
    return flight


def forward_and_back(flight, stick=1.0):
    for pitch, roll in ((stick, 0.0), (-stick, 0.0), (0.0, stick), (0.0, -stick)):
        flight.console(pitch=pitch, roll=roll)
        flight.advance(3.0, watch=True)
        flight.console(pitch=0.0, roll=0.0)
        flight.advance(1.5, watch=True)


def test_not_armed_the_motors_stand():
    flight = Flight("quadcopter", default_diagram("quadcopter"))
    flight.prepare()
    flight.console(arm=0.0, throttle=1.0)
    flight.advance(0.5)
    np.testing.assert_array_equal(flight.run.value("motors.command"), 0.0)
    flight.console(arm=1.0)
    flight.advance(0.5)
    assert flight.run.value("motors.command").min() > 400.0
    flight.console(arm=0.0)
    flight.advance(0.1)
    np.testing.assert_array_equal(flight.run.value("motors.command"), 0.0)


@pytest.mark.parametrize("name", ["diagram", "velocity_aided"])
def test_the_quadcopter_flies_by_its_estimate(name):
    """Hold: 3 m/s along both axes, back and forth; the height stays, and it lands where it stands."""
    flight = flown("quadcopter", name)
    assert flight.row[0, 2] - flight.ground == pytest.approx(3.0, abs=0.15)
    forward_and_back(flight)
    track = np.array(flight.watched)
    assert flight.tilt_rms_deg() < 0.35  # issue: best attitude filter alone
    assert np.abs(track[:, 4] - flight.ground - 3.0).max() < 0.2
    assert track[:, 5].max() > 2.5 and track[:, 6].max() > 2.5 and np.abs(track[-1, 5:8]).max() < 0.6
    flight.land()
    assert flight.row[0, 2] == pytest.approx(flight.ground, abs=0.02)
    np.testing.assert_array_equal(flight.run.value("motors.command"), 0.0)


def test_modes_stabilise_and_rate():
    flight = flown("quadcopter")
    flight.console(mode=1.0, pitch=0.5)
    flight.advance(1.0)
    pitch = math.asin(2 * (flight.row[0, 3] * flight.row[0, 5] - flight.row[0, 4] * flight.row[0, 6]))
    assert pitch == pytest.approx(math.radians(7.5), abs=math.radians(0.6))  # half of 15 deg
    flight.console(mode=0.0, pitch=0.0, roll=0.1)
    flight.advance(0.3)
    # low-passed by nothing: the vibration of the gyroscope is in the loop, so compare a mean
    rates = []
    for _ in range(300):
        flight.advance(0.001)
        rates.append(flight.row[0, 13])
    assert np.mean(rates) == pytest.approx(math.radians(12.0), abs=math.radians(1.0))


def test_without_a_velocity_fix_hold_is_stabilise():
    flight = flown("quadcopter")
    flight.outages = [(0.0, math.inf)]
    flight.advance(2.5)  # the timeout of the receiver
    flight.console(pitch=0.5)
    flight.advance(1.0)
    assert flight.run.value("receiver.ok") == 0.0
    tilt = flight.run.value("stabilisation/attitude.tilt")
    np.testing.assert_allclose(tilt, [0.0, math.radians(7.5)], atol=1e-12)


def test_paper_bs_diagram_hovers_with_the_estimate_of_its_imu_block():
    """Level sticks are stable. Velocity commands are not at this rate: that is the paper's filter."""
    flight = Flight("quadcopter", default_diagram("quadcopter", "paper_b"))
    flight.run.set_parameters("IMU/IMU block", corrected=True)  # as printed it flies near magnetic north only
    flight.prepare()
    flight.console(mode=1.0)
    flight.take_off()
    flight.advance(5.0, watch=True)
    assert flight.row[0, 2] - flight.ground == pytest.approx(3.0, abs=0.3)
    assert flight.tilt_rms_deg() < 3.0


def test_the_mars_helicopter_takes_off_moves_and_lands_without_odometry_for_5_s():
    flight = flown("mars_helicopter", gravity=3.71)
    flight.outages = [(flight.tick / 1000.0, flight.tick / 1000.0 + 5.0)]
    flight.console(pitch=1.0)
    flight.advance(5.0, watch=True)
    flight.console(pitch=0.0)
    flight.advance(5.0, watch=True)
    assert flight.row[0, 0] == pytest.approx(5.0, abs=1.0) and abs(flight.row[0, 1]) < 1.0
    assert flight.tilt_rms_deg() < 0.3
    flight.land(10.0)
    assert flight.row[0, 2] == pytest.approx(flight.ground, abs=0.05)


def test_the_rover_drives_turns_and_reports_its_stop():
    flight = Flight("rover", default_diagram("rover"))
    flight.prepare()
    flight.console(drive=1.0)
    flight.advance(3.0)
    assert flight.run.value("drive.stop") == 0.0
    flight.console(drive=0.0)
    flight.advance(1.5)
    assert flight.run.value("drive.stop") == 1.0
    assert flight.row[0, 0] == pytest.approx(0.9, abs=0.02)  # 0.3 m/s for 3 s: both ramps are alike
    assert np.hypot(*(flight.run.value("path.in1")[:2] - flight.row[0, :2])) < 0.05
    flight.console(turn=1.0)
    flight.advance(1.5)
    flight.console(turn=0.0)
    flight.advance(1.0)
    q = flight.row[0, 3:7]
    assert 2 * math.atan2(q[3], q[0]) == pytest.approx(math.radians(90.0), abs=math.radians(3.0))


def test_the_manipulator_follows_its_sliders_and_its_program():
    flight = Flight("manipulator", default_diagram("manipulator"))
    flight.prepare()
    flight.console(mode=0.0)
    flight.run.feed("shoulder slider.value", 0.5)
    flight.advance(1.0)
    np.testing.assert_allclose(flight.run.value("joints.command"), [0.5, 0.0])
    np.testing.assert_allclose(flight.plant.achieved, [0.5, 0.0], atol=0.02)
    flight.console(mode=1.0)
    flight.advance(1.0)
    assert np.abs(flight.run.value("joints.command") - [0.5, 0.0]).max() > 0.1
    flight.console(power=0.0)  # without power the joints hold
    flight.advance(0.1)
    held = flight.run.value("joints.command")
    flight.advance(0.5)
    np.testing.assert_array_equal(flight.run.value("joints.command"), held)

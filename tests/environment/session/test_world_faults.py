"""Faults of motors and of the world: what they do, that their end undoes them, and that a rewind repeats them."""

import math

import numpy as np
import pytest
from tests.environment.session.session_cases import flown, logs, on_truth, resting, short

from strapdown.environment.session.commands import BeginFault, EndFault, SetErrors
from strapdown.environment.session.faults.kinds import GustFault, Outage, WeakMotor
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.kernels.sensors.module import CELSIUS, READINGS, T
from strapdown.motion.vibration import motor_hum, rotor_imbalance
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.magnetic_sources import Dipole

IDEAL = [{"name": "imu", "rate_hz": 500.0, "magnetometer": True}]
FIELD = np.array([0.0, 20.0, -43.0])


def field_of(session):
    return session.sensors[0].log.rows()[:, READINGS + 6 : READINGS + 9]


def test_magnet_in_the_world_is_a_dipole():
    moment, place = (1.0, -2.0, 0.5), (0.3, 0.2, 0.4)
    fault = {"kind": "magnet", "moment_am2": moment, "position_m": place, "at_s": 0.4, "until_s": 0.8}
    session = flown(resting(sensor=IDEAL, fault=[fault]), seed=1)
    sensor = session.sensors[0]
    truth = sensor.motion()
    t = truth.t
    on = (t > 0.4 + 1e-9) & (t < 0.8 + 1e-9)
    expected_n = FIELD + on[:, None] * Dipole(moment, place).field(truth.p_n)
    # MU_0 is not exactly 4 pi 1e-7: 5e-10 of the field
    assert np.allclose(field_of(session), q_rotate(q_conj(truth.q_nb), expected_n), rtol=1e-8, atol=1e-9)
    assert np.abs(field_of(session)[on] - FIELD).max() > 1.0


def test_magnet_on_the_vehicle_moves_with_it():
    moment, place = (0.1, 0.2, -0.3), (0.05, -0.04, 0.03)
    fault = {"kind": "magnet", "moment_am2": moment, "position_m": place, "on_vehicle": True, "at_s": 3.0}
    session = Session(short(duration_s=6.0, sensor=IDEAL, fault=[fault], vibration={}), seed=1)
    session.runner.replace(on_truth(session.runner.diagram))
    session.attach()
    session.run()
    truth = session.sensors[0].motion()
    moving = (truth.t > 4.5) & (np.linalg.norm(truth.v_n, axis=1) > 1.0)
    assert moving.sum() > 100
    own = field_of(session) - q_rotate(q_conj(truth.q_nb), np.broadcast_to(FIELD, truth.p_n.shape))
    expected = Dipole(moment, place).field(np.zeros((1, 3)))[0]
    assert np.allclose(own[moving], expected, rtol=1e-8, atol=1e-6)  # roundoff of the rotations
    assert np.allclose(own[truth.t < 3.0], 0.0, atol=1e-9)


def test_temperature_step_reaches_the_part_with_its_time_constant_and_changes_its_bias():
    per_degc = (1e-3, -2e-3, 3e-3)
    changes = {"temperature_bias": [list(per_degc)], "white": [0, 0, 0], "instability": [0, 0, 0], "resolution": 0.0}

    def run(faults):
        session = Session(resting(3.0, fault=faults), seed=4)
        session.post(SetErrors("imu", "gyroscope", {**changes, "walk": [0, 0, 0], "limits_c": None}))
        session.run()
        return session.sensors[0].log.rows()

    fault = {"kind": "temperature_step", "step_c": 20.0, "time_constant_s": 0.5, "at_s": 0.5, "until_s": 2.0}
    rows, clean = run([fault]), run([])
    t, celsius = rows[:, T], rows[:, CELSIUS]
    assert (clean[:, CELSIUS] == 25.0).all() and (celsius[t <= 0.5] == 25.0).all()
    up = (t > 0.5) & (t < 2.0)
    expected = 25.0 + 20.0 * -np.expm1(-(t - 0.5) / 0.5)
    assert np.abs(celsius - expected)[up].max() < 20.0 * 0.008 / 0.5  # held over two control cycles
    down = t > 2.0
    peak = 20.0 * -math.expm1(-1.5 / 0.5)
    assert np.abs(celsius - 25.0 - peak * np.exp(-(t - 2.0) / 0.5))[down].max() < 20.0 * 0.008 / 0.5
    bias = rows[:, READINGS + 3 : READINGS + 6] - clean[:, READINGS + 3 : READINGS + 6]
    # the reading belongs to the temperature of its own row or the one before it
    assert np.abs(bias - np.outer(celsius - 25.0, per_degc)).max() < 3e-3 * 20.0 * 0.008 / 0.5


def winds(session):
    """Every wind that the plant was given, with its time."""
    seen, given = [], session.plant.set_air

    def spy(density, wind):
        seen.append((session.t_s, tuple(wind)))
        given(density, wind)

    session.plant.set_air = spy
    return seen


def test_gust_of_a_scenario_blows_with_its_form():
    fault = {"kind": "gust", "velocity_m_s": [2.0, 0.0, -1.0], "for_s": 0.4, "at_s": 0.4}
    session = Session(resting(1.2, fault=[fault]), seed=1)
    seen = winds(session)
    session.run()
    for t, wind in seen:
        share = 0.5 * (1.0 - math.cos(2.0 * math.pi * (t - 0.4) / 0.4)) if 0.4 <= t < 0.8 else 0.0
        assert wind == pytest.approx((2.0 * share, 0.0, -share), abs=1e-12)
    assert max(wind[0] for _, wind in seen) == pytest.approx(2.0)
    assert seen[-1][1] == (0.0, 0.0, 0.0)


def test_gust_that_is_ended_early_is_over():
    session = Session(resting(), seed=1)
    session.act(BeginFault(GustFault(velocity_m_s=(5.0, 0.0, 0.0), for_s=2.0), "gust"))
    session.advance(0.5)
    seen = winds(session)
    session.act(EndFault("gust"))
    session.advance(0.2)
    assert {wind for _, wind in seen} == {(0.0, 0.0, 0.0)}


def test_gust_pushes_the_vehicle():
    gust = {"kind": "gust", "velocity_m_s": [0.0, 12.0, 0.0], "at_s": 4.0, "for_s": 1.5}
    blown, calm = (flown(short(fault=faults), seed=2).body.rows()[-1] for faults in ([gust], []))
    assert blown[2] - calm[2] > 0.1  # to the north


def test_weak_motor_gives_a_share_of_its_thrust_and_recovers():
    def thrusts(efficiency):
        session = Session(short(duration_s=4.0), seed=2)
        session.advance(3.5)
        session.act(BeginFault(WeakMotor(motor="front", efficiency=efficiency), "weak"))
        before = session.truth[10:13].copy()
        session.advance(0.02)
        return before, session.truth[10:13].copy(), session

    _, whole, _ = thrusts(1.0)
    _, half, session = thrusts(0.5)
    # one of four rotors that carry the weight loses half of its thrust: g / 8, less than two motor lags later
    assert whole[2] - half[2] == pytest.approx(9.81 / 8.0, rel=0.15)
    session.act(EndFault("weak"))
    assert session.plant._shares.tolist() == [1.0, 1.0, 1.0, 1.0]


def test_ending_one_of_two_outages_or_weak_motors_leaves_the_other():
    session = Session(resting(), seed=1)
    receiver = next(s for s in session.sensors if s.name == "receiver")
    for name in ("a", "b"):
        session.act(BeginFault(Outage(sensor="receiver"), f"outage {name}"))
    session.act(BeginFault(WeakMotor(motor="left", efficiency=0.8), "weak"))
    session.act(BeginFault(WeakMotor(motor="left", efficiency=0.3), "weaker"))
    session.act(EndFault("outage a"))
    session.act(EndFault("weaker"))
    assert receiver.out and session.plant._shares[1] == 0.8
    session.act(EndFault("outage b"))
    session.act(EndFault("weak"))
    assert not receiver.out and session.plant._shares[1] == 1.0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (WeakMotor(motor="fron", efficiency=0.5), 'motor "fron" does not exist'),
        (Outage(sensor="imu"), 'sensor "imu" gives no fixes'),
    ],
)
def test_what_the_vehicle_does_not_have_is_refused(fault, message):
    session = Session(resting(), seed=1)
    with pytest.raises(InputError, match=message):
        session.act(BeginFault(fault, "wrong"))
    assert not session.faults


WORLD = [
    {"kind": "weak_motor", "motor": "front", "efficiency": 0.7},
    {"kind": "magnet", "moment_am2": [1.0, 0.0, 0.0], "position_m": [0.1, 0.1, 0.0], "on_vehicle": True},
    {"kind": "magnet", "moment_am2": [5.0, 0.0, 0.0], "position_m": [0.5, 0.1, 0.5]},
    {"kind": "temperature_step", "step_c": -30.0, "time_constant_s": 2.0},
    {"kind": "gust", "velocity_m_s": [3.0, 3.0, 0.0], "for_s": 2.0},
    {"kind": "outage", "sensor": "receiver"},
]


@pytest.mark.parametrize("fault", WORLD, ids=lambda fault: fault["kind"])
def test_rewound_into_the_middle_of_a_fault_it_goes_on_to_the_bit(fault):
    session = flown(short(duration_s=5.5, fault=[{"at_s": 3.3, "until_s": 4.9, **fault}]), seed=3)
    before, events = logs(session), list(session.events)
    assert before["imu"] != flown(short(duration_s=5.5), seed=3).sensors[0].log.rows().tobytes()
    for to_s in (4.5, 3.6):
        session.rewind(to_s)
        session.run()
        assert logs(session) == before and session.events == events


def test_hum_of_a_drive_is_the_vibration_of_motion():
    """While the power is on; the rover rests, so that the difference of two runs is the vibration alone."""

    def acc(hum):
        vibration = {"hum_m_s2": hum, "hum_hz": 90.0}
        sensor = [{"name": "imu", "rate_hz": 500.0, "magnetometer": True, "position_m": [0.1, 0.0, 0.05]}]
        scenario = resting(1.0, "rover", sensor=sensor, vibration=vibration, pilot=[{"at_s": 0.2, "power": True}])
        return flown(scenario, seed=1).sensors[0].log.rows()

    shaken, still = acc(0.4), acc(0.0)
    t = shaken[:, T]
    hum = motor_hum((0.2, 0.2, 0.4), 90.0, source=0)
    speed = 2.0 * math.pi * 90.0
    for i in np.flatnonzero(t > 0.21)[::17]:
        force, rate = hum.extra(t[i], [speed * (t[i] - 0.2)], [speed])
        assert shaken[i, READINGS : READINGS + 3] - still[i, READINGS : READINGS + 3] == pytest.approx(
            force, abs=1e-7
        )  # it rests level to 1e-8 rad
        assert rate == pytest.approx(0.0)
    before = (t > 0.1) & (t <= 0.2)  # it has settled on its wheels
    assert np.allclose(shaken[before], still[before], atol=1e-6)


def test_rotor_imbalance_shakes_as_in_motion():
    """With a controller on TRUTH the flight does not depend on the vibration, so that the difference of two runs is the
    vibration. It is that of motion/vibration at the angles and speeds that the rotors have at that instant."""

    def run(imbalance):
        session = Session(short(duration_s=4.0, sensor=IDEAL, vibration={"imbalance_kg_m": imbalance}), seed=1)
        session.runner.replace(on_truth(session.runner.diagram))
        session.attach()
        turning = []
        while session.ticks < 4000:
            session.tick()
            turning.append((session.t_s, session.plant.phases.copy(), session.plant.speeds.copy()))
        return session, turning

    (shaken, turning), (still, _) = run(1e-5), run(0.0)
    assert np.array_equal(shaken.body.rows(), still.body.rows())
    rows = [s.sensors[0].log.rows() for s in (shaken, still)]
    t, extra = rows[0][:, T], (rows[0] - rows[1])[:, READINGS : READINGS + 6]
    vehicle = shaken.vehicle
    hubs = np.array([rotor.position_m for rotor in vehicle.rotors]) - np.array(vehicle.centre_m)
    spins = [rotor.spin for rotor in vehicle.rotors]
    vibration = rotor_imbalance(1e-5, hubs, spins, vehicle.mass_kg, vehicle.inertia_kg_m2)
    largest = np.zeros(6)
    for t_s, phases, speeds in turning[-200:]:
        expected = np.concatenate(vibration.extra(t_s, phases, speeds))
        i = int(np.argmin(np.abs(t - t_s)))
        assert abs(t[i] - t_s) < 1e-9
        # the body turns at less than 1 rad/s, which adds terms of that rate over the 450 rad/s of the rotors
        assert extra[i, :2] == pytest.approx(expected[:2], abs=0.05)
        assert extra[i, 3:] == pytest.approx(expected[3:], abs=0.002)
        largest = np.maximum(largest, np.abs(expected))
    assert largest[:2].min() > 1.0 and largest[5] > 0.02

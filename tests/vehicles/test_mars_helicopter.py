"""The Mars helicopter against blade element and momentum theory. Tolerances are roundoff unless they name a cause."""

import numpy as np
import pytest
from scipy.optimize import brentq

from strapdown.vehicles.hover import hover_of
from vehicle_cases import MARS, forces, hovering, put, reading, turning, vehicle

M, IXX, IZZ = 1.8, 0.025, 0.016
RHO, R, OMEGA = 0.017, 0.605, 2537.0 * 2.0 * np.pi / 60.0
SIGMA, SLOPE, CD0, KAPPA = 0.074, 5.0, 0.035, 1.15
HUB, GAP, LAG, DRAG_AREA = 0.25, 0.1, 0.02, 0.05
TIP, AREA = OMEGA * R, np.pi * R**2
K = 0.5 * RHO * AREA * TIP**2 * SIGMA * SLOPE  # N
HUB_MOMENT = RHO * SLOPE * SIGMA * np.pi * OMEGA**2 * R**5 / 16.0
WAKE = np.sqrt(M * MARS / (2.0 * RHO * AREA))
COLLECTIVE = 3.0 * (0.5 * M * MARS / K + 0.5 * WAKE / TIP)
HOVER = np.array([COLLECTIVE, COLLECTIVE, 0.0, 0.0])


def thrust_of(collectives, climb=0.0):
    """Thrust of both rotors and induced speed, by a search: blade element thrust = momentum thrust."""

    def blades(v):
        return K * (sum(collectives) / 3.0 - (v + climb) / TIP)

    v = brentq(lambda v: 2.0 * RHO * AREA * v * (v + climb) - blades(v), max(0.0, -climb), 100.0, xtol=1e-13)
    return blades(v), v


def test_figures_of_hover():
    """Printed figures of the prototype, each within its last digit."""
    hover = hover_of(vehicle("mars_helicopter"), MARS)
    assert abs(np.degrees(hover.command) - 13.1) < 0.1
    assert abs(hover.induced_m_s - 13.1) < 0.05
    assert abs(hover.power_w - 153.0) < 0.5
    most = vehicle("mars_helicopter").actuators[0].high
    assert abs(np.degrees(most) - 17.5) < 1e-9 and abs(thrust_of([most, most])[0] / (M * MARS) - 1.47) < 0.005
    assert abs(HUB_MOMENT - 7.07) < 0.005
    assert abs(2.0 * HUB_MOMENT / OMEGA / IXX - 2.1) < 0.05
    assert hover.command == pytest.approx(COLLECTIVE, rel=1e-12) and hover.induced_m_s == pytest.approx(WAKE, rel=1e-12)
    shaft = KAPPA * M * MARS * WAKE + 2.0 * RHO * AREA * TIP**3 * SIGMA * CD0 / 8.0
    assert hover.power_w == pytest.approx(shaft, rel=1e-12)


def test_hover():
    plant = hovering(vehicle("mars_helicopter"), MARS, HOVER)
    row = reading(plant)
    assert np.abs(row["a_n"]).max() < 1e-9 and np.abs(row["dw_s"]).max() < 1e-12  # ground effect at 10 km: 2e-10


@pytest.mark.parametrize("angle_deg", [5.0, 13.0, 17.5])
@pytest.mark.parametrize("climb", [-3.0, 0.0, 6.0])
def test_thrust_is_that_of_blades_and_of_the_wake_alike(angle_deg, climb):
    angle = np.deg2rad(angle_deg)
    plant = hovering(vehicle("mars_helicopter"), MARS, [angle, angle, 0.0, 0.0], v_n=(0.0, 0.0, climb))
    expected = thrust_of([angle, angle], climb)[0] - 0.5 * RHO * DRAG_AREA * abs(climb) * climb
    assert forces(plant)[0][2] == pytest.approx(expected, rel=1e-9)


def test_blades_that_push_downward_have_no_wake():
    low = np.deg2rad(-4.5)
    plant = hovering(vehicle("mars_helicopter"), MARS, [low, low, 0.0, 0.0])
    assert forces(plant)[0][2] == pytest.approx(2.0 * K * low / 3.0, rel=1e-9)
    turning(plant, [-1.0, -1.0, 0.0, 0.0])
    plant.advance_to(1.0)  # the command is limited
    np.testing.assert_allclose(plant.achieved, [low, low, 0.0, 0.0], atol=1e-12)


def test_climb_in_thin_air():
    """Steady climb at one degree more: weight and drag = momentum of the wake in the climb. It is approached from below
    and from above."""
    angle = COLLECTIVE + np.deg2rad(1.0)
    climb = brentq(
        lambda c: thrust_of([angle, angle], c)[0] - 0.5 * RHO * DRAG_AREA * c * c - M * MARS, 0.0, 20.0, xtol=1e-12
    )
    assert climb > 3.0
    for start in (climb, climb - 1.0, climb + 1.0):
        plant = hovering(vehicle("mars_helicopter"), MARS, [angle, angle, 0.0, 0.0], v_n=(0.0, 0.0, start))
        plant.advance_to(30.0)
        left = reading(plant)["v_n"][2] - climb
        assert abs(left) < (1e-8 if start == climb else 0.05) and left * (start - climb) >= 0.0


def test_denser_air_lifts_more():
    plant = hovering(vehicle("mars_helicopter"), MARS, HOVER)
    plant.set_air(0.020, (0.0, 0.0, 0.0))
    assert forces(plant)[0][2] == pytest.approx(M * MARS * 0.020 / RHO, rel=1e-9)  # the wake is as fast as before


@pytest.mark.parametrize(("control", "axis"), [(2, 0), (3, 1)])
def test_cyclic_pitch_is_a_moment_of_the_hubs(control, axis):
    state = HOVER.copy()
    state[control] = 0.02
    plant = hovering(vehicle("mars_helicopter"), MARS, state)
    expected = np.zeros(3)
    expected[axis] = 2.0 * HUB_MOMENT * 0.02
    np.testing.assert_allclose(forces(plant)[1], expected, atol=1e-12)
    name = plant.vehicle.actuators[control].name
    plant.set_efficiency(name, 0.5)
    np.testing.assert_allclose(forces(plant)[1], 0.5 * expected, atol=1e-12)


def test_difference_of_collective_yaws_by_the_induced_torque():
    """The upper rotor turns counter-clockwise: more pitch on it turns the body clockwise."""
    upper, lower = COLLECTIVE + 0.02, COLLECTIVE - 0.02
    plant = hovering(vehicle("mars_helicopter"), MARS, [upper, lower, 0.0, 0.0])
    difference = K * (upper - lower) / 3.0
    np.testing.assert_allclose(forces(plant)[1], [0.0, 0.0, -difference * KAPPA * WAKE / OMEGA], atol=1e-12)
    assert reading(plant)["dw_s"][2] == pytest.approx(-difference * KAPPA * WAKE / OMEGA / IZZ, rel=1e-9)


def test_turning_is_damped_by_the_hubs_and_by_drag_above_the_centre():
    rate = 0.3
    plant = hovering(vehicle("mars_helicopter"), MARS, HOVER, w_b=(0.0, rate, 0.0))
    inflow = WAKE / TIP
    lean = 8.0 * COLLECTIVE / 3.0 - 2.0 * inflow
    drag = 0.5 * K * (COLLECTIVE * inflow + CD0 / SLOPE)
    heights = HUB + np.array([0.5, -0.5]) * GAP
    expected = -2.0 * HUB_MOMENT * rate / OMEGA
    expected -= sum(HUB_MOMENT * lean * rate * z / TIP + z * drag * rate * z / TIP for z in heights)
    assert forces(plant)[1][1] == pytest.approx(expected, rel=1e-9)


def test_speed_across_the_mast_leans_it_back_and_slows_it():
    """Moment of the advancing blade and in-plane drag of a hovering rotor (Leishman, chapter 3), at the hubs."""
    v = 4.0
    inflow = WAKE / TIP
    lean = 8.0 * COLLECTIVE / 3.0 - 2.0 * inflow
    drag = K * (COLLECTIVE * inflow + CD0 / SLOPE) * v / TIP  # of both
    body = 0.5 * RHO * DRAG_AREA * v * v
    moment = 2.0 * HUB_MOMENT * lean * v / TIP + HUB * drag
    for velocity, force, torque in (
        ((v, 0.0, 0.0), (-drag - body, 0.0), (0.0, -moment)),
        ((0.0, v, 0.0), (0.0, -drag - body), (moment, 0.0)),
    ):
        plant = hovering(vehicle("mars_helicopter"), MARS, HOVER, v_n=velocity)
        got_force, got_torque = forces(plant)
        np.testing.assert_allclose(got_force[:2], force, atol=1e-9)
        np.testing.assert_allclose(got_torque[:2], torque, atol=1e-9)
    standing = hovering(vehicle("mars_helicopter"), MARS, HOVER)
    standing.set_air(RHO, (0.0, -v, 0.0))
    np.testing.assert_allclose(forces(standing)[1], got_torque, atol=1e-12)


def test_drag_time_is_minutes():
    """Accelerometers see no lean: the specific force across the mast dies out over two minutes."""
    plant = hovering(vehicle("mars_helicopter"), MARS, HOVER, v_n=(0.01, 0.0, 0.0))
    assert 100.0 < -0.01 / reading(plant)["a_n"][0] < 160.0


def test_the_swashplate_lags():
    plant = put(vehicle("mars_helicopter").plant(gravity=MARS))
    plant.actuate(np.array([0.2, 0.1, 0.05, -0.3]))
    for t in (0.001, 0.02, 0.1):
        plant.advance_to(t)
        gone = 1.0 - np.exp(-t / LAG)
        np.testing.assert_allclose(plant.achieved, np.array([0.2, 0.1, 0.05, -np.deg2rad(10.0)]) * gone, rtol=1e-12)
        np.testing.assert_allclose(plant.phases, [OMEGA * t, OMEGA * t, 0.0, 0.0], rtol=1e-12)
    np.testing.assert_allclose(plant.speeds, [OMEGA, OMEGA, 0.0, 0.0], rtol=1e-12)


def test_a_failed_rotor_leaves_the_thrust_of_the_other():
    plant = hovering(vehicle("mars_helicopter"), MARS, HOVER)
    plant.set_efficiency("lower", 0.0)
    force, torque = forces(plant)

    def one(v):
        return K * (COLLECTIVE / 3.0 - 0.5 * v / TIP)

    v = brentq(lambda v: 2.0 * RHO * AREA * v * v - one(v), 0.0, 100.0, xtol=1e-13)
    assert force[2] == pytest.approx(one(v), rel=1e-9)
    assert torque[2] == pytest.approx(-one(v) * KAPPA * v / OMEGA, rel=1e-9)


@pytest.mark.parametrize("height", [0.31, 0.5, 2.0])
def test_thrust_grows_near_the_ground(height):
    """height: of the middle between the hubs. Below half a radius the factor stays."""
    plant = hovering(vehicle("mars_helicopter"), MARS, HOVER, p_n=(0.0, 0.0, height - HUB))
    factors = [1.0 / (1.0 - (R / (4.0 * max(height + z, 0.5 * R))) ** 2) for z in (-0.5 * GAP, 0.5 * GAP)]
    assert forces(plant)[0][2] / (M * MARS) == pytest.approx(np.mean(factors), rel=1e-9)


def test_it_stands_on_its_feet():
    plant = vehicle("mars_helicopter").plant(gravity=MARS)
    plant.advance_to(2.0)
    np.testing.assert_allclose(reading(plant)["f_s"], [0.0, 0.0, MARS], atol=1e-6)
    assert len(plant.contacts()) == 4 and abs(reading(plant)["p_n"][2] - 0.3) < 1e-3

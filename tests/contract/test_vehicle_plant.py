"""What every vehicle promises as a plant: fresh readings, commands that act at once, exact rewinding."""

import tracemalloc

import numpy as np
import pytest

from strapdown.engines.parts import Mount
from strapdown.errors import InputError
from strapdown.live import PLANT_COLUMNS, PLANT_ROW, Plant, Rewindable
from vehicle_cases import SHIPPED, put, vehicle

every_vehicle = pytest.mark.parametrize("name", SHIPPED)
# commands around which each vehicle is steered, and how far
STEERED = {
    "quadcopter": (np.full(4, 455.0), 60.0),
    "mars_helicopter": (np.array([0.235, 0.235, 0.0, 0.0]), 0.02),
    "rover": (np.array([4.0, 3.0]), 3.0),
    "manipulator": (np.array([0.4, -0.3]), 0.3),
}


def build(name):
    return vehicle(name).plant(gravity=SHIPPED[name])


def mounts_of(plant):
    return (Mount("imu", plant.vehicle.body, (0.05, -0.02, 0.03)), Mount("plain", plant.vehicle.body))


def read(plant):
    out = np.full((2, PLANT_ROW), np.nan)
    plant.read(mounts_of(plant), out)
    return out


def act(plant, k):
    """Commands, wind, a fault and pushes, now and then, some of them between two readings."""
    middle, size = STEERED[plant.vehicle.name]
    n = len(middle)
    if k % 4 == 0:
        plant.actuate(middle + size * np.sin(0.05 * k + np.arange(n)))
    if k % 6 == 0:
        plant.set_air(1.1 + 0.1 * np.sin(k), np.array([np.sin(0.1 * k), 1.0, 0.2]))
    if k == 61:
        plant.set_efficiency(plant.vehicle.actuators[0].name, 0.7)
    if k % 11 == 0:
        plant.push(plant.vehicle.body, (0.5, 0.02 * k, -0.3), (0.01, 0.0, 0.001), 0.0043)


def trace(plant, first, last):
    rows = []
    for k in range(first, last):
        act(plant, k)
        plant.advance_to((k + 1) * 1e-3)
        rows.append(np.concatenate([read(plant).ravel(), plant.achieved, plant.phases]))
    return np.array(rows)


@every_vehicle
def test_it_fits_the_protocols(name):
    plant = build(name)
    assert isinstance(plant, Plant) and isinstance(plant, Rewindable)
    assert len(plant.achieved) == len(plant.phases) == len(plant.speeds) == len(plant.vehicle.actuators)
    for view in (plant.achieved, plant.phases):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0


@every_vehicle
def test_reading_does_not_change_the_motion(name):
    asked, silent = build(name), build(name)
    trace(asked, 0, 150)
    for k in range(150):
        act(silent, k)
        silent.advance_to((k + 1) * 1e-3)
    assert asked.snapshot() == silent.snapshot()
    assert np.array_equal(read(asked), read(silent))


@every_vehicle
def test_steps_one_by_one_or_all_at_once_give_the_same_bits(name):
    one_by_one, at_once = build(name), build(name)
    for plant in (one_by_one, at_once):
        plant.actuate(STEERED[name][0])
        plant.push(plant.vehicle.body, (0.0, 0.5, 0.0), (0.0, 0.0, 0.0), 0.0123)
    for k in range(1, 101):
        one_by_one.advance_to(k * 1e-3)
    at_once.advance_to(0.1)
    assert one_by_one.snapshot() == at_once.snapshot() and one_by_one.time_s == 0.1


@every_vehicle
def test_steps_with_readings_in_one_call_give_the_same_bits(name):
    """Whether a kernel makes the steps (quadcopter) or Python does; with commands, wind and pushes between calls."""
    plants = [build(name) for _ in range(3)]
    one_by_one, together, in_python = plants
    in_python._plant._direct = None
    n, k = len(one_by_one.vehicle.actuators), 0
    for steps in (1, 2, 4, 7, 4, 1, 30, 4, 4, 50):
        expected, turning = np.empty((steps, 2, PLANT_ROW)), np.empty((steps, 2, n))
        for plant in plants:
            act(plant, k)
        for i in range(steps):
            one_by_one.advance_to((k + i + 1) * 1e-3)
            one_by_one.read(mounts_of(one_by_one), expected[i])
            turning[i] = one_by_one.phases, one_by_one.speeds
        for plant in (together, in_python):
            rows, jets = np.empty((steps, 2, PLANT_ROW)), np.zeros((steps, 3 * n + 1))
            plant.advance_reading(mounts_of(plant), rows, jets)
            assert np.array_equal(rows, expected)
            assert np.array_equal(jets[:, : 3 * n].reshape(steps, n, 3).transpose(0, 2, 1)[:, :2], turning)
            assert plant.snapshot() == one_by_one.snapshot() and plant.time_s == one_by_one.time_s
        k += steps
        if k == 45:  # goes on as well after a snapshot
            together.restore(together.snapshot())


def test_steps_in_one_call_stop_where_the_simulation_becomes_unstable():
    plant = build("quadcopter")
    plant.advance_reading(mounts_of(plant), np.empty((4, 2, PLANT_ROW)))
    assert plant._plant._direct is not None  # the kernel makes the steps
    plant._plant.data.qvel[0] = 1e11
    with pytest.raises(InputError, match=r"unstable at about t = 0\.005 s"):
        plant.advance_reading(mounts_of(plant), np.empty((4, 2, PLANT_ROW)))


@every_vehicle
def test_snapshot_restore_advance_equals_advance(name):
    plant = build(name)
    trace(plant, 0, 57)
    kept = plant.snapshot()
    first = trace(plant, 57, 157)
    end = plant.snapshot()
    plant.advance_to(0.2345)
    plant.restore(kept)
    assert plant.time_s == 57e-3 and plant.snapshot() == kept
    assert np.array_equal(trace(plant, 57, 157), first)
    assert plant.snapshot() == end
    other = build(name)  # a plant that has never been there
    other.restore(kept)
    assert np.array_equal(trace(other, 57, 157), first)


@every_vehicle
def test_a_snapshot_after_a_reading_or_between_steps_is_as_good(name):
    plant = build(name)
    trace(plant, 0, 30)
    plant.advance_to(0.0304)
    before = plant.snapshot()
    read(plant)
    assert plant.snapshot() == before
    plant.actuate(STEERED[name][0])
    kept = plant.snapshot()
    read(plant)
    assert plant.snapshot() == kept
    plant.advance_to(0.1)
    end = plant.snapshot()
    plant.restore(kept)
    plant.advance_to(0.1)
    assert plant.snapshot() == end


@every_vehicle
def test_reset_is_the_start(name):
    plant = build(name)
    fresh, first = plant.snapshot(), read(plant)
    trace(plant, 0, 70)
    plant.reset()
    assert plant.snapshot() == fresh and np.array_equal(read(plant), first)
    assert np.array_equal(trace(plant, 0, 70), trace(build(name), 0, 70))


@every_vehicle
def test_a_command_acts_from_its_instant_on(name):
    plant = build(name)
    plant.advance_to(0.0204)  # between two steps
    if name in ("quadcopter", "mars_helicopter"):
        put(plant)
    before = read(plant)
    middle, size = STEERED[name]
    plant.command({plant.vehicle.actuators[0].name: middle[0] + size})
    after = read(plant)
    assert np.array_equal(before[:, :10], after[:, :10])  # position, attitude, velocity
    changed = np.abs(after[0] - before[0])
    assert max(changed[PLANT_COLUMNS["dw_s"]].max(), changed[PLANT_COLUMNS["a_n"]].max()) > 1e-4


@every_vehicle
def test_readings_add_up_to_the_change_of_velocity(name):
    """Forces are held over a step: the reading of acceleration is that of the whole step, to roundoff."""
    plant = build(name)
    speeds, rates = [], []
    for k in range(60):
        act(plant, k)
        row = read(plant)[1]
        speeds.append(row[PLANT_COLUMNS["v_n"]])
        rates.append(row[PLANT_COLUMNS["a_n"]])
        plant.advance_to((k + 1) * 1e-3)
    change, mean = np.diff(speeds, axis=0) / 1e-3, np.array(rates)[:-1]
    if name == "manipulator":  # the tool turns about joints: its acceleration changes within a step
        scale = np.abs(np.diff(mean, axis=0)).max() + 1e-3 * np.abs(mean).max()
        assert np.abs(change - mean).max() < scale
    else:  # pushes end within a step, every 11 ms: the median is of whole steps
        assert np.median(np.abs(change - mean)) < 1e-9
    assert np.abs(mean).max() > 0.1


@every_vehicle
def test_nothing_grows_with_the_steps(name):
    plant, out = build(name), np.empty((2, PLANT_ROW))
    mounts, poses = mounts_of(plant), np.empty((len(plant.scene()["bodies"]), 7))

    def run(first, last):
        for k in range(first, last):
            plant.actuate(STEERED[name][0] + 1e-3 * (k % 7))
            plant.set_air(1.2, (0.01 * (k % 5), 0.0, 0.0))
            plant.advance_to((k + 1) * 1e-3)
            plant.read(mounts, out)
            plant.poses(poses)
            _ = plant.range_along((0.0, 0.0, 3.0), (0.0, 0.0, -1.0)), plant.achieved, plant.contacts()
        return plant.snapshot()

    run(0, 300)
    tracemalloc.start()
    before = len(run(300, 400))
    used = tracemalloc.get_traced_memory()[0]
    after = len(run(400, 1400))
    grown = tracemalloc.get_traced_memory()[0] - used
    tracemalloc.stop()
    assert grown < 4096 and after == before


@every_vehicle
@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (lambda p: p.actuate(np.zeros(7)), "actuators .* was given 7 values"),
        (
            lambda p: p.actuate(np.full(len(p.achieved), np.nan)),
            "the command of actuator .* is nan; give a finite number",
        ),
        (lambda p: p.command({"warp": 1.0}), 'actuator "warp" is not there; valid names: '),
        (lambda p: p.set_efficiency("warp", 0.5), 'actuator "warp" is not there; valid names: '),
        (lambda p: p.set_efficiency(p.vehicle.actuators[0].name, 1.5), "is 1.5; give a share from 0 to 1"),
        (lambda p: p.set_efficiency(p.vehicle.actuators[0].name, np.nan), "is nan; give a share from 0 to 1"),
        (lambda p: p.set_air(-1.0, (0, 0, 0)), "density >= 0"),
        (lambda p: p.set_air(1.0, (0, np.inf, 0)), "give finite numbers"),
        (lambda p: p.push("hand", (0, 0, 1), (0, 0, 0), 0.1), 'push: link "hand" is not there'),
        (lambda p: p.advance_to(-1.0), "cannot advance to"),
        (lambda p: p.range_along((0, 0, 1), (0, 0, 0)), "give a direction that is not 0"),
        (lambda p: p.poses(np.empty((1, 6))), "poses needs an array"),
        (lambda p: p.restore(p.snapshot()[:-1]), "damaged or cut off"),
    ],
)
def test_what_a_vehicle_cannot_do_is_one_sentence(name, what, sentence):
    plant = build(name)
    plant.advance_to(0.01)
    before = plant.snapshot()
    with pytest.raises(InputError, match=sentence) as caught:
        what(plant)
    assert "\n" not in str(caught.value)
    assert plant.snapshot() == before  # nothing has happened


@every_vehicle
def test_a_snapshot_of_another_vehicle_is_refused(name):
    kept = build(name).snapshot()
    others = [build(other) for other in SHIPPED if other != name] + [vehicle(name).plant(gravity=1.62)]
    if name in ("quadcopter", "mars_helicopter"):
        others.append(vehicle(name, radius_m=0.11).plant(gravity=SHIPPED[name]))
    if name == "rover":
        others.append(vehicle(name).plant(gravity=SHIPPED[name], friction=0.5))
    for plant in others:
        with pytest.raises(InputError, match="belongs to another robot or to other physics settings"):
            plant.restore(kept)


@every_vehicle
def test_faults_and_air_are_part_of_a_snapshot(name):
    plant = build(name)
    plant.set_efficiency(plant.vehicle.actuators[1].name, 0.3)
    plant.set_air(0.5, (1.0, 2.0, 3.0))
    plant.actuate(STEERED[name][0])
    kept = plant.snapshot()
    plant.advance_to(0.1)
    end = plant.snapshot()
    other = build(name)
    other.restore(kept)
    other.advance_to(0.1)
    assert other.snapshot() == end
    sound = build(name)
    sound.set_air(0.5, (1.0, 2.0, 3.0))
    sound.actuate(STEERED[name][0])
    sound.advance_to(0.1)
    assert not np.array_equal(read(sound), read(other))

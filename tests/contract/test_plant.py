"""What every live plant promises: fresh readings, commands and pushes that act at once, and exact rewinding."""

import tracemalloc

import numpy as np
import pytest

from helpers import G, mjcf, needs, robot, specific_force, write
from pendulum import FREE_BODY, SKEW, grid
from strapdown.engines.foreign.plant import live_plant
from strapdown.engines.foreign.robot import ForeignRobot
from strapdown.engines.mujoco.integrators import INTEGRATORS
from strapdown.engines.mujoco.plant import MujocoPlant
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Mount, Physics, ProofMass, Start
from strapdown.engines.program import Command, Program, Push
from strapdown.errors import InputError
from strapdown.live import PLANT_COLUMNS, PLANT_ROW, Plant, Rewindable
from strapdown.rotation import q_rotate
from strapdown.vehicles import builtin

JOINTS = ("shoulder", "elbow")
START = (Start("shoulder", 0.5, 0.4), Start("elbow", 0.3))
MOUNTS = (Mount("tool", "tool", (0.1, -0.05, 0.02), SKEW), Mount("arm", "upper_arm"))

# every implementation of the protocol: engine and integrator; those of MuJoCo that make the same steps come behind
FOREIGN = {"pybullet euler": "euler", "drake rk4": "rk4", "drake discrete": "euler"}
PLANTS = [*(f"mujoco {integrator}" for integrator in INTEGRATORS), *FOREIGN]
WHOLE_STEPS = "drake discrete"  # it makes no others
every_plant = pytest.mark.parametrize("name", PLANTS)
every_plant_of_mujoco = pytest.mark.parametrize("name", [name for name in PLANTS if name not in FOREIGN])
every_plant_with_parts_of_steps = pytest.mark.parametrize("name", [name for name in PLANTS if name != WHOLE_STEPS])
every_rewindable = pytest.mark.parametrize("name", [name for name in PLANTS if not name.startswith("pybullet")])


def plant_of(name, file, gravity=G, motors=(), start=()):
    engine, integrator = name.split()
    needs(engine)
    return live_plant(file, engine, Physics(gravity, 1e-3), motors, start, integrator=integrator)


def arm(name, kind="position"):
    motors = [Motor(joint, joint, kind) for joint in JOINTS]
    return plant_of(name, RobotFile(builtin("manipulator")), G, motors, START)


def cube(name):
    return plant_of(name, RobotFile(builtin("cube")))


def read(plant, mounts=MOUNTS):
    out = np.full((len(mounts), PLANT_ROW), np.nan)
    plant.read(mounts, out)
    return out


def recorded_robot(name, file, **settings):
    engine, integrator = name.split()
    if engine == "mujoco":
        return robot(file, integrator=integrator, **settings)
    return ForeignRobot(RobotFile(builtin(file)), engine, gravity=G, integrator=integrator, **settings)


def act(plant, k, push_s=0.0043):
    """Something for an arm to do at step k: commands now and then, pushes that end between two steps."""
    if k % 7 == 0:
        plant.command({"shoulder": 0.3 * np.sin(0.01 * k), "elbow": 0.5 * np.cos(0.02 * k)})
    if k % 11 == 0:
        plant.push("forearm", (1.0, 0.2 * k, -3.0), (0.1, 0.0, 0.01), push_s)


def act_on_whole_steps(plant, k):
    act(plant, k, 0.004)


def acts(name):
    return act_on_whole_steps if name == WHOLE_STEPS else act


def trace(plant, first, last, mounts=MOUNTS, behave=act):
    rows = []
    for k in range(first, last):
        behave(plant, k)
        plant.advance_to((k + 1) * 1e-3)
        rows.append(read(plant, mounts))
    return np.array(rows)


def slide(plant, k):
    if k % 50 == 3:
        plant.push("cube", (40.0, 5.0, 0.0), (0.1, 0.2, 0.3), 0.02)


# Readings


@every_plant
def test_a_plant_fits_the_protocol(name):
    assert isinstance(arm(name), Plant) and isinstance(arm(name), Rewindable) != name.startswith("pybullet")
    assert sorted(range(PLANT_ROW)) == [i for s in PLANT_COLUMNS.values() for i in range(s.start, s.stop)]


@every_plant
@pytest.mark.parametrize("kind", ["speed", "position", "torque"])
def test_a_plant_reads_what_a_recording_of_the_same_program_reads(name, kind):
    """The trajectory has the same bits. Readings change frames in another order: 1e-13 of the numbers, roundoff."""
    commands = [(0.0, {"shoulder": 0.7}), (0.05, {"elbow": -0.4, "shoulder": 0.2})]
    program = Program(
        tuple(Command(m, kind, value, at, None) for at, targets in commands for m, value in targets.items())
    )
    pushes = (Push("forearm", (0.0, 3.0, 1.0), (0.1, 0.0, 0.0), 0.02, 0.06),)
    settings = {"motors": [Motor(m, m, kind) for m in JOINTS], "start": START}
    recording = recorded_robot(
        name, "manipulator", mounts=MOUNTS, program=Program(program.commands, pushes), **settings
    )
    sampled = recording.record(0.1, {mount.name: grid(0.1, 1000.0) for mount in MOUNTS})
    plant = arm(name, kind)
    for k in range(101):
        plant.advance_to(k * 1e-3)
        for at, targets in commands:
            if k == round(at * 1e3):
                plant.command(targets)
        if k == 20:
            plant.push("forearm", (0.0, 3.0, 1.0), (0.1, 0.0, 0.0), 0.04)
        rows = read(plant)
        for row, mount in zip(rows, MOUNTS, strict=True):
            motion = sampled[mount.name].motion[k : k + 1]
            expected = {
                "p_n": motion.p_n,
                "q_ns": motion.q_nb,
                "v_n": motion.v_n,
                "a_n": motion.a_n,
                "w_s": motion.w_nb_b,
                "dw_s": motion.dw_nb_b,
                "f_s": specific_force(motion),
            }
            for column, value in expected.items():
                scale = 1.0 + np.abs(value).max()
                np.testing.assert_allclose(
                    row[PLANT_COLUMNS[column]], value[0], atol=1e-13 * scale, err_msg=f"{k} {column}"
                )
    live = recorded_robot(name, "manipulator", program=Program(program.commands, pushes), **settings)
    live.advance(0.1)
    for joint in JOINTS:
        assert plant.joint_position(joint) == live.joint_position(joint) != 0.0
        assert plant.joint_speed(joint) == live.joint_speed(joint)


@every_plant
def test_a_plant_in_contact_moves_as_a_recording_does(name):
    program = Program(pushes=(Push("cube", (40.0, 4.0, 0.0), (0.1, 0.2, 0.3), 0.05, 0.1),))
    mount = Mount("imu", "cube", (0.1, 0.0, 0.0))
    source = recorded_robot(name, "cube", mounts=[mount], program=program)
    motion = source.record(0.2, {"imu": grid(0.2, 1000.0)})["imu"].motion
    plant = cube(name)
    for k in range(201):
        plant.advance_to(k * 1e-3)
        if k == 50:
            plant.push("cube", (40.0, 4.0, 0.0), (0.1, 0.2, 0.3), 0.05)
        row = read(plant, [mount])[0]
        np.testing.assert_allclose(row[PLANT_COLUMNS["p_n"]], motion.p_n[k], atol=1e-14)
        # the same solution of the contact solver: roundoff, not its tolerance of 1e-8
        np.testing.assert_allclose(row[PLANT_COLUMNS["f_s"]], specific_force(motion[k : k + 1])[0], atol=1e-11)
    if name not in FOREIGN:
        assert len(plant.contacts()) > 0


@every_plant
def test_reading_does_not_change_the_motion(name):
    for build, behave, mounts in ((arm, acts(name), MOUNTS), (cube, slide, (Mount("imu", "cube"),))):
        asked, silent = build(name), build(name)
        trace(asked, 0, 150, mounts, behave)
        for k in range(150):
            behave(silent, k)
            silent.advance_to((k + 1) * 1e-3)
        assert np.array_equal(read(asked, mounts), read(silent, mounts))
        if isinstance(asked, Rewindable):
            assert asked.snapshot() == silent.snapshot()


@every_plant
def test_steps_one_by_one_or_all_at_once_give_the_same_bits(name):
    one_by_one, at_once = arm(name), arm(name)
    for plant in (one_by_one, at_once):
        plant.command({"shoulder": 1.0})
        plant.push("forearm", (0.0, 5.0, 0.0), (0.0, 0.0, 0.0), 0.012 if name == WHOLE_STEPS else 0.0123)
    for k in range(1, 101):
        one_by_one.advance_to(k * 1e-3)
    at_once.advance_to(0.1)
    at_once.advance_to(0.1)  # no time passes
    assert np.array_equal(read(one_by_one), read(at_once)) and one_by_one.time_s == at_once.time_s == 0.1


@every_plant
def test_readings_add_up_to_the_change_of_velocity(name):
    """Both joints turn about x. First-order integrators hold the reading during a step: roundoff of the speeds."""
    plant = arm(name)
    plant.command({"shoulder": 0.9, "elbow": -0.2})
    rows = trace(plant, 0, 100, behave=lambda plant, k: None)[:, 0]
    w, dw = (q_rotate(rows[:, PLANT_COLUMNS["q_ns"]], rows[:, PLANT_COLUMNS[c]])[:, 0] for c in ("w_s", "dw_s"))
    if "rk4" in name:
        mean, allowed = 0.5 * (dw[1:] + dw[:-1]), np.abs(np.diff(dw, 2)).max()  # trapezoid: 1/12 of it
    else:
        mean, allowed = dw[:-1], 1e-14 * np.abs(w).max() / 1e-3
    assert np.abs(dw).max() > 100.0
    assert np.abs(np.diff(w) / 1e-3 - mean).max() < allowed


# Commands and pushes


@every_plant
def test_a_command_acts_from_its_instant_on(name):
    plant = arm(name, "torque")
    plant.advance_to(0.01 if name == WHOLE_STEPS else 0.0104)  # between two steps
    before = read(plant)
    plant.command({"elbow": 5.0})
    after = read(plant)
    assert np.array_equal(before[:, :10], after[:, :10])  # position, attitude, velocity
    assert np.abs(after[0, PLANT_COLUMNS["dw_s"]] - before[0, PLANT_COLUMNS["dw_s"]]).max() > 10.0


@every_plant_with_parts_of_steps
def test_a_torque_acts_for_exactly_its_time(name):
    plant = plant_of(name, RobotFile(builtin("bar")), G, [Motor("m", "axis", "torque")])
    for t, torque in ((0.00345678, 5.0), (0.0801234, 0.0)):
        plant.advance_to(t)
        plant.command({"m": torque})
    plant.advance_to(0.1)
    assert abs(plant.joint_speed("axis") - 5.0 * (0.0801234 - 0.00345678) / 2.65) < 1e-13  # roundoff of 100 steps


@every_plant_with_parts_of_steps
def test_pushes_end_when_they_should_and_add_up(name, tmp_path):
    plant = plant_of(name, RobotFile(write(tmp_path, "free.xml", FREE_BODY)), 0.0)
    plant.advance_to(0.0101234)
    plant.push("b", (3.0, -5.0, 7.0), (0.0, 0.0, 0.02), 0.07)
    plant.advance_to(0.03)
    plant.push("b", (0.0, 8.0, 0.0), (0.0, 0.0, 0.0), 0.0004)
    mounts = (Mount("imu", "b"),)
    np.testing.assert_allclose(read(plant, mounts)[0, PLANT_COLUMNS["a_n"]], [1.5, 1.5, 3.5], atol=1e-13)
    plant.advance_to(0.0304)
    np.testing.assert_allclose(read(plant, mounts)[0, PLANT_COLUMNS["a_n"]], [1.5, -2.5, 3.5], atol=1e-13)
    plant.advance_to(0.2)
    row = read(plant, mounts)[0]
    expected = (np.array([3.0, -5.0, 7.0]) * 0.07 + np.array([0.0, 8.0, 0.0]) * 0.0004) / 2.0
    np.testing.assert_allclose(row[PLANT_COLUMNS["v_n"]], expected, rtol=1e-12)  # roundoff of 200 steps
    assert np.abs(row[PLANT_COLUMNS["a_n"]]).max() < 1e-16  # roundoff of forces that cancel


# Rewinding


@every_rewindable
def test_snapshot_restore_advance_equals_advance(name):
    """While commands and pushes are under way, and between two steps."""
    for build, behave, mounts in ((arm, acts(name), MOUNTS), (cube, slide, (Mount("imu", "cube", (0.1, 0.0, 0.0)),))):
        plant = build(name)
        trace(plant, 0, 57, mounts, behave)
        kept = plant.snapshot()
        first = trace(plant, 57, 157, mounts, behave)
        end = plant.snapshot()
        plant.advance_to(0.2 if name == WHOLE_STEPS else 0.2345)
        plant.restore(kept)
        assert plant.time_s == 57e-3 and plant.snapshot() == kept
        assert np.array_equal(trace(plant, 57, 157, mounts, behave), first)
        assert plant.snapshot() == end
        other = build(name)  # a plant that has never been there
        other.restore(kept)
        assert np.array_equal(trace(other, 57, 157, mounts, behave), first)


@every_plant_of_mujoco
def test_a_snapshot_taken_after_a_reading_or_in_between_steps_is_as_good(name):
    plant = cube(name)
    mounts = (Mount("imu", "cube"),)
    plant.push("cube", (40.0, 5.0, 0.0), (0.1, 0.2, 0.3), 0.0555)
    plant.advance_to(0.0123)
    before = plant.snapshot()
    read(plant, mounts)
    assert plant.snapshot() == before
    plant.push("cube", (-10.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.02)
    kept = plant.snapshot()
    plant.advance_to(0.1)
    end = read(plant, mounts)
    plant.restore(kept)
    read(plant, mounts)
    plant.advance_to(0.1)
    assert np.array_equal(read(plant, mounts), end)


@every_plant
def test_reset_is_the_start(name):
    plant = arm(name)
    first, then = read(plant), trace(plant, 0, 20, behave=acts(name))
    plant.reset()
    assert np.array_equal(read(plant), first) and np.array_equal(trace(plant, 0, 20, behave=acts(name)), then)


@every_plant
def test_nothing_grows_with_the_steps(name):
    plant, out, behave = arm(name), np.empty((len(MOUNTS), PLANT_ROW)), acts(name)

    def run(first, last):
        for k in range(first, last):
            behave(plant, k)
            plant.advance_to((k + 1) * 1e-3)
            plant.read(MOUNTS, out)
        return plant.snapshot() if isinstance(plant, Rewindable) else b""

    every = 10 if name in FOREIGN else 1  # their steps take longer
    run(0, 1000 // every)
    tracemalloc.start()
    before = len(run(1000 // every, 1200 // every))
    used = tracemalloc.get_traced_memory()[0]
    after = len(run(1200 // every, 4200 // every))
    grown = tracemalloc.get_traced_memory()[0] - used
    tracemalloc.stop()
    assert grown < 4096 // every  # a byte or two per step would be more
    assert abs(after - before) <= 8 * 8  # a push more or less is under way


# What is refused


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (lambda p: p.command({"wrist": 1.0}), 'command: motor "wrist" is not there; valid names: shoulder, elbow'),
        (lambda p: p.command({"elbow": np.nan}), 'the target of motor "elbow" is nan'),
        (
            lambda p: p.push("hand", (0, 0, 1), (0, 0, 0), 0.1),
            'push: link "hand" is not there; valid names: base, upper',
        ),
        (lambda p: p.push("tool", (0, 0), (0, 0, 0), 0.1), "three finite numbers each"),
        (lambda p: p.push("tool", (0, 0, np.inf), (0, 0, 0), 0.1), "three finite numbers each"),
        (lambda p: p.push("tool", (0, 0, 1), (0, 0, 0), 0.0), "give a time above 0"),
        (lambda p: p.push("tool", (0, 0, 1), (0, 0, 0), np.nan), "give a time above 0"),
        (lambda p: p.advance_to(0.005), r"cannot advance to 0\.005 s: the time is 0\.01 s"),
        (lambda p: p.advance_to(np.nan), "cannot advance to nan s"),
        (lambda p: read(p, [Mount("imu", "hand")]), 'link "hand" is not there; valid names: base, upper_arm'),
        (lambda p: read(p, [Mount("imu", "tool", proof_mass=ProofMass())]), "a proof mass cannot be read live"),
        (lambda p: p.read(MOUNTS, np.empty((2, 21))), r"shape \(2, 22\)"),
        (lambda p: p.read(MOUNTS, np.empty((2, 22), np.float32)), "float64"),
        (lambda p: p.read(MOUNTS, np.empty((22, 2)).T), "in C order"),
        (lambda p: p.restore(b""), "no snapshot"),
        (lambda p: p.restore("text"), "no snapshot"),
        (lambda p: p.restore(p.snapshot()[:-1]), "damaged or cut off"),
        (lambda p: p.restore(p.snapshot()[:30]), "damaged or cut off"),
        (lambda p: p.restore(p.snapshot()[:99] + b"!" + p.snapshot()[100:]), "damaged or cut off"),
    ],
)
def test_what_a_plant_cannot_do_is_one_sentence(what, sentence):
    plant = arm("mujoco rk4")
    plant.advance_to(0.01)
    before = plant.snapshot()
    with pytest.raises(InputError, match=sentence) as caught:
        what(plant)
    assert "\n" not in str(caught.value)
    assert plant.snapshot() == before  # nothing has happened


def test_a_snapshot_of_another_robot_is_refused():
    kept = arm("mujoco rk4").snapshot()
    others = [arm("mujoco euler"), arm("mujoco rk4", "torque"), cube("mujoco rk4")]
    others.append(
        MujocoPlant(RobotFile(builtin("manipulator")), Physics(1.62), [Motor(n, n, "position") for n in JOINTS])
    )
    for plant in others:
        with pytest.raises(InputError, match="belongs to another robot or to other physics settings"):
            plant.restore(kept)
    arm("mujoco rk4").restore(kept)


@every_plant_of_mujoco
def test_an_unstable_run_says_so_and_can_go_back(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plant = arm(name, "torque")
    kept, first = plant.snapshot(), trace(plant, 0, 5)
    plant.push("forearm", (0.0, 1e18, 0.0), (0.0, 0.0, 0.0), 1.0)
    with pytest.raises(InputError, match=r"unstable at about t = \d.*smaller physics step"):
        plant.advance_to(5.0)
    plant.restore(kept)
    assert np.array_equal(trace(plant, 0, 5), first)
    assert not list(tmp_path.iterdir())  # no MUJOCO_LOG.TXT


def test_a_robot_without_motors_and_mounts_is_a_plant_as_well(tmp_path):
    file = write(tmp_path, "r.xml", mjcf('<body name="b"><geom size=".1"/></body>'))
    plant = MujocoPlant(RobotFile(file), Physics(G))
    plant.command({})
    plant.advance_to(0.01)
    row = read(plant, [Mount("imu", "b", (1.0, 0.0, 0.0))])[0]
    np.testing.assert_allclose(row[PLANT_COLUMNS["f_s"]], [0.0, 0.0, G], atol=1e-14)
    plant.read((), np.empty((0, PLANT_ROW)))

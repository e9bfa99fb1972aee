"""One test for every numbered sentence of CONVENTIONS.md."""

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from strapdown import earth, io
from strapdown import rotation as rot
from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.orientation.madgwick import Madgwick
from strapdown.orientation.mahony import Mahony
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.imu import Imu
from strapdown.sensors.methods import Sight
from strapdown.sensors.streams import stream
from strapdown.sensors.triad import Triad, random_walk_from_density
from strapdown.types import Increments, Motion, Recording, Solution

ROOT = Path(__file__).parents[2]
EAST, NORTH, UP = np.eye(3)
FORWARD, LEFT, UPWARD = np.eye(3)
ROUNDOFF = 4e-15
G = 9.81


def near(a, b, tolerance=ROUNDOFF):
    return np.allclose(a, b, rtol=0.0, atol=tolerance)


def body(t, a_n=(0, 0, 0), q_nb=rot.IDENTITY, w_nb_b=(0, 0, 0)):
    """A motion with constant a_n, q_nb and w_nb_b (for tests that look at one of them)."""
    rows = [np.tile(np.array(x, dtype=float), (len(t), 1)) for x in (a_n, q_nb, w_nb_b)]
    zero = np.zeros((len(t), 3))
    return Motion(t, zero, zero, rows[0], rows[1], rows[2], zero)


def specific_force(motion, g=G):
    """f_b = q_bn (a_n - g_n): what an ideal accelerometer reads."""
    return rot.q_rotate(rot.q_conj(motion.q_nb), motion.a_n - earth.gravity_vector(g))


# ---------------------------------------------------------------- the page and this file belong together


def test_every_sentence_has_a_test_and_every_test_a_sentence():
    page = (ROOT / "CONVENTIONS.md").read_text(encoding="utf-8")
    sentences = [int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)]
    tests = [int(name[5:7]) for name in globals() if re.match(r"test_\d\d_", name)]
    assert sentences == list(range(1, len(sentences) + 1)), "number the sentences 1, 2, 3, ..."
    assert sorted(tests) == sentences, "a sentence without a test, or a test without a sentence"


def test_every_line_of_the_lists_is_numbered():
    page = (ROOT / "CONVENTIONS.md").read_text(encoding="utf-8")
    body_lines = page.split("\n## ", 1)[1].splitlines()[1:]
    for line in body_lines:
        assert not line or re.match(r"(\d+\. |    |## )", line), f"not a numbered sentence: {line}"


# ---------------------------------------------------------------- frames


def test_01_frame_n_is_east_north_up():
    frame = earth.LocalFrame(0.8, 0.2, 100.0)
    step = 1e-6
    moved = [
        frame.position(0.8, 0.2 + step, 100.0),
        frame.position(0.8 + step, 0.2, 100.0),
        frame.position(0.8, 0.2, 106.0),
    ]
    for p_n, axis_n in zip(moved, (EAST, NORTH, UP), strict=True):
        assert near(p_n / np.linalg.norm(p_n), axis_n, 2e-6)  # the ground curves by half a step


def test_02_frame_b_is_forward_left_up():
    # without any turn the body looks east, its left side is north, its top up
    assert near(rot.q_rotate(rot.IDENTITY, FORWARD), EAST)
    assert near(rot.q_rotate(rot.IDENTITY, LEFT), NORTH)
    assert near(np.cross(FORWARD, LEFT), UPWARD)


def test_03_frame_s_hangs_on_the_body():
    r_bs_b, q_bs = np.array([0.1, 0.2, 0.3]), rot.q_exp([0.0, 0.0, 0.5])
    q_nb = rot.q_exp([0.4, -0.3, 0.2])
    seen = body([0.0], q_nb=q_nb).seen_from(r_bs_b, q_bs)
    assert near(seen.p_n[0], rot.q_rotate(q_nb, r_bs_b))
    assert near(seen.q_nb[0], rot.q_mul(q_nb, q_bs))


# ---------------------------------------------------------------- attitude


def test_04_quaternions_are_hamilton_w_first():
    one, i, j, k = np.eye(4)
    assert near(rot.q_mul(i, j), k)
    assert near(rot.q_mul(i, i), -one)
    assert near(rot.q_exp([0.0, 0.0, 0.0]), one)
    with pytest.raises(InputError, match="norm"):
        Solution([0.0], [[2.0, 0.0, 0.0, 0.0]])


def test_05_q_nb_takes_b_to_n():
    quarter_turn_left = rot.q_exp(np.pi / 2 * UP)
    assert near(rot.q_rotate(quarter_turn_left, FORWARD), NORTH)
    assert near(rot.matrix(quarter_turn_left) @ FORWARD, NORTH)


def test_06_letters_cancel():
    q_nb, q_bs, v_s = rot.q_exp([0.1, 0.2, 0.3]), rot.q_exp([-1.0, 0.5, 2.0]), np.array([1.0, 2.0, 3.0])
    v_b = rot.q_rotate(q_bs, v_s)
    v_n = rot.q_rotate(q_nb, v_b)
    q_ns = rot.q_mul(q_nb, q_bs)
    assert near(rot.q_rotate(q_ns, v_s), v_n)
    assert near(rot.q_rotate(rot.q_conj(q_nb), v_n), v_b)


def test_07_rates_turn_from_the_right():
    q_nb, w_nb_b, dt = rot.q_exp([0.3, -0.2, 1.0]), np.array([0.0, 0.5, 0.0]), 0.1
    turned = rot.q_mul(q_nb, rot.q_exp(w_nb_b * dt))
    # the body's y axis is the axis of this turn, so it stands still in n; its x axis moves by w x r
    assert near(rot.q_rotate(turned, LEFT), rot.q_rotate(q_nb, LEFT))
    expected_b = np.cos(0.05) * FORWARD - np.sin(0.05) * UPWARD
    assert near(rot.q_rotate(turned, FORWARD), rot.q_rotate(q_nb, expected_b))


def test_08_q_and_minus_q_are_the_same():
    q = rot.q_normalise(np.random.default_rng(0).normal(size=(1000, 4)))
    v = np.array([1.0, 2.0, 3.0])
    assert near(rot.q_rotate(q, v), rot.q_rotate(-q, v))
    assert near(rot.q_log(q), rot.q_log(-q))
    assert np.linalg.norm(rot.q_log(q), axis=1).max() <= np.pi + ROUNDOFF


def test_09_euler_angles_are_zyx():
    x, y, z = rot.q_exp([0.1, 0.0, 0.0]), rot.q_exp([0.0, 0.2, 0.0]), rot.q_exp([0.0, 0.0, 0.3])
    assert near(rot.q_from_euler(0.1, 0.2, 0.3), rot.q_mul(z, rot.q_mul(y, x)))
    assert near(rot.euler_from_q(rot.q_from_euler(0.1, 0.2, 0.3)), [0.1, 0.2, 0.3])
    roll, pitch, _ = rot.euler_from_q(rot.q_from_euler(0.1, np.pi / 2, 0.3))
    assert roll == 0.0
    assert pitch == pytest.approx(np.pi / 2, abs=ROUNDOFF)
    # edge only: nothing that passes from room to room has an Euler angle in it
    names = {field.name for kind in (Motion, Recording, Solution, Increments) for field in fields(kind)}
    assert not names & {"roll", "pitch", "yaw", "heading", "euler"}


# ---------------------------------------------------------------- gravity and specific force


def test_10_gravity_points_down_and_is_no_acceleration():
    assert earth.gravity_vector(G).tolist() == [0.0, 0.0, -G]
    assert near(body([0.0]).a_n, 0.0)  # a body at rest


def test_11_level_at_rest_reads_plus_g_on_z():
    assert near(specific_force(body([0.0], q_nb=rot.q_exp(1.2 * UP))), [[0.0, 0.0, G]])
    on_its_left_side = rot.q_exp(-np.pi / 2 * FORWARD)  # its right side points up
    assert near(specific_force(body([0.0], q_nb=on_its_left_side)), [[0.0, -G, 0.0]])


def test_12_free_fall_reads_zero():
    falling = body([0.0], a_n=earth.gravity_vector(G), q_nb=rot.q_exp([0.3, 0.4, 0.5]))
    assert near(specific_force(falling), 0.0)


# ---------------------------------------------------------------- units and names


def test_13_units_inside_are_si():
    si = {"s", "m", "m/s", "m/s2", "rad", "rad/s", "rad/s2", "1"}
    units = {column.name: column.unit for column in io.COLUMNS if column.unit is not None}
    for name, unit in units.items():
        allowed = {"uT"} if name.startswith("mag") else {"degC"} if name == "temperature" else si
        assert unit in allowed, name
    assert earth.earth_gravity(np.pi / 2) == pytest.approx(9.8321849379, abs=1e-9)  # a latitude in rad, m/s2


def test_14_other_units_are_suffixes():
    assert earth.gravity("earth", latitude_deg=30.0) == float(earth.earth_gravity(np.radians(30.0)))
    for function in (earth.gravity, earth.earth_gravity, earth.LocalFrame):
        for name in inspect.signature(function).parameters:
            if name.startswith(("latitude", "longitude", "height")):
                assert name.endswith(("_rad", "_deg", "_m"))


def test_15_headers_name_unit_and_frame(tmp_path):
    headers = [column.header for column in io.COLUMNS]
    assert "acc_x [m/s2, s]" in headers
    plain = [header for header in headers if "[" not in header and not header.startswith("new_")]
    assert plain == ["sensor", "stop", "clipped"]  # flags of new readings have no unit either
    (tmp_path / "x.csv").write_text("t [s],temperature\n0,20\n")
    with pytest.raises(InputError, match="names no unit"):
        io.read(tmp_path / "x.csv")


def test_16_names_end_in_their_frame():
    for kind in (Motion, Recording, Solution, Increments):
        for field in fields(kind):
            plain = {"temperature", "stop", "clipped", "odometer", "increments", "truth", "meta"}
            plain |= {"bias", "sigma", "flags", "events"}  # of a Solution: by name, and the names of vectors end so
            plain |= {"position_fix", "velocity_fix", "height", "new"}  # whose own vectors end so, and flags
            if field.name not in {"t", "dt", "q_nb", *plain}:
                assert field.name.endswith(("_n", "_b", "_s")), field.name


# ---------------------------------------------------------------- time


def test_17_time_increases():
    for t in ([0.0, 1.0, 1.0], [0.0, 2.0, 1.0]):
        with pytest.raises(InputError, match="sample 2"):
            Recording(t)


def test_18_truth_has_the_times_of_its_recording():
    Recording([0.0, 1.0], truth=body([0.0, 1.0]))
    with pytest.raises(InputError, match="other times"):
        Recording([0.0, 1.0], truth=body([0.0, 1.5]))


def test_19_increments_end_at_their_time_and_start_in_their_frame():
    """A body that turns at constant rate in free space with constant a_n: both increments are known exactly."""
    t, w_s, a_n = np.array([0.0, 0.1, 0.3, 0.6]), np.array([0.2, -0.5, 1.0]), np.array([1.0, 2.0, 3.0])
    dt = np.diff(t, prepend=t[0])
    q_ns = rot.q_exp(w_s * t[:, None])
    q_start = q_ns[[0, 0, 1, 2]]
    gained = rot.q_rotate(rot.q_conj(q_start), (a_n - earth.gravity_vector(G)) * dt[:, None])
    steps = Increments(t, dt, w_s * dt[:, None], gained)
    q, v_n = q_ns[0], np.zeros(3)
    for k in range(len(t)):
        v_n = v_n + rot.q_rotate(q, steps.dv_s[k]) + earth.gravity_vector(G) * steps.dt[k]
        q = rot.q_mul(q, rot.q_exp(steps.theta_s[k]))
        assert near(q, q_ns[k])
        assert near(v_n, a_n * t[k], 2 * ROUNDOFF)


# ---------------------------------------------------------------- data and chance


def test_20_missing_is_none():
    log = Recording([0.0], acc_s=np.zeros((1, 3)))
    assert log.mag_s is None
    assert log.acc_s.tolist() == [[0.0, 0.0, 0.0]]
    with pytest.raises(InputError, match="not finite"):
        Recording([0.0], acc_s=np.full((1, 3), np.nan))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_21_missing_in_files_reads_back_as_none(tmp_path, suffix):
    io.write(tmp_path / f"x.{suffix}", {"a": Recording([0.0], odometer=[0.0]), "b": Recording([0.0])})
    back = io.read(tmp_path / f"x.{suffix}")
    assert back["a"].odometer.tolist() == [0.0]
    assert back["b"].odometer is None
    if suffix == "csv":
        assert (tmp_path / "x.csv").read_text().endswith("a,0,0\nb,0,\n")


def test_22_data_does_not_change():
    t = np.array([0.0, 1.0])
    for item in (body(t), Recording(t), Solution(t, [rot.IDENTITY, rot.IDENTITY])):
        assert not np.shares_memory(item.t, t)
        with pytest.raises(ValueError, match="read-only"):
            item.t[0] = -1.0


def test_23_seeds_are_passed_in():
    makers = {"Generator", "default_rng", "SeedSequence", "BitGenerator", "PCG64", "Philox", "SFC64", "PCG64DXSM"}
    wrong = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
                wrong += [place] * (node.attr not in makers)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng"):
                unseeded = not node.args and not node.keywords
                none = any(isinstance(a, ast.Constant) and a.value is None for a in node.args)
                wrong += [place] * (unseeded or none)
            elif isinstance(node, ast.Import):
                wrong += [place] * any(alias.name == "random" for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                wrong += [place] * (node.module == "random")
    assert not wrong, f"global or unseeded random numbers at {wrong}"


# ---------------------------------------------------------------- other people's frames


def test_24_ned_and_frd_are_named_conversions():
    assert rot.ned_from_enu([1.0, 2.0, 3.0]).tolist() == [2.0, 1.0, -3.0]
    assert rot.frd_from_flu([1.0, 2.0, 3.0]).tolist() == [1.0, -2.0, -3.0]
    assert rot.enu_from_ned([2.0, 1.0, -3.0]).tolist() == [1.0, 2.0, 3.0]
    assert rot.flu_from_frd([1.0, -2.0, -3.0]).tolist() == [1.0, 2.0, 3.0]
    q_nb = rot.q_exp([0.3, -0.2, 1.0])
    q_ned_frd = rot.q_ned_frd_from_enu_flu(q_nb)
    v_b = np.array([1.0, 2.0, 3.0])
    assert near(rot.q_rotate(q_ned_frd, rot.frd_from_flu(v_b)), rot.ned_from_enu(rot.q_rotate(q_nb, v_b)))
    assert near(rot.q_enu_flu_from_ned_frd(q_ned_frd), q_nb)


def test_25_paper_c_body_is_a_named_conversion():
    x_c, y_c, z_c = 1.0, 2.0, 3.0
    assert rot.flu_from_rfu([x_c, y_c, z_c]).tolist() == [y_c, -x_c, z_c]
    assert rot.rfu_from_flu(rot.flu_from_rfu([x_c, y_c, z_c])).tolist() == [x_c, y_c, z_c]
    q_nb, v_b = rot.q_exp([0.3, -0.2, 1.0]), np.array([1.0, 2.0, 3.0])
    q_nc = rot.q_enu_rfu_from_enu_flu(q_nb)
    assert near(rot.q_rotate(q_nc, rot.rfu_from_flu(v_b)), rot.q_rotate(q_nb, v_b))
    assert near(rot.q_enu_flu_from_enu_rfu(q_nc), q_nb)


def test_26_paper_c_angles_are_named_conversions():
    assert near(rot.q_rotate(rot.q_from_heading(0.0, 0.0, 0.0), FORWARD), NORTH)
    assert near(rot.q_rotate(rot.q_from_heading(np.pi / 2, 0.0, 0.0), FORWARD), EAST)  # clockwise seen from above
    assert near(rot.q_rotate(rot.q_from_heading(0.0, np.pi / 2, 0.0), FORWARD), UP)
    assert near(rot.q_rotate(rot.q_from_heading(0.0, 0.0, np.pi / 2), LEFT), UP)
    assert near(rot.heading_from_q(rot.q_from_heading(0.3, 0.2, 0.1)), [0.3, 0.2, 0.1])


# ---------------------------------------------------------------- readings and noise


def test_27_readings_say_what_their_stamp_means():
    t = np.arange(5) * 0.1
    still = body(t)
    for method, stamp in (("exact", "value at the time stamp"), ("velocity-difference", "mean over the step")):
        recording, _ = Imu("i", 10.0, (method,)).measure(Sight(still, 9.81))
        assert stamp in recording.meta["accelerometer_stamp"]
        assert "value" in recording.meta["gyroscope_stamp"]


def test_28_white_noise_integrates_to_n_root_t():
    rate, n = 50.0, 60_000
    t = np.arange(n) / rate
    x = measure(Triad("rad/s", white=(0.3, 0.3, 0.3)), t, np.zeros((n, 3)), stream=stream(1, "n")).values
    chance = 5.0 / np.sqrt(2.0 * 3 * n)  # five sigmas of a sample sigma
    assert abs(np.std(x) / (0.3 * np.sqrt(rate)) - 1.0) < chance
    over_4_s = x.reshape(-1, 200, 3).sum(axis=1) / rate
    assert abs(np.std(over_4_s) / (0.3 * 2.0) - 1.0) < 5.0 / np.sqrt(2.0 * over_4_s.size)


def test_29_one_sided_density_is_root_two_times_n():
    assert random_walk_from_density(0.005) == pytest.approx(0.005 / np.sqrt(2.0), rel=1e-15)


def test_30_a_stream_for_every_name():
    first, again, other = (stream(7, name).normal(size=4) for name in ("imu", "imu", "imu 2"))
    assert np.array_equal(first, again) and not np.any(first == other)


# ---------------------------------------------------------------- live samples


def still_log(**more):
    t = 5.0 + 0.01 * np.arange(6)
    return Recording(t, np.zeros((6, 3)), np.tile([0.0, 0.0, G], (6, 1)), **more)


def test_31_the_first_sample_has_no_step_before_it():
    log = still_log()
    assert [sample.dt for sample in log.samples()] == [0.0, *np.diff(log.t)]


def test_32_a_repeated_reading_is_none_in_a_sample():
    new = np.array([True, False, True, False, False, True])
    log = still_log(mag_s=np.tile([0.0, 20.0, -40.0], (6, 1)), new={"mag_s": new})
    assert [sample.mag_s is not None for sample in log.samples()] == new.tolist()


def test_33_a_step_returns_a_new_state_and_refuses_one_of_another_class():
    log, filt = still_log(), Mahony(magnetometer=False)
    first = filt.start(Start.of(log))
    kept = first.copy()
    after = filt.step(first, log.sample(0))
    assert first == kept and after != first
    with pytest.raises(InputError, match="a state of Mahony"):
        Madgwick().step(after, log.sample(1))

"""A solution survives its file to the last bit; a damaged file is refused in one sentence."""

import csv
import gzip
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strapdown.errors import InputError
from strapdown.io.solutions.file import is_solution, read_solution, write_solution
from strapdown.motion.recorded import read_poses
from strapdown.rotation import q_exp
from strapdown.types import Event, Solution

SUFFIXES = ("csv", "csv.gz", "parquet")


def awkward_solution(n=40):
    """Numbers that short print-outs lose: thirds, subnormals, minus zero, 1e300."""
    rng = np.random.default_rng(6)
    p = rng.standard_normal((n, 3)) / 3.0
    p[0] = -0.0, 5e-324, 1e300
    return Solution(
        np.cumsum(rng.uniform(0.009, 0.011, n)) + 1.7e9,
        q_exp(rng.standard_normal((n, 3))),
        p,
        rng.standard_normal((n, 3)),
        meta={"filter": "eskf", "gravity": 9.81, "text": 'a "quoted", line\nand ±', "list": [1, 2.5, None]},
        bias={"gyr_s": rng.standard_normal((n, 3)), "left_foot_acc_s": rng.standard_normal((n, 3))},
        sigma={
            "attitude_n": rng.uniform(0, 1, (n, 3)),
            "p_n": rng.uniform(0, 1, (n, 3)),
            "mag_heading": np.ones((n, 3)),
        },
        flags={"stop_believed": rng.uniform(size=n) < 0.5, "mag_rejected": np.zeros(n, dtype=bool)},
        events=(Event(0.1, 0.2, "stop", "believed, with a comma"), Event(1 / 3, 2.0, "gap", 'and "quotes"')),
    )


def bits(x):
    return np.ascontiguousarray(x).tobytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bit_for_bit(tmp_path, suffix):
    was = awkward_solution()
    path = tmp_path / f"run.{suffix}"
    write_solution(path, was)
    now = read_solution(path)
    for name in ("t", "q_nb", "p_n", "v_n"):
        assert bits(getattr(now, name)) == bits(getattr(was, name)), name
    for name in ("bias", "sigma", "flags"):
        before, after = getattr(was, name), getattr(now, name)
        assert list(after) == list(before)
        assert all(bits(after[key]) == bits(before[key]) for key in before), name
    assert dict(now.meta) == dict(was.meta) and now.events == was.events
    first = path.read_bytes()
    write_solution(path, now)
    assert path.read_bytes() == first
    assert suffix != "csv.gz" or first[4:8] == bytes(4)  # no time of writing in the gzip header
    assert is_solution(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_attitude_alone(tmp_path, suffix):
    was = Solution([0.0, 0.5], [[1, 0, 0, 0], [0, 1, 0, 0]])
    write_solution(tmp_path / f"a.{suffix}", was)
    now = read_solution(tmp_path / f"a.{suffix}")
    assert now.p_n is None and now.v_n is None and not now.bias and not now.flags and now.events == ()
    assert np.array_equal(now.q_nb, was.q_nb)


def test_headers_name_units_and_frames_and_it_is_a_pose_file(tmp_path):
    was = awkward_solution()
    p = np.array(was.p_n)
    p[0] = 0.0  # read_poses refuses places of 1e300 m
    was = Solution(was.t, was.q_nb, p, was.v_n, bias=was.bias, sigma=was.sigma, flags=was.flags)
    path = tmp_path / "run.csv"
    write_solution(path, was)
    header = path.read_text(encoding="utf-8").splitlines()[2]
    for cell in (
        "t [s]",
        "p_x [m, n]",
        "v_z [m/s, n]",
        "q_w [1, nb]",
        "bias_gyr_y [rad/s, s]",
        "sigma_attitude_x [rad, n]",
    ):
        assert cell in header
    assert (
        "bias_left_foot_acc_x [SI, s]" in header
        and "sigma_mag_heading_x [SI]" in header
        and "flag_stop_believed" in header
    )
    poses = read_poses(path)
    assert np.array_equal(poses.p_n, p) and poses.clock_s == was.t[0]


def test_whole_or_not_at_all(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("precious", encoding="utf-8")
    bad = Solution([0.0], [[1, 0, 0, 0]], meta={"settings": object()})
    with pytest.raises(InputError, match="meta or events cannot be written"):
        write_solution(path, bad)
    with pytest.raises(InputError, match="cannot be the name of a column"):
        write_solution(path, Solution([0.0], [[1, 0, 0, 0]], bias={"a,b": [[0, 0, 0]]}))
    assert path.read_text(encoding="utf-8") == "precious" and list(tmp_path.iterdir()) == [path]


def damage(path, change):
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: b"", "not a solution file"),
        (lambda b: b"t [s],q_w [1, nb]\n0,1\n1,1\n2,1\n", "not a solution file"),
        (lambda b: b.replace(b"solution 1", b"solution 9", 1), "format version '9'"),
        (lambda b: b[:-30].rsplit(b",", 3)[0] + b"\n", "cannot be read as CSV"),
        (lambda b: b.replace(b'"q_w [1, nb]"', b"other", 1), "only a part of q_w..z"),
        (lambda b: b.replace(b'"v_x [m/s, n]"', b"t [s]", 1), "names a column twice"),
        (lambda b: b.replace(b'"events"', b'"evants"', 1), "notes are not of the form"),
        (lambda b: b"\n".join(b.split(b"\n")[:3]) + b"\n", "has no rows"),
        (lambda b: b + b",".join([b"nan"] * 26) + b",0,0\n", "not finite"),
    ],
)
def test_damaged_csv_is_refused_in_a_sentence(tmp_path, change, said):
    path = tmp_path / "run.csv"
    write_solution(path, awkward_solution())
    damage(path, change)
    with pytest.raises(InputError, match=said) as e:
        read_solution(path)
    assert "run.csv" in str(e.value) and "\n" not in str(e.value)


def test_other_damage(tmp_path):
    write_solution(tmp_path / "run.parquet", awkward_solution())
    damage(tmp_path / "run.parquet", lambda b: b[: len(b) // 2])
    with pytest.raises(InputError, match="not a whole Parquet file"):
        read_solution(tmp_path / "run.parquet")
    assert not is_solution(tmp_path / "run.parquet") and not is_solution(tmp_path / "none.csv")
    write_solution(tmp_path / "run.csv.gz", awkward_solution())
    damage(tmp_path / "run.csv.gz", lambda b: b[: len(b) // 2])
    with pytest.raises(InputError, match="not a whole text file"):
        read_solution(tmp_path / "run.csv.gz")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a\nb\n"))
    with pytest.raises(InputError, match="not a solution file"):
        read_solution(tmp_path / "x.csv.gz")
    with pytest.raises(InputError, match="not named as a solution"):
        read_solution(tmp_path / "run.txt")
    with pytest.raises(InputError, match="does not exist"):
        read_solution(tmp_path / "none.csv")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("value", "why"), [(-0.1, "a standard deviation is 0 or more"), (np.nan, "finite"), (np.inf, "finite")]
)
def test_a_sigma_that_is_none(tmp_path, suffix, value, why):
    """Negative, not a number or infinite: refused when it is made, and when it is read."""
    good = awkward_solution()
    sigma = np.ones((len(good), 3))
    sigma[7, 1] = value
    with pytest.raises(InputError, match=f"sigma p_n is .*{why}|sigma p_n is not {why}"):
        replace(good, sigma={"p_n": sigma})
    path = tmp_path / f"run.{suffix}"
    write_solution(path, good)
    table = {"csv": path.read_bytes, "csv.gz": lambda: gzip.decompress(path.read_bytes())}
    if suffix == "parquet":
        columns = pq.read_table(path)
        name = "sigma_p_y [m, n]"
        cells = columns[name].to_pylist()
        cells[7] = float(value)
        pq.write_table(columns.set_column(columns.column_names.index(name), name, pa.array(cells)), path)
    else:
        lines = table[suffix]().decode().split("\n")
        at = next(csv.reader([lines[2]])).index("sigma_p_y [m, n]")
        cells = lines[3 + 7].split(",")
        cells[at] = str(value)
        lines[3 + 7] = ",".join(cells)
        raw = "\n".join(lines).encode()
        path.write_bytes(gzip.compress(raw) if suffix == "csv.gz" else raw)
    with pytest.raises(InputError, match=rf"run\.{suffix}.*sigma p_n.*sample 7"):
        read_solution(path)


def test_a_sigma_of_another_size_is_refused():
    good = awkward_solution()
    for shape in ((len(good), 2), (len(good) - 1, 3), (len(good),)):
        with pytest.raises(InputError, match="sigma p_n has shape"):
            replace(good, sigma={"p_n": np.ones(shape)})

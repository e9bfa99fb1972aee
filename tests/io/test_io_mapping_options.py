"""Options of a column mapping: empty cells, axes of other frames, columns named twice."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.io import read, read_mapping, read_one
from strapdown.io.blocks import text as text_blocks
from strapdown.io.foreign.frames import FRAMES, to_flu
from strapdown.rotation import flu_from_frd, flu_from_rfu

TEXT = """time,gx,gy,gz,mx,my,mz,T
0.00,1,2,3,20,0,-40,25
0.01,4,5,6,,,,
0.02,7,8,9,21,1,-41,
0.03,1,1,1,,2,-42,26
0.04,,2,2,23,3,-43,27
"""
GYR = {f"gyr_{a}": f"g{a}" for a in "xyz"}
MAG = {f"mag_{a}": f"m{a}" for a in "xyz"}
ALL = {"t": "time", **GYR, **MAG, "temperature": "T"}


@pytest.fixture(params=["csv", "parquet"])
def path(request, tmp_path):
    target = tmp_path / f"log.{request.param}"
    if request.param == "csv":
        target.write_text(TEXT)
    else:
        import pyarrow.csv
        import pyarrow.parquet

        (tmp_path / "text.csv").write_text(TEXT)
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "text.csv"), target)
    return target


def test_empty_cells_are_refused_by_default(path):
    for mapping in (ALL, {**ALL, "empty": "refuse"}):
        with pytest.raises(InputError, match=r"is empty, but sensor log has it in other rows; .* give empty = "):
            read_one(path, columns=mapping)


def test_rows_with_empty_cells_are_dropped(path):
    log = read_one(path, columns={**ALL, "empty": "drop"})
    assert log.t.tolist() == [0.0] and log.mag_s.tolist() == [[20.0, 0.0, -40.0]]
    log = read_one(path, columns={"t": "time", **{f"gyr_{a}": {"column": f"g{a}", "empty": "drop"} for a in "xyz"}})
    assert log.t.tolist() == [0.0, 0.01, 0.02, 0.03] and log.gyr_s[3].tolist() == [1.0, 1.0, 1.0]


def test_the_last_reading_is_held_and_flagged(path):
    slow = {"t": "time", **MAG, "temperature": "T", "empty": "hold"}
    log = read_one(path, columns=slow)
    # a row that lacks an axis is no reading: all its axes are held
    assert log.mag_s.tolist() == [[20, 0, -40], [20, 0, -40], [21, 1, -41], [21, 1, -41], [23, 3, -43]]
    assert log.new["mag_s"].tolist() == [True, False, True, False, True]
    assert log.temperature.tolist() == [25, 25, 25, 26, 27]
    assert log.new["temperature"].tolist() == [True, False, False, True, True]
    assert log.sample(1).mag_s is None if log.gyr_s is not None else True


def test_a_gyroscope_is_not_held(path):
    with pytest.raises(InputError, match="gyr_x is empty"):
        read_one(path, columns={**ALL, "empty": "hold"})
    with pytest.raises(InputError, match='has empty = "hold", which is for instruments slower than the log'):
        read_one(path, columns={**ALL, "gyr_x": {"column": "gx", "empty": "hold"}})
    both = {**ALL, "empty": "hold", **{f"gyr_{a}": {"column": f"g{a}", "empty": "drop"} for a in "xyz"}}
    log = read_one(path, columns=both)
    assert log.t.tolist() == [0.0, 0.01, 0.02, 0.03] and log.new["mag_s"].tolist() == [True, False, True, False]


def test_before_its_first_reading_an_instrument_shows_that_and_is_not_new(tmp_path):
    (tmp_path / "log.csv").write_text("time,T\n0,\n1,nan\n2,25\n3,\n")
    log = read_one(tmp_path / "log.csv", columns={"t": "time", "temperature": "T", "empty": "hold"})
    assert log.temperature.tolist() == [25.0] * 4 and log.new["temperature"].tolist() == [False, False, True, False]


def test_blocks_of_a_long_file_make_no_difference(tmp_path, monkeypatch):
    rows = [f"{0.01 * i:.2f},{i},{i},{i},{f'{i},{i},{i}' if i % 7 == 3 else ',,'}" for i in range(1, 400)]
    (tmp_path / "log.csv").write_text("\n".join(["time,gx,gy,gz,mx,my,mz", *rows]) + "\n")
    mapping = {"t": "time", **GYR, **MAG, "empty": "hold"}
    whole = read_one(tmp_path / "log.csv", columns=mapping)
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 300)
    parts = read_one(tmp_path / "log.csv", columns=mapping)
    assert np.array_equal(whole.mag_s, parts.mag_s) and np.array_equal(whole.new["mag_s"], parts.new["mag_s"])
    assert np.array_equal(np.flatnonzero(whole.new["mag_s"]), np.arange(2, 399, 7))


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({**ALL, "empty": "fill"}, 'empty is \'fill\' in the column mapping; valid: "refuse", "drop", "hold"'),
        ({**ALL, "empty": ["hold"]}, "valid"),
        ({**ALL, "mag_x": {"column": "mx", "empty": 0}}, "in the column mapping of mag_x; valid"),
        ({**ALL, "frame": "ned"}, "frame is 'ned' in the column mapping; give the directions of x, y and z"),
        ({**ALL, "frame": "fru"}, "right-handed"),
        ({**ALL, "frame": 3}, "frame is 3"),
        ({**ALL, "gyr_y": "gx"}, 'names column "gx" for gyr_x and for gyr_y; give each its own column'),
        ({**ALL, "temperature": {"column": "T", "unit": ["K"]}}, "the column mapping of temperature is"),
        ({**ALL, "temperature": {"column": ["T"]}}, "the column mapping of temperature is"),
        ({**ALL, "temperature": {"column": "T", "counts_per_unit": [340.0]}}, "give a number"),
        ({"t": {"rate_hz": [100.0]}, **GYR}, "give a number above 0"),
        ({"empty": "drop"}, "names no column"),
    ],
)
def test_wrong_options_are_one_sentence(path, mapping, words):
    with pytest.raises(InputError) as caught:
        read(path, mapping)
    assert words in str(caught.value) and "\n" not in str(caught.value)


# ---------------------------------------------------------------- frames


def test_the_named_frames_are_converted_by_their_functions():
    v = np.random.default_rng(0).normal(size=(10, 3))
    assert np.array_equal(to_flu(v, "flu"), v)
    assert np.array_equal(to_flu(v, "frd"), flu_from_frd(v))
    assert np.array_equal(to_flu(v, "rfu"), flu_from_rfu(v))
    assert len(FRAMES) == 24


@pytest.mark.parametrize("frame", FRAMES)
def test_each_letter_is_the_direction_of_its_axis(frame):
    ours = {"f": [1, 0, 0], "b": [-1, 0, 0], "l": [0, 1, 0], "r": [0, -1, 0], "u": [0, 0, 1], "d": [0, 0, -1]}
    assert np.array_equal(to_flu(np.eye(3), frame), [ours[letter] for letter in frame])


def test_a_mapping_converts_all_readings_of_the_file(tmp_path):
    (tmp_path / "log.csv").write_text("time,gx,gy,gz,mx,my,mz,ix,iy\n0,1,2,3,4,5,6,0.1,0.2\n")
    mapping = {"t": "time", **GYR, **MAG, "tilt_x": "ix", "tilt_y": "iy", "frame": "frd"}
    log = read_one(tmp_path / "log.csv", columns=mapping)
    assert log.gyr_s.tolist() == [[1, -2, -3]] and log.mag_s.tolist() == [[4, -5, -6]]
    assert log.tilt_s.tolist() == [[0.1, -0.2]]
    log = read_one(tmp_path / "log.csv", columns={**mapping, "frame": "rfu"})
    assert log.gyr_s.tolist() == [[2, -1, 3]] and log.tilt_s.tolist() == [[0.2, -0.1]]
    with pytest.raises(InputError, match="whose z axis is level"):
        read_one(tmp_path / "log.csv", columns={**mapping, "frame": "ufl"})


def test_the_same_in_a_file(tmp_path):
    (tmp_path / "log.csv").write_text("time,gx,gy,gz\n0,1,2,3\n1,,2,3\n")
    (tmp_path / "map.toml").write_text(
        'empty = "drop"\nframe = "frd"\nt = "time"\n' + "".join(f'gyr_{a} = "g{a}"\n' for a in "xyz")
    )
    assert read_one(tmp_path / "log.csv", columns=read_mapping(tmp_path / "map.toml")).gyr_s.tolist() == [[1, -2, -3]]

"""Text lines of modules that print them, the guided calibration, and the check of a part."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from device_cases import noisy_feed
from strapdown.calibration.guide import FACES, Guide
from strapdown.devices.text_lines import TextLines
from strapdown.errors import InputError
from strapdown.io import read_one
from strapdown.recordings.part_check import BAD, GOOD, STILLNESS, SUSPECT, check_part
from strapdown.sample import Sample
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording

COLUMNS = (
    "t [us],acc_x [16384 LSB/g],acc_y [16384 LSB/g],acc_z [16384 LSB/g],gyr_x [131 LSB/(deg/s)],gyr_y [deg/s],"
    "gyr_z [deg/s],stop"
)


def test_lines_become_rows_in_si_that_our_reader_takes(tmp_path: Path) -> None:
    lines = TextLines(COLUMNS)
    text = (
        "10000,0,0,16384,131,0,-2,1\r\n20000;0;-16384;16384;0;1;0;0\nnot a line\n30000,1,2\n40000 0 0 16384 0 0 0 0\n"
    )
    data, rows = text.encode(), []
    for i in range(0, len(data), 7):  # cut anywhere
        rows += lines.feed(data[i : i + 7])
    assert (lines.good, lines.bad, lines.gaps) == (3, 2, 1)
    path = tmp_path / "lines.csv"
    path.write_bytes(lines.header() + b"".join(rows))
    log = read_one(path)
    np.testing.assert_allclose(log.t, [0.01, 0.02, 0.04])
    np.testing.assert_allclose(log.acc_s[1], [0.0, -9.80665, 9.80665])
    np.testing.assert_allclose(log.gyr_s[0], np.radians([1.0, 0.0, -2.0]))
    assert log.stop.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ("t [us],acc_x [g]", "acc_y is missing"),
        (COLUMNS.replace("[us]", "[h]"), 'unit "h"'),
        ("t us]", "is not written"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: str, what: str) -> None:
    with pytest.raises(InputError, match=what.replace("[", r"\[")):
        TextLines(columns)


def test_the_guide_asks_for_each_face_and_then_for_all_directions() -> None:
    rng, guide, t = np.random.default_rng(0), Guide(100.0, {}, True), 0.0

    def put(f_s: np.ndarray, b_s: np.ndarray) -> None:
        nonlocal t
        t += 0.01
        noise = 0.02 * rng.standard_normal(3), 0.001 * rng.standard_normal(3)
        guide.put(Sample(t, 0.01, noise[1], f_s + noise[0], b_s))

    for k, face in enumerate(FACES):
        assert face in guide.progress().hint
        up = np.zeros(3)
        up[k // 2] = 9.81 * (1 - 2 * (k % 2))
        for _ in range(360):
            put(up, np.array([20.0, 0.0, -45.0]))
    assert "turn the module slowly" in guide.progress().hint
    for direction in rng.standard_normal((6000, 3)):
        put(rng.normal(0.0, 9.81, 3), 50.0 * direction / np.linalg.norm(direction) + np.array([10.0, 20.0, 30.0]))
    assert guide.progress().done and guide.progress().share > 0.7


def _rest(scale: float = 1.0, frozen: bool = False, every: int = 1) -> Recording:
    rng, n = np.random.default_rng(1), 1000
    noise = 0.0 if frozen else scale
    acc = np.array([0.0, 0.0, 9.81]) + noise * 0.032 * rng.standard_normal((n, 3))
    gyr = noise * 7e-4 * rng.standard_normal((n, 3))
    meta = {"rate_hz": 100.0, "low_pass_hz": {"accelerometer": 44.0, "gyroscope": 42.0}}
    return Recording(np.arange(n)[::every] * 0.01, gyr[::every], acc[::every], meta=meta)


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        (_rest(), GOOD),
        (_rest(3.0), SUSPECT),
        (_rest(8.0), BAD),
        (_rest(0.1), SUSPECT),
        (_rest(frozen=True), BAD),
        (_rest(every=2), BAD),
    ],
    ids=["as the data sheet", "noisy", "very noisy", "too quiet", "stuck", "wrong rate"],
)
def test_a_bad_part_is_found(log: Recording, verdict: str) -> None:
    part = load_part("MPU-6050")
    rows = check_part(log, part, part.nominal(rate_hz=100.0).triads(), 9.81)
    assert max((row.verdict for row in rows), key=(GOOD, SUSPECT, BAD).index) == verdict


@pytest.mark.parametrize("noise", [1.0, 8.0])
def test_a_part_that_was_moved_is_not_called_bad(noise: float) -> None:
    """Turned by 90 deg in the middle. Strong noise alone is no motion, see above."""
    log = _rest()
    acc, gyr = log.acc_s.copy(), log.gyr_s.copy()
    half = len(log) // 2
    acc[half:] = acc[half:][:, [2, 1, 0]]
    gyr[half : half + 50] += [0.0, noise * math.pi, 0.0]
    part = load_part("MPU-6050")
    rows = check_part(replace(log, acc_s=acc, gyr_s=gyr), part, part.nominal(rate_hz=100.0).triads(), 9.81)
    assert {row.verdict for row in rows} == {GOOD, SUSPECT}
    moved = next(row for row in rows if row.what == STILLNESS)
    assert moved.verdict == SUSPECT and "rate changed by" in moved.measured and "force changed by" in moved.measured
    for log in (_rest(), _rest(8.0), _rest(0.1)):
        rows = check_part(log, part, part.nominal(rate_hz=100.0).triads(), 9.81)
        assert next(row for row in rows if row.what == STILLNESS).verdict == GOOD


def test_the_feed_stays_noisy_after_its_end() -> None:
    feed = noisy_feed(2.0)
    late = {feed.at(t).acc for t in range(5_000_000, 5_100_000, 1000)}
    assert len(late) > 50

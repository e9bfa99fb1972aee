"""Every number by which a log is judged: what it is derived from, and that it acts where it is set."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fault_cases import G, right

import strapdown.sensors
from helpers import shared_data
from strapdown.errors import InputError
from strapdown.io import read_one
from strapdown.papers.b.broad_data import all_trials
from strapdown.papers.c.foot_data import read_foot_vicon, read_openshoe_square, read_xio_gait
from strapdown.papers.c.magnetometer import COLUMNS as QMC_COLUMNS
from strapdown.papers.c.positions_recorded import read_xsens
from strapdown.recordings.examination import limits
from strapdown.recordings.examination.axes import gravity_kept, magnetometer_disagreement, turns_of
from strapdown.recordings.examination.faults import silences, without_dead_field
from strapdown.recordings.examination.units import refuse_slow, refuse_uncalibrated
from strapdown.recordings.examination.verdict import examine
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording

N = 4000
FIELD = np.array([20.0, 0.0, -43.0])


def table(rate_hz=100.0, gyr=0.001, acc=0.03, offset=(0.0, 0.0, 0.0), mag=None, seed=0, n=N):
    """A sensor on a table: noise of a sample (rad/s, m/s2) and the gyroscope's offset."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) / rate_hz
    return Recording(
        t,
        gyr_s=np.asarray(offset) + gyr * rng.standard_normal((n, 3)),
        acc_s=np.array([0.0, 0.0, G]) + acc * rng.standard_normal((n, 3)),
        mag_s=None if mag is None else mag(t, rng),
    )


def turning(t, rng, rate=1.0, noise=0.3):
    """A field seen from a level sensor that turns."""
    angle = rate * t
    x, y = FIELD[0] * np.cos(angle), -FIELD[0] * np.sin(angle)
    return np.stack([x, y, np.full(len(t), FIELD[2])], axis=1) + noise * rng.standard_normal((len(t), 3))


def fielded(mag, rate=1.0, n=N):
    log = table(offset=(0.0, 0.0, rate), n=n)
    return replace(log, mag_s=mag(log.t, np.random.default_rng(1)))


def severity(log, kind, **asked):
    return examine(log, **asked).kinds.get(kind)


def scaled(factor):
    log = table()
    return replace(log, acc_s=factor * log.acc_s)


def running(stands):
    """A foot that runs: 4 g, but for a part of the time in which it stands."""
    log = table()
    still = np.arange(N) % 100 < round(100 * stands)
    return replace(log, acc_s=np.where(still[:, None], 1.0, 4.0) * log.acc_s)


def with_zeros(share):
    log = fielded(turning)
    mag = log.mag_s.copy()
    mag[: round(share * N)] = 0.0
    return replace(log, mag_s=mag)


def saturated(share):
    """x is at its end in about this share of the turns."""
    log = fielded(turning)
    top = np.quantile(log.mag_s[:, 0], 1.0 - share)
    return replace(log, mag_s=np.minimum(log.mag_s, [top, np.inf, np.inf]))


def held(share):
    log = fielded(turning)
    repeats = np.zeros(N, dtype=bool)
    repeats[1 : 2 * round(share * N) : 2] = True
    rows = np.maximum.accumulate(np.where(repeats, 0, np.arange(N)))
    return replace(log, mag_s=log.mag_s[rows])


def iron(size_ut):
    log = fielded(lambda t, rng: turning(t, rng, noise=0.0))
    return replace(log, mag_s=log.mag_s * [1, 1, 0] + [size_ut, 0.0, 0.0])


MOST = limits.MOST_OFF_GRAVITY
# (what is just within, its verdict, what is just beyond, its verdict, kind)
EDGES = {
    "SUSPECT_S": (table(1 / 0.49), None, table(1 / 0.51), "warn", "time_unit"),
    "SLOWEST_S": (table(1 / 0.99), "warn", table(1 / 1.01), "refuse", "time_unit"),
    "LIKE_GRAVITY, low": (scaled(0.31), None, scaled(0.29), "refuse", "accelerometer_unit"),
    "LIKE_GRAVITY, high": (scaled(2.9), None, scaled(3.1), "refuse", "accelerometer_unit"),
    "_STANCES": (running(0.15), None, running(0.05), "refuse", "accelerometer_unit"),
    "MOST_OFF_GRAVITY": (scaled(1.01 + MOST - 0.02), "note", scaled(1.01 + MOST), "refuse", "accelerometer_scale"),
    "OFF_GRAVITY": (scaled(1.028), None, scaled(1.032), "note", "accelerometer_scale"),
    "CALM_M_S2": (replace(scaled(1.3), acc_s=1.3 * table(acc=0.10).acc_s), "refuse",
                  replace(scaled(1.3), acc_s=1.3 * table(acc=0.14).acc_s), "warn", "accelerometer_scale"),
    "QUIET_M_S2": (table(gyr=0.07, acc=0.05), "refuse", table(gyr=0.07, acc=0.07), None, "gyroscope_at_rest"),
    "STILL_RAD_S": (replace(scaled(1.3), gyr_s=table(offset=(0, 0, 0.045)).gyr_s), "refuse",
                    replace(scaled(1.3), gyr_s=table(offset=(0, 0, 0.055)).gyr_s), "warn", "accelerometer_scale"),
    "DOUBTFUL_NOISE_RAD_S": (table(gyr=0.013), None, table(gyr=0.017), "warn", "gyroscope_at_rest"),
    "MOST_NOISE_RAD_S": (table(gyr=0.042), "warn", table(gyr=0.052), "refuse", "gyroscope_at_rest"),
    "MOST_OFFSET_RAD_S": (table(offset=(0, 0, 0.98)), None, table(offset=(0, 0, 1.02)), "warn", "gyroscope_at_rest"),
    "UNCALIBRATED_RAD_S": (table(offset=(0, 0, 0.017)), None, table(offset=(0, 0, 0.018)), "note", "gyroscope_offset"),
    "USUAL_RATE_RAD_S": (table(offset=(0, 0, 39.5)), None, table(offset=(0, 0, 40.5)), "refuse", "gyroscope_rate"),
    "FIELD_UT, low": (fielded(lambda t, rng: turning(t, rng, noise=0.0) / 23.0), None,
                      fielded(lambda t, rng: turning(t, rng, noise=0.0) / 24.5), "refuse", "magnetometer_unit"),
    "FIELD_UT, high": (fielded(lambda t, rng: turning(t, rng) * 41.0), None,
                       fielded(lambda t, rng: turning(t, rng) * 43.0), "refuse", "magnetometer_unit"),
    "DEAD_SHARE": (with_zeros(0.009), None, with_zeros(0.011), "note", "magnetometer_zero"),
    "half of it zero": (with_zeros(0.49), "note", with_zeros(0.51), "refuse", "magnetometer_zero"),
    "MOST_SATURATED": (saturated(0.19), "note", saturated(0.21), "refuse", "magnetometer_saturated"),
    "HELD_SHARE": (held(0.29), None, held(0.31), "note", "magnetometer_slow"),
    "MOST_SPREAD": (iron(1.9), None, iron(2.2), "note", "magnetometer_uneven"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_a_limit_acts_where_it_says(name):
    within, before, beyond, after, kind = EDGES[name]
    assert severity(within, kind) == before
    assert severity(beyond, kind) == after


def test_limits_of_shares_and_counts():
    spoilt = table().gyr_s.copy()
    rows = round(limits.MOST_FAULTS * N)
    spoilt[:rows] = 1.1 * limits.PART_RATE_RAD_S
    assert severity(replace(table(), gyr_s=spoilt), "gyroscope_rate") is None
    spoilt[: rows + 1] = 1.1 * limits.PART_RATE_RAD_S
    assert severity(replace(table(), gyr_s=spoilt), "gyroscope_rate") == "refuse"
    spoilt[: rows + 1] = 0.9 * limits.PART_RATE_RAD_S
    assert severity(replace(table(), gyr_s=spoilt), "gyroscope_rate") is None
    # a turntable that turns at a steady rate is a doubt; one whose rate swings is not
    swings = table().gyr_s + 1.5 * (1.0 + 0.5 * np.sin(np.arange(N) / 10.0))[:, None] * [0, 0, 1]
    assert severity(replace(table(), gyr_s=swings), "gyroscope_at_rest") is None
    # axes that read the same: 100 samples are chance of coarse counts, more are not
    for n, found in ((limits.ALIKE_SAMPLES, None), (limits.ALIKE_SAMPLES + 1, "refuse")):
        log = table(n=n)
        assert severity(replace(log, gyr_s=np.zeros((n, 3))), "no_noise", rests=True) == found
        assert severity(replace(log, gyr_s=log.gyr_s * [1, 1, 0]), "gyroscope_axis_stuck", rests=True) == found
    # nine samples at the end of the range are a chance of counts, ten are not
    plain = fielded(turning)
    for count, found in ((limits.SATURATED_SAMPLES - 1, None), (limits.SATURATED_SAMPLES, "note")):
        mag, order = plain.mag_s.copy(), np.argsort(plain.mag_s[:, 0])
        mag[order[-count:], 0] = 21.0
        mag[order[-count - 1], 0] = 20.999  # one reading near it
        clipped = replace(plain, mag_s=mag)
        assert severity(clipped, "magnetometer_saturated") == found


def test_a_stuck_magnetometer_is_one_that_does_not_turn_with_the_sensor():
    for rate, found in ((0.3, None), (0.4, "refuse")):
        assert severity(fielded(lambda t, rng: np.tile(FIELD, (len(t), 1)), rate), "magnetometer_stuck") == found
    ends = fielded(lambda t, rng: np.tile([200.0, -200.0, 200.0], (len(t), 1)), 0.0)
    assert severity(ends, "magnetometer_stuck") == "refuse"  # at the ends of its range, at rest too


def test_one_direction_shows_no_iron():
    arc = lambda t, rng: turning(t, rng, rate=0.02, noise=0.0) * [1, 1, 0] + [9.0, 0.0, 0.0]  # noqa: E731 - 46 deg
    assert severity(fielded(arc, 0.02), "magnetometer_uneven") is None


def test_readings_below_a_tenth_of_a_microtesla_are_none():
    assert without_dead_field(fielded(lambda t, rng: np.full((len(t), 3), 0.09)))[0].mag_s is None
    assert without_dead_field(fielded(lambda t, rng: np.full((len(t), 3), 0.11)))[0].mag_s is not None


def test_silences_are_long_in_seconds_and_in_steps():
    t = np.arange(0.0, 60.0, 0.01)
    new = (t < 10.0) | (t > 14.9)
    assert silences(t, new) == []
    new = (t < 10.0) | (t > 15.1)
    assert len(silences(t, new)) == 1
    slow = np.isin(np.arange(len(t)), np.arange(0, len(t), 60))  # every 0.6 s: ten of them are 6 s
    assert silences(t, slow & ~((t > 20.0) & (t < 25.3))) == []
    assert len(silences(t, slow & ~((t > 20.0) & (t < 26.7)))) == 1


def test_temperatures_beyond_every_part_are_in_another_unit():
    for celsius, found in ((-59.0, None), (-61.0, "refuse"), (199.0, None), (293.0, "refuse")):
        assert severity(replace(table(), temperature=np.full(N, celsius)), "temperature_unit") == found


def test_what_a_drive_needs_of_its_start():
    refuse_slow(table(1 / 0.49))
    with pytest.raises(InputError, match="time looks like ms"):
        refuse_slow(table(1 / 0.5))
    refuse_uncalibrated(scaled(1.049), 5.0, G)
    with pytest.raises(InputError, match=r"\+5\.1 %"):
        refuse_uncalibrated(scaled(1.051), 5.0, G)


# ---------------------------------------------------------------- where the numbers come from


def catalogue():
    folder = Path(strapdown.sensors.__file__).parent / "catalogue"
    return [load_part(path.stem) for path in sorted(folder.glob("*.toml"))]


def test_limits_lie_beyond_every_part_of_the_catalogue():
    offsets, rates, noises, scatters = [], [], [], []
    for part in catalogue():
        if part.file.name.upper() == "ADXL335":  # an analog part: its zero is that of the supply
            continue
        for seed in range(20):
            triads = part.draw(seed).triads()
            if "accelerometer" in triads:
                off = np.array(triads["accelerometer"].bias) + np.array(triads["accelerometer"].matrix) @ [0, 0, G]
                offsets.append(abs(np.linalg.norm(off) / G - 1.0))
            if "gyroscope" in triads:
                rates.append(np.linalg.norm(triads["gyroscope"].bias))
        nominal = part.nominal().triads()
        if "gyroscope" in nominal:
            noises.append(max(nominal["gyroscope"].white) * np.sqrt(1000.0))
        if "accelerometer" in nominal:
            scatters.append(max(nominal["accelerometer"].white) * np.sqrt(200.0))  # low-pass of 100 Hz
    assert max(offsets) < limits.MOST_OFF_GRAVITY < 0.2  # a scale of 1.2 is refused
    assert max(rates) < limits.MOST_OFFSET_RAD_S
    assert 2.0 * max(noises) < limits.DOUBTFUL_NOISE_RAD_S < np.degrees(6.2e-5 * 10.0)  # an MPU-6050 in deg/s at 100 Hz
    assert max(scatters) < limits.QUIET_M_S2


def recorded():
    """All recorded logs that tests read, as they should be."""
    broad, foot, mpu = shared_data("broad"), shared_data("foot_vicon"), shared_data("mpu6050")
    for trial in all_trials(broad):
        yield trial.name, trial.recording
    for path in sorted(foot.glob("*.mat")):
        yield path.stem, read_foot_vicon(path).recording
    yield "openshoe", read_openshoe_square(shared_data("openshoe_square") / "square2.mat").recording
    yield "xio", read_xio_gait(shared_data("xio_gait") / "short_walk.csv").recording
    for name in ("example_data_calibration", "example_data_tinit_calc", "imu_90_x_rot", "imu_static_test"):
        raw = np.loadtxt(mpu / f"{name}.csv", delimiter=",", skiprows=5)
        t = np.arange(len(raw)) / 100.0
        yield name, Recording(t, gyr_s=np.radians(raw[:, 3:] / 131.0), acc_s=raw[:, :3] * 9.80665 / 16384.0)
    yield "xsens", read_xsens(shared_data("imu_tk_xsens"))
    for name in ("filtered", "noisy"):
        yield name, read_one(shared_data("qmc5883l") / f"{name}_raw_data.csv", columns=QMC_COLUMNS)


WRONG = {
    "gyroscope in deg/s": lambda r: replace(r, gyr_s=np.degrees(r.gyr_s)),
    "time in ms": lambda r: replace(r, t=1e3 * r.t),
    "accelerometer in g": lambda r: replace(r, acc_s=r.acc_s / G),
}


def test_no_recorded_log_that_is_right_is_refused_and_wrong_units_always_are_reported():
    down = 0
    for name, log in recorded():
        kinds = examine(log).kinds
        # foot_vicon and openshoe are forward-right-down
        down += kinds.pop("z_down", None) == "warn"
        assert set(kinds.values()) <= {"note"}, (name, kinds)
        if log.acc_s is None:
            continue
        for fault, spoil in WRONG.items():
            assert set(examine(spoil(log)).kinds.values()) & {"refuse", "warn"}, (name, fault)
        turns = turns_of(log)
        assert gravity_kept(turns, G).min() > limits.GRAVITY_LOST, name
        assert magnetometer_disagreement(turns) is None, name
    assert down == 18  # of 18 walks of foot_vicon 17 rest, and the square of openshoe


def test_a_wrong_axis_loses_gravity_where_it_turns():
    """The other side of the limits: by a tilt of 90 deg and more, half of gravity is lost."""
    log = right("poses")
    for wrong in (log.gyr_s[:, [1, 0, 2]], -log.gyr_s, log.gyr_s * [1, 1, -1]):
        kept = gravity_kept(turns_of(replace(log, gyr_s=wrong)), G)
        assert np.count_nonzero(kept < limits.GRAVITY_LOST) >= limits.LEAST_LOST


def rate_note(log):
    return [found.sentence for found in examine(log) if found.kind == "gyroscope_offset"]


def test_a_robot_that_drives_a_circle_is_not_told_that_it_rests():
    """28 deg/s for as long as the log lasts, in a force as steady as on a table. The field turns with it, so there is
    no note. Without a field it cannot be known, and the note states so. A field that stands still is a rest."""
    rate = np.radians(28.0)
    circle = table(offset=(0.0, 0.0, rate), mag=lambda t, rng: turning(t, rng, rate))
    assert rate_note(circle) == []
    (unknown,) = rate_note(replace(circle, mag_s=None))
    assert "28 deg/s" in unknown and "did not turn" in unknown and "at rest" not in unknown
    (rest,) = rate_note(replace(circle, mag_s=turning(np.zeros(N), np.random.default_rng(2))))
    assert "28 deg/s at rest: calibrate" in rest


def test_an_offset_is_in_every_window():
    """A quarter of the log drives straight on rougher ground and reads 0: what it reads elsewhere is a turn."""
    circle = table(offset=(0.0, 0.0, 0.5))
    straight = circle.t > 0.75 * circle.t[-1]
    rough = circle.acc_s + np.where(straight[:, None], np.random.default_rng(3).standard_normal((N, 3)), 0.0)
    assert rate_note(circle)
    assert not rate_note(replace(circle, acc_s=rough, gyr_s=circle.gyr_s - straight[:, None] * [0.0, 0.0, 0.5]))


@pytest.mark.parametrize(("share", "noted"), [(0.04, True), (0.07, False)])
def test_limit_of_windows_without_the_offset(share, noted):
    log = table(offset=(0.0, 0.0, 0.5))
    gyr = log.gyr_s.copy()
    gyr[: round(share * N)] -= [0.0, 0.0, 0.5]
    rough = log.acc_s.copy()
    rough[: round(share * N)] += np.random.default_rng(3).standard_normal((round(share * N), 3))
    assert bool(rate_note(replace(log, gyr_s=gyr, acc_s=rough))) == noted


@pytest.mark.parametrize(("rate_dps", "knows"), [(9.0, False), (12.0, True)])
def test_limit_of_the_turn_that_a_field_shows(rate_dps, knows):
    """A quarter of a second and a dip of 65 deg: 10 deg/s turn the field by 1 deg."""
    rate = np.radians(rate_dps)
    log = table(offset=(0.0, 0.0, rate), mag=lambda t, rng: turning(t, rng, rate))
    assert (rate_note(log) == []) == knows

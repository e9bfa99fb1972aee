"""The error-state filter on paper C's tests: accuracy, honest variances."""

from dataclasses import replace

import numpy as np
import pytest

from paper_c_cases import ROLLING, WHEEL, G, drive, error_percent
from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.dead_reckoning import dead_reckon
from strapdown.navigation.eskf.filter import Eskf
from strapdown.rotation import q_conj, q_from_euler, q_log, q_mul, q_rotate
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

RUNS = 50
KINDS = ("square", "straight")


@pytest.fixture(scope="module")
def drives():
    return {kind: [drive(kind, seed) for seed in range(RUNS)] for kind in KINDS}


def mean_square(track, truth):
    """Normalised error squared over degrees of freedom at the end: position in the plane, attitude."""
    cov, solution = Eskf().covariance(track.last), track.solution
    dp = (truth.p_n - solution.p_n)[-1, :2]
    phi = q_log(q_mul(truth.q_nb[-1], q_conj(solution.q_nb[-1])))
    return dp @ np.linalg.solve(cov[:2, :2], dp) / 2.0, phi @ np.linalg.solve(cov[6:9, 6:9], phi) / 3.0


@pytest.fixture(scope="module")
def table(drives):
    """Per kind and variant: errors at every stop (runs, stops) in %, and mean squares (runs, 2)."""
    found = {}
    for kind in KINDS:
        for name, more in (("zero", {}), ("rolling", ROLLING), ("wheel", {**ROLLING, **WHEEL})):
            tracks = [one.filter(**more).track(one.log) for one in drives[kind]]
            errors = [error_percent(d.path, t.solution, d.log.truth) for d, t in zip(drives[kind], tracks, strict=True)]
            squares = [mean_square(t, d.log.truth) for d, t in zip(drives[kind], tracks, strict=True)]
            found[kind, name] = np.array(errors), np.array(squares)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_of_paper_c_is_ten_times_nearer_than_published(table, kind):
    """Published 4.08 and 4.27 % at the end, 4.98 and 4.54 % at most; the bounds are the project's own targets."""
    errors, _ = table[kind, "rolling"]
    assert errors[:, -1].mean() <= 0.5 and np.percentile(errors[:, -1], 95) <= 1.0
    assert errors.max(axis=1).mean() <= 0.9
    with_wheel, _ = table[kind, "wheel"]
    assert with_wheel[:, -1].mean() <= {"square": 0.35, "straight": 0.25}[kind]
    alone, _ = table[kind, "zero"]
    assert alone[:, -1].mean() <= 0.6  # 0.59 and 0.53 with zero velocity and zero rate are known to be possible


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("variant", ["zero", "rolling"])
def test_position_and_attitude_err_as_much_as_the_filter_says(table, kind, variant):
    from scipy.special import chdtri

    _, squares = table[kind, variant]
    for mean, degrees in zip(squares.mean(axis=0), (2 * RUNS, 3 * RUNS), strict=True):
        low, high = (chdtri(degrees, p) / degrees for p in (0.9995, 0.0005))  # chance: 99.9 % of honest filters
        assert low < mean < high


def test_without_measurements_the_filter_is_dead_reckoning(drives):
    log = drives["square"][0].log
    filt = Eskf(gravity=G, zero_velocity=None, zero_rate=None)
    aligned = replace(align_to_yaw(log, 0.5 * np.pi), gyr_bias_s=np.zeros(3))
    found = filt.run(log, Start.of(log, alignment=aligned))
    rows = slice(aligned.rows - 1, None)
    part = Recording(log.t[rows], gyr_s=log.gyr_s[rows], acc_s=log.acc_s[rows])
    plain = dead_reckon(part, aligned.q_ns, (0, 0, 0), (0, 0, 0), G)
    assert np.abs(found.q_nb[rows] - plain.q_nb).max() < 1e-12  # 7500 roundoffs
    # the rules differ within a step by h^2/12 of the change of force: of noise of 0.03 m/s2 that turns at 1 rad/s
    assert np.abs(found.v_n[rows] - plain.v_n).max() < 1e-4
    assert found.sigma["p_n"][-1].min() > 1.0  # and states how little that is worth


def test_the_covariance_stays_symmetric_and_positive(drives):
    d = drives["straight"][1]
    cov = d.filter(**ROLLING, **WHEEL).track(d.log)
    cov = Eskf().covariance(cov.last)[:15, :15]
    scale = 1.0 / np.sqrt(np.diag(cov))
    assert np.abs(cov - cov.T).max() <= 1e-9 * np.abs(cov).max()  # roundoff of 9000 predictions; updates add none
    assert np.linalg.eigvalsh(scale[:, None] * cov * scale).min() > -1e-9  # roundoff of correlations


def test_a_sensor_upside_down_gives_the_same_path(drives):
    d = drives["square"][2]
    q_bs = q_from_euler(np.pi, 0.0, 0.5 * np.pi)  # axes to axes: settings are per axis of the sensor
    turned = {name: q_rotate(q_conj(q_bs), getattr(d.log, name)) for name in ("gyr_s", "acc_s", "mag_s")}
    log = Recording(d.log.t, **turned, stop=d.log.stop, odometer=d.log.odometer)
    plain = d.filter(**ROLLING).run(d.log)
    found = d.filter(**ROLLING, q_bs=tuple(q_bs)).run(log)
    assert np.abs(found.p_n - plain.p_n).max() < 1e-9  # roundoff, grown by the filter
    assert np.abs(q_log(q_mul(q_conj(plain.q_nb), found.q_nb))).max() < 1e-9
    back = q_rotate(q_bs, found.bias["gyr_s"])
    assert np.abs(back - plain.bias["gyr_s"]).max() < 1e-9


def test_lost_samples_cost_little(drives):
    """5 % of the samples are missing: the error stays within the tenth of a percent of the whole log's."""
    ends = []
    for d in drives["straight"][:10]:
        keep = np.random.default_rng(5).random(len(d.log)) > 0.05
        keep[:100] = True
        log = Recording(d.log.t[keep], gyr_s=d.log.gyr_s[keep], acc_s=d.log.acc_s[keep], stop=d.log.stop[keep])
        ends.append(
            [np.linalg.norm(d.filter(**ROLLING).run(x).p_n[-1] - d.log.truth.p_n[-1]) / 6.6 for x in (log, d.log)]
        )
    lost, whole = 100.0 * np.mean(ends, axis=0)
    assert lost < whole + 0.1


def test_a_gap_of_minutes_is_predicted_told_and_opens_the_variance(drives):
    d = drives["straight"][3]
    keep = d.log.t < 30.0
    t = np.concatenate([d.log.t[keep], d.log.t[~keep] + 120.0])
    log = Recording(t, gyr_s=d.log.gyr_s, acc_s=d.log.acc_s, stop=d.log.stop)
    found = d.filter(**ROLLING).run(log)
    (gap,) = [event for event in found.events if event.kind == "gap"]
    assert 119.0 < gap.until_s - gap.t_s < 121.0 and "120 s" in gap.text
    after = int(np.searchsorted(t, 150.0))
    assert found.sigma["p_n"][after, 0] > 10.0 and found.sigma["p_n"][after - 20, 0] < 0.1
    error = np.linalg.norm(found.p_n[-1] - d.log.truth.p_n[-1])
    assert error < 3.0 * np.linalg.norm(found.sigma["p_n"][-1])


def test_readings_that_are_means_are_taken_as_means():
    """A noiseless log of step means: taken for values at the stamps they would lag by half a step."""
    fine = drive("square", 0, noise=0.0, constant_errors=0.0, rate_hz=1000.0).log
    rows = np.arange(10, len(fine) - 10, 10)
    mean = {
        name: np.array([getattr(fine, name)[i - 9 : i + 1].mean(axis=0) for i in rows]) for name in ("gyr_s", "acc_s")
    }
    filt = Eskf(gravity=G, zero_velocity=None, zero_rate=None)
    ends = []
    for meta in ({}, {"gyroscope_stamp": "mean over the step that ends at the time stamp"}):
        log = Recording(fine.t[rows], **mean, meta=meta)
        found = filt.run(log)
        ends.append(np.abs(found.v_n - fine.truth.v_n[rows]).max())
    # of the samples i - 9 to i the mean lies half a fine step late, a tenth of the lag; that, not the rule, is left
    assert ends[1] < 0.2 * ends[0]


def test_noise_comes_from_the_triads():
    gyr = Triad("rad/s", white=(1e-4, 2e-4, 1e-4), instability=(1e-5,) * 3, walk=(1e-6,) * 3)
    acc = Triad("m/s2", white=(1e-3, 2e-3, 3e-3))
    filt = Eskf.for_triads(gyr, acc, gravity=G)
    assert (filt.gyr_white, filt.acc_white, filt.gyr_walk) == (2e-4, 3e-3, 1e-6)
    assert filt.gyr_drift == pytest.approx(1.2e-5) and filt.acc_drift == 0.0
    with pytest.raises(InputError, match="reads m/s2"):
        Eskf.for_triads(acc, gyr)


def test_bad_input_is_refused_in_a_sentence(drives):
    log = drives["square"][0].log
    filt = Eskf(gravity=G)
    with pytest.raises(InputError, match="no stop column"):
        filt.run(Recording(log.t, gyr_s=log.gyr_s, acc_s=log.acc_s))
    with pytest.raises(InputError, match="no gyroscope"):
        filt.run(Recording(log.t, acc_s=log.acc_s, stop=log.stop))
    with pytest.raises(InputError, match="no odometer"):
        Eskf(gravity=G, **WHEEL).run(Recording(log.t, gyr_s=log.gyr_s, acc_s=log.acc_s, stop=log.stop))
    with pytest.raises(InputError, match="lost its state at sample"):
        late = log.t[:, None] > log.t[-1] - 1.0  # a log whose usual size is so large is refused before
        filt.run(Recording(log.t, gyr_s=log.gyr_s, acc_s=np.where(late, 1e300, log.acc_s), stop=log.stop))
    for wrong, message in (
        ({"acc_white": 0.0}, "acc_white is 0"),
        ({"gyr_walk": -1.0}, "gyr_walk is -1"),
        ({"gate_probability": 2.0}, "gate_probability"),
        ({"q_bs": (2.0, 0, 0, 0)}, "q_bs has norm 2"),
        ({"gravity": "venus"}, "venus"),
    ):
        with pytest.raises(InputError, match=message):
            Eskf(**wrong).run(log)

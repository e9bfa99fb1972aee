"""Magnetometer calibration: what it states of virtual specimens is true, and what it cannot know it states."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from helpers import shared_data
from strapdown import io
from strapdown.calibration.calibration import Correction, Found
from strapdown.calibration.magnetometer.axis_alignment import axis_rotations
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.errors import InputError
from strapdown.papers.c import magnetometer as paper
from strapdown.reporting.magnetometer_figures import magnetometer_figure
from strapdown.rotation import matrix, q_conj, q_exp, q_from_euler, q_rotate
from strapdown.types import Recording

B_N, G_N = np.array([0.5, 20.0, -43.0]), np.array([0.0, 0.0, 9.81])
STRENGTH = float(np.linalg.norm(B_N))


def found(fit):
    return fit.calibration.corrections["magnetometer"]


def log(roll, pitch, yaw, n=1500, seed=0, turn=None):
    """A perfect module with a little noise next to iron; angles as functions of time."""
    t = np.arange(n) / 25.0
    q_sn = q_conj(q_from_euler(*(np.broadcast_to(f(t), n) for f in (roll, pitch, yaw))))
    rng = np.random.default_rng(seed)
    mag = q_rotate(q_sn, B_N) @ (np.eye(3) if turn is None else turn).T + [20.0, -10.0, 30.0]
    return Recording(
        t,
        mag_s=mag + 0.2 * rng.normal(size=(n, 3)),
        acc_s=q_rotate(q_sn, G_N) + 0.02 * rng.normal(size=(n, 3)),
    )


def tumbled(n=1500, **more):
    return log(lambda t: 1.1 * t, lambda t: 1.4 * np.sin(0.37 * t), lambda t: 0.61 * t, n, **more)


@pytest.fixture(scope="module")
def specimens():
    return [paper.specimen(seed) for seed in range(16)]


@pytest.fixture(scope="module")
def fits(specimens):
    return [paper.calibrated(one.log) for one in specimens]


def test_errors_over_stated_deviations_are_standard_normal(specimens, fits):
    """All 12 parameters; the claims of paper C do the same on 100 specimens."""
    z = np.array([paper.normalised_errors(one, fit) for one, fit in zip(specimens, fits, strict=True)])
    # chance: 16 specimens, four sigmas of a mean; 192 numbers, half of them alike, four sigmas of a sigma
    assert np.abs(z.mean(axis=0)).max() < 4.0 / np.sqrt(16.0)
    assert abs(z.std() - 1.0) < 4.0 / np.sqrt(192.0)


def test_heading_in_new_attitudes(specimens, fits):
    errors = [paper.heading_errors(one, fit, seed) for seed, (one, fit) in enumerate(zip(specimens, fits, strict=True))]
    assert np.degrees(np.sqrt(np.mean(np.square(errors)))) < 0.5


def test_a_good_log_says_so(fits):
    correction = found(fits[0])
    assert correction.found.verdict == "good" and correction.found.undetermined == ()
    assert correction.found.data["coverage"] > 0.95
    # chance: the dip of the corrected field, against a calibrated accelerometer with 0.5 % nonlinearity
    assert correction.found.data["dip_deg"] == pytest.approx(67.4, abs=0.5)
    assert correction.found.residual_rms == pytest.approx(0.2, rel=0.1)  # the part's noise; Tukey's weights take 5 %
    assert np.isfinite(correction.sigma["matrix"]).all() and np.isfinite(correction.sigma["bias"]).all()


def test_symmetric_gauge_without_an_accelerometer(specimens):
    """The matrix is the symmetric factor of the truth, with determinant 1: rotation and scale are given as assumed."""
    one = specimens[3]
    fit = calibrate_magnetometer(replace(one.log, acc_s=None), noise=paper.parts())
    correction = found(fit)
    values, vectors = np.linalg.eigh(np.linalg.inv(one.soft @ one.soft.T))
    truth = (vectors * np.sqrt(values)) @ vectors.T
    truth /= np.cbrt(np.linalg.det(truth))
    z = np.append((correction.matrix - truth) / correction.sigma["matrix"], (correction.bias - one.hard))
    assert np.abs(z[:9]).max() < 4.0  # chance, six numbers
    assert np.linalg.det(correction.matrix) == pytest.approx(1.0, abs=1e-12)  # roundoff
    np.testing.assert_array_equal(correction.matrix, correction.matrix.T)
    said = " ".join(correction.found.undetermined)
    assert "scale:" in said and "rotation of the axes: the log has no accelerometer" in said


def test_strength_is_taken_from_the_place(specimens):
    fit = calibrate_magnetometer(specimens[0].log, field_ut=48.0)
    assert fit.field_ut == 48.0 and np.linalg.norm(fit.corrected, axis=1).mean() == pytest.approx(48.0, rel=1e-3)
    assert found(fit).found.data["field_given"] is True


@pytest.mark.parametrize("which", [0, 5, 10, 17, 23])
def test_turned_axes_are_found(which):
    turn = axis_rotations()[which] @ matrix(q_exp([0.05, -0.03, 0.04]))
    fit = calibrate_magnetometer(tumbled(turn=turn), field_ut=STRENGTH)
    assert np.abs(found(fit).matrix @ turn - np.eye(3)).max() < 0.005  # chance: sigma 0.0007; a wrong axis is off by 1


def test_left_handed_axes_are_mirrored_where_the_dip_is_known():
    swap = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    fit = calibrate_magnetometer(tumbled(turn=swap), field_ut=STRENGTH, dip_rad=1.13)
    assert np.abs(found(fit).matrix @ swap - np.eye(3)).max() < 0.005  # chance
    assert any("left-handed" in note for note in found(fit).found.notes)


def test_a_delay_of_the_accelerometer_is_found():
    """The sensor turns one way all the time, so that a delay looks like a rotation."""
    whole = tumbled(3000)
    acc = np.asarray(whole.acc_s)
    late = Recording(whole.t[1:], mag_s=np.asarray(whole.mag_s)[1:], acc_s=0.5 * (acc[1:] + acc[:-1]))
    data = found(calibrate_magnetometer(late)).found.data
    assert data["accelerometer_delay_s"] == pytest.approx(
        0.02, abs=0.004
    )  # half a step; chance, and 10 ms known before


def test_a_calibrated_accelerometer_gives_the_frame():
    """Its axes, turned by its correction, are those of the corrected field."""
    turn = matrix(q_exp([0.0, 0.0, 0.1]))
    known = Correction("m/s2", Found("positions"), matrix=turn, sigma={"bias": np.full(3, 0.002)})
    fit = calibrate_magnetometer(tumbled(), field_ut=STRENGTH, accelerometer=known)
    assert np.abs(found(fit).matrix - turn).max() < 0.005  # chance


def test_an_offset_of_the_accelerometer_does_not_turn_the_axes():
    plain = tumbled()
    off = replace(plain, acc_s=np.add(plain.acc_s, [0.4, -0.3, 0.2]))
    moved = found(calibrate_magnetometer(off)).matrix - found(calibrate_magnetometer(plain)).matrix
    assert np.abs(moved).max() < 0.003  # chance; taken as it reads it would be 0.04


def test_gross_errors_and_saturation_are_left_out_and_told(specimens):
    assert paper._change_by_gross_errors(specimens[0]) < 3.0
    mag = np.asarray(specimens[1].log.mag_s)
    fit = calibrate_magnetometer(replace(specimens[1].log, mag_s=np.minimum(mag, np.percentile(mag, 98.0))))
    assert any("saturated" in note for note in found(fit).found.notes) and not fit.used.all()
    clipped = np.zeros(len(mag), dtype=bool)
    clipped[:100] = True
    fit = calibrate_magnetometer(replace(specimens[1].log, clipped=clipped))
    assert fit.used.sum() == len(mag) - 100


def test_a_log_that_was_never_turned_over_says_so():
    fit = calibrate_magnetometer(log(lambda t: 0.8 * np.sin(0.9 * t), lambda t: 0.8 * np.cos(0.7 * t), lambda t: t))
    assert fit.calibration.verdict == "usable"
    notes = " ".join(found(fit).found.notes)
    assert "never turned upside down: +z" in notes and "of the sphere visited" in notes


def still(t):
    return 0.0 * t


@pytest.mark.parametrize(
    ("recording", "said"),
    [
        (log(still, still, still), "never turned"),
        (log(still, still, lambda t: t), r"only turned about the vertical: .* \(z\) is not determined"),
        (replace(log(still, still, lambda t: t), acc_s=None), "only turned about one axis"),
        (log(lambda t: 0.09 * np.sin(3.0 * t), still, lambda t: t), "does not determine the ellipsoid|lie in a plane"),
        (replace(tumbled(), mag_s=np.round(120.0 * np.asarray(tumbled().mag_s))), "raw counts or another unit"),
        (replace(tumbled(), mag_s=np.clip(np.asarray(tumbled().mag_s), -20.0, 20.0)), "saturated"),
        (replace(tumbled(), mag_s=None), "has no magnetometer"),
        (replace(tumbled(), mag_s=1e150 * np.asarray(tumbled().mag_s)), "raw counts or another unit"),
        (replace(tumbled(), mag_s=0.01 * np.asarray(tumbled().mag_s)), "gauss; give unit"),
        (replace(tumbled(), mag_s=np.asarray(tumbled().mag_s) * [1.0, 1.0, 0.0]), "magnetometer z reads -?0 in all"),
        (
            replace(tumbled(), meta={"calibrated": {"magnetometer": {}}}),
            "calibrated already .*; give the log as recorded",
        ),
        (replace(tumbled(), t=1000.0 * tumbled().t), "time looks like ms or us"),
    ],
)
def test_bad_logs_are_refused_with_the_reason(recording, said):
    with pytest.raises(InputError, match=said) as refused:
        calibrate_magnetometer(recording)
    assert "\n" not in str(refused.value) and ";" in str(refused.value)


def test_an_accelerometer_in_counts_is_refused_as_everywhere():
    plain = tumbled()
    with pytest.raises(InputError, match="the readings look like raw counts"):
        calibrate_magnetometer(replace(plain, acc_s=1670.0 * np.asarray(plain.acc_s)))
    calibrate_magnetometer(replace(plain, acc_s=None))


def test_the_recorded_qmc5883l():
    for claim in paper.real_claims(shared_data("qmc5883l").parent):
        assert claim.holds, claim
    record = io.read_one(shared_data("qmc5883l") / "filtered_raw_data.csv", columns=paper.COLUMNS)
    fit = calibrate_magnetometer(record)
    # 9 uT: the log's maker set another range than the sensitivity printed for 2 G, and that is stated
    assert any("check the scale" in note for note in found(fit).found.notes)


def test_the_figure_shows_planes_radius_and_map(fits):
    figure = magnetometer_figure(fits[0], "virtual QMC5883L")
    assert isinstance(figure, Figure) and len(figure.axes) == 5
    assert "good" in figure._suptitle.get_text()
    never = int(np.sum(fits[0].coverage.counts == 0))
    assert len(figure.axes[4].patches) == 64 + never  # cells, and hatches over those never visited


def test_a_calibrated_accelerometer_may_align_the_axes():
    fit = calibrate_magnetometer(replace(tumbled(), meta={"calibrated": {"accelerometer": {"method": "positions"}}}))
    assert fit.alignment is not None


@pytest.mark.parametrize("iron_ut", [300.0, 500.0])
def test_a_strong_magnet_beside_a_well_turned_sensor_is_taken_off(iron_ut):
    """Its part has a range as wide as its readings; before, that of 200 uT was bent far beyond its end."""
    plain, iron = tumbled(), iron_ut * np.array([0.85, -0.3, 0.43])
    fit = calibrate_magnetometer(replace(plain, mag_s=np.asarray(plain.mag_s) + iron), field_ut=STRENGTH)
    off = (found(fit).bias - iron - [20.0, -10.0, 30.0]) / found(fit).sigma["bias"]
    assert np.abs(off).max() < 4.0  # chance: four sigmas
    assert found(fit).found.verdict == "usable"

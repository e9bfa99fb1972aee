"""Paper B's filter: it is what is printed, calibrates as printed, and fails where errata 5 states that it fails."""

import math
from dataclasses import replace

import numpy as np
import pytest

from orientation_cases import DEG, RATE_HZ, G, all_round, angle, between, ideal, inclination, over_the_top, swing
from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.motion import Rest
from strapdown.orientation.complementary import Complementary
from strapdown.orientation.paper_b import PaperB
from strapdown.rotation import q_from_euler

BIAS_GYR, BIAS_ACC = np.array([0.02, -0.01, 0.03]), np.array([0.2, -0.1, 0.15])


def as_printed(recording, q_start, w=0.02, low_pass_s=0.05, rest_rows=65):
    """B10 to B16 in plain Python, from the angles of a known attitude; delta in the frame n of this project."""
    dt = 1.0 / RATE_HZ
    share = 1.0 - math.exp(-dt / low_pass_s)
    smooth = np.concatenate([recording.gyr_s, recording.acc_s, recording.mag_s], axis=1).copy()
    for i in range(1, len(smooth)):
        smooth[i] = smooth[i - 1] + share * (smooth[i] - smooth[i - 1])
    mean = smooth[:rest_rows].mean(axis=0)
    phi, theta, psi = q_start
    level = [-math.sin(theta), math.cos(theta) * math.sin(phi), math.cos(theta) * math.cos(phi)]
    offset = mean[3:6] - G * np.array(level)
    angles = [(phi, theta, psi)] * rest_rows
    for row in smooth[rest_rows:]:
        wx, wy, wz = row[:3] - mean[:3]
        ax, ay, az = row[3:6] - offset
        mx, my, mz = row[6:]
        s, c = math.sin(phi), math.cos(phi)
        dphi = wx + wy * s * math.tan(theta) + wz * c * math.tan(theta)
        dtheta, dpsi = wy * c - wz * s, (wy * s + wz * c) / math.cos(theta)
        phi = (1 - w) * (phi + dphi * dt) + w * math.atan(ay / az)
        theta_a = math.atan(-ax / (math.copysign(1.0, az) * math.hypot(ay, az)))
        theta = (1 - w) * (theta + dtheta * dt) + w * theta_a
        s, c, st, ct = math.sin(phi), math.cos(phi), math.sin(theta), math.cos(theta)
        psi_m = math.atan((mz * s - my * c) / (mx * ct + my * st * s + mz * st * c)) + 0.5 * math.pi
        psi = (1 - w) * (psi + dpsi * dt) + w * psi_m
        angles.append((phi, theta, psi))
    return q_from_euler(*np.array(angles).T)


def with_offsets(recording):
    return replace(recording, gyr_s=recording.gyr_s + BIAS_GYR, acc_s=recording.acc_s + BIAS_ACC)


def test_it_is_what_is_printed():
    recording = with_offsets(ideal(swing()))
    found = PaperB(calibration_s=0.5).run(recording, Start.of(recording, q_ns=recording.truth.q_nb[0]))
    assert between(found.q_nb, as_printed(recording, (0.0, 0.0, 1.5))).max() < 1e-9  # roundoff of 2000 samples


def test_the_calibration_finds_both_offsets_in_a_known_attitude():
    rest = with_offsets(ideal(Rest(duration_s=6.0, q_nb=q_from_euler(0.1, -0.2, 1.0))))
    filt = PaperB(calibration_s=0.5, magnetometer=False)
    found = filt.run(rest, Start.of(rest, q_ns=rest.truth.q_nb[0]))
    np.testing.assert_allclose(found.bias["gyr_s"][-1], BIAS_GYR, atol=1e-12)  # roundoff: a mean of equal readings
    assert angle(found, rest.truth).max() < 1e-9  # roundoff
    # a tilt is not determined from an offset: 0.2 m/s2 are 1.2 deg
    assert inclination(filt.run(rest), rest.truth).max() > 1.0 * DEG


def test_it_follows_slow_motion_in_its_half_of_the_circle():
    recording = ideal(swing())
    found = PaperB(calibration_s=0.5).run(recording)
    # model: a time constant of 0.4 s believes accelerations of 1 m/s2, 6 deg, and the low-pass lags 0.05 s
    assert angle(found, recording.truth).max() < 15.0 * DEG


def test_the_yaw_leaves_the_branch_of_atan():
    """Once around: atan covers half of the circle, so the filter is pulled half a turn off. Quaternions avoid it."""
    recording = ideal(all_round())
    assert angle(PaperB(calibration_s=0.5).run(recording), recording.truth).max() > 90.0 * DEG
    assert angle(Complementary().run(recording), recording.truth).max() < 0.5 * DEG  # step order


def test_a_yaw_through_180_deg_is_pulled_back_through_zero():
    """No wrapping: with atan2 in its place, a step from 179 to -179 deg would pull the mean through zero; with atan the
    magnetic yaw never passes delta + 90 deg = 180 deg, and the filter falls behind the truth there."""
    recording = ideal(all_round())
    found = PaperB(calibration_s=0.5).run(recording)
    yaw = np.unwrap(2.0 * np.arctan2(found.q_nb[:, 3], found.q_nb[:, 0]), period=2.0 * np.pi)
    turned = yaw[-1] - yaw[0]
    assert abs(turned - 2.0 * np.pi) > 90.0 * DEG  # the body has turned once, the answer has not


def test_corrected_it_follows_a_full_turn_and_still_breaks_down_at_pitch_90_deg():
    """atan2 and mixing on the circle (erratum 5); the lag of the low-pass stays, and so do the kinematics."""
    recording = ideal(all_round())
    corrected = PaperB(calibration_s=0.5, corrected=True)
    rate = float(np.abs(recording.gyr_s).max())
    assert angle(corrected.run(recording), recording.truth).max() < 1.5 * 0.05 * rate  # the lag, and that of the mixing
    over = ideal(over_the_top())
    found = corrected.run(over, Start.of(over, q_ns=over.truth.q_nb[0]))
    assert angle(found, over.truth).max() > 60.0 * DEG and np.isfinite(found.q_nb).all()


def test_it_breaks_down_at_pitch_90_deg_but_never_gives_nan():
    recording = ideal(over_the_top())
    found = PaperB(calibration_s=0.5).run(recording, Start.of(recording, q_ns=recording.truth.q_nb[0]))
    before = recording.t < 3.5  # pitch 40 deg
    assert angle(found, recording.truth, before).max() < 10.0 * DEG  # model: lag of 0.05 s at 1 rad/s, and of the yaw
    assert angle(found, recording.truth).max() > 60.0 * DEG
    assert np.isfinite(found.q_nb).all()
    assert angle(Complementary().run(recording), recording.truth).max() < 0.5 * DEG  # step order


def test_a_time_constant_replaces_the_weight_per_sample():
    recording = ideal(swing())
    weight = 0.02
    tau = -1.0 / RATE_HZ / math.log(1.0 - weight)
    one, other = (PaperB(calibration_s=0.5, **s).run(recording) for s in ({}, {"time_constant_s": tau}))
    assert between(one.q_nb, other.q_nb).max() < 1e-9  # roundoff
    # as printed, the same weight at half the rate forgets half as fast: w is no property of the filter
    half = ideal(swing(), RATE_HZ / 2.0)
    by_weight, by_time = (PaperB(calibration_s=0.5, **s).run(half) for s in ({}, {"time_constant_s": tau}))
    far, near = (between(s.q_nb[::4], one.q_nb[::8]).max() for s in (by_weight, by_time))
    assert far > 2.0 * near


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"weight": 1.5}, "weight"), ({"low_pass_s": -1.0}, "low_pass_s"), ({"gravity_m_s2": 0.0}, "gravity_m_s2")],
)
def test_settings_out_of_bounds_are_refused(settings, word):
    with pytest.raises(InputError, match=word):
        PaperB(**settings)

"""The simple filters against theory and independent implementations; many at once; starts; the catalogue.

Frames of peers: ahrs' Madgwick is expressed in north-west-up, its Mahony in east-north-up as here. Peers take one
reading of the gyroscope for a step, the filters here the mean of two: the peers are given that mean.
"""

import importlib
import pkgutil
from dataclasses import replace

import numpy as np
import pytest

from orientation_cases import DEG, FIELD_N, G, angle, between, errors_n, ideal, inclination, noisy_swing, reading, swing
from strapdown.errors import InputError
from strapdown.kernels import orientation as kernels
from strapdown.live import Start
from strapdown.motion import Keep, MoveTo, Rest, Turntable
from strapdown.orientation.alignment import align, attitude_at_rest
from strapdown.orientation.catalogue import FILTERS, filter_by_name
from strapdown.orientation.complementary import Complementary
from strapdown.orientation.gyro import Gyro
from strapdown.orientation.lanes import run_many
from strapdown.orientation.madgwick import Madgwick
from strapdown.orientation.mahony import Mahony
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_mul, q_rotate
from strapdown.sensors.inclinometer import Inclinometer, attitude_from
from strapdown.types import Recording

Q_ENU_NWU = q_exp([0.0, 0.0, 0.5 * np.pi])  # north-west-up to east-north-up: a quarter turn about the vertical


def leaning(tilt_rad, rate_hz=100.0, duration_s=12.0):
    """At rest and level, its magnetometer a recording of its own; and a first attitude that is off by tilt_rad."""
    rest = ideal(Rest(duration_s=duration_s), rate_hz)
    own = Recording(rest.t, mag_s=rest.mag_s)
    return replace(rest, mag_s=None), own, q_exp(tilt_rad)


# ---------------------------------------------------------------- gyroscope alone


def test_the_gyroscope_is_exact_at_a_constant_rate_and_of_second_order_otherwise():
    spin = ideal(Turntable.constant(3.0, 10.0, axis_b=(1.0, 2.0, -0.5)))
    assert angle(Gyro().run(spin), spin.truth).max() < 1e-11  # 1300 roundoffs
    errors = []
    for rate_hz in (64.0, 128.0):
        recording = ideal(swing(), rate_hz)
        errors.append(angle(Gyro().run(recording), recording.truth)[-1])
    assert 3.5 < errors[0] / errors[1] < 4.5  # step order: half the step, a quarter of the error


# ---------------------------------------------------------------- time constants


@pytest.mark.parametrize("rate_hz", [20.0, 300.0])
def test_complementary_forgets_at_its_time_constants_whatever_the_rate(rate_hz):
    filt = Complementary(inclination_s=2.0, heading_s=3.0)
    rest, own, q_ns = leaning([0.2, 0.0, 0.0], rate_hz)
    tilt = inclination(filt.run(rest, Start.of(rest, q_ns=q_ns), magnetometer=own), rest.truth)
    i = round(2.0 * rate_hz)
    assert abs(tilt[i] / tilt[0] - np.exp(-1.0)) < 1e-9  # roundoff: exact weights of the step
    rest, own, q_ns = leaning([0.0, 0.0, 2.5], rate_hz)
    heading = angle(filt.run(rest, Start.of(rest, q_ns=q_ns), magnetometer=own), rest.truth)
    assert abs(heading[round(3.0 * rate_hz)] / heading[0] - np.exp(-1.0)) < 1e-9


def test_complementary_takes_the_shorter_way_round_and_turns_upright():
    filt = Complementary(heading_s=1.0, inclination_s=1.0)
    rest, own, q_ns = leaning([0.0, 0.0, 3.1])
    found = filt.run(rest, Start.of(rest, q_ns=q_ns), magnetometer=own)
    assert (np.diff(angle(found, rest.truth)) < 1e-12).all()  # roundoff: it only comes nearer
    upside_down = filt.run(rest, Start.of(rest, q_ns=[0.0, 1.0, 0.0, 0.0]), magnetometer=own)
    assert inclination(upside_down, rest.truth)[-1] < 0.01 * DEG  # model: eleven time constants of 180 deg


def test_complementary_low_pass_does_not_lag_in_turns_and_is_bounded():
    spin = ideal(Turntable.constant(2.0, 10.0, axis_b=(1.0, 0.0, 0.2)))
    assert angle(Complementary(low_pass_s=0.5).run(spin), spin.truth).max() < 1e-9  # roundoff: smoothed in frame n
    with pytest.raises(InputError, match="quarter"):
        Complementary(inclination_s=1.0, low_pass_s=0.5)


def test_mahony_forgets_at_its_gains_and_learns_the_bias():
    filt = Mahony(inclination_gain=0.5, heading_gain=0.25, bias_gain=0.0)
    rest, own, q_ns = leaning([0.02, 0.0, 0.0])
    tilt = inclination(filt.run(rest, Start.of(rest, q_ns=q_ns), magnetometer=own), rest.truth)
    assert abs(tilt[200] / tilt[0] - np.exp(-1.0)) < 2e-3  # step order: gain dt/2 of it, and sin for the angle
    rest, own, q_ns = leaning([0.0, 0.0, 0.02])
    heading = angle(filt.run(rest, Start.of(rest, q_ns=q_ns), magnetometer=own), rest.truth)
    assert abs(heading[400] / heading[0] - np.exp(-1.0)) < 4e-3  # the same, and one reading late
    bias_s = np.array([0.01, -0.02, 0.015])
    rest, own, _ = leaning([0.0, 0.0, 0.0], 50.0, 60.0)
    off = replace(rest, gyr_s=rest.gyr_s + bias_s)
    found = Mahony(inclination_gain=1.0, heading_gain=1.0, bias_gain=0.2).run(off, magnetometer=own)
    np.testing.assert_allclose(found.bias["gyr_s"][-1], bias_s, atol=1e-5)  # model: e^-18 of it after 60 s
    assert angle(found, rest.truth)[-1] < 1e-4  # the same


def test_madgwick_turns_at_twice_beta():
    rest, _, q_ns = leaning([0.5, 0.0, 0.0])
    found = Madgwick(beta_rad_s=0.05, magnetometer=False).run(rest, Start.of(rest, q_ns=q_ns))
    tilt = inclination(found, rest.truth)
    # model: (1, c/2) turns by c - c^3/12, and the last 1e-3 rad are taken whole
    np.testing.assert_allclose(tilt[:450], 0.5 - 0.1 * rest.t[:450], atol=1e-5)
    assert tilt[510] < 1e-6


# ---------------------------------------------------------------- against independent implementations


def mean_rates(recording):
    return np.concatenate([recording.gyr_s[:1], 0.5 * (recording.gyr_s[1:] + recording.gyr_s[:-1])])


def by_peer(update, recording, q_first, dt, mag=False):
    q, rates = [q_first], mean_rates(recording)
    for i in range(1, len(recording)):
        readings = {"gyr": rates[i] + 1e-12, "acc": recording.acc_s[i]}  # ahrs omits rates of exactly 0
        if mag:
            readings["mag"] = recording.mag_s[i]
        q.append(np.asarray(update(q[-1], **readings, dt=dt)))
    return np.array(q)


def short(recording, n=700):
    r = recording
    return Recording(r.t[:n], gyr_s=r.gyr_s[:n], acc_s=r.acc_s[:n], mag_s=r.mag_s[:n], truth=r.truth[:n])


def test_mahony_is_that_of_ahrs_in_six_axes():
    from ahrs.filters import Mahony as Peer

    recording = short(noisy_swing())
    q_first = q_mul(recording.truth.q_nb[0], q_exp([0.1, -0.2, 0.0]))
    ours = Mahony(inclination_gain=0.7, bias_gain=0.1, magnetometer=False).run(
        recording, Start.of(recording, q_ns=q_first)
    )
    peer = by_peer(Peer(k_P=0.7, k_I=0.1).updateIMU, recording, q_first, 1.0 / 128.0)
    # step order: the peer looks at the error before its turn, and turns by w dt and not by its exponential; over this
    # time that is |w|^3 dt^2/12 t and gain dt of the 0.22 rad that both forget
    assert between(ours.q_nb, peer).max() < 5e-3
    assert inclination(ours, recording.truth)[-1] < 0.3 * inclination(ours, recording.truth)[0]


def test_mahony_finds_the_heading_of_ahrs_in_nine_axes():
    from ahrs.filters import Mahony as Peer

    recording = short(ideal(swing(reach_m=0.0)))
    q_first = q_mul(q_exp([0.0, 0.0, 0.3]), recording.truth.q_nb[0])
    ours = Mahony(inclination_gain=1.0, heading_gain=1.0, bias_gain=0.0).run(
        recording, Start.of(recording, q_ns=q_first)
    )
    peer = by_peer(Peer(k_P=1.0, k_I=1e-12).updateMARG, recording, q_first, 1.0 / 128.0, mag=True)
    heading = [np.abs(errors_n(ours, recording.truth)[:, 2]), between(peer, recording.truth.q_nb)]
    assert heading[0][0] == pytest.approx(heading[1][0])
    # model: the peer weighs the sine by the level part of the field squared, so it is slower; both come to the truth
    assert heading[0][-1] < heading[1][-1] < 0.6 * heading[1][0]
    assert heading[0][-1] < 0.3 * np.exp(-5.0)


def test_madgwick_is_that_of_ahrs():
    from ahrs.filters import Madgwick as Peer

    recording = short(noisy_swing())
    beta, dt = 0.1, 1.0 / 128.0
    q_first = q_mul(recording.truth.q_nb[0], q_exp([0.1, -0.2, 0.0]))
    ours = Madgwick(beta_rad_s=beta, magnetometer=False).run(recording, Start.of(recording, q_ns=q_first))
    peer = by_peer(Peer(gain=beta).updateIMU, recording, q_first, dt)
    # model: the peer steps past the minimum by up to 2 beta dt, and its gradient's length has a radial part (second
    # order in the error): together a few steps of 0.0016 rad
    assert between(ours.q_nb, peer).max() < 6.0 * 2.0 * beta * dt
    in_nwu = q_mul(q_conj(Q_ENU_NWU), q_first)
    ours = Madgwick(beta_rad_s=beta).run(recording, Start.of(recording, q_ns=q_first))
    peer = q_mul(Q_ENU_NWU, by_peer(Peer(gain=beta).updateMARG, recording, in_nwu, dt, mag=True))
    assert between(ours.q_nb, peer).max() < 10.0 * 2.0 * beta * dt  # the same, with the pull of two fields


def test_madgwick_and_mahony_find_the_vertical_of_imufusion():
    import imufusion

    recording = noisy_swing()
    peer = imufusion.Ahrs()
    peer.set_sample_period(1.0 / 128.0)
    q = []
    for gyr_s, acc_s in zip(recording.gyr_s / DEG, recording.acc_s / G, strict=True):
        peer.update_no_magnetometer(gyr_s, acc_s)
        q.append(peer.get_quaternion())
    up = q_rotate(q_conj(np.array(q)), np.array([0.0, 0.0, 1.0]))
    for filt in (Mahony(magnetometer=False), Madgwick(magnetometer=False)):
        ours = q_rotate(q_conj(filt.run(recording).q_nb), np.array([0.0, 0.0, 1.0]))
        off = np.arccos(np.clip(np.einsum("ij,ij->i", up, ours), -1.0, 1.0))[recording.t > 4.0]
        assert np.sqrt(np.mean(off**2)) < 3.0 * DEG  # model: other gains believe accelerations of 0.5 m/s2 differently


# ---------------------------------------------------------------- many at once


def test_side_by_side_gives_the_attitude_of_single_runs():
    base = noisy_swing()
    kept = (base.t < 3.0) | (base.t > 4.0)
    gap = Recording(base.t[kept], gyr_s=base.gyr_s[kept], acc_s=base.acc_s[kept], mag_s=base.mag_s[kept])
    held = replace(base, mag_s=base.mag_s[np.arange(len(base)) // 8 * 8])
    spin = [Keep(1.0), MoveTo(80.0, 6.0), Keep(1.0)]
    fast = ideal(Turntable(spin, axis_b=(0.0, 0.0, 1.0), q_nb=q_from_euler(0.0, 0.0, 1.5)))
    assert np.abs(fast.gyr_s).max() / 128.0 > 0.1  # rad in a step
    many = [short(base, 50 + 9 * k) for k in range(66)] + [gap, held, fast, base]
    for filt in (Mahony(declination_rad=0.1), Mahony(magnetometer=False)):
        for recording, found in zip(many, run_many(filt, many), strict=True):
            single = filt.run(recording)
            assert between(found.q_nb, single.q_nb).max() < 1e-11  # roundoff of 2000 samples
            np.testing.assert_allclose(found.bias["gyr_s"], single.bias["gyr_s"], atol=1e-13)  # roundoff
            assert np.array_equal(found.flags["gap"], single.flags["gap"]) and found.events == single.events


def test_side_by_side_takes_first_attitudes_and_refuses_other_filters():
    recordings = [short(noisy_swing(), 60)] * 3
    q_ns = [q_from_euler(0.0, 0.0, yaw) for yaw in (0.0, 1.0, 2.0)]
    for q, found in zip(q_ns, run_many(Mahony(), recordings, q_ns=q_ns), strict=True):
        assert between(found.q_nb[0], q) < 1e-12  # roundoff
    assert run_many(Mahony(), []) == []
    with pytest.raises(InputError, match="side by side"):
        run_many(Madgwick(), recordings)


# ---------------------------------------------------------------- starts


def test_alignment_finds_the_attitude_of_a_rest():
    for roll, pitch, yaw in ((0.2, -0.4, 2.0), (3.0, 0.1, -1.0), (0.0, 1.5, 0.3), (-2.0, -1.2, 3.1)):
        q_ns = q_from_euler(roll, pitch, yaw)
        rest = ideal(Rest(duration_s=1.0, q_nb=q_ns))
        assert between(attitude_at_rest(rest.acc_s, rest.mag_s), q_ns) < 1e-12  # roundoff
        assert between(align(rest, 0.5), q_ns) < 1e-12
        turned = q_mul(q_exp([0.0, 0.0, -0.3]), q_ns)
        assert between(attitude_at_rest(rest.acc_s, rest.mag_s, declination_rad=0.3), turned) < 1e-12
        assert between(attitude_at_rest(rest.acc_s[0]), q_from_euler(roll, pitch, 0.0)) < 1e-12


def test_alignment_averages():
    recording = noisy_swing()
    single = [
        between(attitude_at_rest(recording.acc_s[i], recording.mag_s[i]), recording.truth.q_nb[0]) for i in range(60)
    ]
    assert between(align(recording, 0.9), recording.truth.q_nb[0]) < 0.5 * np.sqrt(np.mean(np.square(single)))  # chance


def test_an_inclinometer_and_a_heading_start_a_filter():
    q_ns = q_from_euler(0.15, -0.25, 0.5 * np.pi - 0.7)
    rest = ideal(Rest(duration_s=1.0, q_nb=q_ns))
    tilt = Inclinometer().measure(rest.truth, G, stream=np.random.default_rng(1)).tilt
    found = q_from_euler(*attitude_from(tilt.mean(axis=0)), 0.5 * np.pi - 0.7)
    assert between(found, q_ns) < 1e-9  # roundoff
    assert between(Mahony(magnetometer=False).run(rest, Start.of(rest, q_ns=found)).q_nb, q_ns).max() < 1e-9


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        (([0.0, 0.0, 0.0],), "where up is"),
        (([0.0, 0.0, 9.8], [0.0, 0.0, -40.0]), "tell north"),
        (([0.0, np.nan, 9.8],), "three finite numbers"),
    ],
)
def test_readings_that_tell_no_attitude_are_refused(readings, words):
    with pytest.raises(InputError, match=words):
        attitude_at_rest(*readings)


# ---------------------------------------------------------------- live, and by name


@pytest.mark.parametrize("name", ["gyro", "complementary", "mahony", "madgwick"])
def test_a_live_reading_that_is_no_number_is_left_out(name):
    filt, bad = filter_by_name(name), np.full(3, np.nan)
    gyr_s, acc_s = np.array([0.1, 0.0, 0.2]), np.array([0.0, 0.0, G])
    state = filt.step(filt.start(), reading(gyr_s, acc_s, FIELD_N, dt=0.01))
    for readings in (
        (bad, acc_s, FIELD_N),
        (gyr_s, bad, FIELD_N),
        (gyr_s, acc_s, bad),
        (gyr_s, np.full(3, np.inf), bad),
    ):
        state = filt.step(state, reading(*readings, dt=0.01))
        assert np.isfinite(state.numbers).all()
    assert between(filt.belief(state).q_nb, np.array([1.0, 0.0, 0.0, 0.0])) < np.pi


def test_the_catalogue_knows_its_filters_by_their_names():
    for name, entry in FILTERS.items():
        assert entry.cls.name == name and filter_by_name(name) == entry.cls() and entry.what and entry.when
    assert filter_by_name("mahony", bias_gain=0.0) == Mahony(bias_gain=0.0)
    with pytest.raises(InputError, match="valid names: gyro, paper-b, complementary"):
        filter_by_name("kalman")
    with pytest.raises(InputError, match='no setting "kp"; it has inclination_gain'):
        filter_by_name("mahony", kp=1.0)


def test_no_part_of_a_kernel_takes_its_arithmetic_from_its_caller():
    """numba passes fastmath on to functions that do not set it, from the caller that is compiled first. A run and its
    steps would then differ in the last bit where their kernels were compiled in different processes."""
    parts = {}
    for found in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for name, part in vars(importlib.import_module(found.name)).items():
            if "no_cpython_wrapper" in getattr(part, "targetoptions", {}):
                parts[f"{found.name}.{name}"] = part.targetoptions
    assert len(parts) > 100
    assert [name for name, options in parts.items() if "fastmath" not in options] == []

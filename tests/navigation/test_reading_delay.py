"""The age of readings behind a part's low-pass, and a path that is at its time stamps."""

from dataclasses import replace

import numpy as np
import pytest

from strapdown.navigation.program import navigate
from strapdown.navigation.reading_delay import delay_s
from strapdown.papers.c.drive import drive
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad


@pytest.mark.parametrize("order", [1, 2])
def test_a_steady_change_comes_late_by_the_delay(order):
    triad = Triad("rad/s", bandwidth_hz=20.0, filter_order=order)
    t = np.arange(2000) / 1000.0
    ramp = np.column_stack([t, 2.0 * t, -t])
    seen = measure(triad, t, ramp, stream=seed_of(1, "ramp")).values
    late = (ramp - seen)[-1] / [1.0, 2.0, -1.0]
    np.testing.assert_allclose(late, delay_s(triad), rtol=1e-9)  # roundoff; the low-pass is exact for straight input
    assert delay_s(replace(triad, latency_s=0.1)) == pytest.approx(delay_s(triad) + 0.1, rel=1e-12)
    assert delay_s(Triad("rad/s")) == delay_s(None) == 0.0


def test_the_path_is_told_at_its_time_stamps():
    """Heading in turns and place in moves, against a part whose low-pass nobody stated."""
    one = drive("square", 5002)
    log = replace(one.log, odometer=None)
    deaf = {name: replace(triad, bandwidth_hz=None) for name, triad in one.robot.known.items()}
    known, unknown = (navigate(log, one.carrier(), facts).solution for facts in (one.facts(), one.facts(noise=deaf)))
    turning = np.abs(one.truth.w_nb_b[:, 2]) > 0.5
    errors = [np.abs(one.body_attitude_error_n(s)[turning, 2]).max() for s in (known, unknown)]
    assert errors[1] > 0.003 > 1.5 * errors[0]  # rad: 1.2 rad/s for 3.2 ms, and what else the heading is off by
    assert known.meta["delay_s"]["gyroscope"] == pytest.approx(1.0 / (2.0 * np.pi * 50.0), rel=1e-12)
    a_n, v_n = one.truth.a_n, one.truth.v_n
    late_s = [np.sum((v_n - s.v_n) * a_n) / np.sum(a_n**2) for s in (known, unknown)]
    assert late_s[1] - late_s[0] == pytest.approx(0.0032, rel=0.05)  # s: accelerometer's axes, off by some mrad
    used = known.flags["stop_used"]
    assert np.array_equal(known.p_n[used], unknown.p_n[used])  # what stands is not carried on


def test_a_smoothed_path_is_told_at_its_time_stamps_too():
    one = drive("square", 5002)
    log = replace(one.log, odometer=None)
    smoothed = navigate(log, one.carrier(), one.facts(), smoothed=True).solution
    turning = np.abs(one.truth.w_nb_b[:, 2]) > 0.5
    assert np.abs(one.body_attitude_error_n(smoothed)[turning, 2]).max() < 0.002  # rad; 0.004 where it comes late

"""From frames to samples: time that wraps, losses, resets, chips that are silent or stuck, and the clock."""

import numpy as np
import pytest

from device_cases import hello_frame, running, sample_frame
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder
from strapdown.devices.protocol.frame import STATUS, Frame
from strapdown.devices.protocol.stream import ModuleStream, Stamped
from strapdown.devices.protocol.time_axis import ClockFit
from strapdown.devices.protocol.units import Units
from strapdown.environment.virtual_module.line_faults import LineFaults
from strapdown.environment.virtual_module.module import Make

STEP_US = 10_000
WRAP = 1 << 32


def greeted() -> ModuleStream:
    stream = ModuleStream()
    stream.take(hello_frame(), 0.0)
    return stream


def taken(stream: ModuleStream, numbers: range, first_us: int = 0, first_s: float = 0.0) -> list[Stamped]:
    found = []
    for i in numbers:
        found += stream.take(sample_frame(i, first_us + STEP_US * i), first_s + 0.01 * i)
    return found


def test_counts_become_si_by_the_units_of_the_hello() -> None:
    stream = ModuleStream()
    stream.take(hello_frame(acc_per_g=4096, gyr_per_10_dps=1310, mag_per_gauss=12000, mag_axes=(2, -1, 3)))
    readings = say.Readings((4096, 0, -4096), 3400, (1310, -131, 0), (12000, 1200, -600), say.MAG_NEW, 0, 0)
    (found,) = stream.take(Frame(0x02, 0, 0, readings.packed()))
    np.testing.assert_allclose(found.sample.acc_s, [9.80665, 0.0, -9.80665], rtol=1e-15)
    np.testing.assert_allclose(found.sample.gyr_s, np.radians([10.0, -1.0, 0.0]), rtol=1e-15)
    np.testing.assert_allclose(found.sample.mag_s, [10.0, -100.0, -5.0], rtol=1e-14)  # axes 2, -1, 3
    assert found.sample.temperature == pytest.approx(46.53, abs=1e-12)


def test_time_goes_on_when_the_stamp_wraps() -> None:
    stream = greeted()
    first_us = WRAP - 50 * STEP_US
    found = taken(stream, range(100), first_us)
    steps = np.diff([s.module_s for s in found])
    assert len(found) == 100 and stream.counts.lost == 0
    np.testing.assert_allclose(steps, 0.01, atol=2e-12)  # roundoff of 4295 s
    assert stream.axis.offset_us == WRAP


def test_every_lost_sample_is_counted_also_over_a_wrap_of_the_sequence() -> None:
    stream = greeted()
    lost = 0
    found = taken(stream, range(5))
    for gap in (1, 7, 300, 65536 + 10):
        after = found[-1].readings.acc[0]
        assert after >= 0
        number = 5 + lost + sum(1 for _ in found) - 5 + gap
        lost += gap
        found += stream.take(sample_frame(number, STEP_US * number), 0.01 * number)
    assert stream.counts.lost == lost and stream.counts.gaps == 4
    assert stream.counts.samples == len(found) == 9


def test_a_reset_is_noticed_and_time_goes_on_by_the_hosts_clock() -> None:
    stream = greeted()
    before = taken(stream, range(100))
    stream.take(hello_frame(say.WAS_RESET), 2.99)
    after = taken(stream, range(1, 50), 0, 2.99)
    assert stream.counts.resets == 1 and stream.rebased
    assert after[0].module_s - before[-1].module_s == pytest.approx(2.0 + 0.01, abs=1e-9)
    assert np.all(np.diff([s.module_s for s in (*before, *after)]) > 0.0)
    assert any(event.kind == "reset" for event in stream.happened)


def test_a_reset_whose_hello_was_lost_is_noticed_by_time_that_runs_back() -> None:
    stream = greeted()
    taken(stream, range(100))
    after = taken(stream, range(0, 50), 0, 5.0)
    assert stream.counts.resets == 1
    assert len(after) == 49 and stream.counts.doubtful == 1  # the first frame alone proves nothing


def test_a_reset_is_also_seen_in_the_status() -> None:
    stream = greeted()
    stream.take(Frame(STATUS, 5, 5_000_000, say.Status(5, 1, 0, 0, 0, 7, 0, 100).packed()), 5.0)
    stream.take(Frame(STATUS, 0, 1_000_000, say.Status(1, 1, 0, 0, 0, 7, 0, 100).packed()), 8.0)
    assert stream.counts.resets == 1


def test_one_frame_with_a_wrong_stamp_does_not_move_time() -> None:
    stream = greeted()
    found = taken(stream, range(50))
    found += stream.take(sample_frame(50, 3_000_000_000), 0.5)
    found += taken(stream, range(51, 100))
    assert (stream.counts.doubtful, stream.counts.lost) == (1, 1)
    assert found[-1].module_s == pytest.approx(0.99) and len(found) == 99


def test_samples_of_a_silent_chip_are_rejected_and_counted() -> None:
    stream = greeted()
    taken(stream, range(10))
    for i in range(10, 20):
        assert stream.take(sample_frame(i, STEP_US * i, say.IMU_SILENT), 0.01 * i) == []
    assert (stream.counts.silent, stream.counts.lost) == (10, 0)
    assert len(taken(stream, range(20, 30))) == 10


def test_a_stuck_chip_is_noticed() -> None:
    stream = greeted()
    for i in range(100):
        stream.take(Frame(0x02, i, STEP_US * i, sample_frame(0, 0, acc=(1, 2, 3)).body), 0.01 * i)
    assert stream.counts.frozen == 100 - 26  # after a quarter of a second
    assert sum(event.kind == "frozen" for event in stream.happened) == 1


@pytest.mark.parametrize("ppm", [-100.0, 0.0, 100.0])
def test_the_clock_fit_finds_the_drift_in_spite_of_delays(ppm: float) -> None:
    """Delays of 0.3 to 10 ms, most of them short: the fit takes the fastest frame of each second."""
    rng, fit = np.random.default_rng(0), ClockFit()
    for i in range(12_000):
        module_us = STEP_US * i
        fit.put(module_us, 1000.0 + module_us * 1e-6 * (1.0 + 1e-6 * ppm) + 3e-4 + rng.exponential(1e-3))
    offset, drift, residual = fit.fit()
    # least of 100 delays: 10 us spread; over 118 points of 1 s the slope is good to 0.03 ppm
    assert abs(drift - ppm) < 0.3 and residual < 1e-4
    assert offset == pytest.approx(1000.0 + 3e-4, abs=1e-4)
    assert fit.host_s(60_000_000) == pytest.approx(1060.0 + 3e-4 + 60e-6 * ppm, abs=1e-4)


@pytest.mark.parametrize("faults", [{"lost": 0.01}, {"flipped": 0.01}, {"inserted": 0.01}, {"burst": 700.0}])
def test_on_a_bad_line_every_sample_is_right_or_counted_as_lost(faults: dict[str, float]) -> None:
    make = Make(clock_ppm=100.0, first_us=WRAP - 5_000_000)
    module = running(make, seconds=12.0)
    spoil, decoder, stream = LineFaults(**faults, seed=3), Decoder(), ModuleStream()
    found, sent = [], b""
    for time_us in range(0, 10_000_001, 20_000):
        data = module.run_until(time_us)
        sent += data
        for frame in decoder.feed(spoil(data)):
            found += stream.take(frame, time_us * 1e-6)
    truth = {s.module_s: s for s in _all(sent)}
    if stream.hello is None:  # the only hello was hit; a host asks again
        assert stream.counts.samples == 0
        return
    right = [s for s in found if s.module_s in truth and s.readings == truth[s.module_s].readings]
    assert len(right) == len(found)
    first, last = found[0].module_s, found[-1].module_s
    between = sum(first <= t <= last for t in truth)
    assert stream.counts.lost + stream.counts.samples + stream.counts.doubtful == between
    assert stream.counts.resets == 0


def _all(data: bytes) -> list[Stamped]:
    stream, found = ModuleStream(), []
    for frame in Decoder().feed(data):
        found += stream.take(frame)
    return found


def test_units_of_odd_axes_fall_back_to_the_chips_own() -> None:
    assert Units.of(say.Hello(mag_axes=(0, 5, -3))).axes == (0, 1, 2)

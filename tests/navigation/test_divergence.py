"""A solution that cannot be trusted reports it; one that can does not."""

import numpy as np

from strapdown.navigation.divergence import LARGE, LARGE_S, REJECTED_S, divergences
from strapdown.navigation.eskf.outputs import Innovations

T = np.arange(0.0, 60.0, 0.1)


def innovations(nis, taken=None, degrees=1):
    return Innovations(T, nis, np.ones(len(T), dtype=bool) if taken is None else taken, degrees)


def test_innovations_of_an_honest_filter_are_no_divergence():
    rng = np.random.default_rng(3)
    for _ in range(20):
        assert divergences({"sideways": innovations(rng.chisquare(1, len(T)))}) == []
        assert divergences({"stop": innovations(rng.chisquare(3, len(T)), degrees=3)}) == []


def test_a_short_slide_is_none_and_a_long_one_is():
    for lasts_s, expected in ((0.2 * LARGE_S, 0), (LARGE_S, 1)):
        nis = np.ones(len(T))
        nis[(T >= 20.0) & (20.0 + lasts_s > T)] = 3.0 * LARGE
        found = divergences({"odometer": innovations(nis)})
        assert len(found) == expected
        if found:
            assert 20.0 < found[0].t_s < 20.0 + LARGE_S
            assert "do not trust" in found[0].sentence and "wheel" in found[0].sentence


def test_what_is_rejected_for_seconds_is_a_divergence():
    for lasts_s, expected in ((0.8 * REJECTED_S, 0), (1.2 * REJECTED_S, 1)):
        taken = ~((T >= 30.0) & (30.0 + lasts_s > T))
        assert len(divergences({"stop": innovations(np.ones(len(T)), taken, 3)})) == expected


def test_the_rejected_first_half_second_of_each_stop_is_no_five_seconds():
    """Stops of 1 s every 20 s, rejected for half of each until the filter insists."""
    t = np.concatenate([20.0 * k + np.arange(0.0, 1.0, 0.01) for k in range(6)])
    stop = Innovations(t, np.ones(len(t)), t % 20.0 > 0.5, 3)
    assert divergences({"stop": stop}) == []


def test_a_disturbed_field_is_none():
    assert divergences({"heading": innovations(np.full(len(T), 100.0))}) == []


def test_the_first_moment_of_a_stop_is_none():
    """A stop sets the speed right: its first sample may be a thousand sigmas off, and a stop is a second of ten."""
    nis = np.ones(len(T))
    nis[(T * 10).round() % 100 == 50] = 1e6
    assert divergences({"stop": innovations(nis)}) == []
    some = T % 20.0 < 1.0
    rare = Innovations(T[some], np.full(some.sum(), 20.0), np.ones(some.sum(), dtype=bool), 1)
    assert divergences({"stop": rare}) == []
    dense = Innovations(T, np.full(len(T), 20.0), np.ones(len(T), dtype=bool), 1)
    assert len(divergences({"stop": dense})) == 1


def test_a_stop_that_turns_is_none():
    assert divergences({"still": innovations(np.full(len(T), 100.0), np.zeros(len(T), dtype=bool), 3)}) == []

"""Pictures of long logs keep what stands out, and estimates that are far off are refused in words."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.evaluation.evaluate import evaluate
from strapdown.evaluation.matching import Positions
from strapdown.reporting.thinning import MOST_POINTS, cloud, evenly, peaks
from strapdown.types import Solution


@pytest.mark.parametrize("n", [1, 1999, 2000, 2001, 123_457, 1_000_000])
def test_few_rows_in_order_and_every_peak(n):
    values = np.sin(np.arange(n) * 0.01)
    at = n // 3
    values[at] = 50.0
    for rows in (peaks(values), cloud(values), evenly(n)):
        assert len(rows) <= MOST_POINTS + 4 and (np.diff(rows) > 0).all()
        assert rows[0] == 0 and rows[-1] == n - 1
    assert at in peaks(values) and at in cloud(values)


def test_an_estimate_beyond_all_bounds_is_refused():
    t = np.arange(10.0)
    q = np.tile([1.0, 0.0, 0.0, 0.0], (10, 1))
    p = np.zeros((10, 3))
    p[5:, 0] = 1e12
    with pytest.raises(InputError, match=r"beyond 1e\+09 m"):
        evaluate(Solution(t, q, p), Positions(t, np.zeros((10, 3))))

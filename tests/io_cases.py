"""A recording with everything in it, and ways to compare and refuse."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from strapdown.errors import InputError
from strapdown.io import read
from strapdown.sample import Fixes, Heights
from strapdown.types import SLOW, Increments, Motion, Recording

SUFFIXES = ("csv", "csv.gz", "parquet")
FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


def outside(n, rng):
    """Fixes, heights and the flags of slow instruments."""
    fix = [Fixes(rng.normal(size=(n, 3)), rng.random((n, 3)), rng.normal(size=n)) for _ in range(2)]
    given = {"position_fix": fix[0], "velocity_fix": fix[1], "height": Heights(rng.normal(size=n), rng.random(n))}
    return {**given, "new": {name: rng.random(n) > 0.5 for name in SLOW}}


def recording(n=6, seed=0, truth=True, increments=True, meta=None):
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.001, 0.02, n))

    def triad():
        return rng.normal(size=(n, 3))

    q_nb = rng.normal(size=(n, 4))
    q_nb /= np.linalg.norm(q_nb, axis=1)[:, None]
    return Recording(
        t,
        triad(),
        triad(),
        triad(),
        rng.normal(20.0, 5.0, n),
        rng.random(n) > 0.5,
        np.cumsum(rng.random(n)),
        Increments(t, rng.random(n), triad(), triad()) if increments else None,
        Motion(t, triad(), triad(), triad(), q_nb, triad(), triad()) if truth else None,
        {"part": "ADIS16470", "rate_hz": 200.0} if meta is None else meta,
        rng.normal(size=(n, 2)),
        rng.random(n) > 0.5,
        **outside(n, rng),
    )


def assert_same_bits(a, b):
    assert type(a) is type(b)
    for field in fields(a):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.name == "meta":
            assert dict(x) == dict(y)
        elif field.name == "new":
            assert x.keys() == y.keys()
            assert all(np.array_equal(x[name], y[name]) for name in x)
        elif field.name in ("increments", "truth", "position_fix", "velocity_fix", "height") and x is not None:
            assert_same_bits(x, y)
        elif x is None:
            assert y is None, field.name
        else:
            assert x.dtype == y.dtype
            assert x.tobytes() == y.tobytes(), field.name


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def spoken(path, columns=None):
    """The one sentence that a bad file gives."""
    with pytest.raises(InputError) as caught:
        read(path, columns)
    text = str(caught.value)
    assert "\n" not in text
    assert Path(path).name in text
    return text

"""Recordings from arrays and pandas tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.motion import Tumble
from strapdown.sensors import Imu, record
from strapdown.types import Recording

VALUES = arrays(np.float64, (5, 3), elements=st.floats(-30.0, 30.0))


@given(VALUES, VALUES)
def test_units_are_those_of_the_names(gyr, acc):
    si = Recording.from_arrays(t_s=np.arange(5) * 0.01, gyr_rad_s=np.radians(gyr), acc_m_s2=acc * STANDARD_GRAVITY)
    other = Recording.from_arrays(t_us=np.arange(5) * 10_000, gyr_deg_s=gyr, acc_g=acc)
    for name in ("t", "gyr_s", "acc_s"):
        np.testing.assert_allclose(getattr(other, name), getattr(si, name), rtol=1e-14, atol=1e-300)  # roundoff


def test_forward_right_down_is_turned_to_our_axes():
    log = Recording.from_arrays(rate_hz=100.0, acc_g=[[0.1, 0.2, -1.0]] * 3, gyr_deg_s=np.zeros((3, 3)), frame="frd")
    np.testing.assert_allclose(log.acc_s[0] / STANDARD_GRAVITY, [0.1, -0.2, 1.0], rtol=1e-15)
    np.testing.assert_allclose(log.t, [0.0, 0.01, 0.02])


@pytest.mark.parametrize(
    ("given_arrays", "sentence"),
    [
        ({"acc_g": np.zeros((3, 3))}, "no times"),
        ({"rate_hz": 0.0, "acc_g": np.zeros((3, 3))}, "rate above 0"),
        ({"rate_hz": 10.0, "t_s": [0.0, 1.0]}, "one of them"),
        ({"rate_hz": 10.0, "gyr_deg_s": np.zeros((2, 3)), "gyr_rad_s": np.zeros((2, 3))}, "two units"),
        ({"rate_hz": 10.0, "acc_g": np.zeros((3, 5))}, "transpose"),
        ({"rate_hz": 10.0, "acc_g": np.zeros((3, 3)), "frame": "xyz"}, "frame"),
        ({}, "no readings"),
    ],
)
def test_wrong_use_is_one_sentence(given_arrays, sentence):
    with pytest.raises(InputError, match=sentence):
        Recording.from_arrays(**given_arrays)


def test_an_unknown_name_is_refused_by_name():
    with pytest.raises(TypeError, match="gyr_dps"):
        Recording.from_arrays(rate_hz=10.0, gyr_dps=np.zeros((2, 3)))


def test_a_table_of_pandas_holds_every_bit():
    pandas = pytest.importorskip("pandas")
    log = record(Tumble(20.0), Imu("imu", rate_hz=50.0))
    table = log.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(log)
    again = Recording.from_pandas(table)
    for name in ("t", "gyr_s", "acc_s"):
        np.testing.assert_array_equal(getattr(again, name), getattr(log, name))
    np.testing.assert_array_equal(again.truth.q_nb, log.truth.q_nb)
    assert dict(again.meta) == dict(log.meta)


def test_a_foreign_table_is_read_by_a_mapping():
    pandas = pytest.importorskip("pandas")
    columns = {f"{a}{x}": [0.0, 1.0, 2.0] for a in "ag" for x in "xyz"}
    table = pandas.DataFrame({"ms": [0, 10, 20], **columns})
    mapping = {"t": {"column": "ms", "unit": "ms"}}
    mapping |= {f"acc_{x}": {"column": f"a{x}", "unit": "g"} for x in "xyz"}
    mapping |= {f"gyr_{x}": {"column": f"g{x}", "unit": "deg/s"} for x in "xyz"}
    log = Recording.from_pandas(table, mapping)
    np.testing.assert_allclose(log.acc_s[2], 2.0 * STANDARD_GRAVITY)
    np.testing.assert_allclose(log.gyr_s[2], np.radians(2.0))
    with pytest.raises(InputError, match="none of our columns"):
        Recording.from_pandas(table)

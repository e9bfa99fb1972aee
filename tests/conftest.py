"""Every test begins with compiled kernels, as every run of a user but the first."""

import os

import pytest

from strapdown.kernels.compiled import compile_all

# pytest-xdist gives its workers the width of a terminal; commands write to a pipe here, which has none
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    list(compile_all())

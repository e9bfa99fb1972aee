"""Every test begins with compiled kernels, as every run of a user but the first."""

import pytest

from strapdown.kernels.compiled import compile_all


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    list(compile_all())

"""Every test begins with compiled kernels, as every run of a user but the first."""

import os

import pytest

from installed_wheel import install_wheel
from strapdown.kernels.compiled import compile_all

# pytest-xdist gives its workers the width of a terminal; commands write to a pipe here, which has none
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    list(compile_all())


@pytest.fixture(scope="session")
def installed_site(compiled_kernels, tmp_path_factory):
    """Folder with the package installed from a wheel; see installed_wheel.run_installed."""
    pytest.importorskip("hatchling")
    return install_wheel(tmp_path_factory.mktemp("wheel"))

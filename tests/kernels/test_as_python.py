"""Kernels run without compilation, for debugging, and give the numbers of the compiled ones."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernel_families
import strapdown.kernels
from strapdown.kernels.jit import python_not_constant, python_pointer, python_row


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Results of every family, computed without compilation."""
    stored = tmp_path_factory.mktemp("families") / "python.npz"
    subprocess.run(
        [sys.executable, kernel_families.__file__, str(stored)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        timeout=300,
    )
    with np.load(stored) as found:
        return dict(found)


def test_every_family_runs_as_python_with_the_same_results(python):
    compiled = kernel_families.every_family()
    assert compiled.keys() == python.keys() - {"files"}
    for name, value in compiled.items():
        if value.dtype == bool:
            assert np.array_equal(value, python[name]), name
        else:
            # a compiled kernel may fuse products and sums: a few roundoffs of the largest number, over 200 samples
            atol = 1e-13 * np.abs(value).max()
            np.testing.assert_allclose(python[name], value, rtol=0.0, atol=atol, err_msg=name)


def test_every_file_of_kernels_takes_part(python):
    """A new file of kernels must be tried here too."""
    root = Path(strapdown.kernels.__file__).parent
    names = ("cache", "callees", "compiling", "compiled", "engine_calls", "remembered_types")
    machinery = {root / f"{name}.py" for name in names}
    with_functions = {path for path in root.rglob("*.py") if "\ndef " in path.read_text(encoding="utf-8")}
    missing = with_functions - machinery - {Path(path) for path in python["files"]}
    assert not {str(path.relative_to(root)) for path in missing}


def test_a_pointer_as_python_counts_from_its_place():
    table = np.arange(12.0).reshape(4, 3)
    assert python_pointer(table)[7] == 7.0 and python_row(table, 2)[4] == 10.0  # past the end of a row, as compiled
    python_row(table, 1)[0] = -1.0
    assert table[1, 0] == -1.0  # a view
    with pytest.raises(ValueError):
        python_pointer(table.T)
    assert python_not_constant((1, 2)) == (1, 2)

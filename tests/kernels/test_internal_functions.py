"""Functions that only kernels call have no machine code of their own: a call from Python would end the process."""

import importlib
import inspect
import pkgutil
import re

import pytest
from numba import config
from numba.core.dispatcher import Dispatcher

import strapdown

KERNELS = "strapdown.kernels"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_no_module_outside_of_kernels_uses_one():
    names = [m.name for m in pkgutil.walk_packages(strapdown.__path__, "strapdown.") if "__main__" not in m.name]
    modules = [importlib.import_module(name) for name in names]
    internal = {
        id(value)
        for module in modules
        if module.__name__.startswith(KERNELS)
        for value in vars(module).values()
        if isinstance(value, Dispatcher) and value.targetoptions.get("no_cpython_wrapper")
    }
    assert len(internal) > 100  # the check sees them
    wrong = []
    for module in modules:
        if module.__name__.startswith(KERNELS):
            continue
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            if id(value) in internal:
                wrong.append(f"{module.__name__}: {name}")
            if inspect.ismodule(value) and value.__name__.startswith(KERNELS):
                used = set(re.findall(rf"\b{name}\.([a-z_]\w*)", source))
                wrong += [f"{module.__name__}: {name}.{u}" for u in used if id(getattr(value, u, None)) in internal]
    assert not wrong

"""What we use of numba beyond its decorators. A failure here names what a new version of numba has changed."""

from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
from numba.core import options
from numba.core.caching import FunctionCache
from numba.core.compiler import DefaultPassBuilder, Flags
from numba.core.dispatcher import Dispatcher

from strapdown.kernels import cache, callees, jit, remembered_types, rotation

SOURCES = Path(cache.__file__).parent


def test_private_names_of_numba_appear_in_two_files_alone():
    """_nrt saves a sixth of a live step, those in callees.py a third of the first compilation."""
    private = ("_nrt", "_can_compile", "_cache_file", "._cache", "_index_path", "_impl_class", "_compile_for_args")
    of_callees = ["_finalize", "_ensure_finalized", "_optimize_final_module", "JITCodeLibrary", "CompilerBase"]
    private += tuple(of_callees)
    allowed = {"jit.py": ["_nrt"], "callees.py": of_callees}
    for path in SOURCES.rglob("*.py"):
        found = [name for name in private if name in path.read_text(encoding="utf-8")]
        assert found == allowed.get(path.name, []), f"{path.name} uses {found}"


def test_the_option_that_live_steps_use_exists():
    assert hasattr(options.DefaultOptions, "_nrt"), (
        f"numba {numba.__version__} has no option _nrt: live steps count references again (kernels/jit.py)"
    )
    assert jit.UNCOUNTED == {"_nrt": False}


def test_functions_that_only_kernels_call_get_no_machine_code():
    """The kernel holds the code of its callee; the engine that runs machine code knows the kernel alone."""
    assert callees.PIPELINE is not None, (
        f"numba {numba.__version__} lacks one of {callees.NEEDED}: the first compilation takes a third longer "
        "(kernels/callees.py)"
    )

    @jit.internal
    def half(x):
        return 0.5 * x

    @numba.njit
    def total(x):
        return half(x) + 1.0

    assert total(3.0) == 2.5
    libraries = [next(iter(function.overloads.values())).library for function in (half, total)]
    assert [type(library).__name__ for library in libraries] == ["CalleeLibrary", "JITCodeLibrary"]
    engine = libraries[1].codegen._engine
    known = [
        engine.is_symbol_defined(next(iter(function.overloads.values())).fndesc.llvm_func_name)
        for function in (half, total)
    ]
    assert known == [False, True]


def test_the_passes_that_callees_leave_out_exist():
    """A pass that numba has renamed would run again, and take its time."""
    state = SimpleNamespace(func_ir=None, flags=Flags())
    known = {each.__name__ for each, _ in DefaultPassBuilder.define_nopython_pipeline(state).passes}
    missing = [name for name in callees.NOT_NEEDED if name not in known]
    assert not missing, f"numba {numba.__version__} has no passes {missing} (kernels/callees.py)"


def test_remembered_types_are_those_that_numba_answers():
    """Every answer that compiling a filter left behind, asked again of numba itself."""
    assert remembered_types.BaseFunction is not None, (
        f"numba {numba.__version__} has no types.functions.BaseFunction: the first compilation takes a fifth longer "
        "(kernels/remembered_types.py)"
    )
    remembered_types.remember_types()

    @numba.njit
    def many(x, n):
        total = 0.0
        for i in range(n):
            total += x[i] * 2.0 - (i + 1) / 3.0 if x[i] > 0.5 or i == n - 1 else -(x[i] ** 2)
        return total

    x = np.linspace(0.0, 1.0, 5)
    answers = dict(remembered_types._answers)
    assert np.isclose(many(x, 5), many.py_func(x, 5), rtol=1e-15)
    new = {key: value for key, value in remembered_types._answers.items() if key not in answers}
    assert len(remembered_types._answers) > 5
    context = numba.core.registry.cpu_target.typing_context
    ask = remembered_types.BaseFunction.get_call_type.__wrapped__
    for (_, args), (answer, function) in (new or remembered_types._answers).items():
        assert function.typing_key in remembered_types.OPERATORS
        assert ask(function, context, args, {}) == answer


def test_the_methods_that_we_guard_exist():
    for owner, name in (
        (Dispatcher, "enable_caching"),
        (FunctionCache, "load_overload"),
        (FunctionCache, "save_overload"),
    ):
        assert hasattr(getattr(owner, name, None), "__wrapped__"), (
            f"numba {numba.__version__} has no {owner.__name__}.{name}: kernels/cache.py cannot handle a damaged cache"
        )


def test_the_public_names_that_we_use_exist():
    for owner, names in (
        (rotation.mul_rows, ("compile", "disable_compile", "stats", "py_func")),
        (rotation.mul_rows.stats, ("cache_path", "cache_misses")),
        (FunctionCache, ("cache_path", "flush")),
        (numba.config, ("DISABLE_JIT", "CACHE_DIR")),
    ):
        missing = [name for name in names if not hasattr(owner, name)]
        assert not missing, f"numba {numba.__version__} has no {missing} of {owner!r} (kernels/compiled.py, cache.py)"


def test_pointers_are_still_compiled():
    """They are made of numba's view of an array, which a new version may change."""

    @numba.njit
    def third(table):
        return jit.pointer(table)[2] + 10.0 * jit.row(table, 1)[1] + jit.not_constant(100)

    assert third(np.arange(6.0).reshape(2, 3)) == 2.0 + 40.0 + 100.0


def test_other_functions_with_a_numba_cache_are_left_alone():
    """The guards act on our kernels only."""

    class Cache(FunctionCache):
        def __init__(self):
            self._cache_path = "/somewhere/else"
            self._enabled = True

        def flush(self):
            raise AssertionError("flushed")

    try:
        Cache().save_overload((), None)
    except AttributeError:
        return  # numba's own error: the object is not complete
    raise AssertionError("an error was hidden")

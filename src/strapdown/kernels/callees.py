"""How numba compiles a function that only kernels call: without machine code of its own.

A kernel has a copy of all functions that it calls, as LLVM's code. LLVM optimises that copy and makes the kernel's
machine code from it. numba would also optimise every callee alone and make its machine code. The machine code of
callees is never called, and it takes a third of the time of compilation.
"""

from typing import Any

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import FunctionPass, register_pass
    from numba.core.typed_passes import NopythonTypeInference
except ImportError:  # numba has moved one of them; tests/kernels/test_numba.py reports that
    JITCodeLibrary = object

# what numba looks for and these functions do not have: closures, array expressions, with blocks, raised errors,
# callees to inline before typing; it takes a tenth of the time of compilation
NOT_NEEDED = (
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "DumpParforDiagnostics",
)
NEEDED = (
    "_optimize_final_module",
    "_finalize_final_module",
    "_finalize_dynamic_globals",
    "finalize",
    "get_pointer_to_function",
    "codegen",
)


def _pipeline() -> type | None:
    """numba's compiler with one additional pass. None if numba has changed: callees then get machine code."""
    if not all(hasattr(JITCodeLibrary, name) for name in NEEDED):
        return None

    class CalleeLibrary(JITCodeLibrary):
        """The code of a callee: ready to be copied into kernels and optimised there; it gets no machine code."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0  # numba's answer for a function that does not exist

        @property
        def codegen(self) -> Any:
            return NoEnvironment

    class NoEnvironment:
        """Replacement for the store that numba makes for functions that raise or print; kernels do neither."""

        @staticmethod
        def set_env(name: str, env: Any) -> None:
            pass

    @register_pass(mutates_CFG=False, analysis_only=True)
    class WithoutMachineCode(FunctionPass):
        _name = "strapdown_without_machine_code"

        def __init__(self) -> None:
            FunctionPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            state.library = CalleeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            return False

    class Callee(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [each for each in passes.passes if each[0].__name__ not in NOT_NEEDED]
            passes.add_pass_after(WithoutMachineCode, NopythonTypeInference)
            passes.finalize()
            return [passes]

    return Callee


PIPELINE = _pipeline()

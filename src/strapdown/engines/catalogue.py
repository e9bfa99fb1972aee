"""The engines by name, what each needs to be installed, and what it can do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from strapdown.errors import InputError

MUJOCO, PYBULLET, DRAKE, COPPELIASIM = "mujoco", "pybullet", "drake", "coppeliasim"


@dataclass(frozen=True)
class Engine:
    """integrators: names that its rigs may give, the first is the default. module: what Python imports."""

    name: str
    title: str
    module: str
    integrators: tuple[str, ...]


ENGINES = {
    engine.name: engine
    for engine in (
        Engine(MUJOCO, "MuJoCo", "mujoco", ("rk4", "implicitfast", "discrete", "euler")),
        Engine(PYBULLET, "PyBullet", "pybullet", ("euler",)),
        Engine(DRAKE, "Drake", "pydrake", ("rk4", "discrete")),
        Engine(COPPELIASIM, "CoppeliaSim", "coppeliasim_zmqremoteapi_client", ()),
    )
}


def engine_named(name: str) -> Engine:
    """The engine of that name, installed; raises InputError with the valid names, or with the extra to install."""
    if name not in ENGINES:
        raise InputError(f'engine "{name}" is not known; valid names: {", ".join(ENGINES)}')
    engine = ENGINES[name]
    if find_spec(engine.module) is None:
        raise InputError(f'engine "{name}" is not installed; install it with: pip install "strapdown[{name}]"')
    return engine


@contextmanager
def loaded(name: str) -> Iterator[None]:
    """Around imports of an engine: one that is there and does not load, as built for another NumPy, is one sentence."""
    try:
        yield
    except ImportError as error:
        text = " ".join(str(error).split())[:120]
        raise InputError(
            f'engine "{name}" is installed and cannot be loaded ({text}); install it again with: '
            f'pip install --force-reinstall "strapdown[{name}]"'
        ) from None


def integrator_of(engine: Engine, given: str | None) -> str:
    """The integrator of a rig or of a plant; None: the engine's default."""
    if given is None:
        return engine.integrators[0]
    if given not in engine.integrators:
        valid = ", ".join(engine.integrators) or "none, the simulator chooses"
        raise InputError(f'engine "{engine.name}" has no integrator "{given}"; valid names: {valid}')
    return given


def needs_mujoco(what: str) -> InputError:
    """For parts that only MuJoCo simulates here."""
    return InputError(f'{what} needs MuJoCo; set engine = "{MUJOCO}" or remove the engine')

"""import strapdown as sd is enough: every public name loads, completion shows it, and a whole program runs."""

import importlib
import inspect
from pathlib import Path

import pytest

import strapdown as sd
from installed_wheel import run_installed

PACKAGE = Path(sd.__file__).parent
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
PROGRAM = """
import strapdown as sd
path = sd.motion.StopAndGo.square(first_rest_s=10)
imu  = sd.load_part("MPU-6050").draw(seed=1, rate_hz=200)
log  = sd.record(path, imu, seed=1)                       # with truth and stop flag; part and gravity in its meta
att  = sd.orientation.Lodestar().smooth(log)              # six axes: this log has no field
nav  = sd.navigate(log, sd.WheeledRobot(heading_deg=0))   # the rest from the log's facts; states what it assumed
print(sd.evaluate(nav, log.truth))
sd.report("out.html", nav, truth=log.truth)
"""


def package_of(stub):
    return importlib.import_module(".".join(("strapdown", *stub.parent.relative_to(PACKAGE).parts)))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_every_name_of_a_stub_loads_and_is_shown(stub):
    package = package_of(stub)
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))


def test_no_public_function_has_the_name_of_a_package():
    inits = [path.relative_to(PACKAGE).parent.parts for path in PACKAGE.rglob("__init__.py")]
    packages = {parts[-1] for parts in inits if parts and parts[0] != "cli"}  # cli names its folders after commands
    functions = {
        name
        for stub in STUBS
        for name in package_of(stub).__all__
        if inspect.isfunction(getattr(package_of(stub), name))
    }
    assert len(functions) > 30
    assert not functions & packages


def test_a_function_with_the_name_of_its_module_stays_a_function():
    import strapdown.evaluation.evaluate
    import strapdown.sensors.record  # noqa: F401

    assert callable(sd.evaluation.evaluate) and callable(sd.sensors.record)


def test_keywords_are_visible_in_help():
    assert "heading_deg" in inspect.signature(sd.WheeledRobot).parameters
    assert {"truth", "title"} <= set(inspect.signature(sd.report).parameters)
    assert {"rate_hz", "frame"} <= set(inspect.signature(sd.Recording.from_arrays).parameters)


def test_the_first_program_runs_from_an_installed_wheel_without_a_warning(installed_site, tmp_path):
    """Character for character; then what its comments promise."""
    promises = """
print(repr(att), log.meta["part"], log.meta["gravity_m_s2"], log.truth is not None, log.stop is not None)
print(nav)
"""
    done = run_installed(installed_site, PROGRAM + promises, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "horizontal error at the end" in done.stdout
    assert "lodestar, 6 axes" in done.stdout and "MPU-6050 9.80665 True True" in done.stdout
    assert "<html" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert not done.stderr

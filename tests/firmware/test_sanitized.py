"""The tests of the firmware once more, compiled with the address and undefined behaviour sanitizers of gcc."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from firmware_host import need

HERE = Path(__file__).parent
TESTS = ("test_protocol_in_c.py", "test_portable_module.py", "test_stm32_layer.py")
LONG = "whole_firmware or lights or light or idle or set_rate"  # the same code as the others, for longer


def sanitizer():
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    return found if Path(found).is_absolute() else None


def run(*arguments):
    # the leak check would report what Python itself keeps until its end
    environment = {
        **os.environ,
        **{"FIRMWARE_SANITIZE": "1", "LD_PRELOAD": sanitizer() or "", "ASAN_OPTIONS": "detect_leaks=0"},
    }
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE)


@pytest.mark.skipif(bool(os.environ.get("FIRMWARE_SANITIZE")), reason="this is the run with sanitizers")
def test_all_firmware_tests_with_sanitizers():
    need("gcc")
    if sanitizer() is None:
        pytest.fail("gcc has no address sanitizer; install libasan") if os.environ.get("CI") else pytest.skip(
            "no libasan"
        )
    done = run(*(str(HERE / name) for name in TESTS), "-k", f"not ({LONG})")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout or "[100%]" in done.stdout


def test_the_sanitizers_are_awake(tmp_path):
    """The same flags find a write beyond an array, so that a silent run means something."""
    need("gcc")
    if sanitizer() is None:
        pytest.skip("no libasan")
    source = tmp_path / "wrong.c"
    source.write_text("void wrong(int at) { char a[4]; volatile char *p = a; p[at] = 1; }\n")
    flags = ["-fsanitize=address,undefined", "-fPIC", "-shared"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(tmp_path / "wrong.so")], check=True)
    code = f"import ctypes; ctypes.CDLL({str(tmp_path / 'wrong.so')!r}).wrong(9)"
    environment = {**os.environ, "LD_PRELOAD": sanitizer(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode != 0 and "stack-buffer-overflow" in done.stderr

"""The `strapdown` command: collects the commands, and turns every error into one sentence and an exit code."""

import contextlib
import errno
import os
import sys
import traceback

import typer

from strapdown.cli.allan import allan
from strapdown.cli.bridge import bridge
from strapdown.cli.calibrate.fits import calibrate
from strapdown.cli.campaign import campaign
from strapdown.cli.choose import choose
from strapdown.cli.convert import convert
from strapdown.cli.demo import demo
from strapdown.cli.device import device
from strapdown.cli.diagram import diagram
from strapdown.cli.evaluate import evaluate
from strapdown.cli.look import look
from strapdown.cli.navigate.command import navigate
from strapdown.cli.orient.command import orient
from strapdown.cli.reproduce.command import reproduce
from strapdown.cli.run import run as run_scenario
from strapdown.cli.sensors import sensors
from strapdown.cli.simulate import simulate
from strapdown.cli.studio import studio
from strapdown.cli.wrong_use import is_wrong_use, sentence, unwrap_help
from strapdown.regular_file import remembering_inputs, shown_path, unfinished_folders

app = typer.Typer(
    name="strapdown",
    help="Inertial navigation from motion to evaluation: virtual sensors on simulated robots, and the papers' "
    "experiments reproduced.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo)
app.command("look")(look)
app.command("convert")(convert)
app.command("simulate")(simulate)
app.command("run")(run_scenario)
app.command("reproduce")(reproduce)
app.command("allan")(allan)
app.add_typer(calibrate, name="calibrate")
app.command("orient")(orient)
app.command("navigate")(navigate)
app.command("evaluate")(evaluate)
app.add_typer(sensors, name="sensors")
app.add_typer(diagram, name="diagram")
app.add_typer(campaign, name="campaign")
app.command("choose")(choose)
app.command("studio")(studio)
app.add_typer(device, name="device")
app.add_typer(bridge, name="bridge")
unwrap_help((app, calibrate, sensors, diagram, campaign, device, bridge))


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        print(version("strapdown"))
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def run(arguments: list[str] | None = None) -> None:
    """Entry point. Exit codes: 0 success, 1 a claim does not hold or an internal error, 2 wrong use or bad input."""
    from strapdown.cli.screen import plain_characters
    from strapdown.errors import StrapdownError

    plain_characters()
    unfinished = unfinished_folders(sys.argv[1:] if arguments is None else arguments)
    if unfinished:
        from strapdown.io.folder import finish_interrupted  # not at every start: it takes a while

        finish_interrupted(unfinished)
    try:
        with remembering_inputs():
            code = app(arguments, standalone_mode=False, prog_name="strapdown")
        sys.stdout.flush()  # what the disk answers to it is for us to report, not for the interpreter's end
    except StrapdownError as error:
        _fail(str(error), 2)
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped; no file is half-written", 130)
    except MemoryError:
        _fail("there is not enough memory for this run; shorten it, or lower its rates", 2)
    except RecursionError:
        _fail("the input is nested too deeply; use plain values, tables and lists", 2)
    except BrokenPipeError:  # the reader of our output (head, less) has left
        _drop_output()
        sys.exit(0)
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        _drop_output()  # typer and rich catch a broken pipe themselves and exit with 1
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
            _drop_output()
            _fail(f"cannot write to standard output: {error.strerror}; send it elsewhere, or free some space", 2)
        where = "" if error.filename is None else f" {shown_path(str(error.filename))}"
        _fail(f"cannot use{where}: {error.strerror or error}; check the path, its permissions and the disk", 2)
    except Exception as error:
        if is_wrong_use(error):
            message = sentence(error, typer.main.get_command(app), sys.argv[1:] if arguments is None else arguments)
            if not message:  # no command at all: the help has been shown
                sys.exit(2)
            _fail(message, 2)
        if os.environ.get("STRAPDOWN_DEBUG"):
            traceback.print_exc()
        what = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        _fail(f"internal error ({what}); please report it, with STRAPDOWN_DEBUG=1 for the details", 1)
    if code == 130:  # the option parser has caught Ctrl-C
        _fail("stopped; no file is half-written", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _drop_output() -> None:
    """Send nothing more to standard output. The interpreter would try again at its end, and fail with a traceback."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    with contextlib.suppress(OSError, ValueError):  # standard error may be closed or full: the exit code remains
        print(f"strapdown: {' '.join(message.split())}", file=sys.stderr, flush=True)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_output()
    sys.exit(code)


if __name__ == "__main__":
    run()

"""strapdown studio: the virtual environment in the browser."""

from pathlib import Path
from typing import Annotated

import typer


def studio(
    opened: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE_OR_DIR_OR_MODULE",
            help="A scenario (file, or name as in run --list), a recording, a robot file, a folder, a campaign; "
            "or a live module by its port: /dev/ttyUSB0, COM3, tcp://host:port.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0: any free one.")] = 8765,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="H", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other computers connect (with --host); nothing is encrypted.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Folder in which the page can save files by name.")
    ] = None,
    blocks: Annotated[
        list[Path] | None,
        typer.Option("--blocks", metavar="FILE.py", help="Python file with blocks of your own; it is run. Repeatable."),
    ] = None,
    baud: Annotated[int | None, typer.Option("--baud", metavar="N", help="Baud rate of a live module.")] = None,
    key: Annotated[
        str | None, typer.Option("--run", metavar="KEY", help="Open this run of a campaign; its folder comes first.")
    ] = None,
    new_token: Annotated[bool, typer.Option("--new-token", help="Replace the token of this port.")] = False,
) -> None:
    """Fly or drive a vehicle with virtual sensors in the browser; see and change everything while it runs.

    Example: strapdown studio quadcopter
    """
    from strapdown.cli import screen
    from strapdown.cli.run import KERNELS
    from strapdown.devices.link import is_address
    from strapdown.errors import InputError
    from strapdown.studio.server.access import bound_socket
    from strapdown.studio.server.app import STATIC
    from strapdown.studio.server.serving import serve
    from strapdown.studio.simulation.choices import own_files

    if folder is not None and not folder.is_dir():
        raise InputError(f"--folder {folder}: there is no such folder; create it first")
    device = opened if opened is not None and is_address(opened) else None
    file = None if opened is None or device is not None else Path(opened)
    campaign = file if file is not None and (file / "campaign.json").is_file() else None
    if key is not None:
        _check_run(campaign, opened, key)
    file = None if campaign is not None else file
    own_files(file)  # a wrong file is refused before anything starts
    if not (STATIC / "index.html").is_file():
        raise InputError(
            "the page of the studio is not built; with Node 20 or newer run `npm ci` and `npm run build` in the folder "
            "web of the repository, or install a wheel of strapdown, which has it"
        )
    bound_socket(host, port, allow_remote).close()  # a busy port is reported before kernels are compiled
    screen.ready(*KERNELS)
    serve(
        file,
        host=host,
        port=port,
        allow_remote=allow_remote,
        folder=folder,
        blocks=tuple(blocks or ()),
        new_token=new_token,
        browser=not no_browser,
        device=device,
        baud=baud,
        campaign=campaign,
        run=key,
    )


def _check_run(campaign: Path | None, opened: str | None, key: str) -> None:
    """A wrong key is refused before anything starts."""
    from strapdown.campaigns.replay import repeat
    from strapdown.errors import InputError

    if campaign is None:
        raise InputError(f"--run needs the folder of a campaign, and {opened} is none; name one that campaign run made")
    with repeat(campaign, key):
        pass

"""Start the studio: socket, token, server, browser; and end it cleanly."""

import contextlib
import threading
import webbrowser
from pathlib import Path

from strapdown.errors import InputError
from strapdown.studio.buffers import Buffers
from strapdown.studio.server.access import LOOPBACK, Access, bound_socket, state_folder, token_for
from strapdown.studio.server.app import STATIC, application, scratch_folder, server_of
from strapdown.studio.server.hub import Hub
from strapdown.studio.server.layouts import Layouts
from strapdown.studio.server.simulation_process import Settings


def serve(
    opened: Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    allow_remote: bool = False,
    folder: Path | None = None,
    blocks: tuple[Path, ...] = (),
    new_token: bool = False,
    browser: bool = False,
    buffers: Buffers | None = None,
    static: Path = STATIC,
    device: str | None = None,
    baud: int | None = None,
    campaign: Path | None = None,
    run: str | None = None,
) -> None:
    """Serve until Ctrl-C. The address with its token is printed.

    device: port of a live module to open first.
    campaign: folder of a campaign.
    run: key of one of its runs, opened first.
    """
    made = bound_socket(host, port, allow_remote)
    with contextlib.closing(made), scratch_folder() as scratch:
        port = made.getsockname()[1]
        token = token_for(port, new_token)
        settings = Settings(scratch, opened, folder, blocks, buffers or Buffers(), device, baud, campaign, run)
        hub = Hub(settings, Layouts(state_folder()))
        server = server_of(application(hub, Access(token, host, port), scratch / "uploads", static))
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{port}/?token={token}"
        threading.Thread(target=_announce, args=(server, address, host, browser), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt, SystemExit):  # SystemExit: the application did not start
            server.run(sockets=[made])
        if hub.failed:
            raise InputError(hub.failed)
        if not server.started:
            raise InputError("the simulation could not start; see the messages above")
        print("studio ended" + (f"; {hub.ended_with}" if hub.ended_with else ""), flush=True)


def _announce(server: object, address: str, host: str, browser: bool) -> None:
    """Print the address when the server is ready, and open a browser."""
    import time

    while not getattr(server, "started", False):
        if getattr(server, "should_exit", False):
            return
        time.sleep(0.02)
    print(f"studio: {address}", flush=True)
    if host not in LOOPBACK:
        print("other computers can reach this address; whoever has it can operate the studio, and nothing is encrypted")
    if browser:
        try:
            opened = webbrowser.open(address)
        except webbrowser.Error:
            opened = False
        if not opened:
            print("no browser could be opened; open the address above yourself", flush=True)
    print("Ctrl-C ends it", flush=True)

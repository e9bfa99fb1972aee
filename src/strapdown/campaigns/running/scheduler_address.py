"""Whether a Dask scheduler answers at an address: a sentence within seconds where there is none.

Dask itself tries a closed port again until its time is over, and waits without end for a program that is no scheduler.
"""

import socket
import time

from strapdown.errors import InputError

CONNECT_S = 5.0  # for a connection, and for the first bytes: three packets may be lost on the way
REFUSED_S = 2.0  # a port that is closed may be one of a scheduler that starts
_GREETING = 8  # bytes: length of the first message, in which Dask states its versions
_LONGEST = 1 << 20
_SCHEMES = ("tcp", "tls")


def check_scheduler(address: str) -> None:
    """InputError if nothing there is a Dask scheduler."""
    scheme, host, port = parsed(address)
    try:
        with _connected(host, port) as link:
            if scheme == "tcp":  # with TLS the client speaks first
                _check_greeting(link, address)
    except TimeoutError:
        raise InputError(_none(address, f"no answer within {CONNECT_S:g} s")) from None
    except socket.gaierror:
        raise InputError(_none(address, f"no computer is called {host}")) from None
    except OSError as error:
        raise InputError(_none(address, error.strerror or type(error).__name__)) from None


def parsed(address: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    scheme, found, place = address.strip().rpartition("://")
    host, colon, port = place.rpartition(":")
    scheme = scheme if found else "tcp"
    if scheme not in _SCHEMES or not colon or not host.strip("[]") or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f'"{address}" is not the address of a Dask scheduler; give one such as tcp://host:8786')
    return scheme, host.strip("[]"), int(port)


def _connected(host: str, port: int) -> socket.socket:
    until = time.monotonic() + REFUSED_S
    while True:
        try:
            return socket.create_connection((host, port), timeout=CONNECT_S)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
        time.sleep(0.2)


def _check_greeting(link: socket.socket, address: str) -> None:
    greeting = b""
    until = time.monotonic() + CONNECT_S
    while len(greeting) < _GREETING:
        link.settimeout(max(until - time.monotonic(), 1e-3))
        more = link.recv(_GREETING - len(greeting))
        if not more:
            raise InputError(_none(address, "the connection was closed"))
        greeting += more
    if not 0 < int.from_bytes(greeting, "little") < _LONGEST:
        raise InputError(_none(address, "another program answers"))


def _none(address: str, why: str) -> str:
    return f"there is no Dask scheduler at {address} ({why}); start one with `dask scheduler`, or check the address"

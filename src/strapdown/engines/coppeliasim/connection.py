"""A connection to a running CoppeliaSim that never waits for ever: every call ends with an answer or one sentence.

The public client (coppeliasim-zmqremoteapi-client) blocks without limit when no server answers, and also when a server
that lives makes no step. Here each call has a time limit. After a call was cut off the connection is closed: the two
sides would not agree any more on who speaks next.
"""

import math
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from strapdown.engines.catalogue import COPPELIASIM, engine_named, loaded
from strapdown.errors import InputError

DEFAULT_ADDRESS = "localhost:23000"
TIMEOUT_S = 4.0  # an answer takes milliseconds; a scene that is being loaded, a second or two
_LIVES_S = 0.2  # a server that lives answers this often that a call is not done yet
# A client that vanished in lockstep stops the whole simulator until the server forgets it; the client's own is 10 min
FORGET_S = 60
_LEAVE_S = 0.5  # for the answer to the last message: nothing depends on it
_SHOWN = 200  # characters of an answer in a message


class _Late(Exception):
    """The time of a call is over. waiting: the server answered all along that the call is not done yet."""

    def __init__(self, waiting: bool) -> None:
        super().__init__()
        self.waiting = waiting


def parsed_address(address: str) -> tuple[str, int]:
    """ "host:port" as a pair."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdigit() and 0 < int(port) < 65536):
        raise InputError(f'server address "{address}" is not known; give host:port, like {DEFAULT_ADDRESS}')
    return host, int(port)


class Connection:
    """One client. Calls are made by name; answers are checked by the methods that end in what they expect."""

    def __init__(self, address: str = DEFAULT_ADDRESS, timeout_s: float = TIMEOUT_S) -> None:
        engine_named(COPPELIASIM)
        if not (math.isfinite(timeout_s) and timeout_s > 0.0):
            raise InputError(f"timeout_s is {timeout_s}; give a number of seconds above 0")
        self.address, self.timeout_s = address, timeout_s
        self._client: Any = None
        host, port = parsed_address(address)
        self._knock(host, port)
        with loaded(COPPELIASIM):
            self._client = _client_class()(host, port)
        self._constants: dict[str, Any] = {}
        self._constants = self._constants_of("sim")

    def _knock(self, host: str, port: int) -> None:
        """Whether anything listens there: a refused connection is known at once, and not only after the time limit."""
        try:
            socket.create_connection((host, port), timeout=self.timeout_s).close()
        except OSError as error:
            reason = error.strerror or "no answer"
            raise InputError(
                f"no CoppeliaSim listens at {self.address} ({reason}); start CoppeliaSim with its ZMQ remote API "
                "server, or give its address"
            ) from None

    def close(self) -> None:
        """End the connection; further calls are refused."""
        client, self._client = self._client, None
        if client is not None:
            client.leave()

    def require(self, module: str) -> None:
        """Load a module of the server ("simURDF")."""
        self.call("zmqRemoteApi.require", module)

    def constant(self, name: str) -> int:
        """A constant of sim by its name."""
        found = self._constants.get(name)
        if not isinstance(found, dict) or not isinstance(found.get("const"), int):
            raise InputError(f"CoppeliaSim at {self.address} has no constant sim.{name}; version 4.10 is supported")
        return int(found["const"])

    def call(self, function: str, *arguments: Any) -> Any:
        """The answer of a function: None, a value, or a tuple of values."""
        if self._client is None:
            raise InputError(f"the connection to CoppeliaSim at {self.address} is closed; connect again")
        with self._sentences(function):
            self._client.begin(self.timeout_s)
            return self._client.call(function, list(arguments))

    def number(self, function: str, *arguments: Any) -> float:
        found = self.call(function, *arguments)
        if not _is_number(found):
            raise self._unexpected(function, found, "a number")
        return float(found)

    def handle(self, function: str, *arguments: Any) -> int:
        found = self.call(function, *arguments)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise self._unexpected(function, found, "the handle of an object")
        return found

    def whole_number(self, function: str, *arguments: Any) -> int:
        found = self.call(function, *arguments)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self._unexpected(function, found, "a whole number")
        return found

    def numbers(self, count: int, function: str, *arguments: Any) -> list[float]:
        found = self.call(function, *arguments)
        if not isinstance(found, list | tuple) or len(found) != count or not all(map(_is_number, found)):
            raise self._unexpected(function, found, f"{count} numbers")
        return [float(x) for x in found]

    def _constants_of(self, module: str) -> dict[str, Any]:
        self.require(module)
        found = self.call("zmqRemoteApi.info", module)
        if not isinstance(found, dict):
            raise self._unexpected("zmqRemoteApi.info", found, "a list of names")
        return found

    def _unexpected(self, function: str, found: Any, wanted: str) -> InputError:
        return InputError(
            f"CoppeliaSim at {self.address} answered {_short(found)} to {function}, expected {wanted}; check its "
            "version (4.10 is supported)"
        )

    @contextmanager
    def _sentences(self, function: str) -> Iterator[None]:
        """What goes wrong in a call, as one sentence."""
        try:
            yield
        except _Late as late:
            self.close()
            if late.waiting:
                raise InputError(
                    f"CoppeliaSim at {self.address} has not finished {function} after {self.timeout_s:g} s; is the "
                    "simulation paused, or a dialog open in it?"
                ) from None
            raise InputError(
                f"CoppeliaSim at {self.address} did not answer {function} within {self.timeout_s:g} s; check that it "
                "runs and that nothing else holds its remote API"
            ) from None
        except _Refused as refused:
            raise InputError(f"CoppeliaSim refused {function}: {_short(str(refused))}") from None
        except _Unreadable:
            self.close()
            raise InputError(
                f"what listens at {self.address} does not speak as CoppeliaSim does (answer to {function}); check the "
                "address"
            ) from None
        except Exception as error:  # of the client's own: what it makes of an answer that it does not expect
            self.close()
            raise InputError(
                f"the call of {function} in CoppeliaSim at {self.address} failed ({type(error).__name__}: "
                f"{_short(str(error))}); connect again"
            ) from None


class _Refused(Exception):
    """The server's own words on what it refuses."""


class _Unreadable(Exception):
    """An answer that is no answer of this protocol."""


def _client_class() -> Any:
    """The public client with a time limit for each call; made here, since its package is imported only when needed."""
    import cbor2
    import zmq
    from coppeliasim_zmqremoteapi_client import RemoteAPIClient

    class Client(RemoteAPIClient):
        def __init__(self, host: str, port: int) -> None:
            super().__init__(host, port)
            self.socket.setsockopt(zmq.LINGER, 0)  # or the end of the program would wait for a server that is gone
            self.timeout = FORGET_S  # sent with the first message
            self._pending = False

        def _send(self, request: Any) -> None:
            super()._send(request)
            self._pending = True

        def leave(self) -> None:
            """Take leave, unless a call was cut off: the server forgets this client and its lockstep at once."""
            try:
                if self.sendCnt and not self._pending:
                    self._send({"func": "_*end*_", "args": []})
                    self.socket.poll(1000.0 * _LEAVE_S)
            finally:
                self.socket.close(linger=0)

        def begin(self, timeout_s: float) -> None:
            self._end_s, self._heard_s = time.monotonic() + timeout_s, -math.inf

        def _recv(self) -> Any:
            left_s = self._end_s - time.monotonic()
            if left_s <= 0.0 or not self.socket.poll(1000.0 * left_s):
                raise _Late(time.monotonic() - self._heard_s < _LIVES_S)
            try:
                self._pending = False
                reply = cbor2.loads(self.socket.recv())
            except Exception:
                raise _Unreadable from None
            if not isinstance(reply, dict) or not {"ret", "err", "func"} & set(reply):
                raise _Unreadable
            if "err" in reply:
                raise _Refused(str(reply["err"]))
            self._heard_s = time.monotonic()
            return reply

    return Client


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _short(found: Any) -> str:
    text = " ".join((found if isinstance(found, str) else repr(found)).split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."

"""Access to the studio: a token in a private file, a cookie, allowed hosts and origins, a content policy."""

import hmac
import ipaddress
import os
import secrets
import socket
import stat
import sys
from pathlib import Path
from urllib.parse import urlsplit

from strapdown.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def state_folder() -> Path:
    """Folder of the tokens and layouts of this user."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    folder = Path(base) / "strapdown"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def token_for(port: int, new: bool = False, folder: Path | None = None) -> str:
    """The token of this user and port; a new one if there is none, or if others could have read it."""
    path = (state_folder() if folder is None else folder) / f"studio-{port}.token"
    if not new:
        try:
            kept = path.read_text(encoding="ascii").strip()
            mode = path.lstat()
        except (OSError, UnicodeDecodeError):
            kept = ""
        else:
            private = sys.platform == "win32" or (
                stat.S_ISREG(mode.st_mode) and not mode.st_mode & 0o077 and mode.st_uid == os.getuid()
            )
            if private and len(kept) >= 32:
                return kept
    token = secrets.token_urlsafe(32)
    path.unlink(missing_ok=True)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"{path}: the token cannot be written ({error.strerror}); check the folder") from None
    with os.fdopen(file, "w", encoding="ascii") as out:
        out.write(token)
    return token


def bound_socket(host: str, port: int, allow_remote: bool) -> socket.socket:
    """A socket that listens there. Raises InputError for another address than the loopback, or a port in use."""
    if host not in LOOPBACK and not allow_remote:
        raise InputError(
            f"--host {host} lets other computers reach the studio: whoever has the token can fly, read and save files "
            "in --folder, and nothing is encrypted; add --allow-remote if you want that"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        if isinstance(error, socket.gaierror):
            raise InputError(f"--host {host} is not an address of this computer; use 127.0.0.1") from None
        if port and error.errno is not None and "in use" in os.strerror(error.errno).lower():
            raise InputError(
                f"port {port} is in use, perhaps by another studio; close it, or choose another with --port {port + 1}"
            ) from None
        raise InputError(f"cannot listen on {host}, port {port}: {error.strerror or error}; choose another") from None
    return made


class Access:
    """Decides about each request by its headers."""

    def __init__(self, token: str, host: str, port: int) -> None:
        self.token, self.port = token, port
        self.cookie = f"strapdown_{port}"
        self._remote = host not in LOOPBACK
        self._names = {*LOOPBACK, host, socket.gethostname().lower()} if self._remote else set(LOOPBACK)

    def good_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def good_host(self, header: str | None) -> bool:
        """Whether this is a name of this server. A page of another name that points here (DNS rebinding) is refused."""
        if not header:
            return False
        try:
            parts = urlsplit(f"//{header}")
            name, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if port not in (self.port, None):
            return False
        return name in self._names or (self._remote and _is_address(name))

    def good_origin(self, origin: str | None, host: str | None) -> bool:
        """Whether a request comes from the page itself: the origin is http and the requested host."""
        if not origin or not host:
            return False
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme == "http" and parts.netloc.lower() == host.lower() and self.good_host(host)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

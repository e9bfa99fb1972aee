"""The web server of the studio: the page, the websocket, uploads and downloads. Everything needs the token."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from strapdown.errors import InputError
from strapdown.studio.messages.commands import MOST_TEXT
from strapdown.studio.server.access import HEADERS, Access
from strapdown.studio.server.files_of_user import plain_name
from strapdown.studio.server.hub import Hub

STATIC = Path(__file__).parents[1] / "static"
DOWNLOADS = ("recording", "log", "report", "scenario", "diagram")
_MOST_CLIENTS = 32
_REFUSED = 4403  # close code of a websocket
_ENTER = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Strapdown studio</title>'
    '<meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">Open the studio</a></p></body></html>'
)
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}


def application(hub: Hub, access: Access, uploads: Path, static: Path = STATIC) -> Any:
    """The ASGI application. The hub is started and stopped with it."""

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        await hub.start()
        yield
        await hub.stop()

    async def page(request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            if not access.good_token(token):
                return _unknown()
            answer = Response(_ENTER, media_type="text/html")
            answer.set_cookie(access.cookie, token, httponly=True, samesite="strict", path="/", max_age=31_536_000)
            return answer
        return _static(static, "index.html")

    async def asset(request: Request) -> Response:
        return _static(static, request.path_params["path"])

    async def upload(request: Request) -> Response:
        try:
            return JSONResponse({"upload": await _uploaded(request, uploads, hub)})
        except InputError as error:
            return JSONResponse({"error": str(error)}, status_code=400)

    async def download(request: Request) -> Response:
        what = request.path_params["what"]
        if what not in DOWNLOADS:
            return PlainTextResponse("there is no such download", status_code=404)
        return await _file(hub, what, dict(request.query_params))

    async def picture(request: Request) -> Response:
        return await _file(hub, "picture", {"name": request.path_params["name"]}, inline="image/svg+xml")

    async def live(websocket: WebSocket) -> None:
        await _live(websocket, hub)

    routes = [
        Route("/", page),
        Route("/upload", upload, methods=["POST"]),
        Route("/download/{what}", download),
        Route("/picture/{name}.svg", picture),
        WebSocketRoute("/live", live),
        Route("/{path:path}", asset),
    ]
    return Guard(Starlette(routes=routes, lifespan=life), access)


class Guard:
    """Check of every request: host, token and origin are checked, and the headers of the policy are added."""

    def __init__(self, app: Any, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if scope["type"] == "websocket":
            if refused is not None:
                await WebSocket(scope, receive, send).close(_REFUSED)
                return
            await self._app(scope, receive, send)
            return

        async def with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await (refused or self._app)(scope, receive, with_policy)

    def _refusal(self, scope: Any) -> Response | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        access = self._access
        if not access.good_host(host):
            return PlainTextResponse("this address is not one of the studio; use the one that it printed", 403)
        must = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if (must or origin is not None) and not access.good_origin(origin, host):
            return PlainTextResponse("requests of other pages are refused", 403)
        if headers.get("sec-fetch-site") == "cross-site" and scope["type"] == "http" and scope["path"] != "/":
            return PlainTextResponse("requests of other pages are refused", 403)
        if scope["type"] == "http" and scope["path"] == "/" and b"token=" in scope["query_string"]:
            return None  # the page itself looks at the token
        if not access.good_token(_cookie(headers.get("cookie"), access.cookie)):
            return _unknown()
        return None


def _cookie(header: str | None, name: str) -> str | None:
    for part in (header or "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return None


def _unknown() -> Response:
    text = "open the studio with the address that `strapdown studio` printed; it has the token"
    return PlainTextResponse(text, status_code=401)


def _static(folder: Path, name: str) -> Response:
    path = (folder / name).resolve()
    inside = path.is_relative_to(folder.resolve()) and path.is_file() and path.suffix in _TYPES
    if not inside:
        return PlainTextResponse("there is no such page", status_code=404)
    return FileResponse(path, media_type=_TYPES[path.suffix])


async def _file(hub: Hub, what: str, query: dict[str, str], inline: str = "") -> Response:
    path, name, error = await hub.file(what, query)
    if path is None:
        return PlainTextResponse(error, status_code=404 if inline else 409)
    gone = BackgroundTask(Path(path).unlink, missing_ok=True)
    if inline:
        return FileResponse(path, media_type=inline, background=gone)
    return FileResponse(path, filename=name, media_type="application/octet-stream", background=gone)


async def _uploaded(request: Request, folder: Path, hub: Hub) -> str:
    """The body of the request as a file of the uploads; its name."""
    name, most = plain_name(request.query_params.get("name", "")), hub.buffers.upload_bytes
    with contextlib.suppress(ValueError):
        if int(request.headers.get("content-length", "0")) > most:
            raise InputError(f"{name} has more than {most / 1e6:g} MB")
    if len(list(folder.iterdir())) >= hub.buffers.uploads and not (folder / name).exists():
        oldest = min(folder.iterdir(), key=lambda path: path.stat().st_mtime)
        oldest.unlink(missing_ok=True)
    size = 0
    with tempfile.NamedTemporaryFile(dir=folder.parent, delete=False) as file:
        try:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise InputError(f"{name} has more than {most / 1e6:g} MB")
                file.write(part)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    Path(file.name).replace(folder / name)
    return name


async def _live(websocket: WebSocket, hub: Hub) -> None:
    if len(hub.clients) >= _MOST_CLIENTS:
        await websocket.close(1013)
        return
    await websocket.accept()
    client = hub.join()
    client.task = asyncio.current_task()
    sender = asyncio.create_task(_send(websocket, hub, client))
    try:
        while not client.closed:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                break
            text = message.get("text")
            hub.receive(client, text if text is not None else message.get("bytes") or b"")
    except asyncio.CancelledError:
        if not client.closed:
            raise
    finally:
        hub.leave(client)
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await sender


async def _send(websocket: WebSocket, hub: Hub, client: Any) -> None:
    """Texts first, then the newest frame. While a send waits for a slow client, frames are passed over."""
    try:
        while True:
            await client.wake.wait()
            client.wake.clear()
            while (text := client.take_text()) is not None:
                if isinstance(text, bytes):
                    await websocket.send_bytes(text)
                else:
                    await websocket.send_text(text)
            frame = hub.frame_for(client)
            if frame is not None:
                await websocket.send_bytes(frame)
    except (WebSocketDisconnect, RuntimeError):
        return


def server_of(app: Any) -> uvicorn.Server:
    """uvicorn without its own messages; websocket messages are not compressed."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            ws="websockets-sansio",
            ws_per_message_deflate=False,
            ws_max_size=4 * MOST_TEXT,  # UTF-8
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=2,
            lifespan="on",
            limit_concurrency=200,
        )
    )


@contextlib.contextmanager
def scratch_folder() -> Any:
    """A private folder for uploads, takes and downloads; it is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="strapdown-studio-"))
    (folder / "uploads").mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

"""Who may talk to the studio: token, cookie, host, origin, policy, uploads, ports."""

import http.client
import socket
import stat
import sys

import pytest
from studio_server import Studio
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from strapdown.errors import InputError
from strapdown.studio.server.access import Access, bound_socket, token_for
from strapdown.studio.server.files_of_user import plain_name, refuse_paths


def ask(studio, path, method="GET", body=None, **headers):
    """Status, headers and body of a request with exactly these headers."""
    link = http.client.HTTPConnection(studio.host, studio.port, timeout=20)
    link.putrequest(method, path, skip_host=True)
    for name, value in {"Host": f"{studio.host}:{studio.port}", **headers}.items():
        if value is not None:
            link.putheader(name.replace("_", "-"), value)
    if body is not None:
        link.putheader("Content-Length", str(len(body)))
    link.endheaders(body)
    answer = link.getresponse()
    found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    link.close()
    return found


def test_the_token_is_private_and_stays(tmp_path):
    token = token_for(8765, folder=tmp_path)
    path = tmp_path / "studio-8765.token"
    assert len(token) >= 43 and token_for(8765, folder=tmp_path) == token
    assert token_for(8766, folder=tmp_path) != token
    assert token_for(8765, new=True, folder=tmp_path) != token
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        kept = path.read_text()
        path.chmod(0o644)
        assert token_for(8765, folder=tmp_path) != kept  # others could have read it


def test_only_the_loopback_without_allow_remote():
    with pytest.raises(InputError, match="--allow-remote"):
        bound_socket("0.0.0.0", 0, allow_remote=False)
    bound_socket("0.0.0.0", 0, allow_remote=True).close()


def test_a_busy_port_is_one_sentence():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use"):
            bound_socket("127.0.0.1", port, allow_remote=False)


def test_hosts_and_origins():
    access = Access("t", "127.0.0.1", 8765)
    for host in ("127.0.0.1:8765", "localhost:8765", "[::1]:8765"):
        assert access.good_host(host) and access.good_origin(f"http://{host}", host)
    for host in ("evil.example:8765", "127.0.0.1:1", "", None, "127.0.0.1:8765@evil.example", "[::1"):
        assert not access.good_host(host)
    assert not access.good_origin("http://evil.example", "127.0.0.1:8765")
    assert not access.good_origin("null", "127.0.0.1:8765") and not access.good_origin(None, "127.0.0.1:8765")
    assert not access.good_origin("http://localhost:8765", "127.0.0.1:8765")
    remote = Access("t", "0.0.0.0", 8765)
    assert remote.good_host("192.168.1.5:8765") and not remote.good_host("evil.example:8765")


def test_the_token_becomes_a_cookie(studio):
    status, headers, _ = ask(studio, f"/?token={studio.token}")
    cookie = headers["set-cookie"]
    assert status == 200 and f"strapdown_{studio.port}={studio.token}" in cookie
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    status, headers, body = ask(studio, "/", Cookie=studio.cookie)
    assert status == 200 and b"page" in body
    policy = headers["content-security-policy"]
    assert "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_without_the_token_nothing_is_given(studio):
    wrong = f"strapdown_{studio.port}={'x' * 43}"
    for path in ("/", "/app.js", "/download/recording", "/picture/quadcopter.svg", "/nothing", "/?token=wrong"):
        for cookie in (None, wrong):
            status, headers, body = ask(studio, path, Cookie=cookie)
            assert status == 401 and b"token" in body and "content-security-policy" in headers, path
    status, _, _ = ask(studio, "/upload?name=a.toml", "POST", b"x", Origin=studio.origin)
    assert status == 401


def test_other_origins_and_hosts_are_refused(studio):
    good = {"Cookie": studio.cookie}
    assert ask(studio, "/", **good, Host="evil.example")[0] == 403
    assert ask(studio, "/app.js", **good, Origin="http://evil.example")[0] == 403
    assert ask(studio, "/app.js", **good, Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(studio, "/upload?name=a.toml", "POST", b"x", **good)[0] == 403  # no origin
    assert ask(studio, "/upload?name=a.toml", "POST", b"x", **good, Origin="null")[0] == 403
    for origin, cookie in (("http://evil.example", studio.cookie), (None, studio.cookie), (studio.origin, "a=b")):
        with pytest.raises(InvalidStatus) as error:
            connect(
                f"ws://{studio.host}:{studio.port}/live",
                origin=origin,
                additional_headers={"Cookie": cookie},
                legacy=True,
            )
        assert error.value.response.status_code == 403


def test_only_files_of_the_page_are_served(studio):
    (studio.folder / "secret.txt").write_text("secret")
    for path in ("/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "//etc/passwd", "/static"):
        assert ask(studio, path, Cookie=studio.cookie)[0] in (400, 404)
    assert ask(studio, "/app.js", Cookie=studio.cookie)[1]["content-type"].startswith("text/javascript")


def test_uploads_have_limits(studio):
    good = {"Cookie": studio.cookie, "Origin": studio.origin}
    for name in ("a.exe", "../a.toml", "a/b.toml", ".toml", "a.py", "", "a%00.toml", "con\n.toml".replace("\n", "%0a")):
        assert ask(studio, f"/upload?name={name}", "POST", b"x", **good)[0] == 400, name
    status, _, _ = ask(studio, "/upload?name=big.toml", "POST", b"x", **{**good, "Content_Length": str(10**9)})
    assert status == 400
    assert ask(studio, "/upload?name=ok.toml", "POST", b"version = 1", **good)[0] == 200


def test_plain_names():
    assert plain_name("my file-1.toml") == "my file-1.toml"
    for values in ({"vehicle": "../x.urdf"}, {"sensor": [{"part": "C:\\x.toml"}]}, {"scene": {"file": "/etc/passwd"}}):
        with pytest.raises(InputError, match="plain name"):
            refuse_paths(values)
    refuse_paths({"vehicle": "quadcopter", "sensor": [{"part": "MPU-6050"}]})


def test_the_token_is_valid_after_a_restart_and_the_recording_is_kept(tmp_path):
    with Studio(tmp_path) as first:
        token, port = first.token, first.port
        client = first.client()
        client.open()
        client.ask("record", on=True)
        client.until(lambda: client.t_s > 1.0)
        assert first.stop() == 0
        client.until(lambda: "studio ended" in "".join(first.lines))
        kept = list(tmp_path.glob("strapdown-studio-*/recording.parquet"))
        assert len(kept) == 1 and str(kept[0].parent) in "".join(first.lines)
    with Studio(tmp_path, port=port) as second:
        assert second.token == token
        client = second.client()
        client.until(lambda: client.last.get("session", {}).get("mode") == "empty")

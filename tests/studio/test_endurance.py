"""What a page cannot do: stop the server, disturb the simulation, or make memory grow."""

import http.client
import os
import signal
import socket
import time

from process_memory import children, command_of, resident_mb
from studio_server import Studio, wait


def test_the_simulation_starts_again_after_it_died(tmp_path):
    with Studio(tmp_path) as studio:
        client = studio.client()
        client.open()
        child = next(pid for pid in children(studio.process.pid) if "spawn_main" in command_of(pid))
        os.kill(child, signal.SIGKILL)
        wait(lambda: client.last["session"]["mode"] == "empty")
        wait(lambda: client.last.get("notice", {}).get("level") == "error")
        assert client.open()["mode"] == "live"
        wait(lambda: client.t_s > 0.5)


def mute_client(studio):
    """A client that reads nothing and sends nothing. Its side of the connection holds little."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect((studio.host, studio.port))
    raw.sendall(
        f"GET /live HTTP/1.1\r\nHost: {studio.host}:{studio.port}\r\nOrigin: {studio.origin}\r\n"
        f"Cookie: {studio.cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    return raw


def test_sixty_seconds_with_small_buffers(tmp_path):
    """Every buffer at a hundredth of its size: after they are full, nothing grows. A client that does not read is
    disconnected when too much waits for it."""
    with Studio(tmp_path, scale=0.01) as studio:
        client = studio.client()
        client.open(script=True)
        client.ask("subscribe", signals=["truth/attitude", "sensor/imu/accelerometer"])
        client.ask("speed", factor=10.0)
        assert client.ask("record", on=True)["ok"]
        wait(lambda: client.t_s > 5.0, 120.0)
        assert client.ask("record", on=False)["ok"]  # it goes to disk, and does not hold what comes after it
        processes = [studio.process.pid, *children(studio.process.pid)]
        wait(lambda: client.t_s > 30.0, 120.0)
        before = [resident_mb(pid) for pid in processes]
        mute = [mute_client(studio) for _ in range(3)]
        wait(lambda: len(client.last["clients"]["clients"]) == 4)
        # the system takes some MB for each connection, the queue of the client 0.3 MB; 20 MB are sent to each
        for _ in range(200):
            client.send("save_layout", name="large", layout={"x": "y" * 98_000})
            time.sleep(0.01)
        wait(lambda: len(client.last["clients"]["clients"]) == 1)
        wait(lambda: client.t_s > 60.0, 120.0)
        after = [resident_mb(pid) for pid in processes]
        for raw in mute:
            raw.close()
        found = client.ask("history", signals=["truth/attitude"])
        assert 4.0 < found.times[-1] - found.times[0] < 8.0  # 6 s are kept
        assert not client.ask("continue_from", t_s=20.0)["ok"]
        assert client.ask("continue_from", t_s=client.t_s - 2.0)["ok"]
        # chunks of 4096 rows are dropped whole: at 500 Hz and 25 numbers one has 0.8 MB, and there are eight logs
        for b, a in zip(before, after, strict=True):
            assert a - b < 6.0, (before, after)
        assert upload_in_parts(studio, "good.toml", b"x" * 400_000) == 200
        assert upload_in_parts(studio, "big.toml", b"x" * 600_000) == 400  # 500 kB are the most


def upload_in_parts(studio, name, data):
    """The status of an upload whose length is not announced."""
    link = http.client.HTTPConnection(studio.host, studio.port, timeout=20)
    headers = {"Cookie": studio.cookie, "Origin": studio.origin}
    parts = (data[i : i + 65_536] for i in range(0, len(data), 65_536))
    link.request("POST", f"/upload?name={name}", body=parts, headers=headers, encode_chunked=True)
    return link.getresponse().status

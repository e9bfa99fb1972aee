"""What a page cannot do: stop the server, disturb the simulation, or make memory grow."""

import json
import os
import signal
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


def test_a_client_that_stops_reading_costs_no_resident_mb(studio, client):
    client.open()
    names = [s["name"] for s in client.last["signals"]["signals"]][:60]
    client.ask("subscribe", signals=["truth/position"])
    slow = []
    for _ in range(4):
        made = studio.client(read=False)
        made.socket.send(json.dumps({"type": "subscribe", "signals": names}))
        made.socket.send(json.dumps({"type": "watch", "on": True}))
        slow.append(made)
    wait(lambda: client.t_s > 3.0)
    before = resident_mb(studio.process.pid)
    start = len(client.frames)
    until = time.monotonic() + 12.0
    while time.monotonic() < until:
        client.ask("parameters", block="mixer", changes={})  # a message for all clients
        time.sleep(0.2)
    grown = resident_mb(studio.process.pid) - before
    assert len(client.frames) - start > 300  # the others are served: 50 per second
    # buffers of the four sockets, and 12 s of samples: 150 numbers at 100 Hz are 60 kB/s
    assert grown < 4 * 1.0 + 12 * 0.1 + 4.0, f"{grown:.1f} MB"
    for made in slow:
        made.close()


def test_sixty_seconds_with_small_buffers(tmp_path):
    """Every buffer at a hundredth of its size: after they are full, nothing grows."""
    with Studio(tmp_path, scale=0.01) as studio:
        client = studio.client()
        client.open(script=True)
        client.ask("subscribe", signals=["truth/attitude", "sensor/imu/accelerometer"])
        client.ask("speed", factor=10.0)
        processes = [studio.process.pid, *children(studio.process.pid)]
        wait(lambda: client.t_s > 30.0, 120.0)
        before = [resident_mb(pid) for pid in processes]
        wait(lambda: client.t_s > 60.0, 120.0)
        after = [resident_mb(pid) for pid in processes]
        found = client.ask("history", signals=["truth/attitude"])
        assert 4.0 < found.times[-1] - found.times[0] < 8.0  # 6 s are kept
        assert not client.ask("continue_from", t_s=20.0)["ok"]
        assert client.ask("continue_from", t_s=client.t_s - 2.0)["ok"]
        # chunks of 4096 rows are dropped whole: at 500 Hz and 25 numbers one has 0.8 MB, and there are eight logs
        for b, a in zip(before, after, strict=True):
            assert a - b < 6.0, (before, after)

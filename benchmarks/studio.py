"""The studio: load of its server by ten clients, and the page in a browser without a graphics card.

python -m benchmarks.studio [--clients 10] [--seconds 20] [--no-page]

Peers in the same run: a bare websocket server that sends as many bytes as often to as many clients, and an empty scene
of three.js of the same size.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "studio"))
from process_memory import children, command_of, cpu_s
from studio_server import Client, Studio, wait

from strapdown.studio.buffers import FRAME_HZ

# limits: share of a core per client, bytes per second per client, real-time factor
CPU, BYTES, FACTOR = 0.01, 100e3, 0.99
SPAWN = multiprocessing.get_context("spawn")


def read_all(address, count, seconds, results):
    """In a process of its own: clients that show the first charts and read everything."""

    class Server:
        host, port, origin, cookie = address

    made = [Client(Server) for _ in range(count)]
    for client in made:
        wait(lambda client=client: "signals" in client.last)
        names = [name for chart in client.last["signals"]["charts"] for name in chart["signals"]]
        client.ask("subscribe", signals=names)
    time.sleep(1.0)
    before = [(client.bytes, len(client.frames), time.monotonic()) for client in made]
    time.sleep(seconds)
    took = [time.monotonic() - at for _, _, at in before]
    results.put(
        {
            "bytes_per_s": max((c.bytes - b) / s for c, (b, _, _), s in zip(made, before, took, strict=True)),
            "frames_per_s": min((len(c.frames) - f) / s for c, (_, f, _), s in zip(made, before, took, strict=True)),
        }
    )


def load(count, seconds):
    """CPU of the server and the simulation while a quadcopter flies and all clients look at it."""
    with tempfile.TemporaryDirectory() as folder, Studio(folder) as studio:
        pilot = studio.client()
        pilot.open()
        pilot.take_off()
        server = studio.process.pid
        simulation = next(pid for pid in children(server) if "spawn_main" in command_of(pid))
        results = SPAWN.Queue()
        address = studio.host, studio.port, studio.origin, studio.cookie
        process = SPAWN.Process(target=read_all, args=(address, count, seconds, results))
        process.start()
        wait(lambda: len(pilot.last["clients"]["clients"]) == count + 1, 300.0)
        time.sleep(2.0)
        start = cpu_s(server), cpu_s(simulation), time.monotonic(), pilot.t_s, len(pilot.frames)
        time.sleep(seconds - 2.0)
        end = cpu_s(server), cpu_s(simulation), time.monotonic(), pilot.t_s, len(pilot.frames)
        found = results.get(timeout=300)
        process.join()
    took = end[2] - start[2]
    return {
        # other work on the machine may leave too little time for all frames: the share is that of the full rate
        "server_cpu_per_client": (end[0] - start[0]) / (end[4] - start[4]) / (count + 1) * FRAME_HZ,
        "simulation_cpu": (end[1] - start[1]) / took,
        "real_time_factor": (end[3] - start[3]) / took,
        **found,
    }


def bare_server(size, port):
    """In a process of its own: sends bytes to whoever connects, at the rate of frames. port: queue for its port."""
    from websockets.asyncio.server import serve
    from websockets.exceptions import ConnectionClosed

    data = os.urandom(size)

    async def send(socket):
        due = asyncio.get_running_loop().time()
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(data)
                due += 1.0 / FRAME_HZ
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))

    async def run():
        async with serve(send, "127.0.0.1", 0, compression=None) as made:
            port.put(made.sockets[0].getsockname()[1])
            await asyncio.get_running_loop().create_future()

    asyncio.run(run())


def read_bare(port, count, seconds, results):
    """In a process of its own: clients of the bare server. results: messages per second of the slowest one."""
    from threading import Thread

    from websockets.sync.client import connect

    rates = []

    def read():
        began, messages = time.monotonic(), 0
        with connect(f"ws://127.0.0.1:{port}", compression=None) as socket:
            while time.monotonic() < began + seconds:
                socket.recv()
                messages += 1
        rates.append(messages / (time.monotonic() - began))

    threads = [Thread(target=read) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(min(rates))


def bare_load(count, seconds, size):
    """CPU of the bare server per client, at the full rate."""
    ports, rates = SPAWN.Queue(), SPAWN.Queue()
    server = SPAWN.Process(target=bare_server, args=(size, ports), daemon=True)
    server.start()
    port = ports.get(timeout=120)
    start = cpu_s(server.pid)
    readers = SPAWN.Process(target=read_bare, args=(port, count, seconds, rates), daemon=True)
    readers.start()
    rate = rates.get(timeout=300)
    used = cpu_s(server.pid) - start
    server.kill()
    readers.join()
    return used / seconds / count / rate * FRAME_HZ


def met(good):
    return "met" if good else "MISSED"


def machine():
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"


def report(count: int = 10, seconds: float = 20.0, page: bool = True) -> Iterator[str]:
    """Lines for make bench."""
    yield f"Studio, {count} clients in another process, a quadcopter flies ({machine()})"
    found = load(count, seconds)
    size = round(found["bytes_per_s"] / max(found["frames_per_s"], 1.0))
    bare = bare_load(count, seconds, size)
    share, rate, factor = found["server_cpu_per_client"], found["bytes_per_s"], found["real_time_factor"]
    yield (
        f"  server {100 * share:.2f} % of a core per client at {FRAME_HZ:g} frames/s, target {100 * CPU:g} %: "
        f"{met(share <= CPU)}; peer, a bare websocket server: {100 * bare:.2f} %, ratio {share / bare:.1f}"
    )
    yield f"  {rate / 1e3:.1f} kB/s per client, target {BYTES / 1e3:g}: {met(rate <= BYTES)}"
    yield f"  {found['frames_per_s']:.1f} frames/s to the slowest client of {FRAME_HZ:g}"
    yield f"  real-time factor {factor:.3f}, target {FACTOR:g}: {met(factor >= FACTOR)}"
    yield f"  simulation {100 * found['simulation_cpu']:.0f} % of a core"
    if page:
        from benchmarks import studio_page

        yield from studio_page.report()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--no-page", action="store_true")
    options = parser.parse_args()
    for line in report(options.clients, options.seconds, not options.no_page):
        print(line, flush=True)


if __name__ == "__main__":
    main()

"""Load of the studio: ten stand-in clients in another process. CPU per client, bytes per second, real-time factor.

python benchmarks/studio.py [--clients 10] [--seconds 20]
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "studio"))
from studio_server import Studio, wait

# limits: share of a core per client, bytes per second per client, real-time factor
CPU, BYTES, FACTOR = 0.01, 100e3, 0.99


def clients(address, count, seconds, results):
    """Connect, subscribe to the first charts, read everything."""

    class Server:
        host, port, origin, cookie = address

    from studio_server import Client

    made = [Client(Server) for _ in range(count)]
    for client in made:
        wait(lambda client=client: "signals" in client.last)
        names = [name for chart in client.last["signals"]["charts"] for name in chart["signals"]]
        client.ask("subscribe", signals=names)
    time.sleep(1.0)
    before = [client.bytes for client in made]
    frames = [len(client.frames) for client in made]
    time.sleep(seconds)
    results.put(
        {
            "bytes_per_s": max((client.bytes - b) / seconds for client, b in zip(made, before, strict=True)),
            "frames_per_s": min((len(client.frames) - f) / seconds for client, f in zip(made, frames, strict=True)),
            "dropped": max(client.frames[-1].head.dropped for client in made),
        }
    )


def cpu_s(pid):
    """CPU time of all threads of a process."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid):
    """Resident memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmRSS"))


def child_of(pid):
    tasks = Path(f"/proc/{pid}/task").iterdir()
    found = [int(c) for task in tasks for c in (task / "children").read_text().split()]
    return next(c for c in found if "spawn_main" in Path(f"/proc/{c}/cmdline").read_text())


def measured(count, seconds):
    with tempfile.TemporaryDirectory() as folder, Studio(folder) as studio:
        pilot = studio.client()
        pilot.open()
        pilot.take_off()
        address = studio.host, studio.port, studio.origin, studio.cookie
        spawn = multiprocessing.get_context("spawn")
        results = spawn.Queue()
        server, simulation = studio.process.pid, child_of(studio.process.pid)
        time.sleep(1.0)
        alone, at = cpu_s(server), time.monotonic()
        time.sleep(5.0)
        alone = (cpu_s(server) - alone) / (time.monotonic() - at)
        process = spawn.Process(target=clients, args=(address, count, seconds, results))
        process.start()
        wait(lambda: len(pilot.last["clients"]["clients"]) == count + 1)
        time.sleep(2.0)
        before = [memory_mb(pid) for pid in (server, simulation)]
        start = cpu_s(server), cpu_s(simulation), time.monotonic(), pilot.t_s
        time.sleep(seconds - 2.0)
        end = cpu_s(server), cpu_s(simulation), time.monotonic(), pilot.t_s
        took = end[2] - start[2]
        grown = [memory_mb(pid) - m for pid, m in zip((server, simulation), before, strict=True)]
        found = results.get(timeout=60)
        process.join()
        return {
            "clients": count,
            "server_cpu": (end[0] - start[0]) / took,
            "server_cpu_with_one_client": alone,
            "server_cpu_per_client": ((end[0] - start[0]) / took) / (count + 1),
            "simulation_cpu": (end[1] - start[1]) / took,
            "real_time_factor": (end[3] - start[3]) / took,
            "server_grew_mb": grown[0],
            "simulation_grew_mb": grown[1],
            **found,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    found = measured(options.clients, options.seconds)
    print(json.dumps(found, indent=1))
    good = (
        found["server_cpu_per_client"] <= CPU and found["bytes_per_s"] <= BYTES and found["real_time_factor"] >= FACTOR
    )
    print("within limits" if good else "beyond a limit")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

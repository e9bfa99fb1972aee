"""A real Dask scheduler with workers over TCP: what dies is replaced, and the table is the same to the byte."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import strapdown as sd
from campaign_cases import Cluster, free_port, quick_trial, rows_in, slow_trial, wait_for
from helpers import write
from strapdown.campaigns.running import scheduler_address
from strapdown.campaigns.running.scheduler_address import check_scheduler

SPACE = {"gain": [1.0, 2.0, 4.0]}
SEEDS = 150  # long enough to be interrupted twice


def test_a_worker_is_killed_and_the_scheduler_restarted(tmp_path):
    sd.run_campaign(slow_trial, SPACE, SEEDS, workers=0, output=tmp_path / "alone")
    outcome = []

    def work():
        try:
            runs = sd.run_campaign(slow_trial, SPACE, SEEDS, scheduler=cluster.address, output=tmp_path / "cluster")
            outcome.append(runs)
        except Exception as error:
            outcome.append(error)

    with Cluster(tmp_path) as cluster:
        scheduler = cluster.scheduler()
        workers = [cluster.worker(), cluster.worker()]
        thread = threading.Thread(target=work)
        thread.start()
        assert wait_for(lambda: rows_in(tmp_path / "cluster") > 5), outcome
        cluster.kill(workers[0])
        assert not outcome, "the campaign must not be over when the scheduler dies"
        cluster.kill(scheduler)
        cluster.kill(workers[1])
        cluster.scheduler()
        cluster.worker()
        cluster.worker()
        thread.join(timeout=120)
    assert outcome and isinstance(outcome[0], sd.CampaignRuns), outcome
    assert len(outcome[0]) == 3 * SEEDS
    assert outcome[0].table.column("failed").null_count == 3 * (SEEDS - SEEDS // 17)
    alone, cluster_table = (tmp_path / name / "table.parquet" for name in ("alone", "cluster"))
    assert alone.read_bytes() == cluster_table.read_bytes()


def test_a_scheduler_that_is_not_there(tmp_path):
    address, began = f"tcp://127.0.0.1:{free_port()}", time.monotonic()
    with pytest.raises(sd.InputError, match=f"there is no Dask scheduler at {address}.*dask scheduler"):
        sd.run_campaign(quick_trial, {"gain": [1.0]}, 2, scheduler=address, output=tmp_path / "out")
    assert time.monotonic() - began < 5.0


@pytest.mark.parametrize("address", ["", "host", "tcp://host", "http://host:80", "tcp://host:99999", "tcp://:8786"])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(sd.InputError, match="is not the address of a Dask scheduler; give one such as tcp://host:8786"):
        check_scheduler(address)


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH\r\n"], ids=["silent", "another"])
def test_a_program_that_is_no_scheduler(greeting, monkeypatch):
    """Dask waits without end for one that is silent, and asks for the memory that the other's first letters state."""
    monkeypatch.setattr(scheduler_address, "CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            link, _ = server.accept()
            link.sendall(greeting)
            links.append(link)

        links = []
        answering = threading.Thread(target=answer)
        answering.start()
        why = "another program answers" if greeting else "no answer within"
        with pytest.raises(sd.InputError, match=f"there is no Dask scheduler at .*{why}"):
            check_scheduler(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        answering.join()
        links[0].close()


def test_workers_with_another_version_are_refused(tmp_path):
    preload = tmp_path / "other.py"
    preload.write_text(
        "import strapdown.campaigns.running.versions as v\nv.own_version = lambda: '0.0.1 (another)'\n",
        encoding="utf-8",
    )
    with Cluster(tmp_path, preload) as cluster:
        cluster.scheduler()
        cluster.worker()
        from strapdown.campaigns.running.versions import own_version

        with pytest.raises(sd.InputError) as refused:
            sd.run_campaign(quick_trial, {"gain": [1.0]}, 2, scheduler=cluster.address, output=tmp_path / "out")
    assert "0.0.1 (another)" in str(refused.value) and own_version() in str(refused.value)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups of a terminal")
def test_ctrl_c_ends_cleanly(tmp_path):
    """A terminal sends it to the workers, too: one sentence, no traceback; and the folder does not claim to run."""
    file = write(tmp_path, "long.toml", LONG)
    program = subprocess.Popen(
        [sys.executable, "-m", "strapdown", "campaign", "run", file, "-o", tmp_path / "out", "--workers", "2"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert wait_for(lambda: rows_in(tmp_path / "out") > 0, 240.0)
        os.killpg(program.pid, signal.SIGINT)
        said, _ = program.communicate(timeout=60)
    finally:
        if program.poll() is None:
            program.kill()
    assert program.returncode == 130 and "Traceback" not in said, said
    assert "runs are kept in" in said and "the same command goes on" in said
    status = json.loads((tmp_path / "out" / "status.json").read_text())
    assert status["running"] is False and status["done"] == rows_in(tmp_path / "out")


LONG = """
version = 1
measure = ["final_percent"]
[path]
kind = "stop-and-go-straight"
length_m = 1.0
first_rest_s = 4.0
[seeds]
runs = 100000
"""

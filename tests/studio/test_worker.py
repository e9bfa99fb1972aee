"""The worker of the simulation gives memory back to the system."""

import os
import sys

import numpy as np
import pytest
from process_memory import resident_mb

from strapdown.studio.simulation.worker import Worker


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc, and glibc gives it back")
def test_memory_of_a_job_goes_back_to_the_system():
    """Blocks of 100 kB, which the C library would keep for later."""

    def job():
        blocks = [np.ones(12_500) for _ in range(2000)]  # 200 MB
        held = [np.ones(12_500)]  # above them on the heap: without giving back, nothing below it is returned
        del blocks
        return held

    before = resident_mb(os.getpid())
    worker = Worker()
    kept = worker.submit(job).result()
    worker.shutdown(wait=True)
    assert resident_mb(os.getpid()) - before < 20.0
    assert len(kept) == 1


def test_jobs_run_one_after_the_other_and_give_their_results():
    worker, order = Worker(), []
    futures = [worker.submit(order.append, k) for k in range(5)]
    failing = worker.submit(int, "no number")
    worker.shutdown(wait=True)
    assert order == list(range(5)) and all(f.done() for f in futures)
    assert isinstance(failing.exception(), ValueError)

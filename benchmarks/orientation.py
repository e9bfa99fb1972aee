"""Orientation filters against the vqf package and imufusion: CPU time per sample over a recording, and of a live step.

The recording is like those of BROAD: 286 Hz, rests and turns of a hand-held sensor, jolts, noise, a magnet for a while.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import interleaved
from strapdown.orientation.catalogue import FILTERS
from strapdown.orientation.samples import samples_of
from strapdown.rotation import q_conj, q_exp, q_mul, q_rotate
from strapdown.types import Recording

RATE_HZ = 285.7142857
SECONDS = 120.0
LIVE_STEPS = 2000
TARGET = 1.0  # vqf over its package, on line and off line: not slower


def recording() -> Recording:
    """120 s: 8 s of rest and 12 s of turns about all axes in turn, 2 m/s2 of jolts, a magnet from 60 to 75 s."""
    n = round(SECONDS * RATE_HZ)
    t = np.arange(n) / RATE_HZ
    rng = np.random.default_rng(1)
    moves = (t % 20.0 > 8.0)[:, None]
    rates = moves * np.stack([1.5 * np.sin(1.1 * t), 1.2 * np.cos(0.7 * t), 1.8 * np.sin(0.4 * t)], axis=1)
    q_ns = np.empty((n, 4))
    q_ns[0] = q_exp([0.3, -0.2, 0.9])
    for k, turn in enumerate(q_exp(rates / RATE_HZ)[1:], start=1):
        q_ns[k] = q_mul(q_ns[k - 1], turn)
    q_sn = q_conj(q_ns)
    jolts_n = moves * 2.0 * np.stack([np.sin(5.0 * t), np.cos(4.0 * t), np.sin(3.0 * t)], axis=1)
    magnet_n = ((t > 60.0) & (t < 75.0))[:, None] * np.array([25.0, 0.0, 10.0])
    return Recording(
        t,
        gyr_s=rates + np.array([0.01, -0.006, 0.004]) + 0.003 * rng.normal(size=(n, 3)),
        acc_s=q_rotate(q_sn, jolts_n + np.array([0.0, 0.0, 9.81])) + 0.03 * rng.normal(size=(n, 3)),
        mag_s=q_rotate(q_sn, magnet_n + np.array([0.0, 20.0, -43.0])) + 0.3 * rng.normal(size=(n, 3)),
    )


def _ours() -> dict[str, Any]:
    """Every filter of the catalogue with its defaults; one that is not there yet is left out."""
    found = {}
    for name, entry in FILTERS.items():
        try:
            found[name] = entry.cls()
        except ModuleNotFoundError:
            continue
    return found


def _peers(log: Recording) -> dict[str, Callable[[], object]]:
    """What others need for the same recording; their readings are copied outside the clock."""
    import imufusion
    import vqf

    gyr, acc, mag = (np.array(x) for x in (log.gyr_s, log.acc_s, log.mag_s))
    gyr_deg, acc_g, step_s = np.degrees(gyr), acc / 9.81, 1.0 / RATE_HZ

    def fusion() -> None:
        ahrs = imufusion.Ahrs()
        ahrs.set_sample_period(step_s)
        q = np.empty((len(gyr), 4))
        for k in range(len(gyr)):
            ahrs.update(gyr_deg[k], acc_g[k], mag[k])
            q[k] = ahrs.get_quaternion()

    return {
        "peer vqf updateBatch": lambda: vqf.VQF(step_s).updateBatch(gyr, acc, mag),
        "peer offlineVQF": lambda: vqf.offlineVQF(gyr, acc, mag, step_s),
        "peer imufusion": fusion,
    }


def _kernels(log: Recording) -> dict[str, Callable[[], object]]:
    """VQF's loops alone, as its package has them: without checks of the input and into memory at hand."""
    from strapdown.kernels import vqf as kernel
    from strapdown.kernels import vqf_smooth
    from strapdown.orientation.vqf import Vqf

    s, n = samples_of(log), len(log)
    q, bias, sigma, flags = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    start = Vqf().start().numbers
    return {
        "vqf rows": lambda: kernel.rows(start.copy(), s.dt, s.gyr, s.acc, s.mag, s.mag_new, q, bias, sigma, flags),
        "vqf smooth rows": lambda: vqf_smooth.smooth_rows(start, s.dt, s.gyr, s.acc, s.mag, s.mag_new, q, bias, flags),
    }


def _steps(filt: Any, log: Any) -> None:
    gyr, acc, mag = log.gyr_s, log.acc_s, log.mag_s
    state = filt.start()
    for k in range(LIVE_STEPS):
        state = filt.step(state, gyr[k], acc[k], mag[k], dt=1.0 / RATE_HZ)


def run() -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """(what, ns per sample over the recording), (filter, us of a live step)."""
    log = recording()
    works: dict[str, Callable[[], object]] = {**_peers(log), **_kernels(log)}
    live: dict[str, Callable[[], object]] = {}
    for name, filt in _ours().items():
        works[name] = partial(filt.run, log)
        if hasattr(filt, "smooth"):
            works[f"{name} smooth"] = partial(filt.smooth, log)
        live[name] = partial(_steps, filt, log)
    for work in (*works.values(), *live.values()):
        work()  # compiled, pages touched
    whole = interleaved(works, rounds=5)
    alone = interleaved(live, rounds=3)
    return (
        [(name, seconds / len(log) * 1e9) for name, seconds in whole.items()],
        [(name, seconds / LIVE_STEPS * 1e6) for name, seconds in alone.items()],
    )


def report() -> list[str]:
    """Lines to print."""
    whole, live = run()
    ns = dict(whole)
    lines = ["Orientation, 120 s at 286 Hz, 9 axes, with flags and bias, CPU time per sample"]
    for name, cost in whole:
        against = "peer offlineVQF" if "smooth" in name else "peer vqf updateBatch"
        ratio = ns[against] / cost
        judged = name in ("vqf rows", "vqf smooth rows")
        verdict = f"   target {TARGET:g}: {'met' if ratio >= TARGET else 'MISSED'}" if judged else ""
        lines.append(f"  {name:22s} {cost:8.0f} ns   {ratio:6.2f} times as fast as {against[5:]}{verdict}")
    lines.append("Live step, CPU time")
    lines += [f"  {name:22s} {cost:8.2f} us" for name, cost in live]
    return lines


if __name__ == "__main__":
    print("\n".join(report()))

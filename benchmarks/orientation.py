"""Orientation filters against the vqf package and imufusion: CPU time per sample over a recording, and of a live step.

The recording is like those of BROAD: 286 Hz, rests and turns of a hand-held sensor, jolts, noise, a magnet for a while.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import interleaved
from strapdown.live import Start
from strapdown.orientation.catalogue import FILTERS
from strapdown.orientation.samples import Samples, samples_of
from strapdown.rotation import q_conj, q_exp, q_mul, q_rotate
from strapdown.types import Array, Recording

RATE_HZ = 285.7142857
SECONDS = 120.0
LIVE_STEPS = 2000
LANES = 64
BATCH, OFFLINE = "peer vqf updateBatch", "peer offlineVQF"
# what must be reached, whole calls and kernels alike: (work, peer, times as fast at least)
AS_FAST = (
    ("mahony", BATCH, 7.0),
    ("vqf", BATCH, 1.0),
    ("lodestar", BATCH, 1.0),
    ("vqf smooth", OFFLINE, 1.0),
    ("lodestar smooth", OFFLINE, 1.0),
)
MAHONY_NS = 60.0  # a kernel of this is as good as 7 times
LANES_NS = 40.0
LIVE_US = 1.5


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
    """Every filter of the catalogue with its defaults; one that is not there yet is skipped."""
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
    """Loops alone, as the package has them: without checks of the input and into memory at hand."""
    from strapdown.kernels.orientation import mahony, mahony_lanes
    from strapdown.kernels.orientation.lodestar import filter as lodestar
    from strapdown.kernels.orientation.lodestar import smoother as lodestar_smoother
    from strapdown.kernels.orientation.vqf import filter as vqf
    from strapdown.kernels.orientation.vqf import smoother as vqf_smooth
    from strapdown.orientation.lodestar import Lodestar
    from strapdown.orientation.mahony import Mahony
    from strapdown.orientation.vqf import Vqf

    s, n = samples_of(log), len(log)
    readings = s.dt, s.gyr, s.acc, s.mag, s.mag_new
    q, bias, sigma, flags = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    out = q, bias, sigma, flags
    filters = Mahony(), Vqf(), Lodestar()
    m, v, c = (filt.start(Start.of(log)).numbers for filt in filters)
    ms, vs, cs = (filt.packed_settings for filt in filters)
    smoothed = (_with_usual_step(s), *readings[1:])
    few = n // LANES
    many = [np.repeat(x[:few, ..., None], LANES, axis=-1) for x in (s.dt, s.gyr, s.acc, s.mag, s.mag_new.astype(float))]
    for array in many:
        array.flags.writeable = False
    lanes = np.empty((few, 4, LANES)), np.empty((few, 3, LANES)), np.empty((few, LANES))
    starts = np.repeat(m[None], LANES, axis=0)
    return {
        "mahony kernel": lambda: mahony.rows(m.copy(), ms, *readings, *out),
        "mahony lanes kernel": lambda: mahony_lanes.rows(starts.copy(), ms, *many, *lanes),
        "vqf kernel": lambda: vqf.rows(v.copy(), vs, *readings, *out),
        "lodestar kernel": lambda: lodestar.rows(c.copy(), cs, *readings, *out),
        "vqf smooth kernel": lambda: vqf_smooth.smooth_rows(v.copy(), vs, *smoothed, *out),
        "lodestar smooth kernel": lambda: lodestar_smoother.smooth_rows(c.copy(), cs, *smoothed, *out),
    }


def _with_usual_step(samples: Samples) -> Array:
    """dt as smoothers take it: the first one is the usual step."""
    dt = samples.dt.copy()
    dt[0] = samples.step_s
    dt.flags.writeable = False
    return dt


def _live(filt: Any, log: Recording) -> Callable[[], object]:
    """Steps one by one; each reading is an array of its own, as a driver gives it."""
    samples = [
        sample._replace(gyr_s=sample.gyr_s.copy(), acc_s=sample.acc_s.copy(), mag_s=np.array(sample.mag_s))
        for sample in (log.sample(k) for k in range(LIVE_STEPS))
    ]
    given = Start.of(log)

    def steps() -> None:
        state = filt.start(given)
        for sample in samples:
            state = filt.step(state, sample)

    return steps


def run() -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """(what, ns per sample over the recording), (filter, us of a live step)."""
    log = recording()
    works: dict[str, Callable[[], object]] = {**_peers(log), **_kernels(log)}
    live: dict[str, Callable[[], object]] = {}
    for name, filt in _ours().items():
        works[name] = partial(filt.run, log)
        if hasattr(filt, "smooth"):
            works[f"{name} smooth"] = partial(filt.smooth, log)
        live[name] = _live(filt, log)
    for work in (*works.values(), *live.values()):
        work()  # compiled, pages touched
    whole = interleaved(works, rounds=5)
    alone = interleaved(live, rounds=20)
    return (
        [(name, seconds / len(log) * 1e9) for name, seconds in whole.items()],
        [(name, seconds / LIVE_STEPS * 1e6) for name, seconds in alone.items()],
    )


def report() -> list[str]:
    """Lines to print; those with a target say whether it is met."""
    whole, live = run()
    ns = dict(whole)
    lines = [
        "Orientation, 120 s at 286 Hz, 9 axes, with flags and bias, CPU time per sample: a call of run or smooth "
        "checks its input and makes a Solution, a kernel does neither"
    ]
    for name, cost in whole:
        against = OFFLINE if "smooth" in name else BATCH
        times = f"{ns[against] / cost:6.2f} times as fast as {against[5:]}"
        lines.append(f"  {name:22s} {cost:8.0f} ns   {times}{_verdict(name, ns)}")
    lines.append("Live step, CPU time")
    lines += [f"  {name:22s} {cost:8.2f} us   target {LIVE_US:g}: {_met(cost <= LIVE_US)}" for name, cost in live]
    return lines


def _verdict(name: str, ns: dict[str, float]) -> str:
    if name == "mahony lanes kernel":
        return f"   target {LANES_NS:g} ns: {_met(ns[name] <= LANES_NS)}"
    for work, peer, times in AS_FAST:
        if name in (work, f"{work} kernel"):
            met = ns[peer] / ns[name] >= times
            if name == "mahony kernel":
                return f"   target {times:g} times or {MAHONY_NS:g} ns: {_met(met or ns[name] <= MAHONY_NS)}"
            return f"   target {times:g} times: {_met(met)}"
    return ""


def _met(fits: bool) -> str:
    return "met" if fits else "MISSED"


if __name__ == "__main__":
    print("\n".join(report()))

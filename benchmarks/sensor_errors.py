"""Sensor errors on a 9-axis recording against drawing its random numbers alone, plain numpy, and pyins' simulator."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
from pyins.inertial_sensor import Parameters
from pyins.util import ACCEL_COLS

from benchmarks.measure import interleaved
from strapdown.live import Ideal
from strapdown.sensors.chain.error_chain import ErrorChain, measure, measure_batch
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import branch, seed_of
from strapdown.sensors.triad import NO_MATRIX, Triad

N, RATE = 500_000, 200.0
TARGET_ALL_NS, TARGET_SIMPLE_NS = 700.0, 150.0  # per 9-axis sample
TARGET_DRAWING = 1.6  # times the cost of the random numbers alone
TARGET_CORES = 1.7  # times as fast on two cores
TARGET_LIVE_US = 2.0  # per triad and sample, rows one by one from Python
LIVE_ROWS = 2000

SIMPLE = Triad(
    "rad/s",
    ((1.01, 0.01, 0.02), (0.01, 0.99, 0.01), (0.0, 0.01, 1.0)),
    bias=(0.01, 0.02, 0.03),
    white=(1e-3,) * 3,
    full_scale=4.36,
    resolution=1.33e-4,
)
ALL = replace(
    SIMPLE,
    nonlinearity=(1e-3,) * 3,
    g_sensitivity=((1e-4, 1e-5, 0.0), (0.0, 1e-4, 1e-5), (1e-5, 0.0, 1e-4)),
    turn_on=(0.01,) * 3,
    temperature_bias=((1e-4,) * 3, (1e-6,) * 3),
    temperature_scale=((1e-4,) * 3, (1e-6,) * 3),
    instability=(1e-4,) * 3,
    walk=(1e-5,) * 3,
    quantisation=(1e-6,) * 3,
    bandwidth_hz=40.0,
    filter_order=2,
    latency_s=2e-3,
    jitter_s=1e-4,
    loss=1e-3,
)
NO_G = replace(ALL, g_sensitivity=NO_MATRIX)
SLOW_NORMALS = 3.964  # per sample of a triad at this rate: 3 of the walk and 0.964 of the instability


def _numpy_simple(triad: Triad, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The simple chain as one would write it in numpy."""
    y = x @ np.array(triad.matrix).T + triad.bias + np.array(triad.white) * np.sqrt(RATE) * rng.standard_normal(x.shape)
    assert triad.full_scale is not None
    return np.round(np.clip(y, -triad.full_scale, triad.full_scale) / triad.resolution) * triad.resolution


def run() -> dict[str, float]:
    """ns per 9-axis sample (three triads), CPU time on one core; "two cores" is a ratio of wall times."""
    rng = np.random.default_rng(1)
    t = np.arange(N) / RATE
    x, f, warm = rng.normal(size=(N, 3)), rng.normal(size=(N, 3)), 25.0 + 10.0 * np.sin(t / 100.0)
    seeds = [seed_of(1, name) for name in ("accelerometer", "gyroscope", "magnetometer")]
    draw = branch(seeds[0], 1)[0]  # the same kind of generator as in the chain
    white, uniform, single = np.empty((N, 3)), np.empty((N, 3)), np.empty(N)
    slow = np.empty(round(SLOW_NORMALS * N))

    def all_terms() -> None:
        for seed, triad in zip(seeds, (NO_G, ALL, NO_G), strict=True):
            measure(triad, t, x, stream=seed, temperature_c=warm, specific_force=f)

    def drawing_alone() -> None:
        for _ in range(3):
            draw.standard_normal(out=white)
            draw.random(out=uniform)  # quantisation
            draw.standard_normal(out=single)  # jitter
            draw.random(out=single)  # loss
            draw.standard_normal(out=slow)

    def simple() -> None:
        for seed in seeds:
            measure(SIMPLE, t, x, stream=seed)

    def simple_numpy() -> None:
        for _ in range(3):
            _numpy_simple(SIMPLE, x, rng)

    readings = pd.DataFrame(x, index=t, columns=ACCEL_COLS)
    peers = [Parameters(SIMPLE.matrix, SIMPLE.bias, 1e-3, 1e-5, rng=k) for k in range(3)]
    alike = replace(SIMPLE, walk=(1e-5,) * 3, full_scale=None, resolution=0.0)

    def pyins() -> None:
        for peer in peers:
            peer.apply(readings, "rate")

    def like_pyins() -> None:
        for seed in seeds:
            measure(alike, t, x, stream=seed)

    # those with large temporaries last: memory they give back to the system, the next in turn must ask for again
    works = {
        "their random numbers alone": drawing_alone,
        "simple": simple,
        "all terms": all_terms,
        "terms of pyins": like_pyins,
        "simple, numpy": simple_numpy,
        "pyins": pyins,
    }
    for work in works.values():
        work()  # compiled, pages touched
    times = {name: seconds / N * 1e9 for name, seconds in interleaved(works, rounds=5).items()}
    return {**times, **_live(t, x, f, warm), "two cores": _two_cores(t[:100_000], x[:100_000])}


def _live(t: np.ndarray, x: np.ndarray, f: np.ndarray, warm: np.ndarray) -> dict[str, float]:
    """ns per triad and sample: one row at a time, each with all terms and a temperature of its own."""
    chain = ErrorChain(ALL, 1.0 / RATE)
    module = Module("imu", {"accelerometer": NO_G, "gyroscope": ALL, "magnetometer": NO_G})
    part = Module("imu", load_part("MPU-9250").draw(1, rate_hz=RATE).triads(), fastest_hz={})
    readers = {name: each.reader(RATE, 1.0 / RATE) for name, each in (("module", module), ("part", part))}
    cuts = [slice(k, k + 1) for k in range(LIVE_ROWS)]
    rows = [(t[cut], x[cut], 25.0, f[cut]) for cut in cuts]
    chunks = [Ideal(t[cut], x[cut], f[cut], x[cut], warm[cut]) for cut in cuts]
    first = chain.start(seed_of(1)), {name: reader.start() for name, reader in readers.items()}

    def live_chain() -> None:
        state = first[0]
        for row in rows:
            state, _ = chain.read(state, *row)

    def live_module(name: str) -> None:
        state, reader = first[1][name], readers[name]
        for chunk in chunks:
            state, _ = reader.read(state, chunk)

    works = {
        "live chain": live_chain,
        "live module": lambda: live_module("module"),
        "live part": lambda: live_module("part"),
    }
    for work in works.values():
        work()
    triads = {"live chain": 1, "live module": 3, "live part": 3}
    best = interleaved(works, rounds=30)  # short: a quiet moment is enough
    return {name: seconds / LIVE_ROWS / triads[name] * 1e9 for name, seconds in best.items()}


def _two_cores(t: np.ndarray, x: np.ndarray) -> float:
    """Wall time of 16 recordings on one core over that on two."""
    seeds = [seed_of(2, k) for k in range(16)]
    best = {1: float("inf"), 2: float("inf")}
    for _ in range(5):
        for workers in best:
            began = time.perf_counter()
            measure_batch(NO_G, t, x, streams=seeds, workers=workers)
            best[workers] = min(best[workers], time.perf_counter() - began)
    return best[1] / best[2]


def report() -> list[str]:
    """The lines of the benchmark, each with its target."""
    ns = run()

    def met(value: float, target: float, good: bool) -> str:
        return f"{value:.2f}, target {target:g}: {'met' if good else 'MISSED'}"

    drawing = ns["all terms"] / ns["their random numbers alone"]
    return [
        f"all terms {ns['all terms']:6.0f} ns, target {TARGET_ALL_NS:g}: "
        f"{'met' if ns['all terms'] <= TARGET_ALL_NS else 'MISSED'}   "
        f"random numbers alone (numpy, same generator) {ns['their random numbers alone']:6.0f} ns   "
        f"ratio {met(drawing, TARGET_DRAWING, drawing <= TARGET_DRAWING)}",
        f"simple    {ns['simple']:6.0f} ns, target {TARGET_SIMPLE_NS:g}: "
        f"{'met' if ns['simple'] <= TARGET_SIMPLE_NS else 'MISSED'}   "
        f"plain numpy {ns['simple, numpy']:6.0f} ns   {ns['simple, numpy'] / ns['simple']:.1f} times as fast",
        f"matrix, bias, white, walk {ns['terms of pyins']:6.0f} ns   pyins {ns['pyins']:6.0f} ns   "
        f"{ns['pyins'] / ns['terms of pyins']:.1f} times as fast",
        *(
            f"live, one row at a time, {what}: {1e-3 * ns[name]:.2f} us per triad and sample, "
            f"target {TARGET_LIVE_US:g}: {'met' if 1e-3 * ns[name] <= TARGET_LIVE_US else 'MISSED'}   "
            f"the whole at once {ns['all terms'] / 3e3:.2f} us"
            for name, what in (
                ("live module", "a module of three triads, all terms, samples made"),
                ("live part", "an MPU-9250, samples made"),
                ("live chain", "one triad alone, all terms"),
            )
        ),
        f"16 recordings on two cores: times as fast as on one "
        f"{met(ns['two cores'], TARGET_CORES, ns['two cores'] >= TARGET_CORES)}",
    ]


if __name__ == "__main__":
    print("Sensor errors, 9-axis recording at 200 Hz, CPU time per sample on one core")
    for line in report():
        print(" ", line)

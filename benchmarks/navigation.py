"""The error-state filter against pyins, filterpy and the same filter in plain numpy: CPU time per sample.

A log at rest, a zero velocity at every sample: prediction of 15 states and three measurements each. pyins navigates on
the turning Earth and builds tables of its results; filterpy has constant matrices and no attitude at all.
"""

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import cpu_seconds, interleaved
from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.segment_stops import SegmentStops
from strapdown.types import Recording

G = 9.81
SAMPLES = 20_000
FEW, FEW_PYINS = 400, 100  # of the slow ones
DT = 0.01
TARGETS_US = {"eskf, recorded": 2.5, "eskf, live from Python": 6.0, "ekf15, recorded": 15.0}
TARGETS_US |= {"stops, live from Python": 10.0}
TARGET_RUNS_S = 20.0  # 50 robots on paper C's square, calibration, drive and navigation
FEW_ROBOTS = 5


def log_at_rest(n: int) -> Recording:
    rng = np.random.default_rng(1)
    return Recording(
        DT * np.arange(n),
        gyr_s=rng.normal(0.0, 1e-3, (n, 3)),
        acc_s=np.array([0.0, 0.0, G]) + rng.normal(0.0, 0.03, (n, 3)),
        stop=np.ones(n, dtype=bool),
    )


def plain_numpy(log: Recording, n: int) -> None:
    """The same equations with 15 x 15 matrices."""
    cov, noise, rotation = np.eye(15) * 1e-4, np.eye(15) * 1e-8, np.eye(3)
    velocity, position, bias = np.zeros(3), np.zeros(3), np.zeros((2, 3))
    row = np.zeros((3, 15))
    row[:, 3:6] = np.eye(3)
    for i in range(n):
        rate, force_n = log.gyr_s[i] - bias[0], rotation @ (log.acc_s[i] - bias[1])
        position = position + DT * velocity
        velocity = velocity + DT * (force_n - [0.0, 0.0, G])
        rotation = rotation @ (np.eye(3) + DT * _cross(rate))
        phi = np.eye(15)
        phi[:3, 3:6] = DT * np.eye(3)
        phi[3:6, 6:9] = -DT * _cross(force_n)
        phi[3:6, 12:] = phi[6:9, 9:12] = -DT * rotation
        cov = phi @ cov @ phi.T + noise
        gain = cov @ row.T @ np.linalg.inv(row @ cov @ row.T + 1e-6 * np.eye(3))
        dx = gain @ -velocity
        keep = np.eye(15) - gain @ row
        cov = keep @ cov @ keep.T + 1e-6 * gain @ gain.T
        position, velocity, bias = position + dx[:3], velocity + dx[3:6], bias + dx[9:].reshape(2, 3)
        rotation = (np.eye(3) + _cross(dx[6:9])) @ rotation


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def pyins_run(log: Recording, n: int) -> Callable[[], object]:
    import pandas as pd
    from pyins import filters, measurements
    from pyins.strapdown import compute_increments_from_imu

    columns = ["gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z"]
    frd = np.array([1.0, -1.0, -1.0])
    imu = pd.DataFrame(np.hstack([log.gyr_s * frd, log.acc_s * frd])[: n + 1], index=log.t[: n + 1], columns=columns)
    start = pd.Series(
        {"lat": 55.0, "lon": 37.0, "alt": 0.0, "VN": 0.0, "VE": 0.0, "VD": 0.0, "roll": 0, "pitch": 0, "heading": 0},
        name=0.0,
        dtype=float,
    )
    still = pd.DataFrame(0.0, index=imu.index[1:], columns=["VN", "VE", "VD"])

    def run() -> object:
        increments = compute_increments_from_imu(imu, "rate")
        zero = measurements.NedVelocity(still, 0.001)
        return filters.run_feedback_filter(start, 1.0, 0.1, 0.5, 1.0, increments, measurements=[zero], time_step=DT)

    return run


def filterpy_run(n: int) -> Callable[[], object]:
    from filterpy.kalman import KalmanFilter

    def run() -> None:
        kf = KalmanFilter(dim_x=15, dim_z=3)
        kf.H[:, 3:6] = np.eye(3)
        kf.R *= 1e-6
        for _ in range(n):
            kf.predict()
            kf.update(np.zeros(3))

    return run


def run() -> tuple[dict[str, float], list[str]]:
    """CPU time per sample (us) by name, and what was excluded."""
    log = log_at_rest(SAMPLES)
    filt = Eskf(gravity=G, zero_rate=None)
    given = Start.of(log, alignment=align_to_yaw(log, 0.0))
    samples = list(log[: SAMPLES // 10].samples())
    judge = ForwardStops(SegmentStops(acc_sigma_m_s2=0.03, gyr_sigma_rad_s=0.002, acc_white=3e-3, gyr_white=2e-4))

    def live() -> None:
        state = filt.start(Start(alignment=given.alignment))
        for sample in samples:
            state = filt.step(state, sample)

    def live_stops() -> None:
        state = judge.start(DT)
        for sample in samples:
            state, _ = judge.step(state, sample)

    paper = Ekf15(gravity=G, magnetic_heading=False, stop_force_m_s2=1e-9)  # no stop believed: all seven measurements
    works: dict[str, Callable[[], object]] = {
        "eskf, recorded": lambda: filt.run(log, given),
        "ekf15, recorded": lambda: paper.run(log, given),
        "eskf, live from Python": live,
        "stops, live from Python": live_stops,
        "plain numpy": lambda: plain_numpy(log, FEW),
    }
    counts = {
        "eskf, recorded": SAMPLES,
        "ekf15, recorded": SAMPLES,
        "eskf, live from Python": SAMPLES // 10,
        "stops, live from Python": SAMPLES // 10,
        "plain numpy": FEW,
    }
    missing = []
    for name, module, work in (
        ("pyins", "pyins", lambda: pyins_run(log, FEW_PYINS)),
        ("filterpy (linear)", "filterpy", lambda: filterpy_run(FEW)),
    ):
        if importlib.util.find_spec(module) is None:
            missing.append(f"{name}: not installed, excluded")
            continue
        works[name], counts[name] = work(), FEW_PYINS if module == "pyins" else FEW
    live()  # compiled
    live_stops()
    best = interleaved(works)
    return {name: 1e6 * best[name] / counts[name] for name in works}, missing


def fifty_runs_s() -> float:
    """CPU time of 50 virtual robots on paper C's square: calibration, drive and our filter."""
    from strapdown.papers.c.drive import drive

    def some(first: int) -> None:
        for seed in range(first, first + FEW_ROBOTS):
            drive("square", seed).navigated()

    some(7000)  # compiled, and the truth that all share
    return 50.0 / FEW_ROBOTS * cpu_seconds(lambda: some(8000), 1)


def report() -> Iterator[str]:
    found, missing = run()
    yield "Error-state filter, predict and zero velocity at every sample, CPU time per sample"
    ours = found["eskf, recorded"]
    for name, us in found.items():
        if name in TARGETS_US:
            met = "met" if us <= TARGETS_US[name] else "MISSED"
            yield f"  {name:24s} {us:10.2f} us   target {TARGETS_US[name]:g} us: {met}"
        else:
            yield f"  {name:24s} {us:10.2f} us   {us / ours:8.0f} times as long as eskf, recorded"
    for line in missing:
        yield f"  {line}"
    seconds = fifty_runs_s()
    met = "met" if seconds <= TARGET_RUNS_S else "MISSED"
    yield f"  50 runs of test 1, computed from {FEW_ROBOTS}: {seconds:.1f} s   target {TARGET_RUNS_S:g} s: {met}"


if __name__ == "__main__":
    for text in report():
        print(text)

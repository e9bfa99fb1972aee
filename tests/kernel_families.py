"""Every family of kernels on a small log, through the API.

Run as a program it writes the results to a file, with the paths of the files whose functions were called: without
compilation a profiler sees them.
"""

import sys
from dataclasses import replace
from types import FrameType

import numpy as np

from strapdown.calibration.magnetometer.ellipsoid import fit_ellipsoid
from strapdown.calibration.noise.allan import allan_deviation
from strapdown.devices.protocol import messages as say
from strapdown.devices.protocol.decoder import Decoder
from strapdown.devices.protocol.frame import on_the_line
from strapdown.engines.mujoco.plant import MujocoPlant
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Mount, Physics
from strapdown.environment.diagram.kinds import builtin as block_kinds
from strapdown.environment.diagram.port import Port
from strapdown.kernels import frames, whitening
from strapdown.kernels.calibration.turns import SUMS, turn_rows
from strapdown.kernels.motion.vibration import LINE, felt_rows
from strapdown.live import PLANT_ROW, Ideal
from strapdown.motion.paths.circle import Circle
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.motion.vibration import Vibrating, motor_hum, rotor_imbalance
from strapdown.navigation.dead_reckoning import dead_reckon, dead_reckon_increments
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.smoother import smooth
from strapdown.navigation.eskf.updates import FlatFloor, MagneticHeading, NonHolonomic, WheelTravel
from strapdown.navigation.mechanisation import increments_from_means, increments_from_values
from strapdown.navigation.stops.detectors import Ared, Magnitude, MovingVariance, Shoe
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.navigation.stops.forward_stops import ForwardStops
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.navigation.stops.segment_stops import SegmentStops
from strapdown.orientation.catalogue import FILTERS, filter_by_name
from strapdown.orientation.lanes import run_many
from strapdown.rotation import (
    euler_from_q,
    matrix,
    q_conj,
    q_exp,
    q_from_matrix,
    q_log,
    q_mul,
    q_rotate,
    q_slerp,
)
from strapdown.sample import Fixes
from strapdown.sensors.chain.error_chain import ErrorChain, measure
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import Triad
from strapdown.types import Recording
from strapdown.vehicles import builtin
from strapdown.vehicles.vehicle import read_vehicle

RATE_HZ = 50.0
FIELD_N = np.array([0.0, 17.0, -49.0])  # uT
NORTH = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))


def log() -> Recording:
    """A rest of a second, and the first metre of a drive to the north with a turn in it."""
    path = StopAndGo(((0.0, 0.0), (0.3, 0.0), (0.3, 0.3)), move_s=0.8, rest_s=0.4, turn_s=0.5, first_rest_s=1.2)
    truth = path.at(np.arange(0.0, min(path.duration_s, 4.0), 1.0 / RATE_HZ))
    rng, n = np.random.default_rng(1), (len(truth), 3)
    return Recording(
        truth.t,
        gyr_s=truth.w_nb_b + rng.normal(0.0, 1e-3, n),
        acc_s=truth.specific_force_b(9.81) + rng.normal(0.0, 0.02, n),
        mag_s=q_rotate(q_conj(truth.q_nb), FIELD_N) + rng.normal(0.0, 0.2, n),
        stop=path.stopped(truth.t),
        meta={"gravity": 9.81},
    )


def rotations() -> dict[str, np.ndarray]:
    r = np.random.default_rng(2).normal(size=(7, 3)) * np.array([1e-9, 1e-3, 0.1, 1.0, 2.0, 4.0, 9.0])[:, None]
    q = q_exp(r)
    other = q_exp(r[::-1])
    return {
        "exp": q,
        "log": q_log(q),
        "mul": q_mul(q, other),
        "rotate": q_rotate(q, r),
        "slerp": q_slerp(q, other, 0.3),
        "euler": np.stack(euler_from_q(q)),
        "matrix": matrix(q),
        "from matrix": q_from_matrix(matrix(q)),
    }


def mounted(n: int = 5) -> dict[str, np.ndarray]:
    rows = np.random.default_rng(3).normal(size=(n, 19))
    threes = [np.empty((n, 3)) for _ in range(5)]
    q_ns, linear, angular = np.empty((n, 4)), np.empty(n - 1), np.empty(n - 1)
    p_n, v_n, a_n, w_s, dw_s = threes
    g_n = np.array([0.0, 0.0, -9.81])
    frames.mounted_rows(rows, g_n, np.array([0.1, 0.2, 0.3]), np.array(NORTH), p_n, v_n, a_n, q_ns, w_s, dw_s)
    frames.unexplained_rows(rows, g_n, np.full(n - 1, 0.01), linear, angular)
    return {"a_n": a_n, "q_ns": q_ns, "dw_s": dw_s, "linear": linear, "angular": angular}


def error_chain() -> dict[str, np.ndarray]:
    triad = Triad(
        *("rad/s", ((1.02, 0.01, -0.008), (0.004, 0.97, 0.012), (-0.006, 0.002, 1.01))),
        bias=(0.2, -0.1, 0.05),
        white=(1e-3,) * 3,
        instability=(1e-3,) * 3,
        walk=(1e-4,) * 3,
        resolution=1e-3,
        full_scale=1.0,
    )
    t = np.arange(200) / 100.0
    ideal = np.sin(t)[:, None] * np.ones(3)
    found = measure(triad, t, ideal, stream=seed_of(1, "family"))
    chain = ErrorChain(triad, 0.01)
    live = chain.read(chain.start(seed_of(1, "family")), t, ideal)[1]
    return {"values": found.values, "saturated": found.saturated, "live": live.values}


def live_module(recording: Recording) -> dict[str, np.ndarray]:
    module = Module("family", load_part("MPU-6050").nominal(rate_hz=50.0).triads(), seed=3)
    reader = module.reader(50.0, recording.step_s)
    samples = reader.read(reader.start(), Ideal(recording.t, recording.gyr_s, recording.acc_s))[1]
    return {"gyr_s": np.array([s.gyr_s for s in samples]), "acc_s": np.array([s.acc_s for s in samples])}


def plant() -> dict[str, np.ndarray]:
    robot = MujocoPlant(RobotFile(builtin("double_pendulum")), Physics(gravity=9.81))
    mounts = [Mount("imu", robot.links()[-1], (0.1, 0.0, 0.0))]
    rows = np.empty((1, PLANT_ROW))
    robot.advance_to(0.05)
    robot.read(mounts, rows)
    return {"rows": rows}


def ideal() -> dict[str, np.ndarray]:
    """What perfect instruments on a mount read, with a magnet and iron near by."""
    rows = np.random.default_rng(5).normal(size=(4, PLANT_ROW))
    rows[:, 3:7] /= np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
    iron = np.concatenate([[1.0, -2.0, 3.0], (np.eye(3) + 0.1).ravel()])
    magnets = [1.0, 1.0, 0.1, 0.2, 0.3, 2.0, 3.0, -1.0, 0.1, 0.0, 0.2, 0.1, 0.0, 0.3]  # in the world, on the body
    around = np.concatenate([iron, FIELD_N, magnets])
    acc, gyr, mag = (np.empty((4, 3)) for _ in range(3))
    t, felt, no_jets = np.empty(4), np.empty(PLANT_ROW), np.zeros((4, 0))
    felt_rows(rows[:, None, :], 0, 0, 100.0, t, no_jets, np.zeros((0, LINE)), felt, 0, around, acc, gyr, mag)
    return {"acc": acc, "gyr": gyr, "mag": mag, "t": t, "felt": felt}


def vehicles() -> dict[str, np.ndarray]:
    found = {}
    for name, gravity, commands in (
        ("quadcopter", 9.81, (480.0, 450.0, 470.0, 455.0)),
        ("mars_helicopter", 3.72, (0.25, 0.24, 0.01, -0.01)),
        ("rover", 9.81, (4.0, 2.0)),
    ):
        driven = read_vehicle(name).plant(gravity=gravity)
        driven.actuate(np.array(commands))
        driven.set_air(driven.vehicle.density_kg_m3, (1.0, -0.5, 0.2))
        driven.advance_to(0.02)
        rows = np.empty((1, PLANT_ROW))
        driven.read([Mount("imu", "frame")], rows)
        found |= {f"{name} rows": rows, f"{name} achieved": driven.achieved, f"{name} phases": driven.phases}
    return found


def vibration() -> dict[str, np.ndarray]:
    hubs, inertia = ((0.2, 0.0, 0.1), (-0.2, 0.0, 0.1)), (0.01, 0.01, 0.02)
    lines = rotor_imbalance(1e-5, hubs, (1.0, -1.0), 0.7, inertia) + motor_hum((0.1, 0.2, 0.3), 50.0)
    motion = Vibrating(Circle(1.0, 0.5, 2.0), lines, (450.0, 460.0)).at(np.arange(50) / 100.0)
    return {name: getattr(motion, name) for name in ("p_n", "a_n", "q_nb", "w_nb_b", "dw_nb_b")}


def calibration() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    y = rng.normal(size=(200, 3))
    y = 50.0 * y / np.linalg.norm(y, axis=1)[:, None] @ (np.eye(3) + 0.1 * rng.normal(size=(3, 3))) + 10.0
    fit = fit_ellipsoid(y + rng.normal(0.0, 0.1, y.shape), np.arange(200) // 10)
    values = rng.normal(size=(200, 2))
    t, w = np.arange(50) / 100.0, rng.normal(size=(50, 3))
    q, sums = np.empty((1, 4)), np.empty((1, 3, 3, SUMS))
    ends = np.array([0]), np.array([49])
    turn_rows(t, w, w, *ends, np.zeros(3), 1e-3 * np.eye(3), 1.01 * np.eye(3), np.full(3, 1e-3), q, sums)
    lower, rows = np.cov(rng.normal(size=(4, 20))), rng.normal(size=(4, 2))
    whitening.factor(lower)
    whitening.whiten(lower, rows)
    return {
        "centre": fit.centre,
        "matrix": fit.matrix,
        "scores": fit.scores,
        "allan": allan_deviation(values, 0.01).deviation,
        "turn": q,
        "white": rows,
        "sums": sums,
    }


def orientation(recording: Recording) -> dict[str, np.ndarray]:
    found = {}
    for name in FILTERS:
        filt = filter_by_name(name, **({"calibration_s": 0.5} if name == "paper-b" else {}))
        for way in ("run", "smooth"):
            if hasattr(filt, way):
                found[f"{name} {way}"] = getattr(filt, way)(recording).q_nb
    found["lanes"] = run_many(filter_by_name("mahony"), [recording, recording])[1].q_nb
    return found


def navigation(recording: Recording) -> dict[str, np.ndarray]:
    found = {}
    eskf = Eskf(gyr_matrix_sigma=1e-3, acc_scale_sigma=1e-3, acc_axes_sigma=1e-3)
    ground = FlatFloor(height_sigma_m=None, velocity_sigma_m_s=None, slope_of_pitch=1.0)
    on_wheels = replace(
        eskf,
        flat_floor=ground,
        non_holonomic=NonHolonomic(upward_sigma_m_s=None),
        wheel_travel=WheelTravel(),
        magnetic_heading=MagneticHeading(),
        huber_sigmas=3.0,
    )
    new = np.arange(len(recording)) % 10 == 9
    late = Fixes(np.zeros((len(recording), 3)), np.full((len(recording), 3), 0.5), recording.t - 0.1)
    fixed = replace(recording, velocity_fix=late, new={"velocity_fix": new})
    for kind, solution in (
        ("eskf", eskf.run(recording)),
        ("eskf, late fixes", eskf.run(fixed)),
        ("eskf on wheels", on_wheels.run(replace(recording, odometer=0.1 * (recording.t - recording.t[0])))),
        ("eskf smoothed", smooth(eskf, recording)),
        ("ekf15", Ekf15().run(recording)),
    ):
        found |= {f"{kind} {name}": getattr(solution, name) for name in ("p_n", "v_n", "q_nb")}
    start = {"q_nb": NORTH, "p_n": np.zeros(3), "v_n": np.zeros(3), "gravity": 9.81}
    found["integrated"] = dead_reckon(recording, **start).p_n
    for name, made in (("values", increments_from_values), ("means", increments_from_means)):
        found[f"increments from {name}"] = dead_reckon_increments(made(recording), **start).p_n
    return found


def stops(recording: Recording) -> dict[str, np.ndarray]:
    found = {
        detector.name: detector.find(recording).signal
        for detector in (Shoe(gravity=9.81), Ared(), MovingVariance(), Magnitude(gravity=9.81))
    }
    found["judged"] = NoiseStops.from_rest(recording).find(recording).believed
    rest = 0, 20
    found["segments"] = SegmentStops.of_rest(recording, rest).find(recording, rest).believed
    found["forward"] = ForwardStops.of_rest(recording[:21]).find(recording).signal
    found["foot"] = FootStops().find(recording).believed
    return found


def control() -> dict[str, np.ndarray]:
    """Controllers, mixer and low-pass filters of diagrams, two steps each."""
    q, v = q_exp(np.array([0.2, -0.1, 0.4])), np.array([0.3, -0.2, 0.1])
    inputs = {
        "velocity_controller": (v[:2].copy(), v, q, 1.0),
        "attitude_controller": (q, v[:2].copy(), 0.3, 1.0),
        "rate_controller": (v, 0.5 * v, 1.0),
        "mixer": (7.0, 0.1 * v),
        "low_pass": (v,),
        "low_pass_2": (v,),
    }
    found = {}
    for kind, given in inputs.items():
        block = block_kinds()[kind].make({})
        if hasattr(block, "resolved"):
            block = block.resolved({"in": Port(shape=(3,))}, {})
        state, _ = block.step(block.start(), *given, dt=0.01)
        found[kind] = block.step(state, *given, dt=0.01)[1][0]
    return found


def devices() -> dict[str, np.ndarray]:
    """Good, damaged and foreign frames of the measuring module."""
    good = [on_the_line(say.start(number)) for number in range(3)]
    stream = b"".join([good[0], b"\x05\x01\x02\x00", good[1][:5], b"\x00", good[2]])
    decoder = Decoder()
    rows = [
        np.concatenate([frame[:size] for frame, size in zip(*block, strict=True)]) for block in decoder.blocks(stream)
    ]
    return {"frames": np.concatenate(rows), "counted": np.array([decoder.good, decoder.bad, decoder.bad_bytes])}


def every_family() -> dict[str, np.ndarray]:
    recording = log()
    families = {
        "rotations": rotations(),
        "frames": mounted(),
        "error chain": error_chain(),
        "live module": live_module(recording),
        "plant": plant(),
        "ideal": ideal(),
        "vehicles": vehicles(),
        "vibration": vibration(),
        "calibration": calibration(),
        "orientation": orientation(recording),
        "navigation": navigation(recording),
        "stops": stops(recording),
        "control": control(),
        "devices": devices(),
    }
    return {
        f"{family}: {name}": np.asarray(value) for family, found in families.items() for name, value in found.items()
    }


def main(stored: str) -> None:
    files = set()

    def note(frame: FrameType, *_: object) -> None:
        files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    results = every_family()
    sys.setprofile(None)
    np.savez(stored, files=np.array(sorted(files)), **results)


if __name__ == "__main__":
    main(sys.argv[1])

"""Right logs of five kinds, ways to spoil them, and the entry points that take them."""

import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from helpers import command
from strapdown import io
from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import UNITS, Calibration, Correction, Found
from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
from strapdown.calibration.noise.static_log import analyse_log
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.static import calibrate_static
from strapdown.calibration.temperature.bias_curve import calibrate_temperature
from strapdown.errors import LogWarning
from strapdown.motion import Rest, StopAndGo, Waypoints
from strapdown.motion.paths.poses import Poses
from strapdown.motion.paths.tumble import Tumble
from strapdown.navigation.carriers.by_name import carrier_named
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.dead_reckoning import dead_reckon
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import MagneticHeading
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.orientation.mahony import Mahony
from strapdown.recordings.examination.findings import LogError
from strapdown.recordings.facts import Facts
from strapdown.rotation import IDENTITY, q_conj, q_from_euler, q_rotate
from strapdown.types import Recording

G = 9.80665
FIELD_N = np.array([0.0, 20.0, -43.0])  # uT
RATE_HZ = 100.0


def read_along(path, seed, rate_hz=RATE_HZ):
    """What a calibrated consumer part reads: white noise and small offsets."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, path.duration_s, 1.0 / rate_hz)
    motion = path.at(t)
    noise = rng.standard_normal((3, len(t), 3))
    field_s = q_rotate(q_conj(motion.q_nb), np.broadcast_to(FIELD_N, (len(t), 3)))
    return Recording(
        t,
        gyr_s=motion.w_nb_b + np.radians([0.3, -0.2, 0.4]) + 0.001 * noise[0],
        acc_s=motion.specific_force_b(G) + [0.03, -0.02, 0.04] + 0.03 * noise[1],
        mag_s=field_s + 0.3 * noise[2],
    )


def hand(rate_hz=RATE_HZ):
    """Rest, then tilts and moves, then rest."""
    angles = [(0, 0, 0), (0, 0, 0), (70, 10, 30), (-60, 50, -40), (40, -65, 60), (80, 20, 10), (0, 0, 0), (0, 0, 0)]
    places = [
        (0, 0, 0),
        (0, 0, 0),
        (0.4, 0, 0.2),
        (0.6, 0.5, 0),
        (0, 0.5, 0.3),
        (-0.4, 0.2, 0),
        (0, 0, 0),
        (0, 0, 0),
    ]
    times = [0.0, 5.0, 8.0, 11.0, 14.0, 17.0, 20.0, 24.0]
    turned = [q_from_euler(*np.radians(np.array(a, dtype=float))) for a in angles]
    return read_along(Waypoints(times, np.array(places, dtype=float), turned), 1, rate_hz)


@cache
def right(kind):
    """hand: rest, tilts and moves. drive: a robot on a floor. table: rest. heated: rest, from 20 to 50 degC. poses: on
    six faces. tumble: all about."""
    if kind == "hand":
        return hand()
    if kind == "drive":
        path = StopAndGo.square()
        log = read_along(path, 2)
        return replace(log, stop=path.stopped(log.t))
    if kind == "table":
        return read_along(Rest(duration_s=60.0), 3)
    if kind == "heated":
        log = read_along(Rest(duration_s=300.0), 6)
        return replace(log, temperature=20.0 + 30.0 * log.t / log.t[-1])
    if kind == "poses":
        return read_along(Poses.six(hold_s=4.0, turn_s=2.0), 4)
    return read_along(Tumble(duration_s=60.0), 5)


FULL_SCALE_UT = 25.0
FAULTS = {
    "gyroscope in deg/s": lambda r: replace(r, gyr_s=np.degrees(r.gyr_s)),
    "time in ms": lambda r: replace(r, t=1e3 * r.t),
    "accelerometer in g": lambda r: replace(r, acc_s=r.acc_s / G),
    "accelerometer scaled by 1.2": lambda r: replace(r, acc_s=1.2 * r.acc_s),
    "accelerometer sign turned": lambda r: replace(r, acc_s=-r.acc_s),
    "forward-right-down": lambda r: replace(
        r, **{name: getattr(r, name) * [1.0, -1.0, -1.0] for name in ("gyr_s", "acc_s", "mag_s")}
    ),
    "gyroscope x and y swapped": lambda r: replace(r, gyr_s=r.gyr_s[:, [1, 0, 2]]),
    "gyroscope z turned": lambda r: replace(r, gyr_s=r.gyr_s * [1.0, 1.0, -1.0]),
    "magnetometer x and y swapped": lambda r: replace(r, mag_s=r.mag_s[:, [1, 0, 2]]),
    "magnetometer at full scale": lambda r: replace(r, mag_s=np.clip(r.mag_s, -FULL_SCALE_UT, FULL_SCALE_UT)),
    "magnetometer in gauss": lambda r: replace(r, mag_s=0.01 * r.mag_s),
    "magnetometer slower": lambda r: replace(r, mag_s=r.mag_s[np.arange(len(r)) // 5 * 5]),
}


@dataclass(frozen=True)
class Entry:
    """log: kind of log it takes; call: the library's way; words: the command's, where there is one."""

    log: str
    call: object
    words: tuple[str, ...] = ()


def _navigated(vehicle):
    return lambda r: navigate(r, carrier_named(vehicle, WheeledRobot(Heading(0.0)), None), Facts(G))


_BY_HAND = Found("positions")
CALIBRATION = Calibration({name: Correction(unit, _BY_HAND) for name, unit in UNITS.items()})
_NAVIGATE = ("--heading", "0", "--json", "--vehicle")
ENTRIES = {
    "orient": Entry("hand", lambda r: Mahony().run(r), ("orient", "--filter", "mahony", "--json")),
    "orient a drive": Entry("drive", lambda r: Mahony().run(r), ("orient", "--filter", "mahony", "--json")),
    "navigate": Entry("hand", _navigated("free"), ("navigate", *_NAVIGATE, "free")),
    "navigate a drive": Entry("drive", _navigated("robot"), ("navigate", *_NAVIGATE, "robot")),
    "calibrate static": Entry("table", lambda r: calibrate_static(r, gravity=G), ("calibrate", "static", "--json")),
    "calibrate positions": Entry("poses", lambda r: calibrate_positions(r, G), ("calibrate", "positions", "--json")),
    "calibrate magnetometer": Entry("tumble", calibrate_magnetometer, ("calibrate", "magnetometer", "--json")),
    "allan": Entry("table", analyse_log, ("allan", "--json")),
    "eskf": Entry("drive", Eskf(gravity=G, magnetic_heading=MagneticHeading()).run),
    "ekf15": Entry("drive", Ekf15(gravity=G).run),
    "dead reckoning": Entry("hand", lambda r: dead_reckon(r, IDENTITY, np.zeros(3), np.zeros(3), G)),
    "calibrate temperature": Entry("heated", calibrate_temperature, ("calibrate", "temperature", "--json")),
    "apply": Entry("hand", lambda r: apply(CALIBRATION, r)),
}
COMMANDS = {name: entry for name, entry in ENTRIES.items() if entry.words}


def library(entry, recording):
    """(kinds of refusal and warning by severity, sentences) of the library's call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", LogWarning)
        try:
            entry.call(recording)
        except LogError as error:
            return "refuse", [str(error)]
    said = list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, LogWarning)))
    return ("warn" if said else "accept"), said


def commanded(entry, path):
    """(verdict, text) of the command on a file."""
    said = command(entry.words[0], *((entry.words[1],) if entry.words[0] == "calibrate" else ()), path,
                   *(entry.words[2:] if entry.words[0] == "calibrate" else entry.words[1:]))  # fmt: skip
    if said.code == 2:
        assert len(said.err.strip().splitlines()) == 1, said.err
        return "refuse", said.err
    assert said.code == 0, said.err
    return ("warn" if "warning: " in said.err else "accept"), said.err + said.out


def written(path, recording):
    io.write(path, {"imu": recording})
    return path

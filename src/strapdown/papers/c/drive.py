"""Paper C's tests driven by virtual robots: test 1, a square of 1.2 m, test 2, a straight of 6.6 m; a stop each 0.3 m.

Every seed is another robot (c_robot) on another floor; its iron turns the magnetic azimuth along the path by 3 deg rms.
The log has the readings of its module, corrected by its own calibration, with truth and stops.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strapdown.calibration.apply import apply
from strapdown.calibration.calibration import Calibration
from strapdown.errors import InputError
from strapdown.motion.paths.profile import Keep, MoveTo, Profile
from strapdown.motion.paths.stop_and_go import StopAndGo, Stops
from strapdown.navigation.alignment import Alignment, align_to_yaw
from strapdown.navigation.carriers.paper_robot import PaperRobot
from strapdown.navigation.carriers.wheeled_robot import GIVEN_LEVER_M, WheeledRobot
from strapdown.navigation.ekf15 import Ekf15
from strapdown.navigation.program import Navigated, navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.robot import DECLINATION, FIELD_N, INNER, RANGE, RATE_HZ, G, Robot, robot
from strapdown.recordings.facts import Facts
from strapdown.rotation import IDENTITY, q_conj, q_exp, q_log, q_mul, q_rotate, wrap
from strapdown.sensors.magnetic_sources import Dipole, MagneticWorld, Source
from strapdown.sensors.magnetometer import ideal_field
from strapdown.sensors.module import Module
from strapdown.sensors.odometer import WheelOdometer
from strapdown.sensors.streams import seed_of, stream
from strapdown.sensors.temperature import Temperature
from strapdown.types import Array, Motion, Recording, Solution

TESTS = ("square", "straight")
PUBLISHED = {"square": (4.98, 4.08), "straight": (4.54, 4.27)}  # largest e and e at the end, %
COMPASS_HZ = 50.0
DISTURBANCE_DEG = 3.0
WHEEL_RADIUS_M, WHEEL_TICKS = 0.03, 600  # 0.3 mm per tick
WHEEL_SCALE = 0.002  # sigma of the odometer's scale
FIRST_REST_S, REST_S = 10.0, 9.5  # the stand before the run, and how much of it the alignment takes
_IRON_EACH_M, _DEPTH_M, _AROUND_M = 0.7, (0.4, 1.2), 1.0  # pieces of iron below the floor, and how far from the path
_PUSH_S = 0.6


@dataclass(frozen=True, eq=False)
class Drive:
    """One drive of a robot.

    log: calibrated readings, stop flags, odometer and truth, in frame s.
    raw: before calibration.
    stops: stops of the truth.
    q_bs: the mounting.
    """

    path: StopAndGo
    log: Recording
    raw: Recording
    stops: Stops
    robot: Robot
    q_bs: Array

    @property
    def truth(self) -> Motion:
        """Truth of the sensor's frame s."""
        assert self.log.truth is not None
        return self.log.truth

    def aligned(self) -> Alignment:
        """The robot starts as planned: its heading at the start is known, roll and pitch are not."""
        return align_to_yaw(self.log, self.path.start_yaw_rad, rest_s=REST_S, q_bs=self.q_bs)

    @property
    def heading(self) -> Heading:
        """Heading of a start on a mark."""
        return Heading(self.path.start_yaw_rad, 0.0)

    def facts(self, **more: Any) -> Facts:
        """Facts that a user would give strapdown navigate: the place, the part and its calibration."""
        known: dict[str, Any] = {
            "gravity": G,
            "declination_rad": DECLINATION,
            "noise": self.robot.known,
            "calibration": self.robot.calibration,
            "q_bs": tuple(self.q_bs),
        }
        return Facts(**{**known, **more})

    def carrier(self, **more: Any) -> WheeledRobot:
        """The sensor sits above the middle of the axle."""
        return WheeledRobot(**{"heading": self.heading, "lever_sigma_m": GIVEN_LEVER_M, **more})

    def navigated(self, name: str = "eskf", *, odometer: bool = False, **changed: Any) -> Navigated:
        """Navigate in the same way as strapdown navigate.

        changed: fields of the log, as {"mag_s": None}.
        """
        if not odometer:
            changed["odometer"] = None
        carrier = PaperRobot(self.heading) if name == "ekf15" else self.carrier()
        return navigate(replace(self.log, **changed), carrier, self.facts())

    def ekf15(self, **more: Any) -> Ekf15:
        """Paper C's filter as in the paper: it believes its controller."""
        return Ekf15(**{"gravity": G, "declination_rad": DECLINATION, "q_bs": tuple(self.q_bs), **more})

    def body_attitude_error_n(self, solution: Solution) -> Array:
        """Error of the body's attitude as a rotation vector in frame n.

        phi_n (rad): R_true = exp(phi_n) R of the body.
        """
        q_nb = q_mul(self.truth.q_nb, q_conj(self.q_bs))
        return q_log(q_mul(q_nb, q_conj(solution.q_nb)))


@dataclass(frozen=True)
class Push:
    """At a stop (number; the rest before the run is 0) somebody pushes the robot by move_n (m) in 0.6 s."""

    stop: int
    move_n: tuple[float, float, float] = (0.05, 0.0, 0.0)


def path_of(kind: str, heading_deg: float = 0.0, **settings: Any) -> StopAndGo:
    """The path of a test.

    heading_deg: heading at the start, clockwise from north.
    """
    if kind not in TESTS:
        raise InputError(f'test "{kind}" is not known; valid: {", ".join(TESTS)}')
    settings = {"start_yaw_rad": float(np.radians(90.0 - heading_deg)), "first_rest_s": FIRST_REST_S, **settings}
    return StopAndGo.square(**settings) if kind == "square" else StopAndGo.straight(**settings)


@dataclass(frozen=True, eq=False)
class Conditions:
    """Of a run.

    heading_deg: heading at the start, clockwise from north.
    slope_deg: the floor climbs to the north.
    q_bs: the mounting of the sensor.
    sources: magnets besides the iron below the floor, which turns the azimuth by disturbance_deg rms.
    temperature: degC.
    loss: part of the rows that are missing.
    wheel: further settings of the odometer.
    calibration: a calibration other than the robot's own.
    """

    heading_deg: float = 0.0
    slope_deg: float = 0.0
    push: Push | None = None
    q_bs: ArrayLike = tuple(IDENTITY)
    sources: tuple[Source, ...] = ()
    disturbance_deg: float = DISTURBANCE_DEG
    temperature: Temperature = 25.0
    loss: float = 0.0
    wheel: Mapping[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None


def drive(kind: str, seed: int, **conditions: Any) -> Drive:
    """One run under these Conditions, given by name."""
    given = Conditions(**conditions)
    path, body = _body(kind, given.heading_deg, given.slope_deg)
    if given.push is not None:
        body = _pushed(body, path, given.push)
    one = robot(seed)
    mounted = np.asarray(given.q_bs, dtype=np.float64)
    seen = body if np.array_equal(mounted, IDENTITY) else body.seen_from((0.0, 0.0, 0.0), mounted)
    iron = floor_iron(kind, given.heading_deg, given.slope_deg, seed, given.disturbance_deg)
    world = MagneticWorld(FIELD_N, (*iron, *given.sources))
    ideal = Recording(
        seen.t,
        gyr_s=seen.w_nb_b,
        acc_s=seen.specific_force_b(G),
        mag_s=_field(seen, world, one),
        truth=seen,
        meta={
            "gravity_m_s2": G,
            "magnetic_field_n_ut": FIELD_N.tolist(),
            "part": "MPU-6050",
            "magnetometer_part": "QMC5883L",
            "range": {"accelerometer": f"{RANGE['accelerometer']:g} g"},
        },
    )
    module = Module(
        "C",
        {name: replace(triad, loss=given.loss) for name, triad in one.triads.items()},
        seed=run_seed(seed, kind),
        temperature=given.temperature,
        fastest_hz={"magnetometer": COMPASS_HZ},
    )
    raw = module.measure(ideal, RATE_HZ)
    assert raw.truth is not None
    scale = float(stream(seed, "C", "wheel").normal(0.0, WHEEL_SCALE))
    odometer = WheelOdometer(WHEEL_RADIUS_M, WHEEL_TICKS, **{"scale_error": scale, **given.wheel})
    travel = odometer.measure(body[::INNER], stream=seed_of(seed, "C", kind, "odometer"))
    raw = replace(raw, stop=path.stopped(raw.t), odometer=np.interp(raw.t, travel.t, travel.distance_m))
    log = apply(one.calibration if given.calibration is None else given.calibration, raw)
    assert raw.truth is not None
    last = np.searchsorted(raw.t, path.stops.end_s - 1e-9) - 1
    return Drive(path, log, raw, replace(path.stops, p_n=raw.truth.p_n[last]), one, mounted)


def floor_iron(kind: str, heading_deg: float, slope_deg: float, seed: int, rms_deg: float) -> tuple[Dipole, ...]:
    """Magnetised pieces below the floor that turn the azimuth by rms_deg along the path, mean included."""
    _, body = _body(kind, heading_deg, slope_deg)
    return iron_below(body.p_n[:: 10 * INNER], stream(seed, "C", kind, "floor"), rms_deg, FIELD_N)


def iron_below(p_n: Array, rng: np.random.Generator, rms_deg: float, field_n: Array) -> tuple[Dipole, ...]:
    """The same for any path, given by some of its places, and any field."""
    if rms_deg == 0.0:
        return ()
    p_n = p_n[np.concatenate([[True], np.linalg.norm(np.diff(p_n, axis=0), axis=1) > 1e-3])]
    declination = np.arctan2(field_n[0], field_n[1])
    low, high = p_n.min(axis=0) - _AROUND_M, p_n.max(axis=0) + _AROUND_M
    count = int(np.ceil(np.prod((high - low)[:2]) / _IRON_EACH_M**2))
    places = rng.uniform(low, high, (count, 3))
    places[:, 2] = low[2] + _AROUND_M - rng.uniform(*_DEPTH_M, count)
    moments = rng.standard_normal((count, 3))
    size = 0.3
    for _ in range(6):  # the azimuth is nearly linear in the moments
        iron = tuple(Dipole(size * m, place) for m, place in zip(moments, places, strict=True))
        field = MagneticWorld(field_n, iron).at(p_n)
        off = wrap(np.arctan2(field[:, 0], field[:, 1]) - declination)
        size *= float(np.radians(rms_deg) / np.sqrt(np.mean(off**2)))
    return tuple(Dipole(size * m, place) for m, place in zip(moments, places, strict=True))


@lru_cache(maxsize=16)
def _body(kind: str, heading_deg: float, slope_deg: float) -> tuple[StopAndGo, Motion]:
    """The path and the body's motion, INNER times as fine as the module's rows."""
    path = path_of(kind, heading_deg)
    motion = path.at(np.arange(int(path.duration_s * RATE_HZ) * INNER) / (RATE_HZ * INNER))
    if slope_deg == 0.0:
        return path, motion
    q_nm = q_exp([np.radians(slope_deg), 0.0, 0.0])  # east stays level, north climbs
    turned = {name: q_rotate(q_nm, getattr(motion, name)) for name in ("p_n", "v_n", "a_n")}
    return path, replace(motion, **turned, q_nb=q_mul(q_nm, motion.q_nb))


def _pushed(body: Motion, path: StopAndGo, push: Push) -> Motion:
    start = path.stops.start_s[push.stop] + 0.5
    way = Profile([Keep(start), MoveTo(1.0, _PUSH_S), Keep(path.duration_s - start - _PUSH_S)])
    s, v, a, _ = way.at(body.t)
    move = np.array(push.move_n)
    return replace(
        body,
        p_n=body.p_n + s[:, None] * move,
        v_n=body.v_n + v[:, None] * move,
        a_n=body.a_n + a[:, None] * move,
    )


def _field(seen: Motion, world: MagneticWorld, one: Robot) -> Array:
    """Field at the compass's own rate; rows between are not read."""
    each = round(RATE_HZ * INNER / COMPASS_HZ)
    some = ideal_field(seen[::each], world, one.iron_ut, one.soft_iron)
    return np.repeat(some, each, axis=0)[: len(seen)]


def run_seed(seed: int, kind: str) -> int:
    return int(seed_of(seed, "C", kind, "drive").generate_state(1)[0])

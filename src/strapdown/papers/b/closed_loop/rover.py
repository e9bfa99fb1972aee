"""Paper C's two tests driven in physics: wheels that slip, motor hum, and the controller's own stop flag.

The robots are those of papers/c: the same specimens, iron and calibrations, and iron in the floor. Only the motion
is different: there it is prescribed, here it comes from wheels. `navigate` then works on the recording of the session.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strapdown.calibration.apply import apply
from strapdown.environment.rig_sensors import DipoleTable
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import Scenario, read_scenario
from strapdown.environment.session.scenario.pilot import PilotTable
from strapdown.environment.session.session import Session
from strapdown.evaluation.stops import StopTable, stop_table
from strapdown.motion.paths.stop_and_go import Stops
from strapdown.papers.b.closed_loop.part import ASKED, Part, Results
from strapdown.papers.c.drive import DISTURBANCE_DEG, TESTS, WHEEL_SCALE, Drive, drive, floor_iron, path_of
from strapdown.papers.c.navigation import FIRST_SEED as FIRST_ROBOT
from strapdown.papers.c.robot import FIELD_N, RANGE, RATE_HZ, G, robot
from strapdown.papers.chance import excess_of_mean, seeds_of
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table
from strapdown.rotation import IDENTITY
from strapdown.sensors.streams import seed_of, stream
from strapdown.types import Recording

HEADING_DEG = 90.0  # the rover of the scenario starts towards x, east
SPEED_M_S, ACCELERATION_M_S2 = 0.3, 0.5  # of the diagram's drive: full stick, and ramp
TURN_DPS, TURN_DPS2 = 60.0, 180.0
SETTLED_S = 1.0  # the wheels sink in; the recording begins after it
SUNK = -0.004  # the tyre rolls on 0.4 % less than its radius: the odometer is calibrated for it, as one does

ALLOWED = 1.5  # times the error with prescribed motion
FIGURES = {
    "end": "our filter, at the end",
    "largest": "our filter, largest of all stops",
    "odometer": "our filter with odometer, at the end",
}


@dataclass(frozen=True)
class RoverJob:
    """One robot on one test, "square" or "straight"."""

    kind: str
    seed: int


def stick(way: float, duration_s: float, ramp: float) -> tuple[float, float]:
    """Speed of a trapezoid with this ramp that covers the distance in the duration, and how long the stick is held."""
    speed = 0.5 * ramp * (duration_s - math.sqrt(duration_s**2 - 4.0 * way / ramp))
    return speed, way / speed


def script(kind: str) -> tuple[tuple[PilotTable, ...], float]:
    """The pilot's lines for the plan of a test, and how long they take: legs of 0.3 m, rests, turns in place."""
    path = path_of(kind, HEADING_DEG)
    speed, drive_s = stick(path.stop_spacing_m, path.move_s, ACCELERATION_M_S2)
    lines = [PilotTable(at_s=0.5, power=True), PilotTable(at_s=1.0, calibrate=True)]
    lines.append(PilotTable(at_s=path.first_rest_s - 1.0, calibrate=False))
    stops = path.stops
    for start_s, next_s in zip(stops.end_s[:-1], stops.start_s[1:], strict=True):
        at_s = float(start_s)
        ends = path.at([at_s, float(next_s)])
        turned = _yaw(ends.q_nb[1]) - _yaw(ends.q_nb[0])
        turned = math.degrees(math.remainder(turned, 2.0 * math.pi))
        if abs(turned) > 1.0:
            rate, turn_s = stick(abs(turned), path.turn_s, TURN_DPS2)
            lines.append(PilotTable(at_s=at_s, turn=math.copysign(rate / TURN_DPS, turned)))
            lines.append(PilotTable(at_s=at_s + turn_s, turn=0.0))
            at_s += path.turn_s
        lines.append(PilotTable(at_s=at_s, drive=speed / SPEED_M_S))
        lines.append(PilotTable(at_s=at_s + drive_s, drive=0.0))
    return tuple(lines), path.duration_s


def _yaw(q_nb: Any) -> float:
    w, x, y, z = q_nb
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _triple(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, dtype=np.float64).tolist()
    return x, y, z


def rover_scenario(job: RoverJob) -> Scenario:
    """The rover with the robot's specimen and iron, on its floor."""
    base, one = read_scenario("rover"), robot(job.seed)
    pilot, duration_s = script(job.kind)
    iron = floor_iron(job.kind, HEADING_DEG, 0.0, job.seed, DISTURBANCE_DEG)
    scene = base.scene.model_copy(
        update={
            "gravity": G,
            "air_temperature_c": 25.0,
            "magnetic_induction_ut": tuple(FIELD_N.tolist()),
            "dipole": tuple(DipoleTable(moment_am2=_triple(d.moment_n), position_m=_triple(d.p_n)) for d in iron),
        }
    )
    module = base.sensor[0].model_copy(
        update={
            "rate_hz": RATE_HZ,
            "specimen_seed": job.seed,
            "range": dict(RANGE),
            "hard_iron_ut": tuple(one.iron_ut.tolist()),
            "soft_iron": tuple(map(tuple, one.soft_iron.tolist())),
        }
    )
    scale = float(stream(job.seed, "C", "wheel").normal(0.0, WHEEL_SCALE)) + SUNK
    odometer = base.odometer[0].model_copy(update={"scale_error": scale})
    return base.model_copy(
        update={
            "title": f"Rover: paper C's test, {job.kind}",
            "duration_s": duration_s,
            "scene": scene,
            "sensor": (module,),
            "odometer": (odometer,),
            "pilot": pilot,
        }
    )


def driven(job: RoverJob) -> Drive:
    """The session's recording, corrected by the robot's calibration, with the stops that its stop flag marks."""
    session = Session(rover_scenario(job), seed=int(seed_of(job.seed, "C", job.kind, "rover").generate_state(1)[0]))
    session.run()
    (raw,) = recording_of(session).recordings.values()
    raw = raw.between(SETTLED_S, float(raw.t[-1]) + 1.0)
    one = robot(job.seed)
    return Drive(path_of(job.kind, HEADING_DEG), apply(one.calibration, raw), raw, stands(raw), one, IDENTITY)


def stands(log: Recording) -> Stops:
    """Places and times of the stops that the controller signals; path lengths are those of the truth."""
    assert log.stop is not None and log.truth is not None
    edges = np.flatnonzero(np.diff(log.stop.astype(np.int8), prepend=0, append=0))
    first, last = edges[::2], edges[1::2] - 1
    p_n = log.truth.p_n
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p_n[:, :2], axis=0), axis=1))])
    length = way[last] - way[last[0]]
    return Stops(log.t[first], log.t[last] + 1.0 / RATE_HZ, p_n[last], length)


def _figures(one: Drive) -> dict[str, float]:
    def percents(table: StopTable) -> tuple[float, float]:
        end, worst = table.final.percent, table.worst.percent
        assert end is not None and worst is not None
        return end, worst

    end, worst = percents(stop_table(one.navigated().solution, one.stops))
    wheel, _ = percents(stop_table(one.navigated(odometer=True).solution, one.stops))
    return {"end": end, "largest": worst, "odometer": wheel}


def run_rover(job: RoverJob) -> dict[str, Any]:
    """Error dr / L in % at the end and its largest value, in physics and with the prescribed motion of `reproduce
    C`.
    """
    physics = driven(job)
    off = float(np.linalg.norm(physics.stops.p_n[-1, :2] - physics.path.stops.p_n[-1, :2]))
    return {
        "physics": _figures(physics),
        "prescribed": _figures(drive(job.kind, job.seed)),
        "stops": len(physics.stops),
        "planned_stops": len(physics.path.stops),
        "off_plan_m": off,
    }


def rover(count: int, repeat: int = 0) -> Part:
    """Drives of the rover.

    count: robots on each test.
    """
    jobs = tuple(RoverJob(kind, seed) for kind in TESTS for seed in seeds_of(FIRST_ROBOT, count, repeat))

    def judge(results: Results) -> tuple[list[Claim], Table]:
        claims, rows = [], []
        for i, kind in enumerate(TESTS):
            mine = results[i * count : (i + 1) * count]
            for key, what in FIGURES.items():
                here, there = (float(np.mean([r[way][key] for r in mine])) for way in ("physics", "prescribed"))
                over = np.array([r["physics"][key] - ALLOWED * r["prescribed"][key] for r in mine])
                rows.append((kind, what, f"{there:.3f}", f"{here:.3f}", f"{here / there:.2f}"))
                claims.append(
                    Claim(
                        f"B/flight/rover/{kind}/{key}",
                        f"rover, paper C's test {kind}, {count} robots, slip and the controller's stop flag: {what}, "
                        "mean, dr / L in %; tolerance: 1.5 times that of the same robots in reproduce C navigation, "
                        "and chance",
                        None,
                        here,
                        ALLOWED * there + excess_of_mean(over),
                        ASKED,
                        kind="requirement",
                    )
                )
        off = max(r["off_plan_m"] for r in results)
        missed = sum(r["stops"] != r["planned_stops"] for r in results)
        title = f"Rover, {count} robots: strapdown navigate on the recordings, dr / L in %, means"
        notes = (
            f"The rover ends up to {100.0 * off:.1f} cm from the plan by slip; {missed} of {len(results)} drives have "
            "another number of stops than planned. Errors are against the true motion.",
        )
        columns = ("test", "what", "prescribed motion", "physics", "ratio")
        return claims, Table(title, columns, tuple(rows), left=2, notes=notes)

    return Part(jobs, judge)

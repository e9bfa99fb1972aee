"""Eight families of drives that paper C does not have. Each seed is another drive of another specimen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strapdown.navigation.carriers.wheeled_robot import GIVEN_LEVER_M, UNKNOWN_LEVER_M
from strapdown.navigation.start_at_rest import Heading
from strapdown.papers.c.robustness.specimens import Specimen, seed_number, specimen
from strapdown.papers.c.robustness.ways import STEP_S, Leg, Slope, Way, carried, drive_along, stop, uneven
from strapdown.types import Array, Recording

HEADING_SIGMA_DEG = 3.0
WHEEL_SCALE = 0.002
WHEEL_NOISE_M = 2e-4  # rms of a reading, as of ticks of 0.7 mm
SLIP = 0.3
FLOOR_SIGMA_M = 0.005  # FlatFloor.height_sigma_m: heights of two distant places
_FIRST_REST_S = 8.0


@dataclass(frozen=True, eq=False)
class Case:
    """One drive.

    log: calibrated log, with its truth.
    vehicle: robot or hand.
    heading: heading given by a user, wrong by its own sigma.
    lever_sigma_m: sigma of the stated position of the sensor at the body's origin; where wheels skid, this origin is
        uncertain.
    """

    family: str
    specimen: Specimen
    log: Recording
    vehicle: str
    heading: Heading
    lever_sigma_m: float = GIVEN_LEVER_M


def _legs(
    rng: np.random.Generator, legs: int, *, rests: float = 1.0, rest_s: float = 4.0, turn: float = 0.5
) -> list[Leg]:
    """Straight and turning legs; after each a stop with the probability `rests`."""
    made = [Leg(_FIRST_REST_S, ramp_s=STEP_S)]
    for _ in range(legs):
        speed = float(rng.uniform(0.4, 1.0))
        for rate in (0.0, float(rng.choice([-1.0, 1.0]) * rng.uniform(0.4, 1.2) * turn)):
            made.append(Leg(float(rng.uniform(3.0, 6.0)), speed, rate))
        if rng.random() < rests:
            made.append(stop(float(rest_s * rng.uniform(0.7, 1.5))))
    return [*made, stop(rest_s)]


def circles(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    """One circle after the other, a stop between some, no turn back."""
    rate, speed = float(rng.uniform(0.15, 0.4) * rng.choice([-1.0, 1.0])), float(rng.uniform(0.4, 0.9))
    legs = [Leg(_FIRST_REST_S, ramp_s=STEP_S)]
    for _ in range(5):
        legs += [Leg(float(rng.uniform(20.0, 30.0)), speed, rate), stop(4.0)]
    return drive_along(legs, _yaw(rng), slope=_floor(rng)), {"flag": True}


def long_without_stops(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    return drive_along([*_legs(rng, 14, rests=0.0), stop(3.0)], _yaw(rng), slope=_floor(rng)), {"flag": True}


def slopes(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    """Hills of 2 to 8 deg, 10 to 20 m long; the body is parallel to the ground."""
    steep, length = np.radians(rng.uniform(2.0, 8.0)), float(rng.uniform(10.0, 20.0))

    def slope(way: Array) -> tuple[Array, Array]:
        return steep * np.sin(2.0 * np.pi * way / length), steep * 2.0 * np.pi / length * np.cos(
            2.0 * np.pi * way / length
        )

    return drive_along(_legs(rng, 8), _yaw(rng), slope=slope), {"flag": True}


def skid_turns(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    """The wheels read up to 30 % too far in turns: in turns to one side, late, or by the speed. The turning centre is
    off the body's origin.
    """
    legs, yaw, centre_m = _legs(rng, 8), _yaw(rng), float(rng.normal(0.0, 0.1))
    way = drive_along(legs, yaw, slope=_floor(rng), turning_centre_m=centre_m)
    return way, {"flag": True, "slip": str(rng.choice(["side", "late", "speed"]))}


def vibration(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    """An engine that never stops: 10 to 40 Hz with its harmonic and broadband noise, and more of it while driving."""
    way = drive_along(_legs(rng, 8, rest_s=6.0), _yaw(rng), slope=_floor(rng))
    return way, {"flag": False, "shake": float(rng.uniform(0.2, 0.6))}


def slow_turns(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    """In its stops the ground turns by 0.01 to 0.3 deg/s."""
    turn = np.radians(10.0 ** rng.uniform(-2.0, np.log10(0.3))) * rng.choice([-1.0, 1.0])
    legs = _legs(rng, 8, rest_s=8.0)
    way = drive_along(legs, _yaw(rng), slope=_floor(rng), turning_in_stops_rad_s=float(turn))
    return way, {"flag": bool(rng.random() < 0.5)}


def start_in_motion(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    way = drive_along(_legs(rng, 8), _yaw(rng), slope=_floor(rng))
    return way, {"flag": True, "cut_s": _FIRST_REST_S + float(rng.uniform(2.5, 5.0))}


def hand_held(rng: np.random.Generator) -> tuple[Way, dict[str, Any]]:
    return carried(rng, 10, 3.0), {"flag": False, "vehicle": "hand", "tremble": float(rng.uniform(0.0, 0.03))}


FAMILIES: dict[str, Callable[[np.random.Generator], tuple[Way, dict[str, Any]]]] = {
    "circles": circles,
    "long without stops": long_without_stops,
    "slopes": slopes,
    "skid turns": skid_turns,
    "vibration": vibration,
    "slow turns in stops": slow_turns,
    "start in motion": start_in_motion,
    "hand-held": hand_held,
}


def case(family: str, part: str, seed: int) -> Case:
    rng = np.random.default_rng(seed_number(seed, family, part))
    way, how = FAMILIES[family](rng)
    one = specimen(part, seed)
    more = _shaken(rng, way, how)
    log = one.read(way.body, family, **more)
    vehicle = how.get("vehicle", "robot")
    rows = np.minimum(np.searchsorted(way.body.t, log.t + 1e-9) - 1, len(way.body) - 1)
    changed: dict[str, Any] = {"stop": way.stopped[rows] if how["flag"] else None}
    if vehicle == "robot":
        changed["odometer"] = _wheel(rng, way, how.get("slip"))[rows]
    log = replace(log, **changed)
    if "cut_s" in how:
        log = log[int(np.searchsorted(log.t, how["cut_s"])) :]
    assert log.truth is not None
    yaw = _yaw_of(log.truth.q_nb[0]) + np.radians(HEADING_SIGMA_DEG) * rng.standard_normal()
    heading = Heading(float(yaw), float(np.radians(HEADING_SIGMA_DEG)))
    return Case(family, one, log, vehicle, heading, UNKNOWN_LEVER_M if "slip" in how else GIVEN_LEVER_M)


def _floor(rng: np.random.Generator) -> Slope:
    """A floor as uneven as the filter assumes. A sigma is right in the mean only where what it states is drawn."""
    return uneven(rng.spawn(1)[0], FLOOR_SIGMA_M)


def _yaw(rng: np.random.Generator) -> float:
    return float(rng.uniform(-np.pi, np.pi))


def _yaw_of(q_nb: Array) -> float:
    w, x, y, z = q_nb
    return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def _wheel(rng: np.random.Generator, way: Way, slip: str | None) -> Array:
    """Readings of the odometer, at every row of the path."""
    body = way.body
    speed = np.einsum("ij,ij->i", body.v_n, _forward(body.q_nb))
    rate = body.w_nb_b[:, 2]
    part = np.zeros_like(speed)
    if slip == "side":
        part = SLIP * np.clip(rate / 0.3, 0.0, 1.0)
    elif slip == "late":
        lag, late = np.clip(np.abs(rate) / 0.3, 0.0, 1.0), 0.0
        keep = np.exp(-STEP_S / 0.7)
        for i, value in enumerate(lag):
            late = keep * late + (1.0 - keep) * value
            part[i] = SLIP * late
    elif slip == "speed":
        part = SLIP * np.clip(np.abs(rate * speed) / 0.4, 0.0, 1.0)
    scale = 1.0 + WHEEL_SCALE * rng.standard_normal()
    read = np.cumsum(speed * (1.0 + part) * scale * STEP_S)
    return np.round(read / (WHEEL_NOISE_M * np.sqrt(12.0))) * WHEEL_NOISE_M * np.sqrt(12.0)


def _forward(q: Array) -> Array:
    w, x, y, z = q.T
    return np.column_stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)])


def _shaken(rng: np.random.Generator, way: Way, how: dict[str, Any]) -> dict[str, Array]:
    """Force and rate that an engine or a hand adds; they vibrate around zero and so move nothing."""
    n, t = len(way.body), way.body.t
    size = how.get("shake", 0.0)
    if "tremble" in how:
        slow = np.array([_band(rng, t, 3.0, 10.0) for _ in range(6)]).T
        quiet = np.where(way.stopped, 0.3, 1.0)[:, None]
        return {
            "shake_m_s2": how["tremble"] * quiet * slow[:, :3],
            "shake_rad_s": 0.1 * how["tremble"] * quiet * slow[:, 3:],
        }
    if size == 0.0:
        return {}
    hertz = float(rng.uniform(10.0, 40.0))
    size_t = np.where(way.stopped, 0.5, 1.0)[:, None] * size
    shakes = []
    for scale in (1.0, 0.05):  # 0.5 m/s2 and 0.025 rad/s
        parts = [
            _band(rng, t, hertz * 0.97, hertz * 1.03)
            + 0.5 * _band(rng, t, 1.94 * hertz, 2.06 * hertz)
            + 0.3 * rng.standard_normal(n)
            for _ in range(3)
        ]
        shakes.append(scale * size_t * np.array(parts).T)
    return {"shake_m_s2": shakes[0], "shake_rad_s": shakes[1]}


def _band(rng: np.random.Generator, t: Array, low_hz: float, high_hz: float, tones: int = 12) -> Array:
    """A signal of rms 1: tones within the band."""
    hertz, phase = rng.uniform(low_hz, high_hz, tones), rng.uniform(0.0, 2.0 * np.pi, tones)
    return np.sqrt(2.0 / tones) * np.sin(2.0 * np.pi * np.outer(t, hertz) + phase).sum(axis=1)

"""Paper B's orientation: its filter as printed, its failures, and the filters that replace it; on a flight like the
paper's.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.calibration.apply import apply
from strapdown.calibration.static import calibrate_static
from strapdown.earth_magnetism import declination, magnetic_field
from strapdown.evaluation.attitude import angles_deg, attitude_errors
from strapdown.motion import Turntable
from strapdown.motion.paths.profile import Keep, MoveTo
from strapdown.orientation.catalogue import filter_by_name
from strapdown.papers.b.filters_on_broad import broad_outcome
from strapdown.papers.b.flight import flight
from strapdown.papers.chance import seeds_of
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Outcome
from strapdown.reporting.figures import STYLE, panels
from strapdown.rotation import wrap
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import Surroundings, ideal_readings, record
from strapdown.types import Array, Motion, Recording, Solution

GRAVITY = 9.81
RATE_HZ = 100.0
SEED = 1
SHOWN = ("paper-b", "complementary", "mekf", "lodestar")
_FIELD_N = magnetic_field("earth", 61.25, 73.4, 0.0, 2024.0)  # Surgut, where the paper was written
_PAPER = "paper B, DOI 10.51790/2712-9942-2024-5-1-03"


def reproduce_orientation(folder: Path | None, done: Callable[[float], None], repeat: int = 0) -> Outcome:
    """Reproduce the orientation experiments of paper B.

    folder: folder of recorded data, with broad in it; without it the claims about BROAD are omitted.

    repeat: other seeds.
    """
    out = Outcome()
    log = flown(seeds_of(SEED, 1, repeat)[0])
    solutions = {name: _of_part(name, log) for name in SHOWN}
    out.claims += _flight_claims(log, solutions)
    out.figures["b_pitch_roll.png"] = _pitch_roll(log, solutions)
    done(0.1)
    out.claims += _failures()
    done(0.2)
    if folder is not None and (folder / "broad").is_dir():
        out.add(broad_outcome(folder / "broad", lambda x: done(0.2 + 0.8 * x)))
    else:
        out.notes.append("the BROAD trials were not found: STRAPDOWN_DATA names no folder with them")
    return out


def flown(seed: int = SEED) -> Recording:
    """The flight as a virtual MPU-6050 with a QMC5883L logs it, its offsets found in the rest before take-off."""
    path = flight(GRAVITY)
    triads = {**load_part("MPU-6050").draw(seed).triads(), **load_part("QMC5883L").draw(seed).triads()}
    around = Surroundings(GRAVITY, _FIELD_N)
    log = record(path, Module("imu", triads, seed=seed), rate_hz=RATE_HZ, surroundings=around)[:-1]
    return apply(calibrate_static(log, gravity=GRAVITY, noise=triads).calibration, log)


def _ideal(motion: Motion, north: bool) -> Recording:
    """Perfect readings.

    north: whether there is a magnetometer.
    """
    return ideal_readings(motion, Surroundings(GRAVITY, _FIELD_N if north else None))


def _of_part(name: str, log: Recording) -> Solution:
    """A filter with the declination of the place."""
    return filter_by_name(name, declination_rad=float(declination(_FIELD_N))).run(log)


def _level_errors_deg(log: Recording, solution: Solution) -> Array:
    """Roll and pitch errors, (n, 2)."""
    assert log.truth is not None
    off = np.deg2rad(angles_deg(solution.q_nb) - angles_deg(log.truth.q_nb))[:, :2]
    return np.rad2deg(wrap(off))


def _flight_claims(log: Recording, solutions: Mapping[str, Solution]) -> list[Claim]:
    rms = {name: float(np.sqrt(np.mean(_level_errors_deg(log, s) ** 2))) for name, s in solutions.items()}
    conditions = (
        f"rms of roll and pitch errors on a simulated flight of {log.t[-1]:.0f} s, virtual MPU-6050 and QMC5883L at "
        "100 Hz, offsets from the rest before take-off"
    )
    return [
        Claim(
            f"B/orientation/flight/{name}",
            f"paper B's filter as printed ({rms['paper-b']:.2f} deg) over {name} ({rms[name]:.2f} deg): {conditions}",
            None,
            rms["paper-b"] / rms[name],
            1.0,
            _PAPER,
            ">=",
            kind="beats",
        )
        for name in SHOWN
        if name != "paper-b"
    ]


def _failures() -> list[Claim]:
    """Errata 5: no wrap, atan for atan2, Euler angles at pitch 90 deg; with perfect readings, so there is no other
    error.
    """
    cases = {
        "yaw": ("turned once about the vertical", (0.0, 0.0, 1.0), 2.0 * np.pi),
        "pitch": ("turned over the top, through pitch 90 deg", (0.0, 1.0, 0.0), np.pi),
    }
    found = []
    for name, (what, axis, angle) in cases.items():
        path = Turntable((Keep(3.0), MoveTo(angle, 12.0), Keep(1.0)), axis)
        log = _ideal(path.at(np.arange(0.0, path.duration_s, 1.0 / RATE_HZ)), True)
        assert log.truth is not None
        worst = {
            filt: float(np.rad2deg(attitude_errors(_of_part(filt, log).q_nb, log.truth.q_nb).total.max()))
            for filt in ("paper-b", "complementary")
        }
        printed = f"paper B's filter as printed, {what}: largest error, deg: it fails there"
        ours = f"the same idea on quaternions, {what}: largest error, deg"
        found += [
            Claim(
                f"B/orientation/{name}/printed", printed, None, worst["paper-b"], 60.0, _PAPER, ">=", kind="self-check"
            ),
            Claim(
                f"B/orientation/{name}/corrected", ours, None, worst["complementary"], 1.0, "ours", kind="requirement"
            ),
        ]
    return found


@mpl.rc_context({**STYLE, "text.parse_math": False})
def _pitch_roll(log: Recording, solutions: Mapping[str, Solution]) -> Figure:
    """The paper's figures 3 and 4: pitch and roll, computed against true."""
    assert log.truth is not None
    true = angles_deg(log.truth.q_nb)
    figure, axes = panels(4, 1, (9.0, 8.5))
    colours = {"paper-b": "#c0392b", "lodestar": "#2460a7", "mekf": "#1e8449"}
    for i, (angle, column) in enumerate((("pitch", 1), ("roll", 0))):
        above, below = axes[2 * i, 0], axes[2 * i + 1, 0]
        above.plot(log.t, true[:, column], color="black", linewidth=2.4, alpha=0.4, label="true")
        for name, colour in colours.items():
            above.plot(log.t, angles_deg(solutions[name].q_nb)[:, column], color=colour, linewidth=1.0, label=name)
            below.plot(log.t, _level_errors_deg(log, solutions[name])[:, column], color=colour, linewidth=1.0)
        above.set_ylabel(f"{angle}, deg")
        below.set_ylabel(f"error of {angle}, deg")
    axes[0, 0].legend(ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderpad=0.0)
    axes[0, 0].set_title("Pitch and roll in flight: computed and true")
    axes[3, 0].set_xlabel("time, s")
    return figure

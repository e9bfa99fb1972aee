"""Every reader of files: valid files to change, words of its format, and how a file by its grammar is made."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import fuzz_mutations as make
import numpy as np

from strapdown import io
from strapdown.calibration.calibration_file import read_calibration
from strapdown.engines.mujoco.robot_file import RobotFile, compiled
from strapdown.environment.rig import read_rig
from strapdown.evaluation.evaluate import read_estimate, read_reference
from strapdown.io import read, read_mapping
from strapdown.io.columns import COLUMNS
from strapdown.io.solutions.file import read_solution, write_solution
from strapdown.motion.recorded import read_poses
from strapdown.recordings.foreign.mapping_guess import guess_mapping
from strapdown.recordings.overview import overview
from strapdown.sensors.parts.model_file import keys, read_model, write_model
from strapdown.sensors.parts.part import CATALOGUE, load_part
from strapdown.types import Motion, Recording, Solution

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Reader:
    """suffix: of the file. read: what must answer with a StrapdownError or a value. valid: files that it accepts.
    text: whether they are text. words: of its format. grammar: a file from nothing but a random generator."""

    suffix: str
    read: Callable[[Path], object]
    valid: tuple[bytes, ...]
    words: tuple[str, ...]
    grammar: Callable[[Random], bytes]
    text: bool = True

    def case(self, rng: Random) -> bytes:
        if rng.random() < 0.3:
            raw = self.grammar(rng)
        else:
            raw = rng.choice(self.valid)
            if self.text:
                raw = make.mutated_text(rng, raw.decode("utf-8", "replace"), self.words)
            else:
                raw = make.mutated_bytes(rng, raw)
        if rng.random() < 0.02:
            raw = rng.randbytes(rng.randint(0, 300))
        return make.packed(rng, raw) if self.suffix.endswith(".gz") else raw


def readers(folder: Path) -> dict[str, Reader]:
    """All of them; valid files are made in the folder."""
    log, solution = _recording(), _solution()
    made = {}
    for name, sensors in (("one", {"imu": log}), ("two", {"a": log, "b": _recording(truth=False)})):
        for suffix in ("csv", "parquet"):
            io.write(folder / f"{name}.{suffix}", sensors)
            made[f"{name}.{suffix}"] = (folder / f"{name}.{suffix}").read_bytes()
    for suffix in ("csv", "parquet"):
        write_solution(folder / f"solution.{suffix}", solution)
        made[f"solution.{suffix}"] = (folder / f"solution.{suffix}").read_bytes()
    specimen = load_part("MPU-9250").draw(3)
    for suffix in ("toml", "json"):
        write_model(folder / f"model.{suffix}", specimen.triads(), specimen.meta())
        made[f"model.{suffix}"] = (folder / f"model.{suffix}").read_bytes()
    (folder / "mesh.stl").write_bytes(bytes(84))

    ours = tuple(column.header for column in COLUMNS)
    foreign = ("time", "ax", "ay", "az", "gx", "gy", "gz")
    notes = {"strapdown": "1", "strapdown_meta": json.dumps({"imu": {"rate_hz": 100.0, "part": "MPU-6050"}})}
    logs = (made["one.csv"], made["two.csv"])
    head = ("# strapdown 1", f"# {notes['strapdown_meta']}")
    solved = tuple(made["solution.csv"].split(b"\n")[2].decode().replace('"', "").split(", "))
    solved = ("t [s]", "flag_rest", *(f"q_{a} [1, nb]" for a in "wxyz"), *(f"p_{a} [m, n]" for a in "xyz"), *solved)
    solved += tuple(f"sigma_p_{a} [m, n]" for a in "xyz")
    solution_notes = {"strapdown-solution": "1", "strapdown-solution-notes": json.dumps({"meta": {}, "events": []})}
    solution_head = ("# strapdown-solution 1", f"# {solution_notes['strapdown-solution-notes']}")
    pose_words = ("t", "p_x", "p_y", "p_z", "q_w", "q_x", "q_y", "q_z", "t [s]", "p_x [m]", "t [ms]", "x", "y")
    poses = tuple(
        b"\n".join((ROOT / "examples" / "poses.csv").read_bytes().replace(b"time_s", b"t", 1).split(b"\n")[:n])
        for n in (2, 6, 8, 9, 40)
    )
    rigs = tuple(path.read_bytes() for path in sorted((ROOT / "examples").glob("*.toml")))
    parts = tuple(path.read_bytes() for path in sorted(CATALOGUE.glob("*.toml"))[:12])
    urdf = tuple(path.read_bytes() for path in _robots("urdf"))
    mjcf = (*(path.read_bytes() for path in _robots("xml")), _MJCF)

    def csv(rng: Random) -> bytes:
        return make.table(rng, ours, head)

    def poses_by_grammar(rng: Random) -> bytes:
        return make.table(rng, pose_words, ("# notes", ""))

    def solution_by_grammar(rng: Random) -> bytes:
        return make.table(rng, solved, solution_head)

    def toml_of(words: tuple[str, ...]) -> Callable[[Random], bytes]:
        return lambda rng: make.toml(rng, words)

    mapping_words = (*(column.name for column in COLUMNS), "column", "unit", "counts_per_unit", "rate_hz", *foreign)
    return {
        "csv": Reader(".csv", read, logs, ours, csv),
        "csv with mapping": Reader(
            ".csv", lambda path: read(path, _MAPPING), (_FOREIGN,), foreign, lambda rng: make.table(rng, foreign, ())
        ),
        "look": Reader(".csv", _looked, (*logs, _FOREIGN), (*foreign, *ours), lambda rng: make.table(rng, foreign, ())),
        "csv.gz": Reader(".csv.gz", read, logs, ours, csv),
        "parquet": Reader(
            ".parquet",
            read,
            (made["one.parquet"], made["two.parquet"]),
            ours,
            lambda rng: make.parquet(rng, ours, notes),
            text=False,
        ),
        "mapping": Reader(".toml", read_mapping, _mappings(), mapping_words, toml_of(mapping_words)),
        "calibration": Reader(
            ".toml", read_calibration, (_CALIBRATION,), _words(_CALIBRATION), toml_of(_words(_CALIBRATION))
        ),
        "part": Reader(".toml", load_part, parts, _words(*parts), toml_of(_words(*parts))),
        "model": Reader(
            ".toml",
            read_model,
            (made["model.toml"],),
            (*_words(made["model.toml"]), *keys("gyroscope")),
            toml_of((*_words(made["model.toml"]), *keys("gyroscope"))),
        ),
        "matlab": Reader(
            ".json",
            read_model,
            (made["model.json"],),
            _words(made["model.json"]),
            lambda rng: json.dumps({"P": {"Gyroscope": make.value(rng), "Accelerometer": make.value(rng)}}).encode(),
        ),
        "rig": Reader(".toml", read_rig, rigs, _words(*rigs), toml_of(_words(*rigs))),
        "urdf": Reader(
            ".urdf", _robot, urdf, _words(*urdf), lambda rng: make.xml(rng, "robot", _URDF_TAGS, _URDF_KEYS)
        ),
        "mjcf": Reader(
            ".xml", _robot, mjcf, _words(*mjcf), lambda rng: make.xml(rng, "mujoco", _MJCF_TAGS, _MJCF_KEYS)
        ),
        "poses": Reader(".csv", read_poses, poses, pose_words, poses_by_grammar),
        "poses.gz": Reader(".csv.gz", read_poses, poses, pose_words, poses_by_grammar),
        "solution": Reader(".csv", read_solution, (made["solution.csv"],), solved, solution_by_grammar),
        "solution.gz": Reader(".csv.gz", read_solution, (made["solution.csv"],), solved, solution_by_grammar),
        "solution.parquet": Reader(
            ".parquet",
            read_solution,
            (made["solution.parquet"],),
            solved,
            lambda rng: make.parquet(rng, solved, solution_notes),
            text=False,
        ),
        "truth": Reader(
            ".csv", read_reference, (*logs, made["solution.csv"], *poses), (*ours, *pose_words), poses_by_grammar
        ),
        "estimate": Reader(".csv", read_estimate, (made["solution.csv"], *poses), pose_words, solution_by_grammar),
    }


def _looked(path: Path) -> object:
    """As strapdown look: the mapping is guessed, and what it reads is counted."""
    guessed = guess_mapping(path)
    return [overview(log) for log in read(path, guessed.columns).values()]


def _robot(path: Path) -> None:
    spec, _ = RobotFile(path).load()
    compiled(path, spec)


def _robots(suffix: str) -> list[Path]:
    return sorted((ROOT / "src" / "strapdown" / "vehicles").glob(f"*.{suffix}"))


def _words(*texts: bytes) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text.decode())))[:400]


def _recording(n: int = 9, truth: bool = True) -> Recording:
    rng = np.random.default_rng(n + truth)
    t = 0.01 * np.arange(n)
    rows = rng.normal(size=(8, n, 3))
    q = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    motion = Motion(t, rows[0], rows[1], rows[2], q, rows[3], rows[4]) if truth else None
    return Recording(
        t, gyr_s=rows[5], acc_s=rows[6], mag_s=rows[7], stop=t > 0.05, truth=motion, meta={"rate_hz": 100.0}
    )


def _solution(n: int = 9) -> Solution:
    rng = np.random.default_rng(1)
    rows = np.abs(rng.normal(size=(4, n, 3)))
    q = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    return Solution(
        0.01 * np.arange(n),
        q,
        p_n=rows[0],
        v_n=rows[1],
        bias={"gyr_s": rows[2]},
        sigma={"p_n": rows[3]},
        flags={"rest": np.arange(n) > 4},
        meta={"filter": "eskf"},
    )


def _mappings() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((ROOT / "examples" / "columns").glob("*.toml")))


_MAPPING = {
    "t": {"column": "time", "unit": "ms"},
    **{f"acc_{a}": {"column": f"a{a}", "unit": "g"} for a in "xyz"},
    **{f"gyr_{a}": {"column": f"g{a}", "counts_per_unit": 131.0, "unit": "deg/s"} for a in "xyz"},
}
_FOREIGN = b"some notes\ntime;ax;ay;az;gx;gy;gz\n" + b"".join(
    f"{10 * k};0,1;0,2;0,98;{k};-{k};0\n".encode() for k in range(9)
)
_CALIBRATION = b"""format = "strapdown calibration 1"
part = "MPU-6050"
specimen = "7"
[accelerometer]
method = "positions"
date = "2026-01-31"
verdict = "good"
residual_rms_m_s2 = 0.001
matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
sigma_matrix = [[0.1, inf, inf], [inf, 0.1, inf], [inf, inf, 0.1]]
bias_m_s2 = [0.1, 0.2, 0.3]
sigma_bias_m_s2 = [0.01, 0.01, 0.01]
cubic_per_m_s2_squared = [1e-6, 0.0, 0.0]
temperature_bias_m_s2_per_c = [[0.001, 0.0, 0.0]]
temperature_scale_per_c = [[1e-5, 0.0, 0.0]]
reference_c = 25.0
range_c = [10.0, 40.0]
undetermined = ["rotation: why"]
notes = ["a note"]
[accelerometer.data]
log = "x.csv"
[gyroscope]
method = "positions"
bias_rad_s = [0.1, 0.2, 0.3]
g_sensitivity_rad_s_per_m_s2 = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
[magnetometer]
method = "ellipsoid"
bias_ut = [1.0, 2.0, 3.0]
"""
_MJCF = b"""<mujoco><compiler angle="radian"/><option timestep="0.001"/><default><geom density="500"/></default>
<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/>
<body name="b"><joint name="j" type="hinge" axis="0 0 1" range="-1 1"/><geom type="mesh" mesh="m"/><site/></body>
</body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
_URDF_TAGS = (
    *("link", "joint", "inertial", "mass", "inertia", "origin", "parent", "child", "axis", "limit", "visual"),
    *("collision", "geometry", "box", "sphere", "cylinder", "mesh", "dynamics", "mimic", "transmission"),
)
_URDF_KEYS = ("name", "type", "link", "value", "ixx", "iyy", "izz", "xyz", "rpy", "size", "radius", "filename", "joint")
_MJCF_TAGS = (
    *("worldbody", "body", "geom", "joint", "freejoint", "site", "inertial", "asset", "mesh", "default", "actuator"),
    *(
        "motor",
        "position",
        "sensor",
        "option",
        "compiler",
        "contact",
        "exclude",
        "equality",
        "weld",
        "tendon",
        "camera",
    ),
)
_MJCF_KEYS = (
    *("name", "pos", "quat", "euler", "size", "type", "mass", "density", "axis", "range", "joint", "body", "mesh"),
    *("file", "class", "timestep", "integrator", "angle", "diaginertia", "fromto", "site", "vertex", "childclass"),
)

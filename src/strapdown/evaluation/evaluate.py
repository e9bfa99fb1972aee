"""All error figures of an estimate against its truth, as one value: for the screen, for JSON, for a report."""

import gzip
import zlib
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.evaluation.attitude import AttitudeErrors
from strapdown.evaluation.attitude_only import AttitudeEvaluation, evaluate_attitude, figures_text
from strapdown.evaluation.consistency import normalised_squares_from_sigma, share_inside
from strapdown.evaluation.matching import (
    Matched,
    Positions,
    Reference,
    aligned_first_steps,
    aligned_rigid,
    aligned_yaw,
    matched,
)
from strapdown.evaluation.stops import StopPlaces, StopTable, stop_table
from strapdown.evaluation.trajectory import (
    ErrorFigures,
    attitude_errors_of,
    figures_of,
    horizontal_error,
    mean_axis_error,
    relative_errors_over_distance,
    trajectory_error,
)
from strapdown.io import read_one
from strapdown.io.formats import CHOOSE, Contents, chosen_track, format_of, read_contents
from strapdown.io.solutions.file import is_solution, read_solution
from strapdown.motion.paths.stop_and_go import Stops
from strapdown.motion.pose_file import read_columns
from strapdown.motion.recorded import read_poses
from strapdown.navigation.program import Navigated
from strapdown.regular_file import opened
from strapdown.summaries import html_table
from strapdown.types import Array, Solution

_HEADER_WITHIN_BYTES = 1 << 16
ROUNDOFF_M = 1e-9  # of a start that is exactly known, far from the origin
FARTHEST_M = 1e9  # beyond it the roundoff of squares and differences exceeds metres
_RELATIVE_PARTS = 10  # relative errors are computed over a tenth of the path


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Position errors in m, attitude errors in deg; None where the reference or the estimate lacks the data.

    position and horizontal are not aligned; yaw_aligned and rigid_aligned are, by least squares.

    axis_error_2d_m and axis_error_3d_m: mean error per axis (mean_axis_error), aligned at the start and the first
        steps.
    final_percent and largest_percent_of_path: horizontal error at the end and the largest one, in % of the whole path.
    relative_percent: relative errors over relative_over_m, in % of it. nees_position (3 components, so 3 is right) and
        inside_3_sigma (0.997 is right) judge the filter's own sigma.
    """

    compared_s: float
    estimate_s: float
    samples: int
    path_length_m: float
    position: ErrorFigures
    horizontal: ErrorFigures
    yaw_aligned: ErrorFigures
    rigid_aligned: ErrorFigures
    axis_error_2d_m: float
    axis_error_3d_m: float
    final_percent: float | None
    largest_percent_of_path: float | None
    attitude_deg: ErrorFigures | None
    heading_deg: ErrorFigures | None
    inclination_deg: ErrorFigures | None
    relative_over_m: float | None
    relative_percent: ErrorFigures | None
    relative_turn_deg: ErrorFigures | None
    nees_position: float | None
    inside_3_sigma: float | None
    stops: StopTable | None

    def numbers(self) -> dict[str, Any]:
        """Plain values for JSON, every digit."""
        said = asdict(self)
        if self.stops is not None:
            said["stops"] = [
                asdict(row) | {"dx_m": row.dx_m, "dy_m": row.dy_m, "dr_m": row.dr_m, "percent": row.percent}
                for row in self.stops.rows
            ]
        return said

    def figure_rows(self) -> list[list[str]]:
        """Errors with their rms, median, largest and last value, as printed; the first row is the head."""
        named: dict[str, ErrorFigures | None] = {
            "position, m": self.position,
            "horizontal, m": self.horizontal,
            "position, yaw and start fitted, m": self.yaw_aligned,
            "position, rigidly fitted, m": self.rigid_aligned,
        }
        if self.relative_over_m is not None:
            named[f"relative over {self.relative_over_m:.3g} m, %"] = self.relative_percent
        named |= {
            "attitude, deg": self.attitude_deg,
            "heading, deg": self.heading_deg,
            "inclination, deg": self.inclination_deg,
        }
        rows = [
            [name, *(f"{x:.4g}" for x in (found.rms, found.median, found.max, found.final))]
            for name, found in named.items()
            if found is not None
        ]
        return [["error", "rms", "median", "largest", "at the end"], *rows]

    def rows(self) -> list[tuple[str, str]]:
        """Further figures: number of samples compared, errors in % of the path, consistency."""
        share = f"{self.compared_s:.4g} of {self.estimate_s:.4g} s, {self.samples} samples"
        said = [("compared", share), ("path length of the reference", f"{self.path_length_m:.4g} m")]
        text = f"{self.axis_error_2d_m:.4g} m (x, y), {self.axis_error_3d_m:.4g} m (x, y, z)"
        said.append(("mean error per axis, aligned at the first steps", text))
        if self.final_percent is not None and self.largest_percent_of_path is not None:
            said.append(("horizontal error at the end", f"{self.final_percent:.3g} % of the path"))
            said.append(("largest horizontal error", f"{self.largest_percent_of_path:.3g} % of the path"))
        if self.stops is not None and self.stops.worst.percent is not None:
            said.append(("largest horizontal error at a stop", f"{self.stops.worst.percent:.3g} % of the way so far"))
        if self.inside_3_sigma is not None:
            nees = "none, sigma is 0" if self.nees_position is None else f"{self.nees_position:.3g} (3 is right)"
            text = f"{nees}, {100 * self.inside_3_sigma:.2f} % inside 3 sigma (99.73 %)"
            said.append(("NEES of the position", text))
        return said

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self.figure_rows()
        return html_table(rows, head) + html_table(self.rows())

    def text(self) -> str:
        """Text for a screen: the errors, further figures, and the stops."""
        text = figures_text(self.figure_rows(), self.rows())
        return text if self.stops is None else f"{text}\n\n{self.stops.text()}"


def evaluate(
    estimate: Solution | Navigated, reference: Reference | None = None, stops: Stops | StopPlaces | None = None
) -> Evaluation | AttitudeEvaluation:
    """The estimate against a reference of the same run; where stops are given, also the table of stops.

    For a result of navigate without a reference, or with the truth of its own log, the reference is the truth of the
    body's origin. Where the estimate or the reference has no positions, attitudes alone are compared.
    """
    if not isinstance(estimate, Solution | Navigated):
        raise InputError(
            f"evaluate was given {type(estimate).__name__} as the estimate; give the result of navigate, or the "
            "Solution of a filter"
        )
    solution, known = solution_and_truth(estimate, reference)
    if known is not None and (solution.p_n is None or (isinstance(known, Solution) and known.p_n is None)):
        if stops is not None:
            raise InputError("stops need positions, and only attitudes can be compared here; leave stops out")
        return evaluate_attitude(solution, known)
    return evaluate_path(estimate, reference, stops)


def evaluate_path(
    estimate: Solution | Navigated, reference: Reference | None = None, stops: Stops | StopPlaces | None = None
) -> Evaluation:
    """Errors of an estimate with positions, which it must have; as evaluate()."""
    estimate, reference = solution_and_truth(estimate, reference)
    if reference is None:
        raise InputError("evaluate was given no truth; give a Motion, a Solution or recorded poses of the same run")
    pair = matched(estimate, reference)
    _refuse_far(pair)
    horizontal, first_steps = horizontal_error(pair), aligned_first_steps(pair)
    path_m = float(pair.length_m[-1])
    attitude = None if pair.true_q_nb is None else attitude_errors_of(pair)
    over_m, relative_percent, relative_turn_deg = _relative(pair)
    sigma = estimate.sigma.get("p_n")
    nees, inside = _own_judgement(pair.error_n, None if sigma is None else sigma[pair.rows])
    return Evaluation(
        compared_s=float(pair.t[-1] - pair.t[0]),
        estimate_s=float(estimate.t[-1] - estimate.t[0]),
        samples=len(pair),
        path_length_m=path_m,
        position=trajectory_error(pair),
        horizontal=horizontal,
        yaw_aligned=trajectory_error(aligned_yaw(pair)),
        rigid_aligned=trajectory_error(aligned_rigid(pair)),
        axis_error_2d_m=mean_axis_error(first_steps, 2),
        axis_error_3d_m=mean_axis_error(first_steps, 3),
        final_percent=100.0 * horizontal.final / path_m if path_m > 0.0 else None,
        largest_percent_of_path=100.0 * horizontal.max / path_m if path_m > 0.0 else None,
        attitude_deg=_degrees(attitude, "total"),
        heading_deg=_degrees(attitude, "heading"),
        inclination_deg=_degrees(attitude, "inclination"),
        relative_over_m=over_m,
        relative_percent=relative_percent,
        relative_turn_deg=relative_turn_deg,
        nees_position=nees,
        inside_3_sigma=inside,
        stops=None if stops is None else stop_table(estimate, stops),
    )


def solution_and_truth(
    estimate: Solution | Navigated, reference: Reference | None
) -> tuple[Solution, Reference | None]:
    """The solution, and the truth of the body's origin, where that is known."""
    if not isinstance(estimate, Navigated):
        return estimate, reference
    own = reference is None or reference is estimate.truth_s
    return estimate.solution, estimate.truth if own else reference


def _refuse_far(pair: Matched) -> None:
    for name, p_n in (("estimate", pair.p_n), ("reference", pair.true_p_n)):
        far = np.flatnonzero(np.abs(p_n).max(axis=1) > FARTHEST_M)
        if len(far):
            i = int(far[0])
            raise InputError(
                f"the {name} is {np.abs(p_n[i]).max():.3g} m from the origin at t = {pair.t[i]:.6g} s, beyond "
                f"{FARTHEST_M:g} m; check its unit, or whether its filter diverged"
            )


def _degrees(attitude: AttitudeErrors | None, name: str) -> ErrorFigures | None:
    return None if attitude is None else figures_of(np.degrees(np.abs(getattr(attitude, name))))


def _relative(pair: Matched) -> tuple[float | None, ErrorFigures | None, ErrorFigures | None]:
    if pair.true_q_nb is None or not pair.length_m[-1] > 0.0:
        return None, None, None
    over_m = float(pair.length_m[-1]) / _RELATIVE_PARTS
    found = relative_errors_over_distance(pair, over_m)
    return over_m, figures_of(100.0 * found.translation_m / over_m), figures_of(np.degrees(found.rotation_rad))


def _own_judgement(error_n: Array, sigma: Array | None) -> tuple[float | None, float | None]:
    """Mean NEES over the samples with a sigma above 0, and the share inside 3 sigma.

    An exactly known place, such as the start, does not count. A place that is wrongly taken as exactly known counts as
    outside.
    """
    if sigma is None:
        return None, None
    some = (sigma > 0.0).all(axis=1)
    judged = ~((sigma == 0.0) & (np.abs(error_n) < ROUNDOFF_M)).any(axis=1)
    nees = normalised_squares_from_sigma(error_n[some], sigma[some])
    share = share_inside(error_n[judged], sigma[judged]) if judged.any() else None
    return (float(nees.mean()) if some.any() else None), share


def evaluate_files(
    estimate: str | PathLike[str], truth: str | PathLike[str], sensor: str | None = None
) -> Evaluation | AttitudeEvaluation:
    """Evaluate an estimate in a file against the truth in another. Without positions the attitudes are compared.

    estimate: a solution or pose file.
    truth: one of these, positions alone, a recording with truth (of `sensor`), or a log with the estimate of another
        program (of the topic `sensor`).
    """
    found = read_estimate(estimate)
    reference = read_reference(truth, sensor, "q_nb" if found.p_n is None else "p_n")
    return evaluate(found, reference)


def read_estimate(path: str | PathLike[str]) -> Solution:
    """A solution file, poses in CSV with the columns t, p_x..z, q_w..z, or a trajectory in another format."""
    if is_solution(path):
        return read_solution(path)
    foreign = format_of(Path(path))
    if foreign is not None:
        _, track = chosen_track(read_contents(Path(path), foreign).tracks, None, str(path))
        if track.q_nb is None:
            raise InputError(f"{path} has positions without attitudes; give it as the truth, and the estimate first")
        return Solution(track.t, track.q_nb, track.p_n, track.v_n, meta={"filter": track.what})
    start = _start_of(Path(path))
    if Path(path).name.lower().endswith(".parquet") or b"true_p_x" in start or b"acc_x [" in start:
        if Path(path).is_file():
            raise InputError(f"{path} is not an estimate; give a solution or poses first, and its truth second")
        return read_solution(path)
    poses = read_poses(path)
    return Solution(poses.t + poses.clock_s, poses.q_nb, poses.p_n, meta={"filter": "pose file"})


def read_reference(path: str | PathLike[str], sensor: str | None = None, need: str = "p_n") -> Reference:
    """A solution file, a recording with truth, a CSV file with t, p_x..z and, where known, q_w..z; or the poses of a
    file in another format (of the topic `sensor`). need: positions ("p_n") or attitudes ("q_nb"), of several tracks."""
    if is_solution(path):
        return read_solution(path)
    foreign = format_of(Path(path))
    if foreign is not None:
        return _reference_of(read_contents(Path(path), foreign), path, sensor, need)
    start = _start_of(Path(path))
    if Path(path).name.lower().endswith(".parquet") or b"true_p_x" in start or b"acc_x [" in start:
        recording = read_one(path, sensor)
        if recording.truth is None:
            raise InputError(f"{path} is a recording without truth (columns true_p_x, ...); give a file with truth")
        return recording.truth
    if b"q_w" in start:
        return read_poses(path)
    units = {"t": "s", "p_x": "m", "p_y": "m", "p_z": "m"}
    columns = read_columns(path, {name: name for name in units}, units)
    return Positions(columns["t"], np.column_stack([columns[name] for name in ("p_x", "p_y", "p_z")]))


def _reference_of(found: Contents, path: str | PathLike[str], name: str | None, need: str) -> Reference:
    """The track that has what is needed; attitudes alone where none has positions."""
    truths = {each: r.truth for each, r in found.recordings.items() if r.truth is not None}
    if truths and not found.tracks:  # a recording that we wrote
        if name is None and len(truths) > 1:
            raise InputError(f"{path} holds the truth of {', '.join(truths)}; {CHOOSE}")
        return truths[name if name in truths else next(iter(truths))]
    if name is None and all(track.p_n is None for track in found.tracks.values()):
        need = "q_nb"
    key, track = chosen_track(found.tracks, name, str(path), need if name is None else "t")
    if track.q_nb is None:
        return Positions(track.t, track.p_n if track.p_n is not None else np.empty((0, 3)))
    return Solution(track.t, track.q_nb, track.p_n, track.v_n, meta={"filter": f"{key}: {track.what}"})


def _start_of(path: Path) -> bytes:
    """The first lines of a file, with the header; empty for a file that cannot be read, which its reader will
    explain.
    """
    try:
        with opened(path) as raw:
            file = gzip.GzipFile(fileobj=raw, mode="rb") if path.name.lower().endswith(".gz") else raw
            return file.read(_HEADER_WITHIN_BYTES)
    except (OSError, EOFError, ValueError, zlib.error, InputError):
        return b""

"""An estimate against a reference where one of them has no positions: errors of the attitude alone."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.evaluation.attitude import attitude_errors
from strapdown.evaluation.matching import Reference, attitudes_at
from strapdown.evaluation.trajectory import ErrorFigures, figures_of
from strapdown.rotation import q_exp, q_mul
from strapdown.summaries import html_table
from strapdown.types import Solution


@dataclass(frozen=True, repr=False)
class AttitudeEvaluation:
    """Errors in deg. heading_offset_deg: the mean difference of the headings, left positive; six axes leave it open.
    heading_fitted_deg and attitude_fitted_deg: after this offset is removed."""

    compared_s: float
    estimate_s: float
    samples: int
    attitude_deg: ErrorFigures
    heading_deg: ErrorFigures
    inclination_deg: ErrorFigures
    heading_offset_deg: float
    heading_fitted_deg: ErrorFigures
    attitude_fitted_deg: ErrorFigures
    stops: None = None

    def numbers(self) -> dict[str, Any]:
        """Plain values for JSON, every digit."""
        return asdict(self)

    def figure_rows(self) -> list[list[str]]:
        """Errors with their rms, median, largest and last value, as printed; the first row is the head."""
        named = {
            "attitude, deg": self.attitude_deg,
            "heading, deg": self.heading_deg,
            "inclination, deg": self.inclination_deg,
            "heading, offset fitted, deg": self.heading_fitted_deg,
            "attitude, heading offset fitted, deg": self.attitude_fitted_deg,
        }
        rows = [[name, *(f"{x:.4g}" for x in (f.rms, f.median, f.max, f.final))] for name, f in named.items()]
        return [["error", "rms", "median", "largest", "at the end"], *rows]

    def rows(self) -> list[tuple[str, str]]:
        """What was compared."""
        share = f"{self.compared_s:.4g} of {self.estimate_s:.4g} s, {self.samples} samples"
        return [("compared", f"{share}; attitudes alone"), ("heading offset", f"{self.heading_offset_deg:.4g} deg")]

    def __str__(self) -> str:
        return figures_text(self.figure_rows(), self.rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self.figure_rows()
        return html_table(rows, head) + html_table(self.rows())


def figures_text(figures: list[list[str]], facts: list[tuple[str, str]]) -> str:
    """Text for a screen: a table of errors, its first row the head, and further figures below it."""
    width = max(len(row[0]) for row in (*figures, *facts))
    widths = [max(len(row[i]) for row in figures) for i in range(1, len(figures[0]))]
    lines = [
        "  ".join([row[0].ljust(width), *(c.rjust(w) for c, w in zip(row[1:], widths, strict=True))]) for row in figures
    ]
    return "\n".join([*lines, "", *(f"{name.ljust(width)}  {value}" for name, value in facts)])


def evaluate_attitude(estimate: Solution, reference: Reference) -> AttitudeEvaluation:
    """Attitudes of an estimate against those of a reference of the same run."""
    rows, q_true = attitudes_at(estimate.t, reference)
    if q_true is None:
        raise InputError("the estimate has no positions and the reference no attitudes; nothing can be compared")
    q = estimate.q_nb[rows]
    errors = attitude_errors(q, q_true)
    offset = float(np.angle(np.mean(np.exp(1j * errors.heading))))
    fitted = attitude_errors(q_mul(q_exp([0.0, 0.0, -offset]), q), q_true)
    t = estimate.t[rows]
    return AttitudeEvaluation(
        compared_s=float(t[-1] - t[0]),
        estimate_s=float(estimate.t[-1] - estimate.t[0]),
        samples=len(rows),
        attitude_deg=figures_of(np.degrees(errors.total)),
        heading_deg=figures_of(np.degrees(np.abs(errors.heading))),
        inclination_deg=figures_of(np.degrees(errors.inclination)),
        heading_offset_deg=float(np.degrees(offset)),
        heading_fitted_deg=figures_of(np.degrees(np.abs(fitted.heading))),
        attitude_fitted_deg=figures_of(np.degrees(fitted.total)),
    )

"""A calibration on the terminal and in JSON."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.calibration.calibration import Calibration, Correction
    from strapdown.calibration.check import Check
    from strapdown.calibration.truth_check import TruthError

# unit of the instrument to that of the table; the file and JSON stay in SI
_SHOWN = {"m/s2": ("mg", 1e3 / 9.80665), "rad/s": ("deg/s", 180.0 / math.pi), "uT": ("uT", 1.0)}
# of a cubic term, 1/unit^2: to what a user can compare with 1 g, 1 deg/s, 1 uT
_PER_CUBE = {"m/s2": (9.80665**2, "1/g^2"), "rad/s": ((math.pi / 180.0) ** 2, "1/(deg/s)^2"), "uT": (1.0, "1/uT^2")}
_WHAT = {
    "bias": "bias",
    "cubic": "cubic term",
    "temperature_bias": "bias against temperature",
    "temperature_scale": "scale against temperature",
}


def as_document(calibration: "Calibration") -> dict[str, Any]:
    """Plain values in SI for JSON; null is a standard deviation of something that was assumed."""
    return {
        "part": calibration.part,
        "specimen": calibration.specimen,
        "verdict": calibration.verdict,
        "instruments": {name: _instrument(c) for name, c in calibration.corrections.items()},
    }


def _instrument(c: "Correction") -> dict[str, Any]:
    from strapdown.calibration.calibration import PARAMETERS

    values = {name: getattr(c, name).tolist() for name in PARAMETERS if getattr(c, name).size}
    return {
        "unit": c.unit,
        **values,
        "sigma": {name: _finite(sigma.tolist()) for name, sigma in c.sigma.items()},
        "reference_c": c.reference_c,
        "range_c": None if c.range_c is None else list(c.range_c),
        "method": c.found.method,
        "date": c.found.date,
        "residual_rms": c.found.residual_rms,
        "verdict": c.found.verdict,
        "notes": list(c.found.notes),
        "undetermined": list(c.found.undetermined),
        "data": dict(c.found.data),
    }


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if math.isfinite(value) else None


def show(calibration: "Calibration") -> None:
    """Print one table for each instrument, then residuals, undetermined parameters, and the verdict."""
    from strapdown.cli import screen

    for name, c in calibration.corrections.items():
        screen.show_table(
            f"{name.capitalize()}: {c.found.method}", ["parameter", "unit", "x", "y", "z"], _rows(c), left=2, keys=2
        )
        unit, factor = _SHOWN[c.unit]
        if c.found.residual_rms is not None:
            where = " at rest" if "turn_error_rms_rad" in c.found.data else ""
            print(f"residual: {screen.short(c.found.residual_rms * factor)} {unit} rms{where}")
        elif c.found.method == "positions":
            print("residual: none, there are as many unknowns as poses and nothing checks the fit")
        if isinstance(error := c.found.data.get("turn_error_rms_rad"), float):
            print(f"turns: end {screen.short(math.degrees(error))} deg rms off")
        for text in c.found.undetermined:
            print(f"not determined: {text}")
        for text in c.found.notes:
            print(f"note: {text}")
        limit = c.found.data.get("limited_by")
        print(f"verdict: {c.found.verdict}" + (f", limited by {limit}" if limit else ""))


def _rows(c: "Correction") -> list[list[str]]:
    import numpy as np

    unit, factor = _SHOWN[c.unit]
    rows = []
    for name, what in _WHAT.items():
        values = np.atleast_2d(getattr(c, name))
        if not values.size or (name not in c.sigma and not values.any()):
            continue
        sigma = np.atleast_2d(c.sigma[name]) if name in c.sigma else np.full(values.shape, np.inf)
        for power, (row, deviation) in enumerate(zip(values, sigma, strict=True), 1):
            k, shown_unit = factor, unit
            by_degree = "/degC" if power == 1 else f"/degC^{power}"
            if name == "cubic":
                k, shown_unit = _PER_CUBE[c.unit]
            if name == "temperature_bias":
                shown_unit = (unit if unit.isalpha() else f"({unit})") + by_degree
            if name == "temperature_scale":
                k, shown_unit = 1e6, f"ppm{by_degree}"
            label = what
            rows.append([label, shown_unit, *(_cell(v * k, s * k) for v, s in zip(row, deviation, strict=True))])
    if "g_sensitivity" in c.sigma or c.g_sensitivity.any():
        sigma = c.sigma.get("g_sensitivity", np.full((3, 3), np.inf))
        k = 9.80665 * 180.0 / math.pi
        for axis, row, deviation in zip("xyz", c.g_sensitivity, sigma, strict=True):
            cells = (_cell(v * k, s * k) for v, s in zip(row, deviation, strict=True))
            rows.append([f"g-sensitivity of {axis}", "(deg/s)/g", *cells])
    if "matrix" in c.sigma or not np.array_equal(c.matrix, np.eye(3)):
        sigma = c.sigma.get("matrix", np.full((3, 3), np.inf))
        for axis, row, deviation in zip("xyz", c.matrix, sigma, strict=True):
            rows.append([f"matrix, {axis}", "1", *(_cell(v, s) for v, s in zip(row, deviation, strict=True))])
    return rows


def _cell(value: float, sigma: float) -> str:
    """Value and sigma, with as many digits as the sigma allows; an assumed value is shown without sigma."""
    if not math.isfinite(sigma):
        return f"{value:.5g} (assumed)"
    if sigma == 0.0:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(sigma)))
    if digits > 9:
        return f"{value:.3e} ± {sigma:.1e}"
    return f"{value:.{digits}f} ± {sigma:.{digits}f}"


def show_checks(checks: "tuple[Check, ...]") -> None:
    from strapdown.cli import screen

    rows = []
    for item in checks:
        unit, k = _SHOWN[item.unit]
        numbers = (screen.short(None if x is None else x * k) for x in (item.before, item.after, item.allowed))
        holds = "not known" if not item.told else "yes" if item.holds else "NO"
        rows.append([item.instrument, item.what, unit, *numbers, holds])
    columns = ["instrument", "what should be constant", "unit", "before", "after", "allowed", "holds"]
    screen.show_table("Calibration against the log (rms)", columns, rows, left=3, keys=2)
    for item in checks:
        for note in item.notes:
            print(f"note: {item.instrument}: {note}")


def checks_document(checks: "tuple[Check, ...]") -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [{**asdict(item), "notes": list(item.notes), "holds": item.holds if item.told else None} for item in checks]


def show_truth(errors: "tuple[TruthError, ...]", turn_rad: float | None) -> None:
    """Prints nothing for a log without a truth."""
    from strapdown.cli import screen

    if not errors:
        return
    rows = []
    for item in errors:
        unit, k = _SHOWN[item.unit]
        numbers = (screen.short(None if x is None else x * k) for x in (item.before, item.after, item.allowed))
        holds = "not judged" if item.allowed is None else "yes" if item.holds else "NO"
        rows.append([item.instrument, unit, *numbers, holds])
    title = "Against the truth of this simulated log (rms)"
    screen.show_table(title, ["instrument", "unit", "before", "after", "allowed", "holds"], rows, left=2)
    print("errors are means over 1 s, so that white noise does not hide them")
    if turn_rad is not None:
        turned = f"turned by {math.degrees(turn_rad):.2f} deg against the truth"
        print(f"axes: {turned}, which is not in these errors: gravity alone does not show it")


def truth_document(errors: "tuple[TruthError, ...]", turn_rad: float | None) -> dict[str, Any]:
    from dataclasses import asdict

    if not errors:
        return {}
    judged = [{**asdict(item), "holds": None if item.allowed is None else item.holds} for item in errors]
    return {"truth": judged, "axes_turned_rad": turn_rad}

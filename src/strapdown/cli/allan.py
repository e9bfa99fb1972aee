"""strapdown allan: a log at rest in, noise constants and a virtual twin out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strapdown.cli.log import ANY_LOG, Columns, Json, Sensor, read_log, refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strapdown.calibration.noise.fit import Term
    from strapdown.calibration.noise.static_log import InstrumentNoise, LogNoise

_NAMES = {
    "white": "N white noise",
    "instability": "B bias instability",
    "walk": "K random walk",
    "quantisation": "Q quantisation",
    "ramp": "R steady drift",
    "markov": "Gauss-Markov sigma",
    "markov_s": "Gauss-Markov time",
}


def allan(
    log: Annotated[Path, typer.Argument(metavar="LOG", help=f"At rest. {ANY_LOG}")],
    sensor: Sensor = None,
    columns: Columns = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the noise constants N, B, K, Q and correlation times.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="MODEL.toml",
            help="Write the fitted sensor model, a virtual sensor with this noise; .yaml: in the form of Kalibr.",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="PICTURE.png", help="Draw the curves.")] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(metavar="LOG", help="Another log at rest: its curves in the same plot. May be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Allan deviation and noise constants of every axis, from a log at rest.

    Example: strapdown allan night.parquet --fit -o my_imu.toml --plot allan.png
    """
    from strapdown.calibration.noise.static_log import analyse_log
    from strapdown.calibration.noise.twin import remarks, write_twin
    from strapdown.calibration.noise.units import as_document
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.atomic import refuse_overwriting, writable_target

    if output is not None and output.suffix not in (".toml", ".yaml"):
        raise InputError(f"{output} is no .toml or .yaml file; name the model like my_imu.toml, or imu.yaml for Kalibr")
    if plot is not None and plot.suffix.lower() != ".png":
        raise InputError(f"{plot} is not a .png file; name the picture like allan.png")
    for path in (output, plot):
        if path is not None:
            writable_target(path)
    if compare and plot is None:
        raise InputError("--compare draws another log into the plot; give --plot as well")
    refuse_overwriting((output, plot), (log, columns, *(compare or ())))
    recording = read_log(log, sensor, columns)
    try:
        with screen.warnings_shown() as warned:
            found = analyse_log(recording)  # its one small kernel compiles in a second: no need to make all ready
        if output is not None:
            write_twin(output, found, log.name)
    except InputError as error:
        raise refused(log, error) from None
    fit = fit or output is not None
    notes = [*found.notes, *(remarks(found) if output is not None else ()), *(warned if as_json else ())]
    if plot is not None:
        from strapdown.reporting.allan_figures import allan_comparison, allan_figure
        from strapdown.reporting.figures import save

        others = {path: _others(path, sensor, columns) for path in compare or ()}
        if others:
            logs = {_name(log, others): found, **{_name(path, (log, *others)): o for path, o in others.items()}}
            save(allan_comparison(logs, "Allan deviation of logs at rest"), plot)
        else:
            save(allan_figure(found, log.name, fit), plot)
    if as_json:
        document = {"log": str(log), **as_document(found, fit), "notes": notes}
        written = {"output": None if output is None else str(output), "plot": None if plot is None else str(plot)}
        screen.show_json({**document, **written})
        return
    _show_curves(found)
    if fit:
        for instrument in found.instruments.values():
            _show_fit(instrument)
        print(
            "N: the integral of the noise after t s has the sigma N sqrt(t). Data sheets print one-sided\n"
            "densities: multiply N by sqrt(2). ± is one standard deviation (with ? if the process is not certain),\n"
            "< an upper bound (95 %) for a process that is not visible."
        )
        _show_reasons(found)
    for note in notes:
        print(f"note: {note}")
    if output is not None:
        print(f"sensor model: {output}")
    if plot is not None:
        print(f"picture:      {plot}")


def _others(log: Path, sensor: str | None, columns: Path | None) -> "LogNoise":
    """The noise of a log to compare with."""
    from strapdown.calibration.noise.static_log import analyse_log
    from strapdown.errors import InputError

    try:
        return analyse_log(read_log(log, sensor, columns))
    except InputError as error:
        raise refused(log, error) from None


def _name(log: Path, others: "Iterable[Path]") -> str:
    """The name of the file; its path where another log has the same name."""
    return str(log) if any(other != log and other.name == log.name for other in others) else log.name


def _show_curves(found: "LogNoise") -> None:
    """The sigma at a few round times; --json has all of them."""
    import numpy as np

    from strapdown.cli import screen

    rows = []
    for name, instrument in found.instruments.items():
        tau = instrument.curve.tau_s
        wanted = [t for t in (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0) if tau[0] <= t <= tau[-1]] or [tau[0], tau[-1]]
        for at in (int(np.argmin(np.abs(np.log(tau / t)))) for t in wanted):
            cells = [
                f"{d:.3g} ({band.low[at]:.3g} … {band.high[at]:.3g})"
                for d, band in zip(instrument.curve.deviation[at], instrument.bands, strict=True)
            ]
            rows.append([name, instrument.unit, screen.short(float(tau[at])), *cells])
    screen.show_table(
        f"Overlapping Allan deviation (95 % band): {found.samples} samples at {1.0 / found.step_s:.5g} Hz, "
        f"{found.duration_s:.4g} s",
        ["instrument", "unit", "tau, s", "x", "y", "z"],
        rows,
        left=2,
        keys=3,
    )


def _show_fit(instrument: "InstrumentNoise") -> None:
    from strapdown.calibration.noise.fit import TERMS
    from strapdown.calibration.noise.units import USUAL
    from strapdown.cli import screen

    rows = []
    for term in TERMS:
        if term.startswith("markov") and all(fit.terms[term].value is None for fit in instrument.fits):
            continue
        for unit, factor in USUAL[instrument.name][term].items():
            if not unit.endswith("one-sided"):
                rows.append([_NAMES[term], unit, *(_cell(fit.terms[term], factor) for fit in instrument.fits)])
    screen.show_table(f"Noise of the {instrument.name}", ["term", "unit", "x", "y", "z"], rows, left=2, keys=2)


def _cell(term: "Term", factor: float) -> str:
    if term.value is not None and term.sigma is not None:
        doubt = " ?" if term.reason else ""
        return f"{_digits(term.value * factor, 3)} ± {_digits(term.sigma * factor, 1)}{doubt}"
    return "-" if term.at_most is None else f"< {_digits(term.at_most * factor, 2)}"


def _digits(value: float, digits: int) -> str:
    """A number with as many digits as are significant; tens are written out: 40, not 4e+01."""
    return f"{float(f'{value:.{digits}g}'):.6g}"


def _show_reasons(found: "LogNoise") -> None:
    """Each reason once, with the axes it applies to."""
    said: dict[str, list[str]] = {}
    for name, instrument in found.instruments.items():
        for axis, fit in zip("xyz", instrument.fits, strict=True):
            for key, term in fit.terms.items():
                if term.reason is not None and not key.startswith("markov"):
                    said.setdefault(f"{key}: {term.reason}", []).append(f"{name} {axis}")
    for reason, where in said.items():
        print(f"{', '.join(where)}: {reason}")

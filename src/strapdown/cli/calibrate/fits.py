"""strapdown calibrate, the fits: a log in, a calibration with its uncertainty out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.calibrate.job import Method, with_common_options
from strapdown.cli.calibrate.use import apply_to, check_log
from strapdown.cli.log import (
    Gravity,
    Height,
    Latitude,
    Longitude,
    Strength,
    Year,
    field_at,
    gravity_at,
)

if TYPE_CHECKING:
    from strapdown.calibration.calibration import Calibration
    from strapdown.sensors.triad import Triad
    from strapdown.types import Recording

calibrate = typer.Typer(rich_markup_mode="rich", no_args_is_help=True)


@calibrate.callback()
def _group() -> None:
    """Calibrate a sensor: offsets, scale, misalignment, temperature, hard and soft iron, each with its uncertainty.

    Example: strapdown calibrate positions poses.csv -o cal.toml --plot
    """


@calibrate.command("static")
@with_common_options
def static(
    roll: Annotated[float, typer.Option(metavar="DEG", help="Known attitude of the sensor at rest.")] = 0.0,
    pitch: Annotated[float, typer.Option(metavar="DEG", help="Known attitude of the sensor at rest.")] = 0.0,
    levelness: Annotated[
        float | None,
        typer.Option(
            "--levelness", metavar="DEG", help="Standard deviation of that attitude; default: 2, as put down by hand."
        ),
    ] = None,
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
) -> Method:
    """Find the offsets of accelerometer and gyroscope, from rest in one known attitude (paper B).

    Example: strapdown calibrate static start.csv -o cal.toml
    """
    import math

    from strapdown.calibration.static import calibrate_static
    from strapdown.reporting.temperature_figures import static_figure

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", _: "Calibration | None") -> Any:
        return calibrate_static(
            recording,
            gravity=gravity_at(recording, latitude, height, gravity)[0],
            roll_rad=math.radians(roll),
            pitch_rad=math.radians(pitch),
            attitude_sigma_rad=None if levelness is None else math.radians(levelness),
            noise=noise,
        )

    return Method(fit, static_figure)


@calibrate.command("positions")
@with_common_options
def positions(
    model: Annotated[
        str,
        typer.Option(metavar="NAME", help="auto, diagonal, full, cubic, or squared (the case stands on its faces)."),
    ] = "auto",
    levelness: Annotated[
        float, typer.Option(metavar="DEG", help="squared: standard deviation of table and case from level.")
    ] = 0.1,
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
) -> Method:
    """Calibrate the accelerometer from six or more poses at rest, and the gyroscope from the turns between them.

    No turntable is needed. Put the sensor down for a few seconds on every face and on edges; turn it about all axes.

    Example: strapdown calibrate positions poses.csv --latitude 55.75 -o cal.toml --plot
    """
    import math

    from strapdown.calibration.poses.positions import calibrate_positions
    from strapdown.reporting.positions_figures import positions_figure

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", _: "Calibration | None") -> Any:
        local = gravity_at(recording, latitude, height, gravity)[0]
        return calibrate_positions(recording, local, model=model, noise=noise, level_sigma_rad=math.radians(levelness))

    return Method(fit, positions_figure, ("turns",))


@calibrate.command("temperature")
@with_common_options
def temperature(
    reference: Annotated[
        float | None, typer.Option(metavar="DEGC", help="Temperature at which the bias is given; default: 25.")
    ] = None,
) -> Method:
    """Calibrate bias against temperature, from a log at rest while the temperature changes.

    Example: strapdown calibrate temperature warm_up.csv -o cal.toml --plot
    """
    from strapdown.calibration.temperature.bias_curve import calibrate_temperature
    from strapdown.reporting.temperature_figures import temperature_figure

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", _: "Calibration | None") -> Any:
        return calibrate_temperature(recording, noise=noise, reference_c=reference)

    return Method(fit, temperature_figure)


@calibrate.command("magnetometer")
@with_common_options
def magnetometer(
    latitude: Latitude = None,
    longitude: Longitude = None,
    height: Height = 0.0,
    year: Year = None,
    field: Strength = None,
) -> Method:
    """Calibrate hard and soft iron, from a log in which the sensor is turned through all directions, away from steel.

    With the place (or the field's strength) the readings have their true size. With an accelerometer in the log the
    axes of both are aligned.

    Example: strapdown calibrate magnetometer tumble.csv --latitude 55.75 --longitude 37.62 -o cal.toml --plot
    """
    from strapdown.calibration.calibration import Correction
    from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
    from strapdown.errors import InputError
    from strapdown.reporting.magnetometer_figures import magnetometer_figure

    if latitude is not None and longitude is None:
        raise InputError("--latitude needs --longitude, since the field is that of a place; give both, or neither")
    if field is not None and latitude is not None:
        raise InputError("--field and the place both say how strong the field is; give one of them")
    if height != 0.0 and latitude is None:
        raise InputError("--height needs --latitude and --longitude; give the place, or leave it out")

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", before: "Calibration | None") -> Any:
        size, angle = field_at(recording, latitude, longitude, height, year, field)
        known = None if before is None else before.corrections.get("accelerometer")
        # its readings are corrected already: nothing is left to correct, but how well it is known
        sigma = {} if known is None else {key: known.sigma[key] for key in ("bias", "cubic") if key in known.sigma}
        level = None if known is None else Correction(known.unit, known.found, sigma=sigma)
        return calibrate_magnetometer(recording, field_ut=size, dip_rad=angle, noise=noise, accelerometer=level)

    return Method(fit, magnetometer_figure, ("ellipsoid",))


calibrate.command("apply")(apply_to)
calibrate.command("check")(check_log)

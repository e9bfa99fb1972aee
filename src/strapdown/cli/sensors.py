"""strapdown sensors: the catalogue of parts; show, compare and draw specimens."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from strapdown.sensors.parts.part import Part
    from strapdown.sensors.parts.sheet_number import Number

_JSON = typer.Option("--json", help="Print one JSON document instead of the table.")
_PART = typer.Argument(metavar="PART", help="A part of the catalogue, or a part file (.toml).")
_RANGE = typer.Option("--range", metavar="INSTRUMENT=RANGE", help="In the part's unit: accelerometer=4. Repeatable.")

sensors = typer.Typer(rich_markup_mode="rich", invoke_without_command=True, no_args_is_help=False)


@sensors.callback(invoke_without_command=True)
def catalogue(context: typer.Context, as_json: Annotated[bool, _JSON] = False) -> None:
    """The catalogue of real sensors: list, show, compare, draw specimens. Without a subcommand, it lists all parts.

    Example: strapdown sensors
    """
    if context.invoked_subcommand is not None:
        if as_json:
            from strapdown.errors import InputError

            raise InputError(f"put --json after {context.invoked_subcommand}")
        return
    from strapdown.cli import screen
    from strapdown.sensors.parts.part import catalogue as all_parts

    parts = all_parts()
    if as_json:
        screen.show_json([_summary(part) for part in parts])
        return
    for group in dict.fromkeys(part.file.group for part in parts):
        rows = [
            [part.name, part.file.maker, ", ".join(part.instruments), _share(part), part.file.character]
            for part in parts
            if part.file.group == group
        ]
        plural = group if group.endswith("IMU") else f"{group}s"
        screen.show_table(
            plural.replace("IMU", "IMUs").capitalize().replace("imus", "IMUs"),
            ["part", "maker", "instruments", "from data sheet", "character"],
            rows,
            left=5,
        )
    print(f"{len(parts)} parts; strapdown sensors show PART has every number with its source")
    print("from data sheet: the share of the values that was verified there; the others are estimated")


def _share(part: "Part") -> str:
    """Share of the values that come from a data sheet; rounded down, so that 100 % is all."""
    return f"{int(100.0 * part.file.data_sheet_share() + 1e-9)} %"


def _summary(part: "Part") -> dict[str, Any]:
    return {
        "name": part.name,
        "maker": part.file.maker,
        "group": part.file.group,
        "instruments": list(part.instruments),
        "character": part.file.character,
        "aliases": list(part.file.aliases),
        "data_sheet_share": part.file.data_sheet_share(),
    }


@sensors.command("show")
def show(part: Annotated[str, _PART], as_json: Annotated[bool, _JSON] = False) -> None:
    """All numbers of a part, with unit, kind, status, source and page.

    Example: strapdown sensors show MPU-6050
    """
    from strapdown.cli import screen
    from strapdown.sensors.parts.part import load_part

    found = load_part(part)
    if as_json:
        document = found.file.model_dump(mode="json", exclude_none=True)
        screen.show_json({**document, "path": str(found.path)})
        return
    print(f"{found.name} ({found.file.maker}), {found.file.group}: {found.file.character}")
    print(f"{_share(found)} of the values come from a data sheet; the others are marked as estimated")
    tables: dict[str, list[list[str]]] = {}
    for table, name, number in found.file.numbers():
        tables.setdefault(table, []).append(
            [
                name,
                _values(name, table, number),
                number.unit,
                number.kind,
                _status(number),
                number.source,
                number.page or "not noted",
                number.note or "",
            ]
        )
    for table, rows in tables.items():
        chip = getattr(getattr(found.file, table, None), "chip", None)
        title = f"{table} ({chip})" if chip else table
        screen.show_table(title, ["number", "value", "unit", "kind", "status", "source", "page", "note"], rows, left=8)
    _show_measured(found)
    mag = found.file.magnetometer
    if mag is not None and mag.axes is not None:
        rows_text = "; ".join(" ".join(f"{x:g}" for x in row) for row in mag.axes.rows)
        print(f"magnetometer axes, v_imu = [{rows_text}] v_chip ({mag.axes.status}, {mag.axes.source})")
    if found.file.note:
        print(f"note: {found.file.note}")


def _values(name: str, table: str, number: "Number") -> str:
    if table == "identity":
        return ", ".join(f"0x{int(x):02X}" for x in number.all())
    sign = "±" if number.kind == "bound" or name in ("ranges", "range_z", "default_range") else ""
    text = " ".join(f"{sign}{x:g}" for x in number.all())
    return text if number.over_c is None else f"{text} over {number.over_c[0]:g} to {number.over_c[1]:g} degC"


def _status(number: "Number") -> str:
    """A value from memory is an estimate until someone has looked it up."""
    words = {"unverified": "estimated, not looked up"}
    statuses = (number.status,) if isinstance(number.status, str) else number.status
    return "; ".join(words.get(status, status) for status in statuses)


def _show_measured(part: "Part") -> None:
    """Noise that we measured, next to the value of the data sheet."""
    from strapdown.cli import screen

    rows = []
    for name, found in part.file.measured.items():
        for field in type(found).model_fields:
            number, printed = getattr(found, field), getattr(getattr(part.file, name), field)
            if number is not None:
                sheet = "-" if printed is None else f"{_marked(_values(field, name, printed), printed)} {printed.unit}"
                measured = f"{_values(field, name, number)} {number.unit}"
                rows.append([f"{name} {field}", sheet, measured, number.source, number.note or ""])
    if rows:
        columns = ["number", "data sheet", "measured, x y z", "source", "note"]
        screen.show_table("measured next to the data sheet (~ estimated)", columns, rows, left=5)


def _marked(text: str, number: "Number") -> str:
    return f"~{text}" if number.estimated else text


@sensors.command("compare")
def compare(
    parts: Annotated[list[str], typer.Argument(metavar="PART", help="Parts, or part files (.toml).")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PICTURE.png", help="Also draw Allan curves and expected drift."),
    ] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Compare parts: noise, bias floor, and drift in a minute after calibration.

    Example: strapdown sensors compare MPU-6050 BMI088 ADIS16470 -o compare.png
    """
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.atomic import refuse_overwriting, writable_target
    from strapdown.sensors.parts.part import load_part

    refuse_overwriting((output,), parts)
    if output is not None:
        if output.suffix.lower() != ".png":
            raise InputError(f"{output}: pictures are PNG; name it {output.with_suffix('.png')}")
        writable_target(output)
    loaded = [load_part(part) for part in parts]
    nominal = {part.name: part.nominal() for part in loaded}
    if len(nominal) < len(loaded):
        raise InputError(f"the same part is named twice among {', '.join(p.name for p in loaded)}; name each once")

    from strapdown.reporting import part_figures

    table = part_figures.compare(nominal)
    if output is not None:
        part_figures.save_comparison(nominal, output)
    if as_json:
        more = {
            part.name: {
                "data_sheet_share": part.file.data_sheet_share(),
                "estimated": [name for name in table[part.name] if _is_estimated(part, name)],
                "measured": {name: m.model_dump(exclude_none=True) for name, m in part.file.measured.items()},
            }
            for part in loaded
        }
        picture = None if output is None else str(output)
        screen.show_json({"after_s": 60.0, "parts": table, "provenance": more, "picture": picture})
        return
    names = list(next(iter(table.values())))
    kept = [name for name in names if any(row[name] is not None for row in table.values())]
    screen.show_table(
        "At the default range, worst axis; drift in 60 s at rest after calibration",
        ["part", "from data sheet", *(_HEADINGS[name] for name in kept)],
        [
            [part.name, _share(part), *(_compared(part, name, table[part.name][name]) for name in kept)]
            for part in loaded
        ],
    )
    print(
        "- means: not on the data sheet. ~ means: from numbers that are estimated; strapdown sensors show PART has them"
    )
    for part in loaded:
        _show_measured(part)
    if output is not None:
        print(f"picture: {output}")


def _cell(value: float | None) -> str:
    from strapdown.cli import screen

    return f"{value:.0f}" if value is not None and value >= 100.0 else screen.short(value)


# what a column of the comparison is made of
_MADE_OF = {
    "gyroscope_range_deg_s": ("gyroscope", ("ranges",)),
    "angle_random_walk_deg_rth": ("gyroscope", ("noise_density", "random_walk", "noise_rms")),
    "gyroscope_floor_deg_h": ("gyroscope", ("in_run_bias",)),
    "angle_drift_deg": ("gyroscope", ("noise_density", "random_walk", "noise_rms", "in_run_bias", "walk")),
    "accelerometer_range_g": ("accelerometer", ("ranges",)),
    "velocity_random_walk_m_s_rth": ("accelerometer", ("noise_density", "random_walk", "noise_rms")),
    "accelerometer_floor_ug": ("accelerometer", ("in_run_bias",)),
    "position_drift_m": ("accelerometer", ("noise_density", "random_walk", "noise_rms", "in_run_bias", "walk")),
    "magnetometer_range_ut": ("magnetometer", ("ranges",)),
    "magnetometer_noise_ut_rthz": ("magnetometer", ("noise_density", "noise_rms")),
}


def _is_estimated(part: "Part", column: str) -> bool:
    """Whether a figure of the comparison comes from a number that is not verified."""
    instrument, names = _MADE_OF[column]
    used = [instrument, "gyroscope"] if column == "position_drift_m" else [instrument]  # a tilt makes a position drift
    tables = [table for table in (getattr(part.file, name) for name in used) if table is not None]
    return any(table.is_estimated(*names) for table in tables)


def _compared(part: "Part", column: str, value: float | None) -> str:
    text = _cell(value)
    return f"~{text}" if value is not None and _is_estimated(part, column) else text


_HEADINGS = {
    "gyroscope_range_deg_s": "gyroscope range, ±°/s",
    "angle_random_walk_deg_rth": "gyroscope N, °/√h",
    "gyroscope_floor_deg_h": "gyroscope floor, °/h",
    "angle_drift_deg": "angle drift, °",
    "accelerometer_range_g": "accelerometer range, ±g",
    "velocity_random_walk_m_s_rth": "accelerometer N, m/s/√h",
    "accelerometer_floor_ug": "accelerometer floor, µg",
    "position_drift_m": "position drift, m",
    "magnetometer_range_ut": "magnetometer range, ±µT",
    "magnetometer_noise_ut_rthz": "magnetometer noise, µT/√Hz",
}


@sensors.command("draw")
def draw(
    part: Annotated[str, _PART],
    seed: Annotated[int, typer.Option("--seed", help="Seed of the specimen: the same seed gives the same specimen.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="Model to write: .toml, or .json for MATLAB's loadparams."),
    ] = None,
    ranges: Annotated[list[str] | None, _RANGE] = None,
    rate_hz: Annotated[
        float | None, typer.Option("--rate", metavar="HZ", help="Rate at which you will sample it.")
    ] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """One specimen of a part, within its data sheet: a sensor model for the virtual sensor.

    Example: strapdown sensors draw MPU-6050 --seed 7 -o specimen.toml
    """
    from dataclasses import asdict

    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.atomic import refuse_overwriting
    from strapdown.sensors.parts.model_file import model_text, write_model
    from strapdown.sensors.parts.part import load_part

    if output is not None and output.suffix.lower() not in (".toml", ".json"):
        raise InputError(f"{output}: a sensor model ends in .toml, or .json for MATLAB; name it so")
    refuse_overwriting((output,), (part,))
    found = load_part(part)
    specimen = found.draw(seed, _chosen(ranges or []), rate_hz)
    left_out: tuple[str, ...] = ()
    if output is not None:
        left_out = write_model(output, specimen.triads(), specimen.meta())
    if as_json:
        document = {**specimen.meta(), **{name: asdict(triad) for name, triad in specimen.triads().items()}}
        screen.show_json({**document, "output": None if output is None else str(output), "left_out": list(left_out)})
        return
    if output is None:
        print(model_text(specimen.triads(), specimen.meta()), end="")
        return
    print(f"{found.name}, specimen {seed}: {output}")
    if left_out:
        screen.told().print(f"note: MATLAB has no place for {', '.join(left_out)}", soft_wrap=True, markup=False)


def _chosen(ranges: list[str]) -> dict[str, float]:
    """Choices such as accelerometer=4."""
    from strapdown.errors import InputError

    chosen: dict[str, float] = {}
    for text in ranges:
        name, _, value = (part.strip() for part in text.partition("="))
        if name in chosen:
            raise InputError(f"--range is given twice for the {name}; keep one of {chosen[name]:g} and {value}")
        try:
            chosen[name] = float(value)
        except ValueError:
            raise InputError(f'--range is "{text}"; write it as accelerometer=4') from None
    return chosen

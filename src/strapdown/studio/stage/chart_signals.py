"""The signals that a page can chart, and a quick reader of all their present numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.session.live_sensors import LiveSensor, ModuleSensor, ValueSensor
from strapdown.environment.session.session import Session
from strapdown.kernels.sensors.module import READINGS
from strapdown.rotation import heading_from_q, wrap
from strapdown.sensors.module_reader import FIELDS
from strapdown.studio import messages as m

DEG = 180.0 / np.pi
ANGLES = ["roll", "pitch", "heading"]
_ORDER = tuple(FIELDS)
_UNITS = {"accelerometer": "m/s2", "gyroscope": "rad/s", "magnetometer": "uT", "inclinometer": "rad"}
_SLOW_UNITS = {"altimeter": "m", "barometer": "Pa", "odometer": "m", "position_fix": "m", "velocity_fix": "m/s"}
# name in the truth: title, unit, frame, columns of a row of the plant
_TRUTH = {
    "position": ("True position", "m", "n", (0, 3)),
    "velocity": ("True velocity", "m/s", "n", (7, 10)),
    "acceleration": ("True acceleration", "m/s2", "n", (10, 13)),
    "rate": ("True angular rate", "rad/s", "b", (13, 16)),
    "height": ("True height", "m", None, (2, 3)),
}
Fill = Callable[[Array], None]


class ChartSignals:
    """Signals with their places in a row of numbers. fill(row): write the present numbers; NaN where there is none."""

    def __init__(self) -> None:
        self.signals: list[m.Signal] = []
        self.charts: list[m.Chart] = []
        self.places: dict[str, tuple[int, int]] = {}  # name: first column, count
        self.width = 0
        self._fills: list[Fill] = []

    def add(
        self, name: str, title: str, group: str, role: Any, unit: str, shape: Sequence[int] = (), **more: Any
    ) -> slice:
        """Add a signal at the end of the row; returns its place."""
        size = int(np.prod(shape)) if shape else 1
        labels = more.get("labels") or _labels(list(shape), unit)
        self.signals.append(
            m.Signal(
                name=name,
                title=title,
                group=group,
                role=role,
                unit=unit,
                frame=more.get("frame"),
                shape=list(shape),
                size=size,
                labels=labels,
                block=more.get("block"),
                output=more.get("output"),
            )
        )
        self.places[name] = self.width, size
        self.width += size
        return slice(self.width - size, self.width)

    def filled_by(self, fill: Fill) -> None:
        self._fills.append(fill)

    def fill(self, row: Array) -> None:
        row.fill(np.nan)
        for fill in self._fills:
            fill(row)


def _labels(shape: list[int], unit: str) -> list[str]:
    size = int(np.prod(shape)) if shape else 1
    if not shape:
        return [""]
    if shape == [4] and unit == "quaternion":
        return list("wxyz")
    return list("xyz")[:size] if size in (2, 3) else [str(i + 1) for i in range(size)]


def session_signals(session: Session) -> ChartSignals:
    """All signals of a session with its present diagram and sensors."""
    found = ChartSignals()
    _sensors(found, session)
    _motion(found, session)
    _actuators(found, session)
    _diagram(found, session)
    _charts(found, session.sensors)
    return found


def _sensors(found: ChartSignals, session: Session) -> None:
    """Readings and truth; without power a sensor gives no readings."""
    for sensor in session.sensors:
        if isinstance(sensor, ModuleSensor):
            for instrument in sensor.instruments:
                _module(found, session, sensor, instrument)
        elif isinstance(sensor, ValueSensor):
            kind = sensor.instruments[0]
            unit = _UNITS.get(kind) or _SLOW_UNITS.get(kind, "1")
            shape = (sensor.size,) if sensor.size > 1 else ()
            place = found.add(f"sensor/{sensor.name}", _title(sensor.name, kind), "Sensors", "reading", unit, shape)
            found.filled_by(_slow(session, sensor, place))


def _title(sensor: str, instrument: str) -> str:
    plain = instrument.replace("_", " ")
    return plain.capitalize() if sensor == instrument else f"{plain.capitalize()} ({sensor})"


def _module(found: ChartSignals, session: Session, sensor: ModuleSensor, instrument: str) -> None:
    unit, title = _UNITS[instrument], _title(sensor.name, instrument)
    name = f"sensor/{sensor.name}/{instrument}"
    read = found.add(name, title, "Sensors", "reading", unit, (3,), frame="s")
    true = found.add(f"{name}/truth", f"{title}, truth", "Sensors", "truth", unit, (3,), frame="s")
    first = READINGS + 3 * _ORDER.index(instrument)

    def fill(row: Array) -> None:
        newest = sensor.log.newest()
        if newest is not None and session.console.power:
            row[read] = newest[first : first + 3]
        row[true] = sensor.ideal_now(instrument)

    found.filled_by(fill)


def _slow(session: Session, sensor: ValueSensor, place: slice) -> Fill:
    def fill(row: Array) -> None:
        newest = sensor.log.newest()
        if newest is not None and session.console.power:
            row[place] = newest[2 : 2 + sensor.size]

    return fill


def _motion(found: ChartSignals, session: Session) -> None:
    """Truth, estimate, and the error of the estimate."""
    true = found.add("truth/attitude", "True attitude", "Attitude", "truth", "deg", (3,), labels=ANGLES)
    cuts = []
    for name, (title, unit, frame, (first, last)) in _TRUTH.items():
        shape = (last - first,) if last - first > 1 else ()
        place = found.add(f"truth/{name}", title, "Truth", "truth", unit, shape, frame=frame)
        cuts.append((place, first, last))
    estimate = session.wiring.estimate
    has = {name: session.runner.reader([signal]) for name, signal in estimate.items()}
    angles = error = None
    if "attitude" in has:
        angles = found.add(
            "estimate/attitude", "Estimated attitude", "Attitude", "estimate", "deg", (3,), labels=ANGLES
        )
        error = found.add("error/attitude", "Attitude error", "Attitude", "error", "deg", (3,), labels=ANGLES)
    sigma = None
    if "tilt_sigma" in has or "heading_sigma" in has:
        sigma = found.add("sigma/attitude", "3 sigma of the attitude", "Attitude", "sigma", "deg", (3,), labels=ANGLES)
    vectors = []
    for name, unit, first, last in (("velocity", "m/s", 7, 10), ("position", "m", 0, 3), ("height", "m", 2, 3)):
        if name in has:
            shape = (3,) if last - first == 3 else ()
            in_n: Any = "n" if shape else None
            e = found.add(f"estimate/{name}", f"Estimated {name}", "Estimate", "estimate", unit, shape, frame=in_n)
            d = found.add(f"error/{name}", f"Error of the {name}", "Estimate", "error", unit, shape, frame=in_n)
            vectors.append((has[name], e, d, first, last))

    def fill(row: Array) -> None:
        body = session.truth
        row[true] = now = attitude_angles(body[3:7])
        for place, first, last in cuts:
            row[place] = body[first:last]
        if angles is not None:
            q = has["attitude"]()[0]
            if q is not None and np.abs(q @ q - 1.0) < 1e-3:
                row[angles] = seen = attitude_angles(q)
                row[error] = wrap((seen - now) / DEG) * DEG
        if sigma is not None:
            tilt, heading = (has[n]()[0] if n in has else None for n in ("tilt_sigma", "heading_sigma"))
            tilt = np.nan if tilt is None else 3.0 * DEG * tilt
            row[sigma] = (tilt, tilt, np.nan if heading is None else 3.0 * DEG * heading)
        for read, e, d, first, last in vectors:
            value = read()[0]
            if value is not None:
                row[e] = value
                row[d] = value - body[first:last]

    found.filled_by(fill)


def attitude_angles(q_nb: Array) -> Array:
    """Roll (right side down), pitch (nose up), heading (clockwise from north, 0 to 360), deg."""
    heading, pitch, roll = heading_from_q(q_nb)
    return np.array([roll * DEG, pitch * DEG, heading * DEG % 360.0])


def _actuators(found: ChartSignals, session: Session) -> None:
    names = session.vehicle.actuators
    places = [found.add(f"actuator/{a.name}", f"Actuator {a.name}", "Actuators", "truth", a.unit) for a in names]
    if places:
        whole = slice(places[0].start, places[-1].stop)
        plant = session.plant

        def fill(row: Array) -> None:
            row[whole] = plant.achieved

        found.filled_by(fill)


def _diagram(found: ChartSignals, session: Session) -> None:
    runner = session.runner
    names, places = [], []
    for step in runner.plan.steps:
        for output, port in step.output_ports.items():
            name = f"{step.path}.{output}"
            shape = tuple(port.shape or ())
            role = "truth" if session.kinds[step.kind].category == "simulation only" else "signal"
            title = f"{step.path}: {output}"
            more = {"frame": port.frame, "block": step.path, "output": output}
            place = found.add(f"diagram/{name}", title, "Diagram", role, port.unit or "1", shape, **more)
            names.append(name)
            places.append(place)
    read = runner.reader(names)

    def fill(row: Array) -> None:
        for place, value in zip(places, read(), strict=True):
            if value is not None:
                row[place] = value if isinstance(value, float) else np.ravel(value)

    found.filled_by(fill)


def _charts(found: ChartSignals, sensors: Sequence[LiveSensor]) -> None:
    for instrument in ("accelerometer", "gyroscope", "magnetometer"):
        for sensor in sensors:
            if isinstance(sensor, ModuleSensor) and instrument in sensor.instruments:
                name = f"sensor/{sensor.name}/{instrument}"
                found.charts.append(m.Chart(title=instrument.capitalize(), signals=[name, f"{name}/truth"]))
                break
    for title, names in (
        ("Attitude", ("estimate/attitude", "truth/attitude")),
        ("Attitude error", ("error/attitude", "sigma/attitude")),
        ("Height", ("estimate/height", "truth/height")),
    ):
        if names[0] in found.places:
            found.charts.append(m.Chart(title=title, signals=[name for name in names if name in found.places]))

"""The signals of a live module: readings, calibrated readings, attitude with its sigma, and the line. No truth."""

from typing import TYPE_CHECKING

import numpy as np

from strapdown.arrays import Array
from strapdown.studio import messages as m
from strapdown.studio.stage.chart_signals import ANGLES, DEG, ChartSignals, attitude_angles

if TYPE_CHECKING:
    from strapdown.studio.stage.device_stage import DeviceStage

_UNKNOWN_DEG = 180.0  # 3 sigma of a heading of which nothing is known
FIELDS = {"accelerometer": ("acc_s", "m/s2"), "gyroscope": ("gyr_s", "rad/s"), "magnetometer": ("mag_s", "uT")}


def device_signals(stage: "DeviceStage") -> ChartSignals:
    found = ChartSignals()
    for instrument, (field, unit) in FIELDS.items():
        if instrument != "magnetometer" or stage.hello.mag_per_gauss:
            _instrument(found, stage, instrument, field, unit)
    _temperature(found, stage)
    _attitude(found, stage)
    _line(found, stage)
    return found


def _instrument(found: ChartSignals, stage: "DeviceStage", instrument: str, field: str, unit: str) -> None:
    name = f"sensor/module/{instrument}"
    read = found.add(name, instrument.capitalize(), "Sensors", "reading", unit, (3,), frame="s")
    title = f"{instrument.capitalize()}, calibrated"
    better = found.add(f"{name}/calibrated", title, "Sensors", "signal", unit, (3,), frame="s")
    found.charts.append(m.Chart(title=instrument.capitalize(), signals=[name]))
    held: dict[int, Array] = {}  # by first column; a magnetometer has fewer readings than there are samples

    def fill(row: Array) -> None:
        if stage.last is None:
            held.clear()
            return
        value = getattr(stage.last.sample, field)
        if value is not None:
            held[read.start] = value
            if stage.calibration is not None and instrument in stage.calibration.corrections:
                held[better.start] = getattr(stage.used, field)
        for first, values in held.items():
            row[first : first + 3] = values

    found.filled_by(fill)


def _temperature(found: ChartSignals, stage: "DeviceStage") -> None:
    place = found.add("sensor/module/temperature", "Temperature", "Sensors", "reading", "°C")

    def fill(row: Array) -> None:
        if stage.last is not None and stage.last.sample.temperature is not None:
            row[place] = stage.last.sample.temperature

    found.filled_by(fill)


def _attitude(found: ChartSignals, stage: "DeviceStage") -> None:
    angles = found.add("estimate/attitude", "Estimated attitude", "Attitude", "estimate", "deg", (3,), labels=ANGLES)
    sigma = found.add("sigma/attitude", "3 sigma of the attitude", "Attitude", "signal", "deg", (3,), labels=ANGLES)
    found.charts.append(m.Chart(title="Attitude", signals=["estimate/attitude"]))
    found.charts.append(m.Chart(title="3 sigma of the attitude", signals=["sigma/attitude"]))
    found.charts.append(m.Chart(title="Temperature", signals=["sensor/module/temperature"]))

    def fill(row: Array) -> None:
        if stage.belief is None or stage.last is None:
            return
        row[angles] = attitude_angles(stage.belief.q_nb)
        east, north, up = 3.0 * DEG * stage.belief.sigma["attitude_n"]
        row[sigma] = (max(east, north), max(east, north), up if up < _UNKNOWN_DEG else np.nan)

    found.filled_by(fill)


def _line(found: ChartSignals, stage: "DeviceStage") -> None:
    lost = found.add("line/lost", "Samples lost", "Line", "signal", "1")
    stop = found.add("line/stop", "Stop signal", "Line", "signal", "flag")
    travel = None
    if stage.hello.tick_nm:
        travel = found.add("sensor/module/odometer", "Odometer", "Sensors", "reading", "m")

    def fill(row: Array) -> None:
        if stage.last is None:
            return
        stream = stage.line.source.stream
        row[lost] = stream.counts.lost
        row[stop] = float(bool(stage.last.sample.stop))
        if travel is not None:
            row[travel] = stream.odometer_m or 0.0

    found.filled_by(fill)

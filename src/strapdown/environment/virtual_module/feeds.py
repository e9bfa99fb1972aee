"""Input of a virtual module: a recording played back, or a vehicle of a scenario that runs meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from strapdown.arrays import Array
from strapdown.devices.chips.feed import Rows
from strapdown.devices.controller import Inputs
from strapdown.environment.session.live_sensors import ModuleSensor, ValueSensor
from strapdown.environment.session.scenario.file import Scenario
from strapdown.environment.session.session import Session, SessionStopped
from strapdown.environment.virtual_module.module import Make
from strapdown.errors import InputError
from strapdown.kernels.sensors.module import CELSIUS, READINGS, T
from strapdown.sensors.module_reader import FIELDS
from strapdown.types import Recording

TICK_NM = 100_000  # of the wheel of a scenario or recording: 0.1 mm
_STOP = "drive.stop"  # signal of a rover's diagram: nothing is asked for, and the wheels stand
_CHUNK_S = 0.1
Block = tuple[Array, Array, Array, Array, Array]


@dataclass
class Played:
    """A feed for the chips, the state of the control block, the properties of the module, and its duration (s; None: no
    end).
    """

    feed: Rows
    inputs: Callable[[float], Inputs]
    make: Make
    duration_s: float | None


def of_recording(recording: Recording) -> Played:
    """The readings of a recording, from its first sample on, as the input of the chips."""
    if recording.acc_s is None or recording.gyr_s is None:
        raise InputError("the recording has no accelerometer or no gyroscope; the module needs both")
    t = recording.t - recording.t[0]
    field = np.zeros((len(t), 3)) if recording.mag_s is None else recording.mag_s
    celsius = np.full(len(t), 25.0) if recording.temperature is None else recording.temperature
    rows = Rows(iter([(t, recording.acc_s, recording.gyr_s, field, celsius)]))
    stop, odometer = recording.stop, recording.odometer
    ticks = None if odometer is None else np.rint((odometer - odometer[0]) * 1e9 / TICK_NM).astype(np.int64)

    def inputs(t_s: float) -> Inputs:
        i = min(max(int(np.searchsorted(t, t_s + 1e-9, side="right")) - 1, 0), len(t) - 1)
        return Inputs(stop is not None and bool(stop[i]), 0, 0 if ticks is None else int(ticks[i]))

    make = Make(
        serial_number=_serial(recording),
        magnetometer="none" if recording.mag_s is None else "QMC5883L",
        tick_nm=0 if odometer is None else TICK_NM,
        filtered=True,
    )
    return Played(rows, inputs, make, float(t[-1]))


def _serial(recording: Recording) -> bytes:
    """Serial number of the module that was recorded, so that its calibration is found; else that of a virtual one."""
    try:
        found = bytes.fromhex(str(recording.meta.get("module", "")))
    except ValueError:
        found = b""
    return found if len(found) == len(Make().serial_number) else Make().serial_number


def of_scenario(scenario: Scenario, seed: int | None = None) -> Played:
    """The first inertial sensor of a vehicle in its closed loop, which runs with the module's time."""
    session = Session(scenario, seed=seed)
    modules = [sensor for sensor in session.sensors if isinstance(sensor, ModuleSensor)]
    if not modules or not {"accelerometer", "gyroscope"} <= set(modules[0].instruments):
        raise InputError("the scenario has no sensor with accelerometer and gyroscope; add one to it")
    wheels = [s for s in session.sensors if isinstance(s, ValueSensor) and s.instruments == ("odometer",)]
    ride = _Ride(session, modules[0], wheels[0] if wheels else None, scenario.duration_s)
    make = Make(
        magnetometer="QMC5883L" if "magnetometer" in modules[0].instruments else "none",
        tick_nm=TICK_NM if wheels else 0,
        filtered=True,
    )
    return Played(Rows(ride.blocks()), ride.inputs, make, scenario.duration_s)


class _Ride:
    """A session that is advanced in short intervals; memory is bounded, because old records are dropped."""

    def __init__(self, session: Session, sensor: ModuleSensor, wheel: ValueSensor | None, duration_s: float) -> None:
        self._session, self._sensor, self._wheel, self._duration_s = session, sensor, wheel, duration_s
        self._shown: list[tuple[float, Inputs]] = [(0.0, Inputs())]

    def blocks(self) -> Iterator[Block]:
        done = 0
        while self._session.t_s < self._duration_s - 1e-9:
            try:
                view = self._session.advance(min(_CHUNK_S, self._duration_s - self._session.t_s))
            except SessionStopped:
                return
            rows = self._sensor.log.rows(done)
            done += len(rows)
            acc, gyr, mag = (rows[:, READINGS + 3 * k : READINGS + 3 * k + 3] for k in range(len(FIELDS)))
            try:
                stop = bool(view.value(_STOP))
            except InputError:  # a vehicle without such a signal
                stop = False
            ticks = 0
            newest = None if self._wheel is None else self._wheel.log.newest()
            if newest is not None:
                ticks = round(float(newest[2]) * 1e9 / TICK_NM)
            self._shown = [*self._shown[-1:], (self._session.t_s, Inputs(stop, 0, ticks))]
            self._session.forget_before(self._session.t_s - 1.0)
            yield rows[:, T], acc, gyr, mag, rows[:, CELSIUS]

    def inputs(self, t_s: float) -> Inputs:
        return next((given for since, given in reversed(self._shown) if since <= t_s + 1e-9), self._shown[0][1])

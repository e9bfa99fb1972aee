"""Lights of the sensors: works, degraded, failed, off."""

from collections import Counter
from typing import Any

import numpy as np

from strapdown.environment.session.live_sensors import ModuleSensor
from strapdown.environment.session.session import Session
from strapdown.kernels.orientation.state import FLAGS
from strapdown.kernels.sensors.module import ANY_CLIPPED
from strapdown.orientation.results import FLAG_BITS
from strapdown.studio import messages as m

SHORT = {
    "accelerometer": "acc",
    "gyroscope": "gyr",
    "magnetometer": "mag",
    "inclinometer": "incl",
    "altimeter": "alt",
    "barometer": "baro",
    "odometer": "odo",
    "position_fix": "pos",
    "velocity_fix": "vel",
}
_GAIN = 0.08  # of a new look; at 100 looks per second the time constant is 0.12 s
_SHARE = 0.15  # of the looks with a rejected reading. Steps without a new reading of a slow magnetometer reject nothing

_OFF: tuple[Any, str] = ("off", "off")


class Lights:
    """Call `look` at every chart sample, and `state` a few times a second."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._filters = [
            step.path
            for step in session.runner.plan.steps
            if session.kinds[step.kind].category == "estimation" and "attitude" in step.output_ports
        ]
        self._seen = dict.fromkeys(FLAG_BITS, 0.0)

    def look(self) -> None:
        """Remember which readings the orientation filters rejected."""
        bits = 0
        for path in self._filters:
            state = self._session.runner.state(path)
            numbers: Any = state[0] if isinstance(state, tuple) and state else None
            if isinstance(numbers, np.ndarray) and numbers.ndim == 1 and len(numbers) > FLAGS:
                bits |= int(numbers[FLAGS]) if np.isfinite(numbers[FLAGS]) else 0
        for name, bit in FLAG_BITS.items():
            now = 1.0 if bits & bit else 0.0
            self._seen[name] += _GAIN * (now - self._seen[name])

    def state(self) -> m.Lights:
        session = self._session
        lights = []
        powered = session.console.power > 0.5
        found = Counter(instrument for sensor in session.sensors for instrument in sensor.instruments)
        for sensor in session.sensors:
            for instrument in sensor.instruments:
                short = SHORT.get(instrument, sensor.name)
                if found[instrument] > 1:  # of several modules
                    short = f"{short} {sensor.name}"
                title = f"{instrument.replace('_', ' ').capitalize()} of {sensor.name}"
                state, word = self._instrument(sensor, instrument) if powered else _OFF
                lights.append(m.Light(name=short, title=title, state=state, word=word))
        if session.wiring.estimate:
            state, word = self._estimate() if powered else _OFF
            lights.append(m.Light(name="imu", title="Attitude estimate", state=state, word=word))
        return m.Lights(lights=lights)

    def _instrument(self, sensor: Any, instrument: str) -> tuple[Any, str]:
        active = [fault for name, fault in sensor.faults if fault.instrument in (None, instrument)]
        if getattr(sensor, "out", False) or any(fault.kind == "dead" for fault in active):
            return "failed", "no reading"
        flag = {"magnetometer": "mag_rejected", "accelerometer": "acc_rejected"}.get(instrument)
        if flag is not None and self._seen[flag] > _SHARE:
            return ("failed" if instrument == "magnetometer" else "degraded"), "rejected"
        if active:
            return "degraded", active[-1].kind.replace("_", " ")
        newest = sensor.log.newest()
        if newest is None:
            return "degraded", "no reading yet"
        if isinstance(sensor, ModuleSensor) and newest[ANY_CLIPPED]:
            return "degraded", "clipped"
        return "ok", "works"

    def _estimate(self) -> tuple[Any, str]:
        session = self._session
        name = session.wiring.estimate.get("attitude")
        q = None if name is None else session.runner.value(name)
        if q is None or not np.isfinite(q).all() or abs(float(q @ q) - 1.0) > 1e-3:
            return "failed", "no attitude"
        if session.console.calibrate > 0.5:
            return "degraded", "calibrating"
        sigma = session.wiring.estimate.get("tilt_sigma")
        if sigma is not None and session.runner.value(sigma) == 0.0:
            return "degraded", "not started"
        return "ok", "works"

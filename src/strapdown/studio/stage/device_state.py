"""The slow state of a live module as messages: identity, picture, lights, line."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strapdown.devices.chips.found import inertial_name, magnetometer_name
from strapdown.devices.home import calibration_file
from strapdown.devices.protocol.stream import Stamped
from strapdown.devices.protocol.units import ACC_HZ, ACC_RANGES_G, GYR_RANGES_DPS
from strapdown.studio import messages as m
from strapdown.studio.messages.module_shape import module_shape

if TYPE_CHECKING:
    from strapdown.studio.stage.device_stage import DeviceStage

_GAIN = 0.05  # of a new sample in the share of rejected ones
_SHARE = 0.15
_PACE_PPM = 20_000.0  # no clock is so wrong: an emulator that runs faster, or on a computer that is too slow
_RECENT_S = 3.0  # how long a light shows a loss
_SILENT_S = 1.0  # without a sample


def about(stage: "DeviceStage", started: int) -> m.Session:
    grey, quat = [0.55, 0.6, 0.65, 1.0], [1.0, 0.0, 0.0, 0.0]
    ground = m.Geom(name="ground", type="plane", size=[0.0, 0.0, 0.05], rgba=grey, pos=[0.0] * 3, quat=quat)
    _, warning = inertial_name(stage.hello.imu_chip, stage.hello.imu_identity)
    return m.Session(
        mode="device",
        choice=stage.port,
        title=f"Module {stage.hello.serial} on {stage.port}",
        comment=" ".join(text for text in (warning, stage.note) if text),
        vehicle="module",
        vehicle_title="Measuring module",
        vehicle_kind="module",
        seed=0,
        duration_s=0.0,
        script=False,
        start_s=0.0,
        bodies=[
            m.Body(name="world", parent=None, geoms=[ground]),
            m.Body(name="module", parent=0, geoms=module_shape()),
        ],
        body=1,
        links=["module"],
        actuators=[],
        controls=[],
        sliders=[],
        started=started,
    )


def sensors(stage: "DeviceStage") -> m.Sensors:
    """One sensor, for the calibration. The errors of a real sensor are not known, so it has no parameters."""
    part = stage.meta.get("part")
    units = {"accelerometer": "m/s2", "gyroscope": "rad/s"}
    if stage.hello.mag_per_gauss:
        units["magnetometer"] = "uT"
    return m.Sensors(
        sensors=[
            m.SensorState(
                name="module",
                kind="sensor",
                part=part if isinstance(part, str) else None,
                link="module",
                body=1,
                position_m=[0.0, 0.0, 0.0],
                quaternion=[1.0, 0.0, 0.0, 0.0],
                rate_hz=float(stage.hello.rate_hz),
                table={},
                instruments=[
                    m.Instrument(name=name, unit=unit, values={}, original={}, enabled=True)
                    for name, unit in units.items()
                ],
            )
        ]
    )


def device(stage: "DeviceStage") -> m.Device:
    """Facts in words, each with a state."""
    hello, source = stage.hello, stage.line.source
    counts, status, fit = source.stream.counts, source.stream.status, source.stream.clock.fit()
    inertial, warning = inertial_name(hello.imu_chip, hello.imu_identity)
    compass, note = magnetometer_name(hello.mag_chip, hello.mag_identity)
    connected = source.link.connected
    kept = calibration_file(hello.serial)
    found = "none; the readings are used as they come"
    if stage.calibration is not None:
        found = ", ".join(f"{name} {c.found.date or ''}".strip() for name, c in stage.calibration.corrections.items())
    module = [
        _fact("Serial number", hello.serial),
        _fact("Firmware", ".".join(str(n) for n in hello.firmware)),
        _fact(
            "Inertial chip", f"{inertial}, WHO_AM_I {hello.imu_identity:#04x}", "ok" if warning is None else "warning"
        ),
        _fact("Magnetometer", compass, "ok" if hello.mag_per_gauss else "warning"),
        _fact("Ranges", f"{ACC_RANGES_G[hello.acc_range & 3]} g, {GYR_RANGES_DPS[hello.gyr_range & 3]} °/s"),
        _fact("Low-pass", f"{ACC_HZ[min(hello.low_pass, 6)]:g} Hz"),
        _fact("Calibration", found, "ok" if stage.calibration is not None else "warning"),
    ]
    line = [
        _fact("Port", stage.port),
        _fact("State", "connected" if connected else "vanished, waiting for it", "ok" if connected else "error"),
        _fact("Rate", f"{hello.rate_hz} samples/s, at most {hello.greatest_rate_hz}"),
        _fact("Received", f"{counts.samples} samples"),
        _fact("Lost", f"{counts.lost} samples in {counts.gaps} gaps", "warning" if counts.lost else "ok"),
        _fact("Bad frames", str(source.decoder.bad), "warning" if source.decoder.bad else "ok"),
    ]
    for name, number in (("Resets", counts.resets), ("Port vanished", source.link.lost), ("No answer", counts.silent)):
        if number:
            line.append(_fact(name, f"{number} times" if name != "No answer" else f"{number} samples", "warning"))
    if status is not None:
        bad = status.overruns + status.i2c_errors
        line.append(_fact("Of the module", f"{status.overruns} overruns, {status.i2c_errors} I2C errors", _warn(bad)))
    if fit is not None:
        pace = f"{fit[1]:+.0f} ppm, residual {1e3 * fit[2]:.2f} ms"
        line.append(_fact("Host clock", pace if abs(fit[1]) < _PACE_PPM else "the module is not at its pace"))
    notes = [text for text in (warning, note, stage.note) if text]
    return m.Device(
        port=stage.port,
        connected=connected,
        serial=hello.serial,
        groups=[m.FactGroup(title="Module", facts=module), m.FactGroup(title="Line", facts=line)],
        notes=notes,
        kept=str(kept) if stage.calibration is not None else None,
    )


def _fact(name: str, value: str, state: Any = "ok") -> m.Fact:
    return m.Fact(name=name, value=value, state=state)


def _warn(number: int) -> str:
    return "warning" if number else "ok"


class DeviceLights:
    """Call `look` at every sample, and `state` a few times a second."""

    def __init__(self, stage: "DeviceStage") -> None:
        self._stage = stage
        self._rejected = {"acc_rejected": 0.0, "mag_rejected": 0.0}
        self._clipped = 0.0
        self._counted = (0, 0, 0)  # lost, silent, frozen
        self._when = [-1e9, -1e9, -1e9]  # when each last grew

    def look(self, stamped: Stamped, flags: Mapping[str, bool]) -> None:
        for name in self._rejected:
            self._rejected[name] += _GAIN * (float(flags.get(name, False)) - self._rejected[name])
        self._clipped += _GAIN * (float(stamped.sample.clipped) - self._clipped)

    def state(self) -> m.Lights:
        stage, counts = self._stage, self._stage.line.source.stream.counts
        now = time.monotonic()
        new = (counts.lost, counts.silent, counts.frozen)
        for i, (value, before) in enumerate(zip(new, self._counted, strict=True)):
            if value > before:
                self._when[i] = now
        self._counted = new
        lost, silent, frozen = (now - when < _RECENT_S for when in self._when)
        connected = stage.line.source.link.connected
        quiet = stage.line.idle_s > _SILENT_S
        off: tuple[Any, str] | None = None
        if not connected or stage.stopped:
            off = ("failed", "port vanished" if not stage.stopped else "stopped")
        elif silent:
            off = ("failed", "no answer")
        elif quiet:
            off = ("failed", "no reading")
        inertial: tuple[Any, str] = ("ok", "works")
        if frozen:
            inertial = ("failed", "stuck")
        elif self._clipped > _SHARE:
            inertial = ("degraded", "clipped")
        acc = ("degraded", "rejected") if self._rejected["acc_rejected"] > _SHARE else ("ok", "works")
        lights = [
            _light("acc", "Accelerometer of module", off or (inertial if inertial[0] != "ok" else acc)),
            _light("gyr", "Gyroscope of module", off or inertial),
        ]
        if stage.hello.mag_per_gauss:
            compass: tuple[Any, str] = ("ok", "works")
            if stage.mag_wrong:
                compass = ("failed", "beyond range or no answer")
            elif self._rejected["mag_rejected"] > _SHARE:
                compass = ("failed", "rejected")
            lights.append(_light("mag", "Magnetometer of module", off or compass))
        ok = ("ok", "works")
        attitude = off or (("degraded", "not started") if stage.belief is None else ok)
        lights.append(_light("imu", "Attitude estimate", attitude))
        line = ("failed", "port vanished") if not connected else ("degraded", "loses samples") if lost else ok
        lights.append(_light("line", "Line to the module", line))
        return m.Lights(lights=lights)


def _light(name: str, title: str, shown: tuple[Any, str]) -> m.Light:
    return m.Light(name=name, title=title, state=shown[0], word=shown[1])

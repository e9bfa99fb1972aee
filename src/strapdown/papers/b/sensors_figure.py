"""A figure of the effects of heat, range and loss on a virtual part."""

from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.reporting.figures import AXIS_COLOURS, GREY, STYLE, panels
from strapdown.sensors.module import Module
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.temperature import SelfHeating, TemperatureSeries
from strapdown.types import Recording


@mpl.rc_context(STYLE)
def errors_figure() -> Figure:
    """One MPU-6050 specimen: warming up, in a temperature ramp, beyond its range, and with lost samples."""
    specimen = load_part("MPU-6050").draw(4, rate_hz=100.0)
    figure, axes = panels(2, 2, (11.0, 6.4), sharex=False)
    still = _still(600.0)
    _heat(
        axes[0, 0],
        Module("a", specimen.triads(), temperature=SelfHeating(22.0, 15.0, 90.0)),
        still,
        "self-heating by 15 °C",
    )
    ramp = TemperatureSeries(np.array([0.0, 600.0]), np.array([-10.0, 60.0]))
    _heat(axes[0, 1], Module("a", specimen.triads(), temperature=ramp), still, "chamber from −10 to 60 °C")
    _saturation(axes[1, 0], Module("a", specimen.triads()))
    triads = {name: replace(triad, loss=0.15, jitter_s=0.002) for name, triad in specimen.triads().items()}
    _loss(axes[1, 1], Module("a", triads))
    figure.suptitle("A virtual MPU-6050, specimen of seed 4", x=0.01, ha="left")
    return figure


def _still(length_s: float, rate_hz: float = 100.0) -> Recording:
    t = np.arange(int(length_s * rate_hz) + 1) / rate_hz
    return Recording(t, gyr_s=np.zeros((len(t), 3)), acc_s=np.tile([0.0, 0.0, 9.81], (len(t), 1)))


def _heat(axis: Any, module: Module, ideal: Recording, title: str) -> None:
    log = module.measure(ideal, 100.0)
    assert log.gyr_s is not None and log.temperature is not None
    seconds = log.gyr_s[: len(log) // 100 * 100].reshape(-1, 100, 3).mean(axis=1)
    for i, name in enumerate("xyz"):
        axis.plot(np.degrees(seconds[:, i] - seconds[0, i]), color=AXIS_COLOURS[i], label=name)
    axis.set_title(f"gyroscope at rest, {title}")
    axis.set_ylabel("change of the offset, deg/s")
    axis.set_xlabel("time, s")
    heat = axis.twinx()
    heat.plot(log.t, log.temperature, color=GREY, ls=":")
    heat.set_ylabel("temperature, °C (dotted)")
    heat.grid(False)
    axis.legend(ncols=3, loc="best")


def _saturation(axis: Any, module: Module) -> None:
    t = np.arange(0.0, 4.0, 0.01)
    rate = np.radians(400.0) * np.sin(2.0 * np.pi * 0.5 * t)
    ideal = Recording(t, gyr_s=np.stack([rate, 0 * t, 0 * t], axis=1), acc_s=np.tile([0.0, 0.0, 9.81], (len(t), 1)))
    log = module.measure(ideal, 100.0)
    assert log.gyr_s is not None and log.clipped is not None
    axis.plot(t, np.degrees(rate), color=GREY, ls=":", label="truth")
    axis.plot(log.t, np.degrees(log.gyr_s[:, 0]), color="#111111", label="reading")
    axis.plot(
        log.t[log.clipped], np.degrees(log.gyr_s[log.clipped, 0]), ".", color=AXIS_COLOURS[0], label="flag: clipped"
    )
    axis.set_title("gyroscope beyond its range of ±250 deg/s")
    axis.set_ylabel("rate x, deg/s")
    axis.set_xlabel("time, s")
    axis.set_ylim(-450.0, 700.0)
    axis.legend(ncols=3, loc="upper right")


def _loss(axis: Any, module: Module) -> None:
    t = np.arange(0.0, 0.6, 0.01)
    truth = 9.81 + 3.0 * np.sin(2.0 * np.pi * 4.0 * t)
    ideal = Recording(t, gyr_s=np.zeros((len(t), 3)), acc_s=np.stack([0 * t, 0 * t, truth], axis=1))
    log = module.measure(ideal, 100.0)
    assert log.acc_s is not None
    axis.plot(t, truth, color=GREY, ls=":", label="truth")
    axis.plot(log.t, log.acc_s[:, 2], "o", ms=4, color="#111111", label=f"{len(log)} of {len(t)} samples")
    axis.set_title("accelerometer: 15 % lost, stamps off by 2 ms, filter lag")
    axis.set_ylim(6.0, 15.0)
    axis.set_ylabel("specific force z, m/s²")
    axis.set_xlabel("time, s")
    axis.legend(ncols=2, loc="upper right")

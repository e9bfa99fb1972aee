"""Recordings of the measuring module (.module): frames as they came over the line (docs/device.md)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.devices.protocol.messages import Hello
from strapdown.devices.protocol.recorded import NotAModuleFile, frames_of
from strapdown.devices.protocol.stream import ModuleStream, Stamped
from strapdown.devices.protocol.units import Units, meta_of
from strapdown.errors import InputError
from strapdown.io.foreign.mapping import ColumnMapping
from strapdown.regular_file import opened
from strapdown.types import Recording

SENSOR = "module"


def read_module(
    path: Path, mapping: ColumnMapping | None = None, done: Callable[[float], None] = lambda part: None
) -> dict[str, Recording]:
    """The one sensor of the file, in SI; its meta states the module, its settings and the losses."""
    if mapping is not None:
        raise InputError(f"{path} is a recording of a module, which needs no column mapping; leave it away")
    stream, taken, bad = ModuleStream(), [], 0
    odometer: list[float] = []
    first: Hello | None = None
    with opened(path, "recording of a module") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            for frames, read, worse in frames_of(file):
                bad = worse
                for frame in frames:
                    found = stream.take(frame)
                    if found:
                        first = first or stream.hello
                        _refuse_changed(path, first, stream.hello)
                    for each in found:
                        taken.append(each)
                        odometer.append(stream.odometer_m or 0.0)
                done(read / size)
        except NotAModuleFile as error:
            raise InputError(f"{path} {error}") from None
    if stream.hello is None or not taken:
        raise InputError(f"{path} has no sample; the module was not started, or the file was cut before the first one")
    return {SENSOR: _recording(taken, odometer, first or stream.hello, stream, bad)}


def _refuse_changed(path: Path, first: Hello | None, hello: Hello | None) -> None:
    """Refuse a file whose units change: one recording has one set of units."""
    if first is not hello and first is not None and hello is not None and Units.of(first)[:6] != Units.of(hello)[:6]:
        raise InputError(f"{path}: ranges were changed within the file; record each setting in a file of its own")


def _recording(taken: list[Stamped], odometer: list[float], hello: Hello, stream: ModuleStream, bad: int) -> Recording:
    units, n = Units.of(hello), len(taken)
    columns: dict[str, Any] = {
        "gyr_s": np.array([s.sample.gyr_s for s in taken]),
        "acc_s": np.array([s.sample.acc_s for s in taken]),
        "temperature": np.array([s.sample.temperature for s in taken]),
        "stop": np.array([bool(s.sample.stop) for s in taken]),
        "clipped": np.array([s.sample.clipped for s in taken]),
    }
    new: dict[str, Any] = {}
    fresh = np.array([s.sample.mag_s is not None for s in taken])
    if fresh.any():
        last = np.maximum.accumulate(np.where(fresh, np.arange(n), -1))
        field = [None if i < 0 else taken[i].sample.mag_s for i in last.tolist()]
        columns["mag_s"] = np.array([np.zeros(3) if row is None else row for row in field])
        new["mag_s"] = fresh
    if units.tick_m is not None:
        columns["odometer"] = np.array(odometer)
    if not columns["clipped"].any():
        del columns["clipped"]
    counts = stream.counts
    fit = stream.clock.fit()
    meta = {
        **meta_of(hello),
        "losses": {
            "lost": counts.lost,
            "gaps": counts.gaps,
            "silent": counts.silent,
            "doubtful": counts.doubtful,
            "resets": counts.resets,
            "bad_frames": bad,
        },
    }
    if fit is not None:
        meta["clock"] = {"host_at_zero_s": fit[0], "drift_ppm": fit[1], "residual_s": fit[2]}
    return Recording(np.array([s.module_s for s in taken]), **columns, new=new, meta=meta)

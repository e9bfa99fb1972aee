"""Rerun: readings as curves and poses as moving frames, to a viewer that runs or into an .rrd file."""

from pathlib import Path
from typing import Any

import numpy as np

from strapdown.bridges.viewer import Pose, Readings, sdk
from strapdown.errors import InputError
from strapdown.io.atomic import writable_target

TIMELINE = "time"
_AXES_M = 0.3  # length of the axes of a frame


class RerunViewer:
    """save: an .rrd file. connect: address of a viewer that runs, "" for the usual one; None for none."""

    def __init__(self, save: Path | None = None, connect: str | None = None) -> None:
        rerun = sdk("rerun", "Rerun")
        if (save is None) == (connect is None):
            raise InputError("the bridge to Rerun needs a file to save or a viewer to connect to; give one of them")
        self._rerun, self._seen = rerun, set[str]()
        self._stream: Any = rerun.RecordingStream("strapdown")
        if save is not None:
            writable_target(save)
            if save.suffix != ".rrd":
                raise InputError(f"{save} is no .rrd file; name it like flight.rrd")
            self._stream.save(str(save))
        else:
            try:
                self._stream.connect_grpc(connect or None)
            except Exception as error:
                text = " ".join(str(error).split())[:100]
                raise InputError(f"cannot connect to Rerun at {connect or 'its usual address'} ({text})") from None
        self._stream.log("world", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)

    def show(self, update: Readings | Pose) -> None:
        rerun, stream = self._rerun, self._stream
        stream.set_time(TIMELINE, duration=float(update.t_s))
        if isinstance(update, Readings):
            named = {"gyroscope_rad_s": update.gyr_s, "accelerometer_m_s2": update.acc_s}
            named["magnetometer_ut"] = update.mag_s
            for instrument, values in named.items():
                if values is None:
                    continue
                path = f"{update.sensor}/{instrument}"
                if path not in self._seen:
                    self._seen.add(path)
                    stream.log(path, rerun.SeriesLines(names=["x", "y", "z"]), static=True)
                stream.log(path, rerun.Scalars(np.asarray(values, dtype=np.float64)))
            if update.temperature is not None:
                stream.log(f"{update.sensor}/temperature_c", rerun.Scalars(float(update.temperature)))
            return
        path = f"world/{update.name}"
        place = np.zeros(3) if update.p_n is None else np.asarray(update.p_n, dtype=np.float64)
        if update.q_nb is None:
            stream.log(path, rerun.Points3D([place]))
            return
        w, x, y, z = (float(each) for each in update.q_nb)
        stream.log(path, rerun.Transform3D(translation=place, quaternion=rerun.Quaternion(xyzw=[x, y, z, w])))
        if path not in self._seen:
            self._seen.add(path)
            stream.log(path, rerun.TransformAxes3D(_AXES_M), static=True)

    def close(self) -> None:
        self._stream.flush()
        self._stream.disconnect()

"""A virtual sensor for a script inside CoppeliaSim: attach it to any object, and our sensor models read its motion.

examples/coppeliasim_imu.py is the script. It reads poses alone (engines/coppeliasim/pose_readings.py states why), so a
reading belongs to the pose before the last one: it comes one step late. Errors are those of a part of the catalogue or
of a model file.
"""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.engines.coppeliasim.pose_readings import PoseReadings
from strapdown.environment.rig_sensors import SensorTable
from strapdown.errors import InputError
from strapdown.live import Ideal
from strapdown.sample import Sample
from strapdown.types import Recording

CUSTOM_DATA = "strapdown"  # other scripts read it: sim.readCustomTableData(object, "strapdown")
_INERTIAL = ("accelerometer", "gyroscope")


class VirtualImu:
    """sim: the module sim of the script. handle: of the object that carries the sensor.

    part: of the catalogue, or the path of a part file. model: the path of a model file. None of both: ideal readings.
    file: where the recording is written at the end (.parquet, .csv or .csv.gz); None: nowhere.
    """

    def __init__(
        self,
        sim: Any,
        handle: int,
        *,
        part: str | None = None,
        model: str | None = None,
        seed: int = 0,
        name: str = "imu",
        file: str | PathLike[str] | None = None,
    ) -> None:
        self._sim, self._handle, self._name = sim, int(handle), name
        self._file = None if file is None else Path(file)
        if self._file is not None:
            from strapdown.io import check_writable

            check_writable(self._file)
        x, y, z = sim.getArrayParam(sim.arrayparam_gravity)
        if max(abs(x), abs(y)) > 1e-6:
            raise InputError(f"gravity in the scene is ({x:g}, {y:g}, {z:g}) m/s2; it must point down z")
        self._gravity, self._step_s = -float(z), float(sim.getSimulationTimeStep())
        self._readings = PoseReadings(self._gravity)
        rate_hz = 1.0 / self._step_s
        table = SensorTable(name=name, link="object", part=part, model=model, rate_hz=rate_hz)
        module = table.module(Path(), seed)
        self._about = {"sensor": name, "rate_hz": rate_hz, "gravity_m_s2": self._gravity, "engine": "coppeliasim"}
        self._reader: Any = None
        if module is not None:
            self._about |= {"part": part, "model": model, "seed": seed}
            self._reader = module.reader(rate_hz, self._step_s, tuple(n for n in _INERTIAL if n in module.triads))
            self._state = self._reader.start()
        self._kept: list[Sample] = []

    def sense(self) -> Sample | None:
        """Read the pose of this step; the newest reading, which belongs to the step before. None: there is none yet."""
        x, y, z, qx, qy, qz, qw = self._sim.getObjectPose(self._handle)
        t = round(float(self._sim.getSimulationTime()) / self._step_s) * self._step_s
        ideal = self._readings.put(t, np.array([x, y, z]), np.array([qw, qx, qy, qz]))
        if ideal is None:
            return None
        samples = [ideal]
        if self._reader is not None:
            rows = Ideal(np.array([ideal.t]), ideal.gyr_s[None], ideal.acc_s[None])
            self._state, samples = self._reader.read(self._state, rows)
        self._kept += samples
        if not samples:
            return None
        newest = samples[-1]
        values = {"t": newest.t, "acc": newest.acc_s.tolist(), "gyr": newest.gyr_s.tolist()}
        self._sim.writeCustomTableData(self._handle, CUSTOM_DATA, values)
        return newest

    def recording(self) -> Recording:
        """What was read so far."""
        if not self._kept:
            raise InputError(f'sensor "{self._name}" has read nothing yet; let the simulation run for some steps')
        t, acc_s, gyr_s = (np.array([getattr(s, key) for s in self._kept]) for key in ("t", "acc_s", "gyr_s"))
        clipped = np.array([s.clipped for s in self._kept])
        return Recording(t, acc_s=acc_s, gyr_s=gyr_s, clipped=clipped, meta=self._about)

    def close(self) -> None:
        """Write the recording, if a file was named and anything was read."""
        if self._file is not None and self._kept:
            from strapdown.io import write

            write(self._file, {self._name: self.recording()})

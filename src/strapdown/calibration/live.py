"""A calibration applied to live samples, one at a time."""

from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.calibration.calibration import Calibration, Correction
from strapdown.sample import Sample

_FIELDS = {"accelerometer": "acc_s", "gyroscope": "gyr_s", "magnetometer": "mag_s"}


class LiveCalibration:
    """Corrects samples in the order of time. Between readings of the thermometer the last one is used."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._celsius: Array | None = None

    def corrected(self, sample: Sample) -> Sample:
        if sample.temperature is not None:
            self._celsius = np.array((sample.temperature,))
        values: dict[str, Any] = {}
        f_s = sample.acc_s
        for name, field in _FIELDS.items():  # the accelerometer first: the gyroscope's g-sensitivity needs it corrected
            correction = self.calibration.corrections.get(name)
            readings = getattr(sample, field)
            if correction is None or readings is None:
                continue
            values[field] = self._one(correction, readings, f_s)
            f_s = values.get("acc_s", f_s)
        return sample._replace(**values)

    def _one(self, correction: Correction, readings: Array, f_s: Array) -> Array:
        return np.ascontiguousarray(correction.corrected(readings[None, :], self._celsius, f_s[None, :])[0])

"""A recording as the base of a campaign: calibrate, navigate, evaluate with other settings each time."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.calibration.apply import apply
from strapdown.calibration.calibration_file import read_calibration
from strapdown.campaigns.bases import navigation
from strapdown.campaigns.bases.calibration_effort import CalibrationTable
from strapdown.campaigns.bases.named_files import named_files, relative_to
from strapdown.campaigns.bases.navigation import NavigateTable, Run, figures_of, run_of, split_tables
from strapdown.campaigns.definition.file import Campaign
from strapdown.campaigns.definition.settings import with_settings
from strapdown.environment.table import Name, NotNegative, Positive, Table
from strapdown.errors import InputError
from strapdown.evaluation.evaluate import read_reference
from strapdown.evaluation.matching import Reference
from strapdown.io import read, read_mapping
from strapdown.navigation.body_origin import body_motion
from strapdown.recordings.facts import facts_of
from strapdown.rotation import q_from_euler, q_mul
from strapdown.sensors.streams import stream
from strapdown.types import Recording


class LogTable(Table):
    """Which part of the recording is used, and noise that is added to it for every seed anew. cut times in s of the
    recording. acc_noise_m_s2, gyr_noise_rad_s: standard deviation of each sample."""

    sensor: Name | None = None
    start_s: NotNegative = 0.0
    end_s: Positive | None = None
    acc_noise_m_s2: NotNegative = 0.0
    gyr_noise_rad_s: NotNegative = 0.0


TABLES: dict[str, type[Table]] = {"navigate": NavigateTable, "calibration": CalibrationTable, "log": LogTable}


class RecordingBase:
    figures: tuple[str, ...] = navigation.FIGURES
    usual: tuple[str, ...] = navigation.USUAL
    kernels: tuple[str, ...] = navigation.KERNELS

    def __init__(self, campaign: Campaign) -> None:
        file = campaign.file
        assert file.recording is not None
        self._folder = campaign.folder
        self._log = campaign.folder / file.recording
        self._reference = None if file.reference is None else campaign.folder / file.reference
        self._columns = None if file.columns is None else campaign.folder / file.columns

    def check(self, settings: Mapping[str, Any]) -> None:
        tables = self._tables(settings)
        self._chosen(tables["log"])
        if tables["calibration"].effort != "none":
            raise InputError(
                f'calibration.effort is "{tables["calibration"].effort}", which only a virtual part can be given; name '
                "a calibration.file"
            )
        if tables["calibration"].file is not None:
            read_calibration(tables["calibration"].file)

    def run(self, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
        return figures_of(self.full_run(settings, seed))

    def full_run(self, settings: Mapping[str, Any], seed: int) -> Run:
        tables = self._tables(settings)
        navigate, cut = tables["navigate"], tables["log"]
        log = self._chosen(cut)
        end_s = float(log.t[-1]) if cut.end_s is None else cut.end_s
        log = log.between(max(float(log.t[0]), cut.start_s), end_s)
        log = _noisy(log, cut, seed)
        calibration = None
        if tables["calibration"].file is not None:
            calibration = read_calibration(tables["calibration"].file)
            log = apply(calibration, log)
        stated = np.array(facts_of(log).q_bs)
        wrong = q_mul(stated, q_from_euler(*np.radians(navigate.mounting_error_deg)))
        reference: Reference | None = self._truth
        if reference is None and log.truth is not None:
            reference = body_motion(log.truth, stated, navigate.lever_m or (0.0, 0.0, 0.0))
        return run_of(log, navigate, seed, q_bs=wrong, calibration=calibration, reference=reference)

    def files(self, settings: Mapping[str, Any]) -> Iterable[Path]:
        yield from (path.resolve() for path in (self._log, self._reference, self._columns) if path is not None)
        yield from named_files(self._folder, dict(settings))

    def _tables(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        tables, rest = split_tables(with_settings({}, relative_to(self._folder, settings)), TABLES)
        if rest:
            raise InputError(f'key "{next(iter(rest))}" is not known; valid tables of a recording: {", ".join(TABLES)}')
        return tables

    def _chosen(self, table: LogTable) -> Recording:
        names = ", ".join(self._sensors)
        if table.sensor is None and len(self._sensors) > 1:
            raise InputError(f"{self._log} holds the sensors {names}; choose one with log.sensor")
        if table.sensor is not None and table.sensor not in self._sensors:
            raise InputError(f"{self._log} has no sensor {table.sensor}; it has {names}")
        return next(iter(self._sensors.values())) if table.sensor is None else self._sensors[table.sensor]

    @cached_property
    def _sensors(self) -> Mapping[str, Recording]:
        return read(self._log, None if self._columns is None else read_mapping(self._columns))

    @cached_property
    def _truth(self) -> Reference | None:
        return None if self._reference is None else read_reference(self._reference)


def _noisy(log: Recording, table: LogTable, seed: int) -> Recording:
    from dataclasses import replace

    changed: dict[str, Any] = {}
    for field, sigma in (("acc_s", table.acc_noise_m_s2), ("gyr_s", table.gyr_noise_rad_s)):
        values = getattr(log, field)
        if sigma and values is not None:
            changed[field] = values + sigma * stream(seed, "campaign", field).standard_normal(values.shape)
    return replace(log, **changed) if changed else log

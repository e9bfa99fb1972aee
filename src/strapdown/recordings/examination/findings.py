"""Findings of the examination of a log: kind, severity and numbers. The sentence is composed where it is shown."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from strapdown.errors import InputError
from strapdown.motion.quaternion_order import XYZW
from strapdown.recordings.examination.limits import EARTH_UT

REFUSE, WARN, NOTE = "refuse", "warn", "note"
_MAPPING = "in the column mapping (docs/io.md)"


@dataclass(frozen=True)
class Finding:
    """One fact about a log.

    kind: a word of SENTENCES.
    severity: "refuse", "warn" (it cannot be certain) or "note".
    """

    kind: str
    severity: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What, where and what to do, in one sentence."""
        return SENTENCES[self.kind].format(mapping=_MAPPING, earth=EARTH_UT, **self.numbers)


class LogError(InputError):
    """A log that is refused, with the finding behind it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.sentence)
        self.finding = finding


@dataclass(frozen=True)
class Findings:
    """All findings of one log, the severest first."""

    found: tuple[Finding, ...] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind: severity."""
        return {finding.kind: finding.severity for finding in self.found}

    def of(self, severity: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.found if finding.severity == severity)

    def refuse(self) -> None:
        """Raises the first finding for which the log is refused."""
        for finding in self.of(REFUSE):
            raise LogError(finding)


def sorted_findings(found: Iterable[Finding]) -> Findings:
    order = (REFUSE, WARN, NOTE)
    return Findings(tuple(sorted(found, key=lambda finding: order.index(finding.severity))))


SENTENCES: dict[str, str] = {
    "time_unit": "the usual step of the log is {step_s:.5g} s: time looks like ms or us; give the unit of time "
    "{mapping}",
    "accelerometer_zero": "the accelerometer reads 0 in most samples; check that it is connected",
    "accelerometer_unit": "the accelerometer reads {size:.5g} at the median where gravity is {gravity:.4g} m/s2: "
    "{guess}; give unit and scale of its columns {mapping}, or the gravity of the place (gravity_m_s2)",
    "accelerometer_scale": "the accelerometer reads {size:.4g} m/s2 {where} where gravity is {gravity:.4g} m/s2, "
    "{percent:+.1f} %: check its unit and range {mapping}, or calibrate it first",
    "z_down": "the accelerometer's z axis points down {where} ({z:.2f} m/s2 of {size:.2f}): if the data are "
    'forward-right-down, give frame = "frd" {mapping}; if their sign is turned, give a negative counts_per_unit there; '
    "if the sensor is mounted upside down, give its mounting",
    "gyroscope_rate": "the gyroscope reads {rate:.4g} rad/s {where}, faster than any part can: deg/s or raw counts; "
    "give its unit {mapping}",
    "gyroscope_at_rest": "the gyroscope reads {offset:.4g} rad/s with a noise of {noise:.2g} where {where} is "
    "quietest, more than any part does at rest: deg/s or raw counts; give its unit {mapping}",
    "gyroscope_scale": "gravity turns by {factor:.3g} times what the gyroscope reads ({kept:.2f} of gravity is kept by "
    "that factor, {lost:.2f} without): {guess}; give its unit {mapping}",
    "gyroscope_scale_field": "the magnetic field turns by {factor:.3g} times what the gyroscope reads ({kept:.2f} of "
    "its changes unexplained by that factor, {lost:.2f} without): {guess}; give its unit {mapping}",
    "quaternion_order": f"truth: {XYZW}",
    "gyroscope_zero": "the gyroscope reads 0 throughout while gravity turns; check that it is connected",
    "gyroscope_axes": "the gyroscope's axes contradict the {other}'s: they agree if the gyroscope is read as {axes} "
    "({good:.2f} against {bad:.2f} of {of}); correct the order and signs of its columns or of the {other}'s {mapping}",
    "gyroscope_contradicts": "gyroscope and accelerometer contradict each other: rotated by the gyroscope, {lost:.2f} "
    "of gravity is left after {seconds:.2g} s; check axes, signs, units and the rate of the log",
    "magnetometer_axes": "the magnetometer's axes contradict the gyroscope's: they agree if the magnetometer is read "
    "as {axes} or its opposite ({good:.2f} against {bad:.2f} of its changes unexplained); correct the order and signs "
    "of its columns {mapping}, or calibrate it",
    "magnetometer_unit": "the magnetometer reads {size:.4g} uT at the median, and the Earth's field is {earth[0]:g} to "
    "{earth[1]:g} uT: {guess}; give unit and counts_per_unit {mapping}",
    "magnetometer_zero": "the magnetometer reads no field in {percent:.0f} % of the samples; check that it is "
    "connected, or work without it",
    "magnetometer_dead": "the magnetometer reads less than 0.1 uT throughout: it is not used",
    "magnetometer_stuck": "the magnetometer's reading never changes while the sensor turns: it is stuck; check it, or "
    "work without it",
    **{
        f"{name}_axis_stuck": "{instrument} {axis} reads {value:.6g} in all {samples} samples while the other axes "
        "change: it is saturated or broken, or its column is wrong; check range, wiring and column mapping (docs/io.md)"
        for name in ("accelerometer", "gyroscope", "magnetometer")
    },
    "magnetometer_saturated": "{percent:.3g} % of the magnetometer's samples are saturated, the first at sample "
    "{sample} (t = {t_s:.6g} s); choose a wider range, move away from the magnet, or work without it",
    "magnetometer_uneven": "the magnetometer reads {low:.3g} to {high:.3g} uT as it turns, {percent:.0f} % about its "
    "median: calibrate it first",
    "magnetometer_slow": "the magnetometer has a new reading in {percent:.3g} % of the rows, and repeats its last in "
    "the others: it is used at its own rate",
    "gyroscope_offset": "the gyroscope reads {rate_dps:.2g} deg/s {meaning} calibrate it first",
    "no_noise": "the {instrument} reads the same in all {samples} samples: it has no noise, so it is not connected or "
    "broken; check the wiring",
    "temperature_unit": "the temperature runs from {low:.5g} to {high:.5g}, which no sensor in degC does: kelvin or "
    "raw counts; give its unit {mapping}",
    "spikes": "the {instrument} reads {most:.4g} {unit} at t = {t_s:.6g} s and stays above {limit:.4g} {unit} for "
    "{samples} samples, more than such sensors read; give the unit of its columns {mapping}",
}

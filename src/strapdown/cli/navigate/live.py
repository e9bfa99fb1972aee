"""Live navigation as the commands set it up: the same for a live module and for a recorded file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.calibration.calibration import Calibration
    from strapdown.navigation.carriers.interface import Carrier
    from strapdown.navigation.live_program import LiveNavigator
    from strapdown.recordings.facts import Facts
    from strapdown.types import Recording


@dataclass(frozen=True)
class Known:
    """Facts given by the options. part: None: the part that the source names."""

    part: str | None
    gravity: float
    declination_rad: float
    q_bs: tuple[float, ...]
    r_bs_b: tuple[float, ...]
    calibration: "Calibration | None"

    def facts(self, rest: "Recording") -> "Facts":
        """Facts with the noise of the part, for the ranges and the rate of the rest."""
        from strapdown.recordings.facts import Facts, noise_of_part, part_named

        named, noise = noise_of_part(rest, self.part)
        return Facts(
            self.gravity,
            self.declination_rad,
            noise=noise or {},
            part=part_named(named),
            calibration=self.calibration,
            q_bs=self.q_bs,
            r_bs_b=self.r_bs_b,
        )


def live_navigator(
    carrier: "Carrier", known: Known, meta: Mapping[str, Any], rest_s: float | None = None
) -> "LiveNavigator":
    """A navigator for the samples of a live source.

    meta: meta data of the source.
    """
    from strapdown.calibration.live import LiveCalibration
    from strapdown.navigation.carriers.free import Free
    from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
    from strapdown.navigation.live_program import REST_S, LiveNavigator

    assert isinstance(carrier, WheeledRobot | Free)
    applied = None if known.calibration is None else LiveCalibration(known.calibration)
    return LiveNavigator(
        carrier, known.facts, meta=meta, calibration=applied, rest_s=REST_S if rest_s is None else rest_s
    )

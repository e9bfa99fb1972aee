"""Carriers by name."""

from strapdown.errors import InputError
from strapdown.navigation.carriers.foot import Foot
from strapdown.navigation.carriers.free import Free
from strapdown.navigation.carriers.hand import Hand
from strapdown.navigation.carriers.interface import Carrier
from strapdown.navigation.carriers.paper_robot import PaperRobot
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.start_at_rest import Heading

VEHICLES = ("robot", "foot", "hand", "free")
FILTERS = ("eskf", "ekf15")


def carrier_named(vehicle: str, robot: WheeledRobot, flat_floor: bool | None, filter_name: str = "eskf") -> Carrier:
    """The carrier with this name.

    robot: settings given for a robot; other carriers take its heading and lever arm.
    flat_floor: None: the carrier decides.
    """
    if vehicle not in VEHICLES:
        raise InputError(f'vehicle "{vehicle}" is not known; valid: {", ".join(VEHICLES)}')
    if filter_name not in FILTERS:
        raise InputError(f'there is no filter "{filter_name}"; valid names: {", ".join(FILTERS)}')
    heading: Heading = robot.heading
    if filter_name == "ekf15":
        if vehicle in ("foot", "hand"):
            raise InputError(
                f"paper C's filter is for a robot whose controller signals its stops; use eskf for a {vehicle}"
            )
        return PaperRobot(heading)
    if vehicle == "robot":
        return robot
    if vehicle == "foot":
        return Foot(heading, flat_floor)
    if vehicle == "hand":
        return Hand(heading, bool(flat_floor))
    return Free(heading, robot.lever_sigma_m, bool(flat_floor))

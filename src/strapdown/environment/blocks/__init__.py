"""The blocks of the package, one file for each group. KINDS has them by name."""

from strapdown.environment.blocks.control import (
    actuators,
    flight_control,
    ground_control,
    height_control,
    mixers,
    position_control,
    sticks,
)
from strapdown.environment.blocks.estimation import (
    attitude,
    eskf_block,
    estimate,
    imu_block,
    orientation_filters,
    static_calibration,
)
from strapdown.environment.blocks.general import (
    arithmetic,
    filters,
    integrator,
    limits,
    logic,
    pid,
    sources,
    vectors,
    watching,
)
from strapdown.environment.blocks.inputs import console, sensor_checks, taps, truth
from strapdown.environment.diagram.kinds import kinds_of

GENERAL = (sources, arithmetic, vectors, attitude, limits, logic, integrator, filters, pid, watching)
VEHICLE = (
    *(console, taps, sensor_checks, truth, static_calibration, imu_block, orientation_filters, eskf_block),
    *(sticks, position_control, flight_control, height_control, mixers, ground_control, actuators, estimate),
)
MODULES = (*GENERAL, *VEHICLE)
KINDS = kinds_of(MODULES)
